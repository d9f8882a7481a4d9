/* The profile of the ns-3 RDMA family, for runs that are compared with it (`compat: ns3`,
 * docs/import.md). */
#include <xoff/units.h>

#include "net/net.h"
#include "net/profile.h"

/* Frames follow each other without preamble and gap, and take whole nanoseconds, cut off: of the
 * seconds as a double, in units of 2^-64 s. A time that is a whole number of nanoseconds mostly
 * comes out one less. */
static xoff_time ns3_time(xoff_rate rate_bps, uint32_t bytes)
{
    const double seconds = (double)bytes * 8 / (double)rate_bps;
    const uint64_t whole = (uint64_t)seconds;
    const uint64_t part = (uint64_t)((seconds - (double)whole) * 0x1p64);
    const uint64_t ns = (uint64_t)((unsigned __int128)part * 1000000000 >> 64);
    return (xoff_time)(whole * 1000000000 + ns) * XOFF_NS;
}

static void ns3_times(xoff_rate rate_bps, uint32_t bytes, xoff_time *last_bit, xoff_time *free_at)
{
    *last_bit = *free_at = ns3_time(rate_bps, bytes);
}

/* Events of one nanosecond happen there in the order in which they were scheduled. Picoseconds
 * below the nanosecond carry that order: each event gets the next of its nanosecond when it is
 * scheduled. So a frame must not arrive within the nanosecond in which it was sent (min_delay), and
 * all nodes run in one sequence (is_one_sequence). */
#define NS3_LAST (XOFF_NS - 1)
/* A sample of the queues is scheduled when the last one is taken: halfway (histogram.c). */
#define NS3_SAMPLE_EVERY (100 * XOFF_NS)
#define NS3_SAMPLE (XOFF_NS / 2)

xoff_time net_sequence_next(struct net_sequence *s, xoff_time ns, xoff_time now)
{
    struct net_sequence_entry *e = &s->entries[ns / XOFF_NS % NET_SEQUENCE];
    if (e->at != ns)
        *e = (struct net_sequence_entry){.at = ns};
    if (ns - now < NS3_SAMPLE_EVERY && e->n < NS3_SAMPLE)
        e->n = NS3_SAMPLE;
    return ns + (e->n < NS3_LAST - 1 ? ++e->n : NS3_LAST - 1);
}

static void ns3_send(struct port *port, struct worker *w, const struct frame *frame)
{
    const xoff_time now = sim_now(w), start = now - now % XOFF_NS;
    const xoff_time busy_for = ns3_time(port->clock.rate_bps, frame->bytes);
    port->busy_for += busy_for;
    port->free_at = net_sequence_next(port->sequence, start + busy_for, start);
    sim_send(w, port->link_out, frame,
             net_sequence_next(port->sequence, start + busy_for + port->delay, start));
}

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

/* MurmurHash3 (x86, 32 bits) of three words. */
static uint32_t murmur3(const uint32_t word[3], uint32_t seed)
{
    uint32_t h = seed;
    for (int i = 0; i < 3; i++) {
        h ^= rotate(word[i] * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
        h = rotate(h, 13) * 5 + UINT32_C(0xe6546b64);
    }
    h ^= 12;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

static uint32_t ns3_address(uint32_t id)
{
    return UINT32_C(0x0b000001) + (id / 256 << 16) + (id % 256 << 8);
}

static uint32_t ns3_id(const struct topo *topo, uint32_t node)
{
    return topo->nodes[node].number;
}

static uint32_t peer_id(const struct topo *topo, uint32_t node, uint32_t port)
{
    return ns3_id(topo, topo_peer(topo, node, port));
}

/* The port whose neighbour has the id at place `chosen` in descending order; of several links to
 * one neighbour the first comes first. */
static uint32_t in_descending_order(const struct topo *topo, uint32_t node, const uint16_t *ports,
                                    uint32_t n, uint32_t chosen)
{
    uint32_t n_rising = 1;
    while (n_rising < n &&
           peer_id(topo, node, ports[n_rising - 1]) < peer_id(topo, node, ports[n_rising]))
        n_rising++;
    if (n_rising == n) /* links mostly lead to neighbours in order of their ids */
        return ports[n - 1 - chosen];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t id = peer_id(topo, node, ports[i]);
        uint32_t before = 0;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t other = peer_id(topo, node, ports[k]);
            before += other > id || (other == id && k < i);
        }
        if (before == chosen)
            return ports[i];
    }
    return ports[0]; /* not reached */
}

/* Next hops are in descending order of their ids. */
static uint32_t ns3_hop(const struct topo *topo, uint32_t node, const struct frame *frame,
                        const uint16_t *ports, uint32_t n)
{
    const uint32_t words[3] = {ns3_address(ns3_id(topo, frame->src)),
                               ns3_address(ns3_id(topo, frame->dst)), frame->hash};
    return in_descending_order(topo, node, ports, n, murmur3(words, ns3_id(topo, node)) % n);
}

/* A frame may start late within its nanosecond. */
static xoff_time ns3_shortest(xoff_rate rate_bps)
{
    return ns3_time(rate_bps, net_wire_ns3.pause_bytes) - NS3_LAST;
}

/* What arrives in two delays, the pause frame's time and the response, at a rate that whole
 * nanoseconds make higher, and a frame at each end. */
static int64_t ns3_headroom(const struct xoff_headroom_params *p)
{
    const xoff_time frame_ns = ns3_time(p->rate_bps, p->max_frame_bytes) / XOFF_NS;
    const xoff_time for_ns = (2 * p->delay + p->response_for) / XOFF_NS + frame_ns + 2;
    return (for_ns / (frame_ns ? frame_ns : 1) + 3) * p->max_frame_bytes;
}

/* PPP 14, IPv4 20, UDP 8, its own header 6. */
const struct net_wire net_wire_ns3 = {.header_bytes = 48,
                                      .tcp_header_bytes = 54,
                                      .ack_bytes = 60,
                                      .ack_telemetry_bytes = 28, /* 88 in all */
                                      .timestamp_bytes = 8,
                                      .pause_bytes = 43,
                                      .min_bytes = 1,
                                      .min_delay = XOFF_NS,
                                      .times = ns3_times,
                                      .shortest = ns3_shortest,
                                      .headroom = ns3_headroom,
                                      .send = ns3_send,
                                      .is_one_sequence = true,
                                      .grain = XOFF_NS,
                                      .rtt_counts_payload = true,
                                      .hop = ns3_hop,
                                      .scans = true,
                                      .acks_keep_class = true,
                                      .buffers_all = true,
                                      .has_free_priority = true};
