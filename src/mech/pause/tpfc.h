/* Targeted PFC in two files: tpfc_cfg.c reads and checks its parameters, tpfc.c decides by them. */
#ifndef PAUSE_TPFC_H
#define PAUSE_TPFC_H

#include "mech/pause/holds.h"

#define TPFC_FOR_GOOD UINT32_MAX

/* How the N that places TW is known: as configured, or counted in the queue. */
enum tpfc_count { TPFC_GIVEN, TPFC_PARTNERS, TPFC_AGGRESSORS };

struct tpfc_params {
    struct holds_params base;
    int64_t targeting, lw, tw, hw, targets, sample, statistics, when, allow_loss;
    int64_t every, rearm, count;
};

struct tpfc_cfg {
    uint32_t n_ports, n_records;
    uint8_t lossless;
    uint8_t ranks[XOFF_N_PRIORITIES]; /* index among the lossless priorities */
    bool is_fair, counts_bytes, scans;
    bool rearms_low;       /* at LW, not below TW */
    enum tpfc_count count; /* of the N that places TW */
    uint32_t n_skipped;    /* frames from TW on between choices; TPFC_FOR_GOOD: all of a crossing */
    int64_t lw_bytes, hw_bytes;
    int64_t tw_bytes;        /* with a counted N: the lowest that TW can be */
    int64_t in_flight_bytes; /* F, of the port that has most */
    struct xoff_rng rng;     /* at its start */
    size_t n_queues, ports_at, shares_at, records_at;
};

/* An egress queue. What is counted is frames or bytes, as `sample` says; a buffer has less than
 * 2^32 of either. With `scan` the counts are those of the last choice. */
struct tpfc_queue {
    int64_t bytes;
    int64_t tw_bytes;    /* as of the last arrival, where N is counted */
    uint32_t total;      /* counted, of all ports */
    uint32_t n_sources;  /* ports with frames in it */
    uint32_t most;       /* no port that is not held has more; UNKNOWN below TW */
    uint32_t held_total; /* counted, of ports it holds */
    uint32_t n_held;
    uint32_t to_skip;    /* frames from TW on that choose no targets */
    uint32_t head, tail; /* frames as they came; `scan` alone */
};

/* A frame in a queue, or a free record. */
struct tpfc_record {
    uint32_t next, bytes, in_port;
};

/* The state begins with this struct and its queues [rank][out_port]; ports, shares
 * [rank][out_port][in_port] and records follow. */
struct tpfc_state {
    struct xoff_rng rng;
    uint32_t free, n_used; /* list of free records; how many were ever used */
    uint64_t scans;        /* frames are listed, not counted */
    struct tpfc_queue queues[];
};

extern const struct xoff_param xoff_tpfc_params[];
/* The role's configure(). */
int xoff_tpfc_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                        struct xoff_pause_shape *shape, struct xoff_err *err);

#endif
