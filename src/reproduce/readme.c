/* README.md of a paper (readme.h), in Markdown: the count first, then each chapter as a table with
 * the reasons for what does not hold under it. What cannot count as reproduced (figures that went
 * in, parameters that were chosen, variants of our own) has sections of its own, and so have the
 * readings. The text is made of claims.yaml and results.json alone. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/readme.h"
#include "stats/text_stream.h"

/* Prints text on one line, its words one space apart; '|' would end a cell of a table. */
static void put_text(FILE *out, const char *text)
{
    bool is_first = true;
    for (size_t n; text += strspn(text, " \t\n"), (n = strcspn(text, " \t\n")); text += n) {
        if (!is_first)
            fputc(' ', out);
        is_first = false;
        for (size_t i = 0; i < n; i++)
            fprintf(out, text[i] == '|' ? "\\%c" : "%c", text[i]);
    }
}

/* Prints a sentence, with a full stop unless it has an end of its own. */
static void put_sentence(FILE *out, const char *text)
{
    size_t n = strlen(text);
    while (n && strchr(" \t\n", text[n - 1]))
        n--;
    put_text(out, text);
    if (n && !strchr(".!?", text[n - 1]))
        fputc('.', out);
}

static void put_quote(FILE *out, const char *quote)
{
    fputs(" The paper: \"", out);
    put_text(out, quote);
    fputs("\"", out);
    const size_t n = strlen(quote);
    if (n && !strchr(".!?", quote[n - 1]))
        fputc('.', out);
}

/* Which claims a section is about. */
typedef bool choose(const struct claim *claim);

static bool is_counted(const struct claim *c)
{
    return c->kind != KIND_OWN && c->strength == STRENGTH_INDEPENDENT;
}

static bool is_returned(const struct claim *c)
{
    return c->strength == STRENGTH_RETURNED;
}

static bool is_tuned(const struct claim *c)
{
    return c->strength == STRENGTH_TUNED;
}

static bool is_own(const struct claim *c)
{
    return c->kind == KIND_OWN && c->strength == STRENGTH_INDEPENDENT;
}

/* `chapter` is NULL for all, "" for claims without one. */
static bool is_in_chapter(const struct claim *c, const char *chapter)
{
    return !chapter || !strcmp(c->chapter ? c->chapter : "", chapter);
}

static void put_row(FILE *out, const struct scored_claim *s, bool has_reason)
{
    const struct claim *c = s->claim;
    const struct judgement *j = &s->judgement;
    char published[256], measured[256];
    scoreboard_published(c, published, sizeof published);
    scoreboard_measured(c, j, measured, sizeof measured);
    fputs("| ", out);
    put_text(out, c->statement);
    fprintf(out, " (`%s`) | ", c->id);
    put_text(out, c->place);
    fputs(" | ", out);
    put_text(out, published);
    fputs(" | ", out);
    if (j->values || !*j->direction_detail) {
        put_text(out, measured);
    } else { /* the comparison with its figures */
        fputc('`', out);
        put_text(out, j->direction_detail);
        fputc('`', out);
    }
    if (j->n_seeds)
        fprintf(out, " | %u | ", j->n_seeds);
    else
        fputs(" | - | ", out);
    if (has_reason) {
        put_text(out, c->strength_why);
        fputs(" | ", out);
    }
    fprintf(out, j->found == VERDICT_HOLDS ? "%s |\n" : "**%s** |\n", verdict_texts[j->found]);
}

/* Says why a claim does not hold, with the paper's words beside ours. */
static void put_reason(FILE *out, const struct scored_claim *s)
{
    const struct claim *c = s->claim;
    const struct judgement *j = &s->judgement;
    char text[256];
    fprintf(out, "- `%s` (", c->id);
    put_text(out, c->place);
    fprintf(out, ") %s.", verdict_texts[j->found]);
    if (c->quote)
        put_quote(out, c->quote);
    if (j->values) {
        scoreboard_measured(c, j, text, sizeof text);
        fputs(" Measured: ", out);
        put_text(out, text);
        if (c->kind == KIND_NUMBER) {
            scoreboard_published(c, text, sizeof text);
            fputs("; published: ", out);
            put_text(out, text);
        }
        fputc('.', out);
    }
    if (j->found == VERDICT_LEFT_OUT) {
        fputs(" It has not been run since it was written.\n", out);
        return;
    }
    fputc(' ', out);
    if (c->why)
        put_sentence(out, c->why);
    fputc('\n', out);
}

