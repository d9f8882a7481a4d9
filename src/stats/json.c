/* summary.json: the figures of every run for machines, by jansson.
 *
 * Keys stand in the order in which they are documented (docs/results.md), always the same. Whole
 * numbers are written as integers, others with 17 significant digits, which read back to the same
 * double.
 */
#include <errno.h>
#include <math.h>

#include <jansson.h>

#include "stats/compare.h"
#include "stats/output.h"
#include "stats/spread.h"

static json_t *run_json(const struct results *r, const struct summary *s);
static json_t *performance_json(const struct results *r);

/* Takes ownership of `value` even on failure. A NULL (out of memory) is noticed here, so callers
 * need to check only the result of the last call. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

int results_write_json(FILE *out, const struct results *const *runs,
                       const struct summary *const *summaries, uint32_t n_runs)
{
    json_t *root = json_object();
    json_t *list = json_array();
    bool is_good = put(root, "xoff", json_string(XOFF_VERSION));

    is_good &= put(root, "runs", list);
    for (uint32_t i = 0; i < n_runs; i++)
        is_good &= json_array_append_new(list, run_json(runs[i], summaries[i])) == 0;
    if (n_runs)
        is_good &= put(root, "performance", performance_json(runs[n_runs - 1]));
    int status = is_good ? 0 : -XOFF_E_NO_MEMORY;
    if (is_good) {
        errno = 0;
        const bool is_written =
            json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
        if (!is_written || fputc('\n', out) == EOF || fflush(out) == EOF)
            status = -XOFF_E_IO;
    }
    json_decref(root);
    return status;
}

/* Makes a JSON string, which must be UTF-8, of any text, even one cut within a character. */
static json_t *text_json(const char *text)
{
    char ascii[512];
    json_t *string = json_string(output_text(text));
    if (string)
        return string;
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof ascii; n++)
        ascii[n] = (unsigned char)text[n] < 0x80 ? text[n] : '?';
    ascii[n] = '\0';
    return json_string(ascii);
}

