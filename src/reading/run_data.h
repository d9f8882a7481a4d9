/* The network and the pauses of a run, as run.sqlite has them: what pages and explanations are made
 * of.
 *
 * Every table is read once, in the order of its rows on disk. The first error is kept in `rows` and
 * ends all reading; what was read until then is discarded. Memory is asserted: a run needs tens of
 * megabytes.
 */
#ifndef READING_RUN_DATA_H
#define READING_RUN_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include <xoff/err.h>
#include <xoff/time.h>

#include "reading/key_table.h"
#include "reading/rows.h"

#define ALL_PRIORITIES XOFF_N_PRIORITIES /* stands for all priorities */

/* Pools of a buffer, in the order they are stacked on the page. */
enum { RUN_RESERVED, RUN_SHARED, RUN_HEADROOM, RUN_INSURANCE, RUN_N_POOLS };

struct run_node {
    char name[48];
    bool is_host;
    uint32_t level; /* links to the nearest host; NONE: no host can be reached */
    /* The buffer that was fullest, by share of its size; size 0: the node has none. */
    char fullest_name[48];
    int64_t fullest_peak_bytes, fullest_bytes;
    int64_t buffer_bytes, pool_bytes[RUN_N_POOLS]; /* sizes, sums over the node's buffers */
    uint32_t first_port, n_ports;
};

struct run_port {
    uint32_t node, number;
    uint32_t peer_node, peer; /* node, and index here; NONE: not known */
    uint32_t peer_number;
    double rate_bps, busy, paused; /* the last two as fractions of the time with traffic; paused: of
                                      the most paused priority */
};

/* A pause decision, XOFF only, with its duration. */
struct run_pause {
    int64_t from_ps, to_ps;
    uint32_t port;          /* index of run_port; its peer is paused */
    uint32_t egress;        /* index of run_port; NONE: not known */
    uint32_t parent;        /* index here; NONE: a root */
    uint32_t cause;         /* index of run_cause: its root's egress */
    uint32_t group;         /* in the causality tree */
    int64_t occupied_bytes; /* of what crossed its threshold */
    uint8_t priorities;     /* mask */
};

/* A time span in which a (port, priority) held its peer paused. */
struct run_stop {
    uint32_t pause, line;
    int64_t from_ps, to_ps;
};

/* A (port, priority) that pauses its peer. */
struct run_line {
    uint32_t port;
    uint32_t priority; /* or ALL_PRIORITIES */
    uint32_t open;     /* index of the stop not yet ended; NONE */
    int64_t paused_ps;
};

/* The place where congestion began: an egress port, or a host that accepts no more. */
struct run_cause {
    uint32_t port; /* index of run_port; NONE: not known, or a host */
    uint32_t host; /* NONE: not a host */
};

struct run_data {
    struct rows rows;
    const struct report_limits *limits; /* of a page; others leave it NULL */
    int64_t run_id;
    int64_t end_ps;
    int64_t traffic_from_ps, traffic_to_ps; /* the time with traffic */
    int64_t measured_ps;                    /* how much of it utilisation and pauses are over */
    int64_t from_ps, to_ps;                 /* the time that charts show */
    int64_t pauses_left_out;

    struct run_node *nodes;
    uint32_t n_nodes;
    struct run_port *ports; /* by node and number */
    uint32_t n_ports;

    struct run_pause *pauses;
    uint32_t n_pauses;
    struct run_stop *stops;
    uint32_t n_stops;
    struct run_line *lines;
    uint32_t n_lines;
    struct run_cause *causes;
    uint32_t n_causes;
};

/* Read and free what several parts need. */
void run_read_network(struct run_data *run);
void run_read_pauses(struct run_data *run);
void run_data_fini(struct run_data *run);

/* "leaf0:3 (h5) p3": a port, its peer, a priority; NONE and ALL_PRIORITIES leave their part out. */
#define RUN_LABEL 160
char *run_label(const struct run_data *run, uint32_t node, uint32_t number, uint32_t priority,
                char buf[RUN_LABEL]);
const char *run_node_name(const struct run_data *run, uint32_t node); /* "?": no such node */
uint32_t run_find_port(const struct run_data *run, uint32_t node, uint32_t number);
/* Distance in links of every node from `node`, NONE where no path leads; n_nodes values. */
void run_distances(const struct run_data *run, uint32_t node, uint32_t *distances);

/* Makes room for element n of an array that grows one by one: it doubles at every power of two. */
void *run_grown(void *array, uint32_t n, size_t size);

#endif
