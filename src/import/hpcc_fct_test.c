/* Tests of hpcc_fct.c: lines of both forms, mistakes with their places, hosts by id and by
 * number. */
#include "import/hpcc_testing.h"

#define LINE "0b000001 0b000201 10000 100 1000000 2000000000 170008 88000\n"

static void parse_is_good(const char *text, struct hpcc_fct *fct)
{
    struct xoff_err err = {0};
    if (hpcc_fct_parse("fct.txt", text, strlen(text), fct, &err))
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
}

static void lines_are_read(void **state)
{
    struct hpcc_fct fct;
    (void)state;
    parse_is_good(LINE "\n \r\n7 1048575 0 65535 0 0 1 0\r\n"
                       "0b012c01 B000101 1 2 3 4 5 6", /* 300; a leading zero left out; no LF */
                  &fct);
    assert_int_equal(fct.n, 3);
    const struct hpcc_fct_line *l = fct.lines;
    assert_int_equal(l[0].from, 0);
    assert_int_equal(l[0].to, 2);
    assert_int_equal(l[0].sport, 10000);
    assert_int_equal(l[0].dport, 100);
    assert_int_equal(l[0].bytes, 1000000);
    assert_int_equal(l[0].start_ns, 2000000000);
    assert_int_equal(l[0].fct_ns, 170008);
    assert_int_equal(l[0].standalone_ns, 88000);
    assert_int_equal(l[1].from, 7);
    assert_int_equal(l[1].to, 1048575);
    assert_int_equal(l[1].dport, 65535);
    assert_int_equal(l[1].standalone_ns, 0);
    assert_int_equal(l[2].from, 300);
    assert_int_equal(l[2].to, 1);
    free(fct.lines);

    parse_is_good("", &fct); /* no flow finished */
    assert_int_equal(fct.n, 0);
    free(fct.lines);
    parse_is_good("0b000001 0 1 2 9223372036854775807 9223372036854775 9223372036854775 1\n", &fct);
    assert_int_equal(fct.lines[0].fct_ns, 9223372036854775);
    free(fct.lines);
}

