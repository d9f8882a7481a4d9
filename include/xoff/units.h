/* Quantities with their units as text, and exact wire arithmetic. No stdio, no floating point. */
#ifndef XOFF_UNITS_H
#define XOFF_UNITS_H

#include <stddef.h>

#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each parser takes the whole string: digits, optional fraction, unit, nothing else. They return 0,
 * or -XOFF_E_UNIT (unit wrong or missing), -XOFF_E_TYPE (not a number), -XOFF_E_RANGE (too large to
 * represent, negative, or finer than the base unit). A bare 0 needs no unit.
 *   time    ps ns us ms s         rate    bps kbps Mbps Gbps Tbps
 *   bytes   B KB MB GB (1000) KiB MiB GiB (1024)
 *   length  m km, as mm           count   plain integer, optional k M G suffix (1000) */
int xoff_parse_time(const char *text, xoff_time *out);
int xoff_parse_rate(const char *text, xoff_rate *out);
int xoff_parse_bytes(const char *text, int64_t *out);
int xoff_parse_length(const char *text, int64_t *out_mm);
int xoff_parse_int(const char *text, int64_t *out);
/* Accepts 0.25, 1e-3, 1/8 or 25 %, and rounds the exact value to the nearest double. */
int xoff_parse_real(const char *text, double *out);

/* Each formatter writes the shortest exact text that parses back to the same value ("100Gbps",
 * "1.5us", "16MB") and returns `buf`, which is always NUL-terminated; 32 bytes suffice. */
char *xoff_format_time(char *buf, size_t size, xoff_time t);
char *xoff_format_rate(char *buf, size_t size, xoff_rate r);
char *xoff_format_bytes(char *buf, size_t size, int64_t bytes);
char *xoff_format_int(char *buf, size_t size, int64_t n);
char *xoff_format_real(char *buf, size_t size, double x);

/* Serialisation at a port. `ps_per_byte` is exact for common rates; otherwise it is 0 and the
 * remainder of each division is carried into the next back-to-back frame, never dropped. */
struct xoff_wire_clock {
    xoff_rate rate_bps;
    uint32_t ps_per_byte;
    uint64_t carry; /* remainder in units of 1/rate_bps ps */
};

void xoff_wire_clock_init(struct xoff_wire_clock *clock, xoff_rate rate_bps);

/* A frame of `bytes` (MAC frame with FCS) starts at `start`. *last_bit is when its last bit has
 * left (after preamble and frame), *free_at when the next frame may start (after the gap).
 * `back_to_back`: the frame starts right where the last one ended, so the carry counts. */
static inline void xoff_wire_clock_send(struct xoff_wire_clock *clock, xoff_time start,
                                        uint32_t bytes, bool back_to_back, xoff_time *last_bit,
                                        xoff_time *free_at)
{
    if (clock->ps_per_byte) {
        *last_bit = start + (xoff_time)(bytes + XOFF_PREAMBLE_BYTES) * clock->ps_per_byte;
        *free_at = *last_bit + (xoff_time)XOFF_GAP_BYTES * clock->ps_per_byte;
        return;
    }
    const uint64_t byte_ps = 8 * (uint64_t)XOFF_S;
    const uint64_t carry = back_to_back ? clock->carry : 0;
    const uint64_t whole = (bytes + XOFF_OVERHEAD_BYTES) * byte_ps + carry;
    *last_bit =
        start + (xoff_time)(((bytes + XOFF_PREAMBLE_BYTES) * byte_ps + carry) / clock->rate_bps);
    *free_at = start + (xoff_time)(whole / clock->rate_bps);
    clock->carry = whole % clock->rate_bps;
}

/* Quanta of 512 bit times at a link rate (802.3 31B.2). Rounded up to the picosecond. */
static inline xoff_time xoff_quanta_time(uint32_t quanta, xoff_rate rate_bps)
{
    return xoff_time_of_bits((uint64_t)quanta * 512, rate_bps);
}

/* The longest time, in quanta, from the reception of a pause frame until a transmitter at this link
 * rate starts no further frame (802.3 31B.3.7; values and sources in docs/mechanisms/pfc.md).
 */
uint32_t xoff_response_quanta(xoff_rate rate_bps);

/* Signal speed used for cable lengths: 5 ns per metre. */
#define XOFF_PS_PER_MM 5

#ifdef __cplusplus
}
#endif

#endif
