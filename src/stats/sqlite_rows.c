/* Rows of results as an eponymous virtual table of SQLite (sqlite_rows.h): read from the first to
 * the last, in no other way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/sqlite_rows.h"
#include <xoff/err.h>

struct rows_table {
    sqlite3_vtab base;
    const struct sqlite_rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct sqlite_rows *rows;
    uint64_t n;
    struct table_row row;
    struct cell cells[SQLITE_ROWS_COLUMNS]; /* of the row: texts stay until it is inserted */
};

static int rows_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    (void)argc, (void)argv, (void)error;
    const struct sqlite_rows *rows = context;
    char sql[16 + 8 * SQLITE_ROWS_COLUMNS];
    size_t n = (size_t)snprintf(sql, sizeof sql, "CREATE TABLE x(");
    for (int i = 0; i < rows->n_columns; i++)
        n += (size_t)snprintf(sql + n, sizeof sql - n, "%sc%d", i ? "," : "", i);
    XOFF_ASSERT(n + 2 <= sizeof sql);
    snprintf(sql + n, sizeof sql - n, ")");
    const int code = sqlite3_declare_vtab(db, sql);
    if (code != SQLITE_OK)
        return code;
    struct rows_table *table = calloc(1, sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    table->rows = rows;
    *out = &table->base;
    return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int rows_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table, (void)info;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct rows_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->rows = ((struct rows_table *)table)->rows;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static void rows_at(struct rows_cursor *c, uint64_t index)
{
    c->row.index = index;
    if (index < c->n)
        c->row = table_row(c->rows->table, &c->rows->run, index);
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                       sqlite3_value **argv)
{
    (void)number, (void)text, (void)argc, (void)argv;
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    c->n = c->rows->table->count(&c->rows->run);
    rows_at(c, 0);
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    rows_at(c, c->row.index + 1);
    return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
    const struct rows_cursor *c = (const struct rows_cursor *)cursor;
    return c->row.index >= c->n;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    struct cell *cell = &c->cells[column];
    column_read(c->rows->columns[column], &c->row, cell);
    switch (cell->kind) {
    case CELL_WHOLE:
        sqlite3_result_int64(out, cell->whole);
        break;
    case CELL_REAL:
        sqlite3_result_double(out, cell->real);
        break;
    case CELL_TEXT:
        sqlite3_result_text(out, cell->text, -1, SQLITE_STATIC);
        break;
    default:
        sqlite3_result_null(out);
    }
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((const struct rows_cursor *)cursor)->row.index;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {.xConnect = rows_connect,
                                           .xBestIndex = rows_best_index,
                                           .xDisconnect = rows_disconnect,
                                           .xOpen = rows_open,
                                           .xClose = rows_close,
                                           .xFilter = rows_filter,
                                           .xNext = rows_next,
                                           .xEof = rows_eof,
                                           .xColumn = rows_column,
                                           .xRowid = rows_rowid};

static int set_module(sqlite3 *db, const struct sqlite_rows *rows, const sqlite3_module *module)
{
    char name[64];
    snprintf(name, sizeof name, "%s_rows", rows->table->name);
    return sqlite3_create_module(db, name, module, (void *)rows);
}

int sqlite_rows_attach(sqlite3 *db, const struct table *table, const struct table_run *run,
                       struct sqlite_rows *rows)
{
    *rows = (struct sqlite_rows){.table = table, .run = *run};
    for (const struct column *c = table->columns; c->name; c++)
        if (column_is_in_database(c)) {
            XOFF_ASSERT(rows->n_columns < SQLITE_ROWS_COLUMNS);
            rows->columns[rows->n_columns++] = c;
        }
    return set_module(db, rows, &rows_module);
}

int sqlite_rows_detach(sqlite3 *db, const struct sqlite_rows *rows)
{
    return set_module(db, rows, NULL);
}
