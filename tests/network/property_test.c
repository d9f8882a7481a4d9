/* What must hold in any network with PFC or PAUSE on: no frame of a lossless priority is lost for
 * want of buffer, every byte is accounted for, and once the traffic has ended nothing stays behind,
 * unless the routes allow a cycle of buffers that wait for each other and such a cycle has formed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_scenario.h"
#include "support/rig.h"

#define N_SEEDS 1000

struct counts {
    uint32_t cyclic, deadlocked, paused, lossy_drops, recovering;
    uint64_t hops;
};

static bool has_cycle(const struct rig *rig)
{
    struct routes *routes;
    struct xoff_err err;
    assert_int_equal(routes_create(&rig->built->topo, 0, true, &routes, &err), 0);
    struct route_channel channel;
    const uint32_t n = routes_find_cycle(&rig->built->topo, routes, NULL, &channel, 1);
    routes_destroy(routes);
    return n > 0;
}

/* Data or ACKs of the flow are of a lossy priority. */
static bool can_lose(const struct rig *rig, const struct result_flow *flow)
{
    const int64_t ack = rig->built->spec.ack_priority;
    const uint8_t needed = (uint8_t)(1u << flow->priority | (ack < 0 ? 0 : 1u << ack));
    return (rig->results->lossless & needed) != needed;
}

/* NULL, or what is wrong with a run whose frames should all have been delivered. Go-back-N without
 * congestion control may need more time than there is to recover from heavy loss; then its frames
 * are still on the way at the end. */
static const char *what_is_left(const struct rig *rig, struct counts *counts)
{
    const struct results *r = rig->results;
    const bool is_at_end = r->end_at >= net_end(&rig->built->spec);
    bool is_recovering = false;
    for (uint64_t i = 0; i < r->n_flows; i++) {
        const struct result_flow *f = &r->flows[i];
        const bool is_done = f->delivered_bytes == (f->reliable ? f->offered_bytes : f->sent_bytes);
        if (is_done && !(f->reliable && f->ideal_for && f->acked_at == XOFF_NEVER))
            continue;
        if (!can_lose(rig, f))
            return "a flow of a lossless priority was not delivered";
        if (f->reliable && !(is_at_end && r->n_drops))
            return "a reliable flow was given up";
        is_recovering |= f->reliable;
    }
    counts->recovering += is_recovering;
    for (uint32_t n = 0; n < r->n_nodes && !is_recovering; n++)
        if (r->nodes[n].held_bytes)
            return "a node still holds frames";
    return is_at_end && !r->n_drops ? "the network did not come to rest" : NULL;
}

/* NULL, or what is wrong. */
static const char *judge(const struct rig *rig, struct counts *counts)
{
    const struct results *r = rig->results;
    const bool is_cyclic = has_cycle(rig);
    counts->cyclic += is_cyclic;
    counts->deadlocked += r->n_deadlocks > 0;
    counts->paused += r->n_pauses > 0;
    counts->lossy_drops += r->n_drops > 0;
    counts->hops += r->packet_hops;
    for (uint32_t i = 0; i < r->n_drops; i++) {
        if (r->drops[i].lossless)
            return "a frame of a lossless priority was lost";
        if (r->drops[i].cause != RESULT_DROP_BUFFER && r->drops[i].cause != RESULT_DROP_RECEIVER)
            return "a frame was lost for another reason than want of buffer";
    }
    if (r->n_findings)
        return r->findings[0].text;
    if (r->n_deadlocks)
        return is_cyclic ? NULL : "a deadlock without a cycle in the routes";
    return what_is_left(rig, counts);
}

static void run_seed(uint64_t seed, struct counts *counts)
{
    char *text = random_scenario(seed);
    struct rig rig;
    rig_run(&rig, NULL, "%s", text);
    const char *wrong = judge(&rig, counts);
    if (wrong) {
        fprintf(stderr, "%s", text); /* too long for the library's messages */
        fail_msg("XOFF_SEED=%llu: %s", (unsigned long long)seed, wrong);
    }
    rig_fini(&rig);
    free(text);
}

static void nothing_is_lost_or_stuck(void **state)
{
    (void)state;
    struct counts counts = {0};
    const uint64_t n = getenv("XOFF_QUICK") ? N_SEEDS / 8 : N_SEEDS;
    const char *one = getenv("XOFF_SEED"); /* to look at one that failed */
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    for (uint64_t seed = first; seed < (one ? first + 1 : n + 1); seed++)
        run_seed(seed, &counts);
    print_message("%llu networks: %u paused, %u lost lossy frames, %u with cyclic routes, %u "
                  "deadlocked, %.1f M packet-hops\n",
                  (unsigned long long)n, counts.paused, counts.lossy_drops, counts.cyclic,
                  counts.deadlocked, (double)counts.hops / 1e6);
    if (one)
        return;
    /* The draw must be worth its time. */
    assert_true(counts.paused > n / 3);
    assert_true(counts.lossy_drops > n / 20);
    assert_true(counts.cyclic > n / 20 && counts.cyclic < n / 2);
    assert_true(counts.recovering < n / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
