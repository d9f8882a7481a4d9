/* Headroom in the worst case of this simulator's ports, gates and links.
 *
 * Source: the delay model of 802.1Qbb Annex O, with the terms of our model in place of its
 * interface and higher-layer allowances (docs/mechanisms/pfc.md compares the two).
 *
 * Let XOFF be decided at t, when the last bit of a frame has arrived; that frame itself may have to
 * go into headroom: L bytes. Frames go on arriving until all of this has passed, in byte times
 * where no unit is given:
 *
 *   L + 20   our port has just begun a maximum frame, and its gap must pass
 *   64 + 8   the pause frame with its preamble, up to its last bit
 *   d        propagation
 *   r        response time; then the peer's gate closes
 *   L + 8    the peer has just begun a maximum frame: its last bit
 *   d        propagation
 *
 * W is that span in bytes, rounded up. Each frame of b bytes behind the deciding frame takes b + 20
 * bytes of wire (gap, preamble, itself) and no frame has more than L, so n frames bring at most
 * min(nL, W - 20n) bytes. With W = q(L + 20) + s, 0 <= s < L + 20, the largest value is that of n =
 * q or q + 1: qL + max(0, s - 20). Apart from the rounding this bound is reached: by one frame of s
 * - 20 bytes and q of L, the last of them begun as the gate closes.
 */
#include <xoff/headroom.h>

int64_t xoff_headroom_bytes(const struct xoff_headroom_params *params)
{
    const int64_t longest = params->max_frame_bytes;
    const int64_t frame_on_wire = longest + XOFF_OVERHEAD_BYTES;
    xoff_time waiting_for = 2 * params->delay + params->response_for;
    /* If a byte is not a whole number of picoseconds, the carry of the wire clock can make the
     * pause frame one picosecond later. */
    if (8 * (uint64_t)XOFF_S % params->rate_bps != 0)
        waiting_for++;

    const int64_t wire_bytes = frame_on_wire + XOFF_MIN_FRAME_BYTES + XOFF_PREAMBLE_BYTES +
                               xoff_bytes_in(waiting_for, params->rate_bps) + longest +
                               XOFF_PREAMBLE_BYTES;
    const int64_t full = wire_bytes / frame_on_wire;
    const int64_t rest = wire_bytes % frame_on_wire;
    return longest + full * longest + (rest > XOFF_OVERHEAD_BYTES ? rest - XOFF_OVERHEAD_BYTES : 0);
}

int64_t xoff_headroom_eta_bytes(const struct xoff_headroom_params *params)
{
    return 2 * (int64_t)params->max_frame_bytes +
           xoff_bytes_in(2 * params->delay + params->response_for, params->rate_bps);
}
