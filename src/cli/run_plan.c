/* Runs one plan from building to summary, with progress and Ctrl-C. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xoff/units.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void cli_catch_interrupts(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool cli_is_interrupted(void)
{
    return interrupted;
}

struct progress {
    bool is_shown;
    double began_s, shown_s;
    uint32_t calls;
    xoff_time stop;
    const char *name;
};

static bool on_progress(void *context, xoff_time now, uint64_t arrivals)
{
    struct progress *p = context;
    if (interrupted)
        return false;
    if (!p->is_shown || (++p->calls & 63))
        return true;
    const double clock_s = cli_clock();
    if (clock_s - p->shown_s < 0.2)
        return true;
    p->shown_s = clock_s;
    const double spent_s = clock_s - p->began_s, part = (double)now / (double)p->stop;
    char text[32];
    fprintf(stderr, "\r%s%s%5.1f %%  %s simulated  %.1f M packet-hops/s", p->name,
            *p->name ? "  " : "", 100 * (part < 1 ? part : 1),
            cli_figure(text, sizeof text, (double)now / (double)XOFF_S, "s"),
            (double)arrivals / spent_s / 1e6);
    if (part > 0 && part < 1)
        fprintf(stderr, "  %.0f s left", spent_s / part - spent_s);
    fprintf(stderr, "\033[K");
    return true;
}

static void keep_warnings(struct cli_run *run)
{
    const struct built *b = run->built;
    run->warnings = calloc(b->n_warnings + 1, sizeof *run->warnings);
    XOFF_ASSERT(run->warnings);
    for (uint32_t i = 0; i < b->n_warnings; i++)
        run->warnings[i] = cli_warning_text(&b->warnings[i]);
    run->results->warnings = (const char *const *)run->warnings;
    run->results->n_warnings = b->n_warnings;
}

/* Standalone times are those of the network that was imported. `compat: ns3` repeats that
 * simulator, so its runs have them, too. */
static void set_standalone(const struct plan *plan, const struct cli_input *input,
                           struct cli_run *run)
{
    struct xoff_err err;
    struct hpcc_config *made = NULL;
    const struct hpcc_config *network = input ? input->import : NULL;
    if (!network && plan->net.wire == &net_wire_ns3) {
        made = hpcc_of_topo(&run->built->topo,
                            plan->net.max_frame_bytes - plan->net.wire->header_bytes);
        XOFF_ASSERT(made);
        network = made;
    }
    if (network)
        XOFF_ASSERT(hpcc_standalone(network, run->results, &err) == 0);
    hpcc_destroy(made);
}

int cli_run_plan(const struct plan *plan, const struct build_options *given,
                 struct cli_input *input, struct cli_run *run, struct xoff_err *err)
{
    *run = (struct cli_run){0};
    struct progress progress = {
        .is_shown = input && isatty(STDERR_FILENO), .stop = plan->net.stop, .name = plan->variant};
    struct build_options options = *given;
    options.progress_context = &progress;
    options.progress = on_progress;
    const int code = build_create(plan, &options, &run->built, err);
    if (code)
        return code;
    if (input)
        cli_print_build_warnings(input, run->built);
    cli_catch_interrupts();
    run->began_s = progress.began_s = progress.shown_s = cli_clock();
    net_run(run->built->net);
    const double wall_s = cli_clock() - progress.began_s;
    if (progress.is_shown)
        fprintf(stderr, "\r\033[K");
    struct results *r = run->results = net_collect(run->built->net);
    run->tag_names = calloc(plan->n_traffic + 1, sizeof *run->tag_names);
    XOFF_ASSERT(run->tag_names);
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        run->tag_names[i] = plan->traffic[i].name;
    keep_warnings(run);
    run->config_text = plan_print(plan);
    r->scenario_file = plan->file;
    r->scenario_text = plan->text;
    r->title = plan->title;
    r->variant = plan->variant;
    r->config_text = run->config_text;
    r->tag_names = run->tag_names;
    r->n_tags = plan->n_traffic;
    r->wall_s = wall_s;
    r->peak_rss_bytes = cli_peak_rss();
    set_standalone(plan, input, run);
    run->summary = summary_create(r);
    return 0;
}

void cli_run_fini(struct cli_run *run)
{
    for (uint32_t i = 0; run->warnings && i < run->results->n_warnings; i++)
        free(run->warnings[i]);
    free(run->warnings);
    summary_destroy(run->summary);
    compare_destroy(run->compare);
    net_free_results(run->results);
    build_destroy(run->built);
    free(run->tag_names);
    free(run->config_text);
}
