/* Databases (database.h). */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */

#include "stats/database.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stats/output.h"

#define APPLICATION_ID "0x786f6666" /* "xoff" */

static const char setup[] = "PRAGMA page_size = 8192;"
                            "PRAGMA journal_mode = OFF;"
                            "PRAGMA synchronous = OFF;"
                            "PRAGMA locking_mode = EXCLUSIVE;"
                            "PRAGMA temp_store = MEMORY;"
                            "PRAGMA cache_size = -65536;"
                            "PRAGMA application_id = " APPLICATION_ID ";"
                            "PRAGMA user_version = %s;"
                            "BEGIN;";

/* SQLite leaves the reason of a failed system call in errno, but stores it only on some paths. A
 * full disk has a code of its own. */
void database_check(struct database *d, int code)
{
    const int seen = errno, primary = code & 0xff;
    int reason = 0;

    if (d->status || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return;
    if (primary == SQLITE_FULL)
        reason = ENOSPC;
    else if (primary == SQLITE_NOMEM)
        reason = ENOMEM;
    else if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)
        reason = seen;
    const char *text = d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(code);
    d->status = output_fail(d->err, d->path, reason ? strerror(reason) : text);
}

void database_execute(struct database *d, const char *sql)
{
    errno = 0;
    if (!d->status)
        database_check(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

void database_create(struct database *d, const char *path, const char *version,
                     struct xoff_err *err)
{
    char sql[sizeof setup + 16];
    *d = (struct database){.path = path, .err = err};
    /* The file is created here because SQLite loses the reason when it cannot; an empty file is an
     * empty database. */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        d->status = output_fail(err, path, strerror(errno));
        return;
    }
    close(fd);
    errno = 0;
    database_check(
        d, sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    /* A file that cannot be opened is tried again for reading alone. */
    if (!d->status && sqlite3_db_readonly(d->db, "main") == 1)
        d->status = output_fail(err, path, strerror(errno ? errno : EACCES));
    snprintf(sql, sizeof sql, setup, version);
    database_execute(d, sql);
}

int database_close(struct database *d)
{
    database_check(d, sqlite3_close(d->db));
    return d->status;
}
