/* Scenarios drawn at random: topology, links, buffers, priorities, schedulers, traffic. */
#include "support/random_scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <xoff/headroom.h>
#include <xoff/rng.h>
#include <xoff/units.h>

#define MAX_SWITCHES 12

struct draw {
    struct xoff_rng rng;
    FILE *out;
    uint32_t n_hosts, max_ports, max_frame;
    uint32_t n_lossless;
    uint8_t lossless;
    xoff_rate max_rate;
    int64_t max_headroom; /* largest headroom of a link */
    int64_t headroom_sum; /* headroom of all ports of a switch; the largest of all switches */
    uint32_t response;    /* quanta; 0: auto */
    const char *some;     /* a pattern for some of the switches */
};

static const char *const rates[] = {"100Gbps", "25Gbps", "10Gbps",   "40Gbps",   "400Gbps",
                                    "3Gbps",   "50Gbps", "7.3Gbps",  "99.9Gbps", "2500Mbps",
                                    "200Gbps", "1Gbps",  "33.3Gbps", "800Gbps"};
static const struct {
    const char *text;
    xoff_time ps;
} delays[] = {{"delay: 1us", 1000000},  {"delay: 500ns", 500000}, {"length: 3m", 15000},
              {"delay: 3us", 3000000},  {"length: 100m", 500000}, {"delay: 123ps", 123},
              {"delay: 777ns", 777000}, {"delay: 0s", 0},         {"delay: 10us", 10000000},
              {"length: 1m", 5000}};

/* No call has two draws as arguments: compilers differ in the order of evaluation. */
static uint32_t below(struct draw *d, uint32_t n)
{
    return (uint32_t)xoff_rng_below(&d->rng, n);
}

static bool chance(struct draw *d, uint32_t percent)
{
    return below(d, 100) < percent;
}

static void say(struct draw *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct draw *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(d->out, format, args);
    va_end(args);
}

/* Writes "rate: R, delay: D"; returns the headroom that such a link needs. */
static int64_t say_link(struct draw *d)
{
    /* Common rates half of the time, so that links of one network often match. */
    const char *rate = rates[chance(d, 50) ? below(d, 3) : below(d, sizeof rates / sizeof *rates)];
    const uint32_t delay = below(d, sizeof delays / sizeof *delays);
    xoff_rate rate_bps = 0;
    (void)xoff_parse_rate(rate, &rate_bps);
    const uint32_t quanta = d->response ? d->response : xoff_response_quanta(rate_bps);
    const struct xoff_headroom_params params = {
        .rate_bps = rate_bps,
        .delay = delays[delay].ps,
        .max_frame_bytes = d->max_frame,
        .response_for = xoff_quanta_time(quanta, rate_bps),
    };
    if (rate_bps > d->max_rate)
        d->max_rate = rate_bps;
    const int64_t headroom = xoff_headroom_bytes(&params);
    if (headroom > d->max_headroom)
        d->max_headroom = headroom;
    say(d, "rate: %s, %s", rate, delays[delay].text);
    return headroom;
}

/* Writes the links of a topology whose largest switch has so many ports of each kind. */
static void say_links_of_kind(struct draw *d, uint32_t n_host_ports, uint32_t n_fabric_ports)
{
    d->max_ports = n_host_ports + n_fabric_ports;
    say(d, ", host_link: {");
    d->headroom_sum = n_host_ports * say_link(d);
    if (n_fabric_ports) {
        say(d, "}, fabric_link: {");
        d->headroom_sum += n_fabric_ports * say_link(d);
    }
    say(d, "}}\n");
}

/* Writes switches in a random tree, with some more links when it may have cycles. */
static void say_custom(struct draw *d, bool has_cycles)
{
    const uint32_t n_switches = 1 + below(d, 7);
    uint32_t n_ports[MAX_SWITCHES] = {0};
    int64_t headroom[MAX_SWITCHES] = {0};
    d->n_hosts = 2 + below(d, 12);
    say(d, "topology:\n  kind: custom\n  nodes: {");
    for (uint32_t s = 0; s < n_switches; s++)
        say(d, "s%u: switch, ", s);
    for (uint32_t h = 0; h < d->n_hosts; h++)
        say(d, "h%u: host%s", h, h + 1 < d->n_hosts ? ", " : "}\n  links:\n");
    for (uint32_t h = 0; h < d->n_hosts; h++) {
        const uint32_t s = below(d, n_switches);
        n_ports[s]++;
        say(d, "  - {endpoints: [h%u, s%u], ", h, s);
        headroom[s] += say_link(d);
        say(d, "}\n");
    }
    const uint32_t n_more = has_cycles && n_switches > 1 ? 1 + below(d, n_switches + 2) : 0;
    for (uint32_t i = 1; i < n_switches + n_more; i++) {
        const uint32_t a = i < n_switches ? i : below(d, n_switches);
        uint32_t b = below(d, i < n_switches ? i : n_switches);
        if (a == b)
            b = (b + 1) % n_switches;
        n_ports[a]++;
        n_ports[b]++;
        say(d, "  - {endpoints: [s%u, s%u], ", a, b);
        const int64_t bytes = say_link(d);
        headroom[a] += bytes;
        headroom[b] += bytes;
        say(d, "}\n");
    }
    for (uint32_t s = 0; s < n_switches; s++) {
        d->max_ports = n_ports[s] > d->max_ports ? n_ports[s] : d->max_ports;
        d->headroom_sum = headroom[s] > d->headroom_sum ? headroom[s] : d->headroom_sum;
    }
}

