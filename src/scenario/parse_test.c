/* Scenario files: defaults, values, inheritance, settings, variants, printing, schema, mistakes.
 *
 * The folder with the sources is the first argument (default: the current one); every file of
 * tests/scenario/bad/ is read and must fail as its first line says. A second line "# by: run" marks
 * mistakes that only the routes or the traffic of the whole network show; these must be readable
 * here, and tests/scenario/bad_test.py sees them fail.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenario/sections.h"
#include "scenario/settings.h"
#include "scenario/topology.h"
#include "scenario/yaml.h"
#include "stats/results.h"

static const char *source_root = ".";

#define STAR "topology: {kind: star, hosts: 4}\n"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

static struct scenario *read_with(const char *text, const struct plan_setting *settings,
                                  uint32_t n_settings)
{
    struct scenario *scenario;
    struct xoff_err err;
    if (scenario_read_text("t.yaml", text, strlen(text), settings, n_settings, &scenario, &err))
        fail_msg("%s:%d:%d: %s: %s", err.file, err.line, err.column, err.subject, err.message);
    return scenario;
}

static struct scenario *read_good(const char *text)
{
    return read_with(text, NULL, 0);
}

static struct xoff_err read_bad_with(const char *text, const char *key, const char *value)
{
    const struct plan_setting setting = {key, value};
    struct scenario *scenario = (struct scenario *)&setting;
    struct xoff_err err;
    const int rc =
        scenario_read_text("t.yaml", text, strlen(text), &setting, key ? 1 : 0, &scenario, &err);
    if (rc == 0)
        fail_msg("read without error: %s", text);
    assert_null(scenario);
    assert_int_equal(rc, -(int)err.code);
    return err;
}

static struct xoff_err read_bad(const char *text)
{
    return read_bad_with(text, NULL, NULL);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

/* Fails at that place with that subject and a message that contains `part`. */
static void assert_fails(const char *text, int line, int column, const char *subject,
                         const char *part)
{
    const struct xoff_err err = read_bad(text);
    assert_string_equal(err.subject, subject);
    assert_contains(err.message, part);
    assert_string_equal(err.file, "t.yaml");
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
}

static void assert_set_fails(const char *text, const char *key, const char *value, const char *part)
{
    const struct xoff_err err = read_bad_with(text, key, value);
    char subject[160];
    snprintf(subject, sizeof subject, "--set %s", key);
    assert_string_equal(err.subject, subject);
    assert_contains(err.message, part);
    assert_string_equal(err.file, "");
    assert_int_equal(err.line, 0);
}

/* A parameter of a mechanism as text. */
static const char *param_text(const struct xoff_param *table, const void *params, const char *name)
{
    static char buf[XOFF_PARAM_TEXT];
    const struct xoff_param *p = xoff_param_find(table, name);
    assert_non_null(p);
    return xoff_param_format(p, params, buf, sizeof buf);
}

