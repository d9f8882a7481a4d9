/* DCTCP: TCP whose window is cut by the share of marked bytes.
 *
 * Source: Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010; RFC 8257, section 3.3. Growth
 * and losses are those of TCP (window.h). Marks are counted per window of data, an observation that
 * ends with the first ACK of a byte sent after it began, that ACK included:
 *
 *   F = marked / acknowledged
 *   alpha = (1 - g) alpha + g F
 *   marks, once per window of data:  W = ssthresh = max(W (1 - alpha / 2), min_window)
 *
 * The cut comes with the first marked ACK, with the alpha known by then, not at the end of the
 * observation; an ACK that ends an observation updates alpha first. The two kinds of window
 * (observation, one cut) therefore run independently. As a flow begins alpha is 1: the first mark
 * about halves the window.
 *
 * Where the caller says how many frames an ACK covers and how many were marked (go-back-N), F
 * counts frames; otherwise (TCP's echo) an ACK with the echo marks all its bytes.
 *
 * Differs: alpha is a real number; Linux keeps ten bits of it. Differs: see window.h.
 */
#include <xoff/rp.h>

#include "mech/rp/window.h"

struct dctcp_params {
    double gain, alpha;
    int64_t initial_window, min_window;
};

struct dctcp_cfg {
    struct window_cfg window;
    double gain, alpha;
};

struct dctcp_state {
    struct window window;
    double alpha;
    uint64_t observed_to; /* bytes sent when this observation began */
    uint64_t n_acked;     /* bytes or frames acknowledged in it */
    uint64_t n_marked;    /* bytes or frames of those that were marked */
};

static const struct xoff_param dctcp_table[] = {
    {.name = "gain",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct dctcp_params, gain),
     .preset = "1/16",
     .min = "0",
     .max = "1",
     .help = "Weight g of the newest window's share of marks in alpha."},
    {.name = "alpha",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct dctcp_params, alpha),
     .preset = "1",
     .min = "0",
     .max = "1",
     .help = "Estimated share of marks as a flow begins."},
    {.name = "initial_window",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct dctcp_params, initial_window),
     .preset = "auto",
     .allows_auto = true,
     .help = "Payload that may be outstanding before the first ACK, from one segment; auto: 10 "
             "segments (RFC 6928)."},
    {.name = "min_window",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct dctcp_params, min_window),
     .preset = "auto",
     .allows_auto = true,
     .help = "Window below which no cut goes, from one segment (a timeout leaves one); auto: 2 "
             "segments."},
    {0},
};

static int dctcp_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                           struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct dctcp_params *p = params;
    struct dctcp_cfg *c = cfg;
    shape->state_size = sizeof(struct dctcp_state);
    if (!(p->gain >= 0 && p->gain <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "gain", NULL, "a weight is from 0 to 1");
    if (!(p->alpha >= 0 && p->alpha <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "alpha", NULL, "a share is from 0 to 1");
    c->gain = p->gain;
    c->alpha = p->alpha;
    return window_configure(p->initial_window, p->min_window, XOFF_PARAM_AUTO, env, &c->window,
                            err);
}

static void dctcp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                       struct xoff_rp_answer *answer)
{
    const struct dctcp_cfg *c = cfg;
    struct dctcp_state *s = state;
    (void)flow, (void)now;
    *s = (struct dctcp_state){.alpha = c->alpha};
    *answer = window_init(&c->window, &s->window);
}

static void dctcp_observe(const struct dctcp_cfg *c, struct dctcp_state *s,
                          const struct xoff_rp_ack *ack)
{
    if (ack->n_frames) {
        s->n_acked += ack->n_frames;
        s->n_marked += ack->n_marked;
    } else {
        s->n_acked += ack->newly_acked_bytes;
        s->n_marked += ack->is_marked ? ack->newly_acked_bytes : 0;
    }
    if (ack->acked_to <= s->observed_to)
        return;
    if (s->n_acked) /* alpha = (1 - g) alpha + g F */
        s->alpha = (1 - c->gain) * s->alpha + c->gain * ((double)s->n_marked / (double)s->n_acked);
    s->observed_to = ack->sent_to;
    s->n_acked = 0;
    s->n_marked = 0;
}

static void dctcp_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack, xoff_time now,
                         struct xoff_rp_answer *answer)
{
    const struct dctcp_cfg *c = cfg;
    struct dctcp_state *s = state;
    struct window *w = &s->window;
    (void)now;
    window_note(w, ack);
    dctcp_observe(c, s, ack);
    if (window_must_react(w, ack)) /* W (1 - alpha / 2) */
        window_reduce(&c->window, w, (uint64_t)((double)w->bytes * (1 - s->alpha / 2)),
                      ack->sent_to);
    else
        window_grow(&c->window, w, ack);
    answer->window_bytes = w->bytes;
}

static void dctcp_on_loss(const void *cfg, void *state, enum xoff_rp_loss loss,
                          uint64_t flight_bytes, uint64_t sent_to, xoff_time now,
                          struct xoff_rp_answer *answer)
{
    const struct dctcp_cfg *c = cfg;
    struct dctcp_state *s = state;
    (void)now;
    window_on_loss(&c->window, &s->window, loss, flight_bytes, sent_to);
    answer->window_bytes = s->window.bytes;
}

const struct xoff_rp_ops xoff_rp_dctcp = {
    .name = "dctcp",
    .summary = "DCTCP: TCP whose window is cut by the share of marked bytes",
    .params = dctcp_table,
    .params_size = sizeof(struct dctcp_params),
    .cfg_size = sizeof(struct dctcp_cfg),
    .marking = "step",
    .np = "echo",
    .rel = "tcp",
    .needs_acks = true,
    .reads_each_mark = true,
    .configure = dctcp_configure,
    .init = dctcp_init,
    .on_ack = dctcp_on_ack,
    .on_loss = dctcp_on_loss,
};
