/* Tests of hpcc_yaml.c: the scenario's text, piece by piece, and paths from folder to folder. */
#include "import/hpcc_testing.h"

#include <sys/stat.h>

#define MAPS                                         \
    "KMAX_MAP 2 25000000000 400 100000000000 1600\n" \
    "KMIN_MAP 2 25000000000 100 100000000000 400\n"  \
    "PMAX_MAP 2 25000000000 0.1 100000000000 0.2\n"

static char *yaml_of(const char *config, const char *topology, const char *flows, bool compat)
{
    struct xoff_err err = {0};
    struct hpcc_config *c = testing_config(config, topology, flows);
    char *text = hpcc_to_yaml(c, compat, "flow.txt", &err);
    if (!text)
        fail_msg("%s: %s", err.subject, err.message);
    hpcc_destroy(c);
    return text;
}

static void expect(const char *config, bool compat, const char *line)
{
    char *text = yaml_of(config, TESTING_TOPOLOGY, TESTING_FLOWS, compat);
    if (!strstr(text, line))
        fail_msg("no \"%s\" in:\n%s", line, text);
    free(text);
}

/* The reference run without congestion control, whole. */
static void the_whole_scenario(void **state)
{
    static const char config[] = TESTING_FILES
        "ENABLE_QCN 0\nSIMULATOR_STOP_TIME 2.11\nCC_MODE 0\nHAS_WIN 0\nBUFFER_SIZE 1\n"
        "L2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nACK_HIGH_PRIO 1\n";
    static const char expected[] =
        "title: \"Imported from config.txt\"\n"
        "seed: 1\n"
        "stop: 2.11s\n"
        "drain: 0s\n"
        "reroute_after: 0s\n"
        "compat: ns3\n"
        "topology:\n"
        "  kind: custom\n"
        "  nodes:\n"
        "    n0: host\n"
        "    n1: host\n"
        "    n2: host\n"
        "    n3: switch\n"
        "  links:\n"
        "    - {endpoints: [n0, n3], rate: 100Gbps, delay: 1us, error: 0}\n"
        "    - {endpoints: [n1, n3], rate: 100Gbps, delay: 1us, error: 0}\n"
        "    - {endpoints: [n2, n3], rate: 100Gbps, delay: 1us, error: 0}\n"
        "switch:\n"
        "  buffer: 1048576B\n"
        "  mmu: {kind: ns3}\n"
        "  pause: pfc\n"
        "  marking: none\n"
        "priorities: {0: {strict: true}, 3: {lossless: true}}\n"
        "port: {max_frame: 1048B, response: 0}\n"
        "host: {ack_every: 1, ack_priority: 0, timeout: 100ms}\n"
        "transport: {kind: none, window: none, base_rtt: max, reliability: go-back-n}\n"
        "traffic:\n"
        "  - {kind: flows, name: flows, format: hpcc, file: \"flow.txt\"}\n";
    (void)state;
    char *text = yaml_of(config, TESTING_TOPOLOGY, TESTING_FLOWS, true);
    assert_string_equal(text, expected);
    free(text);
    text = yaml_of(config, TESTING_TOPOLOGY, TESTING_FLOWS, false);
    assert_null(strstr(text, "compat"));
    assert_non_null(strstr(text, "port: {max_frame: 1062B, response: 0}\n"));
    free(text);
}

