/* A file that appears whole (whole.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/err.h>

#include "stats/folder.h"
#include "stats/whole.h"

/* Fills the stream, flushes it, to the disk too if `synced`, and closes it. */
static int fill(FILE *out, bool synced, whole_writer *write, const void *context)
{
    errno = 0;
    write(out, context);
    int reason = fflush(out) || ferror(out) ? (errno ? errno : EIO) : 0;
    if (!reason && synced && fsync(fileno(out)))
        reason = errno;
    if (fclose(out) && !reason)
        reason = errno;
    return reason;
}

/* Opens a new file beside `target`; *aside is its name, which the caller frees. */
static FILE *open_beside(const char *target, char **aside)
{
    const char *slash = strrchr(target, '/');
    const int length = slash ? (int)(slash - target) + 1 : 0;
    XOFF_ASSERT(asprintf(aside, "%.*s" FOLDER_ASIDE "XXXXXX", length, target) >= 0);
    const mode_t mask = umask(0);
    umask(mask);
    const int fd = mkstemp(*aside);
    FILE *out = fd >= 0 && !fchmod(fd, 0666 & ~mask) ? fdopen(fd, "w") : NULL;
    if (!out && fd >= 0) {
        const int reason = errno;
        unlink(*aside);
        close(fd);
        errno = reason;
    }
    return out;
}

int whole_write(const char *path, whole_writer *write, const void *context)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *out = fopen(path, "w"); /* a rename would replace the pipe */
        return out ? fill(out, false, write, context) : errno;
    }
    char *whole = realpath(path, NULL), *aside;
    const char *target = whole ? whole : path;
    FILE *out = open_beside(target, &aside);
    int reason = out ? fill(out, true, write, context) : errno;
    if (!reason && rename(aside, target))
        reason = errno;
    if (reason && out)
        unlink(aside);
    free(aside);
    free(whole);
    return reason;
}
