/* The contract of every role (mmu, pause, sched and the others): how a mechanism is described,
 * configured, started and called.
 *
 *   params   what the user wrote, filled in by the mechanism's parameter table
 *   cfg      configure() checks params, computes what it can, and never changes it afterwards
 *   shape    configure() tells here what a caller may know of the configured mechanism
 *   state    plain bytes without pointers; it may be copied, compared and hashed
 *
 * A mechanism is one const table, struct xoff_ROLE_ops. It begins with:
 *
 *   name, summary         its keyword in a scenario, and one sentence
 *   params, params_size   its parameter table, which ends with an empty row
 *   cfg_size              bytes of cfg
 *   cfg_port_size         further bytes of cfg for each port that is served
 *   configure             answers 0, or a negative code with *err filled in. It answers 0 with a
 *                         message and code XOFF_E_OK in *err to warn of what it accepts. NULL:
 *                         there is nothing to configure, and the shape stays empty.
 *   init                  sets a state to its initial value. NULL: that is all zero bytes.
 *
 * The caller owns cfg and state. It has emptied the shape before configure(), so zero is the
 * default of every field there. A function pointer that is NULL stands for the default that its
 * header states; a function for which no default is stated must be there.
 *
 * Everybody calls through the typed handle, struct xoff_ROLE, and its wrappers. Time comes in as an
 * argument `now`, a bounded answer goes out, and no mechanism calls back, allocates or prints.
 */
#ifndef XOFF_ROLE_H
#define XOFF_ROLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xoff/err.h>
#include <xoff/param.h>
#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The two wrappers that every role has:
 *   xoff_ROLE_cfg_size   bytes of cfg for a caller with `n_ports` ports
 *   xoff_ROLE_configure  fills the handle; `cfg` has that many bytes and stays the caller's */
#define XOFF_ROLE(role)                                                                      \
    static inline size_t xoff_##role##_cfg_size(const struct xoff_##role##_ops *ops,         \
                                                uint32_t n_ports)                            \
    {                                                                                        \
        return ops->cfg_size + n_ports * ops->cfg_port_size;                                 \
    }                                                                                        \
    static inline int xoff_##role##_configure(                                               \
        struct xoff_##role *handle, const struct xoff_##role##_ops *ops, const void *params, \
        const struct xoff_##role##_env *env, void *cfg, struct xoff_err *err)                \
    {                                                                                        \
        memset(handle, 0, sizeof *handle);                                                   \
        handle->ops = ops;                                                                   \
        handle->cfg = cfg;                                                                   \
        return ops->configure ? ops->configure(params, env, cfg, &handle->shape, err) : 0;   \
    }

#ifdef __cplusplus
}
#endif

#endif