static void congestion_controls(void **state)
{
    (void)state;
    expect(TESTING_FILES MAPS "CC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n"
                              "CLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\n"
                              "FAST_RECOVERY_TIMES 1\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\n"
                              "MIN_RATE 1000Mb/s\nVAR_WIN 1\nGLOBAL_T 0\n",
           false,
           "transport: {kind: dcqcn-nic, window: scaled, base_rtt: path, reliability: go-back-n, "
           "alpha_interval: 1us, decrease_interval: 4us, timer: 300us, gain: 0.00390625, "
           "fast_recovery: 1, ai: 20Mbps, hai: 200Mbps, clamp_target: false, min_rate: 1Gbps}\n");
    expect(TESTING_FILES MAPS, false,
           "  marking: {kind: ecn, at: dequeue, counts: others, by_rate: \"100Gbps 400KB 1600KB "
           "0.2\"}\n");
    expect(TESTING_FILES "ENABLE_QCN 0\n", false, "  marking: none\n");
    expect(TESTING_FILES "CC_MODE 3\nU_TARGET 0.95\nMI_THRESH 0\nRATE_AI 50Mb/s\n", false,
           "transport: {kind: hpcc, window: bdp, base_rtt: max, reliability: go-back-n, eta: 0.95, "
           "max_stage: 0, ai: 50Mbps, min_rate: 100Mbps}\n");
    expect(TESTING_FILES "CC_MODE 3\n", false, "  marking: int\n");
    expect(TESTING_FILES "CC_MODE 10\n", false, "transport: {kind: hpcc,");
    expect(TESTING_FILES "CC_MODE 7\nRATE_AI 10Mb/s\nRATE_HAI 50Mb/s\nMIN_RATE 0Mb/s\n", false,
           "transport: {kind: timely, window: bdp, base_rtt: max, reliability: go-back-n, delta: "
           "10Mbps, "
           "hai: 50Mbps, min_rate: 1kbps}\n");
    expect(TESTING_FILES MAPS "CC_MODE 8\nEWMA_GAIN 0.0625\n", false,
           "transport: {kind: dctcp, window: bdp, base_rtt: max, reliability: go-back-n, gain: "
           "0.0625}\n");
}

/* Interval in bytes, rounded up to frames; multiples of the chunk are acknowledged, too. */
static void acks_count_frames(void **state)
{
    (void)state;
    expect(TESTING_FILES "CC_MODE 0\n", false, "host: {ack_every: 1, timeout");
    expect(TESTING_FILES "CC_MODE 0\nL2_ACK_INTERVAL 1000\n", false, "ack_every: 1,");
    expect(TESTING_FILES "CC_MODE 0\nL2_ACK_INTERVAL 1001\n", false, "ack_every: 2,");
    expect(TESTING_FILES "CC_MODE 0\nL2_ACK_INTERVAL 9000\nL2_CHUNK_SIZE 4000\n", false,
           "ack_every: 4,");
    expect(TESTING_FILES "CC_MODE 0\nL2_ACK_INTERVAL 9000\nL2_CHUNK_SIZE 4100\n", false,
           "ack_every: 9,");
    expect(TESTING_FILES "CC_MODE 0\nACK_HIGH_PRIO 0\n", false, "{ack_every: 1, timeout: 100ms}");
}

static void failures_and_errors_of_links(void **state)
{
    (void)state;
    expect(TESTING_FILES "CC_MODE 0\nLINK_DOWN 1500 0 3\n", false,
           "links:\n  - {link: \"n0-n3\", at: 2.0015s, fail: true}\n");
    expect(TESTING_FILES "CC_MODE 0\nERROR_RATE_PER_LINK 0.001\n", false, "error: 0.001}");
    char *text = yaml_of(TESTING_FILES "CC_MODE 0\nLINK_DOWN 1 3 2\n",
                         "4 2 4\n2 3\n0 2 1Gbps 1us 0.5\n2 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"
                         "3 2 1Gbps 1us 0\n",
                         "1\n0 1 1 100 5 2\n", false);
    assert_non_null(strstr(text, "{link: \"n3-n2#1\", at: 2000001us, fail: true}"));
    assert_non_null(strstr(text, "error: 0.5}"));
    assert_non_null(strstr(text, "priorities: {0: {strict: true}, 1: {lossless: true}}"));
    free(text);
}

static void keys_of_conweave(void **state)
{
    static const char config[] = TESTING_FILES
        "CC_MODE 0\nENABLE_PFC 0\nFLOWGEN_START_TIME 2\nFLOWGEN_STOP_TIME 2.1\nRANDOM_SEED 7\n"
        "LINK_DOWN 5 0 3\n";
    (void)state;
    expect(config, false, "seed: 7\nstop: 2.1s\ndrain: 10s\n");
    expect(config, false, "  pause: none\n");
    expect(config, false, "3: {lossless: false}");
}

