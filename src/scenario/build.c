/* From a plan to a network: resolves names, binds traffic, fills the network's spec. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/build_parts.h"
#include "scenario/plan_read.h"
#include "scenario/sections.h"
#include "scenario/topology.h"

#include <xoff/units.h>

#define MOST_NAMED 6 /* switches of a loop, in a message */

int build_located(const struct plan *plan, struct plan_place place, const char *prefix,
                  struct xoff_err *err)
{
    const bool has_own = err->file[0]; /* the error is about a flow file and keeps its place */
    if (!has_own)
        snprintf(err->file, sizeof err->file, "%s", plan->file);
    if (!place.line) /* the section is not in the file: blame one that must be */
        place = plan->switches->place[NET_PART_NET].line ? plan->switches->place[NET_PART_NET]
                                                         : plan->topology.place;
    if (!err->line && !has_own) {
        err->line = place.line;
        err->column = place.column;
    }
    if (prefix) {
        char subject[sizeof err->subject];
        snprintf(subject, sizeof subject, "%s%s%.*s", prefix, err->subject[0] ? "." : "",
                 (int)(sizeof subject - strlen(prefix) - 2), err->subject);
        memcpy(err->subject, subject, sizeof err->subject);
    }
    return -(int)err->code;
}

void build_add_warning(struct built *b, const struct xoff_err *warning)
{
    b->warnings = realloc(b->warnings, sizeof *b->warnings * (b->n_warnings + 1));
    XOFF_ASSERT(b->warnings);
    b->warnings[b->n_warnings++] = *warning;
}

static int build_receivers(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    uint32_t *hosts = malloc(sizeof *hosts * (b->topo.n_hosts + 1));
    XOFF_ASSERT(hosts);
    int code = 0;
    for (uint32_t i = 0; i < plan->n_receivers && !code; i++) {
        const struct plan_receiver *r = &plan->receivers[i];
        uint32_t n_hosts = 0;
        code = topology_hosts(&b->topo, r->host, hosts, &n_hosts, err);
        for (uint32_t h = 0; h < n_hosts && !code; h++) {
            for (uint32_t k = 0; k < b->n_receivers; k++)
                if (b->receivers[k].host == hosts[h])
                    code = xoff_err_set(err, XOFF_E_CONFLICT, "host", r->host,
                                        "this host has a receiver already");
            b->receivers = realloc(b->receivers, sizeof *b->receivers * (b->n_receivers + 1));
            XOFF_ASSERT(b->receivers);
            b->receivers[b->n_receivers] = r->net;
            b->receivers[b->n_receivers].entry = i;
            b->receivers[b->n_receivers++].host = hosts[h];
        }
        if (code)
            build_located(plan, r->place, "receivers", err);
    }
    free(hosts);
    return code;
}

/* Context for traffic that names a transport: one of the scenario's, or a kind with its defaults.
 */
struct named {
    const struct plan *plan;
    struct built *built;
};

static void *defaults_of(struct built *b, const struct xoff_param *table, size_t size)
{
    void *params = calloc(1, size + 1);
    XOFF_ASSERT(params && app_set_keep(&b->apps, params) == 0);
    xoff_param_defaults(table, params);
    return params;
}

static int find_transport(void *context, const char *name)
{
    struct named *n = context;
    struct built *b = n->built;
    for (uint32_t i = 0; i < n->plan->n_transports; i++)
        if (strcmp(n->plan->transports[i].name, name) == 0)
            return (int)i;
    const struct xoff_rp_ops *rp = xoff_rp_find(name);
    if (!rp)
        return -1;
    for (uint32_t i = n->plan->n_transports; i < b->n_transports; i++)
        if (b->transports[i].rp == rp)
            return (int)i;
    if (b->n_transports == NET_MAX_TRANSPORTS)
        return -2;
    const struct xoff_rel_ops *rel = xoff_rel_find(rp->rel);
    const struct xoff_np_ops *np = xoff_np_find(rp->np);
    b->transports[b->n_transports] = (struct net_transport){
        .rp = rp,
        .rel = rel,
        .np = np,
        .rp_params = defaults_of(b, rp->params, rp->params_size),
        .rel_params = defaults_of(b, rel->params, rel->params_size),
        .np_params = defaults_of(b, np->params, np->params_size),
    };
    return (int)b->n_transports++;
}

