/* Costs of codecs: PFC frames both ways, and frames read out of a capture, with all checks. */
#include <stdlib.h>
#include <string.h>

#include <xoff/pfc_frame.h>

#include "bench.h"
#include "wire/capture_in.h"
#include "wire/layers.h"
#include "wire/pcapng.h"

enum { ROUNDS = 7, REPEATS = 400000, CAPTURED = 1000, PAYLOAD = 1000 };

struct codec_rig {
    uint8_t pause[XOFF_PAUSE_FRAME_BYTES];
    struct crc32 crc32;
    struct capture_in capture;
    struct layers layers;
    size_t n_captured; /* octets of the file */
    uint8_t file[CAPTURED * (PAYLOAD + 256)];
    uint8_t frame[PAYLOAD + LAYERS_MORE_OCTETS];
};

/* Keeps the compiler from removing the work. */
static volatile uint64_t sink;

static void encode_pfc(struct codec_rig *rig)
{
    static const uint8_t source[6] = {2, 0, 0, 0, 0, 1};
    struct xoff_pause_frame frame = {.opcode = XOFF_OPCODE_PFC, .classes = 8};
    for (uint32_t i = 0; i < REPEATS; i++) {
        frame.quanta[3] = (uint16_t)i;
        xoff_pause_frame_encode(&frame, source, rig->pause);
        sink = rig->pause[25];
    }
}

static void decode_pfc(struct codec_rig *rig)
{
    struct xoff_pause_frame frame;
    struct xoff_err err;
    for (uint32_t i = 0; i < REPEATS; i++) {
        rig->pause[25] = (uint8_t)i;
        XOFF_ASSERT(xoff_pause_frame_decode(rig->pause, sizeof rig->pause, &frame, &err) == 0);
        sink = frame.quanta[3];
    }
}

/* Reads all frames of the file, again and again. */
static void decode_capture(struct codec_rig *rig)
{
    struct capture_frame frame;
    struct xoff_err err;
    for (uint32_t done = 0; done < REPEATS / 10; done += CAPTURED) {
        size_t at = 0, used;
        xoff_capture_begin(&rig->capture, CAPTURE_PCAPNG);
        while (xoff_capture_next(&rig->capture, rig->file + at, rig->n_captured - at, &used, &frame,
                                 &err) == CAPTURE_FRAME) {
            at += used;
            const struct layers_in in = {.octets = frame.octets,
                                         .captured = frame.captured,
                                         .original = frame.original,
                                         .fcs_octets = (int8_t)frame.fcs_octets,
                                         .crc32 = &rig->crc32};
            XOFF_ASSERT(xoff_layers_decode(&in, &rig->layers, &err) == 0);
            sink = rig->layers.kinds;
        }
        XOFF_ASSERT(at + used == rig->n_captured);
    }
}

static void make_file(struct codec_rig *rig)
{
    struct pcapng out = {.buf = rig->file, .capacity = sizeof rig->file};
    rig->layers.n = rig->layers.kinds = 0;
    xoff_layers_add(&rig->layers, LAYER_ETH);
    xoff_layers_add(&rig->layers, LAYER_IPV4)->ipv4 = (struct ipv4){.protocol = IP_PROTOCOL_UDP};
    xoff_layers_add(&rig->layers, LAYER_UDP)->udp.destination = ROCE_PORT;
    xoff_layers_add(&rig->layers, LAYER_ROCE);
    const uint32_t n = xoff_layers_encode(
        &rig->layers, &(struct layers_out){.payload_octets = PAYLOAD, .has_fcs = true}, &rig->crc32,
        rig->frame);
    XOFF_ASSERT(xoff_pcapng_section(&out, NULL, NULL));
    XOFF_ASSERT(xoff_pcapng_interface(&out, &(struct pcapng_interface){.fcs_bytes = 4}));
    for (uint32_t i = 0; i < CAPTURED; i++)
        XOFF_ASSERT(xoff_pcapng_packet(&out, &(struct pcapng_packet){.octets = rig->frame,
                                                                     .captured_bytes = n,
                                                                     .original_bytes = n}));
    rig->n_captured = out.length;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_ns(double (*clock)(void), struct codec_rig *rig, uint32_t repeats,
                        void (*work)(struct codec_rig *))
{
    double ns[ROUNDS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double from = clock();
        work(rig);
        ns[round] = (clock() - from) * 1e9 / repeats;
    }
    qsort(ns, ROUNDS, sizeof *ns, compare);
    return ns[ROUNDS / 2];
}

unsigned bench_codecs(double (*clock)(void), struct bench_operation rows[BENCH_MAX])
{
    struct codec_rig *rig = calloc(1, sizeof *rig);
    unsigned n = 0;
    XOFF_ASSERT(rig);
    xoff_crc32_init(&rig->crc32);
    make_file(rig);
    rows[n++] =
        (struct bench_operation){"encode a PFC frame", median_ns(clock, rig, REPEATS, encode_pfc)};
    rows[n++] =
        (struct bench_operation){"decode a PFC frame", median_ns(clock, rig, REPEATS, decode_pfc)};
    rows[n++] = (struct bench_operation){"decode 1 KB of RoCEv2 from a pcapng",
                                         median_ns(clock, rig, REPEATS / 10, decode_capture)};
    free(rig);
    return n;
}
