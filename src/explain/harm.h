/* How long a root held a port, a set of hosts, a flow. Only explain/ includes this. */
#ifndef EXPLAIN_HARM_H
#define EXPLAIN_HARM_H

#include "explain/parts.h"

/* Time within these spans, which are in order and apart, between two instants. */
int64_t harm_held(const struct span *spans, uint32_t n, int64_t from_ps, int64_t to_ps);
/* The line that pauses a transmitting port, by priority or ALL_PRIORITIES; NONE: nobody did. */
static inline uint32_t harm_line(const struct explanation *e, uint32_t port, uint32_t priority)
{
    return e->line_of[port * (XOFF_N_PRIORITIES + 1) + priority];
}
/* Number of a traffic entry by its name; a new name becomes an entry. */
uint32_t harm_entry(struct explanation *e, struct key_table *names, const char *name);

/* jobs.c: the hosts behind the operations of an entry. Flows say who they are; then operations are
 * counted. */
struct jobs;
struct jobs *jobs_create(struct explanation *e, struct key_table *names);
/* Whether there are operations at all. */
bool jobs_are_there(const struct jobs *jobs);
void jobs_add_flow(struct jobs *jobs, uint32_t entry, uint32_t from, uint32_t to,
                   uint32_t priority);
void jobs_count(struct jobs *jobs);
void jobs_destroy(struct jobs *jobs);

#endif
