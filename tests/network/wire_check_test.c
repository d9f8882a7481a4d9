/* The wire check in whole networks: it sees every control frame at every hop and changes nothing;
 * the first frame that does not come back ends the run, the same with any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/units.h>

#include "support/rig.h"
#include "wire/packet_check.h"

static const char star[] =
    "title: Three senders, one receiver\n"
    "stop: 100us\n"
    "topology: {kind: star, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}}\n"
    "switch: {buffer: 1MB}\n"
    "transport: %s\n"
    "priorities: {3: {lossless: true}}\n"
    "traffic:\n"
    "  - {kind: incast, name: burst, from: h0..h2, to: h3, size: 300KB, "
    "priority: 3}\n";

/* What the check of the next run does. */
static int (*check)(const struct packet *packet, struct xoff_err *err);
static bool checks_all;
static atomic_uint n_pauses, n_acks;

static void use_check(const void *context, struct net_spec *spec, struct net_switch *kinds,
                      struct net_transport *transports)
{
    (void)context, (void)kinds, (void)transports;
    spec->wire_check = check;
    spec->wire_checks_all = checks_all;
}

static struct rig_options options_of(uint32_t n_threads)
{
    return (struct rig_options){.n_threads = n_threads, .adjust = use_check};
}

static int count_pauses(const struct packet *packet, struct xoff_err *err)
{
    n_pauses += packet->kind == PACKET_PAUSE;
    n_acks += packet->kind == PACKET_ACK;
    return xoff_packet_check(packet, err);
}

/* Counted by hand from the ports: what they received is what was checked; ACKs only if asked for.
 */
static void every_control_frame_is_checked(void **unused)
{
    (void)unused;
    struct rig plain;
    const struct rig_options none = {0}, one = options_of(1);
    rig_run(&plain, &none, star, "dcqcn");
    assert_int_equal(net_wire_result(plain.built->net).n_frames, 0);
    check = count_pauses;
    for (uint32_t with_acks = 0; with_acks < 2; with_acks++) {
        struct rig checked;
        checks_all = with_acks;
        n_pauses = n_acks = 0;
        rig_run(&checked, &one, star, "dcqcn");
        const struct net_wire_result found = net_wire_result(checked.built->net);
        assert_true(plain.results->digest == checked.results->digest);
        assert_false(found.has_failed);
        uint64_t pauses = 0;
        for (uint32_t i = 0; i < checked.results->n_ports; i++)
            pauses += checked.results->ports[i].control_rx_frames;
        assert_true(pauses > 0 && n_pauses == pauses);
        assert_true(with_acks ? n_acks > 600 : n_acks == 0);
        assert_true(found.n_frames >= pauses + n_acks); /* and NACKs and CNPs, if any */
        rig_fini(&checked);
    }
    rig_fini(&plain);
}

static void all_transports_pass(void **unused)
{
    (void)unused;
    static const char *const transports[] = {"none", "dcqcn", "hpcc", "dctcp", "tcp",
                                             "qcn",  "ecm",   "e2cm", "fecn"};
    const struct rig_options one = options_of(1);
    check = xoff_packet_check;
    checks_all = true;
    for (unsigned i = 0; i < sizeof transports / sizeof *transports; i++) {
        struct rig rig;
        rig_run(&rig, &one, star, transports[i]);
        const struct net_wire_result found = net_wire_result(rig.built->net);
        if (found.has_failed)
            fail_msg("%s: %s: %s", transports[i], found.err.subject, found.err.message);
        assert_true(found.n_frames > 0);
        rig_fini(&rig);
    }
}

/* A codec that loses the time of a pause. */
static int lose_quanta(const struct packet *packet, struct xoff_err *err)
{
    struct layers sent;
    uint8_t octets[LAYERS_MORE_OCTETS + XOFF_ETH_MIN_OCTETS];
    xoff_packet_layers(packet, &sent);
    const uint32_t n = xoff_layers_encode(
        &sent, &(struct layers_out){.least_octets = XOFF_ETH_MIN_OCTETS}, NULL, octets);
    if (packet->kind == PACKET_PAUSE)
        memset(octets + 18, 0, 16);
    return xoff_packet_check_octets(&sent, octets, n, err);
}

static void first_failure_ends_the_run(void **unused)
{
    (void)unused;
    struct net_wire_result first = {0};
    check = lose_quanta;
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        struct rig rig;
        const struct rig_options options = options_of(n_threads);
        rig_run(&rig, &options, star, "dcqcn");
        const struct net_wire_result found = net_wire_result(rig.built->net);
        assert_true(found.has_failed && rig.results->interrupted);
        assert_true(rig.results->end_at < 100 * XOFF_US);
        assert_string_equal(found.err.subject, "pause.quanta");
        assert_int_equal(found.kind, RESULT_FRAME_PAUSE);
        if (n_threads == 1)
            first = found;
        assert_true(found.at == first.at && found.node == first.node && found.port == first.port);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_control_frame_is_checked),
        cmocka_unit_test(all_transports_pass),
        cmocka_unit_test(first_failure_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
