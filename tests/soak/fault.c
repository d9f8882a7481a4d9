/* Faults planted around mechanisms, to see that a campaign finds them and the reducer keeps them.
 */
#include <stdlib.h>
#include <string.h>

#include "soak/soak.h"

const char *const fault_names[] = {"threads", "loss", "books", "stuck", "crash", NULL};

static const struct xoff_mmu_ops *good_mmu;
static const struct xoff_pause_ops *good_pause;
static bool is_lossy;

/* Loses a frame that comes in a certain nanosecond of seven. */
static enum xoff_pool lose(const void *cfg, void *state, const struct xoff_arrival *arrival,
                           xoff_time now, struct xoff_crossings *out)
{
    return now / XOFF_NS % 7 ? good_mmu->admit(cfg, state, arrival, now, out) : XOFF_POOL_DROP;
}

/* Forgets that such a frame has left. */
static void forget(const void *cfg, void *state, const struct xoff_departure *departure,
                   xoff_time now, struct xoff_crossings *out)
{
    if (now / XOFF_NS % 7)
        good_mmu->release(cfg, state, departure, now, out);
}

/* Ends at a long queue, and without lossless priorities elsewhere, which is another failure. */
static enum xoff_pool crash(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            xoff_time now, struct xoff_crossings *out)
{
    XOFF_ASSERT(!is_lossy);
    XOFF_ASSERT(arrival->egress_bytes <= 9000);
    return good_mmu->admit(cfg, state, arrival, now, out);
}

/* Keeps decisions to resume to itself. */
static void withhold(struct xoff_edges *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->n; i++)
        if (out->at[i].pause)
            out->at[n++] = out->at[i];
    out->n = n;
}

static void pause_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                               const struct xoff_crossings *crossings, xoff_time now,
                               struct xoff_edges *out)
{
    good_pause->on_departure(cfg, state, departure, crossings, now, out);
    withhold(out);
}

bool fault_plant(const char *fault, struct net_spec *spec, struct net_switch *kinds,
                 uint32_t n_threads)
{
    static struct xoff_mmu_ops mmu; /* the same whoever writes it */
    static struct xoff_pause_ops pause;
    if (!strcmp(fault, "threads")) {
        spec->seed += n_threads > 1;
        return true;
    }
    is_lossy = !spec->lossless;
    good_mmu = kinds->mmu;
    good_pause = kinds->pause;
    mmu = *good_mmu;
    pause = *good_pause;
    if (!strcmp(fault, "loss"))
        mmu.admit = lose;
    else if (!strcmp(fault, "books"))
        mmu.release = forget;
    else if (!strcmp(fault, "crash"))
        mmu.admit = crash;
    else if (!strcmp(fault, "stuck") && pause.on_departure)
        pause.on_departure = pause_on_departure;
    else
        return false;
    kinds->mmu = &mmu;
    kinds->pause = &pause;
    return true;
}
