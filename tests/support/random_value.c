/* Values drawn at random for the parameters of tables. */
#include "support/random_value.h"

#include <stdio.h>
#include <string.h>

#include <xoff/units.h>

#include "scenario/sections.h"

uint32_t draw_below(struct draw *d, uint32_t n)
{
    return (uint32_t)xoff_rng_below(&d->rng, n);
}

bool draw_chance(struct draw *d, uint32_t percent)
{
    return draw_below(d, 100) < percent;
}

/* Draws between two bounds, each order of magnitude alike. */
static double between(struct draw *d, double low, double high)
{
    const double u = draw_below(d, 1 << 20) / (double)(1 << 20);
    return low * xoff_pow(high / low, u);
}

static void choose(struct draw *d, char *text, const char *const *words, uint32_t n)
{
    snprintf(text, DRAW_TEXT, "%s", words[draw_below(d, n)]);
}
#define CHOOSE(d, text, ...)                            \
    choose(d, text, (const char *const[]){__VA_ARGS__}, \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* ------------------------------------------------------------------------------ texts */

static void one_host(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%s", d->topo->nodes[draw_below(d, d->topo->n_hosts)].name);
}

static void one_switch(struct draw *d, char *text)
{
    d->node = d->topo->n_hosts + draw_below(d, d->topo->n_nodes - d->topo->n_hosts);
    snprintf(text, DRAW_TEXT, "%s", d->topo->nodes[d->node].name);
}

static void hosts(struct draw *d, char *text)
{
    const uint32_t n = d->topo->n_hosts, how = draw_below(d, 10);
    if (how < 4)
        snprintf(text, DRAW_TEXT, "all");
    else if (how < 6)
        one_host(d, text);
    else if (how < 9) {
        const uint32_t from = draw_below(d, n), to = from + draw_below(d, n - from);
        snprintf(text, DRAW_TEXT, "h%u..h%u", from, to);
    } else
        one_switch(d, text);
}

static void receivers(struct draw *d, char *text)
{
    if (draw_chance(d, 60))
        one_host(d, text);
    else
        hosts(d, text);
}

static void some_switches(struct draw *d, char *text)
{
    if (draw_chance(d, 40))
        snprintf(text, DRAW_TEXT, "\"*%u\"", draw_below(d, 3));
    else
        one_switch(d, text);
}

static void neighbour(struct draw *d, char *text)
{
    const uint32_t port = draw_below(d, d->topo->nodes[d->node].n_ports);
    snprintf(text, DRAW_TEXT, "%s", d->topo->nodes[topo_peer(d->topo, d->node, port)].name);
}

static void link_name(struct draw *d, char *text)
{
    const struct topo_link *l = &d->topo->links[draw_below(d, d->topo->n_links)];
    snprintf(text, DRAW_TEXT, "%s-%s", d->topo->nodes[l->node[0]].name,
             d->topo->nodes[l->node[1]].name);
}

static void ports(struct draw *d, char *text)
{
    const uint32_t how = draw_below(d, 4);
    one_switch(d, text);
    if (how == 0)
        snprintf(text, DRAW_TEXT, "%s:%u", d->topo->nodes[d->node].name,
                 draw_below(d, d->topo->nodes[d->node].n_ports));
    else if (how == 1)
        snprintf(text, DRAW_TEXT, "all");
}

static void dcbx_ports(struct draw *d, char *text)
{
    if (draw_chance(d, 50))
        CHOOSE(d, text, "all", "hosts", "switches");
    else
        ports(d, text);
}

/* Draws a priority, mostly a lossless one. */
static uint32_t priority(struct draw *d)
{
    uint32_t p = draw_below(d, 8);
    for (uint32_t i = 0; i < 6 && !(d->lossless >> p & 1); i++)
        p = draw_below(d, 8);
    return p;
}

static void one_priority(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%u", priority(d));
}

static void priorities(struct draw *d, char *text)
{
    const uint32_t a = priority(d), b = priority(d);
    if (draw_chance(d, 30))
        snprintf(text, DRAW_TEXT, "0..7");
    else if (a == b)
        snprintf(text, DRAW_TEXT, "[%u]", a);
    else
        snprintf(text, DRAW_TEXT, "[%u, %u]", a, b);
}

static void shares(struct draw *d, char *text)
{
    const uint32_t a = priority(d), share = 10 + draw_below(d, 80);
    snprintf(text, DRAW_TEXT, "[%u: %u, %u: %u]", a, share, (a + 1) % 8, 100 - share);
}

static void sizes(struct draw *d, char *text)
{
    CHOOSE(d, text, "4KB", "uniform 100B 20KB", "exponential 6KB", "pareto 2KB 1.5",
           "\"0B 0, 1KB 0.5, 30KB 1\"");
}

static void transport(struct draw *d, char *text)
{
    struct kind kind;
    uint32_t n = 0;
    while (kinds_at(KINDS_TRANSPORT, n, &kind))
        n++;
    kinds_at(KINDS_TRANSPORT, draw_below(d, n), &kind);
    snprintf(text, DRAW_TEXT, "%s", draw_chance(d, 10) ? "bulk" : kind.name);
}

static void traffic(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "t%u", draw_below(d, d->n_traffic));
}

