/* `receivers:` of a scenario: slow receivers, their schedules of service, the virtual machines that
 * share a receive queue, and the congestion point that watches it. */
#include "scenario/plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

static int bad_schedule(struct xoff_err *err, const char *value, const char *message)
{
    return xoff_err_set(err, XOFF_E_SYNTAX, "rate", value, message);
}

#define MAX_STEPS 32

/* Reads the rate of a server as steps, the first at 0. */
static int read_schedule(const char *text, struct net_service steps[MAX_STEPS], uint32_t *n_steps,
                         struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    const char *at = text;
    uint32_t n = 0;
    while (plan_next_entry(&at, entry, sizeof entry)) {
        if (n == MAX_STEPS)
            return bad_schedule(err, text, "too many changes of rate; accepted: up to 31");
        struct net_service step = {0};
        char *rate = entry;
        char *colon = strchr(entry, ':');
        if (colon) {
            *colon = '\0';
            rate = colon + 1 + strspn(colon + 1, " ");
        }
        if (!colon != !n)
            return bad_schedule(err, text,
                                "give a rate first and TIME: RATE for each change, such as "
                                "[10Gbps, 1ms: 1Gbps]");
        if (colon && (xoff_parse_time(entry, &step.at) || step.at <= steps[n - 1].at))
            return bad_schedule(err, entry,
                                "times of a schedule are such as 1ms, each later than the last");
        if (xoff_parse_rate(rate, &step.rate_bps) || step.rate_bps > 10000 * XOFF_GBPS)
            return bad_schedule(err, rate, "not a rate; give one such as 1Gbps, up to 10Tbps");
        steps[n++] = step;
    }
    *n_steps = n;
    return n ? 0 : bad_schedule(err, text, "empty; give a rate such as 1Gbps");
}

/* Reads the rate of the mapping `node`. */
static int read_server(struct fields_reader *r, const struct yaml_node *node, const char *rate,
                       struct net_server *server)
{
    struct net_service *steps = calloc(MAX_STEPS, sizeof *steps);
    if (!steps)
        return fields_no_memory(r);
    server->services = steps;
    const size_t length = fields_enter(r, "rate");
    int rc = read_schedule(rate, steps, &server->n_services, r->err);
    if (rc)
        rc = fields_locate(r, yaml_find(node, "rate"), rc);
    fields_leave(r, length);
    return rc;
}

/* Returns what is wrong with a name that a virtual machine gives; NULL: *index is its entry. */
static const char *find_traffic(const struct plan *plan, const char *name, const uint8_t *server_of,
                                uint32_t *index)
{
    uint32_t i = 0;
    while (i < plan->n_traffic && strcmp(plan->traffic[i].name, name) != 0)
        i++;
    *index = i;
    if (i == plan->n_traffic)
        return "no traffic entry is called so; give the name: of one";
    if (i >= NET_NOBODY)
        return "must be among the first 255 traffic entries";
    return server_of[i] ? "another machine of this receiver has this traffic already" : NULL;
}

/* Assigns the traffic that a virtual machine names to its server. */
static int take_traffic(struct fields_reader *r, const struct yaml_node *node,
                        const struct plan *plan, const char *names, uint32_t server,
                        uint8_t *server_of)
{
    char name[XOFF_PARAM_TEXT];
    int rc = 0;
    for (const char *at = names; plan_next_entry(&at, name, sizeof name) && !rc;) {
        uint32_t index;
        const char *message = find_traffic(plan, name, server_of, &index);
        if (!message) {
            server_of[index] = (uint8_t)server;
            continue;
        }
        const size_t length = fields_enter(r, "traffic");
        rc = fields_fail(r, yaml_find(node, "traffic"), XOFF_E_CONFLICT, message);
        xoff_err_set(r->err, XOFF_E_CONFLICT, r->err->subject, name, message);
        fields_leave(r, length);
    }
    return rc;
}

