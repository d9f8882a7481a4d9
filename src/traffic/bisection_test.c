/* Load of the bisection: what crosses the links out of the edge switches, counted flow by flow.
 *
 *   h0..h3 - leaf0 = spine0, spine1       h4..h7 - leaf1 =       h8..h11 - leaf2 =
 */
#include "traffic/traffic_testing.h"

#define N_HOSTS 12
#define PER_LEAF 4

/* All links 100G but those of leaf2 to the spines, which have `wide_bps`. */
static struct bench *fabric(xoff_rate wide_bps, xoff_time stop)
{
    struct bench *b = bench_create(N_HOSTS, 100 * XOFF_GBPS, stop);
    static const char *const names[] = {"leaf0", "leaf1", "leaf2", "spine0", "spine1"};
    for (uint32_t i = 0; i < 5; i++) {
        b->nodes[N_HOSTS + i] = (struct topo_node){.kind = TOPO_SWITCH};
        snprintf(b->nodes[N_HOSTS + i].name, TOPO_NAME, "%s", names[i]);
    }
    b->topo.n_nodes = N_HOSTS + 5;
    for (uint32_t i = 0; i < N_HOSTS; i++)
        b->links[i].node[1] = N_HOSTS + i / PER_LEAF;
    for (uint32_t i = 0; i < 6; i++)
        b->links[N_HOSTS + i] =
            (struct topo_link){.node = {N_HOSTS + i / 2, N_HOSTS + 3 + i % 2},
                               .rate_bps = i / 2 == 2 ? wide_bps : 100 * XOFF_GBPS};
    b->topo.n_links = N_HOSTS + 6;
    b->topo.ports = NULL;
    assert_int_equal(topo_finish(&b->topo, &b->err), 0);
    return b;
}

static void fabric_fini(struct bench *b)
{
    free(b->topo.ports);
    bench_fini(b);
}

/* Part of what leaves each leaf in the time, of 200 Gbps (400 for leaf2). */
static void crossing(const struct record *r, xoff_time time, double *parts)
{
    const double bits[] = {200e9, 200e9, 400e9};
    double sums[3] = {0};
    for (size_t i = 0; i < r->n; i++)
        if (r->seen[i].host / PER_LEAF != r->seen[i].offer.to / PER_LEAF)
            sums[r->seen[i].host / PER_LEAF] += (double)r->seen[i].offer.bytes * 8;
    for (uint32_t i = 0; i < 3; i++)
        parts[i] = sums[i] / (bits[i] * (double)time / (double)XOFF_S);
}

/* A host's share is 200G / 4 = 50G (leaf2: 100G); 8 of its 11 receivers are elsewhere, so at load
 * 0.6 it offers 0.6 * 50G * 11/8 = 41.25 Gbps (82.5): a flow of 10 KB every 1939 ns (970). */
static void uplinks_are_filled(void **unused)
{
    (void)unused;
    struct bench *b = fabric(200 * XOFF_GBPS, 20 * XOFF_MS);
    struct record r = bench_offers(b, "poisson", "load=0.6; sizes=10KB; load_of=bisection");
    double parts[3];
    uint32_t n[N_HOSTS] = {0};
    crossing(&r, 20 * XOFF_MS, parts);
    for (uint32_t i = 0; i < 3; i++)
        assert_near(parts[i], 0.6, 0.02);
    for (size_t i = 0; i < r.n; i++)
        n[r.seen[i].host]++;
    for (uint32_t i = 0; i < N_HOSTS; i++) /* 20 ms / gap: 10312 and 20625, deviation 1 % */
        assert_near(n[i], i / PER_LEAF == 2 ? 20625 : 10312.5, 0.04);
    record_fini(&r);
    /* Without it load is that of the hosts' links: 60 Gbps, 15000 flows. */
    r = bench_offers(b, "poisson", "load=0.6; sizes=10KB; from=h0; load_of=hosts");
    assert_near((double)r.n, 15000, 0.04);
    record_fini(&r);
    fabric_fini(b);
}

/* Senders alone share the links: two on leaf0 have 100G each when nothing stays there. */
static void senders_share(void **unused)
{
    (void)unused;
    struct bench *b = fabric(100 * XOFF_GBPS, 20 * XOFF_MS);
    struct record r = bench_offers(
        b, "poisson", "load=0.5; sizes=10KB; from=h0,h1; to=h4..h11; load_of=bisection");
    double parts[3];
    crossing(&r, 20 * XOFF_MS, parts);
    assert_near(parts[0], 0.5, 0.02);
    assert_true(parts[1] == 0 && parts[2] == 0);
    record_fini(&r);
    /* Up to what their links carry: two at load 1, one at 1/2. */
    static const char both[] = "sizes=1KB; from=h0,h1; to=h4..h11; load_of=bisection; load=";
    char text[128];
    snprintf(text, sizeof text, "%s1", both);
    assert_int_equal(bench_bind(b, "poisson", text), 0);
    static const char one[] = "sizes=1KB; from=h0; to=h4..h11; load_of=bisection; load=";
    snprintf(text, sizeof text, "%s0.5", one);
    assert_int_equal(bench_bind(b, "poisson", text), 0);
    snprintf(text, sizeof text, "%s0.501", one);
    bench_refuses(b, "poisson", text, "load", XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "h0"));
    assert_non_null(strstr(b->err.message, "0.5"));
    fabric_fini(b);
}

static void refusals(void **unused)
{
    (void)unused;
    struct bench *b = fabric(100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "poisson", "load=0.1; sizes=1KB; load_of=bisection; from=h1; to=h0..h3",
                  "load_of", XOFF_E_CONFLICT);
    assert_int_equal(
        bench_bind(b, "poisson", "load=0.1; sizes=1KB; load_of=bisection; from=h1; to=h0..h4"), 0);
    fabric_fini(b);
    b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS); /* a star */
    bench_refuses(b, "poisson", "load=0.1; sizes=1KB; load_of=bisection", "load_of",
                  XOFF_E_CONFLICT);
    assert_non_null(strstr(b->err.message, "no links between switches"));
    assert_int_equal(bench_bind(b, "poisson", "load=0.1; sizes=1KB"), 0);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uplinks_are_filled),
        cmocka_unit_test(senders_share),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