static uint32_t header_of(void *context, uint8_t transport)
{
    const struct named *n = context;
    return net_header_bytes(n->built->spec.wire, &n->built->transports[transport]);
}

static bool acknowledges(void *context, uint8_t transport)
{
    const struct named *n = context;
    return n->built->transports[transport].rel->has_acks;
}

/* Tells whether all frames of a flow take one path. Parameters that cannot be configured count as
 * such; they are refused later. */
static bool keeps_flows(const struct net_switch *sw)
{
    const struct xoff_path_env env = {.n_ports = 2, .buffer_bytes = sw->buffer_bytes};
    struct xoff_path path;
    struct xoff_err err;
    void *cfg = calloc(1, xoff_path_cfg_size(sw->path, env.n_ports) + 1);
    const bool is_fine =
        cfg && xoff_path_configure(&path, sw->path, sw->path_params, &env, cfg, &err) == 0;
    free(cfg);
    return !is_fine || xoff_path_keeps_flows(&path);
}

/* Checks that the network can carry a closed loop of traffic. */
static int check_loop(const struct plan *plan, const struct plan_traffic *traffic, uint32_t index,
                      uint32_t n_connections, struct named *named, struct xoff_err *err)
{
    /* Frames carry the entry's number to the app at the other end in one byte. */
    if (index >= UINT8_MAX)
        return xoff_err_set(err, XOFF_E_RANGE, "kind", traffic->kind->name,
                            "a closed-loop entry must be among the first 255 of the list");
    const struct xoff_param *p = xoff_param_find(traffic->kind->params, "transport");
    const int transport = p ? find_transport(named, (const char *)traffic->params + p->offset) : 0;
    bool keeps = true;
    for (uint32_t i = 0; i < plan->net.n_kinds; i++)
        keeps &= keeps_flows(&plan->kinds[i]);
    if (!keeps && n_connections && !acknowledges(named, (uint8_t)transport))
        return xoff_err_set(err, XOFF_E_CONFLICT, "transport", NULL,
                            "datagrams of two messages mix on different paths, and a closed loop "
                            "would wait for ever; give another transport, or switch.path: ecmp");
    return 0;
}

static bool starts(const struct app_set *apps, uint32_t first, xoff_time stop)
{
    for (uint32_t i = first; i < apps->n; i++)
        if (apps->apps[i].ops->deadline(apps->apps[i].cfg, apps->apps[i].state) < stop)
            return true;
    return false;
}

/* Keeps the warning of a traffic entry, or one that its apps, from `first` on, start nothing. A
 * variant may turn an entry off in this way, but not all of them: `is_last` tells of the last. */
static void warn_of_traffic(const struct plan *plan, const struct plan_traffic *t, uint32_t first,
                            bool is_last, struct built *b, struct xoff_err *err)
{
    char text[32];
    if (!(plan->variant[0] ? !is_last || starts(&b->apps, 0, plan->net.stop)
                           : starts(&b->apps, first, plan->net.stop))) {
        xoff_err_set(err, XOFF_E_OK, NULL, NULL, "starts nothing before the run's stop, ");
        xoff_err_add(err, xoff_format_time(text, sizeof text, plan->net.stop));
    }
    if (!err->message[0])
        return;
    build_located(plan, t->place, t->name, err);
    build_add_warning(b, err);
    *err = (struct xoff_err){0};
}

static int build_traffic(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    struct named named = {plan, b};
    char folder[512];
    const char *slash = strrchr(plan->file, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - plan->file) + 1 : 0, plan->file);
    for (uint32_t i = 0; i < plan->n_traffic; i++) {
        const struct plan_traffic *t = &plan->traffic[i];
        const struct traffic_env env = {
            .topo = &b->topo,
            .seed = plan->net.seed,
            .stop = plan->net.stop,
            .max_frame_bytes = plan->net.max_frame_bytes,
            .header = header_of,
            .transport = find_transport,
            .acknowledges = acknowledges,
            .transport_context = &named,
            .index = i,
            .hosts = topology_hosts,
            .folder = folder,
        };
        const uint32_t n_before = b->apps.n;
        int code = t->kind->bind(&env, t->params, t->items, t->n_items, &b->apps, err);
        if (!code && b->apps.n > n_before && b->apps.apps[n_before].ops->on_event)
            code = check_loop(plan, t, i, b->apps.apps[n_before].n_connections, &named, err);
        if (code)
            return build_located(plan, t->place, t->name, err);
        warn_of_traffic(plan, t, n_before, i + 1 == plan->n_traffic, b, err);
    }
    return 0;
}

