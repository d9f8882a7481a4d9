/* Tests of the graph's building blocks, of route tables and of the cycle check.
 *
 * Random graphs are compared with models that share nothing with the code: distances by Floyd and
 * Warshall, dependencies by following every pair of hosts channel by channel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "net/route.h"

/* Weak: a test build may bring its own. */
__attribute__((weak)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

struct pair {
    uint32_t a, b;
};

/* Hosts h0.. and switches s0..; a switch n is node n_hosts + n. */
static void make_nodes(struct topo *topo, uint32_t n_hosts, uint32_t n_switches)
{
    *topo = (struct topo){.n_nodes = n_hosts + n_switches, .n_hosts = n_hosts};
    topo->nodes = calloc(topo->n_nodes, sizeof *topo->nodes);
    assert_non_null(topo->nodes);
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        const bool is_host = i < n_hosts;
        topo->nodes[i].kind = is_host ? TOPO_HOST : TOPO_SWITCH;
        snprintf(topo->nodes[i].name, TOPO_NAME, "%c%u", is_host ? 'h' : 's',
                 is_host ? i : i - n_hosts);
    }
}

static int add_links(struct topo *topo, const struct pair *pairs, uint32_t n, struct xoff_err *err)
{
    topo->links = calloc(n + 1, sizeof *topo->links);
    assert_non_null(topo->links);
    topo->n_links = n;
    for (uint32_t i = 0; i < n; i++)
        topo->links[i] = (struct topo_link){
            .node = {pairs[i].a, pairs[i].b}, .rate_bps = 100 * XOFF_GBPS, .delay = XOFF_US};
    return topo_finish(topo, err);
}

static void make(struct topo *topo, uint32_t n_hosts, uint32_t n_switches, const struct pair *pairs,
                 uint32_t n)
{
    struct xoff_err err = {0};
    make_nodes(topo, n_hosts, n_switches);
    assert_int_equal(add_links(topo, pairs, n, &err), 0);
}

/* `n` switches in a ring with one host each: host i at switch i, whose port 0 it is. Port 1 of s0
 * leads to s1 and port 2 to the last; of all others port 1 leads back and port 2 on. */
static void make_ring(struct topo *topo, uint32_t n)
{
    struct pair pairs[64];
    assert_true(2 * n <= 64);
    for (uint32_t i = 0; i < n; i++) {
        pairs[i] = (struct pair){i, n + i};
        pairs[n + i] = (struct pair){n + i, n + (i + 1) % n};
    }
    make(topo, n, n, pairs, 2 * n);
}

static uint32_t port_to(const struct topo *topo, uint32_t node, uint32_t peer)
{
    for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
        if (topo_peer(topo, node, port) == peer)
            return port;
    }
    return TOPO_NONE;
}

static struct routes *routes_at(const struct topo *topo, xoff_time at)
{
    struct xoff_err err = {0};
    struct routes *routes = NULL;
    assert_int_equal(routes_create(topo, at, false, &routes, &err), 0);
    assert_non_null(routes);
    return routes;
}

static void add_change(struct topo *topo, xoff_time at, uint32_t link, enum topo_change_kind kind)
{
    topo->changes = realloc(topo->changes, (topo->n_changes + 1) * sizeof *topo->changes);
    assert_non_null(topo->changes);
    topo->changes[topo->n_changes++] = (struct topo_change){.at = at, .link = link, .kind = kind};
}

static void add_route(struct topo *topo, xoff_time at, uint32_t node, uint32_t to, uint32_t n_next,
                      const uint32_t *next)
{
    topo->routes = realloc(topo->routes, (topo->n_routes + 1) * sizeof *topo->routes);
    assert_non_null(topo->routes);
    struct topo_route *route = &topo->routes[topo->n_routes++];
    *route = (struct topo_route){.at = at, .node = node, .to = to, .n_next = n_next};
    for (uint32_t i = 0; i < n_next; i++)
        route->next[i] = next[i];
}

