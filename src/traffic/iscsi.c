/* Traffic kind iscsi: initiators that keep a number of SCSI commands under way at targets, over
 * TCP-like connections (RFC 7143).
 *
 *   read    command -> Data-In, the whole of `size`, and the response behind it
 *   write   command -> R2T -> Data-Out of a burst -> R2T -> ... -> response
 *
 * Every PDU has a header of 48 bytes; data are cut into PDUs of up to `segment` bytes
 * (MaxRecvDataSegmentLength) and a target asks for up to `burst` bytes at a time (MaxBurstLength,
 * MaxOutstandingR2T = 1). PDUs that one side sends together are one message. A command is an
 * operation that ends with its response; `think` later its place is used for the next.
 *
 * A pair of hosts has one connection for its commands: a connection each way. A target keeps no
 * state: type of the PDU (3 bits), number of the burst (11) and place of the command at the
 * initiator (10) travel in the word, sizes are the entry's.
 *
 * Differs: no immediate or unsolicited data (InitialR2T=Yes, ImmediateData=No), no login, no
 * digests, no Data-Out in answer to more than one R2T at a time; targets answer in no time.
 */
#include "traffic/kinds.h"
#include "traffic/targets.h"

#include <stdlib.h>
#include <string.h>

#define PDU_HEADER 48
#define MAX_DEPTH 1024
#define MAX_BURSTS 2048
#define BURST_SHIFT 10
#define TYPE_SHIFT 21

enum iscsi_type { READ, WRITE, DATA_IN, R2T, DATA_OUT, RESPONSE };

struct iscsi_params {
    struct targets_params targets;
    int64_t size, depth, think, burst, segment;
    double read;
    struct bind_period period;
    struct bind_carriage carriage;
};

struct iscsi_cfg {
    struct app_offer offer;
    xoff_time think, stop;
    uint64_t size, burst, segment;
    double read;
    uint32_t depth, n_bursts;
    uint32_t n_own;               /* connections to targets; those to initiators follow */
    struct bind_hosts initiators; /* their array is in `lists` */
    struct bind_hosts pool;       /* targets to draw from; also in `lists` */
    uint32_t lists[];
};

/* A place for one command under way. */
struct iscsi_place {
    xoff_time at;   /* start of the command under way, or earliest start of the next */
    uint32_t queue; /* ring of the numbers of free places, in order of use */
};

struct iscsi_state {
    xoff_time due_at;
    struct targets_one target;
    uint32_t first, n_free; /* free part of the ring */
    uint32_t n_places;      /* 0: the host is no initiator */
    struct iscsi_place places[];
};

static const struct xoff_param iscsi_table[] = {
    {.name = "from",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct iscsi_params, targets.from),
     .preset = "all",
     .help = "Initiators: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},
    {.name = "to",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct iscsi_params, targets.to),
     .preset = "all",
     .help = "Targets, named like the initiators."},
    TARGETS_PATTERN(struct iscsi_params, targets_patterns, "uniform"),
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct iscsi_params, size),
     .preset = "64KiB",
     .min = "1B",
     .max = "1000000GB",
     .help = "Data of a command."},
    {.name = "read",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct iscsi_params, read),
     .preset = "0.5",
     .min = "0",
     .max = "1",
     .help = "Part of the commands that read; the others write."},
    {.name = "depth",
     .type = XOFF_P_INT,
     .offset = offsetof(struct iscsi_params, depth),
     .preset = "1",
     .min = "1",
     .max = "1024",
     .help = "Commands of an initiator under way at a time."},
    {.name = "think",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct iscsi_params, think),
     .preset = "0s",
     .help = "Time from the end of a command to the next in its place."},
    {.name = "burst",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct iscsi_params, burst),
     .preset = "256KiB",
     .min = "512B",
     .max = "16777215B",
     .help = "Data of a write that a target asks for at a time (MaxBurstLength)."},
    {.name = "segment",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct iscsi_params, segment),
     .preset = "8KiB",
     .min = "512B",
     .max = "16777215B",
     .help = "Data in one PDU at most (MaxRecvDataSegmentLength)."},
    BIND_PERIOD(struct iscsi_params),
    BIND_CARRIAGE(struct iscsi_params),
    {0},
};

static uint32_t word_of(enum iscsi_type type, uint32_t burst, uint32_t place)
{
    return (uint32_t)type << TYPE_SHIFT | burst << BURST_SHIFT | place;
}

/* Returns the bytes of data with the headers of their PDUs. */
static uint64_t with_headers(const struct iscsi_cfg *cfg, uint64_t bytes)
{
    return bytes + (bytes + cfg->segment - 1) / cfg->segment * PDU_HEADER;
}

static uint64_t burst_bytes(const struct iscsi_cfg *cfg, uint32_t burst)
{
    const uint64_t left = cfg->size - burst * cfg->burst;
    return left < cfg->burst ? left : cfg->burst;
}

