/* Shared by the tests of report/: a small run, written as run.sqlite by the code that writes real
 * ones, folders that are removed afterwards, and the data of a page.
 *
 *   h0 --0 s0 2----2 s1 0-- h2      h0 sends to h2 (root of the congestion) and to h3;
 *   h1 --1 s0      s1 1-- h3        s1 pauses s0 because of h2, then s0 pauses h0.
 */
#ifndef REPORT_TESTING_H
#define REPORT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>
#include <sqlite3.h>

#include "report/report.h"
#include "stats/folder.h"
#include "stats/results.h"

#define US INT64_C(1000000)

static struct result_node given_nodes[] = {{.name = "h0"},
                                           {.name = "h1"},
                                           {.name = "h2"},
                                           {.name = "h3"},
                                           {.name = "s0", .is_switch = 1},
                                           {.name = "s1", .is_switch = 1}};

/* s1 has two buffers: half of the first was used at most, nearly all of the second. */
static struct result_buffer given_buffers[] = {
    {.node = 4,
     .name = "shared",
     .view = {.capacity_total_bytes = 100,
              .peak_total_bytes = 60,
              .capacity_bytes = {[XOFF_POOL_RESERVED] = 30, [XOFF_POOL_SHARED] = 70},
              .peak_bytes = {[XOFF_POOL_RESERVED] = 20, [XOFF_POOL_SHARED] = 40}}},
    {.node = 5, .name = "input", .view = {.capacity_total_bytes = 400, .peak_total_bytes = 200}},
    {.node = 5, .name = "output", .view = {.capacity_total_bytes = 200, .peak_total_bytes = 190}}};

#define PORT(n, p, m, q)                                                              \
    {                                                                                 \
        .node = n, .port = p, .peer_node = m, .peer_port = q, .rate_bps = 10000000000 \
    }
static struct result_port given_ports[] = {
    PORT(0, 0, 4, 0), PORT(1, 0, 4, 1), PORT(2, 0, 5, 0), PORT(3, 0, 5, 1), PORT(4, 0, 0, 0),
    PORT(4, 1, 1, 0), PORT(4, 2, 5, 2), PORT(5, 0, 2, 0), PORT(5, 1, 3, 0), PORT(5, 2, 4, 2)};
#undef PORT

#define FLOW(f, t, n, size, start, finish, ideal)                                             \
    {                                                                                         \
        .from = f, .to = t, .number = n, .priority = 3, .reliable = 1, .offered_bytes = size, \
        .start_at = start * US, .finish_at = finish * US, .acked_at = XOFF_NEVER,             \
        .ideal_for = ideal * US                                                               \
    }
static struct result_flow given_flows[] = {
    FLOW(0, 2, 0, 5000, 0, 80, 10),    /* leads to the root: no victim */
    FLOW(0, 3, 1, 20000, 10, 90, 20),  /* stopped for h2's sake */
    FLOW(1, 3, 0, 2000000, 0, 40, 40), /* its host is never paused */
    FLOW(0, 1, 2, 900, 60, 70, 5),     /* stopped too, for less long */
};
#undef FLOW

static struct result_operation given_operations[] = {
    {.host = 1, .bytes = 10, .start_at = 0, .finish_at = 3 * US},
    {.host = 1, .bytes = 10, .start_at = 0, .finish_at = 1 * US}};

/* s1 pauses s0 from 20 us to 70 us, s0 pauses h0 from 30 us to 65 us. */
static struct result_pause given_pauses[] = {
    {.at = 20 * US,
     .node = 5,
     .port = 2,
     .priorities = 8,
     .pause = 1,
     .egress_port = 0,
     .parent = UINT32_MAX},
    {.at = 30 * US,
     .node = 4,
     .port = 0,
     .priorities = 8,
     .pause = 1,
     .egress_port = 2,
     .egress_paused = 1,
     .parent = 0},
    {.at = 65 * US,
     .node = 4,
     .port = 0,
     .priorities = 8,
     .egress_port = UINT32_MAX,
     .parent = UINT32_MAX},
    {.at = 70 * US,
     .node = 5,
     .port = 2,
     .priorities = 8,
     .egress_port = UINT32_MAX,
     .parent = UINT32_MAX},
};

static struct result_drop given_drops[] = {
    {.node = 5,
     .port = 2,
     .out_port = 0,
     .priority = 3,
     .cause = RESULT_DROP_BUFFER,
     .lossless = 1,
     .frames = 1,
     .bytes = 1500,
     .first_at = 5 * US},
    {.node = 4,
     .port = 0,
     .out_port = UINT32_MAX,
     .priority = 3,
     .cause = RESULT_DROP_NO_ROUTE,
     .frames = 9,
     .bytes = 900,
     .first_at = 6 * US},
};
static struct result_deadlock given_deadlocks[] = {
    {.onset_at = 50 * US, .found_at = 60 * US, .first = 0, .n = 2}};
