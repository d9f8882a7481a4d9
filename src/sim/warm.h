/* Prefetching for the cells that run next.
 *
 * The frames in flight of a large network, and the state of its nodes, do not stay in the cache
 * from one window to the next. Reading a node from memory, pointer by pointer, would take longer
 * than its events. So while one cell runs, what the next ones need is fetched: first the engine's
 * tables and the node, which are found by number; later what these point to; last what that
 * points to. In a small network one step is enough, as most of it stays in the cache.
 */
#ifndef SIM_WARM_H
#define SIM_WARM_H

#include "sim/engine.h"

/* Cells ahead of the running one at which each step is taken. */
enum { WARM_FIND = 5, WARM_NODE = 3, WARM_BEHIND = 1 };

/* Lines of a chunk that are fetched. Those behind them are fetched by the processor, which sees
 * that they are read in their order. */
#define WARM_FRAMES 3

/* Prefetches what a cell needs first: the first frames that its slots read next, and the model's
 * own data. A cell of several nodes is too large for that. */
static void warm(const struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    const uint32_t n_ports = cell->n_slots / 2;
    const xoff_time *at = sim->at + cell->first_slot, end = w->window_end;
    const struct frame **frames = sim->frames + cell->first_slot;
    const struct slot *transmits = &sim->slots[cell->first_slot + n_ports];
    if (!cell->is_node)
        return;
    for (uint32_t i = 0; i < n_ports; i++)
        if (at[i] < end)
            for (uint32_t k = 0; k < WARM_FRAMES; k++)
                __builtin_prefetch(frames[i] + k);
    for (uint32_t i = 0; i < n_ports; i++)
        __builtin_prefetch(&sim->links[transmits[i].link], 1);
    if (sim->model.warm)
        sim->model.warm(sim->model.net, sim->slots[cell->first_slot].node);
}

static inline void warm_lines(const void *from, size_t bytes)
{
    for (const char *line = from; line < (const char *)from + bytes; line += 64)
        __builtin_prefetch(line);
}

/* The first step: tables of the engine. */
static inline void warm_find(const struct sim *sim, uint32_t index)
{
    const struct cell *cell = &sim->cells[index];
    warm_lines(&sim->slots[cell->first_slot], cell->n_slots * sizeof *sim->slots);
    warm_lines(&sim->at[cell->first_slot], cell->n_slots * sizeof *sim->at);
    warm_lines(&sim->frames[cell->first_slot], cell->n_slots / 2 * sizeof *sim->frames);
}

/* The last step: where the cell's next frames are written, the times they are compared with, and
 * the chunks behind those that it reads first. */
static inline void warm_behind(const struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    for (uint32_t i = cell->first_slot; i < cell->first_slot + cell->n_slots; i++) {
        const struct slot *s = &sim->slots[i];
        const struct link *link = &sim->links[s->link];
        if (s->kind == SIM_TRANSMIT) {
            __builtin_prefetch(link_end(link), 1);
            __builtin_prefetch(link->to_at, 1);
        } else if (s->kind == SIM_ARRIVAL && sim->at[i] < w->window_end) {
            const struct frame *chunk =
                (const struct frame *)((uintptr_t)sim->frames[i] & ~(uintptr_t)w->chunk_mask);
            const struct frame *last = chunk + (w->chunk_frames - 1) * w->step;
            const struct frame *end = link_read_end(link);
            if (((uintptr_t)end ^ (uintptr_t)chunk) > w->chunk_mask)
                warm_lines(chunk_at(w, last->more), (size_t)w->chunk_mask + 1);
        }
    }
    if (sim->model.begin)
        sim->model.begin(sim->model.net, sim->slots[cell->first_slot].node);
}

/* Prefetches for the cells that follow the first of n. */
static inline void warm_ahead(const struct thread *w, const uint32_t *cells, uint32_t n)
{
    if (n > WARM_FIND)
        warm_find(w->worker.sim, cells[WARM_FIND]);
    if (n > WARM_NODE)
        warm(w, cells[WARM_NODE]);
    if (n > WARM_BEHIND)
        warm_behind(w, cells[WARM_BEHIND]);
}

#endif
