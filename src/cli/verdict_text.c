/* Says whether runs are as they should be: audit, expectations, wire check. */
#include <xoff/units.h>

#include "cli/cli.h"

/* Checks the findings of the audit, and the troubles that no expectation covers. */
bool cli_passes_audit(const struct scenario *scenario, struct results *run,
                      const struct results *const *results, const struct summary *const *summaries,
                      uint32_t n, FILE *out)
{
    const struct cli_style *s = cli_style(out);
    const uint32_t n_audited = run->n_findings;
    cli_note_verdict(scenario, run, results, summaries, n);
    if (n_audited)
        fprintf(out, "%s%sfailed%s: the audit found %u things wrong\n", s->bold, s->red, s->off,
                n_audited);
    for (uint32_t i = n_audited; i < run->n_findings; i++)
        fprintf(out, "%s%sfailed%s: %s\n", s->bold, s->red, s->off, run->findings[i].text);
    return !run->n_findings;
}

/* An expectation is of the whole file: it is noted in the results of every run, and one that does
 * not hold among their findings. */
int cli_check_expectations(const struct scenario *scenario, const struct cli_run *runs,
                           const struct results *const *results,
                           const struct summary *const *summaries, FILE *out)
{
    const struct cli_style *s = cli_style(out);
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < scenario->n_expects; i++) {
        bool holds;
        char detail[1024];
        struct xoff_err err = {0};
        const char *text = scenario->expects[i].text;
        const bool is_wrong = expect_evaluate(text, results, summaries, scenario->n_plans, &holds,
                                              detail, sizeof detail, &err);
        const char *why = is_wrong ? err.message : detail;
        for (uint32_t k = 0; k < scenario->n_plans; k++)
            results_add_expectation(runs[k].results, text, !is_wrong && holds, why);
        if (!is_wrong && holds) {
            fprintf(out, "%sholds%s: %s\n", s->green, s->off, text);
            continue;
        }
        fprintf(out, "%s%sfailed%s: expected %s, but %s\n", s->bold, s->red, s->off, text, why);
        for (uint32_t k = 0; k < scenario->n_plans; k++)
            results_add_finding(runs[k].results, "expected %s, but %s", text, why);
        status = EXIT_FAILED;
    }
    return status;
}

/* Says what the wire check of a run has found. */
bool cli_passes_wire_check(const struct cli_run *run, FILE *out)
{
    static const char *const kinds[] = {
        [RESULT_FRAME_DATA] = "data",   [RESULT_FRAME_ACK] = "ACK",
        [RESULT_FRAME_NACK] = "NACK",   [RESULT_FRAME_CNP] = "CNP",
        [RESULT_FRAME_PAUSE] = "pause", [RESULT_FRAME_NOTICE] = "notification",
        [RESULT_FRAME_PROBE] = "probe",
    };
    const struct net_wire_result found = net_wire_result(run->built->net);
    const struct results *r = run->results;
    if (found.has_failed) {
        char at[32];
        fprintf(stderr, "error: wire check%s%s: %s frame received by %s:%u at %s: %s: %s\n",
                *r->variant ? " of " : "", r->variant, kinds[found.kind], r->nodes[found.node].name,
                found.port, cli_figure(at, sizeof at, (double)found.at / (double)XOFF_S, "s"),
                found.err.subject, found.err.message);
        return false;
    }
    fprintf(out, "wire check%s%s: %llu control frames and tags came back as they were sent\n",
            *r->variant ? " of " : "", r->variant, (unsigned long long)found.n_frames);
    return true;
}
