/* The profile of Ethernet as 802.3 has it. */
#include "net/profile.h"

#include <xoff/units.h>

#include "net/net.h"

static void ethernet_times(xoff_rate rate_bps, uint32_t bytes, xoff_time *last_bit,
                           xoff_time *free_at)
{
    struct xoff_wire_clock clock;
    xoff_wire_clock_init(&clock, rate_bps);
    xoff_wire_clock_send(&clock, 0, bytes, false, last_bit, free_at);
}

static xoff_time ethernet_shortest(xoff_rate rate_bps)
{
    const uint64_t bits = 8 * (XOFF_MIN_FRAME_BYTES + XOFF_PREAMBLE_BYTES);
    return (xoff_time)(bits * (uint64_t)XOFF_S / rate_bps);
}

const struct net_wire net_wire_ethernet = {.header_bytes = NET_HEADER_BYTES,
                                           .tcp_header_bytes = NET_TCP_HEADER_BYTES,
                                           .ack_bytes = XOFF_MIN_FRAME_BYTES,
                                           .ack_telemetry_bytes = XOFF_INT_WIRE_BYTES,
                                           .pause_bytes = XOFF_PAUSE_FRAME_BYTES,
                                           .min_bytes = XOFF_MIN_FRAME_BYTES,
                                           .times = ethernet_times,
                                           .shortest = ethernet_shortest,
                                           .headroom = xoff_headroom_bytes};

uint32_t net_header_bytes(const struct net_wire *wire, const struct net_transport *transport)
{
    const bool is_tcp = transport->rel->format == XOFF_REL_AS_TCP;
    return (is_tcp ? wire->tcp_header_bytes : wire->header_bytes) +
           (transport->np->has_telemetry ? XOFF_INT_WIRE_BYTES : 0) +
           (transport->rp->reads_rtt ? wire->timestamp_bytes : 0) + transport->rp->tag_bytes +
           (transport->rp->sends_tags ? XOFF_RATE_TAG_BYTES : 0);
}
