/* Reads what an explanation rests on: the run, its network and pauses, queues, losses, deadlocks.
 * Flows and operations are read by harm.c, one at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/parts.h"

static char *copy(const char *text)
{
    char *made = strdup(text);
    XOFF_ASSERT(made);
    return made;
}

static void read_head(struct explanation *e)
{
    struct run_data *run = &e->run;
    struct rows *rows = &run->rows;
    rows_begin(rows,
               "SELECT variant, title, interrupted, end_at_ps, traffic_from_ps, traffic_to_ps, "
               "pauses_left_out, config_text, measured_from_ps, measured_to_ps, "
               "scenario_file FROM run WHERE id = ?",
               run->run_id);
    while (rows_next(rows)) {
        e->variant = copy(rows_text(rows, 0));
        e->title = copy(rows_text(rows, 1));
        e->is_interrupted = rows_int(rows, 2);
        run->end_ps = rows_int(rows, 3) > 0 ? rows_int(rows, 3) : 0;
        run->traffic_from_ps = rows_int(rows, 4);
        run->traffic_to_ps = rows_int(rows, 5);
        run->pauses_left_out = rows_int(rows, 6);
        e->config = copy(rows_text(rows, 7));
        e->measured_from_ps = rows_int(rows, 8);
        e->measured_to_ps = rows_int(rows, 9);
        e->scenario_file = copy(rows_text(rows, 10));
    }
    if (run->traffic_from_ps < 0 || run->traffic_to_ps <= run->traffic_from_ps ||
        run->traffic_to_ps > run->end_ps) {
        run->traffic_from_ps = 0;
        run->traffic_to_ps = run->end_ps;
    }
    if (e->measured_from_ps < 0 || e->measured_to_ps <= e->measured_from_ps) {
        e->measured_from_ps = run->traffic_from_ps;
        e->measured_to_ps = run->traffic_to_ps;
    }
    run->measured_ps = e->measured_to_ps - e->measured_from_ps;
    if (!e->config)
        rows_fail(rows, "the file is damaged (there is no such run)");
}

static void read_queues(struct explanation *e)
{
    struct rows *rows = &e->run.rows;
    e->queues = calloc((size_t)e->run.n_ports * XOFF_N_PRIORITIES + 1, sizeof *e->queues);
    XOFF_ASSERT(e->queues);
    rows_begin(rows,
               "SELECT node_id, port, priority, queue_bytes, xoff_tx, pfc_rx_pause_duration_ps "
               "FROM queue WHERE run_id = ? AND (queue_bytes OR xoff_tx OR "
               "pfc_rx_pause_duration_ps)",
               e->run.run_id);
    while (rows_next(rows)) {
        const uint32_t port = run_find_port(&e->run, rows_index(rows, 0), rows_index(rows, 1));
        const uint32_t priority = rows_index(rows, 2);
        if (port != NONE && priority < XOFF_N_PRIORITIES)
            e->queues[port * XOFF_N_PRIORITIES + priority] =
                (struct queue){.tx_bytes = rows_int(rows, 3),
                               .xoff_tx = (uint64_t)rows_int(rows, 4),
                               .paused_ps = rows_int(rows, 5)};
    }
}

static void read_drops(struct explanation *e)
{
    static const struct {
        const char *word;
        enum drop_cause cause;
    } causes[] = {
        {"buffer", DROP_ROOM},     {"egress", DROP_ROOM},         {"receiver", DROP_RECEIVER},
        {"corrupt", DROP_CORRUPT}, {"link-down", DROP_LINK_DOWN}, {"no-route", DROP_NO_ROUTE},
        {"hops", DROP_HOPS}};
    struct rows *rows = &e->run.rows;
    rows_begin(rows,
               "SELECT node_id, port, out_port, priority, cause, lossless, frames, bytes, "
               "first_at_ps FROM drop_place WHERE run_id = ? ORDER BY rowid",
               e->run.run_id);
    while (rows_next(rows)) {
        const uint32_t node = rows_index(rows, 0);
        if (node >= e->run.n_nodes) {
            rows_fail(rows, "the file is damaged (a loss at no node)");
            continue;
        }
        e->drops = run_grown(e->drops, e->n_drops, sizeof *e->drops);
        struct drop *drop = &e->drops[e->n_drops++];
        *drop = (struct drop){.node = node,
                              .in_port = run_find_port(&e->run, node, rows_index(rows, 1)),
                              .out_port = run_find_port(&e->run, node, rows_index(rows, 2)),
                              .priority = (uint8_t)(rows_int(rows, 3) & 7),
                              .is_egress = !strcmp(rows_text(rows, 4), "egress"),
                              .is_lossless = rows_int(rows, 5),
                              .frames = (uint64_t)rows_int(rows, 6),
                              .bytes = rows_int(rows, 7),
                              .first_ps = rows_int(rows, 8)};
        for (uint32_t i = 0; i < sizeof causes / sizeof *causes; i++)
            if (!strcmp(rows_text(rows, 4), causes[i].word))
                drop->cause = causes[i].cause;
        e->lost_frames += drop->frames;
        if (drop->is_lossless && (drop->cause == DROP_ROOM || drop->cause == DROP_RECEIVER))
            e->lost_lossless += drop->frames;
    }
}

static void read_deadlocks(struct explanation *e)
{
    struct rows *rows = &e->run.rows;
    int64_t last = -1;
    rows_begin(rows,
               "SELECT d.id, d.onset_at_ps, p.node_id, p.port FROM deadlock d "
               "JOIN deadlock_port p ON p.run_id = d.run_id AND p.deadlock_id = d.id "
               "WHERE d.run_id = ? ORDER BY d.id, p.position",
               e->run.run_id);
    while (rows_next(rows)) {
        if (rows_int(rows, 0) != last) {
            last = rows_int(rows, 0);
            e->deadlocks = run_grown(e->deadlocks, e->n_deadlocks, sizeof *e->deadlocks);
            e->deadlocks[e->n_deadlocks++] =
                (struct deadlock){.onset_ps = rows_int(rows, 1), .first = e->n_deadlock_ports};
        }
        const uint32_t port = run_find_port(&e->run, rows_index(rows, 2), rows_index(rows, 3));
        if (port == NONE)
            continue;
        e->deadlock_ports =
            run_grown(e->deadlock_ports, e->n_deadlock_ports, sizeof *e->deadlock_ports);
        e->deadlock_ports[e->n_deadlock_ports++] = port;
        e->deadlocks[e->n_deadlocks - 1].n++;
    }
}

void evidence_read(struct explanation *e)
{
    read_head(e);
    run_read_network(&e->run);
    run_read_pauses(&e->run);
    if (!e->run.rows.status) {
        e->slowest_bps = calloc(e->run.n_ports + 1, sizeof *e->slowest_bps);
        XOFF_ASSERT(e->slowest_bps);
        config_read(e, e->config);
        read_queues(e);
        read_drops(e);
        read_deadlocks(e);
    }
}

/* The number behind a name's letters; false: there is none. */
static bool split_name(const char *name, size_t *letters, unsigned long *number)
{
    *letters = strcspn(name, "0123456789");
    char *end;
    *number = strtoul(name + *letters, &end, 10);
    return end > name + *letters && !*end;
}

bool evidence_is_host(const char *hosts, const char *name)
{
    char list[256];
    snprintf(list, sizeof list, "%s", hosts);
    for (char *rest = list, *part; (part = strsep(&rest, ", "));) {
        size_t a_letters, b_letters, letters;
        unsigned long a, b, number;
        char *dots = strstr(part, "..");
        if (!strcmp(part, name) || !strcmp(part, "all"))
            return true;
        if (!dots)
            continue;
        *dots = '\0';
        if (split_name(part, &a_letters, &a) && split_name(dots + 2, &b_letters, &b) &&
            split_name(name, &letters, &number) && letters == a_letters &&
            !strncmp(part, name, letters) && number >= a && number <= b)
            return true;
    }
    return false;
}
