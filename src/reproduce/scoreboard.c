/* The scoreboard (scoreboard.h): chooses claims, judges and counts them. */
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
    if (board->options->runs_nothing || (board->options->is_quick && e->is_left_out_of_quick))
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

bool scoreboard_add(struct scoreboard *board, struct paper *paper, struct shipped *shipped,
                    const char *id)
{
    struct scored_paper p = {.paper = paper,
                             .shipped = shipped,
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

/* `reading` is NULL for the plain one. */
static void judge(const struct scoreboard *board, const struct scored_paper *p,
                  struct scored_claim *s, const char *reading)
{
    judge_claim(p->paper, s->claim, board->options, set_of(board, s->set), &s->judgement);
    if (p->shipped && s->judgement.found == VERDICT_LEFT_OUT)
        s->has_shipped = shipped_claim(p->shipped, s->claim, reading, &s->shipped);
    if (s->has_shipped && board->options->runs_nothing) {
        s->judgement = s->shipped;
        s->shipped = (struct judgement){0};
        s->has_shipped = false;
    }
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        judge(board, p, &s->readings[i], p->paper->readings[s->claim->readings[i].reading].id);
}

static void draw(const struct scoreboard *board, const struct scored_paper *p,
                 struct scored_figure *f)
{
    judge_figure(p->paper, f->figure, board->options, set_of(board, f->set), &f->drawing);
    struct drawing shipped;
    if (p->shipped && f->drawing.state == VERDICT_LEFT_OUT &&
        shipped_figure(p->shipped, f->figure, &shipped)) {
        f->drawing = shipped;
        f->is_shipped = true;
    }
}

void scoreboard_judge(struct scoreboard *board)
{
    for (uint32_t k = 0; k < board->n_papers; k++) {
        struct scored_paper *p = &board->papers[k];
        for (uint32_t i = 0; i < p->n_claims; i++)
            judge(board, p, &p->claims[i], NULL);
        for (uint32_t i = 0; i < p->n_figures; i++)
            draw(board, p, &p->figures[i]);
    }
}

static void say_stale(const struct scored_paper *p, const struct claim *c, const char *reading,
                      void (*say)(const struct paper *, const struct claim *, const char *, bool))
{
    const bool is_known = p->shipped && shipped_knows(p->shipped, c, reading);
    if (!is_known || shipped_is_changed(p->shipped, c, reading))
        say(p->paper, c, reading ? reading : "", is_known);
}

void scoreboard_stale(const struct scoreboard *board,
                      void (*say)(const struct paper *paper, const struct claim *claim,
                                  const char *reading, bool is_known))
{
    for (uint32_t k = 0; k < board->n_papers; k++) {
        const struct scored_paper *p = &board->papers[k];
        for (uint32_t i = 0; i < p->n_claims; i++) {
            const struct claim *c = p->claims[i].claim;
            say_stale(p, c, NULL, say);
            for (uint32_t r = 0; r < c->n_readings; r++)
                say_stale(p, c->readings[r].claim, p->paper->readings[c->readings[r].reading].id,
                          say);
        }
    }
}

static void free_claim(struct scored_claim *s)
{
    judge_fini(&s->judgement);
    judge_fini(&s->shipped);
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
        shipped_destroy(p->shipped);
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

void scoreboard_total(const struct scored_paper *papers, uint32_t n, struct scoreboard_totals *out)
{
    *out = (struct scoreboard_totals){0};
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < papers[k].n_claims; i++) {
            const struct claim *c = papers[k].claims[i].claim;
            const enum verdict found = papers[k].claims[i].judgement.found;
            struct scoreboard_share *cell = &out->cells[c->kind][c->strength];
            out->n_left_out += found == VERDICT_LEFT_OUT;
            cell->n_all += found != VERDICT_LEFT_OUT;
            cell->n_held += found == VERDICT_HOLDS;
        }
    for (uint32_t kind = 0; kind < KIND_OWN; kind++) {
        const struct scoreboard_share *cell = &out->cells[kind][STRENGTH_INDEPENDENT];
        out->reproduced.n_all += cell->n_all;
        out->reproduced.n_held += cell->n_held;
    }
}

const struct scored_claim *scoreboard_under(const struct scored_claim *s, uint32_t reading)
{
    for (uint32_t i = 0; i < s->claim->n_readings; i++)
        if (s->claim->readings[i].reading == reading)
            return &s->readings[i];
    return reading == PLAIN_READING ? s : NULL;
}

/* Left out where it was not run, like a claim in the totals. */
static void count_share(const struct scored_claim *s, struct scoreboard_share *share)
{
    share->n_all += s->judgement.found != VERDICT_LEFT_OUT;
    share->n_held += s->judgement.found == VERDICT_HOLDS;
}

struct scoreboard_reading scoreboard_read(const struct scored_paper *p, uint32_t reading)
{
    struct scoreboard_reading r = {0};
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct scored_claim *s = &p->claims[i], *own = scoreboard_under(s, reading);
        if (!s->claim->n_readings || !own)
            continue;
        count_share(own, &r.own);
        if (own->judgement.found != VERDICT_LEFT_OUT)
            count_share(s, &r.plain);
    }
    return r;
}

bool scoreboard_is_beside(const struct scored_claim *a, const struct scored_claim *b)
{
    const char *const one = a->claim->chapter, *const other = b->claim->chapter;
    return !strcmp(one ? one : "", other ? other : "");
}

bool scoreboard_opens_readings(const struct scored_paper *p, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (p->claims[k].claim->n_readings && scoreboard_is_beside(&p->claims[k], &p->claims[i]))
            return false;
    return p->claims[i].claim->n_readings > 0;
}

bool scoreboard_is_read(const struct scored_paper *p, uint32_t i, uint32_t reading)
{
    for (uint32_t k = 0; k < p->n_claims; k++)
        if (p->claims[k].claim->n_readings && scoreboard_is_beside(&p->claims[k], &p->claims[i]) &&
            scoreboard_under(&p->claims[k], reading))
            return true;
    return false;
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
