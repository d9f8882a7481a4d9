/* Files of results: what is in them, and that they are whole or not there at all. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>
#include <sqlite3.h>

#include "stats/folder.h"
#include "stats/output.h"
#include "stats/spread.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

/* Two hosts and a switch; names that need quoting; one of everything. */
static const char *const tags[] = {"web, \"big\"", "stream"};
static struct result_node nodes[] = {
    {.name = "h0"}, {.name = "h1"}, {.name = "s0", .is_switch = 1, .held_bytes = 5}};
static struct result_buffer buffers[] = {{.node = 1, .name = "receive"},
                                         {.node = 2,
                                          .name = "shared",
                                          .view = {.peak_total_bytes = 60,
                                                   .capacity_total_bytes = 1000,
                                                   .peak_bytes = {0, 1, 2, 3, 4},
                                                   .capacity_bytes = {0, 100, 700, 110, 90}}}};
static struct result_port ports[] = {
    {.node = 0, .port = 0, .peer_node = 2, .peer_port = 0, .link = 0, .rate_bps = 100 * XOFF_GBPS},
    {.node = 2, .port = 0, .peer_node = 0, .peer_port = 0, .link = 0, .rate_bps = 100 * XOFF_GBPS},
    {.node = 2, .port = 1, .peer_node = 1, .peer_port = 0, .link = 1, .rate_bps = 100 * XOFF_GBPS},
};
static struct result_flow flows[] = {
    {.from = 0,
     .to = 1,
     .number = 7,
     .tag = 0,
     .priority = 3,
     .reliable = 1,
     .offered_bytes = 1000,
     .sent_bytes = 2000,
     .delivered_bytes = 1000,
     .start_at = 1000000,
     .finish_at = 4000000,
     .acked_at = 5000000,
     .ideal_for = 2000000,
     .retransmitted_frames = 1},
    {.from = 1,
     .to = 0,
     .number = 0,
     .tag = 1,
     .offered_bytes = UINT64_MAX,
     .sent_bytes = 500,
     .delivered_bytes = 500,
     .start_at = 2000000,
     .finish_at = XOFF_NEVER,
     .acked_at = XOFF_NEVER},
};
static struct result_operation operations[] = {
    {.host = 1, .tag = 0, .bytes = 4096, .start_at = 1000000, .finish_at = 3500000},
    {.host = 0, .tag = 1, .bytes = 0, .start_at = 4000000, .finish_at = 4000000},
    {.host = 0, .tag = 9, .bytes = 8192, .start_at = 0, .finish_at = 8000000}, /* of no entry */
};
static struct result_drop drops[] = {{.node = 2,
                                      .port = 0,
                                      .out_port = UINT32_MAX,
                                      .priority = 3,
                                      .cause = RESULT_DROP_LINK_DOWN,
                                      .lossless = 1,
                                      .frames = 2,
                                      .bytes = 3000,
                                      .first_at = 1500000}};
static struct result_pause pauses[] = {
    {.at = 1100000,
     .node = 2,
     .port = 0,
     .priorities = 0x08,
     .pause = 1,
     .unit = XOFF_UNIT_INGRESS,
     .occupied_bytes = 9000,
     .threshold_bytes = 8000,
     .egress_port = 1,
     .egress_priority = 3,
     .egress_paused = 1,
     .parent = UINT32_MAX},
    {.at = 1200000,
     .node = 2,
     .port = 0,
     .priorities = 0xff,
     .pause = 0,
     .unit = XOFF_UNIT_EGRESS,
     .egress_port = UINT32_MAX,
     .parent = 0},
};
static struct result_sample samples[] = {
    {.at = 10,
     .node = 2,
     .port = UINT32_MAX,
     .priority = 0xff,
     .metric = RESULT_BUFFER_BYTES,
     .value = 0.1},
    {.at = 20, .node = 2, .port = 1, .priority = 3, .metric = RESULT_TX_BPS, .value = 5e9},
};
static struct result_deadlock deadlocks[] = {
    {.onset_at = 3000000, .found_at = 9000000, .first = 0, .n = 2}};
