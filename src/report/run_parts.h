/* Makes a run's part of the page from run.sqlite. Only report/ includes this.
 *
 * Every part reads its tables once, in the order of the rows on disk, reduces them to what the
 * limits allow, and returns JSON (docs/report.md). What several parts need is in
 * reading/run_data.h.
 */
#ifndef REPORT_RUN_PARTS_H
#define REPORT_RUN_PARTS_H

#include "reading/run_data.h"
#include "reading/run_file.h"

/* Limits on what the page shows of a run. */
struct report_limits {
    uint32_t points;  /* points of all series together */
    uint32_t series;  /* series per metric */
    uint32_t buckets; /* points of one series */
    uint32_t cdf;     /* points of one curve */
    uint32_t entries; /* traffic entries with curves of their own */
    uint32_t stop_rows, stops; /* rows of pauses over time, and single stops in all of them */
    uint32_t replay;           /* cells of the replay's rows, all together */
    uint32_t tree; /* nodes of the causality tree */
    uint32_t victims;
    uint32_t nodes, links; /* of the topology */
    uint32_t drops, findings, deadlocks, watermarks, metrics;
    size_t text; /* bytes of a scenario or configuration */
};
/* Limits for one of n_runs runs; `level` is 1, or more after a page came out too large. */
struct report_limits report_limits(uint32_t n_runs, uint32_t level);

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

/* Queues, loads and buffers of the whole network over time, for the replay: equal intervals, each
 * with the most a queue or buffer held, and the mean load of a port. */
enum run_replay_kind { REPLAY_QUEUE, REPLAY_LOAD, REPLAY_BUFFER, REPLAY_N_KINDS };
struct run_replay;
/* Room for samples of up to n_series series from first_ps to last_ps, one every_ps. */
struct run_replay *run_replay_create(const struct run_data *run, uint32_t n_series,
                                     int64_t first_ps, int64_t last_ps, int64_t every_ps);
/* Adds samples of each series in order of time. A value holds until the next one. */
void run_replay_add(struct run_replay *replay, enum run_replay_kind kind, uint32_t node,
                    uint32_t port, uint32_t priority, int64_t at_ps, double value);
/* Makes the JSON and frees the replay. */
json_t *run_replay_finish(struct run_replay *replay);

/* The parts of the page's data. Each returns the value of its key. */
json_t *run_topology(struct run_data *run);
json_t *run_flows(struct run_data *run, struct run_victims *victims);
json_t *run_operations(struct run_data *run);
/* Sets "series", "series_left_out" and "replay", and widens the time that charts show to the next
 * samples. */
void run_series(struct run_data *run, json_t *object);
json_t *run_stops(struct run_data *run);
json_t *run_pause_tree(struct run_data *run);
json_t *run_drops(struct run_data *run);
json_t *run_deadlocks(struct run_data *run);
json_t *run_watermarks(struct run_data *run);

/* Makes all data of a run but its "name"; NULL with err. */
json_t *run_data_create(const struct run_file *file, int64_t run_id,
                        const struct report_limits *limits, struct xoff_err *err);

#endif
