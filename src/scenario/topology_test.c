/* Tests of the topology kinds and of names in plans: counts, degrees, wiring, limits, places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/param.h>

#include "net/route.h"
#include "scenario/plan.h"
#include "scenario/topology.h"

/* Weak: a test build may bring its own. */
__attribute__((weak)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

/* A plan with storage for what the tests state. */
struct draft {
    struct plan plan;
    char file[16];
    _Alignas(16) unsigned char params[64];
    struct plan_change changes[8];
    struct plan_route routes[8];
    struct xoff_err err;
};

static const struct plan_link host_link = {
    .rate_bps = 100000000000, .delay = XOFF_US, .length_mm = XOFF_PARAM_AUTO};
/* 40 m at 5 ns/m are 200 ns. */
static const struct plan_link fabric_link = {
    .rate_bps = 400000000000, .delay = XOFF_PARAM_AUTO, .length_mm = 40000, .error = 2e-6};

/* `settings`: "leaves=2 spines=3". */
static void start(struct draft *d, const char *kind, const char *settings)
{
    *d = (struct draft){.file = "lab.yaml"};
    d->plan.file = d->file;
    d->plan.changes = d->changes;
    d->plan.routes = d->routes;
    d->plan.reroute_after = 7 * XOFF_US;
    struct plan_topology *t = &d->plan.topology;
    t->kind = topology_find(kind);
    assert_non_null(t->kind);
    assert_true(t->kind->params_size <= sizeof d->params);
    t->params = d->params;
    t->host_link = host_link;
    t->fabric_link = fabric_link;
    t->place = (struct plan_place){3, 5};
    xoff_param_defaults(t->kind->params, t->params);
    char text[128];
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        const struct xoff_param *p = xoff_param_find(t->kind->params, word);
        assert_non_null(p);
        assert_int_equal(xoff_param_set(p, t->params, value, &d->err), 0);
    }
}

static void build(struct draft *d, struct topo *topo)
{
    const int rc = topology_build(&d->plan, topo, &d->err);
    if (rc)
        fail_msg("%s: %s: %s", d->err.subject, d->err.value, d->err.message);
}

static void make(const char *kind, const char *settings, struct topo *topo)
{
    struct draft d;
    start(&d, kind, settings);
    build(&d, topo);
}

static void expect_refusal(struct draft *d, enum xoff_err_code code, const char *subject, int line,
                           int column)
{
    struct topo topo;
    assert_int_equal(topology_build(&d->plan, &topo, &d->err), -(int)code);
    assert_int_equal(d->err.code, code);
    assert_string_equal(d->err.subject, subject);
    assert_string_equal(d->err.file, "lab.yaml");
    assert_int_equal(d->err.line, line);
    assert_int_equal(d->err.column, column);
    assert_true(strlen(d->err.message) > 0);
    assert_null(topo.nodes);
    assert_null(topo.changes);
}

static void expect_peer(const struct topo *topo, const char *node, uint32_t port, const char *peer)
{
    const uint32_t index = topo_find(topo, node);
    assert_int_not_equal(index, TOPO_NONE);
    assert_true(port < topo->nodes[index].n_ports);
    assert_string_equal(topo->nodes[topo_peer(topo, index, port)].name, peer);
}

static void expect_degree(const struct topo *topo, const char *prefix, uint32_t n, uint32_t degree)
{
    char name[TOPO_NAME];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s%u", prefix, i);
        const uint32_t node = topo_find(topo, name);
        assert_int_not_equal(node, TOPO_NONE);
        assert_int_equal(topo->nodes[node].n_ports, degree);
    }
    snprintf(name, sizeof name, "%s%u", prefix, n);
    assert_int_equal(topo_find(topo, name), TOPO_NONE);
}

static void expect_counts(const struct topo *topo, uint32_t hosts, uint32_t switches,
                          uint32_t links)
{
    assert_int_equal(topo->n_hosts, hosts);
    assert_int_equal(topo->n_nodes, hosts + switches);
    assert_int_equal(topo->n_links, links);
    assert_int_equal(topo->n_ports, 2 * links);
    expect_degree(topo, "h", hosts, 1);
}

