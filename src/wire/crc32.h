/* CRC-32 as Ethernet's FCS and RoCE's invariant CRC use it, in steps over parts of a frame. */
#ifndef WIRE_CRC32_H
#define WIRE_CRC32_H

#include <stddef.h>
#include <stdint.h>

#define CRC32_START 0xffffffffu

/* The tables of `octet` are made once, those of `nibble` for the last run of zeros: most frames
 * have as many zeros as the frame before. */
struct crc32 {
    uint32_t octet[8][256];
    uint32_t zeros; /* length in octets of the run that `nibble` is for */
    uint32_t nibble[8][16];
};

void xoff_crc32_init(struct crc32 *crc32);
/* The register after `n` more octets. */
uint32_t xoff_crc32_octets(const struct crc32 *crc32, uint32_t crc, const uint8_t *octets,
                           size_t n);
/* The register after `n` more octets of zero, in a time that hardly depends on n. */
uint32_t xoff_crc32_zeros(struct crc32 *crc32, uint32_t crc, uint32_t n);
/* Ends the calculation and writes the four octets as they go onto the wire. */
void xoff_crc32_put(uint32_t crc, uint8_t octets[4]);

#endif
