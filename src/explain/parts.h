/* What the files of explain/ share: the evidence, the roots, and what they did. Only explain/
 * includes this.
 *
 * The order of work: evidence.c reads the file, roots.c finds where pauses and losses began,
 * harm.c walks over flows and operations and counts how long each root held them, kinds.c says what
 * each root is, sentences.c and explain_json.c say it.
 */
#ifndef EXPLAIN_PARTS_H
#define EXPLAIN_PARTS_H

#include "explain/explain.h"
#include "reading/run_data.h"

#define MOST_VICTIMS 10
#define MOST_CHAIN 16
#define MOST_PAUSED 16

enum root_kind {
    ROOT_UNKNOWN, /* congestion whose place is not known */
    ROOT_SLOW_RECEIVER,
    ROOT_STUCK_RECEIVER,
    ROOT_INCAST,
    ROOT_SLOW_LINK,
    ROOT_OVERSUBSCRIPTION,
    ROOT_STARVATION,
    ROOT_DEADLOCK,
    ROOT_HEADROOM,
    ROOT_IGNORED_PAUSES,
    ROOT_LINK_FAILURE,
    ROOT_LINK_ERRORS,
    ROOT_NO_ROUTE,
    ROOT_CYCLIC_ROUTES,
    N_ROOT_KINDS
};

/* From the configuration that the run was made with. */
struct receiver {
    char hosts[256], rate[256]; /* as plan_print() writes them */
};
struct link_change {
    char a[48], b[48]; /* names of its ends */
    int64_t at_ps;
    double rate_bps; /* 0: as before */
    bool fails, is_repaired;
};
/* A route by hand that holds from the start. */
struct stated_route {
    bool *is_to;     /* per node */
    uint32_t via[8]; /* nodes; none: shortest ways again */
    uint32_t n_via;
    uint32_t before; /* an earlier route of the same switch; NONE */
};
struct entry { /* of traffic */
    char name[64];
    bool is_collective; /* an operation of one rank waits for all ranks */
};

struct queue {
    int64_t tx_bytes;
    uint64_t xoff_tx;
    int64_t paused_ps; /* that its transmitter was closed */
};

enum drop_cause {
    DROP_ROOM,
    DROP_RECEIVER,
    DROP_CORRUPT,
    DROP_LINK_DOWN,
    DROP_NO_ROUTE,
    DROP_HOPS
};
struct drop {
    uint32_t node, in_port, out_port; /* indices of run_port; NONE */
    uint8_t priority;
    enum drop_cause cause;
    bool is_lossless, is_egress; /* is_egress: at an egress queue that was full */
    uint64_t frames;
    int64_t bytes, first_ps;
};

struct victim {
    int64_t id, bytes;
    uint32_t from, to, priority;
    bool is_bystander, is_finished;
    int64_t held_ps, life_ps;
    double lost; /* share of what it offered that was not delivered; finished: 0 */
    double slowdown, harm_byte_s;
    char traffic[64];
};

struct job {
    uint32_t entry;
    uint64_t n_operations; /* that it held */
    double held_ps, lasted_ps;
    bool stands; /* flows of it were held when the run ended */
};

/* The pauses that a (port, priority) sent because of one root, in order of time. */
struct strand {
    uint32_t line, root;
    uint32_t first, n; /* of spans */
    int64_t held_ps;
    int64_t measured_ps; /* of it, in the measured time */
};
struct span {
    int64_t from_ps, to_ps, before_ps; /* before_ps: sum of earlier spans of the strand */
    uint32_t pause;
};

/* The pauses that a (port, priority) sent, whatever their root. They do not overlap. */
struct line_span {
    int64_t from_ps, to_ps;
    uint32_t root;
};

struct root {
    uint32_t id; /* as strands name it */
    enum root_kind kind;
    uint32_t node, port; /* port: index of run_port that cannot keep up; NONE */
    uint8_t priorities;  /* mask */
    int64_t from_ps, to_ps;
    uint64_t n_pauses, n_adopted; /* adopted: laid to it although they name no parent */
    int64_t held_ps;
    uint32_t worst_strand; /* NONE: it held nobody */
    uint64_t lost_frames, lost_lossless;
    int64_t lost_bytes, lost_from_ps;
    uint32_t deadlock;  /* index; NONE */
    int64_t longest_ps; /* of its own pauses */
    bool is_unlifted;   /* a pause of its own lasted to the end */
    /* Set by harm.c. */
    uint32_t n_senders;
    uint32_t
        target; /* the host that all traffic through it goes to; NONE: several, or no traffic */
    bool has_targets;  /* several */
    double sender_bps; /* the fastest sender's link */
    double harm_byte_s, bystanders_byte_s, operations_byte_s;
    uint64_t n_flows, n_bystanders, n_starved;
    struct victim victims[MOST_VICTIMS];
    uint32_t n_victims;
    struct job *jobs;           /* per entry */
    uint32_t chain[MOST_CHAIN]; /* strands, from the root to the worst victim */
    uint32_t n_chain;
    /* Set by kinds.c. */
    bool is_named;
    const struct receiver *receiver;
    const struct link_change *change;
    uint32_t n_deaf; /* ports whose peer got no pause of those sent */
};

