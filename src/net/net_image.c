/* The image of a network (sim/image.h), from its instants down to ports, and what hosts and
 * switches have in common. A run that goes on from an image gives the bits of one that was never
 * interrupted.
 *
 * Parameters of mechanisms, and what follows from them (thresholds, headroom), are those of the
 * network that is loaded into, so that it may have others than the one that was saved.
 *
 * Each of several ranks has an image of its own, of the nodes that it runs and of what it knows of
 * the whole; it is loaded by the same rank of as many, which run the same nodes.
 */
#include <string.h>

#include "net/fold.h"
#include "net/image.h"
#include "net/net_dcbx.h"

IMAGE_SIZE(struct notes, 112)
IMAGE_SIZE(struct port, 1344)
IMAGE_SIZE(struct frame_store, 32)
IMAGE_SIZE(struct capture, 48)
IMAGE_SIZE(struct point, 400)
IMAGE_SIZE(struct occupancy, 56)
IMAGE_SIZE(struct dcbx_port, 7872)
IMAGE_SIZE(struct mark, 64)

void image_heap(struct image *image, struct heap *heap, const struct heap *built)
{
    heap->entries = built->entries;
    heap->pos = built->pos;
    image_array(image, &heap->entries, heap->n, heap->capacity, sizeof *heap->entries);
    image_array(image, &heap->pos, 0, heap->capacity, sizeof *heap->pos);
    if (!image->is_loading || image->misfit)
        return;
    for (uint32_t id = 0; id < heap->capacity; id++)
        heap->pos[id] = HEAP_ABSENT;
    for (uint32_t i = 0; i < heap->n; i++)
        heap->pos[heap->entries[i].id] = i;
}

void image_store(struct image *image, struct frame_store *store, const struct frame_store *built)
{
    const struct frame_store saved = *store;
    *store = *built;
    while (store->capacity < saved.capacity)
        store_grow(store);
    store->used = saved.used;
    store->free = saved.free;
    image_bytes(image, store->frames, sizeof *store->frames * store->used);
}

/* Copies of frames that are kept for the results. */
static void image_capture(struct image *image, struct capture *c)
{
    uint64_t n = c->n;
    image_bytes(image, &n, sizeof n);
    image_bytes(image, &c->left_out, sizeof c->left_out);
    if (image->is_loading) {
        c->chunks_capacity = n / CAPTURE_CHUNK + 1;
        image_array(image, &c->chunks, 0, c->chunks_capacity, sizeof *c->chunks);
    }
    for (uint64_t at = 0; at < n && !image->misfit; at += CAPTURE_CHUNK) {
        const uint64_t some = n - at < CAPTURE_CHUNK ? n - at : CAPTURE_CHUNK;
        struct frame **chunk = &c->chunks[at / CAPTURE_CHUNK];
        if (image->is_loading)
            *chunk = NULL;
        image_array(image, chunk, some * c->step, CAPTURE_CHUNK * c->step, sizeof **chunk);
        c->n = at + some;
    }
}

void image_notes(struct image *image, struct notes *notes, const struct notes *built)
{
    notes->heard = built->heard;
    notes->pauses = built->pauses;
    notes->drops = built->drops;
    notes->samples = built->samples;
    notes->tracer = built->tracer;
    notes->dcbx_ports = built->dcbx_ports;
    image_array(image, &notes->heard, notes->n_heard, notes->heard_capacity, sizeof *notes->heard);
    image_array(image, &notes->pauses, notes->n_pauses, notes->pauses_capacity,
                sizeof *notes->pauses);
    image_array(image, &notes->drops, notes->n_drops, notes->drops_capacity, sizeof *notes->drops);
    image_array(image, &notes->samples, notes->n_samples, notes->samples_capacity,
                sizeof *notes->samples);
    if (image_has(image, notes->tracer))
        image_capture(image, &notes->tracer->notes);
}

/* `e` is the edition that is saved. */
static void image_octets(struct image *image, const struct edition *e, uint8_t *octets,
                         uint16_t *length)
{
    *length = image->is_loading ? 0 : e->length;
    image_bytes(image, length, sizeof *length);
    if (*length > XOFF_LLDP_MAX_FRAME)
        image_same(image, 0);
    else if (!image->is_loading)
        memcpy(octets, e->octets, *length);
    image_bytes(image, octets, *length);
}

