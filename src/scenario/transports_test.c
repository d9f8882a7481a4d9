/* Transports in scenario files: words and mappings, names, shared keys, the marking they choose,
 * and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/build.h"

#define STAR "topology: {kind: star, hosts: 4}\n"

static struct scenario *read_good(const char *text)
{
    struct scenario *s;
    struct xoff_err err;
    if (scenario_read_text("t.yaml", text, strlen(text), NULL, 0, &s, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    return s;
}

static void assert_fails(const char *text, int line, int column, const char *subject,
                         const char *message)
{
    struct scenario *s;
    struct built *built;
    struct xoff_err err;
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    int code = scenario_read_text("t.yaml", text, strlen(text), NULL, 0, &s, &err);
    if (!code) {
        code = build_create(s->plans[0], &options, &built, &err);
        if (!code)
            build_destroy(built);
        scenario_destroy(s);
    }
    assert_true(code < 0);
    if (err.line != line || err.column != column || strcmp(err.subject, subject) ||
        !strstr(err.message, message))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
}

/* The value of a parameter as it would be written. */
static const char *text_of(const struct xoff_param *table, const void *params, const char *name)
{
    static char text[XOFF_PARAM_TEXT];
    return xoff_param_format(xoff_param_find(table, name), params, text, sizeof text);
}

static void forms(void **state)
{
    (void)state;
    struct scenario *s = read_good(STAR);
    assert_int_equal(s->plans[0]->n_transports, 1);
    assert_string_equal(s->plans[0]->transports[0].net.rp->name, "datagram");
    scenario_destroy(s);

    s = read_good(STAR "transport: {kind: dcqcn, window: 100KB, base_rtt: max, gain: 1/16}\n"
                       "transports: {bulk: tcp, web: {kind: dctcp, tcp: {rto_min: 200us}}}\n");
    const struct plan *plan = s->plans[0];
    assert_int_equal(plan->n_transports, 3);
    const struct plan_transport *t = plan->transports;
    assert_string_equal(t[0].net.rp->name, "dcqcn");
    assert_string_equal(t[0].name, "");
    assert_int_equal(t[0].net.window, NET_WINDOW_BYTES);
    assert_int_equal(t[0].net.window_bytes, 100000);
    assert_true(t[0].net.has_common_rtt);
    assert_string_equal(t[1].name, "bulk");
    assert_string_equal(t[0].net.rel->name, "go-back-n");
    assert_string_equal(t[0].net.np->name, "cnp");
    assert_string_equal(t[1].net.rp->name, "tcp");
    assert_string_equal(t[1].net.rel->name, "tcp");
    assert_string_equal(t[1].net.np->name, "echo");
    const struct xoff_param *tcp = xoff_rel_find("tcp")->params;
    assert_string_equal(text_of(tcp, t[1].net.rel_params, "rto_min"), "1ms");
    assert_string_equal(t[2].net.rp->name, "dctcp");
    assert_string_equal(text_of(tcp, t[2].net.rel_params, "rto_min"), "200us");
    char *text = plan_print(plan); /* reads back to the same */
    struct scenario *again = read_good(text);
    char *twice = plan_print(again->plans[0]);
    assert_string_equal(text, twice);
    free(text), free(twice);
    scenario_destroy(again);
    scenario_destroy(s);
}

static void assert_window(const char *text, enum net_window window, int64_t bytes)
{
    char whole[128];
    snprintf(whole, sizeof whole, STAR "transport: {kind: dcqcn, window: %s}\n", text);
    struct scenario *s = read_good(whole);
    assert_int_equal(s->plans[0]->transports->net.window, window);
    assert_int_equal(s->plans[0]->transports->net.window_bytes, bytes);
    scenario_destroy(s);
}

static void windows(void **state)
{
    (void)state;
    assert_window("none", NET_WINDOW_NONE, 0);
    assert_window("bdp", NET_WINDOW_BDP, 0);
    assert_window("scaled", NET_WINDOW_SCALED, 0);
    assert_window("1B", NET_WINDOW_BYTES, 1);
    static const char *const bad[] = {"0B", "7", ""};
    for (uint32_t i = 0; i < 3; i++) {
        char whole[128];
        snprintf(whole, sizeof whole, STAR "transport: {window: '%s'}\n", bad[i]);
        assert_fails(whole, 2, 22, "transport.window", "not a window");
    }
}

static void assert_marking(const char *more, const char *marking)
{
    char text[512];
    snprintf(text, sizeof text, STAR "%s", more);
    struct scenario *s = read_good(text);
    assert_string_equal(s->plans[0]->kinds->marking->name, marking);
    scenario_destroy(s);
}

