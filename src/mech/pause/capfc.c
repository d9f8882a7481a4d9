/* Congestion-aware PFC: PFC by ingress queues, and a crowded egress queue also pauses the ingress
 * ports that contributed most to it.
 *
 * Source: Avci, Li, Liu, "Congestion Aware Priority Flow Control in Data Center Networks" (IFIP
 * Networking 2016), II-C to II-G and III. For ingress port i, egress port o, priority p:
 *
 *   I[p][i]     the ingress queue, or the port, is above its threshold in the buffer (as in PFC)
 *   C[p][i][o]  frames from i that joined egress queue (o, p) while it was at WARN or above
 *   E[p][i][o]  the egress queue asks for a pause of i
 *   D[p][i]     I, or any E of an egress port other than i: the link partner is paused
 *
 * Algorithm 1, Stop-Max, with B bytes in the queue and its thresholds XON <= WARN < XOFF < MAX:
 *
 *   a frame from i joins, B with it:    B >= WARN: C[i] += 1
 *                                       B >= XOFF: E = 1 for the port with the largest C
 *   a frame leaves, B without it:       B <= WARN: C = 0 for all ports
 *                                       B <= XON:  E = 0 for all ports
 *
 * Algorithm 2, Stop-Calibrate: at XOFF the ports with the largest counters, as few as together have
 * at least the share CUT of the sum, get E = 1. It is at least one port, and none whose counter is
 * 0. Among equal counters the lower port number comes first. An edge is answered only when D
 * changes (holds.h).
 *
 * A frame that is lost decides nothing; dropping at MAX is the fabric's. B counts frames from when
 * the policy is told of them: where egress queues lie in one memory with the ingress that is
 * admission, so that frames under way inside the switch count too. Counters have 2 bytes, as the
 * paper counts memory (II-G), and stop at 65535. `departures` is the other reading of II-G, which
 * updates counters when a frame "comes in and goes out": a frame that leaves is taken off, down to
 * 0.
 *
 * Cost: below WARN a frame adds its bytes. From WARN on it also increments its counter and keeps
 * the largest. Ports are looked at only from XOFF on and while a contributor has no E yet: Stop-Max
 * needs no search (with `departures` one over the ports when the largest has shrunk),
 * Stop-Calibrate a heap: O(P + k log P) for k chosen ports.
 *
 * Differs: thresholds are reached at >= where the prose says "passes", as line 7 of Algorithm 1 has
 * it; with CUT = 1 no share could pass it.
 * Differs: a frame that leaves by the port it came in by is not counted, as D leaves out o = i. So
 * at a slow receiver, which has one port, only I decides.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/pause/holds.h"

enum capfc_select { CAPFC_MAX, CAPFC_CALIBRATE };
static const char *const capfc_selects[] = {"max", "calibrate", NULL};

#define CUT_WHOLE 1000000
#define MOST UINT16_MAX    /* a counter stops here */
#define UNKNOWN UINT32_MAX /* no port */

struct capfc_params {
    struct holds_params base;
    int64_t select, xoff, xon, warn, departures;
    double cut;
};

struct capfc_cfg {
    uint32_t n_ports;
    uint8_t lossless;
    uint8_t ranks[XOFF_N_PRIORITIES]; /* index among the lossless priorities */
    bool calibrates, departures;
    int64_t xoff_bytes, xon_bytes, warn_bytes;
    uint32_t cut; /* of CUT_WHOLE */
    size_t ports_at, keys_at, counters_at, signals_at;
};

/* An egress queue. */
struct capfc_queue {
    int64_t bytes;
    uint32_t total;     /* of its counters */
    uint32_t n_open;    /* ports with a counter above 0 and no signal */
    uint32_t n_signals; /* ports with E = 1 */
    uint32_t top;       /* the port with the largest counter; UNKNOWN: to be looked for */
};

/* The state is an array of queues [rank][out_port]. Ports (struct holds), keys for the search and
 * counters and signals [rank][out_port][in_port] follow. */

static const struct xoff_param capfc_table[] = {
    {.name = "select",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct capfc_params, select),
     .preset = "calibrate",
     .choices = capfc_selects,
     .help = "Whom an egress queue at xoff pauses: the largest contributor (Stop-Max), or the "
             "largest that together reach cut (Stop-Calibrate)."},
    {.name = "cut",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct capfc_params, cut),
     .preset = "auto",
     .min = "0",
     .max = "1",
     .allows_auto = true,
     .help = "Share of the counted frames that the chosen contributors have together; with select: "
             "calibrate only; auto: 0.8."},
    {.name = "xoff",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct capfc_params, xoff),
     .preset = "auto",
     .min = "1B",
     .allows_auto = true,
     .help = "Length from which on an egress queue pauses contributors, below what it can hold; "
             "has to be given."},
    {.name = "xon",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct capfc_params, xon),
     .preset = "auto",
     .min = "0B",
     .allows_auto = true,
     .help = "Length at which an egress queue lets go all that it paused, below xoff; has to be "
             "given."},
    {.name = "warn",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct capfc_params, warn),
     .preset = "auto",
     .min = "0B",
     .allows_auto = true,
     .help = "Length from which on an egress queue counts who sends to it, from xon to below xoff; "
             "auto: xon."},
    {.name = "departures",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct capfc_params, departures),
     .preset = "false",
     .help = "Take frames that leave off their counters; false: counters are of arrivals, as in "
             "Algorithm 1."},
    HOLDS_PARAMS(struct capfc_params),
    {0},
};

