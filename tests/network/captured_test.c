/* What a captured port notes of its frames: numbers, ends of messages, who speaks to whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static const struct result_capture *run(struct rig *rig, const char *capture, const char *text)
{
    const struct rig_options options = {.cell_bound = XOFF_PARAM_AUTO, .capture = capture};
    rig_run(rig, &options, "%s", text);
    assert_int_equal(rig->results->n_captures, 1);
    return &rig->results->captures[0];
}

/* 3000 B of the second flow of h0, in frames of 1456 B of payload: an ACK has the number of the
 * last frame that has arrived, and the next byte that is expected. */
static void frames_are_numbered(void **state)
{
    (void)state;
    static const struct {
        uint32_t payload_bytes;
        uint64_t seq, next;
        bool is_first, is_last;
    } wanted[] = {{1456, 0, 1456, true, false},
                  {1456, 1456, 2912, false, false},
                  {88, 2912, 3000, false, true}};
    struct rig rig;
    const struct result_capture *c =
        run(&rig, "h0",
            "stop: 1ms\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "transport: {kind: none, reliability: go-back-n}\n"
            "traffic: [{kind: flows, list: [{at: 0s, from: h0, to: h2, size: 1B},\n"
            "  {at: 100us, from: h0, to: h1, size: 3000B}]}]\n");
    uint32_t n_data = 0, n_acks = 0;
    xoff_time last_at = 0;
    for (uint64_t i = 0; i < c->n_frames; i++) {
        const struct result_frame *f = &c->frames[i];
        assert_true(f->at >= last_at);
        last_at = f->at;
        if (f->at < 100 * XOFF_US)
            continue;
        const bool is_data = f->kind == RESULT_FRAME_DATA;
        assert_true(is_data || f->kind == RESULT_FRAME_ACK);
        const uint32_t k = is_data ? n_data++ : n_acks++;
        assert_true(k < 3);
        assert_int_equal(f->flow, 1);
        assert_int_equal(f->psn, k);
        assert_int_equal(f->is_sent, is_data);
        assert_int_equal(f->from, rig_node(&rig, is_data ? "h0" : "h1"));
        assert_int_equal(f->to, rig_node(&rig, is_data ? "h1" : "h0"));
        assert_int_equal(f->seq, is_data ? wanted[k].seq : wanted[k].next);
        assert_int_equal(f->payload_bytes, is_data ? wanted[k].payload_bytes : 0);
        assert_int_equal(f->is_first, is_data && wanted[k].is_first);
        assert_int_equal(f->is_last, is_data && wanted[k].is_last);
    }
    assert_int_equal(n_data, 3);
    assert_int_equal(n_acks, 3);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* An LLDP frame is from a port: that of h1 is the second of the switch. */
static void lldp_frames_name_their_port(void **state)
{
    (void)state;
    struct rig rig;
    const struct result_capture *c =
        run(&rig, "h1",
            "stop: 100us\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 500ns}}\n"
            "priorities: {3: {lossless: true}}\n"
            "lldp: {second: 1us}\n"
            "dcbx: [{at: s0, pfc: [3]}, {at: hosts, pfc: [], willing: all}]\n"
            "traffic: [{kind: flows, list: [{at: 0s, from: h0, to: h2, size: 1B}]}]\n");
    uint32_t n_sent = 0, n_received = 0;
    for (uint64_t i = 0; i < c->n_frames; i++) {
        const struct result_frame *f = &c->frames[i];
        if (f->kind != RESULT_FRAME_LLDP)
            continue;
        n_sent += f->is_sent;
        n_received += !f->is_sent;
        assert_int_equal(f->from, rig_node(&rig, f->is_sent ? "h1" : "s0"));
        assert_int_equal(f->to, f->is_sent ? 0 : 1);
    }
    assert_true(n_sent > 0 && n_received > 0);
    rig_fini(&rig);
}

/* Answers go on one connection. In order of time, its frames and the ACKs of each are numbered on
 * from message to message. 4500 B are four frames. */
static void a_kept_connection_counts_on(void **state)
{
    (void)state;
    struct rig rig;
    const struct result_capture *c =
        run(&rig, "h1",
            "stop: 2ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "transport: {kind: none, reliability: go-back-n}\n"
            "traffic: [{kind: query, from: h1, to: h0, size: 4500B, every: 100us,\n"
            "  connections: kept}]\n");
    uint32_t n_data = 0, n_acks = 0, n_first = 0, n_last = 0;
    for (uint64_t i = 0; i < c->n_frames; i++) {
        const struct result_frame *f = &c->frames[i];
        if (f->kind == RESULT_FRAME_DATA && f->is_sent) {
            assert_int_equal(f->is_first, n_data % 4 == 0);
            assert_int_equal(f->is_last, n_data % 4 == 3);
            n_first += f->is_first, n_last += f->is_last;
            assert_int_equal(f->psn, n_data++);
        } else if (f->kind == RESULT_FRAME_ACK && !f->is_sent) {
            assert_int_equal(f->psn, n_acks++);
        }
    }
    assert_true(n_first > 5 && n_first == n_last);
    assert_true(n_acks == n_data && n_data == 4 * n_first);
    rig_fini(&rig);
}

/* CNPs have their own priority, 0 as well as another, or that of ACKs. */
static void cnps_have_a_priority(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        uint8_t priority;
    } rows[] = {{"auto", 6}, {"0", 0}, {"1", 1}};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        char text[512];
        snprintf(text, sizeof text,
                 "stop: 200us\ndrain: 0s\n"
                 "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
                 "switch: {marking: {kind: ecn, kmin: 5KB, kmax: 10KB}}\n"
                 "host: {ack_priority: 6, cnp_priority: %s}\n"
                 "transport: dcqcn\n"
                 "traffic: [{kind: incast, from: h1..h2, to: h0, size: 200KB, priority: 3}]\n",
                 rows[i].given);
        const struct result_capture *c = run(&rig, "h0", text);
        uint32_t n_cnps = 0, n_acks = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            n_acks += f->kind == RESULT_FRAME_ACK;
            n_cnps += f->kind == RESULT_FRAME_CNP;
            if (f->kind == RESULT_FRAME_CNP)
                assert_int_equal(f->priority, rows[i].priority);
            else
                assert_int_equal(f->priority, f->kind == RESULT_FRAME_ACK ? 6 : 3);
        }
        assert_true(n_cnps > 0 && n_acks > 0);
        rig_fini(&rig);
    }
}

