/* Makes a run's part of the page from run.sqlite. Only report/ includes this.
 *
 * Every part reads its tables once, in the order of the rows on disk, reduces them to what the
 * limits allow, and returns JSON (docs/report.md). The first error is kept in `rows` and ends all
 * reading; parts then return what they have, which is discarded. Memory is asserted: a page needs
 * tens of megabytes.
 */
#ifndef REPORT_RUN_DATA_H
#define REPORT_RUN_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#include <xoff/err.h>
#include <xoff/time.h>

#include "report/key_table.h"

#define NONE UINT32_MAX
#define ALL_PRIORITIES XOFF_N_PRIORITIES /* stands for all priorities */

/* Rows of a query, and the first failure. After a failure there are no more rows. */
struct rows {
    sqlite3 *db;
    sqlite3_stmt *statement;
    const char *path;
    struct xoff_err *err;
    int status;
};
/* `sql` has one parameter, the run's id. */
void rows_begin(struct rows *rows, const char *sql, int64_t run_id);
bool rows_next(struct rows *rows);
bool rows_is_null(struct rows *rows, int column);
int64_t rows_int(struct rows *rows, int column);
/* Returns NONE when there is no such index. */
uint32_t rows_index(struct rows *rows, int column);
double rows_real(struct rows *rows, int column);
/* Never NULL; valid until the next row. */
const char *rows_text(struct rows *rows, int column);
/* Sets the reason why a file cannot be used. */
int rows_fail(struct rows *rows, const char *reason);

/* JSON of a value; null when it is unknown or not finite. In text, broken characters are replaced,
 * and what exceeds `limit` bytes (0: no limit) is cut with a note. */
json_t *json_number(double value);
json_t *json_rounded(double value, int digits); /* significant digits */
json_t *json_seconds(int64_t ps);
json_t *json_words(const char *text, size_t limit);
json_t *rows_json_number(struct rows *rows, int column);
json_t *rows_json_seconds(struct rows *rows, int column);
json_t *rows_json_text(struct rows *rows, int column, size_t limit);
/* Makes points [value, fraction of values up to it] of ascending values. At most `most` points (at
 * least 2) are taken: first, last, even ranks, and closer ones towards the end. */
json_t *json_cdf(const double *sorted, uint64_t n, uint32_t most);

/* Limits on what the page shows of a run. */
struct report_limits {
    uint32_t points;  /* points of all series together */
    uint32_t series;  /* series per metric */
    uint32_t buckets; /* points of one series */
    uint32_t cdf;     /* points of one curve */
    uint32_t entries; /* traffic entries with curves of their own */
    uint32_t heat_rows, heat_columns;
    uint32_t tree; /* nodes of the causality tree */
    uint32_t victims;
    uint32_t nodes, links; /* of the topology */
    uint32_t drops, findings, deadlocks, watermarks, metrics;
    size_t text; /* bytes of a scenario or configuration */
};
/* Limits for one of n_runs runs; `level` is 1, or more after a page came out too large. */
struct report_limits report_limits(uint32_t n_runs, uint32_t level);

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
    uint32_t port;      /* index of run_port; its peer is paused */
    uint32_t egress;    /* index of run_port; NONE: not known */
    uint32_t parent;    /* index here; NONE: a root */
    uint32_t cause;     /* index of run_cause: its root's egress */
    uint32_t group;     /* in the causality tree */
    uint8_t priorities; /* mask */
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
    struct report_limits limits;
    int64_t run_id;
    int64_t end_ps;
    int64_t traffic_from_ps, traffic_to_ps; /* the time with traffic */
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

/* Victims: flows that waited for pauses whose cause was not on their path. */
struct run_victims;
struct run_victim {
    int64_t id, bytes; /* bytes -1: endless */
    uint32_t from, to, priority;
    int64_t start_ps, end_ps; /* life of the flow within the run */
    double slowdown;          /* NAN: not defined */
    int64_t waited_ps;        /* set by run_victims_consider() */
    char traffic[48];
};
struct run_victims *run_victims_create(const struct run_data *run);
/* Whether flows of this host and priority were ever stopped. */
bool run_victims_concern(const struct run_victims *victims, uint32_t from, uint32_t priority);
void run_victims_consider(struct run_victims *victims, const struct run_victim *flow);
/* Adds "victims" and "n_victims" to the object. */
void run_victims_json(const struct run_victims *victims, json_t *pauses);
void run_victims_destroy(struct run_victims *victims);

/* The parts of the page's data. Each returns the value of its key. */
json_t *run_topology(struct run_data *run);
json_t *run_flows(struct run_data *run, struct run_victims *victims);
json_t *run_operations(struct run_data *run);
/* Sets "series" and "series_left_out", and widens the time that charts show to the next samples. */
void run_series(struct run_data *run, json_t *object);
json_t *run_heat(struct run_data *run);
json_t *run_pause_tree(struct run_data *run);
json_t *run_drops(struct run_data *run);
json_t *run_deadlocks(struct run_data *run);
json_t *run_watermarks(struct run_data *run);

/* A results file whose head has been checked. */
struct run_file {
    char *path;   /* path of run.sqlite */
    char *folder; /* name shown to people */
    sqlite3 *db;
};
int run_file_open(const char *results, struct run_file *file, struct xoff_err *err);
void run_file_close(struct run_file *file);
/* Lists the runs of the file, in order; at least one. The caller frees *ids. */
int run_file_list(const struct run_file *file, int64_t **ids, uint32_t *n, struct xoff_err *err);
/* Makes all data of a run but its "name"; NULL with err. */
json_t *run_data_create(const struct run_file *file, int64_t run_id,
                        const struct report_limits *limits, struct xoff_err *err);

#endif
