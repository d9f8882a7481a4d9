/* Bounded reading and writing of octets, big-endian: what every codec stands on.
 *
 * A reader that runs past its end gives zeros and remembers the first field that was cut off, so a
 * decoder reads a whole header and asks once. Offsets count from the start of the frame, also in a
 * reader of a part of it. A writer that is full writes nothing more and says so at the end.
 */
#ifndef WIRE_OCTETS_H
#define WIRE_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xoff/err.h>

struct octets_in {
    const uint8_t *octets; /* the whole frame */
    size_t at, end;
    const char *cut_field; /* NULL: nothing was cut off */
    size_t cut_at;
};

struct octets_out {
    uint8_t *octets;
    size_t at, capacity;
    bool is_full;
};

static inline struct octets_in octets_in(const uint8_t *octets, size_t length)
{
    return (struct octets_in){.octets = octets, .end = length};
}

/* A reader that begins at offset `at` of the frame. */
static inline struct octets_in octets_in_at(const uint8_t *octets, size_t length, size_t at)
{
    return (struct octets_in){.octets = octets, .at = at < length ? at : length, .end = length};
}

static inline struct octets_out octets_out(uint8_t *octets, size_t capacity)
{
    return (struct octets_out){.octets = octets, .capacity = capacity};
}

static inline size_t octets_left(const struct octets_in *in)
{
    return in->end - in->at;
}

/* The next `n` octets, or NULL where fewer are left: the reader then stands at its end. */
static inline const uint8_t *get_octets(struct octets_in *in, size_t n, const char *field)
{
    if (n > in->end - in->at) {
        if (!in->cut_field) {
            in->cut_field = field;
            in->cut_at = in->at;
        }
        in->at = in->end;
        return NULL;
    }
    const uint8_t *octets = in->octets + in->at;
    in->at += n;
    return octets;
}

static inline uint64_t get_number(struct octets_in *in, size_t n, const char *field)
{
    const uint8_t *octets = get_octets(in, n, field);
    uint64_t value = 0;
    for (size_t i = 0; octets && i < n; i++)
        value = value << 8 | octets[i];
    return value;
}

static inline uint8_t get8(struct octets_in *in, const char *field)
{
    return (uint8_t)get_number(in, 1, field);
}

static inline uint16_t get16(struct octets_in *in, const char *field)
{
    return (uint16_t)get_number(in, 2, field);
}

static inline uint32_t get24(struct octets_in *in, const char *field)
{
    return (uint32_t)get_number(in, 3, field);
}

static inline uint32_t get32(struct octets_in *in, const char *field)
{
    return (uint32_t)get_number(in, 4, field);
}

static inline uint64_t get64(struct octets_in *in, const char *field)
{
    return get_number(in, 8, field);
}

/* Copies the next `n` octets; of a field that is cut off, nothing. */
static inline void get_copy(struct octets_in *in, uint8_t *to, size_t n, const char *field)
{
    const uint8_t *octets = get_octets(in, n, field);
    if (octets)
        memcpy(to, octets, n);
}

/* A reader of the next `n` octets, which `in` skips: the value of a TLV, the payload of a header.
 * Where fewer are left it has those, and `in` remembers the cut. */
static inline struct octets_in get_part(struct octets_in *in, size_t n, const char *field)
{
    struct octets_in part = *in;
    part.cut_field = NULL;
    if (get_octets(in, n, field))
        part.end = part.at + n;
    return part;
}

static inline void put_octets(struct octets_out *out, const void *octets, size_t n)
{
    if (n > out->capacity - out->at) {
        out->is_full = true;
        return;
    }
    memcpy(out->octets + out->at, octets, n);
    out->at += n;
}

static inline void put_number(struct octets_out *out, uint64_t value, size_t n)
{
    uint8_t octets[8];
    for (size_t i = 0; i < n; i++)
        octets[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
    put_octets(out, octets, n);
}

static inline void put8(struct octets_out *out, unsigned value)
{
    put_number(out, value, 1);
}

static inline void put16(struct octets_out *out, unsigned value)
{
    put_number(out, value, 2);
}

static inline void put24(struct octets_out *out, uint32_t value)
{
    put_number(out, value, 3);
}

static inline void put32(struct octets_out *out, uint32_t value)
{
    put_number(out, value, 4);
}

static inline void put64(struct octets_out *out, uint64_t value)
{
    put_number(out, value, 8);
}

static inline void put_zeros(struct octets_out *out, size_t n)
{
    if (n > out->capacity - out->at) {
        out->is_full = true;
        return;
    }
    memset(out->octets + out->at, 0, n);
    out->at += n;
}

/* Octets written; 0 where there was no room for all. */
static inline size_t octets_written(const struct octets_out *out)
{
    return out->is_full ? 0 : out->at;
}

/* Fills `err`: `field`, the first of the `n` octets at offset `at` as aa-bb-cc, and "octets 12 and
 * 13: <message>". Returns the negative code. */
int xoff_octets_refuse(struct xoff_err *err, enum xoff_err_code code, const char *field,
                       const uint8_t *frame, size_t at, size_t n, const char *message);
/* The error of a reader that was cut off: which field, and where the frame ends. */
int xoff_octets_refuse_cut(struct xoff_err *err, const struct octets_in *in);

#endif
