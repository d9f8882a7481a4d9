/* The image of summarised flows (sim/image.h): their sums, what is known of each, and the notes of
 * flows that are left. */
#include <stdlib.h>
#include <string.h>

#include "net/fold.h"
#include "net/image.h"

IMAGE_SIZE(struct fold, 64)
IMAGE_SIZE(struct fold_host, 40)

static void image_sketch(struct image *image, struct sketch *sketch)
{
    for (uint32_t o = 0; o < SKETCH_OCTAVES && !image->misfit; o++) {
        bool has = sketch->octaves[o];
        image_bytes(image, &has, sizeof has);
        if (!has)
            continue;
        uint64_t *bins = sketch_octave(sketch, o);
        XOFF_ASSERT(bins);
        image_bytes(image, bins, sizeof *bins * SKETCH_BINS);
    }
    image_bytes(image, &sketch->n, sizeof sketch->n);
    image_bytes(image, &sketch->min, sizeof sketch->min);
    image_bytes(image, &sketch->max, sizeof sketch->max);
    image_bytes(image, &sketch->sum, sizeof sketch->sum);
}

static void image_times(struct image *image, struct sketch *times)
{
    for (uint32_t i = 0; i < N_FLOW_TIMES; i++)
        image_sketch(image, &times[i]);
}

void image_sums(struct image *image, struct flow_sums *sums)
{
    uint32_t n_entries = sums->n_entries;
    image_bytes(image, &n_entries, sizeof n_entries);
    XOFF_ASSERT(flow_sums_grow(sums, n_entries));
    image_bytes(image, &sums->digest, sizeof sums->digest);
    image_bytes(image, &sums->from, sizeof sums->from);
    image_bytes(image, &sums->to, sizeof sums->to);
    image_bytes(image, &sums->tally, sizeof sums->tally);
    image_times(image, sums->times);
    for (uint32_t i = 0; i < OUTPUT_BUCKETS; i++)
        image_times(image, sums->by_size[i]);
    for (uint32_t i = 0; i < sums->n_entries; i++) {
        image_bytes(image, &sums->entries[i].tally, sizeof sums->entries[i].tally);
        image_times(image, sums->entries[i].times);
        image_bytes(image, sums->entries[i].worst, sizeof sums->entries[i].worst);
    }
}

void image_fold(struct image *image, struct net *net)
{
    image_part(image, "summarised flows (results)");
    if (!image_has(image, net->fold))
        return;
    struct fold *fold = net->fold;
    image_bytes(image, &fold->at, sizeof fold->at);
    image_bytes(image, &fold->every, sizeof fold->every);
    image_bytes(image, &fold->has_moved, sizeof fold->has_moved);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        struct fold_host *host = &fold->hosts[h];
        uint64_t *bits = host->is_folded;
        image_bytes(image, host, sizeof *host);
        host->is_folded = bits;
        const uint64_t n = (host->n + 63) / 64;
        image_array(image, &host->is_folded, n, n, sizeof *host->is_folded);
    }
    image_sums(image, fold->sums);
}

/* Maps room for the notes of an image in place of those that the host had. */
static bool make_room(struct host *host, const struct host *built, uint64_t n_left)
{
    const uint32_t n = host->n_flow_notes, capacity = host->flow_notes_capacity;
    struct host before = *built;
    fold_free_notes(&before);
    host->flow_notes = NULL;
    host->flow_notes_capacity = 0;
    while (host->flow_notes_capacity < capacity && n <= capacity)
        fold_grow_notes(host);
    return host->flow_notes_capacity == capacity && n_left <= n;
}

void image_flow_notes(struct image *image, struct host *host, const struct host *built)
{
    uint64_t n_left = 0;
    for (uint32_t i = 0; i < host->n_flow_notes && !image->is_loading; i++)
        n_left += note_is_left(&host->flow_notes[i]);
    image_bytes(image, &n_left, sizeof n_left);
    if (!image->is_loading) {
        for (uint32_t i = 0; i < host->n_flow_notes; i++)
            if (note_is_left(&host->flow_notes[i]))
                image_bytes(image, &host->flow_notes[i], sizeof *host->flow_notes);
        return;
    }
    if (!image->misfit && !make_room(host, built, n_left))
        image->misfit = image->part;
    for (uint64_t i = 0; i < n_left && !image->misfit; i++) {
        struct flow_note note = {0};
        image_bytes(image, &note, sizeof note);
        if (note.number < host->n_flow_notes)
            host->flow_notes[note.number] = note;
    }
}
