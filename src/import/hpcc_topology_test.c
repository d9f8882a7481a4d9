/* Tests of hpcc_topology.c: nodes, links, mistakes, and the paths that standalone times go by. */
#include "import/hpcc_testing.h"

static int parse(const char *text, struct hpcc_config **c, struct xoff_err *err)
{
    *c = hpcc_create("config.txt");
    assert_non_null(*c);
    return hpcc_topology_parse("t.txt", text, strlen(text), *c, err);
}

static struct hpcc_config *good(const char *text)
{
    struct hpcc_config *c;
    struct xoff_err err;
    if (parse(text, &c, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    return c;
}

/* Hosts 0, 2, 4; switches 3 and 1: ours are numbered hosts first, each in order of ids. */
static void nodes_are_numbered_hosts_first(void **state)
{
    struct hpcc_config *c =
        good("5 2 4\r\n3\r\n1\r\n0 1 25000000000.0 1us 0\n4 1 25Gbps 500ns 0.001\n"
             "1 3 100Gbps 1.5us 0\n2 3 40Gbps 0 0\n\nFirst line: nodes\n");
    static const uint32_t ids[] = {0, 2, 4, 1, 3};
    (void)state;
    assert_int_equal(c->n_nodes, 5);
    assert_int_equal(c->n_hosts, 3);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(c->ids[i], ids[i]);
        assert_int_equal(c->nodes[ids[i]], i);
        assert_int_equal(c->is_switch[ids[i]], i >= 3);
    }
    assert_int_equal(c->n_links, 4);
    assert_int_equal(c->links[0].rate_bps, 25 * XOFF_GBPS);
    assert_int_equal(c->links[1].delay, 500 * XOFF_NS);
    assert_true(c->links[1].error == 0.001);
    assert_int_equal(c->links[2].node[1], 3);
    assert_int_equal(c->links[2].delay, 1500 * XOFF_NS);
    assert_int_equal(c->links[3].line, 7);
    assert_int_equal(c->n_warnings, 0);
    hpcc_destroy(c);
}

static void the_first_line_may_have_tors(void **state)
{
    struct hpcc_config *c = good("3 1 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n");
    (void)state;
    assert_int_equal(c->n_links, 2);
    assert_int_equal(c->n_hosts, 2);
    hpcc_destroy(c);
}

static void oddities_are_warned_of(void **state)
{
    struct hpcc_config *c = good("4 2 3\n2 3\n0 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"
                                 "2 3 9Gbps 1us 0\n");
    (void)state;
    assert_int_equal(c->n_links, 3);
    assert_int_equal(c->n_warnings, 1);
    assert_non_null(strstr(c->warnings[0], "t.txt:6: links beyond the 3"));
    hpcc_destroy(c);
    c = good("4 2 4\n2 3\n0 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n");
    assert_int_equal(c->n_warnings, 1);
    assert_non_null(strstr(c->warnings[0], "t.txt:6: nodes 2 and 3 have several links"));
    hpcc_destroy(c);
}

static void mistakes_are_located(void **state)
{
#define HEAD "3 1 2\n2\n"
#define LINK "0 2 1Gbps 1us 0\n"
    static const struct {
        const char *text;
        enum xoff_err_code code;
        int line, column;
    } bad[] = {
        {"", XOFF_E_MISSING, 1, 1},
        {"3 1\n2\n", XOFF_E_SYNTAX, 1, 1},
        {"3 1 2 3 4\n2\n", XOFF_E_SYNTAX, 1, 1},
        {"3 x 2\n2\n", XOFF_E_TYPE, 1, 3},
        {"0 0 0\n", XOFF_E_RANGE, 1, 1},
        {"1048577 1 2\n2\n", XOFF_E_RANGE, 1, 1},
        {"3 4 2\n2\n", XOFF_E_CONFLICT, 1, 3},
        {"3 1 2\n", XOFF_E_MISSING, 2, 1},
        {"3 1 2\n3\n", XOFF_E_UNKNOWN, 2, 1},
        {"4 2 2\n2 2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", XOFF_E_CONFLICT, 2, 3},
        {HEAD LINK, XOFF_E_MISSING, 4, 1},
        {"3 1 4000000000\n2\n" LINK, XOFF_E_MISSING, 4, 1},
        {HEAD LINK "1 2 1Gbps 1us\n", XOFF_E_SYNTAX, 4, 1},
        {HEAD LINK "1 2 1Gbps 1us 0 0\n", XOFF_E_SYNTAX, 4, 1},
        {HEAD LINK "1 3 1Gbps 1us 0\n", XOFF_E_UNKNOWN, 4, 3},
        {HEAD LINK "1 1 1Gbps 1us 0\n", XOFF_E_CONFLICT, 4, 3},
        {HEAD LINK "1 2 100 1us 0\n", XOFF_E_UNIT, 4, 5},
        {HEAD LINK "1 2 999bps 1us 0\n", XOFF_E_RANGE, 4, 5},
        {HEAD LINK "1 2 10001Gbps 1us 0\n", XOFF_E_RANGE, 4, 5},
        {HEAD LINK "1 2 1Gbps 1000 0\n", XOFF_E_UNIT, 4, 11},
        {HEAD LINK "1 2 1Gbps 1001ms 0\n", XOFF_E_RANGE, 4, 11},
        {HEAD LINK "1 2 1Gbps -1us 0\n", XOFF_E_UNIT, 4, 11},
        {HEAD LINK "1 2 1Gbps 1us 1.5\n", XOFF_E_RANGE, 4, 15},
        {HEAD LINK "1 2 1Gbps 1us -1\n", XOFF_E_RANGE, 4, 15},
        {HEAD LINK LINK, XOFF_E_CONFLICT, 4, 1},                          /* host 0 has two */
        {"4 2 2\n2 3\n" LINK "2 3 1Gbps 1us 0\n", XOFF_E_CONFLICT, 1, 1}, /* host 1 has none */
        {"1000000 1 1\n2\n" LINK, XOFF_E_CONFLICT, 4, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hpcc_config *c;
        struct xoff_err err;
        const int rc = parse(bad[i].text, &c, &err);
        if (rc != -(int)bad[i].code || err.line != bad[i].line || err.column != bad[i].column)
            fail_msg("%zu: %d %d:%d %s", i, rc, err.line, err.column, err.message);
        assert_string_equal(err.file, "t.txt");
        assert_string_equal(err.subject, "topology");
        hpcc_destroy(c);
    }
}

/*  0 --25G-- 4 ==100G== 5 --25G-- 1      two ways between 4 and 5: direct, and over 6
 *            |          |
 *            +--- 6 ----+--- 2 (10G, at 5)     3 hangs on a switch 7 of its own
 */
static void paths_are_the_shortest(void **state)
{
    struct hpcc_config *c = good("8 4 8\n4 5 6 7\n0 4 25Gbps 1us 0\n4 5 100Gbps 2us 0\n"
                                 "1 5 25Gbps 1us 0\n4 6 400Gbps 1us 0\n5 6 400Gbps 1us 0\n"
                                 "2 5 10Gbps 3us 0\n3 7 25Gbps 1us 0\n4 5 50Gbps 5us 0\n");
    (void)state;
    c->keys.payload_bytes = 1000;
    struct hpcc_paths *paths = hpcc_paths_create(c);
    const struct hpcc_path *to = hpcc_paths_to(paths, 1);
    /* 0-4-5-1 over the last link between 4 and 5: 1 + 5 + 1 us; 320 + 160 + 320 ns. */
    assert_int_equal(to[0].delay_ns, 7000);
    assert_int_equal(to[0].tx_ns, 320 + 160 + 320);
    assert_int_equal(to[0].rate_bps, 25 * XOFF_GBPS);
    assert_int_equal(to[2].delay_ns, 4000);
    assert_int_equal(to[2].tx_ns, 800 + 320);
    assert_int_equal(to[2].rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(to[3].rate_bps, 0);
    to = hpcc_paths_to(paths, 3);
    assert_int_equal(to[7].delay_ns, 1000);
    assert_int_equal(to[0].rate_bps, 0);
    hpcc_paths_destroy(paths);
    hpcc_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_numbered_hosts_first),
        cmocka_unit_test(the_first_line_may_have_tors),
        cmocka_unit_test(oddities_are_warned_of),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(paths_are_the_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
