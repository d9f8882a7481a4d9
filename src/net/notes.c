/* The notes that nodes take while they run, and the tables that grow with them. Nothing here is
 * called for a frame that is simply forwarded. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "net/fold.h"
#include "net/model.h"
#include "net/net_dcbx.h"

#define MAX_PAUSES_PER_NODE 4000000u /* 192 MB; more are counted, not kept */
#define FIRST_CAPACITY 4 /* of tables, of which a host of a large network has half a dozen */

static void *grown(void *array, uint64_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    array = realloc(array, *capacity * size);
    XOFF_ASSERT(array);
    return array;
}

static void *grown32(void *array, uint32_t *capacity, size_t size)
{
    uint64_t wide = *capacity;
    array = grown(array, &wide, size);
    XOFF_ASSERT(wide <= UINT32_MAX);
    *capacity = (uint32_t)wide;
    return array;
}

/* Returns the place of a copy of the frame; NULL: there are enough. */
static struct frame *keep(struct capture *c, const struct frame *frame, xoff_time now)
{
    if (c->n == c->limit) {
        c->left_out++;
        return NULL;
    }
    if (c->n % CAPTURE_CHUNK == 0) {
        const uint64_t chunk = c->n / CAPTURE_CHUNK;
        if (chunk == c->chunks_capacity)
            c->chunks = grown(c->chunks, &c->chunks_capacity, sizeof *c->chunks);
        c->chunks[chunk] = aligned_alloc(64, sizeof **c->chunks * c->step * CAPTURE_CHUNK);
        XOFF_ASSERT(c->chunks[chunk]);
    }
    struct frame *to = capture_at(c, c->n++);
    frame_copy(to, frame, c->step);
    to->at = now;
    return to;
}

static void trace(struct tracer *t, uint32_t port, const struct frame *frame,
                  enum result_event_kind what, xoff_time now)
{
    if (now >= t->until)
        return;
    struct frame *to = keep(&t->notes, frame, now);
    to->pool = (uint8_t)what;
    to->in_port = (uint16_t)port;
    to->next = 0;
    if (!t->queues)
        return;
    if (what != RESULT_EVENT_RECEIVE && !frame_is_control(frame))
        to->next = (uint32_t)t->queues[frame->priority * t->n_ports + port].bytes;
    else if (t->ports[port].is_control_due) /* queue 0, where pause frames wait */
        to->next = t->ports[port].wire->pause_bytes;
}

void note_pause(struct notes *notes, const struct pause_note *note)
{
    if (notes->n_pauses == MAX_PAUSES_PER_NODE) {
        notes->pauses_left_out++;
        return;
    }
    if (notes->n_pauses == notes->pauses_capacity)
        notes->pauses = grown(notes->pauses, &notes->pauses_capacity, sizeof *notes->pauses);
    notes->pauses[notes->n_pauses++] = *note;
}

static bool is_pfc_agreed(const struct notes *notes, uint32_t port, uint32_t priority)
{
    const struct dcbx_port *dcbx = notes->dcbx_ports ? notes->dcbx_ports[port].dcbx : NULL;
    return !dcbx || !dcbx->n_entries || dcbx->permitted >> priority & 1;
}

void note_drop(struct notes *notes, uint32_t port, uint32_t out_port, const struct frame *frame,
               enum result_drop_cause cause, xoff_time now)
{
    struct drop_note *d = NULL;
    const bool is_agreed = is_pfc_agreed(notes, port, frame->priority);
    for (uint32_t i = notes->n_drops; i-- > 0 && !d;) {
        struct drop_note *n = &notes->drops[i];
        if (n->port == port && n->out_port == out_port && n->priority == frame->priority &&
            n->cause == cause && n->is_agreed == is_agreed)
            d = n;
    }
    if (!d) {
        if (notes->n_drops == notes->drops_capacity)
            notes->drops = grown32(notes->drops, &notes->drops_capacity, sizeof *notes->drops);
        d = &notes->drops[notes->n_drops++];
        *d = (struct drop_note){.port = port,
                                .out_port = out_port,
                                .priority = frame->priority,
                                .cause = (uint8_t)cause,
                                .is_agreed = is_agreed,
                                .first_at = now};
    }
    d->frames++;
    d->bytes += frame->bytes;
    if (notes->tracer)
        trace(notes->tracer, out_port == UINT32_MAX ? port : out_port, frame, RESULT_EVENT_DROP,
              now);
}

