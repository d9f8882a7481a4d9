/* The test station. See station.h.
 *
 * The station and the device take turns in time: the device is let run up to the arrival of the
 * station's next frame, and whatever it sends before that is heard first, since it may stop the
 * station. A frame that has begun is always finished.
 */
#include "conform/station.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/octets.h"

#define VLAN_ETHERTYPE 0x8100
#define CN_ETHERTYPE 0x22e9
#define HELLO_STREAM 0xfffffffeu
#define HEADER_OCTETS 14

void station_mac(uint32_t port, uint8_t mac[6])
{
    const uint8_t octets[6] = {0x02, 0x00, 0x5e, 0x00, 0x01, (uint8_t)(port + 1)};
    memcpy(mac, octets, sizeof octets);
}

xoff_time station_bits(const struct station *st, uint64_t bits)
{
    return xoff_time_of_bits(bits, st->rate_bps);
}

struct xoff_device_setup station_setup(const struct station *st, uint16_t n_ports)
{
    struct xoff_device_setup setup = {
        .n_ports = n_ports,
        .rate_bps = st->rate_bps,
        .delay = 100 * 1000 * XOFF_PS_PER_MM,
        .max_frame_bytes = 1522,
        .fcoe_priority = -1,
        .dcbx_mac = {0x02, 0x00, 0x5e, 0x00, 0x02, 0x80},
    };
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        setup.percent[p] = p < 4 ? 12 : 13;
    for (uint32_t i = 0; i < XOFF_CONFORM_MAX_PORTS; i++)
        setup.defence[i] = XOFF_DEVICE_CN_INTERIOR_READY;
    station_mac(0, setup.station_mac);
    return setup;
}

void station_share(struct xoff_device_setup *setup, uint8_t priorities)
{
    const uint8_t percent = (uint8_t)(100 / __builtin_popcount(priorities));
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        setup->percent[p] = priorities >> p & 1 ? percent : 0;
}

/* The log */

static void *grow(void *array, size_t size)
{
    void *larger = realloc(array, size);
    XOFF_ASSERT(larger);
    return larger;
}

/* Reads the headers of a frame. What is cut off stays as it is. */
static void read_headers(const uint8_t *octets, size_t length, struct logged *entry)
{
    struct octets_in in = octets_in(octets, length);
    get_octets(&in, 12, "addresses");
    entry->ethertype = get16(&in, "EtherType");
    /* In either order: a test looks at the order, the others at what is inside. */
    for (uint32_t i = 0; i < 2; i++) {
        if (entry->ethertype == VLAN_ETHERTYPE) {
            entry->is_tagged = true;
            entry->priority = (uint8_t)(get16(&in, "TCI") >> 13);
            entry->ethertype = get16(&in, "EtherType");
        } else if (entry->ethertype == CN_ETHERTYPE) {
            entry->has_cn_tag = true;
            entry->flow = get16(&in, "flow");
            entry->ethertype = get16(&in, "EtherType");
        }
    }
    if (entry->ethertype != STATION_ETHERTYPE)
        return;
    const uint32_t stream = get32(&in, "stream"), seq = get32(&in, "number");
    if (in.cut_field)
        return;
    entry->stream = stream;
    entry->seq = seq;
}

static void note_frame(struct station *st, const struct xoff_device_frame *frame,
                       bool is_from_device)
{
    if (st->witness)
        st->witness->frame(st->witness->context, st->step, frame, is_from_device);
    st->result->n_frames++;
    if (st->n_log == st->log_capacity) {
        st->log_capacity = st->log_capacity ? 2 * st->log_capacity : 1024;
        st->log = grow(st->log, st->log_capacity * sizeof *st->log);
    }
    struct logged *entry = &st->log[st->n_log++];
    *entry = (struct logged){.at = frame->at,
                             .port = frame->port,
                             .is_from_device = is_from_device,
                             .bytes = frame->length + 4,
                             .stream = STATION_NO_STREAM};
    entry->start = frame->at - station_bits(st, 8 * (uint64_t)(entry->bytes + XOFF_PREAMBLE_BYTES));
    read_headers(frame->octets, frame->length, entry);
    if (entry->stream == HELLO_STREAM)
        entry->stream = STATION_NO_STREAM;
    entry->length = frame->length;
    if (is_test_frame(entry) && entry->length > STATION_KEPT_OCTETS)
        entry->length = STATION_KEPT_OCTETS;
    if (st->n_bytes + entry->length > st->bytes_capacity) {
        st->bytes_capacity = 2 * (st->bytes_capacity + entry->length) + 65536;
        st->bytes = grow(st->bytes, st->bytes_capacity);
    }
    entry->octets = st->n_bytes;
    memcpy(st->bytes + st->n_bytes, frame->octets, entry->length);
    st->n_bytes += entry->length;
}

