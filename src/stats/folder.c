/* A folder of results that changes as a whole (folder.h).
 *
 *   DIR/.xoff-lock       locked while a command works; says which process on which machine
 *   DIR/.xoff-XXXXXX/    the folder aside; or a file, of whole.c
 *   PARENT/.DIR.xoff-XXXXXX/   the same for a moment, to be exchanged for DIR; then the old DIR,
 *                        until it is removed
 *   DIR/.xoff-complete/  where DIR is not exchanged: all files are complete, those of the earlier
 *                        command that have no successor are being removed
 *   DIR/.xoff-moving-in/ the files are being moved to DIR
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stats/folder.h"
#include "stats/output.h"

#define LOCK "/" FOLDER_ASIDE "lock"
#define COMPLETE "/" FOLDER_ASIDE "complete"
#define MOVING "/" FOLDER_ASIDE "moving-in"
#define MOST_TRIES 100 /* attempts at a folder that others remove or exchange meanwhile */
#define MOST_NAPS 200  /* of 10 ms, for workers of a killed command to end */

struct folder {
    char *dir;                 /* without '/' at its end */
    size_t made_from, made_to; /* lengths of the shortest and longest part of dir made; 0: none */
    char *aside;               /* NULL: none */
    int lock;                  /* lock of the folder at `dir`; -1: none */
    bool is_locked;            /* false: the file system has no locks */
    bool is_published;
    char *replaced; /* the old folder after an exchange, until it is removed; NULL: none */
    const char *const *names;
    pid_t owner;
    struct folder *next;
};

/* Those that are open, for folder_abandon(). */
static struct folder *all_open;

__attribute__((format(printf, 1, 2))) static char *path_of(const char *format, ...)
{
    char *path;
    va_list args;
    va_start(args, format);
    XOFF_ASSERT(vasprintf(&path, format, args) >= 0);
    va_end(args);
    return path;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* Lists the names in a folder, without "." and "..", up to a NULL. Returns NULL when the folder
 * cannot be read. The caller frees all. */
static char **list(const char *dir)
{
    DIR *d = opendir(dir);
    XOFF_ASSERT(d || errno != ENOMEM);
    if (!d)
        return NULL;
    size_t n = 0;
    char **names = calloc(1, sizeof *names);
    XOFF_ASSERT(names);
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        names = realloc(names, sizeof *names * (n + 2));
        XOFF_ASSERT(names && (names[n] = strdup(e->d_name)));
        names[++n] = NULL;
    }
    closedir(d);
    return names;
}

static void free_list(char **names)
{
    for (char **name = names; names && *name; name++)
        free(*name);
    free(names);
}

/* Whether a file of that name in `dir` is one that this command makes. */
static bool is_own(const struct folder *f, const char *dir, const char *name)
{
    struct stat st;
    char *path = path_of("%s/%s", dir, name), *aside = path_of("%s/%s", f->aside, name);
    bool matches = exists(aside);
    for (const char *const *n = f->names; *n && !matches; n++)
        matches = fnmatch(*n, name, 0) == 0;
    const bool is = matches && lstat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    free(aside);
    return is;
}

/* Removes a folder with its own files, or with all files. A folder that is not empty then stays. */
static void remove_folder(const struct folder *f, const char *dir, bool all)
{
    char **names = list(dir);
    for (char **name = names; names && *name; name++) {
        char *path = path_of("%s/%s", dir, *name);
        if (all || !strncmp(*name, FOLDER_ASIDE, strlen(FOLDER_ASIDE)) || is_own(f, dir, *name))
            unlink(path);
        free(path);
    }
    free_list(names);
    rmdir(dir);
}

/* Makes sure that the file or folder is on the disk, not only in memory. */
static int sync_path(const char *path, struct xoff_err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return output_fail(err, path, strerror(errno));
    /* Some file systems cannot sync a folder and return EINVAL; then nothing more can be done. */
    const int failed = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return failed ? output_fail(err, path, strerror(failed)) : 0;
}

/* Makes `dir` and the folders above it. */
static int make_dirs(struct folder *f, struct xoff_err *err)
{
    const size_t n = strlen(f->dir);
    for (size_t i = 1; i <= n; i++) {
        if (f->dir[i] != '/' && f->dir[i] != '\0')
            continue;
        char *path = path_of("%.*s", (int)i, f->dir);
        int status = 0;
        if (mkdir(path, 0777) == 0) {
            f->made_to = i;
            if (!f->made_from)
                f->made_from = i;
        } else if (errno != EEXIST) {
            status = output_fail(err, path, strerror(errno));
        }
        free(path);
        if (status)
            return status;
    }
    struct stat st;
    if (stat(f->dir, &st) != 0)
        return output_fail(err, f->dir, strerror(errno));
    return S_ISDIR(st.st_mode) ? 0 : output_fail(err, f->dir, strerror(ENOTDIR));
}

