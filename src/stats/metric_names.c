/* Names of metrics (metric_names.h), as summary.c and summary_times.c make them. */
#include "stats/metric_names.h"

#include <string.h>

#include "stats/curves.h"
#include "stats/output.h"

static const char *const families[] = {
    "buffer",      "control_hops",  "curve",       "deadlock",      "deadlocked",      "deadlocks",
    "delivered",   "drops",         "end_time",    "fct",           "findings",        "flows",
    "headroom",    "insurance",     "jain",        "marks",         "notices",         "operations",
    "packet_hops", "pause_time",    "pauses",      "queue",         "retransmissions", "sent",
    "slowdown",    "throughput",    "utilisation", "min_share",     "starved",         "tags",
    "traffic_end", "traffic_start", "feedback",    "stops",         "stop_time",       "dcbx",
    "drained",     "measure_start", "measure_end", "pause_fraction"};

bool summary_has_family(const char *name)
{
    /* The metric's name comes behind a variant's name, which may contain dots. */
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
            const size_t n = strlen(families[i]);
            if (!strncmp(at, families[i], n) && (!at[n] || at[n] == '.'))
                return true;
        }
    return false;
}

/* Whether a traffic entry's name would clash with a figure over all flows or operations. */
static bool is_reserved(const char *label)
{
    static const char *const words[] = {"ack",   "bytes", "finished", "unfinished", "all",
                                        "flows", "mean",  "min",      "max",        "ns3",
                                        "p50",   "p95",   "p99",      "rate",       "summarised"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(label, words[i]))
            return true;
    for (uint32_t i = 0; i < OUTPUT_BUCKETS; i++)
        if (!strcmp(label, output_bucket_names[i]))
            return true;
    return false;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '#';
}

void metric_labels(const char *const *entries, uint32_t n, struct metric_label *labels)
{
    for (uint32_t i = 0; i < n; i++) {
        char *label = labels[i].text;
        snprintf(label, RESULT_NAME, "%s", output_text(entries[i]));
        for (char *c = label; *c; c++)
            if (!is_name_char(*c))
                *c = '_';
        bool is_taken = !*label || is_reserved(label);
        for (uint32_t j = 0; j < i && !is_taken; j++)
            is_taken = !strcmp(label, labels[j].text);
        const size_t length = strlen(label);
        if (is_taken)
            snprintf(label + length, sizeof labels[i].text - length, "#%u", i);
    }
}

/* What may stand between a family and a figure. */
enum { BARE = 1, BY_ENTRY = 2, BY_SIZE = 4, BY_CURVE = 8 };

#define TIMES "mean", "p50", "p95", "p99", "max"
#define N_FIGURES 12