/* Sending */

static uint32_t encode_test_frame(const struct stream *s, const uint8_t to[6], uint8_t *buf)
{
    uint8_t from[6];
    station_mac(s->in, from);
    struct octets_out out = octets_out(buf, STATION_MAX_OCTETS);
    put_octets(&out, to, 6);
    put_octets(&out, from, 6);
    put16(&out, VLAN_ETHERTYPE);
    put16(&out, (unsigned)s->priority << 13 | 1);
    if (s->has_cn_tag) {
        put16(&out, CN_ETHERTYPE);
        put16(&out, s->flow);
    }
    put16(&out, STATION_ETHERTYPE);
    return (uint32_t)out.at;
}

static uint32_t make_test_frame(const struct station *st, struct stream *s, uint8_t *buf)
{
    uint8_t to[6];
    station_mac(s->out, to);
    if (st->setup.kind == XOFF_DEVICE_STATION)
        memcpy(to, st->setup.dcbx_mac, 6);
    const uint32_t headers = encode_test_frame(s, to, buf);
    struct octets_out out = octets_out(buf, s->bytes - 4);
    out.at = headers;
    put32(&out, (uint32_t)(s - st->streams));
    put32(&out, s->n_sent++);
    put_zeros(&out, out.capacity - out.at);
    XOFF_ASSERT(!out.is_full);
    return s->bytes - 4;
}

static void give(struct station *st, uint16_t port, xoff_time start, const uint8_t *octets,
                 uint32_t length, bool has_bad_fcs)
{
    struct station_port *p = &st->ports[port];
    const bool back_to_back = start == p->free_at;
    struct xoff_device_frame frame = {
        .port = port, .has_bad_fcs = has_bad_fcs, .length = length, .octets = octets};
    xoff_wire_clock_send(&p->clock, start, length + 4, back_to_back, &frame.at, &p->free_at);
    note_frame(st, &frame, false);
    st->device->ops->give(st->device->state, &frame);
}

struct shot *station_send(struct station *st, uint16_t port, xoff_time at, const uint8_t *octets,
                          uint32_t length)
{
    XOFF_ASSERT(st->n_shots < STATION_MAX_SHOTS && length <= STATION_MAX_OCTETS);
    uint32_t place = st->n_shots++;
    while (place > 0 && st->shots[place - 1].at > at) {
        st->shots[place] = st->shots[place - 1];
        place--;
    }
    struct shot *shot = &st->shots[place];
    *shot = (struct shot){.at = at, .port = port, .length = length};
    memcpy(shot->octets, octets, length);
    return shot;
}

struct shot *station_pause(struct station *st, uint16_t port, xoff_time at, uint8_t classes,
                           uint16_t quanta)
{
    struct xoff_pause_frame frame = {.opcode = XOFF_OPCODE_PFC, .classes = classes};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        frame.quanta[p] = classes >> p & 1 ? quanta : 0;
    uint8_t octets[XOFF_PAUSE_FRAME_BYTES], mac[6];
    station_mac(port, mac);
    xoff_pause_frame_encode(&frame, mac, octets);
    return station_send(st, port, at, octets, XOFF_PAUSE_FRAME_BYTES - 4);
}

struct stream *station_stream(struct station *st, uint16_t in, uint16_t out, uint8_t priority,
                              uint32_t bytes)
{
    XOFF_ASSERT(st->n_streams < STATION_MAX_STREAMS && bytes <= STATION_MAX_OCTETS);
    struct stream *s = &st->streams[st->n_streams++];
    *s = (struct stream){.in = in,
                         .out = out,
                         .priority = priority,
                         .bytes = bytes,
                         .from = station_learnt(st),
                         .to = XOFF_NEVER};
    return s;
}

