/* Poisson arrivals at a host: exponential gaps, each arrival a flow (or more of one connection) of
 * a size drawn for it. The kinds poisson and frames differ in what an arrival is and how load
 * counts it. */
#ifndef TRAFFIC_ARRIVALS_H
#define TRAFFIC_ARRIVALS_H

#include "traffic/sizes.h"
#include "traffic/targets.h"

struct arrivals {
    struct app_offer offer; /* template; `to` and `bytes` are drawn */
    bool is_connection;     /* all offers to a steady target continue one connection */
    struct bind_period period;
    struct sizes sizes;
    double bits;             /* mean bits of an arrival, as load counts them */
    double load;             /* as a fraction of the sender's rate below */
    const double *rates_bps; /* per sender; NULL: rates of their links. Only bind reads it */
};

int arrivals_bind(const struct traffic_env *env, const struct arrivals *arrivals,
                  const struct targets *targets, struct app_set *apps, struct xoff_err *err);

#endif
