/* Targeted PFC: a congested egress queue first pauses those who crowd it, and everyone only when
 * that was not enough.
 *
 * Source: "Fairness in a data center", 7.2 and Appendices A and B. An egress queue (port, priority)
 * of a lossless priority has three watermarks, LW < TW < HW. With q bytes in it before the frame:
 *
 *   frame joins, q >= HW:        every ingress port of the switch is paused
 *   frame joins, HW > q >= TW:   targets are chosen among the ports that sent what is in the queue
 *     targeting: random          the port that sent a frame drawn uniformly from the queue
 *     targeting: fair            every port with more than total / N of it; N ports have some
 *   frame leaves, q <= LW after: every port that this queue has paused goes on
 *
 * Targets are chosen by the first frame from TW on and then by every k-th (`every`), anew once the
 * queue has been below TW, or at LW (`rearm`). N of TW = HW - N * F is configured, or counted in
 * the queue: the ports with frames in it, or with more than the fair share of it (`count`).
 *
 * A frame that is lost decides nothing. q counts frames from admission on, those under way inside
 * the switch too. A port that several queues hold goes on when the last lets go (holds.h).
 *
 * Statistics: `kept` counts what each port has in each queue as frames come and go; `scan` keeps a
 * list of the frames and counts them when targets are chosen. Both answer alike; the first costs
 * the same for any queue, the second is what a switch without statistics would have to do.
 *
 * A choice concerns ports that are not held yet, and most enqueues need not look at any:
 *   random   the draw falls into [0, total), where the frames of held ports come first: a port is
 *            looked up only for a draw behind them.
 *   fair     `most` bounds what any port that is not held has. Arrivals raise it, a walk over all
 *            ports makes it exact again. While most * N <= total nobody is above the fair share.
 *
 * Differs: the paper counts frames of full size; watermarks are bytes here, shares either.
 * Differs: eq. 7.1 writes TW = N * F, which is the space that N targets need, not a length to act
 * at; tw: auto is HW - N * F. docs/mechanisms/tpfc.md compares the two.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/pause/holds.h"

enum tpfc_targeting { TPFC_RANDOM, TPFC_FAIR };
static const char *const tpfc_targetings[] = {"random", "fair", NULL};
enum tpfc_sample { TPFC_FRAMES, TPFC_BYTES };
static const char *const tpfc_samples[] = {"frames", "bytes", NULL};
enum tpfc_statistics { TPFC_KEPT, TPFC_SCAN };
static const char *const tpfc_statistics[] = {"kept", "scan", NULL};
enum tpfc_when { TPFC_ENQUEUE, TPFC_CROSSING };
static const char *const tpfc_whens[] = {"enqueue", "crossing", NULL};
enum tpfc_rearm { TPFC_REARM_TW, TPFC_REARM_LW };
static const char *const tpfc_rearms[] = {"tw", "lw", NULL};
enum tpfc_count { TPFC_GIVEN, TPFC_PARTNERS, TPFC_AGGRESSORS };
static const char *const tpfc_counts[] = {"given", "partners", "aggressors", NULL};

#define NO_RECORD UINT32_MAX
#define UNKNOWN UINT32_MAX
#define FOR_GOOD UINT32_MAX

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
    uint32_t n_skipped;    /* frames from TW on between choices; FOR_GOOD: one for each crossing */
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
    uint32_t head, tail; /* frames in order; `scan` alone */
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
    struct tpfc_queue queues[];
};

