/* The command as one of several ranks (mpirun). Only the first prints and writes; the others are
 * mute, unless one alone has something to say. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "dist/dist.h"
#include "many/batch.h"
#include "stats/folder.h"

static const struct sim_ranks *ranks; /* NULL: this process is alone */
static int real_stderr = -1;          /* where a mute rank could print */
static uint32_t own_rank;
static const char *kept_in; /* folder of the last checkpoint; NULL: there is none */
static bool keeps_runs;     /* in the cache, as they end */

const struct sim_ranks *cli_ranks(void)
{
    return ranks;
}

bool cli_is_first(void)
{
    return !ranks || ranks->rank == 0;
}

void cli_unmute(void)
{
    if (real_stderr < 0)
        return;
    dup2(real_stderr, STDERR_FILENO);
    fprintf(stderr, "rank %u: ", own_rank);
}

static void mute(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    if (real_stderr < 0)
        real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    fflush(stderr);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

bool cli_is_terminal(FILE *stream)
{
    uint32_t rank;
    return isatty(fileno(stream)) && !dist_environment(&rank);
}

bool cli_enter_ranks(const char *verb)
{
    if (dist_environment(&own_rank) < 2)
        return true;
    if (own_rank)
        mute();
    if (!strcmp(verb, "run") || !strcmp(verb, "resume") || !strcmp(verb, "sweep") ||
        !strcmp(verb, "bench"))
        return true;
    fprintf(stderr,
            "xoff: %s is for one process; mpirun is for xoff run, resume, sweep and bench\n", verb);
    return false;
}

static void lost(const char *why)
{
    folder_abandon(); /* before anything else: mpirun may kill this process, too */
    if (own_rank == 0 && kept_in)
        fprintf(stderr, "xoff: %s; %sxoff resume %s goes on from the last checkpoint\n", why,
                cli_mpirun(), kept_in);
    else if (own_rank == 0 && keeps_runs)
        fprintf(stderr,
                "xoff: %s; nothing is written, but the runs that had ended are kept; repeat the "
                "command to go on\n",
                why);
    else if (own_rank == 0)
        fprintf(stderr, "xoff: %s; the run has ended, and nothing is written\n", why);
    _exit(EXIT_FAILED);
}

const char *cli_mpirun(void)
{
    static char words[32];
    if (ranks)
        snprintf(words, sizeof words, "mpirun -n %u ", ranks->n);
    return words;
}

void cli_note_checkpoint(const char *dir)
{
    kept_in = dir;
}

void cli_note_kept_runs(void)
{
    keeps_runs = true;
}

int cli_start_ranks(struct xoff_err *err)
{
    static const struct dist_calls calls = {.is_interrupted = cli_is_interrupted, .lost = lost};
    uint32_t rank;
    if (ranks || dist_environment(&rank) < 2)
        return 0;
    const struct sim_ranks *started;
    const int code = dist_start(&calls, &started, err);
    if (code)
        return code;
    /* A rank that is asked to end must not go at once: the others would wait for it. */
    cli_catch_interrupts();
    ranks = started->n > 1 ? started : NULL;
    return 0;
}

void cli_end_ranks(void)
{
    if (ranks)
        dist_end();
}

const struct batch_peers *cli_peers(struct batch_peers *peers)
{
    if (!ranks)
        return NULL;
    *peers = (struct batch_peers){ranks->context, ranks->rank,     ranks->n,
                                  ranks->deal,    ranks->end_deal, ranks->share};
    return peers;
}

void cli_leave_ranks(void)
{
    ranks = NULL;
}

bool cli_any(bool is_so)
{
    if (!ranks)
        return is_so;
    struct sim_word word = {.next_at = XOFF_NEVER, .stops = is_so};
    ranks->agree(ranks->context, &word, NULL);
    return word.stops > 0;
}

bool cli_agree(int *status, int code)
{
    if (!ranks)
        return *status != EXIT_FINE;
    const int32_t own[2] = {*status, code != -XOFF_E_ELSEWHERE};
    size_t *sizes = calloc(ranks->n, sizeof *sizes);
    void *all;
    XOFF_ASSERT(sizes);
    ranks->gather(ranks->context, own, sizeof own, true, &all, sizes);
    const int32_t(*each)[2] = all;
    uint32_t who = UINT32_MAX;
    for (uint32_t r = 0; r < ranks->n && who == UINT32_MAX; r++)
        if (each[r][0] != EXIT_FINE && each[r][1])
            who = r;
    if (who != UINT32_MAX)
        *status = each[who][0];
    free(all), free(sizes);
    if (who == ranks->rank)
        cli_unmute();
    return who == ranks->rank;
}

int cli_read_parts(const char *path, uint32_t **parts, uint32_t *n, struct xoff_err *err)
{
    FILE *in = fopen(path, "r");
    *parts = NULL;
    *n = 0;
    if (!in)
        return xoff_err_set(err, XOFF_E_IO, "--parts", path, "cannot be read");
    unsigned part;
    int read;
    while ((read = fscanf(in, "%u", &part)) == 1) {
        *parts = realloc(*parts, sizeof **parts * (*n + 1));
        XOFF_ASSERT(*parts);
        (*parts)[(*n)++] = part;
    }
    fclose(in);
    return read == EOF ? 0
                       : xoff_err_set(err, XOFF_E_SYNTAX, "--parts", path,
                                      "give the rank of each node, hosts first, as numbers");
}