static void expect_ports(const struct routes *routes, uint32_t node, uint32_t host, uint32_t n,
                         const uint16_t *expected)
{
    const uint16_t *ports = NULL;
    assert_int_equal(routes_candidates(routes, node, host, &ports), n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(ports[i], expected[i]);
}

/* Two hosts over two paths of equal length:
 *
 *                 1 - s1(3) - 0
 *   h0 - 0 s0(2)                  s3(5) 2 - h1
 *                 2 - s2(4) - 1
 */
static void make_diamond(struct topo *topo)
{
    static const struct pair pairs[] = {{0, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}, {1, 5}};
    make(topo, 2, 4, pairs, 6);
}

static void test_names(void **state)
{
    (void)state;
    struct topo topo;
    /* Links 0 h0-s0, 1 h1-s1, 2 and 3 s0-s1 twice, 4 s1-s2. */
    static const struct pair pairs[] = {{0, 2}, {1, 3}, {2, 3}, {3, 2}, {3, 4}};
    make(&topo, 2, 3, pairs, 5);
    assert_int_equal(topo_find(&topo, "h0"), 0);
    assert_int_equal(topo_find(&topo, "h1"), 1);
    assert_int_equal(topo_find(&topo, "s0"), 2);
    assert_int_equal(topo_find(&topo, "s2"), 4);
    assert_int_equal(topo_find(&topo, "s3"), TOPO_NONE);
    assert_int_equal(topo_find(&topo, "h00"), TOPO_NONE);
    assert_int_equal(topo_find(&topo, ""), TOPO_NONE);
    assert_int_equal(topo_find(&topo, "99999999999999999999999999"), TOPO_NONE);

    assert_int_equal(topo_find_link(&topo, "h0-s0"), 0);
    assert_int_equal(topo_find_link(&topo, "s0-h0"), 0);
    assert_int_equal(topo_find_link(&topo, "s0-s1"), 2);
    assert_int_equal(topo_find_link(&topo, "s1-s0"), 2);
    assert_int_equal(topo_find_link(&topo, "s0-s1#0"), 2);
    assert_int_equal(topo_find_link(&topo, "s1-s0#1"), 3);
    assert_int_equal(topo_find_link(&topo, "s0-s1#2"), TOPO_NONE);
    assert_int_equal(topo_find_link(&topo, "s1-s2#1"), TOPO_NONE);
    static const char *const wrong[] = {"s0-s2",   "s0",       "s0-",      "-s0",       "s0-s1#",
                                        "s0-s1#x", "s0-s1#-1", "s0-s1#1x", "s0-s1#1#1", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(topo_find_link(&topo, wrong[i]), TOPO_NONE);
    char endless[200];
    memset(endless, '-', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(topo_find_link(&topo, endless), TOPO_NONE);

    /* Names with a dash of their own. */
    snprintf(topo.nodes[3].name, TOPO_NAME, "rack-1-tor");
    snprintf(topo.nodes[4].name, TOPO_NAME, "core-0");
    assert_int_equal(topo_find_link(&topo, "rack-1-tor-core-0"), 4);
    assert_int_equal(topo_find_link(&topo, "core-0-rack-1-tor"), 4);
    assert_int_equal(topo_find_link(&topo, "h1-rack-1-tor"), 1);
    topo_fini(&topo);
    assert_null(topo.nodes);
}

/* Names are numbers of the ns-3 RDMA family only if all of them are, and in their only form. */
static void test_numbers(void **state)
{
    (void)state;
    const struct {
        const char *names[3];
        uint32_t numbers[3];
    } cases[] = {
        {{"n7", "n0", "n65535"}, {7, 0, 65535}}, {{"n7", "n1", "s2"}, {0, 1, 2}},
        {{"n07", "n1", "n2"}, {0, 1, 2}},        {{"n", "n1", "n2"}, {0, 1, 2}},
        {{"n7x", "n1", "n2"}, {0, 1, 2}},        {{"n4294967295", "n1", "n2"}, {0, 1, 2}},
    };
    const struct pair pairs[] = {{0, 2}, {1, 2}};
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct xoff_err err = {0};
        struct topo topo;
        make_nodes(&topo, 2, 1);
        for (uint32_t i = 0; i < 3; i++)
            snprintf(topo.nodes[i].name, TOPO_NAME, "%s", cases[c].names[i]);
        assert_int_equal(add_links(&topo, pairs, 2, &err), 0);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(topo.nodes[i].number, cases[c].numbers[i]);
        topo_fini(&topo);
    }
}

static void test_ports_follow_links(void **state)
{
    (void)state;
    struct topo topo;
    make_diamond(&topo);
    assert_int_equal(topo.n_ports, 12);
    assert_int_equal(topo.nodes[2].n_ports, 3);
    assert_int_equal(topo_peer(&topo, 2, 0), 0);
    assert_int_equal(topo_peer(&topo, 2, 1), 3);
    assert_int_equal(topo_peer(&topo, 2, 2), 4);
    assert_int_equal(topo_peer_port(&topo, 2, 1), 0);
    assert_int_equal(topo_peer(&topo, 5, 2), 1);
    assert_int_equal(topo_peer_port(&topo, 4, 1), 1);
    assert_int_equal(topo_peer(&topo, 1, 0), 5);
    topo_fini(&topo);
}

static void test_finish_refuses(void **state)
{
    (void)state;
    struct topo topo;
    struct xoff_err err = {0};
    static const struct pair twice[] = {{0, 2}, {0, 2}, {1, 2}};
    make_nodes(&topo, 2, 1);
    assert_int_equal(add_links(&topo, twice, 3, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.value, "h0");
    topo_fini(&topo);

    static const struct pair lonely[] = {{0, 2}};
    make_nodes(&topo, 2, 1);
    assert_int_equal(add_links(&topo, lonely, 1, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.value, "h1");
    topo_fini(&topo);

    /* A node has 4096 ports at most: parallel links between two switches. */
    struct pair *many = calloc(4097, sizeof *many);
    assert_non_null(many);
    for (uint32_t i = 0; i < 4097; i++)
        many[i] = (struct pair){0, 1};
    make(&topo, 0, 2, many, 4096);
    topo_fini(&topo);
    make_nodes(&topo, 0, 2);
    assert_int_equal(add_links(&topo, many, 4097, &err), -XOFF_E_RANGE);
    assert_string_equal(err.value, "s0");
    topo_fini(&topo);
    free(many);
}

static void test_diamond(void **state)
{
    (void)state;
    struct topo topo;
    make_diamond(&topo);
    struct routes *routes = routes_at(&topo, 0);
    assert_int_equal(routes->n_edges, 2);
    assert_int_equal(routes->node_of_edge[0], 2);
    assert_int_equal(routes->node_of_edge[1], 5);
    expect_ports(routes, 2, 1, 2, (const uint16_t[]){1, 2});
    expect_ports(routes, 2, 0, 1, (const uint16_t[]){0});
    expect_ports(routes, 3, 1, 1, (const uint16_t[]){1});
    expect_ports(routes, 4, 0, 1, (const uint16_t[]){0});
    expect_ports(routes, 5, 1, 1, (const uint16_t[]){2});
    expect_ports(routes, 5, 0, 2, (const uint16_t[]){0, 1});

    /* Flows spread over both and stay where they are. */
    uint32_t n_first = 0;
    for (uint32_t flow = 0; flow < 1000; flow++) {
        const uint16_t port = routes_lookup(routes, 2, 1, flow);
        assert_true(port == 1 || port == 2);
        assert_int_equal(routes_lookup(routes, 2, 1, flow), port);
        n_first += port == 1;
    }
    /* Half of 1000 +- 100: more than six standard deviations (15.8). */
    assert_in_range(n_first, 400, 600);
    assert_int_equal(routes_lookup(routes, 5, 1, 77), 2);
    routes_destroy(routes);
    routes_destroy(NULL);
    topo_fini(&topo);
}

static void test_groups_are_shared(void **state)
{
    (void)state;
    /* Hub s0 with two links to a switch s1 that leads on to four edge switches: s0 needs one group
     * of two ports for all of them. Hosts 0..3 at s2..s5, host 4 at s0. */
    struct topo topo;
    static const struct pair pairs[] = {{0, 7}, {1, 8}, {2, 9}, {3, 10}, {4, 5}, {5, 6},
                                        {5, 6}, {6, 7}, {6, 8}, {6, 9},  {6, 10}};
    make(&topo, 5, 6, pairs, 11);
    struct routes *routes = routes_at(&topo, 0);
    assert_int_equal(routes->n_edges, 5);
    assert_int_equal(routes->switches[0].n_groups, 1);
    assert_int_equal(routes->switches[0].n_ports, 2);
    for (uint32_t host = 0; host < 4; host++)
        expect_ports(routes, 5, host, 2, (const uint16_t[]){1, 2});
    /* s1: one group to each of the four, one (both links) to s0. */
    assert_int_equal(routes->switches[1].n_groups, 5);
    assert_int_equal(routes->switches[1].n_ports, 6);
    routes_destroy(routes);
    topo_fini(&topo);
}

static void test_failures_are_avoided(void **state)
{
    (void)state;
    struct topo topo;
    make_diamond(&topo);
    add_change(&topo, 5 * XOFF_US, 1, TOPO_CHANGE_RATE);
    add_change(&topo, 10 * XOFF_US, 1, TOPO_CHANGE_FAIL); /* s0-s1 */
    add_change(&topo, 20 * XOFF_US, 5, TOPO_CHANGE_FAIL); /* h1-s3 */
    add_change(&topo, 30 * XOFF_US, 1, TOPO_CHANGE_REPAIR);
    add_change(&topo, 30 * XOFF_US, 5, TOPO_CHANGE_REPAIR);

    struct routes *routes = routes_at(&topo, 10 * XOFF_US - 1);
    expect_ports(routes, 2, 1, 2, (const uint16_t[]){1, 2});
    routes_destroy(routes);

    /* s1 is three hops from s0 now, through s3. */
    routes = routes_at(&topo, 10 * XOFF_US);
    expect_ports(routes, 2, 1, 1, (const uint16_t[]){2});
    expect_ports(routes, 3, 0, 1, (const uint16_t[]){1});
    expect_ports(routes, 5, 0, 1, (const uint16_t[]){1});
    routes_destroy(routes);

    /* A host whose link is down is reached from nowhere, not even from its own switch. */
    routes = routes_at(&topo, 20 * XOFF_US);
    for (uint32_t node = 2; node < 6; node++)
        expect_ports(routes, node, 1, 0, NULL);
    assert_int_equal(routes_lookup(routes, 2, 1, 0), ROUTE_NONE);
    expect_ports(routes, 4, 0, 1, (const uint16_t[]){0});
    routes_destroy(routes);

    routes = routes_at(&topo, 30 * XOFF_US);
    expect_ports(routes, 2, 1, 2, (const uint16_t[]){1, 2});
    expect_ports(routes, 5, 1, 1, (const uint16_t[]){2});
    routes_destroy(routes);
    topo_fini(&topo);
}

static void test_must_reach(void **state)
{
    (void)state;
    /* h0-s0-s1-h1, and h2 at s1; routing knows of a failure at once. */
    struct topo topo;
    struct xoff_err err = {0};
    struct routes *routes = NULL;
    static const struct pair pairs[] = {{0, 3}, {3, 4}, {1, 4}, {2, 4}};
    make(&topo, 3, 2, pairs, 4);
    add_change(&topo, 10, 1, TOPO_CHANGE_FAIL);
    add_change(&topo, 20, 1, TOPO_CHANGE_REPAIR);
    add_change(&topo, 30, 3, TOPO_CHANGE_FAIL);
    topo.reroute_after = 0;

    assert_int_equal(routes_create(&topo, 9, true, &routes, &err), 0);
    routes_destroy(routes);
    assert_int_equal(routes_create(&topo, 10, false, &routes, &err), 0);
    expect_ports(routes, 3, 1, 0, NULL);
    routes_destroy(routes);
    assert_int_equal(routes_create(&topo, 10, true, &routes, &err), -XOFF_E_CONFLICT);
    assert_null(routes);
    assert_non_null(strstr(err.message, "h0 and h1"));
    assert_int_equal(routes_create(&topo, 20, true, &routes, &err), 0);
    routes_destroy(routes);
    assert_int_equal(routes_create(&topo, 30, true, &routes, &err), -XOFF_E_CONFLICT);
    assert_non_null(strstr(err.message, "h0 and h2"));

    /* With a time to reroute, the tables of the moment still go by the old links. */
    topo.reroute_after = 5;
    assert_int_equal(routes_create(&topo, 14, true, &routes, &err), 0);
    routes_destroy(routes);
    assert_int_equal(routes_create(&topo, 15, true, &routes, &err), -XOFF_E_CONFLICT);
    topo.reroute_after = XOFF_NEVER;
    assert_int_equal(routes_create(&topo, 1000, true, &routes, &err), 0);
    routes_destroy(routes);
    topo_fini(&topo);
}

static void test_statements(void **state)
{
    (void)state;
    struct topo topo;
    make_diamond(&topo);
    add_route(&topo, 10, 2, 1, 1, (const uint32_t[]){2});
    add_route(&topo, 20, 2, 1, 2, (const uint32_t[]){2, 1});
    add_route(&topo, 30, 2, 1, 1, (const uint32_t[]){1});
    add_route(&topo, 40, 2, 1, 0, NULL);
    add_route(&topo, 40, 4, 0, 0, NULL); /* takes back what was never said */
    add_route(&topo, 50, 5, 1, 1, (const uint32_t[]){0});
    add_change(&topo, 35, 1, TOPO_CHANGE_FAIL); /* behind port 1 of s0 */
    add_change(&topo, 38, 1, TOPO_CHANGE_REPAIR);

    static const struct {
        xoff_time at;
        uint32_t n;
        uint16_t ports[2];
    } steps[] = {
        {9, 2, {1, 2}}, {10, 1, {2}}, {19, 1, {2}},   {20, 2, {1, 2}},
        {30, 1, {1}},   {34, 1, {1}}, {35, 1, {2}}, /* nothing stated is left: shortest path */
        {38, 1, {1}},   {39, 1, {1}}, {40, 2, {1, 2}}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct routes *routes = routes_at(&topo, steps[i].at);
        expect_ports(routes, 2, 1, steps[i].n, steps[i].ports);
        /* Other hosts and switches keep theirs. */
        expect_ports(routes, 2, 0, 1, (const uint16_t[]){0});
        expect_ports(routes, 5, 1, 1, (const uint16_t[]){2});
        expect_ports(routes, 4, 0, 1, (const uint16_t[]){0});
        routes_destroy(routes);
    }
    /* A statement goes before the last hop too. */
    struct routes *routes = routes_at(&topo, 50);
    expect_ports(routes, 5, 1, 1, (const uint16_t[]){0});
    routes_destroy(routes);
    topo_fini(&topo);
}

static uint32_t loop_at(const struct topo *topo, xoff_time at, struct route_channel *loop,
                        uint32_t *host)
{
    struct routes *routes = routes_at(topo, at);
    const uint32_t n = routes_find_loop(topo, routes, loop, 4, host);
    routes_destroy(routes);
    return n;
}

/* The diamond s0 (2), s1 (3), s2 (4), s3 (5) with h0 at s0 and h1 at s3. Ports of s0: h0 s1 s2; of
 * s1: s0 s3; of s2: s0 s3; of s3: s1 s2 h1. */
static void test_loops(void **state)
{
    (void)state;
    struct topo topo;
    struct route_channel loop[4];
    uint32_t host;
    make_diamond(&topo);
    topo.reroute_after = 5;
    assert_int_equal(loop_at(&topo, 0, loop, &host), 0);
    add_route(&topo, 10, 4, 1, 1, (const uint32_t[]){0}); /* s2 sends back: s0 may take it or s1 */
    add_route(&topo, 20, 2, 1, 1, (const uint32_t[]){1}); /* s0 takes s1 alone: s2 gets nothing */
    add_route(&topo, 30, 3, 1, 1, (const uint32_t[]){0}); /* s1 sends back */
    add_route(&topo, 40, 3, 1, 0, NULL);
    add_route(&topo, 50, 5, 0, 2, (const uint32_t[]){0, 1}); /* a way round that is no loop */
    add_route(&topo, 60, 5, 1, 1, (const uint32_t[]){1});    /* the last hop; s2 sends it to s0 */
    add_change(&topo, 65, 4, TOPO_CHANGE_FAIL);              /* s2-s3: the statement yields */
    assert_int_equal(loop_at(&topo, 9, loop, &host), 0);
    assert_int_equal(loop_at(&topo, 10, loop, &host), 2);
    assert_int_equal(host, 1);
    assert_int_equal(loop[0].node, 2);
    assert_int_equal(loop[0].port, 2);
    assert_int_equal(loop[1].node, 4);
    assert_int_equal(loop[1].port, 0);
    assert_int_equal(loop_at(&topo, 20, loop, &host), 0);
    assert_int_equal(loop_at(&topo, 30, loop, &host), 2);
    assert_int_equal(loop[1].node, 3);
    assert_int_equal(loop_at(&topo, 40, loop, &host), 0);
    assert_int_equal(loop_at(&topo, 50, loop, &host), 0);
    assert_int_equal(loop_at(&topo, 60, loop, &host), 4); /* s0 s1 s3 s2 */
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(loop[i].node, ((const uint32_t[]){2, 3, 5, 4})[i]);
    assert_int_equal(loop_at(&topo, 69, loop, &host), 4);
    assert_int_equal(loop_at(&topo, 70, loop, &host), 0);
    static const xoff_time changes[] = {0, 10, 20, 30, 40, 50, 60, 70, XOFF_NEVER};
    for (uint32_t i = 0; changes[i] != XOFF_NEVER; i++)
        assert_int_equal(routes_next_change(&topo, changes[i]), changes[i + 1]);
    topo_fini(&topo);
}

static void test_host_to_host(void **state)
{
    (void)state;
    struct topo topo;
    struct xoff_err err = {0};
    struct routes *routes = NULL;
    make(&topo, 2, 0, (const struct pair[]){{0, 1}}, 1);
    assert_int_equal(routes_create(&topo, 0, true, &routes, &err), 0);
    assert_int_equal(routes->n_edges, 2);
    assert_int_equal(routes->node_of_edge[routes->edge_of_host[0]], 0);
    assert_int_equal(routes->node_of_edge[routes->edge_of_host[1]], 1);
    assert_int_equal(routes->port_at_edge[1], 0);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, NULL, 0), 0);
    routes_destroy(routes);

    add_change(&topo, 1, 0, TOPO_CHANGE_FAIL);
    assert_int_equal(routes_create(&topo, 1, true, &routes, &err), -XOFF_E_CONFLICT);
    topo_fini(&topo);

    /* The same holds beside switches that have no host. */
    make(&topo, 2, 2, (const struct pair[]){{0, 1}, {2, 3}}, 2);
    assert_int_equal(routes_create(&topo, 0, true, &routes, &err), 0);
    expect_ports(routes, 2, 0, 0, NULL);
    routes_destroy(routes);
    topo_fini(&topo);
}

/* A random graph: up to 7 hosts, 9 switches, parallel links and parts without a link between. */
static void make_random(struct topo *topo, struct xoff_rng *rng)
{
    struct pair pairs[64];
    const uint32_t n_hosts = 2 + (uint32_t)xoff_rng_below(rng, 6);
    const uint32_t n_switches = 2 + (uint32_t)xoff_rng_below(rng, 8);
    const uint32_t n_fabric = (uint32_t)xoff_rng_below(rng, 2 * n_switches + 1);
    uint32_t n = 0;
    for (uint32_t host = 0; host < n_hosts; host++)
        pairs[n++] = (struct pair){host, n_hosts + (uint32_t)xoff_rng_below(rng, n_switches)};
    for (uint32_t i = 0; i < n_fabric; i++) {
        const uint32_t a = (uint32_t)xoff_rng_below(rng, n_switches);
        const uint32_t b = (a + 1 + (uint32_t)xoff_rng_below(rng, n_switches - 1)) % n_switches;
        pairs[n++] = (struct pair){n_hosts + a, n_hosts + b};
    }
    make(topo, n_hosts, n_switches, pairs, n);
    /* One change a time unit, at most 8. */
    const uint32_t n_changes = (uint32_t)xoff_rng_below(rng, 9);
    for (uint32_t i = 0; i < n_changes; i++)
        add_change(topo, 1 + i, (uint32_t)xoff_rng_below(rng, n),
                   xoff_rng_below(rng, 3) ? TOPO_CHANGE_FAIL : TOPO_CHANGE_REPAIR);
}

#define FAR 1000
#define MAX_NODES 32

static bool is_up(const struct topo *topo, uint32_t link, xoff_time at)
{
    bool up = true;
    for (uint32_t i = 0; i < topo->n_changes; i++) {
        if (topo->changes[i].link == link && topo->changes[i].at <= at)
            up = topo->changes[i].kind != TOPO_CHANGE_FAIL;
    }
    return up;
}

static void floyd_warshall(const struct topo *topo, xoff_time at, uint32_t d[][MAX_NODES])
{
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        for (uint32_t j = 0; j < topo->n_nodes; j++)
            d[i][j] = i == j ? 0 : FAR;
    }
    for (uint32_t i = 0; i < topo->n_links; i++) {
        if (is_up(topo, i, at)) {
            d[topo->links[i].node[0]][topo->links[i].node[1]] = 1;
            d[topo->links[i].node[1]][topo->links[i].node[0]] = 1;
        }
    }
    for (uint32_t k = 0; k < topo->n_nodes; k++) {
        for (uint32_t i = 0; i < topo->n_nodes; i++) {
            for (uint32_t j = 0; j < topo->n_nodes; j++) {
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
            }
        }
    }
}

/* The row of a switch says what its tables say, read by host and by edge. */
static bool rows_agree(const struct routes *routes, uint32_t node, uint32_t host)
{
    const struct route_row row = routes_row(routes, node);
    uint32_t out;
    bool agree = row.hops != NULL; /* the networks are small */
    for (uint32_t hash = 0; hash < 4 && agree; hash++) {
        const uint16_t port = routes_lookup(routes, node, host, hash);
        for (int has_hops = 0; has_hops < 2; has_hops++)
            agree &=
                (route_row_lookup(&row, host, hash, has_hops, &out) ? out : ROUTE_NONE) == port;
    }
    return agree;
}

/* The ports of `node` for `host` are exactly those whose links are up and one hop nearer. */
static bool has_shortest_paths(const struct topo *topo, xoff_time at)
{
    uint32_t d[MAX_NODES][MAX_NODES];
    struct routes *routes = routes_at(topo, at);
    bool good = true;
    floyd_warshall(topo, at, d);
    for (uint32_t node = topo->n_hosts; node < topo->n_nodes; node++) {
        for (uint32_t host = 0; host < topo->n_hosts; host++) {
            uint32_t n = 0;
            const uint16_t *ports = NULL;
            const uint32_t n_ports = routes_candidates(routes, node, host, &ports);
            for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
                const uint32_t link = topo->ports[topo->nodes[node].first_port + port].link;
                const uint32_t peer = topo_peer(topo, node, port);
                if (d[node][host] >= FAR || !is_up(topo, link, at) ||
                    d[peer][host] + 1 != d[node][host])
                    continue;
                good = good && n < n_ports && ports[n] == port;
                n++;
            }
            good = good && n == n_ports && rows_agree(routes, node, host);
        }
    }
    routes_destroy(routes);
    return good;
}

