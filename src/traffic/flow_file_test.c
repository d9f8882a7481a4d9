/* Kind flows: lists and files, order of equal times, each bad line with its place. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "traffic/traffic_testing.h"

#include <unistd.h>

#include "traffic/flow_file.h"

/* Binds `flows` with list items given as settings, NULL-terminated, and an optional file. */
static int bind_list(struct bench *b, const char *entry, const char *const *items)
{
    const struct traffic_kind *kind = traffic_find("flows");
    uint32_t n = 0;
    while (items && items[n])
        n++;
    void *params = calloc(1, kind->params_size);
    char *list = calloc(n + 1, kind->item_size);
    bench_set(kind->params, params, entry);
    for (uint32_t i = 0; i < n; i++)
        bench_set(kind->item_params, list + i * kind->item_size, items[i]);
    app_set_fini(&b->apps);
    memset(&b->err, 0, sizeof b->err);
    const int rc = kind->bind(&b->env, params, list, n, &b->apps, &b->err);
    free(params);
    free(list);
    return rc;
}

static void list(void **unused)
{
    (void)unused;
    static const char *const items[] = {
        "at=5us; from=h2; to=h0; size=3KB; priority=0",
        "at=2us; from=h1; to=h0; size=1KB; rate=10Gbps; transport=datagram",
        "at=1us; from=h2; to=h1; size=2KB; priority=7",
        "at=5us; from=h2; to=h1; size=auto",
        "at=1ms; from=h0; to=h1; size=1KB", /* at the run's stop */
        NULL,
    };
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    struct record r = {0};
    assert_string_equal(traffic_find("flows")->items_key, "list");
    assert_int_equal(bind_list(b, "priority=4; transport=none", items), 0);
    assert_int_equal(b->apps.n, 2);
    bench_run(b, XOFF_NEVER, &r);
    static const struct {
        uint32_t host, to;
        xoff_time at;
        uint64_t bytes;
        xoff_rate rate;
        uint8_t priority, transport;
    } rows[] = {
        {1, 0, 2 * XOFF_US, 1000, 10 * XOFF_GBPS, 4, DATAGRAM},
        {2, 1, 1 * XOFF_US, 2000, 0, 7, RELIABLE},
        {2, 0, 5 * XOFF_US, 3000, 0, 0, RELIABLE},
        {2, 1, 5 * XOFF_US, UINT64_MAX, 0, 4, RELIABLE},
    };
    assert_int_equal(r.n, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct app_offer *offer = &r.seen[i].offer;
        assert_int_equal(r.seen[i].host, rows[i].host);
        assert_int_equal(offer->to, rows[i].to);
        assert_int_equal(r.seen[i].at, rows[i].at);
        assert_true(offer->bytes == rows[i].bytes);
        assert_int_equal(offer->rate_bps, rows[i].rate);
        assert_int_equal(offer->priority, rows[i].priority);
        assert_int_equal(offer->transport, rows[i].transport);
        assert_false(offer->continues);
    }
    record_fini(&r);
    bench_fini(b);
}

/* A set of priorities is for the flows that state none of their own. */
static void list_with_priorities(void **unused)
{
    (void)unused;
    static const char *const items[] = {"from=h0; to=h1; size=1KB; priority=5",
                                        "from=h1; to=h2; size=1KB",
                                        "from=h2; to=h1; size=1KB; priority=0", NULL};
    static const uint8_t priority[] = {5, 0, 0}, set[] = {0, 0x0a, 0};
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    struct record r = {0};
    assert_int_equal(bind_list(b, "priorities=1,3", items), 0);
    bench_run(b, XOFF_NEVER, &r);
    assert_int_equal(r.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(r.seen[i].offer.priority, priority[i]);
        assert_int_equal(r.seen[i].offer.priorities, set[i]);
    }
    assert_int_equal(bind_list(b, "priorities=1,8", items), -XOFF_E_RANGE);
    assert_string_equal(b->err.subject, "priorities");
    record_fini(&r);
    bench_fini(b);
}

static void refuses_item(struct bench *b, const char *item, const char *subject,
                         enum xoff_err_code code)
{
    const char *const items[] = {"from=h0; to=h1; size=1KB", item, NULL};
    const int rc = bind_list(b, "", items);
    if (rc != -(int)code || strcmp(b->err.subject, subject) != 0)
        fail_msg("%s: %d %s: %s", item, rc, b->err.subject, b->err.message);
    assert_int_equal(b->apps.n, 0);
}

