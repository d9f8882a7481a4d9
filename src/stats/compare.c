/* Compares two lists of flows (compare.h). Both are sorted by what makes flows the same, and walked
 * side by side: a group is all flows that are equal but for their ports. */
#include "stats/compare.h"

#include <stdlib.h>
#include <string.h>

#include "stats/output.h"

const char *const compare_stat_names[COMPARE_N_STATS] = {"mean", "p50", "p95", "p99", "max"};
static const uint64_t percents[COMPARE_N_STATS] = {0, 50, 95, 99, 100};

/* PAIRED is also one of ours that did not finish, for which there is one of theirs: FOUND. */
enum state { ALONE, PAIRED, FOUND };
struct place {
    const struct compare_flow *flow;
    enum state state;
};

struct pair {
    const struct compare_flow *ours, *theirs;
};

struct match {
    struct compare *compare;
    struct pair *pairs; /* both finished */
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders groups. */
static int compare_groups(const struct compare_flow *x, const struct compare_flow *y)
{
    int order = strcmp(x->from, y->from);
    if (order == 0)
        order = strcmp(x->to, y->to);
    if (order == 0)
        order = compare_u64(x->bytes, y->bytes);
    return order ? order : compare_u64(x->start_ns, y->start_ns);
}

static int compare_ports(const struct compare_flow *x, const struct compare_flow *y)
{
    if (x->sport != y->sport)
        return x->sport < y->sport ? -1 : 1;
    if (x->dport == COMPARE_NO_PORT || y->dport == COMPARE_NO_PORT)
        return 0;
    return (x->dport > y->dport) - (x->dport < y->dport);
}

static int compare_places(const void *a, const void *b)
{
    const struct compare_flow *x = ((const struct place *)a)->flow;
    const struct compare_flow *y = ((const struct place *)b)->flow;
    int order = compare_groups(x, y);
    if (order == 0)
        order = compare_ports(x, y);
    return order ? order : (x > y) - (x < y);
}

static int compare_starts(const void *a, const void *b)
{
    const struct compare_flow *x = ((const struct place *)a)->flow;
    const struct compare_flow *y = ((const struct place *)b)->flow;
    const int order = compare_u64(x->start_ns, y->start_ns);
    return order ? order : compare_places(a, b);
}

static struct place *sorted(const struct compare_flow *flows, size_t n)
{
    struct place *places = calloc(n + 1, sizeof *places);
    for (size_t i = 0; places && i < n; i++)
        places[i].flow = &flows[i];
    if (places)
        qsort(places, n, sizeof *places, compare_places);
    return places;
}

static void add_pair(struct match *m, struct place *ours, struct place *theirs)
{
    struct compare *c = m->compare;
    ours->state = PAIRED;
    if (ours->flow->fct_ns == 0) {
        theirs->state = FOUND;
        c->n_unfinished++;
        return;
    }
    theirs->state = PAIRED;
    c->n_ports += compare_ports(ours->flow, theirs->flow) == 0;
    m->pairs[c->n_both++] = (struct pair){ours->flow, theirs->flow};
}

/* Pairs by ports first, then what is left in order. */
static void pair_group(struct match *m, struct place *ours, size_t n_ours, struct place *theirs,
                       size_t n_theirs)
{
    size_t i = 0, k = 0;
    while (i < n_ours && k < n_theirs) {
        const int order = compare_ports(ours[i].flow, theirs[k].flow);
        if (order == 0)
            add_pair(m, &ours[i], &theirs[k]);
        i += order <= 0;
        k += order >= 0;
    }
    for (i = 0, k = 0; i < n_ours; i++) {
        if (ours[i].state != ALONE)
            continue;
        while (k < n_theirs && theirs[k].state != ALONE)
            k++;
        if (k == n_theirs)
            return;
        add_pair(m, &ours[i], &theirs[k++]);
    }
}

/* Returns the end of the group that begins at `from`. */
static size_t end_of_group(const struct place *places, size_t from, size_t n)
{
    size_t to = from + 1;
    while (to < n && compare_groups(places[from].flow, places[to].flow) == 0)
        to++;
    return to;
}

static void match_flows(struct match *m, struct place *ours, size_t n_ours, struct place *theirs,
                        size_t n_theirs)
{
    size_t i = 0, k = 0;
    while (i < n_ours && k < n_theirs) {
        const int order = compare_groups(ours[i].flow, theirs[k].flow);
        const size_t i_end = end_of_group(ours, i, n_ours);
        const size_t k_end = end_of_group(theirs, k, n_theirs);
        if (order == 0)
            pair_group(m, ours + i, i_end - i, theirs + k, k_end - k);
        i = order <= 0 ? i_end : i;
        k = order >= 0 ? k_end : k;
    }
}

/* Copies the first flows that the other side lacks, in order of start. */
static uint32_t list_alone(struct place *places, size_t n, struct compare_flow *list)
{
    size_t n_alone = 0;
    uint32_t n_listed = 0;
    for (size_t i = 0; i < n; i++)
        if (places[i].state != PAIRED && places[i].flow->fct_ns)
            places[n_alone++] = places[i];
    qsort(places, n_alone, sizeof *places, compare_starts);
    while (n_listed < COMPARE_LISTED && n_listed < n_alone) {
        list[n_listed] = *places[n_listed].flow;
        n_listed++;
    }
    return n_listed;
}

static uint64_t distance(const struct pair *p)
{
    const uint64_t a = p->ours->fct_ns, b = p->theirs->fct_ns;
    return a > b ? a - b : b - a;
}

/* Orders pairs by their distance as a share of theirs, largest first. */
static int compare_distances(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    const unsigned __int128 left = (unsigned __int128)distance(x) * y->theirs->fct_ns;
    const unsigned __int128 right = (unsigned __int128)distance(y) * x->theirs->fct_ns;
    if (left != right)
        return left > right ? -1 : 1;
    const int order = compare_u64(x->ours->start_ns, y->ours->start_ns);
    return order ? order : (x->ours > y->ours) - (x->ours < y->ours);
}

static void list_worst(struct compare *c, struct pair *pairs)
{
    for (uint64_t i = 0; i < c->n_both; i++) {
        const uint64_t apart = distance(&pairs[i]);
        const uint64_t standalone_ns = pairs[i].ours->standalone_ns;
        c->n_equal += apart == 0;
        c->n_within += (unsigned __int128)apart * 100 <= pairs[i].theirs->fct_ns;
        c->n_standalone += standalone_ns && pairs[i].theirs->standalone_ns &&
                           standalone_ns != pairs[i].theirs->standalone_ns;
    }
    qsort(pairs, c->n_both, sizeof *pairs, compare_distances);
    while (c->n_worst < COMPARE_LISTED && c->n_worst < c->n_both - c->n_equal) {
        c->worst[c->n_worst] =
            (struct compare_difference){*pairs[c->n_worst].ours, pairs[c->n_worst].theirs->fct_ns};
        c->n_worst++;
    }
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct compare_side figures_of(double *values, uint64_t n)
{
    struct compare_side side = {0};
    qsort(values, n, sizeof *values, compare_reals);
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += values[i];
    side.figures[COMPARE_MEAN] = sum / (double)n;
    for (uint32_t i = COMPARE_P50; i < COMPARE_N_STATS; i++)
        side.figures[i] = values[(n * percents[i] + 99) / 100 - 1];
    return side;
}

static double slowdown(uint64_t fct_ns, uint64_t standalone_ns)
{
    return fct_ns > standalone_ns ? (double)fct_ns / (double)standalone_ns : 1;
}

/* Slowdowns of one bucket, or of all for COMPARE_BUCKETS. Both sides are divided by their
 * standalone time: a difference is then one of completion times. */
static struct compare_pair slowdowns(const struct compare *c, const struct pair *pairs,
                                     uint32_t bucket, double *values[2])
{
    struct compare_pair result = {0};
    for (uint64_t i = 0; i < c->n_both; i++) {
        const struct compare_flow *theirs = pairs[i].theirs;
        if (!theirs->standalone_ns ||
            (bucket < COMPARE_BUCKETS && output_bucket(theirs->bytes) != bucket))
            continue;
        values[0][result.n] = slowdown(pairs[i].ours->fct_ns, theirs->standalone_ns);
        values[1][result.n++] = slowdown(theirs->fct_ns, theirs->standalone_ns);
    }
    if (result.n) {
        result.ours = figures_of(values[0], result.n);
        result.theirs = figures_of(values[1], result.n);
    }
    return result;
}

static void fill_figures(struct compare *c, const struct pair *pairs, double *values[2])
{
    for (uint64_t i = 0; i < c->n_both; i++) {
        values[0][i] = (double)pairs[i].ours->fct_ns / 1e9;
        values[1][i] = (double)pairs[i].theirs->fct_ns / 1e9;
    }
    c->fct.n = c->n_both;
    if (c->n_both) {
        c->fct.ours = figures_of(values[0], c->n_both);
        c->fct.theirs = figures_of(values[1], c->n_both);
    }
    c->slowdown = slowdowns(c, pairs, COMPARE_BUCKETS, values);
    for (uint32_t b = 0; b < COMPARE_BUCKETS; b++)
        c->buckets[b] = slowdowns(c, pairs, b, values);
}

struct compare *compare_create(const struct compare_flow *ours, size_t n_ours,
                               const struct compare_flow *theirs, size_t n_theirs, const char *file)
{
    const size_t most = (n_ours < n_theirs ? n_ours : n_theirs) + 1;
    struct compare *c = calloc(1, sizeof *c);
    struct place *places[] = {sorted(ours, n_ours), sorted(theirs, n_theirs)};
    double *values[] = {calloc(most, sizeof(double)), calloc(most, sizeof(double))};
    struct match m = {c, calloc(most, sizeof *m.pairs)};
    bool is_good = c && places[0] && places[1] && values[0] && values[1] && m.pairs;
    if (is_good) {
        c->file = strdup(file);
        is_good = c->file != NULL;
        c->n_theirs = n_theirs;
        for (size_t i = 0; i < n_ours; i++)
            c->n_ours += ours[i].fct_ns > 0;
        match_flows(&m, places[0], n_ours, places[1], n_theirs);
        c->n_only_ours = list_alone(places[0], n_ours, c->only_ours);
        c->n_only_theirs = list_alone(places[1], n_theirs, c->only_theirs);
        list_worst(c, m.pairs);
        fill_figures(c, m.pairs, values);
    }
    for (int side = 0; side < 2; side++) {
        free(places[side]);
        free(values[side]);
    }
    free(m.pairs);
    if (is_good)
        return c;
    compare_destroy(c);
    return NULL;
}

void compare_destroy(struct compare *compare)
{
    if (!compare)
        return;
    free(compare->file);
    free(compare);
}
