/* xoff run --estimate: what a run will take of time and memory, found by a short trial.
 *
 * The network is built and run for TRIAL_S seconds, with the same traffic. The first half of that
 * time fills the network and the caches; the second half tells how fast simulated time passes and
 * how fast memory grows. Both are drawn out in a straight line to the end of the traffic (`stop`).
 * The time to drain and to write results is not counted, their memory is, by the rule that ends
 * a run at --memory (cli_memory_to_end).
 */
#include <jansson.h>
#include <math.h>

#include "cli/cli.h"

#define TRIAL_S 2.0
#define LOOK_HOPS 100000 /* between two looks at the clock, at most */

/* The trial at a moment. */
struct moment {
    double clock_s;
    xoff_time at;
    uint64_t bytes, hops;
    uint64_t noted_bytes; /* of `bytes`, those of notes */
};

struct trial {
    struct moment first, half, last;
    xoff_time stop;
    const struct net *net;
    uint32_t calls;
    uint64_t looked_hops; /* when the clock was looked at last */
};

static bool on_progress(void *context, xoff_time now, uint64_t hops)
{
    struct trial *t = context;
    const bool looks = !(++t->calls & 15) || hops - t->looked_hops > LOOK_HOPS;
    t->last.at = now;
    t->last.hops = hops;
    if (!looks)
        return !cli_is_interrupted();
    t->looked_hops = hops;
    t->last.clock_s = cli_clock();
    t->last.bytes = cli_used_memory();
    const double spent_s = t->last.clock_s - t->first.clock_s;
    if (t->half.clock_s == 0 && spent_s >= TRIAL_S / 2) {
        t->half = t->last;
        t->half.noted_bytes = net_noted_bytes(t->net);
    }
    return spent_s < TRIAL_S && now < t->stop && !cli_is_interrupted();
}

/* What the run is expected to take. */
struct forecast {
    bool is_whole; /* the trial came to the end of the run */
    double seconds, hops_per_s;
    uint64_t bytes, limit_bytes; /* what it takes, and what --memory must be for that */
};

static struct forecast forecast_of(const struct trial *t, uint32_t n_ports, bool is_whole)
{
    /* A trial that ends in its first half is all there is to go by. */
    const struct moment from = t->half.clock_s > 0 && t->half.at < t->last.at ? t->half : t->first;
    const double passed = (double)(t->last.at - from.at);
    const double left = is_whole || passed <= 0 || t->last.at >= t->stop
                            ? 0
                            : (double)(t->stop - t->last.at) / passed;
    const double spent_s = t->last.clock_s - from.clock_s;
    const uint64_t grown = t->last.bytes > from.bytes ? t->last.bytes - from.bytes : 0;
    const double noted = (double)t->last.noted_bytes,
                 noted_since = (double)(t->last.noted_bytes - from.noted_bytes);
    const double most = 1e18; /* a stop far away must not come to less than nothing */
    const double bytes = fmin((double)t->last.bytes + left * (double)grown, most);
    const uint64_t to_end = cli_memory_to_end(
        (uint64_t)bytes, (uint64_t)fmin(noted + left * noted_since, most), n_ports);
    return (struct forecast){.is_whole = is_whole,
                             .seconds = t->last.clock_s - t->first.clock_s + left * spent_s,
                             .bytes = to_end,
                             .limit_bytes = cli_memory_limit(to_end),
                             .hops_per_s =
                                 spent_s > 0 ? (double)(t->last.hops - from.hops) / spent_s : 0};
}