static bool must_reach_is_right(const struct topo *topo, xoff_time at)
{
    uint32_t left[MAX_NODES][MAX_NODES];
    struct routes *routes;
    struct xoff_err err = {0};
    bool cut = false;
    floyd_warshall(topo, at, left);
    for (uint32_t i = 0; i < topo->n_hosts; i++) {
        for (uint32_t j = 0; j < topo->n_hosts; j++)
            cut = cut || left[i][j] >= FAR;
    }
    const int rc = routes_create(topo, at, true, &routes, &err);
    routes_destroy(routes);
    return (rc != 0) == cut;
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 1500; seed++) {
        struct topo topo;
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 0, 0);
        make_random(&topo, &rng);
        for (xoff_time at = 0; at <= topo.n_changes; at++) {
            if (!has_shortest_paths(&topo, at) || !must_reach_is_right(&topo, at))
                fail_msg("seed %u at %lld", seed, (long long)at);
        }
        topo_fini(&topo);
    }
}

/* Leaves 0, 1 and 2 are twins, with two links to spine 4 that are not neighbours in their order of
 * ports; leaf 3 has no link to spine 5. Paths to all of them are found by two searches. */
static void test_twins(void **state)
{
    (void)state;
    static const struct pair pairs[] = {{0, 4}, {1, 5}, {2, 6},  {3, 7}, {4, 8}, {4, 9},
                                        {4, 8}, {5, 8}, {5, 9},  {5, 8}, {6, 8}, {6, 9},
                                        {6, 8}, {7, 8}, {8, 10}, {9, 10}};
    struct topo topo;
    make(&topo, 4, 7, pairs, sizeof pairs / sizeof *pairs);
    assert_true(has_shortest_paths(&topo, 0));
    struct routes *routes = routes_at(&topo, 0);
    const uint16_t *ports = NULL;
    assert_int_equal(routes_candidates(routes, 8, 1, &ports), 2); /* spine 8 to leaf 5 */
    assert_int_equal(ports[0], 2);
    assert_int_equal(ports[1], 3);
    assert_int_equal(routes_candidates(routes, 4, 2, &ports), 3); /* leaf to leaf: all links up */
    assert_int_equal(routes_candidates(routes, 10, 0, &ports), 2);
    routes_destroy(routes);
    /* Without one of its links a leaf is nobody's twin. */
    add_change(&topo, 0, 9, TOPO_CHANGE_FAIL);
    assert_true(has_shortest_paths(&topo, 0));
    topo_fini(&topo);
}