/* Finds the entry of `switches` that each switch belongs to; if several match, the last one. */
static int build_kinds(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    if (plan->net.n_kinds == 1)
        return 0;
    b->kind_of = calloc(b->topo.n_nodes - b->topo.n_hosts + 1, sizeof *b->kind_of);
    XOFF_ASSERT(b->kind_of);
    for (uint32_t i = 1; i < plan->net.n_kinds; i++) {
        const struct plan_switch *entry = &plan->switches[i];
        if (topology_switches(&b->topo, entry->match, (uint8_t)i, b->kind_of, err)) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "switches.%u", i - 1);
            return build_located(plan, entry->match_place, prefix, err);
        }
    }
    return 0;
}

/* `measure.at`: all, or nodes by name (hosts also by set). */
static int build_measured(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    if (!plan->net.measure_every || !plan->measured_at[0] || !strcmp(plan->measured_at, "all"))
        return 0;
    b->measured = calloc(b->topo.n_nodes, sizeof *b->measured);
    XOFF_ASSERT(b->measured);
    char copy[XOFF_PARAM_TEXT];
    snprintf(copy, sizeof copy, "%s", plan->measured_at);
    char *save = NULL;
    for (char *part = strtok_r(copy, ", ", &save); part; part = strtok_r(NULL, ", ", &save)) {
        const uint32_t node = topo_find(&b->topo, part);
        if (node == TOPO_NONE) {
            xoff_err_set(err, XOFF_E_UNKNOWN, "measure.at", part,
                         "no node of that name; give node names, or all");
            return build_located(plan, plan->topology.place, NULL, err);
        }
        b->measured[node] = true;
    }
    return 0;
}

#define FIND_MESSAGE 256

static int refuse_capture(const char *text, const char *message, struct xoff_err *err)
{
    char subject[sizeof err->subject];
    snprintf(subject, sizeof subject, "--capture %s", text);
    return xoff_err_set(err, XOFF_E_UNKNOWN, subject, NULL, message);
}

/* Finds the port of "leaf0:3", or of "h2" for the one port of a host. False: there is none, and
 * `message` says why. */
static bool find_port(const struct topo *topo, const char *text, struct net_capture *out,
                      char message[FIND_MESSAGE])
{
    const char *colon = strrchr(text, ':');
    char name[TOPO_NAME];
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, text);
    const uint32_t node = n < sizeof name ? topo_find(topo, name) : TOPO_NONE;
    if (node == TOPO_NONE) {
        snprintf(message, FIND_MESSAGE, "no node %.*s; give NODE:PORT, such as %s:0",
                 n < 100 ? (int)n : 100, text, topo->nodes[topo->n_nodes - 1].name);
        return false;
    }
    int64_t port = 0;
    const uint32_t n_ports = topo->nodes[node].n_ports;
    const bool is_number = !colon || xoff_parse_int(colon + 1, &port) == 0;
    if (is_number && (colon || n_ports == 1) && port >= 0 && port < n_ports) {
        *out = (struct net_capture){.node = node, .port = (uint32_t)port};
        return true;
    }
    if (n_ports == 1)
        snprintf(message, FIND_MESSAGE, "%s has port 0 only", name);
    else
        snprintf(message, FIND_MESSAGE, "%s has ports 0 to %u%s", name, n_ports - 1,
                 colon ? "" : "; give one of them");
    return false;
}

static bool is_receiver(const struct built *b, uint32_t host)
{
    uint32_t k = 0;
    while (k < b->n_receivers && b->receivers[k].host != host)
        k++;
    return k < b->n_receivers;
}

