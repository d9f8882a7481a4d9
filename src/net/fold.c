/* Finished flows are summarised while the run goes on (results: summary), so that their number does
 * not fill memory.
 *
 * A flow has a note at its sender and one at its receiver. At instants, while all cells are at
 * rest, those that are over at both ends are put together, added to sums (stats/flow_sums.h), and
 * forgotten. The notes of a sender are found by the flow's number, so they cannot move up: a
 * summarised one is set to zero, and a page of nothing but these is given back to the system. Of
 * each flow remains one bit, by which its receiver knows a late copy of a frame.
 *
 * A flow between ranks is offered by its receiver to its sender at each instant until both are done
 * with it (fold_ranks.c).
 *
 * The instants depend on what is simulated only, so that results are the same for any number of
 * threads and ranks: the time between them is halved when many flows have finished, and doubled
 * when few have.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/fold.h"

/* Flows that may finish between two instants before the next one is set earlier or later. */
#define MANY_FLOWS 65536u
#define FEW_FLOWS 8192u
/* Instants in a run, if few flows finish; and their shortest distance. */
#define LEAST_INSTANTS 1024
#define SHORTEST XOFF_US

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The notes of a host take whole pages. */
static size_t notes_bytes(uint64_t capacity)
{
    const size_t page = page_size(), bytes = capacity * sizeof(struct flow_note);
    return (bytes + page - 1) / page * page;
}

void fold_grow_notes(struct host *host)
{
    const size_t before = notes_bytes(host->flow_notes_capacity);
    const size_t after = before ? 2 * before : page_size();
    void *notes =
        before ? mremap(host->flow_notes, before, after, MREMAP_MAYMOVE)
               : mmap(NULL, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    XOFF_ASSERT(notes != MAP_FAILED);
    madvise(notes, after, MADV_NOHUGEPAGE);
    host->flow_notes = notes;
    host->flow_notes_capacity = (uint32_t)(after / sizeof(struct flow_note));
}

void fold_free_notes(struct host *host)
{
    if (host->flow_notes)
        munmap(host->flow_notes, notes_bytes(host->flow_notes_capacity));
}

void fold_create(struct net *net)
{
    XOFF_ASSERT(!net->spec.n_captures);
    struct fold *fold = calloc(1, sizeof *fold);
    XOFF_ASSERT(fold);
    fold->hosts = calloc(net->n_hosts + 1, sizeof *fold->hosts);
    fold->sums = flow_sums_create();
    XOFF_ASSERT(fold->hosts && fold->sums);
    flow_records_init(&fold->records, net);
    fold->every = net->spec.stop / LEAST_INSTANTS;
    fold->every = fold->every > SHORTEST ? fold->every : SHORTEST;
    fold->at = fold->every;
    net->fold = fold;
}

void fold_destroy(struct net *net)
{
    struct fold *fold = net->fold;
    if (!fold)
        return;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        free(fold->hosts[h].is_folded);
    flow_records_fini(&fold->records);
    flow_sums_destroy(fold->sums);
    free(fold->hosts);
    free(fold);
}

/* Whether nothing will happen to the note any more, but late notifications. */
static bool is_over(const struct flow_note *note)
{
    return !note->open && (note->reliable ? note->acked_at != XOFF_NEVER
                                          : note->offered && note->sent >= note->offered);
}

/* Gives back the page if all notes that lie in it, even in part, have been summarised. */
static void give_back(const struct fold *fold, const struct host *host, size_t page)
{
    const size_t size = page_size(), note = sizeof(struct flow_note);
    const size_t last = ((page + 1) * size - 1) / note;
    for (size_t i = page * size / note; i <= last; i++)
        if (!fold_has(fold, host->node, (uint32_t)i))
            return;
    madvise((unsigned char *)host->flow_notes + page * size, size, MADV_DONTNEED);
}

static void forget(struct fold *fold, struct host *host, uint32_t number)
{
    const size_t from = number * sizeof(struct flow_note), to = from + sizeof(struct flow_note) - 1;
    memset(&host->flow_notes[number], 0, sizeof *host->flow_notes);
    fold->hosts[host->node].is_folded[number / 64] |= UINT64_C(1) << number % 64;
    for (size_t page = from / page_size(); page <= to / page_size(); page++)
        give_back(fold, host, page);
}

struct fold_received fold_received(const struct net *net, const struct rx_note *note)
{
    const struct result_flow flow = {.from = note->from,
                                     .number = note->number,
                                     .delivered_bytes = note->received,
                                     .finish_at = note->finish_at};
    return (struct fold_received){.note = *note,
                                  .early_bytes = marks_received(&net->marks[MARK_FROM], &flow),
                                  .half_bytes = marks_received(&net->marks[MARK_HALF], &flow),
                                  .end_bytes = marks_received(&net->marks[MARK_TO], &flow)};
}

/* Adds a flow to the sums. Its bytes before and after the measured time are those of a run that
 * gets as far as to these marks; see fold_take_sums(). */
static void add(struct net *net, const struct flow_note *note, const struct fold_received *received)
{
    struct fold *fold = net->fold;
    const struct rx_note *rx = &received->note;
    struct result_flow flow = flow_record(&fold->records, rx->from, note);
    flow.delivered_bytes = rx->received;
    flow.marked_frames = rx->marked;
    flow.finish_at = rx->finish_at;
    flow.early_bytes = received->early_bytes;
    if (net->marks[MARK_TO].is_taken)
        flow.late_bytes = flow.delivered_bytes - received->end_bytes;
    if (net->marks[MARK_HALF].is_taken && received->half_bytes < flow.delivered_bytes) {
        fold->hosts[flow.from].served |= (uint8_t)(1u << flow.priority);
        fold->has_moved = true;
    }
    XOFF_ASSERT(flow_sums_add(fold->sums, &flow));
}

void fold_grow_bits(struct fold_host *bits, uint64_t n)
{
    const uint64_t before = (bits->n + 63) / 64, after = (n + 63) / 64;
    if (after > before) {
        bits->is_folded = realloc(bits->is_folded, after * sizeof *bits->is_folded);
        XOFF_ASSERT(bits->is_folded);
        memset(bits->is_folded + before, 0, (after - before) * sizeof *bits->is_folded);
    }
    bits->n = n > bits->n ? n : bits->n;
}

bool fold_try(struct net *net, const struct fold_received *received)
{
    struct host *sender = &net->hosts[received->note.from];
    const struct flow_note *note = &sender->flow_notes[received->note.number];
    if (!is_over(note))
        return false;
    add(net, note, received);
    forget(net->fold, sender, received->note.number);
    return true;
}

uint64_t fold_drop(struct host *host, bool (*is_taken)(void *, const struct rx_note *),
                   void *context)
{
    const uint32_t n = host->n_rx_notes;
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct rx_note rx = host->rx_notes[i];
        if (!is_taken(context, &rx))
            host->rx_notes[n_left++] = rx;
    }
    if (n_left < n) { /* the table of finished flows has indices: it is made anew when wanted */
        free(host->finished);
        host->finished = NULL;
        host->finished_mask = host->n_finished = 0;
        host->n_rx_notes = n_left;
    }
    return n - n_left;
}

