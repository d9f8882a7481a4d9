/* Tests of hpcc_flows.c: flows and traces against the topology, what needs several files, and where
 * files are looked for. */
#include "import/hpcc_testing.h"

#include <sys/stat.h>

static int parse_flows(const char *text, struct hpcc_config **c, struct xoff_err *err)
{
    *c = hpcc_create("config.txt");
    assert_int_equal(hpcc_topology_parse("t", TESTING_TOPOLOGY, strlen(TESTING_TOPOLOGY), *c, err),
                     0);
    return hpcc_flows_parse("f.txt", text, strlen(text), *c, err);
}

static void flows_are_kept_by_source(void **state)
{
    struct hpcc_config *c =
        testing_config(TESTING_FILES "CC_MODE 0\nENABLE_TRACE 0\n", TESTING_TOPOLOGY,
                       "4\n1 2 3 100 5 2\n0 2 4 101 6 2\n1 0 3 102 7 2\n1 2 3 103 8 2.5\n");
    static const uint32_t by_source[] = {1, 0, 2, 3};
    (void)state;
    assert_int_equal(c->first[0], 0);
    assert_int_equal(c->first[1], 1);
    assert_int_equal(c->first[2], 4);
    assert_int_equal(c->first[3], 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c->by_source[i], by_source[i]);
    assert_int_equal(c->priorities, 0x18);
    assert_int_equal(c->n_warnings, 0);
    hpcc_destroy(c);
}

