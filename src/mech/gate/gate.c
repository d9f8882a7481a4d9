/* Pause reception: when each priority of a transmitter may send.
 *
 * Source: 802.3 31B.3 (PAUSE), 31D and 802.1Q 36.2 (PFC); response time 31B.3.7.
 *
 * A received frame waits in a ring until its response time is over, then it overwrites the timers
 * of its priorities. A priority is closed on [effective, effective + quanta * 512 bit times): a
 * frame that takes effect in the instant a timer runs out keeps the gate closed without a break.
 *
 * `next_at` is the next instant at which `open` differs from the instant before, found by
 * replaying the ring for each priority. So a refresh, which only moves the end of a closed
 * period, costs no wake-up: it stays in the ring until the next change, or until the ring is full
 * and on_frame sorts out what is past. Arrivals are handled before timers of the same instant, so a
 * change may be due and not yet expired when on_frame is called; unless the ring is full it is left
 * to expire(), which reports it.
 *
 * Differs: the standard's response time is a limit; this gate takes all of it, the worst case that
 * headroom is computed for.
 */
#include <xoff/gate.h>

#include <xoff/units.h>

#include <string.h>

static void take_over(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time at);
static void run(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now);
static void append(struct xoff_gate *gate, xoff_time at, uint8_t classes,
                   const struct xoff_pause_frame *frame);
static xoff_time next_change(const struct xoff_gate_cfg *cfg, const struct xoff_gate *gate,
                             unsigned priority);
static xoff_time next_change_of_all(const struct xoff_gate_cfg *cfg, const struct xoff_gate *gate);

static unsigned pending_index(const struct xoff_gate *gate, unsigned i)
{
    return (gate->first_pending + i) % XOFF_GATE_PENDING;
}

void xoff_gate_init(struct xoff_gate *gate)
{
    memset(gate, 0, sizeof *gate);
    gate->open = 0xff;
    gate->next_at = XOFF_NEVER;
}

bool xoff_gate_on_frame(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate,
                        const struct xoff_pause_frame *frame, xoff_time now)
{
    uint8_t classes;
    if (cfg->wire == XOFF_WIRE_PFC && frame->opcode == XOFF_OPCODE_PFC)
        classes = frame->classes & cfg->obeys;
    else if (cfg->wire == XOFF_WIRE_PAUSE && frame->opcode == XOFF_OPCODE_PAUSE)
        classes = XOFF_ALL_PRIORITIES;
    else
        return false;
    if (!classes)
        return true;

    if (gate->n_pending == XOFF_GATE_PENDING)
        run(cfg, gate, now);
    if (gate->n_pending == XOFF_GATE_PENDING)
        take_over(cfg, gate, now);
    append(gate, xoff_time_after(now, cfg->response_for), classes, frame);
    gate->next_at = next_change_of_all(cfg, gate);
    return true;
}

uint8_t xoff_gate_expire(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now)
{
    const uint8_t before = gate->open;
    run(cfg, gate, now);
    gate->next_at = next_change_of_all(cfg, gate);
    return before ^ gate->open;
}

void xoff_gate_hold(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now,
                    xoff_time until)
{
    uint8_t held = 0;
    if (cfg->wire != XOFF_WIRE_NONE && until > now)
        held = cfg->wire == XOFF_WIRE_PFC ? cfg->obeys : XOFF_ALL_PRIORITIES;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if (held >> n & 1)
            gate->closed_until[n] = until;
    gate->open &= (uint8_t)~held;
    gate->next_at = next_change_of_all(cfg, gate);
}

void xoff_gate_release(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, uint8_t priorities)
{
    for (unsigned i = 0; i < gate->n_pending; i++)
        gate->pending[pending_index(gate, i)].classes &= (uint8_t)~priorities;
    gate->open |= priorities;
    gate->next_at = next_change_of_all(cfg, gate);
}

/* The oldest pending frame takes effect at `at`. */
static void take_over(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time at)
{
    const unsigned oldest = pending_index(gate, 0);
    const uint8_t classes = gate->pending[oldest].classes;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        const uint16_t quanta = gate->pending[oldest].quanta[n];
        const uint8_t bit = (uint8_t)(1u << n);
        if (!(classes & bit))
            continue;
        if (quanta) {
            gate->open &= (uint8_t)~bit;
            gate->closed_until[n] = xoff_time_after(at, xoff_quanta_time(quanta, cfg->rate_bps));
        } else {
            gate->open |= bit;
        }
    }
    gate->first_pending = (uint8_t)pending_index(gate, 1);
    gate->n_pending--;
}

/* Applies frames before timers: per priority only the last frame that has taken effect counts. */
static void run(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now)
{
    while (gate->n_pending && gate->pending[pending_index(gate, 0)].effective_at <= now)
        take_over(cfg, gate, gate->pending[pending_index(gate, 0)].effective_at);
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if (gate->closed_until[n] <= now)
            gate->open |= (uint8_t)(1u << n);
}

/* Frames take effect in the order they came. If the link's rate has changed, and with it the
 * response time, an older frame may be due later than this one. The older frame then takes effect
 * at this frame's time, which is within its limit. Frames that share an instant are merged into
 * one, in which the times of the younger frame count. */
static void append(struct xoff_gate *gate, xoff_time at, uint8_t classes,
                   const struct xoff_pause_frame *frame)
{
    uint16_t quanta[XOFF_N_PRIORITIES];
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        quanta[n] = frame->quanta[frame->opcode == XOFF_OPCODE_PAUSE ? 0 : n];

    while (gate->n_pending) {
        const unsigned last = pending_index(gate, gate->n_pending - 1u);
        if (gate->pending[last].effective_at < at)
            break;
        for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
            if (!(classes & (1u << n)))
                quanta[n] = gate->pending[last].quanta[n];
        classes |= gate->pending[last].classes;
        gate->n_pending--;
    }

    const unsigned i = pending_index(gate, gate->n_pending++);
    gate->pending[i].effective_at = at;
    gate->pending[i].classes = classes;
    memcpy(gate->pending[i].quanta, quanta, sizeof quanta);
}

static xoff_time next_change(const struct xoff_gate_cfg *cfg, const struct xoff_gate *gate,
                             unsigned priority)
{
    const unsigned bit = 1u << priority;
    const bool closed = !(gate->open & bit);
    xoff_time until = gate->closed_until[priority]; /* counts while closed */
    for (unsigned i = 0; i < gate->n_pending; i++) {
        const unsigned s = pending_index(gate, i);
        const xoff_time at = gate->pending[s].effective_at;
        const uint16_t quanta = gate->pending[s].quanta[priority];
        if (!(gate->pending[s].classes & bit))
            continue;
        if (closed && until < at)
            return until;
        if (closed == !quanta)
            return at;
        if (quanta)
            until = xoff_time_after(at, xoff_quanta_time(quanta, cfg->rate_bps));
    }
    return closed ? until : XOFF_NEVER;
}

static xoff_time next_change_of_all(const struct xoff_gate_cfg *cfg, const struct xoff_gate *gate)
{
    xoff_time next_at = XOFF_NEVER;
    if (gate->open == 0xff && !gate->n_pending)
        return next_at;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        next_at = xoff_time_min(next_at, next_change(cfg, gate, n));
    return next_at;
}
