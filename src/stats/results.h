/* The results of one run, as plain arrays: filled by net/, written and summarised by stats/.
 *
 * These structures are the contract between the simulator and everything that reads results. All
 * times are picoseconds, all sizes bytes. Indices refer to the arrays here.
 */
#ifndef STATS_RESULTS_H
#define STATS_RESULTS_H

#include <stdio.h>

#include <xoff/err.h>
#include <xoff/mmu.h>
#include <xoff/notice.h>
#include <xoff/telemetry.h>
#include <xoff/time.h>

#define RESULT_NAME 32
#define RESULT_MAXIMA 1000 /* bins of local maxima */

/* Why a frame was lost. */
#define RESULT_DROP_MAP(X)                                            \
    X(BUFFER, "buffer", "no room in the buffer")                      \
    X(CORRUPT, "corrupt", "frame error on the link")                  \
    X(LINK_DOWN, "link-down", "the link failed or was down")          \
    X(NO_ROUTE, "no-route", "no route to the destination")            \
    X(RECEIVER, "receiver", "receive buffer of a slow receiver full") \
    X(EGRESS, "egress", "egress queue full behind the pipeline")      \
    X(HOPS, "hops", "more switches on the way than hops allows")

enum result_drop_cause {
#define X(id, name, text) RESULT_DROP_##id,
    RESULT_DROP_MAP(X)
#undef X
        RESULT_N_DROP_CAUSES
};

struct result_flow {
    uint32_t from, to; /* hosts */
    uint32_t number;   /* counted by its source host; (from, number) is the flow's id */
    uint32_t tag;      /* index of the traffic entry */
    uint8_t priority;
    uint8_t reliable;
    uint8_t is_starving; /* it had something to send, and nothing arrived any more: marks.c */
    uint64_t offered_bytes, sent_bytes, delivered_bytes; /* payload; sent counts retransmissions */
    uint64_t early_bytes, late_bytes; /* of those delivered: before and after the measured time */
    xoff_time start_at;               /* first byte offered */
    xoff_time finish_at;              /* last byte at the receiver; XOFF_NEVER: not finished */
    xoff_time acked_at;               /* last ACK at the sender; XOFF_NEVER: none or datagram */
    xoff_time
        ideal_for; /* time of the same transfer alone in the network; 0: not defined (endless) */
    /* The same as the ns-3 RDMA family states it, whole nanoseconds; 0: not stated. Not part of the
     * digest. */
    xoff_time standalone_for;
    uint64_t marked_frames, retransmitted_frames;
    uint64_t notices;              /* notifications of congestion points that reached the source */
    uint64_t tags_sent, tags_back; /* tags that switches write into, and those that came back */
};

/* A closed-loop operation of an app: a query, an I/O command, a step of a collective. */
struct result_operation {
    uint32_t host, tag;
    uint64_t bytes;
    xoff_time start_at, finish_at;
};

/* Operations of a host that had begun and not ended when the run ended. */
struct result_running {
    uint32_t host, tag;
    uint64_t n;
};

struct result_queue {                                  /* per (port, priority) */
    uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes; /* data and ACK frames, MAC bytes */
    uint64_t marked_frames;
    uint64_t samples, notices; /* of the congestion point: taken, and notifications sent */
    uint64_t pause_tx, resume_tx, pause_rx, resume_rx; /* XOFF and XON, refreshes not counted */
    xoff_time paused_for;                              /* gate closed by the peer */
    xoff_time unmeasured_paused_for;                   /* of it, outside the measured time */
    int64_t queue_peak_bytes;
    int64_t headroom_peak_bytes, headroom_bytes; /* of the ingress side; 0: none */
};

struct result_port {
    uint32_t node, port, peer_node, peer_port, link;
    xoff_rate rate_bps;
    xoff_time busy_for;                            /* wire occupied, preamble and gap included */
    xoff_time unmeasured_busy_for;                 /* of it, outside the measured time */
    uint64_t control_tx_frames, control_rx_frames; /* PAUSE and PFC, refreshes included */
    struct result_queue queue[XOFF_N_PRIORITIES];
};

struct result_node {
    char name[RESULT_NAME];
    uint8_t is_switch;
    uint32_t number;    /* of n7 it is 7 where all names are such, else the index */
    int64_t held_bytes; /* in queues at the end */
    uint64_t stops;     /* times that a full egress queue stopped its pipeline */
    xoff_time stopped_for;
};