/* Finds the place of a curve, which must be sampled. False: it is not, and `message` says why. */
static bool find_curve(const struct built *b, const struct plan_curve *curve,
                       struct net_capture *out, char message[FIND_MESSAGE])
{
    const char *word = section_curve_words[curve->of];
    *out = (struct net_capture){.node = topo_find(&b->topo, curve->at), .port = UINT32_MAX};
    if (!plan_is_of_switch(curve->of) && !find_port(&b->topo, curve->at, out, message))
        return false;
    const struct topo_node *node = out->node == TOPO_NONE ? NULL : &b->topo.nodes[out->node];
    const bool is_host = node && node->kind == TOPO_HOST;
    if (plan_is_of_switch(curve->of) && (!node || is_host))
        snprintf(message, FIND_MESSAGE, "no switch is called so; %s is of a switch", word);
    else if (is_host && (curve->of != RESULT_TX_BPS || curve->priority != XOFF_PARAM_AUTO) &&
             curve->of != RESULT_PAUSED_FRACTION &&
             !(curve->of == RESULT_INPUT_BYTES && is_receiver(b, out->node)))
        snprintf(message, FIND_MESSAGE,
                 "of a host there is throughput, of all priorities together, pause, and of a slow "
                 "receiver input; give the port of a switch");
    else if (b->measured && !b->measured[out->node])
        snprintf(message, FIND_MESSAGE, "is not sampled; add %s to measure.at", node->name);
    else
        return true;
    return false;
}

/* Finds the hosts of a curve about their shares, all of which must be sampled; `out` owns them. */
static bool find_hosts(const struct built *b, const struct plan_curve *curve,
                       struct result_curve_spec *out, char message[FIND_MESSAGE])
{
    struct xoff_err err = {0};
    out->hosts = calloc(b->topo.n_hosts + 1, sizeof *out->hosts);
    XOFF_ASSERT(out->hosts);
    if (topology_hosts(&b->topo, curve->at, out->hosts, &out->n_hosts, &err)) {
        snprintf(message, FIND_MESSAGE, "%.200s", err.message);
        return false;
    }
    for (uint32_t i = 0; i < out->n_hosts && b->measured; i++)
        if (!b->measured[out->hosts[i]]) {
            snprintf(message, FIND_MESSAGE, "is not sampled; add %s to measure.at",
                     b->topo.nodes[out->hosts[i]].name);
            return false;
        }
    return true;
}

/* A run that was shortened may end before a curve begins: its metrics are then undefined. */
static void warn_of_empty(const struct plan *plan, const struct plan_curve *curve,
                          const struct result_curve_spec *spec, struct built *b)
{
    struct xoff_err warning = {0};
    char subject[TOPO_NAME + 16], from[32];
    const xoff_time to = xoff_time_min(spec->to, net_end(&plan->net));
    if ((to / spec->every - spec->from / spec->every) * spec->every >= spec->over)
        return;
    snprintf(subject, sizeof subject, "curves.%s.from", curve->name);
    xoff_err_set(&warning, XOFF_E_OK, subject, xoff_format_time(from, sizeof from, spec->from),
                 "no sample is taken from there until the run ends, and the curve is empty");
    build_located(plan, curve->place, NULL, &warning);
    build_add_warning(b, &warning);
}

static int build_curves(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    b->curves = calloc(plan->n_curves + 1, sizeof *b->curves);
    XOFF_ASSERT(b->curves);
    for (uint32_t i = 0; i < plan->n_curves; i++) {
        const struct plan_curve *curve = &plan->curves[i];
        char message[FIND_MESSAGE], subject[TOPO_NAME + 16];
        struct net_capture place = {0};
        struct result_curve_spec *out = &b->curves[b->n_curves++];
        if (plan_is_of_hosts(curve->of) ? !find_hosts(b, curve, out, message)
                                        : !find_curve(b, curve, &place, message)) {
            snprintf(subject, sizeof subject, "curves.%s.at", curve->name);
            xoff_err_set(err, XOFF_E_UNKNOWN, subject, curve->at, message);
            return build_located(plan, curve->place, NULL, err);
        }
        out->node = place.node;
        out->port = place.port;
        out->priority = curve->priority == XOFF_PARAM_AUTO ? 0xff : (uint8_t)curve->priority;
        out->metric = (uint8_t)curve->of;
        out->every = plan->net.measure_every;
        out->from = curve->from;
        out->to = curve->to == XOFF_PARAM_AUTO ? plan->net.stop : curve->to;
        out->over = curve->over == XOFF_PARAM_AUTO ? out->every : curve->over;
        out->level = curve->within >= 0                ? 1 - curve->within
                     : curve->level == XOFF_PARAM_AUTO ? 0
                                                       : (double)curve->level;
        out->share_bps = curve->share == XOFF_PARAM_AUTO ? 0 : (double)curve->share;
        snprintf(out->name, sizeof out->name, "%s", curve->name);
        warn_of_empty(plan, curve, out, b);
    }
    return 0;
}

