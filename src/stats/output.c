/* A folder of results, whole or not at all; and the words for codes that all formats share.
 *
 * Every file is written as NAME.tmp beside its place and flushed to the disk; only when all of them
 * are there are they renamed. On any failure what this call made is removed, folders included, and
 * the error says which path and why.
 */
#define _POSIX_C_SOURCE 200809L /* fileno, fsync */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/output.h"

const char *output_text(const char *text)
{
    return text ? text : "";
}

const char *output_node(const struct results *results, uint32_t node)
{
    return node < results->n_nodes ? results->nodes[node].name : "";
}

const char *output_tag(const struct results *results, uint32_t tag)
{
    return tag < results->n_tags ? output_text(results->tag_names[tag]) : "";
}

const char *output_drop_cause(uint8_t cause)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        RESULT_DROP_MAP(X)
#undef X
    };
    return cause < RESULT_N_DROP_CAUSES ? names[cause] : "unknown";
}

const char *output_unit(uint8_t unit)
{
    static const char *const names[] = {
        [XOFF_UNIT_INGRESS] = "ingress",
        [XOFF_UNIT_INGRESS_PORT] = "ingress-port",
        [XOFF_UNIT_EGRESS] = "egress",
    };
    return unit < sizeof names / sizeof *names ? names[unit] : "unknown";
}

const char *output_sample_metric(uint8_t metric)
{
    static const char *const names[] = {
        [RESULT_QUEUE_BYTES] = "queue_bytes",
        [RESULT_TX_BPS] = "tx_bps",
        [RESULT_PAUSED_FRACTION] = "paused_fraction",
        [RESULT_BUFFER_BYTES] = "buffer_bytes",
        [RESULT_RESERVED_BYTES] = "reserved_bytes",
        [RESULT_SHARED_BYTES] = "shared_bytes",
        [RESULT_HEADROOM_BYTES] = "headroom_bytes",
        [RESULT_INSURANCE_BYTES] = "insurance_bytes",
    };
    return metric < sizeof names / sizeof *names ? names[metric] : "unknown";
}

void results_add_finding(struct results *results, const char *format, ...)
{
    if (results->n_findings >= 64) /* enough to see what is wrong */
        return;
    results->findings =
        realloc(results->findings, sizeof *results->findings * (results->n_findings + 1));
    XOFF_ASSERT(results->findings);
    va_list args;
    va_start(args, format);
    vsnprintf(results->findings[results->n_findings].text, sizeof results->findings[0].text, format,
              args);
    va_end(args);
    results->n_findings++;
}

const char *output_verdict(const struct results *results)
{
    if (results->n_findings)
        return "fail";
    return results->interrupted ? "interrupted" : "pass";
}

char *output_priorities(uint8_t mask, char buf[OUTPUT_PRIORITIES])
{
    char *end = buf;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(mask >> p & 1))
            continue;
        if (end != buf)
            *end++ = ',';
        *end++ = (char)('0' + p);
    }
    *end = '\0';
    return buf;
}

int output_fail(struct xoff_err *err, const char *path, const char *reason)
{
    const int status = xoff_err_set(err, XOFF_E_IO, "output", NULL, "cannot write ");
    xoff_err_add(err, path);
    xoff_err_add(err, ": ");
    xoff_err_add(err, reason);
    return status;
}

#define MAX_PATH 4096
enum { FILE_SQLITE, FILE_JSON, FILE_CSV, N_FILES = FILE_CSV + N_CSV_FILES };

struct folder {
    char dir[MAX_PATH];
    size_t made_from, made_to; /* lengths of the shortest and longest part of dir made; 0: none */
    uint32_t n_files;
    char aside[N_FILES][MAX_PATH], final[N_FILES][MAX_PATH];
};

/* Makes `dir` and the folders above it. */
static int make_dirs(struct folder *f, struct xoff_err *err)
{
    char path[MAX_PATH];
    const size_t n = strlen(f->dir);

    for (size_t i = 1; i <= n; i++) {
        if (f->dir[i] != '/' && f->dir[i] != '\0')
            continue;
        memcpy(path, f->dir, i);
        path[i] = '\0';
        if (mkdir(path, 0777) == 0) {
            f->made_to = i;
            if (!f->made_from)
                f->made_from = i;
        } else if (errno != EEXIST) {
            return output_fail(err, path, strerror(errno));
        }
    }
    struct stat st;
    if (stat(f->dir, &st) != 0)
        return output_fail(err, f->dir, strerror(errno));
    return S_ISDIR(st.st_mode) ? 0 : output_fail(err, f->dir, strerror(ENOTDIR));
}

/* Removes the folders made, deepest first; one that is not empty stays, and those above it. */
static void remove_dirs(struct folder *f)
{
    if (!f->made_from)
        return;
    for (size_t n = f->made_to; n >= f->made_from; n--) {
        if (f->dir[n] != '/' && f->dir[n] != '\0')
            continue;
        f->dir[n] = '\0';
        if (rmdir(f->dir) != 0)
            return;
    }
}

