/* PFC and PAUSE in whole networks: how long a pause lasts, whom it stops, when it is sent, and what
 * is recorded about it. Times are compared to the picosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/units.h>

#include "support/rig.h"

#define PRIORITY 3
#define FRAME 1518          /* the largest MAC frame */
#define PAYLOAD (1518 - 62) /* of a full frame */
#define SLOT (FRAME + 20)   /* with preamble and gap */
#define LAST_BIT (FRAME + 8)
#define PAUSE_LAST_BIT (64 + 8)

/* h1 == rate ==> s0 == rate / 10 ==> h0. The switch fills up behind the slow link and tells h1 to
 * stop, once: no refresh, no resume. Headroom is large, so that a pause that ends early costs no
 * frame. */
static void run_once_paused(struct rig *rig, xoff_rate rate_bps, uint32_t quanta, uint64_t frames)
{
    char fast[32], slow[32];
    rig_run(rig, NULL,
            "stop: 1s\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch}, links: [\n"
            "  {endpoints: [h0, s0], rate: %s, delay: 300ns},\n"
            "  {endpoints: [h1, s0], rate: %s, delay: 700ns}]}\n"
            "switch: {buffer: 20MB, mmu: {kind: static, xoff: 30000B, xon: 10000B},\n"
            "  pause: {kind: pfc, quanta: %u, refresh: false, resume: false}}\n"
            "port: {headroom: 1MB}\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic: [{kind: flows, priority: 3,\n"
            "  list: [{at: 0s, from: h1, to: h0, size: %lluB}]}]\n",
            xoff_format_rate(slow, sizeof slow, rate_bps / 10),
            xoff_format_rate(fast, sizeof fast, rate_bps), quanta,
            (unsigned long long)(frames * PAYLOAD));
}

