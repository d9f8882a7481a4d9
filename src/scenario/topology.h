/* Topology kinds: star, dumbbell, chain, ring, leaf-spine, fat-tree, custom. */
#ifndef SCENARIO_TOPOLOGY_H
#define SCENARIO_TOPOLOGY_H

#include "net/topo.h"

struct plan;

struct topology_kind {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    bool has_fabric_link; /* the kind accepts fabric_link beside host_link */
};

extern const struct topology_kind *const topology_kinds[]; /* NULL-terminated */
const struct topology_kind *topology_find(const char *name);

/* Builds nodes, links, changes and stated routes of a plan; names are resolved, errors are located.
 */
int topology_build(const struct plan *plan, struct topo *topo, struct xoff_err *err);

/* Finds the hosts of a set expression: "all", "h3", "h0..h15", "leaf0" (its hosts), comma
 * separated. Writes host indices in order, at most n_hosts, without repetition. */
int topology_hosts(const struct topo *topo, const char *set, uint32_t *hosts, uint32_t *n_hosts,
                   struct xoff_err *err);

/* Sets the entries of kind_of, which is by number of the switch, to `kind` for the switches of a
 * set: "leaf0", "leaf0..leaf3", a pattern with * and ?, "all", comma separated. Each item must name
 * a switch. */
int topology_switches(const struct topo *topo, const char *set, uint8_t kind, uint8_t *kind_of,
                      struct xoff_err *err);

#endif
