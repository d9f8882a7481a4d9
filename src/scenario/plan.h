/* A scenario file, read and validated: everything needed to build a network and run it.
 *
 * scenario/parse.c makes it from YAML by the parameter tables; every key has a default; errors have
 * file, line and column. One plan per variant: the base scenario with the variant's settings
 * applied.
 */
#ifndef SCENARIO_PLAN_H
#define SCENARIO_PLAN_H

#include <xoff/registry.h>
#include <xoff/tcp.h>

#include "net/topo.h"
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

/* `routes:` entries: {at: 0s, on: leaf0, to: h5 (or h4..h7 or all), via: [spine1]}; via [] undoes.
 */
struct plan_route {
    int64_t at;
    char on[TOPO_NAME];
    char to[XOFF_PARAM_TEXT];  /* host set */
    char via[XOFF_PARAM_TEXT]; /* neighbour names, comma separated; empty: shortest paths again */
    struct plan_place place;
};

/* `receivers:` entries: hosts that take frames from the wire slower than they come. */
struct plan_receiver {
    char host[XOFF_PARAM_TEXT]; /* host set */
    char rate[XOFF_PARAM_TEXT]; /* "1Gbps" or a schedule "10Gbps, 1ms: 1Gbps, 3ms: 10Gbps" */
    int64_t buffer_bytes;
    int64_t xoff_bytes, xon_bytes; /* XOFF_PARAM_AUTO: computed */
    struct plan_place place;
};

/* A receiver's rate as steps, the first at 0; a rate of 0 stops it. */
struct plan_rate_step {
    int64_t at;
    xoff_rate rate_bps;
};
#define PLAN_MAX_RATE_STEPS 32
/* Reads plan_receiver.rate; the parser has made sure that it succeeds. err has no place. */
int plan_rate_schedule(const char *text, struct plan_rate_step steps[PLAN_MAX_RATE_STEPS],
                       uint32_t *n_steps, struct xoff_err *err);

struct plan_traffic {
    const struct traffic_kind *kind;
    char name[TOPO_NAME]; /* `name:`; default kind#index */
    void *params;
    void *items;
    uint32_t n_items;
    struct plan_place place;
};

struct plan_switch {
    int64_t buffer_bytes;
    int64_t processing_for;
    int64_t scatters;
    const struct xoff_mmu_ops *mmu;
    void *mmu_params;
    const struct xoff_pause_ops *pause;
    void *pause_params;
    const struct xoff_sched_ops *sched;
    void *sched_params;
    const struct xoff_cp_ops *marking;
    void *marking_params;
    struct plan_place place, mmu_place, pause_place, sched_place, marking_place;
};

struct plan_port {           /* `port:` pause reception at every port, switch and host */
    int64_t response_quanta; /* XOFF_PARAM_AUTO: per-speed limit of 802.3 31B.3.7 */
    int64_t headroom_bytes;  /* XOFF_PARAM_AUTO: computed worst case */
    int64_t max_frame_bytes; /* MAC frame with FCS */
};

/* `transport:` and each of `transports:`: a reaction point on a reliability. */
struct plan_transport {
    char name[TOPO_NAME]; /* "": the scenario's own */
    const struct xoff_rp_ops *rp;
    void *rp_params;
    int64_t reliability;          /* PLAN_RELIABILITY_AUTO: what the reaction point comes with */
    char window[XOFF_PARAM_TEXT]; /* none, bdp, scaled, or bytes */
    int64_t has_common_rtt;
    struct xoff_tcp_params tcp;
    struct plan_place place;
};
enum {
    PLAN_RELIABILITY_AUTO,
    PLAN_RELIABILITY_DATAGRAM,
    PLAN_RELIABILITY_GO_BACK_N,
    PLAN_RELIABILITY_TCP
};
/* Reads plan_transport.window; bytes is set for the last. The parser has made sure it succeeds. */
enum plan_window {
    PLAN_WINDOW_NONE,
    PLAN_WINDOW_BDP,
    PLAN_WINDOW_SCALED,
    PLAN_WINDOW_BYTES,
    PLAN_WINDOW_BAD
};
#define PLAN_MAX_NAMED_TRANSPORTS 8
enum plan_window plan_window(const char *text, int64_t *bytes);

struct plan_host {        /* `host:` */
    int64_t ack_priority; /* XOFF_PARAM_AUTO: that of the data */
    int64_t cnp_priority; /* XOFF_PARAM_AUTO: that of ACKs */
    int64_t ack_every;    /* frames per ACK */
    int64_t ack_delay;    /* longest that one is held back */
    int64_t timeout_for;  /* go-back-N retransmission timeout */
};

enum {
    MEASURE_QUEUE = 1,
    MEASURE_THROUGHPUT = 2,
    MEASURE_PAUSE = 4,
    MEASURE_BUFFER = 8,
    MEASURE_POOLS = 16
};

struct plan_measure {
    int64_t every;            /* 0: no series */
    uint32_t series;          /* mask of MEASURE_ */
    char at[XOFF_PARAM_TEXT]; /* nodes or "all" */
};

/* `curves:` entries: a series of `measure` at one place, kept by name. */
struct plan_curve {
    char name[TOPO_NAME];
    int64_t of;               /* index into section_curve_words */
    char at[XOFF_PARAM_TEXT]; /* "leaf0:3", "h2", or a switch for what is of a switch */
    int64_t priority;         /* XOFF_PARAM_AUTO: all together */
    int64_t from, to;         /* to XOFF_PARAM_AUTO: stop */
    struct plan_place place;  /* of `at` */
};

struct plan_deadlock {
    int64_t after; /* frozen for so long; 0: no detection */
    int64_t stops; /* end the run when one is found */
};

struct plan_expect {
    char *text;
    struct plan_place place;
};

struct plan {
    const char *file;      /* path as given; owned by the scenario, as is text */
    const char *text;      /* the whole scenario as read, for the results */
    char *title, *variant; /* variant: "" when there are none */
    int64_t seed;
    int64_t stop;   /* sources offer nothing new from here on */
    int64_t drain;  /* the run ends when all is delivered, at most this long after stop */
    int64_t is_ns3; /* `compat: ns3` */
    struct plan_topology topology;
    struct plan_switch sw;
    struct plan_port port;
    struct plan_host host;
    struct plan_transport *transports; /* the first is the scenario's own */
    uint32_t n_transports;
    uint8_t lossless, strict;
    uint32_t weight[XOFF_N_PRIORITIES];
    struct plan_traffic *traffic;
    uint32_t n_traffic;
    struct plan_change *changes;
    uint32_t n_changes;
    struct plan_route *routes;
    uint32_t n_routes;
    int64_t reroute_after; /* XOFF_NEVER for "never" */
    struct plan_receiver *receivers;
    uint32_t n_receivers;
    struct plan_measure measure;
    struct plan_curve *curves;
    uint32_t n_curves;
    struct plan_deadlock deadlock;
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
/* The same from memory, for tests and fuzzing. */
int scenario_read_text(const char *name, const char *text, size_t size,
                       const struct plan_setting *settings, uint32_t n_settings,
                       struct scenario **out, struct xoff_err *err);
void scenario_destroy(struct scenario *scenario);
/* Keeps the variants of these names alone, in the file's order, and what is expected of them. */
int scenario_keep(struct scenario *scenario, const char *const *names, uint32_t n_names,
                  struct xoff_err *err);

/* The effective configuration as YAML that reads back to the same plan; caller frees. */
char *plan_print(const struct plan *plan);
/* JSON schema (draft 2020-12) of scenario files, from the same tables; caller frees. */
char *scenario_schema(void);

#endif
