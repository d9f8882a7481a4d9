/* Divides a graph into parts of about the same weight with few cut edges. */
#ifndef DIST_DIVIDE_H
#define DIST_DIVIDE_H

#include "sim/sim_ranks.h"

/* Every part gets a vertex as long as there are enough. The answer for a graph may differ between
 * machines: no result may depend on it. Returns false when memory is short. */
bool divide_graph(const struct sim_graph *graph, uint32_t n_parts, uint32_t *part_of);

#endif
