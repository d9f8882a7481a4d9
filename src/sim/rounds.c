/* Rounds of the threads: who runs which cells, and what comes next.
 *
 * In each round all cells do the same task: a window, or what follows an instant. Each thread notes
 * the earliest time it knows of; whoever finishes the last cell of a round decides on the next one.
 * A frame that a cell sends to another in a window arrives after that window, so that time is the
 * only thing to exchange.
 *
 * The cells are divided into shares. A thread first opens its own, which finds the cells that have
 * something to do, and runs these from the front on. Then it helps others with theirs, from the
 * back, cell by cell, so that all threads are done at about the same time. It opens a share, too,
 * that nobody has begun after a short wait: where cores are fewer than threads, that share's own
 * thread does not run, and waiting for it would cost a switch of threads per round. So one thread
 * goes on alone while the others sleep. Since every result depends on the cell and never on the
 * thread, the bits are the same.
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
#define UNITS 4096        /* of a share: about so many are claimed one by one */
#define MOST_FREE 1024    /* chunks that a thread has more than another before they swap piles */

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
        share_look(sim, &sim->threads[i]->share);
        sim->threads[i]->last_at = now;
    }
    sim->exclusive->worker.now = now;
    sim->sampling = sim->model.wants_sample(sim->model.net, now);
    sim->instant_at = sim->model.instant(sim->model.net, now);
    sim->is_last = sim->instant_at < now; /* the model ends the run here, with these samples */
}

/* Where one thread sends and another receives, chunks gather in the pile of the receiver. */
static void swap_piles(struct sim *sim)
{
    struct thread *most = sim->threads[0], *least = most;
    for (uint32_t i = 1; i < sim->n_threads; i++) {
        struct thread *w = sim->threads[i];
        most = w->n_free > most->n_free ? w : most;
        least = w->n_free < least->n_free ? w : least;
    }
    if (most->n_free - least->n_free <= MOST_FREE)
        return;
    const uint32_t chunk = most->free_chunk, n = most->n_free;
    most->free_chunk = least->free_chunk;
    most->n_free = least->n_free;
    least->free_chunk = chunk;
    least->n_free = n;
}

/* Decides on the next round while all threads are at rest. Returns false when the run is over. */
static bool decide(struct sim *sim)
{
    struct sim_word word = {.next_at = XOFF_NEVER, .stops = sim->stops};
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        struct thread *w = sim->threads[i];
        word.next_at = xoff_time_min(word.next_at, w->worker.next_at);
        word.last_at = w->last_at > word.last_at ? w->last_at : word.last_at;
        word.arrivals += w->arrivals;
        w->worker.next_at = XOFF_NEVER;
    }
    swap_piles(sim);
    if (sim->exchange)
        exchange_round(sim, &word);
    if (sim->is_last)
        return false;
    const xoff_time next = word.next_at;
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

