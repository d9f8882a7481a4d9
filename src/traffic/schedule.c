/* Apps that offer listed flows at listed times (schedule.h). */
#include "traffic/schedule.h"

#include <stdlib.h>

#include <xoff/units.h>

/* The part of the sorted list that a sender has still to offer. */
struct schedule_state {
    uint32_t next, end;
};

int schedule_add(struct schedule **schedule, const struct schedule_entry *entry,
                 struct xoff_err *err)
{
    struct schedule *s = *schedule;
    if (!s || s->n == s->capacity) {
        const uint32_t grown = s ? 2 * s->capacity : 64;
        if (s && s->capacity > UINT32_MAX / 2)
            return bind_no_memory(err);
        struct schedule *moved = realloc(s, sizeof *s + grown * sizeof s->entries[0]);
        if (!moved)
            return bind_no_memory(err);
        if (!s)
            *moved = (struct schedule){0};
        moved->capacity = grown;
        s = *schedule = moved;
    }
    s->entries[s->n] = *entry;
    s->entries[s->n].order = s->n;
    s->n++;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct schedule_entry *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Returns the number of senders; fills in them and their parts of the list where given. */
static uint32_t find_senders(const struct schedule *s, uint32_t *hosts,
                             struct schedule_state *states)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; n++) {
        const uint32_t first = i, host = s->entries[i].from;
        while (i < s->n && s->entries[i].from == host)
            i++;
        if (!hosts)
            continue;
        hosts[n] = host;
        states[n] = (struct schedule_state){.next = first, .end = i};
    }
    return n;
}

static xoff_time schedule_deadline(const void *cfg, const void *state)
{
    const struct schedule *s = cfg;
    const struct schedule_state *st = state;
    return st->next < st->end ? s->entries[st->next].at : XOFF_NEVER;
}

static uint32_t schedule_expire(const void *cfg, void *state, struct xoff_rng *rng, xoff_time now,
                                struct app_offer *offers)
{
    const struct schedule *s = cfg;
    struct schedule_state *st = state;
    uint32_t n = 0;
    (void)rng;
    for (; n < APP_MAX_OFFERS && st->next < st->end && s->entries[st->next].at <= now; st->next++) {
        const struct schedule_entry *entry = &s->entries[st->next];
        offers[n++] = (struct app_offer){
            .to = entry->to,
            .bytes = entry->bytes,
            .rate_bps = entry->rate_bps,
            .frame_bytes = s->frame_bytes,
            .priority = entry->priority,
            .priorities = entry->priorities,
            .transport = entry->transport,
            .dport = entry->dport,
            .tag = s->tag,
        };
    }
    return n;
}

static const struct app_ops schedule_ops = {
    .name = "schedule", .deadline = schedule_deadline, .expire = schedule_expire};

static void warn_of_late(uint32_t n_late, uint32_t n, xoff_time stop, struct xoff_err *err)
{
    char text[32];
    xoff_err_set(err, XOFF_E_OK, NULL, NULL, "");
    xoff_err_add_int(err, n_late);
    xoff_err_add(err, " of ");
    xoff_err_add_int(err, n);
    xoff_err_add(err, " flows are left out: they would start at or after the run's stop, ");
    xoff_err_add(err, xoff_format_time(text, sizeof text, stop));
}

int schedule_bind(const struct traffic_env *env, struct schedule *schedule, uint32_t frame_bytes,
                  struct app_set *apps, struct xoff_err *err)
{
    if (!schedule)
        return 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->n; i++) {
        if (schedule->entries[i].at < env->stop)
            schedule->entries[n++] = schedule->entries[i];
    }
    if (n < schedule->n && n)
        warn_of_late(schedule->n - n, schedule->n, env->stop, err);
    if (n == 0) {
        free(schedule);
        return 0;
    }
    struct schedule *s = realloc(schedule, sizeof *s + n * sizeof s->entries[0]);
    if (!s) /* shrinking failed: the larger block is kept */
        s = schedule;
    s->n = s->capacity = n;
    s->tag = env->index;
    apps->n_flows += n;
    s->frame_bytes = frame_bytes;
    qsort(s->entries, n, sizeof s->entries[0], compare_entries);
    const uint32_t n_senders = find_senders(s, NULL, NULL);
    struct bind_hosts senders = {.hosts = calloc(n_senders, sizeof *senders.hosts), .n = n_senders};
    struct schedule_state *states = calloc(n_senders, sizeof *states);
    if (!senders.hosts || !states) {
        free(s);
        free(states);
        free(senders.hosts);
        return bind_no_memory(err);
    }
    find_senders(s, senders.hosts, states);
    const struct bind_made all = {
        .ops = &schedule_ops, .cfg = s, .states = states, .state_size = sizeof *states};
    const int rc = bind_apps(env, &senders, &all, apps, err);
    free(senders.hosts);
    return rc;
}
