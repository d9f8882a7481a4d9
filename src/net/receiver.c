/* A slow receiver: frames wait in a receive buffer and are served at a rate that follows a
 * schedule. Virtual machines share the buffer, and each takes its own frames at its own rate: one
 * that is slow does not hold up another, but its frames hold the buffer. Buffer and pause policy
 * are the same mechanisms a switch has, on one port, and so is the congestion point that may watch
 * the buffer. */
#include "net/model.h"

/* Starts to serve the next frame of a server that serves none; waits while its rate is 0. */
static void start(struct host *host, struct server *server, xoff_time now)
{
    struct receiver *r = host->receiver;
    const struct net_server *spec = server->spec;
    while (server->service + 1 < spec->n_services && spec->services[server->service + 1].at <= now)
        server->service++;
    const xoff_rate rate = spec->services[server->service].rate_bps;
    xoff_time wake = XOFF_NEVER;
    server->done_at = XOFF_NEVER;
    if (server->queue.n && rate) {
        const struct frame *f = store_at(&host->store, server->queue.head);
        wake = now + xoff_time_of_bits((uint64_t)f->bytes * 8, rate);
        if (host->grain) /* deadlines that the frame sets go by the host's clock */
            wake += (host->grain - wake % host->grain) % host->grain;
        server->done_at = wake;
    } else if (server->queue.n && server->service + 1 < spec->n_services) {
        wake = spec->services[server->service + 1].at;
    }
    heap_set(&r->due, (uint32_t)(server - r->servers), wake);
    heap_set(&host->timers, HOST_SERVICE, heap_top_at(&r->due));
}

/* Machines take data; other frames are the host's. */
static struct server *server_of(const struct receiver *r, const struct frame *frame)
{
    return &r->servers[frame->kind == FRAME_DATA ? r->spec->server_of[frame->word >> 24] : 0];
}

/* Sends a notification to the source of a frame: of this one, or of one drawn from the queue by the
 * units it holds. */
static void tell_source(struct host *host, struct worker *w, const struct frame *f,
                        const struct xoff_cp_answer *answer)
{
    const struct receiver *r = host->receiver;
    if (r->occupancy && answer->from_buffer)
        f = store_at(&host->store, occupancy_draw(r->occupancy, f->priority));
    struct long_frame made;
    point_fill_notice(host->net, net_switch_of(&host->net->spec, host->node), f, &answer->notice,
                      sim_now(w), &made);
    host_queue_ack(host, w, &made.frame);
}

/* Asks the congestion point about a frame that has joined the receive queue. A notification takes a
 * place in the store, so a pointer to the frame must be looked up again. */
static void ask_point(struct host *host, struct worker *w, struct frame *f)
{
    struct receiver *r = host->receiver;
    const struct xoff_cp *cp = &r->point->cp;
    const bool is_data = f->kind == FRAME_DATA;
    struct xoff_cp_frame view = {.queue_bytes = r->held_bytes[f->priority],
                                 .bytes = f->bytes,
                                 .flow_hash = f->hash,
                                 .priority = f->priority,
                                 .is_data = is_data};
    if (cp->shape.draws)
        view.draw = xoff_rng_u32(&r->marking_rng);
    if (cp->shape.reads_tags && is_data && !host->net->has_stamps &&
        extra_of(f)->tag.kind != XOFF_NOTICE_NONE)
        view.tag = &extra_of(f)->tag;
    struct xoff_cp_answer answer;
    xoff_cp_on_enqueue(cp, point_state(r->point, f->priority), &view, sim_now(w), &answer);
    r->point->queues[f->priority].n_samples += r->point->samples;
    if (!is_data)
        return;
    if (answer.mark && !(f->flags & FRAME_MARKED)) {
        f->flags |= FRAME_MARKED;
        r->n_marked[f->priority]++;
    }
    r->point->queues[f->priority].n_notices += answer.notify;
    if (answer.notify)
        tell_source(host, w, f, &answer);
}

/* Counts a frame that has joined the receive queue. */
static void join(struct host *host, struct worker *w, uint32_t place)
{
    struct receiver *r = host->receiver;
    struct frame *f = store_at(&host->store, place);
    r->held_bytes[f->priority] += f->bytes;
    if (r->occupancy && f->kind == FRAME_DATA)
        occupancy_add(r->occupancy, f->priority, place, f->bytes);
    if (r->point && point_is_due(r->point, f))
        ask_point(host, w, f);
}

/* Takes a frame that is about to leave the receive queue off the counts. */
static void leave(struct host *host, uint32_t place)
{
    struct receiver *r = host->receiver;
    const struct frame *f = store_at(&host->store, place);
    r->held_bytes[f->priority] -= f->bytes;
    if (r->occupancy && f->kind == FRAME_DATA)
        occupancy_remove(r->occupancy, f->priority, place, f->bytes);
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
    /* Frames wait in one buffer; lossy ones may not use the bytes reserved for lossless ones. A
     * policy by queues counts those of the priority: it looks at one again only when its own leave.
     */
    const bool is_lossless = host->net->spec.lossless >> frame->priority & 1;
    struct xoff_arrival arrival = {
        .priority = frame->priority,
        .bytes = frame->bytes,
        .egress_bytes = is_lossless ? r->held_bytes[frame->priority]
                                    : xoff_mmu_used_bytes(&r->mmu, XOFF_POOL_SHARED)};
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
        struct server *server = server_of(r, f);
        fifo_push(&server->queue, &host->store, place);
        if (server->queue.n == 1)
            start(host, server, now);
        join(host, w, place);
    }
    node_rearm(&host->head, w);
}

void receiver_serve(struct host *host, struct worker *w)
{
    struct receiver *r = host->receiver;
    const xoff_time now = sim_now(w);
    struct server *server = &r->servers[heap_top_id(&r->due)];
    if (server->done_at > now) { /* the schedule gives a stopped server a rate */
        start(host, server, now);
        return;
    }
    leave(host, server->queue.head);
    const uint32_t place = fifo_pop(&server->queue, &host->store);
    struct long_frame taken;
    const struct frame *frame = &taken.frame;
    frame_copy(&taken.frame, store_at(&host->store, place), host->store.step);
    store_return(&host->store, place);
    const struct xoff_departure departure = {.priority = frame->priority,
                                             .pool = frame->pool,
                                             .bytes = frame->bytes,
                                             .egress_bytes = r->held_bytes[frame->priority]};
    struct xoff_crossings crossings;
    xoff_mmu_release(&r->mmu, &departure, now, &crossings);
    xoff_pause_on_departure(&r->pause, &departure, &crossings, now, &r->edges);
    heed_policy(host, w);
    start(host, server, now);
    host_deliver(host, w, frame);
}
