/* One bottleneck for the tests of reaction points that read telemetry or RTTs: senders of 100 Gb/s
 * before a queue that leaves at 100 Gb/s, frame by frame.
 *
 *   flow 0 --+
 *   ...      +--> queue --> 1000 B every 80 ns --> receiver
 *   flow 7 --+                                        |
 *      ^------------------- ACK, 8 us ----------------+
 *
 * Time goes in slots of one frame. A flow sends when its pace is due and its window has room; the
 * RTT without a queue is 100 slots. Flow i starts after 20 i round trips, so that the later ones
 * find the link taken.
 */
#ifndef XOFF_MECH_RP_BOTTLENECK_TESTING_H
#define XOFF_MECH_RP_BOTTLENECK_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rp.h>

/* cmocka's own compares floats: 24 bits are not enough. */
#define assert_near(a, b, off) assert_true((a) - (b) < (off) && (b) - (a) < (off))

#define BN_FRAME 1000
#define BN_SLOT_NS 80
#define BN_RTT_SLOTS 100
#define BN_RTT (BN_RTT_SLOTS * BN_SLOT_NS * XOFF_NS)
#define BN_MAX_STATE 160
#define BN_MAX_FLOWS 8
#define BN_RING 8192 /* frames in the queue or on their way back */

static const struct xoff_rp_env bn_env = {
    .rate_bps = 100 * XOFF_GBPS, .frame_bytes = BN_FRAME, .payload_bytes = BN_FRAME};

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

/* One flow of a reaction point, driven by hand. */
struct rig {
    const struct xoff_rp_ops *ops;
    _Alignas(16) unsigned char params[256];
    _Alignas(16) unsigned char cfg[256];
    _Alignas(16) unsigned char state[256];
    struct xoff_rp_answer answer;
};

static void rig_setup(struct rig *rig, const struct xoff_rp_ops *ops)
{
    *rig = (struct rig){.ops = ops};
    assert_true(ops->params_size <= sizeof rig->params);
    assert_true(ops->cfg_size <= sizeof rig->cfg);
    xoff_param_defaults(ops->params, rig->params);
}

static void rig_set(struct rig *rig, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(rig->ops->params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, rig->params, text, &err), 0);
}

static int rig_configure(struct rig *rig, struct xoff_err *err)
{
    struct xoff_rp_shape shape = {0};
    const int code = rig->ops->configure(rig->params, &bn_env, rig->cfg, &shape, err);
    assert_true(code || (shape.state_size && shape.state_size <= BN_MAX_STATE));
    return code;
}

/* Configures and starts the flow at time 0 over a path of BN_RTT. */
static void rig_start(struct rig *rig)
{
    struct xoff_err err;
    const struct xoff_rp_flow flow = {.base_rtt = BN_RTT};
    assert_int_equal(rig_configure(rig, &err), 0);
    rig->ops->init(rig->cfg, rig->state, &flow, 0, &rig->answer);
}

static void rig_ack(struct rig *rig, struct xoff_rp_ack ack, xoff_time now)
{
    ack.outstanding_bytes = ack.sent_to - ack.acked_to;
    rig->ops->on_ack(rig->cfg, rig->state, &ack, now, &rig->answer);
}

/* The window without the cut to whole bytes: R tau, R in bits per second, tau in seconds. */
static double rig_window(const struct rig *rig)
{
    return (double)rig->answer.rate_bps / 8 * 8e-6;
}

static struct xoff_int_hop hop_at(uint32_t at_ns, uint32_t tx_bytes, int64_t queue_bytes,
                                  xoff_rate rate_bps)
{
    const struct xoff_int_view view = {at_ns, tx_bytes, queue_bytes, rate_bps};
    return xoff_int_pack(&view);
}

struct bn_flow {
    _Alignas(16) unsigned char state[256];
    struct xoff_rp_answer answer;
    double next_slot; /* pace */
    uint64_t sent, acked, delivered;
};

struct bn_frame {
    uint32_t flow;
    int64_t sent_slot, ack_slot;
    struct xoff_int record;
};

struct bottleneck {
    const struct xoff_rp_ops *ops;
    const void *cfg;
    uint32_t n_flows;
    struct bn_flow flow[BN_MAX_FLOWS];
    struct bn_frame ring[BN_RING]; /* acknowledged .. served .. queued, in this order */
    uint64_t n_acked, n_served, n_queued;
    double queue_sum, n_busy, n_slots; /* of the slots looked at */
    uint64_t queue_most;
};

struct bn_result {
    double utilisation, queue_bytes, queue_most_bytes, jain;
};

