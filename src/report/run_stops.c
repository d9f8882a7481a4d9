/* When each (port, priority) held its peer paused, for bars over time and for the replay; and in
 * which order the gates of a deadlock closed.
 *
 * A row with few stops has each of them, to the nanosecond. A row with more has the paused fraction
 * of equal intervals.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/run_parts.h"

#define TICK_PS 1000 /* unit of the times of single stops */

static int compare_lines(const void *a, const void *b, void *context)
{
    const struct run_line *lines = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (lines[x].paused_ps != lines[y].paused_ps)
        return lines[x].paused_ps > lines[y].paused_ps ? -1 : 1;
    return (x > y) - (x < y);
}

static json_t *row_json(const struct run_data *run, const struct run_line *line)
{
    const struct run_port *port = &run->ports[line->port];
    char name[RUN_LABEL];
    const int n = snprintf(name, sizeof name, "%s pauses %s", run_node_name(run, port->node),
                           run_node_name(run, port->peer_node));
    const bool has_priority = line->priority < ALL_PRIORITIES;
    if (has_priority)
        snprintf(name + n, sizeof name - (size_t)n, " p%u", line->priority);
    return json_pack("{so so sI so so so}", "name", json_words(name, 0), "node",
                     json_words(run_node_name(run, port->node), 0), "port",
                     (json_int_t)port->number, "peer",
                     json_words(run_node_name(run, port->peer_node), 0), "priority",
                     has_priority ? json_integer(line->priority) : json_null(), "paused_s",
                     json_seconds(line->paused_ps));
}

/* Adds the stop's share to each bin it overlaps; its times count from the first one. */
static void add_to_bins(double from_ps, double to_ps, double dt_ps, uint32_t n, double *bins)
{
    for (uint32_t bin = (uint32_t)(from_ps / dt_ps); bin < n; bin++) {
        const double begin = bin * dt_ps, end = begin + dt_ps;
        const double from = from_ps > begin ? from_ps : begin;
        const double to = to_ps < end ? to_ps : end;
        if (to <= from)
            return;
        bins[bin] += (to - from) / dt_ps;
    }
}

/* A row being made: its stops as [gap since the last one, duration], or its bins. */
struct stops_row {
    json_t *spans;
    double *bins;
    int64_t end_ticks; /* of the last stop */
};

static void add_stop(const struct run_data *run, const struct run_stop *stop, uint32_t n_bins,
                     struct stops_row *row)
{
    const int64_t from_ps = stop->from_ps > run->from_ps ? stop->from_ps : run->from_ps;
    const int64_t to_ps = stop->to_ps < run->to_ps ? stop->to_ps : run->to_ps;
    if (to_ps <= from_ps)
        return;
    if (row->bins) {
        add_to_bins((double)(from_ps - run->from_ps), (double)(to_ps - run->from_ps),
                    (double)(run->to_ps - run->from_ps) / n_bins, n_bins, row->bins);
        return;
    }
    const int64_t from = (from_ps - run->from_ps) / TICK_PS, to = (to_ps - run->from_ps) / TICK_PS;
    json_array_append_new(row->spans, json_integer(from - row->end_ticks));
    json_array_append_new(row->spans, json_integer(to - from));
    row->end_ticks = to;
}

json_t *run_stops(struct run_data *run)
{
    const struct report_limits *limits = run->limits;
    const uint32_t n_rows = run->n_lines < limits->stop_rows ? run->n_lines : limits->stop_rows;
    const uint32_t most = n_rows ? limits->stops / n_rows : 0, n_bins = most < 20 ? 20 : most;
    uint32_t *order = calloc(run->n_lines + 1, sizeof *order);
    uint32_t *row_of = calloc(run->n_lines + 1, sizeof *row_of);
    uint32_t *n_stops = calloc(run->n_lines + 1, sizeof *n_stops);
    struct stops_row *made = calloc(n_rows + 1, sizeof *made);
    json_t *rows = json_array();
    XOFF_ASSERT(order && row_of && n_stops && made && rows);
    for (uint32_t i = 0; i < run->n_stops; i++)
        n_stops[run->stops[i].line]++;
    for (uint32_t i = 0; i < run->n_lines; i++)
        order[i] = i;
    qsort_r(order, run->n_lines, sizeof *order, compare_lines, run->lines);
    for (uint32_t i = 0; i < run->n_lines; i++) {
        row_of[order[i]] = i < n_rows ? i : NONE;
        if (i >= n_rows)
            continue;
        if (n_stops[order[i]] <= n_bins)
            made[i].spans = json_array();
        else
            made[i].bins = calloc(n_bins, sizeof *made[i].bins);
        XOFF_ASSERT(made[i].spans || made[i].bins);
    }
    for (uint32_t i = 0; i < run->n_stops; i++)
        if (row_of[run->stops[i].line] != NONE)
            add_stop(run, &run->stops[i], n_bins, &made[row_of[run->stops[i].line]]);
    for (uint32_t i = 0; i < n_rows; i++) {
        json_t *row = row_json(run, &run->lines[order[i]]);
        if (made[i].spans)
            json_object_set_new(row, "spans", made[i].spans);
        else
            json_object_set_new(row, "bins", json_levels(made[i].bins, n_bins));
        json_array_append_new(rows, row);
        free(made[i].bins);
    }
    free(made);
    free(n_stops);
    free(row_of);
    free(order);
    return json_pack("{so so sI so sI}", "t0_s", json_seconds(run->from_ps), "tick_s",
                     json_seconds(TICK_PS), "bins", (json_int_t)n_bins, "rows", rows,
                     "rows_left_out", (json_int_t)(run->n_lines - n_rows));
}

