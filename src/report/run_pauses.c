/* Pauses of a run: turns decisions into time spans, a heat map of them, and a tree of causes.
 *
 * A decision XOFF at (port, priority) stops the peer until the next XON there. A stop still open at
 * the end lasts to the end of the run, or, when the run made more decisions than it kept, to the
 * last one known of that node. Decisions for all eight priorities at once (802.3x PAUSE) have a
 * line of their own.
 *
 * A pause whose egress was itself paused names that earlier pause as its parent. The tree joins
 * pauses with the same deciding port, priorities and egress below the same parent. The nodes with
 * the longest pauses at and below them are shown: a node's sum never exceeds its parent's, so every
 * prefix of this order is a tree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_data.h"

static void *grown(void *array, uint32_t n, size_t size)
{
    /* The array doubles at every power of two. */
    if (n && (n & (n - 1)))
        return array;
    array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
    XOFF_ASSERT(array);
    return array;
}

/* State that is needed only while rows are read. */
struct reading {
    struct run_data *run;
    struct key_table line_keys, cause_keys;
    uint32_t *pause_of; /* by id: index of the pause; NONE: an XON */
    uint32_t n_ids;
    int64_t *last_at; /* per node */
    int64_t now;
};

/* "3" or "0,1,2": digits are priorities. */
static uint8_t mask_of(const char *text)
{
    uint8_t mask = 0;
    for (; *text; text++)
        if (*text >= '0' && *text <= '7')
            mask = (uint8_t)(mask | 1u << (*text - '0'));
    return mask;
}

static struct run_line *line_of(struct reading *r, uint32_t port, uint32_t priority)
{
    struct run_data *run = r->run;
    const uint32_t line = key_put(&r->line_keys, port, priority);
    if (line == run->n_lines) {
        run->lines = grown(run->lines, line, sizeof *run->lines);
        run->lines[run->n_lines++] =
            (struct run_line){.port = port, .priority = priority, .open = NONE};
    }
    return &run->lines[line];
}

static void end_stop(struct run_data *run, struct run_line *line, int64_t now)
{
    if (line->open == NONE)
        return;
    struct run_stop *stop = &run->stops[line->open];
    struct run_pause *pause = &run->pauses[stop->pause];
    stop->to_ps = now > stop->from_ps ? now : stop->from_ps;
    line->paused_ps += stop->to_ps - stop->from_ps;
    if (stop->to_ps > pause->to_ps)
        pause->to_ps = stop->to_ps;
    line->open = NONE;
}

static void begin_stop(struct run_data *run, struct run_line *line, uint32_t pause, int64_t now)
{
    if (line->open != NONE)
        return; /* already paused, by another threshold */
    run->stops = grown(run->stops, run->n_stops, sizeof *run->stops);
    line->open = run->n_stops;
    run->stops[run->n_stops++] = (struct run_stop){
        .pause = pause, .line = (uint32_t)(line - run->lines), .from_ps = now, .to_ps = now};
}

static void on_decision(struct reading *r, uint32_t port, uint8_t mask, uint32_t pause, int64_t now)
{
    if (mask == 0xff) {
        struct run_line *line = line_of(r, port, ALL_PRIORITIES);
        if (pause == NONE)
            end_stop(r->run, line, now);
        else
            begin_stop(r->run, line, pause, now);
        return;
    }
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(mask >> p & 1))
            continue;
        struct run_line *line = line_of(r, port, p);
        if (pause == NONE)
            end_stop(r->run, line, now);
        else
            begin_stop(r->run, line, pause, now);
    }
}

/* A root's cause is its egress; a host that pauses is itself the cause. */
static uint32_t cause_of(struct reading *r, const struct run_pause *pause)
{
    struct run_data *run = r->run;
    const uint32_t node = run->ports[pause->port].node;
    const bool is_host = run->nodes[node].is_host;
    const uint32_t cause = key_put(&r->cause_keys, is_host, is_host ? node : pause->egress);
    if (cause == run->n_causes) {
        run->causes = grown(run->causes, cause, sizeof *run->causes);
        run->causes[run->n_causes++] = (struct run_cause){.port = is_host ? NONE : pause->egress,
                                                          .host = is_host ? node : NONE};
    }
    return cause;
}

static void read_pause(struct reading *r)
{
    struct run_data *run = r->run;
    struct rows *rows = &run->rows;
    const uint32_t node = rows_index(rows, 2), id = r->n_ids;
    const uint32_t port = run_find_port(run, node, rows_index(rows, 3));
    const bool is_xoff = !strcmp(rows_text(rows, 5), "XOFF");
    int64_t now = rows_int(rows, 1);

    /* Rows are in order of time; the values of a damaged file must not make sums overflow. */
    now = now < run->end_ps ? now : run->end_ps;
    r->now = now = now > r->now ? now : r->now;
    r->pause_of = grown(r->pause_of, id, sizeof *r->pause_of);
    r->pause_of[r->n_ids++] = NONE;
    if (rows_int(rows, 0) != id || port == NONE) {
        rows_fail(rows, "the file is damaged (pauses are not in order, or of no port)");
        return;
    }
    r->last_at[node] = now;
    const uint8_t mask = mask_of(rows_text(rows, 4));
    if (!is_xoff) {
        on_decision(r, port, mask, NONE, now);
        return;
    }
    const uint32_t index = run->n_pauses, parent = rows_index(rows, 7);
    run->pauses = grown(run->pauses, index, sizeof *run->pauses);
    struct run_pause *pause = &run->pauses[run->n_pauses++];
    *pause = (struct run_pause){.from_ps = now,
                                .to_ps = now,
                                .port = port,
                                .egress = run_find_port(run, node, rows_index(rows, 6)),
                                .parent = parent < id ? r->pause_of[parent] : NONE,
                                .priorities = mask};
    pause->cause = pause->parent == NONE ? cause_of(r, pause) : run->pauses[pause->parent].cause;
    r->pause_of[id] = index;
    on_decision(r, port, mask, index, now);
}

