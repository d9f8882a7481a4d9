/* Finished flows whose sender and receiver are at different ranks (fold.h).
 *
 * All ranks meet twice at an instant. First each tells which flows of others it has received whole;
 * the ranks of their senders summarise those that are over there, too. Then these tell which they
 * have taken, and the receivers forget them. The sums stay where the senders are until the run
 * ends.
 */
#include <stdlib.h>
#include <string.h>

#include "net/fold.h"
#include "net/image.h"

/* Bytes that are put one behind the other. */
struct bytes {
    unsigned char *at;
    size_t n, capacity;
};

static void put(struct bytes *b, const void *more, size_t n)
{
    if (b->n + n > b->capacity) {
        b->capacity = 2 * b->capacity + n;
        b->at = realloc(b->at, b->capacity);
        XOFF_ASSERT(b->at);
    }
    memcpy(b->at + b->n, more, n);
    b->n += n;
}

/* Tells all ranks, and replaces the bytes by those of all. `each` are the bytes of each rank. */
static void share(const struct net *net, struct bytes *b, size_t *each)
{
    const struct sim_ranks *ranks = net->spec.ranks;
    void *all;
    ranks->share(ranks->context, b->at, b->n, &all, each);
    free(b->at);
    *b = (struct bytes){.at = all};
    for (uint32_t r = 0; r < ranks->n; r++)
        b->n += each[r];
}

static uint64_t key_of(const struct rx_note *note)
{
    return (uint64_t)note->from << 32 | note->number;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Keys of the flows that were summarised, in order. */
struct taken {
    struct fold *fold;
    uint64_t *keys;
    size_t n;
};

/* Leaves the bit by which a late copy of a frame is known. */
static bool is_among(void *context, const struct rx_note *note)
{
    const struct taken *t = context;
    const uint64_t key = key_of(note);
    if (!bsearch(&key, t->keys, t->n, sizeof key, compare_keys))
        return false;
    struct fold_host *bits = &t->fold->hosts[note->from];
    fold_grow_bits(bits, (uint64_t)note->number + 1);
    bits->is_folded[note->number / 64] |= UINT64_C(1) << note->number % 64;
    return true;
}

static void offer(const struct net *net, struct bytes *out)
{
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct host *host = &net->hosts[h];
        for (uint32_t i = 0; net_owns(net, h) && i < host->n_rx_notes; i++) {
            if (net_owns(net, host->rx_notes[i].from))
                continue;
            const struct fold_received received = fold_received(net, &host->rx_notes[i]);
            put(out, &received, sizeof received);
        }
    }
}

uint64_t fold_meet(struct net *net, uint64_t n)
{
    size_t *each = calloc(net->spec.ranks->n, sizeof *each);
    struct bytes offers = {0}, answer = {0};
    XOFF_ASSERT(each);
    offer(net, &offers);
    share(net, &offers, each);
    put(&answer, &n, sizeof n);
    for (size_t at = 0; at < offers.n; at += sizeof(struct fold_received)) {
        struct fold_received received;
        memcpy(&received, offers.at + at, sizeof received);
        const uint64_t key = key_of(&received.note);
        if (net_owns(net, received.note.from) && fold_try(net, &received))
            put(&answer, &key, sizeof key);
    }
    free(offers.at);
    share(net, &answer, each);
    /* Of each rank its own count, then keys. */
    uint64_t *words = (uint64_t *)(void *)answer.at;
    struct taken taken = {.fold = net->fold, .keys = words};
    n = 0;
    for (uint32_t r = 0; r < net->spec.ranks->n; r++) {
        const size_t n_words = each[r] / sizeof *words;
        n += words[0];
        memmove(taken.keys + taken.n, words + 1, (n_words - 1) * sizeof *words);
        taken.n += n_words - 1;
        words += n_words;
    }
    qsort(taken.keys, taken.n, sizeof *taken.keys, compare_keys);
    for (uint32_t h = 0; h < net->n_hosts && taken.n; h++)
        if (net_owns(net, h))
            fold_drop(&net->hosts[h], is_among, &taken);
    free(answer.at);
    free(each);
    return n + taken.n;
}

/* What a rank knows of one of its hosts, beside the sums. */
static void image_books(struct image *image, struct fold_host *host)
{
    image_bytes(image, &host->late_notices, sizeof host->late_notices);
    image_bytes(image, &host->late_tags, sizeof host->late_tags);
    image_bytes(image, &host->served, sizeof host->served);
}

/* Saves or loads what `rank` has. */
static void image_rank(struct image *image, struct net *net, uint32_t rank, bool *has_moved,
                       struct flow_sums *sums)
{
    image_bytes(image, has_moved, sizeof *has_moved);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net->part_of[h] == rank)
            image_books(image, &net->fold->hosts[h]);
    image_sums(image, sums);
}

void fold_gather(struct net *net)
{
    const struct sim_ranks *ranks = net->spec.ranks;
    struct fold *fold = net->fold;
    struct image own = {0};
    size_t *each = calloc(ranks->n, sizeof *each);
    void *all;
    XOFF_ASSERT(each);
    if (ranks->rank)
        image_rank(&own, net, ranks->rank, &fold->has_moved, fold->sums);
    ranks->gather(ranks->context, own.bytes, own.n, false, &all, each);
    image_fini(&own);
    unsigned char *at = all;
    for (uint32_t r = 1; r < ranks->n && ranks->rank == 0; r++) {
        struct image theirs = {.bytes = at, .n = each[r], .is_loading = true};
        struct flow_sums *sums = flow_sums_create();
        bool has_moved = false;
        XOFF_ASSERT(sums);
        image_rank(&theirs, net, r, &has_moved, sums);
        XOFF_ASSERT(!theirs.misfit);
        fold->has_moved |= has_moved;
        XOFF_ASSERT(flow_sums_merge(fold->sums, sums));
        flow_sums_destroy(sums);
        at += each[r];
    }
    free(all);
    free(each);
}