/* The contents of LLDP frames that were sent so far. */
static void image_editions(struct image *image, struct dcbx_port *dcbx)
{
    uint32_t n = dcbx->n_editions;
    const struct edition *e = dcbx->editions;
    image_bytes(image, &n, sizeof n);
    for (uint32_t i = 0; i < n && !image->misfit; i++) {
        uint8_t octets[XOFF_LLDP_MAX_FRAME];
        uint16_t length;
        image_octets(image, e, octets, &length);
        if (image->is_loading && !image->misfit)
            dcbx_add_edition(dcbx, octets, length);
        else if (e)
            e = e->next;
    }
}

/* The contents of LLDP frames that have come from other ranks. */
static void image_far_editions(struct image *image, struct net *net)
{
    image_part(image, "LLDP frames of other ranks");
    const bool has_any = image_has(image, net->far_editions);
    for (uint32_t p = 0; has_any && p < net->topo->n_ports && !image->misfit; p++) {
        const struct edition *e = net->far_editions[p];
        uint32_t n = 0;
        for (const struct edition *each = e; each; each = each->next)
            n++;
        image_bytes(image, &n, sizeof n);
        for (uint32_t i = 0; i < n && !image->misfit; i++) {
            uint8_t octets[XOFF_LLDP_MAX_FRAME];
            uint16_t length;
            uint32_t number = image->is_loading ? 0 : e->number;
            image_bytes(image, &number, sizeof number);
            image_octets(image, e, octets, &length);
            if (!image->is_loading)
                e = e->next;
            else if (!image->misfit)
                dcbx_add_far_edition(&net->far_editions[p], number, octets, length);
        }
    }
}

static void image_dcbx(struct image *image, struct node *node, struct port *port)
{
    struct dcbx_port *dcbx = port->dcbx;
    const struct dcbx_port built = *dcbx;
    image_bytes(image, dcbx, sizeof *dcbx);
    dcbx->entries = built.entries;
    dcbx->entry = dcbx->next_entry ? dcbx->entries[dcbx->next_entry - 1] : built.entry;
    dcbx->editions = built.editions;
    dcbx->last = built.last;
    if (image->is_loading)
        dcbx->n_editions = built.n_editions;
    image_editions(image, dcbx);
    if (image->is_loading && !image->misfit && dcbx->n_entries)
        dcbx_resume(node, port);
}

void image_port(struct image *image, struct node *node, struct port *port, const struct port *built)
{
    image_part(image, "ports");
    port->wire = built->wire;
    port->dcbx = built->dcbx;
    port->capture = built->capture;
    port->tracer = built->tracer;
    port->check = built->check;
    port->sequence = built->sequence;
    port->quiet_below = built->quiet_below;
    port->signal_cfg = built->signal_cfg;
    if (image_has(image, port->dcbx))
        image_dcbx(image, node, port);
    if (image_has(image, port->capture))
        image_capture(image, port->capture);
}

void image_mmu(struct image *image, const struct xoff_mmu *mmu)
{
    image_part(image, "buffers (mmu)");
    image_same(image, mmu->shape.state_size);
    image_bytes(image, mmu->state, mmu->shape.state_size);
}

/* Edges are answers to a call of the policy, and applied by its caller at once. */
void image_pause(struct image *image, const struct xoff_pause *pause)
{
    image_part(image, "the pause policy");
    image_same(image, pause->shape.state_size);
    image_bytes(image, pause->state, pause->shape.state_size);
}

void image_point(struct image *image, struct point *point)
{
    image_part(image, "congestion points (marking)");
    image_same(image, point->cp.shape.state_size);
    image_bytes(image, point->states, XOFF_N_PRIORITIES * point->cp.shape.state_size);
    image_bytes(image, point->queues, sizeof point->queues);
    image_bytes(image, point->idle_for, sizeof point->idle_for);
    image_bytes(image, point->sent_at, sizeof point->sent_at);
}

void image_occupancy(struct image *image, struct occupancy *o)
{
    image_part(image, "buffer units of congestion points");
    image_same(image, o->n_queues);
    image_same(image, o->unit_bytes);
    for (uint32_t q = 0; q < o->n_queues; q++) {
        struct occupied *queue = &o->queues[q];
        struct occupied_unit *at = queue->at;
        image_bytes(image, queue, sizeof *queue);
        queue->at = at;
        image_array(image, &queue->at, queue->n, queue->capacity, sizeof *queue->at);
    }
    image_bytes(image, &o->n_places, sizeof o->n_places);
    const uint64_t n = (uint64_t)o->n_places * o->per_frame;
    image_array(image, &o->index, n, n, sizeof *o->index);
    image_bytes(image, &o->rng, sizeof o->rng);
}

