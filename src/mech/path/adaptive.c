/* Adaptive load balancing: every frame takes one of the least occupied equal-cost ports.
 *
 * Source: Zats et al., "DeTail: reducing the flow completion time tail in datacenter networks",
 * SIGCOMM 2012, section 4.2. A port's occupancy, as a frame sees it, is its drain bytes: what is
 * queued there and leaves before the frame, that is at its priority or one that goes before it. Two
 * thresholds divide the ports into three bands,
 *
 *   favoured: occupancy < low      next: low <= occupancy < high      last: high <= occupancy
 *
 * and the frame takes a port of the best band that is not empty, drawn uniformly. When all ports
 * are above the thresholds, the draw is among them all. DeTail has 16 KB and 64 KB; hardware keeps
 * a bitmap of favoured ports for each priority and threshold.
 *
 * Differs: a port whose link is down is taken only if all are, since a switch sees its own links
 * before routing does. DeTail has strict priorities only; a queue that shares the link by weight
 * with the frame's own does not count.
 */
#include <xoff/path.h>

struct adaptive_params {
    int64_t low, high;
};

struct adaptive_cfg {
    int64_t low_bytes, high_bytes;
};

static const struct xoff_param adaptive_table[] = {
    {.name = "low",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct adaptive_params, low),
     .preset = "16KB",
     .min = "1B",
     .help = "Ports with less than this queued before the frame are favoured."},
    {.name = "high",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct adaptive_params, high),
     .preset = "64KB",
     .min = "1B",
     .help = "Ports with less than this come next; not below low."},
    {0},
};

static int adaptive_configure(const void *params, const struct xoff_path_env *env, void *cfg,
                              struct xoff_path_shape *shape, struct xoff_err *err)
{
    const struct adaptive_params *p = params;
    struct adaptive_cfg *c = cfg;
    if (p->low > p->high) {
        xoff_err_set(err, XOFF_E_CONFLICT, "low", NULL, "is above high: ports with less than ");
        xoff_err_add_int(err, p->low);
        xoff_err_add(err, " B are favoured over those with less than ");
        xoff_err_add_int(err, p->high);
        xoff_err_add(err, " B, so low is at most high");
        return -XOFF_E_CONFLICT;
    }
    *c = (struct adaptive_cfg){.low_bytes = p->low, .high_bytes = p->high};
    *shape = (struct xoff_path_shape){
        .draws = true, .sees_egress = true, .even_below = p->low}; /* all are favoured */
    memcpy(shape->counts, env->ahead, sizeof shape->counts);
    return 0;
}

enum { BAND_DOWN = 3 }; /* 0 is the best */

static inline uint32_t band_of(const struct adaptive_cfg *c, const struct xoff_path_port *port)
{
    const uint32_t band =
        (uint32_t)(port->queue_bytes >= c->low_bytes) + (port->queue_bytes >= c->high_bytes);
    return port->is_up ? band : BAND_DOWN;
}

static uint32_t adaptive_choose(const void *cfg, void *state, const struct xoff_path_frame *frame,
                                xoff_time now)
{
    const struct adaptive_cfg *c = cfg;
    uint32_t best = BAND_DOWN, n_best = 0;
    (void)state, (void)now;
    for (uint32_t i = 0; i < frame->n; i++) {
        const uint32_t band = band_of(c, &frame->egress[i]);
        if (band < best) {
            best = band;
            n_best = 0;
        }
        n_best += band == best;
    }
    uint32_t index = 0;
    for (uint32_t left = xoff_path_by_value(frame->draw, n_best);; index++)
        if (band_of(c, &frame->egress[index]) == best && left-- == 0)
            return index;
}

const struct xoff_path_ops xoff_path_adaptive = {
    .name = "adaptive",
    .summary = "anew for every frame, among the least occupied ports (DeTail)",
    .params = adaptive_table,
    .params_size = sizeof(struct adaptive_params),
    .cfg_size = sizeof(struct adaptive_cfg),
    .configure = adaptive_configure,
    .choose = adaptive_choose,
};
