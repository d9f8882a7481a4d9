/* The page as a whole: what is embedded and how, names of runs, files that are no good, and that a
 * page of a long run is small and soon made. */
#include "report/report_testing.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "report/page.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static char folder[64];

static int setup(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

/* A path within the folder; good for the next 15 calls. */
static const char *in_folder(const char *name)
{
    static char paths[16][256];
    static uint32_t next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static json_t *create(const char *const *results, uint32_t n)
{
    struct xoff_err err = {0};
    if (report_create(results, n, in_folder("page.html"), &err))
        fail_msg("%s: %s", err.file, err.message);
    return page_json(in_folder("page.html"));
}

static void write_run(const char *name, const char *variant)
{
    const struct results r = test_results(variant);
    write_result(in_folder(name), &r);
}

static void test_page(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    const char *path = in_folder("a.html");
    assert_int_equal(report_write_page(path, REPORT_REPRODUCE, "<A> & \"b\"",
                                       "{\"a\":\"</script><!-- </SCRIPT\",\"b\":[1]}", &err),
                     0);
    char *text = read_text(path);
    assert_non_null(strstr(text, "<title>&lt;A&gt; &amp; &quot;b&quot;</title>"));
    assert_non_null(strstr(text, "data-page=\"reproduce\""));
    assert_non_null(strstr(text, "echarts"));
    assert_null(strstr(text, "{{"));
    assert_null(strstr(text, "<!-- <"));
    /* One </script> for each <script>: none of the data's. */
    uint32_t n_begin = 0, n_end = 0;
    for (const char *s = text; (s = strstr(s, "<script")); s++)
        n_begin++;
    for (const char *s = text; (s = strcasestr(s, "</script")); s++)
        n_end++;
    assert_int_equal(n_begin, 3);
    assert_int_equal(n_end, 3);
    /* No network: nothing is loaded from elsewhere. */
    assert_null(strstr(text, "src=\"http"));
    assert_null(strstr(text, "<link rel=\"stylesheet"));
    assert_int_equal(strncmp(text, "<!doctype html>", 15), 0);
    free(text);
    json_t *json = page_json(path);
    assert_string_equal(text_at_path(json, "a"), "</script><!-- </SCRIPT");
    json_decref(json);
}

static void test_page_cannot_be_written(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    assert_int_equal(report_write_page(in_folder("no/such/a.html"), REPORT_RUN, "A", "{}", &err),
                     -XOFF_E_IO);
    assert_non_null(strstr(err.message, "cannot be written: No such file"));
    assert_non_null(strstr(err.file, "no/such/a.html"));

    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(report_write_page(in_folder("d"), REPORT_RUN, "A", "{}", &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, "directory"));

    assert_int_equal(report_write_page("/dev/full", REPORT_RUN, "A", "{}", &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, "No space"));
}

/* What is there already stays until the new page is whole; a link is followed. */
static void test_page_replaces(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    struct stat status;
    assert_int_equal(report_write_page(in_folder("a.html"), REPORT_RUN, "A", "{}", &err), 0);
    assert_int_equal(symlink("a.html", in_folder("b.html")), 0);
    assert_int_equal(report_write_page(in_folder("b.html"), REPORT_RUN, "B", "{}", &err), 0);
    assert_int_equal(lstat(in_folder("b.html"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    char *text = read_text(in_folder("a.html"));
    assert_non_null(strstr(text, "<title>B</title>"));
    free(text);
}

static void test_create(void **state)
{
    (void)state;
    write_run("run-a", "");
    const char *results[] = {in_folder("run-a")};
    json_t *json = create(results, 1);
    assert_string_equal(text_at_path(json, "page"), "run");
    assert_string_equal(text_at_path(json, "title"), "A & <b>");
    assert_string_equal(text_at_path(json, "xoff_version"), XOFF_VERSION);
    assert_int_equal(json_array_size(at(json, "runs")), 1);
    assert_string_equal(text_at_path(json, "runs.0.name"), "run-a");
    assert_string_equal(text_at_path(json, "runs.0.scenario"), "title: </script><!-- A\n");
    json_decref(json);
    /* The same twice, byte for byte: no clock in it. */
    char *one = read_text(in_folder("page.html"));
    json_decref(create(results, 1));
    char *two = read_text(in_folder("page.html"));
    assert_string_equal(one, two);
    free(two);
    free(one);
}

static void test_names(void **state)
{
    (void)state;
    const struct results a = test_results("PFC"), b = test_results("none");
    const struct results *both[] = {&a, &b};
    write_results(in_folder("run-a"), both, 2);
    write_run("run-b", "");
    write_run("x", "");
    write_run("x/run-b", "");
    const char *one[] = {in_folder("run-a")};
    json_t *json = create(one, 1);
    assert_string_equal(text_at_path(json, "runs.0.name"), "PFC");
    assert_string_equal(text_at_path(json, "runs.1.name"), "none");
    json_decref(json);

    char path[4][256];
    snprintf(path[0], 256, "%s/run-a/run.sqlite", folder);
    snprintf(path[1], 256, "%s/run-b/", folder);
    snprintf(path[2], 256, "%s/x/run-b", folder);
    const char *three[] = {path[0], path[1], path[2]};
    json = create(three, 3);
    assert_int_equal(json_array_size(at(json, "runs")), 4);
    assert_string_equal(text_at_path(json, "runs.0.name"), "run-a PFC");
    assert_string_equal(text_at_path(json, "runs.1.name"), "run-a none");
    assert_string_equal(text_at_path(json, "runs.2.name"), "run-b");
    assert_string_equal(text_at_path(json, "runs.3.name"), "run-b #2");
    json_decref(json);
}

static void expect_error(const char *results, int code, const char *message)
{
    struct xoff_err err = {0};
    const char *page = in_folder("bad.html");
    assert_int_equal(report_create(&results, 1, page, &err), -code);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" has no \"%s\"", err.message, message);
    assert_non_null(strstr(results, err.file[0] ? folder : ""));
    assert_int_equal(access(page, F_OK), -1);
}

static void write_text(const char *name, const char *bytes, size_t n)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(out);
}

static void test_not_ours(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    char text[400];
    memset(text, 'x', sizeof text);
    assert_int_equal(report_create(NULL, 0, in_folder("bad.html"), &err), -XOFF_E_MISSING);
    expect_error(in_folder("none"), XOFF_E_MISSING, "No such file");
    expect_error(folder, XOFF_E_MISSING, "no run.sqlite in this folder");
    write_text("empty", "", 0);
    expect_error(in_folder("empty"), XOFF_E_SYNTAX, "empty");
    write_text("short", "SQLite format 3", 16);
    expect_error(in_folder("short"), XOFF_E_SYNTAX, "not a results file");
    write_text("text", text, sizeof text);
    expect_error(in_folder("text"), XOFF_E_SYNTAX, "not a results file");

    assert_int_equal(mkdir(in_folder("other"), 0777), 0);
    execute(in_folder("other"), "CREATE TABLE run (id)");
    expect_error(in_folder("other"), XOFF_E_SYNTAX, "of another program");
    /* Says that it is ours, but has no tables. */
    assert_int_equal(mkdir(in_folder("bare"), 0777), 0);
    execute(in_folder("bare"), "PRAGMA application_id = 0x786f6666; PRAGMA user_version = 6;"
                               "CREATE TABLE a (id)");
    expect_error(in_folder("bare"), XOFF_E_SYNTAX, "no such table: run");
}

static void test_other_version(void **state)
{
    (void)state;
    write_run("old", "");
    execute(in_folder("old"), "UPDATE run SET xoff_version = '0.1.0'");
    const char *results[] = {in_folder("old")};
    json_t *json = create(results, 1);
    assert_true(json_is_true(at(json, "runs.0.version_differs")));
    assert_string_equal(text_at_path(json, "runs.0.xoff_version"), "0.1.0");
    json_decref(json);
    execute(in_folder("old"), "PRAGMA user_version = 5");
    expect_error(in_folder("old"), XOFF_E_CONFLICT, "their layout is 5");
    execute(in_folder("old"), "PRAGMA user_version = 7");
    expect_error(in_folder("old"), XOFF_E_CONFLICT, "another version");
}

static void test_no_runs(void **state)
{
    (void)state;
    write_run("a", "");
    execute(in_folder("a"), "DELETE FROM run");
    expect_error(in_folder("a"), XOFF_E_SYNTAX, "there is no run");
}

static void test_interrupted(void **state)
{
    (void)state;
    struct results r = test_results("");
    r.interrupted = true;
    r.n_findings = 0;
    r.end_at = 0; /* before anything happened */
    r.n_flows = r.n_pauses = r.n_operations = 0;
    write_result(in_folder("a"), &r);
    const char *results[] = {in_folder("a")};
    json_t *json = create(results, 1);
    assert_true(json_is_true(at(json, "runs.0.interrupted")));
    assert_string_equal(text_at_path(json, "runs.0.verdict"), "interrupted");
    assert_int_equal(number_at(json, "runs.0.flows.n"), 0);
    assert_int_equal(json_array_size(at(json, "runs.0.flows.cdf.fct")), 0);
    json_decref(json);
}

static void test_truncated(void **state)
{
    (void)state;
    write_run("a", "");
    char path[256], whole[256];
    snprintf(path, sizeof path, "%s/a/run.sqlite", folder);
    snprintf(whole, sizeof whole, "%s/a", folder);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    /* One byte missing, half, all but the head. */
    const off_t sizes[] = {status.st_size - 1, status.st_size / 2, 100};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(truncate(path, sizes[i]), 0);
        expect_error(whole, XOFF_E_SYNTAX, "truncated");
    }
    assert_int_equal(truncate(path, 99), 0);
    expect_error(whole, XOFF_E_SYNTAX, "not a results file");
}

/* Pages overwritten one after the other: an error or a page, never more than that. */
static void test_damaged(void **state)
{
    (void)state;
    write_run("a", "");
    char path[256];
    snprintf(path, sizeof path, "%s/a/run.sqlite", folder);
    const char *results[] = {in_folder("a")};
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    char *bytes = malloc((size_t)status.st_size);
    FILE *in = fopen(path, "r");
    assert_true(bytes && in);
    assert_int_equal(fread(bytes, 1, (size_t)status.st_size, in), status.st_size);
    fclose(in);
    uint32_t n_errors = 0, n_pages = (uint32_t)(status.st_size / 8192);
    for (uint32_t page = 0; page < n_pages; page++) {
        char saved[8192];
        char *place = bytes + page * 8192 + (page ? 0 : 100);
        memcpy(saved, place, 8092);
        memset(place, 0x5a, 8092);
        write_text("a/run.sqlite", bytes, (size_t)status.st_size);
        memcpy(place, saved, 8092);
        struct xoff_err err = {0};
        if (report_create(results, 1, in_folder("page.html"), &err)) {
            n_errors++;
            assert_true(err.message[0]);
        }
    }
    assert_in_range(n_errors, 8, n_pages);
    free(bytes);
}

/* Values that no run leaves: told, or shown, but nothing breaks. */
static void test_nonsense(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE node SET id = id + 100",
        "UPDATE port SET node_id = node_id + 99",
        "UPDATE port SET peer_node_id = 99, peer_port = -1",
        "UPDATE pause SET parent_id = 3",
        "UPDATE pause SET parent_id = -1, egress_port = 77, priorities = 'x', at_ps = -5",
        "UPDATE pause SET at_ps = 9223372036854775807",
        "UPDATE pause SET id = id + 7",
        "UPDATE flow SET from_node_id = NULL, to_node_id = 4000000000, priority = -1",
        "UPDATE flow SET start_at_ps = -9223372036854775807, finish_at_ps = 9223372036854775807",
        "UPDATE flow SET traffic = NULL, slowdown = 'much', offered_bytes = -1",
        "UPDATE run SET end_at_ps = NULL, title = NULL, variant = NULL, seed = 'x'",
        "UPDATE run SET end_at_ps = -1, verdict = x'ff00ff'",
        "UPDATE run SET end_at_ps = 9223372036854775807",
        ("INSERT INTO sample VALUES (1, -1, -1, 5000000000, 99, 'queue_bytes', 'x'), "
         "(1, 9223372036854775807, NULL, NULL, NULL, 'tx_bps', 9e999), (1, 1, 1, 1, 1, NULL, 1)"),
        "UPDATE metric SET value = 9e999, unit = NULL",
        "UPDATE drop_place SET node_id = NULL, frames = 'x'",
        "UPDATE deadlock_port SET node_id = 77, priority = 300",
        "UPDATE queue SET port = port - 70, pg_xoff_room_bytes = 1",
    };
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        write_run("a", "");
        execute(in_folder("a"), changes[i]);
        struct xoff_err err = {0};
        const char *results[] = {in_folder("a")};
        if (!report_create(results, 1, in_folder("page.html"), &err))
            json_decref(page_json(in_folder("page.html")));
        else
            assert_non_null(strstr(err.message, "damaged"));
    }
}

