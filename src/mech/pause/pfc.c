/* PFC and 802.3x PAUSE as policies: who is told to stop, and when.
 *
 * Source: 802.1Q 36.1 (PFC: per priority) and 802.3 Annex 31B (PAUSE: the whole link); neither says
 * when a receiver must pause, so the trigger is a parameter. The two differ in what is paused and
 * in the frame that says so.
 *
 * Trigger ingress: the buffer's thresholds decide. A lossless ingress queue above its threshold
 * holds its (port, priority), and an ingress port above its own holds all lossless priorities of
 * the port; a priority resumes when nothing holds it any more. With PAUSE any unit above its
 * threshold holds the port. Thresholds of egress queues (XOFF_UNIT_EGRESS) do not tell who sent,
 * and are ignored.
 *
 * Trigger egress: an egress queue (port, priority) that reaches `xoff` holds every ingress port
 * that has a frame in it, and each further port whose frame arrives for it, until the queue falls
 * to `xon`. With `partners: all` the queue holds every port of the switch at once, as "Fairness in
 * a data center" 7.2 describes PFC. A port resumes when the last queue lets it go (holds.h). With
 * this trigger the buffer's thresholds pause nobody.
 *
 * Differs: the standards leave the choice of units open.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/pause/holds.h"

enum pfc_trigger { PFC_TRIGGER_INGRESS, PFC_TRIGGER_EGRESS };
static const char *const pfc_triggers[] = {"ingress", "egress", NULL};
enum pfc_partners { PFC_PARTNERS_SENDERS, PFC_PARTNERS_ALL };
static const char *const pfc_partners[] = {"senders", "all", NULL};

struct pfc_params {
    struct holds_params base;
    int64_t trigger, xoff, xon, partners;
};

struct pfc_cfg {
    uint32_t n_ports;
    uint8_t lossless;
    uint8_t ranks[XOFF_N_PRIORITIES]; /* index among the lossless priorities */
    enum pfc_trigger trigger;
    enum pfc_partners partners; /* whom an egress queue holds */
    enum xoff_pause_wire wire;
    int64_t xoff_bytes, xon_bytes; /* of an egress queue */
    size_t queues_at, shares_at;
};

/* The state is an array of struct holds, the ports. With trigger egress an array of shares
 * [rank][out_port][in_port] and one of egress queues [rank][out_port] follow. */
struct pfc_queue {
    uint8_t is_above; /* reached xoff, not yet fallen to xon */
};

static const struct xoff_param pfc_table[] = {
    {.name = "trigger",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct pfc_params, trigger),
     .preset = "ingress",
     .choices = pfc_triggers,
     .help = "What decides a pause: the buffer's thresholds on ingress queues, or the length of "
             "egress queues."},
    HOLDS_PARAMS(struct pfc_params),
    {.name = "xoff",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct pfc_params, xoff),
     .preset = "auto",
     .min = "1B",
     .allows_auto = true,
     .help = "Length at which an egress queue pauses; with trigger: egress only, and needed then."},
    {.name = "xon",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct pfc_params, xon),
     .preset = "auto",
     .min = "0B",
     .allows_auto = true,
     .help = "Length at which an egress queue lets go, below xoff; with trigger: egress only, and "
             "needed then."},
    {.name = "partners",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct pfc_params, partners),
     .preset = "senders",
     .choices = pfc_partners,
     .help = "Whom an egress queue pauses: those that sent what is in it, or everyone; with "
             "trigger: egress only."},
    {0},
};

/* Configuration */

