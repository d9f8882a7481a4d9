/* How long pauses lasted: from the decision to pause to the decision to resume (output.h).
 *
 * A decision is about a set of priorities of a port, and both ends need not name the same set. So
 * each priority of a port is followed alone. A pause that had not ended when the run did, or of
 * which an end was not kept, does not count.
 */
#include <stdlib.h>

#include "stats/output.h"

static int compare_ports(const void *a, const void *b)
{
    const struct result_port *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

bool output_longest_pause(const struct results *r, xoff_time *longest)
{
    xoff_time(*since)[XOFF_N_PRIORITIES] = malloc(((size_t)r->n_ports + 1) * sizeof *since);
    bool has_ended = false;
    XOFF_ASSERT(since);
    for (uint32_t i = 0; i < r->n_ports; i++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            since[i][p] = XOFF_NEVER;
    *longest = 0;
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *e = &r->pauses[i];
        const struct result_port key = {.node = e->node, .port = e->port};
        const struct result_port *port =
            bsearch(&key, r->ports, r->n_ports, sizeof *r->ports, compare_ports);
        for (uint32_t mask = port ? e->priorities : 0; mask; mask &= mask - 1) {
            xoff_time *from = &since[port - r->ports][__builtin_ctz(mask)];
            if (!e->pause && *from != XOFF_NEVER) {
                *longest = e->at - *from > *longest ? e->at - *from : *longest;
                has_ended = true;
            }
            *from = e->pause ? e->at : XOFF_NEVER;
        }
    }
    free(since);
    return has_ended;
}