static void print(const struct plan *plan, const struct topo *topo, const struct trial *t,
                  const struct forecast *f, double built_s, uint64_t memory_bytes)
{
    char a[32], b[32];
    printf("%s%s%u hosts, %u switches, %u ports\n", plan->variant, *plan->variant ? ": " : "",
           topo->n_hosts, topo->n_nodes - topo->n_hosts, topo->n_ports);
    printf("  network     %s, built in %.2f s\n",
           cli_figure(a, sizeof a, (double)t->first.bytes, "B"), built_s);
    printf("  trial       %s", cli_figure(a, sizeof a, (double)t->last.at / (double)XOFF_S, "s"));
    printf(" of %s simulated in %.2f s, %.1f M packet-hops/s\n",
           cli_figure(b, sizeof b, (double)t->stop / (double)XOFF_S, "s"),
           t->last.clock_s - t->first.clock_s, f->hops_per_s / 1e6);
    printf("  up to stop  %s%.1f s, without the time to drain and to write the results\n",
           f->is_whole ? "" : "about ", f->seconds);
    printf("  whole run   %s%s of memory; with --memory it needs %s\n", f->is_whole ? "" : "about ",
           cli_figure(a, sizeof a, (double)f->bytes, "B"),
           cli_figure(b, sizeof b, (double)f->limit_bytes, "B"));
    printf("  may take    %s: %s\n", cli_figure(a, sizeof a, (double)memory_bytes, "B"),
           f->limit_bytes <= memory_bytes ? "it fits" : "it does not fit");
}

static json_t *json_of(const struct plan *plan, const struct topo *topo, const struct trial *t,
                       const struct forecast *f, double built_s, uint64_t memory_bytes)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:f, s:f, s:b, s:f, s:f, s:I, s:I, s:I, s:b}",
                     "variant", plan->variant, "hosts", (json_int_t)topo->n_hosts, "switches",
                     (json_int_t)(topo->n_nodes - topo->n_hosts), "ports",
                     (json_int_t)topo->n_ports, "built_s", built_s, "network_bytes",
                     (json_int_t)t->first.bytes, "trial_s", t->last.clock_s - t->first.clock_s,
                     "trial_simulated_s", (double)t->last.at / (double)XOFF_S, "trial_is_whole",
                     f->is_whole, "packet_hops_per_s", f->hops_per_s, "seconds", f->seconds,
                     "bytes", (json_int_t)f->bytes, "limit_bytes", (json_int_t)f->limit_bytes,
                     "may_take_bytes", (json_int_t)memory_bytes, "fits",
                     f->limit_bytes <= memory_bytes);
}

static int estimate(const struct cli_options *shared, struct cli_input *input,
                    const struct plan *plan, json_t *out)
{
    struct trial t = {.stop = plan->net.stop};
    const struct build_options options = {.n_threads = shared->n_threads,
                                          .memory_bytes = shared->memory_bytes,
                                          .cell_bound = shared->cell_bound,
                                          .progress = on_progress,
                                          .progress_context = &t};
    struct built *built;
    struct xoff_err err = {0};
    const double began_s = cli_clock();
    if (build_create(plan, &options, &built, &err)) {
        cli_print_build_error(input, &err);
        return cli_status(&err);
    }
    cli_print_build_warnings(input, built);
    t.first = t.last = (struct moment){.clock_s = cli_clock(), .bytes = cli_used_memory()};
    t.net = built->net;
    const bool is_whole = net_run(built->net);
    t.last.noted_bytes = net_noted_bytes(built->net);
    if (is_whole) {
        t.last.at = t.stop;
        t.last.clock_s = cli_clock();
        t.last.bytes = cli_used_memory();
    }
    const struct forecast f = forecast_of(&t, built->topo.n_ports, is_whole);
    const double built_s = t.first.clock_s - began_s;
    if (out)
        json_array_append_new(out,
                              json_of(plan, &built->topo, &t, &f, built_s, options.memory_bytes));
    else
        print(plan, &built->topo, &t, &f, built_s, options.memory_bytes);
    build_destroy(built);
    return f.limit_bytes <= options.memory_bytes ? EXIT_FINE : EXIT_BAD_INPUT;
}

int cli_estimate(const struct cli_options *options, struct cli_input *input)
{
    json_t *out = options->json ? json_array() : NULL;
    int status = EXIT_FINE;
    cli_catch_interrupts();
    for (uint32_t i = 0; i < input->scenario->n_plans && !cli_is_interrupted(); i++) {
        const int one = estimate(options, input, input->scenario->plans[i], out);
        status = one > status ? one : status;
    }
    if (out && (json_dumpf(out, stdout, JSON_INDENT(1)) || putchar('\n') == EOF))
        status = EXIT_FAILED;
    json_decref(out);
    return status;
}
