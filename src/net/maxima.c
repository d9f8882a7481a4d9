/* Local maxima of the headroom that a buffer has in use, all its ports together: how full headroom
 * gets before it drains, as the DSH slides measure it.
 *
 * A maximum is the value at the first fall after a rise. Headroom rises only when the buffer puts a
 * frame there. From a rise to the next fall every departure is examined; at other times a departure
 * costs the test of one flag. Maxima are counted by their share of the buffer's headroom in steps
 * of a permille, rounded up, so that a single frame counts as something. Headroom that never falls
 * again (a deadlock, the end of the run) has no maximum.
 */
#include "net/switch.h"

/* A frame has gone into headroom. */
void maxima_rise(struct maxima *maxima, const struct xoff_mmu *mmu)
{
    XOFF_ASSERT(maxima->counts);
    maxima->bytes = xoff_mmu_used_bytes(mmu, XOFF_POOL_HEADROOM);
    maxima->rises = true;
}

/* A frame has left a buffer whose headroom had risen. Only the buffer knows whether the frame was
 * in headroom. */
void maxima_leave(struct maxima *maxima, const struct xoff_mmu *mmu)
{
    if (xoff_mmu_used_bytes(mmu, XOFF_POOL_HEADROOM) >= maxima->bytes)
        return;
    struct xoff_mmu_view view;
    xoff_mmu_view(mmu, &view);
    const int64_t capacity = view.capacity_bytes[XOFF_POOL_HEADROOM];
    const int64_t step = (maxima->bytes * RESULT_MAXIMA + capacity - 1) / capacity;
    /* Use beyond the capacity counts as full; the audit reports it. */
    maxima->counts[(step < RESULT_MAXIMA ? step : RESULT_MAXIMA) - 1]++;
    maxima->rises = false;
}