static const struct xoff_param tpfc_table[] = {
    {.name = "targeting",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, targeting),
     .preset = "fair",
     .choices = tpfc_targetings,
     .help = "Whom a queue at tw pauses: who sent a frame drawn from it, or everyone with more "
             "than the fair share of it."},
    {.name = "lw",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct tpfc_params, lw),
     .preset = "auto",
     .min = "0B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Length at which an egress queue lets go all that it paused, below tw; has to be "
             "given."},
    {.name = "tw",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct tpfc_params, tw),
     .preset = "auto",
     .min = "1B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Length from which on an egress queue pauses its targets; auto: hw less the headroom "
             "of as many ports as targets says."},
    {.name = "hw",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct tpfc_params, hw),
     .preset = "auto",
     .min = "1B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Length from which on an egress queue pauses all ports, above tw; has to be given."},
    {.name = "targets",
     .type = XOFF_P_INT,
     .offset = offsetof(struct tpfc_params, targets),
     .preset = "auto",
     .min = "1",
     .max = "65535",
     .allows_auto = true,
     .help = "Ports whose frames in flight fit between tw and hw; auto: 1 for tw: auto, and any "
             "tw is accepted."},
    {.name = "sample",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, sample),
     .preset = "frames",
     .choices = tpfc_samples,
     .help = "What is drawn and counted: frames, each alike, or bytes."},
    {.name = "statistics",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, statistics),
     .preset = "kept",
     .choices = tpfc_statistics,
     .help = "Counts are kept as frames come and go, or the queue is scanned for each choice; "
             "results are the same."},
    {.name = "when",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, when),
     .preset = "enqueue",
     .choices = tpfc_whens,
     .help = "Targets are chosen at every enqueue from tw on, or once each time tw is crossed."},
    {.name = "every",
     .type = XOFF_P_INT,
     .offset = offsetof(struct tpfc_params, every),
     .preset = "1",
     .min = "1",
     .max = "1000000",
     .help = "Of the frames that join a queue from tw on, every how manieth chooses targets, "
             "beginning with the first."},
    {.name = "rearm",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, rearm),
     .preset = "tw",
     .choices = tpfc_rearms,
     .help = "When a next frame at tw is the first again: once the queue has been below tw, or at "
             "lw."},
    {.name = "count",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct tpfc_params, count),
     .preset = "given",
     .choices = tpfc_counts,
     .help = "How the ports are counted whose frames in flight tw: auto leaves below hw: as "
             "targets says, or in the queue at each frame: those with frames in it, or with more "
             "than the fair share."},
    HOLDS_PARAMS(struct tpfc_params),
    {.name = "allow_loss",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct tpfc_params, allow_loss),
     .preset = "false",
     .help = "Accept an hw that leaves no room for the frames in flight of all ports."},
    {0},
};

/* Configuration */

static int refuse(const char *name, int64_t bytes, const char *message, int64_t bound,
                  const char *rest, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, name,
                                  xoff_format_bytes(text, sizeof text, bytes), message);
    xoff_err_add_int(err, bound);
    xoff_err_add(err, rest);
    return code;
}

/* The largest F: what can still arrive from one link partner after it is told to stop. */
static int64_t most_in_flight(const struct xoff_pause_env *env)
{
    int64_t most = 0;
    for (uint32_t port = 0; port < env->n_ports; port++)
        if (env->ports[port].headroom_bytes > most)
            most = env->ports[port].headroom_bytes;
    return most;
}

static int place_tw(const struct tpfc_params *p, const struct xoff_pause_env *env,
                    struct tpfc_cfg *c, struct xoff_err *err)
{
    const int64_t n = p->targets == XOFF_PARAM_AUTO ? 1 : p->targets;
    c->in_flight_bytes = most_in_flight(env);
    const int64_t needed = n * c->in_flight_bytes;
    c->tw_bytes = p->tw;
    if (c->count != TPFC_GIVEN && (p->tw != XOFF_PARAM_AUTO || p->targets != XOFF_PARAM_AUTO))
        return xoff_err_set(err, XOFF_E_CONFLICT, "count", tpfc_counts[c->count],
                            "counts the ports that place tw: leave out tw and targets, or use "
                            "given");
    if (p->tw == XOFF_PARAM_AUTO) {
        c->tw_bytes = p->hw - needed; /* HW - TW >= N * F */
        if (c->tw_bytes <= p->lw)
            return refuse("hw", p->hw,
                          "must be above lw by the headroom of the targets, which tw: auto leaves "
                          "below hw: at least ",
                          p->lw + needed + 1, "B, or give tw", err);
        if (c->count != TPFC_GIVEN) {
            c->tw_bytes = p->hw - env->n_ports * c->in_flight_bytes;
            c->tw_bytes = c->tw_bytes > p->lw ? c->tw_bytes : p->lw + 1;
        }
    }
    if (p->lw >= c->tw_bytes)
        return refuse("lw", p->lw, "must be below tw: at most ", c->tw_bytes - 1, "B", err);
    if (c->tw_bytes >= p->hw)
        return refuse("tw", c->tw_bytes, "must be below hw and above lw: at most ", p->hw - 1, "B",
                      err);
    if (p->targets != XOFF_PARAM_AUTO && p->hw - needed <= p->lw)
        return refuse("hw", p->hw,
                      "leaves no room above lw for the frames in flight of the targets: at least ",
                      p->lw + needed + 1, "B, or fewer targets", err);
    if (p->targets != XOFF_PARAM_AUTO && p->hw - c->tw_bytes < needed)
        return refuse("tw", c->tw_bytes,
                      "leaves less room below hw than the frames in flight of the targets take: "
                      "at most ",
                      p->hw - needed, "B, or fewer targets", err);
    return 0;
}

