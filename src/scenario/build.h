/* Builds a network that can run from a plan. */
#ifndef SCENARIO_BUILD_H
#define SCENARIO_BUILD_H

#include "net/net.h"
#include "scenario/plan.h"

struct build_options {
    uint32_t n_threads;
    xoff_time cell_bound;          /* XOFF_PARAM_AUTO: chosen */
    const struct sim_ranks *ranks; /* of net_spec, as parts */
    const uint32_t *parts;
    uint32_t n_parts;
    void *progress_context;
    bool (*progress)(void *context, xoff_time now, uint64_t arrivals);
    xoff_time hold_at;           /* of net_spec */
    uint64_t memory_bytes;       /* what the run may take; 0: not looked at */
    const char *const *captures; /* NODE:PORT, or NODE of a host: ports to capture */
    uint32_t n_captures;
    uint64_t capture_limit; /* frames kept for each port; 0: NET_CAPTURE_LIMIT */
    xoff_time trace_until;  /* every frame is traced before then; 0: none is */
    bool keeps_heard;       /* pause frames are noted where they are received, too */
    int (*wire_check)(const struct packet *packet, struct xoff_err *err); /* of net_spec */
    bool wire_checks_all;
    xoff_time histogram_from, histogram_to, histogram_every; /* sampling of queues; every 0: none */
};

/* A built network with everything that it refers to; this struct owns all of it. */
struct built {
    struct topo topo;
    struct app_set apps;
    struct net_receiver *receivers;
    uint32_t n_receivers;
    uint8_t *kind_of; /* by number of the switch; NULL: all are alike */
    bool *measured;
    struct result_curve_spec *curves;
    uint32_t n_curves;
    struct net_defence *defences;
    uint32_t n_defences;
    struct net_dcbx *dcbx; /* by time */
    uint32_t n_dcbx;
    bool *passes_lldp; /* by node; NULL: none does */
    struct net_capture *captures;
    uint32_t n_captures;
    struct net_transport transports[NET_MAX_TRANSPORTS];
    uint32_t n_transports;
    struct net_spec spec;
    struct net *net;
    struct xoff_err *warnings; /* located like errors, without a code */
    uint32_t n_warnings;
};

/* Errors are located in the plan's file. Memory is estimated before the network is made: a run that
 * would take too much is refused with the figure. */
int build_create(const struct plan *plan, const struct build_options *options, struct built **out,
                 struct xoff_err *err);
void build_destroy(struct built *built);

#endif
