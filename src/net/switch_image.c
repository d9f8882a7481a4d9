/* The image of a switch (sim/image.h): what all fabrics have in common, and the books that some of
 * them share. */
#include "net/image.h"

IMAGE_SIZE(struct sw, 576)
IMAGE_SIZE(struct ledger, 168)

void image_maxima(struct image *image, struct maxima *maxima)
{
    image_bytes(image, &maxima->rises, sizeof maxima->rises);
    image_bytes(image, &maxima->bytes, sizeof maxima->bytes);
    if (image_has(image, maxima->counts))
        image_bytes(image, maxima->counts, sizeof *maxima->counts * RESULT_MAXIMA);
}

void image_ledger(struct image *image, struct ledger *ledger)
{
    image_mmu(image, &ledger->mmu);
    image_maxima(image, &ledger->maxima);
    image_pause(image, &ledger->pause);
}

static void image_histogram(struct image *image, struct histogram *h)
{
    uint64_t *counts = h->counts;
    image_bytes(image, h, sizeof *h);
    h->counts = counts;
    image_array(image, &h->counts, h->n_bins, h->n_bins, sizeof *h->counts);
}

/* Most of struct sw is made when it is built: its other members are named here. */
static void image_members(struct image *image, struct sw *sw)
{
    const struct sw built = *sw;
    image_bytes(image, &sw->clock_at, sizeof sw->clock_at);
    image_bytes(image, &sw->timer_at, sizeof sw->timer_at);
    image_bytes(image, &sw->made, sizeof sw->made);
    image_bytes(image, &sw->stopped_for, sizeof sw->stopped_for);
    image_bytes(image, &sw->stopped_at, sizeof sw->stopped_at);
    image_bytes(image, &sw->path_rng, sizeof sw->path_rng);
    image_bytes(image, &sw->marking_rng, sizeof sw->marking_rng);
    image_bytes(image, &sw->processing, sizeof sw->processing);
    image_bytes(image, &sw->n_stops, sizeof sw->n_stops);
    image_bytes(image, &sw->made_bytes, sizeof sw->made_bytes);
    image_bytes(image, &sw->store, sizeof sw->store);
    image_store(image, &sw->store, &built.store);
    image_bytes(image, &sw->notes, sizeof sw->notes);
    image_notes(image, &sw->notes, &built.notes);
    image_bytes(image, &sw->timers, sizeof sw->timers);
    image_heap(image, &sw->timers, &built.timers);
}

static void image_tables(struct image *image, struct sw *sw)
{
    const uint64_t n = sw->n_ports;
    uint64_t n_ranks = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        n_ranks += sw_is_lossless(sw, p) ? 1 : 0;
    image_part(image, "queues of switches");
    image_same(image, n_ranks);
    image_bytes(image, sw->queues, sizeof *sw->queues * n * XOFF_N_PRIORITIES);
    image_bytes(image, sw->held_bytes, sizeof *sw->held_bytes * n_ranks * n * n);
    const bool has_histograms = image_has(image, sw->histograms);
    for (uint32_t p = 0; has_histograms && p < n; p++)
        image_histogram(image, &sw->histograms[p]);
    if (image_has(image, sw->sampled))
        image_bytes(image, sw->sampled, sizeof *sw->sampled * n * XOFF_N_PRIORITIES);
    for (uint32_t p = 0; p < n; p++) {
        const struct port built = sw->ports[p];
        image_bytes(image, &sw->ports[p], sizeof sw->ports[p]);
        image_port(image, &sw->head, &sw->ports[p], &built);
        image_point(image, &sw->points[p]);
    }
    if (image_has(image, sw->occupancy))
        image_occupancy(image, sw->occupancy);
    image_part(image, "the scheduler");
    image_same(image, sw->sched.shape.state_size);
    image_bytes(image, sw->sched_states, sw->sched.shape.state_size * n);
    image_part(image, "the choice of paths");
    image_same(image, sw->path.shape.state_size);
    image_bytes(image, sw->path.state, sw->path.shape.state_size);
}

void image_switch(struct image *image, struct sw *sw)
{
    image_part(image, "switches");
    image_same(image, sw->n_ports);
    image_same(image, sw->fabric->size);
    image_same(image, sw->timers.capacity);
    image_members(image, sw);
    image_tables(image, sw);
    image_part(image, "the fabric");
    sw->fabric->image(sw, image);
}