/* What the station would send next, and when its first bit would pass the device's connector. */
struct next {
    xoff_time start, at;
    uint16_t port;
    struct stream *stream; /* NULL: the first shot of that port */
    uint32_t shot;
};

static xoff_time span_of(const struct station *st, uint32_t bytes)
{
    return station_bits(st, 8 * (uint64_t)(bytes + XOFF_PREAMBLE_BYTES));
}

static void expire_gate(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time to)
{
    while (gate->next_at <= to)
        xoff_gate_expire(cfg, gate, gate->next_at);
}

/* The first moment at or after `start` at which the priority may begin. The station's gate lies at
 * the other end of the cable: what begins there at t begins here at t + delay. The gate is kept as
 * it was when the port last sent, and looks ahead from there. */
static xoff_time when_open(struct station *st, uint16_t port, uint8_t priority, xoff_time start)
{
    struct station_port *p = &st->ports[port];
    const xoff_time delay = st->setup.delay;
    if (p->gate_cfg.wire == XOFF_WIRE_NONE)
        return start;
    struct xoff_gate gate = p->gate;
    if (start < p->gate_at)
        start = p->gate_at;
    expire_gate(&p->gate_cfg, &gate, start - delay);
    while (!(gate.open >> priority & 1)) {
        if (gate.next_at == XOFF_NEVER)
            return XOFF_NEVER;
        start = gate.next_at + delay;
        xoff_gate_expire(&p->gate_cfg, &gate, gate.next_at);
    }
    return start;
}

static void consider_stream(struct station *st, uint32_t index, xoff_time shot_start,
                            struct next *best)
{
    struct stream *s = &st->streams[index];
    const struct station_port *p = &st->ports[s->in];
    xoff_time start = s->next_at > s->from ? s->next_at : s->from;
    if (p->free_at > start)
        start = p->free_at;
    start = when_open(st, s->in, s->priority, start);
    if (start >= s->to)
        return;
    const xoff_time at = start + span_of(st, s->bytes);
    /* A shot that is due meanwhile goes first. */
    if (xoff_time_after(at, station_bits(st, 8 * XOFF_GAP_BYTES)) > shot_start)
        return;
    /* Streams of a port that may begin at the same time take turns. */
    const bool is_turn = best->stream && best->port == s->in && start == best->start &&
                         index > p->last_stream &&
                         (uint32_t)(best->stream - st->streams) <= p->last_stream;
    if (start < best->start || is_turn)
        *best = (struct next){.start = start, .at = at, .port = s->in, .stream = s};
}

/* The earliest frame of a port by its arrival, or one with `at` XOFF_NEVER. */
static struct next next_of_port(struct station *st, uint16_t port)
{
    struct next best = {.start = XOFF_NEVER, .at = XOFF_NEVER, .port = port};
    xoff_time shot_start = XOFF_NEVER;
    uint32_t shot = 0;
    while (shot < st->n_shots && st->shots[shot].port != port)
        shot++;
    if (shot < st->n_shots) {
        shot_start = st->shots[shot].at - span_of(st, st->shots[shot].length + 4);
        if (shot_start < st->ports[port].free_at)
            shot_start = st->ports[port].free_at;
    }
    for (uint32_t i = 0; i < st->n_streams; i++)
        if (st->streams[i].in == port)
            consider_stream(st, i, shot_start, &best);
    if (shot < st->n_shots && !best.stream)
        best = (struct next){.start = shot_start,
                             .at = shot_start + span_of(st, st->shots[shot].length + 4),
                             .port = port,
                             .shot = shot};
    return best;
}

static struct next next_of_all(struct station *st)
{
    struct next best = {.start = XOFF_NEVER, .at = XOFF_NEVER};
    for (uint16_t i = 0; i < st->setup.n_ports; i++) {
        const struct next next = next_of_port(st, i);
        if (next.at < best.at)
            best = next;
    }
    return best;
}