/* Names FAMILY.FIGURE and FAMILY.GROUP.FIGURE; the figure "" stands for none. */
static const struct form {
    const char *family, *figures[N_FIGURES];
    const char *unit; /* NULL: that of the curve */
    uint32_t groups;
} forms[] = {
    {"flows", {"", "finished", "unfinished"}, "", BARE | BY_ENTRY},
    {"flows", {"summarised"}, "", BARE},
    {"sent", {""}, "B", BARE | BY_ENTRY},
    {"delivered", {""}, "B", BARE | BY_ENTRY},
    {"drained", {""}, "B", BARE | BY_ENTRY},
    {"fct", {TIMES}, "s", BARE | BY_ENTRY | BY_SIZE},
    {"fct.all", {TIMES}, "s", BARE | BY_ENTRY},
    {"fct.ack", {TIMES}, "s", BARE | BY_ENTRY},
    {"slowdown", {TIMES}, "ratio", BARE | BY_ENTRY | BY_SIZE},
    {"slowdown", {"flows", "unfinished"}, "", BY_SIZE},
    {"slowdown.ns3", {TIMES}, "ratio", BARE | BY_ENTRY | BY_SIZE},
    {"operations", {"", "unfinished"}, "", BARE | BY_ENTRY},
    {"operations", {TIMES}, "s", BARE | BY_ENTRY},
    {"operations", {"rate"}, "/s", BARE | BY_ENTRY},
    {"operations", {"bytes"}, "B", BARE | BY_ENTRY},
    {"throughput", {"", "mean", "min", "max"}, "bps", BARE | BY_ENTRY},
    {"jain", {""}, "ratio", BARE | BY_ENTRY},
    {"min_share", {""}, "ratio", BARE | BY_ENTRY},
    {"starved", {""}, "", BARE | BY_ENTRY},
    {"retransmissions", {""}, "frames", BARE},
    {"drops",
     {"", "lossless",
#define X(id, name, text) name,
      RESULT_DROP_MAP(X)
#undef X
     },
     "frames",
     BARE},
    {"drops", {"bytes"}, "B", BARE},
    {"pauses", {"", "counters"}, "", BARE},
    {"pauses", {"frames"}, "frames", BARE},
    {"pauses", {"max"}, "s", BARE},
    {"pause_time", {"", "max"}, "s", BARE},
    {"pause_fraction", {"max"}, "ratio", BARE},
    {"stops", {""}, "", BARE},
    {"stop_time", {""}, "s", BARE},
    {"dcbx",
     {"ports", "peers", "changes", "taken", "differing", "unusable", "multiple", "foreign",
      "lossless"},
     "",
     BARE},
    {"dcbx", {"sent", "received"}, "frames", BARE},
    {"marks", {""}, "frames", BARE},
    {"notices", {"received"}, "frames", BARE | BY_ENTRY},
    {"notices", {"sent"}, "frames", BARE},
    {"notices", {"samples"}, "", BARE},
    {"tags", {"sent", "received"}, "", BARE},
    {"feedback", {""}, "frames", BARE},
    {"feedback", {"rate"}, "/s", BARE},
    {"utilisation", {"mean", "max"}, "ratio", BARE},
    {"queue", {"peak"}, "B", BARE},
    {"headroom", {"peak"}, "B", BARE},
    {"headroom", {"peak_fraction"}, "ratio", BARE},
    {"headroom.maxima", {""}, "", BARE},
    {"headroom.maxima", {"p50", "p95", "p99", "max"}, "ratio", BARE},
    {"buffer", {"peak"}, "B", BARE},
    {"buffer", {"peak_fraction", "set_aside", "shared"}, "ratio", BARE},
    {"insurance", {"peak"}, "B", BARE},
    {"insurance", {"peak_fraction"}, "ratio", BARE},
    {"deadlocks", {""}, "", BARE},
    {"deadlocked", {""}, "", BARE},
    {"deadlock", {"onset"}, "s", BARE},
    {"curve", {"mean", "min", "max", "stddev", "p50", "p99"}, NULL, BY_CURVE},
    {"curve", {"below", "until"}, "s", BY_CURVE},
    {"findings", {""}, "", BARE},
    {"packet_hops", {""}, "frames", BARE},
    {"control_hops", {""}, "frames", BARE},
    {"traffic_start", {""}, "s", BARE},
    {"traffic_end", {""}, "s", BARE},
    {"measure_start", {""}, "s", BARE},
    {"measure_end", {""}, "s", BARE},
    {"end_time", {""}, "s", BARE},
};

/* The n-th group of a form, counted from 0: "" where there is none between family and figure. */
static const char *group_at(const struct metric_words *w, const struct form *form, uint32_t n)
{
    const uint32_t n_bare = form->groups & BARE ? 1 : 0,
                   n_entries = form->groups & BY_ENTRY ? w->n_entries : 0,
                   n_sizes = form->groups & BY_SIZE ? OUTPUT_BUCKETS : 0,
                   n_curves = form->groups & BY_CURVE ? w->n_curves : 0;
    if (n < n_bare)
        return "";
    if ((n -= n_bare) < n_entries)
        return w->entries[n].text;
    if ((n -= n_entries) < n_sizes)
        return output_bucket_names[n];
    return (n -= n_sizes) < n_curves ? w->curves[n].name : NULL;
}

const char *metric_walk_next(struct metric_walk *walk)
{
    while (walk->form < sizeof forms / sizeof *forms) {
        const struct form *form = &forms[walk->form];
        const char *group = group_at(walk->words, form, walk->group);
        const char *figure = group && walk->stat < N_FIGURES ? form->figures[walk->stat] : NULL;
        if (figure) {
            snprintf(walk->name, sizeof walk->name, "%s%s%s%s%s", form->family, *group ? "." : "",
                     group, *figure ? "." : "", figure);
            walk->unit =
                form->unit ? form->unit : curve_unit(walk->words->curves[walk->group].metric);
            walk->stat++;
            return walk->name;
        }
        walk->stat = 0;
        walk->group = group ? walk->group + 1 : 0;
        walk->form += !group;
    }
    return NULL;
}

const char *metric_unit(const struct metric_words *words, const char *name)
{
    struct metric_walk walk = {.words = words};
    const char *next;
    while ((next = metric_walk_next(&walk)))
        if (!strcmp(next, name))
            return walk.unit;
    return NULL;
}
