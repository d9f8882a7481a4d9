/* Divides a graph by METIS, where it is at hand and fit for the graph, else into blocks.
 *
 * METIS 5.1 crashes, or prints, when asked for one part or given extreme weights, may leave parts
 * empty on small graphs, and may return nonsense without an error. So it is asked only where a part
 * has EACH vertices or more, with weights up to MOST_WEIGHT, and its answer is checked and
 * repaired. Blocks are runs of vertices in the order of a breadth-first walk, so that neighbours
 * stay together.
 */
#include "dist/divide.h"

#include <stdlib.h>
#include <string.h>

#ifdef XOFF_HAS_METIS
#include <metis.h>
#endif

#define EACH 8
#define MOST_WEIGHT 10000

/* Walks from the first vertex that was not met, breadth first, until all are. */
static void walk(const struct sim_graph *g, uint32_t *order, bool *is_met)
{
    uint32_t n = 0;
    for (uint32_t root = 0; root < g->n; root++) {
        if (is_met[root])
            continue;
        is_met[root] = true;
        order[n++] = root;
        for (uint32_t i = n - 1; i < n; i++)
            for (uint32_t e = g->first[order[i]]; e < g->first[order[i] + 1]; e++)
                if (!is_met[g->to[e]]) {
                    is_met[g->to[e]] = true;
                    order[n++] = g->to[e];
                }
    }
}

/* Cuts the order into runs of about the same weight; none is empty if there are enough vertices. */
static void cut(const struct sim_graph *g, uint32_t n_parts, const uint32_t *order,
                uint32_t *part_of)
{
    uint64_t sum = 0, before = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum += g->weight[v];
    uint32_t part = 0, in_part = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        const bool is_full = before * n_parts >= sum * (part + 1);
        const bool is_last_chance = g->n - i <= n_parts - 1 - part; /* one vertex for each left */
        if (part + 1 < n_parts && in_part && (is_full || is_last_chance)) {
            part++;
            in_part = 0;
        }
        part_of[order[i]] = part;
        before += g->weight[order[i]];
        in_part++;
    }
}

static bool into_blocks(const struct sim_graph *g, uint32_t n_parts, uint32_t *part_of)
{
    uint32_t *order = malloc(sizeof *order * (g->n + 1));
    bool *is_met = calloc(g->n + 1, sizeof *is_met);
    if (order && is_met) {
        walk(g, order, is_met);
        cut(g, n_parts, order, part_of);
    }
    const bool is_done = order && is_met;
    free(order), free(is_met);
    return is_done;
}

#ifdef XOFF_HAS_METIS
static idx_t clamp(uint32_t weight, uint64_t most)
{
    return weight < 1 ? 1 : weight > most ? (idx_t)most : (idx_t)weight;
}

/* The most that a vertex may weigh: as much as a part. What is clamped makes parts lighter, too. */
static uint64_t heaviest(const struct sim_graph *g, uint32_t n_parts)
{
    uint64_t most = MOST_WEIGHT;
    for (;;) {
        uint64_t sum = 0;
        for (uint32_t v = 0; v < g->n; v++)
            sum += (uint64_t)clamp(g->weight[v], most);
        if (sum / n_parts >= most)
            return most;
        most = sum / n_parts; /* at least EACH */
    }
}

/* Whether all is in range; gives each empty part a vertex of the part with the most. */
static bool repair(const struct sim_graph *g, uint32_t n_parts, const idx_t *part,
                   uint32_t *part_of)
{
    uint32_t *size = calloc(n_parts, sizeof *size);
    if (!size)
        return false;
    for (uint32_t v = 0; v < g->n; v++) {
        if (part[v] < 0 || (uint32_t)part[v] >= n_parts) {
            free(size);
            return false;
        }
        part_of[v] = (uint32_t)part[v];
        size[part_of[v]]++;
    }
    for (uint32_t p = 0; p < n_parts; p++) {
        if (size[p])
            continue;
        uint32_t largest = 0, v = 0;
        for (uint32_t q = 1; q < n_parts; q++)
            largest = size[q] > size[largest] ? q : largest;
        while (part_of[v] != largest)
            v++;
        part_of[v] = p;
        size[p]++;
        size[largest]--;
    }
    free(size);
    return true;
}

static bool by_metis(const struct sim_graph *g, uint32_t n_parts, uint32_t *part_of)
{
    const uint32_t n_edges = g->first[g->n];
    idx_t n = (idx_t)g->n, n_constraints = 1, parts = (idx_t)n_parts, n_cut = 0;
    idx_t *first = malloc(sizeof *first * (g->n + 1)), *to = malloc(sizeof *to * (n_edges + 1));
    idx_t *strength = malloc(sizeof *strength * (n_edges + 1));
    idx_t *weight = malloc(sizeof *weight * g->n), *part = malloc(sizeof *part * g->n);
    bool is_done = first && to && strength && weight && part;
    if (is_done) {
        for (uint32_t v = 0; v <= g->n; v++)
            first[v] = (idx_t)g->first[v];
        const uint64_t most = heaviest(g, n_parts);
        for (uint32_t v = 0; v < g->n; v++) {
            weight[v] = clamp(g->weight[v], most);
            part[v] = -1;
        }
        for (uint32_t e = 0; e < n_edges; e++) {
            to[e] = (idx_t)g->to[e];
            strength[e] = clamp(g->strength[e], MOST_WEIGHT);
        }
        idx_t options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = 1;
        is_done = METIS_PartGraphKway(&n, &n_constraints, first, to, weight, NULL, strength, &parts,
                                      NULL, NULL, options, &n_cut, part) == METIS_OK &&
                  repair(g, n_parts, part, part_of);
    }
    free(first), free(to), free(strength), free(weight), free(part);
    return is_done;
}
#endif

bool divide_graph(const struct sim_graph *g, uint32_t n_parts, uint32_t *part_of)
{
#ifdef XOFF_HAS_METIS
    if (n_parts >= 2 && g->n / n_parts >= EACH && g->n < INT32_MAX / 2 &&
        by_metis(g, n_parts, part_of))
        return true;
#endif
    return into_blocks(g, n_parts, part_of);
}