static void marking_follows(void **state)
{
    (void)state;
    assert_marking("", "none");
    assert_marking("transport: none\n", "none");
    assert_marking("transport: dcqcn\n", "ecn");
    assert_marking("transport: hpcc\n", "int");
    assert_marking("transport: dctcp\n", "step");
    assert_marking("transport: dcqcn\nswitch: {marking: none}\n", "none");
    assert_marking("transport: timely\nswitch: {marking: ecn}\n", "ecn");
    assert_marking("transports: {rdma: dcqcn-nic}\n", "none"); /* nobody uses it */
    assert_marking("transports: {rdma: dcqcn-nic, web: dctcp}\n"
                   "traffic: [{kind: cbr, from: h0, to: h1, transport: rdma}]\n",
                   "ecn");
    assert_marking("traffic: [{kind: flows, list: [{from: h0, to: h1, size: 1KB, transport: "
                   "dctcp}]}]\n",
                   "step");
    assert_marking("traffic: [{kind: cbr, from: h0, to: h1, transport: powertcp}]\n", "int");
}

static void refused(void **state)
{
    (void)state;
    assert_fails(STAR "transport: pigeon\n", 2, 12, "transport", "accepted: datagram, none");
    assert_fails(STAR "transport: {kind: none, ai: 5Mbps}\n", 2, 25, "transport.ai", "unknown");
    assert_fails(STAR "transport: {kind: dcqcn, aii: 5Mbps}\n", 2, 26, "transport.aii",
                 "min_rate, kind, tcp, reliability, window, base_rtt, cnp_interval");
    assert_fails(STAR "transport: {kind: none, window: wide}\n", 2, 33, "transport.window",
                 "accepted: none, bdp, scaled");
    assert_fails(STAR "transport: {kind: tcp, tcp: {rto: 1ms}}\n", 2, 30, "transport.tcp.rto",
                 "unknown");
    assert_fails(STAR "transports: [dcqcn]\n", 2, 13, "transports", "a mapping from names");
    assert_fails(STAR "transports: {a b: dcqcn}\n", 2, 19, "transports.a b", "");
    assert_fails(STAR "transports: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1}\n", 2, 13,
                 "transports", "up to 8");
    assert_fails(STAR "traffic: [{kind: cbr, from: h0, to: h1, transport: pigeon}]\n", 2, 11,
                 "cbr#0.transport", "no such transport");
    assert_fails(STAR "transport: hpcc\nswitch: {marking: ecn}\n", 2, 12, "transport.kind",
                 "marking: int");
    assert_fails("topology: {kind: chain, switches: 6}\ntransport: hpcc\n", 2, 12, "transport.kind",
                 "5 switches");
    assert_fails(STAR "transport: {kind: dcqcn, gain: 0}\n", 2, 32, "transport.gain", "too small");
    assert_fails(STAR "transport: {kind: dcqcn, min_rate: 200Gbps}\n", 2, 12, "transport.min_rate",
                 "");
    assert_fails(STAR "transport: {kind: tcp, tcp: {rto_min: 2s, rto_max: 1s}}\n", 2, 12,
                 "transport.tcp.rto_min", "");
    assert_fails(STAR "transport: dcqcn\ntraffic: [{kind: cbr, from: h0, to: h1},\n"
                      "  {kind: cbr, from: h1, to: h2, transport: dctcp}]\n",
                 1, 1, "switch.marking", "dcqcn reads ecn and dctcp reads step");
    assert_fails(STAR "transports: {dcqcn: tcp}\n", 2, 14, "transports.dcqcn", "name of a kind");
    assert_fails(STAR "transport: {kind: hpcc, reliability: datagram}\n", 2, 12,
                 "transport.reliability", "learns from ACKs");
    assert_fails(STAR "transport: {kind: none, reliability: datagram, window: bdp}\n", 2, 12,
                 "transport.window", "ACKs open a window");
    assert_fails(STAR "transport: {kind: powertcp, reliability: tcp}\n", 2, 12,
                 "transport.reliability", "go-back-n only");
    assert_fails(STAR "transport: hpcc\nswitch: {path: scatter}\n", 2, 12, "transport.kind",
                 "different paths");
    assert_fails(STAR "traffic: [{kind: cbr, from: h0, to: h1, frame: 70B, transport: tcp}]\n", 2,
                 11, "cbr#0.frame", "from 71B");
    assert_fails("compat: ns3\ntopology: {kind: star, hosts: 4, host_link: {delay: 999ps}}\n", 2,
                 11, "topology.links", "1ns or more");
    assert_fails(STAR "port: {max_frame: 64B}\ntransport: tcp\n", 3, 12, "transport.kind",
                 "no room for payload");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(windows),
        cmocka_unit_test(marking_follows),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
