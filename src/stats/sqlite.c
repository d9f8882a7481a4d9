/* run.sqlite: everything known of the runs of one scenario, in one file that any tool reads.
 *
 * Tables hold integers in base units (picoseconds, bytes, bits per second; the unit ends the
 * column's name) and text instead of codes; the views v_* join names and show microseconds. The
 * file is new and nobody sees it before it is complete, so there is no journal and no sync while
 * writing; indexes are made after the rows. Counters carry SAI's names where SAI has the counter
 * (docs/results.md).
 *
 * SCHEMA_VERSION rises with every change that a reader could notice.
 */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "stats/output.h"

#define SCHEMA_VERSION "3"
#define APPLICATION_ID "0x786f6666" /* "xoff" */

static const char setup[] = "PRAGMA page_size = 8192;"
                            "PRAGMA journal_mode = OFF;"
                            "PRAGMA synchronous = OFF;"
                            "PRAGMA locking_mode = EXCLUSIVE;"
                            "PRAGMA temp_store = MEMORY;"
                            "PRAGMA cache_size = -65536;"
                            "PRAGMA application_id = " APPLICATION_ID ";"
                            "PRAGMA user_version = " SCHEMA_VERSION ";"
                            "BEGIN;";

static const char *const tables[] = {
    "CREATE TABLE run (id INTEGER PRIMARY KEY, xoff_version TEXT, variant TEXT, title TEXT, "
    "scenario_file TEXT, scenario_text TEXT, config_text TEXT, seed INTEGER, digest TEXT, "
    "verdict TEXT, interrupted INTEGER, lossless_priorities TEXT, end_at_ps INTEGER, "
    "stop_at_ps INTEGER, wall_s REAL, threads INTEGER, packet_hops INTEGER, control_hops INTEGER, "
    "events INTEGER, windows INTEGER, peak_rss_bytes INTEGER, pauses_left_out INTEGER)",
    "CREATE TABLE node (run_id INTEGER, id INTEGER, name TEXT, kind TEXT, held_bytes INTEGER, "
    "buffer_bytes INTEGER, buffer_pool_watermark_bytes INTEGER, reserved_bytes INTEGER, "
    "reserved_watermark_bytes INTEGER, shared_bytes INTEGER, shared_watermark_bytes INTEGER, "
    "xoff_room_bytes INTEGER, buffer_pool_xoff_room_watermark_bytes INTEGER, "
    "insurance_bytes INTEGER, insurance_watermark_bytes INTEGER)",
    "CREATE TABLE port (run_id INTEGER, node_id INTEGER, port INTEGER, peer_node_id INTEGER, "
    "peer_port INTEGER, link INTEGER, rate_bps INTEGER, busy_ps INTEGER, pause_tx_pkts INTEGER, "
    "pause_rx_pkts INTEGER)",
    "CREATE TABLE queue (run_id INTEGER, node_id INTEGER, port INTEGER, priority INTEGER, "
    "queue_packets INTEGER, queue_bytes INTEGER, queue_wred_ecn_marked_packets INTEGER, "
    "queue_watermark_bytes INTEGER, pg_packets INTEGER, pg_bytes INTEGER, "
    "pg_xoff_room_watermark_bytes INTEGER, pg_xoff_room_bytes INTEGER, xoff_tx INTEGER, "
    "xon_tx INTEGER, pfc_on2off_rx_pkts INTEGER, xon_rx INTEGER, "
    "pfc_rx_pause_duration_ps INTEGER)",
    "CREATE TABLE flow (run_id INTEGER, id INTEGER, from_node_id INTEGER, to_node_id INTEGER, "
    "number INTEGER, traffic TEXT, priority INTEGER, reliable INTEGER, offered_bytes INTEGER, "
    "sent_bytes INTEGER, delivered_bytes INTEGER, start_at_ps INTEGER, finish_at_ps INTEGER, "
    "acked_at_ps INTEGER, ideal_ps INTEGER, slowdown REAL, marked_frames INTEGER, "
    "retransmitted_frames INTEGER)",
    "CREATE TABLE operations (run_id INTEGER, id INTEGER, node_id INTEGER, traffic TEXT, "
    "bytes INTEGER, start_at_ps INTEGER, finish_at_ps INTEGER, duration_ps INTEGER)",
    "CREATE TABLE drop_place (run_id INTEGER, node_id INTEGER, port INTEGER, out_port INTEGER, "
    "priority INTEGER, cause TEXT, lossless INTEGER, frames INTEGER, bytes INTEGER, "
    "first_at_ps INTEGER)",
    "CREATE TABLE pause (run_id INTEGER, id INTEGER, at_ps INTEGER, node_id INTEGER, "
    "port INTEGER, priorities TEXT, decision TEXT, unit TEXT, occupied_bytes INTEGER, "
    "threshold_bytes INTEGER, egress_port INTEGER, egress_priority INTEGER, "
    "egress_paused INTEGER, parent_id INTEGER)",
    "CREATE TABLE sample (run_id INTEGER, at_ps INTEGER, node_id INTEGER, port INTEGER, "
    "priority INTEGER, metric TEXT, value REAL)",
    "CREATE TABLE deadlock (run_id INTEGER, id INTEGER, onset_at_ps INTEGER, "
    "found_at_ps INTEGER)",
    "CREATE TABLE deadlock_port (run_id INTEGER, deadlock_id INTEGER, position INTEGER, "
    "node_id INTEGER, port INTEGER, priority INTEGER)",
    "CREATE TABLE finding (run_id INTEGER, id INTEGER, text TEXT)",
    "CREATE TABLE metric (run_id INTEGER, name TEXT, value REAL, unit TEXT, meaning TEXT)",
};

