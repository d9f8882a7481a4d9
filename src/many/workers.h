/* Worker processes on this machine: a crash of one affects nothing else. Only batch.c uses them. */
#ifndef MANY_WORKERS_H
#define MANY_WORKERS_H

#include "many/batch.h"

/* The end of runs[index], with what batch_answer() returned, or a reason. */
struct worker_answer {
    uint32_t index;
    char *text; /* freed by the caller; NULL: none, the reason says why */
    size_t size;
    char reason[128]; /* "crashed: Segmentation fault" */
};

struct workers;

/* At most `n` work at a time. */
struct workers *workers_create(uint32_t n);
/* Begins runs[index] where less than n are under way. Returns 0 or the reason (errno). */
int workers_begin(struct workers *workers, const struct batch *batch, uint32_t index);
/* Waits for the end of a run, or for a signal, or (is_brief) for a millisecond: then returns
 * false. */
bool workers_wait(struct workers *workers, bool is_brief, struct worker_answer *answer);
/* Ends those that are under way. */
void workers_destroy(struct workers *workers);

#endif
