/* A bench of targeted PFC, shared by the tests of its two files. */
#ifndef PAUSE_TPFC_TESTING_H
#define PAUSE_TPFC_TESTING_H

#include "pause_testing.h"

/* Watermarks 1000, 3000 and 6000; room for far more. */
static inline void tpfc_setup(struct bench *b)
{
    bench_setup(b, &xoff_pause_tpfc);
    for (uint32_t port = 0; port < N_PORTS; port++)
        b->ports[port] = (struct xoff_mmu_port){.rate_bps = XOFF_GBPS, .headroom_bytes = 1000};
    b->env = (struct xoff_pause_env){.n_ports = N_PORTS,
                                     .lossless = LOSSLESS,
                                     .min_frame_bytes = 64,
                                     .max_frame_bytes = 1000,
                                     .buffer_bytes = 400000,
                                     .egress_bytes = 400000,
                                     .ports = b->ports};
    xoff_rng_init(&b->env.rng, 1, 2, 3);
}

static inline void bench_set_watermarks(struct bench *b, const char *lw, const char *tw,
                                        const char *hw)
{
    bench_set(b, "lw", lw);
    bench_set(b, "tw", tw);
    bench_set(b, "hw", hw);
}

#endif