static uint32_t cycle_length(const struct topo *topo)
{
    struct xoff_err err = {0};
    struct routes *routes = NULL;
    assert_int_equal(routes_create(topo, 0, true, &routes, &err), 0);
    const uint32_t length = routes_find_cycle(topo, routes, NULL, NULL, 0);
    routes_destroy(routes);
    return length;
}

static void test_kinds(void **state)
{
    (void)state;
    static const char *const names[] = {"star",       "dumbbell", "chain", "ring",
                                        "leaf-spine", "fat-tree", "custom"};
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(topology_kinds[i]->name, names[i]);
        assert_ptr_equal(topology_find(names[i]), topology_kinds[i]);
        assert_int_equal(topology_kinds[i]->has_fabric_link, i > 0 && i < 6);
    }
    assert_null(topology_kinds[7]);
    assert_null(topology_find("torus"));
    /* Every kind but custom can be built from its defaults alone. */
    for (size_t i = 0; i < 6; i++) {
        struct topo topo;
        make(names[i], "", &topo);
        assert_int_equal(topo.reroute_after, 7 * XOFF_US);
        topo_fini(&topo);
    }
}

static void test_star(void **state)
{
    (void)state;
    struct topo topo;
    make("star", "hosts=5", &topo);
    expect_counts(&topo, 5, 1, 5);
    expect_degree(&topo, "s", 1, 5);
    expect_peer(&topo, "s0", 0, "h0");
    expect_peer(&topo, "s0", 4, "h4");
    assert_int_equal(topo.links[2].rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(topo.links[2].delay, XOFF_US);
    assert_int_equal(topo.links[2].error_ppb, 0);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_dumbbell(void **state)
{
    (void)state;
    struct topo topo;
    make("dumbbell", "left=2 right=3", &topo);
    expect_counts(&topo, 5, 2, 6);
    expect_peer(&topo, "h1", 0, "left");
    expect_peer(&topo, "h2", 0, "right");
    expect_peer(&topo, "left", 2, "right");
    expect_peer(&topo, "right", 3, "left");
    const uint32_t link = topo_find_link(&topo, "left-right");
    assert_int_equal(link, 5);
    assert_int_equal(topo.links[link].rate_bps, 400 * XOFF_GBPS);
    assert_int_equal(topo.links[link].delay, 200 * XOFF_NS);
    assert_int_equal(topo.links[link].error_ppb, 2000); /* 2e-6 of 10^9 */
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_chain_and_ring(void **state)
{
    (void)state;
    struct topo topo;
    make("chain", "switches=4 hosts_per_switch=3", &topo);
    expect_counts(&topo, 12, 4, 12 + 3);
    expect_peer(&topo, "h3", 0, "s1");
    expect_peer(&topo, "s0", 3, "s1");
    expect_peer(&topo, "s1", 3, "s0");
    expect_peer(&topo, "s1", 4, "s2");
    assert_int_equal(topo_find_link(&topo, "s3-s0"), TOPO_NONE);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);

    make("chain", "switches=1 hosts_per_switch=2", &topo);
    expect_counts(&topo, 2, 1, 2);
    topo_fini(&topo);

    make("ring", "switches=4 hosts_per_switch=1", &topo);
    expect_counts(&topo, 4, 4, 4 + 4);
    expect_degree(&topo, "s", 4, 3);
    expect_peer(&topo, "s3", 2, "s0");
    expect_peer(&topo, "s0", 2, "s3");
    assert_int_equal(cycle_length(&topo), 4);
    topo_fini(&topo);

    make("ring", "switches=3 hosts_per_switch=2", &topo);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_leaf_spine(void **state)
{
    (void)state;
    struct topo topo;
    make("leaf-spine", "leaves=3 spines=2 hosts_per_leaf=4 fabric_links=2", &topo);
    expect_counts(&topo, 12, 5, 12 + 3 * 2 * 2);
    expect_degree(&topo, "leaf", 3, 4 + 2 * 2);
    expect_degree(&topo, "spine", 2, 3 * 2);
    /* Leaf ports: hosts, then both links to each spine. */
    expect_peer(&topo, "leaf1", 0, "h4");
    expect_peer(&topo, "leaf1", 3, "h7");
    expect_peer(&topo, "leaf1", 4, "spine0");
    expect_peer(&topo, "leaf1", 5, "spine0");
    expect_peer(&topo, "leaf1", 6, "spine1");
    expect_peer(&topo, "spine1", 0, "leaf0");
    expect_peer(&topo, "spine1", 5, "leaf2");
    assert_int_equal(topo_find_link(&topo, "leaf1-spine0#1"), 12 + 4 + 1);
    assert_int_equal(cycle_length(&topo), 0);

    /* All four links up are equal; both links of the spine lead down. */
    struct xoff_err err = {0};
    struct routes *routes;
    const uint16_t *ports = NULL;
    assert_int_equal(routes_create(&topo, 0, true, &routes, &err), 0);
    assert_int_equal(routes_candidates(routes, topo_find(&topo, "leaf0"), 11, &ports), 4);
    assert_int_equal(ports[0], 4);
    assert_int_equal(ports[3], 7);
    assert_int_equal(routes_candidates(routes, topo_find(&topo, "spine1"), 11, &ports), 2);
    assert_int_equal(ports[0], 4);
    routes_destroy(routes);
    topo_fini(&topo);

    make("leaf-spine", "leaves=16 spines=16 hosts_per_leaf=16", &topo);
    expect_counts(&topo, 256, 32, 512);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_fat_tree(void **state)
{
    (void)state;
    struct topo topo;
    /* k = 4: 4 pods of 2 + 2 switches, 4 cores, 16 hosts; 16 links in each of three layers. */
    make("fat-tree", "k=4", &topo);
    expect_counts(&topo, 16, 20, 48);
    expect_degree(&topo, "edge", 8, 4);
    expect_degree(&topo, "agg", 8, 4);
    expect_degree(&topo, "core", 4, 4);
    expect_peer(&topo, "h5", 0, "edge2");
    expect_peer(&topo, "edge2", 2, "agg2");
    expect_peer(&topo, "edge2", 3, "agg3");
    expect_peer(&topo, "agg3", 0, "edge2");
    expect_peer(&topo, "agg3", 1, "edge3");
    expect_peer(&topo, "agg3", 2, "core2");
    expect_peer(&topo, "agg3", 3, "core3");
    /* Each core has one link to each pod, in their order. */
    for (uint32_t pod = 0; pod < 4; pod++) {
        char name[TOPO_NAME];
        snprintf(name, sizeof name, "agg%u", 2 * pod + 1);
        expect_peer(&topo, "core2", pod, name);
    }
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);

    /* Oversubscribed 3:1 at the edge, 6 hosts where 2 are equal. */
    make("fat-tree", "k=4 hosts_per_edge=6", &topo);
    expect_counts(&topo, 48, 20, 48 + 32);
    expect_degree(&topo, "edge", 8, 8);
    topo_fini(&topo);

    /* k = 8 at full size has 128 hosts and 80 switches. With half the uplinks in both layers, 4:1
     * from host to core: 32 edges of 4 + 2 ports, 16 aggregation switches of 4 + 2, 4 cores of 8.
     */
    make("fat-tree", "k=8", &topo);
    expect_counts(&topo, 128, 80, 3 * 128);
    topo_fini(&topo);
    make("fat-tree", "k=8 edge_uplinks=2 agg_uplinks=2", &topo);
    expect_counts(&topo, 128, 52, 128 + 64 + 32);
    expect_degree(&topo, "edge", 32, 6);
    expect_degree(&topo, "agg", 16, 6);
    expect_degree(&topo, "core", 4, 8);
    expect_peer(&topo, "edge7", 4, "agg2");
    expect_peer(&topo, "edge7", 5, "agg3");
    expect_peer(&topo, "agg3", 0, "edge4");
    expect_peer(&topo, "agg3", 4, "core2");
    expect_peer(&topo, "agg3", 5, "core3");
    expect_peer(&topo, "core2", 7, "agg15");
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
    /* More uplinks than k/2 are no contradiction. */
    make("fat-tree", "k=2 edge_uplinks=3 agg_uplinks=2", &topo);
    expect_counts(&topo, 2, 2 + 6 + 6, 2 + 6 + 12);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);

    /* Slower links towards the cores: rates 100, 400 and 25 Gb/s by layer. */
    make("fat-tree", "k=4 core_rate=25Gbps", &topo);
    for (uint32_t i = 0; i < topo.n_links; i++)
        assert_int_equal(topo.links[i].rate_bps, i < 16   ? 100000000000
                                                 : i < 32 ? 400000000000
                                                          : 25000000000);
    topo_fini(&topo);

    /* k = 16: k^3/4 = 1024 hosts, 5k^2/4 = 320 switches. */
    make("fat-tree", "k=16", &topo);
    expect_counts(&topo, 1024, 320, 3 * 1024);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_limits(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    start(&d, "fat-tree", "k=5");
    expect_refusal(&d, XOFF_E_RANGE, "topology.k", 3, 5);
    /* 4094 hosts and 2 uplinks fit, 4094 and 3 do not. */
    make("fat-tree", "k=4 hosts_per_edge=4094", &topo);
    topo_fini(&topo);
    start(&d, "fat-tree", "k=4 hosts_per_edge=4094 edge_uplinks=3");
    expect_refusal(&d, XOFF_E_RANGE, "topology.hosts_per_edge", 3, 5);

    /* Ports of a switch: 4094 hosts + 2 spines; one more does not fit. */
    make("leaf-spine", "leaves=2 spines=2 hosts_per_leaf=4094", &topo);
    topo_fini(&topo);
    start(&d, "leaf-spine", "leaves=2 spines=2 hosts_per_leaf=4095");
    expect_refusal(&d, XOFF_E_RANGE, "topology.hosts_per_leaf", 3, 5);
    start(&d, "leaf-spine", "leaves=2048 spines=1 hosts_per_leaf=1 fabric_links=2");
    build(&d, &topo);
    topo_fini(&topo);
    start(&d, "leaf-spine", "leaves=2049 spines=1 hosts_per_leaf=1 fabric_links=2");
    expect_refusal(&d, XOFF_E_RANGE, "topology.leaves", 3, 5);
    start(&d, "leaf-spine", "leaves=4096 spines=4095 hosts_per_leaf=1 fabric_links=4095");
    expect_refusal(&d, XOFF_E_RANGE, "topology.leaves", 3, 5);

    /* Hosts: 250 x 4000 are a million, 251 x 4000 are more. */
    make("chain", "switches=250 hosts_per_switch=4000", &topo);
    assert_int_equal(topo.n_hosts, 1000000);
    assert_int_equal(topo_find(&topo, "h999999"), 999999);
    topo_fini(&topo);
    start(&d, "chain", "switches=251 hosts_per_switch=4000");
    expect_refusal(&d, XOFF_E_RANGE, "topology.switches", 3, 5);
    assert_string_equal(d.err.value, "1004000 hosts");

    static const struct {
        const char *kind, *key, *last_good, *first_bad;
    } ranges[] = {
        {"star", "hosts", "4096", "4097"},
        {"star", "hosts", "1", "0"},
        {"dumbbell", "left", "4095", "4096"},
        {"ring", "switches", "3", "2"},
        {"ring", "hosts_per_switch", "4094", "4095"},
        {"fat-tree", "k", "2", "1"},
        {"fat-tree", "edge_uplinks", "256", "257"},
        {"fat-tree", "agg_uplinks", "1", "0"},
        {"fat-tree", "core_rate", "1kbps", "999bps"},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        start(&d, ranges[i].kind, "");
        const struct xoff_param *p = xoff_param_find(d.plan.topology.kind->params, ranges[i].key);
        assert_int_equal(xoff_param_set(p, d.params, ranges[i].first_bad, &d.err), -XOFF_E_RANGE);
        assert_int_equal(xoff_param_set(p, d.params, ranges[i].last_good, &d.err), 0);
        build(&d, &topo);
        topo_fini(&topo);
    }
}

static void test_links_are_checked(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    static const struct {
        struct plan_link link;
        enum xoff_err_code code;
    } bad[] = {
        {{0, 0, -1, 0}, XOFF_E_RANGE},          {{1, -1, -1, 0}, XOFF_E_MISSING},
        {{1, XOFF_S + 1, -1, 0}, XOFF_E_RANGE}, {{1, -1, XOFF_S / 5 + 1, 0}, XOFF_E_RANGE},
        {{1, -1, INT64_MAX, 0}, XOFF_E_RANGE},  {{1, 0, -1, 1.01}, XOFF_E_RANGE},
        {{1, 0, -1, -0.1}, XOFF_E_RANGE},       {{1, 0, -1, 0.99e-9}, XOFF_E_RANGE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start(&d, "dumbbell", "");
        d.plan.topology.fabric_link = bad[i].link;
        expect_refusal(&d, bad[i].code, "topology.fabric_link", 3, 5);
        start(&d, "star", "");
        d.plan.topology.host_link = bad[i].link;
        expect_refusal(&d, bad[i].code, "topology.host_link", 3, 5);
        /* A star has no fabric links, so that none can be wrong. */
        start(&d, "star", "");
        d.plan.topology.fabric_link = bad[i].link;
        build(&d, &topo);
        topo_fini(&topo);
    }
    static const struct {
        struct plan_link link;
        xoff_time delay;
        uint32_t error_ppb;
    } good[] = {
        {{1, 0, -1, 0}, 0, 0},
        {{1, XOFF_S, -1, 1}, XOFF_S, 1000000000},
        {{1, -1, XOFF_S / 5, 1e-9}, XOFF_S, 1},
        {{1, -1, 3000, 0.5}, 15 * XOFF_NS, 500000000}, /* 3 m x 5 ns/m */
        {{1, 7, 3000, 0}, 7, 0},                       /* a delay goes before a length */
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        start(&d, "star", "");
        d.plan.topology.host_link = good[i].link;
        build(&d, &topo);
        assert_int_equal(topo.links[0].delay, good[i].delay);
        assert_int_equal(topo.links[0].error_ppb, good[i].error_ppb);
        topo_fini(&topo);
    }
}

static void start_custom(struct draft *d, struct plan_custom_node *nodes, uint32_t n_nodes,
                         struct plan_custom_link *links, uint32_t n_links)
{
    start(d, "custom", "");
    d->plan.topology.nodes = nodes;
    d->plan.topology.n_nodes = n_nodes;
    d->plan.topology.links = links;
    d->plan.topology.n_links = n_links;
    for (uint32_t i = 0; i < n_links; i++) {
        links[i].link = host_link;
        links[i].place = (struct plan_place){10 + (int)i, 7};
    }
}

static void test_custom(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    struct plan_custom_node nodes[] = {
        {"tor-1", TOPO_SWITCH}, {"gpu.b", TOPO_HOST}, {"tor-2", TOPO_SWITCH}, {"gpu.a", TOPO_HOST}};
    struct plan_custom_link links[] = {
        {.a = "tor-1", .b = "tor-2"}, {.a = "gpu.a", .b = "tor-1"}, {.a = "tor-2", .b = "gpu.b"}};
    start_custom(&d, nodes, 4, links, 3);
    links[0].link = fabric_link;
    build(&d, &topo);
    assert_int_equal(topo.n_hosts, 2);
    assert_string_equal(topo.nodes[0].name, "gpu.b");
    assert_string_equal(topo.nodes[1].name, "gpu.a");
    assert_string_equal(topo.nodes[2].name, "tor-1");
    expect_peer(&topo, "tor-1", 0, "tor-2");
    expect_peer(&topo, "tor-1", 1, "gpu.a");
    assert_int_equal(topo.links[0].rate_bps, 400 * XOFF_GBPS);
    assert_int_equal(topo_find_link(&topo, "tor-2-gpu.b"), 2);
    topo_fini(&topo);

    /* Two hosts and nothing else. */
    struct plan_custom_node hosts[] = {{"a", TOPO_HOST}, {"b", TOPO_HOST}};
    struct plan_custom_link cable[] = {{.a = "a", .b = "b"}};
    start_custom(&d, hosts, 2, cable, 1);
    build(&d, &topo);
    assert_int_equal(cycle_length(&topo), 0);
    topo_fini(&topo);
}

static void test_custom_refusals(void **state)
{
    (void)state;
    struct draft d;
    struct plan_custom_node nodes[] = {{"s", TOPO_SWITCH}, {"a", TOPO_HOST}, {"b", TOPO_HOST}};
    struct plan_custom_link links[] = {{.a = "a", .b = "s"}, {.a = "b", .b = "s"}};
    struct plan_custom_link extra[] = {
        {.a = "a", .b = "s"}, {.a = "b", .b = "s"}, {.a = "s", .b = "b"}};
    start_custom(&d, nodes, 3, extra, 3);
    expect_refusal(&d, XOFF_E_CONFLICT, "topology.links", 12, 7); /* second link of a host */
    assert_string_equal(d.err.value, "b");
    start_custom(&d, nodes, 3, links, 1);
    expect_refusal(&d, XOFF_E_CONFLICT, "topology", 3, 5); /* b has no link */
    assert_string_equal(d.err.value, "b");
    start_custom(&d, nodes, 1, links, 0);
    expect_refusal(&d, XOFF_E_MISSING, "topology.nodes", 3, 5); /* no host */
    start_custom(&d, nodes, 3, links, 2);
    snprintf(links[1].a, TOPO_NAME, "c");
    expect_refusal(&d, XOFF_E_UNKNOWN, "topology.links", 11, 7);
    assert_string_equal(d.err.value, "c");
    snprintf(links[1].a, TOPO_NAME, "s");
    expect_refusal(&d, XOFF_E_CONFLICT, "topology.links", 11, 7); /* s-s */
    snprintf(links[1].a, TOPO_NAME, "b");
    links[1].link.rate_bps = 0;
    expect_refusal(&d, XOFF_E_RANGE, "topology.links", 11, 7);
    links[1].link.rate_bps = 1;
    snprintf(nodes[0].name, TOPO_NAME, "a");
    expect_refusal(&d, XOFF_E_CONFLICT, "topology.nodes", 3, 5); /* twice a */
    static const char *const bad[] = {"", "all", "a..b", "a,b", "a b", "a#1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(nodes[0].name, TOPO_NAME, "%s", bad[i]);
        expect_refusal(&d, XOFF_E_SYNTAX, "topology.nodes", 3, 5);
    }
}

static void add_change(struct draft *d, const char *link, int64_t at, int64_t rate_bps,
                       int64_t delay, bool fail, bool repair)
{
    const uint32_t n = d->plan.n_changes++;
    d->changes[n] = (struct plan_change){.at = at,
                                         .rate_bps = rate_bps,
                                         .delay = delay,
                                         .fail = fail,
                                         .repair = repair,
                                         .place = {20 + (int)n, 3}};
    snprintf(d->changes[n].link, sizeof d->changes[n].link, "%s", link);
}

static void test_changes(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    start(&d, "dumbbell", "left=1 right=1"); /* links h0-left, h1-right, left-right */
    add_change(&d, "left-right", 300, -1, -1, false, true);
    add_change(&d, "right-left", 100, 1000000000, 5, true, false);
    add_change(&d, "h1-right", 300, -1, 0, false, false);
    add_change(&d, "h0-left", 50, 10, -1, false, false);
    build(&d, &topo);
    static const struct topo_change expected[] = {
        {50, 0, TOPO_CHANGE_RATE, 10, 0},   {100, 2, TOPO_CHANGE_RATE, 1000000000, 0},
        {100, 2, TOPO_CHANGE_DELAY, 0, 5},  {100, 2, TOPO_CHANGE_FAIL, 0, 0},
        {300, 2, TOPO_CHANGE_REPAIR, 0, 0}, {300, 1, TOPO_CHANGE_DELAY, 0, 0},
    };
    assert_int_equal(topo.n_changes, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(topo.changes[i].at, expected[i].at);
        assert_int_equal(topo.changes[i].link, expected[i].link);
        assert_int_equal(topo.changes[i].kind, expected[i].kind);
        assert_int_equal(topo.changes[i].rate_bps, expected[i].rate_bps);
        assert_int_equal(topo.changes[i].delay, expected[i].delay);
    }
    topo_fini(&topo);

    static const struct {
        struct plan_change change;
        enum xoff_err_code code;
        const char *subject;
    } bad[] = {
        {{"h0-right", 0, 1, -1, 0, 0, {0}}, XOFF_E_UNKNOWN, "links.link"},
        {{"h0-left#1", 0, 1, -1, 0, 0, {0}}, XOFF_E_UNKNOWN, "links.link"},
        {{"h0-left", 0, -1, -1, 1, 1, {0}}, XOFF_E_CONFLICT, "links.fail"},
        {{"h0-left", 0, -1, -1, 0, 0, {0}}, XOFF_E_MISSING, "links"},
        {{"h0-left", 0, 0, -1, 0, 0, {0}}, XOFF_E_RANGE, "links.rate"},
        {{"h0-left", 0, -1, XOFF_S + 1, 0, 0, {0}}, XOFF_E_RANGE, "links.delay"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start(&d, "dumbbell", "left=1 right=1");
        add_change(&d, "h0-left", 0, 1, -1, false, false);
        add_change(&d, "", 0, 0, 0, false, false);
        d.changes[1] = bad[i].change;
        d.changes[1].place = (struct plan_place){21, 3};
        expect_refusal(&d, bad[i].code, bad[i].subject, 21, 3);
    }
}

static void add_route(struct draft *d, int64_t at, const char *on, const char *to, const char *via)
{
    const uint32_t n = d->plan.n_routes++;
    d->routes[n] = (struct plan_route){.at = at, .place = {30 + (int)n, 9}};
    snprintf(d->routes[n].on, sizeof d->routes[n].on, "%s", on);
    snprintf(d->routes[n].to, sizeof d->routes[n].to, "%s", to);
    snprintf(d->routes[n].via, sizeof d->routes[n].via, "%s", via);
}

static void test_routes(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    /* leaf0 = node 4, ports: h0 h1, spine0 twice (2, 3), spine1 twice (4, 5), spine2 twice (6, 7).
     */
    start(&d, "leaf-spine", "leaves=2 spines=3 hosts_per_leaf=2 fabric_links=2");
    add_route(&d, 9, "leaf0", "h2", " ");
    add_route(&d, 5, "leaf0", "leaf1", "spine2, spine0#1 ,spine2");
    add_route(&d, 9, "leaf1", "h3", "h3");
    build(&d, &topo);
    assert_int_equal(topo.n_routes, 4);
    for (uint32_t i = 0; i < 2; i++) {
        const struct topo_route *r = &topo.routes[i];
        assert_int_equal(r->at, 5);
        assert_int_equal(r->node, 4);
        assert_int_equal(r->to, 2 + i);
        assert_int_equal(r->n_next, 3);
        assert_int_equal(r->next[0], 3);
        assert_int_equal(r->next[1], 6);
        assert_int_equal(r->next[2], 7);
    }
    assert_int_equal(topo.routes[2].to, 2);
    assert_int_equal(topo.routes[2].n_next, 0);
    assert_int_equal(topo.routes[3].node, 5);
    assert_int_equal(topo.routes[3].n_next, 1);
    assert_int_equal(topo.routes[3].next[0], 1);

    struct routes *routes;
    const uint16_t *ports = NULL;
    assert_int_equal(routes_create(&topo, 5, true, &routes, &d.err), 0);
    assert_int_equal(routes_candidates(routes, 4, 2, &ports), 3);
    assert_int_equal(ports[0], 3);
    routes_destroy(routes);
    assert_int_equal(routes_create(&topo, 9, true, &routes, &d.err), 0);
    assert_int_equal(routes_candidates(routes, 4, 2, &ports), 6);
    assert_int_equal(routes_candidates(routes, 4, 3, &ports), 3);
    routes_destroy(routes);
    topo_fini(&topo);
}

static void test_route_refusals(void **state)
{
    (void)state;
    struct draft d;
    struct topo topo;
    static const struct {
        const char *on, *to, *via, *subject;
        enum xoff_err_code code;
    } bad[] = {
        {"leaf9", "h2", "spine0", "routes.on", XOFF_E_UNKNOWN},
        {"h0", "h2", "spine0", "routes.on", XOFF_E_UNKNOWN},
        {"leaf0", "h9", "spine0", "routes.to", XOFF_E_UNKNOWN},
        {"leaf0", "", "spine0", "routes.to", XOFF_E_SYNTAX},
        {"leaf0", "h2", "leaf1", "routes.via", XOFF_E_UNKNOWN}, /* no neighbour */
        {"leaf0", "h2", "spine9", "routes.via", XOFF_E_UNKNOWN},
        {"leaf0", "h2", "spine0,", "routes.via", XOFF_E_UNKNOWN},
        {"leaf0", "h2", "spine0#3", "routes.via", XOFF_E_UNKNOWN},
        {"leaf0", "h2", "h0", "routes.via", XOFF_E_CONFLICT},                /* a host as transit */
        {"leaf0", "h2", "spine0,spine1,spine2", "routes.via", XOFF_E_RANGE}, /* 9 links */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start(&d, "leaf-spine", "leaves=2 spines=3 hosts_per_leaf=2 fabric_links=3");
        add_route(&d, 0, "leaf0", "all", "spine0#2");
        add_route(&d, 1, bad[i].on, bad[i].to, bad[i].via);
        expect_refusal(&d, bad[i].code, bad[i].subject, 31, 9);
    }
    /* Eight links are still good. */
    start(&d, "leaf-spine", "leaves=2 spines=3 hosts_per_leaf=2 fabric_links=3");
    add_route(&d, 0, "leaf0", "h3", "spine0,spine1,spine2#0,spine2#2");
    build(&d, &topo);
    assert_int_equal(topo.routes[0].n_next, 8);
    topo_fini(&topo);
}

static void test_host_sets(void **state)
{
    (void)state;
    struct topo topo;
    struct xoff_err err = {0};
    uint32_t hosts[6], n;
    make("leaf-spine", "leaves=3 spines=2 hosts_per_leaf=2", &topo);
    static const struct {
        const char *set;
        uint32_t n, hosts[6];
    } good[] = {
        {"all", 6, {0, 1, 2, 3, 4, 5}},
        {"h3", 1, {3}},
        {"h1..h4", 4, {1, 2, 3, 4}},
        {"h2..h2", 1, {2}},
        {"leaf1", 2, {2, 3}},
        {"leaf1..leaf2", 4, {2, 3, 4, 5}},
        {"h5, h0,leaf0 ", 3, {0, 1, 5}},
        {" h3,h3..h4,h4", 2, {3, 4}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(topology_hosts(&topo, good[i].set, hosts, &n, &err), 0);
        assert_int_equal(n, good[i].n);
        for (uint32_t j = 0; j < n; j++)
            assert_int_equal(hosts[j], good[i].hosts[j]);
    }
    static const struct {
        const char *set, *value;
        enum xoff_err_code code;
    } bad[] = {
        {"h6", "h6", XOFF_E_UNKNOWN},       {"h0..h6", "h6", XOFF_E_UNKNOWN},
        {"x0..h1", "x0", XOFF_E_UNKNOWN},   {"h0..", "", XOFF_E_UNKNOWN},
        {"h4..h3", "h4..h3", XOFF_E_RANGE}, {"h0..leaf1", "h0..leaf1", XOFF_E_RANGE},
        {"spine0", "spine0", XOFF_E_RANGE}, {"", "", XOFF_E_SYNTAX},
        {"h0,,h1", "", XOFF_E_SYNTAX},      {"h0,", "", XOFF_E_SYNTAX},
        {"ALL", "ALL", XOFF_E_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(topology_hosts(&topo, bad[i].set, hosts, &n, &err), -(int)bad[i].code);
        assert_string_equal(err.value, bad[i].value);
        assert_int_equal(n, 0);
    }
    topo_fini(&topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),          cmocka_unit_test(test_star),
        cmocka_unit_test(test_dumbbell),       cmocka_unit_test(test_chain_and_ring),
        cmocka_unit_test(test_leaf_spine),     cmocka_unit_test(test_fat_tree),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_links_are_checked),
        cmocka_unit_test(test_custom),         cmocka_unit_test(test_custom_refusals),
        cmocka_unit_test(test_changes),        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_route_refusals), cmocka_unit_test(test_host_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
