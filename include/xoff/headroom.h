/* Headroom: the most bytes that can still arrive at an ingress once XOFF has been decided. */
#ifndef XOFF_HEADROOM_H
#define XOFF_HEADROOM_H

#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_headroom_params {
    xoff_rate rate_bps;       /* of the link, both ways; above 0 */
    xoff_time delay;          /* one-way propagation */
    uint32_t max_frame_bytes; /* largest MAC frame with FCS, of any priority, either way */
    xoff_time response_for;   /* from reception of the pause frame until the peer's gate closes */
};

/* The bound in accounted bytes (MAC frames with FCS), including the frame at whose arrival XOFF is
 * decided. It holds for frames of any sizes, and some sequence of frames reaches it to within a
 * byte of rounding. */
int64_t xoff_headroom_bytes(const struct xoff_headroom_params *params);

/* eta = 2 (rate * delay + max_frame) + response, rounded up: the rule of thumb of the DSH slides.
 * The rule leaves out the pause frame and the frame that decides, and counts gaps and preambles as
 * data, so it is below the worst case unless the link is long (docs/mechanisms/buffers.md). */
int64_t xoff_headroom_eta_bytes(const struct xoff_headroom_params *params);

#ifdef __cplusplus
}
#endif

#endif
