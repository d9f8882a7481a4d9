/* The sections of a scenario file: their parameter tables, and the kinds with tables of their own.
 *
 * Parser, --print-config, schema and docs/scenario.md are all made from these lists.
 */
#ifndef SCENARIO_SECTIONS_H
#define SCENARIO_SECTIONS_H

#include "scenario/plan.h"

/* Tables that fill a struct of the plan directly. */
extern const struct xoff_param section_switch[];    /* struct net_switch */
extern const struct xoff_param section_match[];     /* struct plan_switch */
extern const struct xoff_param section_host[];      /* struct net_spec */
extern const struct xoff_param section_deadlock[];  /* struct net_spec */
extern const struct xoff_param section_receiver[];  /* struct plan_receiver */
extern const struct xoff_param section_vm[];        /* struct plan_vm */
extern const struct xoff_param section_defence[];   /* struct plan_defence */
extern const struct xoff_param section_lldp[];      /* struct plan_lldp */
extern const struct xoff_param section_dcbx[];      /* struct plan_dcbx */
extern const struct xoff_param section_curve[];     /* struct plan_curve */
extern const struct xoff_param section_transport[]; /* struct plan_transport */

/* Tables with fields of their own, which are converted into the plan's after reading. */
struct top_fields {
    char title[XOFF_PARAM_TEXT];
    int64_t seed, stop, drain, compat, results;
    char reroute_after[XOFF_PARAM_TEXT]; /* a time or "never" */
    int64_t hops;
};
extern const struct xoff_param section_top[];

struct port_fields {
    int64_t response_quanta, headroom_bytes, max_frame_bytes;
};
extern const struct xoff_param section_port[];

struct link_fields {
    int64_t rate_bps, delay;
    char length[XOFF_PARAM_TEXT]; /* "": not given */
    double error;
};
extern const struct xoff_param section_link[];

struct priority_fields {
    int64_t lossless, weight, strict;
};
extern const struct xoff_param section_priority[];

struct node_fields {
    char name[XOFF_PARAM_TEXT]; /* only in a list; in a mapping the key is the name */
    int64_t kind;               /* enum topo_kind */
};
extern const struct xoff_param section_node[];

struct change_fields {
    char link[XOFF_PARAM_TEXT];
    int64_t at, rate_bps, delay, fail, repair;
};
extern const struct xoff_param section_change[];

struct route_fields {
    int64_t at;
    char on[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT], via[XOFF_PARAM_TEXT];
};
extern const struct xoff_param section_route[];

struct measure_fields {
    int64_t every, from, to;
    char series[XOFF_PARAM_TEXT], at[XOFF_PARAM_TEXT];
};
extern const struct xoff_param section_measure[];
extern const char *const section_series[]; /* word of bit i of net_spec.measure; NULL ends */

/* Metrics that a curve may have, by enum result_metric; NULL ends the list. */
extern const char *const section_curve_words[];

/* A table above with its path in the file, for schema and docs. A NULL path ends the list. */
struct section {
    const char *path; /* "topology.host_link"; "": the file itself; "links[]": entries of a list */
    const struct xoff_param *table;
    const char *about;
};
extern const struct section sections[];

/* Places where a kind is chosen by `kind:` (or by a word) and brings its own table. */
enum kinds_role {
    KINDS_TOPOLOGY,
    KINDS_FABRIC,
    KINDS_MMU,
    KINDS_PAUSE,
    KINDS_SCHEDULER,
    KINDS_MARKING,
    KINDS_PATH,
    KINDS_ARBITER,
    KINDS_TRANSPORT,
    KINDS_TRAFFIC,
    N_KINDS_ROLES
};

struct kind {
    const char *name, *summary;
    const struct xoff_param *params;
    const struct xoff_param
        *np_params; /* the np's parameters, written among a transport's own; may be NULL */
    size_t params_size;
    const void *ops; /* struct topology_kind, xoff_mmu_ops, ... by role */
};

/* Returns the place of the role in the file: "topology", "switch.mmu", ... */
const char *kinds_path(enum kinds_role role);
/* Fills in number i of the role's kinds, number 0 being the default (traffic has none); false: no
 * more. */
bool kinds_at(enum kinds_role role, uint32_t i, struct kind *out);
bool kinds_find(enum kinds_role role, const char *name, struct kind *out);

/* The mechanisms of a switch; each is a key of `switch`. */
struct switch_role {
    const char *key; /* NULL ends the list */
    enum kinds_role role;
    enum net_part part;
    size_t ops_at, params_at; /* offsets in struct net_switch */
};
extern const struct switch_role switch_roles[];
/* Whether the switch asks this mechanism: one without a crossbar has no use for an arbiter. */
bool switch_uses(const struct net_switch *sw, const struct switch_role *role);
struct kind switch_kind(const struct net_switch *sw, const struct switch_role *role);
const void *switch_params(const struct net_switch *sw, const struct switch_role *role);
/* switch_take() hands the malloc'ed `params` over to the switch; switch_forget() drops the pointer
 * without freeing, because another owner has it. */
void switch_take(struct net_switch *sw, const struct switch_role *role, const void *ops,
                 const void *params);
void switch_forget(struct net_switch *sw, const struct switch_role *role);

/* Returns the word that was most likely meant, among those that next() yields until NULL; NULL:
 * none is near. */
const char *nearest_word(const char *word, const char *(*next)(void *state), void *state);

#endif
