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

void maxima_count(struct maxima *maxima)
{
    const int64_t capacity = maxima->capacity_bytes;
    const int64_t step = (maxima->bytes * RESULT_MAXIMA + capacity - 1) / capacity;
    /* Use beyond the capacity counts as full; the audit reports it. */
    maxima->counts[(step < RESULT_MAXIMA ? step : RESULT_MAXIMA) - 1]++;
    maxima->rises = false;
}
