/* The parts of the importer, one for each file it reads. Only src/import/ and its tests include
 * this.
 */
#ifndef IMPORT_HPCC_PARTS_H
#define IMPORT_HPCC_PARTS_H

#include "import/hpcc.h"
#include "traffic/words.h"

#define HPCC_MAX_NODES (1u << 20)
#define HPCC_MAX_WARNINGS 64
#define HPCC_HEADER_BYTES 48 /* 14 + 20 + 8 + 6: Ethernet, IPv4, UDP, and its own */

/* Each function takes the text of a file in memory (also for tests and fuzzing) and adds to
 * `config`, which hpcc_create() made. After a failure the config may be partly filled; the caller
 * calls hpcc_destroy(). */
struct hpcc_config *hpcc_create(const char *path); /* NULL: no memory */
int hpcc_config_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                      struct xoff_err *err);
int hpcc_topology_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                        struct xoff_err *err);
/* These are called after the topology has been parsed. */
int hpcc_flows_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                     struct xoff_err *err);
int hpcc_trace_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                     struct xoff_err *err);
/* Checks that need several files: rates without thresholds, the link that fails, keys that do not
 * fit the congestion control. */
int hpcc_check(struct hpcc_config *config, struct xoff_err *err);

/* Returns the line of the key in config.txt; 0: not given. */
int hpcc_key_line(const struct hpcc_config *config, const char *key);

/* Reads a DataRate of ns-3: 100Gbps, 10Mb/s, 1.25GB/s. A bare number is bit/s in ns-3. Here it is
 * accepted only from 10^6 on: below that a unit has been forgotten. */
bool hpcc_rate(const struct word *word, xoff_rate *out);

/* Adds a warning, "path:line: text", once. */
__attribute__((format(printf, 4, 5))) void hpcc_warn(struct hpcc_config *config, const char *path,
                                                     int line, const char *format, ...);

int hpcc_no_memory(struct xoff_err *err);
/* Makes room for one more element in an array of n; false: no memory. */
bool hpcc_grow(void **array, uint32_t n, size_t size);

/* A flow of a run, finished or not, with the ports that the original gives it. */
struct hpcc_sent {
    const struct result_flow *flow;
    uint32_t sport, dport; /* HPCC_NO_PORT: not known */
};
/* Lists all flows between hosts; the caller frees it. `config` may be NULL: no destination port is
 * known then. NULL: no memory. */
struct hpcc_sent *hpcc_list_flows(const struct hpcc_config *config, const struct results *results,
                                  size_t *n);

/* Reads fct.txt from memory, for tests and fuzzing, as hpcc_fct_read() does. */
int hpcc_fct_parse(const char *path, const char *text, size_t size, struct hpcc_fct *out,
                   struct xoff_err *err);

/* The shortest path from every node to `to` as the original takes it. */
struct hpcc_path {
    uint64_t delay_ns, tx_ns; /* propagation; sending a payload on each link */
    xoff_rate rate_bps;       /* rate of the slowest link; 0: no path */
};
struct hpcc_paths; /* holds one destination at a time */
struct hpcc_paths *hpcc_paths_create(const struct hpcc_config *config);
void hpcc_paths_destroy(struct hpcc_paths *paths);
/* Returns the paths per id; valid until the next call. */
const struct hpcc_path *hpcc_paths_to(struct hpcc_paths *paths, uint32_t to);

#endif