void note_sample(struct notes *notes, const struct result_sample *sample)
{
    if (notes->n_samples == notes->samples_capacity)
        notes->samples = grown(notes->samples, &notes->samples_capacity, sizeof *notes->samples);
    notes->samples[notes->n_samples++] = *sample;
}

/* A PFC frame can both stop and resume priorities; the two sets are noted as two entries. */
void note_heard(struct notes *notes, uint32_t node, uint32_t port,
                const struct xoff_pause_frame *frame, xoff_time now)
{
    uint8_t stops = 0, goes = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const uint8_t bit = frame->classes & (1u << p);
        if (frame->quanta[frame->opcode == XOFF_OPCODE_PAUSE ? 0 : p])
            stops |= bit;
        else
            goes |= bit;
    }
    for (uint32_t pause = 0; pause < 2; pause++) {
        if (!(pause ? stops : goes))
            continue;
        if (notes->n_heard == notes->heard_capacity)
            notes->heard = grown(notes->heard, &notes->heard_capacity, sizeof *notes->heard);
        notes->heard[notes->n_heard++] = (struct result_heard){.at = now,
                                                               .node = node,
                                                               .port = port,
                                                               .priorities = pause ? stops : goes,
                                                               .pause = (uint8_t)pause};
    }
}

void port_note_frame(struct port *port, const struct frame *frame, bool is_sent, xoff_time now)
{
    struct frame *to = port->capture ? keep(port->capture, frame, now) : NULL;
    if (to)
        to->pool = is_sent ? CAPTURE_SENT : 0;
    if (port->tracer)
        trace(port->tracer, port->number, frame,
              is_sent ? RESULT_EVENT_DEQUEUE : RESULT_EVENT_RECEIVE, now);
    if (port->check && !is_sent)
        wire_check_frame(port->check, port->number, frame, now);
}

void port_note_corrupt(struct port *port)
{
    const struct capture *c = port->capture;
    if (c && !c->left_out)
        capture_at(c, c->n - 1)->pool |= CAPTURE_CORRUPT;
}

void port_note_queued(struct port *port, const struct frame *frame, xoff_time now)
{
    if (port->tracer)
        trace(port->tracer, port->number, frame, RESULT_EVENT_ENQUEUE, now);
}

void port_note_edge(struct port *port, const struct xoff_edge *edge, xoff_time now)
{
    const struct tracer *t = port->tracer;
    for (uint32_t mask = edge->priorities; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        struct frame pause = {.bytes = (uint16_t)port->wire->pause_bytes, .kind = FRAME_PAUSE};
        port->told_bytes = t->queues ? (uint32_t)t->queues[p * t->n_ports + port->number].bytes : 0;
        pause.pause.classes = (uint8_t)(1u << p);
        pause.pause.opcode = XOFF_OPCODE_PFC;
        pause.pause.quanta[p] = edge->pause;
        pause.hash = port->told_bytes;
        port_note_queued(port, &pause, now);
    }
}

void note_operation(struct host *host, const struct app_offer *offer, xoff_time now)
{
    if (host->n_operations == host->operations_capacity)
        host->operations =
            grown32(host->operations, &host->operations_capacity, sizeof *host->operations);
    host->operations[host->n_operations++] = (struct result_operation){.host = host->node,
                                                                       .tag = offer->tag,
                                                                       .bytes = offer->bytes,
                                                                       .start_at = offer->began_at,
                                                                       .finish_at = now};
}

uint32_t message_take(struct message_store *store)
{
    const uint32_t m = store->free;
    if (m != NET_NONE) {
        store->free = store->at[m].next;
        return m;
    }
    if (store->used == store->capacity)
        store->at = grown32(store->at, &store->capacity, sizeof *store->at);
    return store->used++;
}

/* Tells whether that flow has arrived whole at this host before. The question is rare, so the hash
 * table of finished flows is only brought up to date when it is asked. */
