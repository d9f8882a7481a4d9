/* Runs a scenario given as text, for tests of whole networks. */
#ifndef SUPPORT_RIG_H
#define SUPPORT_RIG_H

#include "scenario/build.h"
#include "stats/results.h"

struct rig {
    struct scenario *scenario;
    struct built *built;
    struct results *results;
    struct summary *summary;
};

struct rig_options {
    uint32_t n_threads;   /* 0: one */
    xoff_time cell_bound; /* XOFF_PARAM_AUTO or a bound; 0: every node alone */
};

/* Reads, builds and runs; fails the test when anything of it goes wrong. printf-style text. */
void rig_run(struct rig *rig, const struct rig_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rig_fini(struct rig *rig);

double rig_metric(const struct rig *rig, const char *name);

/* Prints what the audit found and fails when it found anything. */
void rig_assert_clean(const struct rig *rig);

#endif
