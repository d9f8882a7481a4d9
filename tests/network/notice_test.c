/* Messages of congestion points in whole networks: a notification is a frame with a frame's latency
 * that the audit accounts for, a tag reaches the receiver as the switches left it, deadlines are
 * kept. The mechanisms are the test's own: one that notifies, one that grants rates in tags, one
 * that counts intervals, and a reaction point that halves its rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/registry.h>

#include "support/rig.h"

#define NOTICE_BYTES 64
#define KIND 7
#define PRIORITY 3

/* Notifies the source of every n-th data frame that finds more than `above_bytes`. */
struct caller_params {
    int64_t above_bytes;
    uint32_t every;
};
struct caller_cfg {
    struct caller_params p;
    uint64_t port_id;
};
struct caller_state {
    uint32_t n_frames, n_told;
};

static int caller_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                            struct xoff_cp_shape *shape, struct xoff_err *err)
{
    struct caller_cfg *c = cfg;
    (void)err;
    *c = (struct caller_cfg){*(const struct caller_params *)params, env->port_id};
    *shape = (struct xoff_cp_shape){.state_size = sizeof(struct caller_state),
                                    .quiet_below = c->p.above_bytes,
                                    .notifies = true};
    return 0;
}

static void caller_on_enqueue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                              xoff_time now, struct xoff_cp_answer *answer)
{
    const struct caller_cfg *c = cfg;
    struct caller_state *s = state;
    (void)now;
    if (!frame->is_data || frame->queue_bytes <= c->p.above_bytes || ++s->n_frames % c->p.every)
        return;
    answer->notify = true;
    answer->notice =
        (struct xoff_notice){.cp_id = xoff_cp_id(c->port_id, frame->priority),
                             .feedback = -(int32_t)++s->n_told,
                             .queue_offset_bytes = (int32_t)(frame->queue_bytes - c->p.above_bytes),
                             .kind = KIND};
}

static const struct xoff_param no_params[] = {{0}};
static const struct xoff_cp_ops caller = {.name = "caller",
                                          .summary = "notifies",
                                          .params = no_params,
                                          .cfg_size = sizeof(struct caller_cfg),
                                          .configure = caller_configure,
                                          .on_enqueue = caller_on_enqueue};

/* Every sender's link has 100 Gb/s. */
static void begin(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                  struct xoff_rp_answer *answer)
{
    (void)cfg, (void)state, (void)flow, (void)now;
    answer->rate_bps = 100 * XOFF_GBPS;
}

static void halve(const void *cfg, void *state, const struct xoff_notice *notice, xoff_time now,
                  struct xoff_rp_answer *answer)
{
    (void)cfg, (void)state, (void)now;
    if (notice->kind == KIND && notice->feedback < 0)
        answer->rate_bps = answer->rate_bps / 2 > XOFF_GBPS ? answer->rate_bps / 2 : XOFF_GBPS;
}

/* What takes the place of the scenario's mechanisms. */
struct mechanisms {
    const struct xoff_cp_ops *cp;
    const void *cp_params;
    int64_t notice_priority; /* 0: that of the frame */
    uint32_t notice_bytes;   /* 0: the least */
    bool obeys;
};

static void adjust(const void *context, struct net_spec *spec, struct net_switch *kinds,
                   struct net_transport *transports)
{
    static struct xoff_rp_ops obedient; /* the same whoever writes it */
    const struct mechanisms *m = context;
    kinds->marking = m->cp;
    kinds->marking_params = m->cp_params;
    spec->notice_bytes = m->notice_bytes;
    kinds->notice_priority = XOFF_PARAM_AUTO;
    if (m->notice_priority)
        kinds->notice_priority = m->notice_priority;
    if (!m->obeys)
        return;
    obedient = *transports[0].rp;
    obedient.init = begin;
    obedient.on_notice = halve;
    transports[0].rp = &obedient;
}

static void run(struct rig *rig, const struct mechanisms *m, const char *capture,
                uint32_t n_threads, const char *text)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO,
                                        .capture = capture,
                                        .adjust = adjust,
                                        .adjust_context = m};
    rig_run(rig, &options, "%s", text);
}

/* h0 sends at 100 Gb/s over two switches to h1, whose link has 10 Gb/s. */
#define LINE(more, size, delay)                                                                  \
    "stop: 5ms\n"                                                                                \
    "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch}, links: [\n"   \
    "  {endpoints: [h0, s0], rate: 100Gbps, delay: 1us}, {endpoints: [s0, s1], rate: 100Gbps,\n" \
    "  delay: 700ns}, {endpoints: [s1, h1], rate: 10Gbps, delay: 1us}]}\n"                       \
    "switch: {buffer: 16MB, processing_delay: " delay "}\npriorities: {3: {lossless: true}}\n"   \
    "transport: datagram\n" more                                                                 \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: " size "}]}]\n"

