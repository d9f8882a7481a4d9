/* All names that metrics of a run can have, with their units, so that a name can be refused before
 * anything is run. Whether a run then has the metric depends on what happened in it
 * (docs/results.md). */
#ifndef STATS_METRIC_NAMES_H
#define STATS_METRIC_NAMES_H

#include "stats/results.h"

/* A traffic entry as part of a metric's name. */
struct metric_label {
    char text[44];
};

/* Makes entry names that expectations can write: other characters become '_', and a name that is
 * taken gets the entry's index. */
void metric_labels(const char *const *entries, uint32_t n, struct metric_label *labels);

/* What names are made of: the traffic entries and the curves of a scenario. */
struct metric_words {
    const struct metric_label *entries;
    uint32_t n_entries;
    struct metric_curve {
        char name[RESULT_NAME];
        uint8_t metric; /* as in struct result_curve_spec */
    } * curves;
    uint32_t n_curves;
};

/* Walks over the names; begins as {.words = ...}. */
struct metric_walk {
    const struct metric_words *words;
    uint32_t form, group, stat;
    const char *unit; /* of the last name */
    char name[96];
};
/* Returns the next name, which is overwritten by the one after it; NULL: there are no more. */
const char *metric_walk_next(struct metric_walk *walk);
/* The unit of the metric of that name, "s" or "" and the like; NULL: no run can have it. */
const char *metric_unit(const struct metric_words *words, const char *name);

#endif
