/* Configuration of buffers with one shared pool (shared.h). */
#include <string.h>

#include <xoff/headroom.h>
#include <xoff/units.h>

#include "mech/mmu/shared.h"

const char *const xoff_shared_rules[] = {"worst", "eta", NULL};

/* Finds whole numbers for a double in (0, SHARED_MAX_ALPHA]. If it is the double nearest to a
 * fraction with a denominator up to 1024, that fraction is meant (1/3, 0.7); otherwise it is
 * rounded to a multiple of 2^-40.
 *
 * A denominator 2^k becomes a shift by k, which is exact. For any other denominator,
 * mul = ceil(num * 2^50 / den) exceeds the true value by e / den with e < den, so x * mul / 2^50
 * exceeds x * num / den by x * e / (den * 2^50) < 1 / den for x < 2^40. That is not enough to reach
 * the next whole number. */
struct xoff_ratio xoff_ratio_of(double value)
{
    uint64_t num, den = 1;
    do {
        num = (uint64_t)(value * (double)den + 0.5);
    } while ((double)num / (double)den != value && ++den <= 1024);
    if (den > 1024) {
        num = (uint64_t)(value * 0x1p40 + 0.5);
        den = UINT64_C(1) << 40;
    }
    if ((den & (den - 1)) == 0) {
        uint32_t shift = 0;
        while (den >> shift > 1)
            shift++;
        while (shift > 0 && num % 2 == 0)
            num /= 2, shift--;
        return (struct xoff_ratio){.mul = num, .shift = shift};
    }
    const uint64_t whole = num / den, rest = num % den;
    return (struct xoff_ratio){.mul = (whole << 50) + ((rest << 50) + den - 1) / den, .shift = 50};
}

uint32_t xoff_shared_n_lossless(const struct xoff_mmu_env *env)
{
    return (uint32_t)__builtin_popcount(env->lossless);
}

static int refuse(const struct xoff_param *table, const void *params, const char *name,
                  enum xoff_err_code code, const char *message, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    xoff_param_format(xoff_param_find(table, name), params, text, sizeof text);
    return xoff_err_set(err, code, name, text, message);
}

/* The headroom that a lossless queue of the port needs: the worst case, or one frame if none was
 * computed. */
static int64_t needed_bytes(const struct xoff_mmu_env *env, uint32_t port)
{
    const int64_t bound = env->ports[port].headroom_bytes;
    return bound > 0 ? bound : env->max_frame_bytes;
}

static bool is_short(const struct xoff_mmu_env *env, uint32_t port, int64_t bytes, bool allow_loss)
{
    return bytes < env->ports[port].headroom_bytes || (bytes == 0 && !allow_loss);
}

int xoff_shared_check_headroom(const struct xoff_mmu_env *env, const int64_t *limit_bytes,
                               const char *key, bool allow_loss, struct xoff_err *err)
{
    /* The message names the port that needs most, because its figure suffices for all. */
    uint32_t worst = env->n_ports;
    for (uint32_t port = 0; port < env->n_ports; port++)
        if (is_short(env, port, limit_bytes[port], allow_loss) &&
            (worst == env->n_ports || needed_bytes(env, port) > needed_bytes(env, worst)))
            worst = port;
    if (worst == env->n_ports)
        return 0;
    char text[XOFF_PARAM_TEXT];
    xoff_format_bytes(text, sizeof text, limit_bytes[worst]);
    if (allow_loss) {
        xoff_err_set(err, XOFF_E_OK, key, text,
                     "may lose frames of lossless priorities: after XOFF is decided up to ");
        xoff_err_add_int(err, needed_bytes(env, worst));
        xoff_err_add(err, "B can arrive");
        return 0;
    }
    const int code = xoff_err_set(err, XOFF_E_RANGE, key, text,
                                  "a lossless priority loses what arrives after XOFF and finds no "
                                  "headroom; port ");
    xoff_err_add_int(err, worst);
    xoff_err_add(err, " needs ");
    xoff_err_add_int(err, needed_bytes(env, worst));
    xoff_err_add(err, env->ports[worst].headroom_bytes > 0 ? "B" : "B at the least, one frame");
    xoff_err_add(err, ": give that as headroom, or allow_loss: true");
    return code;
}

/* The link's delay is the part of eta that grows with distance; a link without one is probably a
 * mistake. */
static int refuse_no_delay(const struct xoff_mmu_env *env, uint32_t port, int64_t eta_bytes,
                           struct xoff_err *err)
{
    const int code =
        xoff_err_set(err, XOFF_E_CONFLICT, "headroom_rule", "eta", "the link at port ");
    xoff_err_add_int(err, port);
    xoff_err_add(err, " has no delay, so eta would be ");
    xoff_err_add_int(err, eta_bytes);
    xoff_err_add(err,
                 "B, frames and response alone; give the link a delay or length, or headroom: ");
    xoff_err_add_int(err, env->ports[port].headroom_bytes);
    xoff_err_add(err, "B, which would do");
    return code;
}

