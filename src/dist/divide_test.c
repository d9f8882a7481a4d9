/* Dividing graphs: every vertex has a part, no part is empty while there are vertices, parts weigh
 * about the same, and neighbours stay together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dist/divide.h"

#define MOST 512

/* A ring of `n` vertices, each with its weight. */
struct ring {
    uint32_t weight[MOST], first[MOST + 1], to[2 * MOST], strength[2 * MOST];
    struct sim_graph graph;
};

static void make_ring(struct ring *r, uint32_t n, uint32_t heaviest)
{
    for (uint32_t v = 0; v < n; v++) {
        r->weight[v] = v == n / 2 ? heaviest : 1;
        r->first[v] = 2 * v;
        r->to[2 * v] = (v + 1) % n;
        r->to[2 * v + 1] = (v + n - 1) % n;
        r->strength[2 * v] = r->strength[2 * v + 1] = heaviest;
    }
    r->first[n] = 2 * n;
    r->graph = (struct sim_graph){n, r->weight, r->first, r->to, r->strength};
}

static uint32_t count_cut(const struct ring *r, const uint32_t *part)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < r->graph.n; v++)
        n += part[v] != part[(v + 1) % r->graph.n];
    return n;
}

/* From graphs too small for METIS to large ones, with as many parts as vertices and more. */
static void test_parts(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 7, 8, 16, 31, 64, 500}, parts[] = {1, 2, 3, 4, 8, 40};
    for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            struct ring r;
            uint32_t part[MOST], size[64] = {0};
            const uint32_t n = sizes[s], n_parts = parts[p];
            make_ring(&r, n, 1);
            memset(part, 0xff, sizeof part);
            assert_true(divide_graph(&r.graph, n_parts, part));
            for (uint32_t v = 0; v < n; v++) {
                assert_true(part[v] < n_parts);
                size[part[v]]++;
            }
            for (uint32_t i = 0; i < n_parts && n_parts <= n; i++) {
                assert_true(size[i] > 0);
                assert_true(size[i] <= 2 * (n + n_parts - 1) / n_parts);
            }
            if (n_parts <= n / 8) /* a part of a ring needs two cuts; a few more are tolerated */
                assert_true(count_cut(&r, part) <= 2 * n_parts + 4);
        }
}

/* A vertex that weighs more than all others together, and edges as strong as they can be. */
static void test_extreme_weights(void **state)
{
    (void)state;
    struct ring r;
    uint32_t part[MOST], size[4] = {0};
    make_ring(&r, 64, UINT32_MAX);
    assert_true(divide_graph(&r.graph, 4, part));
    for (uint32_t v = 0; v < 64; v++) {
        assert_true(part[v] < 4);
        size[part[v]]++;
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_true(size[i] > 0);
}

/* Vertices without neighbours. */
static void test_apart(void **state)
{
    (void)state;
    const uint32_t weight[5] = {1, 1, 1, 1, 1}, first[6] = {0}, none[1] = {0};
    const struct sim_graph graph = {5, weight, first, none, none};
    uint32_t part[5];
    assert_true(divide_graph(&graph, 5, part));
    for (uint32_t v = 0; v < 5; v++)
        assert_int_equal(part[v], v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_extreme_weights),
                                       cmocka_unit_test(test_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
