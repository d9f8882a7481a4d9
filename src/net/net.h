/* The modelled network: hosts and switches on the engine, and what a run of it needs and yields. */
#ifndef NET_NET_H
#define NET_NET_H

#include <xoff/headroom.h>
#include <xoff/registry.h>

#include "base/heap.h"
#include "net/app.h"
#include "net/port.h"
#include "net/route.h"
#include "stats/results.h"

#define NET_HEADER_BYTES 62 /* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 */
#define NET_ACK_BYTES XOFF_MIN_FRAME_BYTES
#define NET_MAX_FRAME_BYTES 16000
#define NET_NO_SLOT UINT32_MAX

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

enum { NET_QUEUE = 1, NET_THROUGHPUT = 2, NET_PAUSE = 4, NET_BUFFER = 8 };

struct net_spec {
    const struct topo *topo;
    uint64_t seed;
    xoff_time stop, end;
    uint8_t lossless, strict;
    uint32_t weight[XOFF_N_PRIORITIES];
    /* Switches. */
    int64_t buffer_bytes;
    xoff_time processing_for;
    const struct xoff_mmu_ops *mmu;
    const struct xoff_pause_ops *pause;
    const struct xoff_sched_ops *sched;
    const struct xoff_cp_ops *marking;
    const void *mmu_params, *pause_params, *sched_params, *marking_params;
    /* Ports; XOFF_PARAM_AUTO: computed. */
    int64_t response_quanta, headroom_bytes;
    uint32_t max_frame_bytes;
    /* Hosts. */
    int64_t ack_priority; /* XOFF_PARAM_AUTO: that of the data */
    uint32_t ack_every;
    xoff_time timeout_for;
    const struct net_receiver *receivers;
    uint32_t n_receivers;
    const struct app_set *apps;
    /* Measuring. */
    xoff_time measure_every;  /* 0: no series */
    uint32_t measure;         /* mask of NET_QUEUE, ... */
    const bool *measured;     /* per node; NULL: all */
    xoff_time deadlock_after; /* 0: no detection */
    bool deadlock_stops;
    /* Running. */
    uint32_t n_threads;
    xoff_time cell_bound; /* XOFF_PARAM_AUTO: chosen */
    void *progress_context;
    bool (*progress)(void *context, xoff_time now,
                     uint64_t arrivals); /* false: stop at this window */
};

/* Which part of the scenario an error of net_create() is about. */
enum net_part {
    NET_PART_NET,
    NET_PART_MMU,
    NET_PART_PAUSE,
    NET_PART_SCHED,
    NET_PART_MARKING,
    NET_PART_RECEIVERS
};

int net_create(const struct net_spec *spec, struct net **out, enum net_part *part,
               struct xoff_err *err);
void net_destroy(struct net *net);

/* Runs to the end. Returns false when progress() asked to stop. */
bool net_run(struct net *net);

/* Collects what happened; the caller sets title, files and wall time. net_free_results frees it. */
struct results *net_collect(struct net *net);
void net_free_results(struct results *results);

/* Bytes of memory the network takes, before it is built. */
uint64_t net_estimate(const struct net_spec *spec);

/* Headroom of a lossless ingress queue behind a link, with all rates and delays of its life. */
int64_t net_headroom(const struct net_spec *spec, uint32_t link);

#endif