/* Takes what was received whole and whose sender, in this process, is done with it, too. */
static bool take_here(void *context, const struct rx_note *rx)
{
    struct net *net = context;
    if (!net_owns(net, rx->from))
        return false;
    const struct fold_received received = fold_received(net, rx);
    return fold_try(net, &received);
}

uint64_t fold_flows(struct net *net)
{
    uint64_t n = 0;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net_owns(net, h))
            fold_grow_bits(&net->fold->hosts[h], net->hosts[h].n_flow_notes);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net_owns(net, h))
            n += fold_drop(&net->hosts[h], take_here, net);
    return net->spec.ranks ? fold_meet(net, n) : n;
}

void fold_take(struct net *net, xoff_time now)
{
    struct fold *fold = net->fold;
    const xoff_time longest = net->spec.stop / LEAST_INSTANTS;
    const uint64_t n = fold_flows(net);
    if (n > MANY_FLOWS)
        fold->every /= 2;
    else if (n < FEW_FLOWS && fold->every < longest)
        fold->every *= 2;
    fold->every = fold->every > SHORTEST ? fold->every : SHORTEST;
    fold->at = now + fold->every;
}

struct flow_sums *fold_take_sums(const struct net *net, const struct results *results)
{
    struct fold *fold = net->fold;
    struct flow_sums *sums = fold->sums;
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        sums->late_notices += fold->hosts[h].late_notices;
        sums->late_tags += fold->hosts[h].late_tags;
    }
    if (!net->marks[MARK_FROM].is_taken) { /* the run ended before */
        sums->tally.early_bytes = 0;
        for (uint32_t i = 0; i < sums->n_entries; i++)
            sums->entries[i].tally.early_bytes = 0;
    }
    XOFF_ASSERT(flow_sums_finish(sums, results->flows, results->n_flows));
    fold->sums = NULL;
    return sums;
}
