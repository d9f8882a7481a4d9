/* Columns of results: what is read from a row, and that a column stated once is in the database,
 * the CSV file, the digest and the page.
 *
 * docs/results.md has marked regions (doc_testing.h) that are made from the tables,
 *     <!-- columns: flow -->  ... <!-- end -->   the columns of a table
 *     <!-- csv -->  ... <!-- end -->             the CSV files and their columns
 *
 *     tables_test [--update] [folder with the sources]
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/doc_testing.h"
#include "stats/output.h"
#include "stats/tables.h"

static bool write_region(FILE *out, const char *mark);
static struct doc page = {".", "docs/results.md", write_region};

static void write_columns(FILE *out, const struct table *table)
{
    bool is_digested = false;
    for (const struct column *c = table->columns; c->name; c++)
        is_digested |= c->digest_word > 0;
    fprintf(out, "\n| column | type | unit |%s meaning |\n|---|---|---|%s---|\n",
            is_digested ? " digest |" : "", is_digested ? "---|" : "");
    for (const struct column *c = table->columns; c->name; c++) {
        fprintf(out, "| `%s` | %s | %s |", c->name, column_type(c), c->unit);
        if (is_digested)
            fprintf(out, " %s |", c->digest_word ? "yes" : "");
        fprintf(out, " %s", c->meaning);
        if (c->place == COLUMN_IN_CSV)
            fputs(" (only in the CSV file)", out);
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

static void write_files(FILE *out)
{
    fputs("\n| file | columns |\n|---|---|\n", out);
    for (const struct table *t = tables; t->name; t++) {
        char *header = NULL;
        size_t size;
        if (!t->csv)
            continue;
        FILE *line = open_memstream(&header, &size);
        table_write_csv_header(t, line);
        fclose(line);
        fprintf(out, "| `%s` | `", t->csv);
        for (const char *c = header; *c != '\n'; c++)
            *c == ',' ? fputs("`, `", out) : fputc(*c, out);
        fputs("` |\n", out);
        free(header);
    }
    fputc('\n', out);
}

static bool write_region(FILE *out, const char *mark)
{
    static const char columns[] = "columns: ";
    if (!strcmp(mark, "csv")) {
        write_files(out);
        return true;
    }
    for (const struct table *t = tables; t->name; t++)
        if (!strncmp(mark, columns, strlen(columns)) && !strcmp(mark + strlen(columns), t->name)) {
            write_columns(out, t);
            return true;
        }
    return false;
}

static void test_page(void **state)
{
    (void)state;
    char *doc = doc_load(&page);
    assert_non_null(doc);
    const uint32_t line = doc_differs_at(&page, doc);
    if (line)
        fail_msg("%s:%u: differs from the tables; run tables_test --update", page.name, line);
    for (const struct table *t = tables; t->name; t++) {
        char mark[96];
        snprintf(mark, sizeof mark, "\n<!-- columns: %s -->\n", t->name);
        if (!strstr(doc, mark))
            fail_msg("%s: lacks %s", page.name, mark);
    }
    assert_non_null(strstr(doc, "\n<!-- csv -->\n"));
    free(doc);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void check_column(const struct table *t, const struct column *c)
{
    static const struct {
        const char *end, *unit;
    } units[] = {{"_ps", "ps"}, {"_bytes", "B"}, {"_bps", "bps"}, {"_frames", "frames"}};
    bool is_good = c->meaning[0] && (c->get || c->size);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        is_good &= !ends_in(c->name, units[i].end) || !strcmp(c->unit, units[i].unit);
    for (const struct column *d = c + 1; d->name; d++) {
        is_good &= strcmp(c->name, d->name) != 0;
        is_good &= !c->digest_word || c->digest_word != d->digest_word ||
                   c->digest_shift != d->digest_shift;
    }
    is_good &= (c->kind == COLUMN_NODE) == ends_in(c->name, "node_id");
    is_good &= (c->kind == COLUMN_WORD) == (c->word != NULL);
    is_good &= !c->digest_word || c->size == 1 || c->size == 4 || c->size == 8;
    const size_t size = c->kind == COLUMN_WORD || c->kind == COLUMN_PRIORITIES  ? 1
                        : c->kind == COLUMN_NODE || c->kind == COLUMN_TRAFFIC   ? 4
                        : c->kind == COLUMN_UNSIGNED || c->kind == COLUMN_CHARS ? c->size
                                                                                : sizeof(uint64_t);
    is_good &= c->size == 0 || c->size == size;
    if (!is_good)
        fail_msg("%s.%s", t->name, c->name);
}

/* What the compiler cannot check of the real tables. */
static void test_columns(void **state)
{
    (void)state;
    uint32_t n_files = 0;
    for (const struct table *t = tables; t->name; t++) {
        uint64_t words = 1;
        n_files += t->csv != NULL;
        for (const struct column *c = t->columns; c->name; c++) {
            check_column(t, c);
            words |= UINT64_C(1) << c->digest_word;
        }
        assert_int_equal((words + 1) & words, 0); /* from 1 on without a gap */
    }
    assert_int_equal(n_files, N_CSV_FILES);
}