/* ConWeave: the ports of a destination count from 100. */
static void missing_ports_are_counted(void **state)
{
    struct hpcc_config *c;
    struct xoff_err err;
    static const uint32_t dports[] = {100, 100, 101};
    (void)state;
    assert_int_equal(parse_flows("3\n0 2 3 5 2\n0 1 3 5 2\n1 2 3 5 2\n", &c, &err), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(c->flows.flows[i].dport, dports[i]);
    hpcc_destroy(c);
}

static void ends_are_hosts(void **state)
{
    static const struct {
        const char *text;
        enum xoff_err_code code;
        const char *value;
    } bad[] = {{"1\n0 3 3 100 5 2\n", XOFF_E_CONFLICT, "3"},
               {"1\n3 0 3 100 5 2\n", XOFF_E_CONFLICT, "3"},
               {"1\n0 4 3 100 5 2\n", XOFF_E_UNKNOWN, "4"},
               {"1\n4294967294 0 3 100 5 2\n", XOFF_E_UNKNOWN, "4294967294"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hpcc_config *c;
        struct xoff_err err;
        assert_int_equal(parse_flows(bad[i].text, &c, &err), -(int)bad[i].code);
        assert_string_equal(err.value, bad[i].value);
        assert_string_equal(err.file, "f.txt");
        assert_int_equal(err.line, 2);
        hpcc_destroy(c);
    }
}

static void traces_name_nodes(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint32_t n;
    } traces[] = {{"4\n0 1 2 3\n", 0, 4},
                  {"2\n0\n9\n", 0, 1}, /* 9: passed over */
                  {"0", 0, 0},
                  {"1\n2 3 note\n", 0, 1},
                  {"", -XOFF_E_MISSING, 0},
                  {"x\n", -XOFF_E_TYPE, 0},
                  {"2\n0\n", -XOFF_E_MISSING, 0},
                  {"4000000000\n0\n", -XOFF_E_MISSING, 0},
                  {"1\n-1\n", -XOFF_E_TYPE, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        struct hpcc_config *c;
        struct xoff_err err = {0};
        assert_int_equal(parse_flows(TESTING_FLOWS, &c, &err), 0);
        assert_int_equal(
            hpcc_trace_parse("trace.txt", traces[i].text, strlen(traces[i].text), c, &err),
            traces[i].rc);
        if (traces[i].rc == 0)
            assert_int_equal(c->n_trace_ids, traces[i].n);
        else
            assert_true(err.line > 0 && err.column > 0);
        hpcc_destroy(c);
    }
}

static int check(const char *config, struct hpcc_config **c, struct xoff_err *err)
{
    *c = hpcc_create("config.txt");
    assert_int_equal(hpcc_config_parse("config.txt", config, strlen(config), *c, err), 0);
    assert_int_equal(hpcc_topology_parse("t", TESTING_TOPOLOGY, strlen(TESTING_TOPOLOGY), *c, err),
                     0);
    (*c)->topology_path = strdup("t.txt");
    assert_int_equal(hpcc_flows_parse("f", TESTING_FLOWS, strlen(TESTING_FLOWS), *c, err), 0);
    return hpcc_check(*c, err);
}

#define MAPS "KMAX_MAP 1 100000000000 1600\nPMAX_MAP 1 100000000000 0.2\n"

static void every_rate_has_thresholds(void **state)
{
    struct hpcc_config *c;
    struct xoff_err err = {0};
    (void)state;
    assert_int_equal(check(TESTING_FILES MAPS "KMIN_MAP 1 100000000000 400\n", &c, &err), 0);
    hpcc_destroy(c);
    assert_int_equal(check(TESTING_FILES MAPS "KMIN_MAP 1 25000000000 400\n", &c, &err),
                     -XOFF_E_MISSING);
    assert_string_equal(err.subject, "KMIN_MAP");
    assert_string_equal(err.file, "t.txt");
    assert_int_equal(err.line, 3);
    hpcc_destroy(c);
    assert_int_equal(check(TESTING_FILES MAPS "KMIN_MAP 1 100000000000 1601\n", &c, &err),
                     -XOFF_E_CONFLICT);
    assert_int_equal(err.line, 5);
    hpcc_destroy(c);
    /* Not needed where nothing reads marks. */
    assert_int_equal(check(TESTING_FILES "CC_MODE 0\n", &c, &err), 0);
    hpcc_destroy(c);
    assert_int_equal(check(TESTING_FILES "ENABLE_QCN 0\n", &c, &err), 0);
    assert_true(testing_has_warning(c, "ENABLE_QCN: 0"));
    hpcc_destroy(c);
}

static void a_link_that_fails_exists(void **state)
{
    struct hpcc_config *c;
    struct xoff_err err = {0};
    (void)state;
    assert_int_equal(check(TESTING_FILES "CC_MODE 0\nLINK_DOWN 5 3 0\n", &c, &err), 0);
    hpcc_destroy(c);
    assert_int_equal(check(TESTING_FILES "CC_MODE 0\nLINK_DOWN 0 0 0\n", &c, &err), 0);
    hpcc_destroy(c);
    assert_int_equal(check(TESTING_FILES "CC_MODE 0\nLINK_DOWN 5 0 1\n", &c, &err),
                     -XOFF_E_UNKNOWN);
    assert_string_equal(err.subject, "LINK_DOWN");
    assert_int_equal(err.line, 4);
    hpcc_destroy(c);
}

static void differences_are_warned_of(void **state)
{
    struct hpcc_config *c;
    struct xoff_err err = {0};
    (void)state;
    assert_int_equal(check(TESTING_FILES "CC_MODE 10\nFAST_REACT 0\nENABLE_TRACE 1\nLB_MODE 9\n"
                                         "SIMULATOR_STOP_TIME 2\n",
                           &c, &err),
                     0);
    assert_true(testing_has_warning(c, "config.txt:3: CC_MODE: PINT"));
    assert_true(testing_has_warning(c, "FAST_REACT"));
    assert_true(testing_has_warning(c, "config.txt: MULTI_RATE"));
    assert_true(testing_has_warning(c, "ENABLE_TRACE"));
    assert_true(testing_has_warning(c, "LB_MODE"));
    assert_true(testing_has_warning(c, "config.txt:7: flows that start"));
    assert_int_equal(c->n_warnings, 6);
    hpcc_destroy(c);
}

static void files_are_found_beside_the_config(void **state)
{
    char folder[64], mix[80], path[128];
    struct hpcc_config *c;
    struct xoff_err err = {0};
    (void)state;
    testing_folder(folder);
    snprintf(mix, sizeof mix, "%smix/", folder);
    snprintf(path, sizeof path, "%sconfig.txt", mix);
    assert_int_equal(mkdir(mix, 0700), 0);
    /* topology beside it, flows named from the folder above, no trace. */
    testing_write(mix, "config.txt",
                  "TOPOLOGY_FILE topology.txt\nFLOW_FILE mix/flow.txt\nTRACE_FILE no.txt\n"
                  "CC_MODE 0\nENABLE_TRACE 0\n");
    testing_write(mix, "topology.txt", TESTING_TOPOLOGY);
    assert_int_equal(hpcc_read(path, &c, &err), -XOFF_E_IO);
    assert_null(c);
    assert_string_equal(err.subject, "FLOW_FILE");
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 2);
    testing_write(mix, "flow.txt", TESTING_FLOWS);
    assert_int_equal(hpcc_read(path, &c, &err), 0);
    assert_int_equal(c->n_links, 3);
    assert_int_equal(c->flows.n, 2);
    assert_int_equal(c->n_warnings, 1);
    assert_true(testing_has_warning(c, "TRACE_FILE: no.txt is not there"));
    hpcc_destroy(c);
    testing_write(mix, "no.txt", "9\n");
    assert_int_equal(hpcc_read(path, &c, &err), -XOFF_E_MISSING);
    assert_string_equal(err.subject, "trace");
    static const char *const names[] = {"no.txt", "flow.txt", "topology.txt", "config.txt", ""};
    for (int i = 0; i < 5; i++)
        testing_remove(mix, names[i]);
    testing_remove(folder, "");
    assert_int_equal(hpcc_read(path, &c, &err), -XOFF_E_IO);
    assert_null(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_kept_by_source),
        cmocka_unit_test(missing_ports_are_counted),
        cmocka_unit_test(ends_are_hosts),
        cmocka_unit_test(traces_name_nodes),
        cmocka_unit_test(every_rate_has_thresholds),
        cmocka_unit_test(a_link_that_fails_exists),
        cmocka_unit_test(differences_are_warned_of),
        cmocka_unit_test(files_are_found_beside_the_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