static int read_vm(struct fields_reader *r, const struct yaml_node *node, const struct plan *plan,
                   struct plan_receiver *receiver, uint32_t i)
{
    struct plan_vm *vm = &receiver->vms[i];
    int rc = fields_read(r, node, section_vm, vm, NULL);
    if (!rc)
        rc = read_server(r, node, vm->rate, &receiver->servers[1 + i]);
    return rc ? rc : take_traffic(r, node, plan, vm->traffic, 1 + i, receiver->server_of);
}

static int read_vms(struct fields_reader *r, const struct yaml_node *list, const struct plan *plan,
                    struct plan_receiver *receiver)
{
    const size_t length = fields_enter(r, "vms");
    void *entries;
    int rc = plan_begin_list(r, list, sizeof *receiver->vms, &entries);
    receiver->vms = entries;
    if (!rc && list && list->n > UINT8_MAX)
        rc = fields_fail(r, list, XOFF_E_RANGE, "too many; accepted: up to 255 entries");
    const struct yaml_node *node = list && !rc ? list->first : NULL;
    for (uint32_t i = 0; node && !rc; node = node->next, i++) {
        const size_t inner = fields_enter_index(r, i);
        rc = read_vm(r, node, plan, receiver, i);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_marking(struct fields_reader *r, const struct yaml_node *node,
                        struct plan_receiver *receiver)
{
    static const char *const others[] = {"kind", NULL};
    const size_t length = fields_enter(r, "marking");
    struct kind kind;
    void *params = NULL;
    int rc = fields_kind(r, node, KINDS_MARKING, &kind);
    if (!rc) {
        rc = plan_read_kind(r, node, &kind, NULL, others, &params);
        receiver->net.marking = kind.ops;
        receiver->net.marking_params = params;
    }
    if (node)
        receiver->marking_place = (struct plan_place){node->line, node->column};
    fields_leave(r, length);
    return rc;
}

static int read_receiver(struct fields_reader *r, const struct yaml_node *node,
                         const struct plan *plan, struct plan_receiver *receiver)
{
    static const char *const others[] = {"vms", "marking", NULL};
    int rc = fields_read(r, node, section_receiver, receiver, others);
    if (rc)
        return rc;
    receiver->place = (struct plan_place){node->line, node->column};
    const struct yaml_node *vms = yaml_find(node, "vms");
    struct net_receiver *net = &receiver->net;
    net->n_servers = 1 + (vms ? (uint32_t)vms->n : 0);
    net->servers = receiver->servers = calloc(net->n_servers, sizeof *receiver->servers);
    net->server_of = receiver->server_of;
    if (!net->servers)
        return fields_no_memory(r);
    rc = read_server(r, node, receiver->rate, receiver->servers);
    if (!rc)
        rc = read_vms(r, vms, plan, receiver);
    if (!rc)
        rc = read_marking(r, yaml_find(node, "marking"), receiver);
    if (rc)
        return rc;
    if (net->xoff_bytes > net->buffer_bytes)
        return fields_fail(r, node, XOFF_E_CONFLICT,
                           "xoff is beyond the buffer; give a smaller "
                           "xoff, a larger buffer, or xoff: auto");
    if (net->xoff_bytes != XOFF_PARAM_AUTO && net->xon_bytes >= net->xoff_bytes)
        return fields_fail(r, node, XOFF_E_CONFLICT,
                           "xon is not below xoff; give a smaller xon, or xon: auto");
    return 0;
}

int plan_read_receivers(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    const size_t length = fields_enter(r, "receivers");
    void *entries;
    int rc = plan_begin_list(r, node, sizeof *plan->receivers, &entries);
    plan->receivers = entries;
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, plan->n_receivers);
        rc = read_receiver(r, node, plan, &plan->receivers[plan->n_receivers++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

void plan_free_receivers(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_receivers; i++) {
        struct plan_receiver *receiver = &plan->receivers[i];
        for (uint32_t k = 0; receiver->servers && k < receiver->net.n_servers; k++)
            free((void *)receiver->servers[k].services);
        free(receiver->servers), free(receiver->vms), free((void *)receiver->net.marking_params);
    }
    free(plan->receivers);
}