void run_read_pauses(struct run_data *run)
{
    struct reading r = {.run = run, .last_at = calloc(run->n_nodes + 1, sizeof *r.last_at)};
    struct rows *rows = &run->rows;
    XOFF_ASSERT(r.last_at);
    /* Rows are in order of id; using the index would be slower. */
    rows_begin(rows,
               "SELECT id, at_ps, node_id, port, priorities, decision, egress_port, parent_id "
               "FROM pause WHERE +run_id = ?",
               run->run_id);
    while (rows_next(rows))
        read_pause(&r);
    for (uint32_t i = 0; i < run->n_lines; i++) {
        const uint32_t node = run->ports[run->lines[i].port].node;
        end_stop(run, &run->lines[i], run->pauses_left_out ? r.last_at[node] : run->end_ps);
    }
    key_table_fini(&r.line_keys);
    key_table_fini(&r.cause_keys);
    free(r.pause_of);
    free(r.last_at);
}

/* ---- heat map ---- */

static int compare_lines(const void *a, const void *b, void *context)
{
    const struct run_line *lines = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (lines[x].paused_ps != lines[y].paused_ps)
        return lines[x].paused_ps > lines[y].paused_ps ? -1 : 1;
    return (x > y) - (x < y);
}

static json_t *heat_row(const struct run_data *run, const struct run_line *line)
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

/* Adds the stop's share to each column it overlaps; its times count from the first column. */
static void heat(double from_ps, double to_ps, double dt_ps, uint32_t n_columns, double *columns)
{
    uint32_t column = from_ps > 0 ? (uint32_t)(from_ps / dt_ps) : 0;
    for (; column < n_columns; column++) {
        const double begin = column * dt_ps, end = begin + dt_ps;
        const double from = from_ps > begin ? from_ps : begin;
        const double to = to_ps < end ? to_ps : end;
        if (to <= from)
            return;
        columns[column] += (to - from) / dt_ps;
    }
}

json_t *run_heat(struct run_data *run)
{
    const uint32_t n_columns = run->limits.heat_columns;
    const uint32_t n_rows =
        run->n_lines < run->limits.heat_rows ? run->n_lines : run->limits.heat_rows;
    const double shown_ps = (double)(run->to_ps - run->from_ps);
    const double dt_ps = shown_ps > 0 ? shown_ps / n_columns : 1;
    uint32_t *order = calloc(run->n_lines + 1, sizeof *order);
    uint32_t *row_of = calloc(run->n_lines + 1, sizeof *row_of);
    double *parts = calloc((size_t)n_rows * n_columns + 1, sizeof *parts);
    json_t *rows = json_array(), *cells = json_array();
    XOFF_ASSERT(order && row_of && parts && rows && cells);
    for (uint32_t i = 0; i < run->n_lines; i++)
        order[i] = i;
    qsort_r(order, run->n_lines, sizeof *order, compare_lines, run->lines);
    for (uint32_t i = 0; i < run->n_lines; i++)
        row_of[order[i]] = i < n_rows ? i : NONE;
    for (uint32_t i = 0; i < n_rows; i++)
        json_array_append_new(rows, heat_row(run, &run->lines[order[i]]));
    for (uint32_t i = 0; i < run->n_stops; i++) {
        const uint32_t row = row_of[run->stops[i].line];
        const struct run_stop *stop = &run->stops[i];
        if (row != NONE && stop->from_ps < run->to_ps && stop->to_ps > run->from_ps)
            heat((double)(stop->from_ps - run->from_ps), (double)(stop->to_ps - run->from_ps),
                 dt_ps, n_columns, parts + (size_t)row * n_columns);
    }
    for (uint32_t i = 0; i < n_rows * n_columns; i++)
        if (parts[i] > 0)
            json_array_append_new(cells, json_pack("[IIo]", (json_int_t)(i % n_columns),
                                                   (json_int_t)(i / n_columns),
                                                   json_rounded(parts[i] > 1 ? 1 : parts[i], 4)));
    free(parts);
    free(row_of);
    free(order);
    return json_pack("{so so sI so so sI}", "t0_s", json_seconds(run->from_ps), "dt_s",
                     json_number(dt_ps / (double)XOFF_S), "columns", (json_int_t)n_columns, "rows",
                     rows, "cells", cells, "rows_left_out", (json_int_t)(run->n_lines - n_rows));
}

