/* An explanation for people: the paragraph, then the evidence of each root. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/parts.h"
#include "stats/text_stream.h"

#define COLUMNS 80
#define MOST_ROOTS 4
#define MOST_SHOWN_VICTIMS 3

/* Whether a word such as "us," or "KB-seconds" is the unit of the number before it. */
static bool is_unit(const char *word)
{
    static const char *const units[] = {"%",  "ps", "ns",  "us",   "ms",   "s",    "B",   "KB",
                                        "MB", "GB", "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if (!strncmp(word, units[i], n) && !isalnum((unsigned char)word[n]))
            return true;
    }
    return false;
}

/* Writes words broken into lines; the first begins with `head`, the others are indented as far. */
static void wrap(FILE *out, const char *head, const char *words)
{
    const size_t indent = strlen(head);
    size_t column = indent;
    fputs(head, out);
    for (bool is_first = true; *words; is_first = false) {
        const size_t space = strspn(words, " \n");
        words += space;
        size_t n = strcspn(words, " \n");
        if (n && isdigit((unsigned char)words[n - 1]) && words[n] == ' ' && is_unit(words + n + 1))
            n += 1 + strcspn(words + n + 1, " \n");
        if (!is_first && column + 1 + n > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first && n) {
            fputc(' ', out);
            column++;
        }
        fwrite(words, 1, n, out);
        column += n;
        words += n;
    }
    fputc('\n', out);
}

static void wrap_taken(FILE *out, const char *head, char *words)
{
    if (*words)
        wrap(out, head, words);
    free(words);
}

static void write_root(FILE *out, const struct explanation *e, uint32_t index, double all)
{
    const struct root *root = &e->roots[index];
    const double harm = root->harm_byte_s + root->operations_byte_s;
    const struct sureness sure = words_sure(e, root);
    char head[160], *title = words_title(e, root);
    fputc('\n', out);
    snprintf(head, sizeof head, "  %u. ", index + 1);
    wrap(out, head, title);
    free(title);
    if (index)
        wrap_taken(out, "     what      ", words_what(e, root));
    snprintf(head, sizeof head, "%s of waiting, %.0f %% of all",
             words_harm((char[WORDS_FIGURE]){0}, harm), all > 0 ? 100 * harm / all : 0);
    wrap(out, "     harm      ", head);
    wrap_taken(out, "     chain     ", words_chain(e, root));
    for (uint32_t i = 0; i < root->n_victims && i < MOST_SHOWN_VICTIMS; i++)
        wrap_taken(out, i ? "               " : "     flows     ",
                   words_victim(e, &root->victims[i]));
    wrap_taken(out, "     jobs      ", words_jobs(e, root));
    json_t *evidence = words_evidence(e, root), *sentence;
    size_t i;
    json_array_foreach(evidence, i, sentence)
        wrap(out, i ? "               " : "     evidence  ", json_string_value(sentence));
    json_decref(evidence);
    const struct explain_remedy *remedies[MOST_REMEDIES];
    const uint32_t n = kind_remedies(e, root, remedies);
    for (uint32_t k = 0; k < n; k++)
        wrap(out, k ? "               " : "     may help  ", remedies[k]->words);
    char *line;
    XOFF_ASSERT(asprintf(&line, "%s: %s", sure.level, sure.why) >= 0);
    wrap_taken(out, "     sure      ", line);
}

char *explain_text(const struct explanation *e, bool is_brief)
{
    char *text;
    size_t size;
    double all = 0;
    FILE *out = open_memstream(&text, &size);
    XOFF_ASSERT(out);
    for (uint32_t i = 0; i < e->n_roots; i++)
        all += e->roots[i].harm_byte_s + e->roots[i].operations_byte_s;
    if (*e->variant)
        fprintf(out, "%s\n", e->variant);
    wrap_taken(out, "  ", words_headline(e));
    if (e->difference)
        wrap(out, "  ", e->difference);
    const uint32_t n_shown = is_brief ? 0 : e->n_named < MOST_ROOTS ? e->n_named : MOST_ROOTS;
    for (uint32_t i = 0; i < n_shown; i++)
        write_root(out, e, i, all);
    if (!is_brief && e->n_named > n_shown)
        fprintf(out, "\n  %u more roots with less harm: see -j.\n", e->n_named - n_shown);
    text_stream_close(out, &text);
    return text;
}
