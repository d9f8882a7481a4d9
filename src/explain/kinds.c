/* Says what each root is, which of them are worth naming, and what may help.
 *
 * A root is named when it held some port for at least 1 % of the time with traffic, lost 0.1 % of
 * what was delivered, or is something that must not be at all: a deadlock, a lost lossless frame, a
 * failed or faulty link, a loop. Everything else is the usual noise of a shared network.
 */
#include <stdlib.h>
#include <string.h>

#include "explain/harm.h"

#define WORTH_HELD 0.01
#define WORTH_LOST 0.001

static const char *const words[N_ROOT_KINDS] = {
    [ROOT_UNKNOWN] = "congestion",
    [ROOT_SLOW_RECEIVER] = "slow-receiver",
    [ROOT_STUCK_RECEIVER] = "stuck-receiver",
    [ROOT_INCAST] = "incast",
    [ROOT_SLOW_LINK] = "slow-link",
    [ROOT_OVERSUBSCRIPTION] = "oversubscription",
    [ROOT_STARVATION] = "starvation",
    [ROOT_DEADLOCK] = "deadlock",
    [ROOT_HEADROOM] = "headroom",
    [ROOT_IGNORED_PAUSES] = "ignored-pauses",
    [ROOT_LINK_FAILURE] = "link-failure",
    [ROOT_LINK_ERRORS] = "link-errors",
    [ROOT_NO_ROUTE] = "no-route",
    [ROOT_CYCLIC_ROUTES] = "cyclic-routes",
};

const char *kind_word(enum root_kind kind)
{
    return words[kind];
}

/* A host that took nothing for half of the time and to the end, or that was told to. */
static void judge_host(const struct explanation *e, struct root *root)
{
    const char *name = run_node_name(&e->run, root->node);
    for (uint32_t i = 0; i < e->n_receivers && !root->receiver; i++)
        if (evidence_is_host(e->receivers[i].hosts, name))
            root->receiver = &e->receivers[i];
    const bool is_still = root->is_unlifted && share_of_time(e, root->longest_ps) >= 0.5;
    if (is_still || (root->is_unlifted && root->receiver &&
                     strstr(root->receiver->rate, "0bps") == root->receiver->rate))
        root->kind = ROOT_STUCK_RECEIVER;
}

/* The fastest other port of this node that could have carried the traffic, or brought it. */
static double fastest_beside(const struct explanation *e, uint32_t port)
{
    const struct run_node *node = &e->run.nodes[e->run.ports[port].node];
    double most = 0;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (p != port && e->slowest_bps[p] > most)
            most = e->slowest_bps[p];
    return most;
}

/* A failure of another link of this node, not repaired when the trouble began. */
static const struct link_change *failure_before(const struct explanation *e,
                                                const struct root *root)
{
    const struct link_change *found = NULL;
    const char *here = run_node_name(&e->run, root->node);
    for (uint32_t i = 0; i < e->n_changes; i++) {
        const struct link_change *c = &e->changes[i];
        if ((strcmp(c->a, here) && strcmp(c->b, here)) || c->at_ps > root->from_ps)
            continue;
        if (c->fails)
            found = c;
        else if (c->is_repaired && found && !strcmp(c->a, found->a) && !strcmp(c->b, found->b))
            found = NULL;
    }
    return found;
}

/* The link is full, but others than the priority that is held fill it. */
static bool is_starved(const struct explanation *e, const struct root *root)
{
    const struct queue *queues = &e->queues[root->port * XOFF_N_PRIORITIES];
    if (root->worst_strand == NONE)
        return false;
    const struct strand *strand = &e->strands[root->worst_strand];
    const uint32_t priority = e->run.lines[strand->line].priority;
    double all = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        all += (double)queues[p].tx_bytes;
    return priority < ALL_PRIORITIES && e->run.ports[root->port].busy >= 0.9 &&
           share_of_time(e, strand->measured_ps) >= 0.5 &&
           (double)queues[priority].tx_bytes < 0.02 * all;
}

