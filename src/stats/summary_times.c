/* Figures of a run, continued: distributions of what flows and operations took.
 *
 * Percentiles are exact and by nearest rank: the p-th of n values is the value of rank ceil(p n /
 * 100) in ascending order. The values of a family (completion time, acknowledged completion time
 * and slowdowns of flows; duration of operations) are sorted once by a radix sort; a stable scatter
 * by traffic entry and by size bucket then leaves every group sorted too, so that a million flows
 * cost a sort per family whatever the number of groups.
 *
 * Where flows were summarised there are sketches (sketch.h) in place of values, and percentiles are
 * answered within the error stated there.
 *
 * A flow that did not finish has no completion time, but it has waited for some time already: the
 * largest completion time is at least its age at the end of the run. Otherwise a network that stops
 * for ever would look faster than a slow one.
 */
#include "stats/summary_parts.h"

struct family {
    const char *name, *unit;
    bool is_real, by_size; /* keys are bits of doubles, else picoseconds; family has size buckets */
    const char *meanings[N_STATS];
};

#define MEANINGS(what)                                                                      \
    {                                                                                       \
        what ", mean", what ", median", what ", 95th percentile", what ", 99th percentile", \
            what ", largest"                                                                \
    }

enum { FAMILY_FCT, FAMILY_ALL, FAMILY_ACK, FAMILY_SLOWDOWN, FAMILY_SLOWDOWN_NS3, N_FLOW_FAMILIES };
static const struct family flow_families[N_FLOW_FAMILIES] = {
    {"fct",
     "s",
     false,
     true,
     {"time from the first byte offered to the last byte received, finished flows, mean",
      "time from the first byte offered to the last byte received, finished flows, median",
      "time from the first byte offered to the last byte received, finished flows, 95th percentile",
      "time from the first byte offered to the last byte received, finished flows, 99th percentile",
      "time from the first byte offered to the last byte received, largest; a flow that did not "
      "finish counts with its age at the end of the run"}},
    {"fct.all", "s", false, false,
     MEANINGS(
         "time from the first byte offered to the last byte received or to the end of the run, "
         "all flows of finite size")},
    {"fct.ack", "s", false, false,
     MEANINGS("time from the first byte offered to the last ACK at the sender")},
    {"slowdown", "ratio", true, true,
     MEANINGS("completion time over that of the same transfer alone in the network")},
    {"slowdown.ns3", "ratio", true, true,
     MEANINGS("time to the last ACK over the standalone time of fct.txt")},
};
static const struct family operation_family = {
    "operations", "s", false, false,
    MEANINGS("time from the start of a closed-loop operation to its completion")};

static void add_family(struct build *b, const struct family *family);

void summary_times_of_flows(struct build *b)
{
    for (uint32_t i = 0; i < N_FLOW_FAMILIES; i++)
        add_family(b, &flow_families[i]);
}

void summary_times_of_operations(struct build *b)
{
    add_family(b, &operation_family);
}

#define RADIX_BITS 11
#define RADIX_BINS (1u << RADIX_BITS)

/* Stable ascending radix sort by key, least significant digit first; a digit that is equal in all
 * keys is skipped. Returns the array with the result: `a` or `other`. */
