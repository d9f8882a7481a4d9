/* Tests of hpcc_write.c: lines as in the files of the reference runs. */
#include "import/hpcc_testing.h"

#define CONFIG TESTING_FILES "CC_MODE 0\nENABLE_TRACE 0\n"
#define START (2 * XOFF_S)

struct output {
    FILE *file;
    char *text;
    size_t size;
};

static void output_open(struct output *o)
{
    *o = (struct output){0};
    o->file = open_memstream(&o->text, &o->size);
    assert_non_null(o->file);
}

static void output_is(struct output *o, const char *expected)
{
    assert_int_equal(fclose(o->file), 0);
    assert_string_equal(o->text, expected);
    free(o->text);
}

static struct result_flow flow(uint32_t from, uint32_t to, uint32_t number, uint64_t bytes,
                               int64_t fct_ns)
{
    return (struct result_flow){.from = from,
                                .to = to,
                                .number = number,
                                .offered_bytes = bytes,
                                .start_at = START,
                                .acked_at = fct_ns ? START + fct_ns * XOFF_NS : XOFF_NEVER};
}

/* Standalone 88000 ns: 2 * 2000 + 2 * 80 + (10^6 + 48 * 1000) * 8 / 100. */
static void fct_of_the_reference(void **state)
{
    struct hpcc_config *c = testing_config(CONFIG, TESTING_TOPOLOGY, TESTING_FLOWS);
    struct result_flow flows[] = {flow(1, 2, 0, 1000000, 170091), flow(0, 2, 0, 1000000, 170008)};
    struct results r = {.flows = flows, .n_flows = 2};
    struct xoff_err err;
    (void)state;
    struct output o;
    output_open(&o);
    assert_int_equal(hpcc_standalone(c, &r, &err), 0);
    assert_int_equal(hpcc_write_fct(o.file, c, &r, false, &err), 0);
    output_is(&o, "0b000001 0b000201 10000 100 1000000 2000000000 170008 88000\n"
                  "0b000101 0b000201 10000 100 1000000 2000000000 170091 88000\n");
    output_open(&o);
    assert_int_equal(hpcc_write_fct(o.file, c, &r, true, &err), 0);
    output_is(&o, "0 2 10000 100 1000000 2000000000 170008 88000\n"
                  "1 2 10000 100 1000000 2000000000 170091 88000\n");
    hpcc_destroy(c);
}

/* Standalone 9656 ns: 4160 + (65536 + 66 * 48) * 8 / 100 = 4160 + 5496.32. */
static void fct_of_the_incast(void **state)
{
    struct hpcc_config *c =
        testing_config(CONFIG, TESTING_TOPOLOGY, "1\n0 2 3 100 65536 2.000000000\n");
    struct result_flow flows[] = {flow(0, 2, 0, 65536, 77426)};
    struct results r = {.flows = flows, .n_flows = 1};
    struct xoff_err err;
    (void)state;
    struct output o;
    output_open(&o);
    assert_int_equal(hpcc_standalone(c, &r, &err), 0);
    assert_int_equal(hpcc_write_fct(o.file, c, &r, false, &err), 0);
    output_is(&o, "0b000001 0b000201 10000 100 65536 2000000000 77426 9656\n");
    hpcc_destroy(c);
}

/* Node 0 is a switch, so that ids and our numbers differ: hosts 1, 2, 300 are 0, 1, 2. Ports count
 * per source; unfinished flows are left out; equal ends are in order of source and number. */