static const char *const finishes[] = {
    "CREATE UNIQUE INDEX node_key ON node (run_id, id)",
    "CREATE UNIQUE INDEX port_key ON port (run_id, node_id, port)",
    "CREATE UNIQUE INDEX queue_key ON queue (run_id, node_id, port, priority)",
    "CREATE UNIQUE INDEX flow_key ON flow (run_id, id)",
    "CREATE UNIQUE INDEX operations_key ON operations (run_id, id)",
    "CREATE UNIQUE INDEX pause_key ON pause (run_id, id)",
    "CREATE INDEX pause_parent ON pause (run_id, parent_id)",
    "CREATE INDEX sample_series ON sample (run_id, metric, node_id, port, priority, at_ps)",
    "CREATE UNIQUE INDEX metric_key ON metric (run_id, name)",
    "CREATE VIEW v_port AS SELECT r.variant, n.name AS node, p.port, m.name AS peer, p.peer_port, "
    "p.rate_bps / 1e9 AS rate_gbps, 1.0 * p.busy_ps / nullif(r.end_at_ps, 0) AS utilisation, "
    "p.pause_tx_pkts, p.pause_rx_pkts FROM port p JOIN run r ON r.id = p.run_id "
    "JOIN node n ON n.run_id = p.run_id AND n.id = p.node_id "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = p.peer_node_id",
    "CREATE VIEW v_queue AS SELECT r.variant, n.name AS node, q.port, m.name AS peer, q.priority, "
    "q.queue_packets, q.queue_bytes, q.queue_wred_ecn_marked_packets, q.queue_watermark_bytes, "
    "q.pg_packets, q.pg_bytes, q.pg_xoff_room_watermark_bytes, q.pg_xoff_room_bytes, "
    "1.0 * q.pg_xoff_room_watermark_bytes / nullif(q.pg_xoff_room_bytes, 0) AS xoff_room_used, "
    "q.xoff_tx, q.xon_tx, q.pfc_on2off_rx_pkts, q.xon_rx, "
    "q.pfc_rx_pause_duration_ps / 1e6 AS pfc_rx_pause_duration_us FROM queue q "
    "JOIN run r ON r.id = q.run_id JOIN node n ON n.run_id = q.run_id AND n.id = q.node_id "
    "JOIN port p ON p.run_id = q.run_id AND p.node_id = q.node_id AND p.port = q.port "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = p.peer_node_id",
    "CREATE VIEW v_flow AS SELECT r.variant, f.id, a.name AS from_node, b.name AS to_node, "
    "f.number, f.traffic, f.priority, f.reliable, f.offered_bytes, f.sent_bytes, "
    "f.delivered_bytes, f.start_at_ps / 1e6 AS start_at_us, f.finish_at_ps / 1e6 AS finish_at_us, "
    "(f.finish_at_ps - f.start_at_ps) / 1e6 AS fct_us, "
    "(f.acked_at_ps - f.start_at_ps) / 1e6 AS fct_ack_us, f.ideal_ps / 1e6 AS ideal_us, "
    "f.slowdown, 8e12 * f.delivered_bytes / "
    "nullif(coalesce(f.finish_at_ps, r.end_at_ps) - f.start_at_ps, 0) AS throughput_bps, "
    "f.marked_frames, f.retransmitted_frames FROM flow f JOIN run r ON r.id = f.run_id "
    "LEFT JOIN node a ON a.run_id = f.run_id AND a.id = f.from_node_id "
    "LEFT JOIN node b ON b.run_id = f.run_id AND b.id = f.to_node_id",
    "CREATE VIEW v_operations AS SELECT r.variant, o.id, n.name AS node, o.traffic, o.bytes, "
    "o.start_at_ps / 1e6 AS start_at_us, o.finish_at_ps / 1e6 AS finish_at_us, "
    "o.duration_ps / 1e6 AS duration_us FROM operations o JOIN run r ON r.id = o.run_id "
    "LEFT JOIN node n ON n.run_id = o.run_id AND n.id = o.node_id",
    "CREATE VIEW v_drop AS SELECT r.variant, n.name AS node, d.port, d.out_port, d.priority, "
    "d.cause, d.lossless, d.frames, d.bytes, d.first_at_ps / 1e6 AS first_at_us "
    "FROM drop_place d JOIN run r ON r.id = d.run_id "
    "LEFT JOIN node n ON n.run_id = d.run_id AND n.id = d.node_id",
    "CREATE VIEW v_pause AS SELECT r.variant, p.id, p.at_ps / 1e6 AS at_us, n.name AS node, "
    "p.port, m.name AS paused_peer, p.priorities, p.decision, p.unit, p.occupied_bytes, "
    "p.threshold_bytes, p.egress_port, e.name AS egress_peer, p.egress_priority, "
    "p.egress_paused, p.parent_id FROM pause p JOIN run r ON r.id = p.run_id "
    "LEFT JOIN node n ON n.run_id = p.run_id AND n.id = p.node_id "
    "LEFT JOIN port i ON i.run_id = p.run_id AND i.node_id = p.node_id AND i.port = p.port "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = i.peer_node_id "
    "LEFT JOIN port o ON o.run_id = p.run_id AND o.node_id = p.node_id AND o.port = p.egress_port "
    "LEFT JOIN node e ON e.run_id = p.run_id AND e.id = o.peer_node_id",
    "CREATE VIEW v_sample AS SELECT r.variant, s.at_ps / 1e6 AS at_us, n.name AS node, s.port, "
    "s.priority, s.metric, s.value FROM sample s JOIN run r ON r.id = s.run_id "
    "LEFT JOIN node n ON n.run_id = s.run_id AND n.id = s.node_id",
    "CREATE VIEW v_deadlock AS SELECT r.variant, d.id, d.onset_at_ps / 1e6 AS onset_at_us, "
    "d.found_at_ps / 1e6 AS found_at_us, p.position, n.name AS node, p.port, m.name AS peer, "
    "p.priority FROM deadlock d JOIN run r ON r.id = d.run_id "
    "JOIN deadlock_port p ON p.run_id = d.run_id AND p.deadlock_id = d.id "
    "LEFT JOIN node n ON n.run_id = p.run_id AND n.id = p.node_id "
    "LEFT JOIN port o ON o.run_id = p.run_id AND o.node_id = p.node_id AND o.port = p.port "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = o.peer_node_id",
    "COMMIT",
};

