/* Resolution of senders and receivers (targets.h). */
#include "traffic/targets.h"

#include <stdlib.h>

const char *const targets_steady[] = {"pairs", "shift", "random", "all-to-one", NULL};
const char *const targets_patterns[] = {"pairs", "shift", "random", "all-to-one", "uniform", NULL};

static int refuse_self(const struct traffic_env *env, const char *key, uint32_t host,
                       const char *message, struct xoff_err *err)
{
    return xoff_err_set(err, XOFF_E_CONFLICT, key, env->topo->nodes[host].name, message);
}

/* Removes the senders whose only possible receiver is themselves. */
static int leave_out_selves(const struct traffic_env *env, const struct bind_hosts *to,
                            struct bind_hosts *senders, struct xoff_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < senders->n; i++) {
        if (to->n > 1 || to->hosts[0] != senders->hosts[i])
            senders->hosts[n++] = senders->hosts[i];
    }
    senders->n = n;
    if (n)
        return 0;
    return refuse_self(env, "to", to->hosts[0],
                       "a host does not send to itself; name another sender or receiver", err);
}

static int place_pairs(const struct traffic_env *env, const struct bind_hosts *to, uint64_t shift,
                       struct targets *out, struct xoff_err *err)
{
    for (uint32_t i = 0; i < out->senders.n; i++) {
        const uint32_t host = to->hosts[(i + shift) % to->n];
        if (host == out->senders.hosts[i])
            return refuse_self(env, shift ? "shift" : "to", host,
                               "this pattern makes the host send to itself; accepted are sets and "
                               "a shift that do not",
                               err);
        out->ones[i].to = host;
    }
    return 0;
}

static void place_random(const struct traffic_env *env, const struct bind_hosts *to,
                         struct targets *out)
{
    struct xoff_rng rng = bind_rng(env);
    for (uint32_t i = 0; i < out->senders.n; i++) {
        const struct targets_one any = {.to = TOPO_NONE,
                                        .self = bind_position(to, out->senders.hosts[i])};
        out->ones[i].to = targets_draw(&any, to->hosts, to->n, &rng);
    }
}

static int place(const struct traffic_env *env, enum targets_pattern pattern, int64_t shift,
                 struct bind_hosts *to, struct targets *out, struct xoff_err *err)
{
    int rc = 0;
    switch (pattern) {
    case TARGETS_PAIRS:
        if (to->n != out->senders.n) {
            xoff_err_set(err, XOFF_E_CONFLICT, "to", NULL,
                         "pairs need as many receivers as senders: ");
            xoff_err_add_int(err, to->n);
            xoff_err_add(err, " against ");
            xoff_err_add_int(err, out->senders.n);
            xoff_err_add(err, "; other patterns are shift, random and all-to-one");
            return -XOFF_E_CONFLICT;
        }
        return place_pairs(env, to, 0, out, err);
    case TARGETS_SHIFT:
        if (shift < 0)
            return xoff_err_set(err, XOFF_E_RANGE, "shift", "negative",
                                "a number from 0 on is accepted");
        return place_pairs(env, to, (uint64_t)shift, out, err);
    case TARGETS_ALL_TO_ONE:
        if (to->n != 1)
            return xoff_err_set(err, XOFF_E_CONFLICT, "to", NULL,
                                "one host is accepted with all-to-one");
        rc = leave_out_selves(env, to, &out->senders, err);
        for (uint32_t i = 0; i < out->senders.n; i++)
            out->ones[i].to = to->hosts[0];
        return rc;
    case TARGETS_RANDOM:
        rc = leave_out_selves(env, to, &out->senders, err);
        if (rc == 0)
            place_random(env, to, out);
        return rc;
    case TARGETS_UNIFORM:
        rc = leave_out_selves(env, to, &out->senders, err);
        for (uint32_t i = 0; i < out->senders.n; i++)
            out->ones[i] = (struct targets_one){.to = TOPO_NONE,
                                                .self = bind_position(to, out->senders.hosts[i])};
        out->pool = *to;
        *to = (struct bind_hosts){0};
        return rc;
    }
    return rc;
}

int targets_bind(const struct traffic_env *env, const struct targets_params *params,
                 enum targets_pattern other, struct targets *out, struct xoff_err *err)
{
    struct bind_hosts to = {0};
    *out = (struct targets){0};
    int rc = bind_hosts(env, "from", params->from, &out->senders, err);
    if (rc == 0)
        rc = bind_hosts(env, "to", params->to, &to, err);
    if (rc == 0) {
        out->ones = calloc(out->senders.n, sizeof *out->ones);
        if (!out->ones)
            rc = bind_no_memory(err);
    }
    enum targets_pattern pattern = (enum targets_pattern)params->pattern;
    if (params->pattern == XOFF_PARAM_AUTO)
        pattern = to.n == 1 ? TARGETS_ALL_TO_ONE : other;
    if (rc == 0)
        rc = place(env, pattern, params->shift, &to, out, err);
    free(to.hosts);
    if (rc)
        targets_fini(out);
    return rc;
}

void targets_fini(struct targets *targets)
{
    free(targets->senders.hosts);
    free(targets->pool.hosts);
    free(targets->ones);
    *targets = (struct targets){0};
}
