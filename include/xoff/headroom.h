/* Headroom: the most bytes that can still arrive at an ingress once XOFF has been decided. */
#ifndef XOFF_HEADROOM_H
#define XOFF_HEADROOM_H

#include <stdbool.h>

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

/* The parts of xoff_headroom_bytes(), in bytes of wire where nothing else is said. Their sum
 * without the overhead is that figure. */
struct xoff_headroom_parts {
    int64_t deciding_bytes;   /* the frame at whose arrival XOFF is decided */
    int64_t own_frame_bytes;  /* our port has just begun one */
    int64_t pause_bytes;      /* the pause frame */
    int64_t away_bytes;       /* propagation both ways, and the response time */
    int64_t peer_frame_bytes; /* the peer has just begun one */
    int64_t overhead_bytes;   /* of all that: gaps and preambles, which fill no buffer */
};
void xoff_headroom_split(const struct xoff_headroom_params *params,
                         struct xoff_headroom_parts *parts);

/* What SONiC's buffer manager computes for NVIDIA's switches: in units of
 * 1024 bytes, with light at 198000 km/s and frames that fill cells. */
struct xoff_sonic_params {
    xoff_rate rate_bps;
    int64_t length_mm;
    uint32_t port_mtu_bytes, lossless_mtu_bytes, cell_bytes;
    double small_percent; /* of packets: 64 bytes, which fill cells badly */
    double pipeline_kb, mac_phy_kb, peer_response_kb;
    bool by_quanta; /* response of the peer by the standard's table instead */
};
struct xoff_sonic_profile {
    int64_t size_bytes, xon_bytes, xoff_bytes;
    int64_t rounding_bytes; /* of xoff_bytes: added to come to a multiple of 1024 */
};
struct xoff_sonic_profile xoff_headroom_sonic(const struct xoff_sonic_params *params);

#ifdef __cplusplus
}
#endif

#endif
