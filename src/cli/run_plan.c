/* Runs one plan from building to summary, with progress and Ctrl-C. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "cli/checkpoint.h"
#include "cli/fork.h"

#define LOOK_ARRIVALS 200000 /* between two looks at the clock, at most */
#define LOOK_S 0.01          /* between two looks at the memory, at least, and ... */
#define LOOK_RARELY 100      /* ... so many times as long as the last one took */

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
    double began_s, shown_s, look_at_s;
    uint32_t calls;
    uint64_t arrivals;     /* when the clock was looked at last */
    uint64_t memory_bytes; /* what the run may take, 0: any */
    uint32_t n_ports;
    bool is_short;
    xoff_time stop;
    const char *name;
    struct net *net;
    /* Of checkpoints: */
    const struct checkpoint *checkpoint; /* NULL: none are made */
    uint32_t index;                      /* of the plan */
    xoff_time now;
    double written_s;
    struct checkpoint_state state; /* that it went on from */
    bool is_kept;
    struct fork *fork; /* NULL: none */
};

/* Writes a checkpoint, all ranks together. A run that cannot write one goes on, and tries again
 * later. */
static bool keep(struct progress *p, xoff_time now, bool is_over)
{
    struct checkpoint_state state = p->state;
    struct xoff_err err = {0};
    state.now = now;
    state.wall_s += cli_clock() - p->began_s;
    state.is_over = is_over;
    const int code = checkpoint_write(p->checkpoint, p->index, p->net, &state, &err);
    p->written_s = cli_clock();
    if (code && cli_is_first())
        cli_print_warning(&err);
    if (!code)
        cli_note_checkpoint(p->checkpoint->dir);
    return !code;
}

/* Whether the run goes on after the checkpoint that is due now, if any is. Ranks come here at the
 * same times; the clock of the first one counts. */
static bool is_past_checkpoint(struct progress *p, xoff_time now, bool looks)
{
    const struct checkpoint *c = p->checkpoint;
    if (c->at && now >= c->at && p->state.now < c->at) {
        p->is_kept = keep(p, now, false);
        p->state.now = now; /* it is tried once */
        return !p->is_kept;
    }
    if (looks && c->every_s > 0 &&
        cli_any(cli_is_first() && cli_clock() - p->written_s >= c->every_s))
        keep(p, now, false);
    return true;
}

/* Whether the results so far would take more memory than there may be. */
static bool is_too_much(const struct progress *p)
{
    if (!p->memory_bytes)
        return false;
    const uint64_t to_end =
        cli_memory_to_end(cli_used_memory(), net_noted_bytes(p->net), p->n_ports);
    return cli_memory_limit(to_end) > p->memory_bytes;
}

