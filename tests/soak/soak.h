/* Campaigns: many random networks, each run in several ways that must agree. */
#ifndef SOAK_H
#define SOAK_H

#include <stdint.h>
#include <stdio.h>

#include "net/net.h"

#define SOAK_WHY 520

/* A way in which the checks of a seed can end. The name tells failures apart, in the journal and
 * for the reducer, which keeps it. */
#define SOAK_END_MAP(X)                                                        \
    X(FINE, "ok")                                                              \
    X(REFUSED, "refused") /* by check, however it was mended */                \
    X(LONG, "long")       /* more frames than a campaign has time for */       \
    X(LOSS, "loss")                                                            \
    X(AUDIT, "audit")                                                          \
    X(DEADLOCK, "deadlock")                                                    \
    X(HELD, "held")                                                            \
    X(STUCK, "stuck")                                                          \
    X(FLOW, "flow")                                                            \
    X(AGAIN, "again")       /* a second run differs */                         \
    X(THREADS, "threads")   /* more threads give another digest */             \
    X(RESUME, "resume")     /* a run that went on from an image differs */     \
    X(CONFIG, "config")     /* the printed configuration does not repeat it */ \
    X(COMPILER, "compiler") /* another compiler's program differs */           \
    X(CRASH, "crash")

enum soak_end {
#define X(id, name) SOAK_##id,
    SOAK_END_MAP(X)
#undef X
        SOAK_N_ENDS
};
extern const char *const soak_ends[];

static inline bool soak_is_failure(enum soak_end end)
{
    return end > SOAK_LONG;
}

struct soak_options {
    const char *fault;  /* planted, see fault.c; NULL: none */
    const char *second; /* program of another compiler; NULL: none */
    uint64_t share;     /* one seed in so many is run with it */
    enum soak_end only; /* no other failure is looked for, for speed; 0: all */
    bool is_quiet;      /* what a process says before it crashes is not repeated */
};

/* What a check of a scenario found, and what took part in it. */
struct soak_report {
    enum soak_end end;
    char why[SOAK_WHY];
    char facts[512]; /* words: kinds that took part, sections, what happened */
    uint64_t n_runs, hops;
};

/* Runs a scenario in all ways and judges it. */
void soak_check(const char *text, const struct soak_options *options, bool with_second,
                struct soak_report *report);
/* The same in a process of its own, so that a crash is an answer, too. */
void soak_check_apart(const char *text, const struct soak_options *options, bool with_second,
                      struct soak_report *report);
/* Ends this process by a signal when the check of a scenario takes too long. */
void soak_limit_time(void);
/* Returns a file that a process may have for its standard error. */
int soak_listen(void);
/* Makes a report of how a process ended (wait(2)): the assertion or the sanitizer's summary in what
 * it said, or the signal. */
void soak_note_crash(struct soak_report *report, int status, int said);
/* Repeats what a process said, and closes the file. */
void soak_end_listening(int said, bool is_quiet);
/* Answers paths on standard input with digests; what another compiler's program is asked. */
int soak_serve(void);

/* Plants a fault in a network that is about to be run; false: there is no such fault. */
bool fault_plant(const char *fault, struct net_spec *spec, struct net_switch *kinds,
                 uint32_t n_threads);
extern const char *const fault_names[];

/* Makes a scenario smaller as long as it is the same failure: of the same name, and a crash at the
 * same place, a finding or a refusal in the same words. Returns the smallest found. */
char *soak_reduce(const char *text, const struct soak_options *options, struct soak_report *report);

#endif
