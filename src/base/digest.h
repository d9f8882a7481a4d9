/* A 64-bit running digest of results. It tells two runs apart; it does not protect against
 * deliberate collisions.
 *
 * Each value is xored into the state, which then goes through the splitmix64 finaliser (rng.h) with
 * its increment. The finaliser is a bijection, so two runs that differ in one value always differ
 * in the digest; other runs agree by chance once in 2^64. The order of the values counts.
 *
 * Bytes are taken eight at a time, low byte first on every machine. The last word is padded with
 * zeros and followed by the number of bytes: "a" then "b" is not "ab".
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <xoff/rng.h>

struct digest {
    uint64_t state;
};

static inline void digest_init(struct digest *d)
{
    d->state = 0;
}

static inline void digest_u64(struct digest *d, uint64_t v)
{
    d->state = xoff_mix64((d->state ^ v) + UINT64_C(0x9e3779b97f4a7c15));
}

static inline void digest_bytes(struct digest *d, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t done = 0; done < n; done += 8) {
        const size_t n_left = n - done < 8 ? n - done : 8;
        uint64_t word = 0;
        for (size_t i = 0; i < n_left; i++)
            word |= (uint64_t)p[done + i] << (8 * i);
        digest_u64(d, word);
    }
    digest_u64(d, n);
}

/* 16 hexadecimal digits, highest first, and a NUL. */
static inline void digest_hex(const struct digest *d, char text[17])
{
    for (int i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[d->state >> (60 - 4 * i) & 15];
    text[16] = '\0';
}

#endif