/* The statement being filled, and the first failure, after which every call does nothing. */
struct writer {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int column; /* bound last */
    int n_columns;
    int run_id;
    int status;
    const char *path;
    struct xoff_err *err;
};

/* The reason is in errno, which SQLite leaves alone after a call to the system has failed but keeps
 * apart only on some paths; a full disk has a code of its own. */
static void check(struct writer *w, int code)
{
    const int seen = errno, primary = code & 0xff;
    int reason = 0;

    if (w->status || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return;
    if (primary == SQLITE_FULL)
        reason = ENOSPC;
    else if (primary == SQLITE_NOMEM)
        reason = ENOMEM;
    else if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)
        reason = seen;
    const char *text = w->db ? sqlite3_errmsg(w->db) : sqlite3_errstr(code);
    w->status = output_fail(w->err, w->path, reason ? strerror(reason) : text);
}

static void execute(struct writer *w, const char *sql)
{
    errno = 0;
    if (!w->status)
        check(w, sqlite3_exec(w->db, sql, NULL, NULL, NULL));
}

/* Rows of `table` follow, each with n_columns values after the run's id. */
static void begin_rows(struct writer *w, const char *table, int n_columns)
{
    char sql[256];
    size_t n = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table);
    for (int i = 0; i < n_columns; i++)
        n += (size_t)snprintf(sql + n, sizeof sql - n, ",?");
    snprintf(sql + n, sizeof sql - n, ")");
    w->n_columns = n_columns + 1;
    w->column = 0;
    if (!w->status)
        check(w, sqlite3_prepare_v2(w->db, sql, -1, &w->statement, NULL));
}