static void bn_ack(struct bottleneck *bn, int64_t slot)
{
    while (bn->n_acked < bn->n_served && bn->ring[bn->n_acked % BN_RING].ack_slot <= slot) {
        const struct bn_frame *frame = &bn->ring[bn->n_acked++ % BN_RING];
        struct bn_flow *flow = &bn->flow[frame->flow];
        flow->acked += BN_FRAME;
        const struct xoff_rp_ack ack = {
            .acked_to = flow->acked,
            .newly_acked_bytes = BN_FRAME,
            .sent_to = flow->sent,
            .outstanding_bytes = flow->sent - flow->acked,
            .rtt = (slot - frame->sent_slot) * BN_SLOT_NS * XOFF_NS,
            .n_frames = 1,
            .telemetry = &frame->record,
        };
        bn->ops->on_ack(bn->cfg, flow->state, &ack, slot * BN_SLOT_NS * XOFF_NS, &flow->answer);
        assert_true(flow->answer.rate_bps > 0 && flow->answer.rate_bps <= bn_env.rate_bps);
        assert_true(flow->answer.window_bytes >= BN_FRAME);
        assert_true(flow->answer.deadline == XOFF_NEVER);
    }
}

static void bn_send(struct bottleneck *bn, int64_t slot)
{
    for (uint32_t n = 0; n < bn->n_flows; n++) {
        const uint32_t i = (uint32_t)(slot + n) % bn->n_flows; /* each is first in turn */
        struct bn_flow *flow = &bn->flow[i];
        if (slot < (int64_t)i * 20 * BN_RTT_SLOTS || (double)slot < flow->next_slot ||
            flow->sent - flow->acked + BN_FRAME > flow->answer.window_bytes)
            continue;
        const double gap_slots = (double)bn_env.rate_bps / (double)flow->answer.rate_bps;
        flow->next_slot =
            ((double)slot > flow->next_slot + 1 ? (double)slot : flow->next_slot) + gap_slots;
        flow->sent += BN_FRAME;
        assert_true(bn->n_queued - bn->n_acked < BN_RING);
        bn->ring[bn->n_queued++ % BN_RING] = (struct bn_frame){.flow = i, .sent_slot = slot};
    }
}

static void bn_serve(struct bottleneck *bn, int64_t slot)
{
    if (bn->n_served == bn->n_queued)
        return;
    struct bn_frame *frame = &bn->ring[bn->n_served % BN_RING];
    const struct xoff_int_view view = {
        .at_ns = (uint32_t)(slot * BN_SLOT_NS),
        .tx_bytes = (uint32_t)(bn->n_served * BN_FRAME),
        .queue_bytes = (int64_t)(bn->n_queued - bn->n_served - 1) * BN_FRAME,
        .rate_bps = bn_env.rate_bps,
    };
    frame->record = (struct xoff_int){.n = 1, .hop = {xoff_int_pack(&view)}};
    frame->ack_slot = slot + BN_RTT_SLOTS;
    bn->flow[frame->flow].delivered += BN_FRAME;
    bn->n_served++;
    bn->n_busy++;
}

static void bn_look_anew(struct bottleneck *bn)
{
    bn->queue_sum = bn->n_busy = bn->n_slots = 0;
    bn->queue_most = 0;
    for (uint32_t i = 0; i < bn->n_flows; i++)
        bn->flow[i].delivered = 0;
}

static struct bn_result bn_result(const struct bottleneck *bn)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < bn->n_flows; i++) {
        sum += (double)bn->flow[i].delivered;
        squares += (double)bn->flow[i].delivered * (double)bn->flow[i].delivered;
    }
    return (struct bn_result){
        .utilisation = bn->n_busy / bn->n_slots,
        .queue_bytes = bn->queue_sum / bn->n_slots * BN_FRAME,
        .queue_most_bytes = (double)bn->queue_most * BN_FRAME,
        .jain = sum * sum / (squares * bn->n_flows),
    };
}

/* Runs n_flows for so many round trips; what is returned is of the last n_seen of them. */
static struct bn_result bn_run(const struct xoff_rp_ops *ops, const void *cfg, uint32_t n_flows,
                               int64_t n_rtts, int64_t n_seen)
{
    static struct bottleneck bn; /* too large for a stack */
    memset(&bn, 0, sizeof bn);
    bn.ops = ops;
    bn.cfg = cfg;
    bn.n_flows = n_flows;
    const struct xoff_rp_flow flow = {.base_rtt = BN_RTT};
    assert_true(BN_MAX_STATE <= sizeof bn.flow[0].state);
    for (uint32_t i = 0; i < n_flows; i++)
        ops->init(cfg, bn.flow[i].state, &flow, 0, &bn.flow[i].answer);
    for (int64_t slot = 0; slot < n_rtts * BN_RTT_SLOTS; slot++) {
        if (slot == (n_rtts - n_seen) * BN_RTT_SLOTS)
            bn_look_anew(&bn);
        bn_ack(&bn, slot);
        bn_send(&bn, slot);
        bn_serve(&bn, slot);
        const uint64_t queued = bn.n_queued - bn.n_served;
        bn.queue_sum += (double)queued;
        bn.queue_most = queued > bn.queue_most ? queued : bn.queue_most;
        bn.n_slots++;
    }
    return bn_result(&bn);
}

#endif