static int pfc_check_thresholds(const struct pfc_params *p, const struct xoff_pause_env *env,
                                struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    if (p->trigger == PFC_TRIGGER_INGRESS) {
        if (p->xoff != XOFF_PARAM_AUTO)
            return xoff_err_set(err, XOFF_E_CONFLICT, "xoff",
                                xoff_format_bytes(text, sizeof text, p->xoff),
                                "is a length of egress queues: only with trigger: egress (the "
                                "thresholds of ingress queues are the mmu's)");
        if (p->xon != XOFF_PARAM_AUTO)
            return xoff_err_set(err, XOFF_E_CONFLICT, "xon",
                                xoff_format_bytes(text, sizeof text, p->xon),
                                "is a length of egress queues: only with trigger: egress (the "
                                "thresholds of ingress queues are the mmu's)");
        if (p->partners != PFC_PARTNERS_SENDERS)
            return xoff_err_set(err, XOFF_E_CONFLICT, "partners", pfc_partners[p->partners],
                                "whom an egress queue pauses: only with trigger: egress");
        return 0;
    }
    if (p->xoff == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "xoff", NULL,
                            "trigger: egress needs the length at which a queue pauses");
    if (p->xon == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "xon", NULL,
                            "trigger: egress needs the length at which a queue lets go");
    if (p->xon < 0 || p->xon >= p->xoff) {
        const int code =
            xoff_err_set(err, XOFF_E_CONFLICT, "xon", xoff_format_bytes(text, sizeof text, p->xon),
                         "must be below xoff, which is ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, p->xoff));
        return code;
    }
    if (env->n_ports > 1 && p->xoff >= env->egress_bytes) {
        const int code = xoff_err_set(err, XOFF_E_CONFLICT, "xoff",
                                      xoff_format_bytes(text, sizeof text, p->xoff),
                                      "must be below what an egress queue can hold, which is ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, env->egress_bytes));
        return code;
    }
    return 0;
}

static int pfc_configure_as(enum xoff_pause_wire wire, const struct pfc_params *p,
                            const struct xoff_pause_env *env, struct pfc_cfg *c,
                            struct xoff_pause_shape *shape, struct xoff_err *err)
{
    int code = holds_signalling(&p->base, wire, &shape->signalling, err);
    if (!code)
        code = pfc_check_thresholds(p, env, err);
    if (code)
        return code;
    *c = (struct pfc_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .trigger = (enum pfc_trigger)p->trigger,
        .partners = (enum pfc_partners)p->partners,
        .wire = wire,
        .xoff_bytes = p->xoff,
        .xon_bytes = p->xon,
    };
    const size_t n = env->n_ports, n_queues = holds_ranks(env->lossless, c->ranks) * n;
    shape->state_size = n * sizeof(struct holds);
    shape->max_edges = XOFF_MAX_CROSSINGS;
    if (c->trigger == PFC_TRIGGER_EGRESS) {
        c->shares_at = shape->state_size; /* before the queues, which need no alignment */
        c->queues_at = c->shares_at + n_queues * n * sizeof(struct holds_share);
        shape->state_size = c->queues_at + n_queues * sizeof(struct pfc_queue);
        shape->max_edges = env->n_ports;
        shape->every_frame = true;
        shape->n_counters = n_queues * n;
        shape->counter_bytes = sizeof(uint32_t);
    }
    return 0;
}

static int pfc_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                         struct xoff_pause_shape *shape, struct xoff_err *err)
{
    return pfc_configure_as(XOFF_WIRE_PFC, params, env, cfg, shape, err);
}

static int pause_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                           struct xoff_pause_shape *shape, struct xoff_err *err)
{
    return pfc_configure_as(XOFF_WIRE_PAUSE, params, env, cfg, shape, err);
}

/* Trigger ingress */

static void pfc_on_crossing(const struct pfc_cfg *c, struct holds *ports,
                            const struct xoff_crossing *crossing, struct xoff_edges *out)
{
    holds_cross(ports, c->n_ports, c->wire, c->lossless, crossing, out);
}

/* Trigger egress */

static struct pfc_queue *pfc_queue_of(const struct pfc_cfg *c, void *state, size_t index)
{
    return (struct pfc_queue *)((char *)state + c->queues_at) + index;
}

static struct holds_share *pfc_shares_of(const struct pfc_cfg *c, void *state, size_t index)
{
    return (struct holds_share *)(void *)((char *)state + c->shares_at) + index * c->n_ports;
}

static void pfc_hold(const struct pfc_cfg *c, struct holds *ports, struct holds_share *shares,
                     uint32_t in_port, const struct xoff_crossing *cause, struct xoff_edges *out)
{
    shares[in_port].is_held = cause->above;
    holds_change(&ports[in_port], (uint16_t)in_port, c->wire, c->lossless, cause, out);
}

static void pfc_egress_arrival(const struct pfc_cfg *c, void *state, const struct xoff_arrival *a,
                               struct xoff_edges *out)
{
    const size_t index = (size_t)c->ranks[a->priority] * c->n_ports + a->out_port;
    struct pfc_queue *queue = pfc_queue_of(c, state, index);
    struct holds_share *shares = pfc_shares_of(c, state, index);
    int64_t queue_bytes = a->egress_bytes;
    if (!a->dropped) {
        queue_bytes += a->bytes;
        shares[a->in_port].amount++;
    }
    if (!queue->is_above && queue_bytes < c->xoff_bytes)
        return;
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 1,
        .priority = a->priority,
        .port = a->out_port,
        .occupied_bytes = queue_bytes,
        .threshold_bytes = c->xoff_bytes,
    };
    if (!queue->is_above) {
        queue->is_above = 1;
        for (uint32_t port = 0; port < c->n_ports; port++)
            if (shares[port].amount > 0 || c->partners == PFC_PARTNERS_ALL)
                pfc_hold(c, state, shares, port, &cause, out);
    }
    if (!shares[a->in_port].is_held)
        pfc_hold(c, state, shares, a->in_port, &cause, out);
}

