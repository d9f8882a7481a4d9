/* Worker processes (workers.h).
 *
 * A worker is a fork of this process that simulates one run and writes the answer to an unnamed
 * file that it inherited; the parent reads the file when the worker has ended.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "many/workers.h"

struct process {
    pid_t id;     /* 0: none */
    FILE *answer; /* the worker writes to it */
    uint32_t index;
};

struct workers {
    uint32_t n;
    struct process list[];
};

struct workers *workers_create(uint32_t n)
{
    struct workers *w = calloc(1, sizeof *w + n * sizeof *w->list);
    XOFF_ASSERT(w);
    w->n = n;
    return w;
}

static _Noreturn void work(const struct batch *batch, const struct run *run, FILE *out,
                           pid_t parent)
{
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it was killed before it could be followed */
        _exit(1);
    size_t size;
    char *answer = batch_answer(batch, run, &size);
    errno = 0;
    fwrite(answer, 1, size, out);
    fflush(out);
    /* What is larger than the stream's buffer has failed before the last part was flushed. */
    const int reason = !ferror(out) ? 0 : errno > 1 ? errno : EIO;
    free(answer);
    _exit(reason);
}

int workers_begin(struct workers *workers, const struct batch *batch, uint32_t index)
{
    struct process *w = workers->list;
    const pid_t parent = getpid();
    while (w->id)
        w++;
    fflush(NULL);             /* else a worker would write the buffered text again */
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    w->answer = tmpfile();
    w->index = index;
    w->id = w->answer ? fork() : -1;
    if (w->id == 0)
        work(batch, batch->runs[index], w->answer, parent);
    if (w->id > 0)
        return 0;
    const int reason = errno;
    if (w->answer)
        fclose(w->answer);
    *w = (struct process){0};
    return reason;
}

static void read_answer(FILE *in, struct worker_answer *answer)
{
    const long size = fseek(in, 0, SEEK_END) ? -1 : ftell(in);
    rewind(in);
    answer->text = malloc(size > 0 ? (size_t)size : 1);
    XOFF_ASSERT(answer->text);
    answer->size = size > 0 ? fread(answer->text, 1, (size_t)size, in) : 0;
}

bool workers_wait(struct workers *workers, bool is_brief, struct worker_answer *answer)
{
    struct process *w = workers->list, *end = w + workers->n;
    int status;
    const pid_t ended = waitpid(-1, &status, is_brief ? WNOHANG : 0);
    if (is_brief && ended <= 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    while (w < end && w->id != ended)
        w++;
    if (ended <= 0 || w == end)
        return false; /* a signal came */
    answer->index = w->index;
    if (WIFSIGNALED(status))
        snprintf(answer->reason, sizeof answer->reason, "crashed: %s", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) > 1) /* work() could not hand over what it found */
        snprintf(answer->reason, sizeof answer->reason, "failed: %s",
                 strerror(WEXITSTATUS(status)));
    else if (WEXITSTATUS(status))
        snprintf(answer->reason, sizeof answer->reason, "failed with status %d",
                 WEXITSTATUS(status));
    else
        read_answer(w->answer, answer);
    fclose(w->answer);
    *w = (struct process){0};
    return true;
}

void workers_destroy(struct workers *workers)
{
    for (struct process *w = workers->list; w < workers->list + workers->n; w++) {
        if (!w->id)
            continue;
        kill(w->id, SIGKILL);
        waitpid(w->id, NULL, 0);
        fclose(w->answer);
    }
    free(workers);
}
