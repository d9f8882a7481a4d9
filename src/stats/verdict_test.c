/* Verdicts: which expectations cover a lossless loss, a deadlock, or traffic that never gets
 * through, of which variant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/results.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

enum { LOSS = 1, DEADLOCK = 2, UNFINISHED = 8, STARVED = 16, NOT_ENDED = 32 };

/* What a run went through; frames 0: none of that kind. */
struct story {
    const char *variant;
    uint8_t cause, lossless;
    uint64_t frames;
    uint32_t n_deadlocks;
    /* Two flows, of "a" and of "b"; the second finishes, but for what is said here. */
    bool has_flows, is_stream, is_datagram, is_cut; /* is_cut: the run does not wait */
    bool is_starving, is_standing, is_at_rest;      /* the first flow; the run; the run */
    uint64_t n_running;                             /* operations of "a" */
};

static struct result_deadlock deadlock = {.onset_at = 1};

/* The troubles noted of the story `of` among `n` runs, with up to two expectations. */
static int noted(const struct story *stories, uint32_t n, uint32_t of, const char *one,
                 const char *two)
{
    static const char *const tags[] = {"a", "b"};
    struct results results[3];
    struct result_flow flows[3][2];
    struct result_drop drops[3];
    struct result_running running[3];
    struct summary *made[3];
    const struct results *runs[3];
    assert_true(n <= 3);
    for (uint32_t i = 0; i < n; i++) {
        drops[i] = (struct result_drop){.cause = stories[i].cause,
                                        .lossless = stories[i].lossless,
                                        .frames = stories[i].frames};
        running[i] = (struct result_running){.n = stories[i].n_running};
        results[i] = (struct results){.variant = stories[i].variant,
                                      .running = &running[i],
                                      .n_running = stories[i].n_running > 0,
                                      .is_at_rest = stories[i].is_at_rest,
                                      .is_standing = stories[i].is_standing,
                                      .drops = &drops[i],
                                      .n_drops = stories[i].frames > 0,
                                      .deadlocks = &deadlock,
                                      .n_deadlocks = stories[i].n_deadlocks,
                                      .tag_names = tags,
                                      .n_tags = 2,
                                      .flows = flows[i],
                                      .n_flows = stories[i].has_flows ? 2 : 0,
                                      .stop_at = XOFF_MS,
                                      .end_at = stories[i].is_cut ? XOFF_MS : 2 * XOFF_MS};
        for (uint32_t k = 0; k < 2; k++)
            flows[i][k] = (struct result_flow){.tag = k,
                                               .reliable = !stories[i].is_datagram,
                                               .offered_bytes = 1000,
                                               .delivered_bytes = k ? 1000 : 0,
                                               .is_starving = !k && stories[i].is_starving,
                                               .ideal_for = stories[i].is_stream ? 0 : XOFF_US,
                                               .finish_at = k ? XOFF_US : XOFF_NEVER,
                                               .acked_at = XOFF_NEVER};
        made[i] = summary_create(&results[i]);
        runs[i] = &results[i];
    }
    const char *const expects[] = {one, two};
    verdict_note(&results[of], runs, (const struct summary *const *)made, n, expects,
                 two   ? 2
                 : one ? 1
                       : 0);
    int found = 0;
    for (uint32_t i = 0; i < results[of].n_findings; i++) {
        const char *text = results[of].findings[i].text;
        found |= strstr(text, "lossless")   ? LOSS
                 : strstr(text, "deadlock") ? DEADLOCK
                 : strstr(text, "starve")   ? STARVED
                 : strstr(text, "operat")   ? NOT_ENDED
                 : strstr(text, "wait")     ? UNFINISHED
                                            : 4;
        if (*stories[of].variant && !strstr(text, stories[of].variant))
            fail_msg("%s is not named in: %s", stories[of].variant, text);
    }
    free(results[of].findings);
    for (uint32_t i = 0; i < n; i++)
        summary_destroy(made[i]);
    return found;
}

static int noted_alone(uint8_t cause, const char *expectation)
{
    const struct story story = {
        .variant = "", .cause = cause, .lossless = 1, .frames = 4134, .n_deadlocks = 0};
    return noted(&story, 1, 0, expectation, NULL);
}

