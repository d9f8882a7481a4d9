/* Code shared by the pause policies (pfc, tpfc, capfc): what holds an ingress port, what the port
 * is told because of it, and the parameters of signalling.
 *
 * A port is held by thresholds of the buffer, of its own (priority, or the port as a whole), and by
 * egress queues. A queue that holds a port is counted once at the port, for its priority (PFC) or
 * for the link (PAUSE); the port resumes when nothing holds it any more. Holds are marked
 * explicitly and lengths are not compared again, so every pause has exactly one resume.
 */
#ifndef PAUSE_HOLDS_H
#define PAUSE_HOLDS_H

#include <xoff/pause.h>
#include <xoff/units.h>

struct holds_params {
    int64_t quanta, refresh, resume;
};

/* An ingress port. */
struct holds {
    uint8_t paused;                      /* bit n: last edge of priority n was a pause */
    uint8_t held;                        /* bit n: n_holds of priority n is not 0 */
    uint8_t queues_above;                /* bit n: ingress queue (port, n) is above */
    uint8_t is_above;                    /* the port as a whole is above */
    uint32_t n_holds[XOFF_N_PRIORITIES]; /* egress queues that hold it; PAUSE uses [0] alone */
};

/* The share of an ingress port in an egress queue; [rank of priority][out port][in port]. */
struct holds_share {
    uint32_t amount;  /* frames of the port in the queue, or what the policy counts */
    uint32_t is_held; /* the queue holds the port */
};

/* Numbers the lossless priorities from 0; returns how many there are. */
static inline uint8_t holds_ranks(uint8_t lossless, uint8_t ranks[XOFF_N_PRIORITIES])
{
    uint8_t n = 0;
    for (uint32_t priority = 0; priority < XOFF_N_PRIORITIES; priority++)
        if (lossless >> priority & 1)
            ranks[priority] = n++;
    return n;
}

static inline int holds_signalling(const struct holds_params *p, enum xoff_pause_wire wire,
                                   struct xoff_pause_signalling *how, struct xoff_err *err)
{
    if (p->quanta < 1 || p->quanta > 65535) {
        char text[XOFF_PARAM_TEXT];
        return xoff_err_set(err, XOFF_E_RANGE, "quanta",
                            xoff_format_int(text, sizeof text, p->quanta), "from 1 to 65535");
    }
    *how = (struct xoff_pause_signalling){.wire = wire,
                                          .quanta = (uint16_t)p->quanta,
                                          .refreshes = p->refresh != 0,
                                          .resumes = p->resume != 0};
    return 0;
}

/* Brings the paused priorities of port `number` in line with what holds it, and answers the edge,
 * if any. One event only adds holds or only removes them, so all changes have the direction of
 * their cause. */
static inline void holds_settle(struct holds *port, uint16_t number, enum xoff_pause_wire wire,
                                uint8_t lossless, const struct xoff_crossing *cause,
                                struct xoff_edges *out)
{
    uint8_t wanted = port->held | port->queues_above | (port->is_above ? lossless : 0);
    if (wire != XOFF_WIRE_PFC)
        wanted = wanted || port->is_above ? XOFF_ALL_PRIORITIES : 0;
    const uint8_t changed = wanted ^ port->paused;
    if (!changed)
        return;
    XOFF_ASSERT((wanted & changed) == (cause->above ? changed : 0));
    port->paused = wanted;
    out->at[out->n++] = (struct xoff_edge){
        .port = number,
        .priorities = changed,
        .pause = cause->above,
        .cause = *cause,
    };
}

/* The buffer says that an ingress queue or port passed its threshold. Thresholds of egress queues
 * do not tell who sent, and lossy queues pause nobody where single priorities are paused. */
static inline void holds_cross(struct holds *ports, uint32_t n_ports, enum xoff_pause_wire wire,
                               uint8_t lossless, const struct xoff_crossing *crossing,
                               struct xoff_edges *out)
{
    if (crossing->unit == XOFF_UNIT_EGRESS)
        return;
    XOFF_ASSERT(crossing->port < n_ports);
    struct holds *port = &ports[crossing->port];
    if (crossing->unit == XOFF_UNIT_INGRESS) {
        XOFF_ASSERT(crossing->priority < XOFF_N_PRIORITIES);
        const uint8_t bit = (uint8_t)(1u << crossing->priority);
        if (wire == XOFF_WIRE_PFC && !(lossless & bit))
            return;
        port->queues_above =
            (uint8_t)(crossing->above ? port->queues_above | bit : port->queues_above & ~bit);
    } else {
        port->is_above = crossing->above;
    }
    holds_settle(port, crossing->port, wire, lossless, crossing, out);
}

/* The egress queue that `cause` names starts to hold the port (cause->above) or lets it go. */
static inline void holds_change(struct holds *port, uint16_t number, enum xoff_pause_wire wire,
                                uint8_t lossless, const struct xoff_crossing *cause,
                                struct xoff_edges *out)
{
    const uint8_t priority = wire == XOFF_WIRE_PFC ? cause->priority : 0;
    const uint8_t bit = (uint8_t)(1u << priority);
    uint32_t *n_holds = &port->n_holds[priority];
    *n_holds = cause->above ? *n_holds + 1 : *n_holds - 1;
    port->held = (uint8_t)(*n_holds ? port->held | bit : port->held & ~bit);
    holds_settle(port, number, wire, lossless, cause, out);
}

/* The answer of held_by() (pause.h), taken from all shares of a policy. */
static inline enum xoff_hold holds_answer(const struct holds_share *shares, uint32_t n_ports,
                                          uint32_t rank, uint32_t out_port, uint32_t port)
{
    XOFF_ASSERT(port < n_ports && out_port < n_ports);
    const size_t index = ((size_t)rank * n_ports + out_port) * n_ports + port;
    return shares[index].is_held ? XOFF_HOLD_YES : XOFF_HOLD_NO;
}

/* Rows of a parameter table for the member `base` of struct `params`. */
#define HOLDS_PARAMS(params)                                                                  \
    {.name = "quanta",                                                                        \
     .type = XOFF_P_INT,                                                                      \
     .offset = offsetof(params, base.quanta),                                                 \
     .preset = "65535",                                                                       \
     .min = "1",                                                                              \
     .max = "65535",                                                                          \
     .help = "Pause time in each XOFF frame, in units of 512 bit times of the link."},        \
        {.name = "refresh",                                                                   \
         .type = XOFF_P_BOOL,                                                                 \
         .offset = offsetof(params, base.refresh),                                            \
         .preset = "true",                                                                    \
         .help = "Repeat XOFF before its time has run out, as long as the pause is wanted."}, \
    {                                                                                         \
        .name = "resume", .type = XOFF_P_BOOL, .offset = offsetof(params, base.resume),       \
        .preset = "true",                                                                     \
        .help = "Send XON (time 0) at the end of a pause; false: the time runs out."          \
    }

#endif
