/* How much room a lossless priority needs after XOFF: the sum, and its parts.
 *
 *   cc headroom.c $(pkg-config --cflags --libs xoff) -o headroom && ./headroom
 */
#include <stdio.h>
#include <stdlib.h>

#include <xoff/xoff.h>

/* The library never prints or exits: what a broken promise of the caller leads to is yours. */
void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

int main(void)
{
    const xoff_rate rate_bps = 400 * XOFF_GBPS;
    const int64_t length_mm = 100000;
    struct xoff_headroom_params link;
    struct xoff_headroom_parts part;
    link.rate_bps = rate_bps;
    link.delay = length_mm * XOFF_PS_PER_MM;
    link.max_frame_bytes = 9216;
    link.response_for = xoff_quanta_time(xoff_response_quanta(rate_bps), rate_bps);
    xoff_headroom_split(&link, &part);
    printf("400 Gb/s, 100 m, frames of up to 9216 B\n");
    printf("  deciding frame          %8lld B\n", (long long)part.deciding_bytes);
    printf("  our frame on the wire   %8lld B\n", (long long)part.own_frame_bytes);
    printf("  pause frame             %8lld B\n", (long long)part.pause_bytes);
    printf("  propagation, response   %8lld B\n", (long long)part.away_bytes);
    printf("  peer's frame            %8lld B\n", (long long)part.peer_frame_bytes);
    printf("  less gaps and preambles %8lld B\n", (long long)-part.overhead_bytes);
    printf("headroom                  %8lld B\n", (long long)xoff_headroom_bytes(&link));
    return 0;
}
