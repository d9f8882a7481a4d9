/* Tests of flow_hpcc.c: flow files of the ns-3 RDMA family, good and broken, and their hosts.
 *
 *     n0   n2   n5          hosts, numbers 0, 1, 2
 *       \  |  /
 *         n3                and a switch n1 that nobody needs
 */
#include "traffic/flow_hpcc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct topo_node named[] = {
    {.name = "n0"}, {.name = "n2"}, {.name = "n5"}, {.name = "n1"}, {.name = "n3"}};
static struct topo_node plain[] = {{.name = "h0"}, {.name = "h1"}, {.name = "h2"}};
static const struct topo named_topo = {.n_nodes = 5, .n_hosts = 3, .nodes = named};
static const struct topo plain_topo = {.n_nodes = 3, .n_hosts = 3, .nodes = plain};

static int parse(const struct topo *topo, const char *text, struct schedule **schedule,
                 struct xoff_err *err)
{
    struct flow_names names;
    const struct schedule_entry preset = {.priority = 7, .priorities = 3, .rate_bps = 5};
    *schedule = NULL;
    assert_int_equal(flow_names_init(&names, topo, err), 0);
    const int rc = flow_hpcc_parse("flow.txt", text, strlen(text), &names, &preset, schedule, err);
    free(names.by_name);
    return rc;
}

static void reads_flows(void **state)
{
    static const char text[] = "2\r\n0 2 3 100 1000000 2.000000000\r\n\r\n"
                               "5 0 4 65535 1 2.000000001\r\n";
    struct flow_hpcc f;
    struct xoff_err err;
    (void)state;
    assert_int_equal(flow_hpcc_scan("f", text, strlen(text), &f, &err), 0);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.n_beyond, 0);
    assert_int_equal(f.flows[0].from * 10 + f.flows[0].to, 2);
    assert_int_equal(f.flows[0].priority, 3);
    assert_int_equal(f.flows[0].dport, 100);
    assert_int_equal(f.flows[0].bytes, 1000000);
    assert_int_equal(f.flows[0].at, 2 * XOFF_S);
    assert_int_equal(f.flows[1].line, 4);
    assert_int_equal(f.flows[1].dport, 65535);
    assert_int_equal(f.flows[1].at, 2 * XOFF_S + XOFF_NS);
    free(f.flows);
    assert_int_equal(flow_hpcc_scan("f", "0", 1, &f, &err), 0);
    assert_int_equal(f.n, 0);
}

static void lines_may_lack_the_port(void **state)
{
    static const char text[] = "2\n0 2 3 500 2\n2 0 3 600 2.5\n";
    struct flow_hpcc f;
    struct xoff_err err;
    (void)state;
    assert_int_equal(flow_hpcc_scan("f", text, strlen(text), &f, &err), 0);
    assert_int_equal(f.flows[1].bytes, 600);
    assert_int_equal(f.flows[1].dport, FLOW_HPCC_NO_PORT);
    assert_int_equal(f.flows[1].at, 2500 * XOFF_MS);
    free(f.flows);
}

/* The published file states 2 flows, lists more, and ends with notes. */
static void lines_beyond_the_count_are_left_out(void **state)
{
    static const char text[] = "1\n2 1 3 100 5 2\n3 1 3 100 5 2\n4 1 3 100 5 2\n\n"
                               "First line: number of flows\n9 this is a note, too\n";
    struct flow_hpcc f;
    struct xoff_err err;
    (void)state;
    assert_int_equal(flow_hpcc_scan("f", text, strlen(text), &f, &err), 0);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.n_beyond, 2);
    assert_int_equal(f.line_beyond, 3);
    free(f.flows);
}

static void broken_files_are_located(void **state)
{
    static const struct {
        const char *text;
        enum xoff_err_code code;
        int line, column;
    } bad[] = {
        {"", XOFF_E_MISSING, 1, 1},
        {"x\n", XOFF_E_SYNTAX, 1, 1},
        {"-1\n", XOFF_E_SYNTAX, 1, 1},
        {"2 2\n", XOFF_E_SYNTAX, 1, 1},
        {"4294967296\n", XOFF_E_SYNTAX, 1, 1},
        {"2\n0 1 3 100 5 2\n", XOFF_E_MISSING, 3, 1},
        {"4000000000\n0 1 3 100 5 2", XOFF_E_MISSING, 2, 14}, /* and no memory for 4 * 10^9 */
        {"1\n0 1 3 100 5 2 9\n", XOFF_E_SYNTAX, 2, 1},
        {"1\n0 1 3 100\n", XOFF_E_SYNTAX, 2, 1},
        {"2\n0 1 3 100 5 2\n0 1 3 5 2\n", XOFF_E_SYNTAX, 3, 1},
        {"1\nx 1 3 100 5 2\n", XOFF_E_TYPE, 2, 1},
        {"1\n0 -1 3 100 5 2\n", XOFF_E_TYPE, 2, 3},
        {"1\n4 4 3 100 5 2\n", XOFF_E_CONFLICT, 2, 3},
        {"1\n0 1 8 100 5 2\n", XOFF_E_RANGE, 2, 5},
        {"1\n0 1 3 65536 5 2\n", XOFF_E_RANGE, 2, 7},
        {"1\n0 1 3 100 0 2\n", XOFF_E_RANGE, 2, 11},
        {"1\n0 1 3 100 -5 2\n", XOFF_E_RANGE, 2, 11},
        {"1\n0 1 3 100 1000000000000001 2\n", XOFF_E_RANGE, 2, 11},
        {"1\n0 1 3 100 5KB 2\n", XOFF_E_RANGE, 2, 11},
        {"1\n0 1 3 100 5 -2\n", XOFF_E_TYPE, 2, 13},
        {"1\n0 1 3 100 5 2s\n", XOFF_E_TYPE, 2, 13},
        {"2\n0 1 3 100 5 2\n0 1 3 100 5 1.999999999\n", XOFF_E_CONFLICT, 3, 13},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct flow_hpcc f;
        struct xoff_err err;
        const int rc = flow_hpcc_scan("f.txt", bad[i].text, strlen(bad[i].text), &f, &err);
        if (rc != -(int)bad[i].code || err.line != bad[i].line || err.column != bad[i].column)
            fail_msg("%zu: %d %d:%d %s", i, rc, err.line, err.column, err.message);
        assert_string_equal(err.file, "f.txt");
        assert_string_equal(err.subject, "file");
        assert_null(f.flows);
    }
}

