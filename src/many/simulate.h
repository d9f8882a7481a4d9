/* One run of a batch, from the scenario's text to its figures. */
#ifndef MANY_SIMULATE_H
#define MANY_SIMULATE_H

#include "scenario/plan.h"
#include "stats/results.h"

struct simulation {
    const char *file, *text; /* the scenario */
    size_t size;
    const struct plan_setting *settings;
    uint32_t n_settings;
    uint64_t seed;
    uint32_t variant; /* by its place among the scenario's */
    /* Expectations that say which troubles are covered; NULL: all of the scenario. */
    const char *const *expects;
    uint32_t n_expects;
};

/* Runs on one thread, silently. Findings are those of the audit, then troubles that no expectation
 * covers. Returns NULL with err filled where the scenario is wrong. */
struct summary *simulate_run(const struct simulation *simulation, struct xoff_err *err);
/* Whether the network can be built; else fills err as simulate_run() does. */
int simulate_check(const struct simulation *simulation, struct xoff_err *err);

#endif
