/* xoff check: reads scenarios and builds their networks without running them. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/cli.h"

struct check_arguments {
    struct cli_options shared;
    bool deadlock;
};

enum { OPTION_DEADLOCK = 512 };

static const struct argp_option options[] = {
    {"deadlock", OPTION_DEADLOCK, NULL, 0,
     "Look for cyclic buffer dependency in the routes of the lossless classes", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check_arguments *a = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->shared;
        return 0;
    case OPTION_DEADLOCK:
        a->deadlock = true;
        return 0;
    case ARGP_KEY_END:
        if (!a->shared.n_files)
            argp_error(state, "no scenario file given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A cycle that the routes allow. */
struct cycle {
    struct route_channel channels[64];
    uint32_t n;   /* may be more than there is room for; 0: none */
    xoff_time at; /* when the routes are first such */
};

/* Finds the first cycle that the routes allow at any time of the run. */
static int find_cycle(const struct topo *topo, const bool *coupled, struct cycle *cycle,
                      struct xoff_err *err)
{
    const uint32_t capacity = sizeof cycle->channels / sizeof *cycle->channels;
    cycle->n = 0;
    for (cycle->at = 0; cycle->at != XOFF_NEVER && !cycle->n;) {
        struct routes *routes;
        const int code = routes_create(topo, cycle->at, false, &routes, err);
        if (code)
            return code;
        cycle->n = routes_find_cycle(topo, routes, coupled, cycle->channels, capacity);
        routes_destroy(routes);
        if (!cycle->n)
            cycle->at = routes_next_change(topo, cycle->at);
    }
    if (cycle->n > capacity)
        cycle->n = capacity;
    return 0;
}

static void print_cycle(const struct plan *plan, const struct topo *topo, const struct cycle *cycle)
{
    char text[32];
    printf("%s%s%s: cyclic buffer dependency from %s on:\n", plan->file,
           plan->variant[0] ? ": " : "", plan->variant,
           cli_figure(text, sizeof text, (double)cycle->at / (double)XOFF_S, "s"));
    for (uint32_t k = 0; k < cycle->n; k++) {
        const struct route_channel *c = &cycle->channels[k];
        printf("  %s port %u -> %s\n", topo->nodes[c->node].name, c->port,
               topo->nodes[topo_peer(topo, c->node, c->port)].name);
    }
}

static json_t *cycle_json(const struct plan *plan, const struct topo *topo,
                          const struct cycle *cycle)
{
    json_t *channels = json_array();
    for (uint32_t k = 0; k < cycle->n; k++) {
        const struct route_channel *c = &cycle->channels[k];
        json_array_append_new(channels,
                              json_pack("{s:s, s:i, s:s}", "node", topo->nodes[c->node].name,
                                        "port", (int)c->port, "to",
                                        topo->nodes[topo_peer(topo, c->node, c->port)].name));
    }
    return json_pack("{s:s, s:f, s:o}", "variant", plan->variant, "from_s",
                     (double)cycle->at / (double)XOFF_S, "channels", channels);
}

/* Looks for a cycle in the routes of a plan. Prints it, or adds it to `cycles` if that is not NULL.
 * Returns an exit status. */
static int check_cycle(const struct plan *plan, const struct built *built, json_t *cycles)
{
    const struct topo *topo = &built->topo;
    const uint32_t n_switches = topo->n_nodes - topo->n_hosts;
    bool *coupled = calloc(n_switches + 1, sizeof *coupled);
    XOFF_ASSERT(coupled);
    for (uint32_t i = 0; i < n_switches; i++) {
        const struct net_switch *sw = net_switch_of(&built->spec, topo->n_hosts + i);
        coupled[i] = sw->fabric && sw->fabric->is_coupled && sw->fabric->is_coupled(sw);
    }
    struct cycle cycle;
    struct xoff_err err;
    const int code = find_cycle(topo, coupled, &cycle, &err);
    free(coupled);
    if (code)
        cli_print_error(&err);
    else if (cycle.n && cycles)
        json_array_append_new(cycles, cycle_json(plan, topo, &cycle));
    else if (cycle.n)
        print_cycle(plan, topo, &cycle);
    return code || cycle.n ? EXIT_FAILED : EXIT_FINE;
}

/* Prints the line of a file; `err` is NULL or what is wrong with it. Takes both arrays. */
static void print_json(const char *file, bool is_good, json_t *cycles, json_t *warnings,
                       const struct xoff_err *err)
{
    json_t *answer = json_pack("{s:s, s:b, s:o, s:o}", "file", file, "good", is_good, "cycles",
                               cycles, "warnings", warnings);
    if (err)
        json_object_set_new(answer, "error",
                            json_pack("{s:i, s:i, s:s, s:s, s:s}", "line", err->line, "column",
                                      err->column, "subject", err->subject, "message",
                                      err->message[0] ? err->message : xoff_err_text(err->code),
                                      "value", err->value));
    json_dumpf(answer, stdout, 0);
    putchar('\n');
    json_decref(answer);
}

static int check_file(const struct check_arguments *a, const char *file)
{
    struct cli_input input;
    struct xoff_err err = {0};
    if (cli_read(&a->shared, file, &input, &err)) {
        cli_print_error(&err);
        if (a->shared.json)
            print_json(file, false, json_array(), json_array(), &err);
        return cli_status(&err);
    }
    const struct scenario *scenario = input.scenario;
    const struct build_options options_of_build = {.n_threads = a->shared.n_threads,
                                                   .memory_bytes = a->shared.memory_bytes,
                                                   .cell_bound = a->shared.cell_bound};
    int status = EXIT_FINE;
    bool is_built = true;
    json_t *cycles = a->shared.json ? json_array() : NULL;
    for (uint32_t i = 0; i < scenario->n_plans && status != EXIT_BAD_INPUT; i++) {
        struct built *built;
        if (build_create(scenario->plans[i], &options_of_build, &built, &err)) {
            cli_print_build_error(&input, &err);
            status = cli_status(&err);
            is_built = false;
            break;
        }
        cli_print_build_warnings(&input, built);
        if (a->deadlock && scenario->plans[i]->net.lossless &&
            check_cycle(scenario->plans[i], built, cycles))
            status = EXIT_FAILED;
        build_destroy(built);
    }
    if (a->shared.json) {
        json_t *warnings = json_array();
        for (uint32_t i = 0; i < input.n_warnings; i++)
            json_array_append_new(warnings, json_string(input.warnings[i]));
        print_json(file, status == EXIT_FINE, cycles, warnings, is_built ? NULL : &err);
    } else if (status == EXIT_FINE)
        printf("%s: good%s\n", file, a->deadlock ? ", no cyclic buffer dependency" : "");
    cli_input_fini(&input);
    return status;
}

int cmd_check(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE...",
        .doc = "Reads scenarios and builds their networks without running them.\v"
               "Exit status: 0 good, 1 a cycle was found, 2 bad input.\n"
               "Example: xoff check --deadlock scenarios/ring-deadlock.yaml",
        .children = children};
    struct check_arguments a = {0};
    cli_options_init(&a.shared);
    cli_parse(&argp, argc, argv, 0, &a);
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < a.shared.n_files; i++) {
        const int one = check_file(&a, a.shared.files[i]);
        status = one > status ? one : status;
    }
    cli_options_fini(&a.shared);
    return status;
}
