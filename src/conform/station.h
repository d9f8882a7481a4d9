/* The test station: sends frames to a device at exact times, obeys its pauses, and keeps a log of
 * all that crosses the device's ports.
 *
 * Traffic comes from streams, each of which sends numbered frames by one port of the station,
 * addressed to another, and from single frames that the test times itself (station_send). A port
 * whose pauses the station obeys takes the whole response time that 802.3 grants: the worst case
 * for the device.
 */
#ifndef CONFORM_STATION_H
#define CONFORM_STATION_H

#include <xoff/conform.h>
#include <xoff/gate.h>
#include <xoff/pfc_frame.h>
#include <xoff/units.h>

#define STATION_MAX_STREAMS 32
#define STATION_MAX_SHOTS 64
#define STATION_MAX_OCTETS 2048
#define STATION_KEPT_OCTETS 160  /* of test frames in the log; control frames are kept whole */
#define STATION_ETHERTYPE 0x88b5 /* local experimental: the payload of test frames */
#define STATION_NO_STREAM UINT32_MAX

/* One frame in the log. `start` is when its first bit (of the preamble) passed the connector. */
struct logged {
    xoff_time start, at;
    uint16_t port;
    bool is_from_device;
    bool is_tagged;     /* with a VLAN tag, whose priority this is */
    uint8_t priority;   /* 0 without a tag */
    uint16_t ethertype; /* behind VLAN tag and CN-TAG */
    bool has_cn_tag;
    uint16_t flow;   /* of the CN-TAG */
    uint32_t bytes;  /* with FCS */
    uint32_t stream; /* of a test frame; STATION_NO_STREAM: it is none */
    uint32_t seq;
    uint32_t length; /* octets kept */
    size_t octets;   /* their place in the log's bytes */
};

struct stream {
    uint16_t in, out; /* ports of the station: where it is sent, where it is to come out */
    uint8_t priority;
    bool has_cn_tag;
    uint16_t flow;
    uint32_t bytes;     /* of each frame, with tags and FCS */
    xoff_time from, to; /* frames begin in [from, to) */
    xoff_time every;    /* 0: back to back */
    uint32_t n_sent;    /* also the number of the next frame */
    xoff_time next_at;
};

struct shot {
    xoff_time at; /* when its last bit arrives, at the earliest */
    uint16_t port;
    bool has_bad_fcs;
    uint32_t length;
    uint8_t octets[STATION_MAX_OCTETS];
};

struct station_port {
    xoff_time free_at; /* at the device's end of the cable */
    struct xoff_wire_clock clock;
    struct xoff_gate gate;
    struct xoff_gate_cfg gate_cfg;
    xoff_time gate_at;    /* up to which the gate has been brought, at the device's end */
    uint32_t last_stream; /* turns go round */
};

struct station {
    const struct xoff_device *device;
    const struct xoff_conform_witness *witness;
    xoff_rate rate_bps;
    struct xoff_device_setup setup; /* of this step */
    xoff_time now;
    uint32_t step;
    struct station_port ports[XOFF_CONFORM_MAX_PORTS];
    struct stream streams[STATION_MAX_STREAMS];
    uint32_t n_streams;
    struct shot *shots; /* in order of time */
    uint32_t n_shots;
    struct logged *log;
    uint32_t n_log, log_capacity;
    uint8_t *bytes;
    size_t n_bytes, bytes_capacity;
    bool has_failed, is_left_out;
    struct xoff_conform_result *result;
};

/* The station's own address at a port, and that of a second station there. */
void station_mac(uint32_t port, uint8_t mac[6]);

/* A bridge of `n_ports` ports at the rate of the run with 100 m of cable, without PFC, all
 * priorities of equal weight. */
struct xoff_device_setup station_setup(const struct station *st, uint16_t n_ports);

/* These priorities share the line in equal parts; the others have no share. */
void station_share(struct xoff_device_setup *setup, uint8_t priorities);

/* Configures the device anew and lets it learn the addresses of all ports. The log is emptied.
 * Returns false, and the test has failed, if the device refuses. */
bool station_begin(struct station *st, const struct xoff_device_setup *setup);
/* The station heeds pauses that the device sends by this port. */
void station_obey(struct station *st, uint16_t port);

/* When all addresses are known: 200 quanta after the start. */
static inline xoff_time station_learnt(const struct station *st)
{
    return xoff_quanta_time(200, st->rate_bps);
}

/* Adds a stream and returns it, for fields that differ. It begins once the device has learnt all
 * addresses and does not end. */
struct stream *station_stream(struct station *st, uint16_t in, uint16_t out, uint8_t priority,
                              uint32_t bytes);
/* Sends one frame whose last bit arrives at `at`, or as soon after that as the wire allows. */
struct shot *station_send(struct station *st, uint16_t port, xoff_time at, const uint8_t *octets,
                          uint32_t length);
/* Sends a PFC frame with these quanta for the priorities of `classes`. */
struct shot *station_pause(struct station *st, uint16_t port, xoff_time at, uint8_t classes,
                           uint16_t quanta);

void station_run(struct station *st, xoff_time until);

/* Reading the log. */

static inline const uint8_t *station_octets(const struct station *st, const struct logged *frame)
{
    return st->bytes + frame->octets;
}

static inline bool is_test_frame(const struct logged *f)
{
    return f->stream != STATION_NO_STREAM;
}

/* Test frames of a priority that the device began to send in [from, to). */
uint32_t station_count(const struct station *st, uint16_t port, uint8_t priority, xoff_time from,
                       xoff_time to);
/* The same in bytes, of frames or with what they take of the wire beside. */
uint64_t station_bytes(const struct station *st, uint16_t port, uint8_t priority, xoff_time from,
                       xoff_time to, bool with_overhead);
/* When the first of them began at or after `from`; XOFF_NEVER: none did. */
xoff_time station_first(const struct station *st, uint16_t port, uint8_t priority, xoff_time from);
/* Frames of a stream that were sent to the device and never came out of its port. */
uint32_t station_lost(const struct station *st, const struct stream *stream);
/* Reads a logged frame as PFC; false: it is none, or malformed. */
bool station_is_pfc(const struct station *st, const struct logged *frame,
                    struct xoff_pause_frame *out);

xoff_time station_bits(const struct station *st, uint64_t bits);
static inline xoff_time station_quanta(const struct station *st, uint32_t quanta)
{
    return xoff_quanta_time(quanta, st->rate_bps);
}
/* The longest time from the reception of a pause frame to its effect. */
static inline xoff_time station_limit(const struct station *st)
{
    return station_quanta(st, xoff_response_quanta(st->rate_bps));
}

/* Verdicts. The first thing that is wrong is what the result tells. */
__attribute__((format(printf, 3, 4))) bool station_check(struct station *st, bool holds,
                                                         const char *text, ...);
/* What the result tells if nothing is wrong. */
__attribute__((format(printf, 2, 3))) void station_note(struct station *st, const char *text, ...);

/* The test says nothing under these circumstances. */
void station_leave_out(struct station *st, const char *why);

#endif
