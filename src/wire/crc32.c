/* CRC-32 of IEEE 802.3, 3.2.9: polynomial 0x04c11db7, octets least significant bit first.
 *
 * The register advances eight octets per step: octet[k] is what an octet with k more behind it adds
 * to the register. The payload of a simulated frame is zeros, hundreds of them in a row; n octets
 * of zero multiply the register by x^(8n) modulo the polynomial. The product is linear in the
 * register, so it is looked up by the register's nibbles in tables made for that n. Registers are
 * reflected: x^0 is the top bit.
 */
#include "wire/crc32.h"

#define POLYNOMIAL 0xedb88320u

/* a * x modulo the polynomial. */
static uint32_t next_power(uint32_t a)
{
    return (a >> 1) ^ (a & 1 ? POLYNOMIAL : 0);
}

static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t k = 32; k-- > 0; b = next_power(b))
        product ^= a >> k & 1 ? b : 0;
    return product;
}

void xoff_crc32_init(struct crc32 *crc32)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (uint32_t bit = 0; bit < 8; bit++)
            crc = next_power(crc);
        crc32->octet[0][i] = crc;
    }
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++) {
            const uint32_t crc = crc32->octet[k - 1][i];
            crc32->octet[k][i] = crc32->octet[0][crc & 0xff] ^ (crc >> 8);
        }
    crc32->zeros = 0;
}

uint32_t xoff_crc32_octets(const struct crc32 *crc32, uint32_t crc, const uint8_t *octets, size_t n)
{
    for (; n >= 8; n -= 8, octets += 8) {
        crc ^= (uint32_t)octets[0] | (uint32_t)octets[1] << 8 | (uint32_t)octets[2] << 16 |
               (uint32_t)octets[3] << 24;
        crc = crc32->octet[7][crc & 0xff] ^ crc32->octet[6][crc >> 8 & 0xff] ^
              crc32->octet[5][crc >> 16 & 0xff] ^ crc32->octet[4][crc >> 24] ^
              crc32->octet[3][octets[4]] ^ crc32->octet[2][octets[5]] ^ crc32->octet[1][octets[6]] ^
              crc32->octet[0][octets[7]];
    }
    for (; n; n--)
        crc = crc32->octet[0][(crc ^ *octets++) & 0xff] ^ (crc >> 8);
    return crc;
}

static void prepare(struct crc32 *crc32, uint32_t n)
{
    uint32_t power = 1u << 31, square = 1u << 23; /* x^0, x^8 */
    for (uint32_t left = n; left; left >>= 1, square = times(square, square))
        if (left & 1)
            power = times(power, square);
    for (uint32_t k = 8; k-- > 0;)
        for (uint32_t bit = 8; bit; bit >>= 1, power = next_power(power)) {
            crc32->nibble[k][0] = 0;
            for (uint32_t i = bit; i < 16; i = (i + 1) | bit)
                crc32->nibble[k][i] = crc32->nibble[k][i & ~bit] ^ power;
        }
    crc32->zeros = n;
}

uint32_t xoff_crc32_zeros(struct crc32 *crc32, uint32_t crc, uint32_t n)
{
    if (!n)
        return crc;
    if (n != crc32->zeros)
        prepare(crc32, n);
    uint32_t product = 0;
    for (uint32_t k = 0; k < 8; k++)
        product ^= crc32->nibble[k][crc >> (4 * k) & 15];
    return product;
}

void xoff_crc32_put(uint32_t crc, uint8_t octets[4])
{
    for (uint32_t i = 0; i < 4; i++)
        octets[i] = (uint8_t)(~crc >> (8 * i));
}