/* A queue of HW - 1 bytes takes one more frame. The frame after it finds the queue at HW or above,
 * pauses all ports, and is the first of what may still arrive from each port. */
static int check_room(const struct tpfc_params *p, const struct xoff_pause_env *env,
                      struct xoff_err *err)
{
    int64_t in_flight = 0;
    for (uint32_t port = 0; port < env->n_ports; port++)
        in_flight += env->ports[port].headroom_bytes;
    const int64_t highest = env->buffer_bytes - in_flight - env->max_frame_bytes + 1;
    if (p->hw <= highest || !env->lossless)
        return 0;
    char text[XOFF_PARAM_TEXT];
    xoff_format_bytes(text, sizeof text, p->hw);
    const int code = xoff_err_set(
        err, p->allow_loss ? XOFF_E_OK : XOFF_E_CONFLICT, "hw", text,
        p->allow_loss ? "may lose frames of lossless priorities: when a queue pauses all ports up "
                        "to "
                      : "leaves too little room in the buffer: when a queue pauses all ports up "
                        "to ");
    xoff_err_add_int(err, in_flight);
    xoff_err_add(err, "B can still arrive behind a last frame");
    if (p->allow_loss)
        return 0;
    if (highest > 0) {
        xoff_err_add(err, "; at most ");
        xoff_err_add_int(err, highest);
        xoff_err_add(err, "B, or allow_loss: true");
    } else {
        xoff_err_add(err, ", more than it holds: a larger buffer, or allow_loss: true");
    }
    return code;
}

static int check(const struct tpfc_params *p, const struct xoff_pause_env *env, struct tpfc_cfg *c,
                 struct xoff_err *err)
{
    if (p->hw == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "hw", NULL,
                            "tpfc needs the length at which a queue pauses all ports");
    if (p->lw == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "lw", NULL,
                            "tpfc needs the length at which a queue lets go");
    if (p->lw < 0)
        return refuse("lw", p->lw, "at least ", 0, "B", err);
    if (p->hw <= p->lw && p->tw != XOFF_PARAM_AUTO)
        return refuse("hw", p->hw, "must be above lw: at least ", p->lw + 2, "B", err);
    if (p->statistics == TPFC_SCAN && env->min_frame_bytes < XOFF_MIN_FRAME_BYTES)
        return xoff_err_set(err, XOFF_E_CONFLICT, "statistics", "scan",
                            "lists frames of 64B and more: not with compat: ns3");
    const int code = place_tw(p, env, c, err);
    return code ? code : check_room(p, env, err);
}