/* A table with a column of every kind that has a NULL. */
struct item {
    uint8_t small;
    uint32_t node;
    uint64_t frames;
    int64_t at;
    double share;
};

static struct item items[2];

static uint64_t count_items(const struct table_run *run)
{
    (void)run;
    return sizeof items / sizeof *items;
}

static const void *fields_item(const struct table_run *run, uint64_t index)
{
    (void)run;
    return &items[index];
}

#define FIELD(member) .offset = offsetof(struct item, member), .size = sizeof items[0].member
#define SMALL                                                \
    {                                                        \
        "small", COLUMN_UNSIGNED, "", "a byte", FIELD(small) \
    }
#define NODE                                              \
    {                                                     \
        "node_id", COLUMN_NODE, "", "a node", FIELD(node) \
    }
#define FRAMES                                                                          \
    {                                                                                   \
        "frames", COLUMN_UNSIGNED, "frames", "a count", FIELD(frames), .digest_word = 1 \
    }
#define AT                                                                      \
    {                                                                           \
        "at_ps", COLUMN_SIGNED, "ps", "an instant", FIELD(at), .digest_word = 2 \
    }
#define SHARE                                             \
    {                                                     \
        "share", COLUMN_REAL, "", "a ratio", FIELD(share) \
    }
#define TABLE(c)                                                                \
    {                                                                           \
        .name = "item", .csv = "items.csv", .columns = c, .count = count_items, \
        .fields = fields_item                                                   \
    }

static const struct column before[] = {SMALL, NODE, FRAMES, SHARE, {0}};
static const struct column after[] = {SMALL, NODE, FRAMES, AT, SHARE, {0}};
static const struct table tables_before[] = {TABLE(before), {0}};
static const struct table tables_after[] = {TABLE(after), {0}};

static struct result_node nodes[] = {{.name = "h0"}, {.name = "h,1"}};
static const struct results results = {.variant = "v", .nodes = nodes, .n_nodes = 2};
static const struct table_run run = {&results, NULL};

enum made { MADE_SCHEMA, MADE_CSV, MADE_PAGE };

/* What is made of a table; valid until the next call. */
static const char *made_of(const struct table *table, enum made what)
{
    static char *text;
    size_t size;
    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &size);
    if (what == MADE_SCHEMA) {
        table_write_schema(table, out);
    } else if (what == MADE_CSV) {
        table_write_csv_header(table, out);
        table_write_csv(table, &run, out);
    } else {
        write_columns(out, table);
    }
    fclose(out);
    return text;
}

static uint64_t digest_of(const struct table *all)
{
    struct digest digest;
    digest_init(&digest);
    table_digest(all, &results, &digest);
    return digest.state;
}

static uint64_t digest_words(const uint64_t *words, size_t n)
{
    struct digest digest;
    digest_init(&digest);
    for (size_t i = 0; i < n; i++)
        digest_u64(&digest, words[i]);
    return digest.state;
}