/* Configuration */

static int refuse(const char *name, int64_t bytes, const char *rule, int64_t bound,
                  struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code =
        xoff_err_set(err, XOFF_E_CONFLICT, name, xoff_format_bytes(text, sizeof text, bytes), rule);
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, bound));
    return code;
}

/* Section III: XON < XOFF < MAX, and XON <= WARN < XOFF. */
static int check(const struct capfc_params *p, const struct xoff_pause_env *env,
                 struct xoff_err *err)
{
    if (p->xoff == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "xoff", NULL,
                            "capfc needs the length at which an egress queue pauses");
    if (p->xon == XOFF_PARAM_AUTO)
        return xoff_err_set(err, XOFF_E_MISSING, "xon", NULL,
                            "capfc needs the length at which an egress queue lets go");
    if (p->xon >= p->xoff)
        return refuse("xon", p->xon, "must be below xoff, which is ", p->xoff, err);
    if (env->n_ports > 1 && p->xoff >= env->egress_bytes)
        return refuse("xoff", p->xoff,
                      "must be below what an egress queue can hold (MAX), which is ",
                      env->egress_bytes, err);
    if (p->warn != XOFF_PARAM_AUTO && p->warn >= p->xoff)
        return refuse("warn", p->warn,
                      "must be below xoff, so that contributors are known when it is reached; xoff "
                      "is ",
                      p->xoff, err);
    if (p->warn != XOFF_PARAM_AUTO && p->warn < p->xon)
        return refuse(
            "warn", p->warn,
            "must not be below xon, or counters could grow old in lasting congestion; xon "
            "is ",
            p->xon, err);
    if (p->cut != (double)XOFF_PARAM_AUTO && p->select != CAPFC_CALIBRATE)
        return xoff_err_set(err, XOFF_E_CONFLICT, "cut", NULL,
                            "is the share that Stop-Calibrate pauses: only with select: calibrate");
    if (p->cut != (double)XOFF_PARAM_AUTO && !(p->cut >= 0 && p->cut <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "cut", NULL, "from 0 to 1");
    return 0;
}

static int capfc_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                           struct xoff_pause_shape *shape, struct xoff_err *err)
{
    const struct capfc_params *p = params;
    struct capfc_cfg *c = cfg;
    int code = holds_signalling(&p->base, XOFF_WIRE_PFC, &shape->signalling, err);
    if (!code)
        code = check(p, env, err);
    if (code)
        return code;
    const double cut = p->cut == (double)XOFF_PARAM_AUTO ? 0.8 : p->cut;
    *c = (struct capfc_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .calibrates = p->select == CAPFC_CALIBRATE,
        .departures = p->departures != 0,
        .xoff_bytes = p->xoff,
        .xon_bytes = p->xon,
        .warn_bytes = p->warn == XOFF_PARAM_AUTO ? p->xon : p->warn,
        /* Millionths, rounded down, so that 2 of 3 reach 2/3; the thousandth makes up for decimals
         * that have no exact double. */
        .cut = (uint32_t)(cut * CUT_WHOLE + 0.001),
    };
    const size_t n = env->n_ports, n_queues = holds_ranks(env->lossless, c->ranks) * n;
    c->ports_at = n_queues * sizeof(struct capfc_queue);
    c->keys_at = c->ports_at + n * sizeof(struct holds);
    c->counters_at = c->keys_at + n * sizeof(uint32_t);
    c->signals_at = c->counters_at + n_queues * n * sizeof(uint16_t);
    shape->state_size = c->signals_at + n_queues * n;
    shape->max_edges = env->n_ports + XOFF_MAX_CROSSINGS;
    shape->every_frame = true;
    shape->n_counters = n_queues * n;
    shape->counter_bytes = sizeof(uint16_t);
    return 0;
}

/* Parts of the state */

static struct holds *ports_of(const struct capfc_cfg *c, void *state)
{
    return (struct holds *)(void *)((char *)state + c->ports_at);
}