#define MAX_CHANNELS 160

/* waits[a][b]: some frame between two hosts can use channel a and then b; channels are numbered as
 * their egress ports in topo.ports. Every pair of hosts is followed by itself. */
static void follow_pair(const struct topo *topo, const struct routes *routes, uint32_t from,
                        uint32_t to, bool waits[][MAX_CHANNELS])
{
    bool seen[MAX_CHANNELS] = {false};
    uint32_t stack[MAX_CHANNELS], n = 0;
    stack[n++] = topo->nodes[from].first_port;
    seen[stack[0]] = true;
    while (n) {
        const uint32_t channel = stack[--n];
        const struct topo_port *p = &topo->ports[channel];
        const uint32_t node = topo->links[p->link].node[!p->end];
        if (node < topo->n_hosts)
            continue;
        const uint16_t *ports = NULL;
        const uint32_t n_ports = routes_candidates(routes, node, to, &ports);
        for (uint32_t i = 0; i < n_ports; i++) {
            const uint32_t next = topo->nodes[node].first_port + ports[i];
            waits[channel][next] = true;
            if (!seen[next]) {
                seen[next] = true;
                stack[n++] = next;
            }
        }
    }
}

/* Length of the shortest cycle of `waits` and the first channel on one so short; 0 without any. */
static uint32_t shortest_cycle(const struct topo *topo, bool waits[][MAX_CHANNELS], uint32_t *first)
{
    static uint32_t d[MAX_CHANNELS][MAX_CHANNELS];
    const uint32_t n = topo->n_ports;
    uint32_t best = FAR;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            d[i][j] = waits[i][j] ? 1 : FAR;
    }
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < n; i++) {
            if (d[i][k] == FAR)
                continue;
            for (uint32_t j = 0; j < n; j++) {
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (d[i][i] < best) {
            best = d[i][i];
            *first = i;
        }
    }
    return best == FAR ? 0 : best;
}

