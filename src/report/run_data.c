/* A run as JSON: its input, its end, and the smaller tables. Larger parts have files of their
 * own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_parts.h"

/* A browser rounds numbers beyond 2^53: these are written as text. */
static json_t *exact(int64_t value)
{
    char text[24];
    if (value < INT64_C(1) << 53)
        return json_integer(value);
    snprintf(text, sizeof text, "%lld", (long long)value);
    return json_string(text);
}

/* Charts begin shortly before the traffic and end with it: a run may be idle for seconds. */
static void set_times(struct run_data *run, int64_t from_ps, int64_t to_ps)
{
    const bool is_good = from_ps >= 0 && to_ps > from_ps && to_ps <= run->end_ps;
    run->traffic_from_ps = is_good ? from_ps : 0;
    run->traffic_to_ps = is_good ? to_ps : run->end_ps;
    const int64_t margin_ps = (run->traffic_to_ps - run->traffic_from_ps) / 50;
    run->from_ps = run->traffic_from_ps > margin_ps ? run->traffic_from_ps - margin_ps : 0;
    run->to_ps = run->traffic_to_ps;
}

/* Reads the row of the run into JSON, and into `run` what the other parts need. */
static json_t *read_run(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *o = json_object();
    XOFF_ASSERT(o);
    rows_begin(rows,
               "SELECT xoff_version, variant, title, scenario_file, seed, digest, verdict, "
               "interrupted, end_at_ps, stop_at_ps, wall_s, packet_hops, threads, "
               "pauses_left_out, config_text, scenario_text, traffic_from_ps, traffic_to_ps, "
               "measured_to_ps - measured_from_ps FROM run WHERE id = ?",
               run->run_id);
    while (rows_next(rows)) {
        json_object_set_new(o, "xoff_version", rows_json_text(rows, 0, 100));
        json_object_set_new(o, "version_differs",
                            json_boolean(strcmp(rows_text(rows, 0), XOFF_VERSION)));
        json_object_set_new(o, "variant", rows_json_text(rows, 1, 200));
        json_object_set_new(o, "title", rows_json_text(rows, 2, 1000));
        json_object_set_new(o, "scenario_file", rows_json_text(rows, 3, 4000));
        json_object_set_new(o, "seed",
                            rows_is_null(rows, 4) ? json_null() : exact(rows_int(rows, 4)));
        json_object_set_new(o, "digest", rows_json_text(rows, 5, 100));
        json_object_set_new(o, "verdict", rows_json_text(rows, 6, 100));
        json_object_set_new(o, "interrupted", json_boolean(rows_int(rows, 7)));
        json_object_set_new(o, "end_s", rows_json_seconds(rows, 8));
        json_object_set_new(o, "stop_s", rows_json_seconds(rows, 9));
        json_object_set_new(o, "wall_s", rows_json_number(rows, 10));
        json_object_set_new(o, "packet_hops", rows_json_number(rows, 11));
        json_object_set_new(o, "threads", rows_json_number(rows, 12));
        run->end_ps = rows_int(rows, 8) > 0 ? rows_int(rows, 8) : 0;
        run->pauses_left_out = rows_int(rows, 13);
        json_object_set_new(o, "config", rows_json_text(rows, 14, run->limits->text));
        json_object_set_new(o, "scenario", rows_json_text(rows, 15, run->limits->text));
        set_times(run, rows_int(rows, 16), rows_int(rows, 17));
        run->measured_ps = rows_int(rows, 18);
    }
    return o;
}

static json_t *read_findings(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *list = json_array();
    uint32_t n = 0;
    rows_begin(rows, "SELECT text FROM finding WHERE run_id = ? ORDER BY id", run->run_id);
    while (rows_next(rows))
        if (n++ < run->limits->findings)
            json_array_append_new(list, rows_json_text(rows, 0, 1000));
    if (n > run->limits->findings)
        json_array_append_new(
            list, json_sprintf("... and %u more, in run.sqlite", n - run->limits->findings));
    return list;
}