static void what_is_trouble(void **state)
{
    (void)state;
    struct story s = {
        .variant = "", .cause = RESULT_DROP_BUFFER, .lossless = 1, .frames = 0, .n_deadlocks = 0};
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.frames = 1;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), LOSS);
    s.lossless = 0; /* a lossy class may lose */
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.n_deadlocks = 1;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), DEADLOCK);
    s.lossless = 1;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), LOSS | DEADLOCK);
    for (uint8_t cause = 0; cause < RESULT_N_DROP_CAUSES; cause++)
        assert_int_equal(noted_alone(cause, NULL), cause == RESULT_DROP_BUFFER ||
                                                           cause == RESULT_DROP_RECEIVER ||
                                                           cause == RESULT_DROP_EGRESS
                                                       ? LOSS
                                                       : 0);
}

static void which_metrics_cover_a_loss(void **state)
{
    (void)state;
    static const struct {
        const char *expectation;
        bool of_buffer, of_receiver, of_egress;
    } rows[] = {
        {"drops == 0", true, true, true},
        {"drops.bytes == 0", true, true, true},
        {"drops.lossless == 0", true, true, true},
        {"drops.buffer == 0", true, false, false},
        {"drops.receiver == 0", false, true, false},
        {"drops.egress == 0", false, false, true},
        {"drops.corrupt == 0", false, false, false},
        {"drops.link-down == 0", false, false, false},
        {"drops.no-route == 0", false, false, false},
        {"drops.corrupt == drops", true, true, true},
        {"flows >= max(1, 2 * (retransmissions - drops.buffer))", true, false, false},
        {"abs(end_time / packet_hops) >= drops.receiver / 0", false, true, false},
        {"findings == 0", false, false, false},
        {"deadlocks == 0", false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (noted_alone(RESULT_DROP_BUFFER, rows[i].expectation) != (rows[i].of_buffer ? 0 : LOSS))
            fail_msg("%s: of a buffer", rows[i].expectation);
        if (noted_alone(RESULT_DROP_RECEIVER, rows[i].expectation) !=
            (rows[i].of_receiver ? 0 : LOSS))
            fail_msg("%s: of a receiver", rows[i].expectation);
        if (noted_alone(RESULT_DROP_EGRESS, rows[i].expectation) != (rows[i].of_egress ? 0 : LOSS))
            fail_msg("%s: of an egress queue", rows[i].expectation);
    }
}

static void which_metrics_cover_a_deadlock(void **state)
{
    (void)state;
    const struct story s = {
        .variant = "", .cause = RESULT_DROP_BUFFER, .lossless = 1, .frames = 0, .n_deadlocks = 1};
    assert_int_equal(noted(&s, 1, 0, "deadlocks >= 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "deadlocked == 0", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "deadlock.onset < 1ms", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "drops == 0", NULL), DEADLOCK);
    assert_int_equal(noted(&s, 1, 0, "drops == 0", "deadlocks == 0"), 0);
}

static void each_variant_by_itself(void **state)
{
    (void)state;
    const struct story s[] = {
        {.variant = "A", .cause = RESULT_DROP_BUFFER, .lossless = 1, .frames = 5, .n_deadlocks = 1},
        {.variant = "B", .cause = RESULT_DROP_BUFFER, .lossless = 1, .frames = 5, .n_deadlocks = 1},
        {.variant = "B-drops",
         .cause = RESULT_DROP_BUFFER,
         .lossless = 1,
         .frames = 5,
         .n_deadlocks = 1}};
    assert_int_equal(noted(s, 2, 0, "A.drops == 0", NULL), DEADLOCK);
    assert_int_equal(noted(s, 2, 1, "A.drops == 0", NULL), LOSS | DEADLOCK);
    assert_int_equal(noted(s, 2, 1, "A.drops == 0", "B.deadlocks > 0"), LOSS);
    assert_int_equal(noted(s, 2, 1, "A.drops == B.drops", NULL), DEADLOCK);
    for (uint32_t of = 0; of < 3; of++) /* a bare name is of every variant */
        assert_int_equal(noted(s, 3, of, "drops == 0", NULL), DEADLOCK);
    /* The longest name of a variant that fits is meant. */
    assert_int_equal(noted(s, 3, 1, "B-drops.drops == 0", NULL), LOSS | DEADLOCK);
    assert_int_equal(noted(s, 3, 2, "B-drops.drops == 0", NULL), DEADLOCK);
    /* After an interruption a variant may be absent; what else is named still counts. */
    assert_int_equal(noted(s, 2, 0, "late.drops == A.drops", NULL), DEADLOCK);
    assert_int_equal(noted(s, 2, 0, "late.drops == 0", NULL), LOSS | DEADLOCK);
}

/* A variant may be called like a family of metrics: the metric that exists is meant. */
static void variant_called_drops(void **state)
{
    (void)state;
    const struct story s[] = {{.variant = "drops",
                               .cause = RESULT_DROP_BUFFER,
                               .lossless = 1,
                               .frames = 5,
                               .n_deadlocks = 0},
                              {.variant = "other",
                               .cause = RESULT_DROP_BUFFER,
                               .lossless = 1,
                               .frames = 5,
                               .n_deadlocks = 0}};
    assert_int_equal(noted(s, 2, 1, "drops.buffer > 0", NULL), 0);
    assert_int_equal(noted(s, 2, 1, "drops.drops > 0", NULL), LOSS);
    assert_int_equal(noted(s, 2, 0, "drops.drops > 0", NULL), 0);
}

/* A flow that the run waited for in vain is trouble, unless an expectation speaks of its entry or
 * of all; one that was cut off, a stream, or datagrams of which some were lost, are none. */
static void flows_that_never_finish(void **state)
{
    (void)state;
    struct story s = {.variant = "", .has_flows = true};
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), UNFINISHED);
    assert_int_equal(noted(&s, 1, 0, "flows.unfinished == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "flows.finished == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "flows.a.finished == 0", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "flows.a.unfinished == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "fct.a.max > 1ms", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "flows.b.finished == 1", NULL), UNFINISHED);
    assert_int_equal(noted(&s, 1, 0, "drops == 0", NULL), UNFINISHED);
    s.is_datagram = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), UNFINISHED);
    s.frames = 1;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.is_datagram = false;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), UNFINISHED);
    s.is_cut = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.is_at_rest = true; /* nothing will ever happen */
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), UNFINISHED);
    s.is_cut = s.is_at_rest = false;
    s.is_stream = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
}

