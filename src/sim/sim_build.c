/* Creates and frees the engine: cells, threads, slots and links.
 *
 * A cell is a set of nodes joined by links whose lookahead is below a bound. The bound is chosen so
 * that the lookahead between cells reaches WORTHWHILE, as long as no cell gets larger than
 * CELL_SLOTS; below that, windows of single frames cost more than the larger cell does. Where links
 * are so slow that a window has room for less than a quarter of a frame, one thread runs all nodes
 * as one cell. Its windows last eight frames: each looks through all slots once at its start and
 * once at its end, which longer windows make rarer, and fuller buckets dearer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/engine.h"
#include <xoff/err.h>
#include <xoff/param.h>

#define WORTHWHILE (400 * XOFF_NS)
#define CELL_SLOTS 4096
#define ONE_CELL (4 * XOFF_US)
/* Addresses for the chunks of each thread; the first is halved before it is used. */
#define MOST_CHUNK_BYTES (UINT64_C(1) << 34)
#define LEAST_CHUNK_BYTES (UINT64_C(1) << 26)
#define LARGE_LINKS 4096 /* with their frames they take more than 2 MB */

static uint32_t root_of(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

/* Whether this process runs a node. */
static bool owns(const struct sim_spec *spec, uint32_t node)
{
    return !spec->part_of || spec->part_of[node] == spec->ranks->rank;
}

static bool is_cut(const struct sim_spec *spec, const struct sim_link_spec *l)
{
    return spec->part_of && spec->part_of[l->from_node] != spec->part_of[l->to_node];
}

/* Joins nodes over links shorter than `bound`, of the same rank. Returns the lookahead between the
 * cells that result, and the slots of the largest cell. All ranks find the same. */
static xoff_time join(const struct sim_spec *spec, xoff_time bound, uint32_t *parent,
                      uint32_t *largest)
{
    for (uint32_t n = 0; n < spec->n_nodes; n++)
        parent[n] = n;
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const struct sim_link_spec *l = &spec->links[i];
        if (l->lookahead < bound && !is_cut(spec, l)) {
            const uint32_t a = root_of(parent, l->from_node), b = root_of(parent, l->to_node);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    xoff_time lookahead = QUEUE_MAX_WINDOW;
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const struct sim_link_spec *l = &spec->links[i];
        if (root_of(parent, l->from_node) != root_of(parent, l->to_node))
            lookahead = xoff_time_min(lookahead, l->lookahead);
    }
    uint32_t *size = calloc(spec->n_nodes, sizeof *size);
    XOFF_ASSERT(size);
    *largest = 0;
    for (uint32_t n = 0; n < spec->n_nodes; n++) {
        uint32_t *s = &size[root_of(parent, n)];
        *s += 2 * spec->n_ports[n] + 1;
        if (*s > *largest)
            *largest = *s;
    }
    free(size);
    return lookahead;
}

static xoff_time choose_cells(const struct sim_spec *spec, uint32_t *parent)
{
    uint32_t largest;
    /* A link that takes no time cannot lie between cells: the window would be empty. */
    const xoff_time least = 1;
    if (spec->cell_bound != XOFF_PARAM_AUTO) {
        const xoff_time stated = spec->cell_bound > least ? spec->cell_bound : least;
        const xoff_time lookahead = join(spec, stated, parent, &largest);
        if (largest <=
            QUEUE_MAX_SLOTS) /* for one cell any window will do; a short one sorts fast */
            return spec->cell_bound == XOFF_NEVER ? xoff_time_min(lookahead, ONE_CELL) : lookahead;
    }
    xoff_time bound = least, lookahead = join(spec, least, parent, &largest);
    while (lookahead < WORTHWHILE) {
        const xoff_time wider = lookahead + 1;
        const xoff_time reached = join(spec, wider, parent, &largest);
        if (largest > CELL_SLOTS || reached == QUEUE_MAX_WINDOW || reached == lookahead)
            break; /* the last: a link between ranks is the shortest */
        bound = wider;
        lookahead = reached;
    }
    if (spec->n_threads == 1 && lookahead < spec->frame_for / 4) {
        const xoff_time whole = join(spec, XOFF_NEVER, parent, &largest);
        if (largest <= CELL_SLOTS)
            return xoff_time_min(whole, 8 * spec->frame_for);
    }
    lookahead = join(spec, bound, parent, &largest);
    XOFF_ASSERT(largest <= QUEUE_MAX_SLOTS);
    return lookahead;
}

uint32_t sim_group(const struct sim_spec *spec, uint32_t *group_of)
{
    struct sim_spec shared = *spec; /* cells as for several threads, which are never all nodes */
    shared.n_threads = 2;
    shared.cell_bound = XOFF_PARAM_AUTO;
    uint32_t *parent = malloc(sizeof *parent * spec->n_nodes);
    XOFF_ASSERT(parent);
    choose_cells(&shared, parent);
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->n_nodes; i++) { /* a root is the least node of its cell */
        const uint32_t root = root_of(parent, i);
        group_of[i] = root == i ? n++ : group_of[root];
    }
    free(parent);
    return n;
}

