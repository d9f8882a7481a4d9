/* A limit that a host's sending and receiving share: a bus or a processor that every frame has to
 * pass, whichever way it goes.
 *
 * A frame of b bytes takes the limit for 8 b / rate. What is received goes first: a device writes
 * to memory and interrupts the processor as frames come, programs send with what is left. So a
 * received frame is delivered at once and takes its time; the next frame is sent when the wire is
 * free and the work on the limit is at most BUS_AHEAD frames behind. That stands for the few frames
 * that an adapter holds: with none, wire and limit would wait for each other, and neither be used
 * fully. The limit is at least the rate of the link
 * (check_bus() in net_build.c), so what is received never piles up. Pause frames are the
 * adapter's own, and free.
 *
 * The port of such a host sends by bus_send(), so that other hosts do not ask whether there is a
 * limit.
 */
#include "net/model.h"

static void take(struct host *host, uint32_t bytes, xoff_time now)
{
    struct bus *bus = host->bus;
    bus->free_at = bus->free_at > now ? bus->free_at : now;
    bus->free_at += xoff_time_of_bits((uint64_t)bytes * 8, bus->rate_bps);
    if (host->port.free_at < bus->free_at - bus->ahead_for)
        host->port.free_at = bus->free_at - bus->ahead_for;
}

void bus_receive(struct host *host, const struct frame *frame, xoff_time now)
{
    take(host, frame->bytes, now);
}

void bus_send(struct port *port, struct worker *w, const struct frame *frame)
{
    struct host *host = (struct host *)(void *)((char *)port - offsetof(struct host, port));
    const xoff_time now = sim_now(w);
    xoff_time last_bit, free_at;
    xoff_wire_clock_send(&port->clock, now, frame->bytes, now == port->free_at, &last_bit,
                         &free_at);
    port->busy_for += free_at - now;
    port->free_at = free_at;
    if (!frame_is_control(frame))
        take(host, frame->bytes, now);
    sim_send(w, port->link_out, frame, last_bit + port->delay);
}