static struct result_deadlock_port deadlock_ports[] = {{2, 1, 3}, {0, 0, 3}};
static struct result_expectation expectations[] = {
    {"drops == 0", true, "drops = 0 == 0"},
    {"fct.p99 < 1us", false, "fct.p99 = 2 us, not < 1us = 1 us"}};
static struct result_finding findings[] = {{"a finding cut within a character: \xc3"}};

static struct results sample_run(const char *variant)
{
    return (struct results){.scenario_file = "a.yaml",
                            .scenario_text = "title: A\n",
                            .title = "A",
                            .variant = variant,
                            .seed = 42,
                            .digest = 0x00ab,
                            .end_at = 12000000,
                            .stop_at = 10000000,
                            .wall_s = 0.5,
                            .threads = 2,
                            .packet_hops = 1000,
                            .control_hops = 10,
                            .events = 3000,
                            .windows = 99,
                            .peak_rss_bytes = 1 << 20,
                            .tag_names = tags,
                            .n_tags = 2,
                            .lossless = 0x18,
                            .nodes = nodes,
                            .n_nodes = 3,
                            .n_hosts = 2,
                            .buffers = buffers,
                            .n_buffers = 2,
                            .ports = ports,
                            .n_ports = 3,
                            .flows = flows,
                            .n_flows = 2,
                            .operations = operations,
                            .n_operations = 3,
                            .drops = drops,
                            .n_drops = 1,
                            .pauses = pauses,
                            .n_pauses = 2,
                            .samples = samples,
                            .n_samples = 2,
                            .deadlocks = deadlocks,
                            .n_deadlocks = 1,
                            .deadlock_ports = deadlock_ports,
                            .findings = findings,
                            .expectations = expectations,
                            .n_expectations = 2,
                            .n_findings = 1};
}

static char base[64];

static const char *path(const char *name)
{
    static char text[4][256];
    static unsigned next;
    char *buf = text[next++ % 4];
    snprintf(buf, sizeof text[0], "%s/%s", base, name);
    return buf;
}

static int make_base(void **state)
{
    (void)state;
    strcpy(base, "/tmp/xoff-results-XXXXXX");
    return mkdtemp(base) ? 0 : -1;
}

/* Removes what the tests leave: folders at most two deep. */
static void remove_tree(const char *dir)
{
    char text[512];
    DIR *d = opendir(dir);
    if (d) {
        for (struct dirent *e; (e = readdir(d));) {
            if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
                continue;
            snprintf(text, sizeof text, "%s/%s", dir, e->d_name);
            if (unlink(text) != 0)
                remove_tree(text);
        }
        closedir(d);
    }
    rmdir(dir);
}

static int remove_base(void **state)
{
    (void)state;
    remove_tree(base);
    return 0;
}