/* Deals the cells of this rank to threads. A cell that hangs on another by a single port (a host)
 * stays with it; each such group goes to the thread with the least load. Cells are numbered thread
 * by thread, groups together, and each thread's numbers begin on a cache line of their own. */
static void deal_cells(struct sim *sim, const struct sim_spec *spec, uint32_t *parent)
{
    const uint32_t n_nodes = spec->n_nodes, none = UINT32_MAX;
    uint32_t *anchor = malloc(sizeof *anchor * n_nodes); /* per root: the cell its group hangs on */
    uint32_t *first = malloc(sizeof *first * n_nodes);   /* per anchor: list of cells on it */
    uint32_t *next = malloc(sizeof *next * n_nodes);
    uint32_t *owner = malloc(sizeof *owner * n_nodes);
    uint32_t *cell_of_root = malloc(sizeof *cell_of_root * n_nodes);
    uint64_t *weight = calloc(n_nodes, sizeof *weight); /* per anchor */
    uint64_t *load = calloc(spec->n_threads, sizeof *load);
    XOFF_ASSERT(anchor && first && next && owner && cell_of_root && weight && load);
    for (uint32_t n = 0; n < n_nodes; n++) {
        anchor[n] = n;
        first[n] = none;
    }
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const struct sim_link_spec *l = &spec->links[i];
        const uint32_t from = root_of(parent, l->from_node), to = root_of(parent, l->to_node);
        if (spec->n_ports[l->from_node] == 1 && anchor[to] == to && first[from] == none &&
            anchor[from] == from && from != to && owns(spec, from) && owns(spec, to)) {
            anchor[from] = to;
            next[from] = first[to];
            first[to] = from;
        }
    }
    uint32_t n_groups = 0;
    for (uint32_t n = 0; n < n_nodes; n++)
        n_groups += root_of(parent, n) == n && anchor[n] == n && owns(spec, n);
    if (n_groups < 2 * spec->n_threads) /* too few to share out: each cell is a group */
        for (uint32_t n = 0; n < n_nodes; n++) {
            anchor[n] = n;
            first[n] = none;
        }
    for (uint32_t n = 0; n < n_nodes; n++)
        weight[anchor[root_of(parent, n)]] += spec->n_ports[n] + 1;
    for (uint32_t n = 0; n < n_nodes; n++) {
        if (root_of(parent, n) != n || anchor[n] != n || !owns(spec, n))
            continue;
        owner[n] = 0;
        for (uint32_t t = 1; t < spec->n_threads; t++)
            if (load[t] < load[owner[n]])
                owner[n] = t;
        load[owner[n]] += weight[n];
    }

    sim->cells = calloc(n_nodes + 8 * (size_t)spec->n_threads, sizeof *sim->cells);
    XOFF_ASSERT(sim->cells);
    uint32_t cell = 0;
    for (uint32_t t = 0; t < spec->n_threads; t++) {
        while (cell % 8) /* empty cells up to the next cache line of next_at */
            sim->cells[cell++].owner = none;
        for (uint32_t n = 0; n < n_nodes; n++) {
            if (root_of(parent, n) != n || anchor[n] != n || !owns(spec, n) || owner[n] != t)
                continue;
            sim->cells[cell].owner = t;
            cell_of_root[n] = cell++;
            for (uint32_t h = first[n]; h != none; h = next[h]) {
                sim->cells[cell].owner = t;
                cell_of_root[h] = cell++;
            }
        }
    }
    sim->n_cells = cell;
    for (uint32_t n = 0; n < n_nodes; n++)
        sim->cell_of[n] = owns(spec, n) ? cell_of_root[root_of(parent, n)] : none;
    free(anchor), free(first), free(next), free(owner), free(cell_of_root), free(weight);
    free(load);
}

