/* xoff topology: prints the network that a scenario builds. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "cli/cli.h"
#include "scenario/sections.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli_options *c = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = c;
        return 0;
    case ARGP_KEY_END:
        if (c->n_files != 1)
            argp_error(state, "give one scenario file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The worst case has a column of its own if a buffer differs from it. */
static bool has_other_headroom(const struct built *b)
{
    const struct topo *topo = &b->topo;
    for (uint32_t n = topo->n_hosts; n < topo->n_nodes && b->spec.lossless; n++)
        for (uint32_t p = 0; p < topo->nodes[n].n_ports; p++)
            if (net_headroom_limit(b->net, n, p) !=
                net_headroom(&b->spec, topo->ports[topo->nodes[n].first_port + p].link))
                return true;
    return false;
}

#define NAMES 4 /* names of a kind that are written out */

void cli_print_switches(const struct built *b, uint32_t kind)
{
    uint32_t n = 0;
    for (uint32_t node = b->topo.n_hosts; node < b->topo.n_nodes; node++)
        if (net_kind_of(&b->spec, node) == kind && n++ < NAMES)
            printf("%s%s", n > 1 ? ", " : "", b->topo.nodes[node].name);
    if (n > NAMES)
        printf(" and %u more", n - NAMES);
    else if (!n)
        printf("none");
}

static bool is_used(const struct built *b, const struct switch_role *role)
{
    bool is_any = false;
    for (uint32_t i = 0; i < b->spec.n_kinds; i++)
        is_any |= switch_uses(&b->spec.kinds[i], role);
    return is_any;
}

/* Prints the mechanisms of switches, a block for each kind: they are too many for a line. */
static void print_kinds(const struct built *b)
{
    const struct cli_style *s = cli_style(stdout);
    for (uint32_t i = 0; i < b->spec.n_kinds; i++) {
        const struct net_switch *sw = &b->spec.kinds[i];
        char name[32] = "switch", buffer[32];
        if (i)
            snprintf(name, sizeof name, "switches.%u", i - 1);
        printf("%s%s%s  ", s->bold, name, s->off);
        cli_print_switches(b, i);
        printf("\n  %-10s %s\n", "buffer",
               xoff_format_bytes(buffer, sizeof buffer, sw->buffer_bytes));
        for (const struct switch_role *role = switch_roles; role->key; role++)
            if (is_used(b, role))
                printf("  %-10s %s\n", role->key,
                       switch_uses(sw, role) ? switch_kind(sw, role).name : "-");
    }
    putchar('\n');
}

static void print_text(const struct built *b)
{
    const struct topo *topo = &b->topo;
    const struct cli_style *s = cli_style(stdout);
    const bool has_other = has_other_headroom(b);
    printf("%u hosts, %u switches, %u links\n\n", topo->n_hosts, topo->n_nodes - topo->n_hosts,
           topo->n_links);
    print_kinds(b);
    printf("%s%-12s %4s  %-12s %4s  %9s %9s %10s%s%s\n", s->bold, "node", "port", "peer", "port",
           "rate", "delay", "headroom", has_other ? " worst case" : "", s->off);
    for (uint32_t n = 0; n < topo->n_nodes; n++)
        for (uint32_t p = 0; p < topo->nodes[n].n_ports; p++) {
            const struct topo_port *tp = &topo->ports[topo->nodes[n].first_port + p];
            const struct topo_link *link = &topo->links[tp->link];
            char rate[32], delay[32], headroom[32] = "", worst[32] = "";
            if (topo->nodes[n].kind == TOPO_SWITCH && b->spec.lossless) {
                xoff_format_bytes(headroom, sizeof headroom, net_headroom_limit(b->net, n, p));
                if (has_other)
                    xoff_format_bytes(worst, sizeof worst, net_headroom(&b->spec, tp->link));
            }
            printf("%-12s %4u  %-12s %4u  %9s %9s %10s", p ? "" : topo->nodes[n].name, p,
                   topo->nodes[topo_peer(topo, n, p)].name, topo_peer_port(topo, n, p),
                   xoff_format_rate(rate, sizeof rate, link->rate_bps),
                   xoff_format_time(delay, sizeof delay, link->delay), headroom);
            printf(has_other ? " %10s\n" : "%s\n", worst);
        }
}