static void flows_keep_their_ports(void **state)
{
    char topology[16384], *end = topology;
    (void)state;
    end += sprintf(end, "301 298 3\n0");
    for (int id = 3; id < 300; id++)
        end += sprintf(end, " %d", id);
    sprintf(end, "\n1 0 10Gbps 1us 0\n2 0 10Gbps 1us 0\n300 0 1Gbps 1us 0\n");
    struct hpcc_config *c = testing_config(
        CONFIG, topology, "4\n1 2 3 7 1 2\n300 1 3 8 1000 2\n1 300 3 9 1001 2\n1 2 3 10 5 2\n");
    struct result_flow flows[] = {flow(0, 1, 0, 1, 9), flow(0, 2, 1, 1001, 9), flow(0, 1, 2, 5, 0),
                                  flow(2, 0, 0, 1000, 9), flow(2, 0, 1, 1, 8)};
    flows[0].start_at += XOFF_NS / 2; /* cut */
    struct results r = {.flows = flows, .n_flows = 5};
    struct xoff_err err;
    struct output o;
    output_open(&o);
    assert_int_equal(hpcc_standalone(c, &r, &err), 0);
    assert_int_equal(hpcc_write_fct(o.file, c, &r, false, &err), 0);
    /* base: 4000 + 800 + 800 between 1 and 2, 4000 + 800 + 8000 to 300; then 49 * 8 / 10 = 39,
     * (1001 + 96) * 8 = 8776, 1048 * 8 = 8384, 49 * 8 = 392. The last has no line of the file. */
    output_is(&o, "0b012c01 0b000101 10001 0 1 2000000000 8 13192\n"
                  "0b000101 0b000201 10000 7 1 2000000000 8 5639\n"
                  "0b000101 0b012c01 10000 9 1001 2000000000 9 21576\n"
                  "0b012c01 0b000101 10000 8 1000 2000000000 9 21184\n");
    hpcc_destroy(c);
}

/* The network of TESTING_TOPOLOGY made by hand, with 25 Gb/s at host 1. Flows from or to a node
 * that is no host keep 0. */
static void standalone_without_a_config(void **state)
{
    struct topo_link links[3];
    for (uint32_t i = 0; i < 3; i++)
        links[i] =
            (struct topo_link){.node = {i, 3}, .rate_bps = 100 * XOFF_GBPS, .delay = XOFF_US};
    links[1].rate_bps = 25 * XOFF_GBPS;
    const struct topo topo = {.n_nodes = 4, .n_hosts = 3, .n_links = 3, .links = links};
    struct hpcc_config *c = hpcc_of_topo(&topo, 1000);
    struct result_flow flows[] = {flow(0, 2, 0, 1000000, 9), flow(2, 1, 0, 1, 9),
                                  flow(0, 3, 1, 1000, 9), flow(3, 0, 0, 1000, 9)};
    struct results r = {.flows = flows, .n_flows = 4};
    struct xoff_err err;
    (void)state;
    assert_non_null(c);
    assert_int_equal(hpcc_standalone(c, &r, &err), 0);
    assert_int_equal(flows[0].standalone_for, 88000 * XOFF_NS);
    /* 4000 + 80 + 320 + 49 * 8 / 25 = 15.68 */
    assert_int_equal(flows[1].standalone_for, 4415 * XOFF_NS);
    assert_int_equal(flows[2].standalone_for, 0);
    assert_int_equal(flows[3].standalone_for, 0);
    hpcc_destroy(c);
}

static void pauses_are_written_where_heard(void **state)
{
    struct hpcc_config *c = testing_config(CONFIG, TESTING_TOPOLOGY, TESTING_FLOWS);
    struct result_heard heard[] = {
        {.at = START + 17275 * XOFF_NS, .node = 1, .port = 0, .priorities = 8, .pause = 1},
        {.at = START + 21923 * XOFF_NS + 999, .node = 1, .port = 0, .priorities = 8, .pause = 0},
        {.at = START + 21924 * XOFF_NS, .node = 3, .port = 2, .priorities = 0x81, .pause = 1},
    };
    const struct results r = {.heard = heard, .n_heard = 3};
    (void)state;
    struct output o;
    output_open(&o);
    hpcc_write_pfc(o.file, c, &r);
    output_is(&o, "2000017275 1 0 1 1\n2000021923 1 0 1 0\n"
                  "2000021924 3 1 3 1\n2000021924 3 1 3 1\n");
    hpcc_destroy(c);
}

