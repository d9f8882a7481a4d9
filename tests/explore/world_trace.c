/* How a small world got where it is: as a table, and as a scenario for the simulator. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "explore/world.h"

#define START (10 * XOFF_US) /* of the scenario's first tick */

struct reader {
    struct world_log log;
    struct world *world;
    FILE *out;
    uint32_t tick;
    bool is_new; /* nothing of this tick was printed yet */
};

static const char *pool_name(int64_t pool)
{
    static const char *const names[XOFF_N_POOLS] = {"lost", "to the reserve", "to the shared pool",
                                                    "to headroom", "to insurance"};
    return names[pool];
}

static const char *mask_text(int64_t mask, char text[32])
{
    char *p = text;
    if (mask == XOFF_ALL_PRIORITIES)
        return "all priorities";
    p += snprintf(p, 32, mask & (mask - 1) ? "priorities" : "priority");
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if (mask >> n & 1)
            p += snprintf(p, 4, " %u", n);
    return text;
}

__attribute__((format(printf, 2, 3))) static void line(struct reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (r->is_new)
        fprintf(r->out, "%6u  ", r->tick);
    else
        fprintf(r->out, "%6s  ", "");
    vfprintf(r->out, format, list);
    fputc('\n', r->out);
    r->is_new = false;
    va_end(list);
}

static void control_line(struct reader *r, uint32_t port, const char *verb, int64_t classes,
                         int64_t pausing)
{
    char text[32];
    if (pausing)
        line(r, "pause frame %s sender %u: XOFF, %s", verb, port, mask_text(pausing, text));
    if (classes & ~pausing)
        line(r, "pause frame %s sender %u: XON, %s", verb, port,
             mask_text(classes & ~pausing, text));
}

static void to_table(struct world_log *log, enum world_event event, uint32_t port, int64_t a,
                     int64_t b, int64_t c)
{
    struct reader *r = (struct reader *)log;
    char text[32];
    switch (event) {
    case EVENT_TICK:
        r->tick++;
        r->is_new = true;
        break;
    case EVENT_SEND:
        line(r, "sender %u begins %lld B of priority %lld", port, (long long)b, (long long)a);
        break;
    case EVENT_REVERSE:
        line(r, "the switch begins %lld B of data to sender %u", (long long)b, port);
        break;
    case EVENT_LEAVE:
        line(r, "%lld B of priority %lld, from sender %u, leave the buffer", (long long)b,
             (long long)a, port);
        break;
    case EVENT_ARRIVE:
        line(r, "%lld B of priority %lld arrive from sender %u: %s", (long long)b, (long long)a,
             port, pool_name(c));
        break;
    case EVENT_DECIDE:
        line(r, "decision at port %u: %s %s, by %lld B", port, a ? "pause" : "resume",
             mask_text(b, text), (long long)c);
        break;
    case EVENT_CONTROL:
        control_line(r, port, "begins to", a, b);
        break;
    case EVENT_HEAR:
        control_line(r, port, "reaches", a, b);
        break;
    case EVENT_MISHAP:
        control_line(r, port, c == 1 ? "is lost to" : "is late at", a, b);
        break;
    case EVENT_GATE:
        line(r, "gate of sender %u: %s closed", port,
             (uint8_t)~a ? mask_text((uint8_t)~a, text) : "nothing");
        break;
    }
}

/* Repeats the steps that led to the violation. */
static void replay(struct reader *r, const struct explorer_answer *answer)
{
    struct world *w = r->world;
    void *state = calloc(1, w->model.state_size);
    w->model.init(w, state);
    w->log = &r->log;
    for (uint32_t i = 0; i < answer->n_choices; i++)
        explorer_step(&w->model, w, state, answer->choices[i]);
    w->log = NULL;
    free(state);
}

void world_print_trace(struct world *w, const struct explorer_answer *answer, FILE *out)
{
    struct reader r = {.log = {to_table}, .world = w, .out = out};
    fprintf(out, "%s\n", answer->violation);
    fprintf(out, "  tick  what happens (%d byte times are a tick)\n", WORLD_TICK_BYTES);
    replay(&r, answer);
}