static uint32_t count_entries(const char *dir)
{
    uint32_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

/* Writes one or two runs of the sample. */
static int write_sample(const char *dir, uint32_t n_runs, bool csv, struct xoff_err *err)
{
    const struct results one = sample_run("one"), two = sample_run("two");
    const struct results *const runs[] = {&one, &two};
    struct summary *const made[] = {summary_create(&one), summary_create(&two)};
    const struct summary *const summaries[] = {made[0], made[1]};
    struct folder *folder;
    struct xoff_err own = {0};
    err = err ? err : &own;
    int status = folder_open(dir, results_names, &folder, err);
    if (!status) {
        status = results_write(folder_aside(folder), runs, summaries, n_runs, csv, err);
        if (!status)
            status = folder_publish(folder, err);
        folder_explain(folder, err);
        folder_close(folder);
    }
    summary_destroy(made[0]);
    summary_destroy(made[1]);
    return status;
}

static char *read_text(const char *name)
{
    FILE *in = fopen(name, "r");
    assert_non_null(in);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

/* The first row of a query, columns joined by '|', NULL as "-". */
static const char *ask(sqlite3 *db, const char *sql)
{
    static char row[1024];
    sqlite3_stmt *statement;
    size_t n = 0;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    row[0] = '\0';
    if (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            n += (size_t)snprintf(row + n, sizeof row - n, "%s%s", i ? "|" : "", text ? text : "-");
        }
    sqlite3_finalize(statement);
    return row;
}

static void database(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    sqlite3 *db;
    assert_int_equal(write_sample(path("db/deep"), 2, false, &err), 0);
    assert_int_equal(count_entries(path("db/deep")), 3); /* run.sqlite, summary.json, metrics.csv */
    assert_int_equal(sqlite3_open_v2(path("db/deep/run.sqlite"), &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
    assert_string_equal(ask(db, "PRAGMA user_version"), "6");
    assert_string_equal(ask(db, "PRAGMA application_id"), "2020566630"); /* 0x786f6666 */
    static const struct {
        const char *sql, *row;
    } rows[] = {
        {"SELECT count(*), group_concat(variant) FROM run", "2|one,two"},
        {"SELECT title, scenario_file, scenario_text, seed, digest, verdict, interrupted, "
         "lossless_priorities, end_at_ps, wall_s, threads, peak_rss_bytes FROM run WHERE id = 1",
         "A|a.yaml|title: A\n|42|00000000000000ab|fail|0|3,4|12000000|0.5|2|1048576"},
        {"SELECT count(*) FROM node", "6"},
        {"SELECT name, kind, held_bytes FROM node WHERE run_id = 2 AND id = 2", "s0|switch|5"},
        {"SELECT buffer_bytes, buffer_pool_watermark_bytes, reserved_bytes, "
         "reserved_watermark_bytes, shared_bytes, shared_watermark_bytes, xoff_room_bytes, "
         "buffer_pool_xoff_room_watermark_bytes, insurance_bytes, insurance_watermark_bytes "
         "FROM buffer WHERE run_id = 1 AND node_id = 2 AND name = 'shared'",
         "1000|60|100|1|700|2|110|3|90|4"},
        {"SELECT variant, node, name, buffer_used FROM v_buffer ORDER BY node DESC LIMIT 1",
         "one|s0|shared|0.06"},
        {"SELECT node, name, buffer_used FROM v_buffer ORDER BY node LIMIT 1", "h1|receive|-"},
        {"SELECT count(*) FROM port", "6"},
        {"SELECT count(*), sum(priority) FROM queue", "48|168"}, /* 2 x 3 x 8, 6 x 28 */
        {"SELECT from_node_id, to_node_id, number, traffic, priority, reliable, offered_bytes, "
         "sent_bytes, start_at_ps, finish_at_ps, acked_at_ps, ideal_ps, slowdown, "
         "retransmitted_frames FROM flow WHERE run_id = 1 AND id = 0",
         "0|1|7|web, \"big\"|3|1|1000|2000|1000000|4000000|5000000|2000000|1.5|1"},
        {"SELECT offered_bytes, finish_at_ps, acked_at_ps, ideal_ps, slowdown FROM flow "
         "WHERE run_id = 2 AND id = 1",
         "-|-|-|-|-"},
        {"SELECT from_node, to_node, fct_us, fct_ack_us, ideal_us, slowdown FROM v_flow "
         "WHERE variant = 'two' AND id = 0",
         "h0|h1|3.0|4.0|2.0|1.5"},
        /* 500 B in 10 us */
        {"SELECT fct_us, throughput_bps FROM v_flow WHERE id = 1", "-|500000000.0"},
        {"SELECT count(*), count(DISTINCT run_id), sum(id), sum(bytes) FROM operations",
         "6|2|6|24576"}, /* 2 x (0 + 1 + 2), 2 x (4096 + 0 + 8192) */
        {"SELECT * FROM operations WHERE run_id = 2 AND id = 0",
         "2|0|1|web, \"big\"|4096|1000000|3500000|2500000"},
        {"SELECT * FROM operations WHERE run_id = 1 AND id = 1",
         "1|1|0|stream|0|4000000|4000000|0"},
        {"SELECT * FROM v_operations WHERE variant = 'two' AND id = 0",
         "two|0|h1|web, \"big\"|4096|1.0|3.5|2.5"},
        {"SELECT node, traffic, duration_us FROM v_operations WHERE id = 2", "h0||8.0"},
        {"SELECT group_concat(name) FROM pragma_table_info('operations')",
         "run_id,id,node_id,traffic,bytes,start_at_ps,finish_at_ps,duration_ps"},
        {"SELECT node, port, out_port, priority, cause, lossless, frames, bytes, first_at_us "
         "FROM v_drop",
         "s0|0|-|3|link-down|1|2|3000|1.5"},
        {"SELECT at_us, node, port, paused_peer, priorities, decision, unit, occupied_bytes, "
         "threshold_bytes, egress_port, egress_peer, egress_priority, egress_paused, parent_id "
         "FROM v_pause WHERE id = 0",
         "1.1|s0|0|h0|3|XOFF|ingress|9000|8000|1|h1|3|1|-"},
        {"SELECT priorities, decision, unit, egress_port, egress_priority, parent_id FROM pause "
         "WHERE id = 1",
         "0,1,2,3,4,5,6,7|XON|egress|-|-|0"},
        {"SELECT node, port, priority, metric, value FROM v_sample", "s0|-|-|buffer_bytes|0.1"},
        {"SELECT count(*) FROM sample WHERE metric = 'tx_bps' AND port = 1 AND priority = 3", "2"},
        {"SELECT group_concat(node || ':' || port || '>' || peer) FROM (SELECT * FROM v_deadlock "
         "WHERE variant = 'one' ORDER BY position)",
         "s0:1>h1,h0:0>s0"},
        {"SELECT count(*) FROM finding WHERE text LIKE 'a finding%'", "2"},
        {"SELECT group_concat(text || ': ' || holds, ', ') FROM expectation WHERE run_id = 1",
         "drops == 0: 1, fct.p99 < 1us: 0"},
        {"SELECT value, unit FROM metric WHERE run_id = 2 AND name = 'slowdown.p99'", "1.5|ratio"},
        {"SELECT value, unit FROM metric WHERE run_id = 2 AND name = 'operations.rate'",
         "375000.0|/s"}, /* 3 in 8 us */
        {"SELECT count(*) FROM metric WHERE meaning = ''", "0"},
        {"SELECT node, peer, rate_gbps, utilisation FROM v_port LIMIT 1", "h0|s0|100.0|0.0"},
        {"SELECT node, peer, priority, xoff_room_used FROM v_queue LIMIT 1", "h0|s0|0|-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ask(db, rows[i].sql), rows[i].row);
    sqlite3_close(db);
}

static double number_at(const json_t *root, const char *name)
{
    const json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    const json_t *metric = json_object_get(json_object_get(run, "metrics"), name);
    assert_non_null(metric);
    return json_number_value(json_object_get(metric, "value"));
}

static void json_summary(void **state)
{
    (void)state;
    struct results one = sample_run("one");
    one.wall_s = 0.1 + 0.2; /* needs 17 digits */
    struct summary *s = summary_create(&one);
    const struct results *const runs[] = {&one, &one};
    const struct summary *const summaries[] = {s, s};
    char *text[2] = {NULL};
    size_t size[2];
    for (uint32_t i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text[i], &size[i]);
        assert_int_equal(results_write_json(out, runs, summaries, 2), 0);
        fclose(out);
    }
    assert_string_equal(text[0], text[1]);

    json_error_t where;
    json_t *root = json_loads(text[0], JSON_REJECT_DUPLICATES, &where);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "xoff")), XOFF_VERSION);
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 2);
    const char *variant, *title, *digest, *verdict, *node, *cause, *finding;
    int interrupted, out_port_is_null;
    json_int_t seed, frames, port;
    double end_time_s, wall_s, hops_per_s, onset_s;
    const json_t *out_port;
    assert_int_equal(
        json_unpack_ex(root, &where, 0,
                       "{s:[{s:s,s:s,s:I,s:s,s:b,s:F,s:s,s:{s:F,s:F},s:[{s:s,s:o,s:s,s:I}],"
                       "s:[{s:F,s:[{},{s:I}]}],s:[s]}]}",
                       "runs", "variant", &variant, "title", &title, "seed", &seed, "digest",
                       &digest, "interrupted", &interrupted, "end_time_s", &end_time_s, "verdict",
                       &verdict, "performance", "wall_s", &wall_s, "packet_hops_per_s", &hops_per_s,
                       "drops", "node", &node, "out_port", &out_port, "cause", &cause, "frames",
                       &frames, "deadlocks", "onset_s", &onset_s, "ports", "port", &port,
                       "findings", &finding),
        0);
    out_port_is_null = json_is_null(out_port);
    assert_string_equal(variant, "one");
    assert_string_equal(title, "A");
    assert_string_equal(digest, "00000000000000ab");
    assert_string_equal(verdict, "fail");
    assert_string_equal(node, "s0");
    assert_string_equal(cause, "link-down");
    assert_string_equal(finding, "a finding cut within a character: ?");
    assert_int_equal(seed, 42);
    assert_false(interrupted);
    assert_true(out_port_is_null);
    assert_int_equal(frames, 2);
    assert_int_equal(port, 0);
    assert_true(end_time_s == 12e-6 && onset_s == 3e-6);
    assert_true(wall_s == 0.1 + 0.2 && hops_per_s == 1000 / (0.1 + 0.2));
    assert_true(json_equal(
        json_object_get(root, "performance"),
        json_object_get(json_array_get(json_object_get(root, "runs"), 1), "performance")));
    assert_true(number_at(root, "operations") == 3 && number_at(root, "operations.max") == 8e-6);
    for (uint32_t i = 0; i < s->n_metrics; i++)
        assert_true(number_at(root, s->metrics[i].name) == s->metrics[i].value);
    json_decref(root);
    summary_destroy(s);
    free(text[0]);
    free(text[1]);

    FILE *full = fopen("/dev/full", "w");
    if (full) {
        s = summary_create(&one);
        const struct summary *const again[] = {s, s};
        assert_int_equal(results_write_json(full, runs, again, 2), -XOFF_E_IO);
        fclose(full);
        summary_destroy(s);
    }
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_findings;
        bool interrupted;
        const char *text;
    } rows[] = {{0, false, "\"verdict\": \"pass\""},
                {0, true, "\"verdict\": \"interrupted\""},
                {1, true, "\"verdict\": \"fail\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct results one = sample_run(NULL);
        one.n_findings = rows[i].n_findings;
        one.interrupted = rows[i].interrupted;
        struct summary *s = summary_create(&one);
        const struct results *const runs[] = {&one};
        const struct summary *const summaries[] = {s};
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(results_write_json(out, runs, summaries, 1), 0);
        fclose(out);
        assert_non_null(strstr(text, rows[i].text));
        free(text);
        summary_destroy(s);
    }
}

static void csv_files(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    assert_int_equal(write_sample(path("csv"), 1, true, &err), 0);
    assert_int_equal(count_entries(path("csv")), 10);
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"csv/flows.csv",
         "variant,from_node,to_node,number,traffic,priority,reliable,offered_bytes,sent_bytes,"
         "delivered_bytes,measured_bytes,drained_bytes,starving,start_at_ps,finish_at_ps,acked_at_"
         "ps,fct_ps,ideal_ps,slowdown,"
         "marked_frames,retransmitted_frames,notices,tags_sent,tags_back\n"
         "one,h0,h1,7,\"web, "
         "\"\"big\"\"\",3,1,1000,2000,1000,1000,0,0,1000000,4000000,5000000,3000000,"
         "2000000,1.5,0,1,0,0,0\n"
         "one,h1,h0,0,stream,0,0,,500,500,500,0,0,2000000,,,,,,0,0,0,0,0\n"},
        {"csv/buffers.csv",
         "variant,node,name,buffer_bytes,buffer_pool_watermark_bytes,reserved_bytes,"
         "reserved_watermark_bytes,shared_bytes,shared_watermark_bytes,xoff_room_bytes,"
         "buffer_pool_xoff_room_watermark_bytes,insurance_bytes,insurance_watermark_bytes\n"
         "one,h1,receive,0,0,0,0,0,0,0,0,0,0\n"
         "one,s0,shared,1000,60,100,1,700,2,110,3,90,4\n"},
        {"csv/operations.csv", "variant,node,traffic,bytes,start_at_ps,finish_at_ps,duration_ps\n"
                               "one,h1,\"web, \"\"big\"\"\",4096,1000000,3500000,2500000\n"
                               "one,h0,stream,0,4000000,4000000,0\n"
                               "one,h0,,8192,0,8000000,8000000\n"},
        {"csv/pauses.csv",
         "variant,id,at_ps,node,port,priorities,decision,unit,occupied_bytes,threshold_bytes,"
         "egress_port,egress_priority,egress_paused,parent_id\n"
         "one,0,1100000,s0,0,3,XOFF,ingress,9000,8000,1,3,1,\n"
         "one,1,1200000,s0,0,\"0,1,2,3,4,5,6,7\",XON,egress,0,0,,,,0\n"},
        {"csv/samples.csv", "variant,at_ps,node,port,priority,metric,value\n"
                            "one,10,s0,,,buffer_bytes,0.10000000000000001\n"
                            "one,20,s0,1,3,tx_bps,5000000000\n"},
        {"csv/drops.csv",
         "variant,node,port,out_port,priority,cause,lossless,frames,bytes,first_at_ps\n"
         "one,s0,0,,3,link-down,1,2,3000,1500000\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = read_text(path(rows[i].name));
        assert_string_equal(text, rows[i].text);
        free(text);
    }
    /* A header and 3 x 8 rows, all with the same number of commas. */
    char *text = read_text(path("csv/ports.csv"));
    uint32_t n_lines = 0, commas = 0;
    for (const char *c = text; *c; c++) {
        commas += *c == ',';
        if (*c != '\n')
            continue;
        n_lines++;
        assert_int_equal(commas, 26);
        commas = 0;
    }
    assert_int_equal(n_lines, 25);
    free(text);
}

