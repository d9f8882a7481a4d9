/* Verdicts: which expectations cover a lossless loss or a deadlock, of which variant. */
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

enum { LOSS = 1, DEADLOCK = 2 };

/* What a run went through; frames 0: none of that kind. */
struct story {
    const char *variant;
    uint8_t cause, lossless;
    uint64_t frames;
    uint32_t n_deadlocks;
};

static struct result_deadlock deadlock = {.onset_at = 1};

/* The troubles noted of the story `of` among `n` runs, with up to two expectations. */
static int noted(const struct story *stories, uint32_t n, uint32_t of, const char *one,
                 const char *two)
{
    struct results results[3];
    struct result_drop drops[3];
    struct summary *made[3];
    const struct results *runs[3];
    assert_true(n <= 3);
    for (uint32_t i = 0; i < n; i++) {
        drops[i] = (struct result_drop){.cause = stories[i].cause,
                                        .lossless = stories[i].lossless,
                                        .frames = stories[i].frames};
        results[i] = (struct results){.variant = stories[i].variant,
                                      .drops = &drops[i],
                                      .n_drops = stories[i].frames > 0,
                                      .deadlocks = &deadlock,
                                      .n_deadlocks = stories[i].n_deadlocks};
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
        found |= strstr(text, "lossless") ? LOSS : strstr(text, "deadlock") ? DEADLOCK : 4;
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
    const struct story story = {"", cause, 1, 4134, 0};
    return noted(&story, 1, 0, expectation, NULL);
}

static void what_is_trouble(void **state)
{
    (void)state;
    struct story s = {"", RESULT_DROP_BUFFER, 1, 0, 0};
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
    const struct story s = {"", RESULT_DROP_BUFFER, 1, 0, 1};
    assert_int_equal(noted(&s, 1, 0, "deadlocks >= 1", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "deadlocked == 0", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "deadlock.onset < 1ms", NULL), 0);
    assert_int_equal(noted(&s, 1, 0, "drops == 0", NULL), DEADLOCK);
    assert_int_equal(noted(&s, 1, 0, "drops == 0", "deadlocks == 0"), 0);
}

static void each_variant_by_itself(void **state)
{
    (void)state;
    const struct story s[] = {{"A", RESULT_DROP_BUFFER, 1, 5, 1},
                              {"B", RESULT_DROP_BUFFER, 1, 5, 1},
                              {"B-drops", RESULT_DROP_BUFFER, 1, 5, 1}};
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
    const struct story s[] = {{"drops", RESULT_DROP_BUFFER, 1, 5, 0},
                              {"other", RESULT_DROP_BUFFER, 1, 5, 0}};
    assert_int_equal(noted(s, 2, 1, "drops.buffer > 0", NULL), 0);
    assert_int_equal(noted(s, 2, 1, "drops.drops > 0", NULL), LOSS);
    assert_int_equal(noted(s, 2, 0, "drops.drops > 0", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_trouble),
        cmocka_unit_test(which_metrics_cover_a_loss),
        cmocka_unit_test(which_metrics_cover_a_deadlock),
        cmocka_unit_test(each_variant_by_itself),
        cmocka_unit_test(variant_called_drops),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
