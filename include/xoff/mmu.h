/* Role mmu: buffer admission in a switch or a slow receiver.
 *
 * A buffer is told about arrivals and departures. It answers into which pool a frame goes, or that
 * the frame is lost, and which thresholds were crossed. The pause policy (pause.h) decides who gets
 * paused. The contract is that of every role (role.h).
 */
#ifndef XOFF_MMU_H
#define XOFF_MMU_H

#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a frame's bytes are accounted. */
enum xoff_pool {
    XOFF_POOL_DROP,
    XOFF_POOL_RESERVED,
    XOFF_POOL_SHARED,
    XOFF_POOL_HEADROOM,
    XOFF_POOL_INSURANCE, /* headroom that a port's queues share, for when all else is full */
    XOFF_N_POOLS
};

/* A port that the buffer serves. `headroom_bytes` is the computed worst case (headroom.h) of what
 * may still arrive after a threshold is crossed; with less headroom frames may be lost. */
struct xoff_mmu_port {
    xoff_rate rate_bps;
    int64_t headroom_bytes;
    xoff_time delay;        /* of the link, one way */
    xoff_time response_for; /* of the peer to a pause frame */
    int64_t late_bytes;     /* part of headroom_bytes that the pause policy asked for (pause.h) */
};

struct xoff_mmu_env {
    uint32_t n_ports;
    uint8_t lossless; /* bit n: priority n is lossless */
    uint32_t max_frame_bytes;
    int64_t buffer_bytes;
    int64_t
        egress_bytes; /* limit of an egress queue that the fabric sets; 0: none but the buffer */
    xoff_rate nic_rate_bps; /* of the hosts' links, taken from host 0 */
    bool has_one_lossy;     /* all lossy priorities of a port are one queue, as at a receiver */
    const struct xoff_mmu_port *ports;
};

/* Every fact a scheme may need about a frame that has arrived. */
struct xoff_arrival {
    uint16_t in_port, out_port;
    uint8_t priority;
    bool dropped; /* the buffer's answer, set for the pause policy; an mmu ignores it */
    uint32_t bytes;
    int64_t egress_bytes; /* queue (out_port, priority) before this frame */
};

struct xoff_departure {
    uint16_t in_port, out_port;
    uint8_t priority;
    uint8_t pool; /* enum xoff_pool given at admission */
    uint32_t bytes;
    int64_t egress_bytes; /* queue (out_port, priority) after this frame has left */
};

/* The accounting unit that crossed a threshold. */
enum xoff_unit {
    XOFF_UNIT_INGRESS,      /* ingress (port, priority) */
    XOFF_UNIT_INGRESS_PORT, /* ingress port, all priorities */
    XOFF_UNIT_EGRESS,       /* egress (port, priority) */
};

struct xoff_crossing {
    uint8_t unit;  /* enum xoff_unit */
    uint8_t above; /* 1: XOFF threshold passed; 0: fell to the XON threshold */
    uint8_t priority;
    uint16_t port;
    int64_t occupied_bytes;
    int64_t threshold_bytes;
};

#define XOFF_MAX_CROSSINGS 4
struct xoff_crossings {
    uint32_t n;
    struct xoff_crossing at[XOFF_MAX_CROSSINGS];
};

/* What keeps a frame out of an egress queue that the buffer has books of. */
enum xoff_limit {
    XOFF_LIMIT_NONE,  /* it has room */
    XOFF_LIMIT_QUEUE, /* that of the queue */
    XOFF_LIMIT_PORT,  /* that of all queues of the port */
    XOFF_LIMIT_ALL,   /* that of all egress queues, or of the buffer */
};

/* Occupancy for series, watermarks and audits. */
struct xoff_mmu_view {
    /* The whole buffer: bytes in all pools now, the most there were at one time, and its size. */
    int64_t used_total_bytes, peak_total_bytes, capacity_total_bytes;
    int64_t used_bytes[XOFF_N_POOLS]; /* by pool; 0 for XOFF_POOL_DROP */
    int64_t peak_bytes[XOFF_N_POOLS];
    /* Pools may share one space: their capacities then add up to more than the buffer. */
    int64_t capacity_bytes[XOFF_N_POOLS];
};

struct xoff_mmu_shape {
    size_t state_size;
};

