/* Flows known beforehand: a list of instants and offers, dealt to the hosts that send them. */
#ifndef TRAFFIC_SCHEDULE_H
#define TRAFFIC_SCHEDULE_H

#include "traffic/bind.h"

struct schedule_entry {
    xoff_time at;
    uint64_t bytes;
    xoff_rate rate_bps;
    uint32_t from, to;
    uint32_t order;                          /* position in the list; set by schedule_add */
    uint8_t priority, priorities, transport; /* as an offer has them */
    uint16_t dport; /* destination port in a file of the ns-3 family; 0: unknown */
};

/* A schedule is the cfg of all its apps: sorted by sender, time and order of statement. */
struct schedule {
    uint32_t n, capacity;
    uint32_t tag, frame_bytes;
    struct schedule_entry entries[];
};

/* Appends to *schedule, which may move and is NULL at first. The owner calls free(). */
int schedule_add(struct schedule **schedule, const struct schedule_entry *entry,
                 struct xoff_err *err);

/* Makes an app for each sender; takes ownership of the schedule (NULL: no flows), also on failure.
 * Flows at or after the run's stop are not offered. `frame_bytes` 0: the network's largest. */
int schedule_bind(const struct traffic_env *env, struct schedule *schedule, uint32_t frame_bytes,
                  struct app_set *apps, struct xoff_err *err);

#endif
