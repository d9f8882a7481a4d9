/* Role np: notification point. It decides what a receiver tells the sender of congestion, and when.
 *
 * A notification point is told about data frames and answers what to send back at once. ACKs belong
 * to the reliability (rel.h), and echo marks by themselves. A notification point adds a frame of
 * its own (a CNP, a tag that goes back), or lets ACKs return more than the echo (telemetry). cfg
 * belongs to a transport of a host, state to a flow at its receiver. A reaction point names the
 * notification point that it needs (rp.h). The contract is that of every role (role.h).
 */
#ifndef XOFF_NP_H
#define XOFF_NP_H

#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_NP_MAX_STATE 8 /* bytes of state; small, since a receiver has many flows */

struct xoff_np_env {
    xoff_rate rate_bps;   /* rate of the host's link */
    uint32_t frame_bytes; /* full MAC frame */
};

struct xoff_np_shape {
    size_t state_size;    /* up to XOFF_NP_MAX_STATE */
    bool hears_unmarked;  /* on_data() is wanted for frames without a mark or tag, too */
    bool returns_written; /* ACKs bring back what switches wrote into the frame they acknowledge:
                           * telemetry, or a tag */
};

struct xoff_np_data {
    uint64_t seq;
    uint32_t bytes; /* payload */
    bool is_marked;
    bool has_tag; /* of its source, see rp.h; the frame may be one without payload */
};

/* Bits that on_data() returns: what to send to the source of the frame at once. */
enum {
    XOFF_NP_CNP = 1,
    XOFF_NP_RETURN_TAG = 2, /* the tag of the frame, in a frame of its own */
};

struct xoff_np_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size, cfg_size, cfg_port_size;
    bool has_telemetry; /* frames need room for telemetry */
    int (*configure)(const void *params, const struct xoff_np_env *env, void *cfg,
                     struct xoff_np_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* NULL: nothing is sent but ACKs. */
    unsigned (*on_data)(const void *cfg, void *state, const struct xoff_np_data *data,
                        xoff_time now);
};

struct xoff_np {
    const struct xoff_np_ops *ops;
    const void *cfg;
    struct xoff_np_shape shape;
};

XOFF_ROLE(np)

/* `state` is XOFF_NP_MAX_STATE bytes. */
static inline void xoff_np_init(const struct xoff_np *np, void *state)
{
    memset(state, 0, XOFF_NP_MAX_STATE);
    if (np->ops->init)
        np->ops->init(np->cfg, state);
}

/* `is_marked`: the frame has a mark or a tag. */
static inline bool xoff_np_hears(const struct xoff_np *np, bool is_marked)
{
    return (is_marked || np->shape.hears_unmarked) && np->ops->on_data;
}

/* Must only be called for a frame that the notification point hears of. */
static inline unsigned xoff_np_on_data(const struct xoff_np *np, void *state,
                                       const struct xoff_np_data *data, xoff_time now)
{
    return np->ops->on_data(np->cfg, state, data, now);
}

#ifdef __cplusplus
}
#endif

#endif