/* Removes the folders that were made, deepest first. A folder that is not empty stays, and so do
 * those above it. */
static void remove_dirs(struct folder *f)
{
    for (size_t n = f->made_to; f->made_from && n >= f->made_from; n--) {
        if (f->dir[n] != '/' && f->dir[n] != '\0')
            continue;
        f->dir[n] = '\0';
        if (rmdir(f->dir) != 0)
            return;
    }
}

/* Reads which process holds the lock, as write_owner() wrote it. */
static void read_owner(int fd, char *owner, size_t size)
{
    const ssize_t n = pread(fd, owner, size - 1, 0);
    owner[n > 0 ? n : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
}

/* Whether the process that took the lock is gone. Workers that it forked have the lock, too, and
 * follow it in a moment. */
static bool is_orphaned(int fd)
{
    char owner[256], host[64] = "", there[64];
    long pid;
    read_owner(fd, owner, sizeof owner);
    gethostname(host, sizeof host - 1);
    return sscanf(owner, "process %ld on %63[^,]", &pid, there) == 2 && !strcmp(host, there) &&
           pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Locks the file, and waits for workers of a killed command. Returns 0 or the reason. */
static int lock(int fd)
{
    for (uint32_t i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
        const int reason = errno;
        if (reason != EWOULDBLOCK || i == MOST_NAPS || !is_orphaned(fd))
            return reason;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return 0;
}

static int fail_locked(const struct folder *f, int fd, struct xoff_err *err)
{
    char owner[256];
    read_owner(fd, owner, sizeof owner);
    xoff_err_set(err, XOFF_E_CONFLICT, "output", f->dir, *owner ? owner : "another process");
    xoff_err_add(err, " is writing results there; wait for it, or give another folder with "
                      "--output");
    return -XOFF_E_CONFLICT;
}

static void write_owner(int fd)
{
    char host[64] = "", since[32] = "";
    const time_t now = time(NULL);
    struct tm local;
    gethostname(host, sizeof host - 1);
    if (localtime_r(&now, &local))
        strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S %z", &local);
    dprintf(fd, "process %ld on %s, since %s,\n", (long)getpid(), host, since);
}

/* Opens and locks dir/.xoff-lock and writes into it which process holds it. Returns 0 or a negative
 * code; *fd is -1 when the file was removed meanwhile: the caller tries again. */
static int lock_file(struct folder *f, const char *dir, int *fd, struct xoff_err *err)
{
    int status = 0;
    struct stat opened, there;
    char *path = path_of("%s" LOCK, dir);
    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0 && errno != ENOENT) {
        status = output_fail(err, path, strerror(errno));
    } else if (*fd >= 0) {
        const int reason = lock(*fd);
        f->is_locked = !reason;
        if (reason == EWOULDBLOCK)
            status = fail_locked(f, *fd, err);
        const bool is_same = fstat(*fd, &opened) == 0 && stat(path, &there) == 0 &&
                             opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
        if (status || !is_same) {
            close(*fd);
            *fd = -1;
        }
    }
    free(path);
    if (*fd >= 0 && ftruncate(*fd, 0) == 0)
        write_owner(*fd);
    return status;
}

/* Moves the files of .xoff-complete to the folder, by way of .xoff-moving-in, after removing what
 * they replace; begins where an earlier command was stopped. */
static int move_in(const struct folder *f, struct xoff_err *err)
{
    int status = 0;
    char *complete = path_of("%s" COMPLETE, f->dir), *moving = path_of("%s" MOVING, f->dir);
    const bool is_complete = exists(complete), is_needed = is_complete || exists(moving);
    if (is_complete) {
        char **old = list(f->dir);
        for (char **name = old; old && *name; name++) {
            char *path = path_of("%s/%s", f->dir, *name);
            char *successor = path_of("%s/%s", complete, *name);
            if (!status && is_own(f, f->dir, *name) && !exists(successor) && unlink(path))
                status = output_fail(err, path, strerror(errno));
            free(path);
            free(successor);
        }
        free_list(old);
        if (!status && rename(complete, moving))
            status = output_fail(err, moving, strerror(errno));
    }
    char **names = list(moving);
    for (char **name = names; names && *name && !status; name++) {
        char *from = path_of("%s/%s", moving, *name), *to = path_of("%s/%s", f->dir, *name);
        if (rename(from, to)) {
            status = output_fail(err, to, strerror(errno));
            xoff_err_add(err, "; the rest is in ");
            xoff_err_add(err, moving);
        }
        free(from);
        free(to);
    }
    free_list(names);
    if (!status && is_needed) {
        rmdir(moving);
        status = sync_path(f->dir, err);
    }
    free(complete);
    free(moving);
    return status;
}

/* Splits the folder's path into its parent's path ("" for the root) and its name. Returns NULL when
 * the folder has no name that could be changed. The caller frees *whole. */
static const char *split(const struct folder *f, char **whole)
{
    *whole = realpath(f->dir, NULL);
    char *slash = *whole ? strrchr(*whole, '/') : NULL;
    if (!slash || !slash[1])
        return NULL;
    *slash = '\0';
    return slash + 1;
}

/* Finishes or removes what killed commands have left. The lock is held. */
static int mend(const struct folder *f, struct xoff_err *err)
{
    char *parent, **names = list(f->dir);
    const char *own = split(f, &parent);
    for (char **name = names; names && *name; name++) {
        char *path = path_of("%s/%s", f->dir, *name);
        if (!fnmatch(FOLDER_ASIDE "??????", *name, 0) && strcmp(path, f->aside) && unlink(path))
            remove_folder(f, path, true);
        free(path);
    }
    free_list(names);
    char *start = own ? path_of(".%s%s", own, FOLDER_ASIDE) : NULL;
    names = own ? list(*parent ? parent : "/") : NULL;
    for (char **name = names; names && *name; name++)
        if (!strncmp(*name, start, strlen(start)) && strlen(*name) == strlen(start) + 6) {
            char *path = path_of("%s/%s", parent, *name);
            remove_folder(f, path, false);
            free(path);
        }
    free_list(names);
    free(start);
    free(parent);
    return move_in(f, err);
}

static int open_aside(struct folder *f, struct xoff_err *err)
{
    struct stat st;
    f->aside = path_of("%s/" FOLDER_ASIDE "XXXXXX", f->dir);
    if (!mkdtemp(f->aside)) {
        free(f->aside);
        f->aside = NULL;
        return output_fail(err, f->dir, strerror(errno));
    }
    /* The folder aside may take the folder's place: it gets the same group and permissions. */
    if (stat(f->dir, &st) == 0) {
        if (chown(f->aside, (uid_t)-1, st.st_gid)) /* the group is not ours and stays */
            st.st_mode &= ~(mode_t)S_ISGID;
        chmod(f->aside, st.st_mode & 07777);
    }
    return 0;
}

int folder_open(const char *dir, const char *const *names, struct folder **out,
                struct xoff_err *err)
{
    struct folder *f = calloc(1, sizeof *f);
    XOFF_ASSERT(f);
    *f = (struct folder){.dir = strdup(*dir ? dir : "."),
                         .lock = -1,
                         .names = names,
                         .owner = getpid(),
                         .next = all_open};
    XOFF_ASSERT(f->dir);
    all_open = f;
    for (size_t n = strlen(f->dir); n > 1 && f->dir[n - 1] == '/'; n--)
        f->dir[n - 1] = '\0';
    int status = 0;
    /* Another command that holds the folder may remove it, with the lock, or exchange it. */
    for (uint32_t i = 0; i < MOST_TRIES && !status && f->lock < 0; i++) {
        status = make_dirs(f, err);
        if (!status)
            status = lock_file(f, f->dir, &f->lock, err);
    }
    if (!status && f->lock < 0)
        status = output_fail(err, f->dir, strerror(EAGAIN));
    if (!status)
        status = open_aside(f, err);
    if (!status && f->is_locked)
        status = mend(f, err);
    *out = f;
    if (status) {
        folder_close(f);
        *out = NULL;
    }
    return status;
}

const char *folder_aside(const struct folder *folder)
{
    return folder->aside;
}

static int sync_aside(const struct folder *f, struct xoff_err *err)
{
    char **names = list(f->aside);
    int status = names ? 0 : output_fail(err, f->dir, strerror(errno));
    for (char **name = names; names && *name && !status; name++) {
        char *path = path_of("%s/%s", f->aside, *name);
        status = sync_path(path, err);
        free(path);
    }
    free_list(names);
    return status ? status : sync_path(f->aside, err);
}

/* Whether the folder itself can be replaced: all files in it are ours, and it does not contain the
 * current folder. */
static bool is_exchangeable(const struct folder *f)
{
    char **names = list(f->dir), *whole = realpath(f->dir, NULL), *here = getcwd(NULL, 0);
    bool is = names && whole && here;
    for (char **name = names; names && *name && is; name++)
        is = !strncmp(*name, FOLDER_ASIDE, strlen(FOLDER_ASIDE)) || is_own(f, f->dir, *name);
    const size_t n = whole ? strlen(whole) : 0;
    if (is && !strncmp(here, whole, n) && (here[n] == '/' || !here[n]))
        is = false;
    free_list(names);
    free(whole);
    free(here);
    return is;
}

/* Exchanges the folder for the one aside. Returns false, with nothing changed, where the file
 * system or the folder does not allow it. */
static bool exchange(struct folder *f)
{
    struct xoff_err err;
    int fd;
    char *parent, *lock = path_of("%s" LOCK, f->aside);
    const char *own = split(f, &parent), *suffix = f->aside + strlen(f->aside) - 6;
    char *place = path_of("%s/%s", parent, own ? own : "");
    char *beside = path_of("%s/.%s%s%s", parent, own ? own : "", FOLDER_ASIDE, suffix);
    char *now = path_of("%s", f->dir); /* before the exchange, after which nothing may fail */
    bool is_done = false;
    if (own && !lock_file(f, f->aside, &fd, &err) && fd >= 0) {
        if (rename(f->aside, beside) == 0) {
            is_done = renameat2(AT_FDCWD, beside, AT_FDCWD, place, RENAME_EXCHANGE) == 0;
            if (!is_done)
                (void)!rename(beside, f->aside); /* back to where it came from */
        }
        if (!is_done) {
            unlink(lock);
            close(fd);
        }
    }
    if (is_done) {
        /* The old lock is in the old folder, and is held until the folder is empty. */
        f->is_published = true;
        f->replaced = beside;
        char *aside = f->aside;
        f->aside = now;
        now = aside;
        remove_folder(f, beside, false);
        f->replaced = NULL;
        sync_path(*parent ? parent : "/", &err);
        close(f->lock);
        f->lock = fd;
    }
    free(now);
    free(lock);
    free(place);
    free(beside);
    free(parent);
    return is_done;
}

/* Moves the files aside to their final places, where there must be no folders. */
static int replace_each(struct folder *f, struct xoff_err *err)
{
    int status = 0;
    struct stat st;
    char **names = list(f->aside);
    for (char **name = names; names && *name && !status; name++) {
        char *path = path_of("%s/%s", f->dir, *name);
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            status = output_fail(err, path, strerror(EISDIR));
        free(path);
    }
    free_list(names);
    char *complete = path_of("%s" COMPLETE, f->dir);
    if (!status && rename(f->aside, complete))
        status = output_fail(err, complete, strerror(errno));
    free(complete);
    return status ? status : move_in(f, err);
}

int folder_publish(struct folder *folder, struct xoff_err *err)
{
    int status = sync_aside(folder, err);
    if (!status && !(is_exchangeable(folder) && exchange(folder))) {
        status = replace_each(folder, err);
        folder->is_published = !status;
    }
    return status;
}

bool folder_is_published(const struct folder *folder)
{
    return folder->is_published;
}

/* Removes what is aside, and the lock. */
static void clear(struct folder *f)
{
    if (f->replaced)
        remove_folder(f, f->replaced, false);
    if (!f->is_published && f->aside)
        remove_folder(f, f->aside, true);
    if (f->lock >= 0) {
        char *lock = path_of("%s" LOCK, f->dir);
        unlink(lock);
        close(f->lock);
        free(lock);
    }
    if (!f->is_published)
        remove_dirs(f);
}

void folder_close(struct folder *f)
{
    if (!f)
        return;
    clear(f);
    for (struct folder **at = &all_open; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    free(f->aside);
    free(f->dir);
    free(f);
}

void folder_abandon(void)
{
    for (struct folder *f = all_open; f; f = f->next)
        if (f->owner == getpid())
            clear(f);
}

/* Removes every occurrence of `part` from the text. */
static void cut(char *text, const char *part)
{
    for (char *at; (at = strstr(text, part));)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

void folder_explain(const struct folder *folder, struct xoff_err *err)
{
    const char *part = strrchr(folder->aside, '/');
    cut(err->message, part);
    cut(err->file, part);
}