static void number_slots(struct sim *sim)
{
    for (uint32_t n = 0; n < sim->n_nodes; n++)
        if (sim->cell_of[n] != UINT32_MAX)
            sim->cells[sim->cell_of[n]].n_slots += 2 * sim->slots_of[n].n_ports + 1;
    uint32_t slot = 0;
    for (uint32_t c = 0; c < sim->n_cells; c++) {
        struct cell *cell = &sim->cells[c];
        cell->first_slot = slot;
        slot += (cell->n_slots + 7) / 8 * 8;
        cell->bucket_bits = LEAST_BUCKET_BITS;
        while (cell->bucket_bits < 14 && (UINT32_C(1) << cell->bucket_bits) < 16 * cell->n_slots)
            cell->bucket_bits++;
        cell->n_slots = 0;
    }
    sim->n_slots = slot;
    sim->at = aligned_alloc(64, sizeof *sim->at * (slot + 8));
    const size_t slots_size = (sizeof *sim->slots * slot + 63) / 64 * 64 + 64;
    sim->slots = aligned_alloc(64, slots_size);
    sim->frames = aligned_alloc(64, sizeof *sim->frames * (slot + 8));
    sim->ports = calloc(slot + 8, sizeof *sim->ports);
    XOFF_ASSERT(sim->at && sim->slots && sim->frames && sim->ports);
    memset(sim->slots, 0, slots_size);
    for (uint32_t s = 0; s < slot; s++)
        sim->at[s] = XOFF_NEVER;
    sim->at[slot] = 0; /* stands for the receivers of other ranks, and is never set */
    for (uint32_t n = 0; n < sim->n_nodes; n++) {
        if (sim->cell_of[n] == UINT32_MAX)
            continue;
        struct cell *cell = &sim->cells[sim->cell_of[n]];
        sim->slots_of[n].first = cell->first_slot + cell->n_slots;
        cell->is_node = cell->n_slots == 0; /* until another node joins the cell */
        struct slot *s = &sim->slots[sim->slots_of[n].first];
        for (uint32_t p = 0; p < sim->slots_of[n].n_ports; p++) {
            uint16_t *ports = &sim->ports[sim->slots_of[n].first + p];
            ports[0] = ports[sim->slots_of[n].n_ports] = (uint16_t)p;
            s[p] = (struct slot){.node = n, .port = (uint16_t)p, .kind = SIM_ARRIVAL};
            s[sim->slots_of[n].n_ports + p] =
                (struct slot){.node = n, .port = (uint16_t)p, .kind = SIM_TRANSMIT};
        }
        s[2 * sim->slots_of[n].n_ports] = (struct slot){.node = n, .kind = SIM_TIMER};
        cell->n_slots += 2 * sim->slots_of[n].n_ports + 1;
    }
}

/* Gives a link its first chunk. */
static void make_chunk(struct sim *sim, struct link *link)
{
    struct thread *owner =
        sim->threads[sim->cells[link->is_out ? link->from_cell : link->to_cell].owner];
    link->mask = owner->chunk_mask;
    link_append(link, chunk_at(owner, chunk_take(owner)));
    link->is_special = sim->step > 1;
    if (link->is_shared)
        link->to_at = &sim->never;
    link->last_at = link->is_special ? XOFF_NEVER : -1;
    link->its_last_at = -1;
}

/* The half of a link at its sender. */
static void make_sender(struct sim *sim, const struct sim_spec *spec, uint32_t index)
{
    struct link *link = &sim->links[index];
    const struct sim_link_spec *l = &spec->links[index];
    const struct node_slots *from = &sim->slots_of[l->from_node];
    link->from_cell = sim->cell_of[l->from_node];
    sim->slots[from->first + from->n_ports + l->from_port].link = index;
    if (owns(spec, l->to_node))
        return;
    link->is_out = link->is_shared = true;
    link->to_slot = sim->n_slots;
    make_chunk(sim, link);
}

