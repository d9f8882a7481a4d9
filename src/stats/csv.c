/* Results as CSV (RFC 4180, but lines end in a newline only): one header row, units in the column
 * names, empty fields for unknown values, names quoted where they need it.
 */
#include <string.h>

#include "stats/output.h"
#include "stats/tables.h"

void csv_put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_cell(FILE *out, const struct column *column, const struct table_row *row)
{
    struct cell cell;
    column_read(column, row, &cell);
    fputc(',', out);
    if (column->kind == COLUMN_NODE && cell.kind == CELL_WHOLE) {
        cell.text = output_node(row->run->results, (uint32_t)cell.whole);
        cell.kind = CELL_TEXT;
    }
    switch (cell.kind) {
    case CELL_NULL:
        break;
    case CELL_WHOLE:
        fprintf(out, "%lld", (long long)cell.whole);
        break;
    case CELL_REAL: /* 17 significant digits read back to the same double */
        fprintf(out, "%.17g", cell.real);
        break;
    case CELL_TEXT:
        csv_put_text(out, cell.text);
    }
}

static void put_names(const struct table *table, FILE *out)
{
    for (const struct column *c = table->columns; c->name; c++)
        if (c->place != COLUMN_IN_DATABASE) {
            const size_t n = strlen(c->name);
            fprintf(out, ",%.*s", (int)(c->kind == COLUMN_NODE ? n - strlen("_id") : n), c->name);
        }
}

static void put_row(const struct table *table, const struct table_run *run, uint64_t index,
                    FILE *out)
{
    const struct table_row row = table_row(table, run, index);
    for (const struct column *c = table->columns; c->name; c++)
        if (c->place != COLUMN_IN_DATABASE)
            put_cell(out, c, &row);
}

void table_write_csv_header(const struct table *table, FILE *out)
{
    fputs("variant", out);
    if (table->n_per_outer)
        put_names(table - 1, out);
    put_names(table, out);
    fputc('\n', out);
}

void table_write_csv(const struct table *table, const struct table_run *run, FILE *out)
{
    const uint64_t n = table->count(run);
    for (uint64_t i = 0; i < n; i++) {
        csv_put_text(out, output_text(run->results->variant));
        if (table->n_per_outer)
            put_row(table - 1, run, i / table->n_per_outer, out);
        put_row(table, run, i, out);
        fputc('\n', out);
    }
}

static const struct table *csv_table(uint32_t file)
{
    for (const struct table *t = tables; t->name; t++)
        if (t->csv && file-- == 0)
            return t;
    return NULL;
}

const char *csv_name(uint32_t file)
{
    const struct table *table = csv_table(file);
    XOFF_ASSERT(table);
    return table->csv;
}

void csv_write(FILE *out, uint32_t file, const struct results *const *runs, uint32_t n_runs)
{
    const struct table *table = csv_table(file);
    XOFF_ASSERT(table);
    table_write_csv_header(table, out);
    for (uint32_t i = 0; i < n_runs; i++)
        table_write_csv(table, &(struct table_run){runs[i], NULL}, out);
}
