/* Parameters of TCP's reliability; the state machines are in tcp_tx.c and tcp_rx.c.
 *
 * Differs: the timer's bounds. RFC 6298 (2.1, 2.4) starts with 1 s and never goes below 1 s, for
 * the Internet; a data center's round trip is some 10 us, and at 100 Gb/s a second is 12.5 GB that
 * were not sent. Defaults here are 10 ms and 1 ms (Linux: 1 s and 200 ms).
 * Differs: the delay of an ACK. RFC 5681 allows 500 ms and Linux takes 40 ms and more, longer than
 * the timer above; the default is a tenth of the least timeout, and a delay that reaches the least
 * timeout is refused, since the sender would then repair what has arrived.
 */
#include <xoff/tcp.h>
#include <xoff/units.h>

_Static_assert(sizeof(struct xoff_tcp_tx) <= 128, "many flows: two cache lines");
_Static_assert(sizeof(struct xoff_tcp_rx) <= 64, "many flows: one cache line");

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

int xoff_tcp_configure(const struct xoff_tcp_params *params, uint32_t mss, struct xoff_tcp_cfg *cfg,
                       struct xoff_err *err)
{
    XOFF_ASSERT(mss > 0);
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
        .echo = params->echo == XOFF_PARAM_AUTO ? XOFF_TCP_ECHO_RFC3168
                                                : (enum xoff_tcp_echo)params->echo,
        .mss = mss,
    };
    return 0;
}