static void test_defaults(void **state)
{
    (void)state;
    struct scenario *s = read_good("topology: star\n");
    assert_int_equal(s->n_plans, 1);
    assert_int_equal(s->n_expects, 0);
    const struct plan *p = s->plans[0];
    assert_string_equal(p->file, "t.yaml");
    assert_string_equal(p->text, "topology: star\n");
    assert_string_equal(p->title, "");
    assert_string_equal(p->variant, "");
    assert_int_equal(p->net.seed, 1);
    assert_int_equal(p->net.stop, 10 * XOFF_MS);
    assert_int_equal(p->net.drain, 100 * XOFF_MS);
    assert_int_equal(p->reroute_after, XOFF_MS);
    assert_string_equal(p->topology.kind->name, "star");
    assert_int_equal(p->topology.host_link.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(p->topology.host_link.delay, XOFF_US);
    assert_int_equal(p->topology.host_link.length_mm, XOFF_PARAM_AUTO);
    assert_int_equal(p->kinds->buffer_bytes, 16000000);
    assert_int_equal(p->kinds->processing_for, 0);
    assert_ptr_equal(p->kinds->mmu, xoff_mmus[0]);
    assert_string_equal(p->kinds->pause->name, "pfc");
    assert_ptr_equal(p->kinds->sched, xoff_scheds[0]);
    assert_ptr_equal(p->kinds->marking, xoff_cps[0]);
    assert_int_equal(p->net.response_quanta, XOFF_PARAM_AUTO);
    assert_int_equal(p->net.headroom_bytes, XOFF_PARAM_AUTO);
    assert_int_equal(p->net.max_frame_bytes, 1518);
    assert_string_equal(p->transports[0].net.rp->name, "datagram");
    assert_int_equal(p->net.ack_priority, XOFF_PARAM_AUTO);
    assert_int_equal(p->net.ack_every, 1);
    assert_int_equal(p->net.timeout_for, XOFF_MS);
    assert_int_equal(p->net.lossless, 0);
    assert_int_equal(p->net.strict, 0);
    for (int i = 0; i < XOFF_N_PRIORITIES; i++)
        assert_int_equal(p->net.weight[i], 1);
    assert_int_equal(p->n_traffic + p->n_changes + p->n_routes + p->n_receivers, 0);
    assert_int_equal(p->net.measure_every, 0);
    assert_int_equal(p->net.measure, NET_QUEUE | NET_THROUGHPUT | NET_PAUSE);
    assert_string_equal(p->measured_at, "all");
    assert_int_equal(p->net.deadlock_after, XOFF_MS);
    assert_int_equal(p->net.deadlock_stops, 0);
    scenario_destroy(s);
}

static const char whole[] =
    "title: \"A \\\"quoted\\\" title, with ünicode: and a colon\"\n"
    "seed: 7\n"
    "stop: 2.5ms\n"
    "drain: 1ms\n"
    "reroute_after: never\n"
    "topology:\n"
    "  kind: leaf-spine\n"
    "  leaves: 2\n"
    "  spines: 3\n"
    "  hosts_per_leaf: 4\n"
    "  host_link: {rate: 25Gbps, length: 3.5m, error: 1e-6}\n"
    "  fabric_link: {rate: 100Gbps, delay: 2us}\n"
    "switch:\n"
    "  buffer: 12MiB\n"
    "  processing_delay: 500ns\n"
    "  mmu: {kind: sih, alpha: 1/4}\n"
    "  pause: none\n"
    "  scheduler: {kind: drr}\n"
    "  marking: ecn\n"
    "port: {response: 60, headroom: 90KB, max_frame: 9100B}\n"
    "transport: none\nhost: {ack_priority: 6, ack_every: 2, timeout: 4ms}\n"
    "priorities: {3: {lossless: yes, weight: 60}, 7: {strict: true}}\n"
    "links:\n"
    "  - {link: leaf0-spine0, at: 1ms, fail: true}\n"
    "  - {link: leaf0-spine0, at: 2ms, repair: true}\n"
    "  - {link: h0-leaf0, at: 1ms, rate: 1Gbps, delay: 3us}\n"
    "routes:\n"
    "  - {at: 1us, on: leaf0, to: [h4, h5..h6], via: [spine1, spine2]}\n"
    "  - {on: leaf1, to: all, via: []}\n"
    "cn_ports: [{at: all, priority: 3, mode: edge, alternate: 2}]\n"
    "receivers:\n"
    "  - {host: h1, rate: [10Gbps, 1ms: 1Gbps, 2ms: 0bps], buffer: 2MB, xoff: 1MB, xon: 900KB}\n"
    "measure: {every: 10us, series: [buffer, pools, queue], at: [leaf0, spine1]}\n"
    "curves: {q: {of: queue, at: leaf0:1, priority: 3, from: 1ms}, b-1: {of: buffer, at: leaf0}}\n"
    "deadlock: {after: 0s, stop: true}\n"
    "expect: [\"drops == 0\", 'pauses > 0']\n"
    "switches: [{match: [spine1, leaf?], mmu: {alpha: 1/2}}]\n"
    "lldp: {second: 1us, interval: 40, forward: spine0}\n"
    "dcbx:\n"
    "  - {at: [leaf0, h0..h3], pfc: [3, 4], ets: [0: 40, 3: 60], strict: 7, recommend: same,\n"
    "     apps: [fcoe: 3, udp 4791: 4], cn: [5, 6], willing: [pfc, apps], tie: higher}\n";

static void check_whole_network(const struct plan *p)
{
    const struct plan_link *host = &p->topology.host_link, *fabric = &p->topology.fabric_link;
    assert_string_equal(p->topology.kind->name, "leaf-spine");
    assert_string_equal(param_text(p->topology.kind->params, p->topology.params, "spines"), "3");
    assert_int_equal(host->rate_bps, 25 * XOFF_GBPS);
    assert_int_equal(host->length_mm, 3500);
    assert_int_equal(host->delay, XOFF_PARAM_AUTO);
    assert_true(host->error == 1e-6);
    assert_int_equal(fabric->rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(fabric->delay, 2 * XOFF_US);
    assert_int_equal(fabric->length_mm, XOFF_PARAM_AUTO);
    assert_true(fabric->error == 1e-6);
    assert_int_equal(p->topology.place.line, 7);
    assert_int_equal(p->topology.place.column, 3);
    assert_int_equal(p->n_changes, 3);
    assert_string_equal(p->changes[0].link, "leaf0-spine0");
    assert_int_equal(p->changes[0].fail, 1);
    assert_int_equal(p->changes[0].rate_bps, XOFF_PARAM_AUTO);
    assert_int_equal(p->changes[1].repair, 1);
    assert_int_equal(p->changes[2].rate_bps, XOFF_GBPS);
    assert_int_equal(p->changes[2].delay, 3 * XOFF_US);
    assert_int_equal(p->changes[2].place.line, 27);
    assert_int_equal(p->n_routes, 2);
    assert_string_equal(p->routes[0].on, "leaf0");
    assert_string_equal(p->routes[0].to, "h4,h5..h6");
    assert_string_equal(p->routes[0].via, "spine1,spine2");
    assert_int_equal(p->routes[0].at, XOFF_US);
    assert_string_equal(p->routes[1].via, "");
    assert_int_equal(p->n_defences, 1);
    assert_int_equal(p->defences[0].mode, NET_DEFENCE_EDGE);
    assert_int_equal(p->defences[0].priority + 10 * p->defences[0].alternate, 23);
    assert_int_equal(p->net.lldp.interval_s, 40);
    assert_true(p->net.lldp.second_for == XOFF_US);
    assert_int_equal(p->n_dcbx, 1);
    const struct xoff_dcbx_admin *admin = &p->dcbx[0].net.admin;
    const uint8_t class_of[8] = {0, 0, 0, 3, 0, 0, 0, 7};
    assert_memory_equal(admin->ets.class_of, class_of, 8);
    assert_int_equal(admin->ets.percent[0] + admin->ets.percent[3], 100);
    assert_int_equal(admin->ets.tsa[3], XOFF_TSA_ETS);
    assert_int_equal(admin->ets.tsa[7], XOFF_TSA_STRICT);
    assert_memory_equal(admin->recommendation.percent, admin->ets.percent, 8);
    assert_int_equal(admin->pfc.enabled, 0x18);
    assert_int_equal(admin->cn_priorities, 0x60);
    assert_true(admin->pfc.is_willing && admin->is_willing_apps && !admin->ets.is_willing);
    assert_int_equal(admin->apps.n, 2);
    assert_int_equal(admin->apps.app[0].protocol, XOFF_APP_FCOE);
    assert_int_equal(admin->apps.app[1].selector, XOFF_APP_UDP);
    assert_int_equal(admin->apps.app[1].protocol, 4791);
    assert_int_equal(admin->sends, 0x1f);
    assert_int_equal(p->dcbx[0].net.tie, XOFF_DCBX_TIE_HIGHER);
    assert_int_equal(p->n_receivers, 1);
    assert_string_equal(p->receivers[0].rate, "10Gbps,1ms: 1Gbps,2ms: 0bps");
    assert_int_equal(p->receivers[0].net.n_servers, 1);
    assert_int_equal(p->receivers[0].net.servers[0].n_services, 3);
    assert_int_equal(p->receivers[0].net.servers[0].services[1].at, XOFF_MS);
    assert_int_equal(p->receivers[0].net.servers[0].services[1].rate_bps, XOFF_GBPS);
    assert_int_equal(p->receivers[0].net.buffer_bytes, 2000000);
    assert_int_equal(p->receivers[0].net.xoff_bytes, 1000000);
    assert_int_equal(p->receivers[0].net.xon_bytes, 900000);
}

static void check_whole(const struct plan *p)
{
    check_whole_network(p);
    assert_string_equal(p->title, "A \"quoted\" title, with ünicode: and a colon");
    assert_int_equal(p->net.seed, 7);
    assert_int_equal(p->net.stop, 2500 * XOFF_US);
    assert_int_equal(p->reroute_after, XOFF_NEVER);
    assert_int_equal(p->kinds->buffer_bytes, 12 * 1024 * 1024);
    assert_int_equal(p->kinds->processing_for, 500 * XOFF_NS);
    assert_string_equal(p->kinds->mmu->name, "sih");
    assert_string_equal(param_text(p->kinds->mmu->params, p->kinds->mmu_params, "alpha"), "0.25");
    assert_int_equal(p->net.n_kinds, 2);
    assert_string_equal(p->switches[1].match, "spine1,leaf?");
    assert_int_equal(p->kinds[1].buffer_bytes, 12 * 1024 * 1024);
    assert_string_equal(param_text(p->kinds[1].mmu->params, p->kinds[1].mmu_params, "alpha"),
                        "0.5");
    assert_string_equal(p->kinds->pause->name, "none");
    assert_string_equal(p->kinds->sched->name, "drr");
    assert_string_equal(p->kinds->marking->name, "ecn");
    assert_int_equal(p->net.response_quanta, 60);
    assert_int_equal(p->net.headroom_bytes, 90000);
    assert_int_equal(p->net.max_frame_bytes, 9100);
    assert_string_equal(p->transports[0].net.rp->name, "none");
    assert_int_equal(p->net.ack_priority, 6);
    assert_int_equal(p->net.ack_every, 2);
    assert_int_equal(p->net.timeout_for, 4 * XOFF_MS);
    assert_int_equal(p->net.lossless, 1 << 3);
    assert_int_equal(p->net.strict, 1 << 7);
    assert_int_equal(p->net.weight[3], 60);
    assert_int_equal(p->net.weight[7], 1);
    assert_int_equal(p->net.measure_every, 10 * XOFF_US);
    assert_int_equal(p->net.measure, NET_QUEUE | NET_BUFFER | NET_POOLS);
    assert_string_equal(p->measured_at, "leaf0,spine1");
    assert_int_equal(p->n_curves, 2);
    assert_string_equal(p->curves[0].name, "q");
    assert_string_equal(p->curves[0].at, "leaf0:1");
    assert_int_equal(p->curves[0].of, RESULT_QUEUE_BYTES);
    assert_int_equal(p->curves[0].priority, 3);
    assert_int_equal(p->curves[0].from, XOFF_MS);
    assert_true(p->curves[0].to == XOFF_PARAM_AUTO);
    assert_string_equal(p->curves[1].name, "b-1");
    assert_int_equal(p->curves[1].of, RESULT_BUFFER_BYTES);
    assert_true(p->curves[1].priority == XOFF_PARAM_AUTO && p->curves[1].from == 0);
    assert_int_equal(p->net.deadlock_after, 0);
    assert_int_equal(p->net.deadlock_stops, 1);
}

static void test_every_section(void **state)
{
    (void)state;
    struct scenario *s = read_good(whole);
    check_whole(s->plans[0]);
    assert_int_equal(s->n_expects, 2);
    assert_string_equal(s->expects[1].text, "pauses > 0");
    assert_int_equal(s->expects[1].place.line, 37);
    scenario_destroy(s);
}

/* A printed plan reads back to the same plan, and prints the same again. */
static void check_round_trip(const struct plan *plan)
{
    char *first = plan_print(plan);
    assert_non_null(first);
    struct scenario *again = read_good(first);
    assert_int_equal(again->n_plans, 1);
    char *second = plan_print(again->plans[0]);
    assert_string_equal(first, second);
    free(first);
    free(second);
    scenario_destroy(again);
}

static void test_print(void **state)
{
    (void)state;
    struct scenario *s = read_good(whole);
    char *text = plan_print(s->plans[0]);
    struct scenario *again = read_good(text);
    struct plan *p = again->plans[0];
    /* Places are those of the printed file. */
    p->topology.place = s->plans[0]->topology.place;
    p->changes[2].place = s->plans[0]->changes[2].place;
    check_whole(p);
    assert_contains(text, "length: 3.500m");
    assert_contains(text, "reroute_after: never");
    free(text);
    check_round_trip(s->plans[0]);
    scenario_destroy(again);
    scenario_destroy(s);

    s = read_good(STAR "title: \"tab\\there, back\\\\slash, bell\\x07\"\n");
    check_round_trip(s->plans[0]);
    scenario_destroy(s);
    s = read_good(STAR "title: 'null'\n");
    assert_string_equal(s->plans[0]->title, "null");
    check_round_trip(s->plans[0]);
    scenario_destroy(s);
}

/* Each key of each section is printed, so that --print-config shows everything there is. */
static void test_print_is_complete(void **state)
{
    (void)state;
    struct scenario *s = read_good(whole);
    char *text = plan_print(s->plans[0]);
    for (const struct section *section = sections; section->path; section++) {
        if (strcmp(section->path, "topology.nodes[]") == 0)
            continue;
        for (const struct xoff_param *p = section->table; p->name; p++) {
            char key[64];
            snprintf(key, sizeof key, "%s: ", p->name);
            assert_contains(text, key);
        }
    }
    for (uint32_t k = 0; xoff_rels[k]; k++)
        for (const struct xoff_param *p = xoff_rels[k]->params; p->name; p++) {
            char key[64];
            snprintf(key, sizeof key, "%s: ", p->name);
            assert_contains(text, key);
        }
    free(text);
    scenario_destroy(s);
}

/* A document with each kind of each role prints and reads back. */
static void test_every_kind(void **state)
{
    (void)state;
    static const char *const forms[] = {
        [KINDS_TOPOLOGY] = "topology: %s\n",
        [KINDS_MMU] = STAR "switch: {mmu: %s}\n",
        [KINDS_PAUSE] = STAR "switch: {pause: %s}\n",
        [KINDS_SCHEDULER] = STAR "switch: {scheduler: %s}\n",
        [KINDS_MARKING] = STAR "switch: {marking: {kind: %s}}\n",
        [KINDS_FABRIC] = STAR "switch: {fabric: %s}\n",
        [KINDS_PATH] = STAR "switch: {path: %s}\n",
        [KINDS_ARBITER] = STAR "switch: {fabric: cioq, arbiter: %s}\n",
        [KINDS_TRANSPORT] = STAR "transports: {mine: {kind: %s}}\n",
    };
    for (int role = 0; role < KINDS_TRAFFIC; role++) {
        struct kind kind;
        uint32_t n = 0;
        for (; kinds_at((enum kinds_role)role, n, &kind); n++) {
            char text[256];
            snprintf(text, sizeof text, forms[role], kind.name);
            struct scenario *s = read_good(text);
            check_round_trip(s->plans[0]);
            scenario_destroy(s);
        }
        assert_true(n > 0);
    }
}

static void test_mechanism_forms(void **state)
{
    (void)state;
    struct scenario *s = read_good(STAR "switch: {mmu: {alpha: 1/2}, scheduler: strict}\n");
    const struct net_switch *sw = s->plans[0]->kinds;
    const struct plan_place place = s->plans[0]->switches[0].place[NET_PART_MMU];
    assert_ptr_equal(sw->mmu, xoff_mmus[0]);
    assert_string_equal(param_text(sw->mmu->params, sw->mmu_params, "alpha"), "0.5");
    assert_string_equal(sw->sched->name, "strict");
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 15);
    scenario_destroy(s);
    assert_fails(STAR "switch: {mmu: [sih]}\n", 2, 15, "switch.mmu", "a list is given; accepted:");
    assert_fails(STAR "switch: {mmu: {kind: {}}}\n", 2, 22, "switch.mmu.kind",
                 "a mapping is given");
    assert_fails(STAR "switch: {mmu: }\n", 2, 10, "switch.mmu", "nothing is given");
}

static void test_links_inherit(void **state)
{
    (void)state;
    struct scenario *s =
        read_good("topology: {kind: dumbbell, host_link: {rate: 10Gbps, length: 40m},\n"
                  "           fabric_link: {rate: 1Gbps}}\n");
    const struct plan_link *fabric = &s->plans[0]->topology.fabric_link;
    assert_int_equal(fabric->rate_bps, XOFF_GBPS);
    assert_int_equal(fabric->length_mm, 40000);
    assert_int_equal(fabric->delay, XOFF_PARAM_AUTO);
    scenario_destroy(s);

    s = read_good(
        "topology: {kind: dumbbell, host_link: {delay: 3us}, fabric_link: {length: 2km}}\n");
    fabric = &s->plans[0]->topology.fabric_link;
    assert_int_equal(fabric->length_mm, 2000000);
    assert_int_equal(fabric->delay, XOFF_PARAM_AUTO);
    scenario_destroy(s);

    /* auto leaves the delay to the length, so that a setting can change one into the other. */
    const struct plan_setting settings[] = {{"topology.host_link.delay", "auto"},
                                            {"topology.host_link.length", "7m"}};
    s = read_with("topology: {kind: star, host_link: {delay: 3us}}\n", settings, 2);
    assert_int_equal(s->plans[0]->topology.host_link.length_mm, 7000);
    scenario_destroy(s);
    assert_fails("topology: {kind: star, host_link: {delay: auto}}\n", 1, 43, "topology.host_link",
                 "auto without a length");
    /* 200000 km at 5 ns per metre are the 1 s that a delay may have. */
    s = read_good("topology: {kind: star, host_link: {length: 200000km}}\n");
    scenario_destroy(s);
    assert_fails("topology: {kind: star, host_link: {length: 200001km}}\n", 1, 44,
                 "topology.host_link.length", "not a cable length");
}

static void test_custom(void **state)
{
    (void)state;
    struct scenario *s = read_good("topology:\n"
                                   "  kind: custom\n"
                                   "  host_link: {rate: 10Gbps, delay: 5us}\n"
                                   "  nodes: {h0: host, h1: {kind: host}, s-0: switch}\n"
                                   "  links:\n"
                                   "    - {endpoints: [h0, s-0]}\n"
                                   "    - {endpoints: [h1, s-0], rate: 1Gbps, length: 1m}\n");
    const struct plan_topology *t = &s->plans[0]->topology;
    assert_int_equal(t->n_nodes, 3);
    assert_string_equal(t->nodes[1].name, "h1");
    assert_int_equal(t->nodes[1].kind, TOPO_HOST);
    assert_string_equal(t->nodes[2].name, "s-0");
    assert_int_equal(t->nodes[2].kind, TOPO_SWITCH);
    assert_int_equal(t->n_links, 2);
    assert_string_equal(t->links[0].a, "h0");
    assert_string_equal(t->links[0].b, "s-0");
    assert_int_equal(t->links[0].link.rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(t->links[0].link.delay, 5 * XOFF_US);
    assert_int_equal(t->links[1].link.rate_bps, XOFF_GBPS);
    assert_int_equal(t->links[1].link.length_mm, 1000);
    assert_int_equal(t->links[1].place.line, 7);
    check_round_trip(s->plans[0]);
    scenario_destroy(s);

    s = read_good("topology: {kind: custom, nodes: [{name: a, kind: host}]}\n");
    assert_string_equal(s->plans[0]->topology.nodes[0].name, "a");
    scenario_destroy(s);
    /* A name has up to 31 bytes. */
    s = read_good("topology: {kind: custom, nodes: {abcdefghijklmnopqrstuvwxyz12345: host}}\n");
    scenario_destroy(s);
    assert_fails("topology: {kind: custom, nodes: {abcdefghijklmnopqrstuvwxyz123456: host}}\n", 1,
                 68, "topology.nodes.abcdefghijklmnopqrstuvwxyz123456", "not a name");
    assert_fails("topology: {kind: custom, nodes: [{kind: host}]}\n", 1, 34, "topology.nodes.0",
                 "not a name");
    assert_fails("topology: {kind: custom, nodes: {a: router}}\n", 1, 37, "topology.nodes.a",
                 "host, switch");
}

static void test_traffic(void **state)
{
    (void)state;
    const struct plan_setting settings[] = {{"traffic.1.load", "0.7"},
                                            {"traffic.2.list.1.at", "5us"}};
    struct scenario *s =
        read_with(STAR "traffic:\n"
                       "  - {kind: cbr, from: [h0, h1], to: h2, rate: 1Gbps}\n"
                       "  - {kind: poisson, name: web, load: 0.5, sizes: websearch}\n"
                       "  - kind: flows\n"
                       "    priority: 3\n"
                       "    list:\n"
                       "      - {from: h0, to: h1, size: 1MB}\n"
                       "      - {from: h1, to: h2, size: 2MB, at: 1us}\n",
                  settings, 2);
    const struct plan *p = s->plans[0];
    assert_int_equal(p->n_traffic, 3);
    const struct plan_traffic *t = p->traffic;
    assert_string_equal(t[0].kind->name, "cbr");
    assert_string_equal(t[0].name, "cbr#0");
    assert_string_equal(param_text(t[0].kind->params, t[0].params, "from"), "h0,h1");
    assert_int_equal(t[0].n_items, 0);
    assert_string_equal(t[1].name, "web");
    assert_string_equal(param_text(t[1].kind->params, t[1].params, "load"), "0.7");
    assert_int_equal(t[1].place.line, 4);
    assert_int_equal(t[1].place.column, 5);
    assert_int_equal(t[2].n_items, 2);
    const char *second = (const char *)t[2].items + t[2].kind->item_size;
    assert_string_equal(param_text(t[2].kind->item_params, second, "size"), "2MB");
    assert_string_equal(param_text(t[2].kind->item_params, second, "at"), "5us");
    check_round_trip(p);
    scenario_destroy(s);
    assert_fails(STAR "traffic: [cbr]\n", 2, 11, "traffic.0", "a plain value is given");
    assert_fails(STAR "traffic: [{kind: cbr, name: a b}]\n", 2, 29, "traffic.0.name", "not a name");
    assert_fails(STAR "traffic: [{kind: cbr, name: 'cbr#1'}, {kind: cbr}]\n", 2, 39, "traffic.1",
                 "two traffic entries have this name");
    assert_fails(STAR "traffic: [{kind: cbr, list: []}]\n", 2, 23, "traffic.0.list", "unknown key");
}

static void test_settings(void **state)
{
    (void)state;
    const struct plan_setting settings[] = {
        {"switch.pause", "none"},
        {"switch.mmu.alpha", "1/4"},
        {"switch.marking.kind", "ecn"},
        {"stop", "1ms"},
        {"priorities.5.lossless", "yes"},
        {"measure.series", "[buffer]"},
        {"links.0.at", "3ms"},
        {"topology", "{kind: ring, switches: 5}"},
        {"seed", "1"},
        {"seed", "2"},
    };
    struct scenario *s = read_with(STAR "switch: {mmu: sih, pause: {kind: pfc}}\n"
                                        "links: [{link: h0-s0, at: 1ms, fail: true}]\n",
                                   settings, sizeof settings / sizeof settings[0]);
    const struct plan *p = s->plans[0];
    assert_string_equal(p->kinds->pause->name, "none");
    assert_string_equal(p->kinds->mmu->name, "sih");
    assert_string_equal(param_text(p->kinds->mmu->params, p->kinds->mmu_params, "alpha"), "0.25");
    assert_string_equal(p->kinds->marking->name, "ecn");
    assert_int_equal(p->net.stop, XOFF_MS);
    assert_int_equal(p->net.lossless, 1 << 5);
    assert_int_equal(p->net.measure, NET_BUFFER);
    assert_int_equal(p->changes[0].at, 3 * XOFF_MS);
    assert_string_equal(p->topology.kind->name, "ring");
    assert_int_equal(p->net.seed, 2);
    scenario_destroy(s);
}

/* A mechanism and its parameter hold together, in whichever order they are set. */
static void test_settings_order(void **state)
{
    (void)state;
    const struct plan_setting settings[] = {
        {"switch.mmu.headroom", "20KB"},
        {"switch.mmu", "static"},
        {"switch.mmu.headroom", "30KB"},
        {"switch.mmu", "{kind: sih, alpha: 1/4, headroom: 10KB}"},
    };
    struct scenario *s = read_with(STAR, settings, sizeof settings / sizeof settings[0]);
    const struct net_switch *sw = s->plans[0]->kinds;
    assert_string_equal(sw->mmu->name, "sih");
    assert_string_equal(param_text(sw->mmu->params, sw->mmu_params, "alpha"), "0.25");
    assert_string_equal(param_text(sw->mmu->params, sw->mmu_params, "headroom"), "30KB");
    scenario_destroy(s);
    s = read_good(STAR "variants: [{name: A, set: {switch.mmu.alpha: 1/4, switch.buffer: 1MB, "
                       "switch: {mmu: sih, buffer: 2MB}}}]\n");
    sw = s->plans[0]->kinds;
    assert_string_equal(sw->mmu->name, "sih");
    assert_string_equal(param_text(sw->mmu->params, sw->mmu_params, "alpha"), "0.25");
    assert_int_equal(sw->buffer_bytes, 1000000);
    scenario_destroy(s);
    /* A variant comes before the command line: `switch.mmu` there replaces all of the variant's. */
    s = read_with(STAR "variants: [{name: A, set: {switch.mmu.alpha: 1/4}}]\n", settings + 1, 1);
    assert_string_equal(s->plans[0]->kinds->mmu->name, "static");
    scenario_destroy(s);

    /* Two words that begin alike are not above each other, a dot comes before any character, and
     * what is not above a later key keeps its place. */
    const char *const keys[] = {"c", "a.b.d", "a-b", "a.b", "a.bc", "a.b", "a", "c"};
    static const uint32_t wanted[] = {0, 7, 6, 3, 5, 1, 2, 4};
    uint32_t *order = settings_order(keys, 8);
    assert_memory_equal(order, wanted, sizeof wanted);
    free(order);
    order = settings_order(NULL, 0);
    assert_non_null(order);
    free(order);
}

static void test_bad_settings(void **state)
{
    (void)state;
    assert_set_fails(STAR, "switch.bufer", "1MB", "unknown key; did you mean buffer?");
    assert_set_fails(STAR, "switch.buffer", "1", "wrong or missing unit");
    assert_set_fails(STAR, "stop", "0s", "too small");
    assert_set_fails(STAR, "stop", "", "empty");
    assert_set_fails(STAR, "switch.pause", "pcf", "did you mean pfc?");
    assert_set_fails(STAR, "switch.mmu", "{kind: sih, alfa: 1}",
                     "switch.mmu.alfa: unknown key; did you mean alpha?");
    assert_set_fails(STAR, "switch.mmu", "{kind: sih", "missing comma");
    assert_set_fails(STAR, "traffic.0.load", "1", "traffic: a mapping is given; give a list");
    assert_set_fails(STAR "traffic: []\n", "traffic.0.load", "1", "the list has 0 entries");
    assert_set_fails(STAR "traffic: []\n", "traffic.first", "1", "takes a number");
    assert_set_fails(STAR "stop: 1ms\n", "stop.now", "1", "1ms is a plain value");
    assert_set_fails(STAR, "title", "a\xff", "the byte 0xff is not text");
    assert_set_fails(STAR, "tit\xc0le", "a", "the byte 0xc0 is not text");
    assert_set_fails(STAR, "title", "[\"a\xc3\"]", "the byte 0xc3 is not text");
    assert_set_fails(STAR, "variants", "[]", "cannot be set");
    assert_set_fails(STAR, "expect.0", "x", "cannot be set");
    assert_set_fails(STAR, "", "x", "not a key");
    assert_set_fails(STAR, "switch..buffer", "1MB", "not a key");
    assert_set_fails(STAR, "switch.", "1MB", "not a key");
    assert_set_fails(STAR "priorities: {3: {lossless: true}}\n", "port.headroom", "0B",
                     "a lossless priority has no headroom");
    /* The same mistakes through a variant have the place of its value. */
    assert_fails(STAR "variants: [{name: A, set: {stop: 0s}}]\n", 2, 34, "stop", "too small");
    assert_fails(STAR "variants: [{name: A, set: {stop: 1ms, stop.now: 2ms}}]\n", 2, 39, "stop.now",
                 "1ms is a plain value");
}

/* Without headroom a lossless priority is refused, unless loss is asked for. */
static void test_headroom(void **state)
{
    (void)state;
    struct scenario *s = read_good(STAR "port: {headroom: 0B}\n");
    scenario_destroy(s);
    s = read_good(STAR "port: {headroom: 1B}\npriorities: {3: {lossless: true}}\n");
    scenario_destroy(s);
    s = read_good(STAR "port: {headroom: 0B}\npriorities: {3: {lossless: true}}\n"
                       "switch: {mmu: {kind: sih, allow_loss: true}}\n");
    scenario_destroy(s);
    s = read_good(STAR "port: {headroom: 0B}\npriorities: {3: {lossless: true}}\n"
                       "switch: {mmu: {kind: sih, headroom: 50KB}}\n");
    scenario_destroy(s);
    assert_fails(STAR "port: {headroom: 0B}\npriorities: {3: {lossless: true}}\n", 2, 18,
                 "port.headroom", "a lossless priority has no headroom");
    assert_fails(STAR "priorities: {3: {lossless: true}}\nswitch: {mmu: {headroom: 0}}\n", 3, 26,
                 "switch.mmu.headroom", "a lossless priority has no headroom");
}

static void test_variants(void **state)
{
    (void)state;
    const struct plan_setting over = {"seed", "9"};
    const char text[] = STAR "seed: 1\nswitch: {mmu: {kind: sih, alpha: 1/8}}\n"
                             "variants:\n"
                             "  - {name: base}\n"
                             "  - {name: ST, set: {switch.mmu: static, seed: 5}}\n"
                             "  - {name: quarter-1, set: {switch.mmu.alpha: 1/4}}\n";
    struct scenario *s = read_good(text);
    assert_int_equal(s->n_plans, 3);
    assert_string_equal(s->plans[0]->variant, "base");
    assert_string_equal(s->plans[0]->kinds->mmu->name, "sih");
    assert_int_equal(s->plans[0]->net.seed, 1);
    assert_string_equal(s->plans[1]->kinds->mmu->name, "static");
    assert_int_equal(s->plans[1]->net.seed, 5);
    const struct net_switch *sw = s->plans[2]->kinds;
    assert_string_equal(s->plans[2]->variant, "quarter-1");
    assert_string_equal(param_text(sw->mmu->params, sw->mmu_params, "alpha"), "0.25");
    scenario_destroy(s);
    s = read_with(text, &over, 1);
    assert_int_equal(s->plans[1]->net.seed, 9);
    scenario_destroy(s);
    assert_fails(STAR "variants: [{name: -a}]\n", 2, 19, "variants.0.name", "not a name");
    assert_fails(STAR "variants: [{name: A, sett: {}}]\n", 2, 22, "variants.0.sett",
                 "did you mean set?");
    assert_fails(STAR "variants: {}\n", 2, 11, "variants", "a mapping is given; give a list");
}

#define SLOW "receivers: [{host: h0, rate: \"%s\"}]\n"

static void test_schedule(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, STAR SLOW, "10Gbps, 1ms: 1Gbps ,3ms:0bps");
    struct scenario *s = read_good(text);
    const struct net_server *server = s->plans[0]->receivers[0].net.servers;
    const struct net_service *steps = server->services;
    assert_int_equal(server->n_services, 3);
    assert_int_equal(steps[0].at, 0);
    assert_int_equal(steps[0].rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(steps[1].at, XOFF_MS);
    assert_int_equal(steps[1].rate_bps, XOFF_GBPS);
    assert_int_equal(steps[2].at, 3 * XOFF_MS);
    assert_int_equal(steps[2].rate_bps, 0);
    scenario_destroy(s);
    static const char *const bad[] = {
        "",       "1ms: 1Gbps", "1Gbps, 2Gbps", "1Gbps, 0s: 2Gbps", "1Gbps, 2ms: 2Gbps, 2ms: 1Gbps",
        "1Gbps,", "11Tbps",     "-1Gbps"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, STAR SLOW, bad[i]);
        assert_fails(text, 2, 31, "receivers.0.rate", "");
    }
    /* 31 changes after the first rate fit, 32 do not. */
    for (int changes = 31; changes <= 32; changes++) {
        char rate[XOFF_PARAM_TEXT] = "1Gbps";
        for (int i = 1; i <= changes; i++)
            snprintf(rate + strlen(rate), sizeof rate - strlen(rate), ",%dns:0", i);
        snprintf(text, sizeof text, STAR SLOW, rate);
        if (changes == 31)
            scenario_destroy(read_good(text));
        else
            assert_fails(text, 2, 31, "receivers.0.rate", "too many changes of rate");
    }
}

/* Machines of a receiver, as read and as printed and read again. */
static void test_vms(void **state)
{
    (void)state;
    struct scenario *s = read_good(
        STAR
        "traffic: [{kind: cbr, name: a}, {kind: cbr, name: b}, {kind: cbr, name: c}]\n"
        "receivers: [{host: h0, rate: 10Gbps, vms: [{traffic: c, rate: 2Gbps},\n"
        "  {traffic: [a, b], rate: [1Gbps, 1ms: 0bps]}]}, {host: h1, rate: 1Gbps, vms: []}]\n");
    char *text = plan_print(s->plans[0]);
    scenario_destroy(s);
    s = read_good(text);
    free(text);
    const struct net_receiver *receiver = &s->plans[0]->receivers[0].net;
    assert_int_equal(receiver->n_servers, 3);
    assert_int_equal(receiver->servers[1].services[0].rate_bps, 2 * XOFF_GBPS);
    assert_int_equal(receiver->servers[2].n_services, 2);
    assert_int_equal(receiver->servers[2].services[1].at, XOFF_MS);
    static const uint8_t server_of[] = {2, 2, 1, 0};
    assert_memory_equal(receiver->server_of, server_of, sizeof server_of);
    assert_int_equal(receiver->server_of[NET_NOBODY], 0);
    assert_int_equal(s->plans[0]->receivers[1].net.n_servers, 1);
    scenario_destroy(s);
    assert_fails(STAR "receivers: [{host: h0, rate: 1Gbps, vms: 3}]\n", 2, 42, "receivers.0.vms",
                 "give a list");
    assert_fails(STAR "traffic: [{kind: cbr, name: a}]\n"
                      "receivers: [{host: h0, rate: 1Gbps, vms: [{traffic: a, rate: 1}]}]\n",
                 3, 62, "receivers.0.vms.0.rate", "not a rate");
}

/* A frame names one of the first 255 traffic entries, and no later one. */
static void test_vms_of_many_entries(void **state)
{
    (void)state;
    char traffic[16384] = STAR "traffic:\n";
    for (uint32_t i = 0; i <= NET_NOBODY; i++)
        snprintf(traffic + strlen(traffic), sizeof traffic - strlen(traffic),
                 "- {kind: cbr, name: t%u}\n", i);
    char text[sizeof traffic + 128];
    snprintf(text, sizeof text,
             "%sreceivers: [{host: h0, rate: 1Gbps, vms: [{traffic: t254, rate: 1Gbps}]}]\n",
             traffic);
    scenario_destroy(read_good(text));
    snprintf(text, sizeof text,
             "%sreceivers: [{host: h0, rate: 1Gbps, vms: [{traffic: t255, rate: 1Gbps}]}]\n",
             traffic);
    assert_fails(text, 259, 53, "receivers.0.vms.0.traffic", "among the first 255");
}

/* Text of `n` pieces between `head` and `tail`; caller frees. */
static char *repeated(const char *head, const char *piece, size_t n, const char *tail)
{
    const size_t size = strlen(head) + n * strlen(piece) + strlen(tail) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at = stpcpy(at, head);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, piece);
    stpcpy(at, tail);
    return text;
}

