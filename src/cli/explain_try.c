/* Runs a scenario of results again with a remedy in force, and says what it gained.
 *
 * The scenario is the configuration in the results, which has the variant, the settings and the
 * seed of the run in it. The results of a trial are written to a folder of their own, explained,
 * and removed: so both runs are measured in the same way.
 */
#include "cli/explain_try.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define MOST_REMEDIES 12

struct trial {
    const struct explain_remedy *remedy;
    struct explanation *made; /* NULL: it could not be tried */
    struct xoff_err err;
};

/* Splits KEY=VALUE; `text` keeps both. */
static struct plan_setting setting_of(const char *change, char text[256])
{
    snprintf(text, 256, "%s", change);
    char *equals = strchr(text, '=');
    XOFF_ASSERT(equals);
    *equals = '\0';
    return (struct plan_setting){text, equals + 1};
}

/* Reads the scenario with the changes of the remedy. */
static int read_changed(const struct explanation *e, const struct explain_remedy *remedy,
                        struct scenario **scenario, struct xoff_err *err)
{
    struct plan_setting settings[EXPLAIN_CHANGES];
    char texts[EXPLAIN_CHANGES][256];
    uint32_t n = 0;
    for (; remedy->changes[n]; n++)
        settings[n] = setting_of(remedy->changes[n], texts[n]);
    const char *config = explain_config(e);
    return scenario_read_text(explain_scenario_file(e), config, strlen(config), settings, n,
                              scenario, err);
}

/* Writes the results to a new folder, explains them from there, and removes it. */
static int explain_results(const struct cli_run *run, struct trial *trial)
{
    const struct results *results = run->results;
    const struct summary *summary = run->summary;
    struct run_file file;
    char dir[256];
    const char *temporary = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/xoff-try-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(dir))
        return xoff_err_set(&trial->err, XOFF_E_IO, NULL, NULL, "no folder can be made for it");
    int code = results_write(dir, &results, &summary, 1, false, &trial->err);
    if (!code && !(code = run_file_open(dir, &file, &trial->err))) {
        code = explain_run(&file, 1, &trial->made, &trial->err);
        run_file_close(&file);
    }
    for (uint32_t i = 0; i < 2; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", dir, i ? "summary.json" : "run.sqlite");
        unlink(path);
    }
    rmdir(dir);
    return code;
}

static void try_one(const struct explanation *e, const struct build_options *options,
                    struct trial *trial)
{
    struct scenario *scenario = NULL;
    struct cli_run run;
    if (read_changed(e, trial->remedy, &scenario, &trial->err))
        return;
    if (!cli_run_plan(scenario->plans[0], options, NULL, &run, &trial->err)) {
        explain_results(&run, trial);
        cli_run_fini(&run);
    }
    scenario_destroy(scenario);
}

static void print_harm(FILE *out, const char *what, double before, double after)
{
    char a[32], b[32];
    fprintf(out, "%s %s -> %s", what, cli_figure(a, sizeof a, before, "B"),
            cli_figure(b, sizeof b, after, "B"));
    if (before > 0)
        fprintf(out, " (%+.0f %%)", 100 * (after / before - 1));
}

static bool are_equal(struct explain_figures a, struct explain_figures b)
{
    return a.harm_byte_s == b.harm_byte_s && a.bystanders_byte_s == b.bystanders_byte_s &&
           a.lost_frames == b.lost_frames && a.unfinished_flows == b.unfinished_flows &&
           a.delivered_bytes == b.delivered_bytes;
}

static void print_trial(FILE *out, const struct trial *trial, struct explain_figures before)
{
    char a[32], b[32];
    fprintf(out, "  %s\n   ", trial->remedy->words);
    for (uint32_t i = 0; trial->remedy->changes[i]; i++)
        fprintf(out, strchr(trial->remedy->changes[i], ' ') ? " --set '%s'" : " --set %s",
                trial->remedy->changes[i]);
    fprintf(out, "\n");
    if (!trial->made) {
        fprintf(out, "    cannot be tried here: %s\n", trial->err.message);
        return;
    }
    const struct explain_figures after = explain_figures(trial->made);
    if (are_equal(before, after)) {
        fprintf(out, "    changes nothing\n");
        return;
    }
    print_harm(out, "    byte-seconds", before.harm_byte_s, after.harm_byte_s);
    if (before.bystanders_byte_s > 0 || after.bystanders_byte_s > 0)
        print_harm(out, "\n    of bystanders", before.bystanders_byte_s, after.bystanders_byte_s);
    fprintf(out, "\n    delivered %s -> %s, lost %llu -> %llu frames, not finished %llu -> %llu\n",
            cli_figure(a, sizeof a, (double)before.delivered_bytes, "B"),
            cli_figure(b, sizeof b, (double)after.delivered_bytes, "B"),
            (unsigned long long)before.lost_frames, (unsigned long long)after.lost_frames,
            (unsigned long long)before.unfinished_flows,
            (unsigned long long)after.unfinished_flows);
}

static json_t *trial_json(const struct trial *trial)
{
    json_t *changes = json_array();
    for (uint32_t i = 0; trial->remedy->changes[i]; i++)
        json_array_append_new(changes, json_string(trial->remedy->changes[i]));
    json_t *o = json_pack("{ss so}", "words", trial->remedy->words, "changes", changes);
    const char *const figures[] = {"harm_byte_s",      "bystanders_byte_s", "lost_frames",
                                   "unfinished_flows", "delivered_bytes",   "headline"};
    json_object_set_new(o, "error", trial->made ? json_null() : json_string(trial->err.message));
    for (uint32_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_set_new(o, figures[i], json_null());
    if (!trial->made)
        return o;
    const struct explain_figures f = explain_figures(trial->made);
    char *headline = explain_headline(trial->made);
    json_object_set_new(o, "harm_byte_s", json_real(f.harm_byte_s));
    json_object_set_new(o, "bystanders_byte_s", json_real(f.bystanders_byte_s));
    json_object_set_new(o, "lost_frames", json_integer((json_int_t)f.lost_frames));
    json_object_set_new(o, "unfinished_flows", json_integer((json_int_t)f.unfinished_flows));
    json_object_set_new(o, "delivered_bytes", json_integer((json_int_t)f.delivered_bytes));
    json_object_set_new(o, "headline", json_string(headline));
    free(headline);
    return o;
}

json_t *cli_try(const struct explanation *e, uint32_t n_threads, uint64_t memory_bytes, FILE *out)
{
    const struct explain_remedy *remedies[MOST_REMEDIES];
    const uint32_t n = explain_remedies(e, remedies, MOST_REMEDIES);
    const struct build_options options = {.n_threads = n_threads, .memory_bytes = memory_bytes};
    json_t *list = json_array();
    XOFF_ASSERT(list);
    if (out)
        fprintf(out, n ? "\n  Tried:\n" : "\n  Nothing to try: there is no root.\n");
    for (uint32_t i = 0; i < n && !cli_is_interrupted(); i++) {
        struct trial trial = {.remedy = remedies[i]};
        try_one(e, &options, &trial);
        if (out)
            print_trial(out, &trial, explain_figures(e));
        json_array_append_new(list, trial_json(&trial));
        explain_destroy(trial.made);
    }
    return list;
}
