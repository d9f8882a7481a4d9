/* Shared by the two halves of topology_build: topology.c makes nodes and links, topology_resolve.c
 * resolves the names in changes, stated routes and host sets. */
#ifndef SCENARIO_TOPOLOGY_PARTS_H
#define SCENARIO_TOPOLOGY_PARTS_H

#include "scenario/plan.h"
#include "scenario/topology.h"

/* Fills topo->changes and topo->routes of a finished graph. */
int topology_resolve(const struct plan *plan, struct topo *topo, struct xoff_err *err);

/* Adds the place in the plan's file to an error (rc not 0) and passes its code on. */
int topology_located(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                     int rc);

/* Calls xoff_err_set() and adds the place. */
int topology_refuse(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                    enum xoff_err_code code, const char *subject, const char *value,
                    const char *message);

#endif
