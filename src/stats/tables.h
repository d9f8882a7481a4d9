/* Results as tables. Each column is stated once, in tables.c: its name, kind, unit and meaning, the
 * field of the row it is read from, and its place in the digest. The database (sqlite.c), the CSV
 * files (csv.c), the digest and the column tables of docs/results.md are made from that.
 *
 * A new column is its value in the row's struct (results.h) and one line in tables.c; tables_test
 * --update writes it into the page.
 */
#ifndef STATS_TABLES_H
#define STATS_TABLES_H

#include "stats/results.h"

struct digest;

/* One run and the figures computed from it. Without a summary (NULL) there are no metrics. */
struct table_run {
    const struct results *results;
    const struct summary *summary;
};

struct table_row {
    const struct table_run *run;
    uint64_t index;     /* index of the row in its table */
    const void *fields; /* the row's struct */
};

enum cell_kind { CELL_NULL, CELL_WHOLE, CELL_REAL, CELL_TEXT };

/* The value of a column in a row. `text` may point into `room`, so a cell is not copied. */
struct cell {
    enum cell_kind kind;
    int64_t whole;
    double real;
    const char *text;
    char room[24]; /* OUTPUT_PRIORITIES fit */
};

enum column_kind {
    COLUMN_UNSIGNED,   /* whole number of 1, 4 or 8 bytes; NULL: all bits set, or above INT64_MAX */
    COLUMN_SIGNED,     /* int64_t; NULL: INT64_MAX, which is XOFF_NEVER */
    COLUMN_REAL,       /* double */
    COLUMN_STRING,     /* const char *; a null pointer is "" */
    COLUMN_CHARS,      /* char [] */
    COLUMN_WORD,       /* uint8_t, shown as the text that `word` returns */
    COLUMN_PRIORITIES, /* uint8_t mask, shown as "3,4" */
    COLUMN_TRAFFIC,    /* uint32_t, shown as the name of the traffic entry */
    /* uint32_t. The name ends in node_id; CSV files leave out _id and give the node's name. */
    COLUMN_NODE
};

enum column_place { COLUMN_EVERYWHERE, COLUMN_IN_DATABASE, COLUMN_IN_CSV };

struct column {
    const char *name; /* NULL: end of the array */
    enum column_kind kind;
    const char *unit, *meaning;
    uint32_t offset, size; /* place of the field in the row's struct; size 0: none */
    /* Fills the cell in place of the field. NULL: the field is shown as its kind says. */
    void (*get)(const struct table_row *row, struct cell *cell);
    const char *(*word)(uint8_t code);
    enum column_place place;
    /* The digest takes a row as words of 64 bits. The field, shifted to the left, is part of word
     * `digest_word`, counted from 1; 0: the column is not in the digest. */
    uint8_t digest_word, digest_shift;
};

struct table {
    const char *name; /* NULL: end of the array */
    const char *csv;  /* name of the file; NULL: none */
    const char *key;  /* first column of the database's table; NULL: run_id */
    const struct column *columns;
    uint64_t (*count)(const struct table_run *run);
    const void *(*fields)(const struct table_run *run, uint64_t index);
    /* Rows of this table belong to rows of the table before it in the array: this many to each.
     * They follow that row in the digest, and its columns come first in the CSV file. 0: an
     * independent table. */
    uint32_t n_per_outer;
    bool digests_count; /* the digest takes the number of rows before the rows */
    /* Whether the digest takes the row; NULL: all of them. */
    bool (*is_digested)(const struct table_run *run, const void *fields);
    /* Takes the whole table into the digest in place of its rows, and says whether it has. */
    bool (*digest)(const struct table_run *run, struct digest *digest);
};

/* Every table of results. The digest takes them in this order. */
extern const struct table tables[];

/* Reads the column's value in a row. */
void column_read(const struct column *column, const struct table_row *row, struct cell *cell);
/* "INTEGER", "REAL" or "TEXT". */
const char *column_type(const struct column *column);
static inline bool column_is_in_database(const struct column *column)
{
    return column->place != COLUMN_IN_CSV;
}

static inline struct table_row table_row(const struct table *table, const struct table_run *run,
                                         uint64_t index)
{
    return (struct table_row){run, index, table->fields(run, index)};
}

/* Writes the statement that creates the table in the database. */
void table_write_schema(const struct table *table, FILE *out);
/* Write the header of the CSV file, or the rows of a run, with newlines. */
void table_write_csv_header(const struct table *table, FILE *out);
void table_write_csv(const struct table *table, const struct table_run *run, FILE *out);
/* Takes all rows of all tables into the digest. */
void table_digest(const struct table *all, const struct results *results, struct digest *digest);
/* The digest of a row of `flow`. */
uint64_t table_digest_flow(const struct result_flow *flow);

#endif
