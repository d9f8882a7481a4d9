/* Writes random frames, made by the encoders of src/wire, and what tshark must say of each.
 *
 *   random_frames SEED COUNT CAPTURE.pcapng TRUTH
 *
 * Line n of TRUTH is about frame n: the maker's name, then name=value for each field, with tabs
 * between them. tests/oracle/encode_test.py compares.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/err.h>

#include "oracle/random_frames.h"
#include "wire/pcapng.h"

static const struct {
    const char *name;
    frames_maker *make;
} makers[] = {
    {"pause", make_pause},     {"roce", make_roce}, {"tcp", make_tcp},
    {"message", make_message}, {"CNM", make_cnm},   {"BCN", make_bcn},
    {"notice", make_notice},   {"BTH", make_bth},   {"TCP header", make_tcp_header},
    {"LLDP", make_lldp},
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "random_frames: %s\n", what);
    exit(1);
}

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "random_frames: %s:%d: %s\n", file, line, expression);
    abort();
}

static __attribute__((format(printf, 2, 3))) void say(struct frames *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(f->truth + f->n_truth, sizeof f->truth - f->n_truth, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof f->truth - f->n_truth)
        fail("too much to say of one frame");
    f->n_truth += (size_t)n;
}

void frames_say(struct frames *f, const char *field, uint64_t value)
{
    say(f, "\t%s=%" PRIu64, field, value);
}

void frames_say_signed(struct frames *f, const char *field, int64_t value)
{
    say(f, "\t%s=%" PRId64, field, value);
}

void frames_say_at(struct frames *f, const char *field, unsigned index, uint64_t value)
{
    char name[64];
    const char *place = strstr(field, "%u");
    XOFF_ASSERT(place && strlen(field) < sizeof name);
    snprintf(name, sizeof name, "%.*s%u%s", (int)(place - field), field, index, place + 2);
    frames_say(f, name, value);
}

void frames_say_address(struct frames *f, const char *field, const uint8_t address[6])
{
    say(f, "\t%s=%02x:%02x:%02x:%02x:%02x:%02x", field, address[0], address[1], address[2],
        address[3], address[4], address[5]);
}

void frames_say_octets(struct frames *f, const char *field, const uint8_t *octets, size_t n)
{
    say(f, "\t%s=", field);
    for (size_t i = 0; i < n; i++)
        say(f, "%02x", octets[i]);
}

void frames_say_text(struct frames *f, const char *field, const char *text)
{
    say(f, "\t%s=%s", field, text);
}

uint64_t frames_bits(struct frames *f, unsigned n)
{
    return xoff_rng_u64(&f->rng) >> (64 - n);
}

unsigned frames_below(struct frames *f, unsigned n)
{
    return (unsigned)xoff_rng_below(&f->rng, n);
}

bool frames_coin(struct frames *f)
{
    return frames_bits(f, 1);
}

void frames_octets(struct frames *f, void *to, size_t n)
{
    for (uint8_t *at = to; n-- > 0;)
        *at++ = (uint8_t)frames_bits(f, 8);
}

static void flush(struct pcapng *out, FILE *file)
{
    if (fwrite(out->buf, 1, out->length, file) != out->length)
        fail("cannot write the capture");
    out->length = 0;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        fail("usage: random_frames SEED COUNT CAPTURE TRUTH");
    static struct frames f;
    static uint8_t room[PCAPNG_BLOCK_BYTES(FRAMES_MAX_OCTETS)];
    struct pcapng out = {.buf = room, .capacity = sizeof room};
    const unsigned long n = strtoul(argv[2], NULL, 10);
    FILE *capture = fopen(argv[3], "wb"), *truth = fopen(argv[4], "w");
    if (!capture || !truth)
        fail("cannot write");
    xoff_rng_init(&f.rng, strtoull(argv[1], NULL, 10), 0, 0);
    XOFF_ASSERT(xoff_pcapng_section(&out, "frames", NULL));
    XOFF_ASSERT(xoff_pcapng_interface(&out, &(struct pcapng_interface){.name = "random"}));
    for (unsigned long i = 0; i < n; i++) {
        const unsigned long which = i % (sizeof makers / sizeof *makers);
        f.n = f.n_truth = 0;
        makers[which].make(&f);
        XOFF_ASSERT(f.n > 0 && f.n <= sizeof f.octets);
        fprintf(truth, "%s%s\n", makers[which].name, f.truth);
        flush(&out, capture);
        XOFF_ASSERT(
            xoff_pcapng_packet(&out, &(struct pcapng_packet){.at_ns = i,
                                                             .octets = f.octets,
                                                             .captured_bytes = (uint32_t)f.n,
                                                             .original_bytes = (uint32_t)f.n}));
    }
    flush(&out, capture);
    if (fclose(capture) || fclose(truth))
        fail("cannot write");
    return 0;
}
