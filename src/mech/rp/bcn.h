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

/* Parameters of both; they come first in those of a kind. */
struct bcn_params {
    int64_t unit, ru, min_rate, stop_for;
    double w, gi, gd, restart;
};

/* The entries of a parameter table for struct bcn_params. */
#define BCN_PARAMS                                                                                \
    {.name = "w",                                                                                 \
     .type = XOFF_P_REAL,                                                                         \
     .offset = offsetof(struct bcn_params, w),                                                    \
     .preset = "2",                                                                               \
     .min = "0",                                                                                  \
     .max = "1024",                                                                               \
     .help = "Weight of a queue's growth in the feedback, in steps of 1/1024."},                  \
        {.name = "unit",                                                                          \
         .type = XOFF_P_BYTES,                                                                    \
         .offset = offsetof(struct bcn_params, unit),                                             \
         .preset = "1500B",                                                                       \
         .min = "1B",                                                                             \
         .max = "1MB",                                                                            \
         .help = "Bytes of queue that are one unit of feedback."},                                \
        {.name = "gi",                                                                            \
         .type = XOFF_P_REAL,                                                                     \
         .offset = offsetof(struct bcn_params, gi),                                               \
         .preset = "4",                                                                           \
         .min = "0",                                                                              \
         .max = "1e6",                                                                            \
         .help = "Gain of increase, Gi: rate units that one unit of feedback adds."},             \
        {.name = "gd",                                                                            \
         .type = XOFF_P_REAL,                                                                     \
         .offset = offsetof(struct bcn_params, gd),                                               \
         .preset = "1/128",                                                                       \
         .min = "1e-6",                                                                           \
         .max = "1",                                                                              \
         .help = "Gain of decrease, Gd: part of the rate that one unit of feedback cuts off."},   \
        {.name = "ru",                                                                            \
         .type = XOFF_P_RATE,                                                                     \
         .offset = offsetof(struct bcn_params, ru),                                               \
         .preset = "8Mbps",                                                                       \
         .max = "1Tbps",                                                                          \
         .help = "Rate unit of the increase, Ru."},                                               \
        {.name = "min_rate",                                                                      \
         .type = XOFF_P_RATE,                                                                     \
         .offset = offsetof(struct bcn_params, min_rate),                                         \
         .preset = "10Mbps",                                                                      \
         .min = "1bps",                                                                           \
         .help = "Rate that nothing cuts below."},                                                \
        {.name = "stop_for",                                                                      \
         .type = XOFF_P_TIME,                                                                     \
         .offset = offsetof(struct bcn_params, stop_for),                                         \
         .preset = "100us",                                                                       \
         .min = "1ns",                                                                            \
         .max = "1s",                                                                             \
         .help =                                                                                  \
             "Longest time that severe congestion stops a flow for; the time is drawn evenly."},  \
    {                                                                                             \
        .name = "restart", .type = XOFF_P_REAL, .offset = offsetof(struct bcn_params, restart),   \
        .preset = "0.01", .min = "1e-6", .max = "1",                                              \
        .help = "Part of the link's rate with which a stopped flow goes on; min_rate if that is " \
                "more."                                                                           \
    }

static inline int bcn_check(const struct bcn_params *p, xoff_rate line_bps, struct xoff_err *err)
{
    if (!(p->w >= 0)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "w", NULL, "a weight is not below 0");
    if (p->unit <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "unit", NULL, "a unit has some bytes");
    if (!(p->gi >= 0 && p->gi <= 1e6))
        return xoff_err_set(err, XOFF_E_RANGE, "gi", NULL, "a gain is from 0 to 1e6");
    if (!(p->gd > 0 && p->gd <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "gd", NULL, "a gain is above 0 and at most 1");
    if (p->ru < 0 || p->ru > 1000 * (int64_t)XOFF_GBPS)
        return xoff_err_set(err, XOFF_E_RANGE, "ru", NULL, "a rate unit is at most 1Tbps");
    if (!(p->restart > 0 && p->restart <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "restart", NULL,
                            "a part of the rate is above 0 and at most 1");
    if (p->stop_for <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "stop_for", NULL, "a timer needs a time > 0");
    return rate_check_floor((xoff_rate)p->min_rate, line_bps, err);
}

/* Of parameters that bcn_check() accepts. */
static inline struct bcn_gains bcn_gains(const struct bcn_params *p)
{
    return (struct bcn_gains){.gain_bps = (uint64_t)(p->gi * (double)p->ru + 0.5),
                              .gd = (uint64_t)(p->gd * 0x1p32 + 0.5),
                              .w = (int64_t)(p->w * BCN_ONE + 0.5),
                              .unit = p->unit * BCN_ONE};
}

/* The rate with which a stopped flow goes on. */
static inline xoff_rate bcn_restart(const struct bcn_params *p, xoff_rate line_bps)
{
    const xoff_rate bps = (xoff_rate)(p->restart * (double)line_bps + 0.5);
    return bps < (xoff_rate)p->min_rate ? (xoff_rate)p->min_rate : bps;
}

/* Returns a time above 0 and up to `most`, for which severe congestion stops a flow. */
static inline xoff_time bcn_stop_for(xoff_time most, uint32_t draw)
{
    const xoff_time wait =
        (xoff_time)((unsigned __int128)(uint64_t)most * ((uint64_t)draw + 1) >> 32);
    return wait ? wait : 1;
}

#endif
