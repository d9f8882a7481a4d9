/* Role rp: reaction point, the congestion control of one flow at its sender.
 *
 * A reaction point is told about ACKs, CNPs, notifications, bytes sent, losses and expiry. It
 * answers at what rate and within what window the flow may send, and when it wants to be woken. cfg
 * belongs to a transport of a host (all its flows leave by one link), state to a flow. The contract
 * is that of every role (role.h).
 */
#ifndef XOFF_RP_H
#define XOFF_RP_H

#include <xoff/notice.h>
#include <xoff/role.h>
#include <xoff/telemetry.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_RP_NO_WINDOW UINT64_MAX
#define XOFF_CN_TAG_BYTES 4          /* EtherType 0x22E9 and the number of the flow (802.1Qau) */
#define XOFF_RRT_BYTES 12            /* rate-regulation tag: EtherType 0x8904, type, flags, point */
#define XOFF_RP_LINE_RATE UINT64_MAX /* stands for the link's rate; not for arithmetic */
#define XOFF_RP_STOPPED 1            /* bit per second: no frame within hours */
#define XOFF_RP_NO_LIMITER UINT32_MAX

struct xoff_rp_env {
    xoff_rate rate_bps;     /* rate of the host's link */
    uint32_t frame_bytes;   /* full MAC frame */
    uint32_t payload_bytes; /* payload of a full frame */
};

/* Properties of a flow that are known when it starts. */
struct xoff_rp_flow {
    xoff_time base_rtt; /* of a full frame and its ACK over the flow's path when nothing queues */
    xoff_rate pace_bps; /* the application's own pace, 0: none */
    uint64_t seed;      /* of the flow's own random draws */
};

struct xoff_rp_ack {
    uint64_t acked_to; /* next byte that the receiver expects */
    uint64_t newly_acked_bytes;
    uint64_t sent_to;            /* next new byte to send */
    uint64_t outstanding_bytes;  /* bytes still in the network as far as is known after this ACK */
    xoff_time rtt;               /* RTT of the frame that caused the ACK; 0: not known */
    uint32_t n_marked, n_frames; /* frames that this ACK covers, and how many carried a mark */
    bool is_marked;              /* congestion echo: any of them was marked, or TCP's ECE */
    bool is_recovering;          /* the reliability is repairing a loss */
    bool is_window_bound;        /* the window is what holds the flow back */
    const struct xoff_int *telemetry; /* NULL: none */
};

enum xoff_rp_loss {
    XOFF_RP_LOST,    /* a NACK, or duplicate ACKs: once per episode */
    XOFF_RP_TIMEOUT, /* nothing was heard for the retransmission timeout */
};

/* How a tag is sent: with the next data frame, or in a frame of its own. */
enum xoff_rp_probe { XOFF_RP_NO_PROBE, XOFF_RP_PROBE_ON_DATA, XOFF_RP_PROBE_ALONE };

/* An answer holds until the next one. */
struct xoff_rp_answer {
    xoff_rate rate_bps;    /* rate of MAC frames on the wire; the link's rate or more: no pacing */
    uint64_t window_bytes; /* payload outstanding; XOFF_RP_NO_WINDOW: no limit */
    xoff_time deadline;    /* when expire() is to be called; XOFF_NEVER: not at all */
    /* Data carries a rate-regulation tag that names this congestion point, which limits the flow;
     * XOFF_RP_NO_LIMITER: none does. Numbers of points are below that. */
    uint32_t limiter;
    /* Set by expire(), acted upon once and cleared by the caller: a tag of shape.tag_kind is sent
     * along the flow's path. Switches write into it, and on_notice() gets what the receiver's
     * notification point sends back. */
    enum xoff_rp_probe probe;
};

struct xoff_rp_shape {
    size_t state_size;  /* bytes of a flow's state */
    int64_t queue_unit; /* of the telemetry it reads, see cp.h; 0: XOFF_INT_QUEUE_UNIT */
    uint8_t tag_kind;   /* of the tags that it sends (notice.h); XOFF_NOTICE_NONE: none */
};

/* Every call but configure() may change *answer, which holds the previous answer; before init()
 * that is XOFF_RP_LINE_RATE, no window and no deadline. Functions that are NULL are not called. */
