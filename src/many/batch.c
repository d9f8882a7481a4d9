/* What is run, and what came out (batch.h).
 *
 * An answer is 'S' and the figures as the cache has them, or 'E' and the error as it is in memory:
 * it is carried between copies of the same program.
 */
#include "many/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "many/workers.h"
#include "stats/text_stream.h"

uint32_t batch_cores(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

char *batch_answer(const struct batch *batch, const struct run *run, size_t *size)
{
    struct xoff_err err = {0};
    struct summary *summary = batch->simulate(batch->context, run, &err);
    size_t n = sizeof err;
    char *figures = summary ? cache_encode(summary, run->key, &n) : NULL;
    char *answer = malloc(n + 1);
    XOFF_ASSERT(answer && (!summary || figures));
    answer[0] = summary ? 'S' : 'E';
    memcpy(answer + 1, summary ? (const void *)figures : &err, n);
    *size = n + 1;
    free(figures);
    summary_destroy(summary);
    return answer;
}

void run_break(struct run *run, const char *reason)
{
    char message[sizeof run->err.message];
    snprintf(message, sizeof message, "the run with seed %llu%s%s %s",
             (unsigned long long)run->seed, *run->variant ? " of variant " : "", run->variant,
             reason);
    run->state = RUN_BROKEN;
    xoff_err_set(&run->err, XOFF_E_CONFLICT, NULL, NULL, message);
    snprintf(run->err.file, sizeof run->err.file, "%s", run->file);
}

static void take_answer(struct batch *batch, struct run *run, const struct worker_answer *answer)
{
    if (!answer->text) {
        run_break(run, answer->reason);
        return;
    }
    if (answer->size == 1 + sizeof run->err && answer->text[0] == 'E') {
        memcpy(&run->err, answer->text + 1, sizeof run->err);
        run->state = RUN_BAD_INPUT;
        return;
    }
    errno = 0;
    if (answer->size && answer->text[0] == 'S')
        run->summary = cache_decode(answer->text + 1, answer->size - 1, run->key);
    XOFF_ASSERT(run->summary || errno != ENOMEM);
    if (!run->summary) {
        run_break(run, "left no figures");
        return;
    }
    run->state = RUN_DONE;
    if (batch->cache_folder) {
        const int reason = cache_store(batch->cache_folder, run->key, run->summary);
        batch->store_reason = batch->store_reason ? batch->store_reason : reason;
    }
}

/* What a peer tells of a run, before the figures or the error. */
struct told {
    uint32_t index, state;
    uint64_t size;
};
#define TOLD_END \
    UINT32_MAX /* the last index: state says whether it was stopped, size is n_cached */

static void tell(FILE *out, uint32_t index, uint32_t state, const void *bytes, size_t size)
{
    const struct told told = {index, state, size};
    fwrite(&told, sizeof told, 1, out);
    if (bytes)
        fwrite(bytes, 1, size, out);
}

static void tell_run(FILE *out, uint32_t index, const struct run *run)
{
    if (run->state != RUN_DONE) {
        tell(out, index, run->state, &run->err, sizeof run->err);
        return;
    }
    size_t size;
    char *text = cache_encode(run->summary, run->key, &size);
    XOFF_ASSERT(text);
    tell(out, index, run->state, text, size);
    free(text);
}

/* Takes over what one peer told. Returns whether it was stopped. */
static bool hear(struct batch *batch, const char *at, const char *end)
{
    struct told told = {0};
    while (at < end) {
        memcpy(&told, at, sizeof told);
        at += sizeof told;
        if (told.index == TOLD_END)
            break;
        struct run *run = batch->runs[told.index];
        run->state = told.state;
        if (run->state == RUN_DONE)
            run->summary = cache_decode(at, told.size, run->key);
        else
            memcpy(&run->err, at, sizeof run->err);
        XOFF_ASSERT(run->state != RUN_DONE || run->summary);
        at += told.size;
    }
    batch->n_cached += (uint32_t)told.size;
    return told.state;
}

/* Tells the peers what came of the own runs, and hears of theirs. `is_own` says which were to be
 * done here. Returns whether nobody was stopped. */
static bool exchange(struct batch *batch, const bool *is_own, bool is_going)
{
    const struct batch_peers *p = batch->peers;
    char *text = NULL;
    void *all;
    size_t size, *sizes = calloc(p->n, sizeof *sizes);
    FILE *out = open_memstream(&text, &size);
    XOFF_ASSERT(out && sizes);
    for (uint32_t i = 0; i < batch->n_runs; i++)
        if (is_own[i])
            tell_run(out, i, batch->runs[i]);
    tell(out, TOLD_END, !is_going, NULL, batch->n_cached);
    text_stream_close(out, &text);
    p->share(p->context, text, size, &all, sizes);
    const char *at = all;
    for (uint32_t r = 0; r < p->n; at += sizes[r++])
        if (r != p->rank)
            is_going &= !hear(batch, at, at + sizes[r]);
    free(all);
    free(sizes);
    free(text);
    return is_going;
}

/* Looks a run up in the cache; false: it must be run. */
static bool look_up(struct batch *batch, struct run *run)
{
    if (batch->cache_folder && !batch->is_fresh)
        run->summary = cache_load(batch->cache_folder, run->key);
    if (!run->summary)
        return false;
    run->state = RUN_DONE;
    batch->n_cached++;
    return true;
}

/* What this process does of a batch. */
struct hand {
    struct workers *workers;
    bool *is_own; /* by run: was taken here */
    uint32_t next, n_working, n_done;
    bool is_over; /* there is no run left to take */
};

/* Takes the next run if a worker is idle. Returns false when there is none, or none yet. With
 * peers it is called in any case, as others may wait for what the first process deals. */
static bool take_next(const struct batch *batch, struct hand *hand, uint32_t *index)
{
    const bool wants = hand->n_working < batch->n_workers && !hand->is_over;
    const struct batch_peers *p = batch->peers;
    if (p && !p->deal(p->context, batch->n_runs, wants, index))
        return false;
    if (!p && !wants)
        return false;
    if (!p)
        *index = hand->next < batch->n_runs ? hand->next++ : batch->n_runs;
    hand->is_over = *index == batch->n_runs;
    return !hand->is_over;
}

static void begin(struct batch *batch, struct hand *hand, uint32_t index)
{
    struct run *run = batch->runs[index];
    if (run->state != RUN_WAITING)
        return;
    hand->is_own[index] = true;
    if (batch->peers && look_up(batch, run)) {
        hand->n_done++;
        return;
    }
    if (batch->is_cached_only)
        return;
    const int reason = workers_begin(hand->workers, batch, index);
    if (reason)
        run_break(run, strerror(reason));
    hand->n_working += !reason;
    hand->n_done += reason != 0;
}

bool batch_go(struct batch *batch)
{
    const struct batch_peers *p = batch->peers;
    struct hand hand = {.workers = workers_create(batch->n_workers),
                        .is_own = calloc(batch->n_runs + 1, sizeof *hand.is_own)};
    uint32_t n_waiting = 0;
    bool is_going;
    XOFF_ASSERT(hand.is_own);
    for (uint32_t i = 0; i < batch->n_runs; i++) {
        if (batch->runs[i]->state != RUN_WAITING)
            continue;
        n_waiting++;
        if (!p) /* at once, so that progress knows what is left to do; peers look up what they take
                 */
            hand.n_done += look_up(batch, batch->runs[i]);
    }
    while ((is_going = !batch->progress ||
                       batch->progress(batch->progress_context, hand.n_done, n_waiting))) {
        uint32_t index;
        while (take_next(batch, &hand, &index))
            begin(batch, &hand, index);
        if (!hand.n_working && hand.is_over)
            break;
        struct worker_answer answer = {0};
        if (!workers_wait(hand.workers, p && (p->rank == 0 || !hand.is_over), &answer))
            continue;
        take_answer(batch, batch->runs[answer.index], &answer);
        free(answer.text);
        hand.n_working--;
        hand.n_done++;
    }
    workers_destroy(hand.workers);
    if (p) {
        p->end_deal(p->context, batch->n_runs);
        is_going = exchange(batch, hand.is_own, is_going);
    }
    free(hand.is_own);
    return is_going;
}
