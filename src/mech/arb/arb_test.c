/* Properties of every arbiter over random requests: it agrees with a slow model that is written as
 * the papers tell it, its matching is maximal after as many rounds as there are ports, and it goes
 * on alike when its state is moved. */
#include "arb_testing.h"

#include <xoff/rng.h>

/* The model: every port by itself, no masks, distances instead of wrapping searches. */
struct model {
    uint32_t n, rounds;
    bool by_bytes;
    uint32_t output_from[MAX], input_from[MAX];
    uint32_t match[MAX];
};

static bool is_better(const struct model *m, uint32_t bytes, uint32_t best_bytes, uint32_t port,
                      uint32_t best, uint32_t from)
{
    if (m->by_bytes && bytes != best_bytes)
        return bytes > best_bytes;
    return (port + m->n - from) % m->n < (best + m->n - from) % m->n;
}

static void model_match(struct model *m, struct board *b)
{
    bool taken[MAX] = {false};
    memset(m->match, 0xff, sizeof m->match);
    bool goes_on = true; /* a round without a match is like all that follow it */
    for (uint32_t round = 0; round < m->rounds && goes_on; round++) {
        uint32_t grant[MAX]; /* by output */
        goes_on = false;
        for (uint32_t out = 0; out < m->n; out++) {
            grant[out] = NOBODY;
            for (uint32_t in = 0; in < m->n && !taken[out]; in++)
                if (board_may_match(b, in, out) && m->match[in] == NOBODY &&
                    (grant[out] == NOBODY ||
                     is_better(m, *board_at(b, in, out), *board_at(b, grant[out], out), in,
                               grant[out], m->output_from[out])))
                    grant[out] = in;
        }
        for (uint32_t in = 0; in < m->n; in++) {
            uint32_t best = NOBODY;
            for (uint32_t out = 0; out < m->n; out++)
                if (grant[out] == in &&
                    (best == NOBODY || is_better(m, *board_at(b, in, out), *board_at(b, in, best),
                                                 out, best, m->input_from[in])))
                    best = out;
            if (best == NOBODY)
                continue;
            m->match[in] = best;
            taken[best] = true;
            goes_on = true;
            if (round == 0) {
                m->output_from[best] = (in + 1) % m->n;
                m->input_from[in] = (best + 1) % m->n;
            }
        }
    }
}

static void random_run(const struct xoff_arb_ops *ops, uint64_t seed)
{
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 0, 1);
    static const uint32_t sizes[] = {1, 2, 3, 5, 8, 16, 33, 64, 65, 130};
    const uint32_t n = sizes[xoff_rng_below(&rng, 10)];
    const uint32_t rounds = 1 + (uint32_t)xoff_rng_below(&rng, n);
    const uint32_t density = 1 + (uint32_t)xoff_rng_below(&rng, 100);
    const uint32_t most = xoff_rng_below(&rng, 2) ? 3 : 3000;     /* many ties, or few */
    const uint32_t busy = (uint32_t)xoff_rng_below(&rng, 3) * 45; /* percent of the ports */
    char text[16];
    snprintf(text, sizeof text, "%u", rounds);
    struct board b;
    board_init(&b, ops->name, n, text);
    struct model m = {.n = n, .rounds = rounds, .by_bytes = b.arb.shape.sees_bytes};
    for (uint32_t step = 0; step < 100; step++) {
        for (uint32_t i = 0; i < n * n; i++)
            b.bytes[i] =
                xoff_rng_below(&rng, 100) < density ? 1 + (uint32_t)xoff_rng_below(&rng, most) : 0;
        for (uint32_t port = 0; port < n; port++) {
            b.is_busy_input[port] = xoff_rng_below(&rng, 100) < busy;
            b.is_busy_output[port] = xoff_rng_below(&rng, 100) < busy;
        }
        void *moved = malloc(b.arb.shape.state_size);
        memcpy(moved, b.arb.state, b.arb.shape.state_size);
        free(b.arb.state);
        b.arb.state = moved;
        board_match(&b);
        model_match(&m, &b);
        for (uint32_t in = 0; in < n; in++)
            if (b.match[in] != m.match[in])
                fail_msg("%s, seed %llu, step %u: input %u got %d, not %d", ops->name,
                         (unsigned long long)seed, step, in, (int)b.match[in], (int)m.match[in]);
        if (rounds == n && !board_is_maximal(&b))
            fail_msg("%s, seed %llu, step %u: not maximal", ops->name, (unsigned long long)seed,
                     step);
    }
    board_fini(&b);
}

static void as_the_model_does(void **state)
{
    (void)state;
    for (size_t i = 0; xoff_arbs[i]; i++)
        for (uint64_t seed = 1; seed <= 120; seed++)
            random_run(xoff_arbs[i], seed);
}

/* With as many rounds as ports; the worst case needs them all. */
static void maximal_after_enough_rounds(void **state)
{
    (void)state;
    for (size_t i = 0; xoff_arbs[i]; i++)
        for (uint32_t n = 1; n <= 20; n++) {
            char text[8];
            struct board b;
            snprintf(text, sizeof text, "%u", n);
            board_init(&b, xoff_arbs[i]->name, n, text);
            board_ask_all(&b, 7);
            board_match(&b);
            assert_int_equal(b.n_matched, n);
            board_fini(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_model_does),
        cmocka_unit_test(maximal_after_enough_rounds),
    };
    return cmocka_run_group_tests_name("arb", tests, NULL, NULL);
}