static const char *file_name(uint32_t file)
{
    if (file == FILE_SQLITE)
        return "run.sqlite";
    return file == FILE_JSON ? "summary.json" : csv_name(file - FILE_CSV);
}

static int open_folder(struct folder *f, const char *dir, bool csv, struct xoff_err *err)
{
    if (!*dir)
        dir = ".";
    f->made_from = f->made_to = 0;
    f->n_files = csv ? N_FILES : FILE_CSV;
    bool fits = snprintf(f->dir, MAX_PATH, "%s", dir) < MAX_PATH;
    for (uint32_t i = 0; i < f->n_files; i++) {
        fits &= snprintf(f->final[i], MAX_PATH, "%s/%s", dir, file_name(i)) < MAX_PATH;
        fits &= snprintf(f->aside[i], MAX_PATH, "%s/%s.tmp", dir, file_name(i)) < MAX_PATH;
    }
    return fits ? make_dirs(f, err) : output_fail(err, dir, strerror(ENAMETOOLONG));
}

/* One text file aside: summary.json or a CSV file. */
static int write_text(const struct folder *f, uint32_t file, const struct results *const *runs,
                      const struct summary *const *summaries, uint32_t n_runs, struct xoff_err *err)
{
    FILE *out = fopen(f->aside[file], "w");
    if (!out)
        return output_fail(err, f->aside[file], strerror(errno));
    int status = 0;
    errno = 0;
    if (file == FILE_JSON)
        status = results_write_json(out, runs, summaries, n_runs);
    else
        csv_write(out, file - FILE_CSV, runs, n_runs);
    if (status == -XOFF_E_NO_MEMORY)
        xoff_err_set(err, XOFF_E_NO_MEMORY, "output", NULL, "not enough memory for the results");
    else if (status || fflush(out) != 0 || ferror(out) || fsync(fileno(out)) != 0)
        status = output_fail(err, f->aside[file], strerror(errno ? errno : EIO));
    if (fclose(out) != 0 && !status)
        status = output_fail(err, f->aside[file], strerror(errno));
    return status;
}

/* The file or folder is on the disk, not only in memory. */
static int sync_path(const char *path, struct xoff_err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return output_fail(err, path, strerror(errno));
    /* Some file systems cannot sync a folder and say EINVAL; there is nothing more to do there. */
    const int failed = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return failed ? output_fail(err, path, strerror(failed)) : 0;
}

static int rename_all(const struct folder *f, struct xoff_err *err)
{
    for (uint32_t i = 0; i < f->n_files; i++) {
        if (rename(f->aside[i], f->final[i]) == 0)
            continue;
        const int status = output_fail(err, f->final[i], strerror(errno));
        while (i-- > 0)
            unlink(f->final[i]); /* those renamed are of no use without the rest */
        return status;
    }
    return sync_path(f->dir, err);
}

/* The folder, or the nearest one above it that is there, must be a folder that can be written. */
int results_check(const char *dir, struct xoff_err *err)
{
    char path[MAX_PATH];
    if (snprintf(path, sizeof path, "%s", dir) >= (int)sizeof path)
        return output_fail(err, dir, strerror(ENAMETOOLONG));
    struct stat st;
    while (stat(path, &st)) {
        if (errno != ENOENT)
            return output_fail(err, dir, strerror(errno));
        char *slash = strrchr(path, '/');
        if (!slash)
            snprintf(path, sizeof path, ".");
        else
            slash[slash == path] = '\0';
    }
    if (!S_ISDIR(st.st_mode))
        return output_fail(err, dir, strerror(ENOTDIR));
    if (access(path, W_OK | X_OK))
        return output_fail(err, dir, strerror(errno));
    return 0;
}

int results_write(const char *dir, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs, bool csv,
                  struct xoff_err *err)
{
    struct folder *f = malloc(sizeof *f);
    if (!f)
        return xoff_err_set(err, XOFF_E_NO_MEMORY, "output", NULL, "not enough memory");
    int status = open_folder(f, dir, csv, err);
    const bool is_open = !status;
    /* An earlier run that was killed may have left its files. */
    for (uint32_t i = 0; i < f->n_files && is_open; i++)
        unlink(f->aside[i]);
    if (!status)
        status = sqlite_write(f->aside[FILE_SQLITE], runs, summaries, n_runs, err);
    if (!status)
        status = sync_path(f->aside[FILE_SQLITE], err);
    for (uint32_t i = FILE_JSON; i < f->n_files && !status; i++)
        status = write_text(f, i, runs, summaries, n_runs, err);
    if (!status)
        status = rename_all(f, err);
    /* Tables of an earlier run are not of this one. */
    for (uint32_t i = 0; i < N_CSV_FILES && !status && !csv; i++) {
        char path[MAX_PATH];
        if (snprintf(path, sizeof path, "%s/%s", dir, csv_name(i)) < (int)sizeof path)
            unlink(path);
    }
    if (status) {
        for (uint32_t i = 0; i < f->n_files && is_open; i++)
            unlink(f->aside[i]);
        remove_dirs(f);
    }
    free(f);
    return status;
}
