/* The network as the files of net/ share it: its hosts, its switches, and how to find a node. */
#ifndef NET_MODEL_H
#define NET_MODEL_H

#include "net/host.h"
#include "net/switch.h"

/* Counters at an instant (marks.c): the ends of the measured time, and before its last half and
 * tenth. */
enum { MARK_FROM, MARK_HALF, MARK_TENTH, MARK_TO, N_MARKS };
struct mark_flow {
    uint32_t from, number;
    uint64_t bytes;
};
struct mark {
    xoff_time at;
    bool is_taken;
    struct mark_flow *received, *offered; /* of flows that were open; offered: MARK_TENTH only */
    uint64_t n_received, n_offered;
    xoff_time *busy_for, *paused_for; /* per port, per (port, priority); at the ends only */
};

/* What neighbours and checks want to know of a switch, whichever rank runs it. */
struct sw_facts {
    struct xoff_pause_signalling signalling;
    int64_t largest_bytes; /* capacity of its largest buffer */
};

/* A transport reads telemetry that a switch does not write as it should: what is wrong. */
struct unstamped {
    uint32_t transport, node;
    struct xoff_err err;
};

/* The item of a step of building that is being built, and the first warning of the step. The items
 * of a step are divided among ranks (agree_build.c). */
struct build_step {
    uint32_t item, first_warning;
};

struct net {
    struct net_spec spec;
    const struct topo *topo;
    struct sim *sim;
    struct sim_node *handlers;      /* by node */
    struct sim_node *calm_handlers; /* by node, of switches; for calm windows (calm.c) */
    xoff_time calm_for;             /* longest calm window; 0: there are none */
    struct net_sequence *sequence;  /* NULL: not wanted */
    struct routes *routes;
    struct host *hosts;
    void *hosts_block;            /* that they lie in */
    struct sw **switches;         /* by node - n_hosts: net_sw(); NULL: another rank runs it */
    struct sw_facts *facts;       /* in the same order, of all switches */
    uint32_t *part_of;            /* by node: the rank that runs it; NULL: this process runs all */
    struct app *apps;             /* grouped by host */
    struct transport *transports; /* a row for each rate that hosts have */
    xoff_rate *rates;             /* rate of each row */
    uint32_t n_rates;
    xoff_time max_rtt[NET_MAX_TRANSPORTS]; /* largest base RTT; 0 where no transport needs it */
    xoff_rate *fastest_bps;                /* by switch, of its ports: for transit() of fabrics */
    uint32_t max_switches; /* most switches on a path; 0 where no transport needs it */
    bool has_extra;        /* frames have a second line ... */
    bool has_stamps;       /* ... with telemetry on data; else with a tag */
    bool has_sacks;        /* ACKs that name ranges have one, whether or not others do */
    uint32_t n_hosts, n_switches;
    uint32_t payload_max; /* payload of a full frame */
    /* Indices of the next change and the next route statement. */
    uint32_t next_change, next_route;
    xoff_time sample_at, deadlock_at, reroute_at, hold_at;
    uint32_t n_link_changes; /* so far */
    xoff_time routed_at;     /* the time of `routes` */
    struct mark marks[N_MARKS];
    struct fold *fold; /* summarises finished flows; NULL: they are kept */
    uint32_t next_mark;
    bool stopped;              /* progress() asked for it */
    bool is_at_rest;           /* the run ended because nothing was pending */
    bool wire_has_failed;      /* the wire check of some node; written by any thread */
    struct wire_check *checks; /* per node; NULL: frames are not checked */
    struct result_deadlock *deadlocks;
    uint32_t n_deadlocks;
    struct result_deadlock_port *deadlock_ports;
    uint32_t n_deadlock_ports;
    uint8_t *deadlock_marks;     /* per (port, priority), of the last check */
    struct unstamped *unstamped; /* the first found for the first transport; NULL: all is well */
    struct build_step step;
    struct net_warning *warnings;
    uint32_t n_warnings;
    struct edition **far_editions; /* by port, of nodes of other ranks; NULL: there is no DCBX */
    xoff_time end_at;
};

/* Cache lines of a frame: its own, and the second one in a run where any frame needs it. */
static inline uint32_t net_frame_lines(const struct net *net)
{
    return net->has_extra || net->has_sacks ? 2 : 1;
}

/* Whether this process runs the node. Hosts of other ranks are zeroed, switches are not there. */
static inline bool net_owns(const struct net *net, uint32_t node)
{
    return !net->part_of || net->part_of[node] == net->spec.ranks->rank;
}

static inline struct sw *net_sw(const struct net *net, uint32_t node)
{
    return net->switches[node - net->n_hosts];
}

static inline struct port *net_port(const struct net *net, uint32_t node, uint32_t port)
{
    return node < net->n_hosts ? &net->hosts[node].port : &net_sw(net, node)->ports[port];
}

