/* Writes the files of results, and holds the words for codes that all formats share. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "stats/flow_sums.h"

const char *output_text(const char *text)
{
    return text ? text : "";
}

const char *output_node(const struct results *results, uint32_t node)
{
    return node < results->n_nodes ? results->nodes[node].name : "";
}

const char *output_tag(const struct results *results, uint32_t tag)
{
    return tag < results->n_tags ? output_text(results->tag_names[tag]) : "";
}

const char *output_drop_cause(uint8_t cause)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        RESULT_DROP_MAP(X)
#undef X
    };
    return cause < RESULT_N_DROP_CAUSES ? names[cause] : "unknown";
}

const char *output_unit(uint8_t unit)
{
    static const char *const names[] = {
        [XOFF_UNIT_INGRESS] = "ingress",
        [XOFF_UNIT_INGRESS_PORT] = "ingress-port",
        [XOFF_UNIT_EGRESS] = "egress",
    };
    return unit < sizeof names / sizeof *names ? names[unit] : "unknown";
}

const char *output_sample_metric(uint8_t metric)
{
    static const char *const names[] = {
        [RESULT_QUEUE_BYTES] = "queue_bytes",         [RESULT_TX_BPS] = "tx_bps",
        [RESULT_PAUSED_FRACTION] = "paused_fraction", [RESULT_BUFFER_BYTES] = "buffer_bytes",
        [RESULT_RESERVED_BYTES] = "reserved_bytes",   [RESULT_SHARED_BYTES] = "shared_bytes",
        [RESULT_HEADROOM_BYTES] = "headroom_bytes",   [RESULT_INSURANCE_BYTES] = "insurance_bytes",
        [RESULT_INPUT_BYTES] = "input_bytes",         [RESULT_ADVERTISED_BPS] = "advertised_bps",
        [RESULT_LOAD_RATIO] = "load_ratio",           [RESULT_CONTROL_RATIO] = "control_ratio",
    };
    return metric < sizeof names / sizeof *names ? names[metric] : "unknown";
}

struct output_span output_traffic(const struct results *results)
{
    struct output_span span = {.from = results->end_at};
    for (uint64_t i = 0; i < results->n_flows; i++) {
        const struct result_flow *f = &results->flows[i];
        const bool is_acked = f->acked_at != XOFF_NEVER;
        xoff_time last = results->end_at;
        if (output_is_finished(f) && (is_acked || !f->reliable))
            last = is_acked && f->acked_at > f->finish_at ? f->acked_at : f->finish_at;
        span.from = xoff_time_min(span.from, f->start_at);
        span.to = last > span.to ? last : span.to;
    }
    const struct flow_sums *sums = results->sums;
    if (sums && sums->tally.n) {
        span.from = xoff_time_min(span.from, sums->from);
        span.to = sums->to > span.to ? sums->to : span.to;
    }
    return results->n_flows || (sums && sums->tally.n) ? span
                                                       : (struct output_span){0, results->end_at};
}

struct output_span output_measured(const struct results *results)
{
    struct output_span span = output_traffic(results);
    if (results->stop_at > 0)
        span.to = xoff_time_min(span.to, results->stop_at);
    if (results->measure_to > 0)
        span.to = xoff_time_min(span.to, results->measure_to);
    if (results->measure_from > span.from)
        span.from = results->measure_from;
    if (span.to < span.from)
        span.to = span.from;
    return span;
}

const char *const output_bucket_names[OUTPUT_BUCKETS] = {"le10KB", "le100KB", "le1MB", "le10MB",
                                                         "gt10MB"};

uint32_t output_bucket(uint64_t bytes)
{
    static const uint64_t limits[OUTPUT_BUCKETS - 1] = {10000, 100000, 1000000, 10000000};
    uint32_t bucket = 0;
    while (bucket < OUTPUT_BUCKETS - 1 && bytes > limits[bucket])
        bucket++;
    return bucket;
}

void results_add_finding(struct results *results, const char *format, ...)
{
    if (results->n_findings >= 64) /* enough to see what is wrong */
        return;
    results->findings =
        realloc(results->findings, sizeof *results->findings * (results->n_findings + 1));
    XOFF_ASSERT(results->findings);
    va_list args;
    va_start(args, format);
    vsnprintf(results->findings[results->n_findings].text, sizeof results->findings[0].text, format,
              args);
    va_end(args);
    results->n_findings++;
}