/* A stream that starves is trouble. A flow of finite size is if the run waited, and then counts
 * among the unfinished alone, or if nothing moves. */
static void flows_that_starve(void **state)
{
    (void)state;
    struct story s = {.variant = "", .has_flows = true, .is_starving = true};
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), UNFINISHED);
    s.is_cut = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.is_standing = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), STARVED);
    assert_int_equal(noted(&s, 1, 0, "starved == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "starved.a == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "flows.a.unfinished == 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "min_share > 0", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "starved.b == 0", NULL), STARVED);
    assert_int_equal(noted(&s, 1, 0, "throughput.a < 1Gbps", NULL), STARVED);
    s.is_datagram = true;
    s.frames = 1; /* what is left of it may be lost */
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
    s.is_stream = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), STARVED);
    s.is_cut = false;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), STARVED);
    assert_int_equal(noted(&s, 1, 0, "deadlocks == 0", NULL), 0);
}

/* A closed loop has always something under way: it is trouble where the run waited for it. */
static void operations_that_never_end(void **state)
{
    (void)state;
    struct story s = {.variant = "", .n_running = 3};
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), NOT_ENDED);
    assert_int_equal(noted(&s, 1, 0, "operations.unfinished == 3", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "operations.a == 0", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "operations.b == 0", NULL), NOT_ENDED);
    assert_int_equal(noted(&s, 1, 0, "flows.unfinished == 0", NULL), NOT_ENDED);
    s.is_cut = true;
    assert_int_equal(noted(&s, 1, 0, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_that_never_finish),
        cmocka_unit_test(flows_that_starve),
        cmocka_unit_test(operations_that_never_end),
        cmocka_unit_test(what_is_trouble),
        cmocka_unit_test(which_metrics_cover_a_loss),
        cmocka_unit_test(which_metrics_cover_a_deadlock),
        cmocka_unit_test(each_variant_by_itself),
        cmocka_unit_test(variant_called_drops),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
