/* Flows and operations of a run as distributions: all, by traffic entry, by size.
 *
 * Values are sorted once; a walk over them in that order leaves every group sorted too. Percentiles
 * are exact and by nearest rank, as in the run's metrics. Of a run whose flows were summarised
 * (results: summary) the bins of flow_bin are the values, each as often as it counts flows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_parts.h"

/* Sizes by bytes offered, upper bound inclusive; the same buckets as the metrics have. */
#define N_BUCKETS 5
static const struct {
    const char *label;
    int64_t above_bytes, to_bytes;
} buckets[N_BUCKETS] = {{"to 10 KB", 0, 10000},
                        {"to 100 KB", 10000, 100000},
                        {"to 1 MB", 100000, 1000000},
                        {"to 10 MB", 1000000, 10000000},
                        {"over 10 MB", 10000000, INT64_MAX}};

struct value {
    double value;
    uint64_t n; /* how often it is there */
    uint32_t entry, bucket;
};

/* Bins are there for each group by itself: NONE stands for all entries, for all sizes. */
struct values {
    struct value *at;
    uint64_t n, capacity;
    bool is_binned;
};

/* Values that a distribution is drawn of, if it has more than these. */
#define MOST_BINNED 20000

/* A traffic entry, numbered as it first appears. */
struct entry {
    char *name;
    uint64_t n, n_finished;
};

struct entries {
    struct key_table keys;
    struct entry *at;
    uint32_t capacity;
};

static void add_values(struct values *values, double value, uint64_t n, uint32_t entry,
                       uint32_t bucket)
{
    if (values->n == values->capacity) {
        values->capacity = values->capacity ? 2 * values->capacity : 1024;
        values->at = realloc(values->at, values->capacity * sizeof *values->at);
        XOFF_ASSERT(values->at);
    }
    values->at[values->n++] = (struct value){value, n, entry, bucket};
}

static void add_value(struct values *values, double value, uint32_t entry, uint32_t bucket)
{
    add_values(values, value, 1, entry, bucket);
}

static uint32_t entry_of(struct entries *entries, const char *name)
{
    const uint32_t entry = key_put_text(&entries->keys, name, strlen(name));
    if (entry == entries->capacity) {
        entries->capacity = entry ? 2 * entry : 16;
        entries->at = realloc(entries->at, entries->capacity * sizeof *entries->at);
        XOFF_ASSERT(entries->at);
        memset(entries->at + entry, 0, (entries->capacity - entry) * sizeof *entries->at);
    }
    if (!entries->at[entry].name) {
        entries->at[entry].name = strdup(name);
        XOFF_ASSERT(entries->at[entry].name);
    }
    return entry;
}

static void entries_fini(struct entries *entries)
{
    for (uint32_t i = 0; i < entries->keys.n; i++)
        free(entries->at[i].name);
    free(entries->at);
    key_table_fini(&entries->keys);
}

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool is_of(const struct values *values, uint64_t i, uint32_t entry, uint32_t bucket)
{
    const struct value *v = &values->at[i];
    if (values->is_binned)
        return v->entry == entry && v->bucket == bucket;
    return (entry == NONE || v->entry == entry) && (bucket == NONE || v->bucket == bucket);
}

/* Returns how many values there are of one entry (or bucket); NONE: of any. */
static uint64_t count(const struct values *values, uint32_t entry, uint32_t bucket)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < values->n; i++)
        n += is_of(values, i, entry, bucket) ? values->at[i].n : 0;
    return n;
}

/* Copies these values, ascending, to `to`. Returns how many. Of many binned ones it copies those of
 * MOST_BINNED ranks at equal distances, the largest among them. */
static uint64_t pick(const struct values *sorted, uint32_t entry, uint32_t bucket, double *to)
{
    const uint64_t all = count(sorted, entry, bucket);
    const uint64_t most = sorted->is_binned && all > MOST_BINNED ? MOST_BINNED : all;
    uint64_t n = 0, passed = 0;
    for (uint64_t i = 0; i < sorted->n; i++) {
        if (!is_of(sorted, i, entry, bucket))
            continue;
        passed += sorted->at[i].n;
        while (n < most && (uint64_t)((unsigned __int128)(n + 1) * all / most) <= passed)
            to[n++] = sorted->at[i].value;
    }
    return n;
}

static json_t *curve(const struct run_data *run, const struct values *sorted, uint32_t entry,
                     double *space)
{
    return json_cdf(space, pick(sorted, entry, NONE, space), run->limits->cdf);
}

static double rank(const double *sorted, uint64_t n, uint64_t percent)
{
    const uint64_t r = (n * percent + 99) / 100;
    return sorted[r ? r - 1 : 0];
}