static void send_next(struct station *st, const struct next *next)
{
    struct station_port *p = &st->ports[next->port];
    p->gate_at = next->start;
    expire_gate(&p->gate_cfg, &p->gate, p->gate_at - st->setup.delay);
    if (next->stream) {
        uint8_t octets[STATION_MAX_OCTETS];
        struct stream *s = next->stream;
        const uint32_t length = make_test_frame(st, s, octets);
        give(st, s->in, next->start, octets, length, false);
        s->next_at = next->start + s->every;
        p->last_stream = (uint32_t)(s - st->streams);
        return;
    }
    const struct shot shot = st->shots[next->shot];
    memmove(&st->shots[next->shot], &st->shots[next->shot + 1],
            (--st->n_shots - next->shot) * sizeof shot);
    give(st, shot.port, next->start, shot.octets, shot.length, shot.has_bad_fcs);
}

static void hear(struct station *st, const struct xoff_device_frame *frame)
{
    struct station_port *p = &st->ports[frame->port];
    struct xoff_pause_frame pause;
    struct xoff_err err;
    note_frame(st, frame, true);
    if (p->gate_cfg.wire == XOFF_WIRE_NONE ||
        xoff_pause_frame_decode(frame->octets, frame->length, &pause, &err))
        return;
    const xoff_time heard_at = frame->at + st->setup.delay;
    if (p->gate.n_pending == XOFF_GATE_PENDING) { /* a port that sends nothing for long */
        p->gate_at = heard_at + st->setup.delay;
        expire_gate(&p->gate_cfg, &p->gate, heard_at);
    }
    xoff_gate_on_frame(&p->gate_cfg, &p->gate, &pause, heard_at);
}

void station_run(struct station *st, xoff_time until)
{
    const struct xoff_device *d = st->device;
    for (;;) {
        const struct next next = next_of_all(st);
        const xoff_time to = next.at <= until ? next.at - 1 : until;
        struct xoff_device_frame frame;
        if (d->ops->take(d->state, to, &frame)) {
            st->now = frame.at;
            hear(st, &frame);
            continue;
        }
        st->now = to;
        if (next.at > until)
            break;
        send_next(st, &next);
    }
}

/* Steps */

static void say_hello(struct station *st)
{
    for (uint16_t i = 0; i < st->setup.n_ports; i++) {
        static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        const struct stream hello = {.in = i};
        uint8_t octets[60] = {0};
        struct octets_out out = octets_out(octets, sizeof octets);
        out.at = encode_test_frame(&hello, everybody, octets);
        put32(&out, HELLO_STREAM);
        station_send(st, i, station_quanta(st, 20), octets, sizeof octets);
    }
}

/* A step in which the machine could not keep up says nothing, whatever was seen. */
static void check_lateness(struct station *st)
{
    const struct xoff_device *d = st->device;
    const xoff_time late = st->step && d->ops->late_for ? d->ops->late_for(d->state) : 0;
    char text[96];
    if (late <= d->ops->uncertainty)
        return;
    snprintf(text, sizeof text, "no verdict: frames were %.0f ms late; a lower --rate may help",
             (double)late / (double)XOFF_MS);
    station_leave_out(st, text);
}

bool station_begin(struct station *st, const struct xoff_device_setup *setup)
{
    struct xoff_err err = {0};
    check_lateness(st);
    if (st->is_left_out)
        return false;
    st->setup = *setup;
    st->step++;
    st->now = 0;
    st->n_streams = st->n_shots = st->n_log = 0;
    st->n_bytes = 0;
    for (uint32_t i = 0; i < XOFF_CONFORM_MAX_PORTS; i++) {
        struct station_port *p = &st->ports[i];
        *p = (struct station_port){.free_at = setup->delay};
        xoff_wire_clock_init(&p->clock, st->rate_bps);
        xoff_gate_init(&p->gate);
    }
    if (st->device->ops->reset(st->device->state, setup, &err))
        return station_check(st, false, "the device refuses the set-up: %s %s", err.subject,
                             err.message);
    if (setup->kind == XOFF_DEVICE_BRIDGE)
        say_hello(st);
    return true;
}

