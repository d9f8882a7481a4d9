/* Every traffic kind; traffic.c has them as a table. */
#ifndef TRAFFIC_KINDS_H
#define TRAFFIC_KINDS_H

#include "traffic/traffic.h"

extern const struct traffic_kind traffic_cbr, traffic_bernoulli, traffic_onoff, traffic_poisson,
    traffic_frames, traffic_incast, traffic_fan_in, traffic_query, traffic_permutation,
    traffic_all_to_all, traffic_allreduce, traffic_exchange, traffic_iscsi, traffic_flows;

#endif
