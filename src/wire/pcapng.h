/* Blocks of a pcapng file (draft-ietf-opsawg-pcapng), written into a caller's buffer.
 *
 * A file is one section with one interface, its packets in order of time, and its counters at the
 * end. Every call appends one whole block; when there is no room for it the call appends nothing
 * and returns false. Times are nanoseconds, numbers little-endian on every machine.
 */
#ifndef WIRE_PCAPNG_H
#define WIRE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAPNG_MAX_TEXT 1024 /* of one option; the rest of a text is cut off */
/* Enough room for any block that contains `n` octets of a packet. */
#define PCAPNG_BLOCK_BYTES(n) ((n) + 2 * PCAPNG_MAX_TEXT + 128)

struct pcapng {
    uint8_t *buf;
    size_t capacity, length;
};

struct pcapng_interface {
    const char *name, *description;
    uint64_t speed_bps;
    uint32_t snap_bytes; /* octets kept of each packet; 0: all */
    uint8_t fcs_bytes;   /* at the end of each packet */
};

enum pcapng_direction { PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

struct pcapng_packet {
    uint64_t at_ns;
    const uint8_t *octets;
    uint32_t captured_bytes, original_bytes;
    enum pcapng_direction direction;
    uint8_t fcs_bytes;
    bool has_crc_error;
    const char *comment; /* NULL: none */
};

struct pcapng_counts {
    uint64_t at_ns; /* when they were read */
    uint64_t received_frames, dropped_frames;
};

/* A text that is NULL is left out. */
bool xoff_pcapng_section(struct pcapng *out, const char *application, const char *comment);
bool xoff_pcapng_interface(struct pcapng *out, const struct pcapng_interface *about);
/* Where the octets of the next packet will lie. Octets that the caller writes there are not copied.
 */
uint8_t *xoff_pcapng_packet_place(const struct pcapng *out);
bool xoff_pcapng_packet(struct pcapng *out, const struct pcapng_packet *packet);
bool xoff_pcapng_counts(struct pcapng *out, const struct pcapng_counts *counts);

#endif