static void add_defence(struct built *b, const struct plan_defence *d, uint32_t node, uint32_t port)
{
    b->defences = realloc(b->defences, sizeof *b->defences * (b->n_defences + 1));
    XOFF_ASSERT(b->defences);
    b->defences[b->n_defences++] = (struct net_defence){.node = node,
                                                        .port = port,
                                                        .priority = (uint8_t)d->priority,
                                                        .mode = (uint8_t)d->mode,
                                                        .alternate = (uint8_t)d->alternate};
}

/* Pauses ask for the priority that frames have in the switch, and their sender uses another. Frames
 * that come in a lossy priority were not protected before, either. */
static void warn_of_alternate(const struct plan *plan, const struct plan_defence *d, uint32_t i,
                              struct built *b)
{
    const uint8_t lossless = plan->net.lossless;
    if (d->mode != NET_DEFENCE_EDGE || !(lossless >> d->priority & lossless >> d->alternate & 1))
        return;
    struct xoff_err warning = {0};
    char subject[32], value[16];
    snprintf(subject, sizeof subject, "cn_ports.%u.alternate", i);
    snprintf(value, sizeof value, "%lld", (long long)d->alternate);
    xoff_err_set(
        &warning, XOFF_E_OK, subject, value,
        "may lose frames of a lossless priority: pauses of it do not stop those that get it "
        "at this edge, which come in another; give a lossy one");
    build_located(plan, d->place, NULL, &warning);
    build_add_warning(b, &warning);
}

static int build_defences(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    for (uint32_t i = 0; i < plan->n_defences; i++) {
        const struct plan_defence *d = &plan->defences[i];
        warn_of_alternate(plan, d, i, b);
        const bool is_all = strcmp(d->at, "all") == 0, is_one = strchr(d->at, ':') != NULL;
        const uint32_t before = b->n_defences;
        struct net_capture place;
        char message[FIND_MESSAGE] = "no switch is called so; give NODE:PORT, NODE or all";
        if (is_one && find_port(&b->topo, d->at, &place, message) && place.node >= b->topo.n_hosts)
            add_defence(b, d, place.node, place.port);
        for (uint32_t n = b->topo.n_hosts; !is_one && n < b->topo.n_nodes; n++)
            for (uint32_t p = 0; p < b->topo.nodes[n].n_ports; p++)
                if (is_all || strcmp(b->topo.nodes[n].name, d->at) == 0)
                    add_defence(b, d, n, p);
        if (b->n_defences > before)
            continue;
        char subject[32];
        snprintf(subject, sizeof subject, "cn_ports.%u.at", i);
        xoff_err_set(err, XOFF_E_UNKNOWN, subject, d->at, message);
        return build_located(plan, d->place, NULL, err);
    }
    return 0;
}

static void add_dcbx(struct built *b, const struct plan_dcbx *d, uint32_t entry, uint32_t node,
                     uint32_t port)
{
    b->dcbx = realloc(b->dcbx, sizeof *b->dcbx * (b->n_dcbx + 1));
    XOFF_ASSERT(b->dcbx);
    uint32_t i = b->n_dcbx++;
    for (; i > 0 && b->dcbx[i - 1].from > d->from; i--)
        b->dcbx[i] = b->dcbx[i - 1];
    b->dcbx[i] = d->net;
    b->dcbx[i].node = node;
    b->dcbx[i].port = port;
    b->dcbx[i].entry = entry;
}

