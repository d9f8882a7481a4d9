/* The modelled network: hosts and switches on the engine, with the input and the results of a run.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <xoff/dcbx.h>
#include <xoff/headroom.h>
#include <xoff/registry.h>

#include "base/heap.h"
#include "net/app.h"
#include "net/fabric.h"
#include "net/port.h"
#include "net/route.h"
#include "sim/sim_ranks.h"
#include "stats/results.h"

#define NET_HEADER_BYTES 62     /* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 */
#define NET_TCP_HEADER_BYTES 70 /* Ethernet 14, IPv4 20, TCP 20, timestamps 12, FCS 4 */
#define NET_MAX_FRAME_BYTES 16000
#define NET_MAX_TRANSPORTS 16  /* frames hold the transport's index in 4 bits */
#define NET_MAX_FLOW_BYTES 512 /* limit for an active flow at its sender, without SACK ranges */

struct net;

/* Service rate of a slow receiver from a time on. */
struct net_service {
    xoff_time at;
    xoff_rate rate_bps; /* 0: the receiver stands still */
};

/* Who takes frames out of a receive queue: the host, or a virtual machine on it. */
struct net_server {
    const struct net_service *services; /* sorted, the first at 0 */
    uint32_t n_services;
};

#define NET_NOBODY 0xffu /* in frames: of a traffic entry that no byte can name */

struct net_receiver {
    uint32_t host;
    int64_t buffer_bytes, xoff_bytes, xon_bytes; /* XOFF_PARAM_AUTO: computed */
    const struct net_server *servers;            /* the first serves whatever no other does */
    uint32_t n_servers;
    const uint8_t *server_of;          /* data frames, by their traffic entry as in their word */
    const struct xoff_cp_ops *marking; /* congestion point of the receive queue; NULL: none */
    const void *marking_params;
    uint32_t entry; /* of the scenario's list, for messages */
};

/* A cap on the bytes that a flow may have outstanding, beside the reaction point's window. */
enum net_window { NET_WINDOW_NONE, NET_WINDOW_BDP, NET_WINDOW_SCALED, NET_WINDOW_BYTES };

/* A transport carries flows: a reaction point on a reliability, informed by a notification point.
 */
struct net_transport {
    const struct xoff_rp_ops *rp;
    const struct xoff_rel_ops *rel;
    const struct xoff_np_ops *np;
    const void *rp_params, *rel_params, *np_params;
    enum net_window window; /* BDP: line rate times RTT; SCALED: BDP times rate / line rate */
    int64_t window_bytes;   /* used with NET_WINDOW_BYTES */
    int64_t has_common_rtt; /* base RTT of every flow is the largest of the network */
};

/* Header bytes of a data frame of that transport. */
uint32_t net_header_bytes(const struct net_wire *wire, const struct net_transport *transport);

struct packet;

/* What a port of a switch does at the edge of a congestion notification domain (domain.c). */
enum net_defence_mode {
    NET_DEFENCE_DISABLED,
    NET_DEFENCE_INTERIOR,
    NET_DEFENCE_INTERIOR_READY,
    NET_DEFENCE_EDGE
};
struct net_defence {
    uint32_t node, port;
    uint8_t priority, mode, alternate; /* mode: enum net_defence_mode */
};

/* A port that speaks DCBX, from a time on. The first entry of a port is from 0. */
struct net_dcbx {
    uint32_t node, port;
    xoff_time from;
    enum xoff_dcbx_tie tie;
    enum xoff_dcbx_version version;
    bool follows_last;
    bool is_enabled;        /* LLDP is on */
    bool pushes;            /* what it agrees on is administered to the other ports of its node */
    uint8_t needs_lossless; /* priorities that are not sent without PFC */
    struct xoff_dcbx_admin admin;
    uint32_t entry; /* of the scenario's list, for messages */
};

/* A port whose frames are noted down. */
struct net_capture {
    uint32_t node, port;
};
#define NET_CAPTURE_LIMIT 1000000 /* frames of a port by default: 64 MB */

enum {
    NET_QUEUE = 1,
    NET_THROUGHPUT = 2,
    NET_PAUSE = 4,
    NET_BUFFER = 8,
    NET_POOLS = 16,
    NET_INPUT = 32,
    NET_POINT = 64
};