/* A notification that s1 makes at T joins the queue to s0 after the processing delay P, is 72 B
 * with its preamble at 100 Gb/s (5760 ps), 700 ns on the way, P in s0, 5760 ps and 1 us on the way
 * to h0: T + 2 P + 1711520 ps. Nothing else goes that way. */
static void arrives_after_the_real_latency(void **state)
{
    (void)state;
    static const struct caller_params params = {.above_bytes = 20000, .every = 5};
    const struct mechanisms m = {.cp = &caller, .cp_params = &params, .obeys = true};
    const char *const texts[] = {LINE("", "2MB", "0s"), LINE("", "2MB", "300ns")};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run(&rig, &m, "h0", 1, texts[i]);
        const struct result_capture *c = &rig.results->captures[0];
        int32_t n = 0;
        uint64_t cp_id = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            const struct xoff_notice *notice = &c->extras[k].notice;
            if (f->kind != RESULT_FRAME_NOTICE) {
                assert_false(c->extras[k].has_notice);
                continue;
            }
            assert_true(c->extras[k].has_notice);
            assert_int_equal(f->at - f->sent_at, 1711520 + (xoff_time)i * 600 * XOFF_NS);
            assert_int_equal(f->bytes, NOTICE_BYTES);
            assert_int_equal(f->priority, PRIORITY);
            assert_int_equal(f->to, rig_node(&rig, "h0"));
            assert_int_equal(f->flow, 0);
            /* In the order in which they were made, all by the one queue that is long. */
            assert_int_equal(notice->feedback, -++n);
            assert_true(notice->queue_offset_bytes > 0);
            assert_true(n == 1 || notice->cp_id == cp_id);
            cp_id = notice->cp_id;
            assert_int_equal(cp_id % XOFF_N_PRIORITIES, PRIORITY);
        }
        /* From 100 Gb/s to less than 10 takes four. */
        assert_true(n >= 4);
        assert_int_equal(rig.results->flows[0].delivered_bytes, 2000000);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Unheard, 2 MB at 100 Gb/s make a queue of nearly 1.8 MB before a link of 10 Gb/s. Heard, the
 * queue falls as soon as the rate is below 10 Gb/s: within some 3.6 us per notification. */
static void the_queue_falls(void **state)
{
    (void)state;
    static const struct caller_params params = {.above_bytes = 20000, .every = 5};
    int64_t peaks[2];
    for (uint32_t obeys = 0; obeys < 2; obeys++) {
        const struct mechanisms m = {.cp = &caller, .cp_params = &params, .obeys = obeys};
        struct rig rig;
        run(&rig, &m, NULL, 1, LINE("", "2MB", "0s"));
        peaks[obeys] = rig_port(&rig, "s1", "h1")->queue[PRIORITY].queue_peak_bytes;
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(peaks[0] > 1700000);
    assert_true(peaks[1] > 20000 && peaks[1] < 200000);
}

/* A priority of their own: data is paused or not, they go by it. */
static void on_a_priority_of_their_own(void **state)
{
    (void)state;
    static const struct caller_params params = {.above_bytes = 20000, .every = 5};
    const struct mechanisms m = {
        .cp = &caller, .cp_params = &params, .notice_priority = 6, .obeys = true};
    struct rig rig;
    run(&rig, &m, "h0", 1, LINE("", "2MB", "0s"));
    const struct result_capture *c = &rig.results->captures[0];
    uint64_t n = 0;
    for (uint64_t k = 0; k < c->n_frames; k++) {
        assert_int_equal(c->frames[k].priority, c->frames[k].kind == RESULT_FRAME_NOTICE ? 6 : 3);
        n += c->frames[k].kind == RESULT_FRAME_NOTICE;
    }
    assert_true(n > 0);
    assert_int_equal(rig_port(&rig, "s1", "s0")->queue[6].tx_frames, n);
    assert_int_equal(rig_port(&rig, "s1", "s0")->queue[6].tx_bytes, n * NOTICE_BYTES);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Four hosts share 100 Gb/s between two switches and then 40 Gb/s to the receiver: queues before
 * both links notify. */
#define TWO_POINTS(more)                                                                        \
    "stop: 2ms\n"                                                                               \
    "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n"      \
    "  s0: switch, s1: switch}, links: [{endpoints: [h0, s0]}, {endpoints: [h1, s0]},\n"        \
    "  {endpoints: [h2, s0]}, {endpoints: [h3, s0]}, {endpoints: [s0, s1]}, {endpoints: [s1,\n" \
    "  h4], rate: 40Gbps}]}\n" more "transport: datagram\n"                                     \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 1MB},\n"              \
    "  {from: h1, to: h4, size: 1MB}, {from: h2, to: h4, size: 1MB},\n"                         \
    "  {from: h3, to: h4, size: 1MB}]}]\n"

