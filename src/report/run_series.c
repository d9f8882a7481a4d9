/* Series of a run over time, reduced so that no spike disappears.
 *
 * The samples are read twice in the order of the file. The first pass finds the largest value of
 * every series; of each metric the series with the highest are shown. Pools of a buffer are shown
 * together or not at all: a switch ranks by the sum of the largest values of its pools. In the
 * second pass the samples of these series fall into buckets of equal width. Each bucket becomes one
 * point with the least, the largest and the mean value in it; where there is room for all samples,
 * a bucket is one sampling interval.
 *
 * A sample equal to the one before it in its series may be missing from the file. It still counts:
 * in the mean and the extremes of its bucket, and, where whole buckets are missing, as a point
 * before the next change, so that no line slopes where the value was constant.
 */
#include <stdlib.h>
#include <string.h>

#include "report/run_parts.h"

/* Pools of a buffer come last, from POOL on, in the order of RUN_RESERVED and so on. */
enum { QUEUE, THROUGHPUT, PAUSE, BUFFER, INPUT, POOL, N_METRICS = POOL + RUN_N_POOLS };
static const struct {
    const char *column, *name, *unit; /* column in the database; name and unit on the page */
} metrics[N_METRICS] = {[QUEUE] = {"queue_bytes", "queue", "B"},
                        [THROUGHPUT] = {"tx_bps", "throughput", "bps"},
                        [PAUSE] = {"paused_fraction", "pause", "ratio"},
                        [BUFFER] = {"buffer_bytes", "buffer", "B"},
                        [INPUT] = {"input_bytes", "input", "B"},
                        [POOL + RUN_RESERVED] = {"reserved_bytes", "reserved", "B"},
                        [POOL + RUN_SHARED] = {"shared_bytes", "shared", "B"},
                        [POOL + RUN_HEADROOM] = {"headroom_bytes", "headroom", "B"},
                        [POOL + RUN_INSURANCE] = {"insurance_bytes", "insurance", "B"}};

struct series {
    uint32_t metric, node, port, priority; /* port NONE: the node; priority NONE: all */
    double largest;
    double weight; /* rank: the largest value, or that of all pools of its node */
    int64_t last_ps;
    double last;
    bool has_held; /* the value before the time that is shown, not yet drawn */
    double held;
    json_t *points; /* NULL: not shown */
    /* The bucket being filled. */
    int64_t bucket; /* -1: none */
    double least, most, sum, n;
};

struct series_set {
    struct series *at;
    struct key_table keys;
    uint32_t capacity;
    int64_t first_ps, last_ps, every_ps; /* first and last sample shown; the sampling interval */
    int64_t width_ps;                    /* width of a bucket */
};

struct sample {
    uint32_t metric, node, port, priority;
    int64_t at_ps;
    double value;
};

static void begin_samples(struct run_data *run)
{
    rows_begin(&run->rows,
               "SELECT metric, node_id, port, priority, at_ps, value FROM sample WHERE +run_id = ?",
               run->run_id);
}

static bool next_sample(struct rows *rows, struct sample *sample)
{
    while (rows_next(rows)) {
        const char *text = rows_text(rows, 0);
        uint32_t metric = 0;
        while (metric < N_METRICS && strcmp(text, metrics[metric].column))
            metric++;
        *sample = (struct sample){.metric = metric,
                                  .node = rows_index(rows, 1),
                                  .port = rows_index(rows, 2),
                                  .priority = rows_index(rows, 3),
                                  .at_ps = rows_int(rows, 4),
                                  .value = rows_real(rows, 5)};
        if (metric < N_METRICS && sample->at_ps >= 0 && sample->at_ps < XOFF_NEVER / 2)
            return true;
    }
    return false;
}

static uint32_t number_of(struct series_set *set, const struct sample *s)
{
    const uint32_t number = key_put(&set->keys, (uint64_t)s->metric << 32 | s->node,
                                    (uint64_t)s->port << 32 | s->priority);
    if (number == set->capacity) {
        set->capacity = number ? 2 * number : 256;
        set->at = realloc(set->at, set->capacity * sizeof *set->at);
        XOFF_ASSERT(set->at);
    }
    return number;
}