/* Before an INSERT ... FROM r: rows with i from 0. */
#define ROWS "WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r LIMIT "
#define MILLION ROWS "1000000) "
#define TWO_HUNDRED_THOUSAND ROWS "200000) "

/* A million flows and samples, a hundred thousand pauses. The flows are of
 * 200 entries, the pauses of all ports of the switches and all priorities. */
static const char *const large[] = {
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
    "DROP INDEX flow_key; DROP INDEX pause_key; DROP INDEX pause_parent; DROP INDEX sample_series",
    "DELETE FROM flow; DELETE FROM pause; DELETE FROM sample",
    "UPDATE run SET end_at_ps = 1000000000000",
    MILLION "INSERT INTO flow (run_id, id, from_node_id, to_node_id, number, traffic, priority, "
            "reliable, offered_bytes, sent_bytes, delivered_bytes, start_at_ps, finish_at_ps, "
            "ideal_ps, slowdown, marked_frames, retransmitted_frames) SELECT 1, i, i % 4, (i + 1 + "
            "i % 3) % 4, i, 'entry' || (i % 200), "
            "3, 1, i * 7919 % 20000000, 1, 1, i * 1000000, i * 1000000 + 1000000 + "
            "i * 104729 % 999983, 1000000, 1 + i * 7 % 1000 / 10.0, 0, 0 FROM r",
    TWO_HUNDRED_THOUSAND
    "INSERT INTO pause SELECT 1, i, i * 5000000, 4 + i / 2 % 2, i / 4 % 3, "
    "i / 12 % 8, CASE i % 2 WHEN 0 THEN 'XOFF' ELSE 'XON' END, 'ingress', 1, 1, "
    "i / 24 % 3, 3, 0, CASE WHEN i > 200 AND i % 4 < 2 THEN i / 2 * 2 - 100 END "
    "FROM r",
    MILLION "INSERT INTO sample SELECT 1, i / 100 * 1000000, i / 4 % 5 + 1, i / 20 % 5, i % 2 + 3, "
            "CASE i / 2 % 2 WHEN 0 THEN 'tx_bps' ELSE 'queue_bytes' END, "
            "i * 7919 % 1000003 / 7.0 FROM r",
    "COMMIT",
};