static json_t *read_expectations(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *list = json_array();
    rows_begin(rows, "SELECT text, holds, detail FROM expectation WHERE run_id = ? ORDER BY id",
               run->run_id);
    while (rows_next(rows))
        if (json_array_size(list) < run->limits->findings)
            json_array_append_new(list, json_pack("{so sb so}", "text", rows_json_text(rows, 0, 0),
                                                  "holds", rows_int(rows, 1) != 0, "detail",
                                                  rows_json_text(rows, 2, 0)));
    return list;
}

/* Metrics are read in the order in which they were made. */
static json_t *read_metrics(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *list = json_array();
    uint32_t n = 0;
    rows_begin(rows,
               "SELECT name, value, unit, meaning FROM metric WHERE +run_id = ? ORDER BY rowid",
               run->run_id);
    while (rows_next(rows))
        if (n++ < run->limits->metrics)
            json_array_append_new(
                list, json_pack("{so so so so}", "name", rows_json_text(rows, 0, 200), "value",
                                rows_json_number(rows, 1), "unit", rows_json_text(rows, 2, 50),
                                "meaning", rows_json_text(rows, 3, 300)));
    return list;
}

/* Metrics over seeds; none where the run has one. */
static json_t *read_spreads(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *list = json_array();
    rows_begin(rows,
               "SELECT name, unit, n, mean, ci95, stddev, min, max FROM spread WHERE +run_id = ? "
               "ORDER BY rowid",
               run->run_id);
    while (rows_next(rows))
        if (json_array_size(list) < run->limits->metrics)
            json_array_append_new(
                list,
                json_pack("{so so so so so so so so}", "name", rows_json_text(rows, 0, 200), "unit",
                          rows_json_text(rows, 1, 50), "n", rows_json_number(rows, 2), "mean",
                          rows_json_number(rows, 3), "ci95", rows_json_number(rows, 4), "stddev",
                          rows_json_number(rows, 5), "min", rows_json_number(rows, 6), "max",
                          rows_json_number(rows, 7)));
    return list;
}

json_t *run_drops(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *list = json_array();
    uint32_t n = 0;
    rows_begin(rows,
               "SELECT node_id, port, out_port, priority, cause, lossless, frames, bytes, "
               "first_at_ps FROM drop_place WHERE run_id = ? ORDER BY frames DESC, rowid",
               run->run_id);
    while (rows_next(rows)) {
        if (n++ >= run->limits->drops)
            continue;
        const uint32_t node = rows_index(rows, 0);
        json_array_append_new(
            list,
            json_pack("{so so so so so sb so so so}", "node",
                      json_words(run_node_name(run, node), 0), "port", rows_json_number(rows, 1),
                      "out_port", rows_json_number(rows, 2), "priority", rows_json_number(rows, 3),
                      "cause", rows_json_text(rows, 4, 100), "lossless", rows_int(rows, 5) != 0,
                      "frames", rows_json_number(rows, 6), "bytes", rows_json_number(rows, 7),
                      "first_s", rows_json_seconds(rows, 8)));
    }
    return list;
}

