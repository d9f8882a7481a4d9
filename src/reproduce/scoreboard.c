/* The scoreboard (scoreboard.h): chooses claims, judges them, and prints the table for people. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/scoreboard.h"

static bool is_chosen_figure(const struct figure *figure, const char *id)
{
    return !id || !strcmp(figure->id, id);
}

/* A claim is chosen by its own id, or because a chosen figure is drawn from the same scenario. */
static bool is_chosen_claim(const struct paper *paper, const struct claim *claim, const char *id)
{
    if (!id || !strcmp(claim->id, id))
        return true;
    for (uint32_t i = 0; i < paper->n_figures; i++)
        if (is_chosen_figure(&paper->figures[i], id) && claim->experiment.scenario &&
            !strcmp(paper->figures[i].experiment.scenario, claim->experiment.scenario))
            return true;
    return false;
}

static uint32_t add_runs(struct scoreboard *board, const struct paper *paper,
                         const struct experiment *e)
{
    if (board->options->is_quick && e->is_left_out_of_quick)
        return SCOREBOARD_NOT_RUN;
    return runs_add(&board->runs, paper, e);
}

static void add_claim(struct scoreboard *board, const struct paper *paper, struct scored_claim *s)
{
    const struct claim *c = s->claim;
    s->set = c->recorded == VERDICT_UNTESTABLE ? SCOREBOARD_NOT_RUN
                                               : add_runs(board, paper, &c->experiment);
    s->readings = calloc(c->n_readings + 1, sizeof *s->readings);
    XOFF_ASSERT(s->readings);
    for (uint32_t i = 0; i < c->n_readings; i++) {
        s->readings[i].claim = c->readings[i].claim;
        add_claim(board, paper, &s->readings[i]);
    }
}

bool scoreboard_add(struct scoreboard *board, struct paper *paper, const char *id)
{
    struct scored_paper p = {.paper = paper,
                             .claims = calloc(paper->n_claims + 1, sizeof *p.claims),
                             .figures = calloc(paper->n_figures + 1, sizeof *p.figures)};
    struct scored_paper *papers =
        realloc(board->papers, (board->n_papers + 1) * sizeof *board->papers);
    XOFF_ASSERT(p.claims && p.figures && papers);
    board->papers = papers;
    for (uint32_t i = 0; i < paper->n_claims; i++)
        if (is_chosen_claim(paper, &paper->claims[i], id))
            p.claims[p.n_claims++].claim = &paper->claims[i];
    for (uint32_t i = 0; i < paper->n_figures; i++)
        if (is_chosen_figure(&paper->figures[i], id))
            p.figures[p.n_figures++].figure = &paper->figures[i];
    if (id && !p.n_claims && !p.n_figures) {
        free(p.claims);
        free(p.figures);
        return false;
    }
    board->runs.options = board->options;
    for (uint32_t i = 0; i < p.n_claims; i++)
        add_claim(board, paper, &p.claims[i]);
    for (uint32_t i = 0; i < p.n_figures; i++)
        p.figures[i].set = add_runs(board, paper, &p.figures[i].figure->experiment);
    board->papers[board->n_papers++] = p;
    return true;
}

static const struct run_set *set_of(const struct scoreboard *board, uint32_t set)
{
    return set == SCOREBOARD_NOT_RUN ? NULL : &board->runs.sets[set];
}

static void judge(const struct scoreboard *board, const struct paper *paper, struct scored_claim *s)
{
    judge_claim(paper, s->claim, board->options, set_of(board, s->set), &s->judgement);
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        judge(board, paper, &s->readings[i]);
}

void scoreboard_judge(struct scoreboard *board)
{
    for (uint32_t k = 0; k < board->n_papers; k++) {
        struct scored_paper *p = &board->papers[k];
        for (uint32_t i = 0; i < p->n_claims; i++)
            judge(board, p->paper, &p->claims[i]);
        for (uint32_t i = 0; i < p->n_figures; i++)
            judge_figure(p->paper, p->figures[i].figure, board->options,
                         set_of(board, p->figures[i].set), &p->figures[i].drawing);
    }
}

static void free_claim(struct scored_claim *s)
{
    judge_fini(&s->judgement);
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        free_claim(&s->readings[i]);
    free(s->readings);
}

void scoreboard_fini(struct scoreboard *board)
{
    for (uint32_t k = 0; k < board->n_papers; k++) {
        struct scored_paper *p = &board->papers[k];
        for (uint32_t i = 0; i < p->n_claims; i++)
            free_claim(&p->claims[i]);
        for (uint32_t i = 0; i < p->n_figures; i++)
            drawing_fini(&p->figures[i].drawing);
        free(p->claims);
        free(p->figures);
        claims_destroy(p->paper);
    }
    free(board->papers);
    runs_fini(&board->runs);
}

static void count_changes(const struct scored_claim *s, struct scoreboard_counts *c)
{
    const struct judgement *j = &s->judgement;
    c->n_worse += j->is_worse;
    c->n_better += j->is_better;
    c->n_bad_input += j->found == VERDICT_ERROR && j->is_bad_input;
    c->n_broken += j->found == VERDICT_ERROR && !j->is_bad_input;
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        count_changes(&s->readings[i], c);
}

struct scoreboard_counts scoreboard_count(const struct scoreboard *board)
{
    struct scoreboard_counts c = {0};
    for (uint32_t k = 0; k < board->n_papers; k++) {
        const struct scored_paper *p = &board->papers[k];
        c.n_claims += p->n_claims;
        for (uint32_t i = 0; i < p->n_claims; i++) {
            c.verdicts[p->claims[i].judgement.found]++;
            count_changes(&p->claims[i], &c);
        }
        for (uint32_t i = 0; i < p->n_figures; i++) {
            const struct drawing *d = &p->figures[i].drawing;
            c.n_bad_input += d->state == VERDICT_ERROR && d->is_bad_input;
            c.n_broken += d->state == VERDICT_ERROR && !d->is_bad_input;
        }
    }
    return c;
}