/* After a loss ACKs name ranges that have arrived, above what is expected next, and nothing else.
 */
static void acks_name_ranges(void **state)
{
    (void)state;
    struct rig rig;
    const struct result_capture *c =
        run(&rig, "h0",
            "stop: 2ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us, error: 0.02}}\n"
            "transport: tcp\n"
            "traffic: [{kind: flows, list: [{from: h0, to: h1, size: 1MB}]}]\n");
    uint32_t n_ranges = 0;
    assert_non_null(c->extras);
    for (uint64_t k = 0; k < c->n_frames; k++) {
        const struct result_frame_extra *extra = &c->extras[k];
        assert_false(extra->has_telemetry || extra->has_notice);
        assert_true(extra->n_sacks == 0 || c->frames[k].kind == RESULT_FRAME_ACK);
        for (uint32_t i = 0; i < extra->n_sacks; i++, n_ranges++) {
            assert_true(extra->sack_from[i] > c->frames[k].seq);
            assert_true(extra->sack_to[i] > extra->sack_from[i]);
            assert_true(extra->sack_to[i] <= 1000000);
        }
    }
    assert_true(n_ranges > 0);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_numbered),
        cmocka_unit_test(lldp_frames_name_their_port),
        cmocka_unit_test(a_kept_connection_counts_on),
        cmocka_unit_test(cnps_have_a_priority),
        cmocka_unit_test(acks_name_ranges),
    };
    return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}
