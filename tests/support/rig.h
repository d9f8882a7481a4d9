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
    struct net_switch *kinds; /* with mechanisms of the test's own; NULL: the scenario's */
};

struct rig_options {
    uint32_t n_threads;   /* 0: one */
    xoff_time cell_bound; /* XOFF_PARAM_AUTO or a bound; 0: every node alone */
    void *progress_context;
    bool (*progress)(void *context, xoff_time now, uint64_t arrivals); /* NULL: never stopped */
    const char *capture; /* a port whose frames are noted down (build_options); NULL: none */
    /* Puts mechanisms of the test's own in place of those that the scenario names; NULL: none. */
    void (*adjust)(const void *context, struct net_spec *spec, struct net_switch *kinds,
                   struct net_transport *transports);
    const void *adjust_context;
};

/* Reads, builds and runs; fails the test when anything of it goes wrong. printf-style text. */
void rig_run(struct rig *rig, const struct rig_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a scenario that was read already; `plan` of it is run. rig_fini destroys it. */
void rig_run_plan(struct rig *rig, const struct rig_options *options, struct scenario *scenario,
                  uint32_t plan);
void rig_fini(struct rig *rig);

double rig_metric(const struct rig *rig, const char *name);

/* The port of `node` whose (first) link goes to `peer`; both by name. */
const struct result_port *rig_port(const struct rig *rig, const char *node, const char *peer);
uint32_t rig_node(const struct rig *rig, const char *name);
/* The first buffer of a node. */
const struct result_buffer *rig_buffer(const struct rig *rig, uint32_t node);

/* Prints what the audit found and fails when it found anything. */
void rig_assert_clean(const struct rig *rig);

#endif