/* The answer has the length of the shortest cycle, begins at the first channel that is on one, and
 * each of its channels waits for the next. */
static bool cycle_is_right(const struct topo *topo, const struct routes *routes, uint32_t *length)
{
    static bool waits[MAX_CHANNELS][MAX_CHANNELS];
    struct route_channel cycle[MAX_CHANNELS];
    assert_true(topo->n_ports <= MAX_CHANNELS);
    memset(waits, 0, sizeof waits);
    for (uint32_t from = 0; from < topo->n_hosts; from++) {
        for (uint32_t to = 0; to < topo->n_hosts; to++) {
            const bool sends = routes->node_of_edge[routes->edge_of_host[from]] != TOPO_NONE;
            if (from != to && sends)
                follow_pair(topo, routes, from, to, waits);
        }
    }
    *length = routes_find_cycle(topo, routes, NULL, cycle, MAX_CHANNELS);
    uint32_t first = 0;
    bool good = *length == shortest_cycle(topo, waits, &first);
    for (uint32_t i = 0; good && i < *length; i++) {
        const struct route_channel *a = &cycle[i], *b = &cycle[(i + 1) % *length];
        const uint32_t channel = topo->nodes[a->node].first_port + a->port;
        good = topo_peer(topo, a->node, a->port) == b->node &&
               waits[channel][topo->nodes[b->node].first_port + b->port] &&
               (i > 0 || channel == first);
    }
    return good;
}

