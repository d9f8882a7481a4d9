/* Blocks of a pcapng file.
 *
 * Source: draft-ietf-opsawg-pcapng, sections 3 and 4. A block is
 *
 *   type 4, length 4, body, length 4 again
 *
 * in whole words; the length counts all of it. Options are code 2, length 2, value padded to a
 * word; the list ends with code 0.
 *
 * Writing a block needs no check for room at each step: `reach` counts where the end would be,
 * put() stores nothing beyond the buffer, and end() refuses a block that went too far.
 */
#include "wire/pcapng.h"

#include <string.h>

enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_COUNTS = 5,
    BLOCK_PACKET = 6,
};

enum {
    OPTION_END = 0,
    OPTION_COMMENT = 1,
    SECTION_APPLICATION = 4,
    INTERFACE_NAME = 2,
    INTERFACE_DESCRIPTION = 3,
    INTERFACE_SPEED = 8,
    INTERFACE_RESOLUTION = 9,
    INTERFACE_FCS = 13,
    PACKET_FLAGS = 2,
    COUNTS_RECEIVED = 4,
    COUNTS_DROPPED = 5,
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_ETHERNET 1
#define NANOSECONDS 9 /* 10^-9 */
#define FLAG_FCS_SHIFT 5
#define PACKET_HEAD_BYTES 28 /* type, length, interface, time, two lengths */
#define FLAG_CRC_ERROR (1u << 24)

/* A block being written. */
struct block {
    struct pcapng *out;
    size_t reach; /* from the start of the buffer */
};

static inline __attribute__((always_inline)) void put(struct block *b, const void *octets, size_t n)
{
    uint8_t *to = b->out->buf + b->reach;
    if (n && b->reach + n <= b->out->capacity && to != octets)
        memcpy(to, octets, n);
    b->reach += n;
}

static inline __attribute__((always_inline)) void put_number(struct block *b, uint64_t value,
                                                             uint32_t n)
{
    uint8_t octets[8];
    for (uint32_t i = 0; i < n; i++)
        octets[i] = (uint8_t)(value >> (8 * i));
    put(b, octets, n);
}

static void pad(struct block *b, size_t n)
{
    static const uint8_t zeros[3];
    put(b, zeros, (4 - n % 4) % 4);
}

static struct block begin(struct pcapng *out, uint32_t type)
{
    struct block b = {.out = out, .reach = out->length};
    put_number(&b, type, 4);
    put_number(&b, 0, 4); /* length, filled in at the end */
    return b;
}

static bool end(struct block *b)
{
    struct pcapng *out = b->out;
    const size_t length = b->reach + 4 - out->length;
    put_number(b, length, 4);
    if (b->reach > out->capacity)
        return false;
    struct block head = {.out = out, .reach = out->length + 4};
    put_number(&head, length, 4);
    out->length = b->reach;
    return true;
}

static inline __attribute__((always_inline)) void put_option(struct block *b, uint32_t code,
                                                             uint64_t value, uint32_t n)
{
    put_number(b, code, 2);
    put_number(b, n, 2);
    put_number(b, value, n);
    pad(b, n);
}

/* The text is cut to what one option takes, but not within a character of UTF-8. */
static void put_text(struct block *b, uint32_t code, const char *text)
{
    if (!text)
        return;
    size_t n = strlen(text);
    if (n > PCAPNG_MAX_TEXT) {
        n = PCAPNG_MAX_TEXT;
        while (n && ((uint8_t)text[n] & 0xc0) == 0x80)
            n--;
    }
    put_number(b, code, 2);
    put_number(b, n, 2);
    put(b, text, n);
    pad(b, n);
}

/* Time in two halves, the upper one first. */
static void put_time(struct block *b, uint64_t at_ns)
{
    put_number(b, at_ns >> 32, 4);
    put_number(b, at_ns & UINT32_MAX, 4);
}

bool xoff_pcapng_section(struct pcapng *out, const char *application, const char *comment)
{
    struct block b = begin(out, BLOCK_SECTION);
    put_number(&b, BYTE_ORDER_MAGIC, 4);
    put_number(&b, 1, 2); /* version 1.0 */
    put_number(&b, 0, 2);
    put_number(&b, UINT64_MAX, 8); /* length of the section: not said */
    put_text(&b, OPTION_COMMENT, comment);
    put_text(&b, SECTION_APPLICATION, application);
    put_option(&b, OPTION_END, 0, 0);
    return end(&b);
}

bool xoff_pcapng_interface(struct pcapng *out, const struct pcapng_interface *about)
{
    struct block b = begin(out, BLOCK_INTERFACE);
    put_number(&b, LINKTYPE_ETHERNET, 2);
    put_number(&b, 0, 2);
    put_number(&b, about->snap_bytes, 4);
    put_text(&b, INTERFACE_NAME, about->name);
    put_text(&b, INTERFACE_DESCRIPTION, about->description);
    put_option(&b, INTERFACE_SPEED, about->speed_bps, 8);
    put_option(&b, INTERFACE_RESOLUTION, NANOSECONDS, 1);
    put_option(&b, INTERFACE_FCS, about->fcs_bytes, 1);
    put_option(&b, OPTION_END, 0, 0);
    return end(&b);
}

uint8_t *xoff_pcapng_packet_place(const struct pcapng *out)
{
    return out->buf + out->length + PACKET_HEAD_BYTES;
}

bool xoff_pcapng_packet(struct pcapng *out, const struct pcapng_packet *packet)
{
    struct block b = begin(out, BLOCK_PACKET);
    put_number(&b, 0, 4); /* interface */
    put_time(&b, packet->at_ns);
    put_number(&b, packet->captured_bytes, 4);
    put_number(&b, packet->original_bytes, 4);
    put(&b, packet->octets, packet->captured_bytes);
    pad(&b, packet->captured_bytes);
    put_text(&b, OPTION_COMMENT, packet->comment);
    put_option(&b, PACKET_FLAGS,
               (uint32_t)packet->direction | (uint32_t)packet->fcs_bytes << FLAG_FCS_SHIFT |
                   (packet->has_crc_error ? FLAG_CRC_ERROR : 0),
               4);
    put_option(&b, OPTION_END, 0, 0);
    return end(&b);
}

bool xoff_pcapng_counts(struct pcapng *out, const struct pcapng_counts *counts)
{
    struct block b = begin(out, BLOCK_COUNTS);
    put_number(&b, 0, 4); /* interface */
    put_time(&b, counts->at_ns);
    put_option(&b, COUNTS_RECEIVED, counts->received_frames, 8);
    put_option(&b, COUNTS_DROPPED, counts->dropped_frames, 8);
    put_option(&b, OPTION_END, 0, 0);
    return end(&b);
}
