/* The parts of fabric `pipeline` that its files share: switch_pipeline.c has the path of a frame,
 * pipeline_build.c builds the fabric and describes its buffers. */
#ifndef NET_PIPELINE_H
#define NET_PIPELINE_H

#include "net/switch.h"

/* Parameters as the scenario writes them. */
struct pipeline_params {
    int64_t packet_rate, full, egress_queue;
};

enum pipeline_full { PIPELINE_DROP, PIPELINE_STOP };

/* The egress queues together, as results, samples and audit read them. */
struct pipeline_egress {
    int64_t used_bytes, peak_bytes, capacity_bytes;
};

/* A frame that left its ingress queue in a calm window. */
struct left {
    xoff_time at;
    uint32_t bytes;
    uint16_t in_port;
    uint8_t priority, pool;
};

struct pipeline {
    struct sw sw;
    /* Every frame reads the first three cache lines. */
    alignas(64) struct fifo line; /* frames in the pipeline; frame.at is when the next is done */
    xoff_time line_at;            /* when the first of them has been processed */
    xoff_time free_at;            /* when the pipeline can take the next frame */
    uint64_t carry;               /* fractions of a ps, in 1 / packet_rate */
    xoff_time processing_for;
    uint32_t n_waiting;
    uint32_t turn; /* the search for the next frame starts with this port, or behind the last */

    xoff_time interval;             /* between two frames, without its fraction */
    uint64_t packet_rate, fraction; /* of the interval, as carry */
    int64_t egress_limit_bytes;     /* of each egress queue */
    struct pipeline_egress egress;
    bool is_two_sided; /* mmu has books of egress queues, not the fabric */
    bool tells_policy; /* the pause policy is to see every frame of egress queues */
    bool is_plain;     /* books of egress queues count bytes, and nobody has to see each frame */
    bool stops;

    struct ledger ledger; /* of ingress queues, and of egress queues if mmu is two-sided */
    struct fifo *inputs;  /* by port: frames that wait for the pipeline */
    uint64_t *waiting;    /* set of ports whose inputs are not empty */
    uint32_t n_words;
    uint32_t stuck;             /* stopped: the place of the frame that found no room */
    enum xoff_limit limit;      /* stopped: why */
    struct xoff_mmu egress_mmu; /* describes the egress queues */
    /* Calm windows: frames that the books of ingress queues have not heard of yet. */
    struct left *left;
    uint32_t n_left, n_heard; /* the first of them are in the books */
    xoff_rate fastest_bps;    /* of its ports */
    bool has_paused;          /* pauses may be in force, or on their way */
};

/* Timers of the fabric. The pipeline's own is the switch's clock, which comes before them. */
enum { PIPELINE_PAUSE, PIPELINE_TIMERS };

static inline struct pipeline *pipeline_of(const struct sw *sw)
{
    return (struct pipeline *)sw;
}

static inline bool is_stopped(const struct pipeline *p)
{
    return __builtin_expect(p->sw.stopped_at != XOFF_NEVER, 0);
}

/* pipeline_build.c. These are calls of the boundary (fabric.h). */
extern const struct xoff_param pipeline_table[];
bool pipeline_is_coupled(const struct net_switch *spec);
int pipeline_build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                   struct xoff_err *err);
xoff_time pipeline_calm_longest(struct sw *sw);
void pipeline_image(struct sw *sw, struct image *image);
void pipeline_destroy(struct sw *sw);
bool pipeline_buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer);

#endif
