/* Metrics that a sweep asks for, against those that runs of its scenario can have (sweep.h).
 *
 * The names that there can be follow from the traffic entries and curves of the plans, so that a
 * typo is told before anything is run. A metric that some point lacks, because none of its flows
 * finished, is no mistake.
 */
#include <stdlib.h>
#include <string.h>

#include "scenario/sections.h"
#include "sweep/sweep.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

static struct metric_words sweep_words(const struct sweep *s)
{
    return (struct metric_words){s->words.entries, s->words.n_entries, s->words.curves,
                                 s->words.n_curves};
}

/* Plans mostly have the same entries in the same places: `near` is looked at first. */
static void add_entry(struct sweep_words *w, const char *text, uint32_t near)
{
    if (near < w->n_entries && !strcmp(w->entries[near].text, text))
        return;
    for (uint32_t i = 0; i < w->n_entries; i++)
        if (!strcmp(w->entries[i].text, text))
            return;
    w->entries = take(realloc(w->entries, (w->n_entries + 1) * sizeof *w->entries));
    snprintf(w->entries[w->n_entries++].text, sizeof w->entries->text, "%s", text);
}

static void add_curve(struct sweep_words *w, const struct plan_curve *curve)
{
    for (uint32_t i = 0; i < w->n_curves; i++)
        if (!strcmp(w->curves[i].name, curve->name))
            return;
    w->curves = take(realloc(w->curves, (w->n_curves + 1) * sizeof *w->curves));
    struct metric_curve *added = &w->curves[w->n_curves++];
    snprintf(added->name, sizeof added->name, "%s", curve->name);
    added->metric = (uint8_t)curve->of;
}

void sweep_add_words(struct sweep *s, const struct plan *plan)
{
    struct metric_label *labels = take(calloc(plan->n_traffic + 1, sizeof *labels));
    const char **names = take(calloc(plan->n_traffic + 1, sizeof *names));
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        names[i] = plan->traffic[i].name;
    metric_labels(names, plan->n_traffic, labels);
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        add_entry(&s->words, labels[i].text, i);
    for (uint32_t i = 0; i < plan->n_curves; i++)
        add_curve(&s->words, &plan->curves[i]);
    free(names);
    free(labels);
}

/* Gives an error its place: in the file, unless it is about an option. */
static int locate(const struct sweep *s, struct plan_place place, struct xoff_err *err)
{
    if (place.line) {
        snprintf(err->file, sizeof err->file, "%s", s->file->file);
        err->line = place.line;
        err->column = place.column;
    }
    return -(int)err->code;
}

struct names {
    char **list;
    uint32_t n, next;
};

static const char *next_name(void *state)
{
    struct names *names = state;
    return names->next < names->n ? names->list[names->next++] : NULL;
}

static int fail_unknown(const struct sweep *s, const char *subject, const struct sweep_name *name,
                        struct xoff_err *err)
{
    const struct metric_words words = sweep_words(s);
    struct metric_walk walk = {.words = &words};
    struct names names = {0};
    for (const char *next; (next = metric_walk_next(&walk)); names.n++) {
        names.list = take(realloc(names.list, (names.n + 1) * sizeof *names.list));
        names.list[names.n] = take(strdup(next));
    }
    const char *near = nearest_word(name->text, next_name, &names);
    xoff_err_set(err, XOFF_E_UNKNOWN, subject, name->text,
                 "no run of the scenario can have this metric");
    xoff_err_add(err, near ? "; did you mean " : "; docs/results.md has all names");
    xoff_err_add(err, near ? near : "");
    xoff_err_add(err, near ? "?" : "");
    for (uint32_t i = 0; i < names.n; i++)
        free(names.list[i]);
    free(names.list);
    return locate(s, name->place, err);
}

static int check_names(const struct sweep *s, const char *subject, const struct sweep_names *names,
                       struct xoff_err *err)
{
    const struct metric_words words = sweep_words(s);
    for (uint32_t i = 0; i < names->n; i++)
        if (!sweep_file_axis(s->file, names->list[i].text) &&
            !metric_unit(&words, names->list[i].text))
            return fail_unknown(s, subject, &names->list[i], err);
    return 0;
}

/* What a tolerance of a metric in that unit may be. */
static const char *accepted(const char *unit)
{
    return !strcmp(unit, "s")     ? "a time (ps ns us ms s)"
           : !strcmp(unit, "bps") ? "a rate (bps kbps Mbps Gbps Tbps)"
           : !strcmp(unit, "B")   ? "a size (B KB MB GB KiB MiB GiB)"
                                  : "a number without a unit";
}

static int check_until(const struct sweep *s, struct xoff_err *err)
{
    const struct sweep_until *until = &s->options->until;
    const struct metric_words words = sweep_words(s);
    const char *subject = until->place.line ? "until" : "--until";
    const char *unit = metric_unit(&words, until->metric);
    if (!unit)
        return fail_unknown(s, subject, &(struct sweep_name){until->metric, until->place}, err);
    if (until_fits(until, unit))
        return 0;
    xoff_err_set(err, XOFF_E_UNIT, subject, until->given, "wrong or missing unit; a tolerance of ");
    xoff_err_add(err, until->metric);
    xoff_err_add(err, " is ");
    xoff_err_add(err, accepted(unit));
    xoff_err_add(err, ", or a share of the mean such as 5%");
    return locate(s, until->place, err);
}

int sweep_check_metrics(const struct sweep *s, struct xoff_err *err)
{
    int rc = check_names(s, "metrics", &s->file->metrics, err);
    if (!rc)
        rc = check_names(s, "page.pareto.min", &s->file->least, err);
    if (!rc)
        rc = check_names(s, "page.pareto.max", &s->file->most, err);
    return rc || !*s->options->until.metric ? rc : check_until(s, err);
}