static void test_limits(void **state)
{
    (void)state;
    struct yaml_doc doc;
    struct xoff_err err;
    for (size_t depth = YAML_MAX_DEPTH; depth <= YAML_MAX_DEPTH + 1; depth++) {
        char *text = repeated("", "[", depth, "");
        const int rc_open = yaml_parse(&doc, text, depth, &err);
        assert_true(rc_open != 0); /* not closed, or too deep */
        free(text);
        char *open = repeated("", "[", depth, ""), *all = repeated(open, "]", depth, "\n");
        const int rc = yaml_parse(&doc, all, strlen(all), &err);
        assert_int_equal(rc, depth == YAML_MAX_DEPTH ? 0 : -XOFF_E_SYNTAX);
        yaml_fini(&doc);
        free(open);
        free(all);
    }
    for (size_t n = 256; n <= 257; n++) {
        char *text = repeated(STAR "variants: [", "{name: A}, ", n, "]\n");
        /* The names are equal, which is only found when the number is accepted. */
        const struct xoff_err got = read_bad(text);
        assert_contains(got.message, n == 256 ? "two variants" : "up to 256");
        free(text);
    }
    char *text = repeated(STAR, "#23456789\n", (YAML_MAX_BYTES - strlen(STAR)) / 10, "#\n");
    text = realloc(text, YAML_MAX_BYTES + 2);
    const size_t length = strlen(text);
    assert_true(length <= YAML_MAX_BYTES);
    memset(text + length, '\n', YAML_MAX_BYTES + 1 - length);
    assert_int_equal(yaml_parse(&doc, text, YAML_MAX_BYTES, &err), 0);
    yaml_fini(&doc);
    assert_int_equal(yaml_parse(&doc, text, YAML_MAX_BYTES + 1, &err), -XOFF_E_RANGE);
    free(text);
}