static int tpfc_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                          struct xoff_pause_shape *shape, struct xoff_err *err)
{
    const struct tpfc_params *p = params;
    struct tpfc_cfg *c = cfg;
    *c = (struct tpfc_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .is_fair = p->targeting == TPFC_FAIR,
        .counts_bytes = p->sample == TPFC_BYTES,
        .scans = p->statistics == TPFC_SCAN,
        .rearms_low = p->rearm == TPFC_REARM_LW,
        .count = (enum tpfc_count)p->count,
        .n_skipped = p->when == TPFC_CROSSING ? FOR_GOOD : (uint32_t)(p->every - 1),
        .lw_bytes = p->lw,
        .hw_bytes = p->hw,
        .rng = env->rng,
    };
    int code = holds_signalling(&p->base, XOFF_WIRE_PFC, &shape->signalling, err);
    if (!code)
        code = check(p, env, c, err);
    if (code)
        return code;
    const size_t n = env->n_ports;
    c->n_queues = holds_ranks(env->lossless, c->ranks) * n;
    if (c->scans)
        c->n_records = (uint32_t)(env->buffer_bytes / XOFF_MIN_FRAME_BYTES) + 1;
    c->ports_at = sizeof(struct tpfc_state) + c->n_queues * sizeof(struct tpfc_queue);
    c->shares_at = c->ports_at + n * sizeof(struct holds);
    c->records_at = c->shares_at + c->n_queues * n * sizeof(struct holds_share);
    shape->state_size = c->records_at + c->n_records * sizeof(struct tpfc_record);
    shape->max_edges = env->n_ports;
    shape->every_frame = true;
    return 0;
}

static void tpfc_init(const void *cfg, void *state)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    memset(state, 0, c->records_at); /* records are written before they are read */
    s->rng = c->rng;
    s->free = NO_RECORD;
    for (size_t i = 0; i < c->n_queues; i++) {
        s->queues[i].tw_bytes = c->tw_bytes;
        s->queues[i].most = UNKNOWN;
        s->queues[i].head = s->queues[i].tail = NO_RECORD;
    }
}

/* Parts of the state */

static size_t index_of(const struct tpfc_cfg *c, uint32_t in_port, uint32_t out_port,
                       uint32_t priority)
{
    XOFF_ASSERT(in_port < c->n_ports);
    XOFF_ASSERT(out_port < c->n_ports);
    return (size_t)c->ranks[priority] * c->n_ports + out_port;
}

static struct holds *ports_of(const struct tpfc_cfg *c, struct tpfc_state *s)
{
    return (struct holds *)(void *)((char *)s + c->ports_at);
}

static struct holds_share *shares_of(const struct tpfc_cfg *c, struct tpfc_state *s, size_t index)
{
    return (struct holds_share *)(void *)((char *)s + c->shares_at) + index * c->n_ports;
}

static struct tpfc_record *record_at(const struct tpfc_cfg *c, struct tpfc_state *s, uint32_t i)
{
    return (struct tpfc_record *)(void *)((char *)s + c->records_at) + i;
}

static uint32_t amount_of(const struct tpfc_cfg *c, uint32_t bytes)
{
    return c->counts_bytes ? bytes : 1;
}

/* Statistics, kept */

static inline void count_in(struct tpfc_queue *queue, struct holds_share *share, uint32_t amount)
{
    queue->n_sources += share->amount == 0;
    queue->total += amount;
    share->amount += amount;
    if (share->is_held)
        queue->held_total += amount;
    else if (share->amount > queue->most)
        queue->most = share->amount;
}

static inline void count_out(struct tpfc_queue *queue, struct holds_share *share, uint32_t amount)
{
    XOFF_ASSERT(share->amount >= amount);
    queue->total -= amount;
    share->amount -= amount;
    queue->n_sources -= share->amount == 0;
    if (share->is_held)
        queue->held_total -= amount;
}

/* Statistics by scan */

static void record_in(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                      const struct xoff_arrival *a)
{
    uint32_t i = s->free;
    if (i == NO_RECORD) {
        XOFF_ASSERT(s->n_used < c->n_records); /* one for each smallest frame that fits */
        i = s->n_used++;
    } else {
        s->free = record_at(c, s, i)->next;
    }
    *record_at(c, s, i) = (struct tpfc_record){NO_RECORD, a->bytes, a->in_port};
    if (queue->head == NO_RECORD)
        queue->head = i;
    else
        record_at(c, s, queue->tail)->next = i;
    queue->tail = i;
}

