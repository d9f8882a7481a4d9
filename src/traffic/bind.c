/* Checks and building blocks that the kinds share (bind.h). */
#include "traffic/bind.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "base/text.h"

/* Purposes of random streams. Apps are distinguished by entry within a host, bind() by the owner,
 * which is the entry. Both are far from the small numbers that nodes use. */
#define PURPOSE_BIND UINT64_C(0x62000000)
#define PURPOSE_APPS UINT32_C(0x61000000)

static void set_subject(struct xoff_err *err, const char *key)
{
    if (!err)
        return;
    struct text t = text_at(err->subject, sizeof err->subject, 0);
    text_add(&t, key);
}

int bind_hosts(const struct traffic_env *env, const char *key, const char *set,
               struct bind_hosts *out, struct xoff_err *err)
{
    *out = (struct bind_hosts){0};
    if (set[strspn(set, " \t")] == '\0')
        return xoff_err_set(err, XOFF_E_MISSING, key, set,
                            "name hosts: all, h3, h0..h15, leaf0 (its hosts), or a list of these");
    uint32_t *hosts = calloc(env->topo->n_hosts ? env->topo->n_hosts : 1, sizeof *hosts);
    if (!hosts)
        return bind_no_memory(err);
    uint32_t n = 0;
    int rc = env->hosts(env->topo, set, hosts, &n, err);
    if (rc)
        set_subject(err, key);
    else if (n == 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, key, set, "no host is in this set");
    if (rc) {
        free(hosts);
        return rc;
    }
    *out = (struct bind_hosts){.hosts = hosts, .n = n};
    return 0;
}

int bind_host(const struct traffic_env *env, const char *key, const char *set, uint32_t *host,
              struct xoff_err *err)
{
    struct bind_hosts list;
    int rc = bind_hosts(env, key, set, &list, err);
    if (rc)
        return rc;
    *host = list.hosts[0];
    if (list.n > 1)
        rc = xoff_err_set(err, XOFF_E_RANGE, key, set, "one host is accepted here");
    free(list.hosts);
    return rc;
}

int bind_union(const struct traffic_env *env, const struct bind_hosts *a,
               const struct bind_hosts *b, struct bind_hosts *out, struct xoff_err *err)
{
    bool *marks = calloc(env->topo->n_hosts, sizeof *marks);
    *out = (struct bind_hosts){.hosts = calloc(env->topo->n_hosts, sizeof *out->hosts)};
    if (!marks || !out->hosts) {
        free(marks);
        free(out->hosts);
        *out = (struct bind_hosts){0};
        return bind_no_memory(err);
    }
    for (uint32_t i = 0; i < a->n; i++)
        marks[a->hosts[i]] = true;
    for (uint32_t i = 0; i < b->n; i++)
        marks[b->hosts[i]] = true;
    for (uint32_t i = 0; i < env->topo->n_hosts; i++) {
        if (marks[i])
            out->hosts[out->n++] = i;
    }
    free(marks);
    return 0;
}

uint32_t bind_position(const struct bind_hosts *list, uint32_t host)
{
    uint32_t low = 0, high = list->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->hosts[middle] < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->n && list->hosts[low] == host ? low : list->n;
}

int bind_period(const struct traffic_env *env, const struct bind_period *params,
                struct bind_period *out, struct xoff_err *err)
{
    char text[32];
    *out = *params;
    if (params->start < 0)
        return xoff_err_set(err, XOFF_E_RANGE, "start", NULL, "a time from 0s on is accepted");
    if (params->stop == XOFF_PARAM_AUTO || params->stop > env->stop)
        out->stop = env->stop;
    else if (params->stop <= params->start)
        return xoff_err_set(err, XOFF_E_RANGE, "stop",
                            xoff_format_time(text, sizeof text, params->stop),
                            "it must come after start");
    if (out->start > out->stop)
        out->start = out->stop;
    return 0;
}

uint32_t bind_header(const struct traffic_env *env, uint8_t transport)
{
    return env->header ? env->header(env->transport_context, transport) : env->header_bytes;
}