/* Text that is not UTF-8, by RFC 3629: overlong, surrogate, beyond U+10FFFF, cut short. */
static void test_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xc0\xaf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\x80",
                                      "\xc3",
                                      "\xe2\x82",
                                      "\x7f",
                                      "\x1b"};
    static const char *const good[] = {"\xc3\xbc", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbd"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, STAR "title: a%s", bad[i]);
        assert_fails(text, 2, 9, "scenario", "is not text");
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, STAR "title: a%s\n", good[i]);
        scenario_destroy(read_good(text));
    }
    assert_fails(STAR "title: \"a\\0b\"\n", 2, 9, "scenario", "NUL");
    /* Lines end in LF or CR LF; a CR alone is refused. */
    struct scenario *s = read_good("topology: star\r\ntitle: x\r\nseed: 2\r\n");
    assert_string_equal(s->plans[0]->title, "x");
    scenario_destroy(s);
    assert_fails("topology: star\ntitle: x\ry\n", 2, 9, "scenario", "0x0d is not text");
    assert_fails("topology: star\r", 1, 15, "scenario", "0x0d is not text");
}

static void test_files(void **state)
{
    (void)state;
    struct scenario *s;
    struct xoff_err err;
    assert_int_equal(scenario_read("/nonexistent/x.yaml", NULL, 0, &s, &err), -XOFF_E_IO);
    assert_null(s);
    assert_string_equal(err.file, "/nonexistent/x.yaml");
    assert_contains(err.message, "No such file");
    assert_int_equal(scenario_read("/", NULL, 0, &s, &err), -XOFF_E_IO);
    assert_contains(err.message, "directory");
    char path[] = "/tmp/xoff_parse_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, STAR, strlen(STAR)), (ssize_t)strlen(STAR));
    assert_int_equal(scenario_read(path, NULL, 0, &s, &err), 0);
    assert_string_equal(s->plans[0]->file, path);
    assert_string_equal(s->plans[0]->text, STAR);
    scenario_destroy(s);
    close(fd);
    if (geteuid() != 0) { /* root may read anything */
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(scenario_read(path, NULL, 0, &s, &err), -XOFF_E_IO);
        assert_contains(err.message, "Permission denied");
    }
    unlink(path);
    scenario_destroy(NULL);
}