static void end_rows(struct writer *w)
{
    sqlite3_finalize(w->statement);
    w->statement = NULL;
}

static void put_int(struct writer *w, int64_t value)
{
    if (w->column == 0)
        sqlite3_bind_int(w->statement, ++w->column, w->run_id);
    sqlite3_bind_int64(w->statement, ++w->column, value);
}

static void put_null(struct writer *w)
{
    sqlite3_bind_null(w->statement, ++w->column);
}

/* Beyond the signed range there is only "without end". */
static void put_count(struct writer *w, uint64_t value)
{
    if (value > INT64_MAX)
        put_null(w);
    else
        put_int(w, (int64_t)value);
}

static void put_real(struct writer *w, double value)
{
    sqlite3_bind_double(w->statement, ++w->column, value);
}

/* `text` must stay as it is until the row is done. */
static void put_text(struct writer *w, const char *text)
{
    if (w->column == 0)
        sqlite3_bind_int(w->statement, ++w->column, w->run_id);
    sqlite3_bind_text(w->statement, ++w->column, text, -1, SQLITE_STATIC);
}

static void put_time(struct writer *w, xoff_time t)
{
    if (t == XOFF_NEVER)
        put_null(w);
    else
        put_int(w, t);
}

/* Also for other indices of which UINT32_MAX means none. */
static void put_port(struct writer *w, uint32_t port)
{
    if (port == UINT32_MAX)
        put_null(w);
    else
        put_int(w, port);
}

static void end_row(struct writer *w)
{
    if (w->status)
        return;
    XOFF_ASSERT(w->column == w->n_columns);
    errno = 0;
    check(w, sqlite3_step(w->statement));
    sqlite3_reset(w->statement);
    w->column = 0;
}

static void write_run(struct writer *w, const struct results *r)
{
    char digest[17], priorities[OUTPUT_PRIORITIES];

    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)r->digest);
    begin_rows(w, "run", 21);
    if (w->status)
        return;
    put_text(w, XOFF_VERSION);
    put_text(w, output_text(r->variant));
    put_text(w, output_text(r->title));
    put_text(w, output_text(r->scenario_file));
    put_text(w, output_text(r->scenario_text));
    put_text(w, output_text(r->config_text));
    put_count(w, r->seed);
    put_text(w, digest);
    put_text(w, output_verdict(r));
    put_int(w, r->interrupted);
    put_text(w, output_priorities(r->lossless, priorities));
    put_time(w, r->end_at);
    put_time(w, r->stop_at);
    put_real(w, r->wall_s);
    put_int(w, r->threads);
    put_count(w, r->packet_hops);
    put_count(w, r->control_hops);
    put_count(w, r->events);
    put_count(w, r->windows);
    put_count(w, r->peak_rss_bytes);
    put_count(w, r->pauses_left_out);
    end_row(w);
    end_rows(w);
}

static void write_nodes(struct writer *w, const struct results *r)
{
    /* Pool XOFF_POOL_DROP stands for the whole buffer (struct xoff_mmu_view). */
    static const enum xoff_pool pools[] = {XOFF_POOL_DROP, XOFF_POOL_RESERVED, XOFF_POOL_SHARED,
                                           XOFF_POOL_HEADROOM, XOFF_POOL_INSURANCE};
    begin_rows(w, "node", 14);
    for (uint32_t i = 0; i < r->n_nodes && !w->status; i++) {
        const struct result_node *node = &r->nodes[i];
        put_int(w, i);
        put_text(w, node->name);
        put_text(w, node->is_switch ? "switch" : "host");
        put_int(w, node->held_bytes);
        for (uint32_t p = 0; p < sizeof pools / sizeof *pools; p++) {
            put_int(w, node->pool_capacity_bytes[pools[p]]);
            put_int(w, node->pool_peak_bytes[pools[p]]);
        }
        end_row(w);
    }
    end_rows(w);
}