int bind_frame(const struct traffic_env *env, uint8_t transport, int64_t frame, uint32_t *bytes,
               struct xoff_err *err)
{
    char text[32];
    const uint32_t header = bind_header(env, transport);
    const int64_t smallest =
        header < XOFF_MIN_FRAME_BYTES ? XOFF_MIN_FRAME_BYTES : (int64_t)header + 1;
    if (frame == XOFF_PARAM_AUTO)
        frame = env->max_frame_bytes;
    if (frame < smallest || frame > env->max_frame_bytes) {
        xoff_err_set(err, XOFF_E_RANGE, "frame", xoff_format_bytes(text, sizeof text, frame),
                     "accepted are frames from ");
        xoff_err_add_int(err, smallest);
        xoff_err_add(err, "B to the network's largest, ");
        xoff_err_add_int(err, env->max_frame_bytes);
        xoff_err_add(err, "B");
        return -XOFF_E_RANGE;
    }
    *bytes = (uint32_t)frame;
    return 0;
}

static uint32_t host_link(const struct traffic_env *env, uint32_t host)
{
    return env->topo->ports[env->topo->nodes[host].first_port].link;
}

xoff_rate bind_line_rate(const struct traffic_env *env, uint32_t host)
{
    return env->topo->links[host_link(env, host)].rate_bps;
}

/* The highest rate of a host's link during the run. */
static xoff_rate highest_rate(const struct traffic_env *env, uint32_t host)
{
    const uint32_t link = host_link(env, host);
    xoff_rate highest = env->topo->links[link].rate_bps;
    for (uint32_t i = 0; i < env->topo->n_changes; i++) {
        const struct topo_change *change = &env->topo->changes[i];
        if (change->link == link && change->kind == TOPO_CHANGE_RATE && change->rate_bps > highest)
            highest = change->rate_bps;
    }
    return highest;
}

int bind_rate(const struct traffic_env *env, int64_t rate, const struct bind_hosts *senders,
              xoff_rate *rate_bps, struct xoff_err *err)
{
    char text[32];
    *rate_bps = 0;
    if (rate == XOFF_PARAM_AUTO)
        return 0;
    if (rate <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "rate", "0", "a rate above 0 or auto is accepted");
    *rate_bps = (xoff_rate)rate;
    for (uint32_t i = 0; i < senders->n; i++) {
        const xoff_rate highest = highest_rate(env, senders->hosts[i]);
        if (*rate_bps <= highest)
            continue;
        xoff_err_set(err, XOFF_E_RANGE, "rate", xoff_format_rate(text, sizeof text, *rate_bps),
                     "accepted is at most the rate of the link of ");
        xoff_err_add(err, env->topo->nodes[senders->hosts[i]].name);
        xoff_err_add(err, ", ");
        xoff_err_add(err, xoff_format_rate(text, sizeof text, highest));
        xoff_err_add(err, ", or auto");
        return -XOFF_E_RANGE;
    }
    return 0;
}

int bind_load(double load, struct xoff_err *err)
{
    char text[32];
    if (load > 0 && load <= 1)
        return 0;
    return xoff_err_set(err, XOFF_E_RANGE, "load", xoff_format_real(text, sizeof text, load),
                        "a load above 0 and up to 1 is accepted, as 0.6 or 60 %");
}

int bind_load_or_every(double load, xoff_time every, struct xoff_err *err)
{
    const bool has_load = load != XOFF_PARAM_AUTO, has_every = every != XOFF_PARAM_AUTO;
    if (has_load == has_every)
        return xoff_err_set(err, has_load ? XOFF_E_CONFLICT : XOFF_E_MISSING,
                            has_load ? "every" : "load", NULL,
                            "one of load, as 0.5, and every, the mean time from one arrival to the "
                            "next, is accepted");
    if (has_load)
        return bind_load(load, err);
    return every > 0
               ? 0
               : xoff_err_set(err, XOFF_E_RANGE, "every", NULL, "a time above 0s is accepted");
}

int bind_size(const char *key, int64_t bytes, struct xoff_err *err)
{
    char text[32];
    if (bytes > 0)
        return 0;
    return xoff_err_set(err, XOFF_E_RANGE, key,
                        bytes ? "negative" : xoff_format_bytes(text, sizeof text, bytes),
                        "a flow has at least 1B");
}

