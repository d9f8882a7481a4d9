/* The core of a switch with dynamic and shared headroom (DSH) and PFC: two hosts at line rate send
 * to a third, are paused and resumed, and nothing is lost.
 *
 *   cc switch_core.c $(pkg-config --cflags --libs xoff) -o switch_core && ./switch_core
 */
#include <stdio.h>
#include <stdlib.h>

#include <xoff/xoff.h>

enum { PORTS = 3, OUT = 2, PRIORITY = 3, FRAME = 1518, TICKS = 20000, DEPTH = 1 << 14 };
static const xoff_rate rate_bps = 100 * XOFF_GBPS;
static const xoff_time delay = XOFF_US;

void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

static struct xoff_mmu mmu;
static struct xoff_pause policy;
static struct xoff_edges edges;
static struct xoff_signal_cfg signal_cfg;
static struct xoff_signal signals[PORTS]; /* what our ports tell their peers */
static struct xoff_gate_cfg gate_cfg;
static struct xoff_gate gates[PORTS];              /* the peers, which obey */
static struct xoff_departure queue[DEPTH];         /* of OUT: a ring */
static uint32_t first, n_queued, n_lost, n_frames; /* pause frames sent */

static void must(int code, const struct xoff_err *err)
{
    if (code)
        fprintf(stderr, "%s: %s\n", err->subject, err->message), exit(1);
}

static void build(void)
{
    static struct xoff_err err;
    static struct xoff_mmu_port ports[PORTS];
    static struct xoff_pause_env pause_env;
    static struct xoff_mmu_env env;
    struct xoff_headroom_params link;
    gate_cfg.wire = XOFF_WIRE_PFC;
    gate_cfg.obeys = 1 << PRIORITY;
    gate_cfg.rate_bps = rate_bps;
    gate_cfg.response_for = xoff_quanta_time(xoff_response_quanta(rate_bps), rate_bps);
    link.rate_bps = rate_bps;
    link.delay = delay;
    link.max_frame_bytes = FRAME;
    link.response_for = gate_cfg.response_for;
    for (uint32_t i = 0; i < PORTS; i++) {
        ports[i].rate_bps = rate_bps;
        ports[i].delay = delay;
        ports[i].response_for = link.response_for;
        ports[i].headroom_bytes = xoff_headroom_bytes(&link);
        xoff_gate_init(&gates[i]);
        xoff_signal_init(&signals[i]);
    }
    env.n_ports = pause_env.n_ports = PORTS;
    env.lossless = pause_env.lossless = 1 << PRIORITY;
    env.max_frame_bytes = pause_env.max_frame_bytes = FRAME;
    pause_env.min_frame_bytes = 64;
    env.buffer_bytes = pause_env.buffer_bytes = pause_env.egress_bytes = 2000000;
    env.nic_rate_bps = rate_bps;
    env.ports = pause_env.ports = ports;

    /* Parameters as a scenario has them: defaults, then what differs. The policy comes first. */
    const struct xoff_pause_ops *pfc = xoff_pause_find("pfc");
    void *pause_params = calloc(1, pfc->params_size + 1);
    xoff_param_defaults(pfc->params, pause_params);
    must(xoff_pause_configure(&policy, pfc, pause_params, &pause_env,
                              calloc(1, xoff_pause_cfg_size(pfc, PORTS)), &err),
         &err);
    const struct xoff_mmu_ops *dsh = xoff_mmu_find("dsh");
    void *mmu_params = calloc(1, dsh->params_size + 1);
    xoff_param_defaults(dsh->params, mmu_params);
    must(xoff_param_set(xoff_param_find(dsh->params, "alpha"), mmu_params, "1/4", &err), &err);
    must(xoff_mmu_configure(&mmu, dsh, mmu_params, &env, calloc(1, xoff_mmu_cfg_size(dsh, PORTS)),
                            &err),
         &err);
    free(pause_params);
    free(mmu_params);
    xoff_pause_init(&policy, calloc(1, policy.shape.state_size + 1));
    xoff_mmu_init(&mmu, calloc(1, mmu.shape.state_size + 1));
    edges.at = (struct xoff_edge *)calloc(policy.shape.max_edges + 1, sizeof *edges.at);
    must(xoff_signal_configure(&policy.shape.signalling, rate_bps, FRAME, &signal_cfg, &err), &err);
}

/* Hands the policy's decisions to the ports. */
static void apply_edges(xoff_time now)
{
    for (uint32_t i = 0; i < edges.n; i++) {
        const struct xoff_edge *e = &edges.at[i];
        xoff_signal_on_edge(&signal_cfg, &signals[e->port], e->priorities, e->pause);
        printf("%8.3f us: %s to port %u, %lld B of %lld B\n", (double)now / XOFF_US,
               e->pause ? "XOFF" : "XON ", e->port, (long long)e->cause.occupied_bytes,
               (long long)e->cause.threshold_bytes);
    }
}

static void arrive(uint16_t port, xoff_time now)
{
    struct xoff_crossings crossed;
    struct xoff_arrival a = {port, OUT, PRIORITY, false, FRAME, (int64_t)n_queued * FRAME};
    const enum xoff_pool pool = xoff_mmu_admit(&mmu, &a, now, &crossed);
    a.dropped = pool == XOFF_POOL_DROP;
    n_lost += a.dropped;
    if (!a.dropped) {
        struct xoff_departure d = {port, OUT, PRIORITY, (uint8_t)pool, FRAME, 0};
        queue[(first + n_queued++) % DEPTH] = d;
    }
    if (xoff_pause_on_arrival(&policy, &a, &crossed, now, &edges))
        apply_edges(now);
}

static void depart(xoff_time now)
{
    struct xoff_crossings crossed;
    struct xoff_departure *d = &queue[first];
    first = (first + 1) % DEPTH;
    d->egress_bytes = (int64_t)--n_queued * FRAME;
    xoff_mmu_release(&mmu, d, now, &crossed);
    if (xoff_pause_on_departure(&policy, d, &crossed, now, &edges))
        apply_edges(now);
}

int main(void)
{
    build();
    /* Time goes in steps of one frame with preamble and gap. */
    const xoff_time tick = xoff_time_of_bits((FRAME + 20) * 8, rate_bps);
    for (xoff_time now = 0; now < TICKS * tick; now += tick) {
        for (uint16_t p = 0; p < PORTS; p++) {
            struct xoff_pause_frame frame;
            xoff_signal_expire(&signals[p], now);
            if (xoff_signal_is_due(&signals[p])) { /* it reaches the peer after the cable */
                xoff_signal_take(&signal_cfg, &signals[p], now, &frame);
                xoff_gate_on_frame(&gate_cfg, &gates[p], &frame, now + delay);
                n_frames++;
            }
            /* What arrives now left the peer when the gate was as it is now, less the cable. */
            xoff_gate_expire(&gate_cfg, &gates[p], now - delay);
            if (p != OUT && now < TICKS / 2 * tick && gates[p].open >> PRIORITY & 1)
                arrive(p, now);
        }
        if (n_queued)
            depart(now);
    }
    printf("%u pause frames, %u frames lost, %u left\n", n_frames, n_lost, n_queued);
    return n_lost || n_queued ? 1 : 0;
}
