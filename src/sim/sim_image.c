/* The engine's part of an image (sim.h): pending events and frames in flight.
 *
 * Nothing of it depends on cells or threads: events are saved by node and port, and the
 * frames of a link in order, wherever they lie. So a run may go on with other threads than it had.
 * A rank has the events of its nodes, and the frames that are on their way to them.
 */
#include "sim/engine.h"

static void image_events(struct image *image, struct sim *sim)
{
    image_part(image, "pending events");
    image_same(image, sim->n_nodes);
    for (uint32_t n = 0; n < sim->n_nodes; n++) {
        const struct node_slots *slots = &sim->slots_of[n];
        if (sim->cell_of[n] == UINT32_MAX) /* of another rank */
            continue;
        image_same(image, slots->n_ports);
        /* Transmissions and the timer. Arrivals are pending where frames are in flight. */
        image_bytes(image, &sim->at[slots->first + slots->n_ports],
                    sizeof *sim->at * (slots->n_ports + 1));
    }
}

static void save_frames(struct image *image, const struct sim *sim, const struct link *link)
{
    const struct frame *at = sim->frames[link->to_slot];
    uint32_t n = 0;
    while (walk_on(sim->exclusive, link, &at))
        n++;
    image_bytes(image, &n, sizeof n);
    at = sim->frames[link->to_slot];
    for (const struct frame *frame; (frame = walk_on(sim->exclusive, link, &at)) != NULL;) {
        struct long_frame copy = {0};
        frame_copy(&copy.frame, frame, link->step);
        image_bytes(image, &copy, sizeof(struct frame) * link->step);
    }
}

/* The last of them is the one that nobody may overtake. Where there is none, all arrivals are over,
 * and those to come are later anyway. */
static void load_frames(struct image *image, struct sim *sim, uint32_t index)
{
    struct link *link = &sim->links[index];
    uint32_t n = 0;
    image_bytes(image, &n, sizeof n);
    *link_last_at(link) = -1;
    for (uint32_t i = 0; i < n && !image->misfit; i++) {
        struct long_frame copy = {0};
        image_bytes(image, &copy, sizeof(struct frame) * link->step);
        sim_send(&sim->exclusive->worker, index, &copy.frame, copy.frame.at);
    }
}

static void image_frames(struct image *image, struct sim *sim)
{
    image_part(image, "frames in flight");
    image_same(image, sim->n_links);
    image_same(image, sim->step);
    for (uint32_t i = 0; i < sim->n_links; i++) {
        struct link *link = &sim->links[i];
        if (!link->step ||
            link->is_out) /* its frames are at another rank, which keeps their order */
            continue;
        if (image->is_loading)
            load_frames(image, sim, i);
        else
            save_frames(image, sim, link);
    }
}

void sim_image(struct sim *sim, struct image *image)
{
    struct thread *first = sim->threads[0];
    uint64_t events = 0, arrivals = 0;
    xoff_time last_at = 0;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        const struct thread *w = sim->threads[i];
        events += w->events;
        arrivals += w->arrivals;
        last_at = w->last_at > last_at ? w->last_at : last_at;
    }
    image_events(image, sim);
    image_frames(image, sim);
    image_part(image, "counters of the engine");
    image_bytes(image, &events, sizeof events);
    image_bytes(image, &arrivals, sizeof arrivals);
    image_bytes(image, &last_at, sizeof last_at);
    image_bytes(image, &sim->reached, sizeof sim->reached);
    image_bytes(image, &sim->n_rounds, sizeof sim->n_rounds);
    if (!image->is_loading)
        return;
    /* Sums are those of the first thread. */
    first->events = events;
    first->arrivals = arrivals;
    first->last_at = last_at;
    sim->n_events = events;
}

xoff_time sim_reached(const struct sim *sim)
{
    return sim->reached;
}