static void put_table(FILE *out, const struct scored_paper *p, choose *is_chosen,
                      const char *chapter, const char *reason)
{
    fprintf(out, "| claim | place | paper | measured | seeds |%s%s%s verdict |\n",
            reason ? " " : "", reason ? reason : "", reason ? " |" : "");
    fprintf(out, "|---|---|---|---|---|%s---|\n", reason ? "---|" : "");
    bool all_hold = true;
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct scored_claim *s = &p->claims[i];
        if (!is_chosen(s->claim) || !is_in_chapter(s->claim, chapter))
            continue;
        put_row(out, s, reason);
        all_hold &= s->judgement.found == VERDICT_HOLDS;
    }
    fputc('\n', out);
    if (all_hold)
        return;
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct scored_claim *s = &p->claims[i];
        if (is_chosen(s->claim) && is_in_chapter(s->claim, chapter) &&
            s->judgement.found != VERDICT_HOLDS)
            put_reason(out, s);
    }
    fputc('\n', out);
}

static uint32_t count(const struct scored_paper *p, choose *is_chosen)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_claims; i++)
        n += is_chosen(p->claims[i].claim);
    return n;
}

/* Chapters in the order of their first claims; claims without one come last. */
static void put_chapters(FILE *out, const struct scored_paper *p)
{
    bool has_rest = false;
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct claim *c = p->claims[i].claim;
        if (!is_counted(c))
            continue;
        has_rest |= !c->chapter;
        bool is_first = c->chapter;
        for (uint32_t k = 0; k < i && is_first; k++)
            is_first =
                !is_counted(p->claims[k].claim) || !is_in_chapter(p->claims[k].claim, c->chapter);
        if (!is_first)
            continue;
        fputs("## ", out);
        put_text(out, c->chapter);
        fputs("\n\n", out);
        put_table(out, p, is_counted, c->chapter, NULL);
    }
    if (!has_rest)
        return;
    fputs("## Other claims\n\n", out);
    put_table(out, p, is_counted, "", NULL);
}

static void put_section(FILE *out, const struct scored_paper *p, choose *is_chosen,
                        const char *title, const char *lead, const char *reason)
{
    if (!count(p, is_chosen))
        return;
    fprintf(out, "## %s\n\n%s\n\n", title, lead);
    put_table(out, p, is_chosen, NULL, reason);
}

static void put_reading(FILE *out, const struct scored_paper *p, uint32_t reading)
{
    const struct reading *r = &p->paper->readings[reading];
    fprintf(out, "- **%s**: ", r->id);
    put_sentence(out, r->title);
    if (r->text) {
        fputc(' ', out);
        put_sentence(out, r->text);
    }
    const struct scoreboard_reading found = scoreboard_read(p, reading);
    if (reading != PLAIN_READING)
        fprintf(out, " %s. %u of %u hold; by the plain reading %u of the same %u.",
                r->is_after_the_fact ? "It was found after the results were known"
                                     : "It was known before the runs",
                found.own.n_held, found.own.n_all, found.plain.n_held, found.plain.n_all);
    else
        fprintf(out, " %u of %u hold.", found.own.n_held, found.own.n_all);
    fputc('\n', out);
}

/* Says why a claim does not hold under a reading, unless the reason is that of the plain one. There
 * were n before; returns how many there are with these. */
static uint32_t put_reading_reasons(FILE *out, const struct scored_paper *p, uint32_t reading,
                                    uint32_t n)
{
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct scored_claim *plain = &p->claims[i], *own = scoreboard_under(plain, reading);
        if (own == plain || !own || !own->claim->why || own->claim->why == plain->claim->why)
            continue;
        if (!n++)
            fputs("Why a claim does not hold under a reading, where the reason is another than "
                  "above:\n\n",
                  out);
        fprintf(out, "- `%s`, %s: %s. ", own->claim->id, p->paper->readings[reading].id,
                verdict_texts[own->judgement.found]);
        put_sentence(out, own->claim->why);
        fputc('\n', out);
    }
    return n;
}