static void test_new_column(void **state)
{
    (void)state;
    items[0] = (struct item){3, 1, 10, -5, 0.5};
    items[1] = (struct item){4, 0, 20, 7, 0.25};

    assert_string_equal(made_of(tables_before, MADE_SCHEMA),
                        "CREATE TABLE item (run_id INTEGER, small INTEGER, node_id INTEGER, "
                        "frames INTEGER, share REAL)");
    assert_string_equal(made_of(tables_after, MADE_SCHEMA),
                        "CREATE TABLE item (run_id INTEGER, small INTEGER, node_id INTEGER, "
                        "frames INTEGER, at_ps INTEGER, share REAL)");
    assert_string_equal(made_of(tables_before, MADE_CSV), "variant,small,node,frames,share\n"
                                                          "v,3,\"h,1\",10,0.5\n"
                                                          "v,4,h0,20,0.25\n");
    assert_string_equal(made_of(tables_after, MADE_CSV), "variant,small,node,frames,at_ps,share\n"
                                                         "v,3,\"h,1\",10,-5,0.5\n"
                                                         "v,4,h0,20,7,0.25\n");
    static const char line[] = "| `at_ps` | INTEGER | ps | yes | an instant |\n";
    assert_null(strstr(made_of(tables_before, MADE_PAGE), line));
    assert_non_null(strstr(made_of(tables_after, MADE_PAGE), line));
    static const uint64_t words[] = {10, 20}, more[] = {10, (uint64_t)-5, 20, 7};
    assert_int_equal(digest_of(tables_before), digest_words(words, 2));
    assert_int_equal(digest_of(tables_after), digest_words(more, 4));
}

/* Last value and first NULL. */
static void test_nulls(void **state)
{
    (void)state;
    items[0] = (struct item){0xfe, UINT32_MAX - 1, INT64_MAX, INT64_MAX - 1, 0};
    items[1] = (struct item){0xff, UINT32_MAX, (uint64_t)INT64_MAX + 1, XOFF_NEVER, 0};
    for (uint32_t i = 0; i < 4; i++) {
        static const int64_t values[] = {0xfe, UINT32_MAX - 1, INT64_MAX, INT64_MAX - 1};
        struct cell cell;
        struct table_row row = table_row(tables_after, &run, 0);
        column_read(&after[i], &row, &cell);
        assert_int_equal(cell.kind, CELL_WHOLE);
        assert_true(cell.whole == values[i]);
        row = table_row(tables_after, &run, 1);
        column_read(&after[i], &row, &cell);
        assert_int_equal(cell.kind, CELL_NULL);
    }
    items[1].frames = UINT64_MAX;
    items[1].at = -1; /* all bits set, and a number */
    assert_string_equal(made_of(tables_after, MADE_CSV),
                        "variant,small,node,frames,at_ps,share\n"
                        "v,254,,9223372036854775807,9223372036854775806,0\n"
                        "v,,,,-1,0\n");
}

/* Rows that belong to others follow them, and the number of rows stands before them where the
 * table says so. */
static const struct column inner_columns[] = {
    {"value", COLUMN_REAL, "", "a ratio", FIELD(share), .digest_word = 1}, {0}};

static uint64_t count_inner(const struct table_run *r)
{
    return 2 * count_items(r);
}

static const void *fields_inner(const struct table_run *r, uint64_t index)
{
    return fields_item(r, index / 2);
}

static void test_inner_rows(void **state)
{
    (void)state;
    static const struct table nested[] = {{"item", NULL, .columns = before, .count = count_items,
                                           .fields = fields_item, .digests_count = true},
                                          {"inner", "inner.csv", .columns = inner_columns,
                                           .count = count_inner, .fields = fields_inner,
                                           .n_per_outer = 2},
                                          {0}};
    items[0] = (struct item){3, 0, 10, 0, 0.5};
    items[1] = (struct item){4, 1, 20, 0, 1};
    const uint64_t half = UINT64_C(0x3fe0000000000000), one = UINT64_C(0x3ff0000000000000);
    const uint64_t words[] = {2, 10, half, half, 20, one, one};
    assert_int_equal(digest_of(nested), digest_words(words, sizeof words / sizeof *words));
    assert_string_equal(made_of(&nested[1], MADE_CSV), "variant,small,node,frames,share,value\n"
                                                       "v,3,h0,10,0.5,0.5\n"
                                                       "v,3,h0,10,0.5,0.5\n"
                                                       "v,4,\"h,1\",20,1,1\n"
                                                       "v,4,\"h,1\",20,1,1\n");
}