static xoff_time iscsi_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct iscsi_state *)state)->due_at;
}

static void release(const struct iscsi_cfg *cfg, struct iscsi_state *st, uint32_t place,
                    xoff_time at)
{
    st->places[place].at = at;
    st->places[(st->first + st->n_free++) % cfg->depth].queue = place;
}

static void fill(const struct iscsi_cfg *cfg, uint32_t to, uint32_t connection, uint64_t bytes,
                 uint32_t word, struct app_offer *offer)
{
    *offer = cfg->offer;
    offer->to = to;
    offer->connection = connection;
    offer->bytes = bytes;
    offer->word = word;
}

/* Returns the initiator's connection to a target. */
static uint32_t own_stream(const struct iscsi_cfg *cfg, uint32_t target)
{
    return cfg->pool.n ? bind_position(&cfg->pool, target) : 0;
}

/* Begins the commands that are due and appends their requests to the n offers. `think` is the same
 * for all, so places become due in the order in which they were released. */
static uint32_t begin(const struct iscsi_cfg *cfg, struct iscsi_state *st, struct xoff_rng *rng,
                      xoff_time now, struct app_offer *offers, uint32_t n)
{
    st->due_at = XOFF_NEVER;
    while (st->n_free) {
        const uint32_t place = st->places[st->first].queue;
        const xoff_time at = st->places[place].at;
        if (at >= cfg->stop)
            return n;
        if (at > now || n == APP_MAX_OFFERS) {
            st->due_at = at > now ? at : now;
            return n;
        }
        const uint32_t to = targets_draw(&st->target, cfg->pool.hosts, cfg->pool.n, rng);
        const bool is_read = cfg->read > 0 && (cfg->read >= 1 || xoff_rng_unit(rng) < cfg->read);
        st->places[place].at = now;
        st->first = (st->first + 1) % cfg->depth;
        st->n_free--;
        fill(cfg, to, own_stream(cfg, to), PDU_HEADER, word_of(is_read ? READ : WRITE, 0, place),
             &offers[n++]);
    }
    return n;
}

static uint32_t iscsi_expire(const void *config, void *state, struct xoff_rng *rng, xoff_time now,
                             struct app_offer *offers)
{
    struct iscsi_state *st = state;
    return st->due_at <= now ? begin(config, st, rng, now, offers, 0) : 0;
}

static uint32_t end(const struct iscsi_cfg *cfg, struct iscsi_state *st, struct xoff_rng *rng,
                    const struct app_event *event, uint32_t place, xoff_time now,
                    struct app_offer *offers)
{
    fill(cfg, event->peer, 0, cfg->size, 0, &offers[0]);
    offers[0].continues = offers[0].is_message = false;
    offers[0].is_done = true;
    offers[0].began_at = st->places[place].at;
    release(cfg, st, place, xoff_time_after(now, cfg->think));
    return begin(cfg, st, rng, now, offers, 1);
}

static uint32_t iscsi_on_event(const void *config, void *state, struct xoff_rng *rng,
                               const struct app_event *event, xoff_time now,
                               struct app_offer *offers)
{
    const struct iscsi_cfg *cfg = config;
    const uint32_t place = event->word & (MAX_DEPTH - 1);
    const uint32_t burst = event->word >> BURST_SHIFT & (MAX_BURSTS - 1);
    const enum iscsi_type type = event->word >> TYPE_SHIFT;
    if (event->kind != APP_ARRIVED)
        return 0;
    if (type == DATA_IN || type == RESPONSE)
        return end(cfg, state, rng, event, place, now, offers);
    if (type == R2T) {
        fill(cfg, event->peer, own_stream(cfg, event->peer),
             with_headers(cfg, burst_bytes(cfg, burst)), word_of(DATA_OUT, burst, place),
             &offers[0]);
        return 1;
    }
    const uint32_t connection = cfg->n_own + bind_position(&cfg->initiators, event->peer);
    const uint32_t next = type == WRITE ? 0 : burst + 1;
    if (type == READ)
        fill(cfg, event->peer, connection, with_headers(cfg, cfg->size) + PDU_HEADER,
             word_of(DATA_IN, 0, place), &offers[0]);
    else if (next < cfg->n_bursts)
        fill(cfg, event->peer, connection, PDU_HEADER, word_of(R2T, next, place), &offers[0]);
    else
        fill(cfg, event->peer, connection, PDU_HEADER, word_of(RESPONSE, 0, place), &offers[0]);
    return 1;
}

static uint64_t iscsi_under_way(const void *config, const void *state)
{
    const struct iscsi_state *st = state;
    (void)config;
    return st->n_places - st->n_free;
}

static const struct app_ops iscsi_ops = {.name = "iscsi",
                                         .deadline = iscsi_deadline,
                                         .expire = iscsi_expire,
                                         .on_event = iscsi_on_event,
                                         .n_under_way = iscsi_under_way};