static void several_points_on_a_path(void **state)
{
    (void)state;
    static const struct caller_params params = {.above_bytes = 30000, .every = 7};
    const struct mechanisms m = {.cp = &caller, .cp_params = &params, .obeys = true};
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        struct rig rig;
        run(&rig, &m, "h2", threads,
            TWO_POINTS("switch: {buffer: 4MB}\npriorities: {3: {lossless: true}}\n"));
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t ids[2] = {0}, counts[2] = {0};
        for (uint64_t k = 0; k < c->n_frames; k++) {
            if (c->frames[k].kind != RESULT_FRAME_NOTICE)
                continue;
            const uint64_t id = c->extras[k].notice.cp_id;
            const uint32_t which = counts[0] && ids[0] != id;
            assert_true(!counts[which] || ids[which] == id);
            ids[which] = id;
            counts[which]++;
        }
        assert_true(counts[0] > 0 && counts[1] > 0);
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            assert_int_equal(rig.results->flows[f].delivered_bytes, 1000000);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

/* Lost on the way out of `node` towards `peer`, where data never goes. */
static uint64_t lost_between(const struct rig *rig, const char *node, const char *peer,
                             enum result_drop_cause cause)
{
    const struct result_port *port = rig_port(rig, node, peer);
    uint64_t frames = 0;
    for (uint32_t i = 0; i < rig->results->n_drops; i++) {
        const struct result_drop *d = &rig->results->drops[i];
        if (d->node == port->node && d->out_port == port->port && d->cause == cause)
            frames += d->frames;
    }
    return frames;
}

/* Notifications are lost like other frames: in a lossy buffer that data fills to the last frame
 * (here they are as long as data), or where the link back is down. All bytes are still accounted
 * for. */
static void what_is_lost_is_accounted_for(void **state)
{
    (void)state;
    static const struct caller_params params = {.above_bytes = 3000, .every = 1};
    static const struct {
        uint32_t notice_bytes;
        enum result_drop_cause cause;
        const char *node, *peer, *text;
    } cases[] = {
        {1518, RESULT_DROP_BUFFER, "s1", "s0",
         TWO_POINTS("switch: {buffer: 20KB, mmu: {kind: sih, reserved: 0B, alpha_lossy: 1024}}\n")},
        {0, RESULT_DROP_LINK_DOWN, "s0", "h1",
         TWO_POINTS("switch: {buffer: 4MB}\nlinks: [{link: h1-s0, at: 30us, fail: true}]\n")},
    };
    for (uint32_t i = 0; i < 2; i++) {
        const struct mechanisms m = {
            .cp = &caller, .cp_params = &params, .notice_bytes = cases[i].notice_bytes};
        struct rig rig;
        run(&rig, &m, NULL, 1, cases[i].text);
        assert_true(lost_between(&rig, cases[i].node, cases[i].peer, cases[i].cause) > 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Writes the rate of the port into the tag where it is less than what is there. */
struct granter_cfg {
    xoff_rate rate_bps;
    uint64_t port_id;
};

static int granter_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                             struct xoff_cp_shape *shape, struct xoff_err *err)
{
    (void)params, (void)err;
    *(struct granter_cfg *)cfg = (struct granter_cfg){env->rate_bps, env->port_id};
    *shape = (struct xoff_cp_shape){.writes = true};
    return 0;
}

static void granter_on_dequeue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                               xoff_time now, struct xoff_cp_answer *answer)
{
    const struct granter_cfg *c = cfg;
    (void)state, (void)now;
    if (frame->tag && frame->tag->rate_bps <= c->rate_bps)
        return;
    answer->write = true;
    answer->notice = (struct xoff_notice){.cp_id = xoff_cp_id(c->port_id, frame->priority),
                                          .feedback = frame->tag ? 2 : 1,
                                          .rate_bps = c->rate_bps,
                                          .kind = KIND};
}

static const struct xoff_cp_ops granter = {.name = "granter",
                                           .summary = "writes the least rate",
                                           .params = no_params,
                                           .cfg_size = sizeof(struct granter_cfg),
                                           .configure = granter_configure,
                                           .on_dequeue = granter_on_dequeue};

/* The rates of the links of s0 and s1 on the way, in Gb/s: the receiver sees the smaller, written
 * by the first switch or, in place of a larger one, by the second. ACKs carry no tag. */
static void the_receiver_sees_the_least(void **state)
{
    (void)state;
    static const struct {
        uint32_t gbps[2], writer;
    } cases[] = {{{40, 25}, 2}, {{25, 40}, 1}, {{40, 40}, 1}};
    const struct mechanisms m = {.cp = &granter};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        char text[1024];
        snprintf(text, sizeof text,
                 "stop: 1ms\n"
                 "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch},\n"
                 "  links: [{endpoints: [h0, s0]}, {endpoints: [s0, s1], rate: %uGbps},\n"
                 "  {endpoints: [s1, h1], rate: %uGbps}]}\n"
                 "transport: none\npriorities: {3: {lossless: true}}\n"
                 "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 100KB}]}]\n",
                 cases[i].gbps[0], cases[i].gbps[1]);
        run(&rig, &m, "h1", 1, text);
        const struct result_capture *c = &rig.results->captures[0];
        uint32_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct xoff_notice *tag = &c->extras[k].notice;
            assert_true(c->extras[k].has_notice == (c->frames[k].kind == RESULT_FRAME_DATA));
            if (c->frames[k].kind != RESULT_FRAME_DATA)
                continue;
            n++;
            const uint32_t least =
                cases[i].gbps[0] < cases[i].gbps[1] ? cases[i].gbps[0] : cases[i].gbps[1];
            assert_int_equal(tag->rate_bps, least * XOFF_GBPS);
            assert_int_equal(tag->feedback, cases[i].writer);
        }
        assert_int_equal(n, (100000 + 1455) / 1456);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Counts intervals while frames come, and writes the count. */
#define INTERVAL (10 * XOFF_US + 1) /* no frame comes at its end */
struct counter_state {
    xoff_time deadline;
    uint32_t n_intervals, n_frames;
};

static int counter_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                             struct xoff_cp_shape *shape, struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    *shape = (struct xoff_cp_shape){
        .state_size = sizeof(struct counter_state), .is_timed = true, .writes = true};
    return 0;
}

static void counter_init(const void *cfg, void *state)
{
    (void)cfg;
    *(struct counter_state *)state = (struct counter_state){.deadline = XOFF_NEVER};
}

static void counter_on_enqueue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                               xoff_time now, struct xoff_cp_answer *answer)
{
    struct counter_state *s = state;
    (void)cfg, (void)frame;
    if (s->deadline == XOFF_NEVER)
        s->deadline = now + INTERVAL;
    s->n_frames++;
    answer->write = true;
    answer->notice = (struct xoff_notice){.feedback = (int32_t)s->n_intervals, .kind = KIND};
}

