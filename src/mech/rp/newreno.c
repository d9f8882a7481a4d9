/* TCP's congestion control without extras: NewReno.
 *
 * Source: RFC 5681 and 6582, with growth by bytes acknowledged (RFC 3465), a first window of ten
 * segments (RFC 6928), and the answer to marks of RFC 3168: one halving per window of data, as for
 * a loss. The arithmetic is in window.h. The reliability (rel.h) decides what is retransmitted and
 * when; for the window, fast recovery only means that it stays at ssthresh until the loss is
 * repaired.
 *
 *   marks:  W = ssthresh = max(W / 2, 2 mss)
 *
 * Differs: RFC 5681 inflates the window by duplicate ACKs and deflates it afterwards; with a sender
 * that counts what is in the network this would count twice. Differs: see window.h.
 */
#include <xoff/rp.h>

#include "mech/rp/window.h"

struct newreno_params {
    int64_t initial_window, max_window;
};

static const struct xoff_param newreno_table[] = {
    {.name = "initial_window",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct newreno_params, initial_window),
     .preset = "auto",
     .allows_auto = true,
     .help = "Payload that may be outstanding before the first ACK, from one segment; auto: 10 "
             "segments (RFC 6928), or max_window when that is less."},
    {.name = "max_window",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct newreno_params, max_window),
     .preset = "auto",
     .allows_auto = true,
     .help = "Payload that may ever be outstanding, from one segment (what the receiver would "
             "advertise); auto: no limit."},
    {0},
};

static int newreno_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                             struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct newreno_params *p = params;
    shape->state_size = sizeof(struct window);
    return window_configure(p->initial_window, XOFF_PARAM_AUTO, p->max_window, env, cfg, err);
}

static void newreno_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                         xoff_time now, struct xoff_rp_answer *answer)
{
    (void)flow, (void)now;
    *answer = window_init(cfg, state);
}

static void newreno_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack,
                           xoff_time now, struct xoff_rp_answer *answer)
{
    struct window *w = state;
    (void)now;
    window_note(w, ack);
    if (window_must_react(w, ack))
        window_reduce(cfg, w, w->bytes / 2, ack->sent_to);
    else
        window_grow(cfg, w, ack);
    answer->window_bytes = w->bytes;
}

static void newreno_on_loss(const void *cfg, void *state, enum xoff_rp_loss loss,
                            uint64_t flight_bytes, uint64_t sent_to, xoff_time now,
                            struct xoff_rp_answer *answer)
{
    struct window *w = state;
    (void)now;
    window_on_loss(cfg, w, loss, flight_bytes, sent_to);
    answer->window_bytes = w->bytes;
}

const struct xoff_rp_ops xoff_rp_newreno = {
    .name = "tcp",
    .summary = "TCP NewReno: slow start, additive increase, halving at losses or marks",
    .params = newreno_table,
    .params_size = sizeof(struct newreno_params),
    .cfg_size = sizeof(struct window_cfg),
    .marking = "none",
    .np = "echo",
    .rel = "tcp",
    .needs_acks = true,
    .configure = newreno_configure,
    .init = newreno_init,
    .on_ack = newreno_on_ack,
    .on_loss = newreno_on_loss,
};