static json_t *bucket_json(const struct values *sorted, uint32_t bucket, double *space)
{
    const uint64_t n = pick(sorted, NONE, bucket, space);
    const bool is_open = buckets[bucket].to_bytes == INT64_MAX;
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += space[i];
    json_t *o = json_pack("{ss sI so sI}", "label", buckets[bucket].label, "from_bytes",
                          (json_int_t)buckets[bucket].above_bytes, "to_bytes",
                          is_open ? json_null() : json_integer(buckets[bucket].to_bytes), "n",
                          (json_int_t)count(sorted, NONE, bucket));
    static const struct {
        const char *name;
        uint64_t percent;
    } stats[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}, {"max", 100}};
    json_object_set_new(o, "mean", n ? json_rounded(sum / (double)n, 9) : json_null());
    for (uint32_t i = 0; i < sizeof stats / sizeof *stats; i++)
        json_object_set_new(o, stats[i].name,
                            n ? json_rounded(rank(space, n, stats[i].percent), 9) : json_null());
    return o;
}

static int compare_entries(const void *a, const void *b, void *context)
{
    const struct entry *entries = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (entries[x].n != entries[y].n)
        return entries[x].n > entries[y].n ? -1 : 1;
    return (x > y) - (x < y);
}

/* Chooses the entries with the most flows; the caller frees the list. */
static uint32_t *choose_entries(const struct run_data *run, const struct entries *entries,
                                uint32_t *n)
{
    uint32_t *order = calloc(entries->keys.n + 1, sizeof *order);
    XOFF_ASSERT(order);
    for (uint32_t i = 0; i < entries->keys.n; i++)
        order[i] = i;
    qsort_r(order, entries->keys.n, sizeof *order, compare_entries, entries->at);
    *n = entries->keys.n < run->limits->entries ? entries->keys.n : run->limits->entries;
    return order;
}

/* A key must be text that JSON accepts. */
static void set_by_name(json_t *object, const char *name, json_t *value)
{
    json_t *key = json_words(*name ? name : "(none)", 200);
    json_object_set_new(object, json_string_value(key), value);
    json_decref(key);
}

static uint32_t bucket_of(int64_t bytes)
{
    uint32_t bucket = 0;
    while (bytes > buckets[bucket].to_bytes)
        bucket++;
    return bucket;
}

static int64_t within(int64_t at, int64_t end)
{
    return at < 0 ? 0 : at > end ? end : at;
}

static void consider(const struct run_data *run, struct rows *rows, struct run_victims *victims)
{
    struct run_victim flow = {
        .id = rows_int(rows, 0),
        .from = rows_index(rows, 6),
        .to = rows_index(rows, 7),
        .priority = rows_index(rows, 8),
        .bytes = rows_is_null(rows, 2) ? -1 : rows_int(rows, 2),
        .start_ps = within(rows_int(rows, 3), run->end_ps),
        .end_ps = rows_is_null(rows, 4) ? run->end_ps : within(rows_int(rows, 4), run->end_ps),
        .slowdown = rows_is_null(rows, 5) ? (double)NAN : rows_real(rows, 5)};
    if (!run_victims_concern(victims, flow.from, flow.priority))
        return;
    const char *traffic = rows_text(rows, 1);
    memcpy(flow.traffic, traffic, strnlen(traffic, sizeof flow.traffic - 1));
    run_victims_consider(victims, &flow);
}

static void read_flows(struct run_data *run, struct run_victims *victims, struct entries *entries,
                       struct values *fct, struct values *slowdown)
{
    struct rows *rows = &run->rows;
    rows_begin(rows,
               "SELECT id, traffic, offered_bytes, start_at_ps, finish_at_ps, slowdown, "
               "from_node_id, to_node_id, priority FROM flow WHERE +run_id = ?",
               run->run_id);
    while (rows_next(rows)) {
        const uint32_t entry = entry_of(entries, rows_text(rows, 1));
        const uint32_t bucket =
            rows_is_null(rows, 2) ? N_BUCKETS - 1 : bucket_of(rows_int(rows, 2));
        int64_t for_ps;
        entries->at[entry].n++;
        if (!rows_is_null(rows, 4) &&
            !__builtin_sub_overflow(rows_int(rows, 4), rows_int(rows, 3), &for_ps)) {
            entries->at[entry].n_finished++;
            add_value(fct, (double)for_ps / (double)XOFF_S, entry, bucket);
        }
        if (!rows_is_null(rows, 5))
            add_value(slowdown, rows_real(rows, 5), entry, bucket);
        consider(run, rows, victims);
    }
    if (fct->n)
        qsort(fct->at, fct->n, sizeof *fct->at, compare_values);
    if (slowdown->n)
        qsort(slowdown->at, slowdown->n, sizeof *slowdown->at, compare_values);
}

/* Reads the number of flows that were summarised. Files written before have none. */
static uint64_t read_summarised(struct run_data *run)
{
    struct rows *rows = &run->rows;
    double n = 0;
    rows_begin(rows, "SELECT value FROM metric WHERE run_id = ? AND name = 'flows.summarised'",
               run->run_id);
    while (rows_next(rows))
        n = rows_real(rows, 0);
    return n > 0 && n < 1e18 ? (uint64_t)n : 0;
}

static uint32_t bucket_named(const char *name)
{
    static const char *const names[N_BUCKETS] = {"le10KB", "le100KB", "le1MB", "le10MB", "gt10MB"};
    for (uint32_t i = 0; i < N_BUCKETS; i++)
        if (!strcmp(name, names[i]))
            return i;
    return NONE;
}

