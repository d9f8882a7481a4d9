/* xoff run --print-config: the effective configuration, and as comments the value of "auto" for
 * each kind of link. */
#include <stdlib.h>

#include <xoff/units.h>

#include "cli/cli.h"

static int print_one(struct cli_input *input, const struct plan *plan, struct xoff_err *err)
{
    const struct build_options options_of_build = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct built *built;
    if (build_create(plan, &options_of_build, &built, err))
        return EXIT_BAD_INPUT;
    cli_print_build_warnings(input, built);
    char *text = plan_print(plan);
    XOFF_ASSERT(text);
    fputs(text, stdout);
    free(text);
    const struct topo *topo = &built->topo;
    for (uint32_t i = 0; i < plan->net.n_kinds && plan->net.n_kinds > 1; i++) {
        printf(i ? "# switches.%u: " : "# switch: ", i - 1);
        cli_print_switches(built, i);
        putchar('\n');
    }
    int64_t limit = 0;
    for (uint32_t l = 0; l < topo->n_links && plan->net.lossless; l++) {
        const struct topo_link *link = &topo->links[l];
        const int64_t bytes = net_headroom(&built->spec, l), before = limit;
        const bool second = link->node[0] < topo->n_hosts;
        limit = net_headroom_limit(built->net, link->node[second], link->port[second]);
        /* Equal links mostly follow each other: one line for each group. */
        if (l && link->rate_bps == link[-1].rate_bps && link->delay == link[-1].delay &&
            bytes == net_headroom(&built->spec, l - 1) && limit == before)
            continue;
        char rate[32], delay[32], headroom[32];
        printf("# headroom of each lossless ingress queue at %s-%s (%s, %s): %s",
               topo->nodes[link->node[0]].name, topo->nodes[link->node[1]].name,
               xoff_format_rate(rate, sizeof rate, link->rate_bps),
               xoff_format_time(delay, sizeof delay, link->delay),
               xoff_format_bytes(headroom, sizeof headroom, bytes));
        if (limit != bytes && link->node[second] >= topo->n_hosts)
            printf("; the buffer has %s", xoff_format_bytes(headroom, sizeof headroom, limit));
        putchar('\n');
    }
    build_destroy(built);
    return EXIT_FINE;
}

int cli_print_configs(struct cli_input *input)
{
    int status = EXIT_FINE;
    struct xoff_err err = {0};
    for (uint32_t i = 0; i < input->scenario->n_plans && !status; i++) {
        if (i)
            puts("---");
        status = print_one(input, input->scenario->plans[i], &err);
        if (status)
            cli_print_build_error(input, &err);
    }
    return status;
}
