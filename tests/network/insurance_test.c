/* Insurance of ports, in dsh and insurance-only, in whole networks: nothing is lost, whatever
 * arrives and however long an output stands still; the insurance of a port is as large as it must
 * be and no larger; and what a port's pause looks like from the other end of the cable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/headroom.h>
#include <xoff/rng.h>
#include <xoff/units.h>

#include "support/rig.h"

#define N_SEEDS 300
#define MAX_PORTS 16

static int64_t eta_of(xoff_rate rate_bps, xoff_time delay, uint32_t max_frame, uint32_t quanta)
{
    const struct xoff_headroom_params params = {
        .rate_bps = rate_bps,
        .delay = delay,
        .max_frame_bytes = max_frame,
        .response_for =
            xoff_quanta_time(quanta ? quanta : xoff_response_quanta(rate_bps), rate_bps),
    };
    return xoff_headroom_bytes(&params);
}

/* Adversarial traffic, drawn at random: all lossless queues of all ports at line rate into one to
 * three outputs of one switch, the hosts behind which stand still for most of a run. */

struct draw {
    const char *mmu;
    struct xoff_rng rng;
    FILE *out;
    uint32_t n_ports, n_targets, n_lossless, max_frame, response;
    uint32_t release_us, stop_us; /* when the hosts go on, when the traffic ends */
    uint8_t lossless;
    int64_t eta[MAX_PORTS];
};

/* Draws are never arguments of one call together: compilers differ in which they make first. */
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

static void say_topology(struct draw *d)
{
    static const uint32_t rates[] = {10, 25, 40, 100, 200, 400}; /* Gb/s */
    static const uint32_t lengths[] = {1, 3, 30, 300, 2000};     /* m */
    const bool is_mixed = chance(d, 70);
    uint32_t rate = rates[below(d, 6)], length = lengths[below(d, 5)];
    say(d, "topology:\n  kind: custom\n  nodes: {s0: switch");
    for (uint32_t h = 0; h < d->n_ports; h++)
        say(d, ", h%u: host", h);
    say(d, "}\n  links:\n");
    for (uint32_t h = 0; h < d->n_ports; h++) {
        if (is_mixed) {
            rate = rates[below(d, 6)];
            length = chance(d, 50) ? lengths[below(d, 5)] : 1 + below(d, 2000);
        }
        d->eta[h] = eta_of(rate * XOFF_GBPS, (xoff_time)length * 1000 * XOFF_PS_PER_MM,
                           d->max_frame, d->response);
        say(d, "  - {endpoints: [h%u, s0], rate: %uGbps, length: %um}\n", h, rate, length);
    }
}

static void say_priorities(struct draw *d)
{
    while (!d->lossless || chance(d, 50))
        d->lossless |= (uint8_t)(1u << below(d, 8));
    if (chance(d, 10))
        d->lossless = 0xff;
    d->n_lossless = (uint32_t)__builtin_popcount(d->lossless);
    say(d, "priorities: {");
    for (uint32_t p = 0; p < 8; p++)
        say(d, "%u: {lossless: %s}%s", p, d->lossless >> p & 1 ? "true" : "false",
            p < 7 ? ", " : "}\n");
}

