/* Rows of results as a table that SQLite reads by itself, so that one statement inserts all rows of
 * a table. Binding and stepping row by row cost twice the instructions. */
#ifndef STATS_SQLITE_ROWS_H
#define STATS_SQLITE_ROWS_H

#include <sqlite3.h>

#include "stats/tables.h"

#define SQLITE_ROWS_COLUMNS 40 /* limit for one table */

/* The rows that a statement reads; in place from attach to detach. */
struct sqlite_rows {
    const struct table *table;
    struct table_run run;
    const struct column *columns[SQLITE_ROWS_COLUMNS]; /* those in the database */
    int n_columns;
};

/* Makes the table's rows of a run known to the connection, under the name of the table with "_rows"
 * behind it; detach ends that, after the statement that reads them. Return SQLite's code. */
int sqlite_rows_attach(sqlite3 *db, const struct table *table, const struct table_run *run,
                       struct sqlite_rows *rows);
int sqlite_rows_detach(sqlite3 *db, const struct sqlite_rows *rows);

#endif