static void window(struct draw *d, char *text)
{
    CHOOSE(d, text, "none", "bdp", "scaled", "10KB");
}

static void reroute(struct draw *d, char *text)
{
    CHOOSE(d, text, "never", "5us", "0s");
}

static void length(struct draw *d, char *text)
{
    CHOOSE(d, text, "1m", "3m", "100m");
}

static void error(struct draw *d, char *text)
{
    CHOOSE(d, text, "0", "0", "0", "0", "0", "1e-9", "0.001", "0.02");
}

static void service(struct draw *d, char *text)
{
    const uint32_t from = draw_below(d, (uint32_t)(d->stop / XOFF_NS)) + 1;
    const uint32_t to = from + draw_below(d, (uint32_t)(d->stop / XOFF_NS)) + 1;
    const uint32_t part = 1 + draw_below(d, 8);
    snprintf(text, DRAW_TEXT, "\"%lldbps, %uns: %s, %uns: %lldbps\"", (long long)d->max_rate / part,
             from, draw_chance(d, 50) ? "0bps" : "1Gbps", to, (long long)d->max_rate);
}

static void soon(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%uns", draw_below(d, (uint32_t)(3 * d->stop / (2 * XOFF_NS)) + 1));
}

static void second(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%uns", 200 + draw_below(d, 3000));
}

static void timeout(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%lldps", (long long)d->stop * (4 + draw_below(d, 40)));
}

static void quanta(struct draw *d, char *text)
{
    CHOOSE(d, text, "\"0 500B, 3 9000B\"", "\"5 64B\"");
}

static void frames_per_second(struct draw *d, char *text)
{
    snprintf(text, DRAW_TEXT, "%uk", 500 + draw_below(d, 50000));
}

static void bins(struct draw *d, char *text)
{
    CHOOSE(d, text, "\"68B, 512B\"", "\"1000B\"");
}

static void by_rate(struct draw *d, char *text)
{
    CHOOSE(d, text, "\"10Gbps 2KB 9KB 0.2\"", "\"100Gbps 4KB 16KB 1\"");
}

static void series(struct draw *d, char *text)
{
    CHOOSE(d, text, "[queue, throughput, pause]", "[buffer, pools]", "[input, point, queue]");
}

static void apps(struct draw *d, char *text)
{
    CHOOSE(d, text, "[fcoe: 3]", "[iscsi: 4, udp 4791: 5]");
}

static void willing(struct draw *d, char *text)
{
    CHOOSE(d, text, "all", "[pfc]", "[ets, apps]");
}

static void same(struct draw *d, char *text)
{
    (void)d;
    snprintf(text, DRAW_TEXT, "same");
}

/* Keys whose values name something, or whose range in these small networks is another than their
 * table says. Path NULL: of every section. */
static const struct {
    const char *path, *key;
    void (*draw)(struct draw *d, char *text);
} hints[] = {
    {"traffic[]", "from", hosts},
    {"traffic[]", "hosts", hosts},
    {"traffic[]", "to", receivers},
    {"traffic[]", "priority", one_priority},
    {"traffic[]", "priorities", priorities},
    {"traffic[]", "sizes", sizes},
    {"traffic[]", "transport", transport},
    {"traffic[]", "at", soon},
    {"traffic[]", "start", soon},
    {"traffic[].list[]", "from", one_host},
    {"traffic[].list[]", "to", one_host},
    {"traffic[].list[]", "at", soon},
    {"traffic[].list[]", "priority", one_priority},
    {"traffic[].list[]", "transport", transport},
    {"transport", "window", window},
    {"", "reroute_after", reroute},
    {"host", "timeout", timeout},
    {"topology.host_link", "length", length},
    {"topology.host_link", "error", error},
    {"topology.fabric_link", "length", length},
    {"topology.fabric_link", "error", error},
    {"switch.scheduler", "quanta", quanta},
    {"switch.scheduler", "bins", bins},
    {"switch.marking", "by_rate", by_rate},
    {"switch.fabric", "packet_rate", frames_per_second},
    {"switches[]", "match", some_switches},
    {"links[]", "link", link_name},
    {"links[]", "at", soon},
    {"routes[]", "at", soon},
    {"routes[]", "on", one_switch},
    {"routes[]", "to", hosts},
    {"routes[]", "via", neighbour},
    {"receivers[]", "host", one_host},
    {"receivers[]", "rate", service},
    {"receivers[].vms[]", "traffic", traffic},
    {"receivers[].vms[]", "rate", service},
    {"cn_ports[]", "at", ports},
    {"cn_ports[]", "priority", one_priority},
    {"lldp", "second", second},
    {"lldp", "forward", one_switch},
    {"dcbx[]", "at", dcbx_ports},
    {"dcbx[]", "pfc", priorities},
    {"dcbx[]", "ets", shares},
    {"dcbx[]", "strict", one_priority},
    {"dcbx[]", "recommend", same},
    {"dcbx[]", "apps", apps},
    {"dcbx[]", "cn", priorities},
    {"dcbx[]", "willing", willing},
    {"dcbx[]", "needs_lossless", one_priority},
    {"measure", "series", series},
    {"measure", "at", one_switch},
};

