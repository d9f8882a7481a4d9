/* A frame that is written to a capture, as often as wanted. */
#include <string.h>

#include "cli/cli.h"
#include "cli/encode.h"
#include "stats/whole.h"
#include "wire/pcapng.h"

static void put_numbers(FILE *out, const uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            fputc((int)(numbers[i] >> 8 * k & 255), out);
}

/* Classic pcap with nanoseconds, little-endian. */
static void write_pcap(FILE *out, const void *context)
{
    const struct encode_capture *c = context;
    const uint32_t fcs = c->has_fcs ? 1u << 26 | 2u << 28 : 0; /* in units of two octets */
    const uint32_t head[] = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 262144, 1 | fcs};
    put_numbers(out, head, 6);
    for (uint64_t i = 0; i < c->count && !ferror(out); i++) {
        const uint64_t at_ns = i * (uint64_t)c->interval / XOFF_NS;
        const uint32_t record[] = {(uint32_t)(at_ns / 1000000000), (uint32_t)(at_ns % 1000000000),
                                   c->n, c->n};
        put_numbers(out, record, 4);
        fwrite(c->octets, 1, c->n, out);
    }
}

static void write_pcapng(FILE *out, const void *context)
{
    const struct encode_capture *c = context;
    static uint8_t buf[PCAPNG_BLOCK_BYTES(ENCODE_MAX_OCTETS)];
    const uint8_t fcs_bytes = c->has_fcs ? XOFF_ETH_FCS_OCTETS : 0;
    struct pcapng blocks = {.buf = buf, .capacity = sizeof buf};
    XOFF_ASSERT(xoff_pcapng_section(&blocks, "xoff " XOFF_VERSION, NULL));
    XOFF_ASSERT(xoff_pcapng_interface(
        &blocks, &(struct pcapng_interface){.name = "xoff encode", .fcs_bytes = fcs_bytes}));
    for (uint64_t i = 0; i < c->count && !ferror(out); i++) {
        const struct pcapng_packet packet = {.at_ns = i * (uint64_t)c->interval / XOFF_NS,
                                             .octets = c->octets,
                                             .captured_bytes = c->n,
                                             .original_bytes = c->n,
                                             .fcs_bytes = fcs_bytes};
        fwrite(buf, 1, blocks.length, out);
        blocks.length = 0;
        XOFF_ASSERT(xoff_pcapng_packet(&blocks, &packet));
    }
    fwrite(buf, 1, blocks.length, out);
}

static bool is_pcapng(const char *path)
{
    const size_t n = strlen(path);
    return n >= 7 && !strcmp(path + n - 7, ".pcapng");
}

int encode_write_capture(const char *path, const struct encode_capture *capture)
{
    const int reason = whole_write(path, is_pcapng(path) ? write_pcapng : write_pcap, capture);
    if (!reason)
        return EXIT_FINE;
    struct xoff_err err = {0};
    cli_cannot_write(path, reason, &err);
    cli_print_error(&err);
    return EXIT_FAILED;
}