/* The fullest buffers, each with its pools that have a size. */
static json_t *read_buffers(struct run_data *run)
{
    static const char *const pools[RUN_N_POOLS] = {
        [RUN_RESERVED] = "reserved",
        [RUN_SHARED] = "shared",
        [RUN_HEADROOM] = "headroom",
        [RUN_INSURANCE] = "insurance",
    };
    struct rows *rows = &run->rows;
    json_t *buffers = json_array();
    rows_begin(rows,
               "SELECT node_id, name, buffer_pool_watermark_bytes, buffer_bytes, "
               "reserved_watermark_bytes, reserved_bytes, shared_watermark_bytes, shared_bytes, "
               "buffer_pool_xoff_room_watermark_bytes, xoff_room_bytes, "
               "insurance_watermark_bytes, insurance_bytes FROM buffer WHERE run_id = ?1 "
               "AND buffer_bytes > 0 ORDER BY 1.0 * buffer_pool_watermark_bytes / buffer_bytes "
               "DESC, rowid",
               run->run_id);
    while (rows_next(rows)) {
        if (json_array_size(buffers) >= run->limits->watermarks)
            continue;
        json_t *by_pool = json_array();
        for (int pool = 0; pool < RUN_N_POOLS; pool++)
            if (rows_int(rows, 5 + 2 * pool) > 0)
                json_array_append_new(by_pool,
                                      json_pack("{ss so so}", "name", pools[pool], "peak",
                                                rows_json_number(rows, 4 + 2 * pool), "size",
                                                rows_json_number(rows, 5 + 2 * pool)));
        json_array_append_new(
            buffers, json_pack("{so so so so so}", "node",
                               json_words(run_node_name(run, rows_index(rows, 0)), 0), "name",
                               json_words(rows_text(rows, 1), 0), "peak", rows_json_number(rows, 2),
                               "size", rows_json_number(rows, 3), "pools", by_pool));
    }
    return buffers;
}

json_t *run_watermarks(struct run_data *run)
{
    struct rows *rows = &run->rows;
    json_t *buffers = read_buffers(run), *headroom = json_array();
    rows_begin(rows,
               "SELECT node_id, port, priority, pg_xoff_room_watermark_bytes, pg_xoff_room_bytes "
               "FROM queue WHERE run_id = ? AND pg_xoff_room_bytes > 0 ORDER BY 1.0 * "
               "pg_xoff_room_watermark_bytes / pg_xoff_room_bytes DESC, rowid",
               run->run_id);
    while (rows_next(rows)) {
        char label[RUN_LABEL];
        if (json_array_size(headroom) >= run->limits->watermarks)
            continue;
        run_label(run, rows_index(rows, 0), rows_index(rows, 1), rows_index(rows, 2), label);
        json_array_append_new(headroom, json_pack("{so so so}", "name", json_words(label, 0),
                                                  "peak", rows_json_number(rows, 3), "size",
                                                  rows_json_number(rows, 4)));
    }
    return json_pack("{so so}", "buffers", buffers, "headroom", headroom);
}

json_t *run_data_create(const struct run_file *file, int64_t run_id,
                        const struct report_limits *limits, struct xoff_err *err)
{
    struct run_data run = {.rows = {.db = file->db, .path = file->path, .err = err},
                           .limits = limits,
                           .run_id = run_id};
    json_t *o = read_run(&run);
    run_read_network(&run);
    run_read_pauses(&run);
    if (!run.rows.status) {
        struct run_victims *victims = run_victims_create(&run);
        json_object_set_new(o, "findings", read_findings(&run));
        json_object_set_new(o, "expectations", read_expectations(&run));
        json_object_set_new(o, "metrics", read_metrics(&run));
        json_object_set_new(o, "spreads", read_spreads(&run));
        json_object_set_new(o, "flows", run_flows(&run, victims));
        json_object_set_new(o, "operations", run_operations(&run));
        run_series(&run, o);
        json_object_set_new(o, "traffic_s", json_seconds(run.traffic_to_ps - run.traffic_from_ps));
        json_object_set_new(o, "from_s", json_seconds(run.from_ps));
        json_object_set_new(o, "to_s", json_seconds(run.to_ps));
        json_object_set_new(o, "stops", run_stops(&run));
        json_object_set_new(o, "topology", run_topology(&run));
        json_t *pauses = run_pause_tree(&run);
        run_victims_json(victims, pauses);
        json_object_set_new(o, "pauses", pauses);
        json_object_set_new(o, "drops", run_drops(&run));
        json_object_set_new(o, "deadlocks", run_deadlocks(&run));
        json_object_set_new(o, "watermarks", run_watermarks(&run));
        run_victims_destroy(victims);
    }
    const int status = run.rows.status;
    run_data_fini(&run);
    if (!status)
        return o;
    json_decref(o);
    return NULL;
}