static json_t *count_json(uint64_t count)
{
    return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

/* Counts become integers: 1e15 is below 2^53, so the conversion is exact. */
static json_t *number_json(double value)
{
    const bool is_whole = value > -1e15 && value < 1e15 && (double)(int64_t)value == value;
    return is_whole ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *seconds_json(xoff_time t)
{
    return number_json(output_seconds(t));
}

static json_t *port_json(uint32_t port)
{
    return port == UINT32_MAX ? json_null() : json_integer(port);
}

static json_t *metrics_json(const struct summary *s)
{
    json_t *metrics = json_object();
    bool is_good = metrics != NULL;
    for (uint32_t i = 0; i < s->n_metrics && is_good; i++) {
        const struct metric *m = &s->metrics[i];
        json_t *metric = json_object();
        is_good &= put(metric, "value", number_json(m->value));
        is_good &= put(metric, "unit", text_json(m->unit));
        is_good &= put(metrics, m->name, metric);
    }
    if (is_good)
        return metrics;
    json_decref(metrics);
    return NULL;
}

static json_t *performance_json(const struct results *r)
{
    json_t *p = json_object();
    bool is_good = put(p, "packet_hops", count_json(r->packet_hops));
    is_good &= put(p, "control_hops", count_json(r->control_hops));
    is_good &= put(p, "wall_s", number_json(r->wall_s));
    is_good &= put(p, "packet_hops_per_s",
                   r->wall_s > 0 ? number_json((double)r->packet_hops / r->wall_s) : json_null());
    is_good &= put(p, "threads", json_integer(r->threads));
    is_good &= put(p, "events", count_json(r->events));
    is_good &= put(p, "windows", count_json(r->windows));
    is_good &= put(p, "peak_rss_bytes", count_json(r->peak_rss_bytes));
    if (is_good)
        return p;
    json_decref(p);
    return NULL;
}

static json_t *drop_json(const struct results *r, const struct result_drop *d)
{
    json_t *drop = json_object();
    bool is_good = put(drop, "node", text_json(output_node(r, d->node)));
    is_good &= put(drop, "port", port_json(d->port));
    is_good &= put(drop, "out_port", port_json(d->out_port));
    is_good &= put(drop, "priority", json_integer(d->priority));
    is_good &= put(drop, "cause", text_json(output_drop_cause(d->cause)));
    is_good &= put(drop, "lossless", json_boolean(d->lossless));
    is_good &= put(drop, "frames", count_json(d->frames));
    is_good &= put(drop, "bytes", count_json(d->bytes));
    is_good &= put(drop, "first_at_s", seconds_json(d->first_at));
    if (is_good)
        return drop;
    json_decref(drop);
    return NULL;
}

static json_t *deadlock_json(const struct results *r, const struct result_deadlock *d)
{
    json_t *deadlock = json_object();
    json_t *ports = json_array();
    bool is_good = put(deadlock, "onset_s", seconds_json(d->onset_at));
    is_good &= put(deadlock, "found_s", seconds_json(d->found_at));
    is_good &= put(deadlock, "ports", ports);
    for (uint32_t i = 0; i < d->n && is_good; i++) {
        const struct result_deadlock_port *from = &r->deadlock_ports[d->first + i];
        json_t *port = json_object();
        is_good &= put(port, "node", text_json(output_node(r, from->node)));
        is_good &= put(port, "port", port_json(from->port));
        is_good &= put(port, "priority", json_integer(from->priority));
        is_good &= json_array_append_new(ports, port) == 0;
    }
    if (is_good)
        return deadlock;
    json_decref(deadlock);
    return NULL;
}

static json_t *side_json(const struct compare_side *side)
{
    json_t *o = json_object();
    bool is_good = true;
    for (uint32_t i = 0; i < COMPARE_N_STATS; i++)
        is_good &= put(o, compare_stat_names[i], number_json(side->figures[i]));
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *pair_json(const struct compare_pair *pair)
{
    json_t *o = json_object();
    bool is_good = put(o, "flows", count_json(pair->n));
    if (pair->n)
        is_good &=
            put(o, "ours", side_json(&pair->ours)) && put(o, "theirs", side_json(&pair->theirs));
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

/* `theirs_ns`: NULL where only one side has the flow. */
static json_t *compared_json(const struct compare_flow *f, const uint64_t *theirs_ns)
{
    json_t *o = json_object();
    bool is_good = put(o, "from", text_json(f->from));
    is_good &= put(o, "to", text_json(f->to));
    is_good &= put(o, "sport", json_integer(f->sport));
    is_good &= put(o, "bytes", count_json(f->bytes));
    is_good &= put(o, "start_ns", count_json(f->start_ns));
    is_good &= put(o, theirs_ns ? "ours_ns" : "fct_ns", count_json(f->fct_ns));
    if (theirs_ns)
        is_good &= put(o, "theirs_ns", count_json(*theirs_ns));
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *compare_json(const struct compare *c)
{
    json_t *o = json_object();
    json_t *sizes = json_object(), *worst = json_array();
    json_t *only_ours = json_array(), *only_theirs = json_array();
    bool is_good = put(o, "file", text_json(c->file));
    is_good &= put(o, "flows_ours", count_json(c->n_ours));
    is_good &= put(o, "flows_theirs", count_json(c->n_theirs));
    is_good &= put(o, "flows_both", count_json(c->n_both));
    is_good &= put(o, "flows_both_by_ports", count_json(c->n_ports));
    is_good &= put(o, "flows_unfinished", count_json(c->n_unfinished));
    is_good &= put(o, "equal", count_json(c->n_equal));
    is_good &= put(o, "within_1_percent", count_json(c->n_within));
    is_good &= put(o, "standalone_differs", count_json(c->n_standalone));
    is_good &= put(o, "fct_s", pair_json(&c->fct));
    is_good &= put(o, "slowdown_ns3", pair_json(&c->slowdown));
    is_good &= put(o, "slowdown_ns3_by_size", sizes);
    is_good &= put(o, "worst", worst);
    is_good &= put(o, "only_ours", only_ours);
    is_good &= put(o, "only_theirs", only_theirs);
    for (uint32_t i = 0; i < COMPARE_BUCKETS && is_good; i++)
        is_good &= put(sizes, output_bucket_names[i], pair_json(&c->buckets[i]));
    for (uint32_t i = 0; i < c->n_worst && is_good; i++)
        is_good &= json_array_append_new(
                       worst, compared_json(&c->worst[i].flow, &c->worst[i].theirs_ns)) == 0;
    for (uint32_t i = 0; i < c->n_only_ours && is_good; i++)
        is_good &= json_array_append_new(only_ours, compared_json(&c->only_ours[i], NULL)) == 0;
    for (uint32_t i = 0; i < c->n_only_theirs && is_good; i++)
        is_good &= json_array_append_new(only_theirs, compared_json(&c->only_theirs[i], NULL)) == 0;
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

/* NAN, of which JSON has none, is null. */
static json_t *known_json(double value)
{
    return isnan(value) ? json_null() : number_json(value);
}

static json_t *spread_json(const struct seed_metric *m, uint32_t n_seeds)
{
    json_t *o = json_object(), *values = json_array();
    bool is_good = put(o, "unit", text_json(m->unit));
    is_good &= put(o, "n", json_integer(m->over.n));
    is_good &= put(o, "mean", number_json(m->over.mean));
    is_good &= put(o, "ci95", known_json(m->over.ci95));
    is_good &= put(o, "stddev", known_json(m->over.stddev));
    is_good &= put(o, "min", number_json(m->over.min));
    is_good &= put(o, "max", number_json(m->over.max));
    is_good &= put(o, "values", values);
    for (uint32_t i = 0; i < n_seeds && is_good; i++)
        is_good &= json_array_append_new(values, known_json(m->values[i])) == 0;
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *expect_json(const struct result_seeds *s, const struct seed_expect *e)
{
    json_t *o = json_object(), *failed = json_array();
    bool is_good = put(o, "text", text_json(e->text));
    is_good &= put(o, "holds", json_integer(e->n_holding));
    is_good &= put(o, "failed_seeds", failed);
    for (uint32_t i = 0; i < s->n && is_good; i++)
        if (!e->holds[i])
            is_good &= json_array_append_new(failed, count_json(s->list[i])) == 0;
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *seeds_json(const struct result_seeds *s)
{
    json_t *o = json_object(), *list = json_array(), *digests = json_array();
    json_t *metrics = json_object(), *expects = json_array();
    bool is_good = put(o, "list", list) && put(o, "digests", digests);
    is_good &= put(o, "metrics", metrics) && put(o, "expectations", expects);
    for (uint32_t i = 0; i < s->n && is_good; i++) {
        char digest[17];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)s->digests[i]);
        is_good &= json_array_append_new(list, count_json(s->list[i])) == 0;
        is_good &= json_array_append_new(digests, text_json(digest)) == 0;
    }
    for (uint32_t i = 0; i < s->n_metrics && is_good; i++)
        is_good &= put(metrics, s->metrics[i].name, spread_json(&s->metrics[i], s->n));
    for (uint32_t i = 0; i < s->n_expects && is_good; i++)
        is_good &= json_array_append_new(expects, expect_json(s, &s->expects[i])) == 0;
    if (is_good)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *run_json(const struct results *r, const struct summary *s)
{
    char digest[17];
    json_t *run = json_object();
    json_t *drops = json_array(), *deadlocks = json_array(), *findings = json_array();
    json_t *warnings = json_array();

    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)r->digest);
    bool is_good = put(run, "variant", text_json(r->variant));
    is_good &= put(run, "title", text_json(r->title));
    is_good &= put(run, "seed", count_json(r->seed));
    is_good &= put(run, "digest", text_json(digest));
    is_good &= put(run, "interrupted", json_boolean(r->interrupted));
    is_good &= put(run, "end_time_s", seconds_json(r->end_at));
    is_good &= put(run, "verdict", text_json(output_verdict(r)));
    is_good &= put(run, "metrics", metrics_json(s));
    is_good &= put(run, "performance", performance_json(r));
    is_good &= put(run, "drops", drops);
    is_good &= put(run, "deadlocks", deadlocks);
    is_good &= put(run, "findings", findings);
    is_good &= put(run, "warnings", warnings);
    for (uint32_t i = 0; i < r->n_drops && is_good; i++)
        is_good &= json_array_append_new(drops, drop_json(r, &r->drops[i])) == 0;
    for (uint32_t i = 0; i < r->n_deadlocks && is_good; i++)
        is_good &= json_array_append_new(deadlocks, deadlock_json(r, &r->deadlocks[i])) == 0;
    for (uint32_t i = 0; i < r->n_findings && is_good; i++)
        is_good &= json_array_append_new(findings, text_json(r->findings[i].text)) == 0;
    for (uint32_t i = 0; i < r->n_warnings && is_good; i++)
        is_good &= json_array_append_new(warnings, text_json(r->warnings[i])) == 0;
    if (r->seeds)
        is_good &= put(run, "seeds", seeds_json(r->seeds));
    if (r->compare)
        is_good &= put(run, "compare", compare_json(r->compare));
    if (is_good)
        return run;
    json_decref(run);
    return NULL;
}
