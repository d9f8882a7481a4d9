/* A new database: made, filled and closed, with the first failure kept. */
#ifndef STATS_DATABASE_H
#define STATS_DATABASE_H

#include <sqlite3.h>

#include <xoff/err.h>

/* After the first failure every call does nothing. */
struct database {
    sqlite3 *db;
    int status; /* 0, or the negative code of the first failure, told in err */
    const char *path;
    struct xoff_err *err;
};

/* Makes the file, which must not exist, and begins the one transaction that fills it. Nobody sees
 * it before it is complete, so there is no journal and no sync while writing. */
void database_create(struct database *d, const char *path, const char *version,
                     struct xoff_err *err);
/* Takes note of what a function of SQLite returned. errno is that of the call. */
void database_check(struct database *d, int code);
void database_execute(struct database *d, const char *sql);
/* Closes it. The caller has ended the transaction by COMMIT. Returns the status; the file may be
 * partial on failure: the caller removes it. */
int database_close(struct database *d);

#endif