int bind_transport(const struct traffic_env *env, const char *name, uint8_t *transport,
                   struct xoff_err *err)
{
    const int index =
        env->transport ? env->transport(env->transport_context, name) : (*name ? -1 : 0);
    if (index == -2)
        return xoff_err_set(err, XOFF_E_RANGE, "transport", name,
                            "too many different transports; accepted are up to 16 in all");
    if (index < 0)
        return xoff_err_set(err, XOFF_E_UNKNOWN, "transport", name,
                            "no such transport; accepted are datagram, none, dcqcn or another kind "
                            "of transport, or the name of one of the scenario's transports");
    XOFF_ASSERT(index <= UINT8_MAX);
    *transport = (uint8_t)index;
    return 0;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* Reads a priority at `text`; NULL: there is none. */
static const char *read_priority(const char *text, uint32_t *priority)
{
    *priority = (uint32_t)(*text - '0');
    return *text >= '0' && *text < '0' + XOFF_N_PRIORITIES ? text + 1 : NULL;
}

/* Reads "0..6", "1, 3", "0..2, 5" as a set; false: the text is anything else. */
static bool read_priorities(const char *text, uint8_t *set)
{
    *set = 0;
    for (;;) {
        uint32_t first, last;
        text = read_priority(skip_blanks(text), &first);
        last = first;
        if (text && strncmp(text, "..", 2) == 0)
            text = read_priority(text + 2, &last);
        if (!text || last < first)
            return false;
        for (uint32_t p = first; p <= last; p++)
            *set |= (uint8_t)(1u << p);
        text = skip_blanks(text);
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

int bind_offer(const struct traffic_env *env, const struct bind_carriage *carriage,
               struct app_offer *out, struct xoff_err *err)
{
    const char *const set = carriage->priorities;
    *out = (struct app_offer){.priority = (uint8_t)carriage->priority, .tag = env->index};
    if (*skip_blanks(set)) {
        if (!read_priorities(set, &out->priorities))
            return xoff_err_set(err, XOFF_E_RANGE, "priorities", set,
                                "accepted are priorities from 0 to 7, as 0..6 or [1, 3]");
        if (carriage->priority)
            return xoff_err_set(err, XOFF_E_CONFLICT, "priorities", set,
                                "each flow gets one of these; leave `priority` out, or give it "
                                "alone");
    }
    return bind_transport(env, carriage->transport, &out->transport, err);
}

bool bind_is_acknowledged(const struct traffic_env *env, uint8_t transport)
{
    return !env->acknowledges || env->acknowledges(env->transport_context, transport);
}

struct xoff_rng bind_rng(const struct traffic_env *env)
{
    struct xoff_rng rng;
    xoff_rng_init(&rng, env->seed, env->index, PURPOSE_BIND);
    return rng;
}

void bind_shuffle(struct xoff_rng *rng, uint32_t *hosts, uint32_t n_hosts, uint32_t n)
{
    for (uint32_t i = 0; i < n && i + 1 < n_hosts; i++) {
        const uint32_t other = i + (uint32_t)xoff_rng_below(rng, n_hosts - i);
        const uint32_t host = hosts[i];
        hosts[i] = hosts[other];
        hosts[other] = host;
    }
}

int bind_no_memory(struct xoff_err *err)
{
    return xoff_err_set(err, XOFF_E_NO_MEMORY, "traffic", NULL,
                        "not enough memory for this traffic");
}

int bind_apps(const struct traffic_env *env, const struct bind_hosts *hosts,
              const struct bind_made *made, struct app_set *apps, struct xoff_err *err)
{
    if (!made->cfg || !made->states) {
        free(made->cfg);
        free(made->states);
        return bind_no_memory(err);
    }
    int rc = app_set_keep(apps, made->cfg);
    const int rc_states = app_set_keep(apps, made->states);
    if (rc == 0)
        rc = rc_states;
    for (uint32_t i = 0; rc == 0 && i < hosts->n; i++) {
        const struct app app = {
            .ops = made->ops,
            .host = hosts->hosts[i],
            .stream_purpose = PURPOSE_APPS + env->index,
            .tag = env->index,
            .n_connections = made->n_connections,
            .cfg = made->cfg,
            .state = (char *)made->states + i * made->state_size,
            .state_size = made->state_size,
        };
        rc = app_set_add(apps, &app);
    }
    return rc ? bind_no_memory(err) : 0;
}