bool host_has_finished(struct host *host, uint64_t key)
{
    if (host->net->fold &&
        fold_has(host->net->fold, (uint32_t)((key - 1) >> 32), (uint32_t)(key - 1)))
        return true;
    if (2 * (host->n_rx_notes + 1) > host->finished_mask) {
        uint32_t size = 64;
        while (size < 4 * (host->n_rx_notes + 1))
            size *= 2;
        free(host->finished);
        host->finished = calloc(size, sizeof *host->finished);
        XOFF_ASSERT(host->finished);
        host->finished_mask = size - 1;
        host->n_finished = 0;
    }
    for (; host->n_finished < host->n_rx_notes; host->n_finished++) {
        const struct rx_note *note = &host->rx_notes[host->n_finished];
        const uint64_t noted = ((uint64_t)note->from << 32 | note->number) + 1;
        uint32_t i = (uint32_t)xoff_mix64(noted) & host->finished_mask;
        while (host->finished[i])
            i = (i + 1) & host->finished_mask;
        host->finished[i] = host->n_finished + 1;
    }
    uint32_t i = (uint32_t)xoff_mix64(key) & host->finished_mask;
    for (; host->finished[i]; i = (i + 1) & host->finished_mask) {
        const struct rx_note *note = &host->rx_notes[host->finished[i] - 1];
        if (((uint64_t)note->from << 32 | note->number) + 1 == key)
            return true;
    }
    return false;
}

void histogram_grow(struct histogram *h, uint32_t n_bins)
{
    h->counts = realloc(h->counts, sizeof *h->counts * n_bins);
    XOFF_ASSERT(h->counts);
    memset(h->counts + h->n_bins, 0, sizeof *h->counts * (n_bins - h->n_bins));
    h->n_bins = n_bins;
}

void host_grow_rx_states(struct host *host)
{
    host->rx_states = grown32(host->rx_states, &host->rx_states_capacity, host->rx_state_bytes);
    for (; host->n_rx_states < host->rx_states_capacity; host->n_rx_states++) {
        memcpy(host->rx_states + (size_t)host->n_rx_states * host->rx_state_bytes,
               &host->free_rx_state, sizeof host->free_rx_state);
        host->free_rx_state = host->n_rx_states;
    }
}

void host_grow_pending(struct host *host)
{
    host->pending = grown32(host->pending, &host->pending_capacity, sizeof *host->pending);
}

void host_grow_delayed(struct host *host)
{
    const uint32_t capacity = host->delayed_capacity;
    host->delayed = grown32(host->delayed, &host->delayed_capacity, sizeof *host->delayed);
    /* Entries that had wrapped around to the front move behind the old end. */
    for (uint32_t i = 0; i < host->delayed_head && capacity; i++)
        host->delayed[capacity + i] = host->delayed[i];
}

void host_grow_ranges(struct host *host, uint32_t n)
{
    struct xoff_range_store *store = &host->ranges;
    /* Blocks that were returned are not counted, since that would mean walking their list. */
    while (store->capacity - store->n_taken < n) {
        uint32_t capacity = store->capacity;
        store->blocks = grown32(store->blocks, &capacity, sizeof *store->blocks);
        store->capacity = capacity;
    }
}

void host_grow_flows(struct host *host)
{
    const uint32_t capacity = host->flows_capacity ? 2 * host->flows_capacity : FIRST_CAPACITY;
    unsigned char *flows = aligned_alloc(64, (size_t)capacity * host->flow_bytes);
    XOFF_ASSERT(flows);
    if (host->n_flows)
        memcpy(flows, host->flows, (size_t)host->n_flows * host->flow_bytes);
    free(host->flows);
    host->flows = flows;
    host->flows_capacity = capacity;
    const uint32_t n_timers = HOST_APPS + host->n_apps + 2 * host->flows_capacity;
    host->timer_entries = realloc(host->timer_entries, sizeof *host->timer_entries * n_timers);
    host->timer_pos = realloc(host->timer_pos, sizeof *host->timer_pos * n_timers);
    XOFF_ASSERT(host->timer_entries && host->timer_pos);
    heap_grow(&host->timers, host->timer_entries, host->timer_pos, n_timers);
}

void host_grow_scan(struct host *host)
{
    host->scan.flows = grown32(host->scan.flows, &host->scan.capacity, sizeof *host->scan.flows);
}

void host_grow_flow_notes(struct host *host)
{
    if (host->net->fold)
        fold_grow_notes(host);
    else
        host->flow_notes =
            grown32(host->flow_notes, &host->flow_notes_capacity, sizeof *host->flow_notes);
}

void host_grow_rx_notes(struct host *host)
{
    host->rx_notes = grown32(host->rx_notes, &host->rx_notes_capacity, sizeof *host->rx_notes);
}

