/* In-band telemetry (INT): the records that each switch on the way writes into a data frame and
 * that the receiver sends back with the ACK. HPCC (Li et al., 2019) 4.1 and PowerTCP (Addanki et
 * al., 2022) read them.
 *
 * A hop takes 12 bytes here: time in whole nanoseconds and bytes sent as counters that wrap (after
 * 4.3 s and 4.3 GB: a sender sees an ACK more often, or starts anew), the queue in units of 64 B up
 * to 67 MB, the rate as m * 10^e with m below 256, which is exact for every Ethernet rate.
 */
#ifndef XOFF_TELEMETRY_H
#define XOFF_TELEMETRY_H

#include <stdbool.h>

#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_INT_HOPS 5        /* a fat-tree has five switches between two hosts at most */
#define XOFF_INT_WIRE_BYTES 42 /* size of HPCC's header in every frame: 5 * 8 + 2 */
#define XOFF_INT_QUEUE_UNIT 64

struct xoff_int_hop {
    uint32_t at_ns;
    uint32_t tx_bytes; /* sent by the port, this frame not yet included */
    uint32_t packed;   /* from the top: queue in units, 20 bits; m, 8 bits; e, 4 bits */
};

struct xoff_int {
    struct xoff_int_hop hop[XOFF_INT_HOPS];
    uint32_t n; /* hops written; a switch beyond the last place writes nothing */
};

/* A hop unpacked. */
struct xoff_int_view {
    uint32_t at_ns, tx_bytes;
    int64_t queue_bytes;
    xoff_rate rate_bps;
};

struct xoff_int_hop xoff_int_pack(const struct xoff_int_view *view);
struct xoff_int_view xoff_int_unpack(const struct xoff_int_hop *hop);

/* The change at a hop between two of its records. */
struct xoff_int_change {
    uint32_t span_ns, tx_bytes;
    int64_t queue_bytes, earlier_queue_bytes;
    xoff_rate rate_bps;
};

/* Whether two records of a flow can be compared: neither is empty, they have the same hops with the
 * same rates, and `gap`, the time between the ACKs that brought them, is too short for a counter to
 * wrap. */
bool xoff_int_is_comparable(const struct xoff_int *earlier, const struct xoff_int *later,
                            xoff_time gap);

/* Fills *out with the change from `earlier` to `later`. Returns false and leaves *out alone when
 * `later` is not newer (a frame was echoed again, or ACKs overtook each other). */
bool xoff_int_measure(const struct xoff_int_hop *earlier, const struct xoff_int_hop *later,
                      struct xoff_int_change *out);

#ifdef __cplusplus
}
#endif

#endif