struct xoff_mmu_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_mmu_env *env, void *cfg,
                     struct xoff_mmu_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* Appends to `out` (never more than fits); the caller has emptied it. */
    enum xoff_pool (*admit)(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            xoff_time now, struct xoff_crossings *out);
    void (*release)(const void *cfg, void *state, const struct xoff_departure *departure,
                    xoff_time now, struct xoff_crossings *out);
    void (*view)(const void *cfg, const void *state, struct xoff_mmu_view *view);
    /* Whether up to `bytes` more from each port, whatever departs between them, would all be
     * admitted, take no headroom and cross no threshold, if arrivals say egress_bytes of their
     * ingress queue. False, or NULL: it is not known. */
    bool (*is_quiet)(const void *cfg, const void *state, int64_t bytes);
    /* One figure of the view, for callers that need it often. */
    int64_t (*used_bytes)(const void *state, enum xoff_pool pool);
    /* Bytes accounted to ingress (port, priority), all pools. */
    int64_t (*ingress_bytes)(const void *cfg, const void *state, uint32_t port, uint32_t priority);
    /* Peak use and size of the headroom that is set aside for ingress (port, priority), or for its
     * port as a whole. NULL: there is none. */
    int64_t (*headroom_peak)(const void *cfg, const void *state, uint32_t port, uint32_t priority);
    int64_t (*headroom_limit)(const void *cfg, uint32_t port, uint32_t priority);
    /* Books of egress queues, for fabrics in which frames are in their ingress queue first: admit()
     * and release() are for that one. `frame` says how the frame would leave its ingress queue;
     * egress_bytes means nothing. NULL, all four: the buffer has no such books. */
    enum xoff_limit (*egress_limit)(const void *cfg, const void *state,
                                    const struct xoff_departure *frame);
    void (*egress_join)(const void *cfg, void *state, const struct xoff_departure *frame);
    void (*egress_leave)(const void *cfg, void *state, const struct xoff_departure *frame);
    /* Returns the most that an egress queue can hold. Pause policies, which are configured before
     * the buffer, want to know; 0: nothing, and configure() will refuse the parameters. */
    int64_t (*egress_most)(const void *params, const struct xoff_mmu_env *env);
};

/* A configured buffer: the typed handle that everyone calls through. */
struct xoff_mmu {
    const struct xoff_mmu_ops *ops;
    const void *cfg;
    void *state;
    struct xoff_mmu_shape shape;
};

XOFF_ROLE(mmu)

/* `state` has shape.state_size bytes and stays the caller's. */
static inline void xoff_mmu_init(struct xoff_mmu *mmu, void *state)
{
    mmu->state = state;
    if (mmu->ops->init)
        mmu->ops->init(mmu->cfg, state);
    else
        memset(state, 0, mmu->shape.state_size);
}

static inline enum xoff_pool xoff_mmu_admit(const struct xoff_mmu *mmu,
                                            const struct xoff_arrival *a, xoff_time now,
                                            struct xoff_crossings *out)
{
    out->n = 0;
    return mmu->ops->admit(mmu->cfg, mmu->state, a, now, out);
}

static inline void xoff_mmu_release(const struct xoff_mmu *mmu, const struct xoff_departure *d,
                                    xoff_time now, struct xoff_crossings *out)
{
    out->n = 0;
    mmu->ops->release(mmu->cfg, mmu->state, d, now, out);
}

static inline void xoff_mmu_view(const struct xoff_mmu *mmu, struct xoff_mmu_view *view)
{
    memset(view, 0, sizeof *view); /* pools that this buffer lacks stay 0 */
    mmu->ops->view(mmu->cfg, mmu->state, view);
}

static inline int64_t xoff_mmu_used_bytes(const struct xoff_mmu *mmu, enum xoff_pool pool)
{
    return mmu->ops->used_bytes(mmu->state, pool);
}

static inline int64_t xoff_mmu_ingress_bytes(const struct xoff_mmu *mmu, uint32_t port,
                                             uint32_t priority)
{
    return mmu->ops->ingress_bytes(mmu->cfg, mmu->state, port, priority);
}

static inline int64_t xoff_mmu_headroom_peak(const struct xoff_mmu *mmu, uint32_t port,
                                             uint32_t priority)
{
    return mmu->ops->headroom_peak ? mmu->ops->headroom_peak(mmu->cfg, mmu->state, port, priority)
                                   : 0;
}

static inline int64_t xoff_mmu_headroom_limit(const struct xoff_mmu *mmu, uint32_t port,
                                              uint32_t priority)
{
    return mmu->ops->headroom_limit ? mmu->ops->headroom_limit(mmu->cfg, port, priority) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
