/* Conformance tests: the device under test, as the test station sees it.
 *
 * A device takes frames and gives frames, each at a time. Whoever fills in struct xoff_device_ops
 * can have an own implementation tested: link it with libxoff_conform and call xoff_conform_run().
 *
 * Times are picoseconds from the last reset(). The time of a frame is when its last bit passes the
 * connector of the device, in either direction; the cable lies on the station's side of it.
 */
#ifndef XOFF_CONFORM_H
#define XOFF_CONFORM_H

#include <stddef.h>

#include <xoff/err.h>
#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_CONFORM_MAX_PORTS 9

struct xoff_device_frame {
    xoff_time at;
    uint16_t port;
    bool has_bad_fcs; /* given frames alone: the device's MAC finds the FCS wrong */
    uint32_t length;  /* octets from the destination address to the last one before the FCS */
    const uint8_t *octets;
};

enum xoff_device_kind {
    XOFF_DEVICE_BRIDGE,
    XOFF_DEVICE_STATION, /* an end station: one port, sources of its own */
};

/* How a port stands at the edge of a congestion notification domain (802.1Q 32.1). */
enum xoff_device_defence {
    XOFF_DEVICE_CN_DISABLED,
    XOFF_DEVICE_CN_EDGE,
    XOFF_DEVICE_CN_INTERIOR,
    XOFF_DEVICE_CN_INTERIOR_READY,
};

/* What a test has its operator configure before it begins. Fields of a protocol that the device
 * lacks may be ignored: its tests fail then. */
struct xoff_device_setup {
    enum xoff_device_kind kind;
    uint16_t n_ports;
    xoff_rate rate_bps;       /* of every port */
    xoff_time delay;          /* of every cable, one way, that headroom is to cover */
    uint32_t max_frame_bytes; /* with tags and FCS */
    /* PFC and ETS, by priority. Every priority is a traffic class. */
    uint8_t pfc;        /* bit n: PFC is enabled for priority n */
    uint8_t strict;     /* bit n: priority n is served before the others, the highest first */
    uint8_t percent[8]; /* of what strict priorities leave; 0: carries nothing worth mentioning */
    /* Congestion notification: priorities that have it, the mode of each port for them, and the
     * priority that replaces theirs where a port is at the edge. */
    uint8_t cn;
    enum xoff_device_defence defence[XOFF_CONFORM_MAX_PORTS];
    uint8_t cn_alternate;
    uint8_t cn_min_header; /* octets of the sampled frame in a notification (cpMinHeaderOctets) */
    /* DCBX: the local, administered parameters of every port. */
    bool has_dcbx;
    bool pfc_willing, ets_willing;
    int8_t fcoe_priority; /* of the application FCoE; below 0: no application */
    uint8_t dcbx_mac[6];  /* of port 0, the others count on; it decides ties */
    /* An end station sends full frames of these priorities to station_mac, as fast as it may, and
     * sends every test frame that it receives back to its source. */
    uint8_t sources;
    uint32_t source_bytes; /* of each frame, with FCS */
    uint8_t station_mac[6];
};

struct xoff_device_ops {
    const char *name, *summary;
    /* Forgets everything and starts anew at time 0 with this configuration. */
    int (*reset)(void *device, const struct xoff_device_setup *setup, struct xoff_err *err);
    /* A frame will have arrived at frame->at, which is not before the `until` of any take(). Frames
     * are given in order of time. The octets stay the caller's. */
    void (*give)(void *device, const struct xoff_device_frame *frame);
    /* Lets time pass until the device has sent a frame, or to `until` if it sends none by then.
     * Returns whether there was one. Frames come in order of time; the octets stay the device's and
     * hold until the next call. */
    bool (*take)(void *device, xoff_time until, struct xoff_device_frame *frame);
    /* Frees it. NULL: there is nothing to free. */
    void (*destroy)(void *device);
    /* By how much frames were late at most since the last reset, for devices in real time. A test
     * in which that exceeds `uncertainty` has no verdict. NULL: they never are. */
    xoff_time (*late_for)(void *device);
    /* How exact its times are. Tests that need more are left out. 0: to the picosecond. */
    xoff_time uncertainty;
    uint16_t max_ports; /* tests that need more are left out; 0: XOFF_CONFORM_MAX_PORTS */
    bool lacks_bad_fcs; /* no frame with a wrong FCS can be given */
};

struct xoff_device {
    const struct xoff_device_ops *ops;
    void *state;
};

enum xoff_verdict { XOFF_PASS, XOFF_FAIL, XOFF_SKIP };

struct station;

/* A test. `suite` is pfc, ets, cn or dcbx. */
struct xoff_conform_test {
    const char *id, *suite, *title, *purpose, *procedure;
    void (*run)(struct station *station);
    uint16_t n_ports; /* that the test needs */
    bool needs_bad_fcs;
    bool is_exact; /* needs times to the bit */
};

struct xoff_conform_result {
    const struct xoff_conform_test *test;
    enum xoff_verdict verdict;
    char observed[160]; /* what was seen, in a sentence */
    uint64_t n_frames;  /* exchanged */
};

/* Receives the frames exchanged, in order of time. Every reset() of the device begins a new step;
 * times start at 0 with each. NULL: nobody wants them. */
struct xoff_conform_witness {
    void *context;
    void (*frame)(void *context, uint32_t step, const struct xoff_device_frame *frame,
                  bool is_from_device);
};

/* All tests, in order: `index` is below the count. */
uint32_t xoff_conform_count(void);
const struct xoff_conform_test *xoff_conform_test(uint32_t index);

void xoff_conform_run(const struct xoff_conform_test *test, const struct xoff_device *device,
                      xoff_rate rate_bps, const struct xoff_conform_witness *witness,
                      struct xoff_conform_result *result);

/* The devices that come with it: the reference, a bridge or an end station made of libxoff's
 * mechanisms, and variants of it with one fault each. The array ends with a name of NULL. */
struct xoff_conform_model {
    const char *name, *summary;
    const char *fails; /* ids of the tests that find the fault, separated by spaces */
};
extern const struct xoff_conform_model xoff_conform_models[];
/* NULL: no model has that name, or there is no memory. */
struct xoff_device *xoff_conform_model_create(const char *name);
void xoff_conform_destroy(struct xoff_device *device);

#ifdef __cplusplus
}
#endif

#endif
