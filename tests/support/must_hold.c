/* What must hold of any run, whatever network it is of. */
#include "support/must_hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether routes of any time allow a cycle of buffers that wait for each other. */
static bool has_cycle(const struct built *b)
{
    const uint32_t n_switches = b->topo.n_nodes - b->topo.n_hosts;
    bool *coupled = calloc(n_switches + 1, sizeof *coupled);
    if (!coupled)
        abort();
    for (uint32_t i = 0; i < n_switches; i++) {
        const struct net_switch *sw = net_switch_of(&b->spec, b->topo.n_hosts + i);
        coupled[i] = sw->fabric && sw->fabric->is_coupled && sw->fabric->is_coupled(sw);
    }
    uint32_t n = 0;
    for (xoff_time at = 0; at != XOFF_NEVER && !n; at = routes_next_change(&b->topo, at)) {
        struct routes *routes;
        struct route_channel channel;
        struct xoff_err err;
        if (routes_create(&b->topo, at, false, &routes, &err))
            break;
        n = routes_find_cycle(&b->topo, routes, coupled, &channel, 1);
        routes_destroy(routes);
    }
    free(coupled);
    return n > 0;
}

/* Whether egress queues decide about pauses. They may pause ports that have sent them nothing, even
 * both ends of a link each other, which no route says. */
static bool has_egress_pauses(const struct built *b)
{
    for (uint32_t i = 0; i < b->spec.n_kinds; i++) {
        const struct net_switch *sw = &b->spec.kinds[i];
        const struct xoff_param *trigger = xoff_param_find(sw->pause->params, "trigger");
        char text[XOFF_PARAM_TEXT] = "egress";
        if (trigger)
            xoff_param_format(trigger, sw->pause_params, text, sizeof text);
        if (sw->pause->held_by && !strcmp(text, "egress"))
            return true;
    }
    return false;
}

/* Whether ports hold back priorities for which PFC is not in force. */
static bool has_held_back(const struct built *b)
{
    for (uint32_t i = 0; i < b->n_dcbx; i++)
        if (b->dcbx[i].needs_lossless)
            return true;
    return false;
}

static bool is_troubled(const struct built *b)
{
    for (uint32_t i = 0; i < b->topo.n_links; i++)
        if (b->topo.links[i].error_ppb)
            return true;
    for (uint32_t i = 0; i < b->topo.n_changes; i++)
        if (b->topo.changes[i].kind >= TOPO_CHANGE_FAIL)
            return true;
    return b->n_dcbx > 0;
}

/* Whether a warning has the words. */
static bool is_warned(const struct built *b, const char *words)
{
    for (uint32_t i = 0; i < b->n_warnings; i++)
        if (strstr(b->warnings[i].message, words))
            return true;
    return false;
}

/* Whether nobody said that lossless priorities would not lose anything: headroom is given by hand
 * (port.headroom is not checked), nothing pauses, or the scenario was warned about. */
static bool is_unprotected(const struct built *b)
{
    if (b->spec.headroom_bytes != XOFF_PARAM_AUTO)
        return true;
    for (uint32_t i = 0; i < b->spec.n_kinds; i++)
        if (b->spec.kinds[i].pause == xoff_pause_find("none"))
            return true;
    return is_warned(b, "lose") || is_troubled(b);
}

/* Whether such a loss was to be expected: of links and routes, or of a pipeline that does not stop
 * for a full egress queue. */
static bool is_excused(const struct built *b, const struct result_drop *drop)
{
    if (drop->cause == RESULT_DROP_BUFFER || drop->cause == RESULT_DROP_RECEIVER)
        return false;
    const struct net_switch *sw = net_switch_of(&b->spec, drop->node);
    return drop->cause != RESULT_DROP_EGRESS || !sw->fabric || !sw->fabric->is_coupled ||
           !sw->fabric->is_coupled(sw);
}

bool is_cut_off(const struct built *b, uint32_t node, xoff_time end_at)
{
    return node < b->topo.n_hosts && topo_cut_off_at(&b->topo, node, end_at) != XOFF_NEVER;
}

static enum verdict judge_losses(const struct built *b, const struct results *r, char *why,
                                 size_t size)
{
    for (uint32_t i = 0; i < r->n_drops && !is_unprotected(b); i++)
        if (r->drops[i].lossless && !is_excused(b, &r->drops[i])) {
            snprintf(why, size, "%s port %u lost %llu frames of priority %u, first at %lld ps",
                     r->nodes[r->drops[i].node].name, r->drops[i].port,
                     (unsigned long long)r->drops[i].frames, r->drops[i].priority,
                     (long long)r->drops[i].first_at);
            return JUDGE_LOSS;
        }
    return JUDGE_FINE;
}

/* Judges a network that came to rest before its time was over. */
static enum verdict judge_rest(const struct built *b, const struct results *r, char *why,
                               size_t size)
{
    for (uint32_t n = 0; n < r->n_nodes && !has_held_back(b); n++)
        if (r->nodes[n].held_bytes && !is_cut_off(b, n, r->end_at)) {
            snprintf(why, size, "%s holds %lld bytes at rest", r->nodes[n].name,
                     (long long)r->nodes[n].held_bytes);
            return JUDGE_HELD;
        }
    for (uint64_t i = 0; i < r->n_flows && !r->n_drops && !is_troubled(b); i++) {
        const struct result_flow *f = &r->flows[i];
        if (f->delivered_bytes == (f->reliable ? f->offered_bytes : f->sent_bytes) &&
            !(f->reliable && f->ideal_for && f->acked_at == XOFF_NEVER))
            continue;
        snprintf(why, size, "flow %u of %s: %llu of %llu bytes delivered, nothing was lost",
                 f->number, r->nodes[f->from].name, (unsigned long long)f->delivered_bytes,
                 (unsigned long long)f->offered_bytes);
        return JUDGE_FLOW;
    }
    return JUDGE_FINE;
}

enum verdict judge(const struct built *b, const struct results *r, char *why, size_t size)
{
    const enum verdict loss = judge_losses(b, r, why, size);
    if (loss)
        return loss;
    if (r->n_findings && !has_held_back(b)) {
        snprintf(why, size, "%s", r->findings[0].text);
        return JUDGE_AUDIT;
    }
    if (r->n_deadlocks) {
        if (has_cycle(b) || has_egress_pauses(b) || is_warned(b, "stand still"))
            return JUDGE_FINE;
        snprintf(why, size, "a deadlock at %lld ps without a cycle in the routes",
                 (long long)r->deadlocks[0].onset_at);
        return JUDGE_DEADLOCK;
    }
    if (r->end_at < net_end(&b->spec))
        return judge_rest(b, r, why, size);
    return has_held_back(b) ? JUDGE_FINE : JUDGE_BUSY;
}
