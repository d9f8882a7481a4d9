/* TCP as a mechanism of the role rel: parameters and table; the state machines are in tcp_tx.c and
 * tcp_rx.c.
 *
 * Differs: the timer's bounds. RFC 6298 (2.1, 2.4) starts with 1 s and never goes below 1 s, for
 * the Internet; a data center's round trip is some 10 us, and in a second a link of 100 Gb/s could
 * have sent 12.5 GB. Defaults here are 10 ms and 1 ms (Linux: 1 s and 200 ms).
 *
 * Differs: the delay of an ACK. RFC 5681 allows 500 ms and Linux takes 40 ms and more, longer than
 * the timer above; the default is a tenth of the least timeout, and a delay that reaches the least
 * timeout is refused, since the sender would then repair what has arrived.
 */
#include <xoff/units.h>

#include "mech/rel/tcp.h"

_Static_assert(sizeof(struct xoff_tcp_tx) <= sizeof(struct xoff_rel_tx) + 112, "many flows");
_Static_assert(sizeof(struct xoff_tcp_rx) <= 72, "many flows");

/* In the order of enum xoff_tcp_echo. */
static const char *const tcp_echoes[] = {"rfc3168", "dctcp", NULL};

const struct xoff_param xoff_tcp_table[] = {
    {.name = "sack",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct xoff_tcp_params, sack),
     .preset = "true",
     .help = "Whether ACKs name what arrived beyond a gap (RFC 2018)."},
    {.name = "fast_retransmit",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct xoff_tcp_params, fast_retransmit),
     .preset = "true",
     .help = "Whether duplicate ACKs mean a loss; false: the timer alone finds losses, as DeTail "
             "does where every packet takes its own path."},
    {.name = "duplicates",
     .type = XOFF_P_INT,
     .offset = offsetof(struct xoff_tcp_params, duplicates),
     .preset = "3",
     .min = "1",
     .max = "1000",
     .help = "Duplicate ACKs, or segments SACKed above it, that make a segment count as lost."},
    {.name = "rto_min",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct xoff_tcp_params, rto_min),
     .preset = "1ms",
     .min = "1us",
     .max = "3600s",
     .help = "Least retransmission timeout."},
    {.name = "rto_max",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct xoff_tcp_params, rto_max),
     .preset = "60s",
     .min = "1us",
     .max = "3600s",
     .help = "Largest retransmission timeout, however often it was doubled."},
    {.name = "rto_initial",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct xoff_tcp_params, rto_initial),
     .preset = "10ms",
     .min = "1us",
     .max = "3600s",
     .help = "Retransmission timeout before a round trip was measured, brought within rto_min and "
             "rto_max."},
    {.name = "delayed_ack",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct xoff_tcp_params, delayed_ack),
     .preset = "100us",
     .min = "0s",
     .max = "1s",
     .help = "Longest delay of an ACK, less than rto_min; 0s: every segment is acknowledged at "
             "once."},
    {.name = "ack_every",
     .type = XOFF_P_INT,
     .offset = offsetof(struct xoff_tcp_params, ack_every),
     .preset = "2",
     .min = "1",
     .max = "1000",
     .help = "Segments in order that are acknowledged together without waiting."},
    {.name = "echo",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct xoff_tcp_params, echo),
     .preset = "auto",
     .choices = tcp_echoes,
     .allows_auto = true,
     .help = "How marks are echoed: until the sender says it has slowed down, or exactly as they "
             "came; auto: as the flow's congestion control needs."},
    {0},
};

static int tcp_refuse(struct xoff_err *err, const char *name, xoff_time value, const char *rule,
                      xoff_time limit)
{
    char text[32];
    const int code =
        xoff_err_set(err, XOFF_E_CONFLICT, name, xoff_format_time(text, sizeof text, value), rule);
    xoff_err_add(err, xoff_format_time(text, sizeof text, limit));
    return code;
}

int xoff_tcp_configure(const struct xoff_tcp_params *params, const struct xoff_rel_env *env,
                       struct xoff_tcp_cfg *cfg, struct xoff_err *err)
{
    XOFF_ASSERT(env->payload_bytes > 0);
    if (env->has_telemetry)
        return xoff_err_set(err, XOFF_E_CONFLICT, "reliability", "tcp",
                            "telemetry comes back on ACKs of go-back-n only");
    if (params->rto_min > params->rto_max)
        return tcp_refuse(err, "rto_min", params->rto_min,
                          "the least timeout must not be above rto_max, which is ",
                          params->rto_max);
    if (params->delayed_ack >= params->rto_min)
        return tcp_refuse(err, "delayed_ack", params->delayed_ack,
                          "an ACK must not wait until the sender's timer ends; rto_min is ",
                          params->rto_min);
    xoff_time rto_initial = params->rto_initial;
    if (rto_initial < params->rto_min)
        rto_initial = params->rto_min;
    *cfg = (struct xoff_tcp_cfg){
        .has_sack = params->sack != 0,
        .has_fast_retransmit = params->fast_retransmit != 0,
        .duplicates = (uint32_t)params->duplicates,
        .ack_every = (uint32_t)params->ack_every,
        .rto_min = params->rto_min,
        .rto_max = params->rto_max,
        .rto_initial = xoff_time_min(rto_initial, params->rto_max),
        .delayed_ack = params->delayed_ack,
        .echo = params->echo != XOFF_PARAM_AUTO ? (enum xoff_tcp_echo)params->echo
                : env->reads_each_mark          ? XOFF_TCP_ECHO_DCTCP
                                                : XOFF_TCP_ECHO_RFC3168,
        .mss = env->payload_bytes,
    };
    return 0;
}

