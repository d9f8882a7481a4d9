/* Prints the effective configuration of a plan as YAML, every key with its value.
 *
 * The tables that read a scenario also write it, so the output reads back to the same plan. Values
 * that are more than a plain word are put in double quotes with JSON's escapes, which YAML shares.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "scenario/sections.h"
#include "scenario/topology.h"

static void print_scalar(FILE *out, const char *text);
static void print_block(FILE *out, int indent, const struct xoff_param *table, const void *params);
static void print_flow(FILE *out, const struct xoff_param *table, const void *params);
static void print_topology(FILE *out, const struct plan_topology *topology);
static void print_switch(FILE *out, int indent, const struct net_switch *sw);
static void print_switches(FILE *out, const struct plan *plan);
static void print_transports(FILE *out, const struct plan *plan);
static void print_traffic(FILE *out, const struct plan *plan);
static void print_lists(FILE *out, const struct plan *plan);
static void print_measure(FILE *out, const struct plan *plan);
static void print_curves(FILE *out, const struct plan *plan);

char *plan_print(const struct plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const struct net_spec *net = &plan->net;
    const struct port_fields port = {net->response_quanta, net->headroom_bytes,
                                     net->max_frame_bytes};
    struct top_fields top = {.seed = (int64_t)net->seed,
                             .stop = net->stop,
                             .drain = net->drain,
                             .hops = net->max_hops,
                             .compat = net->wire == &net_wire_ns3,
                             .results = net->summarises};
    snprintf(top.title, sizeof top.title, "%s", plan->title);
    snprintf(top.reroute_after, sizeof top.reroute_after, "never");
    if (plan->reroute_after != XOFF_NEVER)
        xoff_format_time(top.reroute_after, sizeof top.reroute_after, plan->reroute_after);
    print_block(out, 0, section_top, &top);
    print_topology(out, &plan->topology);
    fprintf(out, "switch:\n");
    print_switch(out, 2, plan->kinds);
    print_switches(out, plan);
    fprintf(out, "port:\n");
    print_block(out, 2, section_port, &port);
    fprintf(out, "host:\n");
    print_block(out, 2, section_host, net);
    print_transports(out, plan);
    fprintf(out, "priorities:\n");
    for (uint32_t i = 0; i < XOFF_N_PRIORITIES; i++) {
        const struct priority_fields fields = {.lossless = net->lossless >> i & 1,
                                               .weight = net->weight[i],
                                               .strict = net->strict >> i & 1};
        fprintf(out, "  %u: ", (unsigned)i);
        print_flow(out, section_priority, &fields);
        fprintf(out, "\n");
    }
    print_traffic(out, plan);
    print_lists(out, plan);
    print_measure(out, plan);
    print_curves(out, plan);
    fprintf(out, "deadlock:\n");
    print_block(out, 2, section_deadlock, net);
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

static void print_scalar(FILE *out, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./%+#-";
    const bool is_null = strcmp(text, "null") == 0 || strcmp(text, "Null") == 0;
    if (text[0] && !strchr("%-#", text[0]) && strspn(text, plain) == strlen(text) && !is_null) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void print_value(FILE *out, const struct xoff_param *p, const void *params)
{
    char buf[XOFF_PARAM_TEXT + 64];
    fprintf(out, "%s: ", p->name);
    print_scalar(out, xoff_param_format(p, params, buf, sizeof buf));
}

static void print_block(FILE *out, int indent, const struct xoff_param *table, const void *params)
{
    for (const struct xoff_param *p = table; p && p->name; p++) {
        fprintf(out, "%*s", indent, "");
        print_value(out, p, params);
        fprintf(out, "\n");
    }
}

static void print_flow(FILE *out, const struct xoff_param *table, const void *params)
{
    const char *lead = "{";
    for (const struct xoff_param *p = table; p && p->name; p++) {
        fputs(lead, out);
        print_value(out, p, params);
        lead = ", ";
    }
    fputs("}", out);
}

/* Prints the keys of a link without braces; of delay and length, the one in force. */
static void print_link(FILE *out, const struct plan_link *link)
{
    const struct link_fields fields = {
        .rate_bps = link->rate_bps, .delay = link->delay, .error = link->error};
    print_value(out, xoff_param_find(section_link, "rate"), &fields);
    fputs(", ", out);
    if (link->length_mm == XOFF_PARAM_AUTO)
        print_value(out, xoff_param_find(section_link, "delay"), &fields);
    else if (link->length_mm % 1000 == 0)
        fprintf(out, "length: %lldm", (long long)(link->length_mm / 1000));
    else
        fprintf(out, "length: %lld.%03lldm", (long long)(link->length_mm / 1000),
                (long long)(link->length_mm % 1000));
    fputs(", ", out);
    print_value(out, xoff_param_find(section_link, "error"), &fields);
}