/* The half at its receiver; the sender's, if it is here, has been made. */
static void make_receiver(struct sim *sim, const struct sim_spec *spec, uint32_t index)
{
    struct link *link = &sim->links[index];
    const struct sim_link_spec *l = &spec->links[index];
    link->to_slot = sim->slots_of[l->to_node].first + l->to_port;
    link->to_port = (uint16_t)l->to_port;
    link->to_cell = sim->cell_of[l->to_node];
    struct slot *to = &sim->slots[link->to_slot];
    to->link = index;
    link->to_at = &sim->at[link->to_slot];
    const bool is_in = !owns(spec, l->from_node);
    if (!is_in && link->from_cell == link->to_cell) /* frames may arrive in the same window */
        sim->cells[link->to_cell].is_node = false;
    else
        link->is_shared = is_in || sim->n_threads > 1;
    make_chunk(sim, link);
    to->is_shared = link->is_shared;
    sim->frames[link->to_slot] = link_end(link);
}

static void make_links(struct sim *sim, const struct sim_spec *spec)
{
    sim->n_links = spec->n_links;
    /* Links between nodes of other ranks are never touched: they take addresses and no memory. */
    sim->links_block = calloc(spec->n_links + 2, sizeof *sim->links);
    XOFF_ASSERT(sim->links_block);
    sim->links = (struct link *)(((uintptr_t)sim->links_block + 63) / 64 * 64);
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const struct sim_link_spec *l = &spec->links[i];
        struct link *link = &sim->links[i];
        if (!owns(spec, l->from_node) && !owns(spec, l->to_node))
            continue;
        link->step = (uint8_t)sim->step;
        if (owns(spec, l->from_node))
            make_sender(sim, spec, i);
        if (owns(spec, l->to_node))
            make_receiver(sim, spec, i);
    }
}

/* Where others may help, end nodes come last: they are the smallest units of work. */
static void make_share(struct sim *sim, uint32_t id, struct share *share)
{
    share->cells = malloc(sizeof *share->cells * (sim->n_cells + 1));
    share->active = malloc(sizeof *share->active * (sim->n_cells + 1));
    XOFF_ASSERT(share->cells && share->active);
    const uint32_t n_passes = sim->n_threads > 1 ? 2 : 1;
    for (uint32_t pass = 0; pass < n_passes; pass++)
        for (uint32_t c = 0; c < sim->n_cells; c++) {
            const bool is_last = n_passes > 1 && sim->cells[c].n_slots == END_NODE_SLOTS;
            if (sim->cells[c].owner == id && is_last == (pass > 0))
                share->cells[share->n_cells++] = c;
        }
}

static uint32_t choose_chunk(const struct sim_spec *spec)
{
    if (spec->chunk_frames)
        return spec->chunk_frames;
    return spec->n_links > LINK_FEW ? LINK_CHUNK : LINK_LONG_CHUNK;
}

static struct thread *make_thread(struct sim *sim, uint32_t id, const struct sim_spec *spec)
{
    struct thread *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    XOFF_ASSERT(w);
    memset(w, 0, sizeof *w);
    w->worker.sim = sim;
    w->id = id;
    w->worker.next_at = XOFF_NEVER;
    w->timer_key = QUEUE_NONE;
    w->timer_slot = UINT32_MAX;
    w->read_chunk = UINT32_MAX;
    w->free_chunk = UINT32_MAX;
    w->step = sim->step;
    w->chunk_frames = choose_chunk(spec);
    w->chunk_mask = (uint32_t)sizeof(struct frame) * w->chunk_frames * w->step - 1;
    w->chunk_shift = (unsigned)__builtin_ctz(w->chunk_mask + 1);
    w->queue.ties_by_port = spec->ties_by_port;
    queue_init(&w->queue);
    for (uint32_t n = 0; n < spec->n_nodes; n++)
        if (spec->n_ports[n] > w->n_arriving_at)
            w->n_arriving_at = spec->n_ports[n];
    w->arriving_at = calloc(w->n_arriving_at + 1, sizeof *w->arriving_at);
    XOFF_ASSERT(w->arriving_at);
    make_share(sim, id, &w->share);
    return w;
}

