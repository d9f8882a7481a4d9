/* Flowlet switching: a flow keeps its port until it pauses for longer than a gap, then draws anew.
 *
 * Source: Vanini et al., "Let it flow: resilient asymmetric load balancing with flowlet switching",
 * NSDI 2017. A switch has a table of ports and times, indexed by a hash of the flow. A frame whose
 * entry was used up to `gap` ago takes the same port; otherwise it begins a flowlet, and any of the
 * candidates is drawn. While the gap is above the difference of the paths' delays, frames stay in
 * order. A slow path makes a flow's gaps longer, so that flows leave it: no load is measured.
 *
 * Flows that share an entry share a port as long as it is a candidate of both. A port that is none
 * any more, since routes have changed, is drawn anew at once.
 *
 * Differs: in hardware an entry has an age bit that is set every `gap` (CONGA, SIGCOMM 2014), so a
 * flowlet ends after one to two times the value; here times are exact.
 */
#include <xoff/path.h>

struct flowlet_params {
    int64_t gap, entries;
};

struct flowlet_cfg {
    xoff_time gap;
    uint32_t n_entries;
};

struct flowlet_entry {
    xoff_time used_at;
    uint32_t port_and_1; /* 0: not used yet */
};

static const struct xoff_param flowlet_table[] = {
    {.name = "gap",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct flowlet_params, gap),
     .preset = "500us",
     .min = "0s",
     .help = "A flow that sent nothing for longer than this begins a flowlet."},
    {.name = "entries",
     .type = XOFF_P_INT,
     .offset = offsetof(struct flowlet_params, entries),
     .preset = "4096",
     .min = "1",
     .max = "1048576",
     .help = "Entries of each switch's table, 16 bytes each; flows that share one share its port."},
    {0},
};

static int flowlet_configure(const void *params, const struct xoff_path_env *env, void *cfg,
                             struct xoff_path_shape *shape, struct xoff_err *err)
{
    const struct flowlet_params *p = params;
    struct flowlet_cfg *c = cfg;
    (void)env, (void)err;
    *c = (struct flowlet_cfg){.gap = p->gap, .n_entries = (uint32_t)p->entries};
    *shape = (struct xoff_path_shape){.state_size = c->n_entries * sizeof(struct flowlet_entry),
                                      .draws = true};
    return 0;
}

/* The two directions of a flow have numbers of their own, where their hashes may be equal.
 * Fibonacci hashing (Knuth 6.4) spreads them over 32 bits. */
static inline uint32_t entry_of(const struct flowlet_cfg *c, uint64_t flow)
{
    return xoff_path_by_value((uint32_t)(flow * UINT64_C(0x9e3779b97f4a7c15) >> 32), c->n_entries);
}

static uint32_t flowlet_choose(const void *cfg, void *state, const struct xoff_path_frame *frame,
                               xoff_time now)
{
    const struct flowlet_cfg *c = cfg;
    struct flowlet_entry *entry = (struct flowlet_entry *)state + entry_of(c, frame->flow);
    uint32_t index = frame->n;
    if (entry->port_and_1 && now - entry->used_at <= c->gap)
        for (index = 0; index < frame->n && frame->ports[index] + 1u != entry->port_and_1;)
            index++;
    if (index == frame->n)
        index = xoff_path_by_value(frame->draw, frame->n);
    *entry = (struct flowlet_entry){.used_at = now, .port_and_1 = frame->ports[index] + 1u};
    return index;
}

const struct xoff_path_ops xoff_path_flowlet = {
    .name = "flowlet",
    .summary = "anew when the flow has paused (LetFlow)",
    .params = flowlet_table,
    .params_size = sizeof(struct flowlet_params),
    .cfg_size = sizeof(struct flowlet_cfg),
    .configure = flowlet_configure,
    .choose = flowlet_choose,
};