/* Insurance and reserves, and little beside: none at all, a few frames, or as much again. */
static void say_switch(struct draw *d)
{
    static const char *const alphas[] = {"1/64", "1/16", "1/3", "1", "8"};
    static const char *const schedulers[] = {"ets", "strict", "fifo"};
    static const uint32_t offsets[] = {0, 3072, 100000};
    const uint32_t reserved = chance(d, 40) ? 0 : chance(d, 50) ? 4096 : 1 + below(d, 20000);
    int64_t insurance = 0;
    for (uint32_t h = 0; h < d->n_ports; h++)
        insurance += d->eta[h];
    const uint32_t n_reserves = d->n_lossless + (d->lossless != 0xff);
    const int64_t reserves = (int64_t)d->n_ports * n_reserves * reserved;
    int64_t pool = 0;
    if (chance(d, 80))
        pool = chance(d, 50) ? below(d, 40 * d->max_frame) : below(d, (uint32_t)insurance);
    say(d, "switch:\n  buffer: %lldB\n", (long long)(insurance + reserves + pool));
    say(d, "  mmu: {kind: %s, alpha: %s, reserved: %uB, ", d->mmu, alphas[below(d, 5)], reserved);
    say(d, "resume_offset: %uB", offsets[below(d, 3)]);
    if (!strcmp(d->mmu, "dsh"))
        say(d, ", port_resume_offset: %uB", offsets[below(d, 3)]);
    say(d, "}\n");
    say(d, "  scheduler: %s\n", schedulers[below(d, 3)]);
    say(d, "  pause: {kind: %s, ", chance(d, 85) ? "pfc" : "pause");
    say(d, "quanta: %u}\n", chance(d, 60) ? 65535 : 4000 + below(d, 20000));
    if (chance(d, 40))
        say(d, "  processing_delay: %uns\n", below(d, 900));
    say(d, "port: {max_frame: %uB", d->max_frame);
    if (d->response)
        say(d, ", response: %u", d->response);
    say(d, "}\n");
}

static void say_receivers(struct draw *d)
{
    say(d, "receivers:\n");
    for (uint32_t h = 0; h < d->n_targets; h++) {
        say(d, "- {host: h%u, rate: \"", h);
        if (chance(d, 30))
            say(d, "400Gbps, %uus: ", 1 + below(d, 20));
        say(d, "0bps, %uus: ", d->release_us);
        if (chance(d, 40)) /* stands still again */
            say(d, "400Gbps, %uus: 0bps, %uus: ", d->release_us + 5, d->release_us + 60);
        say(d, "%s\", buffer: %lldB}\n", chance(d, 30) ? "7Gbps" : "400Gbps",
            (long long)(9 * (d->eta[h] + 4096) + 32 * d->max_frame));
    }
}

static uint32_t frame(struct draw *d)
{
    const uint32_t kind = below(d, 4);
    return kind == 0 ? 64 : kind == 1 ? 64 + below(d, d->max_frame - 63) : d->max_frame;
}

/* Beside the flood: bursts, traffic between other hosts, and frames in the way of the pauses. */
static void say_more(struct draw *d)
{
    for (uint32_t i = below(d, 4); i > 0; i--) {
        const bool is_late = chance(d, 50);
        const uint32_t from = is_late ? d->release_us : 0;
        if (chance(d, 50)) {
            say(d, "- {kind: onoff, burst: %uns, ", 200 + below(d, 3000));
            say(d, "idle: %uns", below(d, 3000));
        } else {
            say(d, "- {kind: cbr, pattern: shift, shift: %u", 1 + below(d, d->n_ports - 1));
        }
        say(d, ", frame: %uB, ", frame(d));
        say(d, "start: %uus, stop: %uus, ", from, from + 5 + below(d, 15));
        say(d, "priority: %u}\n", below(d, 8));
    }
}

static char *adversary(const char *mmu, uint64_t seed, struct draw *d)
{
    char *text = NULL;
    size_t size = 0;
    *d = (struct draw){.mmu = mmu, .out = open_memstream(&text, &size)};
    assert_non_null(d->out);
    xoff_rng_init(&d->rng, seed, 0, 78);
    d->n_ports = 4 + below(d, MAX_PORTS - 3);
    d->n_targets = 1 + below(d, 3);
    d->max_frame = chance(d, 60) ? 1518 : chance(d, 50) ? 9216 : 256;
    d->response = chance(d, 30) ? 1 + below(d, 1000) : 0;
    d->release_us = 500 + below(d, 2500);
    d->stop_us = d->release_us + 5 + below(d, 40);
    say(d, "seed: %llu\nstop: %uus\ndrain: 1s\n", (unsigned long long)seed, d->stop_us);
    say_topology(d);
    say_priorities(d);
    say_switch(d);
    say_receivers(d);
    say(d, "traffic:\n");
    for (uint32_t target = 0; target < d->n_targets; target++)
        for (uint32_t p = 0; p < 8; p++) {
            if (!(d->lossless >> p & 1))
                continue;
            say(d, "- {kind: cbr, from: h0..h%u, to: h%u, priority: %u", d->n_ports - 1, target, p);
            say(d, ", frame: %uB", frame(d));
            say(d, ", start: %uns}\n", chance(d, 50) ? 0 : below(d, 30000));
        }
    say_more(d);
    fclose(d->out);
    return text;
}