static void print_topology(FILE *out, const struct plan_topology *topology)
{
    fprintf(out, "topology:\n  kind: %s\n", topology->kind->name);
    print_block(out, 2, topology->kind->params, topology->params);
    fprintf(out, "  host_link: {");
    print_link(out, &topology->host_link);
    fprintf(out, "}\n");
    if (topology->kind->has_fabric_link) {
        fprintf(out, "  fabric_link: {");
        print_link(out, &topology->fabric_link);
        fprintf(out, "}\n");
    }
    if (topology->n_nodes)
        fprintf(out, "  nodes:\n");
    for (uint32_t i = 0; i < topology->n_nodes; i++)
        fprintf(out, "    %s: %s\n", topology->nodes[i].name,
                topology->nodes[i].kind == TOPO_HOST ? "host" : "switch");
    if (topology->n_links)
        fprintf(out, "  links:\n");
    for (uint32_t i = 0; i < topology->n_links; i++) {
        const struct plan_custom_link *link = &topology->links[i];
        fprintf(out, "    - {endpoints: [%s, %s], ", link->a, link->b);
        print_link(out, &link->link);
        fprintf(out, "}\n");
    }
}

static void print_switch(FILE *out, int indent, const struct net_switch *sw)
{
    print_block(out, indent, section_switch, sw);
    for (const struct switch_role *role = switch_roles; role->key; role++) {
        const struct kind kind = switch_kind(sw, role);
        if (!switch_uses(sw, role)) /* it would be refused */
            continue;
        fprintf(out, "%*s%s:\n%*skind: ", indent, "", role->key, indent + 2, "");
        print_scalar(out, kind.name);
        fprintf(out, "\n");
        print_block(out, indent + 2, kind.params, switch_params(sw, role));
    }
}

static void print_switches(FILE *out, const struct plan *plan)
{
    fprintf(out, plan->net.n_kinds > 1 ? "switches:\n" : "switches: []\n");
    for (uint32_t i = 1; i < plan->net.n_kinds; i++) {
        fprintf(out, "  - ");
        print_value(out, section_match, &plan->switches[i]);
        fprintf(out, "\n");
        /* Points at inputs that an entry has from `switch` and no use for would be refused. */
        struct net_switch sw = plan->kinds[i];
        if (!sw.marking->on_enqueue && !sw.marking->on_dequeue)
            sw.points_at = NET_POINTS_OUTPUT;
        print_switch(out, 4, &sw);
    }
}

static void print_transports(FILE *out, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_transports; i++) {
        const struct plan_transport *t = &plan->transports[i];
        const int indent = i ? 4 : 2;
        if (i == 1)
            fprintf(out, "transports:\n");
        fprintf(out, "%*s%s:\n%*skind: ", i ? 2 : 0, "", i ? t->name : "transport", indent, "");
        print_scalar(out, t->net.rp->name);
        fprintf(out, "\n");
        print_block(out, indent, section_transport, t);
        print_block(out, indent, t->net.rp->params, t->net.rp_params);
        print_block(out, indent, t->net.np->params, t->net.np_params);
        for (uint32_t k = 0; xoff_rels[k]; k++) {
            if (!xoff_rels[k]->params->name)
                continue;
            fprintf(out, "%*s%s: ", indent, "", xoff_rels[k]->name);
            print_flow(out, xoff_rels[k]->params, t->rel_params[k]);
            fprintf(out, "\n");
        }
    }
}

static void print_traffic(FILE *out, const struct plan *plan)
{
    fprintf(out, plan->n_traffic ? "traffic:\n" : "traffic: []\n");
    for (uint32_t i = 0; i < plan->n_traffic; i++) {
        const struct plan_traffic *traffic = &plan->traffic[i];
        fprintf(out, "  - kind: %s\n    name: ", traffic->kind->name);
        print_scalar(out, traffic->name);
        fprintf(out, "\n");
        print_block(out, 4, traffic->kind->params, traffic->params);
        if (!traffic->n_items)
            continue;
        fprintf(out, "    %s:\n", traffic->kind->items_key);
        for (uint32_t k = 0; k < traffic->n_items; k++) {
            fprintf(out, "      - ");
            print_flow(out, traffic->kind->item_params,
                       (const char *)traffic->items + k * traffic->kind->item_size);
            fprintf(out, "\n");
        }
    }
}

