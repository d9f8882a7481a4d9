/* A slow receiver: frames wait in a receive buffer and are served at a rate that follows a
 * schedule. Buffer and pause policy are the same mechanisms a switch has, on one port. */
#include "net/model.h"

/* Starts to serve the next frame if none is in service; waits while the rate is 0. */
static void start(struct host *host, xoff_time now)
{
    struct receiver *r = host->receiver;
    while (r->service + 1 < r->n_services && r->services[r->service + 1].at <= now)
        r->service++;
    const xoff_rate rate = r->services[r->service].rate_bps;
    xoff_time wake = XOFF_NEVER;
    r->done_at = XOFF_NEVER;
    if (r->queue.n && rate) {
        const struct frame *f = store_at(&host->store, r->queue.head);
        r->done_at = wake = now + xoff_time_of_bits((uint64_t)f->bytes * 8, rate);
    } else if (r->queue.n && r->service + 1 < r->n_services) {
        wake = r->services[r->service + 1].at;
    }
    heap_set(&host->timers, HOST_SERVICE, wake);
}

/* Called after every call of the pause policy: applies its decisions and sets its next deadline. */
static void heed_policy(struct host *host, struct worker *w)
{
    const struct receiver *r = host->receiver;
    for (uint32_t i = 0; i < r->edges.n; i++) {
        struct pause_note note = {.egress_port = UINT32_MAX};
        port_apply_edge(&host->head, &host->port, w, &r->edges.at[i], &note);
    }
    if (r->pause.shape.has_deadline)
        heap_set(&host->timers, HOST_PAUSE, xoff_pause_deadline(&r->pause));
}

void receiver_expire(struct host *host, struct worker *w)
{
    xoff_pause_expire(&host->receiver->pause, sim_now(w), &host->receiver->edges);
    heed_policy(host, w);
}

void receiver_admit(struct host *host, struct worker *w, const struct frame *frame)
{
    struct receiver *r = host->receiver;
    const xoff_time now = sim_now(w);
    /* Frames wait in one queue; lossy ones may not use the bytes reserved for lossless ones. */
    const bool is_lossless = host->net->spec.lossless >> frame->priority & 1;
    struct xoff_arrival arrival = {
        .priority = frame->priority,
        .bytes = frame->bytes,
        .egress_bytes =
            is_lossless ? r->queue.bytes : xoff_mmu_used_bytes(&r->mmu, XOFF_POOL_SHARED)};
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&r->mmu, &arrival, now, &crossings);
    arrival.dropped = pool == XOFF_POOL_DROP;
    xoff_pause_on_arrival(&r->pause, &arrival, &crossings, now, &r->edges);
    heed_policy(host, w);
    if (arrival.dropped) {
        note_drop(&host->notes, 0, UINT32_MAX, frame, RESULT_DROP_RECEIVER, now);
    } else {
        const uint32_t place = store_take(&host->store);
        struct frame *f = store_at(&host->store, place);
        frame_copy(f, frame, host->store.step);
        f->pool = (uint8_t)pool;
        fifo_push(&r->queue, &host->store, place);
        if (r->queue.n == 1)
            start(host, now);
    }
    node_rearm(&host->head, w);
}

void receiver_serve(struct host *host, struct worker *w)
{
    struct receiver *r = host->receiver;
    const xoff_time now = sim_now(w);
    if (r->done_at > now) { /* the schedule gives a stopped receiver a rate */
        start(host, now);
        return;
    }
    const uint32_t place = fifo_pop(&r->queue, &host->store);
    struct long_frame taken;
    const struct frame *frame = &taken.frame;
    frame_copy(&taken.frame, store_at(&host->store, place), host->store.step);
    store_return(&host->store, place);
    const struct xoff_departure departure = {.priority = frame->priority,
                                             .pool = frame->pool,
                                             .bytes = frame->bytes,
                                             .egress_bytes = r->queue.bytes};
    struct xoff_crossings crossings;
    xoff_mmu_release(&r->mmu, &departure, now, &crossings);
    xoff_pause_on_departure(&r->pause, &departure, &crossings, now, &r->edges);
    heed_policy(host, w);
    start(host, now);
    host_deliver(host, w, frame);
}