/* The scenario. h0 takes the frames, h1 and h2 are the senders, the last host sends to h0 first, so
 * that h0 pauses the switch and frames stay in its buffer, and then the data to senders.
 *
 * A response time is whole quanta in a scenario. Half of it on each way of the link is the same to
 * the switch if the senders' clocks are set back by as much. */

static xoff_time tick_at(uint32_t tick)
{
    return START + (xoff_time)tick * WORLD_TICK;
}

static void to_scenario(struct world_log *log, enum world_event event, uint32_t port, int64_t a,
                        int64_t b, int64_t c)
{
    struct reader *r = (struct reader *)log;
    const struct world *w = r->world;
    const xoff_time half = w->response_ticks * WORLD_TICK / 2;
    const xoff_time delay = w->delay_ticks * WORLD_TICK + half;
    (void)c;
    if (event == EVENT_TICK)
        r->tick++;
    /* A frame has 62 B of headers. */
    if (event == EVENT_SEND)
        fprintf(r->out,
                "  - {kind: flows, priority: %lld, list: [{at: %lldps, from: h%u, to: h0, size: "
                "%lldB}]}\n",
                (long long)a, (long long)(tick_at(r->tick) - half), port + 1, (long long)(b - 62));
    const xoff_time last_bit = (b + XOFF_PREAMBLE_BYTES) * 8 * XOFF_NS;
    if (event == EVENT_REVERSE)
        fprintf(r->out,
                "  - {kind: flows, priority: 0, list: [{at: %lldps, from: h%u, to: h%u, size: "
                "%lldB}]}\n",
                (long long)(tick_at(r->tick) - last_bit - delay), w->n_ports, port + 1,
                (long long)(b - 62));
    if (event == EVENT_LEAVE)
        fprintf(r->out, "  # %lldps: a frame of priority %lld leaves the buffer\n",
                (long long)tick_at(r->tick), (long long)a);
}

/* "name=value name=value" as "name: value, name: value", each with a comma before it. */
static void print_params(const char *text, FILE *out)
{
    char name[64], value[64];
    for (int n; text && sscanf(text, " %63[^= ]=%63[^ ]%n", name, value, &n) == 2; text += n)
        fprintf(out, ", %s: %s", name, value);
}

void world_print_scenario(struct world *w, const struct explorer_answer *answer, FILE *out)
{
    const uint32_t n_hosts = w->n_ports + 1;
    const xoff_time delay = w->delay_ticks * WORLD_TICK + w->response_ticks * WORLD_TICK / 2;
    fprintf(out, "# %s\n", answer->violation);
    fprintf(out, "stop: 1ms\ndrain: 0s\ndeadlock: {after: 0s}\n");
    fprintf(out, "topology: {kind: star, hosts: %u, host_link: {rate: 1Gbps, delay: %lldps}}\n",
            n_hosts, (long long)delay);
    fprintf(out, "port: {max_frame: %dB, response: 0, headroom: %lldB}\n", WORLD_MAX_FRAME,
            (long long)w->headroom_bytes);
    fprintf(out, "switch:\n  buffer: %lldB\n", (long long)world_buffer_bytes(w, n_hosts));
    fprintf(out, "  mmu: {kind: %s", w->spec.mmu);
    print_params(w->spec.mmu_params, out);
    fprintf(out, "}\n  pause: {kind: %s", w->spec.pause);
    print_params(w->spec.pause_params, out);
    fprintf(out, "}\npriorities: {3: {lossless: true}%s}\n",
            w->lossless >> 4 & 1 ? ", 4: {lossless: true}" : "");
    fprintf(out, "receivers: [{host: h0, rate: 0bps, buffer: 1MB, xoff: 1B, xon: 0B}]\ntraffic:\n");
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        fprintf(out,
                "  - {kind: flows, priority: %u, list: [{at: 0s, from: h%u, to: h0, size: 2B}]}\n",
                world_priorities[p], n_hosts - 1);
    struct reader r = {.log = {to_scenario}, .world = w, .out = out};
    replay(&r, answer);
}
