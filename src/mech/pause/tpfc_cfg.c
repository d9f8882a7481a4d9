/* Parameters of targeted PFC: watermarks that are in order, and room for what they let arrive.
 *
 * Source: as tpfc.c; the room above HW and below it follows from what a link partner can still send
 * (docs/mechanisms/tpfc.md).
 */
#include "mech/pause/tpfc.h"

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
static const char *const tpfc_counts[] = {"given", "partners", "aggressors", NULL};

const struct xoff_param xoff_tpfc_params[] = {
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
    const int64_t room =
        env->egress_bytes < env->buffer_bytes ? env->egress_bytes : env->buffer_bytes;
    const int64_t highest = room - in_flight - env->max_frame_bytes + 1;
    if (p->hw <= highest || !env->lossless)
        return 0;
    char text[XOFF_PARAM_TEXT];
    xoff_format_bytes(text, sizeof text, p->hw);
    const int code = xoff_err_set(
        err, p->allow_loss ? XOFF_E_OK : XOFF_E_CONFLICT, "hw", text,
        p->allow_loss ? "may lose frames of lossless priorities: when a queue pauses all ports up "
                        "to "
                      : "leaves too little room above it: when a queue pauses all ports up "
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

int xoff_tpfc_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
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
        .n_skipped = p->when == TPFC_CROSSING ? TPFC_FOR_GOOD : (uint32_t)(p->every - 1),
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
    shape->n_counters = c->n_queues * n;
    shape->counter_bytes = sizeof(uint32_t);
    return 0;
}