/* The queues of a switch that have congestion points. */
enum net_points { NET_POINTS_OUTPUT, NET_POINTS_INPUT };

/* The mechanisms and sizes of one kind of switch. */
struct net_switch {
    const struct fabric_ops *fabric; /* NULL: the default */
    const void *fabric_params;
    int64_t buffer_bytes;
    xoff_time processing_for;
    int64_t points_at;       /* where congestion points are: enum net_points */
    int64_t notice_priority; /* of notifications; XOFF_PARAM_AUTO: that of the frame */
    const struct xoff_mmu_ops *mmu;
    const struct xoff_pause_ops *pause;
    const struct xoff_sched_ops *sched;
    const struct xoff_cp_ops *marking;
    const struct xoff_path_ops *path; /* NULL: the default */
    const struct xoff_arb_ops *arb;   /* read by fabrics that arbitrate; NULL: the default */
    const void *mmu_params, *pause_params, *sched_params, *marking_params, *path_params;
    const void *arb_params;
};

/* A network and its run. Parameter tables of scenario files fill it in directly: their whole
 * numbers are int64_t. */
struct net_spec {
    const struct topo *topo;
    uint64_t seed;
    xoff_time stop;  /* sources offer nothing new from here on */
    xoff_time drain; /* the run ends when all is delivered, at most this long after stop */
    uint8_t lossless, strict;
    uint32_t weight[XOFF_N_PRIORITIES];
    /* Switches. */
    const struct net_switch *kinds;
    uint32_t n_kinds;
    const uint8_t *kind_of; /* by node - n_hosts; NULL: all are of the first kind */
    uint32_t notice_bytes;  /* size of a notification's frame; 0: XOFF_MIN_FRAME_BYTES */
    const struct net_wire *wire;
    /* Ports; XOFF_PARAM_AUTO: computed. */
    int64_t response_quanta, headroom_bytes;
    uint32_t max_frame_bytes;
    /* Hosts. */
    const struct net_transport *transports;
    uint32_t n_transports;
    int64_t ack_priority; /* XOFF_PARAM_AUTO: that of the data */
    int64_t cnp_priority; /* XOFF_PARAM_AUTO: that of ACKs */
    int64_t ack_every;    /* data frames per ACK */
    xoff_time ack_delay;  /* longest time that an ACK is held back */
    xoff_time timeout_for;
    int64_t shared_bps; /* of a host's sending and receiving together; 0 and XOFF_PARAM_AUTO: no
                           limit */
    const struct net_receiver *receivers;
    uint32_t n_receivers;
    const struct net_defence *defences; /* of ports of switches; the others are interior-ready */
    uint32_t n_defences;
    const struct net_dcbx *dcbx; /* by time */
    uint32_t n_dcbx;
    struct xoff_lldp_tx_cfg lldp;
    const bool *passes_lldp; /* per node: a switch that forwards LLDP frames; NULL: none does */
    const struct app_set *apps;
    /* Measuring. */
    xoff_time measure_every;            /* 0: no series */
    uint32_t measure;                   /* mask of NET_QUEUE, ... */
    const bool *measured;               /* per node; NULL: all */
    xoff_time measure_from, measure_to; /* 0: while traffic is offered */
    /* These curves are handed on to the results. */
    const struct result_curve_spec *curves;
    uint32_t n_curves;
    int64_t summarises; /* finished flows are summarised, not kept */
    const struct net_capture *captures;
    uint32_t n_captures;
    uint64_t capture_limit; /* frames kept for each port; 0: NET_CAPTURE_LIMIT */
    xoff_time trace_until;  /* what every frame meets is noted down before then; 0: no trace */
    bool keeps_heard;       /* pause frames are noted where they are received, too */
    /* Control frames pass this at every hop; NULL: they do not (wire_check.c). */
    int (*wire_check)(const struct packet *packet, struct xoff_err *err);
    bool wire_checks_all;                                    /* ACKs, NACKs and tags of data, too */
    xoff_time histogram_from, histogram_to, histogram_every; /* sampling of queues; every 0: none */
    int64_t max_hops; /* switches that a frame may come to; 0 and XOFF_PARAM_AUTO: no limit */
    xoff_time deadlock_after; /* a cycle frozen for so long is a deadlock; 0: no detection */
    int64_t deadlock_stops;   /* a deadlock ends the run */
    /* Running. */
    const struct sim_ranks *ranks; /* this process runs a part of the network; NULL: all of it */
    const uint32_t *parts;         /* with ranks, per node: the rank that runs it; NULL: chosen */
    uint32_t n_parts;
    uint32_t n_threads;
    xoff_time cell_bound; /* XOFF_PARAM_AUTO: chosen */
    void *progress_context;
    bool (*progress)(void *context, xoff_time now,
                     uint64_t arrivals); /* returns false to stop at this window */
    xoff_time hold_at; /* progress() is called with exactly this time, if the run gets there; 0: it
                          need not be */
};