struct deadlock {
    int64_t onset_ps;
    uint32_t first, n; /* of deadlock_ports */
};

struct explanation {
    struct run_data run;
    char *variant, *title, *scenario_file, *config;
    bool is_interrupted, is_rerouted; /* is_rerouted: routes by hand changed during the run */
    int64_t measured_from_ps, measured_to_ps; /* what shares of time are over */

    struct receiver *receivers;
    struct link_change *changes;
    struct entry *entries;
    struct stated_route *routes;
    uint32_t *last_route; /* per node; NONE */
    uint32_t n_receivers, n_changes, n_entries, n_routes;
    uint32_t n_jobs;     /* entries that roots have jobs for */
    double *slowest_bps; /* per port: rate of its link, or the lowest that it was changed to */

    struct queue *queues; /* per port and priority */
    struct drop *drops;
    uint32_t n_drops;
    struct deadlock *deadlocks;
    uint32_t n_deadlocks;
    uint32_t *deadlock_ports; /* indices of run_port */
    uint32_t n_deadlock_ports;

    struct root *roots; /* after harm.c: the worst first */
    uint32_t n_roots, n_named;
    uint32_t *root_of;      /* per cause */
    struct strand *strands; /* by line */
    uint32_t n_strands;
    uint32_t *first_strand;       /* per line, and one more */
    struct line_span *line_spans; /* by line and time */
    uint32_t *first_span;         /* per line, and one more */
    struct span *spans;
    bool *is_deaf;     /* per line: whom it pauses did not stop */
    uint32_t *line_of; /* per port and priority or ALL_PRIORITIES: the line that holds it; NONE */

    uint64_t n_flows, n_unfinished, n_starved, lost_frames, lost_lossless;
    uint64_t delivered_bytes;
    uint64_t n_summarised; /* finished flows that are not in the file */
    bool is_coarse;        /* there was too much to look at every path */
    char *difference;
};

/* evidence.c */
void evidence_read(struct explanation *e);
/* Whether the receivers' entry speaks of this host. */
bool evidence_is_host(const char *hosts, const char *name);
/* config.c: what the configuration says of receivers, links, routes and traffic. */
void config_read(struct explanation *e, const char *text);
void config_forget(struct explanation *e);
/* Whether a change such as "switch.mmu=dsh" is in force already. */
bool config_is(const char *text, const char *change);

void roots_find(struct explanation *e);
void harm_count(struct explanation *e);
void kinds_judge(struct explanation *e);

const char *kind_word(enum root_kind kind);
/* What may help against a root and is not in force yet; returns how many. */
#define MOST_REMEDIES 4
uint32_t kind_remedies(const struct explanation *e, const struct root *root,
                       const struct explain_remedy *remedies[MOST_REMEDIES]);

/* sentences.c: sentences of an explanation; the caller frees them. */
#define WORDS_FIGURE 48
/* "12.1 KB-seconds". */
const char *words_harm(char buf[WORDS_FIGURE], double byte_s);
char *words_headline(const struct explanation *e);
char *words_title(const struct explanation *e, const struct root *root);
char *words_what(const struct explanation *e, const struct root *root);
char *words_victim(const struct explanation *e, const struct victim *victim);
char *words_jobs(const struct explanation *e, const struct root *root);
char *words_chain(const struct explanation *e, const struct root *root);
json_t *words_evidence(const struct explanation *e, const struct root *root);
json_t *words_facts(const struct explanation *e);
char *words_difference(const struct explanation *e, const struct explanation *first);
struct sureness {
    const char *level;
    char why[256];
};
struct sureness words_sure(const struct explanation *e, const struct root *root);

/* explain.c: the nodes that were paused because of a root, the longest first. Returns how many. */
struct paused {
    uint32_t node;
    int64_t held_ps; /* in the measured time, of its port that was held longest */
};
uint32_t explain_paused(const struct explanation *e, const struct root *root,
                        struct paused paused[MOST_PAUSED], uint32_t *n_left_out);

/* Share of the measured time, at most 1. */
static inline double share_of_time(const struct explanation *e, int64_t ps)
{
    if (e->run.measured_ps <= 0)
        return 0;
    return ps < e->run.measured_ps ? (double)ps / (double)e->run.measured_ps : 1;
}

#endif
