/* A scenario file, read and validated: everything needed to build a network and run it.
 *
 * scenario/parse.c makes it from YAML by the parameter tables; every key has a default; errors have
 * file, line and column. There is one plan per variant: the base scenario with the variant's
 * settings applied. Settings of the network itself are stored as the network takes them (struct
 * net_spec) and filled in by the tables; names of nodes are resolved when the network is built.
 */
#ifndef SCENARIO_PLAN_H
#define SCENARIO_PLAN_H

#include "net/net.h"
#include "traffic/traffic.h"

struct plan_place {
    int line, column;
};

/* A link as written: {rate: 100Gbps, delay: 1us | length: 40m, error: 1e-9}. */
struct plan_link {
    int64_t rate_bps;
    int64_t delay;     /* ps; XOFF_PARAM_AUTO: from length_mm */
    int64_t length_mm; /* XOFF_PARAM_AUTO: not given */
    double error;      /* frame error probability */
};

/* One entry of a custom topology's lists. */
struct plan_custom_node {
    char name[TOPO_NAME];
    enum topo_kind kind;
};
struct plan_custom_link {
    char a[TOPO_NAME], b[TOPO_NAME];
    struct plan_link link;
    struct plan_place place;
};

struct topology_kind; /* scenario/topology.h */

struct plan_topology {
    const struct topology_kind *kind;
    void *params; /* by kind->params */
    struct plan_link host_link, fabric_link;
    struct plan_custom_node *nodes;
    uint32_t n_nodes;
    struct plan_custom_link *links;
    uint32_t n_links;
    struct plan_place place;
};

/* `links:` entries: {link: leaf0-spine0, at: 1ms, rate: 10Gbps} or fail: true / repair: true. */
struct plan_change {
    char link[2 * TOPO_NAME + 8];
    int64_t at;
    int64_t rate_bps; /* XOFF_PARAM_AUTO: unchanged */
    int64_t delay;    /* XOFF_PARAM_AUTO: unchanged */
    int64_t fail, repair;
    struct plan_place place;
};

/* `routes:` entries: {at: 0s, on: leaf0, to: h5 (or h4..h7 or all), via: [spine1]}; via [] revokes
 * them. */
struct plan_route {
    int64_t at;
    char on[TOPO_NAME];
    char to[XOFF_PARAM_TEXT];  /* host set */
    char via[XOFF_PARAM_TEXT]; /* neighbour names, comma separated; empty: shortest paths again */
    struct plan_place place;
};

/* `vms:` of a receiver: machines that take their share of its receive queue at their own rate. */
struct plan_vm {
    char traffic[XOFF_PARAM_TEXT]; /* names of traffic entries */
    char rate[XOFF_PARAM_TEXT];    /* as that of the receiver */
};

/* `receivers:` entries: hosts that take frames from the wire slower than they come. */
struct plan_receiver {
    char host[XOFF_PARAM_TEXT]; /* host set */
    char rate[XOFF_PARAM_TEXT]; /* "1Gbps" or a schedule "10Gbps, 1ms: 1Gbps, 3ms: 10Gbps" */
    struct plan_vm *vms;        /* net.n_servers - 1 */
    struct net_server *servers; /* net.servers and net.server_of are these */
    uint8_t server_of[NET_NOBODY + 1];
    struct net_receiver net; /* without its host */
    struct plan_place place, marking_place;
};

struct plan_defence {
    char at[XOFF_PARAM_TEXT]; /* "leaf0:3", a switch for all its ports, or all */
    int64_t priority, mode, alternate;
    struct plan_place place;
};

/* `lldp:`: when ports send, in seconds of the length given, and who passes LLDP on. */
struct plan_lldp {
    int64_t second, interval, ttl, fast, fast_frames, tx_delay, reinit;
    char forward[XOFF_PARAM_TEXT]; /* switches */
};

/* `dcbx:` entries: what ports administer from a time on. */
struct plan_dcbx {
    char
        at[XOFF_PARAM_TEXT]; /* "leaf0:3", a node for all its ports, hosts, switches, all; a list */
    int64_t from, lldp, version, tie, pfc_classes, pushes, follows_last;
    char willing[XOFF_PARAM_TEXT], pfc[XOFF_PARAM_TEXT], ets[XOFF_PARAM_TEXT];
    char strict[XOFF_PARAM_TEXT], recommend[XOFF_PARAM_TEXT], apps[XOFF_PARAM_TEXT];
    char cn[XOFF_PARAM_TEXT], needs_lossless[XOFF_PARAM_TEXT];
    struct net_dcbx net; /* without its port */
    struct plan_place place;
};

struct plan_traffic {
    const struct traffic_kind *kind;
    char name[TOPO_NAME]; /* `name:`; default kind#index */
    void *params;
    void *items;
    uint32_t n_items;
    struct plan_place place;
};