/* Two variants that differ by a key, the second with two seeds. */
static void tidy_metrics(void **state)
{
    (void)state;
    struct metric mean[] = {{"flows", "", 3, ""}, {"fct.p99", "s", 0.1, ""}},
                  few[] = {{"flows", "", 5, ""}};
    const struct result_key first[] = {{"switch.buffer", "1,5MB"}},
                            second[] = {{"switch.buffer", ""}};
    const struct summary a = {.metrics = mean, .n_metrics = 2},
                         b = {.metrics = few, .n_metrics = 1};
    const struct summary *const summaries[] = {&a, &a}, *const by_seed[] = {&a, &b};
    const uint64_t list[] = {8, 3};
    struct result_seeds *seeds = seeds_create(list, by_seed, 2);
    const struct results one = {
        .scenario_file = "a.yaml", .variant = "one", .seed = 42, .keys = first, .n_keys = 1};
    const struct results two = {.scenario_file = "a.yaml",
                                .variant = "two",
                                .seed = 8,
                                .keys = second,
                                .n_keys = 1,
                                .seeds = seeds};
    const struct results *const runs[] = {&one, &two};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    metrics_csv_write(out, runs, summaries, 2);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "scenario,variant,seed,switch.buffer,metric,unit,value\n"
                              "a.yaml,one,42,\"1,5MB\",flows,,3\n"
                              "a.yaml,one,42,\"1,5MB\",fct.p99,s,0.10000000000000001\n"
                              "a.yaml,two,8,,flows,,3\n"
                              "a.yaml,two,8,,fct.p99,s,0.10000000000000001\n"
                              "a.yaml,two,3,,flows,,5\n"); /* that run has no completion time */
    free(text);
    seeds_destroy(seeds);
}

