/* What each node has to say at the end of a run, as plain arrays: filled at the node's own rank,
 * sent to the first one, and made into results there (collect.c). One process does the same without
 * sending. */
#ifndef NET_HARVEST_H
#define NET_HARVEST_H

#include "net/model.h"

/* What the audit and the causes of pauses want of a port beside its results. */
struct harvest_port {
    uint64_t lapsed_tx[XOFF_N_PRIORITIES];
    uint64_t in_flight_bytes; /* on their way to the port */
    xoff_time heard_for;      /* from a decision of the peer to its effect here */
    uint64_t resumes;         /* whether its pauses end with resumes */
};

/* A message that is being received. */
struct harvest_rx {
    uint32_t from, number;
    uint64_t delivered, marked;
};

/* The arrays of a node: their names and the type of an entry. */
#define HARVEST_MAP(X)                                                                       \
    X(PORTS, struct result_port)                                                             \
    X(BOOKS, struct harvest_port)                                                            \
    X(BUFFERS, struct result_buffer)                                                         \
    X(FLOWS, struct flow_note)                                                               \
    X(ENDLESS, struct mark_flow) /* flows without an end: the bytes they have sent */        \
    X(RX_OPEN, struct harvest_rx)                                                            \
    X(RX_NOTES, struct rx_note)                                                              \
    X(OPERATIONS, struct result_operation)                                                   \
    X(RUNNING, struct result_running)                                                        \
    X(HEARD, struct result_heard)                                                            \
    X(PAUSES, struct pause_note)                                                             \
    X(DROPS, struct drop_note)                                                               \
    X(SAMPLES, struct result_sample)                                                         \
    X(BINS, uint64_t)   /* histograms: the number of bins of each port, then their counts */ \
    X(MAXIMA, uint64_t) /* of headroom: RESULT_MAXIMA of them, or none */                    \
    X(FINDINGS, struct result_finding)                                                       \
    X(STUCK, struct result_finding) /* of flows that stand still in a network at rest */

enum {
#define X(id, type) HARVEST_##id,
    HARVEST_MAP(X)
#undef X
        N_HARVEST
};

struct harvest {
    struct result_node node;
    bool is_cut_off; /* a host whose only link has failed for good */
    uint64_t pauses_left_out;
    uint64_t n_pause_counters;
    struct result_dcbx dcbx;
    struct {
        void *at;
        uint64_t n;
    } arrays[N_HARVEST];
};

/* All nodes, by their numbers, and the memory that their arrays lie in. */
struct harvests {
    struct harvest *nodes;
    void **blocks;
    uint32_t n_blocks;
    uint64_t n_events;
};

/* Harvests the nodes of this process. Entries of all ports go to `ports`, by the number of the
 * port; NULL: they are allocated with the rest. */
void harvest_create(struct net *net, struct result_port *ports, struct harvests *all);
/* Sends the nodes of other ranks to the first one, and the marks of flows, too. */
void harvest_gather(struct net *net, struct harvests *all);
void harvest_fini(struct harvests *all);

/* The arrays of one node, with their types. */
static inline const struct flow_note *harvest_flows(const struct harvest *h, uint64_t *n)
{
    *n = h->arrays[HARVEST_FLOWS].n;
    return h->arrays[HARVEST_FLOWS].at;
}

/* The place of a flow among all, where those of host h begin at first[h]; HARVEST_NO_FLOW: it was
 * summarised. */
#define HARVEST_NO_FLOW UINT64_MAX
uint64_t harvest_place(const struct harvests *all, const uint64_t *first, uint32_t from,
                       uint32_t number);

/* audit.c: checks one node, and adds what it finds to scratch results; sets h->node.held_bytes.
 * audit_flows() is of a host in a network at rest. */
void audit_node(struct net *net, uint32_t node, struct harvest *h, struct results *scratch);
void audit_flows(struct net *net, const struct host *host, struct results *scratch);
/* Checks all nodes together, and adds what was found of each. */
void audit(const struct net *net, const struct harvests *all, struct results *results);

/* histogram.c, net_dcbx_collect.c */
void histogram_harvest(struct sw *sw, uint64_t **bins, uint64_t *n);
void dcbx_harvest(const struct net *net, uint32_t node, struct result_dcbx *sum);

#endif