static const struct holds *port_at(const struct capfc_cfg *c, const void *state, uint32_t port)
{
    return (const struct holds *)(const void *)((const char *)state + c->ports_at) + port;
}

static uint16_t *counters_of(const struct capfc_cfg *c, void *state, size_t index)
{
    return (uint16_t *)(void *)((char *)state + c->counters_at) + index * c->n_ports;
}

static uint8_t *signals_of(const struct capfc_cfg *c, void *state, size_t index)
{
    return (uint8_t *)state + c->signals_at + index * c->n_ports;
}

static size_t index_of(const struct capfc_cfg *c, uint32_t in_port, uint32_t out_port,
                       uint32_t priority)
{
    XOFF_ASSERT(in_port < c->n_ports);
    XOFF_ASSERT(out_port < c->n_ports);
    return (size_t)c->ranks[priority] * c->n_ports + out_port;
}

/* Contributors */

/* Orders ports by counter, then by number, the lower first; no two have the same key. */
static uint32_t key_of(uint32_t counter, uint32_t port)
{
    return counter << 16 | (0xffff - port);
}

static uint32_t port_of(uint32_t key)
{
    return 0xffff - (key & 0xffff);
}

static void count(struct capfc_queue *queue, uint16_t *counters, const uint8_t *signals,
                  uint32_t port)
{
    if (counters[port] == MOST)
        return;
    queue->n_open += counters[port] == 0 && !signals[port];
    if (queue->total++ == 0)
        queue->top = port;
    counters[port]++;
    if (queue->top != UNKNOWN &&
        key_of(counters[port], port) > key_of(counters[queue->top], queue->top))
        queue->top = port;
}

static void take_off(struct capfc_queue *queue, uint16_t *counters, const uint8_t *signals,
                     uint32_t port)
{
    if (counters[port] == 0)
        return;
    counters[port]--;
    queue->total--;
    queue->n_open -= counters[port] == 0 && !signals[port];
    if (queue->top == port)
        queue->top = UNKNOWN;
}

static uint32_t largest(const struct capfc_cfg *c, const uint16_t *counters)
{
    uint32_t key = 0;
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (key_of(counters[port], port) > key)
            key = key_of(counters[port], port);
    return port_of(key);
}

/* Moves keys[i] down to its place in a heap of n keys, the largest on top. */
static void sift(uint32_t *keys, uint32_t n, uint32_t i)
{
    const uint32_t key = keys[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && keys[child + 1] > keys[child];
        if (keys[child] < key)
            break;
        keys[i] = keys[child];
    }
    keys[i] = key;
}

/* E = 1: the queue asks for a pause of the port. */
static void ask(const struct capfc_cfg *c, void *state, struct capfc_queue *queue, uint8_t *signals,
                uint32_t port, const struct xoff_crossing *cause, struct xoff_edges *out)
{
    if (signals[port])
        return;
    signals[port] = 1;
    queue->n_signals++;
    queue->n_open--;
    holds_change(ports_of(c, state) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless, cause, out);
}

/* Algorithm 2: the largest first, until sum / total >= CUT. */
static void ask_share(const struct capfc_cfg *c, void *state, struct capfc_queue *queue,
                      const uint16_t *counters, uint8_t *signals, const struct xoff_crossing *cause,
                      struct xoff_edges *out)
{
    uint32_t *keys = (uint32_t *)(void *)((char *)state + c->keys_at), n = 0;
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (counters[port])
            keys[n++] = key_of(counters[port], port);
    for (uint32_t i = n / 2; i-- > 0;)
        sift(keys, n, i);
    uint64_t sum = 0;
    do {
        const uint32_t key = keys[0];
        sum += key >> 16;
        ask(c, state, queue, signals, port_of(key), cause, out);
        keys[0] = keys[--n];
        sift(keys, n, 0);
    } while (n && sum * CUT_WHOLE < (uint64_t)c->cut * queue->total);
}

XOFF_SELDOM static void choose(const struct capfc_cfg *c, void *state, struct capfc_queue *queue,
                               size_t index, const struct xoff_arrival *a, struct xoff_edges *out)
{
    const uint16_t *counters = counters_of(c, state, index);
    uint8_t *signals = signals_of(c, state, index);
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 1,
        .priority = a->priority,
        .port = a->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = c->xoff_bytes,
    };
    if (queue->top == UNKNOWN)
        queue->top = largest(c, counters);
    if (c->calibrates)
        ask_share(c, state, queue, counters, signals, &cause, out);
    else
        ask(c, state, queue, signals, queue->top, &cause, out);
}

/* A frame has joined a queue at WARN or above. Out of line, so that frames below WARN spill no
 * registers. */