static void nodes_are_hosts_by_name(void **state)
{
    struct schedule *s;
    struct xoff_err err;
    (void)state;
    assert_int_equal(parse(&named_topo, "2\n5 0 3 100 5 2\n2 5 4 100 6 3\n", &s, &err), 0);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->entries[0].from, 2);
    assert_int_equal(s->entries[0].to, 0);
    assert_int_equal(s->entries[0].priority, 3);
    assert_int_equal(s->entries[0].priorities, 0);
    assert_int_equal(s->entries[0].rate_bps, 5); /* of the preset */
    assert_int_equal(s->entries[1].from, 1);
    assert_int_equal(s->entries[1].bytes, 6);
    assert_int_equal(s->entries[1].at, 3 * XOFF_S);
    free(s);
    /* n1 is a switch, though there is a host with the number 1; n9 is nothing. */
    assert_int_equal(parse(&named_topo, "1\n0 1 3 100 5 2\n", &s, &err), -XOFF_E_CONFLICT);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.message, "switch"));
    assert_string_equal(err.value, "1");
    free(s);
    assert_int_equal(parse(&named_topo, "1\n9 0 3 100 5 2\n", &s, &err), -XOFF_E_UNKNOWN);
    assert_string_equal(err.value, "9");
    free(s);
}

static void nodes_are_numbers_without_names(void **state)
{
    struct schedule *s;
    struct xoff_err err;
    (void)state;
    assert_int_equal(parse(&plain_topo, "1\n2 1 3 100 5 2\n", &s, &err), 0);
    assert_int_equal(s->entries[0].from * 10 + s->entries[0].to, 21);
    free(s);
    assert_int_equal(parse(&plain_topo, "1\n2 3 3 100 5 2\n", &s, &err), -XOFF_E_UNKNOWN);
    free(s);
}

/* Random files against sscanf, line by line. */
static void agrees_with_a_slow_reader(void **state)
{
    enum { N = 2000 };
    static char text[N * 64];
    struct flow_hpcc f;
    struct xoff_err err;
    (void)state;
    srand(2);
    size_t n = (size_t)sprintf(text, "%d\n", N);
    double at = 2;
    for (int i = 0; i < N; i++) {
        at += 1e-6 * (rand() % 3);
        n += (size_t)sprintf(text + n, "%d\t%d  %d %d %d %.9f%s", rand() % 100, 100 + rand() % 100,
                             rand() % 8, rand() % 65536, 1 + rand() % 10000000, at,
                             rand() % 2 ? "\n" : " \r\n\n");
    }
    assert_int_equal(flow_hpcc_scan("f", text, n, &f, &err), 0);
    assert_int_equal(f.n, N);
    const char *line = strchr(text, '\n') + 1;
    for (int i = 0; i < N; i++) {
        unsigned from, to, priority, dport, bytes, whole, part;
        int used;
        assert_int_equal(sscanf(line, "%u %u %u %u %u %u.%u%n", &from, &to, &priority, &dport,
                                &bytes, &whole, &part, &used),
                         7);
        line += used;
        assert_int_equal(f.flows[i].from, from);
        assert_int_equal(f.flows[i].to, to);
        assert_int_equal(f.flows[i].priority, priority);
        assert_int_equal(f.flows[i].dport, dport);
        assert_int_equal(f.flows[i].bytes, bytes);
        const int64_t ns = whole * INT64_C(1000000000) + part; /* or one less: words_seconds() */
        assert_in_range(f.flows[i].at / XOFF_NS, ns - 1, ns);
    }
    free(f.flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_flows),
        cmocka_unit_test(lines_may_lack_the_port),
        cmocka_unit_test(lines_beyond_the_count_are_left_out),
        cmocka_unit_test(broken_files_are_located),
        cmocka_unit_test(nodes_are_hosts_by_name),
        cmocka_unit_test(nodes_are_numbers_without_names),
        cmocka_unit_test(agrees_with_a_slow_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
