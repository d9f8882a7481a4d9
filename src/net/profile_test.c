/* The numbers of both profiles, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/net.h"

static void assert_times(const struct net_wire *wire, xoff_rate rate_bps, uint32_t bytes,
                         xoff_time last_bit, xoff_time free_at)
{
    xoff_time last = -1, free = -1;
    wire->times(rate_bps, bytes, &last, &free);
    assert_int_equal(last, last_bit);
    assert_int_equal(free, free_at);
}

static void times(void **state)
{
    (void)state;
    /* 80 ps a byte: 8 bytes of preamble before the frame, 12 of gap behind it. */
    assert_times(&net_wire_ethernet, 100 * XOFF_GBPS, 1500, 1508 * 80, 1520 * 80);
    /* 8000/3 ps a byte: 73 bytes take 194666.7, 85 take 226666.7. */
    assert_times(&net_wire_ethernet, 3 * XOFF_GBPS, 65, 194666, 226666);
    /* Nothing but the frame, and only whole nanoseconds of it: 80 exactly, which the
     * double is not, 83.84, 173.3. */
    assert_times(&net_wire_ns3, 100 * XOFF_GBPS, 1000, 79 * XOFF_NS, 79 * XOFF_NS);
    assert_times(&net_wire_ns3, 100 * XOFF_GBPS, 1048, 83 * XOFF_NS, 83 * XOFF_NS);
    assert_times(&net_wire_ns3, 3 * XOFF_GBPS, 65, 173 * XOFF_NS, 173 * XOFF_NS);
}

static void shortest(void **state)
{
    (void)state;
    assert_int_equal(net_wire_ethernet.shortest(100 * XOFF_GBPS), (64 + 8) * 80);
    /* 43 bytes take 3.44 ns, cut to 3, from the last picosecond of the nanosecond it is sent in. */
    assert_int_equal(net_wire_ns3.shortest(100 * XOFF_GBPS), 3000 - 999);
    assert_int_equal(net_wire_ns3.shortest(10 * XOFF_GBPS), 34000 - 999);
}

static void headroom(void **state)
{
    (void)state;
    struct xoff_headroom_params p = {
        .rate_bps = 100 * XOFF_GBPS, .delay = XOFF_US, .max_frame_bytes = 1048};
    assert_int_equal(net_wire_ethernet.headroom(&p), xoff_headroom_bytes(&p));
    /* A frame takes 83 ns; in 2000 + 83 + 2 of them 25 arrive, and 3 more. */
    assert_int_equal(net_wire_ns3.headroom(&p), 28 * 1048);
    /* 72 ns are needed for one more: 26 frames take 2158. */
    p.response_for = 72 * XOFF_NS;
    assert_int_equal(net_wire_ns3.headroom(&p), 28 * 1048);
    p.response_for = 73 * XOFF_NS;
    assert_int_equal(net_wire_ns3.headroom(&p), 29 * 1048);
}

/* MurmurHash3 (x86, 32 bits; another implementation, which gives 0xba6bd213 for "test") of source
 * address, destination address and ports, seeded with the switch's id. Of hosts n0 and n5 at switch
 * n6 with ports 10000 and 100 it is 0x582e8ee6, which is 2 modulo 3 and 4; of the answer at n7,
 * ports swapped, 0x7cad14a9: 1 modulo 2, 0 modulo 3. Next hops count from the largest id down. */
static void hops(void **state)
{
    (void)state;
    enum { N_HOSTS = 6, N_SWITCHES = 6 };
    struct topo_node nodes[N_HOSTS + N_SWITCHES] = {0};
    struct topo_link links[4] = {0};
    struct topo_port ports[8] = {0};
    for (uint32_t n = 0; n < N_HOSTS + N_SWITCHES; n++)
        nodes[n].number = n;
    /* Ports 0..3 of the node under test lead to n8, n9, n10, n11. */
    for (uint32_t i = 0; i < 4; i++) {
        links[i] = (struct topo_link){.node = {6, 8 + i}, .port = {i, 0}};
        ports[i] = ports[4 + i] = (struct topo_port){.link = i, .end = 0};
    }
    nodes[7].first_port = 4;
    const struct topo topo = {.n_nodes = N_HOSTS + N_SWITCHES,
                              .n_hosts = N_HOSTS,
                              .nodes = nodes,
                              .links = links,
                              .ports = ports};
    const uint16_t candidates[] = {0, 1, 2, 3};
    const struct frame data = {.src = 0, .dst = 5, .hash = 10000 | 100 << 16};
    const struct frame ack = {.src = 5, .dst = 0, .hash = 100 | 10000 << 16};
    assert_int_equal(net_wire_ns3.hop(&topo, 6, &data, candidates, 2), 1); /* n9 before n8 */
    assert_int_equal(net_wire_ns3.hop(&topo, 6, &data, candidates, 3), 0); /* n10, n9, n8 */
    assert_int_equal(net_wire_ns3.hop(&topo, 6, &data, candidates, 4), 1); /* n11, n10, n9 */
    assert_int_equal(net_wire_ns3.hop(&topo, 7, &ack, candidates, 2), 0);
    assert_int_equal(net_wire_ns3.hop(&topo, 7, &ack, candidates, 3), 2);
    /* The order of ports does not matter: n8, n10, n9 still count as n10, n9, n8. */
    const uint16_t mixed[] = {0, 2, 1, 3}; /* n11 is no candidate */
    assert_int_equal(net_wire_ns3.hop(&topo, 6, &data, mixed, 3), 0);
    assert_int_equal(net_wire_ns3.hop(&topo, 7, &ack, mixed, 3), 2);
    /* Of two links to n9, ports 1 and 3, the first comes first: n10, n9, n9, n8. */
    links[3].node[1] = 9;
    assert_int_equal(net_wire_ns3.hop(&topo, 6, &data, candidates, 4), 3);
}

/* Each event of a nanosecond gets the next picosecond; one that is scheduled less than a sampling
 * interval ahead comes behind the sample. */
static void sequence(void **state)
{
    (void)state;
    static struct net_sequence s;
    const xoff_time ns = 1000 * XOFF_NS;
    assert_int_equal(net_sequence_next(&s, ns, ns - 100 * XOFF_NS), ns + 1);
    assert_int_equal(net_sequence_next(&s, ns, ns - 100 * XOFF_NS), ns + 2);
    assert_int_equal(net_sequence_next(&s, ns, ns - 99 * XOFF_NS), ns + 501);
    assert_int_equal(net_sequence_next(&s, ns, ns - 100 * XOFF_NS), ns + 502);
    assert_int_equal(net_sequence_next(&s, ns + XOFF_NS, 0), ns + XOFF_NS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times), cmocka_unit_test(shortest), cmocka_unit_test(headroom),
        cmocka_unit_test(hops),  cmocka_unit_test(sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