static void test_cycles_of_random_graphs(void **state)
{
    (void)state;
    uint32_t n_with = 0, n_without = 0;
    for (uint32_t seed = 0; seed < 1500; seed++) {
        struct topo topo;
        struct xoff_rng rng;
        uint32_t length;
        xoff_rng_init(&rng, seed, 1, 0);
        make_random(&topo, &rng);
        /* Up to three statements at random, loops and dead ends included. */
        for (uint64_t n = xoff_rng_below(&rng, 4); n > 0; n--) {
            const uint32_t sw =
                topo.n_hosts + (uint32_t)xoff_rng_below(&rng, topo.n_nodes - topo.n_hosts);
            if (topo.nodes[sw].n_ports == 0)
                continue;
            const uint32_t to = (uint32_t)xoff_rng_below(&rng, topo.n_hosts);
            const uint32_t next = (uint32_t)xoff_rng_below(&rng, topo.nodes[sw].n_ports);
            add_route(&topo, 0, sw, to, 1, &next);
        }
        struct routes *routes = routes_at(&topo, (xoff_time)xoff_rng_below(&rng, 9));
        if (!cycle_is_right(&topo, routes, &length))
            fail_msg("seed %u", seed);
        n_with += length > 0;
        n_without += length == 0;
        routes_destroy(routes);
        topo_fini(&topo);
    }
    /* Both answers were given often. */
    assert_true(n_with > 100);
    assert_true(n_without > 100);
}