static struct value *sort_values(struct value *a, struct value *other, size_t n)
{
    for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
        size_t at[RADIX_BINS] = {0};
        for (size_t i = 0; i < n; i++)
            at[(a[i].key >> shift) & (RADIX_BINS - 1)]++;
        if (n && at[(a[0].key >> shift) & (RADIX_BINS - 1)] == n)
            continue;
        size_t sum = 0;
        for (size_t i = 0; i < RADIX_BINS; i++) {
            const size_t count = at[i];
            at[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            other[at[(a[i].key >> shift) & (RADIX_BINS - 1)]++] = a[i];
        struct value *const sorted = other;
        other = a;
        a = sorted;
    }
    return a;
}

static size_t gather_operations(struct build *b)
{
    const struct results *r = b->results;
    for (uint64_t i = 0; i < r->n_operations; i++) {
        const struct result_operation *o = &r->operations[i];
        b->values[i] = (struct value){.key = (uint64_t)(o->finish_at - o->start_at), .tag = o->tag};
    }
    return (size_t)r->n_operations;
}

static size_t gather_flows(struct build *b, const struct family *family)
{
    size_t n = 0;
    for (uint64_t i = 0; i < b->results->n_flows; i++) {
        const struct result_flow *f = &b->results->flows[i];
        uint64_t key;
        /* The sketches have all of them but the ages of those that did not finish. */
        if (b->results->sums && (family != &flow_families[FAMILY_ALL] || output_is_finished(f)))
            continue;
        if (family == &flow_families[FAMILY_SLOWDOWN]) {
            if (!output_has_slowdown(f))
                continue;
            const double slowdown = output_slowdown(f);
            memcpy(&key, &slowdown, sizeof key);
        } else if (family == &flow_families[FAMILY_SLOWDOWN_NS3]) {
            if (!output_has_slowdown_ns3(f))
                continue;
            const double slowdown = output_slowdown_ns3(f);
            memcpy(&key, &slowdown, sizeof key);
        } else {
            xoff_time end_at = family == &flow_families[FAMILY_ACK] ? f->acked_at : f->finish_at;
            if (family == &flow_families[FAMILY_ALL] && output_is_unfinished(f) &&
                f->start_at <= b->results->end_at)
                end_at = b->results->end_at;
            if (end_at == XOFF_NEVER)
                continue;
            key = (uint64_t)(end_at - f->start_at);
        }
        b->values[n++] = (struct value){key, f->tag, output_bucket(f->offered_bytes)};
    }
    return n;
}

/* Finds the largest age of each group. Flows without end are not meant to finish, and do not count:
 * they have no ideal time. */
static void gather_ages(struct build *b)
{
    const struct results *r = b->results;
    for (uint64_t i = 0; i < r->n_flows; i++) {
        const struct result_flow *f = &r->flows[i];
        if (!output_is_unfinished(f) || f->start_at > r->end_at)
            continue;
        const uint64_t age = (uint64_t)(r->end_at - f->start_at);
        uint64_t *const groups[] = {&b->ages[0],
                                    f->tag < r->n_tags ? &b->ages[1 + f->tag] : &b->ages[0],
                                    &b->ages[1 + r->n_tags + output_bucket(f->offered_bytes)]};
        for (uint32_t g = 0; g < 3; g++)
            *groups[g] = age > *groups[g] ? age : *groups[g];
    }
}

static double real_of(const struct family *family, uint64_t key)
{
    if (!family->is_real)
        return output_seconds((xoff_time)key);
    double value;
    memcpy(&value, &key, sizeof value);
    return value;
}

static double real_of_sketch(const struct family *family, double value)
{
    return value / (double)(family->is_real ? FLOW_SLOWDOWN_ONE : (uint64_t)XOFF_S);
}

/* Adds the figures of a sketch and n further keys: a sketch has none if no flow finished. */
static void add_sketch(struct build *b, const struct family *family, const char *group,
                       const struct sketch *of, const uint64_t *keys, size_t n, uint64_t age)
{
    struct sketch sketch = {0};
    bool is_good = sketch_merge(&sketch, of);
    for (size_t i = 0; i < n && is_good; i++)
        is_good = sketch_add(
            &sketch, family->is_real ? flow_slowdown_fixed(real_of(family, keys[i])) : keys[i]);
    b->failed |= !is_good;
    for (uint32_t i = 0; i < N_STATS && is_good; i++) {
        const uint64_t rank =
            (uint64_t)(((unsigned __int128)sketch.n * stat_percents[i] + 99) / 100);
        const double value = i == STAT_MEAN  ? (double)sketch.sum / (double)sketch.n
                             : i == STAT_MAX ? (double)(sketch.max > age ? sketch.max : age)
                                             : (double)sketch_rank(&sketch, rank);
        add(b, family->name, group, stat_names[i], family->unit, real_of_sketch(family, value),
            family->meanings[i]);
    }
    sketch_fini(&sketch);
}

/* Adds the figures of n sorted keys; `age` is that of the oldest flow that has none. `of` has more
 * values; NULL: there are none. */
static void add_distribution(struct build *b, const struct family *family, const char *group,
                             const struct sketch *of, const uint64_t *keys, size_t n, uint64_t age)
{
    if (of && of->n) {
        add_sketch(b, family, group, of, keys, n, age);
        return;
    }
    unsigned __int128 whole = 0; /* times are summed exactly */
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (family->is_real)
            sum += real_of(family, keys[i]);
        else
            whole += keys[i];
    }
    if (!family->is_real)
        sum = (double)whole / (double)XOFF_S;
    if (n)
        add(b, family->name, group, stat_names[STAT_MEAN], family->unit, sum / (double)n,
            family->meanings[STAT_MEAN]);
    for (uint32_t i = STAT_P50; n && i < STAT_MAX; i++) {
        const size_t rank = (size_t)(((unsigned __int128)n * stat_percents[i] + 99) / 100);
        add(b, family->name, group, stat_names[i], family->unit, real_of(family, keys[rank - 1]),
            family->meanings[i]);
    }
    if (n || age)
        add(b, family->name, group, stat_names[STAT_MAX], family->unit,
            real_of(family, n && keys[n - 1] > age ? keys[n - 1] : age),
            family->meanings[STAT_MAX]);
}