static void write_ports(struct writer *w, const struct results *r)
{
    begin_rows(w, "port", 9);
    for (uint32_t i = 0; i < r->n_ports && !w->status; i++) {
        const struct result_port *port = &r->ports[i];
        put_int(w, port->node);
        put_int(w, port->port);
        put_port(w, port->peer_node);
        put_port(w, port->peer_port);
        put_port(w, port->link);
        put_count(w, port->rate_bps);
        put_int(w, port->busy_for);
        put_count(w, port->control_tx_frames);
        put_count(w, port->control_rx_frames);
        end_row(w);
    }
    end_rows(w);
}

static void write_queues(struct writer *w, const struct results *r)
{
    begin_rows(w, "queue", 16);
    for (uint32_t i = 0; i < r->n_ports * XOFF_N_PRIORITIES && !w->status; i++) {
        const struct result_port *port = &r->ports[i / XOFF_N_PRIORITIES];
        const struct result_queue *q = &port->queue[i % XOFF_N_PRIORITIES];
        put_int(w, port->node);
        put_int(w, port->port);
        put_int(w, i % XOFF_N_PRIORITIES);
        put_count(w, q->tx_frames);
        put_count(w, q->tx_bytes);
        put_count(w, q->marked_frames);
        put_int(w, q->queue_peak_bytes);
        put_count(w, q->rx_frames);
        put_count(w, q->rx_bytes);
        put_int(w, q->headroom_peak_bytes);
        put_int(w, q->headroom_bytes);
        put_count(w, q->pause_tx);
        put_count(w, q->resume_tx);
        put_count(w, q->pause_rx);
        put_count(w, q->resume_rx);
        put_int(w, q->paused_for);
        end_row(w);
    }
    end_rows(w);
}

static void write_flows(struct writer *w, const struct results *r)
{
    begin_rows(w, "flow", 17);
    for (uint64_t i = 0; i < r->n_flows && !w->status; i++) {
        const struct result_flow *f = &r->flows[i];
        put_int(w, (int64_t)i);
        put_int(w, f->from);
        put_int(w, f->to);
        put_int(w, f->number);
        put_text(w, output_tag(r, f->tag));
        put_int(w, f->priority);
        put_int(w, f->reliable);
        put_count(w, f->offered_bytes);
        put_count(w, f->sent_bytes);
        put_count(w, f->delivered_bytes);
        put_time(w, f->start_at);
        put_time(w, f->finish_at);
        put_time(w, f->acked_at);
        put_time(w, f->ideal_for > 0 ? f->ideal_for : XOFF_NEVER);
        if (output_has_slowdown(f))
            put_real(w, output_slowdown(f));
        else
            put_null(w);
        put_count(w, f->marked_frames);
        put_count(w, f->retransmitted_frames);
        end_row(w);
    }
    end_rows(w);
}

static void write_operations(struct writer *w, const struct results *r)
{
    begin_rows(w, "operations", 7);
    for (uint64_t i = 0; i < r->n_operations && !w->status; i++) {
        const struct result_operation *o = &r->operations[i];
        put_int(w, (int64_t)i);
        put_int(w, o->host);
        put_text(w, output_tag(r, o->tag));
        put_count(w, o->bytes);
        put_time(w, o->start_at);
        put_time(w, o->finish_at);
        put_time(w, o->finish_at - o->start_at);
        end_row(w);
    }
    end_rows(w);
}

static void write_drops(struct writer *w, const struct results *r)
{
    begin_rows(w, "drop_place", 9);
    for (uint32_t i = 0; i < r->n_drops && !w->status; i++) {
        const struct result_drop *d = &r->drops[i];
        put_int(w, d->node);
        put_port(w, d->port);
        put_port(w, d->out_port);
        put_int(w, d->priority);
        put_text(w, output_drop_cause(d->cause));
        put_int(w, d->lossless);
        put_count(w, d->frames);
        put_count(w, d->bytes);
        put_time(w, d->first_at);
        end_row(w);
    }
    end_rows(w);
}

