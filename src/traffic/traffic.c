/* The table of traffic kinds. A new kind adds its line here and its declaration in kinds.h. */
#include "traffic/kinds.h"

#include <string.h>

const struct traffic_kind *const traffic_kinds[] = {
    &traffic_cbr,        &traffic_bernoulli, &traffic_onoff,
    &traffic_poisson,    &traffic_frames,    &traffic_incast,
    &traffic_fan_in,     &traffic_query,     &traffic_permutation,
    &traffic_all_to_all, &traffic_allreduce, &traffic_exchange,
    &traffic_iscsi,      &traffic_flows,     NULL,
};

const struct traffic_kind *traffic_find(const char *name)
{
    for (const struct traffic_kind *const *kind = traffic_kinds; *kind; kind++) {
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    }
    return NULL;
}
