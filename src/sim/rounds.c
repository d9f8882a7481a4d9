/* Rounds of the workers: who runs which worker's cells, and what comes next.
 *
 * In each round all workers do the same task: a window of their cells, or what follows an instant.
 * Each notes the earliest time it knows of; whoever finishes the last worker of a round decides on
 * the next one. A frame that a worker sends to another's cell in a window arrives after that
 * window, so that time is the only thing to exchange.
 *
 * A thread takes its own worker first. Then it takes a worker that nobody has begun after a short
 * wait: where cores are fewer than threads, that worker's own thread does not run, and waiting for
 * it would cost a switch of threads per round. So one thread goes on alone while the others sleep.
 * Since every result depends on the worker and never on the thread, the bits are the same.
 *
 * With several ranks the one that decides first exchanges frames and agrees with the others on the
 * same figures (cut_links.c); every rank then comes to the same decision.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/engine.h"

#define MOST_SPINS 1024 /* some 20 us: about what a sleep and a wake-up take */
#define FIRST_SPINS 256
#define WORTH_WAKING 2000 /* events of a round that outweigh waking the others */
#define NAP_NS 1000000    /* then a sleeper looks whether its core is free again */

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Lets the model do what concerns several nodes at once. */
static void hold_instant(struct sim *sim)
{
    const xoff_time now = sim->instant_at;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        thread_look(sim->threads[i]);
        sim->threads[i]->last_at = now;
    }
    sim->exclusive->worker.now = now;
    sim->sampling = sim->model.wants_sample(sim->model.net, now);
    sim->instant_at = sim->model.instant(sim->model.net, now);
    sim->is_last = sim->instant_at < now; /* the model ends the run here, with these samples */
}

/* Decides on the next round while all workers are at rest. Returns false when the run is over. */
static bool decide(struct sim *sim)
{
    struct sim_word word = {.next_at = XOFF_NEVER, .stops = sim->stops};
    bool has_spilled = false;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        const struct thread *w = sim->threads[i];
        word.next_at = xoff_time_min(word.next_at, w->next_at);
        word.last_at = w->last_at > word.last_at ? w->last_at : word.last_at;
        word.arrivals += w->arrivals;
        has_spilled |= w->spilled;
    }
    if (sim->exchange)
        exchange_round(sim, &word);
    if (sim->is_last)
        return false;
    const xoff_time next = word.next_at;
    for (uint32_t i = 0; has_spilled && i < sim->n_threads; i++) {
        sim_merge_spilled(sim, i);
        sim->threads[i]->spilled = false;
    }
    sim->n_rounds++;
    if (word.stops) {
        sim->is_stopped = true;
        return false;
    }
    sim->stops = !sim->model.progress(sim->model.net, sim->reached, word.arrivals);
    /* Samples and checks of a network at rest say nothing new. */
    if (next == XOFF_NEVER && !sim->model.has_changes(sim->model.net)) {
        sim->is_at_rest = true;
        sim->reached = word.last_at; /* not the window's end, which depends on the cells */
        return false;
    }
    if (xoff_time_min(next, sim->instant_at) >= sim->end) {
        sim->reached = sim->end;
        return false;
    }
    sim->is_window = sim->instant_at > next;
    if (!sim->is_window) {
        sim->reached = sim->instant_at;
        hold_instant(sim);
        return true;
    }
    sim->window_start = next;
    sim->window_end = xoff_time_min(xoff_time_after(next, sim->lookahead), sim->instant_at);
    sim->window_end = xoff_time_min(sim->window_end, sim->end);
    sim->reached = sim->window_end;
    return true;
}

/* All workers have done their task. */
static void finish_round(struct sim *sim, uint32_t round)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        events += sim->threads[i]->events;
    const bool is_over = !decide(sim);
    const bool wakes = is_over || events - sim->n_events > WORTH_WAKING;
    sim->n_events = events;
    atomic_store_explicit(&sim->n_done, 0, memory_order_relaxed);
    atomic_store_explicit(&sim->is_over, is_over, memory_order_relaxed);
    /* Either a thread that goes to sleep sees the new round, or this one sees the sleeper. */
    atomic_store(&sim->round, round + 1);
    if (wakes && atomic_load(&sim->n_asleep))
        syscall(SYS_futex, &sim->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Does the worker's task of this round, unless somebody has begun it. */
static void take(struct sim *sim, struct thread *w, uint32_t round)
{
    uint32_t expected = round;
    if (!atomic_compare_exchange_strong(&w->begun, &expected, round + 1))
        return;
    thread_run(w);
    if (atomic_fetch_add_explicit(&sim->n_done, 1, memory_order_acq_rel) + 1 == sim->n_threads)
        finish_round(sim, round);
}

static void be_patient(struct thread *own, bool paid_off)
{
    if (paid_off)
        own->patience = own->patience < MOST_SPINS ? 2 * own->patience : MOST_SPINS;
    else
        own->patience = own->patience > 2 ? own->patience / 2 : 1;
}

/* Waits a little until the worker has been begun by its own thread. */
static void wait_for_owner(struct thread *own, const struct thread *w, uint32_t round)
{
    bool is_begun = false;
    for (uint32_t spins = 0; spins < own->patience && !is_begun; spins++, relax())
        is_begun = atomic_load_explicit(&w->begun, memory_order_acquire) != round;
    be_patient(own, is_begun);
}

static void wait_for_round(struct thread *own, uint32_t round)
{
    struct sim *sim = own->worker.sim;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (uint32_t spins = 0; spins < own->patience; spins++, relax())
        if (atomic_load_explicit(&sim->round, memory_order_acquire) != round)
            return;
    be_patient(own, false);
    atomic_fetch_add(&sim->n_asleep, 1);
    if (syscall(SYS_futex, &sim->round, FUTEX_WAIT_PRIVATE, round, &nap, NULL, 0) &&
        errno == ETIMEDOUT)
        own->patience = FIRST_SPINS;
    atomic_fetch_sub(&sim->n_asleep, 1);
}

static void *serve(void *argument)
{
    struct thread *own = argument;
    struct sim *sim = own->worker.sim;
    for (;;) {
        const uint32_t round = atomic_load_explicit(&sim->round, memory_order_acquire);
        if (atomic_load_explicit(&sim->is_over, memory_order_relaxed))
            return NULL;
        take(sim, own, round);
        for (uint32_t i = 1; i < sim->n_threads; i++) {
            struct thread *other = sim->threads[(own->id + i) % sim->n_threads];
            wait_for_owner(own, other, round);
            take(sim, other, round);
        }
        wait_for_round(own, round);
    }
}

xoff_time sim_run(struct sim *sim, xoff_time first_instant, xoff_time end)
{
    pthread_t threads[64];
    XOFF_ASSERT(sim->n_threads <= 64);
    sim->end = end;
    sim->instant_at = first_instant;
    if (sim->n_rounds) /* of an image: the first round repeats the one that it was made after */
        sim->n_rounds--;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        sim->threads[i]->patience = FIRST_SPINS;
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_create(&threads[i], NULL, serve, sim->threads[i]) == 0);
    serve(sim->threads[0]);
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_join(threads[i], NULL) == 0);
    return sim->reached;
}