static void image_marks(struct image *image, struct net *net)
{
    image_part(image, "measured time");
    const uint64_t n_ports = net->topo->n_ports;
    for (uint32_t m = 0; m < N_MARKS; m++) {
        struct mark *mark = &net->marks[m];
        const struct mark built = *mark;
        image_bytes(image, mark, sizeof *mark);
        mark->received = built.received;
        mark->offered = built.offered;
        mark->busy_for = built.busy_for;
        mark->paused_for = built.paused_for;
        bool has_ports = mark->busy_for;
        image_bytes(image, &has_ports, sizeof has_ports);
        const uint64_t n = has_ports ? n_ports : 0;
        image_array(image, &mark->received, mark->n_received, mark->n_received,
                    sizeof *mark->received);
        image_array(image, &mark->offered, mark->n_offered, mark->n_offered, sizeof *mark->offered);
        image_array(image, &mark->busy_for, n, n, sizeof *mark->busy_for);
        image_array(image, &mark->paused_for, n * XOFF_N_PRIORITIES, n * XOFF_N_PRIORITIES,
                    sizeof *mark->paused_for);
    }
    image_bytes(image, &net->next_mark, sizeof net->next_mark);
}

static void image_deadlocks(struct image *image, struct net *net)
{
    image_part(image, "deadlocks");
    image_bytes(image, &net->n_deadlocks, sizeof net->n_deadlocks);
    image_bytes(image, &net->n_deadlock_ports, sizeof net->n_deadlock_ports);
    image_array(image, &net->deadlocks, net->n_deadlocks, net->n_deadlocks, sizeof *net->deadlocks);
    image_array(image, &net->deadlock_ports, net->n_deadlock_ports, net->n_deadlock_ports,
                sizeof *net->deadlock_ports);
    bool has_marks = net->deadlock_marks;
    image_bytes(image, &has_marks, sizeof has_marks);
    const uint64_t n = has_marks ? (uint64_t)net->topo->n_ports * XOFF_N_PRIORITIES : 0;
    image_array(image, &net->deadlock_marks, n, n, sizeof *net->deadlock_marks);
}

static void image_instants(struct image *image, struct net *net)
{
    image_part(image, "changes of the network");
    xoff_time routed_at = net->routed_at;
    image_bytes(image, &net->next_change, sizeof net->next_change);
    image_bytes(image, &net->next_route, sizeof net->next_route);
    image_bytes(image, &net->sample_at, sizeof net->sample_at);
    image_bytes(image, &net->deadlock_at, sizeof net->deadlock_at);
    image_bytes(image, &net->reroute_at, sizeof net->reroute_at);
    image_bytes(image, &net->end_at, sizeof net->end_at);
    image_bytes(image, &net->is_at_rest, sizeof net->is_at_rest);
    image_bytes(image, &routed_at, sizeof routed_at);
    if (!image->misfit && routed_at != net->routed_at)
        net_reroute(net, routed_at);
}

const uint32_t *net_parts(const struct net *net, uint32_t *n)
{
    *n = net->part_of ? net->topo->n_nodes : 0;
    return net->part_of;
}

void net_image(struct net *net, struct image *image)
{
    image_part(image, "nodes");
    image_same(image, net->n_hosts);
    image_same(image, net->n_switches);
    image_same(image, net_frame_lines(net));
    for (uint32_t s = 0; s < net->n_switches; s++)
        if (net_owns(net, net->n_hosts + s))
            image_switch(image, net->switches[s]);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net_owns(net, h))
            image_host(image, &net->hosts[h]);
    const bool has_checks = image_has(image, net->checks);
    for (uint32_t n = 0; has_checks && n < net->topo->n_nodes; n++)
        image_bytes(image, &net->checks[n].n_frames, sizeof net->checks[n].n_frames);
    if (image_has(image, net->sequence))
        image_bytes(image, net->sequence, sizeof *net->sequence);
    image_far_editions(image, net);
    image_instants(image, net);
    image_marks(image, net);
    image_fold(image, net);
    image_deadlocks(image, net);
    sim_image(net->sim, image);
    image_part(image, "the end");
    /* The hold that an image was made at is over; another one may be ahead. */
    if (image->is_loading)
        net->hold_at = net->spec.hold_at > sim_reached(net->sim) ? net->spec.hold_at : XOFF_NEVER;
}