struct counts {
    uint32_t by_port, insured; /* runs with a pause by a port, with insurance used */
    uint64_t hops;
    double tightest; /* least insurance left over, in largest frames of the run */
};

/* Every pause is ended by a resume, priority by priority, and neither comes twice. */
static const char *check_pairs(const struct results *r, struct counts *counts)
{
    uint8_t paused[2 * MAX_PORTS] = {0}; /* by index of the port: hosts have one, s0 the others */
    bool by_port = false;
    if (r->pauses_left_out)
        return "too many pauses to follow";
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        uint8_t *at = &paused[r->nodes[p->node].is_switch ? MAX_PORTS + p->port : p->node];
        if ((*at & p->priorities) != (p->pause ? 0 : p->priorities))
            return "a pause of what is paused, or a resume of what is not";
        *at ^= p->priorities;
        by_port |= p->pause && p->unit == XOFF_UNIT_INGRESS_PORT;
    }
    for (uint32_t i = 0; i < 2 * MAX_PORTS; i++)
        if (paused[i])
            return "a pause without an end";
    for (uint32_t i = 0; i < r->n_ports; i++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (r->ports[i].queue[p].pause_tx != r->ports[i].queue[p].resume_tx)
                return "a pause was sent and not taken back";
    counts->by_port += by_port;
    return NULL;
}

/* NULL, or what is wrong. */
static const char *judge(const struct rig *rig, const struct draw *d, struct counts *counts)
{
    const struct results *r = rig->results;
    const uint32_t s0 = rig_node(rig, "s0");
    int64_t peak = 0;
    for (uint32_t i = 0; i < r->n_drops; i++)
        if (r->drops[i].lossless)
            return "a frame of a lossless priority was lost";
    for (uint32_t i = 0; i < r->n_ports; i++) {
        if (r->ports[i].node != s0)
            continue;
        const int64_t eta = d->eta[r->ports[i].peer_node];
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct result_queue *q = &r->ports[i].queue[p];
            if (!(d->lossless >> p & 1))
                continue;
            if (q->headroom_bytes != eta)
                return "the insurance of a port is not what its link needs";
            if (q->headroom_peak_bytes > eta)
                return "more insurance used than there is";
            peak = q->headroom_peak_bytes > peak ? q->headroom_peak_bytes : peak;
            const double left = (double)(eta - q->headroom_peak_bytes) / d->max_frame;
            counts->tightest = left < counts->tightest ? left : counts->tightest;
        }
    }
    counts->insured += peak > 0;
    counts->hops += r->packet_hops;
    if (r->n_findings)
        return r->findings[0].text;
    if (r->n_deadlocks)
        return "a deadlock in a star";
    for (uint32_t n = 0; n < r->n_nodes; n++)
        if (r->nodes[n].held_bytes)
            return "a node still holds frames";
    if (r->end_at >= net_end(&rig->built->spec))
        return "the network did not come to rest";
    return check_pairs(r, counts);
}