/* Counts groups into offsets, then moves the sorted keys to their groups in the same order. Values
 * of group n_groups or beyond belong to no group. */
static void scatter(struct build *b, const struct value *values, size_t n, bool by_tag,
                    uint32_t n_groups)
{
    memset(b->offsets, 0, ((size_t)n_groups + 1) * sizeof *b->offsets);
    for (size_t i = 0; i < n; i++) {
        const uint32_t group = by_tag ? values[i].tag : values[i].bucket;
        if (group < n_groups)
            b->offsets[group]++;
    }
    uint64_t sum = 0;
    for (uint32_t g = 0; g < n_groups; g++) {
        const uint64_t count = b->offsets[g];
        b->offsets[g] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t group = by_tag ? values[i].tag : values[i].bucket;
        if (group < n_groups)
            b->keys[b->offsets[group]++] = values[i].key;
    }
    /* offsets[g] is now the end of group g. */
}

static uint64_t count_unfinished(const struct build *b, uint32_t bucket)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->results->n_flows; i++)
        n += output_is_unfinished(&b->results->flows[i]) &&
             output_bucket(b->results->flows[i].offered_bytes) == bucket;
    return n;
}

/* The sketches of a family; NULL: nothing of it was summarised. A finished flow counts among all
 * flows with its completion time. */
static const struct sketch *sketch_of(const struct build *b, const struct family *family,
                                      const struct sketch *times)
{
    if (!b->results->sums || !times || family == &operation_family ||
        family == &flow_families[FAMILY_SLOWDOWN_NS3])
        return NULL;
    return &times[family == &flow_families[FAMILY_ACK]        ? FLOW_ACK
                  : family == &flow_families[FAMILY_SLOWDOWN] ? FLOW_SLOWDOWN
                                                              : FLOW_FCT];
}

static void add_family(struct build *b, const struct family *family)
{
    const struct flow_sums *sums = b->results->sums;
    const size_t n = family == &operation_family ? gather_operations(b) : gather_flows(b, family);
    const struct value *sorted = sort_values(b->values, b->scratch, n);
    uint64_t first = 0;

    memset(b->ages, 0, ((size_t)b->results->n_tags + OUTPUT_BUCKETS + 1) * sizeof *b->ages);
    if (family == &flow_families[FAMILY_FCT])
        gather_ages(b);
    for (size_t i = 0; i < n; i++)
        b->keys[i] = sorted[i].key;
    add_distribution(b, family, NULL, sketch_of(b, family, sums ? sums->times : NULL), b->keys, n,
                     b->ages[0]);

    scatter(b, sorted, n, true, b->results->n_tags);
    for (uint32_t g = 0; g < b->results->n_tags; g++) {
        const struct sketch *of =
            sketch_of(b, family, sums && g < sums->n_entries ? sums->entries[g].times : NULL);
        add_distribution(b, family, b->labels[g].text, of, b->keys + first,
                         (size_t)(b->offsets[g] - first), b->ages[1 + g]);
        first = b->offsets[g];
    }
    if (!family->by_size)
        return;
    scatter(b, sorted, n, false, OUTPUT_BUCKETS);
    first = 0;
    for (uint32_t g = 0; g < OUTPUT_BUCKETS; g++) {
        const size_t count = (size_t)(b->offsets[g] - first);
        const struct sketch *of = sketch_of(b, family, sums ? sums->by_size[g] : NULL);
        if (family == &flow_families[FAMILY_SLOWDOWN]) {
            add(b, family->name, output_bucket_names[g], "flows", "", (double)(of ? of->n : count),
                "finished flows of this size, by bytes offered");
            add(b, family->name, output_bucket_names[g], "unfinished", "",
                (double)count_unfinished(b, g), "flows of this size that did not finish");
        }
        add_distribution(b, family, output_bucket_names[g], of, b->keys + first, count,
                         b->ages[1 + b->results->n_tags + g]);
        first = b->offsets[g];
    }
}