static void test_rings(void **state)
{
    (void)state;
    /* Shortest paths in a ring of 3 are single hops between switches: nothing waits. From 4 on some
     * path has two hops, and so has every path turned by one: all clockwise channels wait in a
     * ring. */
    for (uint32_t n = 3; n <= 12; n++) {
        struct topo topo;
        uint32_t length;
        make_ring(&topo, n);
        struct routes *routes = routes_at(&topo, 0);
        assert_true(cycle_is_right(&topo, routes, &length));
        assert_int_equal(length, n == 3 ? 0 : n);
        routes_destroy(routes);
        topo_fini(&topo);
    }
}

static void test_stated_ring(void **state)
{
    (void)state;
    /* Three switches, all traffic clockwise from time 10 on: s0->s1->s2->s0. */
    struct topo topo;
    struct route_channel cycle[3] = {{0}};
    make_ring(&topo, 3);
    for (uint32_t sw = 0; sw < 3; sw++) {
        const uint32_t next = port_to(&topo, 3 + sw, 3 + (sw + 1) % 3);
        for (uint32_t host = 0; host < 3; host++) {
            if (host != sw)
                add_route(&topo, 10, 3 + sw, host, 1, &next);
        }
    }
    struct routes *routes = routes_at(&topo, 9);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, cycle, 3), 0);
    routes_destroy(routes);

    routes = routes_at(&topo, 10);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, cycle, 3), 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(cycle[i].node, 3 + i);
        assert_int_equal(cycle[i].port, port_to(&topo, 3 + i, 3 + (i + 1) % 3));
    }
    /* No more is written than fits, and the length is told all the same. */
    memset(cycle, 0, sizeof cycle);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, cycle, 2), 3);
    assert_int_equal(cycle[1].node, 4);
    assert_int_equal(cycle[2].node, 0);
    routes_destroy(routes);
    topo_fini(&topo);
}