static void judge_port(const struct explanation *e, struct root *root)
{
    const struct run_port *port = &e->run.ports[root->port];
    const double rate_bps = e->slowest_bps[root->port];
    const bool is_to_host = port->peer_node != NONE && e->run.nodes[port->peer_node].is_host;
    if (is_starved(e, root))
        root->kind = ROOT_STARVATION;
    else if (is_to_host)
        root->kind = rate_bps < root->sender_bps * 0.99 ? ROOT_SLOW_LINK
                     : root->n_senders > 1              ? ROOT_INCAST
                                                        : ROOT_OVERSUBSCRIPTION;
    else if (rate_bps < fastest_beside(e, root->port) * 0.99)
        root->kind = ROOT_SLOW_LINK;
    else if (root->target != NONE && root->n_senders > 1)
        root->kind = ROOT_INCAST; /* it meets before the last link */
    else if ((root->change = failure_before(e, root)))
        root->kind = ROOT_LINK_FAILURE;
    for (uint32_t i = 0; root->kind == ROOT_SLOW_LINK && i < e->n_changes; i++) {
        const struct link_change *c = &e->changes[i];
        const char *here = run_node_name(&e->run, port->node);
        const char *there = run_node_name(&e->run, port->peer_node);
        if (c->rate_bps == rate_bps && ((!strcmp(c->a, here) && !strcmp(c->b, there)) ||
                                        (!strcmp(c->b, here) && !strcmp(c->a, there))))
            root->change = c;
    }
}

/* Room ran out behind ports whose peer did not obey pauses. */
static void judge_headroom(const struct explanation *e, struct root *root)
{
    uint64_t deaf_frames = 0;
    for (uint32_t i = 0; i < e->n_drops; i++) {
        const struct drop *drop = &e->drops[i];
        if (drop->node != root->node || drop->cause != DROP_ROOM || drop->in_port == NONE)
            continue;
        const uint32_t peer = e->run.ports[drop->in_port].peer;
        const uint32_t line = peer == NONE ? NONE : harm_line(e, peer, drop->priority);
        if (line == NONE || !e->is_deaf[line])
            continue;
        if (!root->n_deaf++)
            root->port = peer;
        deaf_frames += drop->frames;
    }
    if (2 * deaf_frames > root->lost_frames)
        root->kind = ROOT_IGNORED_PAUSES;
}

static void judge_failure(const struct explanation *e, struct root *root)
{
    const struct run_port *port = root->port == NONE ? NULL : &e->run.ports[root->port];
    for (uint32_t i = 0; port && i < e->n_changes && !root->change; i++) {
        const struct link_change *c = &e->changes[i];
        const char *here = run_node_name(&e->run, port->node);
        const char *there = run_node_name(&e->run, port->peer_node);
        if (c->fails && ((!strcmp(c->a, here) && !strcmp(c->b, there)) ||
                         (!strcmp(c->b, here) && !strcmp(c->a, there))))
            root->change = c;
    }
}

static bool is_worth_naming(const struct explanation *e, const struct root *root)
{
    const int64_t held_ps =
        root->worst_strand == NONE ? 0 : e->strands[root->worst_strand].measured_ps;
    if (share_of_time(e, held_ps) >= WORTH_HELD ||
        (double)root->lost_bytes > WORTH_LOST * (double)e->delivered_bytes)
        return true;
    switch (root->kind) {
    case ROOT_DEADLOCK:
        return true;
    case ROOT_HEADROOM:
    case ROOT_IGNORED_PAUSES:
    case ROOT_LINK_FAILURE:
    case ROOT_LINK_ERRORS:
    case ROOT_NO_ROUTE:
    case ROOT_CYCLIC_ROUTES:
        return root->lost_frames > 0;
    default:
        return root->lost_lossless > 0;
    }
}