void host_grow_rx(struct host *host)
{
    const uint32_t old_size = host->rx ? host->rx_mask + 1 : 0;
    const uint32_t size = old_size ? 2 * old_size : FIRST_CAPACITY;
    struct rx_flow *old = host->rx;
    host->rx = calloc(size, sizeof *host->rx);
    XOFF_ASSERT(host->rx);
    host->rx_mask = size - 1;
    for (uint32_t k = 0; k < old_size; k++) {
        if (!old[k].key)
            continue;
        uint32_t i = rx_home(host, old[k].key);
        while (host->rx[i].key)
            i = (i + 1) & host->rx_mask;
        host->rx[i] = old[k];
    }
    free(old);
}

void store_grow(struct frame_store *store)
{
    const uint32_t capacity = store->capacity ? 2 * store->capacity : FIRST_CAPACITY;
    const size_t bytes = sizeof *store->frames * capacity;
    struct frame *frames;
    if (store->is_mapped) { /* a buffer may hold more than its size (mmu: ns3) */
        frames = mremap(store->frames, sizeof *frames * store->capacity, bytes, MREMAP_MAYMOVE);
        XOFF_ASSERT(frames != MAP_FAILED);
    } else {
        frames = aligned_alloc(64, bytes);
        XOFF_ASSERT(frames);
        if (store->used)
            memcpy(frames, store->frames, sizeof *frames * store->used);
        free(store->frames);
    }
    store->frames = frames;
    store->capacity = capacity;
}

void occupancy_grow_queue(struct occupied *queue)
{
    queue->at = grown32(queue->at, &queue->capacity, sizeof *queue->at);
}

void occupancy_grow_places(struct occupancy *occupancy, uint32_t n_places)
{
    while (occupancy->n_places < n_places)
        occupancy->n_places = occupancy->n_places ? 2 * occupancy->n_places : 16;
    const size_t n = (size_t)occupancy->n_places * occupancy->per_frame;
    occupancy->index = realloc(occupancy->index, n * sizeof *occupancy->index);
    XOFF_ASSERT(occupancy->index);
}

static struct edition *make_edition(uint32_t number, const uint8_t *octets, size_t length)
{
    struct edition *e = calloc(1, sizeof *e + length);
    XOFF_ASSERT(e);
    e->number = number;
    e->length = (uint16_t)length;
    memcpy(e->octets, octets, length);
    return e;
}

void dcbx_add_edition(struct dcbx_port *dcbx, const uint8_t *octets, size_t length)
{
    struct edition *e = make_edition(dcbx->n_editions++, octets, length);
    if (dcbx->last)
        dcbx->last->next = e;
    else
        dcbx->editions = e;
    dcbx->last = e;
}

void dcbx_add_far_edition(struct edition **editions, uint32_t number, const uint8_t *octets,
                          size_t length)
{
    struct edition *e = make_edition(number, octets, length);
    e->next = *editions;
    *editions = e;
}

static uint64_t bytes_of(const struct net *net, const struct notes *notes)
{
    const uint64_t n_traced = notes->tracer ? notes->tracer->notes.n : 0;
    return n_traced * net_frame_lines(net) * sizeof(struct frame) +
           notes->n_heard * sizeof *notes->heard + notes->n_pauses * sizeof *notes->pauses +
           notes->n_drops * sizeof *notes->drops + notes->n_samples * sizeof *notes->samples;
}

uint64_t net_noted_bytes(const struct net *net)
{
    uint64_t bytes = 0;
    for (uint32_t node = 0; node < net->topo->n_nodes; node++)
        if (net_owns(net, node))
            bytes += bytes_of(net, net_notes(net, node));
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct host *host = &net->hosts[h];
        bytes += host->n_rx_notes * sizeof *host->rx_notes +
                 host->n_operations * sizeof *host->operations;
        if (!net->fold) /* else most of them have been summarised */
            bytes += host->n_flow_notes * sizeof *host->flow_notes;
    }
    for (uint32_t i = 0; i < net->spec.n_captures; i++) {
        const struct net_capture *of = &net->spec.captures[i];
        if (net_owns(net, of->node))
            bytes += net_port(net, of->node, of->port)->capture->n * net_frame_lines(net) *
                     sizeof(struct frame);
    }
    return bytes;
}
