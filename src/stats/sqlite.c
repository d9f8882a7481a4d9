/* run.sqlite: all results of the runs of one scenario, in one file that any tool reads.
 *
 * The tables are those of tables.h: integers in base units (picoseconds, bytes, bits per second;
 * the unit ends the column's name) and text instead of codes. The views v_* join names and show
 * microseconds. Indexes are made after the rows. Counters carry SAI's names where SAI
 * has the counter (docs/results.md).
 *
 * SCHEMA_VERSION rises with every change that a reader could notice.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/database.h"
#include "stats/output.h"
#include "stats/sqlite_rows.h"
#include "stats/tables.h"
#include "stats/text_stream.h"

#define SCHEMA_VERSION "6"

static const char *const finishes[] = {
    "CREATE UNIQUE INDEX node_key ON node (run_id, id)",
    "CREATE UNIQUE INDEX buffer_key ON buffer (run_id, node_id, name)",
    "CREATE UNIQUE INDEX port_key ON port (run_id, node_id, port)",
    "CREATE UNIQUE INDEX queue_key ON queue (run_id, node_id, port, priority)",
    "CREATE UNIQUE INDEX flow_key ON flow (run_id, id)",
    "CREATE UNIQUE INDEX operations_key ON operations (run_id, id)",
    "CREATE UNIQUE INDEX pause_key ON pause (run_id, id)",
    "CREATE INDEX pause_parent ON pause (run_id, parent_id)",
    "CREATE INDEX sample_series ON sample (run_id, metric, node_id, port, priority, at_ps)",
    "CREATE UNIQUE INDEX metric_key ON metric (run_id, name)",
    "CREATE VIEW v_buffer AS SELECT r.variant, n.name AS node, b.name, b.buffer_bytes, "
    "b.buffer_pool_watermark_bytes, "
    "1.0 * b.buffer_pool_watermark_bytes / nullif(b.buffer_bytes, 0) AS buffer_used, "
    "b.reserved_bytes, b.reserved_watermark_bytes, b.shared_bytes, b.shared_watermark_bytes, "
    "b.xoff_room_bytes, b.buffer_pool_xoff_room_watermark_bytes, b.insurance_bytes, "
    "b.insurance_watermark_bytes FROM buffer b JOIN run r ON r.id = b.run_id "
    "JOIN node n ON n.run_id = b.run_id AND n.id = b.node_id",
    "CREATE VIEW v_port AS SELECT r.variant, n.name AS node, p.port, m.name AS peer, p.peer_port, "
    "p.rate_bps / 1e9 AS rate_gbps, 1.0 * p.measured_busy_ps / "
    "nullif(r.measured_to_ps - r.measured_from_ps, 0) AS utilisation, "
    "p.pause_tx_pkts, p.pause_rx_pkts FROM port p JOIN run r ON r.id = p.run_id "
    "JOIN node n ON n.run_id = p.run_id AND n.id = p.node_id "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = p.peer_node_id",
    "CREATE VIEW v_queue AS SELECT r.variant, n.name AS node, q.port, m.name AS peer, q.priority, "
    "q.queue_packets, q.queue_bytes, q.queue_wred_ecn_marked_packets, q.queue_watermark_bytes, "
    "q.pg_packets, q.pg_bytes, q.pg_xoff_room_watermark_bytes, q.pg_xoff_room_bytes, "
    "1.0 * q.pg_xoff_room_watermark_bytes / nullif(q.pg_xoff_room_bytes, 0) AS xoff_room_used, "
    "q.xoff_tx, q.xon_tx, q.pfc_on2off_rx_pkts, q.xon_rx, "
    "q.pfc_rx_pause_duration_ps / 1e6 AS pfc_rx_pause_duration_us, "
    "1.0 * q.measured_paused_ps / nullif(r.measured_to_ps - r.measured_from_ps, 0) "
    "AS paused_fraction, q.cp_samples, "
    "q.cp_notices FROM queue q "
    "JOIN run r ON r.id = q.run_id JOIN node n ON n.run_id = q.run_id AND n.id = q.node_id "
    "JOIN port p ON p.run_id = q.run_id AND p.node_id = q.node_id AND p.port = q.port "
    "LEFT JOIN node m ON m.run_id = p.run_id AND m.id = p.peer_node_id",
    "CREATE VIEW v_flow AS SELECT r.variant, f.id, a.name AS from_node, b.name AS to_node, "
    "f.number, f.traffic, f.priority, f.reliable, f.offered_bytes, f.sent_bytes, "
    "f.delivered_bytes, f.start_at_ps / 1e6 AS start_at_us, f.finish_at_ps / 1e6 AS finish_at_us, "
    "(f.finish_at_ps - f.start_at_ps) / 1e6 AS fct_us, "
    "(f.acked_at_ps - f.start_at_ps) / 1e6 AS fct_ack_us, f.ideal_ps / 1e6 AS ideal_us, "
    "f.slowdown, CASE WHEN f.finish_at_ps IS NULL AND f.ideal_ps IS NULL THEN "
    "8e12 * f.measured_bytes / nullif(max(r.measured_to_ps - "
    "max(f.start_at_ps, r.measured_from_ps), 0), 0) ELSE 8e12 * f.delivered_bytes / "
    "nullif(coalesce(f.finish_at_ps, r.end_at_ps) - f.start_at_ps, 0) END AS throughput_bps, "
    "f.measured_bytes, f.drained_bytes, f.starving, f.marked_frames, f.retransmitted_frames, "
    "f.notices, f.tags_sent, f.tags_back FROM flow f "
    "JOIN run r ON r.id = f.run_id "
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

void table_write_schema(const struct table *table, FILE *out)
{
    fprintf(out, "CREATE TABLE %s (%s", table->name, table->key ? table->key : "run_id INTEGER");
    for (const struct column *c = table->columns; c->name; c++)
        if (column_is_in_database(c))
            fprintf(out, ", %s %s", c->name, column_type(c));
    fputs(")", out);
}

static void create_table(struct database *d, const struct table *table)
{
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    XOFF_ASSERT(out);
    table_write_schema(table, out);
    text_stream_close(out, &sql);
    database_execute(d, sql);
    free(sql);
}

/* Inserts all rows of a table: the run's id, then the table's columns. */
static void write_rows(struct database *d, const struct table *table, const struct table_run *run,
                       int run_id)
{
    struct sqlite_rows rows;
    char sql[128];
    sqlite3_stmt *insert = NULL;
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT ?, * FROM %s_rows", table->name, table->name);
    database_check(d, sqlite_rows_attach(d->db, table, run, &rows));
    if (!d->status)
        database_check(d, sqlite3_prepare_v2(d->db, sql, -1, &insert, NULL));
    if (!d->status)
        database_check(d, sqlite3_bind_int(insert, 1, run_id));
    errno = 0;
    if (!d->status)
        database_check(d, sqlite3_step(insert));
    sqlite3_finalize(insert);
    database_check(d, sqlite_rows_detach(d->db, &rows));
}

int sqlite_write(const char *path, const struct results *const *runs,
                 const struct summary *const *summaries, uint32_t n_runs, struct xoff_err *err)
{
    struct database d;
    database_create(&d, path, SCHEMA_VERSION, err);
    for (const struct table *t = tables; t->name; t++)
        create_table(&d, t);
    for (uint32_t i = 0; i < n_runs; i++)
        for (const struct table *t = tables; t->name && !d.status; t++)
            write_rows(&d, t, &(struct table_run){runs[i], summaries[i]}, (int)i + 1);
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++)
        database_execute(&d, finishes[i]);
    return database_close(&d);
}