static inline xoff_time net_end(const struct net_spec *spec)
{
    return xoff_time_after(spec->stop, spec->drain);
}

/* Returns the kind of a switch, as an index. A host goes by the kind of the switch it is attached
 * to; a host that is attached to a host goes by the first kind. */
static inline uint32_t net_kind_of(const struct net_spec *spec, uint32_t node)
{
    const uint32_t n_hosts = spec->topo->n_hosts;
    if (node < n_hosts)
        node = topo_peer(spec->topo, node, 0);
    return spec->kind_of && node >= n_hosts ? spec->kind_of[node - n_hosts] : 0;
}

static inline const struct net_switch *net_switch_of(const struct net_spec *spec, uint32_t node)
{
    return &spec->kinds[net_kind_of(spec, node)];
}

/* The part of the scenario that an error or a warning is about. */
struct net_blame {
    enum net_part part;
    uint32_t index; /* index of the transport, of the receiver's entry, or of the switch's kind */
};

int net_create(const struct net_spec *spec, struct net **out, struct net_blame *blame,
               struct xoff_err *err);
void net_destroy(struct net *net);

/* Accepted but probably unintended. Identical warnings of several nodes are merged. */
struct net_warning {
    struct net_blame blame;
    uint32_t first_node, last_node, n_nodes;
    uint32_t first_item; /* of a step of building: which of them gave it first */
    struct xoff_err err; /* subject, value and message, without a place in the file */
};
const struct net_warning *net_warnings(const struct net *net, uint32_t *n);

/* What spec.wire_check has found so far. */
struct net_wire_result {
    uint64_t n_frames;
    bool has_failed; /* a frame did not come back as it was; the first of them: */
    uint8_t kind;    /* enum frame_kind */
    uint32_t node, port;
    xoff_time at;
    struct xoff_err err; /* which field */
};
struct net_wire_result net_wire_result(const struct net *net);

/* Saves the state of a run while progress() is called or after net_run(), or loads it into a
 * network that was created alike and has not run (net_image.c). Number of threads and cells may
 * differ. On a misfit image->misfit says where; the network is then only good for net_destroy(). */
void net_image(struct net *net, struct image *image);
/* Per node, the rank that runs it; NULL: this process runs all. */
const uint32_t *net_parts(const struct net *net, uint32_t *n);

/* Runs to the end, from where its image was made if one was loaded. Returns false when progress()
 * or the wire check asked to stop. */
bool net_run(struct net *net);

/* Collects the results; the caller sets title, files and wall time. net_free_results frees them. Of
 * several ranks the first has them; the others return NULL. */
struct results *net_collect(struct net *net);
void net_free_results(struct results *results);

/* Estimates the bytes of memory that the network will take, before it is built. */
uint64_t net_estimate(const struct net_spec *spec);

/* Returns the bytes of what nodes of this process have noted so far about flows, pauses, drops,
 * samples and frames. */
uint64_t net_noted_bytes(const struct net *net);

/* Returns the bytes that a flow takes after its end: notes, and a record among the results. */
uint64_t net_flow_bytes(void);

/* Returns the headroom of a lossless ingress queue behind a link, over all its rates and delays. */
int64_t net_headroom(const struct net_spec *spec, uint32_t link);

/* Returns the headroom that a switch has set aside for the queue, or for all lossless queues of the
 * port together; 0: none. */
int64_t net_headroom_limit(const struct net *net, uint32_t node, uint32_t port);

#endif