/* A buffer of a node. A node may have several, or none. */
struct result_buffer {
    uint32_t node;
    char name[RESULT_NAME];    /* unique within the node */
    struct xoff_mmu_view view; /* at the end of the run */
};

/* Drops of one place and cause. */
struct result_drop {
    uint32_t node, port; /* ingress port; for link causes the receiving port */
    uint32_t out_port;   /* UINT32_MAX: not known */
    uint8_t priority, cause, lossless;
    uint64_t frames, bytes;
    xoff_time first_at;
};

/* One decision of a pause policy, with its cause. */
struct result_pause {
    xoff_time at;
    uint32_t node, port; /* node that decided, and its port towards the paused peer */
    uint8_t priorities;  /* mask */
    uint8_t pause;       /* 1 XOFF, 0 XON */
    uint8_t unit;        /* enum xoff_unit whose threshold was crossed */
    int64_t occupied_bytes, threshold_bytes;
    uint32_t egress_port; /* port that held most of the unit's bytes; UINT32_MAX: none */
    uint8_t egress_priority;
    uint8_t egress_paused; /* this egress was itself paused then ... */
    uint32_t parent;       /* ... by this earlier pause (index here); UINT32_MAX: a root */
};

/* A pause frame as the paused port received it, with the classes it stops or releases. */
struct result_heard {
    xoff_time at;
    uint32_t node, port;
    uint8_t priorities, pause;
};

/* Ports that speak DCBX, at the end of the run. */
struct result_dcbx {
    uint64_t sent, received; /* LLDP frames */
    uint64_t changes;        /* times that other parameters came into force at a port */
    uint32_t ports, peers;   /* ports that speak, and those of them that have one peer */
    uint32_t taken;          /* that have taken something from the peer */
    uint32_t differing;      /* whose peer says something else than what is in force */
    uint32_t unusable;       /* that cannot apply what the peer says */
    uint32_t multiple;       /* with several neighbours */
    uint32_t foreign;        /* whose peer speaks the other version */
    uint32_t lossless;       /* (port, priority) with PFC in force */
};

/* The octets of LLDP frames that a port sent, without FCS; captures refer to them. */
struct result_lldp {
    uint32_t node, port, number;
    uint16_t length;
    uint8_t *octets;
};

/* How often a port's queues were found with k to k + 1 kB in them. */
struct result_histogram {
    uint32_t node, port;
    uint64_t *counts;
    uint32_t n;
};

enum result_frame_kind {
    RESULT_FRAME_DATA,
    RESULT_FRAME_ACK,
    RESULT_FRAME_NACK,
    RESULT_FRAME_CNP,
    RESULT_FRAME_NOTICE, /* from a congestion point, to the source of a frame */
    RESULT_FRAME_PROBE,  /* a tag alone, on its way to the receiver or back */
    RESULT_FRAME_PAUSE,  /* PAUSE or PFC */
    RESULT_FRAME_LLDP    /* its octets are those of a result_lldp */
};
enum { RESULT_BY_GO_BACK_N, RESULT_BY_DATAGRAM, RESULT_BY_TCP };

/* A frame as it crossed a captured port. */
struct result_frame {
    xoff_time at;      /* sent: its first bit; received: its last bit */
    xoff_time sent_at; /* pause: its first bit; else the host's stamp, or the one an ACK echoes */
    union {
        struct {
            uint64_t seq;      /* first payload byte; ACK, NACK: next expected */
            uint32_t from, to; /* hosts; LLDP: node and port of its sender */
            uint32_t flow;     /* number at the host that sends the data; LLDP: of its contents */
            uint32_t hash;     /* chooses among equal-cost paths */
            uint32_t psn;      /* number of frames before it; ACK: psn of the last acknowledged */
        };
        struct { /* pause; classes 0xff and quanta[0] for PAUSE */
            uint16_t opcode;
            uint16_t quanta[XOFF_N_PRIORITIES];
            uint8_t classes;
        };
    };
    uint16_t bytes, payload_bytes;  /* payload of a notification: the frame it is about, whole */
    uint8_t kind, by, priority;     /* enum result_frame_kind, RESULT_BY_x */
    bool is_sent : 1;               /* else received */
    bool is_corrupt : 1;            /* hit by an error of the link; the port dropped it */
    bool is_marked : 1;             /* congestion experienced; ACK: its echo */
    bool is_first : 1, is_last : 1; /* of its message */
    bool asks : 1;                  /* for an ACK at once */
    bool is_reduced : 1;            /* TCP: the echo was answered */
    bool is_tagged : 1;             /* carries a CN-TAG; notification: the frame it is about does */
    bool has_rrt : 1;               /* data with a rate-regulation tag, which may name no point */
    bool asks_rate : 1;             /* has a tag that switches write into */
};