/* All cells have done their task. */
static void finish_round(struct sim *sim, uint32_t round)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        events += sim->threads[i]->events;
    const bool is_over = !decide(sim);
    const bool wakes = is_over || events - sim->n_events > WORTH_WAKING;
    sim->n_events = events;
    atomic_store_explicit(&sim->n_left, sim->n_threads, memory_order_relaxed);
    atomic_store_explicit(&sim->is_over, is_over, memory_order_relaxed);
    /* Either a thread that goes to sleep sees the new round, or this one sees the sleeper. */
    atomic_store(&sim->round, round + 1);
    if (wakes && atomic_load(&sim->n_asleep))
        syscall(SYS_futex, &sim->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The units of a share that nobody has claimed are those from `front` to before `back`. They are
 * exchanged with the round that they belong to: a thread that was held up claims none of another
 * round. */
struct claims {
    uint32_t round;
    uint16_t front, back;
};
#define NO_UNIT UINT32_MAX
#define AMPLE 4 /* units left of a share: one of them can wait for a thread that is busy */

static uint64_t pack(struct claims c)
{
    return (uint64_t)c.round << 32 | (uint32_t)c.back << 16 | c.front;
}

static struct claims unpack(uint64_t word)
{
    return (struct claims){(uint32_t)(word >> 32), (uint16_t)word, (uint16_t)(word >> 16)};
}

/* Claims a unit of a share that is open in this round and has at least so many left. Returns its
 * number, or NO_UNIT. */
static uint32_t claim(struct share *share, uint32_t round, bool is_own, uint32_t least)
{
    uint64_t word = atomic_load_explicit(&share->claims, memory_order_acquire);
    for (;;) {
        struct claims c = unpack(word);
        if (c.round != round || (uint32_t)(c.back - c.front) < least)
            return NO_UNIT;
        const uint32_t unit = is_own ? c.front++ : --c.back;
        if (atomic_compare_exchange_weak_explicit(&share->claims, &word, pack(c),
                                                  memory_order_acq_rel, memory_order_acquire))
            return unit;
    }
}

/* Runs what can be claimed of a share. Returns the number of units. As long as there are enough,
 * the next one is claimed beforehand, to be prefetched. */
static uint32_t run_units(struct thread *own, struct share *share, uint32_t round)
{
    const bool is_own = share == &own->share;
    uint32_t n = 0, unit = claim(share, round, is_own, 1);
    for (; unit != NO_UNIT; n++) {
        const uint32_t next = claim(share, round, is_own, AMPLE);
        const uint32_t from = unit * share->unit, end = from + share->unit;
        share_run(own, share, from, end < share->n_active ? end : share->n_active,
                  next == NO_UNIT ? NO_UNIT : next * share->unit);
        unit = next != NO_UNIT ? next : claim(share, round, is_own, 1);
    }
    return n;
}

/* Opens a share, unless somebody has begun to. Returns whether it did. */
static bool open(struct thread *own, struct share *share, uint32_t round)
{
    struct sim *sim = own->worker.sim;
    uint32_t expected = round;
    if (!atomic_compare_exchange_strong(&share->begun, &expected, round + 1))
        return false;
    share_open(own, share);
    /* A single thread has no use for small units, and more of them than this for nobody. */
    share->unit = 1 + (sim->n_threads > 1 ? share->n_active / UNITS : share->n_active);
    const uint32_t n = (share->n_active + share->unit - 1) / share->unit;
    atomic_fetch_add_explicit(&sim->n_left, n, memory_order_relaxed);
    atomic_store_explicit(&share->claims, pack((struct claims){round, 0, (uint16_t)n}),
                          memory_order_release);
    return true;
}

void rounds_help(struct thread *own, struct share *share, uint32_t round)
{
    struct sim *sim = own->worker.sim;
    uint32_t n_done = open(own, share, round);
    n_done += run_units(own, share, round);
    if (n_done && atomic_fetch_sub_explicit(&sim->n_left, n_done, memory_order_acq_rel) == n_done)
        finish_round(sim, round);
}

static void be_patient(struct thread *own, bool paid_off)
{
    if (paid_off)
        own->patience = own->patience < MOST_SPINS ? 2 * own->patience : MOST_SPINS;
    else
        own->patience = own->patience > 2 ? own->patience / 2 : 1;
}

/* Waits a little until the share has been opened by its own thread. */
static void wait_for_owner(struct thread *own, const struct share *share, uint32_t round)
{
    bool is_open = false;
    for (uint32_t spins = 0; spins < own->patience && !is_open; spins++, relax())
        is_open = unpack(atomic_load_explicit(&share->claims, memory_order_acquire)).round == round;
    be_patient(own, is_open);
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
        rounds_help(own, &own->share, round);
        for (uint32_t i = 1; i < sim->n_threads; i++) {
            struct share *other = &sim->threads[(own->id + i) % sim->n_threads]->share;
            wait_for_owner(own, other, round);
            rounds_help(own, other, round);
        }
        wait_for_round(own, round);
    }
}

void rounds_begin(struct sim *sim, xoff_time first_instant, xoff_time end)
{
    sim->end = end;
    sim->instant_at = first_instant;
    if (sim->n_rounds) /* of an image: the first round repeats the one that it was made after */
        sim->n_rounds--;
    atomic_store_explicit(&sim->n_left, sim->n_threads, memory_order_relaxed);
    for (uint32_t i = 0; i < sim->n_threads; i++)
        sim->threads[i]->patience = FIRST_SPINS;
}

xoff_time sim_run(struct sim *sim, xoff_time first_instant, xoff_time end)
{
    pthread_t threads[64];
    XOFF_ASSERT(sim->n_threads <= 64);
    rounds_begin(sim, first_instant, end);
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_create(&threads[i], NULL, serve, sim->threads[i]) == 0);
    serve(sim->threads[0]);
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_join(threads[i], NULL) == 0);
    return sim->reached;
}