static void windows_end_with_a_dump(void **state)
{
    static const struct {
        const char *keys;
        bool has_dump;
        xoff_time from, to;
    } windows[] = {
        {"QLEN_MON_START 2000000000\nQLEN_MON_END 2100000000\n", true, START, 2100 * XOFF_MS},
        {"QLEN_MON_START 2000000000\nQLEN_MON_END 2099999901\n", true, START, 2100 * XOFF_MS},
        {"QLEN_MON_START 2000000000\nQLEN_MON_END 2099999900\n", true, START, START},
        {"QLEN_MON_START 2000000100\nQLEN_MON_END 2099999900\n", false, 0, 0},
        {"QLEN_MON_START 2000000050\nQLEN_MON_END 2200000000\n", false, 0, 0},
        {"QLEN_MON_START 9000000000\nQLEN_MON_END 9000000001\n", false, 0, 0},
        {"QLEN_MON_START 1900000000\nQLEN_MON_END 9000000000\nSIMULATOR_STOP_TIME 2.2\n", true,
         1900 * XOFF_MS, 2100 * XOFF_MS},
        /* The simulation stops before the sample of the same instant. */
        {"SIMULATOR_STOP_TIME 2.1\n", true, START, START},
        {"SIMULATOR_STOP_TIME 2.100000001\n", true, START, 2100 * XOFF_MS},
        {"SIMULATOR_STOP_TIME 2\n", false, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        char text[256];
        xoff_time from = 0, to = 0;
        snprintf(text, sizeof text, CONFIG "%s", windows[i].keys);
        struct hpcc_config *c = testing_config(text, TESTING_TOPOLOGY, TESTING_FLOWS);
        const bool has_dump = hpcc_qlen_window(c, &from, &to);
        if (has_dump != windows[i].has_dump ||
            (has_dump && (from != windows[i].from || to != windows[i].to)))
            fail_msg("%zu: %d %lld %lld", i, has_dump, (long long)from, (long long)to);
        hpcc_destroy(c);
    }
}

/* The head of the reference file. */
static void queues_are_dumped(void **state)
{
    struct hpcc_config *c =
        testing_config(CONFIG "SIMULATOR_STOP_TIME 2.11\n", TESTING_TOPOLOGY, TESTING_FLOWS);
    uint64_t idle[] = {1000001}, busy[] = {998341, 2, 0, 7, 0};
    struct result_histogram histograms[] = {{.node = 3, .port = 0, .counts = idle, .n = 1},
                                            {.node = 3, .port = 2, .counts = busy, .n = 5}};
    const struct results r = {.histograms = histograms, .n_histograms = 2};
    (void)state;
    struct output o;
    output_open(&o);
    hpcc_write_qlen(o.file, c, &r);
    output_is(&o, "time: 2000000000\n3 1 1\n3 3 1\n"
                  "time: 2100000000\n3 1 1000001\n3 3 998341 2 0 7\n");
    hpcc_destroy(c);
    /* A flow from before the window: what its first sample found is not known. */
    c = testing_config(CONFIG "SIMULATOR_STOP_TIME 2.11\n", TESTING_TOPOLOGY,
                       "1\n0 2 3 100 5 1.9\n");
    output_open(&o);
    hpcc_write_qlen(o.file, c, &r);
    output_is(&o, "time: 2100000000\n3 1 1000001\n3 3 998341 2 0 7\n");
    hpcc_destroy(c);
    c = testing_config(CONFIG "QLEN_MON_START 9000000000\n", TESTING_TOPOLOGY, TESTING_FLOWS);
    output_open(&o);
    hpcc_write_qlen(o.file, c, &r);
    output_is(&o, "");
    hpcc_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fct_of_the_reference),
        cmocka_unit_test(fct_of_the_incast),
        cmocka_unit_test(flows_keep_their_ports),
        cmocka_unit_test(standalone_without_a_config),
        cmocka_unit_test(pauses_are_written_where_heard),
        cmocka_unit_test(windows_end_with_a_dump),
        cmocka_unit_test(queues_are_dumped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
