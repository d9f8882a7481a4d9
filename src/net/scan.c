/* A NIC that scans its flows, as that of the ns-3 RDMA family does (wire->scans): cyclically from
 * the one behind the last served, and the first that may send is taken. New flows go to the end.
 * Finished ones leave when a scan meets them, and the place of the last served is not corrected for
 * it. A flow's next frame starts whole nanoseconds of its bytes at its rate after this one. */
#include "net/model.h"

void scan_add(struct host *host, uint32_t flow)
{
    struct scan *s = &host->scan;
    if (s->n == s->capacity)
        host_grow_scan(host);
    s->flows[s->n++] = flow;
}

void scan_close(struct host *host, uint32_t flow)
{
    struct scan *s = &host->scan;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->flows[i] == flow)
            s->flows[i] = NET_NONE;
}

/* Removes the finished flows from place `from` on; returns the new place of `kept`. */
static uint32_t remove_finished(struct scan *s, uint32_t from, uint32_t kept)
{
    uint32_t n = from, place = kept;
    for (uint32_t i = from; i < s->n; i++) {
        if (s->flows[i] == NET_NONE)
            continue;
        if (i == kept)
            place = n;
        s->flows[n++] = s->flows[i];
    }
    s->n = n;
    return place;
}

uint32_t scan_pick(struct host *host, uint8_t eligible, xoff_time now)
{
    struct scan *s = &host->scan;
    uint32_t found = NET_NONE, finished = NET_NONE;
    for (uint32_t i = 1; i <= s->n && found == NET_NONE; i++) {
        const uint32_t place = (i + s->last) % s->n;
        if (s->flows[place] == NET_NONE) {
            finished = place < finished ? place : finished;
            continue;
        }
        const struct flow *flow = flow_at(host, s->flows[place]);
        if (flow->is_ready && eligible >> flow->priority & 1 && flow->next_at <= now)
            found = place;
    }
    if (finished != NET_NONE)
        found = remove_finished(s, finished, found);
    if (found == NET_NONE)
        return NET_NONE;
    s->last = found;
    return s->flows[found];
}

/* The earliest time at which a flow with something left may start a frame, whatever else holds it
 * back. */
static xoff_time first_start(const struct host *host, xoff_time now)
{
    xoff_time at = XOFF_NEVER;
    for (uint32_t i = 0; i < host->scan.n; i++) {
        if (host->scan.flows[i] == NET_NONE)
            continue;
        const struct flow *flow = flow_at(host, host->scan.flows[i]);
        if (flow->rel.next < flow_end(host, flow, now))
            at = xoff_time_min(at, flow->next_at);
    }
    return at;
}

static void set_next(struct host *host, xoff_time at, xoff_time now)
{
    host->scan.next_at = at;
    heap_set(&host->timers, HOST_NEXT, net_sequence_next(host->port.sequence, at, now));
}

void scan_wait(struct host *host, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (!host->acks[p].n)
            host->port.backlog &= (uint8_t) ~(1u << p);
    const xoff_time at = first_start(host, now);
    if (host->scan.next_at == XOFF_NEVER && at != XOFF_NEVER && at > now)
        set_next(host, at, now);
}

void scan_wake(struct host *host, struct worker *w, bool scans)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (host->ready[p].head != NET_NONE)
            host->port.backlog |= (uint8_t)(1u << p);
    if (scans)
        port_arm(&host->head, &host->port, w);
}

static xoff_time gap(const struct host *host, const struct flow *flow, uint32_t bytes)
{
    const xoff_rate bps = flow->pace_bps ? flow->pace_bps : host->port.clock.rate_bps;
    xoff_time last_bit, free_at;
    host->port.wire->times(bps, bytes, &last_bit, &free_at);
    return free_at;
}

void scan_pace(struct host *host, struct flow *flow, uint32_t bytes, xoff_time now)
{
    flow->paced_at = now;
    flow->paced_bytes = bytes;
    flow->next_at = now + gap(host, flow, bytes);
}

void scan_set_pace(struct host *host, struct flow *flow, xoff_rate bps)
{
    const bool moves = host->transports[flow->transport].np.ops->has_telemetry;
    flow->pace_bps = bps;
    if (!moves || !flow->paced_bytes)
        return;
    flow->next_at = flow->paced_at + gap(host, flow, flow->paced_bytes);
}

void scan_hasten(struct host *host, const struct flow *flow, xoff_time now)
{
    if (host->scan.next_at != XOFF_NEVER && flow->next_at < host->scan.next_at)
        set_next(host, flow->next_at > now ? flow->next_at : now, now);
}
