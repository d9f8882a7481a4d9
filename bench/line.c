/* How long a cache line takes from one core to another and back. Threads of a run pass lines all
 * the time; cores that share no cache take several times as long, and a virtual machine may be
 * moved from one kind to the other at any time. */
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "../bench/bench.h"

#define WARM_TURNS 100 /* of both threads, until they run at the same time */
#define START_S 0.1
#define TURNS 10000
#define LONGEST_S 0.02 /* in place of a millisecond: the two threads have shared a core */
#define LOOKS 1024     /* at the line between two at the clock */

struct court {
    alignas(64) _Atomic uint32_t turns; /* odd: the partner's */
    alignas(64) _Atomic bool is_over;
};

static void *play(void *argument)
{
    struct court *court = argument;
    for (uint32_t turns = 1; !atomic_load_explicit(&court->is_over, memory_order_relaxed);)
        if (atomic_load_explicit(&court->turns, memory_order_acquire) == turns) {
            atomic_store_explicit(&court->turns, turns + 1, memory_order_release);
            turns += 2;
        }
    return NULL;
}

/* Returns the seconds that so many turns took, or those after which it gave up; *turns is moved on
 * by the turns that were made. */
static double rally(struct court *court, uint32_t *turns, uint32_t n, double patience_s,
                    double (*clock_s)(void))
{
    const uint32_t until = *turns + 2 * n;
    const double began_s = clock_s();
    for (uint32_t looks = 1; *turns != until; looks++) {
        if (atomic_load_explicit(&court->turns, memory_order_acquire) == *turns) {
            atomic_store_explicit(&court->turns, *turns + 1, memory_order_release);
            *turns += 2;
        } else if (looks % LOOKS == 0 && clock_s() - began_s > patience_s) {
            break;
        }
    }
    return clock_s() - began_s;
}

double bench_line_ns(double (*clock_s)(void))
{
    struct court court = {0};
    pthread_t partner;
    uint32_t turns = 0;
    if (pthread_create(&partner, NULL, play, &court))
        return 0;
    rally(&court, &turns, WARM_TURNS, START_S, clock_s);
    const uint32_t before = turns;
    const double spent_s = rally(&court, &turns, TURNS, LONGEST_S, clock_s);
    atomic_store_explicit(&court.is_over, true, memory_order_relaxed);
    pthread_join(partner, NULL);
    return turns - before == 2 * TURNS ? 1e9 * spent_s / TURNS : 0;
}