/* Adds the ports that one word of `at` names. False: there is none, and `message` says why. */
static bool add_dcbx_at(struct built *b, const struct plan_dcbx *d, uint32_t entry,
                        const char *word, char message[FIND_MESSAGE])
{
    const struct topo *topo = &b->topo;
    struct net_capture place;
    if (strchr(word, ':')) {
        if (!find_port(topo, word, &place, message))
            return false;
        add_dcbx(b, d, entry, place.node, place.port);
        return true;
    }
    const bool all = strcmp(word, "all") == 0, hosts = strcmp(word, "hosts") == 0;
    const bool switches = strcmp(word, "switches") == 0;
    const uint32_t before = b->n_dcbx;
    for (uint32_t n = 0; n < topo->n_nodes; n++)
        for (uint32_t p = 0; p < topo->nodes[n].n_ports; p++)
            if (all || (n < topo->n_hosts ? hosts : switches) ||
                strcmp(topo->nodes[n].name, word) == 0)
                add_dcbx(b, d, entry, n, p);
    if (b->n_dcbx > before)
        return true;
    uint32_t *found = calloc(topo->n_hosts + 1, sizeof *found), n_found = 0;
    XOFF_ASSERT(found);
    struct xoff_err unused = {0};
    const bool is_range = topology_hosts(topo, word, found, &n_found, &unused) == 0;
    for (uint32_t i = 0; is_range && i < n_found; i++)
        add_dcbx(b, d, entry, found[i], 0);
    free(found);
    return is_range && n_found;
}

/* `lldp.forward`: switches that pass LLDP frames on. */
static int build_forward(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    if (!plan->lldp.forward[0])
        return 0;
    uint8_t *marks = calloc(b->topo.n_nodes, 1);
    b->passes_lldp = calloc(b->topo.n_nodes, sizeof *b->passes_lldp);
    XOFF_ASSERT(marks && b->passes_lldp);
    const int code = topology_switches(&b->topo, plan->lldp.forward, 1, marks, err);
    for (uint32_t n = b->topo.n_hosts; n < b->topo.n_nodes && !code; n++)
        b->passes_lldp[n] = marks[n - b->topo.n_hosts];
    free(marks);
    if (!code)
        return 0;
    snprintf(err->subject, sizeof err->subject, "forward");
    return build_located(plan, plan->lldp_place, "lldp", err);
}

static int build_dcbx(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    const int code = build_forward(plan, b, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < plan->n_dcbx; i++) {
        const struct plan_dcbx *d = &plan->dcbx[i];
        char word[XOFF_PARAM_TEXT];
        for (const char *at = d->at; plan_next_entry(&at, word, sizeof word);) {
            char subject[32], message[FIND_MESSAGE] = "no node is called so; give NODE:PORT, NODE, "
                                                      "a range of hosts, hosts, switches or all";
            if (add_dcbx_at(b, d, i, word, message))
                continue;
            snprintf(subject, sizeof subject, "dcbx.%u.at", i);
            xoff_err_set(err, XOFF_E_UNKNOWN, subject, word, message);
            return build_located(plan, d->place, NULL, err);
        }
    }
    return 0;
}

static int build_captures(const struct plan *plan, const struct build_options *options,
                          struct built *b, struct xoff_err *err)
{
    b->captures = calloc(options->n_captures + 1, sizeof *b->captures);
    XOFF_ASSERT(b->captures);
    for (uint32_t i = 0; i < options->n_captures; i++) {
        struct net_capture *new = &b->captures[b->n_captures];
        char message[FIND_MESSAGE];
        if (!find_port(&b->topo, options->captures[i], new, message))
            return refuse_capture(options->captures[i], message, err);
        if (plan->net.summarises)
            return refuse_capture(options->captures[i],
                                  "captures need the flows that results: summary does not keep; "
                                  "give results: full",
                                  err);
        bool is_there = false;
        for (uint32_t k = 0; k < b->n_captures; k++)
            is_there |= b->captures[k].node == new->node && b->captures[k].port == new->port;
        b->n_captures += !is_there;
    }
    return 0;
}

/* Completes the plan's network with what was resolved for it. */
static void fill_spec(const struct plan *plan, const struct build_options *options, struct built *b)
{
    struct net_spec *spec = &b->spec;
    *spec = plan->net;
    spec->topo = &b->topo;
    spec->kind_of = b->kind_of;
    spec->transports = b->transports;
    spec->receivers = b->receivers;
    spec->n_receivers = b->n_receivers;
    spec->defences = b->defences;
    spec->n_defences = b->n_defences;
    spec->dcbx = b->dcbx;
    spec->n_dcbx = b->n_dcbx;
    spec->passes_lldp = b->passes_lldp;
    spec->apps = &b->apps;
    spec->measured = b->measured;
    spec->curves = b->curves;
    spec->n_curves = b->n_curves;
    spec->captures = b->captures;
    spec->n_captures = b->n_captures;
    spec->capture_limit = options->capture_limit;
    spec->trace_until = options->trace_until;
    spec->keeps_heard = options->keeps_heard;
    spec->wire_check = options->wire_check;
    spec->wire_checks_all = options->wire_checks_all;
    spec->histogram_from = options->histogram_from;
    spec->histogram_to = options->histogram_to;
    spec->histogram_every = options->histogram_every;
    spec->n_threads = options->n_threads;
    spec->ranks = options->ranks;
    spec->parts = options->parts;
    spec->n_parts = options->n_parts;
    spec->cell_bound = options->cell_bound;
    spec->progress_context = options->progress_context;
    spec->progress = options->progress;
    spec->hold_at = options->hold_at;
    for (uint32_t i = 0; i < plan->n_transports; i++)
        b->transports[b->n_transports++] = plan->transports[i].net;
}