static bool is_same_error(const struct xoff_err *a, const struct xoff_err *b)
{
    return !strcmp(a->file, b->file) && a->line == b->line && a->column == b->column &&
           !strcmp(a->message, b->message);
}

/* Errors, each once. */
struct error_list {
    const struct xoff_err **errors;
    uint32_t n;
};

static void add_error(struct error_list *list, const struct xoff_err *err)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (is_same_error(list->errors[i], err))
            return;
    list->errors = realloc(list->errors, (list->n + 1) * sizeof *list->errors);
    XOFF_ASSERT(list->errors);
    list->errors[list->n++] = err;
}

static void add_claim_errors(struct error_list *list, const struct scored_claim *s)
{
    if (s->judgement.found == VERDICT_ERROR)
        add_error(list, &s->judgement.err);
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        add_claim_errors(list, &s->readings[i]);
}

void scoreboard_errors(const struct scoreboard *board, void (*say)(const struct xoff_err *err))
{
    struct error_list list = {0};
    for (uint32_t k = 0; k < board->n_papers; k++) {
        const struct scored_paper *p = &board->papers[k];
        for (uint32_t i = 0; i < p->n_claims; i++)
            add_claim_errors(&list, &p->claims[i]);
        for (uint32_t i = 0; i < p->n_figures; i++)
            if (p->figures[i].drawing.state == VERDICT_ERROR)
                add_error(&list, &p->figures[i].drawing.err);
    }
    for (uint32_t i = 0; i < list.n; i++)
        say(list.errors[i]);
    free(list.errors);
}

/* Columns of the table. */
enum { COLUMN_CLAIM, COLUMN_PLACE, COLUMN_PUBLISHED, COLUMN_MEASURED, N_COLUMNS };
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

static void make_row(const struct scored_claim *s, struct row *row)
{
    const struct claim *c = s->claim;
    const struct judgement *j = &s->judgement;
    char text[160], least[32], most[32];
    fill(row->cells[COLUMN_CLAIM], c->id);
    fill(row->cells[COLUMN_PLACE], c->place);
    snprintf(text, sizeof text, "%.6g%s%s", c->published, *c->unit ? " " : "", c->unit);
    fill(row->cells[COLUMN_PUBLISHED], c->has_published    ? text
                                       : c->published_text ? c->published_text
                                                           : "-");
    snprintf(least, sizeof least, "%.4g", j->measured.min);
    snprintf(most, sizeof most, "%.4g", j->measured.max);
    if (!j->values)
        snprintf(text, sizeof text, "-");
    else if (!strcmp(least, most)) /* equal at this many digits */
        snprintf(text, sizeof text, "%.4g%s%s", j->measured.mean, *c->unit ? " " : "", c->unit);
    else
        snprintf(text, sizeof text, "%.4g%s%s (%s .. %s)", j->measured.mean, *c->unit ? " " : "",
                 c->unit, least, most);
    fill(row->cells[COLUMN_MEASURED], text);
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

#define NOTE_WIDTH 96

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
        if (!is_first && column + 1 + width(word) > NOTE_WIDTH) {
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

/* Prints the verdict and the reasons for it. */
static void print_verdict(FILE *out, const struct scoreboard_style *s, const struct claim *claim,
                          const struct judgement *j)
{
    fprintf(out, "%s%s%s", colour_of(j->found, s), verdict_texts[j->found], s->off);
    if (j->is_worse)
        fprintf(out, ", %s%sworse than recorded%s (%s)", s->bold, s->red, s->off,
                verdict_texts[claim->recorded]);
    if (j->is_better)
        fprintf(out, ", better than recorded (%s): update " CLAIMS_FILE,
                verdict_texts[claim->recorded]);
    fputc('\n', out);
    if (j->found == VERDICT_ERROR)
        print_note(out, s, "", j->err.message);
    else if (j->found == claim->recorded && j->found != VERDICT_HOLDS)
        print_note(out, s, "why: ", claim->why);
    if (j->has_direction && j->found == VERDICT_FAILS)
        print_note(out, s, "direction: ", j->direction_detail);
}

static void print_row(FILE *out, const struct row *row, const int widths[N_COLUMNS])
{
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        fprintf(out, "  %s%*s", row->cells[c], widths[c] - width(row->cells[c]), "");
    fputs("  ", out);
}

static void print_paper(const struct scored_paper *p, const struct scoreboard_style *s, FILE *out)
{
    static const struct row head = {{"claim", "place", "published", "measured"}};
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
    fprintf(out, "%s%s%s: %s\n", s->bold, p->paper->name, s->off, p->paper->title);
    if (p->n_claims) {
        fputs(s->dim, out);
        print_row(out, &rows[p->n_claims], widths);
        fprintf(out, "verdict%s\n", s->off);
    }
    for (uint32_t i = 0; i < p->n_claims; i++) {
        print_row(out, &rows[i], widths);
        print_verdict(out, s, p->claims[i].claim, &p->claims[i].judgement);
    }
    for (uint32_t i = 0; i < p->n_figures; i++) {
        const struct drawing *d = &p->figures[i].drawing;
        fprintf(out, "  figure %s: %s%s%s\n", p->figures[i].figure->id, p->figures[i].figure->title,
                d->state == VERDICT_LEFT_OUT ? ", not in --quick" : "",
                d->state == VERDICT_ERROR ? ", error" : "");
        if (d->state == VERDICT_ERROR)
            print_note(out, s, "", d->err.message);
    }
    fputc('\n', out);
    free(rows);
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
