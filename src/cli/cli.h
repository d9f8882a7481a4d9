/* The command: verbs, shared options, and output for people. Only cli/ prints and exits. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <argp.h>
#include <stdio.h>

#include "import/hpcc.h"
#include "scenario/build.h"
#include "stats/results.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

struct verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is "xoff VERB" */
};
extern const struct verb *const verbs[];

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_conform(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_headroom(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_sweep(int argc, char **argv);

/* Options that several verbs take. */
#define CLI_MAX_SETTINGS 256
struct cli_options {
    const char *text; /* the scenario, where it is not read from its file; NULL: it is */
    struct plan_setting settings[CLI_MAX_SETTINGS];
    uint32_t n_settings;
    bool json;
    bool is_ns3; /* --compat */
    uint32_t n_threads;
    uint64_t memory_bytes; /* --memory; by default what is free */
    xoff_time cell_bound;
    const char **files;
    uint32_t n_files;
};
extern const struct argp cli_options_argp; /* input: struct cli_options */
void cli_options_init(struct cli_options *options);
void cli_options_fini(struct cli_options *options);

/* An input file; `import` is NULL for a scenario. */
struct cli_input {
    struct scenario *scenario;
    struct hpcc_config *import;
    char **warnings; /* from building its networks, as cli_warning_text() returns them */
    uint32_t n_warnings;
    const struct checkpoint *checkpoint; /* of its runs; NULL: none are made */
    struct fork *fork;                   /* from which all but the first begin; NULL: at 0 */
};
int cli_read(const struct cli_options *options, const char *file, struct cli_input *input,
             struct xoff_err *err);
void cli_input_fini(struct cli_input *input);
/* Prints an error from building the input. */
void cli_print_build_error(const struct cli_input *input, struct xoff_err *err);
/* Prints warnings from building one of its plans to standard error. A warning that another plan
 * gave before is not repeated. */
void cli_print_build_warnings(struct cli_input *input, struct built *built);
/* Prints the effective configuration of its plans. Returns an exit status. */
int cli_print_configs(struct cli_input *input);
/* Prints the names of the first few switches of a kind. */
void cli_print_switches(const struct built *built, uint32_t kind);

/* Parses the arguments of a verb. Ends the program if they are wrong, as argp_parse() does, and
 * also when memory is short: argp_parse() then leaves them unread without a word. */
void cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);
/* Prints file:line:column: subject: message, in the colours of the terminal, to standard error. */
void cli_print_error(const struct xoff_err *err);
/* EXIT_BAD_INPUT, or EXIT_FAILED where memory was short. */
int cli_status(const struct xoff_err *err);
void cli_print_warning(const struct xoff_err *warning);
/* Makes file:line:column: subject: value: message. The caller frees it. */
char *cli_warning_text(const struct xoff_err *warning);
/* Prints one line each to standard error. */
void cli_print_warnings(char *const *warnings, uint32_t n_warnings);

/* Whether someone may look at it as it is written. Not under mpirun, which gives processes a
 * terminal whose other end it writes to a file or a pipe. */
bool cli_is_terminal(FILE *stream);
/* Escape sequences; empty when standard output (or error) is no terminal or NO_COLOR is set. */
struct cli_style {
    const char *bold, *dim, *red, *green, *yellow, *off;
};
const struct cli_style *cli_style(FILE *stream);
/* The width to print for: of COLUMNS, of the terminal, or 80. */
uint32_t cli_columns(FILE *out);

/* Formats a figure with its unit for people: 81.2 us, 40.1 Gb/s, 1.2 MB. Returns buf. */
char *cli_figure(char *buf, size_t size, double value, const char *unit);

/* Seconds of a monotonic clock. */
double cli_clock(void);
uint64_t cli_peak_rss(void);
/* Bytes of memory that are free, and that this process has. */
uint64_t cli_free_memory(void);
uint64_t cli_used_memory(void);
/* Bytes that a run takes until its results are written, of a process that has so many now and has
 * noted down so many about flows, pauses and samples; and what --memory must be for them. */
uint64_t cli_memory_to_end(uint64_t used_bytes, uint64_t noted_bytes, uint32_t n_ports);
uint64_t cli_memory_limit(uint64_t bytes);

/* A run of one plan, from building to summary. */
struct cli_run {
    struct built *built;
    struct results *results;
    struct summary *summary;
    const char **tag_names;
    char **warnings;
    char *config_text;
    struct compare *compare;
    struct result_key *keys; /* those of the results */
    double began_s;          /* time of the first event, by cli_clock() */
    bool is_short;           /* ended early: it would have taken more memory than it may */
    bool is_kept;            /* ended early, with a checkpoint to go on from; it has no results */
};
/* Runs plan `index` of `input`. Warnings go to standard error, and so does progress when it is a
 * terminal; the options' own progress is replaced. `input` NULL: neither. Returns 0 or a negative
 * code. */
int cli_run_plan(const struct plan *plan, const struct build_options *options,
                 struct cli_input *input, struct cli_run *run, struct xoff_err *err);
void cli_run_fini(struct cli_run *run);
/* Says what the runs of the input would take of memory and time, after a short trial of each.
 * Returns an exit status: EXIT_BAD_INPUT where one would not fit. */
int cli_estimate(const struct cli_options *options, struct cli_input *input);
/* Finds the keys by which the runs of a file differ, and those that were set, for metrics.csv. */
void cli_find_keys(struct cli_run *runs, uint32_t n_runs, const struct cli_options *options);
/* Calls `found` for every key that has not the same value in two configurations, as plan_print()
 * makes them; a value is NULL where there is no such key. */
void cli_compare_keys(const char *one, const char *other,
                      void (*found)(void *context, const char *path, const char *one,
                                    const char *other),
                      void *context);
/* Notes troubles of a run that no expectation of the scenario covers, as verdict_note() does. */
void cli_note_verdict(const struct scenario *scenario, struct results *run,
                      const struct results *const *results, const struct summary *const *summaries,
                      uint32_t n);
/* Say what the audit, the expectations and the wire check have found (verdict_text.c). The second
 * returns an exit status. */
bool cli_passes_audit(const struct scenario *scenario, struct results *run,
                      const struct results *const *results, const struct summary *const *summaries,
                      uint32_t n, FILE *out);
int cli_check_expectations(const struct scenario *scenario, const struct cli_run *runs,
                           const struct results *const *results,
                           const struct summary *const *summaries, FILE *out);
bool cli_passes_wire_check(const struct cli_run *run, FILE *out);
/* From here on Ctrl-C, SIGTERM and SIGHUP (a closed terminal, a batch system's time limit) only ask
 * for an end: what there is, is saved. */
void cli_catch_interrupts(void);
/* Whether one of them came: nothing more is to be started. */
bool cli_is_interrupted(void);

/* run_ranks.c: one run over several processes. Called first: makes all ranks but the first mute.
 * Returns false when mpirun is not for this verb. */
bool cli_enter_ranks(const char *verb);
/* Notes that runs which have ended are kept, so that the command can be repeated: it is said when a
 * rank is lost. */
void cli_note_kept_runs(void);
/* Starts MPI if this process is one of several; cli_end_ranks() waits for all. */
int cli_start_ranks(struct xoff_err *err);
void cli_end_ranks(void);
/* NULL: this process is alone. */
const struct sim_ranks *cli_ranks(void);
bool cli_is_first(void);
/* Whether it is so at any rank; all must ask. */
bool cli_any(bool is_so);
/* Agrees on the status of the first rank that has failed by itself, with `code`. Returns whether
 * that is this one, which is to say why. */
bool cli_agree(int *status, int code);
/* The ranks as peers of a batch, filled in; NULL: this process is alone. */
struct batch_peers;
const struct batch_peers *cli_peers(struct batch_peers *peers);
/* What a command over as many ranks begins with: "mpirun -n 4 ", or nothing. */
const char *cli_mpirun(void);
/* The folder has a checkpoint, which is told of if a rank is lost; NULL: there is none. */
void cli_note_checkpoint(const char *dir);
/* Called in a worker process of a rank: it is alone from here on. */
void cli_leave_ranks(void);
/* Lets a mute rank print to standard error. */
void cli_unmute(void);
/* Reads the file of --parts; the caller frees *parts. */
int cli_read_parts(const char *path, uint32_t **parts, uint32_t *n, struct xoff_err *err);

/* Shows on a terminal that files are being written to the folder; cli_end_writing() returns how
 * long that took, in seconds. */
struct folder;
struct write_progress;
struct write_progress *cli_begin_writing(const char *folder);
double cli_end_writing(struct write_progress *progress);

/* Opens the folder of a command's files (stats/folder.h). Prints an error. Returns an exit status.
 */
int cli_open_folder(const char *path, const char *const *names, struct folder **folder);
/* Writes a text to a file, which appears complete or not at all. Prints an error. Returns an exit
 * status. */
int cli_write_file(const char *path, const char *text);
/* Writes a text to a file opened as fopen() does. Returns 0 or the reason (errno). */
int cli_write_text(const char *path, const char *mode, const char *text);
/* "cannot write PATH: REASON"; returns -XOFF_E_IO. */
int cli_cannot_write(const char *path, int reason, struct xoff_err *err);
/* Name of the completion times in a folder of results; NULL: without a config. */
const char *cli_fct_name(const struct hpcc_config *config);
/* Writes fct.txt, pfc.txt and qlen.txt of a run of `config` to `aside`, and appends their names in
 * `dir` to `told`. Returns 0 or a negative code. */
int cli_write_hpcc(const char *aside, const struct hpcc_config *config,
                   const struct results *results, bool has_node_ids, const char *dir, FILE *told,
                   struct xoff_err *err);
/* Writes capture-NODE-PORT.pcapng for each captured port in the same way, with the variant's name
 * where there is one. `snap_bytes` are kept of each frame; 0: all. */
int cli_write_captures(const char *aside, const struct results *const *runs, uint32_t n_runs,
                       uint32_t snap_bytes, const char *dir, FILE *told, struct xoff_err *err);
/* Writes the trace of a run to a file, which appears complete or not at all. */
int cli_write_trace(const char *path, const struct results *results, FILE *told,
                    struct xoff_err *err);

/* Prints the table of the summary, one column per run. */
void cli_print_summary(FILE *out, const struct cli_run *runs, uint32_t n_runs);
/* Names of the flow-size buckets for people. */
extern const char *const cli_bucket_labels[COMPARE_BUCKETS];
/* Prints the comparison of a run with another simulator's results. */
void cli_print_compare(FILE *out, const char *variant, const struct compare *compare);
/* Prints drops, deadlocks and findings with their places. */
void cli_print_troubles(FILE *out, const struct cli_run *run);

#endif