static bool draw_hint(struct draw *d, const char *path, const char *key, char *text)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(hints[i].path, path) && !strcmp(hints[i].key, key)) {
            hints[i].draw(d, text);
            return true;
        }
    return false;
}

/* ------------------------------------------------------------------------------ numbers */

/* Reads a value in the user's words; false: there is none. */
static bool number_of(const struct xoff_param *p, const char *text, double *value)
{
    const struct xoff_param plain = {.name = p->name, .type = p->type};
    union {
        int64_t whole;
        double real;
    } field = {0};
    struct xoff_err err;
    if (!text || !*text || !strcmp(text, "auto") || xoff_param_set(&plain, &field, text, &err))
        return false;
    *value = p->type == XOFF_P_REAL ? field.real : (double)field.whole;
    return true;
}

/* Draws where there is no default to go by. */
static double by_type(struct draw *d, const struct xoff_param *p)
{
    switch (p->type) {
    case XOFF_P_BYTES:
        return between(d, 64, 60000);
    case XOFF_P_TIME:
        return between(d, 100 * XOFF_NS, 100 * XOFF_NS + (double)d->stop);
    case XOFF_P_RATE:
        return between(d, (double)d->max_rate / 50, (double)d->max_rate);
    case XOFF_P_INT:
        return 1 + draw_below(d, 6);
    default:
        return 0.05 + draw_below(d, 95) / 100.0;
    }
}

static void draw_number(struct draw *d, const char *path, const struct xoff_param *p, char *text)
{
    double preset = 0, low = 0, high = 0, value;
    const bool has_preset = number_of(p, p->preset, &preset);
    if (p->allows_auto && draw_chance(d, 15)) {
        snprintf(text, DRAW_TEXT, "auto");
        return;
    }
    if (!has_preset || preset <= 0)
        value = by_type(d, p);
    else if (p->type == XOFF_P_INT && preset < 10)
        value = 1 + draw_below(d, 2 * (uint32_t)preset + 1);
    else
        value = preset * between(d, 1 / 8.0, 8);
    if (p->type == XOFF_P_BYTES && !strncmp(path, "traffic[]", 9) && value > 40000)
        value = 40000; /* larger flows only take longer */
    if (number_of(p, p->min, &low) && value < low)
        value = low;
    if (number_of(p, p->max, &high) && value > high)
        value = high;
    static const char *const units[] = {
        [XOFF_P_BYTES] = "B", [XOFF_P_TIME] = "ps", [XOFF_P_RATE] = "bps", [XOFF_P_INT] = ""};
    if (p->type == XOFF_P_REAL)
        snprintf(text, DRAW_TEXT, "%.4g", value);
    else
        snprintf(text, DRAW_TEXT, "%lld%s", (long long)value, units[p->type]);
}

bool draw_value(struct draw *d, const char *path, const struct xoff_param *p, char text[DRAW_TEXT])
{
    uint32_t n = 0;
    if (draw_hint(d, path, p->name, text))
        return true;
    switch (p->type) {
    case XOFF_P_TEXT:
        return false;
    case XOFF_P_BOOL:
        snprintf(text, DRAW_TEXT, "%s", draw_chance(d, 50) ? "true" : "false");
        return true;
    case XOFF_P_CHOICE:
        while (p->choices[n])
            n++;
        snprintf(text, DRAW_TEXT, "%s", p->choices[draw_below(d, n)]);
        return true;
    default:
        draw_number(d, path, p, text);
        return true;
    }
}
