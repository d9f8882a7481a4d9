/* Rates among the parameters of reaction points: an automatic rate is a fraction of the link's, and
 * several reaction points have a floor. */
#ifndef MECH_RP_RATES_H
#define MECH_RP_RATES_H

#include <xoff/rp.h>
#include <xoff/units.h>

/* Returns the given rate, or the link's rate divided by `part` if it is auto. */
static inline xoff_rate rate_or_part(int64_t given_bps, xoff_rate line_bps, xoff_rate part)
{
    return given_bps == XOFF_PARAM_AUTO ? line_bps / part : (xoff_rate)given_bps;
}

/* Refuses a floor of 0 or above the link's rate. */
static inline int rate_check_floor(xoff_rate min_bps, xoff_rate line_bps, struct xoff_err *err)
{
    if (min_bps >= 1 && min_bps <= line_bps)
        return 0;
    char text[32];
    const int code =
        xoff_err_set(err, XOFF_E_CONFLICT, "min_rate", xoff_format_rate(text, sizeof text, min_bps),
                     "the least rate of a flow is at least 1bps and at most that of its link, ");
    xoff_err_add(err, xoff_format_rate(text, sizeof text, line_bps));
    return code;
}

#endif