XOFF_SELDOM static void take_notice(const struct capfc_cfg *c, void *state,
                                    struct capfc_queue *queue, size_t index,
                                    const struct xoff_arrival *a, struct xoff_edges *out)
{
    count(queue, counters_of(c, state, index), signals_of(c, state, index), a->in_port);
    if (queue->bytes >= c->xoff_bytes && queue->n_open)
        choose(c, state, queue, index, a, out);
}

/* A frame has left a queue at WARN or below that has counted or paused. */
XOFF_SELDOM static void calm_down(const struct capfc_cfg *c, void *state, struct capfc_queue *queue,
                                  size_t index, const struct xoff_departure *d,
                                  struct xoff_edges *out)
{
    uint8_t *signals = signals_of(c, state, index);
    if (queue->total)
        memset(counters_of(c, state, index), 0, c->n_ports * sizeof(uint16_t));
    queue->total = queue->n_open = 0;
    if (queue->bytes > c->xon_bytes)
        return;
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 0,
        .priority = d->priority,
        .port = d->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = c->xon_bytes,
    };
    for (uint32_t port = 0; port < c->n_ports && queue->n_signals; port++)
        if (signals[port]) {
            signals[port] = 0;
            queue->n_signals--;
            holds_change(ports_of(c, state) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless,
                         &cause, out);
        }
}

/* Frames */

XOFF_SELDOM static void capfc_on_crossings(const void *cfg, void *state,
                                           const struct xoff_crossings *crossings, xoff_time now,
                                           struct xoff_edges *out)
{
    const struct capfc_cfg *c = cfg;
    (void)now;
    for (uint32_t i = 0; i < crossings->n; i++)
        holds_cross(ports_of(c, state), c->n_ports, XOFF_WIRE_PFC, c->lossless, &crossings->at[i],
                    out);
}

static void capfc_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                             const struct xoff_crossings *crossings, xoff_time now,
                             struct xoff_edges *out)
{
    const struct capfc_cfg *c = cfg;
    if (crossings->n)
        capfc_on_crossings(cfg, state, crossings, now, out);
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> arrival->priority & 1) || arrival->dropped)
        return;
    const size_t index = index_of(c, arrival->in_port, arrival->out_port, arrival->priority);
    struct capfc_queue *queue = (struct capfc_queue *)state + index;
    queue->bytes += arrival->bytes;
    if (queue->bytes >= c->warn_bytes && arrival->in_port != arrival->out_port)
        take_notice(c, state, queue, index, arrival, out);
}

static void capfc_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                               const struct xoff_crossings *crossings, xoff_time now,
                               struct xoff_edges *out)
{
    const struct capfc_cfg *c = cfg;
    if (crossings->n)
        capfc_on_crossings(cfg, state, crossings, now, out);
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> departure->priority & 1))
        return;
    const size_t index = index_of(c, departure->in_port, departure->out_port, departure->priority);
    struct capfc_queue *queue = (struct capfc_queue *)state + index;
    queue->bytes -= departure->bytes;
    XOFF_ASSERT(queue->bytes >= 0);
    if (queue->bytes <= c->warn_bytes) {
        if (queue->total || queue->n_signals)
            calm_down(c, state, queue, index, departure, out);
    } else if (c->departures) {
        take_off(queue, counters_of(c, state, index), signals_of(c, state, index),
                 departure->in_port);
    }
}

/* Inspection */

static uint8_t capfc_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    const struct capfc_cfg *c = cfg;
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    const struct holds *at = port_at(c, state, port);
    if (!(at->paused >> priority & 1))
        return 0;
    return at->is_above ? c->lossless : (uint8_t)(1u << priority);
}

/* A queue that signals holds the port itself. While the ingress is above, frames of the port hold
 * it wherever they are. */
static enum xoff_hold capfc_held_by(const void *cfg, const void *state, uint32_t port,
                                    uint32_t out_port, uint32_t priority)
{
    const struct capfc_cfg *c = cfg;
    const struct holds *at = port_at(c, state, port);
    const size_t index = index_of(c, port, out_port, priority);
    if (((const uint8_t *)state + c->signals_at)[index * c->n_ports + port])
        return XOFF_HOLD_YES;
    return at->is_above || at->queues_above >> priority & 1 ? XOFF_HOLD_BY_FRAMES : XOFF_HOLD_NO;
}

const struct xoff_pause_ops xoff_pause_capfc = {
    .name = "capfc",
    .summary = "congestion-aware PFC: PFC, and crowded egress queues pause main contributors",
    .params = capfc_table,
    .params_size = sizeof(struct capfc_params),
    .cfg_size = sizeof(struct capfc_cfg),
    .configure = capfc_configure,
    .on_arrival = capfc_on_arrival,
    .on_departure = capfc_on_departure,
    .on_crossings = capfc_on_crossings,
    .waits_for = capfc_waits_for,
    .held_by = capfc_held_by,
};