static void say_topology(struct draw *d)
{
    const uint32_t a = 2 + below(d, 4), b = 1 + below(d, 4), c = 1 + below(d, 3);
    const uint32_t kind = below(d, 10);
    d->n_hosts = a * b;
    switch (kind) {
    case 0:
        d->n_hosts = 2 + below(d, 14);
        say(d, "topology: {kind: star, hosts: %u", d->n_hosts);
        say_links_of_kind(d, d->n_hosts, 0);
        break;
    case 1:
        d->n_hosts = a + b;
        d->some = "right";
        say(d, "topology: {kind: dumbbell, left: %u, right: %u", a, b);
        say_links_of_kind(d, a > b ? a : b, 1);
        break;
    case 2:
        say(d, "topology: {kind: chain, switches: %u, hosts_per_switch: %u", a, b);
        say_links_of_kind(d, b, 2);
        break;
    case 3:
        d->n_hosts = (a + 1) * b;
        say(d, "topology: {kind: ring, switches: %u, hosts_per_switch: %u", a + 1, b);
        say_links_of_kind(d, b, 2);
        break;
    case 4:
    case 5:
        say(d, "topology: {kind: leaf-spine, leaves: %u, hosts_per_leaf: %u, spines: %u", a, b, c);
        say_links_of_kind(d, b, c > a ? c : a);
        break;
    case 6:
        d->n_hosts = 16;
        say(d, "topology: {kind: fat-tree, k: 4");
        say_links_of_kind(d, 2, 4);
        break;
    default:
        say_custom(d, kind != 7);
        break;
    }
}

static void say_priorities(struct draw *d)
{
    while (!d->lossless || chance(d, 40))
        d->lossless |= (uint8_t)(1u << below(d, 8));
    if (chance(d, 5))
        d->lossless = 0xff;
    say(d, "priorities: {");
    for (uint32_t p = 0; p < 8; p++) {
        d->n_lossless += d->lossless >> p & 1;
        say(d, "%u: {lossless: %s, weight: %u, ", p, d->lossless >> p & 1 ? "true" : "false",
            1 + below(d, 9));
        say(d, "strict: %s}%s", chance(d, 15) ? "true" : "false", p < 7 ? ", " : "}\n");
    }
}

static void say_switch(struct draw *d)
{
    static const char *const schedulers[] = {"ets", "drr", "strict", "fifo"};
    static const char *const paths[] = {"scatter", "{kind: flowlet, gap: 5us, entries: 64}",
                                        "{kind: adaptive, low: 4KB, high: 12KB}"};
    static const char *const alphas[] = {"1/16", "1/8", "1/2", "1", "4"};
    /* Headroom and reserve of every queue, and a little to share. */
    const int64_t needed =
        d->n_lossless * (d->headroom_sum + d->max_ports * 4096) + d->max_ports * 4096;
    const int64_t more = (int64_t)d->max_ports * 2 * 8 * d->max_frame;
    say(d, "switch:\n  buffer: %lldB\n",
        (long long)(needed + more + (chance(d, 70) ? 0 : below(d, 500000))));
    if (chance(d, 40))
        say(d, "  processing_delay: %uns\n", below(d, 900));
    if (chance(d, 70))
        say(d, "  mmu: {kind: sih, alpha: %s}\n", alphas[below(d, 5)]);
    else
        say(d, "  mmu: static\n");
    const uint32_t least = 2 * (d->max_frame + 20) / 64 + 2;
    say(d, "  pause: {kind: %s, ", chance(d, 80) ? "pfc" : "pause");
    say(d, "quanta: %u}\n", chance(d, 60) ? 65535 : least + below(d, 65535 - least));
    say(d, "  scheduler: %s\n", schedulers[below(d, 4)]);
    if (chance(d, 40))
        say(d, "  marking: {kind: ecn, kmin: 10KB, kmax: 40KB, pmax: 0.5}\n");
    else
        say(d, "  marking: %s\n", chance(d, 20) ? "int" : "none");
    if (chance(d, 10))
        say(d, "  path: %s\n", paths[below(d, 3)]);
    if (chance(d, 20))
        say(d, "  fabric: output-queued\n");
}

/* Chooses a transport that needs no telemetry; short frames have no room for TCP's header. */
static const char *transport(struct draw *d)
{
    static const char *const kinds[] = {"datagram", "datagram",  "none",   "none", "none",
                                        "dcqcn",    "dcqcn-nic", "timely", "tcp",  "dctcp"};
    return kinds[below(d, d->max_frame < 256 ? 8 : 10)];
}