static void bad_list(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    refuses_item(b, "from=h0; to=h0; size=1KB", "list.1.to", XOFF_E_CONFLICT);
    refuses_item(b, "from=h3; to=h0; size=1KB", "list.1.from", XOFF_E_UNKNOWN);
    refuses_item(b, "from=h0; to=sw; size=1KB", "list.1.to", XOFF_E_UNKNOWN);
    refuses_item(b, "from=h0; size=1KB", "list.1.to", XOFF_E_MISSING);
    refuses_item(b, "to=h0; size=1KB", "list.1.from", XOFF_E_MISSING);
    refuses_item(b, "from=h0; to=h1", "list.1.size", XOFF_E_RANGE);
    refuses_item(b, "from=h0; to=h1; size=1KB; rate=101Gbps", "list.1.rate", XOFF_E_RANGE);
    refuses_item(b, "from=h0; to=h1; size=1KB; transport=x", "list.1.transport", XOFF_E_UNKNOWN);
    assert_string_equal(b->err.value, "x");
    assert_int_equal(bind_list(b, "", NULL), -XOFF_E_MISSING);
    assert_string_equal(b->err.subject, "list");
    bench_fini(b);
}

/* Reads `text` of `size` bytes as a file; the schedule is the caller's to free. */
static int parse(struct bench *b, const char *text, size_t size, struct schedule **schedule)
{
    struct flow_names names;
    const struct schedule_entry preset = {
        .priority = 5, .priorities = 0x60, .transport = RELIABLE, .rate_bps = 9};
    assert_int_equal(flow_names_init(&names, &b->topo, &b->err), 0);
    memset(&b->err, 0, sizeof b->err);
    *schedule = NULL;
    const int rc = flow_file_parse("flows.csv", text, size, &names, &preset, schedule, &b->err);
    free(names.by_name);
    return rc;
}

static void file_text(void **unused)
{
    (void)unused;
    static const char text[] = "# a comment, with, commas\r\n"
                               "at_s,from,to,bytes,priority\r\n"
                               "0.000001,h11,h2,1000,3\n"
                               "\n"
                               "  1e-6 , 10 ,\th0 ,1000000000000000\r\n"
                               "0,h0,h1,1,0\n"
                               "1.5,h0,h1,7,7\n"
                               "0.123456789012,h0,h1,7,7\n"
                               "0.0000000000015,h0,h1,7,7"; /* no newline; 1.5 ps */
    struct bench *b = bench_create(12, 100 * XOFF_GBPS, XOFF_MS);
    struct schedule *s;
    assert_int_equal(parse(b, text, sizeof text - 1, &s), 0);
    static const struct schedule_entry rows[] = {
        {.at = XOFF_US, .bytes = 1000, .from = 11, .to = 2, .priority = 3},
        {.at = XOFF_US, .bytes = 1000000000000000, .from = 10, .to = 0, .priority = 5},
        {.at = 0, .bytes = 1, .from = 0, .to = 1, .priority = 0},
        {.at = 3 * XOFF_S / 2, .bytes = 7, .from = 0, .to = 1, .priority = 7},
        {.at = 123456789012, .bytes = 7, .from = 0, .to = 1, .priority = 7},
        {.at = 2, .bytes = 7, .from = 0, .to = 1, .priority = 7},
    };
    assert_int_equal(s->n, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(s->entries[i].at, rows[i].at);
        assert_int_equal(s->entries[i].bytes, rows[i].bytes);
        assert_int_equal(s->entries[i].from, rows[i].from);
        assert_int_equal(s->entries[i].to, rows[i].to);
        assert_int_equal(s->entries[i].priority, rows[i].priority);
        assert_int_equal(s->entries[i].priorities, i == 1 ? 0x60 : 0); /* where none is stated */
        assert_int_equal(s->entries[i].transport, RELIABLE);
        assert_int_equal(s->entries[i].rate_bps, 9);
        assert_int_equal(s->entries[i].order, i);
    }
    free(s);
    assert_int_equal(parse(b, "", 0, &s), 0);
    assert_null(s);
    /* A host's name goes before a number. */
    strcpy(b->nodes[4].name, "7");
    assert_int_equal(parse(b, "0,7,h0,1", 8, &s), 0);
    assert_int_equal(s->entries[0].from, 4);
    free(s);
    bench_fini(b);
}

