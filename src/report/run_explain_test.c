/* Explanations of a run whose harm is worked out by hand (the network is in report_testing.h). */
#include "report/report_testing.h"

#include "explain/explain.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

/* The run without its losses and its deadlock; whoever is paused stops. */
static struct results plain_results(void)
{
    struct results results = test_results("");
    results.n_deadlocks = results.n_drops = 0;
    given_ports[6].queue[3].paused_for = 50 * US; /* s0 towards s1 */
    return results;
}

static json_t *explain(const char *sql)
{
    struct run_file file;
    struct explanation *made;
    struct xoff_err err = {0};
    if (sql)
        execute(folder, sql);
    assert_int_equal(run_file_open(folder, &file, &err), 0);
    assert_int_equal(explain_run(&file, 1, &made, &err), 0);
    json_t *json = explain_json(made, 8);
    explain_destroy(made);
    run_file_close(&file);
    return json;
}

static json_t *explain_results(const struct results *results, const char *sql)
{
    write_result(folder, results);
    return explain(sql);
}

/* s1 pauses s0 from 20 us to 70 us for the sake of h2, s0 pauses h0 from 30 us to 65 us.
 *
 *   h0 -> h2    5 kB,  0 to 80 us: 35 us at h0, 50 us at s0, which counts    0.25 byte-seconds
 *   h0 -> h3   20 kB, 10 to 90 us: the same, but it does not pass s1 -> h2   1
 *   h1 -> h3    2 MB,  0 to 40 us: 20 us at s0, a bystander                 40
 *   h0 -> h1   900 B, 60 to 70 us: 5 us at h0, a bystander                   0.0045
 */
static void test_harm(void **state)
{
    (void)state;
    const struct results results = plain_results();
    json_t *e = explain_results(&results, NULL);
    assert_int_equal(json_array_size(at(e, "roots")), 1);
    assert_string_equal(text_at_path(e, "roots.0.node"), "s1");
    assert_string_equal(text_at_path(e, "roots.0.peer"), "h2");
    assert_near(number_at(e, "roots.0.harm_byte_s"), 41.2545);
    assert_near(number_at(e, "roots.0.bystanders_byte_s"), 41.0045);
    assert_int_equal(number_at(e, "roots.0.n_flows"), 4);
    assert_int_equal(number_at(e, "roots.0.n_bystanders"), 3);
    assert_near(number_at(e, "roots.0.held_s"), 85e-6);
    /* Bystanders come first, the one that waited most at the head. */
    assert_string_equal(text_at_path(e, "roots.0.victims.0.from"), "h1");
    assert_near(number_at(e, "roots.0.victims.0.held_s"), 20e-6);
    assert_string_equal(text_at_path(e, "roots.0.victims.3.to"), "h2");
    assert_near(number_at(e, "roots.0.victims.3.held_s"), 50e-6);
    /* h1 itself is not paused: the chain leads to the port that was held longest. */
    assert_int_equal(json_array_size(at(e, "roots.0.chain")), 1);
    assert_string_equal(text_at_path(e, "roots.0.chain.0.peer"), "s0");
    json_decref(e);
}

/* s0 sends frames for h2 and h3 to h1, from where they come back: those of h0 are held at h0 alone,
 * and h1 -> h3 passes no port that is held. */
static void test_stated_routes(void **state)
{
    (void)state;
    const struct results results = plain_results();
    json_t *e = explain_results(&results,
                                "UPDATE run SET config_text = 'routes:' || char(10) || "
                                "'  - {at: 0s, on: s0, to: h0..h3, via: \"s1,h2\"}' || char(10) || "
                                "'  - {at: 0s, on: s0, to: \"h3,h2\", via: h1}' || char(10)");
    /* 25 kB for 35 us, and 900 B to h1 for 10 us: they are led to s1, and s0 stands until 70 us */
    assert_near(number_at(e, "roots.0.harm_byte_s"), 0.884);
    assert_int_equal(number_at(e, "roots.0.n_flows"), 3);
    assert_string_equal(text_at_path(e, "sure.level"), "high");
    json_decref(e);
    e = explain("UPDATE run SET config_text = 'routes:' || char(10) || "
                "'  - {at: 1us, on: s0, to: h2, via: h1}' || char(10)");
    assert_near(number_at(e, "roots.0.harm_byte_s"), 41.2545);
    assert_string_equal(text_at_path(e, "sure.level"), "medium");
    json_decref(e);
}

static bool has_remedy(json_t *e, const char *change)
{
    json_t *list = at(e, "roots.0.remedies");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(text_at_path(json_array_get(list, i), "changes.0"), change))
            return true;
    return false;
}

/* What is in force already is no advice. */
static void test_remedies(void **state)
{
    (void)state;
    const struct results results = plain_results();
    json_t *e =
        explain_results(&results, "UPDATE run SET config_text = 'switch:' || char(10) || '  mmu:' "
                                  "|| char(10) || '    kind: sih' || char(10) || 'transport:' "
                                  "|| char(10) || '  kind: dcqcn' || char(10)");
    assert_true(has_remedy(e, "switch.mmu=dsh"));
    assert_false(has_remedy(e, "transport=dcqcn"));
    json_decref(e);
    e = explain("UPDATE run SET config_text = replace(config_text, 'sih', 'dsh')");
    assert_false(has_remedy(e, "switch.mmu=dsh"));
    json_decref(e);
}