static void test_cycle_needs_traffic(void **state)
{
    (void)state;
    /* A ring of 4 with hosts at s0 and s1 only: frames never make two hops between switches. */
    struct topo topo;
    static const struct pair pairs[] = {{0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {5, 2}};
    make(&topo, 2, 4, pairs, 6);
    struct routes *routes = routes_at(&topo, 0);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, NULL, 0), 0);
    routes_destroy(routes);

    /* A loop for h1 between s2 and s3, where none of its frames comes by. */
    add_route(&topo, 0, 4, 1, 1, (const uint32_t[]){1});
    add_route(&topo, 0, 5, 1, 1, (const uint32_t[]){0});
    routes = routes_at(&topo, 0);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, NULL, 0), 0);
    routes_destroy(routes);

    /* When s0 sends them there, they do. */
    struct route_channel cycle[4];
    add_route(&topo, 0, 2, 1, 1, (const uint32_t[]){2});
    routes = routes_at(&topo, 0);
    assert_int_equal(routes_find_cycle(&topo, routes, NULL, cycle, 4), 2);
    assert_int_equal(cycle[0].node, 4);
    assert_int_equal(cycle[1].node, 5);
    routes_destroy(routes);
    topo_fini(&topo);
}

/* Up-down routes have no cycle, unless switches couple what comes down to what goes up: two of them
 * on one link are enough, one is not. */
static void test_coupled_switches(void **state)
{
    (void)state;
    /* Hosts 0 and 1 at s2, hosts 2 and 3 at s4, s3 between them. */
    struct topo topo;
    static const struct pair pairs[] = {{0, 4}, {1, 4}, {2, 6}, {3, 6}, {4, 5}, {5, 6}};
    make(&topo, 4, 3, pairs, 6);
    struct routes *routes = routes_at(&topo, 0);
    struct route_channel cycle[4];
    static const struct {
        bool coupled[3];
        uint32_t n;
    } rows[] = {{{false, false, false}, 0}, {{true, false, false}, 0}, {{false, true, false}, 0},
                {{true, false, true}, 4},   {{true, true, false}, 2},  {{true, true, true}, 2}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(routes_find_cycle(&topo, routes, rows[i].coupled, cycle, 4), rows[i].n);
    assert_int_equal(cycle[0].node, 4);
    assert_int_equal(cycle[1].node, 5);
    routes_destroy(routes);
    topo_fini(&topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_ports_follow_links),
        cmocka_unit_test(test_finish_refuses),
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_groups_are_shared),
        cmocka_unit_test(test_failures_are_avoided),
        cmocka_unit_test(test_must_reach),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_host_to_host),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_cycles_of_random_graphs),
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_stated_ring),
        cmocka_unit_test(test_cycle_needs_traffic),
        cmocka_unit_test(test_coupled_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
