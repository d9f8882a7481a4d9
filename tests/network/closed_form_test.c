/* Networks whose outcome can be computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/units.h>

#include "support/rig.h"

#define HEADER 62 /* NET_HEADER_BYTES: frames are payload + 62 */

/* Store and forward over n links: each adds (frame + preamble) byte times and its delay; each
 * switch its processing. 1000 B of payload are 1062 B, 1070 byte times on the wire; at 100 Gb/s
 * 85600 ps. */
static void one_frame_over_n_hops(void **state)
{
    (void)state;
    for (uint32_t switches = 2; switches <= 80; switches += switches < 6 ? 1 : 37) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\n"
                "topology: {kind: chain, switches: %u, hosts_per_switch: 1,\n"
                "  host_link: {rate: 100Gbps, delay: 700ns}, "
                "fabric_link: {rate: 400Gbps, delay: 1.5us}}\n"
                "switch: {buffer: 4MB, processing_delay: 123ns}\n"
                "traffic: [{kind: flows, list: [{at: 10us, from: h0, to: h%u, size: 1000B}]}]\n",
                switches, switches - 1);
        const xoff_time wire_100 = (1000 + HEADER + 8) * 80, wire_400 = (1000 + HEADER + 8) * 20;
        const xoff_time expected = 2 * (wire_100 + 700 * XOFF_NS) +
                                   (switches - 1) * (wire_400 + 1500 * XOFF_NS) +
                                   switches * 123 * XOFF_NS;
        assert_int_equal(rig.results->n_flows, 1);
        assert_int_equal(rig.results->flows[0].start_at, 10 * XOFF_US);
        assert_int_equal(rig.results->flows[0].finish_at - 10 * XOFF_US, expected);
        assert_int_equal(rig.results->flows[0].ideal_for, expected);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A message alone in the network takes exactly its ideal time, whatever its size and the rates: the
 * closed form of collect.c against the simulation. */
static void alone_is_ideal(void **state)
{
    (void)state;
    static const char *const links[][2] = {{"100Gbps, delay: 1us", "400Gbps, delay: 500ns"},
                                           {"400Gbps, delay: 1us", "100Gbps, delay: 500ns"},
                                           {"10Gbps, length: 40m", "25Gbps, delay: 3us"}};
    static const uint32_t sizes[] = {1, 1456, 1457, 2912, 3000, 100000, 1456 * 50 + 3};
    for (uint32_t l = 0; l < 3; l++)
        for (uint32_t s = 0; s < 7; s++) {
            struct rig rig;
            rig_run(&rig, NULL,
                    "stop: 10ms\n"
                    "topology: {kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1,\n"
                    "  host_link: {rate: %s}, fabric_link: {rate: %s}}\n"
                    "traffic: [{kind: flows, list: [{at: 0s, from: h0, to: h1, size: %uB}]}]\n",
                    links[l][0], links[l][1], sizes[s]);
            const struct result_flow *f = &rig.results->flows[0];
            assert_int_equal(f->finish_at - f->start_at, f->ideal_for);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* A flow with a rate of its own: 68 full frames of 1518 B every 1214.4 ns (10 Gb/s), behind them
 * one with 100000 - 68 * 1456 = 992 B, 1062 byte times of 80 ps on each of two links of 1 us. */
static void a_paced_flow_is_ideal(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "traffic: [{kind: flows, list: [{at: 0s, from: h0, to: h1, size: 100000B,\n"
            "  rate: 10Gbps}]}]\n");
    const struct result_flow *f = &rig.results->flows[0];
    assert_int_equal(f->finish_at, 68 * 1214400 + 2 * (1062 * 80 + XOFF_US));
    assert_int_equal(f->ideal_for, f->finish_at);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* M/D/1: Poisson frames of one size from many hosts to one. The mean number of bytes waiting behind
 * the one in service is rho^2 / (2 (1 - rho)) frames. Time in the network above the empty network's
 * is the waiting time W = rho S / (2 (1 - rho)), S the service time; two queues see traffic (the
 * sources' own links and the common one); the sources' load is small, so that what enters the
 * common queue is nearly Poisson. */
static void m_d_1_mean_wait(void **state)
{
    (void)state;
    struct rig rig;
    const uint32_t n = 200;
    rig_run(&rig, NULL,
            "stop: 30ms\n"
            "topology: {kind: star, hosts: %u, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 64MB, pause: none}\n"
            "traffic: [{kind: poisson, from: h1..h%u, to: h0, load: 0.0033, sizes: 1456B}]\n",
            n + 1, n);
    /* The load counts payload: 1456 B of it take 1538 byte times of the common link. */
    const double rho = n * 0.0033 * 1538 / 1456, service_s = (1518 + 20) * 80e-12;
    const double expected_s = rho * service_s / (2 * (1 - rho));
    double wait_s = 0;
    for (uint64_t i = 0; i < rig.results->n_flows; i++) {
        const struct result_flow *f = &rig.results->flows[i];
        wait_s += (double)(f->finish_at - f->start_at - f->ideal_for) / 1e12;
    }
    wait_s /= (double)rig.results->n_flows;
    print_message("M/D/1: wait %.2f ns, expected %.2f ns, %llu frames\n", wait_s * 1e9,
                  expected_s * 1e9, (unsigned long long)rig.results->n_flows);
    assert_true(wait_s > 0.98 * expected_s && wait_s < 1.02 * expected_s);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A limit that sending and receiving share. h0 receives 98 Gb/s of frames and sends what 150 Gb/s
 * leave: 52 Gb/s, with preamble and gap (1538 for 1518 B) 0.527 of its link. 200 Gb/s are enough
 * for both, and the link is busy with 98 * 1538 / 1518 = 99.3 Gb/s. Of 100 Gb/s, 20 Gb/s that are
 * received leave 80, also while nothing comes: 0.811 of the link. */
static void a_limit_is_shared(void **state)
{
    (void)state;
    static const struct {
        const char *limit, *received;
        double busy;
    } rows[] = {
        {"150Gbps", "98Gbps", 0.527}, {"200Gbps", "98Gbps", 0.993}, {"100Gbps", "20Gbps", 0.811}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us}}\n"
                "host: {shared_limit: %s}\n"
                "transport: {kind: none, reliability: datagram}\n"
                "traffic: [{kind: cbr, from: h1, to: h0, rate: %s},\n"
                "  {kind: cbr, from: h0, to: h2, rate: 98Gbps}]\n",
                rows[i].limit, rows[i].received);
        const struct result_port *port = rig_port(&rig, "h0", "s0");
        const double busy = (double)port->busy_for / (double)rig.results->end_at;
        print_message("limit %s: link of h0 busy %.4f\n", rows[i].limit, busy);
        assert_true(busy > 0.99 * rows[i].busy && busy < 1.01 * rows[i].busy);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_frame_over_n_hops), cmocka_unit_test(alone_is_ideal),
        cmocka_unit_test(a_paced_flow_is_ideal), cmocka_unit_test(m_d_1_mean_wait),
        cmocka_unit_test(a_limit_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
