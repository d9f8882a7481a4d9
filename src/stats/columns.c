/* Reads columns (tables.h): as cells for people and databases, and as words for the digest. */
#include <string.h>

#include "base/digest.h"
#include "stats/output.h"
#include "stats/tables.h"

#define MAX_WORDS 32 /* words of a row in the digest */

/* Returns the bits of a numeric field; those of 1 and 4 bytes are unsigned. */
static uint64_t bits_of(const struct column *column, const void *fields)
{
    const unsigned char *at = (const unsigned char *)fields + column->offset;
    uint64_t whole;
    uint32_t half;
    switch (column->size) {
    case 1:
        return *at;
    case 4:
        memcpy(&half, at, sizeof half);
        return half;
    default:
        XOFF_ASSERT(column->size == 8);
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
}

static void show_whole(const struct column *column, uint64_t bits, struct cell *cell)
{
    const bool is_null = column->kind == COLUMN_SIGNED
                             ? bits == INT64_MAX
                             : bits > INT64_MAX || bits == UINT64_MAX >> (64 - 8 * column->size);
    cell->whole = (int64_t)bits;
    cell->kind = is_null ? CELL_NULL : CELL_WHOLE;
}

void column_read(const struct column *column, const struct table_row *row, struct cell *cell)
{
    const char *const at = (const char *)row->fields + column->offset;
    if (column->get) {
        column->get(row, cell);
        return;
    }
    cell->kind = CELL_TEXT;
    _Static_assert(sizeof cell->room >= OUTPUT_PRIORITIES, "all priorities fit");
    switch (column->kind) {
    case COLUMN_UNSIGNED:
    case COLUMN_NODE:
    case COLUMN_SIGNED:
        show_whole(column, bits_of(column, row->fields), cell);
        break;
    case COLUMN_REAL:
        memcpy(&cell->real, at, sizeof cell->real);
        cell->kind = CELL_REAL;
        break;
    case COLUMN_STRING:
        memcpy(&cell->text, at, sizeof cell->text);
        cell->text = output_text(cell->text);
        break;
    case COLUMN_CHARS:
        cell->text = at;
        break;
    case COLUMN_WORD:
        cell->text = column->word((uint8_t)bits_of(column, row->fields));
        break;
    case COLUMN_PRIORITIES:
        cell->text = output_priorities((uint8_t)bits_of(column, row->fields), cell->room);
        break;
    case COLUMN_TRAFFIC:
        cell->text = output_tag(row->run->results, (uint32_t)bits_of(column, row->fields));
    }
}

const char *column_type(const struct column *column)
{
    switch (column->kind) {
    case COLUMN_UNSIGNED:
    case COLUMN_SIGNED:
    case COLUMN_NODE:
        return "INTEGER";
    case COLUMN_REAL:
        return "REAL";
    default:
        return "TEXT";
    }
}

/* Number of words that the digest takes from each row. */
static uint32_t words_of(const struct table *table)
{
    uint32_t n = 0;
    for (const struct column *c = table->columns; c->name; c++)
        n = c->digest_word > n ? c->digest_word : n;
    XOFF_ASSERT(n <= MAX_WORDS);
    return n;
}

static void digest_row(const struct table *table, uint32_t n_words, const void *fields,
                       struct digest *digest)
{
    uint64_t words[MAX_WORDS];
    memset(words, 0, n_words * sizeof *words);
    for (const struct column *c = table->columns; c->name; c++)
        if (c->digest_word)
            words[c->digest_word - 1] |= bits_of(c, fields) << c->digest_shift;
    for (uint32_t i = 0; i < n_words; i++)
        digest_u64(digest, words[i]);
}

uint64_t table_digest_flow(const struct result_flow *flow)
{
    const struct table *t = tables;
    while (strcmp(t->name, "flow") != 0)
        t++;
    struct digest digest;
    digest_init(&digest);
    digest_row(t, words_of(t), flow, &digest);
    return digest.state;
}

void table_digest(const struct table *all, const struct results *results, struct digest *digest)
{
    const struct table_run run = {results, NULL};
    for (const struct table *t = all; t->name; t++) {
        if (t->n_per_outer)
            continue; /* taken together with the table before */
        const struct table *inner = t + 1;
        const uint32_t n_inner = inner->name ? inner->n_per_outer : 0;
        const uint32_t n_words = words_of(t), n_inner_words = n_inner ? words_of(inner) : 0;
        if (t->digest && t->digest(&run, digest))
            continue;
        const uint64_t n = t->count(&run);
        if (t->digests_count)
            digest_u64(digest, n);
        for (uint64_t i = 0; i < n && n_words + n_inner_words; i++) {
            if (t->is_digested && !t->is_digested(&run, t->fields(&run, i)))
                continue;
            digest_row(t, n_words, t->fields(&run, i), digest);
            for (uint64_t k = i * n_inner; k < (i + 1) * n_inner; k++)
                digest_row(inner, n_inner_words, inner->fields(&run, k), digest);
        }
    }
}

uint64_t results_digest(const struct results *results)
{
    struct digest digest;
    digest_init(&digest);
    table_digest(tables, results, &digest);
    for (uint32_t i = 0; results->headroom_maxima && i < RESULT_MAXIMA; i++)
        if (results->headroom_maxima[i]) {
            digest_u64(&digest, i);
            digest_u64(&digest, results->headroom_maxima[i]);
        }
    return digest.state;
}
