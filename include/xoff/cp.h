/* Role cp: congestion point of an egress queue. Told about enqueues and dequeues; answers whether
 * to mark the frame and what telemetry to write into it (notifications join the answer with the
 * schemes that need them).
 */
#ifndef XOFF_CP_H
#define XOFF_CP_H

#include <stddef.h>

#include <xoff/err.h>
#include <xoff/param.h>
#include <xoff/telemetry.h>

struct xoff_cp_env {
    xoff_rate rate_bps; /* of the port */
    int64_t buffer_bytes;
};

struct xoff_cp_frame {
    int64_t queue_bytes; /* of its egress queue, this frame included */
    uint32_t bytes;
    uint32_t draw; /* uniform 32 bits, drawn for this frame by the caller */
    /* Of the whole port: its queues without this frame, and all it ever sent before it. */
    int64_t port_bytes;
    uint64_t port_tx_bytes;
};

struct xoff_cp_answer {
    bool mark;  /* set congestion experienced */
    bool stamp; /* write `hop` into the frame's telemetry */
    struct xoff_int_hop hop;
};

struct xoff_cp_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size, cfg_size, state_size;
    bool stamps; /* may answer telemetry, for which frames need room */
    int (*configure)(const void *params, const struct xoff_cp_env *env, void *cfg,
                     struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* Queue length up to which on_enqueue and on_dequeue answer nothing and keep no state, so that
     * the caller may skip them: 0 when every frame counts. */
    int64_t (*quiet_below)(const void *cfg);
    /* Whether it has anything to say of frames that join the queue (or, false, that leave it), so
     * that the caller may skip the call. NULL: of both. */
    bool (*looks_at)(const void *cfg, bool enqueue);
    /* Either may be NULL. */
    struct xoff_cp_answer (*on_enqueue)(const void *cfg, void *state,
                                        const struct xoff_cp_frame *frame, xoff_time now);
    struct xoff_cp_answer (*on_dequeue)(const void *cfg, void *state,
                                        const struct xoff_cp_frame *frame, xoff_time now);
};

#endif
