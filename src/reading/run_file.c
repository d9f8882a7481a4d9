/* Opens run.sqlite as people hand it over: checks that it is one, of this version, and complete.
 *
 * The head of the file is checked before SQLite is called. The head distinguishes a truncated file
 * (whose missing pages might only be indexes, which nothing here reads), a database of another
 * program and one of another layout. Layout of the head: SQLite's file format, section 1.3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reading/rows.h"
#include "reading/run_file.h"
#include "stats/folder.h"

#define APPLICATION_ID 0x786f6666 /* "xoff" */
#define LAYOUT 6                  /* user_version: the tables that the parts read */
#define HEAD_SIZE 100

static int fail(struct xoff_err *err, enum xoff_err_code code, const char *path,
                const char *message)
{
    const int status = xoff_err_set(err, code, NULL, NULL, message);
    snprintf(err->file, sizeof err->file, "%s", path);
    return status;
}

/* "/a/run-x/", "/a/run-x/run.sqlite" and "run-x" are all named run-x, and so is the folder aside in
 * which its files are being written. */
static char *folder_name(const char *results, bool is_folder)
{
    char *whole = realpath(results, NULL);
    XOFF_ASSERT(whole || errno != ENOMEM);
    char *copy = whole ? whole : strdup(results);
    XOFF_ASSERT(copy);
    char *slash = strrchr(copy, '/');
    if (!is_folder && slash) {
        /* A file that is not called run.sqlite is named after itself, not its folder. */
        if (!strcmp(slash + 1, "run.sqlite")) {
            *slash = '\0';
            slash = strrchr(copy, '/');
        }
    }
    if (slash && !strncmp(slash + 1, FOLDER_ASIDE, strlen(FOLDER_ASIDE))) {
        *slash = '\0';
        slash = strrchr(copy, '/');
    }
    char *name = strdup(slash && slash[1] ? slash + 1 : *copy ? copy : "/");
    XOFF_ASSERT(name);
    free(copy);
    return name;
}

static int find(const char *results, struct run_file *file, struct stat *status,
                struct xoff_err *err)
{
    if (stat(results, status)) {
        const int code = fail(err, XOFF_E_MISSING, results, "cannot be read: ");
        xoff_err_add(err, strerror(errno));
        return code;
    }
    const bool is_folder = S_ISDIR(status->st_mode);
    file->folder = folder_name(results, is_folder);
    XOFF_ASSERT(asprintf(&file->path, is_folder ? "%s/run.sqlite" : "%s", results) >= 0);
    if (is_folder && stat(file->path, status))
        return fail(err, XOFF_E_MISSING, results,
                    "no run.sqlite in this folder; give one that xoff run wrote");
    return 0;
}

static uint32_t big_endian(const unsigned char *bytes, uint32_t n)
{
    uint32_t value = 0;
    while (n--)
        value = value << 8 | *bytes++;
    return value;
}

static int check_head(const char *path, const struct stat *status, struct xoff_err *err)
{
    unsigned char head[HEAD_SIZE] = {0};
    FILE *in = fopen(path, "rb");
    if (!in) {
        const int code = fail(err, XOFF_E_MISSING, path, "cannot be read: ");
        xoff_err_add(err, strerror(errno));
        return code;
    }
    const size_t n = fread(head, 1, sizeof head, in);
    fclose(in);
    if (!n)
        return fail(err, XOFF_E_SYNTAX, path, "the file is empty");
    if (n < HEAD_SIZE || memcmp(head, "SQLite format 3", 16))
        return fail(err, XOFF_E_SYNTAX, path,
                    "not a results file of xoff; give a run.sqlite or its folder");
    if (big_endian(head + 68, 4) != APPLICATION_ID)
        return fail(err, XOFF_E_SYNTAX, path,
                    "a database of another program, not a results file of xoff");
    const uint32_t layout = big_endian(head + 60, 4);
    if (layout != LAYOUT) {
        const int code = fail(err, XOFF_E_CONFLICT, path, "results of another version of xoff: ");
        xoff_err_add(err, "their layout is ");
        xoff_err_add_int(err, layout);
        xoff_err_add(err, ", this xoff " XOFF_VERSION " reads ");
        xoff_err_add_int(err, LAYOUT);
        xoff_err_add(err, "; run the scenario again");
        return code;
    }
    const uint32_t page_size = big_endian(head + 16, 2);
    const int64_t size = (int64_t)(page_size == 1 ? 65536 : page_size) * big_endian(head + 28, 4);
    if (status->st_size < size) {
        const int code = fail(err, XOFF_E_SYNTAX, path, "the file is truncated: ");
        xoff_err_add_int(err, status->st_size);
        xoff_err_add(err, " of ");
        xoff_err_add_int(err, size);
        xoff_err_add(err, " bytes are there; run the scenario again");
        return code;
    }
    return 0;
}

int run_file_open(const char *results, struct run_file *file, struct xoff_err *err)
{
    struct stat status;
    *file = (struct run_file){0};
    int code = find(results, file, &status, err);
    if (!code)
        code = check_head(file->path, &status, err);
    /* One thread reads; without locks a million rows take a sixth less time. */
    if (!code && sqlite3_open_v2(file->path, &file->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                                 NULL) != SQLITE_OK) {
        code = fail(err, XOFF_E_MISSING, file->path, "cannot be read: ");
        xoff_err_add(err, file->db ? sqlite3_errmsg(file->db) : "not enough memory");
    }
    if (!code) /* views and functions of a foreign file must have no effect */
        sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (code)
        run_file_close(file);
    return code;
}

void run_file_close(struct run_file *file)
{
    sqlite3_close(file->db);
    free(file->folder);
    free(file->path);
    *file = (struct run_file){0};
}

int run_file_list(const struct run_file *file, int64_t **ids, uint32_t *n, struct xoff_err *err)
{
    struct rows rows = {.db = file->db, .path = file->path, .err = err};
    *ids = NULL;
    *n = 0;
    rows_begin(&rows, "SELECT id FROM run ORDER BY id", 0);
    while (rows_next(&rows)) {
        int64_t *more = realloc(*ids, (*n + 1) * sizeof *more);
        XOFF_ASSERT(more);
        *ids = more;
        more[(*n)++] = rows_int(&rows, 0);
    }
    if (!rows.status && !*n)
        rows_fail(&rows, "there is no run in this file; run the scenario again");
    if (rows.status)
        free(*ids);
    return rows.status;
}
