/* First parts of the names of all metrics (summary.c), so that a name can be refused before a run.
 */
#include <string.h>

#include "stats/results.h"

static const char *const families[] = {
    "buffer",      "control_hops",  "curve",       "deadlock",      "deadlocked",      "deadlocks",
    "delivered",   "drops",         "end_time",    "fct",           "findings",        "flows",
    "headroom",    "insurance",     "jain",        "marks",         "notices",         "operations",
    "packet_hops", "pause_time",    "pauses",      "queue",         "retransmissions", "sent",
    "slowdown",    "throughput",    "utilisation", "min_share",     "starved",         "tags",
    "traffic_end", "traffic_start", "feedback",    "stops",         "stop_time",       "dcbx",
    "drained",     "measure_start", "measure_end", "pause_fraction"};

bool summary_has_family(const char *name)
{
    /* The metric's name comes behind a variant's name, which may contain dots. */
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
            const size_t n = strlen(families[i]);
            if (!strncmp(at, families[i], n) && (!at[n] || at[n] == '.'))
                return true;
        }
    return false;
}