/* Further contents that only some frames carry. */
struct result_frame_extra {
    bool has_telemetry, has_notice;
    uint32_t n_sacks;
    uint64_t sack_from[3], sack_to[3];
    struct xoff_int telemetry;
    struct xoff_notice notice; /* a notification, or the tag of a data frame or probe */
};

/* The frames of a port, in order of time. */
struct result_capture {
    uint32_t node, port;
    struct result_frame *frames;
    struct result_frame_extra *extras; /* per frame; NULL: none of them has any */
    uint64_t n_frames;
    uint64_t left_out; /* frames beyond the limit, not kept */
};

/* What a frame met at a node. */
enum result_event_kind {
    RESULT_EVENT_RECEIVE,
    RESULT_EVENT_ENQUEUE,
    RESULT_EVENT_DEQUEUE,
    RESULT_EVENT_DROP
};
struct result_event {
    xoff_time at, sent_at; /* sent_at: as of result_frame; 0: the transport does not read it */
    uint64_t seq;          /* as of result_frame */
    uint32_t node;
    uint32_t queue_bytes; /* in the queue before it joins, or after it has left; 0 at hosts */
    uint32_t from, to;    /* hosts; a pause frame's: link and end (0 or 1) of its sender */
    uint16_t sport, dport;
    uint16_t port, bytes, payload_bytes;
    uint8_t what, kind, by; /* enum result_event_kind, enum result_frame_kind, RESULT_BY_x */
    uint8_t priority, queue;
    bool is_marked : 1;   /* congestion experienced */
    bool echoes : 1;      /* an ACK: of a marked frame */
    bool pauses : 1;      /* a pause frame: else it resumes */
    uint32_t asked_bytes; /* a pause frame: bytes of its queue when it was asked for */
};

enum result_metric {
    RESULT_QUEUE_BYTES,
    RESULT_TX_BPS,
    RESULT_PAUSED_FRACTION,
    RESULT_BUFFER_BYTES,
    RESULT_RESERVED_BYTES, /* this and the pools below: sum over all buffers of a switch */
    RESULT_SHARED_BYTES,
    RESULT_HEADROOM_BYTES,
    RESULT_INSURANCE_BYTES,
    RESULT_INPUT_BYTES,    /* of a port again: what came in by it */
    RESULT_ADVERTISED_BPS, /* this and the next two: of a congestion point, see xoff_cp_view */
    RESULT_LOAD_RATIO,
    RESULT_CONTROL_RATIO
};

/* Curves that are computed of RESULT_TX_BPS of several hosts; they go on from enum result_metric.
 */
enum result_fairness { RESULT_JAIN = RESULT_CONTROL_RATIO + 1, RESULT_EVENNESS };

/* A sample. Port UINT32_MAX: of the whole node; priority 0xff: all priorities. Samples are sparse:
 * a value equal to the one before it in the same series may be left out. */
struct result_sample {
    xoff_time at;
    uint32_t node, port;
    uint8_t priority, metric;
    double value;
};

/* A curve that the scenario asks for: one sampled quantity at one place, or how evenly hosts share,
 * over a part of the run. */
struct result_curve_spec {
    char name[RESULT_NAME];
    uint32_t node, port;       /* port UINT32_MAX: of the node */
    uint8_t priority, metric;  /* priority 0xff: all together; metric: or an enum result_fairness */
    xoff_time every, from, to; /* samples with from < at <= to */
    xoff_time over;            /* a multiple of every; a value is the mean of so many samples */
    double level;              /* time below it is counted; 0: none */
    uint32_t *hosts;           /* of an enum result_fairness, in place of node and port */
    uint32_t n_hosts;
    double share_bps; /* RESULT_EVENNESS: what each host should have; 0: their mean */
};