static int locate_part(const struct plan *plan, struct net_blame blame, struct xoff_err *err)
{
    const uint32_t i = blame.index;
    if (blame.part == NET_PART_COMMAND)
        return -(int)err->code;
    if (blame.part == NET_PART_NET)
        return build_located(plan, plan->topology.place, "topology", err);
    if (blame.part == NET_PART_HOST)
        return build_located(plan, plan->host_place, "host", err);
    char prefix[64] = "switch";
    if (blame.part == NET_PART_RECEIVERS || blame.part == NET_PART_RECEIVE_POINT) {
        const struct plan_receiver *r = &plan->receivers[i];
        const bool is_point = blame.part == NET_PART_RECEIVE_POINT;
        snprintf(prefix, sizeof prefix, "receivers.%u%s", i, is_point ? ".marking" : "");
        return build_located(plan, is_point ? r->marking_place : r->place, prefix, err);
    }
    if (blame.part == NET_PART_DCBX) {
        snprintf(prefix, sizeof prefix, "dcbx.%u", i);
        return build_located(plan, plan->dcbx[i].place, prefix, err);
    }
    if (blame.part == NET_PART_TRANSPORT) { /* a transport that only traffic names has no place */
        const struct plan_transport *t = &plan->transports[i < plan->n_transports ? i : 0];
        char path[sizeof "transports." + TOPO_NAME];
        snprintf(path, sizeof path, t->name[0] ? "transports.%s" : "transport", t->name);
        return build_located(plan, t->place, path, err);
    }
    const struct switch_role *role = switch_roles;
    while (role->key && role->part != blame.part)
        role++;
    const struct plan_place *places = plan->switches[i].place;
    const bool is_whole = blame.part == NET_PART_MMU && !strcmp(err->subject, "buffer");
    if (i)
        snprintf(prefix, sizeof prefix, "switches.%u", i - 1);
    if (!is_whole)
        snprintf(prefix + strlen(prefix), sizeof prefix - strlen(prefix), ".%s", role->key);
    /* An entry may fail because of a key that it inherits from `switch`. */
    const bool has_place = !is_whole && (places[blame.part].line || !i);
    return build_located(plan, places[has_place ? blame.part : NET_PART_NET], prefix, err);
}

static void build_warnings(const struct plan *plan, struct built *b)
{
    uint32_t n;
    const struct net_warning *from = net_warnings(b->net, &n);
    for (uint32_t i = 0; i < n; i++, from++) {
        struct xoff_err warning = from->err;
        locate_part(plan, from->blame, &warning);
        xoff_err_add(&warning, " at ");
        xoff_err_add(&warning, b->topo.nodes[from->first_node].name);
        if (from->n_nodes > 1) {
            xoff_err_add(&warning, " and ");
            xoff_err_add_int(&warning, from->n_nodes - 1);
            xoff_err_add(&warning, " more");
        }
        build_add_warning(b, &warning);
    }
}

static void describe_loop(const struct topo *topo, const struct route_channel *loop, uint32_t n,
                          uint32_t host, xoff_time at, struct xoff_err *err)
{
    char text[32];
    xoff_err_set(err, XOFF_E_CONFLICT, "routes", NULL, "frames to ");
    xoff_err_add(err, topo->nodes[host].name);
    xoff_err_add(err, " go in a circle from ");
    xoff_err_add(err, xoff_format_time(text, sizeof text, at));
    xoff_err_add(err, " on: ");
    for (uint32_t i = 0; i < n && i < MOST_NAMED; i++) {
        xoff_err_add(err, topo->nodes[loop[i].node].name);
        xoff_err_add(err, " port ");
        xoff_err_add_int(err, loop[i].port);
        xoff_err_add(err, " -> ");
    }
    xoff_err_add(err, n > MOST_NAMED ? "..." : topo->nodes[loop[0].node].name);
}