/* First pass: finds extremes and the sampling interval. */
static void find_series(struct run_data *run, struct series_set *set)
{
    struct sample s;
    set->first_ps = set->every_ps = INT64_MAX;
    begin_samples(run);
    while (next_sample(&run->rows, &s)) {
        const uint32_t n_before = set->keys.n, number = number_of(set, &s);
        struct series *series = &set->at[number];
        if (set->keys.n > n_before)
            *series = (struct series){.metric = s.metric,
                                      .node = s.node,
                                      .port = s.port,
                                      .priority = s.priority,
                                      .largest = s.value,
                                      .bucket = -1};
        else if (s.at_ps > series->last_ps && s.at_ps - series->last_ps < set->every_ps)
            set->every_ps = s.at_ps - series->last_ps;
        series->last_ps = s.at_ps;
        if (s.value > series->largest)
            series->largest = s.value;
        if (s.at_ps < set->first_ps)
            set->first_ps = s.at_ps;
        if (s.at_ps > set->last_ps)
            set->last_ps = s.at_ps;
    }
}

/* Widens the time that is shown to the samples next to it, so that traffic shorter than a sampling
 * interval is seen at all; but not by more than the traffic took. */
static void choose_times(struct run_data *run, struct series_set *set)
{
    const int64_t every_ps = set->every_ps, most_ps = run->traffic_to_ps - run->traffic_from_ps;
    if (every_ps < INT64_MAX / 4) {
        const int64_t before_ps = run->from_ps / every_ps * every_ps;
        const int64_t after_ps = (run->to_ps + every_ps - 1) / every_ps * every_ps;
        if (run->from_ps - before_ps <= most_ps)
            run->from_ps = before_ps;
        if (after_ps - run->to_ps <= most_ps)
            run->to_ps = after_ps < run->end_ps ? after_ps : run->end_ps;
    }
    if (set->first_ps < run->from_ps)
        set->first_ps = run->from_ps;
    if (set->last_ps > run->to_ps)
        set->last_ps = run->to_ps;
}

static void weigh(const struct run_data *run, struct series_set *set)
{
    double *of_node = calloc(run->n_nodes + 1, sizeof *of_node);
    XOFF_ASSERT(of_node);
    for (uint32_t i = 0; i < set->keys.n; i++) {
        struct series *s = &set->at[i];
        s->weight = s->largest;
        if (s->metric >= POOL && s->node < run->n_nodes)
            of_node[s->node] += s->largest;
    }
    for (uint32_t i = 0; i < set->keys.n; i++) {
        struct series *s = &set->at[i];
        if (s->metric >= POOL && s->node < run->n_nodes)
            s->weight = of_node[s->node];
    }
    free(of_node);
}

static int compare_series(const void *a, const void *b, void *context)
{
    const struct series *all = context;
    const struct series *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->priority > y->priority) - (x->priority < y->priority);
}

/* Chooses the highest series of every metric, in order. A series without a value above zero is
 * chosen only when it is the best there is. Returns how many; the rest of `order` is not shown. */
static uint32_t choose(const struct run_data *run, const struct series_set *set, uint32_t *order)
{
    uint32_t n = 0, n_of_metric = 0;
    for (uint32_t i = 0; i < set->keys.n; i++)
        order[i] = i;
    qsort_r(order, set->keys.n, sizeof *order, compare_series, set->at);
    for (uint32_t i = 0; i < set->keys.n; i++) {
        const struct series *s = &set->at[order[i]];
        if (i && s->metric != set->at[order[i - 1]].metric)
            n_of_metric = 0;
        if (n_of_metric++ < run->limits->series && (s->weight > 0 || n_of_metric == 1))
            order[n++] = order[i];
    }
    return n;
}

static void put_point(struct series *s, int64_t at_ps, double least, double most, double mean)
{
    json_array_append_new(s->points, json_pack("[oooo]", json_seconds(at_ps), json_number(least),
                                               json_number(most), json_rounded(mean, 6)));
}

static void end_bucket(struct series *s)
{
    /* The mean of equal values is that value, to the last digit. */
    if (s->bucket >= 0)
        put_point(s, s->last_ps, s->least, s->most, s->least == s->most ? s->least : s->sum / s->n);
}

static void add_sample(const struct series_set *set, struct series *s, int64_t at_ps, double value)
{
    int64_t bucket = (at_ps - set->first_ps) / set->width_ps;
    double n_missing = 0;
    bucket = bucket > s->bucket ? bucket : s->bucket;
    if (s->bucket >= 0) {
        const int64_t start_ps = set->first_ps + bucket * set->width_ps - set->every_ps;
        const int64_t since_ps = s->last_ps > start_ps ? s->last_ps : start_ps;
        n_missing = (double)((at_ps - since_ps) / set->every_ps - 1);
    }
    if (bucket != s->bucket) {
        end_bucket(s);
        if (s->bucket >= 0 && bucket > s->bucket + 1)
            put_point(s, set->first_ps + bucket * set->width_ps - set->every_ps, s->last, s->last,
                      s->last);
        s->bucket = bucket;
        s->least = s->most = n_missing > 0 ? s->last : value;
        s->sum = s->n = 0;
    }
    if (n_missing > 0) {
        s->sum += n_missing * s->last;
        s->n += n_missing;
    }
    s->least = value < s->least ? value : s->least;
    s->most = value > s->most ? value : s->most;
    s->sum += value;
    s->n += 1;
    s->last = value;
    s->last_ps = at_ps;
}

