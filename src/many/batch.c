/* The workers of a batch (batch.h). */
#include "many/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t batch_cores(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* Runs in the worker: writes 'S' and the figures, or 'E' and the error as it is in memory. */
static _Noreturn void work(const struct batch *batch, uint32_t index, pid_t parent)
{
    const struct run *run = batch->runs[index];
    struct xoff_err err = {0};
    size_t size = 0;
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it was killed before it could be followed */
        _exit(1);
    struct summary *summary = batch->simulate(batch->context, index, &err);
    char *text = summary ? cache_encode(summary, run->key, &size) : NULL;
    XOFF_ASSERT(!summary || text);
    errno = 0;
    fputc(summary ? 'S' : 'E', run->answer);
    if (summary)
        fwrite(text, 1, size, run->answer);
    else
        fwrite(&err, sizeof err, 1, run->answer);
    fflush(run->answer);
    /* What is larger than the stream's buffer has failed before the last part was flushed. */
    const int reason = !ferror(run->answer) ? 0 : errno > 1 ? errno : EIO;
    free(text);
    summary_destroy(summary);
    _exit(reason);
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

static void read_answer(struct batch *batch, struct run *run)
{
    char *text = NULL;
    size_t size = 0;
    rewind(run->answer);
    const int kind = fgetc(run->answer);
    if (kind == 'E' && fread(&run->err, sizeof run->err, 1, run->answer) == 1) {
        run->state = RUN_BAD_INPUT;
        return;
    }
    errno = 0;
    if (kind == 'S' && getdelim(&text, &size, '\0', run->answer) > 0)
        run->summary = cache_decode(text, strlen(text), run->key);
    XOFF_ASSERT(run->summary || errno != ENOMEM);
    free(text);
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

static void finish(struct batch *batch, struct run *run, int status)
{
    char reason[128];
    if (WIFSIGNALED(status)) {
        snprintf(reason, sizeof reason, "crashed: %s", strsignal(WTERMSIG(status)));
        run_break(run, reason);
    } else if (WEXITSTATUS(status) > 1) { /* work() could not hand over what it found */
        snprintf(reason, sizeof reason, "failed: %s", strerror(WEXITSTATUS(status)));
        run_break(run, reason);
    } else if (WEXITSTATUS(status)) {
        snprintf(reason, sizeof reason, "failed with status %d", WEXITSTATUS(status));
        run_break(run, reason);
    } else {
        read_answer(batch, run);
    }
    fclose(run->answer);
    run->answer = NULL;
    run->worker = 0;
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

static void start(const struct batch *batch, uint32_t index)
{
    struct run *run = batch->runs[index];
    const pid_t parent = getpid();
    run->answer = tmpfile();
    if (run->answer)
        run->worker = fork();
    if (!run->answer || run->worker < 0) {
        run_break(run, strerror(errno));
        if (run->answer)
            fclose(run->answer);
        run->answer = NULL;
        run->worker = 0;
    } else if (!run->worker) {
        work(batch, index, parent);
    }
}

static struct run *find_worker(const struct batch *batch, pid_t worker)
{
    for (uint32_t i = 0; i < batch->n_runs; i++)
        if (batch->runs[i]->worker == worker)
            return batch->runs[i];
    return NULL;
}

static void stop_workers(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->n_runs; i++) {
        struct run *run = batch->runs[i];
        if (!run->worker)
            continue;
        kill(run->worker, SIGKILL);
        waitpid(run->worker, NULL, 0);
        fclose(run->answer);
        run->answer = NULL;
        run->worker = 0;
    }
}

bool batch_go(struct batch *batch)
{
    uint32_t n_done = 0, n_working = 0, next = 0;
    fflush(NULL);             /* else a worker would write the buffered text again */
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    for (uint32_t i = 0; i < batch->n_runs; i++)
        n_done += look_up(batch, batch->runs[i]);
    while (!batch->progress || batch->progress(batch->progress_context, n_done, batch->n_runs)) {
        for (; n_working < batch->n_workers && next < batch->n_runs; next++) {
            struct run *run = batch->runs[next];
            if (run->state != RUN_WAITING)
                continue;
            start(batch, next);
            n_working += run->worker > 0;
            n_done += run->state == RUN_BROKEN;
        }
        if (!n_working)
            return true;
        int status;
        const pid_t ended = waitpid(-1, &status, 0);
        struct run *run = ended > 0 ? find_worker(batch, ended) : NULL;
        if (!run)
            continue; /* a signal came */
        finish(batch, run, status);
        n_working--;
        n_done++;
    }
    stop_workers(batch);
    return false;
}
