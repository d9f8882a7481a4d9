/* What is run, and what came out (batch.h).
 *
 * An answer is 'S' and the figures as the cache has them, or 'E' and the error as it is in memory:
 * crews carry answers between copies of the same program.
 */
#include "many/batch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void take_answer(struct batch *batch, struct run *run, const struct crew_answer *answer)
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
    if (answer->size && answer->text[0] == 'S')
        run->summary = cache_decode(answer->text + 1, answer->size - 1, run->key);
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

/* Looks a run up in the cache; false: it must be run. */
static bool look_up(struct batch *batch, struct run *run)
{
    if (run->state != RUN_WAITING)
        return true;
    if (batch->cache_folder && !batch->is_fresh)
        run->summary = cache_load(batch->cache_folder, run->key);
    if (!run->summary)
        return false;
    run->state = RUN_DONE;
    batch->n_cached++;
    return true;
}

bool batch_go(struct batch *batch)
{
    uint32_t n_done = 0, n_working = 0, next = 0;
    struct crew *crew = batch->crew ? batch->crew : workers_create(batch->n_workers);
    bool is_going;
    for (uint32_t i = 0; i < batch->n_runs; i++)
        n_done += look_up(batch, batch->runs[i]);
    if (batch->is_cached_only)
        next = batch->n_runs;
    while ((is_going = !batch->progress ||
                       batch->progress(batch->progress_context, n_done, batch->n_runs))) {
        for (; n_working < crew->n && next < batch->n_runs; next++) {
            struct run *run = batch->runs[next];
            if (run->state != RUN_WAITING)
                continue;
            const int reason = crew->begin(crew, batch, next);
            if (reason)
                run_break(run, strerror(reason));
            n_working += !reason;
            n_done += reason != 0;
        }
        struct crew_answer answer = {0};
        if (!n_working)
            break;
        if (!crew->wait(crew, &answer))
            continue;
        take_answer(batch, batch->runs[answer.index], &answer);
        free(answer.text);
        n_working--;
        n_done++;
    }
    if (!is_going)
        crew->stop(crew);
    if (!batch->crew)
        crew->destroy(crew);
    return is_going;
}