struct result_deadlock {
    xoff_time onset_at, found_at;
    uint32_t first, n; /* into deadlock_ports */
};
struct result_deadlock_port {
    uint32_t node, port; /* egress port */
    uint8_t priority;
};

/* An audit finding: something that must never happen. */
struct result_finding {
    char text[1024];
};

/* An expectation of the scenario's file, as it came out. */
struct result_expectation {
    char text[256];
    bool holds;
    char detail[256]; /* the values on both sides, or why there are none */
};

/* A key of the scenario that differs between the runs, or was set by hand, and its value here; ""
 * where this run has none. */
struct result_key {
    const char *name, *value;
};

struct results {
    /* The input of the run. */
    const char *scenario_file, *scenario_text, *title, *variant, *config_text;
    uint64_t seed;
    uint64_t digest; /* digest of everything below that is simulated */
    bool interrupted;
    xoff_time end_at; /* simulated */
    xoff_time stop_at;
    xoff_time measure_from,
        measure_to;   /* as the scenario asks for it; 0: while traffic is offered */
    bool is_at_rest;  /* it ended because nothing was left to happen */
    bool is_standing; /* nothing of any flow arrived in the last half of the measured time */
    double wall_s;
    uint32_t threads; /* of each rank */
    uint32_t ranks;
    uint64_t packet_hops, control_hops, events, windows;
    uint64_t peak_rss_bytes;

    const char *const *tag_names; /* per traffic entry */
    uint32_t n_tags;
    const char *const *warnings; /* from building the network, with their places */
    uint32_t n_warnings;
    const struct result_curve_spec *curves; /* asked for; not part of the digest */
    uint32_t n_curves;
    uint8_t lossless; /* mask */
    /* Counters of who sends to which egress queue that the pause policy of a switch needs, of the
     * switch that needs most; not part of the digest. */
    uint64_t n_pause_counters;

    struct result_node *nodes;
    uint32_t n_nodes, n_hosts;
    struct result_buffer *buffers; /* by node */
    uint32_t n_buffers;
    struct result_port *ports; /* by node and port */
    uint32_t n_ports;
    struct result_flow *flows; /* sorted by (start_at, from, number) */
    uint64_t n_flows;
    /* Of finished flows that are not among them (results: summary); NULL: all are. */
    struct flow_sums *sums;
    struct result_operation *operations; /* sorted by (finish_at, host) */
    uint64_t n_operations;
    struct result_running *running; /* by host; not part of the digest */
    uint32_t n_running;
    struct result_drop *drops;
    uint32_t n_drops;
    struct result_pause *pauses; /* sorted by (at, node, order of decision) */
    uint64_t n_pauses;
    struct result_dcbx dcbx; /* not part of the digest, as lldp */
    struct result_lldp *lldp;
    uint32_t n_lldp;
    struct result_heard *heard; /* on request; sorted by (at, node) */
    uint64_t n_heard;
    struct result_histogram *histograms; /* on request; by node and port */
    uint32_t n_histograms;
    /* Local maxima of the headroom in use, over all switches. Bin [k] counts maxima above k and up
     * to k + 1 permille of a switch's headroom. NULL: no switch has headroom. */
    uint64_t *headroom_maxima;
    struct result_capture *captures; /* on request */
    uint32_t n_captures;
    struct result_event *trace; /* on request; sorted by (at, node, order of events) */
    uint64_t n_trace;
    uint64_t pauses_left_out;      /* beyond the limit kept */
    uint64_t xoffs_left_out;       /* decisions to pause among them */
    struct result_sample *samples; /* sorted by at, node, port, priority, metric */
    uint64_t n_samples;
    struct result_deadlock *deadlocks;
    uint32_t n_deadlocks;
    struct result_deadlock_port *deadlock_ports;
    struct result_finding *findings;
    uint32_t n_findings;
    struct result_expectation *expectations; /* none: they were not tested */
    uint32_t n_expectations;
    const struct compare *compare; /* with another simulator's results; NULL: none are at hand */
    const struct result_key *keys; /* of metrics.csv: the same names in all runs of a file */
    uint32_t n_keys;
    const struct result_seeds *seeds; /* spread.h; NULL: the run has one seed */
};

/* A named figure of a run. Tables, expectations and JSON are made of metrics. */
struct metric {
    char name[64]; /* dotted: fct.p99, drops, throughput.websearch.mean */
    char unit[16]; /* "s", "bps", "B", "frames", "ratio", "/s", "" */
    double value;
    const char *meaning;
};