static bool on_progress(void *context, xoff_time now, uint64_t arrivals)
{
    struct progress *p = context;
    const bool looks = !(++p->calls & 63) || arrivals - p->arrivals >= LOOK_ARRIVALS;
    if (looks)
        p->arrivals = arrivals;
    p->now = now;
    if (p->checkpoint && !is_past_checkpoint(p, now, looks))
        return false;
    if (interrupted || p->is_kept)
        return false;
    if (p->fork && !p->fork->image.n && now >= p->fork->at) {
        net_image(p->net, &p->fork->image);
        p->fork->wall_s = cli_clock() - p->began_s;
    }
    if (!looks)
        return true;
    const double clock_s = cli_clock();
    if (clock_s > p->look_at_s) {
        if ((p->is_short = is_too_much(p)))
            return false;
        p->look_at_s = clock_s + fmax(LOOK_S, LOOK_RARELY * (cli_clock() - clock_s));
    }
    if (!p->is_shown || clock_s - p->shown_s < 0.2)
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

/* One rank's code is that of all. */
static int agree_on(int code, struct xoff_err *err)
{
    return cli_any(code) && !code
               ? xoff_err_set(err, XOFF_E_ELSEWHERE, "ranks", NULL, "another rank has failed")
               : code;
}

/* Ranks that go on from a checkpoint run the nodes that they had. `parts` is the caller's. */
static int find_parts(struct progress *p, const struct plan *plan, uint32_t **parts,
                      struct build_options *options, struct xoff_err *err)
{
    if (!p->checkpoint)
        return 0;
    while (p->checkpoint->scenario->plans[p->index] != plan)
        p->index++;
    if (!p->checkpoint->resumes || !options->ranks)
        return 0;
    const int code = checkpoint_read_parts(p->checkpoint, p->index, parts, &options->n_parts, err);
    if (*parts && !plan->net.wire->is_one_sequence) /* else the first rank runs all anyhow */
        options->parts = *parts;
    return agree_on(code, err);
}

/* Loads the state that the run of the plan goes on from, if there is one. */
static int prepare(struct progress *p, const struct plan *plan, struct net *net,
                   struct xoff_err *err)
{
    p->net = net;
    if (p->fork && p->fork->image.n) {
        p->state.wall_s = p->fork->wall_s;
        return fork_load(p->fork, plan, net, err);
    }
    if (!p->checkpoint)
        return 0;
    if (!p->checkpoint->resumes)
        return 0;
    cli_note_checkpoint(p->checkpoint->dir);
    return checkpoint_load(p->checkpoint, p->index, net, &p->state, err);
}

static void simulate(struct progress *p)
{
    if (p->state.is_over)
        return;
    const bool is_whole = net_run(p->net);
    if (!p->checkpoint || p->is_kept)
        return;
    if (is_whole && p->checkpoint->at > p->now && cli_is_first())
        fprintf(stderr, "%s%sthe run has come to its end before or at --checkpoint-at\n", p->name,
                *p->name ? ": " : "");
    if (cli_any(!is_whole && (interrupted || p->is_short)))
        p->is_kept = keep(p, p->now, false);
    else if (is_whole && p->checkpoint->scenario->n_plans > 1)
        keep(p, p->now, true); /* others follow, and may be interrupted */
}

int cli_run_plan(const struct plan *plan, const struct build_options *given,
                 struct cli_input *input, struct cli_run *run, struct xoff_err *err)
{
    *run = (struct cli_run){0};
    struct progress progress = {.is_shown = input && cli_is_terminal(stderr),
                                .stop = plan->net.stop,
                                .name = plan->variant};
    struct build_options options = *given;
    if (input) {
        progress.checkpoint = input->checkpoint;
        progress.fork = input->fork;
    }
    if (progress.checkpoint)
        options.hold_at = progress.checkpoint->at;
    else if (progress.fork)
        options.hold_at = progress.fork->at;
    options.progress_context = &progress;
    options.progress = on_progress;
    options.ranks = cli_ranks();
    uint32_t *parts = NULL;
    int code = find_parts(&progress, plan, &parts, &options, err);
    if (!code)
        code = build_create(plan, &options, &run->built, err);
    free(parts);
    if (code)
        return code;
    if (input)
        cli_print_build_warnings(input, run->built);
    cli_catch_interrupts();
    progress.memory_bytes = given->memory_bytes;
    progress.n_ports = run->built->topo.n_ports;
    if ((code = agree_on(prepare(&progress, plan, run->built->net, err), err)))
        return code;
    run->began_s = progress.began_s = progress.shown_s = progress.written_s = cli_clock();
    simulate(&progress);
    const double wall_s =
        progress.state.wall_s + (progress.state.is_over ? 0 : cli_clock() - progress.began_s);
    run->is_short = cli_any(progress.is_short);
    if (progress.is_shown)
        fprintf(stderr, "\r\033[K");
    if (progress.fork && !progress.fork->image.n && !interrupted && !run->is_short) {
        char text[32];
        xoff_err_set(err, XOFF_E_RANGE, "--fork-at",
                     xoff_format_time(text, sizeof text, progress.fork->at),
                     "the first variant comes to its end before this time");
        return -XOFF_E_RANGE;
    }
    run->is_kept = progress.is_kept;
    if (run->is_kept) {
        const bool is_interrupted = cli_any(interrupted);
        char text[32];
        fprintf(stderr, "%s at %s: %sxoff resume %s%s goes on from here\n",
                run->is_short    ? "out of memory (--memory)"
                : is_interrupted ? "interrupted"
                                 : "stopped",
                cli_figure(text, sizeof text, (double)progress.now / (double)XOFF_S, "s"),
                cli_mpirun(), progress.checkpoint->dir, run->is_short ? " --memory SIZE" : "");
        return 0;
    }
    struct results *r = run->results = net_collect(run->built->net);
    if (!r) /* the first rank has them */
        return 0;
    run->tag_names = calloc(plan->n_traffic + 1, sizeof *run->tag_names);
    XOFF_ASSERT(run->tag_names);
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        run->tag_names[i] = plan->traffic[i].name;
    keep_warnings(run);
    run->config_text = plan_print(plan);
    XOFF_ASSERT(run->config_text);
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
    XOFF_ASSERT(run->summary);
    return 0;
}

void cli_note_verdict(const struct scenario *scenario, struct results *run,
                      const struct results *const *results, const struct summary *const *summaries,
                      uint32_t n)
{
    const char **expects = calloc(scenario->n_expects + 1, sizeof *expects);
    XOFF_ASSERT(expects);
    for (uint32_t i = 0; i < scenario->n_expects; i++)
        expects[i] = scenario->expects[i].text;
    verdict_note(run, results, summaries, n, expects, scenario->n_expects);
    free(expects);
}

void cli_run_fini(struct cli_run *run)
{
    for (uint32_t i = 0; run->keys && i < run->results->n_keys; i++) {
        free((char *)run->keys[i].name);
        free((char *)run->keys[i].value);
    }
    free(run->keys);
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