/* Draws the value that held when the time that is shown began. */
static void add_held(const struct series_set *set, struct series *s)
{
    if (s->has_held)
        add_sample(set, s, set->first_ps, s->held);
    s->has_held = false;
}

static void replay_sample(struct run_replay *replay, const struct sample *s)
{
    static const enum run_replay_kind kinds[] = {
        [QUEUE] = REPLAY_QUEUE, [THROUGHPUT] = REPLAY_LOAD, [BUFFER] = REPLAY_BUFFER};
    if (s->metric == QUEUE || s->metric == THROUGHPUT || s->metric == BUFFER)
        run_replay_add(replay, kinds[s->metric], s->node, s->port, s->priority, s->at_ps, s->value);
}

/* Second pass: fills the buckets of the chosen series, and the replay. */
static void fill(struct run_data *run, struct series_set *set, struct run_replay *replay)
{
    struct sample s;
    begin_samples(run);
    while (next_sample(&run->rows, &s)) {
        if (s.at_ps <= set->last_ps)
            replay_sample(replay, &s);
        const uint32_t number = key_find(&set->keys, (uint64_t)s.metric << 32 | s.node,
                                         (uint64_t)s.port << 32 | s.priority);
        if (number == KEY_NONE || !set->at[number].points || s.at_ps > set->last_ps)
            continue;
        struct series *series = &set->at[number];
        if (s.at_ps < set->first_ps) {
            series->has_held = true;
            series->held = s.value;
            continue;
        }
        if (s.at_ps == set->first_ps)
            series->has_held = false;
        add_held(set, series);
        add_sample(set, series, s.at_ps, s.value);
    }
}

static json_t *series_json(const struct run_data *run, const struct series *s)
{
    char name[RUN_LABEL];
    run_label(run, s->node, s->port, s->priority == NONE ? ALL_PRIORITIES : s->priority, name);
    json_t *o = json_pack("{ss ss so so so so so}", "metric", metrics[s->metric].name, "unit",
                          metrics[s->metric].unit, "name", json_words(name, 0), "node",
                          json_words(run_node_name(run, s->node), 0), "port",
                          s->port == NONE ? json_null() : json_integer(s->port), "priority",
                          s->priority == NONE ? json_null() : json_integer(s->priority), "points",
                          s->points);
    if (s->metric >= POOL && s->node < run->n_nodes) {
        const struct run_node *node = &run->nodes[s->node];
        json_object_set_new(o, "capacity", json_integer(node->pool_bytes[s->metric - POOL]));
        json_object_set_new(o, "buffer", json_integer(node->buffer_bytes));
    }
    return o;
}

void run_series(struct run_data *run, json_t *object)
{
    struct series_set set = {0};
    json_t *list = json_array();
    find_series(run, &set);
    choose_times(run, &set);
    weigh(run, &set);
    uint32_t *order = calloc(set.keys.n + 1, sizeof *order);
    XOFF_ASSERT(order && list);
    const uint32_t n = choose(run, &set, order);
    if (n) {
        /* Held values may double the number of points, but there are seldom any. */
        uint32_t most = run->limits->points / n;
        most = most > run->limits->buckets ? run->limits->buckets : most < 8 ? 8 : most;
        if (set.every_ps == INT64_MAX) /* no series has two samples */
            set.every_ps = 1;
        /* A bucket is a whole number of intervals, so that all buckets have as many samples. */
        set.width_ps = ((set.last_ps - set.first_ps) / most / set.every_ps + 1) * set.every_ps;
        for (uint32_t i = 0; i < n; i++)
            set.at[order[i]].points = json_array();
        struct run_replay *replay =
            run_replay_create(run, set.keys.n, set.first_ps, set.last_ps, set.every_ps);
        fill(run, &set, replay);
        json_object_set_new(object, "replay", run_replay_finish(replay));
    }
    for (uint32_t i = 0; i < n; i++) {
        struct series *s = &set.at[order[i]];
        add_held(&set, s);
        end_bucket(s);
        if (s->bucket >= 0 && set.last_ps - s->last_ps > set.every_ps / 2)
            put_point(s, set.last_ps, s->last, s->last, s->last);
        json_array_append_new(list, series_json(run, s));
    }
    json_object_set_new(object, "series", list);
    json_object_set_new(object, "series_left_out", json_integer((json_int_t)(set.keys.n - n)));
    free(order);
    free(set.at);
    key_table_fini(&set.keys);
}