/* ---- causality tree ---- */

struct group {
    uint32_t parent, depth; /* for roots: NONE, 1 */
    uint32_t pause;         /* one of its pauses, for the names */
    int64_t count, first_ps;
    double paused_ps;
    double below_ps; /* paused_ps of this group and all below it */
    json_t *json;    /* when shown */
};

struct tree {
    struct group *groups; /* parents before children */
    uint32_t n;
};

static struct tree make_tree(struct run_data *run)
{
    struct tree t = {0};
    struct key_table keys = {0};
    for (uint32_t i = 0; i < run->n_pauses; i++) {
        struct run_pause *p = &run->pauses[i];
        const uint32_t parent = p->parent == NONE ? NONE : run->pauses[p->parent].group;
        p->group = key_put(&keys, (uint64_t)parent << 32 | p->port,
                           (uint64_t)p->priorities << 32 | p->egress);
        if (p->group == t.n) {
            t.groups = grown(t.groups, t.n, sizeof *t.groups);
            t.groups[t.n++] =
                (struct group){.parent = parent,
                               .depth = parent == NONE ? 1 : t.groups[parent].depth + 1,
                               .pause = i,
                               .first_ps = p->from_ps};
        }
        t.groups[p->group].count++;
        t.groups[p->group].paused_ps += (double)(p->to_ps - p->from_ps);
    }
    key_table_fini(&keys);
    for (uint32_t i = t.n; i-- > 0;) {
        struct group *g = &t.groups[i];
        g->below_ps += g->paused_ps;
        if (g->parent != NONE)
            t.groups[g->parent].below_ps += g->below_ps;
    }
    return t;
}

static int compare_groups(const void *a, const void *b, void *context)
{
    const struct group *groups = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (groups[x].below_ps != groups[y].below_ps)
        return groups[x].below_ps > groups[y].below_ps ? -1 : 1;
    return (x > y) - (x < y);
}

static json_t *group_json(const struct run_data *run, const struct group *g)
{
    const struct run_pause *pause = &run->pauses[g->pause];
    const struct run_port *port = &run->ports[pause->port];
    char name[RUN_LABEL];
    int n = snprintf(name, sizeof name, "%s port %u", run_node_name(run, port->node), port->number);
    for (uint32_t p = 0, first = 1; p < XOFF_N_PRIORITIES && pause->priorities != 0xff; p++)
        if (pause->priorities >> p & 1) {
            n += snprintf(name + n, sizeof name - (size_t)n, first ? " p%u" : ",%u", p);
            first = 0;
        }
    json_t *egress = json_null();
    if (pause->egress != NONE)
        egress = json_words(run_node_name(run, run->ports[pause->egress].peer_node), 0);
    else if (run->nodes[port->node].is_host)
        egress = json_words(run_node_name(run, port->node), 0);
    return json_pack("{so so so sI so so s[]}", "name", json_words(name, 0), "paused",
                     json_words(run_node_name(run, port->peer_node), 0), "egress", egress, "count",
                     (json_int_t)g->count, "paused_s", json_number(g->paused_ps / (double)XOFF_S),
                     "first_s", json_seconds(g->first_ps), "children");
}

/* Counts the nodes that were paused by any other. */
static uint32_t spread(const struct run_data *run)
{
    bool *is_paused = calloc(run->n_nodes + 1, sizeof *is_paused);
    uint32_t n = 0;
    XOFF_ASSERT(is_paused);
    for (uint32_t i = 0; i < run->n_lines; i++) {
        const uint32_t peer = run->ports[run->lines[i].port].peer_node;
        if (peer == NONE || is_paused[peer])
            continue;
        is_paused[peer] = true;
        n++;
    }
    free(is_paused);
    return n;
}

json_t *run_pause_tree(struct run_data *run)
{
    struct tree t = make_tree(run);
    uint32_t *order = calloc(t.n + 1, sizeof *order);
    uint32_t depth = 0;
    json_t *roots = json_array();
    XOFF_ASSERT(order && roots);
    for (uint32_t i = 0; i < t.n; i++) {
        order[i] = i;
        depth = t.groups[i].depth > depth ? t.groups[i].depth : depth;
    }
    qsort_r(order, t.n, sizeof *order, compare_groups, t.groups);
    const uint32_t n_shown = t.n < run->limits.tree ? t.n : run->limits.tree;
    for (uint32_t i = 0; i < n_shown; i++) {
        struct group *g = &t.groups[order[i]];
        g->json = group_json(run, g);
        json_array_append_new(
            g->parent == NONE ? roots : json_object_get(t.groups[g->parent].json, "children"),
            g->json);
    }
    json_t *object = json_pack("{sI sI so sI sI sI}", "n", (json_int_t)run->n_pauses, "left_out",
                               (json_int_t)run->pauses_left_out, "roots", roots, "depth",
                               (json_int_t)depth, "spread", (json_int_t)spread(run),
                               "groups_left_out", (json_int_t)(t.n - n_shown));
    free(order);
    free(t.groups);
    return object;
}
