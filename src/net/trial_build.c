/* Does a switch's buffer hold what may still arrive when egress queues decide about pauses?
 *
 * Buffers size headroom for pauses decided by their own thresholds. A policy that goes by the
 * length of egress queues (pfc with trigger: egress, tpfc) knows the size of the buffer but not how
 * much of it one ingress may have, so a small alpha can lose frames although a queue pauses in
 * time. No formula covers every buffer and policy, so this file tries it out: fresh copies of both
 * get frames for one queue, from one port alone and from all, until each sender has been paused and
 * has sent its worst case after that. A frame lost on the way causes a warning.
 *
 * The deadlines of a policy that decides late are handled before the next frame, as far as the
 * policy said that it may be late: what arrives in that time is part of the worst case already.
 */
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "net/model.h"

#define EGRESS 0 /* the port that all frames leave by */

struct trial {
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    struct xoff_edges edges;
    int64_t *left; /* by port: bytes that its peer may still send; -1: not paused yet */
    int64_t queued_bytes;
    xoff_time now;
    uint8_t priority;
};

static void take_edges(struct trial *t, const struct xoff_mmu_env *env)
{
    for (uint32_t i = 0; i < t->edges.n; i++) {
        const struct xoff_edge *e = &t->edges.at[i];
        if (e->pause && e->priorities >> t->priority & 1 && t->left[e->port] < 0)
            t->left[e->port] = env->ports[e->port].headroom_bytes;
    }
}

/* Sends a frame from `port`, the largest that its peer may still send; false: it found no room. */
static bool send_frame(struct trial *t, const struct xoff_mmu_env *env, uint32_t port)
{
    const int64_t most = env->max_frame_bytes;
    struct xoff_arrival arrival = {
        .in_port = (uint16_t)port,
        .out_port = EGRESS,
        .priority = t->priority,
        .bytes = (uint32_t)(t->left[port] < 0 || t->left[port] > most ? most : t->left[port]),
        .egress_bytes = t->queued_bytes};
    struct xoff_crossings crossings;
    if (xoff_mmu_admit(&t->mmu, &arrival, t->now, &crossings) == XOFF_POOL_DROP)
        return false;
    t->queued_bytes += arrival.bytes;
    xoff_pause_on_arrival(&t->pause, &arrival, &crossings, t->now, &t->edges);
    take_edges(t, env);
    t->now += t->pause.shape.late_for;
    for (xoff_time at; (at = xoff_pause_deadline(&t->pause)) <= t->now;) {
        xoff_pause_expire(&t->pause, at, &t->edges);
        take_edges(t, env);
    }
    if (t->left[port] >= 0) /* headroom includes the frame that caused the pause */
        t->left[port] -= arrival.bytes;
    if (t->left[port] < XOFF_MIN_FRAME_BYTES && t->left[port] >= 0)
        t->left[port] = 0;
    return true;
}

/* Ports 1 to `last` send to one queue in turn. Returns what the queue held when a frame was lost,
 * or -1. */
static int64_t try_senders(struct trial *t, const struct xoff_mmu_env *env, uint32_t last)
{
    xoff_mmu_init(&t->mmu, t->mmu.state);
    xoff_pause_init(&t->pause, t->pause.state);
    t->queued_bytes = 0;
    t->now = 0;
    memset(t->left, 0xff, env->n_ports * sizeof *t->left);
    for (bool is_any = true; is_any;) {
        is_any = false;
        for (uint32_t port = EGRESS + 1; port <= last; port++) {
            if (t->left[port] == 0)
                continue;
            is_any = true;
            if (!send_frame(t, env, port))
                return t->queued_bytes;
        }
    }
    return -1;
}

static void *copy_of_size(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    XOFF_ASSERT(memory);
    return memory;
}

void net_try_buffer(struct net *net, uint32_t node, const struct ledger *ledger,
                    const struct xoff_mmu_env *env, struct xoff_err *err)
{
    if (!env->lossless || env->n_ports < 2 || net->spec.wire->has_free_priority)
        return;
    struct trial t = {.mmu = ledger->mmu, .pause = ledger->pause, .edges = ledger->edges};
    t.priority = (uint8_t)__builtin_ctz(env->lossless);
    if (xoff_pause_held_by(&ledger->pause, 1, EGRESS, t.priority) == XOFF_HOLD_BY_FRAMES)
        return;
    t.mmu.state = copy_of_size(ledger->mmu.shape.state_size);
    t.pause.state = copy_of_size(ledger->pause.shape.state_size);
    t.left = copy_of_size(env->n_ports * sizeof *t.left);
    int64_t held = try_senders(&t, env, 1);
    if (held < 0)
        held = try_senders(&t, env, env->n_ports - 1);
    free(t.mmu.state), free(t.pause.state), free(t.left);
    if (held < 0)
        return;
    char text[32];
    xoff_err_set(
        err, XOFF_E_OK, "kind", ledger->mmu.ops->name,
        "may lose frames of lossless priorities: pauses are decided by egress queues here, "
        "and this buffer had no room for what arrives until they act when a queue held ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, held));
    xoff_err_add(err, "; a larger share for a queue (sih: alpha: 1024, reserved: 0B), a lower "
                      "watermark or a larger buffer would do");
    net_configured(net, NET_PART_MMU, node, 0, err);
}
