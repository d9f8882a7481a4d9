/* Used by every traffic kind to bind its parameters before it has apps: the parameters that several
 * kinds share, their checks against the network, and the hand-over of cfg and states.
 *
 * Errors name the key; messages say what is accepted. All blocks are from malloc. Nothing here is
 * called while a network runs.
 */
#ifndef TRAFFIC_BIND_H
#define TRAFFIC_BIND_H

#include <stddef.h>

#include <xoff/param.h>

#include "traffic/traffic.h"

/* `priority`, `priorities`, `transport`: how flows are carried. */
struct bind_carriage {
    int64_t priority;
    char priorities[XOFF_PARAM_TEXT];
    char transport[XOFF_PARAM_TEXT];
};

#define BIND_CARRIAGE(params) BIND_CARRIAGE_IN(params, carriage)
#define BIND_CARRIAGE_IN(params, field)                                                          \
    {.name = "priority",                                                                         \
     .type = XOFF_P_INT,                                                                         \
     .offset = offsetof(params, field.priority),                                                 \
     .preset = "0",                                                                              \
     .min = "0",                                                                                 \
     .max = "7",                                                                                 \
     .help = "Priority of the frames."},                                                         \
        {.name = "priorities",                                                                   \
         .type = XOFF_P_TEXT,                                                                    \
         .offset = offsetof(params, field.priorities),                                           \
         .preset = "",                                                                           \
         .help =                                                                                 \
             "Priorities of which each flow gets one, drawn uniformly: 0..6, or [1, 3]; empty: " \
             "`priority`."},                                                                     \
    {                                                                                            \
        .name = "transport", .type = XOFF_P_TEXT, .offset = offsetof(params, field.transport),   \
        .preset = "",                                                                            \
        .help = "Transport of the flows: datagram, none, dcqcn or another kind, or one of the "  \
                "scenario's transports; empty: the scenario's own."                              \
    }

/* `start`, `stop`: offers are made from start on and before stop. */
struct bind_period {
    int64_t start, stop;
};

#define BIND_PERIOD(params) BIND_PERIOD_IN(params, period)
#define BIND_PERIOD_IN(params, field)                      \
    {.name = "start",                                      \
     .type = XOFF_P_TIME,                                  \
     .offset = offsetof(params, field.start),              \
     .preset = "0s",                                       \
     .help = "From here on, after the start of the run."}, \
        BIND_STOP_IN(params, field)
#define BIND_STOP_IN(params, field)                                                  \
    {                                                                                \
        .name = "stop", .type = XOFF_P_TIME, .offset = offsetof(params, field.stop), \
        .preset = "auto", .allows_auto = true,                                       \
        .help = "Nothing new is begun from here on; auto: the run's stop."           \
    }

#define BIND_FRAME(params)                                                        \
    {                                                                             \
        .name = "frame", .type = XOFF_P_BYTES, .offset = offsetof(params, frame), \
        .preset = "auto", .min = "64B", .allows_auto = true,                      \
        .help = "MAC frame with FCS; auto: the largest of the network."           \
    }

#define BIND_RATE(params)                                                                        \
    {                                                                                            \
        .name = "rate", .type = XOFF_P_RATE, .offset = offsetof(params, rate), .preset = "auto", \
        .min = "1bps", .allows_auto = true,                                                      \
        .help = "Pace of each flow in bits of MAC frames; auto: line rate."                      \
    }

/* A list of hosts in ascending order; the owner frees `hosts`. */
struct bind_hosts {
    uint32_t *hosts;
    uint32_t n;
};

/* Finds the hosts of a set, at least one. */
int bind_hosts(const struct traffic_env *env, const char *key, const char *set,
               struct bind_hosts *out, struct xoff_err *err);
/* Finds the host of a set that must name exactly one. */
int bind_host(const struct traffic_env *env, const char *key, const char *set, uint32_t *host,
              struct xoff_err *err);
/* Makes the union of two lists, which may be in any order and name hosts twice. */
int bind_union(const struct traffic_env *env, const struct bind_hosts *a,
               const struct bind_hosts *b, struct bind_hosts *out, struct xoff_err *err);
/* Returns the position of a host in a list, or the list's length. */
uint32_t bind_position(const struct bind_hosts *list, uint32_t host);

/* `out` ends at the run's stop at the latest; it may then be empty (start == stop). */
int bind_period(const struct traffic_env *env, const struct bind_period *params,
                struct bind_period *out, struct xoff_err *err);
/* Bytes of a frame that are not payload. */
uint32_t bind_header(const struct traffic_env *env, uint8_t transport);
int bind_frame(const struct traffic_env *env, uint8_t transport, int64_t frame, uint32_t *bytes,
               struct xoff_err *err);
/* Refuses a pace that no sender's link can keep. Returns the rate as an offer has it: 0 for
 * auto. */
int bind_rate(const struct traffic_env *env, int64_t rate, const struct bind_hosts *senders,
              xoff_rate *rate_bps, struct xoff_err *err);
/* Accepts a load above 0 and up to 1. */
int bind_load(double load, struct xoff_err *err);
/* Checks that one of the two is given and good; the other is XOFF_PARAM_AUTO. */
int bind_load_or_every(double load, xoff_time every, struct xoff_err *err);
/* Checks the bytes of a flow, which were given under `key`. */
int bind_size(const char *key, int64_t bytes, struct xoff_err *err);

/* Makes an offer of this entry with everything set but to, bytes, rate and frame. */
int bind_offer(const struct traffic_env *env, const struct bind_carriage *carriage,
               struct app_offer *out, struct xoff_err *err);
/* Finds the transport of that name; "": the scenario's own. */
int bind_transport(const struct traffic_env *env, const char *name, uint8_t *transport,
                   struct xoff_err *err);

/* Whether the transport acknowledges what it carries. */
bool bind_is_acknowledged(const struct traffic_env *env, uint8_t transport);

/* Rate of a host's link at the start of the run. */
xoff_rate bind_line_rate(const struct traffic_env *env, uint32_t host);
/* Random stream for the choices of bind() itself: one per entry. */
struct xoff_rng bind_rng(const struct traffic_env *env);
/* Puts a random choice of n hosts, in random order, at the front of the list; each host is equally
 * likely. */
void bind_shuffle(struct xoff_rng *rng, uint32_t *hosts, uint32_t n_hosts, uint32_t n);

int bind_no_memory(struct xoff_err *err);
/* The data that the apps of an entry are made of. A NULL block is refused as lack of memory. */
struct bind_made {
    const struct app_ops *ops;
    void *cfg;    /* shared by all apps */
    void *states; /* state_size bytes each, in the order of the hosts */
    size_t state_size;
    uint32_t n_connections; /* connections of each app; 0: one */
};
/* Makes one app per host; takes ownership of cfg and states, also on failure. */
int bind_apps(const struct traffic_env *env, const struct bind_hosts *hosts,
              const struct bind_made *made, struct app_set *apps, struct xoff_err *err);

#endif
