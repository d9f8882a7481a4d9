/* The ns-3 RDMA family (HPCC and its descendants): reads config.txt with the files it names into a
 * struct, turns it into a scenario, and writes the results of its run as fct.txt, pfc.txt,
 * qlen.txt.
 *
 * docs/import.md says what each key means here. Nothing here prints; warnings are a list.
 */
#ifndef IMPORT_HPCC_H
#define IMPORT_HPCC_H

#include <stdio.h>

#include "scenario/plan.h"
#include "stats/compare.h"
#include "stats/results.h"
#include "traffic/flow_hpcc.h"

/* CC_MODE. */
enum hpcc_cc {
    HPCC_CC_NONE = 0,
    HPCC_CC_DCQCN = 1,
    HPCC_CC_HPCC = 3,
    HPCC_CC_TIMELY = 7,
    HPCC_CC_DCTCP = 8,
    HPCC_CC_PINT = 10,
};

struct hpcc_link {
    uint32_t node[2]; /* ids */
    xoff_rate rate_bps;
    xoff_time delay;
    double error; /* frame error probability */
    int line;
};

/* A row of KMIN_MAP, KMAX_MAP or PMAX_MAP. */
struct hpcc_map_entry {
    xoff_rate rate_bps;
    double value; /* kB (1000 B), or a probability */
};
struct hpcc_map {
    struct hpcc_map_entry *entries; /* each rate once */
    uint32_t n;
};

/* Values of config.txt, in its units; fields that no key gave have the original's defaults. */
struct hpcc_keys {
    char *topology_file, *flow_file, *trace_file;
    char *fct_file, *pfc_file, *qlen_file, *trace_output_file;
    uint64_t enable_qcn, enable_pfc, payload_bytes, cc_mode;
    uint64_t ack_interval_bytes, chunk_bytes, back_to_zero;
    uint64_t has_win, global_t, var_win, fast_react, multi_rate, sample_feedback, rate_bound;
    uint64_t mi_thresh, int_multi, clamp_target_rate, fast_recovery_times, ack_high_prio;
    uint64_t enable_trace, buffer_mib, qlen_start_ns, qlen_end_ns, seed;
    uint64_t lb_mode, enable_irn;
    double alpha_resume_us, rate_decrease_us, rp_timer_us, ewma_gain, u_target, error_rate;
    xoff_rate rate_ai, rate_hai, min_rate, dctcp_rate_ai;
    xoff_time stop, flowgen_start, flowgen_stop;
    uint64_t link_down_us, link_down_node[2];
    struct hpcc_map kmin, kmax, pmax;
};

struct hpcc_config {
    char *path;   /* path of config.txt, as given */
    char *folder; /* with a slash at the end, or "" */
    struct hpcc_keys keys;
    int *key_lines; /* per key of the table; 0: not given */

    uint32_t n_nodes, n_hosts;
    uint8_t *is_switch; /* per id */
    uint32_t *ids;      /* per node of ours: its id; hosts first, then switches, in order of ids */
    uint32_t *nodes;    /* per id: our node */
    struct hpcc_link *links; /* in order of the file, which numbers the ports */
    uint32_t n_links;
    char *topology_path, *flow_path; /* paths where they were found */

    struct flow_hpcc flows;
    uint32_t *first;     /* per host (n_hosts + 1): its first flow in by_source */
    uint32_t *by_source; /* flows grouped by source, in order of the file */
    uint8_t priorities;  /* mask of the priorities that flows use */

    uint32_t *trace_ids;
    uint32_t n_trace_ids;

    char **warnings; /* one line each, with file and line */
    uint32_t n_warnings;
};

/* Whether `path` is a regular file that looks like a config.txt of the family: its first word is a
 * key in capitals without a colon, and a line begins with TOPOLOGY_FILE or FLOW_FILE. A scenario
 * never looks like that. Returns 1, or 0 also for a file that cannot be read. */
int hpcc_recognise(const char *path);

/* Reads config.txt and the files it names. These files are looked for in the folder of config.txt,
 * then in the working directory (where the original looks), then in the two folders above that of
 * config.txt (published configs name mix/topology.txt from beside themselves). *out is NULL after a
 * failure. */