/* A series that the scenario asked for, with every sample in its place: sample i belongs to the
 * instant first_at + i * every. */
struct curve {
    char name[RESULT_NAME], unit[16];
    xoff_time first_at, every;
    uint32_t n;
    double *values;
};

/* Values of a run, counted by size: counts[k] are above k and up to k + 1 times `step`. */
struct distribution {
    char name[RESULT_NAME];
    double step;
    uint32_t n;
    uint64_t *counts;
};

struct summary {
    struct metric *metrics;
    uint32_t n_metrics;
    struct curve *curves;
    uint32_t n_curves;
    struct distribution *distributions;
    uint32_t n_distributions;
    /* For runs in other processes, whose results are not at hand: summary_create() leaves these
     * empty. */
    uint64_t digest;
    struct result_finding *findings;
    uint32_t n_findings;
};

/* The digest of everything simulated: of the columns marked as part of it (tables.h) and of the
 * maxima. It does not depend on threads, cells or wall-clock time. */
uint64_t results_digest(const struct results *results);

/* Adds a finding: of the audit, or an expectation that does not hold. */
__attribute__((format(printf, 2, 3))) void results_add_finding(struct results *results,
                                                               const char *format, ...);

/* Notes an expectation as it came out; the text and detail are cut when very long. */
void results_add_expectation(struct results *results, const char *text, bool holds,
                             const char *detail);

/* Figures of a run: counts, FCT and slowdown (mean, p50, p95, p99, max; all, per traffic entry, per
 * flow-size bucket), throughput, Jain's index, pauses, drops by cause, marks, utilisation,
 * headroom; the curves that were asked for; and distributions, of which there is one,
 * headroom.maxima, where there were maxima. */
struct summary *summary_create(const struct results *results);
void summary_destroy(struct summary *summary);
const struct metric *summary_find(const struct summary *summary, const char *name);
/* Whether a name, bare or behind a variant's name, begins like a metric's. */
bool summary_has_family(const char *name);

/* Writes run.sqlite (several runs, one per variant, in one file), summary.json, metrics.csv, and
 * the other CSV files when asked, into `dir`, which must not contain any of them yet: the folder
 * aside of folder.h. */
int results_write(const char *dir, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs, bool csv,
                  struct xoff_err *err);
/* Patterns of these files and of all others that a run leaves beside them; ends with NULL. */
extern const char *const results_names[];
/* Writes the JSON of summary.json to `out`. */
int results_write_json(FILE *out, const struct results *const *runs,
                       const struct summary *const *summaries, uint32_t n_runs);

/* An expectation: comparison of two arithmetic expressions over metric names, VARIANT.metric or
 * metric (which must then hold for every run); numbers may carry units (2us, 10Gbps, 16KB).
 * Returns 0 and sets *holds and fills `detail` with the values; or a negative code with err (column
 * within the text). Called with n_runs 0 it checks the syntax only. */
int expect_evaluate(const char *text, const struct results *const *runs,
                    const struct summary *const *summaries, uint32_t n_runs, bool *holds,
                    char *detail, size_t detail_size, struct xoff_err *err);

/* Whether the expectation names that metric of runs[run], by its bare name or behind the variant's.
 * Names of other runs, and of variants that are not among the runs, are ignored. */
bool expect_names(const char *text, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs, uint32_t run,
                  const char *metric);

/* Whether the expectation names a metric of that variant: VARIANT.metric. */
bool expect_names_variant(const char *text, const char *variant);

/* Adds a finding to `run`, which is one of `runs`, for lossless frames lost for want of room and
 * another for deadlocks. An expectation that names a metric of this run which counts the trouble
 * covers it: then no finding is added (verdict.c). */
void verdict_note(struct results *run, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs,
                  const char *const *expects, uint32_t n_expects);

/* Computes an arithmetic expression of the same grammar, in seconds, bits per second, bytes or as a
 * bare number. A bare metric is an error where there are several runs. -XOFF_E_MISSING says that
 * the run has no such metric although others may (docs/results.md tells which and when). Called
 * with n_runs 0 it checks the syntax only; *value is then 0, as it is after an error. */
int expect_compute(const char *text, const struct results *const *runs,
                   const struct summary *const *summaries, uint32_t n_runs, double *value,
                   struct xoff_err *err);

#endif