/* ---- deadlocks ---- */

#define MOST_PORTS 64 /* of a cycle */

struct cycle {
    int64_t found_ps;
    json_t *ports; /* NULL: not shown */
    uint32_t n;
    struct {
        uint32_t port, priority; /* index of run_port, or NONE */
    } at[MOST_PORTS];
};

/* A port of the cycle is closed by its peer: by the pause that still lasts when the deadlock is
 * found. */
static void note_closings(const struct run_data *run, const struct cycle *cycle)
{
    for (uint32_t i = 0; i < run->n_stops && cycle->ports; i++) {
        const struct run_stop *stop = &run->stops[i];
        if (stop->from_ps > cycle->found_ps || stop->to_ps < cycle->found_ps)
            continue;
        const struct run_line *line = &run->lines[stop->line];
        for (uint32_t k = 0; k < cycle->n; k++)
            if (cycle->at[k].port != NONE && cycle->at[k].port == run->ports[line->port].peer &&
                (line->priority == ALL_PRIORITIES || line->priority == cycle->at[k].priority))
                json_object_set_new(json_array_get(cycle->ports, k), "closed_s",
                                    json_seconds(stop->from_ps));
    }
}

static void add_port(struct run_data *run, struct cycle *cycle)
{
    struct rows *rows = &run->rows;
    char label[RUN_LABEL];
    const uint32_t node = rows_index(rows, 2), number = rows_index(rows, 3);
    const uint32_t priority = rows_index(rows, 4), port = run_find_port(run, node, number);
    cycle->at[cycle->n].port = port;
    cycle->at[cycle->n++].priority = priority;
    json_array_append_new(
        cycle->ports,
        json_pack(
            "{so so sI so so sn}", "name",
            json_words(run_label(run, node, number, priority, label), 0), "node",
            json_words(run_node_name(run, node), 0), "port", (json_int_t)number, "peer",
            json_words(run_node_name(run, port == NONE ? NONE : run->ports[port].peer_node), 0),
            "priority", json_integer(priority), "closed_s"));
}

json_t *run_deadlocks(struct run_data *run)
{
    struct rows *rows = &run->rows;
    struct cycle cycle = {0};
    json_t *list = json_array();
    int64_t last = -1;
    rows_begin(
        rows,
        "SELECT d.id, d.onset_at_ps, p.node_id, p.port, p.priority, d.found_at_ps FROM deadlock d "
        "LEFT JOIN deadlock_port p ON p.run_id = d.run_id AND p.deadlock_id = d.id "
        "WHERE d.run_id = ? ORDER BY d.id, p.position",
        run->run_id);
    while (rows_next(rows)) {
        if (rows_int(rows, 0) != last) {
            note_closings(run, &cycle);
            last = rows_int(rows, 0);
            cycle = (struct cycle){.found_ps = rows_int(rows, 5)};
            if (json_array_size(list) < run->limits->deadlocks) {
                cycle.ports = json_array();
                json_array_append_new(
                    list, json_pack("{so so so}", "onset_s", rows_json_seconds(rows, 1), "found_s",
                                    rows_json_seconds(rows, 5), "ports", cycle.ports));
            }
        }
        if (cycle.ports && !rows_is_null(rows, 2) && cycle.n < MOST_PORTS)
            add_port(run, &cycle);
    }
    note_closings(run, &cycle);
    return list;
}
