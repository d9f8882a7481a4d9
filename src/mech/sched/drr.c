/* Weighted deficit round robin over the eight queues of a port.
 *
 * Source: Shreedhar and Varghese 1996; fairness dissertation 2.4 and 6.1 (which calls a quantum per
 * queue weighted DRR). Each visit grants quantum * weight; a queue sends while its head <= deficit;
 * a queue that empties starts again from 0. rounds.h has the rounds themselves, and what a pause
 * does to them. With `unit` and `added_bytes` a frame of b bytes costs
 *
 *   ceil((b + added_bytes) / unit) * unit
 *
 * which neither source has: it is what a switch of cells would charge.
 *
 * Differs: the dissertation lets a frame go when the deficit is greater than the frame; its own
 * Figure 2-5 needs "greater or equal", as the original has it.
 * Differs: the dissertation adds the quantum to all queues at the start of a round, here each queue
 * gets it when visited; the order of frames is the same.
 * Differs: the original keeps a list of active queues and appends a queue that becomes active;
 * here queues keep their place in the ring, so that order does not depend on arrival history.
 */
#include <xoff/sched.h>

#include "lists.h"
#include "rounds.h"

struct drr_params {
    int64_t quantum;
    char quanta[XOFF_PARAM_TEXT];
    int64_t count_overhead;
    int64_t unit, added_bytes;
};

static const struct xoff_param drr_table[] = {
    {.name = "quantum",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct drr_params, quantum),
     .preset = "auto",
     .min = "1B",
     .max = ROUNDS_MAX_QUANTUM,
     .allows_auto = true,
     .help = "Bytes a queue of weight 1 is granted per visit; auto: the largest frame, the least "
             "that lets every queue send at each visit."},
    {.name = "quanta",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct drr_params, quanta),
     .preset = "",
     .help = "Quantum of single queues, as 0 500B, 3 9000B (priority, size); the others have "
             "quantum. The weight multiplies it."},
    {.name = "count_overhead",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct drr_params, count_overhead),
     .preset = "false",
     .help = "Charge preamble and gap (20 bytes) with each frame: shares of the wire instead of "
             "shares of frame bytes."},
    ROUNDS_CHARGE_PARAMS(struct drr_params),
    {0},
};

static int drr_refuse(const struct lists_entry *entry, enum xoff_err_code code, const char *message,
                      struct xoff_err *err)
{
    return xoff_err_set(err, code, "quanta", entry->text, message);
}

/* Overwrites the quanta of the priorities that `list` names; bit p of *given is set for each. */
static int drr_read_quanta(const char *list, int64_t quanta[XOFF_N_PRIORITIES], uint32_t *given,
                           struct xoff_err *err)
{
    struct lists_entry entry;
    *given = 0;
    for (const char *rest = lists_begin(list); lists_next(&rest, &entry);) {
        int64_t p, bytes;
        if (entry.n_words != 2)
            return drr_refuse(&entry, XOFF_E_SYNTAX,
                              "an entry has two words, priority and size, such as 3 9000B; commas "
                              "stand between entries",
                              err);
        if (xoff_parse_int(entry.words[0], &p) || p < 0 || p >= XOFF_N_PRIORITIES)
            return drr_refuse(&entry, XOFF_E_RANGE, "a priority is a number from 0 to 7", err);
        const int code = xoff_parse_bytes(entry.words[1], &bytes);
        if (code || bytes < 1 || bytes > ROUNDS_MAX_QUANTUM_BYTES)
            return drr_refuse(&entry, code ? (enum xoff_err_code) - code : XOFF_E_RANGE,
                              "a quantum is a size from 1B to " ROUNDS_MAX_QUANTUM, err);
        if (*given >> p & 1)
            return drr_refuse(&entry, XOFF_E_CONFLICT, "this priority has a quantum already", err);
        *given |= UINT32_C(1) << p;
        quanta[p] = bytes;
    }
    return 0;
}

static int drr_configure(const void *params, const struct xoff_sched_env *env, void *cfg,
                         struct xoff_sched_shape *shape, struct xoff_err *err)
{
    const struct drr_params *p = params;
    struct xoff_rounds_cfg *c = cfg;
    int code = rounds_check_weights(env, 0xff, err);
    if (code)
        return code;
    XOFF_ASSERT(env->max_frame_bytes > 0);
    shape->state_size = sizeof(struct xoff_rounds);
    c->scale = 1;
    c->overhead_bytes = (p->count_overhead ? XOFF_OVERHEAD_BYTES : 0) + p->added_bytes;
    c->unit_bytes = p->unit;
    const int64_t quantum = p->quantum == XOFF_PARAM_AUTO
                                ? rounds_cost(c, ROUNDS_UNITS, env->max_frame_bytes)
                                : p->quantum;
    XOFF_ASSERT(quantum > 0);
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
        c->credit[q] = quantum;
    uint32_t given;
    if ((code = drr_read_quanta(p->quanta, c->credit, &given, err)))
        return code;
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
        c->credit[q] *= env->weight[q];
    rounds_warn(c, ROUNDS_UNITS, env, given, "quanta", err);
    return rounds_warn(c, ROUNDS_UNITS, env, 0xff & ~given, "quantum", err);
}

static void drr_init(const void *cfg, void *state)
{
    (void)cfg;
    rounds_init(state);
}

/* Out of line, so that the fast path spills no registers. */
XOFF_SELDOM static uint32_t select_in_units(const struct xoff_rounds_cfg *c, void *state,
                                            const struct xoff_sched_view *view)
{
    return rounds_select(c, ROUNDS_UNITS, state, view, view->eligible);
}

static uint32_t drr_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    const struct xoff_rounds_cfg *c = cfg;
    if (__builtin_expect(c->unit_bytes > 1, 0))
        return select_in_units(c, state, view);
    return rounds_select(c, ROUNDS_PLAIN, state, view, view->eligible);
}

static void drr_charge(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied)
{
    const struct xoff_rounds_cfg *c = cfg;
    if (__builtin_expect(c->unit_bytes > 1, 0))
        rounds_charge(c, ROUNDS_UNITS, state, queue, bytes, emptied);
    else
        rounds_charge(c, ROUNDS_PLAIN, state, queue, bytes, emptied);
}

const struct xoff_sched_ops xoff_sched_drr = {
    .name = "drr",
    .summary = "weighted deficit round robin",
    .params = drr_table,
    .params_size = sizeof(struct drr_params),
    .cfg_size = sizeof(struct xoff_rounds_cfg),
    .configure = drr_configure,
    .init = drr_init,
    .select = drr_select,
    .charge = drr_charge,
};