void results_add_expectation(struct results *results, const char *text, bool holds,
                             const char *detail)
{
    const uint32_t n = results->n_expectations++;
    results->expectations =
        realloc(results->expectations, sizeof *results->expectations * results->n_expectations);
    XOFF_ASSERT(results->expectations);
    struct result_expectation *e = &results->expectations[n];
    snprintf(e->text, sizeof e->text, "%s", text);
    e->holds = holds;
    snprintf(e->detail, sizeof e->detail, "%s", detail);
}

const char *output_verdict(const struct results *results)
{
    if (results->n_findings)
        return "fail";
    return results->interrupted ? "interrupted" : "pass";
}

char *output_priorities(uint8_t mask, char buf[OUTPUT_PRIORITIES])
{
    char *end = buf;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(mask >> p & 1))
            continue;
        if (end != buf)
            *end++ = ',';
        *end++ = (char)('0' + p);
    }
    *end = '\0';
    return buf;
}

int output_fail(struct xoff_err *err, const char *path, const char *reason)
{
    const int status = xoff_err_set(err, XOFF_E_IO, "output", NULL, "cannot write ");
    xoff_err_add(err, path);
    xoff_err_add(err, ": ");
    xoff_err_add(err, reason);
    return status;
}

const char *const results_names[] = {
    "run.sqlite",   "run.sqlite-*", /* left by a program that had it open */
    "summary.json", "metrics.csv",    "report.html",       "capture-*.pcapng",
    "flows.csv",    "operations.csv", "ports.csv",         "pauses.csv",
    "samples.csv",  "drops.csv",      "buffers.csv",       "fct.txt",
    "pfc.txt",      "qlen.txt",       "checkpoint-*.xoff", NULL};

enum { FILE_JSON, FILE_METRICS, FILE_CSV, N_FILES = FILE_CSV + N_CSV_FILES };

/* Writes one text file: summary.json, metrics.csv or another CSV file. */
static int write_text(const char *path, uint32_t file, const struct results *const *runs,
                      const struct summary *const *summaries, uint32_t n_runs, struct xoff_err *err)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return output_fail(err, path, strerror(errno));
    int status = 0;
    errno = 0;
    if (file == FILE_JSON)
        status = results_write_json(out, runs, summaries, n_runs);
    else if (file == FILE_METRICS)
        metrics_csv_write(out, runs, summaries, n_runs);
    else
        csv_write(out, file - FILE_CSV, runs, n_runs);
    if (status == -XOFF_E_NO_MEMORY)
        xoff_err_set(err, XOFF_E_NO_MEMORY, "output", NULL, "not enough memory for the results");
    else if (status || fflush(out) != 0 || ferror(out))
        status = output_fail(err, path, strerror(errno ? errno : EIO));
    if (fclose(out) != 0 && !status)
        status = output_fail(err, path, strerror(errno));
    return status;
}

int results_write(const char *dir, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs, bool csv,
                  struct xoff_err *err)
{
    char *path;
    XOFF_ASSERT(asprintf(&path, "%s/run.sqlite", dir) >= 0);
    int status = sqlite_write(path, runs, summaries, n_runs, err);
    free(path);
    for (uint32_t i = FILE_JSON; i < (csv ? N_FILES : FILE_CSV) && !status; i++) {
        const char *name = i == FILE_JSON      ? "summary.json"
                           : i == FILE_METRICS ? "metrics.csv"
                                               : csv_name(i - FILE_CSV);
        XOFF_ASSERT(asprintf(&path, "%s/%s", dir, name) >= 0);
        status = write_text(path, i, runs, summaries, n_runs, err);
        free(path);
    }
    return status;
}
