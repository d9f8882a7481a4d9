/* Pauses of a run: turns decisions into time spans, and finds the cause of each.
 *
 * A decision XOFF at (port, priority) stops the peer until the next XON there. A stop still open at
 * the end lasts to the end of the run, or, when the run made more decisions than it kept, to the
 * last one known of that node. Decisions for all eight priorities at once (802.3x PAUSE) have a
 * line of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading/run_data.h"

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
        run->lines = run_grown(run->lines, line, sizeof *run->lines);
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
    run->stops = run_grown(run->stops, run->n_stops, sizeof *run->stops);
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
        run->causes = run_grown(run->causes, cause, sizeof *run->causes);
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
    r->pause_of = run_grown(r->pause_of, id, sizeof *r->pause_of);
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
    run->pauses = run_grown(run->pauses, index, sizeof *run->pauses);
    struct run_pause *pause = &run->pauses[run->n_pauses++];
    *pause = (struct run_pause){.from_ps = now,
                                .to_ps = now,
                                .port = port,
                                .egress = run_find_port(run, node, rows_index(rows, 6)),
                                .parent = parent < id ? r->pause_of[parent] : NONE,
                                .occupied_bytes = rows_int(rows, 8),
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
               "SELECT id, at_ps, node_id, port, priorities, decision, egress_port, parent_id, "
               "occupied_bytes "
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