static inline struct node *net_node(const struct net *net, uint32_t node)
{
    return node < net->n_hosts ? &net->hosts[node].head : &net_sw(net, node)->head;
}

static inline struct notes *net_notes(const struct net *net, uint32_t node)
{
    return &net_node(net, node)->notes;
}

/* Called with the answer `code` of a configure(): keeps its warning, if there is one, and clears
 * err for the next call (warning_build.c). Returns `code`. */
int net_configured(struct net *net, enum net_part part, uint32_t node, int code,
                   struct xoff_err *err);
/* The same for a part of a transport at all hosts with links of that rate. */
int net_configured_transport(struct net *net, uint32_t transport, xoff_rate rate_bps, int code,
                             struct xoff_err *err);
/* What has to hold the frames that arrive until a pause acts: one buffer, a buffer like `mmu` for
 * each port, egress queues of env->egress_bytes, which a two-sided `mmu` has the limits of and
 * which drop what is too much or stop it, or the one queue of a slow receiver. */
enum net_trial {
    TRIAL_ONE_BUFFER,
    TRIAL_BY_PORT,
    TRIAL_EGRESS_QUEUES,
    TRIAL_STOPPING_QUEUES,
    TRIAL_RECEIVER
};

/* Warns when a buffer and its pause policy do not go together (trial_build.c). The headroom of
 * env->ports is what arrives from each after the decision. */
void net_try_buffer(struct net *net, uint32_t node, const struct xoff_mmu *mmu, enum net_trial kind,
                    const struct xoff_pause *pause, const struct xoff_edges *edges,
                    const struct xoff_mmu_env *env, struct xoff_err *err);

/* Warns when ingress queues of a two-sided buffer can leave no room for a frame in an empty egress
 * queue, for which a pipeline that stops would wait for ever. */
void net_try_stop(struct net *net, uint32_t node, const struct xoff_mmu *mmu,
                  const struct xoff_mmu_env *env, struct xoff_err *err);

/* Warns of switches that pause nobody although there are lossless priorities, and of pauses that
 * run out before the buffers can be empty (warning_build.c). */
void net_warn_of_pauses(struct net *net, struct xoff_err *err);

/* Returns the least time of a frame in an idle switch, and how long its fabric carries it. */
xoff_time path_transit(const struct net *net, uint32_t node, uint32_t bytes,
                       xoff_time *carries_for);
/* Returns the base RTT of a flow: a full frame there and its ACK back through an idle network. */
xoff_time path_rtt(const struct net *net, uint32_t from, uint32_t to, uint32_t hash,
                   uint32_t frame_bytes, uint32_t ack_bytes);
/* Of a full frame and its ACK, the bytes that count for it. */
static inline uint32_t path_bytes(const struct net *net, const struct transport *t,
                                  uint32_t frame_bytes)
{
    return net->spec.wire->rtt_counts_payload ? frame_bytes - t->header_bytes : frame_bytes;
}
static inline uint32_t path_ack_bytes(const struct net *net, const struct transport *t)
{
    return net->spec.wire->rtt_counts_payload ? 0 : t->ack_bytes;
}
xoff_time path_max_rtt(const struct net *net, uint32_t frame_bytes, uint32_t ack_bytes,
                       uint32_t *max_switches);

/* net.c: called by the engine. The second makes routes anew, as they are at that time. */
void net_start(struct net *net, struct sim_model *model);
void net_reroute(struct net *net, xoff_time now);

/* net_dcbx_collect.c: the octets of LLDP frames, for captures. */
void dcbx_collect(const struct net *net, struct results *results);

/* capture.c: the second reads a frame as it is, without its packet number; the third what its
 * second line has, if frames have one, into a struct of zeros. */
void capture_collect(struct net *net, struct results *results);

struct harvests;

/* marks.c; `first` is the index of each host's first flow in the results. */
void marks_init(struct net *net);
xoff_time marks_next(const struct net *net);
void marks_take(struct net *net, xoff_time now);
void marks_free(struct net *net);
/* What a finished flow had received by the mark. Once taken, the mark must be sorted, as it is
 * where flows are summarised. */
uint64_t marks_received(const struct mark *mark, const struct result_flow *flow);
void marks_collect_flows(const struct net *net, const struct harvests *all, const uint64_t *first,
                         struct results *r);
void marks_collect_port(const struct net *net, uint32_t index, struct result_port *port);
void capture_read(const struct net *net, const struct frame *frame, struct result_frame *out);
void capture_read_extra(const struct net *net, const struct frame *frame,
                        struct result_frame_extra *out);

/* wire_check.c */
void wire_check_frame(struct wire_check *check, uint32_t port, const struct frame *frame,
                      xoff_time now);

/* trace.c */
void trace_collect(struct net *net, struct results *results);

/* deadlock.c */
void deadlock_check(struct net *net, xoff_time now);

#endif