static void say_hosts(struct draw *d)
{
    /* The timeout is longer than any queue takes to drain: without congestion control a sender that
     * goes back too early can keep a strict priority busy for ever, and its ACKs waiting. */
    say(d, "transport: %s\n", transport(d));
    say(d, "host: {ack_every: %u", 1 + below(d, 3));
    say(d, ", timeout: %ums", 50 + below(d, 50));
    if (chance(d, 30))
        say(d, ", ack_priority: %u", below(d, 8));
    say(d, "}\nport: {max_frame: %uB", d->max_frame);
    if (d->response)
        say(d, ", response: %u", d->response);
    say(d, "}\n");
    if (!chance(d, 25))
        return;
    say(d, "receivers: [{host: h%u, ", below(d, d->n_hosts));
    say(d, "rate: \"%s, ", chance(d, 50) ? "1Gbps" : "100Gbps");
    say(d, "%uus: ", 5 + below(d, 10));
    say(d, "%s, ", chance(d, 50) ? "0bps" : "2Gbps");
    say(d, "%uus: 40Gbps\", buffer: %lldB}]\n", 20 + below(d, 200),
        (long long)(9 * (d->max_headroom + 4096) + 32 * d->max_frame));
}

/* Draws a priority of the traffic, mostly a lossless one. */
static uint32_t priority(struct draw *d)
{
    uint32_t p = below(d, 8);
    for (uint32_t i = 0; i < 6 && !(d->lossless >> p & 1); i++)
        p = below(d, 8);
    return p;
}

static void say_entry(struct draw *d, uint32_t stop_ns)
{
    const uint32_t to = below(d, d->n_hosts);
    switch (below(d, 8)) {
    case 0:
        say(d, "- {kind: poisson, load: 0.%u, sizes: uniform 100B 40KB", 2 + below(d, 8));
        break;
    case 1:
    case 2:
        say(d, "- {kind: incast, to: h%u, size: %uB", to, 1 + below(d, 60000));
        say(d, ", at: %uns", below(d, stop_ns));
        break;
    case 3:
        say(d, "- {kind: onoff, burst: %uns", 500 + below(d, 5000));
        say(d, ", idle: %uns", below(d, 3000));
        say(d, ", lengths: %s", chance(d, 50) ? "exponential" : "pareto");
        break;
    case 4:
        say(d, "- {kind: bernoulli, load: 0.%u", 1 + below(d, 9));
        break;
    case 5:
        say(d, "- {kind: cbr, pattern: shift, shift: %u", 1 + below(d, d->n_hosts - 1));
        say(d, ", frame: %uB", 71 + below(d, d->max_frame - 70)); /* TCP needs 71 */
        break;
    case 6:
        say(d, "- {kind: all-to-all, size: %uB", 1 + below(d, 20000));
        break;
    default:
        say(d, "- {kind: cbr, to: h%u, from: \"h%u..h%u\"", to, 0, d->n_hosts - 1);
        break;
    }
    say(d, ", priority: %u", priority(d));
    say(d, ", transport: %s}\n", chance(d, 40) ? "''" : transport(d));
}

/* Makes some switches differ from the others. */
static void say_switches(struct draw *d)
{
    static const char *const differences[] = {"mmu: static",    "mmu: sih",
                                              "pause: pause",   "pause: pfc",
                                              "scheduler: drr", "processing_delay: 700ns"};
    say(d, "switches: [{match: \"%s\", %s, ", d->some, differences[below(d, 2)]);
    say(d, "%s, ", differences[2 + below(d, 2)]);
    say(d, "%s}]\n", differences[4 + below(d, 2)]);
}

char *random_scenario(uint64_t seed)
{
    struct draw d = {0};
    char *text = NULL;
    size_t size = 0;
    d.out = open_memstream(&text, &size);
    if (!d.out)
        abort();
    xoff_rng_init(&d.rng, seed, 0, 77);
    d.some = "*0";
    d.max_frame = chance(&d, 70) ? 1518 : chance(&d, 50) ? 9000 : 300;
    d.response = chance(&d, 30) ? 1 + below(&d, 1000) : 0;
    say(&d, "seed: %llu\n", (unsigned long long)seed);
    say_topology(&d);
    say_priorities(&d);
    say_switch(&d);
    say_hosts(&d);
    /* About 400 KB per host at the highest rate, but no longer than 300 us. */
    uint32_t stop_ns = (uint32_t)(400000 * 8 * UINT64_C(1000000000) / d.max_rate);
    stop_ns = stop_ns > 300000 ? 300000 : stop_ns;
    say(&d, "stop: %uns\ndrain: 3s\ndeadlock: {after: 500us, stop: true}\ntraffic:\n", stop_ns);
    const uint32_t n_entries = 1 + below(&d, 4);
    for (uint32_t i = 0; i < n_entries; i++)
        say_entry(&d, stop_ns);
    if (chance(&d, 30))
        say_switches(&d);
    fclose(d.out);
    return text;
}
