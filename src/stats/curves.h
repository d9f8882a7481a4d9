/* Curves of a run out of its samples, and their figures. Only stats/ includes this. */
#ifndef STATS_CURVES_H
#define STATS_CURVES_H

#include "stats/results.h"

/* The unit of a curve's values: of an enum result_metric or result_fairness. */
const char *curve_unit(uint8_t metric);

/* Creates one curve for each that results asks for, in that order; NULL: no memory. A curve ends
 * where the run ended, if that was before its `to`. */
struct curve *curves_create(const struct results *results);
/* Accepts NULL, and curves without values. */
void curves_destroy(struct curve *curves, uint32_t n);

/* Figures over the samples of a curve, which has at least one. The deviation is that of the samples
 * themselves (divided by n); percentiles are by nearest rank. */
struct curve_figures {
    double mean, min, max, stddev, p50, p99;
};
/* Time of the samples of a curve that lie below a level, in seconds, and the time from the curve's
 * beginning to the last of them; 0: there is none. A sample stands for the interval before it. */
struct curve_lows {
    double below_s, until_s;
};
void curve_lows(const struct curve *curve, double level, struct curve_lows *out);
/* Returns false when there is no memory. */
bool curve_figures(const struct curve *curve, struct curve_figures *out);

#endif
