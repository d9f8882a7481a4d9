/* Ranks of a parallel program on hosts, for the kinds in which hosts wait for each other:
 * mpi-exchange, allreduce and all-to-all.
 *
 * Every host has the same number of ranks; one app per host plays all of its ranks. A rank goes
 * through iterations. Its next action depends only on what has arrived at, or been acknowledged to,
 * its own host. Between ranks of one host messages pass through memory, in no time and without
 * being offered. A rank that ends an iteration notes it as an operation.
 *
 * Each kind supplies advance(), which does all that a rank can do at an instant. The loop around it
 * handles answers that are full, messages between ranks of the host, and the deadline.
 */
#ifndef TRAFFIC_RANKS_H
#define TRAFFIC_RANKS_H

#include "traffic/bind.h"

#define RANKS_MAX_PER_HOST 256 /* a rank's number on its host takes 8 bits of a word */

struct ranks_params {
    char hosts[XOFF_PARAM_TEXT];
    int64_t per_host, placement, size, iterations, gap;
    struct bind_period period;
    struct bind_carriage carriage;
};
extern const char *const ranks_placements[];

#define RANKS_PARAMS(params, size_help, iterations_preset)                                         \
    {.name = "hosts",                                                                              \
     .type = XOFF_P_TEXT,                                                                          \
     .offset = offsetof(params, ranks.hosts),                                                      \
     .preset = "all",                                                                              \
     .help = "Who takes part: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},          \
        {.name = "ranks_per_host",                                                                 \
         .type = XOFF_P_INT,                                                                       \
         .offset = offsetof(params, ranks.per_host),                                               \
         .preset = "1",                                                                            \
         .min = "1",                                                                               \
         .max = "256",                                                                             \
         .help = "Ranks on each host; among themselves they exchange in no time."},                \
        {.name = "placement",                                                                      \
         .type = XOFF_P_CHOICE,                                                                    \
         .offset = offsetof(params, ranks.placement),                                              \
         .preset = "linear",                                                                       \
         .choices = ranks_placements,                                                              \
         .help =                                                                                   \
             "Ranks in the order of the hosts, those of a host together, or shuffled by seed."},   \
        {.name = "size",                                                                           \
         .type = XOFF_P_BYTES,                                                                     \
         .offset = offsetof(params, ranks.size),                                                   \
         .min = "1B",                                                                              \
         .max = "1000000GB",                                                                       \
         .help = size_help},                                                                       \
        {.name = "iterations",                                                                     \
         .type = XOFF_P_INT,                                                                       \
         .offset = offsetof(params, ranks.iterations),                                             \
         .preset = iterations_preset,                                                              \
         .min = "1",                                                                               \
         .allows_auto = true,                                                                      \
         .help = "How often; auto: until stop."},                                                  \
    {                                                                                              \
        .name = "gap", .type = XOFF_P_TIME, .offset = offsetof(params, ranks.gap), .preset = "0s", \
        .help = "Time of computation from an iteration of a rank to its next."                     \
    }

/* An answer being filled. */
struct ranks_out {
    struct app_offer *offers;
    uint32_t n;
    bool is_full; /* an offer was due but found no room */
};

/* Common to all ranks; the first member of a kind's rank. */
struct rank {
    xoff_time began_at; /* start of the running iteration */
    xoff_time wake_at;  /* time to look again; XOFF_NEVER: only after an event */
    uint64_t iteration;
    bool is_running;
};

/* State of a host. Its ranks follow in memory, rank_size bytes each. */
struct ranks_app {
    xoff_time due_at;
    uint32_t place; /* position of the host in `hosts` */
};

struct ranks;
/* Does all that a rank can do now. Returns true when it gave something to another rank of the
 * host. */
typedef bool ranks_advance(const struct ranks *ranks, struct ranks_app *app, uint32_t local,
                           xoff_time now, struct ranks_out *out);

/* Shared by all hosts; the first member of a kind's cfg. Rank r lives at slot_of[r] = place *
 * per_host + number on the host. */
struct ranks {
    struct app_offer offer; /* template */
    xoff_time stop, gap;
    uint64_t iterations, size;
    uint32_t n, per_host;
    const uint32_t *hosts, *slot_of, *rank_at;
    size_t rank_size;
    ranks_advance *advance;
};

/* Fills *out except rank_size and advance; its tables go to `apps`. The caller owns *hosts. */
int ranks_bind(const struct traffic_env *env, const struct ranks_params *params, struct ranks *out,
               struct bind_hosts *hosts, struct app_set *apps, struct xoff_err *err);
/* Makes the apps; takes ownership of cfg, which begins with its struct ranks. */
int ranks_apps(const struct traffic_env *env, const struct ranks_params *params,
               const struct app_ops *ops, const struct bind_hosts *hosts, void *cfg,
               uint32_t n_connections, struct app_set *apps, struct xoff_err *err);

/* Members of struct app_ops. */
xoff_time ranks_deadline(const void *cfg, const void *state);
uint32_t ranks_expire(const void *cfg, void *state, struct xoff_rng *rng, xoff_time now,
                      struct app_offer *offers);
uint64_t ranks_under_way(const void *cfg, const void *state);
/* Called at the end of an on_event(): lets the ranks do what they can after the event. */
uint32_t ranks_run(const struct ranks *ranks, struct ranks_app *app, xoff_time now,
                   struct app_offer *offers);

/* The functions below are for advance(). */

/* Returns a copy of the template to fill, or NULL when there is no room. */
struct app_offer *ranks_offer(const struct ranks *ranks, struct ranks_out *out);
/* Whether the rank is in an iteration. Begins the next one if it is due. */
bool ranks_is_running(struct rank *rank, xoff_time now);
/* Notes the iteration as an operation and ends it; false when there is no room. */
bool ranks_end(const struct ranks *ranks, const struct ranks_app *app, struct rank *rank,
               uint64_t bytes, xoff_time now, struct ranks_out *out);

static inline void *ranks_rank(const struct ranks *ranks, struct ranks_app *app, uint32_t local)
{
    return (char *)(app + 1) + local * ranks->rank_size;
}

/* Convert between a rank and its number on a host. */
static inline uint32_t ranks_number(const struct ranks *ranks, const struct ranks_app *app,
                                    uint32_t local)
{
    return ranks->rank_at[app->place * ranks->per_host + local];
}

static inline uint32_t ranks_local(const struct ranks *ranks, uint32_t number)
{
    return ranks->slot_of[number] % ranks->per_host;
}

static inline uint32_t ranks_place(const struct ranks *ranks, uint32_t number)
{
    return ranks->slot_of[number] / ranks->per_host;
}

#endif