/* Reserves addresses for the chunks of all threads. Where these are limited, fewer have to do. */
static void reserve_chunks(struct sim *sim)
{
    size_t of_each = MOST_CHUNK_BYTES;
    do {
        of_each /= 2;
        sim->chunks_size = of_each * sim->n_threads;
        sim->chunks = mmap(NULL, sim->chunks_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    } while (sim->chunks == MAP_FAILED && of_each > LEAST_CHUNK_BYTES);
    XOFF_ASSERT(sim->chunks != MAP_FAILED);
    madvise(sim->chunks, sim->chunks_size, MADV_HUGEPAGE);
    errno = 0; /* a later assertion is not about memory */
    const uint32_t n = (uint32_t)(of_each >> sim->exclusive->chunk_shift);
    sim->exclusive->chunks = sim->chunks;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        sim->threads[i]->chunks = sim->chunks;
        sim->threads[i]->new_chunk = i * n;
        sim->threads[i]->chunks_end = (i + 1) * n;
    }
}

/* Finds the shared links to cells of a share. */
static void find_shared(struct sim *sim, uint32_t id, struct share *share)
{
    share->shared_in = malloc(sizeof *share->shared_in * (sim->n_links + 1));
    XOFF_ASSERT(share->shared_in);
    for (uint32_t i = 0; i < sim->n_links; i++) {
        const struct link *link = &sim->links[i];
        if (link->is_shared && !link->is_out && sim->cells[link->to_cell].owner == id)
            share->shared_in[share->n_shared_in++] = i;
    }
}

/* Puts the cells that have links to other ranks first: what they send is on its way while the
 * others run. */
static void find_border(struct sim *sim, struct share *share)
{
    bool *is_border = calloc(sim->n_cells + 1, sizeof *is_border);
    XOFF_ASSERT(is_border);
    for (uint32_t i = 0; i < sim->n_links; i++)
        if (sim->links[i].is_out)
            is_border[sim->links[i].from_cell] = true;
    for (uint32_t k = 0; k < share->n_cells; k++)
        if (is_border[share->cells[k]]) {
            const uint32_t cell = share->cells[k];
            share->cells[k] = share->cells[share->n_border];
            share->cells[share->n_border++] = cell;
        }
    free(is_border);
}

int sim_create(const struct sim_spec *spec, struct sim **out)
{
    struct sim *sim = aligned_alloc(64, (sizeof *sim + 63) / 64 * 64);
    XOFF_ASSERT(sim && spec->n_threads >= 1);
    memset(sim, 0, sizeof *sim);
    sim->model = spec->model;
    sim->n_nodes = spec->n_nodes;
    sim->n_threads = spec->n_threads;
    sim->step = spec->has_extra ? 2 : 1;
    sim->never = XOFF_NEVER;
    sim->slots_of = malloc(sizeof *sim->slots_of * spec->n_nodes);
    sim->cell_of = malloc(sizeof *sim->cell_of * spec->n_nodes);
    uint32_t *parent = malloc(sizeof *parent * spec->n_nodes);
    XOFF_ASSERT(sim->slots_of && sim->cell_of && parent);
    for (uint32_t n = 0; n < spec->n_nodes; n++)
        sim->slots_of[n].n_ports = spec->n_ports[n];
    sim->lookahead = choose_cells(spec, parent);
    deal_cells(sim, spec, parent);
    free(parent);
    number_slots(sim);
    sim->next_at = aligned_alloc(64, sizeof *sim->next_at * ((sim->n_cells + 8) / 8 * 8));
    sim->threads = calloc(sim->n_threads, sizeof(struct thread *));
    XOFF_ASSERT(sim->next_at && sim->threads);
    for (uint32_t c = 0; c < sim->n_cells; c++)
        sim->next_at[c] = XOFF_NEVER;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        sim->threads[i] = make_thread(sim, i, spec);
    sim->exclusive = make_thread(sim, UINT32_MAX - 1, spec);
    reserve_chunks(sim);
    make_links(sim, spec);
    sim->exclusive->worker.links = sim->links;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        sim->threads[i]->worker.links = sim->links;
        find_shared(sim, i, &sim->threads[i]->share);
        if (spec->part_of)
            find_border(sim, &sim->threads[i]->share);
    }
    if (spec->part_of)
        sim->exchange = exchange_create(sim, spec);
    sim->is_large = sim->n_threads == 1 && sim->n_links >= LARGE_LINKS;
    sim->may_be_calm = spec->model.calm_for && sim->n_threads == 1 && !spec->part_of &&
                       sim->n_cells == 1 && !sim->cells[0].is_node;
    if (sim->may_be_calm) {
        sim->threads[0]->due = malloc(sizeof(uint16_t) * (sim->cells[0].n_slots + 1));
        XOFF_ASSERT(sim->threads[0]->due);
    }
    *out = sim;
    return 0;
}