/* Reads bins in place of flows that have finished; those in the table are only some of them. */
static void read_bins(struct run_data *run, struct entries *entries, struct values *fct,
                      struct values *slowdown)
{
    struct rows *rows = &run->rows;
    fct->n = slowdown->n = 0;
    fct->is_binned = slowdown->is_binned = true;
    for (uint32_t i = 0; i < entries->keys.n; i++) {
        entries->at[i].n -= entries->at[i].n_finished;
        entries->at[i].n_finished = 0;
    }
    rows_begin(rows,
               "SELECT quantity, traffic, size, low, high, flows FROM flow_bin WHERE run_id = ? "
               "AND quantity IN ('fct', 'slowdown') ORDER BY low",
               run->run_id);
    while (rows_next(rows)) {
        const bool is_fct = !strcmp(rows_text(rows, 0), "fct");
        const char *traffic = rows_text(rows, 1);
        const uint32_t entry = *traffic ? entry_of(entries, traffic) : NONE;
        const uint32_t bucket = bucket_named(rows_text(rows, 2));
        const int64_t n = rows_int(rows, 5);
        if (n <= 0)
            continue;
        add_values(is_fct ? fct : slowdown, (rows_real(rows, 3) + rows_real(rows, 4)) / 2,
                   (uint64_t)n, entry, bucket);
        if (is_fct && entry != NONE && bucket == NONE) {
            entries->at[entry].n += (uint64_t)n;
            entries->at[entry].n_finished += (uint64_t)n;
        }
    }
}

json_t *run_flows(struct run_data *run, struct run_victims *victims)
{
    struct entries entries = {0};
    struct values fct = {0}, slowdown = {0};
    const uint64_t n_summarised = read_summarised(run);
    read_flows(run, victims, &entries, &fct, &slowdown);
    if (n_summarised)
        read_bins(run, &entries, &fct, &slowdown);
    double *space = malloc((fct.n + slowdown.n + MOST_BINNED) * sizeof *space);
    XOFF_ASSERT(space);

    json_t *by_entry = json_object(), *by_size = json_array();
    uint64_t n = 0, n_finished = 0;
    uint32_t n_shown, *order = choose_entries(run, &entries, &n_shown);
    for (uint32_t i = 0; i < entries.keys.n; i++) {
        n += entries.at[i].n;
        n_finished += entries.at[i].n_finished;
    }
    for (uint32_t i = 0; i < n_shown; i++)
        set_by_name(by_entry, entries.at[order[i]].name,
                    json_pack("{sI sI so so}", "n", (json_int_t)entries.at[order[i]].n, "finished",
                              (json_int_t)entries.at[order[i]].n_finished, "fct",
                              curve(run, &fct, order[i], space), "slowdown",
                              curve(run, &slowdown, order[i], space)));
    for (uint32_t i = 0; i < N_BUCKETS; i++)
        json_array_append_new(by_size, bucket_json(&slowdown, i, space));
    json_t *object = json_pack("{sI sI sI s{so so} so so sI}", "n", (json_int_t)n, "finished",
                               (json_int_t)n_finished, "summarised", (json_int_t)n_summarised,
                               "cdf", "fct", curve(run, &fct, NONE, space), "slowdown",
                               curve(run, &slowdown, NONE, space), "by_entry", by_entry, "buckets",
                               by_size, "entries_left_out", (json_int_t)(entries.keys.n - n_shown));
    free(order);
    free(space);
    free(fct.at);
    free(slowdown.at);
    entries_fini(&entries);
    return object;
}

json_t *run_operations(struct run_data *run)
{
    struct rows *rows = &run->rows;
    struct entries entries = {0};
    struct values durations = {0};
    rows_begin(rows, "SELECT traffic, duration_ps FROM operations WHERE +run_id = ?", run->run_id);
    while (rows_next(rows)) {
        const uint32_t entry = entry_of(&entries, rows_text(rows, 0));
        entries.at[entry].n++;
        if (!rows_is_null(rows, 1))
            add_value(&durations, (double)rows_int(rows, 1) / (double)XOFF_S, entry, 0);
    }
    if (durations.n)
        qsort(durations.at, durations.n, sizeof *durations.at, compare_values);
    double *space = malloc((durations.n + 1) * sizeof *space);
    json_t *by_entry = json_object();
    uint32_t n_shown, *order = choose_entries(run, &entries, &n_shown);
    const uint32_t n_left_out = entries.keys.n - n_shown;
    uint64_t n = 0;
    XOFF_ASSERT(space && by_entry);
    for (uint32_t i = 0; i < entries.keys.n; i++)
        n += entries.at[i].n;
    for (uint32_t i = 0; i < n_shown; i++)
        set_by_name(by_entry, entries.at[order[i]].name,
                    json_pack("{sI so}", "n", (json_int_t)entries.at[order[i]].n, "duration",
                              curve(run, &durations, order[i], space)));
    free(order);
    free(space);
    free(durations.at);
    entries_fini(&entries);
    return json_pack("{sI so sI}", "n", (json_int_t)n, "by_entry", by_entry, "entries_left_out",
                     (json_int_t)n_left_out);
}
