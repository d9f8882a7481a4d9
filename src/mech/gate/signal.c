/* Pause transmission: policy edges -> PAUSE or PFC frames, and their refreshes.
 *
 * Source: 802.3 Annex 31B and 31D, 802.1Q 36.1. The standards leave open when a sender repeats an
 * XOFF; what they fix is that its effect ends with its quanta.
 *
 * Edges only move `wanted`. A frame is due while the peer was told something else or a refresh has
 * come up, and it is made when the port can send it, from the state at that moment: edges that
 * arrive while the port is busy share one frame, and those that cancel out send none.
 * A frame for edges carries the priorities that changed. A frame with a refresh carries every
 * paused priority, so their refreshes fall together from then on.
 *
 * Refreshes follow `told`, not `wanted`: when XON is taken back before it could be sent the peer's
 * timer has been running all along.
 *
 * Without refreshes a pause stays `told` until XON: how much of it is left at the peer is not
 * tracked. The next XOFF edge for the priority sends anew, whatever was told; an XON may be sent
 * although the pause has run out. Without resumes an XON edge ends the refreshes and sends nothing.
 */
#include <xoff/signal.h>

#include <xoff/units.h>

#include <string.h>

static bool is_refreshed_in_time(uint32_t quanta, xoff_rate rate_bps, uint32_t max_frame_bytes);
static int refuse_quanta(uint16_t quanta, xoff_rate rate_bps, uint32_t max_frame_bytes,
                         struct xoff_err *err);
static void set_next_at(struct xoff_signal *signal);

int xoff_signal_configure(const struct xoff_pause_signalling *how, xoff_rate rate_bps,
                          uint32_t max_frame_bytes, struct xoff_signal_cfg *cfg,
                          struct xoff_err *err)
{
    cfg->how = *how;
    cfg->refresh_for = XOFF_NEVER;
    if (how->wire == XOFF_WIRE_NONE)
        return 0;
    if (how->quanta == 0)
        return xoff_err_set(err, XOFF_E_RANGE, "quanta", "0",
                            "a pause of 0 quanta is a resume; accepted are 1 to 65535");
    if (!how->refreshes)
        return 0;
    if (!is_refreshed_in_time(how->quanta, rate_bps, max_frame_bytes))
        return refuse_quanta(how->quanta, rate_bps, max_frame_bytes, err);
    cfg->refresh_for = xoff_quanta_time(how->quanta, rate_bps) / 2;
    return 0;
}

void xoff_signal_init(struct xoff_signal *signal)
{
    memset(signal, 0, sizeof *signal);
    signal->next_at = XOFF_NEVER;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        signal->refresh_at[n] = XOFF_NEVER;
}

void xoff_signal_on_edge(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal,
                         uint8_t priorities, bool pause)
{
    if (cfg->how.wire == XOFF_WIRE_NONE)
        return;
    /* 802.3x knows no priorities: a policy that speaks it decides for the port. */
    XOFF_ASSERT(cfg->how.wire == XOFF_WIRE_PFC || priorities == XOFF_ALL_PRIORITIES);
    if (pause) {
        signal->wanted |= priorities;
        if (!cfg->how.refreshes)
            signal->stale |= priorities & signal->told;
        return;
    }
    signal->wanted &= (uint8_t)~priorities;
    if (!cfg->how.resumes) {
        signal->told &= (uint8_t)~priorities;
        signal->stale &= (uint8_t)~priorities;
        set_next_at(signal);
    }
}

void xoff_signal_expire(struct xoff_signal *signal, xoff_time now)
{
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if ((signal->told & (1u << n)) && signal->refresh_at[n] <= now)
            signal->stale |= (uint8_t)(1u << n);
    set_next_at(signal);
}

void xoff_signal_repeat(struct xoff_signal *signal, uint8_t priorities)
{
    signal->stale |= signal->told & priorities;
    set_next_at(signal);
}

void xoff_signal_forget(struct xoff_signal *signal)
{
    signal->told = 0;
    signal->stale = 0;
    set_next_at(signal);
}

void xoff_signal_take(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal, xoff_time now,
                      struct xoff_pause_frame *frame)
{
    XOFF_ASSERT(xoff_signal_is_due(signal));
    uint8_t classes = (signal->wanted ^ signal->told) | signal->stale;
    if (cfg->how.refreshes && (signal->stale & signal->wanted))
        classes |= signal->wanted;

    memset(frame, 0, sizeof *frame);
    frame->classes = classes;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        if (!(classes & signal->wanted & (1u << n)))
            continue; /* not in this frame, or XON: quanta 0 */
        frame->quanta[n] = cfg->how.quanta;
        signal->refresh_at[n] = xoff_time_after(now, cfg->refresh_for);
    }
    frame->opcode = XOFF_OPCODE_PFC;
    if (cfg->how.wire == XOFF_WIRE_PAUSE) {
        frame->opcode = XOFF_OPCODE_PAUSE;
        memset(frame->quanta + 1, 0, sizeof frame->quanta - sizeof frame->quanta[0]);
    }
    signal->told = signal->wanted;
    signal->stale = 0;
    set_next_at(signal);
}

/* The refresh falls due half a pause after the start of the last XOFF, and may then find a maximum
 * frame just begun. Both frames take equally long to arrive, so the refresh takes effect as much
 * later than the XOFF as it was sent later: that must be no more than the whole pause. */
static bool is_refreshed_in_time(uint32_t quanta, xoff_rate rate_bps, uint32_t max_frame_bytes)
{
    const xoff_time pause_for = xoff_quanta_time(quanta, rate_bps);
    const uint64_t bits = 8 * ((uint64_t)max_frame_bytes + XOFF_OVERHEAD_BYTES);
    /* If a byte is not a whole number of picoseconds, the carry of the wire clock may add one. */
    const xoff_time carry_for = 8 * (uint64_t)XOFF_S % rate_bps ? 1 : 0;
    return pause_for / 2 + xoff_time_of_bits(bits, rate_bps) + carry_for <= pause_for;
}

static int refuse_quanta(uint16_t quanta, xoff_rate rate_bps, uint32_t max_frame_bytes,
                         struct xoff_err *err)
{
    char value[32];
    const int code =
        xoff_err_set(err, XOFF_E_RANGE, "quanta", xoff_format_int(value, sizeof value, quanta),
                     "too short to be refreshed at half time behind a frame of ");
    xoff_err_add_int(err, (long long)max_frame_bytes);
    xoff_err_add(err, " B; ");

    /* More quanta never make a refresh late, so bisection finds the fewest that suffice. */
    uint32_t too_few = quanta, enough = UINT16_MAX;
    if (!is_refreshed_in_time(enough, rate_bps, max_frame_bytes)) {
        xoff_err_add(err, "no quanta would do: use smaller frames, or no refreshes");
        return code;
    }
    while (enough - too_few > 1) {
        const uint32_t middle = too_few + (enough - too_few) / 2;
        if (is_refreshed_in_time(middle, rate_bps, max_frame_bytes))
            enough = middle;
        else
            too_few = middle;
    }
    xoff_err_add_int(err, (long long)enough);
    xoff_err_add(err, " to 65535 would do");
    return code;
}

/* Sets next_at to the earliest refresh of the pauses that the peer was told of and whose refresh is
 * not due already. */
static void set_next_at(struct xoff_signal *signal)
{
    const unsigned running = (unsigned)signal->told & ~(unsigned)signal->stale;
    signal->next_at = XOFF_NEVER;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if (running & (1u << n))
            signal->next_at = xoff_time_min(signal->next_at, signal->refresh_at[n]);
}