static void bad_lines(void **unused)
{
    (void)unused;
    static const struct {
        const char *line;
        enum xoff_err_code code;
    } rows[] = {
        {"0,h0,h1", XOFF_E_SYNTAX},
        {"0,h0,h1,1,1,1", XOFF_E_SYNTAX},
        {"junk", XOFF_E_SYNTAX},
        {",,,", XOFF_E_TYPE},
        {"-1,h0,h1,1", XOFF_E_TYPE},
        {"1us,h0,h1,1", XOFF_E_TYPE},
        {"1/2,h0,h1,1", XOFF_E_TYPE},
        {"1.,h0,h1,1", XOFF_E_TYPE},
        {"9000001,h0,h1,1", XOFF_E_TYPE},
        {"0,h2,h1,1", XOFF_E_UNKNOWN},
        {"0,h0,2,1", XOFF_E_UNKNOWN},
        {"0,h0,,1", XOFF_E_UNKNOWN},
        {"0,h0,a_name_longer_than_any_name_of_a_node,1", XOFF_E_UNKNOWN},
        {"0,h0,sw,1", XOFF_E_UNKNOWN},
        {"0,h0,h0,1", XOFF_E_CONFLICT},
        {"0,h0,0,1", XOFF_E_CONFLICT},
        {"0,h0,h1,0", XOFF_E_RANGE},
        {"0,h0,h1,-5", XOFF_E_RANGE},
        {"0,h0,h1,1KB", XOFF_E_RANGE},
        {"0,h0,h1,1000000000000001", XOFF_E_RANGE},
        {"0,h0,h1,99999999999999999999999999", XOFF_E_RANGE},
        {"0,h0,h1,1,8", XOFF_E_RANGE},
        {"0,h0,h1,1,", XOFF_E_RANGE},
    };
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        struct schedule *s;
        snprintf(text, sizeof text, "0,h0,h1,1\r\n\r\n%s\r\n", rows[i].line);
        const int rc = parse(b, text, strlen(text), &s);
        if (rc != -(int)rows[i].code || b->err.line != 3)
            fail_msg("%s: %d in line %d: %s", rows[i].line, rc, b->err.line, b->err.message);
        assert_string_equal(b->err.file, "flows.csv");
        assert_string_equal(b->err.subject, "file");
        free(s);
    }
    struct schedule *s;
    assert_int_equal(parse(b, "0,h0\0,h1,1", 10, &s), -XOFF_E_SYNTAX);
    free(s);
    bench_fini(b);
}

/* A whole file through bind: order within a sender by time, then by line; list and file together.
 */
static void file_and_list(void **unused)
{
    (void)unused;
    char path[] = "/tmp/xoff-flows-XXXXXX", entry[64];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (int i = 0; i < 20000; i++) /* more than one buffer of the reader */
        fprintf(file, "0.00000%d,h%d,h%d,%d\n", 9 - i % 2, i % 3, (i + 1) % 3, i + 1);
    fclose(file);
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    struct record r = {0};
    static const char *const items[] = {"at=8us; from=h0; to=h1; size=77B", NULL};
    snprintf(entry, sizeof entry, "file=%s", path);
    assert_int_equal(bind_list(b, entry, items), 0);
    bench_run(b, XOFF_NEVER, &r);
    assert_int_equal(r.n, 20001);
    assert_int_equal(r.seen[0].offer.bytes, 77);
    for (size_t i = 1; i < r.n; i++) {
        const struct seen *a = &r.seen[i - 1], *c = &r.seen[i];
        assert_true(a->host <= c->host);
        if (a->host == c->host) {
            assert_true(a->at <= c->at);
            assert_true(a->at < c->at || i == 1 || a->offer.bytes < c->offer.bytes);
        }
    }
    record_fini(&r);
    unlink(path);
    assert_int_equal(bind_list(b, entry, items), -XOFF_E_IO);
    assert_string_equal(b->err.subject, "file");
    assert_string_equal(b->err.file, path);
    assert_int_equal(bind_list(b, "file=/", NULL), -XOFF_E_IO); /* a folder */
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list),      cmocka_unit_test(list_with_priorities),
        cmocka_unit_test(bad_list),  cmocka_unit_test(file_text),
        cmocka_unit_test(bad_lines), cmocka_unit_test(file_and_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