int hpcc_read(const char *path, struct hpcc_config **out, struct xoff_err *err);
void hpcc_destroy(struct hpcc_config *config);

/* Whether the config is of the fork ConWeave, which writes node ids: it has FLOWGEN_STOP_TIME for
 * SIMULATOR_STOP_TIME. */
bool hpcc_is_conweave(const struct hpcc_config *config);

/* Makes the scenario. `flow_file` is the path to write for the flow file; NULL: relative to the
 * folder of config.txt. Caller frees; NULL with err. */
char *hpcc_to_yaml(const struct hpcc_config *config, bool compat_ns3, const char *flow_file,
                   struct xoff_err *err);

/* `path` relative to `folder` ("": the working directory); absolute where that cannot be
 * determined. Caller frees; NULL: no memory. */
char *hpcc_path_from(const char *folder, const char *path);

/* Reads a config, converts it in memory and reads the scenario. The scenario's file is `path`, so
 * that the flow file is found from there. Both *out and *config are NULL after a failure;
 * scenario_destroy() and hpcc_destroy() otherwise. */
int hpcc_scenario(const char *path, bool compat_ns3, const struct plan_setting *settings,
                  uint32_t n_settings, struct scenario **out, struct hpcc_config **config,
                  struct xoff_err *err);

/* Sets standalone_for of all flows whose hosts the config knows: the last column of fct.txt. */
int hpcc_standalone(const struct hpcc_config *config, struct results *results,
                    struct xoff_err *err);
/* Makes a config that hpcc_standalone() takes, for results of a network that was not imported;
 * hpcc_destroy() frees it. NULL: no memory. */
struct hpcc_config *hpcc_of_topo(const struct topo *topo, uint64_t payload_bytes);

/* The writers take results of the scenario above: node and flow numbers must be its own. The caller
 * checks for stream errors by ferror(). */

/* Writes one line per flow acknowledged in full, in order of completion, after hpcc_standalone().
 * `has_node_ids`: ids instead of addresses, as ConWeave writes them. */
int hpcc_write_fct(FILE *out, const struct hpcc_config *config, const struct results *results,
                   bool has_node_ids, struct xoff_err *err);
/* Writes one line per priority of each pause and resume received. */
void hpcc_write_pfc(FILE *out, const struct hpcc_config *config, const struct results *results);
/* Writes the dumps of switch queues, every HPCC_QLEN_DUMP. results->histograms cover the whole
 * window, so they make the last dump; a dump at the very start of the window, before any flow, has
 * one sample of empty queues. Differs: dumps between those two are left out. */
void hpcc_write_qlen(FILE *out, const struct hpcc_config *config, const struct results *results);

/* A line of fct.txt. */
#define HPCC_NO_PORT COMPARE_NO_PORT
struct hpcc_fct_line {
    uint32_t from, to; /* node ids */
    uint32_t sport, dport;
    uint64_t bytes, start_ns, fct_ns; /* fct_ns above 0 */
    uint64_t standalone_ns;           /* 0: not stated */
};
struct hpcc_fct {
    struct hpcc_fct_line *lines; /* from malloc */
    size_t n;
};
/* Reads an fct.txt, of the original or ours. `out` needs no preparation and holds nothing after a
 * failure. */
int hpcc_fct_read(const char *path, struct hpcc_fct *out, struct xoff_err *err);
/* Compares a run with such a file. Node 7 of the file is the host with the name n7, or host number
 * 7 in a network without such names. `config`: the run's, for its ports; NULL: it was a scenario.
 * NULL: no memory. */
struct compare *hpcc_compare(const struct hpcc_fct *theirs, const char *path,
                             const struct hpcc_config *config, const struct results *results);

/* The times at which queues must be sampled for hpcc_write_qlen(): at *from, then every
 * HPCC_QLEN_EVERY up to and including *to, the last dump. False: no dump falls into the run. */
#define HPCC_QLEN_EVERY (100 * XOFF_NS)
#define HPCC_QLEN_DUMP (100 * XOFF_MS)
bool hpcc_qlen_window(const struct hpcc_config *config, xoff_time *from, xoff_time *to);

#endif