static void print_receiver(FILE *out, const struct plan_receiver *receiver)
{
    fprintf(out, "  -\n");
    print_block(out, 4, section_receiver, receiver);
    struct kind marking;
    kinds_find(KINDS_MARKING, receiver->net.marking->name, &marking);
    fprintf(out, "    marking:\n      kind: %s\n", marking.name);
    print_block(out, 6, marking.params, receiver->net.marking_params);
    fprintf(out, receiver->net.n_servers > 1 ? "    vms:\n" : "    vms: []\n");
    for (uint32_t k = 0; k + 1 < receiver->net.n_servers; k++) {
        fprintf(out, "      - ");
        print_flow(out, section_vm, &receiver->vms[k]);
        fprintf(out, "\n");
    }
}

static void print_lists(FILE *out, const struct plan *plan)
{
    fprintf(out, plan->n_changes ? "links:\n" : "links: []\n");
    for (uint32_t i = 0; i < plan->n_changes; i++) {
        const struct plan_change *change = &plan->changes[i];
        struct change_fields fields = {.at = change->at,
                                       .rate_bps = change->rate_bps,
                                       .delay = change->delay,
                                       .fail = change->fail,
                                       .repair = change->repair};
        snprintf(fields.link, sizeof fields.link, "%s", change->link);
        fprintf(out, "  - ");
        print_flow(out, section_change, &fields);
        fprintf(out, "\n");
    }
    fprintf(out, plan->n_routes ? "routes:\n" : "routes: []\n");
    for (uint32_t i = 0; i < plan->n_routes; i++) {
        const struct plan_route *route = &plan->routes[i];
        struct route_fields fields = {.at = route->at};
        snprintf(fields.on, sizeof fields.on, "%s", route->on);
        memcpy(fields.to, route->to, sizeof fields.to);
        memcpy(fields.via, route->via, sizeof fields.via);
        fprintf(out, "  - ");
        print_flow(out, section_route, &fields);
        fprintf(out, "\n");
    }
    fprintf(out, plan->n_receivers ? "receivers:\n" : "receivers: []\n");
    for (uint32_t i = 0; i < plan->n_receivers; i++)
        print_receiver(out, &plan->receivers[i]);
    fprintf(out, plan->n_defences ? "cn_ports:\n" : "cn_ports: []\n");
    for (uint32_t i = 0; i < plan->n_defences; i++) {
        fprintf(out, "  - ");
        print_flow(out, section_defence, &plan->defences[i]);
        fprintf(out, "\n");
    }
    fprintf(out, "lldp: ");
    print_flow(out, section_lldp, &plan->lldp);
    fprintf(out, plan->n_dcbx ? "\ndcbx:\n" : "\ndcbx: []\n");
    for (uint32_t i = 0; i < plan->n_dcbx; i++) {
        fprintf(out, "  - ");
        print_flow(out, section_dcbx, &plan->dcbx[i]);
        fprintf(out, "\n");
    }
}

static void print_measure(FILE *out, const struct plan *plan)
{
    const xoff_time to = plan->net.measure_to;
    struct measure_fields fields = {.every = plan->net.measure_every,
                                    .from = plan->net.measure_from,
                                    .to = to ? to : XOFF_PARAM_AUTO};
    memcpy(fields.at, plan->measured_at, sizeof fields.at);
    size_t length = 0;
    for (uint32_t i = 0; section_series[i]; i++)
        if (plan->net.measure >> i & 1)
            length += (size_t)snprintf(fields.series + length, sizeof fields.series - length,
                                       "%s%s", length ? "," : "", section_series[i]);
    fprintf(out, "measure:\n");
    print_block(out, 2, section_measure, &fields);
}

static void print_curves(FILE *out, const struct plan *plan)
{
    fprintf(out, plan->n_curves ? "curves:\n" : "curves: {}\n");
    for (uint32_t i = 0; i < plan->n_curves; i++) {
        fprintf(out, "  ");
        print_scalar(out, plan->curves[i].name);
        fprintf(out, ": ");
        print_flow(out, section_curve, &plan->curves[i]);
        fprintf(out, "\n");
    }
}