static void drown(const char *mmu, uint64_t n)
{
    struct counts counts = {.tightest = 1e9};
    const char *one = getenv("XOFF_SEED"); /* to look at one that failed */
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    for (uint64_t seed = first; seed < (one ? first + 1 : n + 1); seed++) {
        struct draw d;
        struct rig rig;
        char *text = adversary(mmu, seed, &d);
        rig_run(&rig, NULL, "%s", text);
        const char *wrong = judge(&rig, &d, &counts);
        if (wrong) {
            fprintf(stderr, "%s", text);
            fail_msg("XOFF_SEED=%llu: %s", (unsigned long long)seed, wrong);
        }
        rig_fini(&rig);
        free(text);
    }
    print_message("%llu switches: %u paused ports, %u used insurance, the least that was left is "
                  "%.2f frames; %.1f M packet-hops\n",
                  (unsigned long long)n, counts.by_port, counts.insured, counts.tightest,
                  (double)counts.hops / 1e6);
    if (one)
        return;
    /* The draw must be worth its time. */
    assert_true(counts.by_port > n / 4);
    assert_true(counts.insured > n / 2);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    drown("dsh", getenv("XOFF_QUICK") ? N_SEEDS / 8 : N_SEEDS);
}

static void nothing_is_lost_with_insurance_only(void **state)
{
    (void)state;
    drown("insurance-only", getenv("XOFF_QUICK") ? N_SEEDS / 16 : N_SEEDS / 3);
}

/* The edge. h0, where all goes, stands still and has paused the switch after a first frame; h2, h3
 * and h4 put a full frame each into a pool of four:
 *
 *   T = 4/2, 3/2, 2/2 frames when they come, 1/2 when h1 begins at START, at line rate
 *
 * so that the first frame of h1 goes to insurance and pauses its port. A frame from h5 to h1 that
 * began just before is in the way of the pause frame, as in headroom_phase_test.c. All of what
 * arrives after the decision must fit, whatever its priority. */

#define START (600 * XOFF_US)

struct cable {
    xoff_rate rate_bps;
    uint32_t length_m, max_frame;
    uint32_t n_lossless; /* 1: priority 3; 2: 3 and 4, which h1 sends in turn */
};

struct outcome {
    xoff_time decided_at;
    int64_t insurance_bytes, peak_bytes;
    uint64_t lost_frames;
};

static xoff_time delay_of(const struct cable *link)
{
    return (xoff_time)link->length_m * 1000 * XOFF_PS_PER_MM;
}

static xoff_time byte_of(const struct cable *link)
{
    return (xoff_time)(8 * (uint64_t)XOFF_S / link->rate_bps);
}

/* What h1 sends: full frames, or one, a short one and again full ones. */
static void forward_traffic(const struct cable *link, uint32_t short_frame, char *text, size_t size)
{
    if (short_frame) {
        snprintf(text, size,
                 "- {kind: flows, priority: 3, list: [{from: h1, to: h0, at: %lldps, size: %uB},\n"
                 "  {from: h1, to: h0, at: %lldps, size: auto}]}\n",
                 (long long)START, link->max_frame - 62 + short_frame - 62,
                 (long long)(START + (link->max_frame + 20) * byte_of(link) + 1));
        return;
    }
    const int n =
        snprintf(text, size, "- {kind: cbr, from: h1, to: h0, priority: 3, start: %lldps}\n",
                 (long long)START);
    if (link->n_lossless > 1)
        snprintf(text + n, size - (size_t)n,
                 "- {kind: cbr, from: h1, to: h0, priority: 4, start: %lldps}\n", (long long)START);
}