static void unusable_folder(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    FILE *file = fopen(path("file"), "w");
    assert_non_null(file);
    fclose(file);
    static const char *const names[] = {"file", "file/below", "file/far/below"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(write_sample(path(names[i]), 1, true, &err), -XOFF_E_IO);
        assert_non_null(strstr(err.message, path("file")));
        assert_non_null(strstr(err.message, strerror(ENOTDIR)));
    }
    /* Folders made on the way to one that cannot be made are removed again. */
    char name[512];
    snprintf(name, sizeof name, "%s/", path("made/further"));
    memset(name + strlen(name), 'x', 300); /* longer than a name may be */
    name[strlen(path("made/further/")) + 300] = '\0';
    assert_int_equal(write_sample(name, 1, true, &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, "cannot write "));
    assert_int_equal(access(path("made"), F_OK), -1);

    char *endless = calloc(1, 5001);
    assert_non_null(endless);
    memset(endless, 'a', 5000);
    assert_int_equal(write_sample(endless, 1, true, NULL), -XOFF_E_IO);
    free(endless);

    if (geteuid() == 0)
        return; /* who may write everywhere */
    assert_int_equal(mkdir(path("locked"), 0555), 0);
    assert_int_equal(write_sample(path("locked"), 1, true, &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
    assert_int_equal(count_entries(path("locked")), 0);
    assert_int_equal(rmdir(path("locked")), 0);
}

/* In a child, since the limit on file sizes stays: writes and returns the status; prints nothing.
 */
static int write_limited(const char *dir, rlim_t limit_bytes, char message[384])
{
    int channel[2];
    assert_int_equal(pipe(channel), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct xoff_err err = {0};
        const struct rlimit limit = {limit_bytes, RLIM_INFINITY};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit))
            _exit(99);
        const int status = write_sample(dir, 1, true, &err);
        const bool is_told = write(channel[1], err.message, sizeof err.message) > 0;
        _exit(is_told ? -status : 98);
    }
    int status;
    close(channel[1]);
    assert_int_equal(read(channel[0], message, 384), 384);
    close(channel[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static uint64_t file_size(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void full_disk(void **state)
{
    (void)state;
    char message[384];
    struct xoff_err err = {0};
    assert_int_equal(write_sample(path("whole"), 1, true, &err), 0);
    const uint64_t largest = file_size(path("whole/run.sqlite"));
    assert_true(largest > file_size(path("whole/summary.json")));

    /* Too small by a byte, by half, and for anything: no file, no folder. */
    const rlim_t limits[] = {(rlim_t)largest - 1, (rlim_t)largest / 2, 1, 0};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_int_equal(write_limited(path("full/out"), limits[i], message), -XOFF_E_IO);
        assert_non_null(strstr(message, path("full/out/run.sqlite")));
        assert_non_null(strstr(message, strerror(EFBIG)));
        assert_int_equal(access(path("full"), F_OK), -1);
    }
    assert_int_equal(write_limited(path("full/out"), (rlim_t)largest, message), 0);

    /* Results of an earlier run stay as they were. */
    char *before = read_text(path("whole/summary.json"));
    assert_int_equal(write_limited(path("whole"), (rlim_t)largest / 2, message), -XOFF_E_IO);
    char *after = read_text(path("whole/summary.json"));
    assert_string_equal(before, after);
    assert_int_equal(file_size(path("whole/run.sqlite")), largest);
    assert_int_equal(count_entries(path("whole")), 10);
    free(before);
    free(after);
}

/* The patterns of results_names cover all that results_write() makes: nothing of it is left. */
static void tables_of_an_earlier_run(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    assert_int_equal(write_sample(path("again"), 1, true, &err), 0);
    assert_int_equal(count_entries(path("again")), 10);
    assert_int_equal(write_sample(path("again"), 1, false, &err), 0);
    assert_int_equal(count_entries(path("again")), 3);
}

static void nothing_to_write(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    const struct results empty = {0};
    struct summary *s = summary_create(&empty);
    const struct results *const runs[] = {&empty};
    const struct summary *const summaries[] = {s};
    assert_int_equal(mkdir(path("empty"), 0777), 0);
    assert_int_equal(mkdir(path("none"), 0777), 0);
    assert_int_equal(results_write(path("empty"), runs, summaries, 1, true, &err), 0);
    assert_int_equal(results_write(path("none"), NULL, NULL, 0, true, &err), 0);
    summary_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(database),         cmocka_unit_test(json_summary),
        cmocka_unit_test(verdicts),         cmocka_unit_test(csv_files),
        cmocka_unit_test(tidy_metrics),     cmocka_unit_test(unusable_folder),
        cmocka_unit_test(full_disk),        cmocka_unit_test(tables_of_an_earlier_run),
        cmocka_unit_test(nothing_to_write),
    };
    return cmocka_run_group_tests_name("results", tests, make_base, remove_base);
}
