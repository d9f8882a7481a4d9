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

/* Two messages, 3000 B and later 1457 B, of the second flow of h0 in frames of 1456 B of payload:
 * an ACK has the number of the last frame that has arrived, and the next byte that is expected. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_numbered),
        cmocka_unit_test(lldp_frames_name_their_port),
    };
    return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}
