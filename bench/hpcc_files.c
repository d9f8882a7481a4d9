/* Writes a leaf-spine network with web search flows in the file format of the ns-3 RDMA family, as
 * its traffic generator would. The speed of imported files is measured on it. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "traffic/sizes.h"

enum { HOSTS = 64, LEAVES = 4, SPINES = 4 };
#define RATE_BPS 1e11
#define START_S 2.0

static FILE *create(const char *dir, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    XOFF_ASSERT(out);
    return out;
}

static void write_config(const char *dir)
{
    FILE *out = create(dir, "config.txt");
    fputs("ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 1000\n"
          "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nTRACE_FILE trace.txt\n"
          "TRACE_OUTPUT_FILE out.tr\nFCT_OUTPUT_FILE fct.txt\nPFC_OUTPUT_FILE pfc.txt\n"
          "SIMULATOR_STOP_TIME 2.5\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\n"
          "RATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\n"
          "FAST_RECOVERY_TIMES 1\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nMIN_RATE 1000Mb/s\n"
          "ERROR_RATE_PER_LINK 0\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\n"
          "HAS_WIN 0\nACK_HIGH_PRIO 0\nLINK_DOWN 0 0 0\nENABLE_TRACE 0\n"
          "KMAX_MAP 2 100000000000 1600 400000000000 6400\n"
          "KMIN_MAP 2 100000000000 400 400000000000 1600\n"
          "PMAX_MAP 2 100000000000 0.2 400000000000 0.2\nBUFFER_SIZE 32\n",
          out);
    fclose(out);
}

static void write_topology(const char *dir)
{
    FILE *out = create(dir, "topology.txt");
    fprintf(out, "%d %d %d\n", HOSTS + LEAVES + SPINES, LEAVES + SPINES, HOSTS + LEAVES * SPINES);
    for (int s = 0; s < LEAVES + SPINES; s++)
        fprintf(out, "%d ", HOSTS + s);
    fputc('\n', out);
    for (int h = 0; h < HOSTS; h++)
        fprintf(out, "%d %d 100Gbps 1000ns 0\n", h, HOSTS + h / (HOSTS / LEAVES));
    for (int leaf = 0; leaf < LEAVES; leaf++)
        for (int spine = 0; spine < SPINES; spine++)
            fprintf(out, "%d %d 400Gbps 1000ns 0\n", HOSTS + leaf, HOSTS + LEAVES + spine);
    fclose(out);
    out = create(dir, "trace.txt");
    fputs("0\n", out);
    fclose(out);
}

/* Arrivals are a Poisson process over the whole network; sender and another receiver are
 * uniform. */
static void write_flows(const char *dir, uint32_t n_flows, double load)
{
    struct sizes sizes;
    struct xoff_err err;
    struct xoff_rng rng;
    XOFF_ASSERT(sizes_parse("websearch", &sizes, &err) == 0);
    xoff_rng_init(&rng, 1, 0, 1);
    const double mean_gap_s = sizes.mean_bytes * 8 / (load * RATE_BPS * HOSTS);
    double at_s = START_S;
    FILE *out = create(dir, "flow.txt");
    fprintf(out, "%u\n", n_flows);
    for (uint32_t i = 0; i < n_flows; i++) {
        const uint32_t from = (uint32_t)xoff_rng_below(&rng, HOSTS);
        const uint32_t to = (from + 1 + (uint32_t)xoff_rng_below(&rng, HOSTS - 1)) % HOSTS;
        at_s += xoff_rng_exponential(&rng) * mean_gap_s;
        fprintf(out, "%u %u 3 100 %llu %.9f\n", from, to,
                (unsigned long long)sizes_draw(&sizes, &rng), at_s);
    }
    fclose(out);
}

void bench_write_hpcc(const char *dir, uint32_t n_flows, double load)
{
    write_config(dir);
    write_topology(dir);
    write_flows(dir, n_flows, load);
}