static int check(const struct iscsi_params *p, struct xoff_err *err)
{
    int rc = bind_size("size", p->size, err);
    XOFF_ASSERT(p->depth >= 1 && p->depth <= MAX_DEPTH);
    XOFF_ASSERT(p->burst > 0 && p->segment > 0);
    if (rc == 0 && (p->size - 1) / p->burst >= MAX_BURSTS)
        rc = xoff_err_set(err, XOFF_E_RANGE, "size", NULL,
                          "a write has at most 2048 bursts; accepted are 2048 times `burst`");
    if (rc == 0 && p->think < 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, "think", NULL, "a time from 0s on is accepted");
    return rc;
}

static struct iscsi_cfg *make_cfg(const struct iscsi_params *p, const struct app_offer *offer,
                                  xoff_time stop, const struct targets *targets)
{
    const uint32_t n_senders = targets->senders.n, n_pool = targets->pool.n;
    struct iscsi_cfg *cfg =
        calloc(1, sizeof *cfg + ((size_t)n_senders + n_pool) * sizeof cfg->lists[0]);
    if (!cfg)
        return NULL;
    *cfg = (struct iscsi_cfg){
        .offer = *offer,
        .think = p->think,
        .stop = stop,
        .size = (uint64_t)p->size,
        .burst = (uint64_t)p->burst,
        .segment = (uint64_t)p->segment,
        .read = p->read,
        .depth = (uint32_t)p->depth,
        .n_bursts = (uint32_t)((p->size - 1) / p->burst + 1),
        .n_own = n_pool ? n_pool : 1,
        .initiators = {.hosts = cfg->lists, .n = n_senders},
        .pool = {.hosts = cfg->lists + n_senders, .n = n_pool},
    };
    cfg->offer.continues = cfg->offer.is_message = true;
    memcpy(cfg->initiators.hosts, targets->senders.hosts, n_senders * sizeof cfg->lists[0]);
    if (n_pool)
        memcpy(cfg->pool.hosts, targets->pool.hosts, n_pool * sizeof cfg->lists[0]);
    return cfg;
}

/* Collects initiators and targets, each host once. */
static int all_hosts(const struct traffic_env *env, const struct targets *targets,
                     struct bind_hosts *out, struct xoff_err *err)
{
    struct bind_hosts steady = {.hosts = calloc(targets->senders.n, sizeof(uint32_t))};
    if (!steady.hosts)
        return bind_no_memory(err);
    for (uint32_t i = 0; i < targets->senders.n; i++) {
        if (targets_is_steady(&targets->ones[i]))
            steady.hosts[steady.n++] = targets->ones[i].to;
    }
    const int rc =
        bind_union(env, &targets->senders, steady.n ? &steady : &targets->pool, out, err);
    free(steady.hosts);
    return rc;
}

static int make_apps(const struct traffic_env *env, xoff_time start, struct iscsi_cfg *cfg,
                     const struct targets *targets, struct app_set *apps, struct xoff_err *err)
{
    struct bind_hosts all = {0};
    int rc = cfg ? all_hosts(env, targets, &all, err) : bind_no_memory(err);
    if (rc) {
        free(cfg);
        return rc;
    }
    struct bind_made made = {
        .ops = &iscsi_ops,
        .cfg = cfg,
        .state_size = sizeof(struct iscsi_state) + cfg->depth * sizeof(struct iscsi_place),
        .n_connections = cfg->n_own + cfg->initiators.n,
    };
    made.states = calloc(all.n, made.state_size);
    for (uint32_t i = 0; made.states && i < all.n; i++) {
        struct iscsi_state *st = (void *)((char *)made.states + i * made.state_size);
        const uint32_t sender = bind_position(&cfg->initiators, all.hosts[i]);
        st->due_at = XOFF_NEVER;
        if (sender == cfg->initiators.n || start >= cfg->stop)
            continue;
        st->due_at = start;
        st->n_places = cfg->depth;
        st->target = targets->ones[sender];
        for (uint32_t place = 0; place < cfg->depth; place++)
            release(cfg, st, place, start);
    }
    rc = bind_apps(env, &all, &made, apps, err);
    free(all.hosts);
    return rc;
}

static int iscsi_bind(const struct traffic_env *env, const void *params, const void *items,
                      uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct iscsi_params *p = params;
    struct app_offer offer;
    struct bind_period period;
    struct targets targets;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc == 0)
        rc = check(p, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &period, err);
    if (rc == 0)
        rc = targets_bind(env, &p->targets, TARGETS_UNIFORM, &targets, err);
    if (rc)
        return rc;
    rc = make_apps(env, period.start, make_cfg(p, &offer, period.stop, &targets), &targets, apps,
                   err);
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_iscsi = {
    .name = "iscsi",
    .summary = "initiators that keep reads and writes under way at targets",
    .params = iscsi_table,
    .params_size = sizeof(struct iscsi_params),
    .bind = iscsi_bind,
};