/* One row of everything: the words of the digest and their order. */
static void test_digest(void **state)
{
    (void)state;
    struct result_flow flow = {.from = 1,
                               .to = 2,
                               .number = 90,
                               .tag = 91,
                               .priority = 92,
                               .reliable = 93,
                               .offered_bytes = 3,
                               .sent_bytes = 4,
                               .delivered_bytes = 5,
                               .start_at = 6,
                               .finish_at = 7,
                               .acked_at = 8,
                               .ideal_for = 9,
                               .marked_frames = 10,
                               .retransmitted_frames = 11,
                               .notices = 94,
                               .tags_sent = 98,
                               .tags_back = 99};
    struct result_operation operation = {
        .host = 12, .tag = 13, .bytes = 16, .start_at = 14, .finish_at = 15};
    struct result_port port = {.node = 90,
                               .port = 91,
                               .peer_node = 92,
                               .rate_bps = 93,
                               .busy_for = 17,
                               .control_tx_frames = 18,
                               .control_rx_frames = 19};
    port.queue[7] = (struct result_queue){.tx_frames = 20,
                                          .tx_bytes = 21,
                                          .rx_frames = 90,
                                          .rx_bytes = 22,
                                          .marked_frames = 23,
                                          .pause_tx = 91,
                                          .resume_tx = 92,
                                          .pause_rx = 93,
                                          .resume_rx = 94,
                                          .paused_for = 24,
                                          .queue_peak_bytes = 25,
                                          .headroom_peak_bytes = 26,
                                          .headroom_bytes = 95,
                                          .samples = 96,
                                          .notices = 97};
    struct result_drop drop = {.node = 27,
                               .port = 28,
                               .out_port = 90,
                               .cause = 29,
                               .priority = 30,
                               .lossless = 91,
                               .frames = 31,
                               .bytes = 92,
                               .first_at = 32};
    struct result_pause pause = {.at = 33,
                                 .node = 34,
                                 .port = 35,
                                 .priorities = 36,
                                 .pause = 1,
                                 .unit = 90,
                                 .egress_port = 37,
                                 .parent = 38,
                                 .occupied_bytes = 39,
                                 .threshold_bytes = 91,
                                 .egress_priority = 92,
                                 .egress_paused = 93};
    struct result_sample sample = {.at = 90, .node = 91, .value = 1};
    struct result_deadlock deadlock = {.onset_at = 40, .found_at = 90};
    uint64_t maxima[RESULT_MAXIMA] = {[999] = 41};
    const struct results one = {.flows = &flow,
                                .n_flows = 1,
                                .operations = &operation,
                                .n_operations = 1,
                                .ports = &port,
                                .n_ports = 1,
                                .drops = &drop,
                                .n_drops = 1,
                                .pauses = &pause,
                                .n_pauses = 1,
                                .samples = &sample,
                                .n_samples = 1,
                                .deadlocks = &deadlock,
                                .n_deadlocks = 1,
                                .headroom_maxima = maxima,
                                .nodes = nodes,
                                .n_nodes = 2,
                                .seed = 90};
    static const uint64_t none[7 * 7];
    static const uint64_t first[] = {1,
                                     UINT64_C(1) << 32 | 2,
                                     3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     8,
                                     9,
                                     UINT64_C(10) << 32 | 11,
                                     UINT64_C(12) << 32 | 13,
                                     14,
                                     15,
                                     16,
                                     17,
                                     UINT64_C(18) << 32 | 19};
    static const uint64_t last[] = {20,
                                    21,
                                    22,
                                    23,
                                    24,
                                    25,
                                    26,
                                    UINT64_C(27) << 32 | 28,
                                    29 << 8 | 30,
                                    31,
                                    32,
                                    1,
                                    33,
                                    UINT64_C(34) << 32 | 35,
                                    36 << 8 | 1,
                                    UINT64_C(37) << 32 | 38,
                                    39,
                                    UINT64_C(0x3ff0000000000000),
                                    40,
                                    999,
                                    41};
    uint64_t words[128];
    size_t n = 0;
    memcpy(words, first, sizeof first), n += sizeof first / sizeof *first;
    memcpy(words + n, none, sizeof none), n += sizeof none / sizeof *none;
    memcpy(words + n, last, sizeof last), n += sizeof last / sizeof *last;
    assert_int_equal(results_digest(&one), digest_words(words, n));
    /* Of nothing: two counts. */
    static const uint64_t counts[2];
    assert_int_equal(results_digest(&results), digest_words(counts, 2));
}

int main(int argc, char **argv)
{
    const bool updates = argc > 1 && strcmp(argv[1], "--update") == 0;
    if (argc > 1 + updates)
        page.root = argv[1 + updates];
    if (updates)
        return doc_update(&page);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),       cmocka_unit_test(test_columns),
        cmocka_unit_test(test_new_column), cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_inner_rows), cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
