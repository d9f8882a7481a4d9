/* In-band telemetry: the 12 bytes of a hop, and the congestion point that writes them.
 *
 * Source: HPCC (Li et al., 2019) 4.1: every egress port adds the time, the bytes it has sent, the
 * length of its queue and its rate to each data frame that leaves.
 *
 * Time and bytes are counters modulo 2^32; only differences mean something, and they are right as
 * long as less than a turn lies between two records. The queue is cut to whole units of 64 B. The
 * rate is the m * 10^e nearest to it: of all pairs with m <= 255 the one with the smallest e has
 * the finest step, and it serves up to halfway between 255 * 10^e and 26 * 10^(e+1).
 *
 * Differs: HPCC packs a hop into 64 bits (time 24, bytes 20, queue 17, rate code 3), its units grow
 * with the host's rate and five rates are known. The fields here are wider so that the units need
 * not be tuned; on the wire a frame is still charged HPCC's 42 bytes.
 */
#include <xoff/cp.h>

#define INT_QUEUE_MAX ((INT64_C(1) << 20) - 1) /* units */
#define INT_RATE_BITS 12
#define INT_RATE_MASK ((1u << INT_RATE_BITS) - 1)
#define INT_M_MAX 255

static const uint64_t powers_of_ten[16] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
};

static uint32_t pack_rate(xoff_rate rate_bps)
{
    uint32_t e = 0;
    /* Halfway between the last value of this e and the first beyond it: (255 + 260) / 2. */
    while (e < 15 && rate_bps > 515 * powers_of_ten[e] / 2)
        e++;
    const uint64_t step = powers_of_ten[e];
    const uint64_t m = rate_bps / step + (rate_bps % step >= step - step / 2);
    return (uint32_t)(m < INT_M_MAX ? m : INT_M_MAX) << 4 | e;
}

static uint32_t pack_queue(int64_t queue_bytes)
{
    XOFF_ASSERT(queue_bytes >= 0);
    const int64_t units = queue_bytes / XOFF_INT_QUEUE_UNIT;
    return (uint32_t)(units < INT_QUEUE_MAX ? units : INT_QUEUE_MAX) << INT_RATE_BITS;
}

struct xoff_int_hop xoff_int_pack(const struct xoff_int_view *view)
{
    return (struct xoff_int_hop){
        .at_ns = view->at_ns,
        .tx_bytes = view->tx_bytes,
        .packed = pack_queue(view->queue_bytes) | pack_rate(view->rate_bps),
    };
}

static int64_t unpack_queue(uint32_t packed)
{
    return (int64_t)(packed >> INT_RATE_BITS) * XOFF_INT_QUEUE_UNIT;
}

static xoff_rate unpack_rate(uint32_t packed)
{
    return (packed >> 4 & 0xff) * powers_of_ten[packed & 0xf];
}

struct xoff_int_view xoff_int_unpack(const struct xoff_int_hop *hop)
{
    return (struct xoff_int_view){
        .at_ns = hop->at_ns,
        .tx_bytes = hop->tx_bytes,
        .queue_bytes = unpack_queue(hop->packed),
        .rate_bps = unpack_rate(hop->packed),
    };
}

/* Half a turn of a counter is the limit, for two reasons: a time that went back must be told from
 * one that went on, and the gap between ACKs is not quite the gap between the records. */
#define INT_HALF_TURN 0x1p31

bool xoff_int_is_comparable(const struct xoff_int *earlier, const struct xoff_int *later,
                            xoff_time gap)
{
    XOFF_ASSERT(later->n <= XOFF_INT_HOPS);
    if (earlier->n != later->n || later->n == 0)
        return false;
    if ((double)gap >= INT_HALF_TURN * (double)XOFF_NS)
        return false;
    for (uint32_t i = 0; i < later->n; i++) {
        if ((earlier->hop[i].packed ^ later->hop[i].packed) & INT_RATE_MASK)
            return false;
        const double rate_bps = (double)unpack_rate(later->hop[i].packed);
        if ((double)gap * rate_bps >= INT_HALF_TURN * 8 * (double)XOFF_S)
            return false;
    }
    return true;
}

bool xoff_int_measure(const struct xoff_int_hop *earlier, const struct xoff_int_hop *later,
                      struct xoff_int_change *out)
{
    const uint32_t span_ns = later->at_ns - earlier->at_ns;
    if (span_ns == 0 || span_ns >= UINT32_C(1) << 31)
        return false;
    *out = (struct xoff_int_change){
        .span_ns = span_ns,
        .tx_bytes = later->tx_bytes - earlier->tx_bytes,
        .queue_bytes = unpack_queue(later->packed),
        .earlier_queue_bytes = unpack_queue(earlier->packed),
        .rate_bps = unpack_rate(later->packed),
    };
    return true;
}

struct int_params {
    int64_t byte_unit, queue_unit;
};

struct int_cfg {
    uint32_t packed_rate;
    int64_t byte_unit, queue_unit;
};

static const struct xoff_param int_table[] = {
    {.name = "byte_unit",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct int_params, byte_unit),
     .preset = "1B",
     .min = "1B",
     .max = "1KiB",
     .help = "Unit in which bytes sent are counted; the ns-3 RDMA family's is 128B."},
    {.name = "queue_unit",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct int_params, queue_unit),
     .preset = "64B",
     .min = "1B",
     .max = "1KiB",
     .help = "Unit of queue lengths, which transport.queue_unit must be told; the ns-3 RDMA "
             "family's is 80B."},
    {0},
};

static int int_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                         struct xoff_cp_shape *shape, struct xoff_err *err)
{
    struct int_cfg *c = cfg;
    const struct int_params *p = params;
    (void)err;
    *c = (struct int_cfg){.packed_rate = pack_rate(env->rate_bps),
                          .byte_unit = p->byte_unit,
                          .queue_unit = p->queue_unit};
    *shape = (struct xoff_cp_shape){.stamps = true, .sees_port = true, .queue_unit = p->queue_unit};
    return 0;
}

static void int_on_dequeue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                           xoff_time now, struct xoff_cp_answer *answer)
{
    const struct int_cfg *c = cfg;
    (void)state;
    answer->stamp = true;
    answer->hop = (struct xoff_int_hop){
        .at_ns = (uint32_t)(now / XOFF_NS),
        .tx_bytes = (uint32_t)((int64_t)frame->port_tx_bytes / c->byte_unit * c->byte_unit),
        .packed =
            pack_queue(frame->port_bytes / c->queue_unit * XOFF_INT_QUEUE_UNIT) | c->packed_rate,
    };
}

const struct xoff_cp_ops xoff_cp_int = {
    .name = "int",
    .summary = "writes time, bytes sent, queue and rate of the port into every frame",
    .params = int_table,
    .params_size = sizeof(struct int_params),
    .cfg_size = sizeof(struct int_cfg),
    .configure = int_configure,
    .on_dequeue = int_on_dequeue,
};