static void record_out(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                       const struct xoff_departure *d)
{
    const uint32_t i = queue->head;
    XOFF_ASSERT(i != NO_RECORD);
    struct tpfc_record *r = record_at(c, s, i);
    XOFF_ASSERT(r->in_port == d->in_port && r->bytes == d->bytes); /* queues are in order */
    queue->head = r->next;
    r->next = s->free;
    s->free = i;
}

static void scan(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                 struct holds_share *shares)
{
    queue->total = queue->n_sources = queue->held_total = 0;
    queue->most = UNKNOWN;
    for (uint32_t port = 0; port < c->n_ports; port++)
        shares[port].amount = 0;
    for (uint32_t i = queue->head; i != NO_RECORD; i = record_at(c, s, i)->next) {
        const struct tpfc_record *r = record_at(c, s, i);
        count_in(queue, &shares[r->in_port], amount_of(c, r->bytes));
    }
}

/* Targets */

static void hold(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                 struct holds_share *shares, uint32_t port, const struct xoff_crossing *cause,
                 struct xoff_edges *out)
{
    shares[port].is_held = 1;
    queue->held_total += shares[port].amount;
    queue->n_held++;
    holds_change(ports_of(c, s) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless, cause, out);
}

static void hold_all(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                     struct holds_share *shares, const struct xoff_crossing *cause,
                     struct xoff_edges *out)
{
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (!shares[port].is_held)
            hold(c, s, queue, shares, port, cause, out);
}

/* Holds the port that sent the drawn frame or byte. The draw counts held ports first, then the
 * others by number. */
static void hold_drawn(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                       struct holds_share *shares, const struct xoff_crossing *cause,
                       struct xoff_edges *out)
{
    const uint32_t drawn = (uint32_t)xoff_rng_below(&s->rng, queue->total);
    if (drawn < queue->held_total)
        return;
    uint32_t rest = drawn - queue->held_total, port = 0;
    while (shares[port].is_held || rest >= shares[port].amount) {
        rest -= shares[port].is_held ? 0 : shares[port].amount;
        port++;
        XOFF_ASSERT(port < c->n_ports);
    }
    hold(c, s, queue, shares, port, cause, out);
}

/* Whether n_i > total / N, without the division. */
static bool is_above_fair(const struct tpfc_queue *queue, uint32_t amount)
{
    return (uint64_t)amount * queue->n_sources > queue->total;
}

static void hold_unfair(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                        struct holds_share *shares, const struct xoff_crossing *cause,
                        struct xoff_edges *out)
{
    uint32_t most = 0;
    for (uint32_t port = 0; port < c->n_ports; port++) {
        if (shares[port].is_held)
            continue;
        if (is_above_fair(queue, shares[port].amount))
            hold(c, s, queue, shares, port, cause, out);
        else if (shares[port].amount > most)
            most = shares[port].amount;
    }
    queue->most = most;
}

/* TW of a queue that counts its N: HW - N * F, and above LW. With nobody above the fair share there
 * is one port to come, as for `targets: auto`. */
static void place_by_count(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                           struct holds_share *shares)
{
    if (c->scans)
        scan(c, s, queue, shares);
    int64_t n = queue->n_sources;
    if (c->count == TPFC_AGGRESSORS) {
        n = 0;
        for (uint32_t port = 0; port < c->n_ports; port++)
            n += is_above_fair(queue, shares[port].amount);
    }
    const int64_t tw_bytes = c->hw_bytes - (n > 1 ? n : 1) * c->in_flight_bytes;
    queue->tw_bytes = tw_bytes > c->tw_bytes ? tw_bytes : c->tw_bytes;
}

/* Chooses whom to hold when a frame arrives for a queue at TW or above. */
static void choose(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                   struct holds_share *shares, const struct xoff_arrival *a, struct xoff_edges *out)
{
    const bool is_high = queue->bytes >= c->hw_bytes;
    const uint32_t to_skip = queue->to_skip;
    if (to_skip == 0)
        queue->to_skip = c->n_skipped;
    else if (to_skip != FOR_GOOD)
        queue->to_skip--;
    if (queue->n_held == c->n_ports || (to_skip && !is_high))
        return;
    if (c->scans)
        scan(c, s, queue, shares);
    if (!is_high && c->is_fair && queue->most != UNKNOWN && !is_above_fair(queue, queue->most))
        return;
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 1,
        .priority = a->priority,
        .port = a->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = is_high ? c->hw_bytes : queue->tw_bytes,
    };
    if (is_high)
        hold_all(c, s, queue, shares, &cause, out);
    else if (c->is_fair)
        hold_unfair(c, s, queue, shares, &cause, out);
    else
        hold_drawn(c, s, queue, shares, &cause, out);
}

