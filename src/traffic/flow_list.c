/* Traffic kind flows: flows stated one by one, in the scenario (`list`) or in a file (`file`), or
 * both. A flow without a priority or transport takes that of the entry.
 */
#include "traffic/flow_file.h"
#include "traffic/flow_hpcc.h"
#include "traffic/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "base/text.h"

struct flows_params {
    char file[XOFF_PARAM_TEXT];
    int64_t format;
    struct bind_carriage carriage;
};

enum { FLOWS_CSV, FLOWS_HPCC };
static const char *const flows_formats[] = {"csv", "hpcc", NULL};

struct flows_item {
    int64_t at;
    char from[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT], transport[XOFF_PARAM_TEXT];
    int64_t size, priority, rate;
};

static const struct xoff_param flows_table[] = {
    {.name = "file",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct flows_params, file),
     .preset = "",
     .help = "A file, beside the scenario, with a line for each flow."},
    {.name = "format",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct flows_params, format),
     .preset = "csv",
     .choices = flows_formats,
     .help = "Lines of the file: csv is at_s,from,to,bytes,priority; hpcc is a flow file of the "
             "ns-3 RDMA family, whose node 7 is host n7."},
    BIND_CARRIAGE(struct flows_params),
    {0},
};

static const struct xoff_param flows_item_table[] = {
    {.name = "at",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct flows_item, at),
     .preset = "0s",
     .help = "When the flow starts."},
    {.name = "from",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct flows_item, from),
     .help = "The sender."},
    {.name = "to",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct flows_item, to),
     .help = "The receiver."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct flows_item, size),
     .min = "1B",
     .max = "1000000GB",
     .allows_auto = true,
     .help = "Payload; auto: without end, until the run's stop."},
    {.name = "priority",
     .type = XOFF_P_INT,
     .offset = offsetof(struct flows_item, priority),
     .preset = "auto",
     .min = "0",
     .max = "7",
     .allows_auto = true,
     .help = "Priority of the frames; auto: that of the entry."},
    BIND_RATE(struct flows_item),
    {.name = "transport",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct flows_item, transport),
     .preset = "",
     .help = "Transport of the flow, named as in the entry; empty: that of the entry."},
    {0},
};

/* Puts the key of an item as --set writes it, "list.2.to", in front of an error. */
static int locate(struct xoff_err *err, uint32_t index, int rc)
{
    if (!rc || !err)
        return rc;
    char key[sizeof err->subject];
    memcpy(key, err->subject, sizeof key);
    struct text subject = text_at(err->subject, sizeof err->subject, 0);
    text_add(&subject, "list.");
    text_add_u64(&subject, index);
    text_add(&subject, ".");
    text_add(&subject, key);
    return rc;
}

static int find_host(const struct flow_names *names, const char *key, const char *name,
                     uint32_t *host, struct xoff_err *err)
{
    if (*name == '\0')
        return xoff_err_set(err, XOFF_E_MISSING, key, NULL, "name a host, as h3");
    *host = flow_names_find(names, name, strlen(name));
    if (*host == TOPO_NONE)
        return xoff_err_set(err, XOFF_E_UNKNOWN, key, name,
                            "no such host; one host's name is accepted, as h3");
    return 0;
}

static int read_item(const struct traffic_env *env, const struct flow_names *names,
                     const struct flows_item *item, struct schedule_entry *entry,
                     struct xoff_err *err)
{
    if (item->at < 0)
        return xoff_err_set(err, XOFF_E_RANGE, "at", NULL, "a time from 0s on is accepted");
    int rc = find_host(names, "from", item->from, &entry->from, err);
    if (rc == 0)
        rc = find_host(names, "to", item->to, &entry->to, err);
    if (rc == 0 && entry->from == entry->to)
        rc = xoff_err_set(err, XOFF_E_CONFLICT, "to", item->to, "a host does not send to itself");
    if (rc == 0 && item->size != XOFF_PARAM_AUTO)
        rc = bind_size("size", item->size, err);
    if (rc)
        return rc;
    const struct bind_hosts sender = {.hosts = &entry->from, .n = 1};
    entry->at = item->at;
    entry->bytes = item->size == XOFF_PARAM_AUTO ? UINT64_MAX : (uint64_t)item->size;
    if (item->priority != XOFF_PARAM_AUTO) {
        entry->priority = (uint8_t)item->priority;
        entry->priorities = 0;
    }
    if (item->transport[0])
        rc = bind_transport(env, item->transport, &entry->transport, err);
    return rc ? rc : bind_rate(env, item->rate, &sender, &entry->rate_bps, err);
}

static int flows_bind(const struct traffic_env *env, const void *params, const void *items,
                      uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct flows_params *p = params;
    const struct flows_item *list = items;
    struct app_offer offer;
    struct flow_names names;
    struct schedule *schedule = NULL;
    if (n_items == 0 && p->file[0] == '\0')
        return xoff_err_set(err, XOFF_E_MISSING, "list", NULL,
                            "give flows as list: [{at: 0s, from: h0, to: h1, size: 1MB}], or a "
                            "file of them");
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc)
        return rc;
    const struct schedule_entry preset = {
        .priority = offer.priority, .priorities = offer.priorities, .transport = offer.transport};
    rc = flow_names_init(&names, env->topo, err);
    for (uint32_t i = 0; rc == 0 && i < n_items; i++) {
        struct schedule_entry entry = preset;
        rc = locate(err, i, read_item(env, &names, &list[i], &entry, err));
        if (rc == 0)
            rc = schedule_add(&schedule, &entry, err);
    }
    if (rc == 0 && p->file[0]) {
        char path[1024];
        const bool is_relative = p->file[0] != '/' && env->folder;
        snprintf(path, sizeof path, "%s%s", is_relative ? env->folder : "", p->file);
        rc = (p->format == FLOWS_HPCC ? flow_hpcc_read : flow_file_read)(path, &names, &preset,
                                                                         &schedule, err);
    }
    free(names.by_name);
    if (rc) {
        free(schedule);
        return rc;
    }
    return schedule_bind(env, schedule, 0, apps, err);
}

const struct traffic_kind traffic_flows = {
    .name = "flows",
    .summary = "flows stated one by one, here or in a file",
    .params = flows_table,
    .params_size = sizeof(struct flows_params),
    .items_key = "list",
    .item_params = flows_item_table,
    .item_size = sizeof(struct flows_item),
    .bind = flows_bind,
};
