/* The profiles: Ethernet as 802.3 has it, and the ns-3 RDMA family for runs that are compared with
 * it (`compat: ns3`, docs/import.md). */
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
                                           .pause_bytes = XOFF_PAUSE_FRAME_BYTES,
                                           .min_bytes = XOFF_MIN_FRAME_BYTES,
                                           .times = ethernet_times,
                                           .shortest = ethernet_shortest,
                                           .headroom = xoff_headroom_bytes};

/* Frames follow each other without preamble and gap; their times are rounded down to nanoseconds.
 */
static xoff_time ns3_time(xoff_rate rate_bps, uint32_t bytes)
{
    return (xoff_time)(bytes * UINT64_C(8000000000) / rate_bps) * XOFF_NS;
}

static void ns3_times(xoff_rate rate_bps, uint32_t bytes, xoff_time *last_bit, xoff_time *free_at)
{
    *last_bit = *free_at = ns3_time(rate_bps, bytes);
}

/* ns-3 handles the events of one nanosecond in the order in which they were scheduled. Picoseconds
 * below the nanosecond encode that order. Arrivals come before the end of a transmission, which was
 * scheduled later. Among arrivals from ports that send in step, the port that started last comes
 * first: the event that woke it was scheduled a link delay ago, while the last frames of the other
 * ports ended only then. So a frame must not arrive within the nanosecond in which it was sent
 * (min_delay). */
#define NS3_LAST (XOFF_NS - 1)
#define NS3_BURST 900

static void ns3_send(struct port *port, struct worker *w, const struct frame *frame)
{
    const xoff_time now = sim_now(w), start = now - now % XOFF_NS;
    const xoff_time busy_for = ns3_time(port->clock.rate_bps, frame->bytes);
    port->burst = start + NS3_LAST == port->free_at ? port->burst + 1 : 0;
    port->busy_for += busy_for;
    port->free_at = start + busy_for + NS3_LAST;
    sim_send(w, port->link_out, frame,
             start + busy_for + port->delay + (port->burst < NS3_BURST ? port->burst : NS3_BURST));
}

/* A frame may start up to NS3_LAST after the beginning of its nanosecond. */
static xoff_time ns3_shortest(xoff_rate rate_bps)
{
    return ns3_time(rate_bps, net_wire_ns3.pause_bytes) - NS3_LAST;
}

/* Headroom covers what arrives in two delays, the pause frame's time and the response, at a rate
 * that rounding to nanoseconds makes higher, and a frame at each end. */
static int64_t ns3_headroom(const struct xoff_headroom_params *p)
{
    const xoff_time frame_ns = ns3_time(p->rate_bps, p->max_frame_bytes) / XOFF_NS;
    const xoff_time for_ns = (2 * p->delay + p->response_for) / XOFF_NS + frame_ns + 2;
    return (for_ns / (frame_ns ? frame_ns : 1) + 3) * p->max_frame_bytes;
}

/* Header bytes are PPP 14, IPv4 20, UDP 8 and ns-3's own header 6. */
const struct net_wire net_wire_ns3 = {.header_bytes = 48,
                                      .tcp_header_bytes = 54,
                                      .ack_bytes = 60,
                                      .pause_bytes = 43,
                                      .min_bytes = 1,
                                      .min_delay = XOFF_NS,
                                      .times = ns3_times,
                                      .shortest = ns3_shortest,
                                      .headroom = ns3_headroom,
                                      .send = ns3_send,
                                      .ties_by_port = true,
                                      .buffers_all = true,
                                      .has_free_priority = true};

uint32_t net_header_bytes(const struct net_wire *wire, const struct net_transport *transport)
{
    const bool is_tcp = transport->rel->format == XOFF_REL_AS_TCP;
    return (is_tcp ? wire->tcp_header_bytes : wire->header_bytes) +
           (transport->np->has_telemetry ? XOFF_INT_WIRE_BYTES : 0);
}
