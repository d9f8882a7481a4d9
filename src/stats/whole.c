/* A file that appears whole (whole.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/err.h>

#include "stats/folder.h"
#include "stats/whole.h"

#define MOST_TRIES 100 /* names that others may have taken */

/* Fills the stream and flushes it, to the disk too if `synced`. Returns 0 or the reason. */
static int fill(FILE *out, bool synced, whole_writer *write, const void *context)
{
    errno = 0;
    write(out, context);
    if (fflush(out) || ferror(out))
        return errno ? errno : EIO;
    return synced && fsync(fileno(out)) ? errno : 0;
}

/* Returns the folder of a file, with '/' at its end. The caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    XOFF_ASSERT(folder);
    return folder;
}

/* Opens a new file for what is to be at `target`, without a name where the file system has such
 * files: it is gone if the process ends. Else *aside is its name, which the caller frees. */
static FILE *open_aside(const char *target, char **aside)
{
    char *folder = folder_of(target);
    const mode_t mask = umask(0), mode = 0666 & ~mask;
    umask(mask);
    *aside = NULL;
    int fd = access("/proc/self/fd", X_OK) == 0
                 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
                 : -1;
    if (fd < 0) {
        XOFF_ASSERT(asprintf(aside, "%s" FOLDER_ASIDE "XXXXXX", folder) >= 0);
        fd = mkstemp(*aside);
    }
    free(folder);
    FILE *out = fd >= 0 && !fchmod(fd, mode) ? fdopen(fd, "w") : NULL;
    if (!out && fd >= 0) {
        const int reason = errno;
        if (*aside)
            unlink(*aside);
        close(fd);
        errno = reason;
    }
    return out;
}

/* Removes files that processes have named and were killed before the rename. A living process holds
 * a lock on its file since before it had that name. */
static void remove_stale(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (fnmatch(FOLDER_ASIDE "??????", e->d_name, 0))
            continue;
        struct stat st;
        const int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
            unlinkat(dirfd(d), e->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

/* Gives a file without a name the name `target` if that is free, else one beside it: *aside, which
 * the caller frees. Returns 0 or the reason. */
static int name_file(int fd, const char *target, char **aside)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (!linkat(AT_FDCWD, self, AT_FDCWD, target, AT_SYMLINK_FOLLOW))
        return 0;
    char *folder = folder_of(target);
    if (errno == EEXIST && !flock(fd, LOCK_EX | LOCK_NB))
        remove_stale(folder);
    int reason = EEXIST;
    for (uint32_t i = 0; i < MOST_TRIES && reason == EEXIST; i++) {
        uint32_t draw = i;
        (void)!getrandom(&draw, sizeof draw, 0);
        free(*aside);
        XOFF_ASSERT(asprintf(aside, "%s" FOLDER_ASIDE "%06x", folder, draw & 0xffffff) >= 0);
        reason = linkat(AT_FDCWD, self, AT_FDCWD, *aside, AT_SYMLINK_FOLLOW) ? errno : 0;
    }
    free(folder);
    if (reason) {
        free(*aside);
        *aside = NULL;
    }
    return reason;
}

int whole_write(const char *path, whole_writer *write, const void *context)
{
    struct stat status;
    char *whole = NULL, *aside = NULL;
    /* A rename would replace a pipe, which is written to instead. */
    const bool is_direct = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    if (!is_direct)
        XOFF_ASSERT((whole = realpath(path, NULL)) || errno != ENOMEM);
    const char *target = whole ? whole : path;
    FILE *out = is_direct ? fopen(path, "w") : open_aside(target, &aside);
    int reason = out ? fill(out, !is_direct, write, context) : errno;
    if (!reason && !is_direct && !aside)
        reason = name_file(fileno(out), target, &aside);
    if (!reason && aside && rename(aside, target))
        reason = errno;
    if (reason && out && aside)
        unlink(aside);
    if (out && fclose(out) && !reason && is_direct)
        reason = errno; /* else the file is complete on the disk */
    free(aside);
    free(whole);
    return reason;
}