/* Finds the statement that a loop goes by. */
static struct plan_place place_of(const struct plan *plan, const struct topo *topo,
                                  const struct route_channel *loop, uint32_t n)
{
    for (uint32_t i = 0; i < plan->n_routes; i++)
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(plan->routes[i].on, topo->nodes[loop[k].node].name))
                return plan->routes[i].place;
    return plan->topology.place;
}

/* Refuses routes by which frames would go in a circle at any time of the run, or warns if hops end
 * that. */
static int check_loops(const struct plan *plan, struct built *b, struct xoff_err *err)
{
    const struct topo *topo = &b->topo;
    struct route_channel loop[64];
    uint32_t n = 0, host;
    for (xoff_time at = 0; topo->n_routes && at < net_end(&plan->net) && !n;
         at = routes_next_change(topo, at)) {
        struct routes *routes;
        const int code = routes_create(topo, at, false, &routes, err);
        if (code)
            return build_located(plan, plan->topology.place, NULL, err);
        n = routes_find_loop(topo, routes, loop, sizeof loop / sizeof *loop, &host);
        routes_destroy(routes);
        if (n)
            describe_loop(topo, loop, n, host, at, err);
    }
    if (!n)
        return 0;
    const bool is_limited = plan->net.max_hops > 0;
    if (!is_limited)
        xoff_err_add(err, "; change a route, or lose such frames with hops: 64");
    build_located(plan, place_of(plan, topo, loop, n < 64 ? n : 64), NULL, err);
    if (!is_limited)
        return -XOFF_E_CONFLICT;
    err->code = XOFF_E_OK;
    build_add_warning(b, err);
    *err = (struct xoff_err){0};
    return 0;
}

/* Nobody goes on when a rank has failed: with another file, or less memory. */
static int agree(const struct sim_ranks *ranks, int code, struct xoff_err *err)
{
    struct sim_word word = {.next_at = XOFF_NEVER, .stops = code != 0};
    ranks->agree(ranks->context, &word, NULL);
    if (code || !word.stops)
        return code;
    return xoff_err_set(err, XOFF_E_ELSEWHERE, "ranks", NULL, "another rank has failed");
}

int build_create(const struct plan *plan, const struct build_options *options, struct built **out,
                 struct xoff_err *err)
{
    struct built *b = calloc(1, sizeof *b);
    XOFF_ASSERT(b);
    *err = (struct xoff_err){0};
    int code = topology_build(plan, &b->topo, err);
    if (!code)
        code = check_loops(plan, b, err);
    if (!code)
        code = build_kinds(plan, b, err);
    if (!code)
        code = build_receivers(plan, b, err);
    if (!code)
        code = build_defences(plan, b, err);
    if (!code)
        code = build_dcbx(plan, b, err);
    if (!code)
        code = build_measured(plan, b, err);
    if (!code)
        code = build_curves(plan, b, err);
    if (!code)
        code = build_captures(plan, options, b, err);
    if (!code) {
        fill_spec(plan, options, b);
        code = build_traffic(plan, b, err);
        b->spec.n_transports = b->n_transports; /* traffic may have named more */
    }
    if (!code)
        code = build_check_memory(plan, options->memory_bytes, b, err);
    if (options->ranks)
        code = agree(options->ranks, code, err);
    struct net_blame blame;
    if (!code) {
        code = net_create(&b->spec, &b->net, &blame, err);
        if (code)
            locate_part(plan, blame, err);
    }
    if (code) {
        build_destroy(b);
        return code;
    }
    build_warnings(plan, b);
    *out = b;
    return 0;
}

void build_destroy(struct built *b)
{
    if (!b)
        return;
    net_destroy(b->net);
    app_set_fini(&b->apps);
    free(b->receivers);
    free(b->defences);
    free(b->dcbx);
    free(b->passes_lldp);
    free(b->kind_of);
    free(b->measured);
    for (uint32_t i = 0; i < b->n_curves; i++)
        free(b->curves[i].hosts);
    free(b->curves);
    free(b->captures);
    free(b->warnings);
    topo_fini(&b->topo);
    free(b);
}