/* Reads and builds; true with err filled when either fails. */
static bool fails_to_build(const char *path, struct xoff_err *err)
{
    struct scenario *s;
    if (scenario_read(path, NULL, 0, &s, err))
        return true;
    struct topo topo = {0};
    const int rc = topology_build(s->plans[0], &topo, err);
    if (rc == 0)
        topo_fini(&topo);
    scenario_destroy(s);
    return rc != 0;
}

static void check_bad_file(const char *path)
{
    char line[256] = "", second[256] = "";
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const bool got = fgets(line, sizeof line, in) != NULL;
    const bool by_run = fgets(second, sizeof second, in) && strcmp(second, "# by: run\n") == 0;
    fclose(in);
    assert_true(got);
    line[strcspn(line, "\n")] = '\0';
    static const char lead[] = "# expect: ";
    assert_int_equal(strncmp(line, lead, sizeof lead - 1), 0);
    struct xoff_err err = {0};
    const bool fails = fails_to_build(path, &err);
    if (by_run) {
        assert_false(fails);
        return;
    }
    if (!fails)
        fail_msg("%s: read without error", path);
    char text[sizeof err.subject + sizeof err.message + 2];
    snprintf(text, sizeof text, "%s: %s", err.subject, err.message);
    if (!strstr(text, line + sizeof lead - 1))
        fail_msg("%s: '%s' does not contain '%s'", path, text, line + sizeof lead - 1);
    assert_string_equal(err.file, path);
    if (err.line < 1 || err.column < 1)
        fail_msg("%s: no place: %s", path, text);
}

