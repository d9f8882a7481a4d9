/* The exchange between ranks at the end of each round.
 *
 * What a cell sends over a cut link lies in chunks (link.h). When all border cells have run, these
 * frames are put into one batch for each neighbouring rank and sent, while the other cells run. At
 * the end of the round the ranks agree on the earliest pending time, in which each counts the
 * frames that it has sent: so it does not matter that their receivers have not seen them. Batches
 * that have come are put onto their links.
 *
 * A frame in a batch names its link in `more`. Its second line follows, where it has one, and then
 * its attachment, if the model has given one: the number of octets and the octets, in whole lines.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

#define LINE (sizeof(struct frame))
#define HAS_ATTACHMENT (UINT32_C(1) << 31) /* in `more`, beside the number of the link */

struct exchange {
    const struct sim_ranks *ranks;
    const struct sim_model *model;
    uint32_t *links;             /* that leave this rank, by the rank they lead to */
    const struct frame **frames; /* of each such link: the first that has not been sent */
    uint32_t *first;             /* by rank: the first of its links; one more at the end */
    struct sim_batch *out, *in;
    size_t *capacity;        /* of each batch out */
    bool is_posted;          /* in this round */
    xoff_time earliest;      /* arrival of what was sent in this round */
    _Atomic uint32_t n_done; /* shares whose border cells are done */
};

struct exchange *exchange_create(struct sim *sim, const struct sim_spec *spec)
{
    struct exchange *x = calloc(1, sizeof *x);
    XOFF_ASSERT(x && spec->n_links < HAS_ATTACHMENT);
    const uint32_t n = spec->ranks->n;
    x->ranks = spec->ranks;
    x->model = &sim->model;
    x->links = malloc(sizeof *x->links * (spec->n_links + 1));
    x->frames = malloc(sizeof *x->frames * (spec->n_links + 1));
    x->first = calloc(n + 1, sizeof *x->first);
    x->out = calloc(n, sizeof *x->out);
    x->in = calloc(n, sizeof *x->in);
    x->capacity = calloc(n, sizeof *x->capacity);
    XOFF_ASSERT(x->links && x->frames && x->first && x->out && x->in && x->capacity);
    for (uint32_t i = 0; i < spec->n_links; i++)
        if (sim->links[i].is_out)
            x->first[spec->part_of[spec->links[i].to_node] + 1]++;
    for (uint32_t r = 0; r < n; r++) {
        x->out[r].is_neighbour = x->in[r].is_neighbour = x->first[r + 1] > 0;
        x->first[r + 1] += x->first[r];
    }
    uint32_t *next = malloc(sizeof *next * (n + 1));
    XOFF_ASSERT(next);
    memcpy(next, x->first, sizeof *next * (n + 1));
    for (uint32_t i = 0; i < spec->n_links; i++)
        if (sim->links[i].is_out)
            x->links[next[spec->part_of[spec->links[i].to_node]]++] = i;
    free(next);
    for (uint32_t k = 0; k < x->first[n]; k++)
        x->frames[k] = link_end(&sim->links[x->links[k]]);
    x->earliest = XOFF_NEVER;
    return x;
}

void exchange_destroy(struct exchange *x)
{
    if (!x)
        return;
    for (uint32_t r = 0; r < x->ranks->n; r++)
        free(x->out[r].bytes);
    free(x->links), free(x->frames), free(x->first), free(x->out), free(x->in), free(x->capacity),
        free(x);
}

static uint32_t lines_of(const struct frame *frame, uint32_t step)
{
    return frame->is_bare ? 1 : step;
}

/* Returns a place for whole lines at the end of a batch. */
static unsigned char *extend(struct exchange *x, uint32_t rank, size_t size)
{
    struct sim_batch *out = &x->out[rank];
    if (out->size + size > x->capacity[rank]) {
        do
            x->capacity[rank] = x->capacity[rank] ? 2 * x->capacity[rank] : 4096;
        while (out->size + size > x->capacity[rank]);
        void *grown = aligned_alloc(LINE, x->capacity[rank]);
        XOFF_ASSERT(grown);
        if (out->size)
            memcpy(grown, out->bytes, out->size);
        free(out->bytes);
        out->bytes = grown;
    }
    unsigned char *place = (unsigned char *)out->bytes + out->size;
    out->size += size;
    return place;
}