/* Prints the claims of one chapter, from its first that has other readings. */
static void put_chapter_readings(FILE *out, const struct scored_paper *p, uint32_t first)
{
    const struct paper *paper = p->paper;
    if (p->claims[first].claim->chapter) {
        fputs("### ", out);
        put_text(out, p->claims[first].claim->chapter);
        fputs("\n\n", out);
    }
    fputs("| claim | paper |", out);
    for (uint32_t r = 0; r < paper->n_readings; r++)
        if (scoreboard_is_read(p, first, r))
            fprintf(out, " %s |", paper->readings[r].id);
    fputs("\n|---|---|", out);
    for (uint32_t r = 0; r < paper->n_readings; r++)
        if (scoreboard_is_read(p, first, r))
            fputs("---|", out);
    fputc('\n', out);
    for (uint32_t i = first; i < p->n_claims; i++) {
        const struct scored_claim *s = &p->claims[i];
        char text[256];
        if (!s->claim->n_readings || !scoreboard_is_beside(s, &p->claims[first]))
            continue;
        scoreboard_published(s->claim, text, sizeof text);
        fprintf(out, "| `%s` | ", s->claim->id);
        put_text(out, text);
        fputs(" |", out);
        for (uint32_t r = 0; r < paper->n_readings; r++) {
            const struct scored_claim *own = scoreboard_under(s, r);
            if (!scoreboard_is_read(p, first, r))
                continue;
            fprintf(out, " %s", own ? verdict_texts[own->judgement.found] : "-");
            if (own && own->judgement.values)
                fprintf(out, ": %.4g", own->judgement.measured.mean);
            fputs(" |", out);
        }
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void put_readings(FILE *out, const struct scored_paper *p)
{
    uint32_t n = 0, n_reasons = 0;
    for (uint32_t i = 0; i < p->n_claims; i++)
        n += p->claims[i].claim->n_readings > 0;
    if (!n)
        return;
    fputs("## Readings\n\nThe text can be understood in more than one way. Each reading is a "
          "column; none is picked claim by claim, and only the plain one counts above.\n\n",
          out);
    for (uint32_t r = 0; r < p->paper->n_readings; r++)
        put_reading(out, p, r);
    fputc('\n', out);
    for (uint32_t i = 0; i < p->n_claims; i++)
        if (scoreboard_opens_readings(p, i))
            put_chapter_readings(out, p, i);
    for (uint32_t r = PLAIN_READING + 1; r < p->paper->n_readings; r++)
        n_reasons = put_reading_reasons(out, p, r, n_reasons);
    if (n_reasons)
        fputc('\n', out);
}

/* "1 holds", "2 hold" */
static const char *s_of(uint32_t n)
{
    return n == 1 ? "s" : "";
}

/* The count of what is reproduced, and of what is not. */
static void put_head(FILE *out, const struct scored_paper *p)
{
    struct scoreboard_totals t;
    uint32_t n[N_VERDICTS] = {0};
    scoreboard_total(p, 1, &t);
    for (uint32_t i = 0; i < p->n_claims; i++)
        n[p->claims[i].judgement.found] += is_counted(p->claims[i].claim);
    const struct scoreboard_share *number = &t.cells[KIND_NUMBER][STRENGTH_INDEPENDENT],
                                  *direction = &t.cells[KIND_DIRECTION][STRENGTH_INDEPENDENT];
    fprintf(out, "**%u of %u independent claims hold.** ", t.reproduced.n_held, t.reproduced.n_all);
    fprintf(
        out,
        "The paper states %u of them as a number (%u hold%s) and %u as a direction (%u hold%s). ",
        number->n_all, number->n_held, s_of(number->n_held), direction->n_all, direction->n_held,
        s_of(direction->n_held));
    fprintf(out, "The others: %u hold%s in direction only, %u %s not hold, %u cannot be tested",
            n[VERDICT_DIRECTION], s_of(n[VERDICT_DIRECTION]), n[VERDICT_FAILS],
            n[VERDICT_FAILS] == 1 ? "does" : "do", n[VERDICT_UNTESTABLE]);
    if (n[VERDICT_LEFT_OUT])
        fprintf(out, ", %u not run yet", n[VERDICT_LEFT_OUT]);
    fputs("; the reason for each stands under its table.\n\n", out);
    fprintf(
        out,
        "Counted apart, in sections of their own: %u returned (a figure of the paper went into "
        "the model and comes out again), %u tuned (a parameter was chosen so that they hold), %u "
        "of our own (variants and checks that the paper does not make).\n\n",
        count(p, is_returned), count(p, is_tuned), count(p, is_own));
    fputs("| held of all | independent | returned | tuned |\n|---|---|---|---|\n", out);
    for (uint32_t kind = 0; kind < N_KINDS; kind++) {
        fprintf(out, "| %s |", kind_words[kind]);
        for (uint32_t strength = 0; strength < N_STRENGTHS; strength++) {
            const struct scoreboard_share *cell = &t.cells[kind][strength];
            if (cell->n_all)
                fprintf(out, " %u of %u |", cell->n_held, cell->n_all);
            else
                fputs(" - |", out);
        }
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void put_remarks(FILE *out, const struct paper *p)
{
    if (p->n_remarks)
        fputs("## In short\n\n", out);
    for (uint32_t i = 0; i < p->n_remarks; i++) {
        fputs("- *", out);
        put_text(out, p->remarks[i].place);
        fputs(".* ", out);
        put_sentence(out, p->remarks[i].text);
        fputc('\n', out);
    }
    if (p->n_remarks)
        fputc('\n', out);
}

static void put_contradictions(FILE *out, const struct paper *p)
{
    if (!p->n_contradictions)
        return;
    fputs("## Contradictions of the source\n\n| place | what does not fit | what is done here |\n"
          "|---|---|---|\n",
          out);
    for (uint32_t i = 0; i < p->n_contradictions; i++) {
        const struct remark *c = &p->contradictions[i];
        fputs("| ", out);
        put_text(out, c->place);
        fputs(" | ", out);
        put_text(out, c->text);
        fputs(" | ", out);
        put_text(out, c->choice);
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

char *readme_text(const struct scored_paper *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    XOFF_ASSERT(out);
    fputs("# ", out);
    put_text(out, p->paper->title);
    fputs("\n\n", out);
    put_sentence(out, p->paper->source);
    fputs("\n\n", out);
    put_head(out, p);
    fprintf(out,
            "Measured at full length with xoff %s; `%s` is the digest of all runs. "
            "`xoff reproduce %s` runs them again and draws the figures. The columns give the mean "
            "(or the median, where `average` says so) over the seeds and, where they differ, the "
            "smallest and the largest. "
            "[Reproducing papers](../../docs/reproducing.md) says what the words mean.\n\n",
            shipped_version(p->shipped), shipped_digest(p->shipped), p->paper->name);
    if (p->paper->about) {
        put_sentence(out, p->paper->about);
        fputs("\n\n", out);
    }
    put_remarks(out, p->paper);
    put_chapters(out, p);
    put_section(out, p, is_returned, "Returned",
                "A figure of the paper went into the model and comes out again. Such a claim tests "
                "the mechanism, not the paper's number.",
                "what went in");
    put_section(out, p, is_tuned, "Tuned",
                "A parameter that the paper leaves open was chosen so that the claim holds. How "
                "far the choice carries is said for each.",
                "what was chosen");
    put_section(out, p, is_own, "Our own variants and checks",
                "The paper does not make these claims.", NULL);
    put_readings(out, p);
    put_contradictions(out, p->paper);
    fprintf(out,
            "<!-- Made of " CLAIMS_FILE " and " SHIPPED_FILE
            " by: xoff reproduce %s --readme -->\n",
            p->paper->name);
    text_stream_close(out, &text);
    return text;
}