/* insurance_bytes < 0: as computed. */
static struct outcome run_edge(const struct cable *link, int64_t insurance_bytes,
                               xoff_time reverse_at, uint32_t short_frame)
{
    char rate[32], insurance[64] = "", forward[320];
    const uint32_t frame_bytes = link->max_frame;
    int64_t eta = eta_of(link->rate_bps, delay_of(link), frame_bytes, 0);
    if (insurance_bytes >= 0) {
        eta = insurance_bytes;
        snprintf(insurance, sizeof insurance, ", headroom: %lldB, allow_loss: true",
                 (long long)insurance_bytes);
    }
    forward_traffic(link, short_frame, forward, sizeof forward);
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 3ms\ndrain: 0s\n"
        "topology: {kind: star, hosts: 6, host_link: {rate: %s, length: %um}}\n"
        "switch: {buffer: %lldB, mmu: {kind: dsh, alpha: 1/%u, reserved: 0B%s}}\n"
        "port: {max_frame: %uB}\n"
        "priorities: {3: {lossless: true}, 4: {lossless: %s}}\n"
        "receivers: [{host: h0, rate: 0bps, buffer: 100MB, xoff: 1B, xon: 0B}]\n"
        "deadlock: {after: 0s}\n"
        "traffic:\n"
        "- {kind: flows, priority: 3, list: [{from: h2, to: h0, at: 0s, size: 1B},\n"
        "  {from: h3, to: h0, at: 0s, size: 1B, priority: %u},\n"
        "  {from: h2, to: h0, at: 200us, size: %uB}, {from: h3, to: h0, at: 300us, size: %uB},\n"
        "  {from: h4, to: h0, at: 400us, size: %uB}]}\n"
        "- {kind: flows, priority: 0, list: [{at: %lldps, from: h5, to: h1, size: %uB}]}\n"
        "%s",
        xoff_format_rate(rate, sizeof rate, link->rate_bps), link->length_m,
        (long long)(6 * eta + 4 * frame_bytes), 2 * link->n_lossless, insurance, frame_bytes,
        link->n_lossless > 1 ? "true" : "false", 2 + link->n_lossless, frame_bytes - 62,
        frame_bytes - 62, frame_bytes - 62, (long long)reverse_at, frame_bytes - 62, forward);
    struct outcome out = {0};
    const struct result_port *port = rig_port(&rig, "s0", "h1");
    for (uint64_t i = 0; i < rig.results->n_pauses && !out.decided_at; i++)
        if (rig.results->pauses[i].node == port->node && rig.results->pauses[i].port == port->port)
            out.decided_at = rig.results->pauses[i].at;
    out.insurance_bytes = port->queue[3].headroom_bytes;
    out.peak_bytes = port->queue[3].headroom_peak_bytes;
    for (uint32_t i = 0; i < rig.results->n_drops; i++) {
        assert_int_equal(rig.results->drops[i].node, port->node);
        assert_int_equal(rig.results->drops[i].cause, RESULT_DROP_BUFFER);
        if (rig.results->drops[i].port == port->port)
            out.lost_frames += rig.results->drops[i].frames;
    }
    /* The pool is as planned: three frames lie in it, and the one from h5 when it must wait. */
    assert_in_range(rig_buffer(&rig, port->node)->view.peak_bytes[XOFF_POOL_SHARED],
                    3 * frame_bytes, 4 * frame_bytes);
    rig_assert_clean(&rig);
    rig_fini(&rig);
    return out;
}

/* When h5 must be offered a frame for it to begin towards h1 so long before XOFF is decided. */
static xoff_time reverse_before(xoff_time before)
{
    return START - before;
}

/* Tries all phases with this insurance; returns the worst. */
static struct outcome worst_of(const struct cable *link, int64_t insurance_bytes)
{
    const xoff_time slot = (link->max_frame + 20) * byte_of(link);
    const xoff_time decided = START + (link->max_frame + 8) * byte_of(link) + delay_of(link);
    struct outcome worst = {0};
    for (int i = -1; i < 14; i++) {
        const xoff_time before = i < 3 ? i : (i - 2) * slot / 12;
        const struct outcome o = run_edge(link, insurance_bytes, reverse_before(before), 0);
        assert_int_equal(o.decided_at, decided);
        if (o.peak_bytes > worst.peak_bytes || o.lost_frames > worst.lost_frames)
            worst = o;
    }
    /* Of two arrivals at one instant either may come first; 1 ps before is the worst for sure. */
    const struct outcome o = run_edge(link, insurance_bytes, reverse_before(1), 0);
    assert_true(o.peak_bytes == worst.peak_bytes && o.lost_frames == worst.lost_frames);
    return worst;
}

static const xoff_rate rates[] = {10 * XOFF_GBPS, 25 * XOFF_GBPS, 100 * XOFF_GBPS, 400 * XOFF_GBPS};
static const uint32_t lengths[] = {1, 100, 2000};

/* Nothing is lost with the computed insurance, less than a frame of it stays free, and with one
 * frame less there is loss. */
