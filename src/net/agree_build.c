/* What ranks tell each other while they build the network.
 *
 * Building goes in steps (switches, receive queues, hosts, ports that speak DCBX), and each rank
 * builds the items of a step that it runs. At the end of a step all ranks learn the first error and
 * the warnings, both in the order of the items, and what frames have to carry. So every rank goes
 * on, or fails, as a single process would.
 */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

/* What a rank found in a step. */
struct found {
    int32_t code;
    uint32_t item; /* that the error is about */
    struct net_blame blame;
    struct xoff_err err;
    uint32_t n_warnings;
    bool has_extra, has_stamps, is_unstamped;
    struct unstamped unstamped;
};

/* Returns the bytes of all ranks, one behind the other; the caller frees them. */
static void *share(const struct net *net, const void *bytes, size_t size)
{
    const struct sim_ranks *ranks = net->spec.ranks;
    size_t *sizes = build_block(ranks->n, sizeof *sizes);
    void *all;
    ranks->gather(ranks->context, bytes, size, true, &all, sizes);
    free(sizes);
    return all;
}

void build_begin_step(struct net *net)
{
    net->step = (struct build_step){.first_warning = net->part_of ? net->n_warnings : 0};
}

/* Replaces the own warnings of the step by those of all ranks. */
static void share_warnings(struct net *net, uint32_t n)
{
    const uint32_t first = net->step.first_warning;
    struct net_warning *all = share(net, net->n_warnings > first ? net->warnings + first : NULL,
                                    sizeof *all * (net->n_warnings - first));
    for (uint32_t i = 1; i < n; i++) { /* those of one item stay in order */
        const struct net_warning w = all[i];
        uint32_t k = i;
        for (; k > 0 && all[k - 1].first_item > w.first_item; k--)
            all[k] = all[k - 1];
        all[k] = w;
    }
    net->n_warnings = first;
    net->step.first_warning = 0;
    for (uint32_t i = 0; i < n; i++)
        build_keep_warning(net, &all[i]);
    free(all);
}

/* The transport that comes first is told about the switch that comes first. */
static void take_unstamped(struct net *net, const struct unstamped *found)
{
    const struct unstamped *own = net->unstamped;
    if (own && (own->transport < found->transport ||
                (own->transport == found->transport && own->node <= found->node)))
        return;
    if (!own)
        net->unstamped = build_block(1, sizeof *net->unstamped);
    *net->unstamped = *found;
}

int build_end_step(struct net *net, int code, struct net_blame *blame, struct xoff_err *err)
{
    if (!net->part_of)
        return code;
    struct found own = {.code = code,
                        .item = net->step.item,
                        .blame = *blame,
                        .err = *err,
                        .n_warnings = net->n_warnings - net->step.first_warning,
                        .has_extra = net->has_extra,
                        .has_stamps = net->has_stamps,
                        .is_unstamped = net->unstamped != NULL};
    if (net->unstamped)
        own.unstamped = *net->unstamped;
    struct found *each = share(net, &own, sizeof own);
    const struct found *failed = NULL;
    uint32_t n_warnings = 0;
    for (uint32_t r = 0; r < net->spec.ranks->n; r++) {
        const struct found *f = &each[r];
        if (f->code && (!failed || f->item < failed->item))
            failed = f;
        n_warnings += f->n_warnings;
        net->has_extra |= f->has_extra;
        net->has_stamps |= f->has_stamps;
        if (f->is_unstamped)
            take_unstamped(net, &f->unstamped);
    }
    share_warnings(net, n_warnings);
    if (failed) {
        code = failed->code;
        *blame = failed->blame;
        *err = failed->err;
    }
    free(each);
    return code;
}

void build_share_facts(struct net *net)
{
    if (!net->part_of)
        return;
    const uint32_t n = net->n_switches;
    struct sw_facts *own = build_block(n, sizeof *own);
    uint32_t n_own = 0;
    for (uint32_t s = 0; s < n; s++)
        if (net_owns(net, net->n_hosts + s))
            own[n_own++] = net->facts[s];
    struct sw_facts *all = share(net, own, sizeof *own * n_own);
    for (uint32_t r = 0, at = 0; r < net->spec.ranks->n; r++)
        for (uint32_t s = 0; s < n; s++)
            if (net->part_of[net->n_hosts + s] == r)
                net->facts[s] = all[at++];
    free(own), free(all);
}