static void texts_are_quoted(void **state)
{
    struct xoff_err err = {0};
    struct hpcc_config *c =
        testing_config(TESTING_FILES "CC_MODE 0\n", TESTING_TOPOLOGY, TESTING_FLOWS);
    (void)state;
    char *text = hpcc_to_yaml(c, false, "a \"b\"\\c\n.txt", &err);
    assert_non_null(strstr(text, "file: \"a \\\"b\\\"\\\\c\\x0a.txt\"}"));
    free(text);
    char path[XOFF_PARAM_TEXT + 1];
    memset(path, 'a', sizeof path);
    path[XOFF_PARAM_TEXT] = '\0';
    assert_null(hpcc_to_yaml(c, false, path, &err));
    assert_string_equal(err.subject, "FLOW_FILE");
    path[XOFF_PARAM_TEXT - 1] = '\0';
    text = hpcc_to_yaml(c, false, path, &err);
    assert_non_null(text);
    free(text);
    hpcc_destroy(c);
}

static void paths_lead_from_folder_to_file(void **state)
{
    char folder[64], name[160], other[160], file[200];
    (void)state;
    testing_folder(folder);
    snprintf(name, sizeof name, "%sa/", folder);
    snprintf(other, sizeof other, "%sab", folder);
    snprintf(file, sizeof file, "%sa/f.txt", folder);
    assert_int_equal(mkdir(name, 0700) | mkdir(other, 0700), 0);
    testing_write(name, "f.txt", "");
    static const char *const expected[] = {"f.txt", "../a/f.txt", "a/f.txt"};
    const char *const from[] = {name, other, folder};
    for (int i = 0; i < 3; i++) {
        char *path = hpcc_path_from(from[i], file);
        assert_string_equal(path, expected[i]);
        free(path);
    }
    char *path = hpcc_path_from("/", file);
    assert_string_equal(path, file + 1);
    free(path);
    path = hpcc_path_from("/no/such/folder", file);
    assert_string_equal(path, file);
    free(path);
    testing_remove(name, "f.txt");
    testing_remove(name, "");
    testing_remove(other, "");
    testing_remove(folder, "");
}

/* The scenario language accepts what is written, for every congestion control. */
static void scenarios_read_it(void **state)
{
    char folder[64], path[128], text[512];
    static const int modes[] = {0, 1, 3, 7, 8, 10};
    (void)state;
    testing_folder(folder);
    snprintf(path, sizeof path, "%sconfig.txt", folder);
    testing_write(folder, "topology.txt", TESTING_TOPOLOGY);
    testing_write(folder, "flow.txt", TESTING_FLOWS);
    for (size_t i = 0; i < 2 * sizeof modes / sizeof modes[0]; i++) {
        struct scenario *scenario;
        struct hpcc_config *c;
        struct xoff_err err = {0};
        snprintf(text, sizeof text, TESTING_FILES MAPS "CC_MODE %d\nRATE_AI 20Mb/s\n",
                 modes[i / 2]);
        testing_write(folder, "config.txt", text);
        if (hpcc_scenario(path, i % 2, NULL, 0, &scenario, &c, &err))
            fail_msg("CC_MODE %d: %s: %s: %s", modes[i / 2], err.file, err.subject, err.message);
        assert_non_null(c);
        scenario_destroy(scenario);
        hpcc_destroy(c);
    }
    testing_remove(folder, "flow.txt");
    struct scenario *scenario;
    struct hpcc_config *c;
    struct xoff_err err = {0};
    assert_int_equal(hpcc_scenario(path, false, NULL, 0, &scenario, &c, &err), -XOFF_E_IO);
    assert_null(scenario);
    assert_null(c);
    testing_remove(folder, "topology.txt");
    testing_remove(folder, "config.txt");
    testing_remove(folder, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_scenario),
        cmocka_unit_test(congestion_controls),
        cmocka_unit_test(acks_count_frames),
        cmocka_unit_test(failures_and_errors_of_links),
        cmocka_unit_test(keys_of_conweave),
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(paths_lead_from_folder_to_file),
        cmocka_unit_test(scenarios_read_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