/* Returns whole lines for an attachment of n octets, whose number comes before them. */
static size_t attachment_size(uint64_t n)
{
    return (sizeof n + n + LINE - 1) / LINE * LINE;
}

/* Returns what is to be put into `more` of the frame. */
static uint32_t add_attachment(struct exchange *x, uint32_t rank, const struct frame *frame)
{
    const void *octets;
    const uint64_t n = x->model->attachment(x->model->net, frame, &octets);
    if (!n)
        return 0;
    const size_t size = attachment_size(n);
    unsigned char *to = extend(x, rank, size);
    memset(to + size - LINE, 0, LINE);
    memcpy(to, &n, sizeof n);
    memcpy(to + sizeof n, octets, n);
    return HAS_ATTACHMENT;
}

static void add_frame(struct exchange *x, uint32_t rank, uint32_t link, const struct frame *frame,
                      uint32_t step)
{
    const size_t size = LINE * lines_of(frame, step), at = x->out[rank].size;
    memcpy(extend(x, rank, size), frame, size);
    if (x->model->attachment)
        link |= add_attachment(x, rank, frame);
    /* The attachment may have moved the batch. */
    ((struct frame *)((unsigned char *)x->out[rank].bytes + at))->more = link;
    x->earliest = xoff_time_min(x->earliest, frame->at);
}

static void post(struct thread *w)
{
    struct sim *sim = w->worker.sim;
    struct exchange *x = sim->exchange;
    x->earliest = XOFF_NEVER;
    for (uint32_t r = 0; r < x->ranks->n; r++) {
        x->out[r].size = 0;
        for (uint32_t k = x->first[r]; k < x->first[r + 1]; k++) {
            const struct link *link = &sim->links[x->links[k]];
            for (; x->frames[k] != link_end(link); chunk_leave(w, &x->frames[k]))
                add_frame(x, r, x->links[k], x->frames[k], link->step);
        }
    }
    x->is_posted = true;
    x->ranks->post(x->ranks->context, x->out);
}

void exchange_border_done(struct thread *w)
{
    struct sim *sim = w->worker.sim;
    struct exchange *x = sim->exchange;
    if (atomic_fetch_add_explicit(&x->n_done, 1, memory_order_acq_rel) + 1 == sim->n_threads)
        post(w);
}

/* Gives the model an attachment that begins at `bytes`, where the batch has `left` more bytes.
 * Returns its size in the batch. */
static size_t take_attachment(const struct sim *sim, const struct frame *frame,
                              const unsigned char *bytes, size_t left)
{
    uint64_t n;
    XOFF_ASSERT(left >= LINE && sim->model.take_attachment);
    memcpy(&n, bytes, sizeof n);
    XOFF_ASSERT(n < left && attachment_size(n) <= left);
    sim->model.take_attachment(sim->model.net, frame, bytes + sizeof n, n);
    return attachment_size(n);
}

static void deliver(struct sim *sim, const struct sim_batch *in)
{
    const unsigned char *bytes = in->bytes;
    for (size_t at = 0; at < in->size;) {
        struct long_frame frame;
        memcpy(&frame.frame, bytes + at, sizeof frame.frame);
        const uint32_t index = frame.frame.more & ~HAS_ATTACHMENT;
        XOFF_ASSERT(index < sim->n_links);
        struct link *link = &sim->links[index];
        const size_t size = LINE * lines_of(&frame.frame, link->step);
        XOFF_ASSERT(link->is_shared && !link->is_out && at + size <= in->size);
        memcpy(&frame, bytes + at, size);
        at += size;
        if (frame.frame.more & HAS_ATTACHMENT)
            at += take_attachment(sim, &frame.frame, bytes + at, in->size - at);
        sim_send(sim_exclusive(sim), index, &frame.frame, frame.frame.at);
    }
}

void exchange_round(struct sim *sim, struct sim_word *word)
{
    struct exchange *x = sim->exchange;
    if (!x->is_posted)
        post(sim->threads[0]);
    word->next_at = xoff_time_min(word->next_at, x->earliest);
    x->ranks->agree(x->ranks->context, word, x->in);
    for (uint32_t r = 0; r < x->ranks->n; r++)
        if (x->in[r].is_neighbour)
            deliver(sim, &x->in[r]);
    x->is_posted = false;
    atomic_store_explicit(&x->n_done, 0, memory_order_relaxed);
}