static void one_frame_less_loses(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4 * 3 * 2 * 2; i++) {
        const struct cable link = {rates[i % 4], lengths[i / 4 % 3], i / 12 % 2 ? 9216 : 1518,
                                   i / 24 + 1};
        const int64_t computed = eta_of(link.rate_bps, delay_of(&link), link.max_frame, 0);
        const struct outcome enough = worst_of(&link, -1);
        const struct outcome less = worst_of(&link, computed - link.max_frame);
        if (link.n_lossless == 1) {
            char rate[32];
            print_message("%8s %5u m %5u B: insurance %7lld B, used %7lld B, one frame less loses "
                          "%llu\n",
                          xoff_format_rate(rate, sizeof rate, link.rate_bps), link.length_m,
                          link.max_frame, (long long)computed, (long long)enough.peak_bytes,
                          (unsigned long long)less.lost_frames);
        }
        assert_int_equal(enough.insurance_bytes, computed);
        assert_int_equal(enough.lost_frames, 0);
        assert_in_range(enough.peak_bytes, computed - link.max_frame + 1, computed);
        assert_true(less.lost_frames >= 1);
    }
}

/* The bound is met to one byte: a short frame behind the first shifts the last one so that it
 * begins just before the gate closes (headroom_phase_test.c). */
static void bound_is_met(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (uint32_t i = 0; i < 4 * 3; i++) {
        const struct cable link = {rates[i % 4], lengths[i / 4], 1518, 1};
        const int64_t computed = eta_of(link.rate_bps, delay_of(&link), 1518, 0);
        const uint32_t short_frame = (uint32_t)(computed % 1518) - 1;
        if (short_frame < 64 || short_frame > 1518)
            continue;
        struct outcome o = run_edge(&link, -1, reverse_before(1), short_frame);
        assert_int_equal(o.peak_bytes, computed - 1);
        assert_int_equal(o.lost_frames, 0);
        o = run_edge(&link, computed - 1, reverse_before(1), short_frame);
        assert_int_equal(o.lost_frames, 0);
        o = run_edge(&link, computed - 2, reverse_before(1), short_frame);
        assert_int_equal(o.lost_frames, 1);
        n++;
    }
    assert_true(n > 6);
}