static int headroom_of(const struct shared_params *p, const struct xoff_mmu_env *env, uint32_t port,
                       int64_t *bytes, struct xoff_err *err)
{
    const struct xoff_mmu_port *at = &env->ports[port];
    *bytes = p->headroom;
    if (p->headroom != XOFF_PARAM_AUTO)
        return 0;
    *bytes = at->headroom_bytes;
    if (p->rule == SHARED_RULE_WORST)
        return 0;
    const struct xoff_headroom_params link = {.rate_bps = at->rate_bps,
                                              .delay = at->delay,
                                              .max_frame_bytes = env->max_frame_bytes,
                                              .response_for = at->response_for};
    *bytes = xoff_headroom_eta_bytes(&link) + at->late_bytes;
    return at->delay ? 0 : refuse_no_delay(env, port, *bytes, err);
}

static int refuse_buffer(const struct xoff_mmu_env *env, const struct xoff_shared_cfg *c,
                         struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                  xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                                  "too small: headroom takes ");
    xoff_err_add_int(err, c->headroom_capacity_bytes);
    xoff_err_add(err, "B and reserves take ");
    xoff_err_add_int(err, c->reserved_capacity_bytes);
    xoff_err_add(err, "B; needed are at least ");
    xoff_err_add_int(err, c->headroom_capacity_bytes + c->reserved_capacity_bytes);
    xoff_err_add(err, "B and what is to be shared");
    return code;
}

static bool is_good_alpha(double alpha)
{
    return alpha > 0 && alpha <= SHARED_MAX_ALPHA; /* false for NaN */
}

static int take_headroom(const struct shared_params *p, const struct xoff_mmu_env *env,
                         uint32_t n_shares, struct xoff_shared_cfg *c, int64_t *limit_bytes,
                         struct xoff_err *err)
{
    for (uint32_t port = 0; port < env->n_ports; port++) {
        int64_t limit = 0;
        int code = n_shares ? headroom_of(p, env, port, &limit, err) : 0;
        if (code)
            return code;
        XOFF_ASSERT(limit >= 0);
        if (limit > env->buffer_bytes) {
            char text[XOFF_PARAM_TEXT];
            code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                                "too small: the headroom of port ");
            xoff_err_add_int(err, port);
            xoff_err_add(err, " alone takes ");
            xoff_err_add_int(err, limit);
            xoff_err_add(err, "B");
            return code;
        }
        limit_bytes[port] = limit;
        c->headroom_capacity_bytes += n_shares * limit;
    }
    if (!n_shares)
        return 0;
    const bool is_eta = p->headroom == XOFF_PARAM_AUTO && p->rule == SHARED_RULE_ETA;
    return xoff_shared_check_headroom(env, limit_bytes, is_eta ? "headroom_rule" : "headroom",
                                      p->allow_loss, err);
}

int xoff_shared_configure(const struct shared_params *p, const struct xoff_param *table,
                          const void *params, const struct xoff_mmu_env *env, uint32_t n_shares,
                          struct xoff_shared_cfg *c, int64_t *limit_bytes, struct xoff_err *err)
{
    const bool has_lossy = env->lossless != 0xff;
    if (!is_good_alpha(p->alpha))
        return refuse(table, params, "alpha", XOFF_E_RANGE, "must be above 0, at most 1024", err);
    if (!is_good_alpha(p->alpha_lossy))
        return refuse(table, params, "alpha_lossy", XOFF_E_RANGE, "must be above 0, at most 1024",
                      err);
    if (env->buffer_bytes <= 0 || env->buffer_bytes > SHARED_MAX_BUFFER_BYTES) {
        char text[XOFF_PARAM_TEXT];
        return xoff_err_set(err, XOFF_E_RANGE, "buffer",
                            xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                            "must be from 1B to 1024GiB");
    }
    *c = (struct xoff_shared_cfg){
        .n_ports = env->n_ports,
        .n_lossless = xoff_shared_n_lossless(env),
        .lossless = env->lossless,
        .alpha = xoff_ratio_of(p->alpha),
        .alpha_lossy = xoff_ratio_of(p->alpha_lossy),
        .reserved_bytes = p->reserved,
        .reserved_lossy_bytes =
            p->reserved_lossy == XOFF_PARAM_AUTO ? p->reserved : p->reserved_lossy,
        .buffer_bytes = env->buffer_bytes,
    };
    c->reserved_capacity_bytes = env->n_ports * (c->n_lossless * c->reserved_bytes +
                                                 (has_lossy ? c->reserved_lossy_bytes : 0));
    const int code = take_headroom(p, env, n_shares, c, limit_bytes, err);
    if (code)
        return code;
    c->capacity_bytes = c->buffer_bytes - c->reserved_capacity_bytes - c->headroom_capacity_bytes;
    return c->capacity_bytes < 0 ? refuse_buffer(env, c, err) : 0;
}

void xoff_shared_view(const struct xoff_shared_cfg *c, const struct xoff_shared_state *s,
                      struct xoff_mmu_view *view)
{
    view->used_total_bytes = s->used_total_bytes;
    view->peak_total_bytes = s->peak_total_bytes;
    view->capacity_total_bytes = c->buffer_bytes;
    memcpy(view->used_bytes, s->used_bytes, sizeof view->used_bytes);
    memcpy(view->peak_bytes, s->peak_bytes, sizeof view->peak_bytes);
    view->capacity_bytes[XOFF_POOL_RESERVED] = c->reserved_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_SHARED] = c->capacity_bytes;
    view->capacity_bytes[XOFF_POOL_HEADROOM] = c->headroom_capacity_bytes;
}
