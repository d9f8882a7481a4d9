/* What the two halves of topology_build share: topology.c makes nodes and links, topology_resolve.c
 * finds what changes, stated routes and host sets name in them. */
#ifndef SCENARIO_TOPOLOGY_PARTS_H
#define SCENARIO_TOPOLOGY_PARTS_H

#include "scenario/plan.h"
#include "scenario/topology.h"

/* Fills topo->changes and topo->routes of a finished graph. */
int topology_resolve(const struct plan *plan, struct topo *topo, struct xoff_err *err);

/* Adds the place in the plan's file to an error (rc not 0) and passes its code on. */
int topology_located(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                     int rc);

/* xoff_err_set with a place. */
int topology_refuse(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                    enum xoff_err_code code, const char *subject, const char *value,
                    const char *message);

#endif