/* A pause of Q quanta closes the sender's gate for Q * 512 bit times, whatever the rate. */
static void pause_lasts_its_quanta(void **state)
{
    (void)state;
    static const xoff_rate rates[] = {
        1000 * XOFF_MBPS, 2500 * XOFF_MBPS, 10 * XOFF_GBPS,  25 * XOFF_GBPS,  40 * XOFF_GBPS,
        7300 * XOFF_MBPS, 100 * XOFF_GBPS,  400 * XOFF_GBPS, 800 * XOFF_GBPS, 3000 * XOFF_MBPS};
    static const uint32_t quanta[] = {1, 2, 61, 4096, 65535};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t q = 0; q < sizeof quanta / sizeof *quanta; q++) {
            struct rig rig;
            run_once_paused(&rig, rates[r], quanta[q], 500);
            const struct result_queue *sender = &rig_port(&rig, "h1", "s0")->queue[PRIORITY];
            uint64_t n_xoffs = 0;
            for (uint64_t i = 0; i < rig.results->n_pauses; i++)
                n_xoffs += rig.results->pauses[i].pause;
            /* ceil(Q * 512 * 10^12 / rate) for each pause: they cannot overlap here, since the
             * queue must drain in between. */
            const unsigned __int128 bits = (unsigned __int128)quanta[q] * 512 * 1000000000000u;
            const xoff_time pause_for = (xoff_time)((bits + rates[r] - 1) / rates[r]);
            assert_true(n_xoffs > 0);
            assert_int_equal(rig_port(&rig, "s0", "h1")->queue[PRIORITY].pause_tx, n_xoffs);
            assert_int_equal(sender->paused_for, (xoff_time)n_xoffs * pause_for);
            assert_int_equal(rig.results->flows[0].delivered_bytes, 500 * PAYLOAD);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* The same seen from outside. XOFF decided at t reaches h1 72 byte times and the delay later; the
 * gate closes one response time after that. Frames that began before are finished: with
 * back-to-back frames from time 0 those are ceil(close / slot). The others begin when the quanta
 * have run out (the queue is empty by then) and cross an empty network: their last bits leave the
 * slow link one slot of it apart. */
static void sender_is_silent_from_response_to_expiry(void **state)
{
    (void)state;
    static const xoff_rate rates[] = {1 * XOFF_GBPS,   10 * XOFF_GBPS,  25 * XOFF_GBPS,
                                      100 * XOFF_GBPS, 400 * XOFF_GBPS, 800 * XOFF_GBPS};
    static const xoff_time response_quanta[] = {2, 60, 80, 394, 905, 905}; /* 802.3 31B.3.7 */
    static const uint32_t quanta[] = {65535, 40001};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t q = 0; q < sizeof quanta / sizeof *quanta; q++) {
            const xoff_time byte = (xoff_time)(8 * (uint64_t)XOFF_S / rates[r]);
            struct rig rig;
            run_once_paused(&rig, rates[r], quanta[q], 200);
            const xoff_time decided = rig.results->pauses[0].at;
            rig_fini(&rig);
            const xoff_time close =
                decided + PAUSE_LAST_BIT * byte + 700 * XOFF_NS + response_quanta[r] * 64 * byte;
            const xoff_time open = close + (xoff_time)quanta[q] * 64 * byte;
            const uint64_t before = (uint64_t)((close + SLOT * byte - 1) / (SLOT * byte));
            const uint64_t after = 7;

            run_once_paused(&rig, rates[r], quanta[q], before + after);
            const struct result_flow *flow = &rig.results->flows[0];
            assert_int_equal(rig.results->pauses[0].at, decided);
            const xoff_time slow_byte = 10 * byte;
            assert_int_equal(flow->finish_at, open + LAST_BIT * byte + 700 * XOFF_NS +
                                                  (xoff_time)(after - 1) * SLOT * slow_byte +
                                                  LAST_BIT * slow_byte + 300 * XOFF_NS);
            rig_fini(&rig);
            /* One frame less and the last one crossed before the pause: the boundary of `before`.
             */
            run_once_paused(&rig, rates[r], quanta[q], before);
            assert_true(rig.results->flows[0].finish_at < open);
            rig_fini(&rig);
            run_once_paused(&rig, rates[r], quanta[q], before + 1);
            assert_true(rig.results->flows[0].finish_at > open);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* A receiver that stands still for 2 ms keeps its switch paused by refreshes (one pause of 65535
 * quanta is 335 us at 100 Gb/s). XOFF and XON travel alike, so the gate is closed for exactly the
 * time between the two decisions; with a gap it would be less. */
static void refreshes_leave_no_gap(void **state)
{
    (void)state;
    /* 110: a refresh every 55 quanta, the shortest of which no more than 8 can be within the
     * response time of 394. */
    static const uint32_t quanta[] = {110, 1000, 65535};
    for (size_t q = 0; q < sizeof quanta / sizeof *quanta; q++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 3ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 30MB, mmu: static, pause: {kind: pfc, quanta: %u}}\n"
                "priorities: {3: {lossless: true}}\n"
                "receivers: [{host: h0, rate: \"100Gbps, 100us: 0bps, 2ms: 100Gbps\",\n"
                "  buffer: 200KB}]\n"
                "traffic: [{kind: cbr, from: h1, to: h0, priority: 3}]\n",
                quanta[q]);
        const struct results *r = rig.results;
        const struct result_port *gate = rig_port(&rig, "s0", "h0");
        const uint32_t h0 = rig_node(&rig, "h0");
        const struct result_pause *first = NULL, *end = NULL;
        for (uint64_t i = 0; i < r->n_pauses && !end; i++) {
            if (r->pauses[i].node == h0 && r->pauses[i].pause && !first)
                first = &r->pauses[i];
            else if (r->pauses[i].node == h0 && !r->pauses[i].pause)
                end = &r->pauses[i];
        }
        assert_non_null(first);
        assert_non_null(end);
        assert_in_range(first->at, 100 * XOFF_US, 200 * XOFF_US);
        assert_in_range(end->at, 2000 * XOFF_US, 2100 * XOFF_US);
        assert_int_equal(gate->queue[PRIORITY].pause_rx, gate->queue[PRIORITY].resume_rx);
        assert_int_equal(gate->queue[PRIORITY].pause_rx, 1);
        assert_int_equal(gate->queue[PRIORITY].paused_for, end->at - first->at);
        /* At least one XOFF per half of the quanta. */
        assert_true(
            gate->control_rx_frames >=
            (uint64_t)((end->at - first->at) / xoff_quanta_time(quanta[q], 100 * XOFF_GBPS)));
        assert_int_equal(r->n_drops, 0);
        assert_int_equal(r->flows[0].delivered_bytes, r->flows[0].offered_bytes);
        assert_true(r->flows[0].delivered_bytes > 10000000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* h1 sends priority 3 to h0, which stands still, and priority 0 to h2, which does not. */
static void run_two_classes(struct rig *rig, const char *kind)
{
    rig_run(rig, NULL,
            "stop: 1500us\ndrain: 5ms\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 4MB, mmu: {kind: static, xoff: 50KB}, pause: {kind: %s}}\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: h0, rate: \"0bps, 1ms: 100Gbps\", buffer: 200KB, xoff: 20KB}]\n"
            "traffic:\n"
            "- {kind: flows, priority: 3, list: [{from: h1, to: h0, size: 1MB}]}\n"
            "- {kind: flows, priority: 0, list: [{from: h1, to: h2, size: 1MB}]}\n",
            kind);
}

/* PFC stops one priority of a link, 802.3x PAUSE all of them. Alone 1 MB takes 85 us. */
static void pfc_stops_one_priority_pause_all(void **state)
{
    (void)state;
    struct rig rig;
    run_two_classes(&rig, "pfc");
    const struct result_port *sender = rig_port(&rig, "h1", "s0");
    for (uint32_t p = 0; p < 8; p++) {
        if (p == PRIORITY)
            assert_true(sender->queue[p].paused_for > 900 * XOFF_US);
        else
            assert_int_equal(sender->queue[p].paused_for, 0);
        assert_int_equal(sender->queue[p].pause_rx > 0, p == PRIORITY);
    }
    assert_int_equal(rig.results->flows[0].priority, 3);
    assert_true(rig.results->flows[0].finish_at > XOFF_MS);
    assert_true(rig.results->flows[1].finish_at < 200 * XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    run_two_classes(&rig, "pause");
    sender = rig_port(&rig, "h1", "s0");
    for (uint32_t p = 0; p < 8; p++) {
        assert_true(sender->queue[p].paused_for > 900 * XOFF_US);
        assert_int_equal(sender->queue[p].paused_for, sender->queue[0].paused_for);
    }
    assert_true(rig.results->flows[0].finish_at > XOFF_MS);
    assert_true(rig.results->flows[1].finish_at > XOFF_MS);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A pause frame passes all queued data but waits for the frame on the wire. h2 and h3 overload the
 * link to h1 with priority 0, so that the switch always has frames queued for h1, back to back from
 * some instant on; meanwhile h1 overruns h0. The pause frame goes out at the first end of a frame
 * after the decision, `wait` later. The run ends with the gate closed, so that end - paused_for is
 * the instant at which it closed. */
static void pause_frame_waits_for_one_frame_only(void **state)
{
    (void)state;
    for (uint32_t offset = 0; offset < 130; offset += 9) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 60us\ndrain: 0s\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 8MB, mmu: {kind: static, xoff: 50KB}, pause: pfc}\n"
                "priorities: {3: {lossless: true}}\n"
                "receivers: [{host: h0, rate: 0bps, buffer: 200KB, xoff: 20KB}]\n"
                "traffic:\n"
                "- {kind: cbr, from: h1, to: h0, priority: 3, start: 1us}\n"
                "- {kind: cbr, from: h2, to: h1, start: %uns}\n"
                "- {kind: cbr, from: h3, to: h1, start: %uns}\n",
                offset, offset);
        const struct results *r = rig.results;
        const struct result_pause *xoff = NULL;
        for (uint64_t i = 0; i < r->n_pauses; i++)
            if (r->pauses[i].node == rig_node(&rig, "s0") && r->pauses[i].port == 1 && !xoff)
                xoff = &r->pauses[i];
        assert_non_null(xoff);
        const struct result_queue *gate = &rig_port(&rig, "h1", "s0")->queue[PRIORITY];
        const struct result_port *busy = rig_port(&rig, "s0", "h1");
        assert_true(busy->queue[0].queue_peak_bytes > 100000);
        /* Frames to h1 begin when the first of h2 or h3 has arrived, and follow each other. */
        const xoff_time begin = offset * XOFF_NS + LAST_BIT * 80 + XOFF_US;
        const xoff_time slot = SLOT * 80;
        const xoff_time wait = (slot - (xoff->at - begin) % slot) % slot;
        const xoff_time close = xoff->at + wait + PAUSE_LAST_BIT * 80 + XOFF_US + 394 * 64 * 80;
        assert_int_equal(r->end_at, 60 * XOFF_US);
        assert_int_equal(r->end_at - gate->paused_for, close);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* With trigger: egress the queue to h0 pauses the ports that feed it, h1 and h2, and not h3, whose
 * frames go elsewhere. */
static void egress_trigger_pauses_feeders(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 500us\n"
            "topology: {kind: star, hosts: 5, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 16MB, mmu: sih,\n"
            "  pause: {kind: pfc, trigger: egress, xoff: 60KB, xon: 30KB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, from: \"h1,h2\", to: h0, priority: 3}\n"
            "- {kind: cbr, from: h3, to: h4, priority: 3}\n");
    const struct results *r = rig.results;
    assert_true(r->n_pauses > 4);
    uint32_t paused_ports = 0;
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        assert_int_equal(p->unit, XOFF_UNIT_EGRESS);
        assert_int_equal(p->egress_port, 0);
        assert_int_equal(p->egress_priority, PRIORITY);
        assert_int_equal(p->threshold_bytes, p->pause ? 60000 : 30000);
        if (p->pause)
            assert_true(p->occupied_bytes >= 60000);
        else
            assert_true(p->occupied_bytes <= 30000);
        assert_int_equal(p->egress_paused, 0);
        assert_int_equal(p->parent, UINT32_MAX);
        paused_ports |= 1u << p->port;
    }
    assert_int_equal(paused_ports, 1u << 1 | 1u << 2);
    assert_int_equal(rig_port(&rig, "h3", "s0")->queue[PRIORITY].paused_for, 0);
    assert_true(rig_port(&rig, "h1", "s0")->queue[PRIORITY].paused_for > 0);
    assert_true(rig_port(&rig, "h2", "s0")->queue[PRIORITY].paused_for > 0);
    assert_int_equal(r->n_drops, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* What must hold of every decision: it names the unit and the side of the threshold it is on, and a
 * pause under another points to an earlier one of the node at the far end of its egress. */
static void check_causes(const struct rig *rig)
{
    const struct results *r = rig->results;
    for (uint32_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        assert_int_equal(p->unit, XOFF_UNIT_INGRESS);
        assert_int_equal(p->priorities, 1u << PRIORITY);
        assert_true(p->pause ? p->occupied_bytes >= p->threshold_bytes
                             : p->occupied_bytes <= p->threshold_bytes);
        if (!r->nodes[p->node].is_switch) {
            assert_int_equal(p->egress_port, UINT32_MAX);
            assert_int_equal(p->parent, UINT32_MAX);
            continue;
        }
        if (!p->pause)
            continue;
        assert_true(p->egress_port != UINT32_MAX);
        assert_int_equal(p->egress_priority, PRIORITY);
        if (!p->egress_paused) {
            assert_int_equal(p->parent, UINT32_MAX);
            continue;
        }
        assert_true(p->parent < i);
        const struct result_pause *parent = &r->pauses[p->parent];
        const struct topo *topo = &rig->built->topo;
        assert_int_equal(parent->pause, 1);
        assert_true(parent->at < p->at);
        assert_int_equal(parent->node, topo_peer(topo, p->node, p->egress_port));
        assert_int_equal(parent->port, topo_peer_port(topo, p->node, p->egress_port));
        assert_true(parent->priorities >> p->egress_priority & 1);
    }
}

static uint32_t root_of(const struct results *r, uint32_t pause)
{
    while (r->pauses[pause].parent != UINT32_MAX)
        pause = r->pauses[pause].parent;
    return pause;
}

/* h0 - s0 - s1 - s2 - s3 - h3: pauses spread from the far end to h0, and each is found under the
 * first. `receiver` is empty or a slow receiver; then the root is the receiver itself, else the
 * slow last link makes it the last switch. */
static void spread_along_chain(const char *receiver, const char *last_rate, const char *root)
{
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 800us\n"
            "topology: {kind: custom, host_link: {rate: 100Gbps, delay: 1us},\n"
            "  nodes: {h0: host, h3: host, s0: switch, s1: switch, s2: switch, s3: switch},\n"
            "  links: [{endpoints: [h0, s0]}, {endpoints: [h3, s3], rate: %s},\n"
            "  {endpoints: [s0, s1]}, {endpoints: [s1, s2]}, {endpoints: [s2, s3]}]}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 50KB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "%s"
            "traffic: [{kind: cbr, from: h0, to: h3, priority: 3}]\n",
            last_rate, receiver);
    const struct results *r = rig.results;
    check_causes(&rig);
    static const char *const order[] = {"s3", "s2", "s1", "s0"};
    xoff_time previous = 0;
    for (uint32_t s = 0; s < 4; s++) {
        const uint32_t node = rig_node(&rig, order[s]);
        uint32_t first = 0;
        while (first < r->n_pauses && r->pauses[first].node != node)
            first++;
        assert_true(first < r->n_pauses);
        /* The first pause of each switch has the next one's for parent, down to the root. */
        assert_true(r->pauses[first].at > previous);
        previous = r->pauses[first].at;
        assert_int_equal(r->pauses[root_of(r, first)].node, rig_node(&rig, root));
        if (s > 0)
            assert_int_equal(r->pauses[r->pauses[first].parent].node, rig_node(&rig, order[s - 1]));
    }
    assert_int_equal(r->n_drops, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

static void every_pause_has_a_cause(void **state)
{
    (void)state;
    spread_along_chain("", "10Gbps", "s3");
    spread_along_chain("receivers: [{host: h3, rate: 10Gbps, buffer: 200KB, xoff: 50KB}]\n",
                       "100Gbps", "h3");
    spread_along_chain("receivers: [{host: h3, rate: \"0bps, 500us: 100Gbps\", buffer: 200KB,\n"
                       "  xoff: 50KB}]\n",
                       "100Gbps", "h3");
}

/* h1 has sent all it had when s0 pauses it, until h0 goes on at 2 ms. What h2 sends to h1 arrives,
 * but its ACK is of the paused class and waits, though nothing else waits before it. */
static void a_lone_ack_obeys_the_gate(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 3ms\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 50KB}}\n"
            "priorities: {3: {lossless: true}}\nhost: {timeout: 10ms}\n"
            "receivers: [{host: h0, rate: \"0bps, 2ms: 100Gbps\", buffer: 200KB, xoff: 5KB, "
            "xon: 1KB}]\n"
            "traffic: [{kind: flows, list: [{at: 0s, from: h1, to: h0, size: 130KB, priority: 3},\n"
            "  {at: 100us, from: h2, to: h1, size: 10KB, priority: 3, transport: none}]}]\n");
    const struct result_flow *late = &rig.results->flows[1];
    assert_int_equal(rig.results->n_flows, 2);
    assert_true(rig_port(&rig, "h1", "s0")->queue[3].paused_for > 1900 * XOFF_US);
    assert_true(late->finish_at < 110 * XOFF_US);
    assert_true(late->acked_at > 2000 * XOFF_US && late->acked_at != XOFF_NEVER);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A receiver that takes nothing keeps as many lossy frames as its buffer holds, whatever their
 * priorities; the rest is lost there. */
static void a_receiver_fills_its_whole_buffer(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\ndrain: 1ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "receivers: [{host: h0, rate: 0bps, buffer: 151800B}]\n"
            "traffic:\n"
            "  - {kind: flows, priority: 1, list: [{from: h1, to: h0, size: %uB}]}\n"
            "  - {kind: flows, priority: 2, list: [{from: h1, to: h0, size: %uB}]}\n",
            150 * PAYLOAD, 50 * PAYLOAD);
    const struct results *r = rig.results;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < r->n_drops; i++)
        lost += r->drops[i].frames;
    assert_int_equal(rig_port(&rig, "h0", "s0")->queue[1].rx_frames, 150);
    assert_int_equal(rig_port(&rig, "h0", "s0")->queue[2].rx_frames, 50);
    assert_int_equal(lost, 100); /* of 200; 100 fit */
    rig_fini(&rig);
}

/* A receiver that takes a tenth pauses its link by the length of its queue too. */
static void a_receiver_obeys_the_egress_trigger(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 200us\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
            "  pause: {kind: pfc, trigger: egress, xoff: 100KB, xon: 50KB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: h0, rate: 10Gbps, buffer: 1MB}]\n"
            "traffic: [{kind: cbr, from: h1, to: h0, priority: 3}]\n");
    assert_int_equal(rig.results->n_drops, 0);
    assert_true(rig_port(&rig, "h0", "s0")->queue[3].pause_tx > 2);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_fills_its_whole_buffer),
        cmocka_unit_test(a_receiver_obeys_the_egress_trigger),
        cmocka_unit_test(pause_lasts_its_quanta),
        cmocka_unit_test(sender_is_silent_from_response_to_expiry),
        cmocka_unit_test(refreshes_leave_no_gap),
        cmocka_unit_test(pfc_stops_one_priority_pause_all),
        cmocka_unit_test(pause_frame_waits_for_one_frame_only),
        cmocka_unit_test(egress_trigger_pauses_feeders),
        cmocka_unit_test(every_pause_has_a_cause),
        cmocka_unit_test(a_lone_ack_obeys_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