void thread_reserve_arrivals(struct thread *w, uint32_t n)
{
    struct arrival *before = w->arriving;
    const uint32_t n_before = w->arriving_capacity;
    w->arriving_capacity = 2 * n;
    w->arriving = malloc(sizeof *w->arriving * w->arriving_capacity);
    w->in_order = realloc(w->in_order, sizeof *w->in_order * w->arriving_capacity);
    XOFF_ASSERT(w->arriving && w->in_order);
    if (!before)
        return;
    memcpy(w->arriving, before, sizeof *before * n_before);
    for (uint32_t p = 0; p < w->n_arriving_at; p++)
        if (w->arriving_at[p])
            w->arriving_at[p] = w->arriving + (w->arriving_at[p] - before);
    free(before);
}

static void destroy_thread(struct thread *w)
{
    queue_free(&w->queue);
    free(w->arriving), free(w->arriving_at), free(w->in_order);
    free(w->share.cells), free(w->share.active), free(w->share.shared_in), free(w->due), free(w);
}

void sim_destroy(struct sim *sim)
{
    if (!sim)
        return;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        destroy_thread(sim->threads[i]);
    destroy_thread(sim->exclusive);
    munmap(sim->chunks, sim->chunks_size);
    exchange_destroy(sim->exchange);
    free(sim->threads), free(sim->next_at), free(sim->links_block), free(sim->slots),
        free(sim->frames);
    free(sim->at), free(sim->ports), free(sim->cells), free(sim->cell_of), free(sim->slots_of);
    free(sim);
}

uint32_t sim_flush_link(struct sim *sim, uint32_t index, void *context,
                        void (*lost)(void *context, const struct frame *frame))
{
    struct link *link = &sim->links[index];
    if (link->is_out) {
        *link_last_at(link) = -1;
        return 0;
    }
    const struct frame **frames = &sim->frames[link->to_slot];
    uint32_t n = 0;
    for (; *frames != link_end(link); n++) {
        lost(context, *frames);
        chunk_leave(sim->threads[0], frames);
    }
    *link_last_at(link) = -1; /* there is nothing left to overtake */
    sim->at[link->to_slot] = XOFF_NEVER;
    return n;
}

uint32_t sim_in_flight(const struct sim *sim, uint32_t index, uint64_t *bytes)
{
    const struct link *link = &sim->links[index];
    const struct frame *at = sim->frames[link->to_slot];
    uint32_t n = 0;
    for (const struct frame *frame; (frame = walk_on(sim->exclusive, link, &at)) != NULL;)
        if (!frame_is_control(frame)) {
            *bytes += frame->bytes;
            n++;
        }
    return n;
}

struct sim_figures sim_figures(const struct sim *sim)
{
    struct sim_figures f = {.lookahead = sim->lookahead,
                            .windows = sim->n_rounds,
                            .is_at_rest = sim->is_at_rest,
                            .is_stopped = sim->is_stopped};
    for (uint32_t c = 0; c < sim->n_cells; c++)
        f.n_cells += sim->cells[c].n_slots > 0;
    for (uint32_t i = 0; i < sim->n_threads; i++)
        f.events += sim->threads[i]->events;
    return f;
}