/* Runs with every frame that crosses the port of `host` noted down. */
static void run_captured(struct rig *rig, const char *host, const char *text)
{
    struct xoff_err err = {0};
    const struct build_options options = {
        .n_threads = 1, .cell_bound = XOFF_PARAM_AUTO, .captures = &host, .n_captures = 1};
    *rig = (struct rig){0};
    if (scenario_read_text("test", text, strlen(text), NULL, 0, &rig->scenario, &err) ||
        build_create(rig->scenario->plans[0], &options, &rig->built, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    net_run(rig->built->net);
    rig->results = net_collect(rig->built->net);
    rig->summary = summary_create(rig->results);
}

/* There is no pool and no reserve: the first frame of h1, of priority 3, goes to insurance. That
 * pauses its queue and its port, which is one frame on the wire, and so is the end of it. */
static void one_frame_stops_a_port(void **state)
{
    (void)state;
    struct rig rig;
    char text[1024];
    snprintf(text, sizeof text,
             "stop: 1ms\n"
             "topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us}}\n"
             "switch: {buffer: %lldB, mmu: {kind: dsh, reserved: 0B}}\n"
             "priorities: {1: {lossless: true}, 3: {lossless: true}, 4: {lossless: true},\n"
             "  6: {lossless: true}}\n"
             "receivers: [{host: h0, rate: \"0bps, 100us: 100Gbps\", buffer: 1MB, xoff: 1B,\n"
             "  xon: 0B}]\n"
             "traffic: [{kind: flows, priority: 3, transport: datagram, list: [\n"
             "  {from: h2, to: h0, at: 0s, size: 1B}, {from: h1, to: h0, at: 20us, size: 5KB}]}]\n",
             (long long)(3 * eta_of(100 * XOFF_GBPS, XOFF_US, 1518, 0)));
    run_captured(&rig, "h1", text);
    const struct results *r = rig.results;
    const struct result_port *port = rig_port(&rig, "s0", "h1");
    assert_int_equal(port->control_tx_frames, 2);
    assert_int_equal(r->n_captures, 1);
    uint32_t n = 0;
    for (uint64_t i = 0; i < r->captures[0].n_frames; i++) {
        const struct result_frame *frame = &r->captures[0].frames[i];
        if (frame->kind != RESULT_FRAME_PAUSE)
            continue;
        assert_int_equal(frame->opcode, XOFF_OPCODE_PFC);
        assert_int_equal(frame->classes, 0x5a);
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (0x5a >> p & 1)
                assert_int_equal(frame->quanta[p], n ? 0 : 65535);
        assert_true(n ? frame->at > 100 * XOFF_US : frame->at < 30 * XOFF_US);
        n++;
    }
    assert_int_equal(n, 2);
    const struct result_queue *gates = rig_port(&rig, "h1", "s0")->queue;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        assert_int_equal(port->queue[p].pause_tx, 0x5a >> p & 1);
        assert_int_equal(gates[p].paused_for, 0x5a >> p & 1 ? gates[3].paused_for : 0);
    }
    assert_true(gates[3].paused_for > 70 * XOFF_US);
    assert_int_equal(r->flows[1].delivered_bytes, 5000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The last decision about a priority of s0 towards h1. */
static const struct result_pause *last_of(const struct rig *rig, uint32_t priority, bool pause)
{
    const struct result_port *port = rig_port(rig, "s0", "h1");
    const struct result_pause *found = NULL;
    for (uint64_t i = 0; i < rig->results->n_pauses; i++) {
        const struct result_pause *p = &rig->results->pauses[i];
        if (p->node == port->node && p->port == port->port && p->pause == pause &&
            p->priorities >> priority & 1)
            found = p;
    }
    assert_non_null(found);
    return found;
}

/* XOFF and XON travel alike: the gate of h1 is closed for as long as the switch wanted it, but for
 * the time that a pause frame waits for another. */
static void check_gate(const struct rig *rig, uint32_t priority)
{
    const struct result_port *port = rig_port(rig, "s0", "h1");
    xoff_time wanted_for = 0, spare = 0;
    for (uint64_t i = 0; i < rig->results->n_pauses; i++) {
        const struct result_pause *p = &rig->results->pauses[i];
        if (p->node != port->node || p->port != port->port)
            continue;
        spare += (64 + 20) * 80;
        if (p->priorities >> priority & 1)
            wanted_for += p->pause ? -p->at : p->at;
    }
    const xoff_time closed_for = rig_port(rig, "h1", "s0")->queue[priority].paused_for;
    assert_true(closed_for >= wanted_for - spare && closed_for <= wanted_for + spare);
}

/* h1 sends some frames of priority 3 to h0, which stands still until 300 us, and 100 of priority 4
 * to h2, which h3 keeps busy for a while; none of priority 5. The pool has eight frames; a port may
 * have as much as is free. */
static void run_two_queues(struct rig *rig, uint32_t n_stuck)
{
    rig_run(rig, NULL,
            "stop: 1ms\n"
            "topology: {kind: star, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: %lldB, mmu: {kind: dsh, alpha: 1/3, reserved: 0B,\n"
            "  resume_offset: 0B, port_resume_offset: 0B}}\n"
            "priorities: {3: {lossless: true}, 4: {lossless: true}, 5: {lossless: true}}\n"
            "receivers: [{host: h0, rate: \"0bps, 300us: 100Gbps\", buffer: 1MB, xoff: 1B,\n"
            "  xon: 0B}]\n"
            "traffic: [{kind: flows, transport: datagram, list: [\n"
            "  {from: h3, to: h0, at: 0s, size: 1B, priority: 3},\n"
            "  {from: h3, to: h2, at: 19us, size: 43680B, priority: 4},\n"
            "  {from: h1, to: h0, at: 20us, size: %uB, priority: 3},\n"
            "  {from: h1, to: h2, at: 20us, size: 145600B, priority: 4}]}]\n",
            (long long)(4 * eta_of(100 * XOFF_GBPS, XOFF_US, 1518, 0) + 8 * 1518), n_stuck * 1456);
    rig_assert_clean(rig);
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        assert_int_equal(rig->results->flows[i].delivered_bytes,
                         rig->results->flows[i].offered_bytes);
    for (uint32_t p = 3; p < 6; p++)
        check_gate(rig, p);
    assert_int_equal(last_of(rig, 5, true)->unit, XOFF_UNIT_INGRESS_PORT);
    assert_int_equal(last_of(rig, 5, false)->unit, XOFF_UNIT_INGRESS_PORT);
}

static void queue_and_port_both_hold(void **state)
{
    (void)state;
    struct rig rig;
    /* The port lets go when priority 4 has left; the queue of priority 3 does not. */
    run_two_queues(&rig, 1);
    const struct result_queue *gates = rig_port(&rig, "h1", "s0")->queue;
    assert_true(last_of(&rig, 5, false)->at < 40 * XOFF_US);
    assert_true(last_of(&rig, 4, false)->at < 40 * XOFF_US);
    assert_true(last_of(&rig, 3, false)->at > 300 * XOFF_US);
    assert_int_equal(last_of(&rig, 3, false)->unit, XOFF_UNIT_INGRESS);
    assert_true(gates[3].paused_for > 270 * XOFF_US);
    assert_true(gates[4].paused_for < 20 * XOFF_US && gates[5].paused_for < 20 * XOFF_US);
    rig_fini(&rig);

    /* Six frames of priority 3 are more than is free: the port holds on. Priority 4 has long left,
     * to an output that is not paused, but must wait; and so would priority 5. */
    run_two_queues(&rig, 6);
    gates = rig_port(&rig, "h1", "s0")->queue;
    assert_int_equal(rig_port(&rig, "s0", "h2")->queue[4].paused_for, 0);
    for (uint32_t p = 4; p < 6; p++) {
        assert_true(last_of(&rig, p, false)->at > 300 * XOFF_US);
        assert_int_equal(last_of(&rig, p, false)->unit, XOFF_UNIT_INGRESS_PORT);
        assert_true(gates[p].paused_for > 270 * XOFF_US);
    }
    rig_fini(&rig);
}

/* A leaf-spine with a small buffer, where ports pause each other. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t n = 1; n <= 3; n++) {
        const struct rig_options options = {.n_threads = n, .cell_bound = XOFF_PARAM_AUTO};
        struct rig rig;
        rig_run(
            &rig, &options,
            "stop: 300us\ndrain: 2ms\n"
            "topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4,\n"
            "  host_link: {rate: 25Gbps, delay: 1us}, fabric_link: {rate: 40Gbps, delay: 1us}}\n"
            "switch: {buffer: 250KB, mmu: dsh, marking: ecn}\n"
            "priorities: {2: {lossless: true}, 3: {lossless: true}}\ntransport: dcqcn\n"
            "traffic:\n"
            "- {kind: poisson, load: 0.6, sizes: websearch, priority: 3}\n"
            "- {kind: incast, to: h0, size: 64KB, at: 20us, every: 60us, priority: 2}\n");
        uint32_t n_ports = 0;
        for (uint64_t i = 0; i < rig.results->n_pauses; i++)
            n_ports += rig.results->pauses[i].unit == XOFF_UNIT_INGRESS_PORT;
        assert_true(n_ports > 10);
        assert_true(rig_metric(&rig, "insurance.peak") > 0);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        digest = n == 1 ? rig.results->digest : digest;
        assert_int_equal(rig.results->digest, digest);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(nothing_is_lost_with_insurance_only),
        cmocka_unit_test(one_frame_less_loses),
        cmocka_unit_test(bound_is_met),
        cmocka_unit_test(one_frame_stops_a_port),
        cmocka_unit_test(queue_and_port_both_hold),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
