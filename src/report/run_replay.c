/* What the replay shows of queues, ports and buffers: see run_data.h.
 *
 * The time that charts show is cut into equal bins, as many as the limits allow for all series
 * together, none shorter than a sampling interval. Bins without a sample repeat the last one before
 * them: samples that equal the one before may be missing from the file.
 */
#include <stdlib.h>

#include "report/run_parts.h"

#define MOST_BINS 600
#define LEAST_BINS 20

struct replay_row {
    uint32_t kind, node, port;
    uint32_t bin, n; /* the bin being filled, and samples in it */
    double last;
    double *values; /* per bin */
};

struct run_replay {
    const struct run_data *run;
    struct key_table keys;
    struct replay_row *rows;
    uint32_t n_series, n_bins;
    int64_t first_ps, every_ps;
    double width_ps;
};

struct run_replay *run_replay_create(const struct run_data *run, uint32_t n_series,
                                     int64_t first_ps, int64_t last_ps, int64_t every_ps)
{
    struct run_replay *r = calloc(1, sizeof *r);
    XOFF_ASSERT(r);
    const int64_t n_samples = (last_ps - first_ps) / every_ps + 1;
    uint32_t n_bins = n_series ? run->limits->replay / n_series : 1;
    n_bins = n_bins < LEAST_BINS ? LEAST_BINS : n_bins > MOST_BINS ? MOST_BINS : n_bins;
    *r = (struct run_replay){.run = run,
                             .rows = calloc(n_series + 1, sizeof *r->rows),
                             .n_series = n_series,
                             .n_bins = n_samples < n_bins ? (uint32_t)n_samples : n_bins,
                             .first_ps = first_ps,
                             .every_ps = every_ps};
    XOFF_ASSERT(r->rows);
    r->width_ps = (double)n_samples * (double)every_ps / r->n_bins;
    return r;
}

/* Fills the bins up to `bin` with the value that held. */
static void hold(struct replay_row *row, uint32_t bin)
{
    if (row->n && row->kind == REPLAY_LOAD)
        row->values[row->bin] /= row->n;
    while (row->bin < bin)
        row->values[++row->bin] = row->last;
    row->n = 0;
}

void run_replay_add(struct run_replay *r, enum run_replay_kind kind, uint32_t node, uint32_t port,
                    uint32_t priority, int64_t at_ps, double value)
{
    const uint32_t n = r->keys.n;
    const uint32_t index =
        key_put(&r->keys, (uint64_t)kind << 32 | node, (uint64_t)port << 32 | priority);
    XOFF_ASSERT(index < r->n_series);
    struct replay_row *row = &r->rows[index];
    if (r->keys.n > n) {
        *row = (struct replay_row){.kind = kind, .node = node, .port = port};
        row->values = calloc(r->n_bins, sizeof *row->values);
        XOFF_ASSERT(row->values);
    }
    /* A load is that of the interval before the sample. */
    const int64_t since_ps = at_ps - r->first_ps - (kind == REPLAY_LOAD ? r->every_ps / 2 : 0);
    uint32_t bin = since_ps > 0 ? (uint32_t)((double)since_ps / r->width_ps) : 0;
    bin = bin < r->n_bins ? bin : r->n_bins - 1;
    if (bin > row->bin)
        hold(row, bin);
    if (since_ps < 0)
        row->values[0] = value; /* what held when the time that is shown began */
    else if (kind == REPLAY_LOAD)
        row->values[bin] = row->n++ ? row->values[bin] + value : value;
    else if (value > row->values[bin])
        row->values[bin] = value;
    row->last = value;
}

/* Joins the priorities of a port: its fullest queue counts. The row keeps its place. */
static void join_priorities(struct run_replay *r)
{
    struct key_table places = {0};
    uint32_t *first = calloc(r->keys.n + 1, sizeof *first);
    XOFF_ASSERT(first);
    for (uint32_t i = 0; i < r->keys.n; i++) {
        struct replay_row *row = &r->rows[i];
        hold(row, r->n_bins - 1);
        const uint32_t n = places.n;
        const uint32_t place = key_put(&places, row->kind, (uint64_t)row->node << 32 | row->port);
        if (places.n > n) {
            first[place] = i;
            continue;
        }
        double *joined = r->rows[first[place]].values;
        for (uint32_t b = 0; b < r->n_bins; b++)
            joined[b] = row->values[b] > joined[b] ? row->values[b] : joined[b];
        free(row->values);
        row->values = NULL;
    }
    free(first);
    key_table_fini(&places);
}

static double largest(const struct run_replay *r, const struct replay_row *row)
{
    double most = 0;
    for (uint32_t b = 0; b < r->n_bins; b++)
        most = row->values[b] > most ? row->values[b] : most;
    return most;
}

/* What a full row would hold: the longest of all queues, the rate of the port, the buffer. */
static double full(const struct run_replay *r, const struct replay_row *row, double longest)
{
    if (row->kind == REPLAY_QUEUE)
        return longest;
    if (row->kind == REPLAY_BUFFER)
        return row->node < r->run->n_nodes ? (double)r->run->nodes[row->node].buffer_bytes : 0;
    const uint32_t port = run_find_port(r->run, row->node, row->port);
    return port == NONE ? 0 : r->run->ports[port].rate_bps;
}

json_t *run_replay_finish(struct run_replay *r)
{
    json_t *lists[REPLAY_N_KINDS] = {json_array(), json_array(), json_array()};
    double longest = 0;
    join_priorities(r);
    for (uint32_t i = 0; i < r->keys.n; i++)
        if (r->rows[i].values && r->rows[i].kind == REPLAY_QUEUE &&
            largest(r, &r->rows[i]) > longest)
            longest = largest(r, &r->rows[i]);
    for (uint32_t i = 0; i < r->keys.n; i++) {
        const struct replay_row *row = &r->rows[i];
        if (!row->values)
            continue;
        const double whole = full(r, row, longest);
        if (whole > 0 && largest(r, row) > 0) {
            for (uint32_t b = 0; b < r->n_bins; b++)
                row->values[b] /= whole;
            json_array_append_new(
                lists[row->kind],
                json_pack("{so so so}", "node", json_words(run_node_name(r->run, row->node), 0),
                          "port", row->port == NONE ? json_null() : json_integer(row->port), "bins",
                          json_levels(row->values, r->n_bins)));
        }
        free(row->values);
    }
    json_t *o = json_pack("{so so sI so so so so}", "t0_s", json_seconds(r->first_ps), "dt_s",
                          json_number(r->width_ps / (double)XOFF_S), "bins", (json_int_t)r->n_bins,
                          "longest_queue", json_number(longest), "queues", lists[REPLAY_QUEUE],
                          "loads", lists[REPLAY_LOAD], "buffers", lists[REPLAY_BUFFER]);
    key_table_fini(&r->keys);
    free(r->rows);
    free(r);
    return o;
}
