/* xoff conform --pcap: what can be seen in a capture of a link. */
#include "cli/conform_capture.h"

#include "cli/cli.h"
#include "cli/frames_in.h"
#include "conform/watch.h"

static void print_findings(const struct watch_result *r)
{
    for (uint64_t i = 0; i < r->n_findings && i < WATCH_MAX_FINDINGS; i++)
        printf("%15sframe %llu: %s\n", "", (unsigned long long)r->findings[i].frame,
               r->findings[i].text);
    if (r->n_findings > WATCH_MAX_FINDINGS)
        printf("%15sand %llu more\n", "", (unsigned long long)(r->n_findings - WATCH_MAX_FINDINGS));
}

static json_t *json_of(const struct watch_result *r)
{
    json_t *row = cli_conform_json(&r->result), *findings = json_array();
    for (uint64_t i = 0; i < r->n_findings && i < WATCH_MAX_FINDINGS; i++)
        json_array_append_new(findings,
                              json_pack("{s:I, s:s}", "frame", (json_int_t)r->findings[i].frame,
                                        "text", r->findings[i].text));
    json_object_set_new(row, "n_findings", json_integer((json_int_t)r->n_findings));
    json_object_set_new(row, "findings", findings);
    return row;
}

static int print_results(const char *path, const struct watch_result *results, bool json,
                         bool is_verbose)
{
    uint32_t counts[3] = {0};
    json_t *rows = json_array();
    for (uint32_t i = 0; i < WATCH_N_CHECKS; i++) {
        counts[results[i].result.verdict]++;
        if (json) {
            json_array_append_new(rows, json_of(&results[i]));
            continue;
        }
        cli_print_conform(&results[i].result, is_verbose || results[i].result.verdict == XOFF_PASS);
        if (is_verbose)
            print_findings(&results[i]);
    }
    json_t *all = json_pack("{s:s, s:i, s:i, s:i, s:o}", "capture", path, "passed",
                            (int)counts[XOFF_PASS], "failed", (int)counts[XOFF_FAIL], "left_out",
                            (int)counts[XOFF_SKIP], "checks", rows);
    if (json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(all);
    return counts[XOFF_FAIL] ? EXIT_FAILED : EXIT_FINE;
}

int cli_conform_capture(const char *path, xoff_rate rate_bps, bool json, bool is_verbose)
{
    struct xoff_err err = {0};
    struct capture_frame frame;
    struct frames_in *in = frames_open(path, &err);
    if (!in) {
        cli_print_error(&err);
        return EXIT_BAD_INPUT;
    }
    struct watch *watch = watch_create(rate_bps);
    int answer;
    while ((answer = frames_next(in, &frame, &err)) > 0)
        watch_frame(watch, &frame);
    /* What was good before an error is shown all the same. */
    int status = print_results(path, watch_end(watch), json, is_verbose);
    if (answer < 0) {
        cli_print_error(&err);
        status = EXIT_BAD_INPUT;
    }
    watch_destroy(watch);
    frames_close(in);
    return status;
}