static int tcp_configure(const void *params, const struct xoff_rel_env *env, void *cfg,
                         struct xoff_rel_shape *shape, struct xoff_err *err)
{
    const int code = xoff_tcp_configure(params, env, cfg, err);
    *shape = (struct xoff_rel_shape){
        .tx_size = sizeof(struct xoff_tcp_tx),
        .rx_size = sizeof(struct xoff_tcp_rx),
        .tx_blocks = XOFF_REL_BLOCKS,
        .rx_blocks = 1,
        .names_blocks = !code && ((const struct xoff_tcp_cfg *)cfg)->has_sack,
        .reorders = true,
        .asks_at_end_only = true, /* a closed window waits for the delayed ACK, which is short */
    };
    return code;
}

static void tcp_init_tx(const void *cfg, struct xoff_rel_tx *tx)
{
    xoff_tcp_tx_init(cfg, (struct xoff_tcp_tx *)tx);
}

static void tcp_fini_tx(struct xoff_rel_tx *tx, struct xoff_range_store *store)
{
    xoff_tcp_tx_fini((struct xoff_tcp_tx *)tx, store);
}

static bool tcp_next(const void *cfg, const struct xoff_rel_tx *tx,
                     const struct xoff_range_store *store, uint64_t end, uint64_t window_bytes,
                     struct xoff_rel_segment *segment)
{
    return xoff_tcp_next(cfg, (const struct xoff_tcp_tx *)tx, store, end, window_bytes, segment);
}

static void tcp_on_sent(const void *cfg, struct xoff_rel_tx *tx,
                        const struct xoff_rel_segment *segment, xoff_time now)
{
    xoff_tcp_on_sent(cfg, (struct xoff_tcp_tx *)tx, segment, now);
}

static unsigned tcp_on_ack(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                           const struct xoff_rel_ack *ack, xoff_time rtt, xoff_time now)
{
    const struct xoff_tcp_outcome outcome =
        xoff_tcp_on_ack(cfg, (struct xoff_tcp_tx *)tx, store, ack, rtt, now);
    return (outcome.has_lost ? XOFF_REL_LOST : 0u) |
           (outcome.is_recovering ? XOFF_REL_RECOVERING : 0u);
}

static void tcp_expire(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                       xoff_time now)
{
    xoff_tcp_on_timeout(cfg, (struct xoff_tcp_tx *)tx, store, now);
}

static uint64_t tcp_outstanding(const struct xoff_rel_tx *tx)
{
    return xoff_tcp_outstanding((const struct xoff_tcp_tx *)tx);
}

static void tcp_init_rx(const void *cfg, struct xoff_rel_rx *rx)
{
    (void)cfg;
    xoff_tcp_rx_init((struct xoff_tcp_rx *)rx);
}

static void tcp_fini_rx(struct xoff_rel_rx *rx, struct xoff_range_store *store)
{
    xoff_tcp_rx_fini((struct xoff_tcp_rx *)rx, store);
}

/* RFC 7323 4.3: the time stamp that an ACK echoes is that of the first segment it acknowledges. */
static uint32_t tcp_on_data(const void *cfg, struct xoff_rel_rx *head,
                            struct xoff_range_store *store, const struct xoff_rel_data *data,
                            xoff_time now, struct xoff_rel_ack *acks)
{
    struct xoff_tcp_rx *rx = (struct xoff_tcp_rx *)head;
    if (!rx->n_unacked)
        rx->echo_at = data->sent_at;
    const uint32_t n_acks =
        xoff_tcp_on_segment(cfg, rx, store, data->seq, data->bytes, data->bits & XOFF_REL_MARKED,
                            data->bits & XOFF_REL_REDUCED, data->bits & XOFF_REL_ASKS, now, acks);
    for (uint32_t i = 0; i < n_acks; i++) {
        acks[i].sent_at = rx->echo_at;
        rx->echo_at = data->sent_at;
    }
    return n_acks;
}

static void tcp_expire_rx(const void *cfg, struct xoff_rel_rx *head,
                          const struct xoff_range_store *store, struct xoff_rel_ack *ack)
{
    struct xoff_tcp_rx *rx = (struct xoff_tcp_rx *)head;
    xoff_tcp_on_delayed(cfg, rx, store, ack);
    ack->sent_at = rx->echo_at;
}

static void tcp_on_late(const void *cfg, const struct xoff_rel_data *data, struct xoff_rel_ack *ack)
{
    (void)cfg;
    *ack = (struct xoff_rel_ack){.acked_to = data->seq + data->bytes, .sent_at = data->sent_at};
}

const struct xoff_rel_ops xoff_rel_tcp = {
    .name = "tcp",
    .summary = "TCP's reliability: SACK or NewReno, timer, delayed ACKs",
    .params = xoff_tcp_table,
    .params_size = sizeof(struct xoff_tcp_params),
    .cfg_size = sizeof(struct xoff_tcp_cfg),
    .has_acks = true,
    .format = XOFF_REL_AS_TCP,
    .configure = tcp_configure,
    .init_tx = tcp_init_tx,
    .fini_tx = tcp_fini_tx,
    .next = tcp_next,
    .on_sent = tcp_on_sent,
    .on_ack = tcp_on_ack,
    .expire = tcp_expire,
    .outstanding = tcp_outstanding,
    .init_rx = tcp_init_rx,
    .fini_rx = tcp_fini_rx,
    .on_data = tcp_on_data,
    .expire_rx = tcp_expire_rx,
    .on_late = tcp_on_late,
};