static void write_pauses(struct writer *w, const struct results *r)
{
    char priorities[OUTPUT_PRIORITIES];

    begin_rows(w, "pause", 13);
    for (uint64_t i = 0; i < r->n_pauses && !w->status; i++) {
        const struct result_pause *p = &r->pauses[i];
        put_int(w, (int64_t)i);
        put_time(w, p->at);
        put_int(w, p->node);
        put_int(w, p->port);
        put_text(w, output_priorities(p->priorities, priorities));
        put_text(w, p->pause ? "XOFF" : "XON");
        put_text(w, output_unit(p->unit));
        put_int(w, p->occupied_bytes);
        put_int(w, p->threshold_bytes);
        put_port(w, p->egress_port);
        put_port(w, p->egress_port == UINT32_MAX ? UINT32_MAX : p->egress_priority);
        put_port(w, p->egress_port == UINT32_MAX ? UINT32_MAX : p->egress_paused);
        put_port(w, p->parent);
        end_row(w);
    }
    end_rows(w);
}

static void write_samples(struct writer *w, const struct results *r)
{
    begin_rows(w, "sample", 6);
    for (uint64_t i = 0; i < r->n_samples && !w->status; i++) {
        const struct result_sample *s = &r->samples[i];
        put_int(w, s->at);
        put_int(w, s->node);
        put_port(w, s->port);
        put_port(w, s->priority == 0xff ? UINT32_MAX : s->priority);
        put_text(w, output_sample_metric(s->metric));
        put_real(w, s->value);
        end_row(w);
    }
    end_rows(w);
}

static void write_deadlocks(struct writer *w, const struct results *r)
{
    begin_rows(w, "deadlock", 3);
    for (uint32_t i = 0; i < r->n_deadlocks && !w->status; i++) {
        put_int(w, i);
        put_time(w, r->deadlocks[i].onset_at);
        put_time(w, r->deadlocks[i].found_at);
        end_row(w);
    }
    end_rows(w);
    begin_rows(w, "deadlock_port", 5);
    for (uint32_t i = 0; i < r->n_deadlocks; i++) {
        for (uint32_t j = 0; j < r->deadlocks[i].n && !w->status; j++) {
            const struct result_deadlock_port *p = &r->deadlock_ports[r->deadlocks[i].first + j];
            put_int(w, i);
            put_int(w, j);
            put_int(w, p->node);
            put_int(w, p->port);
            put_int(w, p->priority);
            end_row(w);
        }
    }
    end_rows(w);
}

static void write_findings(struct writer *w, const struct results *r)
{
    begin_rows(w, "finding", 2);
    for (uint32_t i = 0; i < r->n_findings && !w->status; i++) {
        put_int(w, i);
        put_text(w, r->findings[i].text);
        end_row(w);
    }
    end_rows(w);
}

static void write_metrics(struct writer *w, const struct summary *s)
{
    begin_rows(w, "metric", 4);
    for (uint32_t i = 0; i < s->n_metrics && !w->status; i++) {
        put_text(w, s->metrics[i].name);
        put_real(w, s->metrics[i].value);
        put_text(w, s->metrics[i].unit);
        put_text(w, output_text(s->metrics[i].meaning));
        end_row(w);
    }
    end_rows(w);
}

static void (*const writers[])(struct writer *w, const struct results *r) = {
    write_run,   write_nodes,  write_ports,   write_queues,    write_flows,   write_operations,
    write_drops, write_pauses, write_samples, write_deadlocks, write_findings};

int sqlite_write(const char *path, const struct results *const *runs,
                 const struct summary *const *summaries, uint32_t n_runs, struct xoff_err *err)
{
    struct writer w = {.path = path, .err = err};

    /* Made here, because SQLite loses the reason when it cannot; an empty file is an empty
     * database. */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return output_fail(err, path, strerror(errno));
    close(fd);
    errno = 0;
    check(&w, sqlite3_open_v2(path, &w.db, SQLITE_OPEN_READWRITE, NULL));
    execute(&w, setup);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        execute(&w, tables[i]);
    for (uint32_t i = 0; i < n_runs && !w.status; i++) {
        w.run_id = (int)i + 1;
        for (size_t j = 0; j < sizeof writers / sizeof *writers; j++)
            writers[j](&w, runs[i]);
        write_metrics(&w, summaries[i]);
    }
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++)
        execute(&w, finishes[i]);
    check(&w, sqlite3_close(w.db));
    return w.status;
}