static json_t *node_json(const struct built *b, uint32_t n)
{
    const struct topo_node *node = &b->topo.nodes[n];
    json_t *json =
        json_pack("{s:s, s:s, s:i}", "name", node->name, "kind",
                  node->kind == TOPO_HOST ? "host" : "switch", "ports", (int)node->n_ports);
    if (node->kind == TOPO_HOST)
        return json;
    const struct net_switch *sw = net_switch_of(&b->spec, n);
    json_object_set_new(json, "settings", json_integer((json_int_t)net_kind_of(&b->spec, n)));
    json_object_set_new(json, "buffer_bytes", json_integer(sw->buffer_bytes));
    for (const struct switch_role *role = switch_roles; role->key; role++)
        if (switch_uses(sw, role))
            json_object_set_new(json, role->key, json_string(switch_kind(sw, role).name));
    return json;
}

/* The headroom of a lossless ingress queue at one end of a link; null: there is none. */
static json_t *headroom_json(const struct built *b, const struct topo_link *link, uint32_t end)
{
    if (!b->spec.lossless || link->node[end] < b->topo.n_hosts)
        return json_null();
    return json_integer(net_headroom_limit(b->net, link->node[end], link->port[end]));
}

static int print_json(const struct built *b)
{
    const struct topo *topo = &b->topo;
    json_t *nodes = json_array(), *links = json_array();
    for (uint32_t n = 0; n < topo->n_nodes; n++)
        json_array_append_new(nodes, node_json(b, n));
    for (uint32_t l = 0; l < topo->n_links; l++) {
        const struct topo_link *link = &topo->links[l];
        json_t *worst = b->spec.lossless ? json_integer(net_headroom(&b->spec, l)) : json_null();
        json_array_append_new(
            links, json_pack("{s:[s,s], s:[i,i], s:I, s:I, s:[o,o], s:o}", "endpoints",
                             topo->nodes[link->node[0]].name, topo->nodes[link->node[1]].name,
                             "ports", (int)link->port[0], (int)link->port[1], "rate_bps",
                             (json_int_t)link->rate_bps, "delay_ps", (json_int_t)link->delay,
                             "headroom_bytes", headroom_json(b, link, 0), headroom_json(b, link, 1),
                             "headroom_worst_case_bytes", worst));
    }
    json_t *all = json_pack("{s:o, s:o}", "nodes", nodes, "links", links);
    const int code = json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(all);
    return code;
}

int cmd_topology(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.parser = parse,
                                     .args_doc = "FILE",
                                     .doc = "Prints the network that a scenario builds: nodes, "
                                            "what switches are made of, ports, links, headroom.\v"
                                            "Example: xoff topology scenarios/quickstart.yaml",
                                     .children = children};
    struct cli_options c;
    cli_options_init(&c);
    cli_parse(&argp, argc, argv, 0, &c);
    struct cli_input input;
    struct built *built = NULL;
    struct xoff_err err = {0};
    int status = EXIT_FINE;
    if (cli_read(&c, c.files[0], &input, &err)) {
        cli_print_error(&err);
        cli_options_fini(&c);
        return EXIT_BAD_INPUT;
    }
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    if (build_create(input.scenario->plans[0], &options, &built, &err)) {
        cli_print_build_error(&input, &err);
        status = EXIT_BAD_INPUT;
    } else if (c.json) {
        status = print_json(built) ? EXIT_FAILED : EXIT_FINE;
    } else {
        print_text(built);
    }
    build_destroy(built);
    cli_input_fini(&input);
    cli_options_fini(&c);
    return status;
}