/* s0 does not stop for s1: that pause holds nobody, the one of h0 does. */
static void test_deaf(void **state)
{
    (void)state;
    struct results results = plain_results();
    given_ports[6].queue[3].paused_for = 5 * US; /* a tenth of what it was told: it stops */
    json_t *e = explain_results(&results, NULL);
    assert_near(number_at(e, "roots.0.harm_byte_s"), 41.2545);
    json_decref(e);
    e = explain(
        "UPDATE queue SET pfc_rx_pause_duration_ps = 4999999 WHERE node_id = 4 AND port = 2 "
        "AND priority = 3");
    /* 25 kB for 35 us and 900 B for 5 us */
    assert_near(number_at(e, "roots.0.harm_byte_s"), 0.8795);
    json_decref(e);
}

/* s1 lets go of s0 at 25 us. When s0 pauses h0 at 30 us without naming a parent, the queue is still
 * that of the pause if it takes 5 us to be sent: 6250 B at 10 Gb/s. */
static void test_parents_by_time(void **state)
{
    (void)state;
    const struct results results = plain_results();
    json_t *e = explain_results(
        &results, "UPDATE pause SET id = 9 WHERE id = 1; UPDATE pause SET id = 1, at_ps = 25000000 "
                  "WHERE id = 3; UPDATE pause SET id = 3 WHERE id = 2; UPDATE pause SET id = 2, "
                  "parent_id = NULL, egress_paused = 0, occupied_bytes = 6250 WHERE id = 9; "
                  "CREATE TABLE sorted AS SELECT * FROM pause ORDER BY id; DELETE FROM pause; "
                  "INSERT INTO pause SELECT * FROM sorted; DROP TABLE sorted");
    assert_int_equal(json_array_size(at(e, "roots")), 1);
    assert_int_equal(number_at(e, "roots.0.pauses"), 2);
    assert_int_equal(json_array_size(at(e, "roots.0.nodes")), 2);
    json_decref(e);
    e = explain("UPDATE pause SET occupied_bytes = 6249 WHERE id = 2");
    assert_int_equal(json_array_size(at(e, "roots")), 2);
    json_decref(e);
}

/* A port that is held for 1 % of the measured time has a root, for less it is noise. */
static void test_worth_naming(void **state)
{
    (void)state;
    const struct results results = plain_results();
    json_t *e = explain_results(&results, "UPDATE run SET end_at_ps = 9000000000, "
                                          "measured_from_ps = 0, measured_to_ps = 5000000000");
    assert_int_equal(json_array_size(at(e, "roots")), 1);
    assert_true(json_is_false(at(e, "healthy")));
    json_decref(e);
    e = explain("UPDATE run SET measured_to_ps = 5000000001");
    assert_int_equal(json_array_size(at(e, "roots")), 0);
    assert_true(json_is_true(at(e, "healthy")));
    assert_int_equal(number_at(e, "minor"), 1);
    json_decref(e);
}

/* All that is wrong in the run of the other tests: a deadlock, a loss beyond headroom, no route. */
static void test_kinds(void **state)
{
    (void)state;
    const struct results results = test_results("");
    json_t *e =
        explain_results(&results, "UPDATE queue SET xoff_tx = 1 WHERE node_id = 5 AND port = 2");
    bool has_deadlock = false, has_headroom = false, has_no_route = false;
    for (size_t i = 0; i < json_array_size(at(e, "roots")); i++) {
        json_t *root = json_array_get(at(e, "roots"), i);
        const char *kind = text_at_path(root, "kind");
        has_deadlock |= !strcmp(kind, "deadlock");
        has_no_route |= !strcmp(kind, "no-route") && !strcmp(text_at_path(root, "node"), "s0");
        has_headroom |= (!strcmp(kind, "headroom") || !strcmp(kind, "ignored-pauses"));
    }
    assert_true(has_deadlock && has_headroom && has_no_route);
    json_decref(e);
}

static void test_damaged(void **state)
{
    (void)state;
    struct run_file file;
    struct explanation *made;
    struct xoff_err err = {0};
    const struct results results = plain_results();
    write_result(folder, &results);
    assert_int_equal(run_file_open(folder, &file, &err), 0);
    assert_true(explain_run(&file, 2, &made, &err) < 0); /* there is no such run */
    assert_null(made);
    assert_non_null(strstr(err.message, "damaged"));
    run_file_close(&file);
    execute(folder, "UPDATE flow SET to_node_id = 77 WHERE id = 1");
    assert_int_equal(run_file_open(folder, &file, &err), 0);
    assert_true(explain_run(&file, 1, &made, &err) < 0);
    assert_non_null(strstr(err.message, "a flow of no host"));
    run_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stated_routes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_remedies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deaf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parents_by_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_worth_naming, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