static void mistakes_are_located(void **state)
{
    static const struct {
        const char *text;
        enum xoff_err_code code;
        int line, column;
        const char *says;
    } bad[] = {
        {LINE "0b000001 0b000201 10000 100 1000000 2000000000 170008\n", XOFF_E_SYNTAX, 2, 48,
         "eight fields"},
        {"0b000001", XOFF_E_SYNTAX, 1, 1, "eight fields"},
        {"0 1 2 3 4 5 6 7 8\n", XOFF_E_SYNTAX, 1, 17, "eight fields"},
        {"0b000001 0b000202 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 10, "dip"}, /* not ...01 */
        {"0b000000 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"},
        {"1b0000001 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"}, /* nine digits */
        {"ffffff01 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"},  /* above any number of nodes */
        {"1048576 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"},
        {"n0 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"},
        {"0b\0200001 1 1 2 3 4 5 6\n", XOFF_E_RANGE, 1, 1, "sip"},
        {"0 1 65536 2 3 4 5 6\n", XOFF_E_RANGE, 1, 5, "sport"},
        {"0 1 1 65536 3 4 5 6\n", XOFF_E_RANGE, 1, 7, "dport"},
        {"0 1 1 2 -3 4 5 6\n", XOFF_E_RANGE, 1, 9, "bytes"},
        {"0 1 1 2 9223372036854775808 4 5 6\n", XOFF_E_RANGE, 1, 9, "bytes"},
        {"0 1 1 2 3 2.0 5 6\n", XOFF_E_RANGE, 1, 11, "start_ns"},
        {"0 1 1 2 3 9223372036854776 5 6\n", XOFF_E_RANGE, 1, 11, "start_ns"},
        {"0 1 1 2 3 4 0 6\n", XOFF_E_RANGE, 1, 13, "fct_ns"},
        {LINE "\n0 1 1 2 3 4 5 x\n", XOFF_E_RANGE, 3, 15, "standalone_ns"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hpcc_fct fct;
        struct xoff_err err = {0};
        const int rc = hpcc_fct_parse("fct.txt", bad[i].text, strlen(bad[i].text), &fct, &err);
        if (rc != -(int)bad[i].code || err.line != bad[i].line || err.column != bad[i].column ||
            !strstr(err.message, bad[i].says))
            fail_msg("%zu: %d %d:%d %s", i, rc, err.line, err.column, err.message);
        assert_string_equal(err.file, "fct.txt");
        assert_null(fct.lines);
    }
    /* A NUL, and a line of 4096 bytes and one more. */
    struct hpcc_fct fct;
    struct xoff_err err = {0};
    assert_int_equal(hpcc_fct_parse("f", "0 1 1 2 3 4 5\0 6", 16, &fct, &err), -XOFF_E_RANGE);
    char line[4098];
    memset(line, ' ', sizeof line);
    memcpy(line, "0 1 1 2 3 4 5 6", 15);
    line[4096] = '\n';
    assert_int_equal(hpcc_fct_parse("f", line, 4097, &fct, &err), 0);
    free(fct.lines);
    line[4096] = ' ';
    line[4097] = '\n';
    assert_int_equal(hpcc_fct_parse("f", line, 4098, &fct, &err), -XOFF_E_SYNTAX);
    assert_int_equal(hpcc_fct_read("/nonexistent/fct.txt", &fct, &err), -XOFF_E_IO);
}

/* Two hosts with one flow of 1000 B, acknowledged after 5 us and some picoseconds. */
static struct compare *compare_named(const char *first, const char *second,
                                     const struct hpcc_config *config, const char *text)
{
    struct result_node nodes[3] = {{.name = "n9"}, {.name = ""}, {.name = "n0", .is_switch = 1}};
    struct result_flow flow = {.from = 0,
                               .to = 1,
                               .offered_bytes = 1000,
                               .start_at = 2 * XOFF_S,
                               .acked_at = 2 * XOFF_S + 5 * XOFF_US + 999};
    const struct results r = {
        .nodes = nodes, .n_nodes = 3, .n_hosts = 2, .flows = &flow, .n_flows = 1};
    struct hpcc_fct fct;
    strcpy(nodes[0].name, first);
    strcpy(nodes[1].name, second);
    parse_is_good(text, &fct);
    struct compare *c = hpcc_compare(&fct, "f", config, &r);
    assert_non_null(c);
    free(fct.lines);
    return c;
}

static void hosts_are_found_by_id_or_number(void **state)
{
    (void)state;
    struct compare *c =
        compare_named("n3", "n7", NULL, "3 7 10000 100 1000 2000000000 5000 4000\n");
    assert_int_equal(c->n_equal, 1);
    assert_int_equal(c->n_ports, 1); /* a scenario knows no destination port */
    assert_true(c->slowdown.ours.figures[COMPARE_P50] == 1.25); /* over their 4000 */
    compare_destroy(c);

    /* Numbers are no ids where hosts have names of ids. */
    c = compare_named("n3", "n7", NULL, "0 1 10000 100 1000 2000000000 5000 4000\n");
    assert_int_equal(c->n_both, 0);
    assert_string_equal(c->only_theirs[0].from, "n0");
    compare_destroy(c);

    c = compare_named("left", "nine", NULL, "0 1 10000 100 1000 2000000000 5001 4000\n");
    assert_int_equal(c->n_both, 1);
    assert_int_equal(c->n_equal, 0);
    assert_string_equal(c->worst[0].flow.from, "left");
    compare_destroy(c);
    c = compare_named("left", "nine", NULL, "0 2 10000 100 1000 2000000000 5000 4000\n");
    assert_string_equal(c->only_theirs[0].to, "n2"); /* no such host */
    compare_destroy(c);

    /* The config knows the destination port: here it is 100. */
    struct hpcc_config *config = testing_config(TESTING_FILES "CC_MODE 0\n", TESTING_TOPOLOGY,
                                                "1\n0 1 3 100 1000 2.000000000\n");
    c = compare_named("n0", "n1", config, "0 1 10000 101 1000 2000000000 5000 4000\n");
    assert_int_equal(c->n_both, 1);
    assert_int_equal(c->n_ports, 0);
    compare_destroy(c);
    hpcc_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(hosts_are_found_by_id_or_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
