/* Shows that results are being written. That can take longer than the run, and SQLite tells nothing
 * on its way: a thread looks now and then how large the files have become. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"

#define LOOK_NS 250000000 /* between two looks; shorter writing shows nothing */

struct write_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t is_done_changed;
    bool is_shown, is_done;
    double began_s;
    char folder[4096];
};

static double folder_bytes(const char *folder)
{
    double bytes = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat status;
        if (!fstatat(dirfd(dir), e->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(status.st_mode))
            bytes += (double)status.st_size;
    }
    if (dir)
        closedir(dir);
    return bytes;
}

static void *show(void *argument)
{
    struct write_progress *p = argument;
    bool has_shown = false;
    pthread_mutex_lock(&p->lock);
    while (!p->is_done) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&p->is_done_changed, &p->lock, &until) != ETIMEDOUT)
            continue;
        char text[32];
        fprintf(stderr, "\rwriting results  %s  %.0f s\033[K",
                cli_figure(text, sizeof text, folder_bytes(p->folder), "B"),
                cli_clock() - p->began_s);
        has_shown = true;
    }
    pthread_mutex_unlock(&p->lock);
    if (has_shown)
        fprintf(stderr, "\r\033[K");
    return NULL;
}

struct write_progress *cli_begin_writing(const char *folder)
{
    struct write_progress *p = calloc(1, sizeof *p);
    pthread_condattr_t clock;
    XOFF_ASSERT(p);
    p->began_s = cli_clock();
    if (!cli_is_terminal(stderr))
        return p;
    snprintf(p->folder, sizeof p->folder, "%s", folder);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->is_done_changed, &clock);
    pthread_condattr_destroy(&clock);
    p->is_shown = !pthread_create(&p->thread, NULL, show, p);
    return p;
}

double cli_end_writing(struct write_progress *p)
{
    const double took_s = cli_clock() - p->began_s;
    if (p->is_shown) {
        pthread_mutex_lock(&p->lock);
        p->is_done = true;
        pthread_cond_signal(&p->is_done_changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    free(p);
    return took_s;
}