static void pfc_egress_departure(const struct pfc_cfg *c, void *state,
                                 const struct xoff_departure *d, struct xoff_edges *out)
{
    const size_t index = (size_t)c->ranks[d->priority] * c->n_ports + d->out_port;
    struct pfc_queue *queue = pfc_queue_of(c, state, index);
    struct holds_share *shares = pfc_shares_of(c, state, index);
    XOFF_ASSERT(shares[d->in_port].amount > 0);
    shares[d->in_port].amount--;
    if (!queue->is_above || d->egress_bytes > c->xon_bytes)
        return;
    queue->is_above = 0;
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 0,
        .priority = d->priority,
        .port = d->out_port,
        .occupied_bytes = d->egress_bytes,
        .threshold_bytes = c->xon_bytes,
    };
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (shares[port].is_held)
            pfc_hold(c, state, shares, port, &cause, out);
}

static bool pfc_is_watched(const struct pfc_cfg *c, uint32_t in_port, uint32_t out_port,
                           uint32_t priority)
{
    XOFF_ASSERT(in_port < c->n_ports);
    XOFF_ASSERT(out_port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return c->lossless >> priority & 1;
}

static void pfc_on_crossings(const void *cfg, void *state, const struct xoff_crossings *crossings,
                             xoff_time now, struct xoff_edges *out)
{
    const struct pfc_cfg *c = cfg;
    (void)now;
    for (uint32_t i = 0; c->trigger == PFC_TRIGGER_INGRESS && i < crossings->n; i++)
        pfc_on_crossing(c, state, &crossings->at[i], out);
}

static void pfc_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                           const struct xoff_crossings *crossings, xoff_time now,
                           struct xoff_edges *out)
{
    const struct pfc_cfg *c = cfg;
    if (c->trigger == PFC_TRIGGER_INGRESS)
        pfc_on_crossings(cfg, state, crossings, now, out);
    else if (pfc_is_watched(c, arrival->in_port, arrival->out_port, arrival->priority))
        pfc_egress_arrival(c, state, arrival, out);
}

static void pfc_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                             const struct xoff_crossings *crossings, xoff_time now,
                             struct xoff_edges *out)
{
    const struct pfc_cfg *c = cfg;
    if (c->trigger == PFC_TRIGGER_INGRESS)
        pfc_on_crossings(cfg, state, crossings, now, out);
    else if (pfc_is_watched(c, departure->in_port, departure->out_port, departure->priority))
        pfc_egress_departure(c, state, departure, out);
}

/* Inspection */

static enum xoff_hold pfc_held_by(const void *cfg, const void *state, uint32_t port,
                                  uint32_t out_port, uint32_t priority)
{
    const struct pfc_cfg *c = cfg;
    if (c->trigger == PFC_TRIGGER_INGRESS)
        return XOFF_HOLD_BY_FRAMES;
    const void *shares = (const char *)state + c->shares_at;
    return holds_answer(shares, c->n_ports, c->ranks[priority], out_port, port);
}

static uint8_t pfc_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    const struct pfc_cfg *c = cfg;
    const struct holds *at = (const struct holds *)state + port;
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    const bool is_pfc = c->wire == XOFF_WIRE_PFC;
    if (!(at->paused >> priority & 1))
        return 0;
    if (at->is_above) /* the port holds all its priorities */
        return is_pfc ? c->lossless : XOFF_ALL_PRIORITIES;
    if (is_pfc)
        return (uint8_t)(1u << priority);
    return c->trigger == PFC_TRIGGER_INGRESS ? at->queues_above : XOFF_ALL_PRIORITIES;
}

const struct xoff_pause_ops xoff_pause_pfc = {
    .name = "pfc",
    .summary = "priority-based flow control: pauses single priorities of a link",
    .params = pfc_table,
    .params_size = sizeof(struct pfc_params),
    .cfg_size = sizeof(struct pfc_cfg),
    .configure = pfc_configure,
    .on_arrival = pfc_on_arrival,
    .on_departure = pfc_on_departure,
    .on_crossings = pfc_on_crossings,
    .waits_for = pfc_waits_for,
    .held_by = pfc_held_by,
};

const struct xoff_pause_ops xoff_pause_8023x = {
    .name = "pause",
    .summary = "802.3x PAUSE: stops the whole link",
    .params = pfc_table,
    .params_size = sizeof(struct pfc_params),
    .cfg_size = sizeof(struct pfc_cfg),
    .configure = pause_configure,
    .on_arrival = pfc_on_arrival,
    .on_departure = pfc_on_departure,
    .on_crossings = pfc_on_crossings,
    .waits_for = pfc_waits_for,
    .held_by = pfc_held_by,
};