void station_obey(struct station *st, uint16_t port)
{
    st->ports[port].gate_cfg = (struct xoff_gate_cfg){.wire = XOFF_WIRE_PFC,
                                                      .obeys = 0xff,
                                                      .response_for = station_limit(st),
                                                      .rate_bps = st->rate_bps};
}

/* Reading */

static bool is_sent(const struct logged *f, uint16_t port, uint8_t priority, xoff_time from,
                    xoff_time to)
{
    return f->is_from_device && f->port == port && is_test_frame(f) && f->priority == priority &&
           f->start >= from && f->start < to;
}

uint32_t station_count(const struct station *st, uint16_t port, uint8_t priority, xoff_time from,
                       xoff_time to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++)
        n += is_sent(&st->log[i], port, priority, from, to);
    return n;
}

uint64_t station_bytes(const struct station *st, uint16_t port, uint8_t priority, xoff_time from,
                       xoff_time to, bool with_overhead)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < st->n_log; i++)
        if (is_sent(&st->log[i], port, priority, from, to))
            bytes += st->log[i].bytes + (with_overhead ? XOFF_OVERHEAD_BYTES : 0);
    return bytes;
}

xoff_time station_first(const struct station *st, uint16_t port, uint8_t priority, xoff_time from)
{
    for (uint32_t i = 0; i < st->n_log; i++)
        if (is_sent(&st->log[i], port, priority, from, XOFF_NEVER))
            return st->log[i].start;
    return XOFF_NEVER;
}

uint32_t station_lost(const struct station *st, const struct stream *stream)
{
    const uint32_t index = (uint32_t)(stream - st->streams);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        n += f->is_from_device && f->stream == index && f->port == stream->out;
    }
    return stream->n_sent - n;
}

bool station_is_pfc(const struct station *st, const struct logged *frame,
                    struct xoff_pause_frame *out)
{
    struct xoff_err err;
    return !xoff_pause_frame_decode(station_octets(st, frame), frame->length, out, &err) &&
           out->opcode == XOFF_OPCODE_PFC;
}

/* Verdicts */

bool station_check(struct station *st, bool holds, const char *text, ...)
{
    if (holds || st->has_failed || st->is_left_out)
        return holds;
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(st->result->observed, sizeof st->result->observed, text, arguments);
    va_end(arguments);
    st->has_failed = true;
    return false;
}

void station_leave_out(struct station *st, const char *why)
{
    if (st->is_left_out)
        return;
    snprintf(st->result->observed, sizeof st->result->observed, "%s", why);
    st->is_left_out = true;
}

void station_note(struct station *st, const char *text, ...)
{
    if (st->has_failed || st->is_left_out)
        return;
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(st->result->observed, sizeof st->result->observed, text, arguments);
    va_end(arguments);
}

void xoff_conform_run(const struct xoff_conform_test *test, const struct xoff_device *device,
                      xoff_rate rate_bps, const struct xoff_conform_witness *witness,
                      struct xoff_conform_result *result)
{
    *result = (struct xoff_conform_result){.test = test};
    const uint16_t max_ports =
        device->ops->max_ports ? device->ops->max_ports : XOFF_CONFORM_MAX_PORTS;
    const char *lacks = test->n_ports > max_ports                    ? "needs %u ports"
                        : test->is_exact && device->ops->uncertainty ? "needs times to the bit"
                        : test->needs_bad_fcs && device->ops->lacks_bad_fcs ? "needs a wrong FCS"
                                                                            : NULL;
    if (lacks) {
        result->verdict = XOFF_SKIP;
        snprintf(result->observed, sizeof result->observed, lacks, test->n_ports);
        return;
    }
    struct station st = {
        .device = device, .witness = witness, .rate_bps = rate_bps, .result = result};
    st.shots = calloc(STATION_MAX_SHOTS, sizeof *st.shots);
    XOFF_ASSERT(st.shots);
    test->run(&st);
    check_lateness(&st);
    result->verdict = st.is_left_out ? XOFF_SKIP : st.has_failed ? XOFF_FAIL : XOFF_PASS;
    free(st.shots);
    free(st.log);
    free(st.bytes);
}