static void test_bad_files(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/scenario/bad", source_root);
    DIR *dir = opendir(path);
    if (!dir)
        fail_msg("%s: cannot be opened", path);
    uint32_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
            continue;
        char file[1400];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        check_bad_file(file);
        n++;
    }
    closedir(dir);
    assert_true(n >= 30);
}

struct words {
    const char *const *at;
};

static const char *next_word(void *state)
{
    struct words *words = state;
    return *words->at ? *words->at++ : NULL;
}

/* Errors for which libfyaml gives no place are reported at the place reached so far. */
static void test_places(void **state)
{
    (void)state;
    assert_fails(STAR "...\nseed: 1\n", 2, 1, "---", "a second document");
    assert_fails(STAR "seed: !x\n", 2, 7, "!", "tags are not accepted");
    assert_fails(STAR "seed: &x\n", 2, 8, "&", "anchors and aliases are not accepted");
    assert_fails(STAR ": 1\n", 1, 32, "scenario", "a key is missing");
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const list[] = {"switch", "stop", "seed", "priorities", NULL};
    static const char *const cases[][2] = {
        {"swich", "switch"}, {"swithc", "switch"}, {"sotp", "stop"},    {"priority", "priorities"},
        {"zzz", NULL},       {"s", NULL},          {"completely", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct words words = {list};
        const char *got = nearest_word(cases[i][0], next_word, &words);
        if (cases[i][1])
            assert_string_equal(got, cases[i][1]);
        else
            assert_null(got);
    }
}

/* A curve needs other keys of the scenario. */
static void test_curves(void **state)
{
    (void)state;
#define SAMPLED STAR "measure: {every: 10us}\n"
    assert_fails(STAR "curves: {a: {of: queue, at: s0:0}}\n", 2, 18, "curves.a.of",
                 "add measure: {every: 10us}");
    assert_fails(SAMPLED "curves: {a: {of: buffer, at: s0}}\n", 3, 18, "curves.a.of",
                 "add buffer to measure.series");
    assert_fails(SAMPLED "curves: {a: {of: insurance, at: s0}}\n", 3, 18, "curves.a.of",
                 "add pools to measure.series");
    assert_fails(STAR "measure: {every: 1us, series: buffer}\n"
                      "curves: {a: {of: buffer, at: s0, priority: 1}}\n",
                 3, 44, "curves.a.priority", "leave it out");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, from: 10us, to: 10us}}\n", 3, 41,
                 "curves.a.from", "not before to");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, from: 10us, to: 19us}}\n", 3, 41,
                 "curves.a.from", "no sample");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, level: 1Gbps}}\n", 3, 42,
                 "curves.a.level", "only throughput");
    assert_fails(STAR "measure: {every: 1us, series: queue}\n"
                      "curves: {a: {of: jain, at: h0..h2}}\n",
                 3, 18, "curves.a.of", "add throughput to measure.series");
    assert_fails(SAMPLED "curves: {a: {of: jain, at: h0..h2, priority: 3}}\n", 3, 46,
                 "curves.a.priority", "leave it out");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, share: 1Gbps}}\n", 3, 42,
                 "curves.a.share", "only evenness");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, over: 15us}}\n", 3, 41, "curves.a.over",
                 "a multiple of measure.every");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, from: 10us, to: 49us, over: 40us}}\n",
                 3, 41, "curves.a.from", "no sample");
    assert_fails(SAMPLED "curves: {a: {of: input, at: s0:0}}\n", 3, 18, "curves.a.of",
                 "add input to measure.series");
    assert_fails(SAMPLED "curves: {a: {of: queue, at: s0:0, priority: 8}}\n", 3, 45,
                 "curves.a.priority", "from 0 to 7");
    assert_fails(SAMPLED "curves: {a: {of: loads, at: s0:0}}\n", 3, 18, "curves.a.of",
                 "give one of queue, throughput");
    assert_fails(SAMPLED "curves: {a: {of: load, at: s0:0}}\n", 3, 18, "curves.a.of",
                 "add point to measure.series");
    assert_fails(STAR "measure: {every: 1us, series: point}\n"
                      "curves: {a: {of: load, at: s0:0, level: 1Gbps}}\n",
                 3, 41, "curves.a.level", "only throughput and advertised");
    assert_fails(SAMPLED "curves: {a: {of: queue}}\n", 3, 13, "curves.a.at", "missing");
    assert_fails(SAMPLED "curves: {a.b: {of: queue, at: s0:0}}\n", 3, 15, "curves.a.b",
                 "not a name");
    assert_fails(SAMPLED "curves: [a]\n", 3, 9, "curves", "a mapping from names to curves");
    assert_fails(SAMPLED "curves: {a: queue}\n", 3, 13, "curves.a", "a mapping");
    scenario_destroy(read_good(SAMPLED "curves: {a: {of: queue, at: s0:0, from: 10ms}}\n"));
    struct scenario *s = read_good(SAMPLED "curves: {a: {of: queue, at: s0:0, from: 10us, "
                                           "to: 20us}, b: {of: evenness, at: h0..h2, over: "
                                           "40us, share: 3Gbps, within: 0.05}}\n");
    check_round_trip(s->plans[0]);
    scenario_destroy(s);
}

/* The schema is JSON, closed at the top, and knows each section. */
static void test_schema(void **state)
{
    (void)state;
    char *text = scenario_schema();
    assert_non_null(text);
    json_error_t error;
    json_t *schema = json_loads(text, 0, &error);
    assert_non_null(schema);
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    const json_t *properties = json_object_get(schema, "properties");
    static const char *const keys[] = {
        "title",    "seed",       "stop",      "drain",     "compat",     "reroute_after",
        "topology", "switch",     "port",      "transport", "transports", "host",
        "links",    "priorities", "receivers", "measure",   "traffic",    "expect",
        "deadlock", "variants",   "routes",    "curves",    "switches",   "cn_ports",
        "hops",     "lldp",       "dcbx",      "results"};
    assert_int_equal(json_object_size(properties), sizeof keys / sizeof keys[0]);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_non_null(json_object_get(properties, keys[i]));
    json_decref(schema);
    free(text);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        source_root = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_section),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_print_is_complete),
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_mechanism_forms),
        cmocka_unit_test(test_links_inherit),
        cmocka_unit_test(test_custom),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_settings_order),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_headroom),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_vms),
        cmocka_unit_test(test_vms_of_many_entries),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
