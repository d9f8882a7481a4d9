/* The modelled network: hosts and switches on the engine, and what a run of it needs and yields. */
#ifndef NET_NET_H
#define NET_NET_H

#include <xoff/headroom.h>
#include <xoff/registry.h>

#include "base/heap.h"
#include "net/app.h"
#include "net/fabric.h"
#include "net/port.h"
#include "net/route.h"
#include "stats/results.h"

#define NET_HEADER_BYTES 62     /* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 */
#define NET_TCP_HEADER_BYTES 70 /* Ethernet 14, IPv4 20, TCP 20, timestamps 12, FCS 4 */
#define NET_MAX_FRAME_BYTES 16000
#define NET_MAX_TRANSPORTS 16  /* frames name theirs in 4 bits */
#define NET_MAX_FLOW_BYTES 512 /* of an active flow at its sender, SACK ranges apart */

struct net;

/* Service of a slow receiver from a time on. */
struct net_service {
    xoff_time at;
    xoff_rate rate_bps; /* 0: stands still */
};

struct net_receiver {
    uint32_t host;
    int64_t buffer_bytes, xoff_bytes, xon_bytes; /* XOFF_PARAM_AUTO: computed */
    const struct net_service *services;          /* sorted, the first at 0 */
    uint32_t n_services;
};

/* A cap on what a flow may have outstanding, beside what its reaction point says. */
enum net_window { NET_WINDOW_NONE, NET_WINDOW_BDP, NET_WINDOW_SCALED, NET_WINDOW_BYTES };

/* How flows are carried: a reaction point on a reliability, told by a notification point. */
struct net_transport {
    const struct xoff_rp_ops *rp;
    const struct xoff_rel_ops *rel;
    const struct xoff_np_ops *np;
    const void *rp_params, *rel_params, *np_params;
    enum net_window window; /* BDP: line rate times RTT; SCALED: that by rate over line rate */
    int64_t window_bytes;   /* NET_WINDOW_BYTES */
    int64_t has_common_rtt; /* base RTT of every flow is the largest of the network */
};

/* Of a data frame of that transport. */
uint32_t net_header_bytes(const struct net_wire *wire, const struct net_transport *transport);

/* A port whose frames are noted down. */
struct net_capture {
    uint32_t node, port;
};
#define NET_CAPTURE_LIMIT 1000000 /* frames of a port, unless told: 64 MB */

enum { NET_QUEUE = 1, NET_THROUGHPUT = 2, NET_PAUSE = 4, NET_BUFFER = 8, NET_POOLS = 16 };

/* What a switch is made of. */
struct net_switch {
    const struct fabric_ops *fabric; /* NULL: the default */
    const void *fabric_params;
    int64_t buffer_bytes;
    xoff_time processing_for;
    const struct xoff_mmu_ops *mmu;
    const struct xoff_pause_ops *pause;
    const struct xoff_sched_ops *sched;
    const struct xoff_cp_ops *marking;
    const struct xoff_path_ops *path; /* NULL: the default */
    const void *mmu_params, *pause_params, *sched_params, *marking_params, *path_params;
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
    const uint8_t *kind_of;  /* by node - n_hosts; NULL: all are of the first kind */
    int64_t notice_priority; /* of notifications; XOFF_PARAM_AUTO: that of the frame */
    uint32_t notice_bytes;   /* of their frames; 0: XOFF_MIN_FRAME_BYTES */
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
    const struct net_receiver *receivers;
    uint32_t n_receivers;
    const struct app_set *apps;
    /* Measuring. */
    xoff_time measure_every; /* 0: no series */
    uint32_t measure;        /* mask of NET_QUEUE, ... */
    const bool *measured;    /* per node; NULL: all */
    /* Handed on to the results. */
    const struct result_curve_spec *curves;
    uint32_t n_curves;
    const struct net_capture *captures;
    uint32_t n_captures;
    uint64_t capture_limit; /* frames kept of each; 0: NET_CAPTURE_LIMIT */
    bool keeps_heard;       /* note pause frames where they are received, too */
    xoff_time histogram_from, histogram_to, histogram_every; /* of queues; every 0: none */
    xoff_time deadlock_after; /* frozen for so long; 0: no detection */
    int64_t deadlock_stops;   /* a deadlock ends the run */
    /* Running. */
    uint32_t n_threads;
    xoff_time cell_bound; /* XOFF_PARAM_AUTO: chosen */
    void *progress_context;
    bool (*progress)(void *context, xoff_time now,
                     uint64_t arrivals); /* false: stop at this window */
};

static inline xoff_time net_end(const struct net_spec *spec)
{
    return xoff_time_after(spec->stop, spec->drain);
}

/* The kind of a switch, as an index. A host is served as the switch it is attached to serves its
 * own ports; one that is attached to a host goes by the first kind. */
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

/* Which part of the scenario an error or a warning is about. */
struct net_blame {
    enum net_part part;
    uint32_t index; /* of the transport, or of the switch's kind */
};

int net_create(const struct net_spec *spec, struct net **out, struct net_blame *blame,
               struct xoff_err *err);
void net_destroy(struct net *net);

/* Something that was accepted and may not be meant. What several nodes say alike is one. */
struct net_warning {
    enum net_part part;
    uint32_t first_node, last_node, n_nodes;
    struct xoff_err err; /* subject, value and message; no place */
};
const struct net_warning *net_warnings(const struct net *net, uint32_t *n);

/* Runs to the end. Returns false when progress() asked to stop. */
bool net_run(struct net *net);

/* Collects what happened; the caller sets title, files and wall time. net_free_results frees it. */
struct results *net_collect(struct net *net);
void net_free_results(struct results *results);

/* Bytes of memory the network takes, before it is built. */
uint64_t net_estimate(const struct net_spec *spec);

/* Headroom of a lossless ingress queue behind a link, with all rates and delays of its life. */
int64_t net_headroom(const struct net_spec *spec, uint32_t link);

/* What a switch has set aside for it, or for all lossless queues of the port together; 0: none. */
int64_t net_headroom_limit(const struct net *net, uint32_t node, uint32_t port);

#endif
