/* The scoreboard as text for people: a table of claims by chapter, one of readings, and totals. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/scoreboard.h"

/* Columns of the table. */
enum {
    COLUMN_CLAIM,
    COLUMN_PLACE,
    COLUMN_KIND,
    COLUMN_PUBLISHED,
    COLUMN_MEASURED,
    COLUMN_SEEDS,
    N_COLUMNS
};
#define CELL 96
struct row {
    char cells[N_COLUMNS][CELL];
};

/* Width in characters, not bytes. */
static int width(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Text that is too long is cut between characters. */
static void fill(char cell[CELL], const char *text)
{
    size_t n = strlen(text);
    if (n >= CELL) {
        n = CELL - 1;
        while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    memcpy(cell, text, n);
    cell[n] = '\0';
}

/* A unit with the space before it. A ratio needs none. */
static const char *unit_of(const struct claim *c, char buf[CELL])
{
    const bool has_unit = *c->unit && strcmp(c->unit, "ratio") != 0;
    snprintf(buf, CELL, "%s%.80s", has_unit ? " " : "", has_unit ? c->unit : "");
    return buf;
}

void scoreboard_published(const struct claim *c, char *buf, size_t size)
{
    char unit[CELL];
    if (c->has_published && (c->kind == KIND_NUMBER || !c->published_text))
        snprintf(buf, size, "%.6g%s", c->published, unit_of(c, unit));
    else
        snprintf(buf, size, "%s", c->published_text ? c->published_text : "-");
}

void scoreboard_measured(const struct claim *c, const struct judgement *j, char *buf, size_t size)
{
    char least[32], most[32], unit[CELL];
    snprintf(least, sizeof least, "%.4g", j->measured.min);
    snprintf(most, sizeof most, "%.4g", j->measured.max);
    if (!j->values)
        snprintf(buf, size, "-");
    else if (!strcmp(least, most)) /* equal at this many digits */
        snprintf(buf, size, "%.4g%s", j->measured.mean, unit_of(c, unit));
    else
        snprintf(buf, size, "%.4g%s (%s .. %s)", j->measured.mean, unit_of(c, unit), least, most);
}

static void make_row(const struct scored_claim *s, struct row *row)
{
    const struct claim *c = s->claim;
    const struct judgement *j = &s->judgement;
    char text[256];
    fill(row->cells[COLUMN_CLAIM], c->id);
    fill(row->cells[COLUMN_PLACE], c->place);
    snprintf(text, sizeof text, "%s%s%s", kind_words[c->kind], c->strength ? ", " : "",
             c->strength ? strength_words[c->strength] : "");
    fill(row->cells[COLUMN_KIND], text);
    scoreboard_published(c, text, sizeof text);
    fill(row->cells[COLUMN_PUBLISHED], text);
    scoreboard_measured(c, j, text, sizeof text);
    fill(row->cells[COLUMN_MEASURED], text);
    snprintf(text, sizeof text, "%u", j->n_seeds);
    fill(row->cells[COLUMN_SEEDS], j->n_seeds ? text : "-");
}

static const char *colour_of(enum verdict verdict, const struct scoreboard_style *s)
{
    switch (verdict) {
    case VERDICT_HOLDS:
        return s->green;
    case VERDICT_DIRECTION:
        return s->yellow;
    case VERDICT_FAILS:
    case VERDICT_ERROR:
        return s->red;
    default:
        return s->dim;
    }
}

/* Notes are as wide as the terminal, and not wider than is good to read. */
static int note_width(const struct scoreboard_style *s)
{
    return s->columns && s->columns < 96 ? s->columns : 96;
}

/* Prints a paragraph under a row, broken between words. */
static void print_note(FILE *out, const struct scoreboard_style *s, const char *lead,
                       const char *text)
{
    if (!text || !*text)
        return;
    int column = 4 + width(lead);
    bool is_first = true; /* first word of its line */
    fprintf(out, "    %s%s", s->dim, lead);
    for (size_t n; text += strspn(text, " \n"), (n = strcspn(text, " \n")); text += n) {
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (!is_first && column + 1 + width(word) > note_width(s)) {
            fputs("\n     ", out);
            column = 5;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        fputs(word, out);
        column += width(word);
        is_first = false;
    }
    fprintf(out, "%s\n", s->off);
}

/* What the shipped results have for a claim that was not run. */
static void print_shipped(FILE *out, const struct scoreboard_style *s, const struct scored_paper *p,
                          const struct scored_claim *scored)
{
    char measured[128], text[320];
    scoreboard_measured(scored->claim, &scored->shipped, measured, sizeof measured);
    snprintf(text, sizeof text, "%s, %s, %u seed%s", verdict_texts[scored->shipped.found], measured,
             scored->shipped.n_seeds, scored->shipped.n_seeds == 1 ? "" : "s");
    char lead[64];
    snprintf(lead, sizeof lead, "shipped, by %.20s: ", shipped_version(p->shipped));
    print_note(out, s, lead, text);
}

static void print_verdict(FILE *out, const struct scoreboard_style *s,
                          const struct scored_claim *scored)
{
    const struct claim *claim = scored->claim;
    const struct judgement *j = &scored->judgement;
    fprintf(out, "%s%s%s", colour_of(j->found, s), verdict_texts[j->found], s->off);
    if (j->is_worse)
        fprintf(out, ", %s%sworse than recorded%s (%s)", s->bold, s->red, s->off,
                verdict_texts[claim->recorded]);
    if (j->is_better)
        fprintf(out, ", better than recorded (%s): update " CLAIMS_FILE,
                verdict_texts[claim->recorded]);
    fputc('\n', out);
}

/* Prints the reasons for a verdict. */
static void print_reasons(FILE *out, const struct scoreboard_style *s, const struct scored_paper *p,
                          const struct scored_claim *scored)
{
    const struct claim *claim = scored->claim;
    const struct judgement *j = &scored->judgement;
    if (scored->has_shipped)
        print_shipped(out, s, p, scored);
    if (j->found == VERDICT_ERROR)
        print_note(out, s, "", j->err.message);
    else if (j->found == claim->recorded && j->found != VERDICT_HOLDS)
        print_note(out, s, "why: ", claim->why);
    if (claim->strength_why) {
        char lead[32];
        snprintf(lead, sizeof lead, "%s: ", strength_words[claim->strength]);
        print_note(out, s, lead, claim->strength_why);
    }
    if (j->has_direction && j->found == VERDICT_FAILS)
        print_note(out, s, "direction: ", j->direction_detail);
}

static void print_row(FILE *out, const struct row *row, const int widths[N_COLUMNS])
{
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        fprintf(out, "  %s%*s", row->cells[c], widths[c] - width(row->cells[c]), "");
    fputs("  ", out);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Prints a claim in lines of its own, where the table is too wide. */
static void print_block(FILE *out, const struct scoreboard_style *s, const struct scored_paper *p,
                        const struct scored_claim *scored, const struct row *row)
{
    char text[N_COLUMNS * CELL + 64];
    fprintf(out, "  %s  ", row->cells[COLUMN_CLAIM]);
    print_verdict(out, s, scored);
    snprintf(text, sizeof text, "%s; %s; published %s, measured %s, seeds %s",
             row->cells[COLUMN_PLACE], row->cells[COLUMN_KIND], row->cells[COLUMN_PUBLISHED],
             row->cells[COLUMN_MEASURED], row->cells[COLUMN_SEEDS]);
    print_note(out, s, "", text);
    print_reasons(out, s, p, scored);
}

#define VERDICT_WIDTH 24 /* "holds in direction only" */

static bool fits(const struct scoreboard_style *s, int needed)
{
    return !s->columns || needed <= s->columns;
}

/* Prints a line, or a note where it is too long. */
static void print_line(FILE *out, const struct scoreboard_style *s, const char *text)
{
    if (fits(s, 2 + width(text)))
        fprintf(out, "  %s\n", text);
    else
        print_note(out, s, "", text);
}

static void print_claims(const struct scored_paper *p, const struct scoreboard_style *s, FILE *out)
{
    static const struct row head = {{"claim", "place", "kind", "published", "measured", "seeds"}};
    struct row *rows = calloc(p->n_claims + 1, sizeof *rows);
    int widths[N_COLUMNS] = {0};
    XOFF_ASSERT(rows);
    rows[p->n_claims] = head;
    for (uint32_t i = 0; i < p->n_claims; i++)
        make_row(&p->claims[i], &rows[i]);
    for (uint32_t i = 0; i <= p->n_claims; i++)
        for (uint32_t c = 0; c < N_COLUMNS; c++)
            if (width(rows[i].cells[c]) > widths[c])
                widths[c] = width(rows[i].cells[c]);
    int needed = 2 + VERDICT_WIDTH;
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        needed += 2 + widths[c];
    if (p->n_claims && fits(s, needed)) {
        fputs(s->dim, out);
        print_row(out, &rows[p->n_claims], widths);
        fprintf(out, "verdict%s\n", s->off);
    }
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const char *const chapter = p->claims[i].claim->chapter;
        if (chapter && (!i || !is_same_text(chapter, p->claims[i - 1].claim->chapter)))
            fprintf(out, " %s%s%s\n", s->bold, chapter, s->off);
        if (!fits(s, needed)) {
            print_block(out, s, p, &p->claims[i], &rows[i]);
            continue;
        }
        print_row(out, &rows[i], widths);
        print_verdict(out, s, &p->claims[i]);
        print_reasons(out, s, p, &p->claims[i]);
    }
    free(rows);
}

/* "fails 1.28", "shipped: fails 1.28" where it was not run, "-": the claim says nothing about the
 * reading. */
static void reading_cell(const struct scored_claim *own, char cell[CELL])
{
    char text[CELL];
    if (!own) {
        snprintf(cell, CELL, "-");
        return;
    }
    const struct judgement *j = own->has_shipped ? &own->shipped : &own->judgement;
    const char *const lead = own->has_shipped ? "shipped: " : "";
    snprintf(text, sizeof text, "%s%s", lead, verdict_words[j->found]);
    if (j->values)
        snprintf(text, sizeof text, "%s%s %.4g", lead, verdict_words[j->found], j->measured.mean);
    snprintf(cell, CELL, "%.80s%s", text,
             j->is_worse    ? ", worse!"
             : j->is_better ? ", better!"
                            : "");
}

/* Whether claim k stands in the table that claim i opens. */
static bool is_in_table(const struct scored_paper *p, uint32_t i, uint32_t k)
{
    return p->claims[k].claim->n_readings && scoreboard_is_beside(&p->claims[i], &p->claims[k]);
}

static int reading_width(const struct scored_paper *p, uint32_t first, uint32_t reading)
{
    char cell[CELL];
    int widest = width(p->paper->readings[reading].id);
    for (uint32_t i = first; i < p->n_claims; i++) {
        if (!is_in_table(p, first, i))
            continue;
        reading_cell(scoreboard_under(&p->claims[i], reading), cell);
        widest = width(cell) > widest ? width(cell) : widest;
    }
    return widest;
}

/* Prints the same with a line for each reading of a claim. */
static void print_turned_readings(const struct scored_paper *p, uint32_t first,
                                  const struct scoreboard_style *s, FILE *out)
{
    for (uint32_t i = first; i < p->n_claims; i++) {
        if (!is_in_table(p, first, i))
            continue;
        fprintf(out, "  %s\n", p->claims[i].claim->id);
        for (uint32_t r = 0; r < p->paper->n_readings; r++) {
            const struct scored_claim *own = scoreboard_under(&p->claims[i], r);
            char cell[CELL];
            if (!own || !scoreboard_is_read(p, first, r))
                continue;
            reading_cell(own, cell);
            fprintf(out, "    %-14s  %s%s%s\n", p->paper->readings[r].id,
                    colour_of(own->judgement.found, s), cell, s->off);
        }
    }
}

/* Prints the claims of one chapter, from its first that has other readings. */
static void print_chapter_readings(const struct scored_paper *p, uint32_t first,
                                   const struct scoreboard_style *s, FILE *out)
{
    int name_width = 5;
    for (uint32_t i = first; i < p->n_claims; i++)
        if (is_in_table(p, first, i) && width(p->claims[i].claim->id) > name_width)
            name_width = width(p->claims[i].claim->id);
    if (p->claims[first].claim->chapter)
        fprintf(out, " %s%s%s\n", s->bold, p->claims[first].claim->chapter, s->off);
    int needed = 2 + name_width;
    for (uint32_t r = 0; r < p->paper->n_readings; r++)
        needed += scoreboard_is_read(p, first, r) ? 2 + reading_width(p, first, r) : 0;
    if (!fits(s, needed)) {
        print_turned_readings(p, first, s, out);
        return;
    }
    fprintf(out, "  %s%-*s", s->dim, name_width, "claim");
    for (uint32_t r = 0; r < p->paper->n_readings; r++)
        if (scoreboard_is_read(p, first, r))
            fprintf(out, "  %-*s", reading_width(p, first, r), p->paper->readings[r].id);
    fprintf(out, "%s\n", s->off);
    for (uint32_t i = first; i < p->n_claims; i++) {
        if (!is_in_table(p, first, i))
            continue;
        fprintf(out, "  %-*s", name_width, p->claims[i].claim->id);
        for (uint32_t r = 0; r < p->paper->n_readings; r++) {
            const struct scored_claim *own = scoreboard_under(&p->claims[i], r);
            char cell[CELL];
            if (!scoreboard_is_read(p, first, r))
                continue;
            reading_cell(own, cell);
            fprintf(out, "  %s%s%s%*s", own ? colour_of(own->judgement.found, s) : s->dim, cell,
                    s->off, reading_width(p, first, r) - width(cell), "");
        }
        fputc('\n', out);
    }
}

/* Prints the claims that come out differently as the paper is understood, one reading beside the
 * other. */
static void print_readings(const struct scored_paper *p, const struct scoreboard_style *s,
                           FILE *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_claims; i++) {
        if (!scoreboard_opens_readings(p, i))
            continue;
        if (!n++)
            fprintf(out, "\n%sreadings%s: the same claims, as the paper may be understood\n",
                    s->bold, s->off);
        print_chapter_readings(p, i, s, out);
    }
    for (uint32_t r = 0; r < p->paper->n_readings && n; r++) {
        const struct reading *reading = &p->paper->readings[r];
        const struct scoreboard_reading found = scoreboard_read(p, r);
        if (!found.own.n_all)
            continue; /* none of its claims was chosen */
        char text[512], plain[64] = "";
        if (r != PLAIN_READING)
            snprintf(plain, sizeof plain, " (plain: %u of the same %u)", found.plain.n_held,
                     found.plain.n_all);
        snprintf(text, sizeof text, "%s: %u of %u hold%s; %s%s", reading->id, found.own.n_held,
                 found.own.n_all, plain, reading->title,
                 reading->is_after_the_fact ? "; found after the fact" : "");
        print_line(out, s, text);
    }
}

static void print_paper(const struct scored_paper *p, const struct scoreboard_style *s, FILE *out)
{
    fprintf(out, "%s%s%s: %s\n", s->bold, p->paper->name, s->off, p->paper->title);
    print_claims(p, s, out);
    for (uint32_t i = 0; i < p->n_figures; i++) {
        const struct drawing *d = &p->figures[i].drawing;
        char text[512];
        snprintf(text, sizeof text, "figure %s: %s%s%s", p->figures[i].figure->id,
                 p->figures[i].figure->title,
                 d->state == VERDICT_LEFT_OUT || p->figures[i].is_shipped ? ", not in --quick" : "",
                 d->state == VERDICT_ERROR ? ", error" : "");
        print_line(out, s, text);
        if (d->state == VERDICT_ERROR)
            print_note(out, s, "", d->err.message);
    }
    print_readings(p, s, out);
    fputc('\n', out);
}

static void print_totals(const struct scoreboard *board, const struct scoreboard_style *s,
                         FILE *out)
{
    struct scoreboard_totals t;
    scoreboard_total(board->papers, board->n_papers, &t);
    fprintf(out, "%sreproduced: %u of %u%s independent claims that the papers state", s->bold,
            t.reproduced.n_held, t.reproduced.n_all, s->off);
    if (t.n_left_out)
        fprintf(out, "; %u claim%s not run", t.n_left_out, t.n_left_out == 1 ? "" : "s");
    fprintf(out, "\n  %s%-9s", s->dim, "held");
    for (uint32_t strength = 0; strength < N_STRENGTHS; strength++)
        fprintf(out, strength + 1 < N_STRENGTHS ? "  %-11s" : "  %s", strength_words[strength]);
    fprintf(out, "%s\n", s->off);
    for (uint32_t kind = 0; kind < N_KINDS; kind++) {
        fprintf(out, "  %-9s", kind_words[kind]);
        for (uint32_t strength = 0; strength < N_STRENGTHS; strength++) {
            const struct scoreboard_share *cell = &t.cells[kind][strength];
            char text[32] = "-";
            if (cell->n_all)
                snprintf(text, sizeof text, "%u of %u", cell->n_held, cell->n_all);
            fprintf(out, strength + 1 < N_STRENGTHS ? "  %-11s" : "  %s", text);
        }
        fputc('\n', out);
    }
}

void scoreboard_print(const struct scoreboard *board, const struct scoreboard_style *s, FILE *out)
{
    static const char *const words[N_VERDICTS][2] = {{"holds", "hold"},
                                                     {"in direction only", "in direction only"},
                                                     {"does not hold", "do not hold"},
                                                     {"cannot be tested", "cannot be tested"},
                                                     {"not in --quick", "not in --quick"},
                                                     {"error", "errors"}};
    const struct scoreboard_counts c = scoreboard_count(board);
    for (uint32_t k = 0; k < board->n_papers; k++)
        print_paper(&board->papers[k], s, out);
    print_totals(board, s, out);
    fprintf(out, "%s%u claim%s%s", s->bold, c.n_claims, c.n_claims == 1 ? "" : "s", s->off);
    for (uint32_t v = 0, n = 0; v < N_VERDICTS; v++)
        if (c.verdicts[v])
            fprintf(out, "%s %s%u %s%s", n++ ? "," : ":", colour_of((enum verdict)v, s),
                    c.verdicts[v], words[v][c.verdicts[v] != 1], s->off);
    if (c.n_worse)
        fprintf(out, "; %s%s%u worse than recorded%s", s->bold, s->red, c.n_worse, s->off);
    if (c.n_better)
        fprintf(out, "; %u better than recorded", c.n_better);
    fputc('\n', out);
}