/* Named roots first, then by harm to flows and operations, then by place. */
static int compare_roots(const void *a, const void *b)
{
    const struct root *x = a, *y = b;
    const double x_harm = x->harm_byte_s + x->operations_byte_s;
    const double y_harm = y->harm_byte_s + y->operations_byte_s;
    if (x->is_named != y->is_named)
        return x->is_named ? -1 : 1;
    if (x_harm != y_harm)
        return x_harm > y_harm ? -1 : 1;
    if (x->from_ps != y->from_ps)
        return x->from_ps < y->from_ps ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

void kinds_judge(struct explanation *e)
{
    for (uint32_t i = 0; i < e->n_roots; i++) {
        struct root *root = &e->roots[i];
        if (root->has_targets)
            root->target = NONE;
        if (root->kind == ROOT_SLOW_RECEIVER)
            judge_host(e, root);
        else if (root->kind == ROOT_OVERSUBSCRIPTION)
            judge_port(e, root);
        else if (root->kind == ROOT_HEADROOM)
            judge_headroom(e, root);
        else if (root->kind == ROOT_LINK_FAILURE)
            judge_failure(e, root);
        root->is_named = is_worth_naming(e, root);
        e->n_named += root->is_named;
    }
    if (e->n_roots)
        qsort(e->roots, e->n_roots, sizeof *e->roots, compare_roots);
}

/* ---- what may help ---- */

#define REMEDY(text, ...)                           \
    {                                               \
        .words = (text), .changes = { __VA_ARGS__ } \
    }
static const struct explain_remedy congestion_control =
    REMEDY("congestion control, which slows down those who send to it (DCQCN)", "transport=dcqcn",
           "switch.marking=ecn");
static const struct explain_remedy targeted =
    REMEDY("pauses for those alone who fill the queue (CaPFC)",
           "switch.pause={kind: capfc, xoff: 200KB, xon: 160KB}");
static const struct explain_remedy shared_headroom = REMEDY(
    "headroom that ports share, which leaves more buffer before a pause (DSH)", "switch.mmu=dsh");
static const struct explain_remedy adaptive =
    REMEDY("paths chosen by how full they are", "switch.path=adaptive");
static const struct explain_remedy flowlets =
    REMEDY("flows that change their path in gaps", "switch.path=flowlet");
static const struct explain_remedy worst_headroom =
    REMEDY("headroom for the worst case of each link", "port.headroom=auto",
           "switch.mmu.headroom=auto", "switch.mmu.headroom_rule=worst");
static const struct explain_remedy shortest =
    REMEDY("the shortest routes in place of those by hand", "routes=[]");
static const struct explain_remedy no_pauses =
    REMEDY("no pauses: frames are lost, and nobody waits", "switch.pause=none");
static const struct explain_remedy reliable =
    REMEDY("senders that send again what was lost (go-back-N)", "transport.reliability=go-back-n");
static const struct explain_remedy quick_reroute =
    REMEDY("routes that are changed 10 us after a failure", "reroute_after=10us");
static const struct explain_remedy shares =
    REMEDY("shares for all priorities in place of strict ones (ETS)", "switch.scheduler=ets");

static const struct explain_remedy *const remedies[N_ROOT_KINDS][MOST_REMEDIES] = {
    [ROOT_UNKNOWN] = {&congestion_control},
    [ROOT_SLOW_RECEIVER] = {&congestion_control, &targeted, &no_pauses},
    [ROOT_STUCK_RECEIVER] = {&no_pauses, &targeted},
    [ROOT_INCAST] = {&congestion_control, &shared_headroom, &targeted},
    [ROOT_SLOW_LINK] = {&adaptive, &flowlets, &congestion_control},
    [ROOT_OVERSUBSCRIPTION] = {&adaptive, &congestion_control, &shared_headroom},
    [ROOT_STARVATION] = {&shares},
    [ROOT_DEADLOCK] = {&shortest, &no_pauses, &congestion_control},
    [ROOT_HEADROOM] = {&worst_headroom, &shared_headroom},
    [ROOT_IGNORED_PAUSES] = {&congestion_control},
    [ROOT_LINK_FAILURE] = {&quick_reroute, &adaptive},
    [ROOT_LINK_ERRORS] = {&reliable},
    [ROOT_CYCLIC_ROUTES] = {&shortest},
};

/* Where nobody was paused, changes of pauses have nothing to act on; priorities that may lose
 * frames cannot be paused at all. */
static bool can_help(const struct explanation *e, const struct root *root,
                     const struct explain_remedy *remedy)
{
    if (!e->run.n_pauses && (remedy == &no_pauses || remedy == &shared_headroom ||
                             (remedy == &targeted && !root->lost_lossless)))
        return false;
    return !e->config || !config_is(e->config, remedy->changes[0]);
}

uint32_t kind_remedies(const struct explanation *e, const struct root *root,
                       const struct explain_remedy *list[MOST_REMEDIES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MOST_REMEDIES && remedies[root->kind][i]; i++)
        if (can_help(e, root, remedies[root->kind][i]))
            list[n++] = remedies[root->kind][i];
    return n;
}

uint32_t explain_remedies(const struct explanation *e, const struct explain_remedy **list,
                          uint32_t capacity)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n_named; i++) {
        const struct explain_remedy *some[MOST_REMEDIES];
        const uint32_t n_some = kind_remedies(e, &e->roots[i], some);
        for (uint32_t k = 0; k < n_some; k++) {
            bool is_new = n < capacity;
            for (uint32_t m = 0; is_new && m < n; m++)
                is_new = list[m] != some[k];
            if (is_new)
                list[n++] = some[k];
        }
    }
    return n;
}
