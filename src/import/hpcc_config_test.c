/* Tests of hpcc_config.c: keys with their values, mistakes with their places, and what is taken for
 * a config at all. */
#include "import/hpcc_testing.h"

static int parse(const char *text, struct hpcc_config **c, struct xoff_err *err)
{
    *c = hpcc_create("config.txt");
    assert_non_null(*c);
    return hpcc_config_parse("config.txt", text, strlen(text), *c, err);
}

static struct hpcc_config *good(const char *text)
{
    struct hpcc_config *c;
    struct xoff_err err;
    if (parse(text, &c, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    return c;
}

static void defaults_are_the_originals(void **state)
{
    struct hpcc_config *c = good(TESTING_FILES);
    (void)state;
    assert_string_equal(c->keys.topology_file, "topology.txt");
    assert_int_equal(c->keys.cc_mode, 1);
    assert_int_equal(c->keys.enable_qcn, 1);
    assert_int_equal(c->keys.payload_bytes, 1000);
    assert_int_equal(c->keys.has_win, 1);
    assert_int_equal(c->keys.var_win, 0);
    assert_int_equal(c->keys.mi_thresh, 5);
    assert_int_equal(c->keys.buffer_mib, 16);
    assert_int_equal(c->keys.stop, 3010 * XOFF_MS);
    assert_int_equal(c->keys.min_rate, 100 * XOFF_MBPS);
    assert_int_equal(c->keys.qlen_end_ns, 2100000000);
    assert_int_equal(hpcc_key_line(c, "FLOW_FILE"), 2);
    assert_int_equal(hpcc_key_line(c, "RATE_AI"), 0);
    assert_int_equal(c->n_warnings, 0);
    hpcc_destroy(c);
}

static void values_are_taken(void **state)
{
    struct hpcc_config *c =
        good("# a comment\r\n\r\n" TESTING_FILES "CC_MODE 3 # HPCC\r\nEWMA_GAIN 0.00390625\r\n"
             "RATE_AI 20Mb/s\nRATE_HAI 0.2Gbps\nMIN_RATE 1000Mb/s\n\tSIMULATOR_STOP_TIME 2.11\n"
             "LINK_DOWN 7 0 3 // none\nKMAX_MAP 2 25000000000 400 100000000000 1600\n"
             "PMAX_MAP 1 100000000000 0.2\nKMIN_MAP 0\nU_TARGET 0.9\nDATA_RATE what ever\n");
    (void)state;
    assert_int_equal(c->keys.cc_mode, 3);
    assert_true(c->keys.ewma_gain == 1.0 / 256);
    assert_int_equal(c->keys.rate_ai, 20 * XOFF_MBPS);
    assert_int_equal(c->keys.rate_hai, 200 * XOFF_MBPS);
    assert_int_equal(c->keys.min_rate, XOFF_GBPS);
    assert_int_equal(c->keys.stop, 2110 * XOFF_MS);
    assert_int_equal(c->keys.link_down_us, 7);
    assert_int_equal(c->keys.link_down_node[1], 3);
    assert_int_equal(c->keys.kmax.n, 2);
    assert_int_equal(c->keys.kmax.entries[1].rate_bps, 100 * XOFF_GBPS);
    assert_true(c->keys.kmax.entries[1].value == 1600);
    assert_true(c->keys.pmax.entries[0].value == 0.2);
    assert_int_equal(c->keys.kmin.n, 0);
    assert_true(c->keys.u_target == 0.9);
    assert_int_equal(hpcc_key_line(c, "CC_MODE"), 5);
    assert_int_equal(c->n_warnings, 0);
    hpcc_destroy(c);
}

static void mistakes_are_located(void **state)
{
    static const struct {
        const char *text;
        enum xoff_err_code code;
        const char *subject;
        int line, column;
    } bad[] = {
        {"", XOFF_E_MISSING, "TOPOLOGY_FILE", 1, 1},
        {"TOPOLOGY_FILE t\n", XOFF_E_MISSING, "FLOW_FILE", 2, 1},
        {"\nCC_MODE\n", XOFF_E_MISSING, "CC_MODE", 2, 1},
        {"CC_MODE one\n", XOFF_E_RANGE, "CC_MODE", 1, 9},
        {"CC_MODE -1\n", XOFF_E_RANGE, "CC_MODE", 1, 9},
        {"CC_MODE 1 2\n", XOFF_E_SYNTAX, "CC_MODE", 1, 11},
        {TESTING_FILES "CC_MODE 2\n", XOFF_E_UNKNOWN, "CC_MODE", 3, 1},
        {"BUFFER_SIZE 0\n", XOFF_E_RANGE, "BUFFER_SIZE", 1, 13},
        {"BUFFER_SIZE 3815\n", XOFF_E_RANGE, "BUFFER_SIZE", 1, 13},
        {"PACKET_PAYLOAD_SIZE 0\n", XOFF_E_RANGE, "PACKET_PAYLOAD_SIZE", 1, 21},
        {"EWMA_GAIN 1.5\n", XOFF_E_RANGE, "EWMA_GAIN", 1, 11},
        {"EWMA_GAIN 0\n", XOFF_E_RANGE, "EWMA_GAIN", 1, 11},
        {"RP_TIMER 300us\n", XOFF_E_RANGE, "RP_TIMER", 1, 10},
        {"RATE_AI 20\n", XOFF_E_UNIT, "RATE_AI", 1, 9},
        {"RATE_AI 20Mb\n", XOFF_E_UNIT, "RATE_AI", 1, 9},
        {"RATE_AI Mb/s\n", XOFF_E_UNIT, "RATE_AI", 1, 9},
        {"SIMULATOR_STOP_TIME 2s\n", XOFF_E_TYPE, "SIMULATOR_STOP_TIME", 1, 21},
        {"LINK_DOWN 0 0\n", XOFF_E_MISSING, "LINK_DOWN", 1, 1},
        {"LINK_DOWN 0 0 x\n", XOFF_E_TYPE, "LINK_DOWN", 1, 15},
        {"KMAX_MAP 2 25000000000 400\n", XOFF_E_CONFLICT, "KMAX_MAP", 1, 10},
        {"KMAX_MAP 1 25000000000 400 1\n", XOFF_E_CONFLICT, "KMAX_MAP", 1, 10},
        {"KMAX_MAP 4000000000 25000000000 400\n", XOFF_E_RANGE, "KMAX_MAP", 1, 10},
        {"KMAX_MAP 1 25Gbps 400\n", XOFF_E_RANGE, "KMAX_MAP", 1, 12},
        {"KMAX_MAP 1 0 400\n", XOFF_E_RANGE, "KMAX_MAP", 1, 12},
        {"KMAX_MAP 1 25000000000 0.5\n", XOFF_E_RANGE, "KMAX_MAP", 1, 24},
        {"PMAX_MAP 1 25000000000 1.01\n", XOFF_E_RANGE, "PMAX_MAP", 1, 24},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hpcc_config *c;
        struct xoff_err err;
        const int rc = parse(bad[i].text, &c, &err);
        if (rc != -(int)bad[i].code || strcmp(err.subject, bad[i].subject) ||
            err.line != bad[i].line || err.column != bad[i].column)
            fail_msg("%zu: %d %d:%d %s: %s", i, rc, err.line, err.column, err.subject, err.message);
        assert_string_equal(err.file, "config.txt");
        hpcc_destroy(c);
    }
}

static void long_lines_are_refused(void **state)
{
    static char text[6000];
    struct hpcc_config *c;
    struct xoff_err err;
    (void)state;
    memset(text, 'A', 5000);
    assert_int_equal(parse(text, &c, &err), -XOFF_E_SYNTAX);
    hpcc_destroy(c);
    for (int i = 0; i < 4096; i++) /* 2048 words */
        text[i] = i % 2 ? ' ' : 'A';
    text[4096] = '\0';
    assert_int_equal(parse(text, &c, &err), -XOFF_E_SYNTAX);
    hpcc_destroy(c);
}

static void oddities_are_warned_of(void **state)
{
    struct hpcc_config *c = good(TESTING_FILES "FOO 1 2\nCC_MODE 1\nBAR\nFOO 3\nCC_MODE 3\n"
                                               "VOQ_MON_FILE v.txt\n");
    (void)state;
    assert_int_equal(c->keys.cc_mode, 3);
    assert_int_equal(c->n_warnings, 4);
    assert_string_equal(c->warnings[0],
                        "config.txt:3: FOO: unknown key, skipped as by the original");
    assert_non_null(strstr(c->warnings[1], "BAR"));
    assert_string_equal(c->warnings[2],
                        "config.txt:7: CC_MODE: given before in line 4; this one counts");
    assert_non_null(strstr(c->warnings[3], "VOQ_MON_FILE: not supported"));
    hpcc_destroy(c);
}

static void warnings_are_bounded(void **state)
{
    static char text[40000];
    size_t n = (size_t)sprintf(text, TESTING_FILES);
    (void)state;
    for (int i = 0; i < 1000; i++)
        n += (size_t)sprintf(text + n, "KEY_%d 1\n", i);
    struct hpcc_config *c = good(text);
    assert_int_equal(c->n_warnings, HPCC_MAX_WARNINGS);
    assert_string_equal(c->warnings[HPCC_MAX_WARNINGS - 1], "further warnings are left out");
    hpcc_destroy(c);
}

static void rates_are_those_of_ns3(void **state)
{
    static const struct {
        const char *text;
        xoff_rate rate;
    } known[] = {
        {"100Gbps", 100 * XOFF_GBPS},
        {"40Gb/s", 40 * XOFF_GBPS},
        {"1.5Mbps", 1500000},
        {"8kb/s", 8000},
        {"8Kbps", 8000},
        {"1GB/s", 8 * XOFF_GBPS},
        {"2MBps", 16000000},
        {"1Kib/s", 1024},
        {"1MiB/s", 8388608},
        {"10bps", 10},
        {"25000000000.0", 25 * XOFF_GBPS},
        {"1000000", 1000000},
        {"0Mb/s", 0},
    };
    static const char *const bad[] = {
        "100", "999999", "",          "Gbps",   "100 Gbps", "100gbps",          "1Tbps",
        "1Gb", "-1Gbps", "1.1.1Gbps", "1Gbpss", "1e9Gbps",  "1000000000000Gbps"};
    (void)state;
    xoff_rate rate;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct word word = {.text = known[i].text, .length = strlen(known[i].text)};
        if (!hpcc_rate(&word, &rate) || rate != known[i].rate)
            fail_msg("%s", known[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct word word = {.text = bad[i], .length = strlen(bad[i])};
        if (hpcc_rate(&word, &rate))
            fail_msg("%s", bad[i]);
    }
}

static void configs_are_told_from_scenarios(void **state)
{
    static const struct {
        const char *text;
        int is_config;
    } files[] = {
        {TESTING_FILES, 1},
        {"\r\n# comment\r\nENABLE_QCN 1\r\nFLOW_FILE f\r\n", 1},
        {"ENABLE_QCN 1\n", 0},
        {"ENABLE_QCN 1\nFLOW_FILE\n", 0},
        {"", 0},
        {"title: x\nTOPOLOGY_FILE t\n", 0},
        {"TITLE: x\nTOPOLOGY_FILE t\n", 0},
        {"---\nTOPOLOGY_FILE t\n", 0},
        {"{topology: {kind: star}}\n", 0},
        {"# FLOW_FILE f\ntopology:\n  kind: star\n", 0},
        {"TOPOLOGY_FILE: t\nFLOW_FILE: f\n", 0},
    };
    char folder[64], path[128];
    (void)state;
    testing_folder(folder);
    snprintf(path, sizeof path, "%sf", folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        testing_write(folder, "f", files[i].text);
        if (hpcc_recognise(path) != files[i].is_config)
            fail_msg("%s", files[i].text);
    }
    testing_remove(folder, "f");
    assert_int_equal(hpcc_recognise(path), 0);
    assert_int_equal(hpcc_recognise(folder), 0);
    assert_int_equal(hpcc_recognise("-"), 0);
    testing_remove(folder, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_originals),
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(oddities_are_warned_of),
        cmocka_unit_test(warnings_are_bounded),
        cmocka_unit_test(rates_are_those_of_ns3),
        cmocka_unit_test(configs_are_told_from_scenarios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
