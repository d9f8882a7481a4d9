/* What congestion points that hold a queue at a set point, and those that sample it, have in common
 * (QCN, ECM, FECN): checks of their parameters, and intervals with a jitter. */
#ifndef MECH_CP_SET_POINT_H
#define MECH_CP_SET_POINT_H

#include <xoff/cp.h>
#include <xoff/units.h>

/* Refuses a queue length that the buffer cannot hold. */
static inline int set_point_check_reach(const char *name, int64_t bytes,
                                        const struct xoff_cp_env *env, struct xoff_err *err)
{
    char text[32];
    if (bytes <= env->buffer_bytes)
        return 0;
    const int code =
        xoff_err_set(err, XOFF_E_CONFLICT, name, xoff_format_bytes(text, sizeof text, bytes),
                     "the queue never gets there: the buffer has ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, env->buffer_bytes));
    return code;
}

static inline int set_point_check(int64_t qeq, const struct xoff_cp_env *env, struct xoff_err *err)
{
    if (qeq <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "qeq", NULL, "a set point is above 0");
    return set_point_check_reach("qeq", qeq, env, err);
}

/* Checks the bytes from one sample to the next, a parameter called `name`, and their jitter. */
static inline int sampling_check(const char *name, int64_t bytes, double jitter,
                                 struct xoff_err *err)
{
    if (bytes <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, name, NULL,
                            "samples need some bytes from one to the next");
    if (!(jitter >= 0 && jitter < 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "jitter", NULL, "a fraction is from 0 to below 1");
    return 0;
}

/* Returns 1 - j + 2 j u in units of 2^-32, with u = draw / 2^32 and j in these units. */
static inline uint64_t sampling_factor(uint32_t jitter, uint32_t draw)
{
    return (UINT64_C(1) << 32) - jitter + (2 * (uint64_t)jitter * draw >> 32);
}

/* Returns `bytes` times a factor in units of 2^-32; at least 1, and bytes <= 2^30. */
static inline int64_t sampling_interval(int64_t bytes, uint64_t factor)
{
    const int64_t interval = (int64_t)((unsigned __int128)(uint64_t)bytes * factor >> 32);
    return interval ? interval : 1;
}

#endif
