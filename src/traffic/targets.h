/* Who sends to whom: the sets `from` and `to` and the pattern between them.
 *
 *   pairs       the i-th host of `from` sends to the i-th of `to`, in host order
 *   shift       the i-th host of `from` sends to number i + shift of `to`, round about
 *   random      each sender has one destination, chosen of `to` by the seed
 *   all-to-one  `to` is one host
 *   uniform     each offer goes to a host of `to` drawn anew
 *
 * Nobody sends to itself: random and uniform choose among the others; a host of `from` for which
 * `to` holds nobody else is left out; the other patterns refuse it.
 */
#ifndef TRAFFIC_TARGETS_H
#define TRAFFIC_TARGETS_H

#include "traffic/bind.h"

enum targets_pattern {
    TARGETS_PAIRS,
    TARGETS_SHIFT,
    TARGETS_RANDOM,
    TARGETS_ALL_TO_ONE,
    TARGETS_UNIFORM
};
extern const char *const targets_steady[];   /* choices without uniform */
extern const char *const targets_patterns[]; /* all of them */

struct targets_params {
    char from[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT];
    int64_t pattern, shift;
};

#define TARGETS_SETS(params)                                                       \
    {.name = "from",                                                               \
     .type = XOFF_P_TEXT,                                                          \
     .offset = offsetof(params, targets.from),                                     \
     .preset = "all",                                                              \
     .help = "Senders: all, h3, h0..h15, leaf0 (its hosts), or a list of these."}, \
    {                                                                              \
        .name = "to", .type = XOFF_P_TEXT, .offset = offsetof(params, targets.to), \
        .preset = "all", .help = "Receivers, named like the senders."              \
    }

#define TARGETS_PATTERN(params, patterns, other)                                            \
    {.name = "pattern",                                                                     \
     .type = XOFF_P_CHOICE,                                                                 \
     .offset = offsetof(params, targets.pattern),                                           \
     .preset = "auto",                                                                      \
     .choices = patterns,                                                                   \
     .allows_auto = true,                                                                   \
     .help = "Who sends to whom; auto: all-to-one when `to` is one host, else " other "."}, \
    {                                                                                       \
        .name = "shift", .type = XOFF_P_INT, .offset = offsetof(params, targets.shift),     \
        .preset = "1", .min = "0", .max = "1000000",                                        \
        .help = "Pattern shift: how many places further the receiver is."                   \
    }

/* The receiver of one sender's offers. Plain bytes, part of an app's state. */
struct targets_one {
    uint32_t to;   /* TOPO_NONE: drawn for each offer */
    uint32_t self; /* own position in the pool, or the pool's length */
};

struct targets {
    struct bind_hosts senders;
    struct bind_hosts pool;   /* `to`, for uniform; else empty */
    struct targets_one *ones; /* per sender */
};

/* `other` is the meaning of auto when `to` has several hosts. */
int targets_bind(const struct traffic_env *env, const struct targets_params *params,
                 enum targets_pattern other, struct targets *out, struct xoff_err *err);
void targets_fini(struct targets *targets);

static inline bool targets_is_steady(const struct targets_one *one)
{
    return one->to != TOPO_NONE;
}

static inline uint32_t targets_draw(const struct targets_one *one, const uint32_t *pool,
                                    uint32_t n_pool, struct xoff_rng *rng)
{
    if (targets_is_steady(one))
        return one->to;
    const bool is_in = one->self < n_pool;
    uint32_t place = (uint32_t)xoff_rng_below(rng, n_pool - is_in);
    place += is_in && place >= one->self;
    return pool[place];
}

#endif
