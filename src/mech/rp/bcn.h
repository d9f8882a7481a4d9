/* What reaction points that weigh the length and growth of a queue have in common (ECM, E2CM):
 * gains and their arithmetic in whole numbers. With offset and delta in bytes,
 *
 *   Fb = -(offset + w delta) / unit      Fb < 0: R = R (1 + Gd Fb)      Fb > 0: R = R + Gi Fb Ru
 */
#ifndef MECH_RP_BCN_H
#define MECH_RP_BCN_H

#include "mech/rp/rates.h"

#define BCN_ONE 1024 /* w = 1 */

struct bcn_gains {
    uint64_t gain_bps; /* Gi Ru */
    uint64_t gd;       /* in units of 2^-32 */
    int64_t w, unit;   /* in units of 1 / BCN_ONE */
};

/* Returns -Fb in units of 1 / (BCN_ONE unit): above 0 means congestion. */
static inline int64_t bcn_congestion(const struct bcn_gains *g, int64_t offset_bytes,
                                     int64_t delta_bytes)
{
    return offset_bytes * BCN_ONE + g->w * delta_bytes;
}

/* Returns the rate after congestion > 0. */
static inline xoff_rate bcn_cut(const struct bcn_gains *g, xoff_rate rate_bps, xoff_rate min_bps,
                                int64_t congestion)
{
    const unsigned __int128 cut =
        (unsigned __int128)g->gd * (uint64_t)congestion / (uint64_t)g->unit;
    const uint64_t one = UINT64_C(1) << 32;
    const uint64_t factor = cut < one ? one - (uint64_t)cut : 0;
    rate_bps = (xoff_rate)((unsigned __int128)rate_bps * factor >> 32);
    return rate_bps < min_bps ? min_bps : rate_bps;
}

/* Returns what is added to a rate after congestion <= 0; at most `most_bps`. */
static inline xoff_rate bcn_step(const struct bcn_gains *g, int64_t congestion, xoff_rate most_bps)
{
    const unsigned __int128 step =
        (unsigned __int128)g->gain_bps * (uint64_t)-congestion / (uint64_t)g->unit;
    return step < most_bps ? (xoff_rate)step : most_bps;
}

static inline int bcn_check(double w, int64_t unit, double gi, double gd, int64_t ru,
                            struct xoff_err *err)
{
    if (!(w >= 0)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "w", NULL, "a weight is not below 0");
    if (unit <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "unit", NULL, "a unit has some bytes");
    if (!(gi >= 0 && gi <= 1e6))
        return xoff_err_set(err, XOFF_E_RANGE, "gi", NULL, "a gain is from 0 to 1e6");
    if (!(gd > 0 && gd <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "gd", NULL, "a gain is above 0 and at most 1");
    if (ru < 0 || ru > 1000 * (int64_t)XOFF_GBPS)
        return xoff_err_set(err, XOFF_E_RANGE, "ru", NULL, "a rate unit is at most 1Tbps");
    return 0;
}

/* Of parameters that bcn_check() accepts. */
static inline struct bcn_gains bcn_gains(double w, int64_t unit, double gi, double gd, int64_t ru)
{
    return (struct bcn_gains){.gain_bps = (uint64_t)(gi * (double)ru + 0.5),
                              .gd = (uint64_t)(gd * 0x1p32 + 0.5),
                              .w = (int64_t)(w * BCN_ONE + 0.5),
                              .unit = unit * BCN_ONE};
}

/* Returns a time above 0 and up to `most`, for which severe congestion stops a flow. */
static inline xoff_time bcn_stop_for(xoff_time most, uint32_t draw)
{
    const xoff_time wait =
        (xoff_time)((unsigned __int128)(uint64_t)most * ((uint64_t)draw + 1) >> 32);
    return wait ? wait : 1;
}

#endif