static xoff_time counter_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct counter_state *)state)->deadline;
}

static void counter_expire(const void *cfg, void *state, const struct xoff_cp_load *load,
                           xoff_time now)
{
    struct counter_state *s = state;
    (void)cfg;
    assert_null(load); /* its shape does not ask for it */
    s->deadline = s->n_frames ? now + INTERVAL : XOFF_NEVER;
    s->n_intervals += s->n_frames != 0;
    s->n_frames = 0;
}

static const struct xoff_cp_ops counter = {.name = "counter",
                                           .summary = "counts intervals",
                                           .params = no_params,
                                           .configure = counter_configure,
                                           .init = counter_init,
                                           .on_enqueue = counter_on_enqueue,
                                           .deadline = counter_deadline,
                                           .expire = counter_expire};

/* A burst of 100 us at 10 Gb/s, silence for 1 ms, another burst: the intervals of the second go on
 * from its first frame, and nothing was counted between. The network comes to rest. */
static void deadlines_are_kept(void **state)
{
    (void)state;
    const struct mechanisms m = {.cp = &counter};
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct rig rig;
        run(&rig, &m, "h1", threads,
            "stop: 10ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "transport: datagram\n"
            "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 120KB},\n"
            "  {from: h0, to: h1, size: 120KB, at: 1ms}]}]\n");
        const struct result_capture *c = &rig.results->captures[0];
        xoff_time first[2] = {-1, -1}, last = 0;
        int32_t before = 0, seen = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            const uint32_t burst = f->at > XOFF_MS;
            if (first[burst] < 0) { /* frames join the queue in the same order and distance */
                first[burst] = f->at;
                before = burst ? seen + 1 : 0;
            }
            seen = c->extras[k].notice.feedback;
            if (f->bytes == 1518) /* a short one arrives earlier after it joined */
                assert_int_equal(seen - before, (f->at - first[burst]) / INTERVAL);
            last = f->at;
        }
        assert_true(first[1] > 0 && seen - before >= 8);
        assert_true(rig.results->end_at > last);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_after_the_real_latency),
        cmocka_unit_test(the_queue_falls),
        cmocka_unit_test(on_a_priority_of_their_own),
        cmocka_unit_test(several_points_on_a_path),
        cmocka_unit_test(what_is_lost_is_accounted_for),
        cmocka_unit_test(the_receiver_sees_the_least),
        cmocka_unit_test(deadlines_are_kept),
    };
    return cmocka_run_group_tests_name("notice", tests, NULL, NULL);
}