static struct result_deadlock_port given_deadlock_ports[] = {{4, 2, 3}, {5, 2, 3}};
static struct result_finding given_findings[] = {{"cut within a character: \xc3"}};
static struct result_expectation given_expectations[] = {
    {"drops == 0", false, "drops = 10, not == 0"}};
static const char *const given_tags[] = {"web"};

static inline struct results test_results(const char *variant)
{
    given_ports[0].busy_for = 25 * US;
    given_ports[0].queue[3].paused_for = 35 * US;
    given_ports[4].queue[3].headroom_bytes = 1000;
    given_ports[4].queue[3].headroom_peak_bytes = 900;
    return (struct results){.scenario_file = "a.yaml",
                            .scenario_text = "title: </script><!-- A\n",
                            .title = "A & <b>",
                            .variant = variant,
                            .config_text = "x: 1\n",
                            .seed = 7,
                            .digest = 0xab,
                            .end_at = 100 * US,
                            .stop_at = 100 * US,
                            .wall_s = 0.5,
                            .threads = 2,
                            .packet_hops = 12,
                            .tag_names = given_tags,
                            .n_tags = 1,
                            .nodes = given_nodes,
                            .n_nodes = 6,
                            .n_hosts = 4,
                            .buffers = given_buffers,
                            .n_buffers = 3,
                            .ports = given_ports,
                            .n_ports = 10,
                            .flows = given_flows,
                            .n_flows = 4,
                            .operations = given_operations,
                            .n_operations = 2,
                            .drops = given_drops,
                            .n_drops = 2,
                            .pauses = given_pauses,
                            .n_pauses = 4,
                            .deadlocks = given_deadlocks,
                            .n_deadlocks = 1,
                            .deadlock_ports = given_deadlock_ports,
                            .findings = given_findings,
                            .n_findings = 1,
                            .expectations = given_expectations,
                            .n_expectations = 1};
}

/* A folder for the test's files; the caller removes it by remove_folder(). */
static inline char *make_folder(char folder[64])
{
    snprintf(folder, 64, "/tmp/xoff-report-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static inline void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static inline void write_results(const char *folder, const struct results *const *runs, uint32_t n)
{
    struct xoff_err err = {0};
    const struct summary *summaries[8];
    assert_true(n <= 8);
    for (uint32_t i = 0; i < n; i++)
        summaries[i] = summary_create(runs[i]);
    struct folder *open;
    assert_int_equal(folder_open(folder, results_names, &open, &err), 0);
    assert_int_equal(results_write(folder_aside(open), runs, summaries, n, false, &err), 0);
    assert_int_equal(folder_publish(open, &err), 0);
    folder_close(open);
    for (uint32_t i = 0; i < n; i++)
        summary_destroy((struct summary *)summaries[i]);
}

static inline void write_result(const char *folder, const struct results *run)
{
    write_results(folder, &run, 1);
}

/* Executes SQL on a results file, to damage or change it. */
static inline void execute(const char *folder, const char *sql)
{
    char path[256], *message = NULL;
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/run.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static inline char *read_text(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return NULL;
    char *text = malloc((size_t)status.st_size + 1);
    FILE *in = fopen(path, "r");
    assert_true(text && in);
    text[fread(text, 1, (size_t)status.st_size, in)] = '\0';
    fclose(in);
    return text;
}

/* The document in a page, as a browser finds it: up to the end of its element. */
static inline json_t *page_json(const char *path)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    char *text = read_text(path);
    assert_non_null(text);
    char *data = strstr(text, begin);
    assert_non_null(data);
    data += strlen(begin);
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    *end = '\0';
    json_error_t error;
    json_t *json = json_loads(data, 0, &error);
    if (!json)
        fail_msg("%s", error.text);
    free(text);
    return json;
}

/* The value at "a.2.b", which must be there. */
static inline json_t *at(json_t *json, const char *path)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok(copy, "."); key; key = strtok(NULL, ".")) {
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(key))
                                   : json_object_get(json, key);
        if (!json)
            fail_msg("no %s in %s", key, path);
    }
    return json;
}

static inline double number_at(json_t *json, const char *path)
{
    json = at(json, path);
    if (!json_is_number(json))
        fail_msg("%s is no number", path);
    return json_number_value(json);
}

static inline const char *text_at_path(json_t *json, const char *path)
{
    json = at(json, path);
    if (!json_is_string(json))
        fail_msg("%s is no text", path);
    return json_string_value(json);
}

#define assert_near(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

#endif