struct xoff_rp_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size, cfg_size, cfg_port_size;
    const char *marking;  /* the marking of switches that it reads: "none", "ecn", "int"... */
    const char *np;       /* the notification point that it needs: "echo", "cnp"... */
    const char *rel;      /* the reliability it uses unless the scenario says otherwise */
    uint32_t tag_bytes;   /* that data frames have for a tag: XOFF_CN_TAG_BYTES, XOFF_RRT_BYTES */
    bool sends_tags;      /* some data frames carry a tag; all leave XOFF_RATE_TAG_BYTES for it */
    bool needs_acks;      /* it learns nothing without ACKs */
    bool reads_rtt;       /* data frames carry a timestamp, where the wire profile says so */
    bool reads_each_mark; /* TCP's echo must tell marked bytes from others (DCTCP) */
    int (*configure)(const void *params, const struct xoff_rp_env *env, void *cfg,
                     struct xoff_rp_shape *shape, struct xoff_err *err);
    /* NULL: the answer before init() is the first one. */
    void (*init)(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                 struct xoff_rp_answer *answer);
    void (*on_ack)(const void *cfg, void *state, const struct xoff_rp_ack *ack, xoff_time now,
                   struct xoff_rp_answer *answer);
    void (*on_cnp)(const void *cfg, void *state, xoff_time now, struct xoff_rp_answer *answer);
    /* Called when a notification of a congestion point on the flow's path arrives, or a tag that
     * the receiver sends back. */
    void (*on_notice)(const void *cfg, void *state, const struct xoff_notice *notice, xoff_time now,
                      struct xoff_rp_answer *answer);
    void (*on_sent)(const void *cfg, void *state, uint32_t frame_bytes, xoff_time now,
                    struct xoff_rp_answer *answer);
    /* `flight_bytes`: bytes sent and not acknowledged when the loss was found (RFC 5681,
     * FlightSize). */
    void (*on_loss)(const void *cfg, void *state, enum xoff_rp_loss loss, uint64_t flight_bytes,
                    uint64_t sent_to, xoff_time now, struct xoff_rp_answer *answer);
    /* Called at or after answer->deadline; must move it beyond `now`. NULL: there is none. */
    void (*expire)(const void *cfg, void *state, xoff_time now, struct xoff_rp_answer *answer);
};

struct xoff_rp {
    const struct xoff_rp_ops *ops;
    const void *cfg;
    struct xoff_rp_shape shape;
};

XOFF_ROLE(rp)

static inline void xoff_rp_init(const struct xoff_rp *rp, void *state,
                                const struct xoff_rp_flow *flow, xoff_time now,
                                struct xoff_rp_answer *answer)
{
    answer->rate_bps = XOFF_RP_LINE_RATE;
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    answer->deadline = XOFF_NEVER;
    answer->limiter = XOFF_RP_NO_LIMITER;
    answer->probe = XOFF_RP_NO_PROBE;
    if (rp->ops->init)
        rp->ops->init(rp->cfg, state, flow, now, answer);
    else if (state) /* `state` may be NULL if it has no bytes */
        memset(state, 0, rp->shape.state_size);
}

/* Tells whether ACKs, and the losses they show, can change the answer. If not, a caller may skip
 * the calls and the work to prepare them. */
static inline bool xoff_rp_hears_acks(const struct xoff_rp *rp)
{
    return rp->ops->on_ack || rp->ops->on_loss;
}

static inline void xoff_rp_on_ack(const struct xoff_rp *rp, void *state,
                                  const struct xoff_rp_ack *ack, xoff_time now,
                                  struct xoff_rp_answer *answer)
{
    if (rp->ops->on_ack)
        rp->ops->on_ack(rp->cfg, state, ack, now, answer);
}

/* Returns whether the mechanism has this function. */
static inline bool xoff_rp_on_cnp(const struct xoff_rp *rp, void *state, xoff_time now,
                                  struct xoff_rp_answer *answer)
{
    if (rp->ops->on_cnp)
        rp->ops->on_cnp(rp->cfg, state, now, answer);
    return rp->ops->on_cnp != NULL;
}

/* Returns whether the mechanism has this function. */
static inline bool xoff_rp_on_notice(const struct xoff_rp *rp, void *state,
                                     const struct xoff_notice *notice, xoff_time now,
                                     struct xoff_rp_answer *answer)
{
    if (rp->ops->on_notice)
        rp->ops->on_notice(rp->cfg, state, notice, now, answer);
    return rp->ops->on_notice != NULL;
}

static inline bool xoff_rp_hears_sent(const struct xoff_rp *rp)
{
    return rp->ops->on_sent;
}

static inline void xoff_rp_on_sent(const struct xoff_rp *rp, void *state, uint32_t frame_bytes,
                                   xoff_time now, struct xoff_rp_answer *answer)
{
    rp->ops->on_sent(rp->cfg, state, frame_bytes, now, answer);
}

static inline void xoff_rp_on_loss(const struct xoff_rp *rp, void *state, enum xoff_rp_loss loss,
                                   uint64_t flight_bytes, uint64_t sent_to, xoff_time now,
                                   struct xoff_rp_answer *answer)
{
    if (rp->ops->on_loss)
        rp->ops->on_loss(rp->cfg, state, loss, flight_bytes, sent_to, now, answer);
}

static inline void xoff_rp_expire(const struct xoff_rp *rp, void *state, xoff_time now,
                                  struct xoff_rp_answer *answer)
{
    rp->ops->expire(rp->cfg, state, now, answer);
}

#ifdef __cplusplus
}
#endif

#endif