static void make_large(const char *name)
{
    char sql[4000] = "";
    write_run(name, "");
    for (uint32_t i = 0; i < sizeof large / sizeof *large; i++) {
        strcat(sql, large[i]);
        strcat(sql, ";");
    }
    execute(in_folder(name), sql);
}

static double cpu_s(const struct rusage *usage)
{
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Makes the page in a process of its own, whose memory is the page's alone. */
static struct rusage make_page(const char *const *results, const char *path)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct xoff_err err = {0};
        _exit(report_create(results, 1, path, &err) ? 1 : 0);
    }
    struct rusage usage;
    int how;
    assert_int_equal(wait4(child, &how, 0, &usage), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    print_message("page of a large run: %.2f s, %ld MB\n", cpu_s(&usage), usage.ru_maxrss / 1024);
    return usage;
}

static void test_large(void **state)
{
    (void)state;
    make_large("a");
    const char *results[] = {in_folder("a")}, *path = in_folder("page.html");
    struct rusage usage = make_page(results, path);
    if (!IS_SANITIZED) {
        /* The best of three counts: whoever else uses the machine makes it slower, never faster. */
        for (int i = 0; i < 2 && cpu_s(&usage) >= 4; i++)
            usage = make_page(results, path);
        assert_true(cpu_s(&usage) < 4);
        assert_true(usage.ru_maxrss < 300 * 1024);
    }
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, 1000000, PAGE_MOST_BYTES);
    json_t *json = page_json(path);
    assert_int_equal(number_at(json, "runs.0.flows.n"), 1000000);
    assert_int_equal(json_object_size(at(json, "runs.0.flows.by_entry")), 8);
    assert_int_equal(number_at(json, "runs.0.flows.entries_left_out"), 192);
    assert_int_equal(number_at(json, "runs.0.pauses.n"), 100000);
    assert_in_range(json_array_size(at(json, "runs.0.flows.cdf.fct")), 100, 400);
    json_decref(json);
}

