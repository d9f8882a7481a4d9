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
    struct net_switch *kinds; /* for mechanisms of the test's own; NULL: the scenario's */
};

struct rig_options {
    uint32_t n_threads;   /* 0: one */
    xoff_time cell_bound; /* XOFF_PARAM_AUTO or a bound; 0: every node alone */
    void *progress_context;
    bool (*progress)(void *context, xoff_time now, uint64_t arrivals); /* NULL: never stopped */
    const char *capture; /* a port whose frames are recorded (build_options); NULL: none */
    /* Replaces mechanisms that the scenario names by the test's own; NULL: none. */
    void (*adjust)(const void *context, struct net_spec *spec, struct net_switch *kinds,
                   struct net_transport *transports);
    const void *adjust_context;
};

/* Reads, builds and runs a scenario (printf-style text); fails the test on any error. */
void rig_run(struct rig *rig, const struct rig_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Runs `plan` of a scenario that was read already. rig_fini destroys the scenario. */
void rig_run_plan(struct rig *rig, const struct rig_options *options, struct scenario *scenario,
                  uint32_t plan);
void rig_fini(struct rig *rig);

double rig_metric(const struct rig *rig, const char *name);

/* Finds the port of `node` whose (first) link goes to `peer`; both by name. */
const struct result_port *rig_port(const struct rig *rig, const char *node, const char *peer);
uint32_t rig_node(const struct rig *rig, const char *name);
/* Returns the first buffer of a node. */
const struct result_buffer *rig_buffer(const struct rig *rig, uint32_t node);

/* Prints the audit's findings and fails when there are any. */
void rig_assert_clean(const struct rig *rig);

#endif
