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
#include <xoff/units.h>

static int64_t away_bytes(const struct xoff_headroom_params *params)
{
    xoff_time waiting_for = 2 * params->delay + params->response_for;
    /* If a byte is not a whole number of picoseconds, the carry of the wire clock can make the
     * pause frame one picosecond later. */
    if (8 * (uint64_t)XOFF_S % params->rate_bps != 0)
        waiting_for++;
    return xoff_bytes_in(waiting_for, params->rate_bps);
}

void xoff_headroom_split(const struct xoff_headroom_params *params,
                         struct xoff_headroom_parts *parts)
{
    const int64_t longest = params->max_frame_bytes;
    *parts = (struct xoff_headroom_parts){
        .deciding_bytes = longest,
        .own_frame_bytes = longest + XOFF_OVERHEAD_BYTES,
        .pause_bytes = XOFF_MIN_FRAME_BYTES + XOFF_PREAMBLE_BYTES,
        .away_bytes = away_bytes(params),
        .peer_frame_bytes = longest + XOFF_PREAMBLE_BYTES,
    };
    const int64_t wire_bytes =
        parts->own_frame_bytes + parts->pause_bytes + parts->away_bytes + parts->peer_frame_bytes;
    const int64_t slots = wire_bytes / (longest + XOFF_OVERHEAD_BYTES);
    const int64_t rest = wire_bytes % (longest + XOFF_OVERHEAD_BYTES);
    parts->overhead_bytes =
        slots * XOFF_OVERHEAD_BYTES + (rest > XOFF_OVERHEAD_BYTES ? XOFF_OVERHEAD_BYTES : rest);
}

int64_t xoff_headroom_bytes(const struct xoff_headroom_params *params)
{
    struct xoff_headroom_parts parts;
    xoff_headroom_split(params, &parts);
    return parts.deciding_bytes + parts.own_frame_bytes + parts.pause_bytes + parts.away_bytes +
           parts.peer_frame_bytes - parts.overhead_bytes;
}

int64_t xoff_headroom_eta_bytes(const struct xoff_headroom_params *params)
{
    return 2 * (int64_t)params->max_frame_bytes +
           xoff_bytes_in(2 * params->delay + params->response_for, params->rate_bps);
}

static int64_t up_to_kb(double bytes)
{
    const int64_t whole = (int64_t)bytes;
    const int64_t up = whole + ((double)whole < bytes);
    return (up + 1023) / 1024 * 1024;
}

/* Of sonic-swss, cfgmgr/buffer_headroom_mellanox.lua: in the worst case a frame of 64 bytes takes
 * `worst` times its size in cells; small frames are a share of the packets, so their share of the
 * bytes is less. What is still under way counts with that occupancy, and a frame that has begun to
 * arrive comes on top. The pool of shared headroom is taken to be off. */
struct xoff_sonic_profile xoff_headroom_sonic(const struct xoff_sonic_params *params)
{
    const double cell = params->cell_bytes, mtu = params->lossless_mtu_bytes;
    const double mbps = (double)params->rate_bps / 1e6, metres = (double)params->length_mm / 1e3;
    double worst = cell > 128 ? cell / 64 : 2 * cell / (1 + cell);
    worst = (double)(int64_t)worst + ((double)(int64_t)worst < worst);
    const double small = params->small_percent;
    const double small_of_bytes = 100 * 64 / ((small * 64 + (100 - small) * mtu) / 100);
    const double occupancy = (100 - small_of_bytes + small_of_bytes * worst) / 100;
    const double cable = 2 * metres * mbps * 1e9 / 198000000 / 8000;
    const double peer = params->by_quanta ? 64.0 * xoff_response_quanta(params->rate_bps)
                                          : params->peer_response_kb * 1024;
    const double under_way = params->port_mtu_bytes + cable + params->mac_phy_kb * 1024 + peer;
    const double needed = mtu + under_way * occupancy;
    struct xoff_sonic_profile profile = {.xon_bytes = up_to_kb(params->pipeline_kb * 1024),
                                         .xoff_bytes = up_to_kb(needed)};
    profile.rounding_bytes = (int64_t)((double)profile.xoff_bytes - needed);
    profile.size_bytes = up_to_kb((double)(profile.xoff_bytes + profile.xon_bytes));
    return profile;
}