/* Texts and names as long as they come, in eight variants. */
static void test_small_page_of_much(void **state)
{
    (void)state;
    struct results runs[8];
    const struct results *all[8];
    char *text = malloc(3000001);
    assert_non_null(text);
    memset(text, '<', 3000000); /* each takes six bytes in the page */
    text[3000000] = '\0';
    for (uint32_t i = 0; i < 8; i++) {
        runs[i] = test_results("v");
        runs[i].scenario_text = runs[i].config_text = text;
        all[i] = &runs[i];
    }
    write_results(in_folder("a"), all, 8);
    free(text);
    execute(in_folder("a"), TWO_HUNDRED_THOUSAND "INSERT INTO metric SELECT 1, 'metric.' || i || "
                                                 "'.of.a.long.name', i / 3.0, 's', 'it' FROM r");
    execute(in_folder("a"), TWO_HUNDRED_THOUSAND "INSERT INTO drop_place SELECT 1, 4, i, i, 3, "
                                                 "'buffer', 1, i, i, i FROM r");
    const char *results[] = {in_folder("a")};
    json_t *json = create(results, 1);
    struct stat status;
    assert_int_equal(stat(in_folder("page.html"), &status), 0);
    assert_true(status.st_size <= PAGE_MOST_BYTES);
    assert_int_equal(json_array_size(at(json, "runs")), 8);
    assert_string_equal(text_at_path(json, "runs.7.name"), "v #8");
    assert_non_null(strstr(text_at_path(json, "runs.7.config"), "of 3000000 bytes"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page_replaces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_create, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_page_of_much, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
