/* Prints a comparison with the results of another simulator. */
#include <string.h>

#include "cli/cli.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* Writes by how much ours differs from theirs; equal figures are shown as such, not as a share of
 * 0. */
static char *difference(char buf[32], double ours, double theirs)
{
    if (ours == theirs)
        snprintf(buf, 32, "equal");
    else
        snprintf(buf, 32, "%+.3g %%", 100 * (ours - theirs) / theirs);
    return buf;
}

static void print_pair(FILE *out, const struct compare_pair *pair, const char *what,
                       const char *unit)
{
    static const char *const labels[COMPARE_N_STATS] = {"mean", "  median", "  95th percentile",
                                                        "  99th percentile", "  longest"};
    for (uint32_t i = 0; i < COMPARE_N_STATS && pair->n; i++) {
        const double ours = pair->ours.figures[i], theirs = pair->theirs.figures[i];
        char label[48], a[32], b[32], apart[32];
        snprintf(label, sizeof label, "%s%s%s", i ? "" : what, i ? "" : ", ",
                 i == COMPARE_MAX && !strcmp(unit, "ratio") ? "  largest" : labels[i]);
        fprintf(out, "  %-26s %14s %14s %14s\n", label, cli_figure(a, sizeof a, ours, unit),
                cli_figure(b, sizeof b, theirs, unit), difference(apart, ours, theirs));
    }
}

static void print_buckets(FILE *out, const struct compare *c)
{
    static const uint32_t shown[] = {COMPARE_P50, COMPARE_P95, COMPARE_P99};
    if (!c->slowdown.n)
        return;
    fprintf(out, "\n  %-26s %6s", "slowdown by flow size", "flows");
    for (uint32_t i = 0; i < 3; i++)
        fprintf(out, " %20s", compare_stat_names[shown[i]]);
    fprintf(out, "\n  %-26s %6s", "", "");
    for (uint32_t i = 0; i < 3; i++)
        fprintf(out, " %11s %8s", "ours", "theirs");
    fputc('\n', out);
    for (uint32_t b = 0; b < COMPARE_BUCKETS; b++) {
        const struct compare_pair *p = &c->buckets[b];
        if (!p->n)
            continue;
        fprintf(out, "  %-26s %6llu", cli_bucket_labels[b], (unsigned long long)p->n);
        for (uint32_t i = 0; i < 3; i++)
            fprintf(out, " %11.2f %8.2f", p->ours.figures[shown[i]], p->theirs.figures[shown[i]]);
        fputc('\n', out);
    }
}

/* Prints source and destination, size and start. */
static void print_flow(FILE *out, const struct compare_flow *f)
{
    char name[2 * RESULT_NAME + 8], size[32];
    snprintf(name, sizeof name, "%s to %s", f->from, f->to);
    fprintf(out, "  %-26s %10s %16.9f", name, cli_figure(size, sizeof size, (double)f->bytes, "B"),
            (double)f->start_ns / 1e9);
}

static void print_worst(FILE *out, const struct compare *c)
{
    if (!c->n_worst)
        return;
    fprintf(out, "\n  %-26s %10s %16s %13s %13s %12s\n", "farthest apart", "size", "start, s",
            "ours, ns", "theirs, ns", "difference");
    for (uint32_t i = 0; i < c->n_worst; i++) {
        const struct compare_difference *d = &c->worst[i];
        char apart[32];
        print_flow(out, &d->flow);
        fprintf(out, " %13llu %13llu %12s\n", (unsigned long long)d->flow.fct_ns,
                (unsigned long long)d->theirs_ns,
                difference(apart, (double)d->flow.fct_ns, (double)d->theirs_ns));
    }
    if (c->n_both - c->n_equal > c->n_worst)
        fprintf(out, "  ... and %llu more that differ\n",
                (unsigned long long)(c->n_both - c->n_equal - c->n_worst));
}

static void print_alone(FILE *out, const struct compare_flow *flows, uint32_t n, uint64_t n_all,
                        const char *what)
{
    if (!n)
        return;
    fprintf(out, "\n  %-26s %10s %16s %13s\n", what, "size", "start, s", "time, ns");
    for (uint32_t i = 0; i < n; i++) {
        print_flow(out, &flows[i]);
        fprintf(out, " %13llu\n", (unsigned long long)flows[i].fct_ns);
    }
    if (n_all > n)
        fprintf(out, "  ... and %llu more\n", (unsigned long long)(n_all - n));
}

void cli_print_compare(FILE *out, const char *variant, const struct compare *c)
{
    const struct cli_style *s = cli_style(out);
    const uint64_t both = c->n_both;
    fprintf(out, "%s%s%scompared with %s%s\n", s->bold, variant, *variant ? ": " : "", c->file,
            s->off);
    fprintf(out, "  %llu flows finished here, %llu there, %llu in both",
            (unsigned long long)c->n_ours, (unsigned long long)c->n_theirs,
            (unsigned long long)both);
    if (c->n_unfinished)
        fprintf(out, "; %llu of theirs did not finish here", (unsigned long long)c->n_unfinished);
    fputc('\n', out);
    if (both)
        fprintf(out, "  equal to the nanosecond: %llu (%.4g %%), within 1 %%: %llu (%.4g %%)\n",
                (unsigned long long)c->n_equal, percent(c->n_equal, both),
                (unsigned long long)c->n_within, percent(c->n_within, both));
    else
        fprintf(out,
                "  %sno flow is the same%s: source, destination, size and start must be "
                "equal\n",
                s->yellow, s->off);
    if (c->n_ports < both)
        fprintf(out, "  %llu of them have other ports there and are paired in order\n",
                (unsigned long long)(both - c->n_ports));
    if (c->n_standalone)
        fprintf(out,
                "  %s%llu have another standalone time there%s: the networks or packet sizes "
                "differ\n",
                s->yellow, (unsigned long long)c->n_standalone, s->off);
    if (both)
        fprintf(out, "\n  %-26s %14s %14s %14s\n", "", "ours", "theirs", "difference");
    print_pair(out, &c->fct, "time to last ACK", "s");
    print_pair(out, &c->slowdown, "slowdown of fct.txt", "ratio");
    print_buckets(out, c);
    print_worst(out, c);
    print_alone(out, c->only_ours, c->n_only_ours, c->n_ours - both, "finished only here");
    print_alone(out, c->only_theirs, c->n_only_theirs, c->n_theirs - both, "finished only there");
    fputc('\n', out);
}