XOFF_SELDOM static void let_go(const struct tpfc_cfg *c, struct tpfc_state *s,
                               struct tpfc_queue *queue, struct holds_share *shares,
                               const struct xoff_departure *d, struct xoff_edges *out)
{
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 0,
        .priority = d->priority,
        .port = d->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = c->lw_bytes,
    };
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (shares[port].is_held) {
            shares[port].is_held = 0;
            holds_change(ports_of(c, s) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless, &cause,
                         out);
        }
    queue->n_held = queue->held_total = 0;
}

/* Frames */

static void tpfc_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            const struct xoff_crossings *crossings, xoff_time now,
                            struct xoff_edges *out)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    (void)crossings, (void)now;
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> arrival->priority & 1) || arrival->dropped)
        return;
    const size_t index = index_of(c, arrival->in_port, arrival->out_port, arrival->priority);
    struct tpfc_queue *queue = &s->queues[index];
    struct holds_share *shares = shares_of(c, s, index);
    if (c->count != TPFC_GIVEN && queue->bytes >= c->tw_bytes)
        place_by_count(c, s, queue, shares);
    if (queue->bytes >= queue->tw_bytes)
        choose(c, s, queue, shares, arrival, out);
    queue->bytes += arrival->bytes;
    if (c->scans)
        record_in(c, s, queue, arrival);
    else
        count_in(queue, &shares[arrival->in_port], amount_of(c, arrival->bytes));
}

static void tpfc_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                              const struct xoff_crossings *crossings, xoff_time now,
                              struct xoff_edges *out)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    (void)crossings, (void)now;
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> departure->priority & 1))
        return;
    const size_t index = index_of(c, departure->in_port, departure->out_port, departure->priority);
    struct tpfc_queue *queue = &s->queues[index];
    struct holds_share *shares = shares_of(c, s, index);
    queue->bytes -= departure->bytes;
    if (c->scans)
        record_out(c, s, queue, departure);
    else
        count_out(queue, &shares[departure->in_port], amount_of(c, departure->bytes));
    if (queue->bytes >= queue->tw_bytes)
        return;
    if (!c->rearms_low || queue->bytes <= c->lw_bytes)
        queue->to_skip = 0;
    queue->most = UNKNOWN;
    if (queue->bytes <= c->lw_bytes && queue->n_held)
        let_go(c, s, queue, shares, departure, out);
}

/* Inspection */

static enum xoff_hold tpfc_held_by(const void *cfg, const void *state, uint32_t port,
                                   uint32_t out_port, uint32_t priority)
{
    const struct tpfc_cfg *c = cfg;
    const void *shares = (const char *)state + c->shares_at;
    return holds_answer(shares, c->n_ports, c->ranks[priority], out_port, port);
}

static uint8_t tpfc_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    const struct tpfc_cfg *c = cfg;
    const struct holds *ports =
        (const struct holds *)(const void *)((const char *)state + c->ports_at);
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return ports[port].paused & (uint8_t)(1u << priority);
}

const struct xoff_pause_ops xoff_pause_tpfc = {
    .name = "tpfc",
    .summary = "targeted PFC: a filling egress queue pauses first those who crowd it",
    .params = tpfc_table,
    .params_size = sizeof(struct tpfc_params),
    .cfg_size = sizeof(struct tpfc_cfg),
    .configure = tpfc_configure,
    .init = tpfc_init,
    .on_arrival = tpfc_on_arrival,
    .on_departure = tpfc_on_departure,
    .waits_for = tpfc_waits_for,
    .held_by = tpfc_held_by,
};