/* `switch:`, or an entry of `switches:`. */
struct plan_switch {
    char match[XOFF_PARAM_TEXT]; /* set of switches that an entry applies to */
    struct plan_place match_place;
    struct plan_place place[N_NET_PARTS]; /* by part; NET_PART_NET: the whole entry */
};

/* `transport:` and each of `transports:`: a reaction point on a reliability. Keys of the
 * notification point that it names are among its own keys, keys of a reliability under its name. */
struct plan_transport {
    char name[TOPO_NAME]; /* "": the one of `transport:` */
    struct net_transport net;
    /* The keys as written. */
    int64_t reliability; /* into xoff_rel_words; 0: the one that the reaction point names */
    char window[XOFF_PARAM_TEXT];    /* none, bdp, scaled, or bytes */
    void *rel_params[XOFF_MAX_RELS]; /* by index into xoff_rels; net.rel_params is one of them */
    struct plan_place place;
};
#define PLAN_MAX_NAMED_TRANSPORTS 8

/* `curves:` entries: a series of `measure` at one place, kept by name. */
struct plan_curve {
    char name[TOPO_NAME];
    int64_t of;               /* index into section_curve_words */
    char at[XOFF_PARAM_TEXT]; /* "leaf0:3", "h2", a switch for a metric of the whole switch, or a
                               * set of hosts for jain and evenness */
    int64_t priority;         /* XOFF_PARAM_AUTO: all priorities together */
    int64_t from, to;         /* to XOFF_PARAM_AUTO: stop */
    int64_t over;             /* XOFF_PARAM_AUTO: measure.every */
    int64_t level, share;     /* XOFF_PARAM_AUTO: none */
    double within;            /* below 0: none */
    struct plan_place place;  /* place of `at` in the file */
};

/* Whether a series is of a whole switch, not of a port. */
static inline bool plan_is_of_switch(int64_t of)
{
    return of >= RESULT_BUFFER_BYTES && of <= RESULT_INSURANCE_BYTES;
}

/* Whether a curve is of several hosts and how evenly they share. */
static inline bool plan_is_of_hosts(int64_t of)
{
    return of >= RESULT_JAIN;
}

struct plan_expect {
    char *text;
    struct plan_place place;
};

struct plan {
    const char *file;      /* path as given; owned by the scenario, as is text */
    const char *text;      /* the whole scenario as read, for the results */
    char *title, *variant; /* variant: "" when there are none */
    struct net_spec net;   /* without what names nodes or traffic: build_create() adds it */
    struct plan_topology topology;
    struct plan_place host_place;      /* of `host:` */
    struct net_switch *kinds;          /* net.kinds: `switch`, then the entries of `switches` */
    struct plan_switch *switches;      /* net.n_kinds of them */
    struct plan_transport *transports; /* the first is that of `transport:` */
    uint32_t n_transports;
    struct plan_traffic *traffic;
    uint32_t n_traffic;
    struct plan_change *changes;
    uint32_t n_changes;
    struct plan_route *routes;
    uint32_t n_routes;
    int64_t reroute_after; /* XOFF_NEVER for "never" */
    struct plan_receiver *receivers;
    uint32_t n_receivers;
    struct plan_defence *defences;
    uint32_t n_defences;
    struct plan_lldp lldp;
    struct plan_place lldp_place;
    struct plan_dcbx *dcbx;
    uint32_t n_dcbx;
    char measured_at[XOFF_PARAM_TEXT]; /* nodes or "all" */
    struct plan_curve *curves;
    uint32_t n_curves;
};

/* One `--set key=value`, applied after the file and the variant. */
struct plan_setting {
    const char *key, *value;
};

/* A scenario file with its variants and expectations. */
struct scenario {
    char *file, *text;
    struct plan **plans; /* one per variant, or one */
    uint32_t n_plans;
    struct plan_expect *expects;
    uint32_t n_expects;
};

/* Reads `file` ("-": standard input). On failure nothing is kept and err is located. Settings whose
 * key is unknown give an error that names the option. */
int scenario_read(const char *file, const struct plan_setting *settings, uint32_t n_settings,
                  struct scenario **out, struct xoff_err *err);
/* Like scenario_read(), but from memory; used by tests and fuzzing. */
int scenario_read_text(const char *name, const char *text, size_t size,
                       const struct plan_setting *settings, uint32_t n_settings,
                       struct scenario **out, struct xoff_err *err);
void scenario_destroy(struct scenario *scenario);
/* Keeps only the variants of these names, in the file's order, and their expectations. */
int scenario_keep(struct scenario *scenario, const char *const *names, uint32_t n_names,
                  struct xoff_err *err);

/* Returns the effective configuration as YAML that reads back to the same plan; the caller frees
 * it. */
char *plan_print(const struct plan *plan);
/* Returns the JSON schema (draft 2020-12) of scenario files, made from the same tables; the caller
 * frees it. */
char *scenario_schema(void);

#endif
