/* The wire check: whole frames pass, and every bit of a header that is flipped is noticed. */
#include "wire/codec_testing.h"

#include "wire/packet_check.h"

static const struct packet frames[] = {
    {.kind = PACKET_PAUSE,
     .pause = {.opcode = XOFF_OPCODE_PFC, .classes = 0x18, .quanta = {[3] = 65535}},
     .source_mac = {2, 0, 0, 0, 0, 7}},
    {.kind = PACKET_PAUSE, .pause = {XOFF_OPCODE_PAUSE, 0xff, {5000}}, .source_mac = {2}},
    {.kind = PACKET_ACK, .from = 1, .to = 2, .flow = 77, .priority = 3, .psn = 0xabcdef},
    {.kind = PACKET_NACK, .protocol = PACKET_UC, .from = 1, .to = 2, .flow = 5, .psn = 1},
    {.kind = PACKET_CNP, .from = 9, .to = 8, .flow = 70000, .priority = 6, .hash = 12345},
    {.kind = PACKET_ACK,
     .protocol = PACKET_TCP,
     .from = 3,
     .to = 4,
     .flow = 40000,
     .seq = 1000000,
     .is_marked = true,
     .n_sacks = 3,
     .sack_from = {2000000, 3000000, 4000000},
     .sack_to = {2500000, 3500000, 4500000}},
    {.kind = PACKET_ACK,
     .has_hops = true,
     .n_hops = 2,
     .hops = {{.rate_bps = 100000000000, .at_ns = 5, .tx_bytes = 1280, .queue_bytes = 800},
              {.rate_bps = 400000000000, .at_ns = 9, .tx_bytes = 256, .queue_bytes = 80}}},
    {.kind = PACKET_NOTICE,
     .notice = {.is_cnm = true, .cp_id = 99, .feedback = -33, .queue_offset_bytes = 6400},
     .to = 4,
     .flow = 7,
     .priority = 6,
     .is_tagged = true},
    {.kind = PACKET_NOTICE, .notice = {.is_bcn = true, .cp_id = 1, .queue_delta_bytes = -640}},
    {.kind = PACKET_NOTICE, .notice = {.kind = 2, .cp_id = 3, .feedback = -1, .rate_bps = 50}},
    {.kind = PACKET_PROBE, .rate_tag = {.is_there = true, .kind = 2, .rate_bps = UINT64_MAX}},
    {.kind = PACKET_DATA, .is_tagged = true, .flow = 0x1234},
    {.kind = PACKET_DATA, .has_rrt = true, .is_limited = true, .notice = {.cp_id = 5}},
    {.kind = PACKET_DATA, .rate_tag = {.is_there = true, .is_back = true, .kind = 2}},
};
enum { N_FRAMES = sizeof frames / sizeof *frames };

static void whole_frames_pass(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < N_FRAMES; i++) {
        struct xoff_err err = {0};
        if (xoff_packet_check(&frames[i], &err))
            fail_msg("frame %u: %s: %s", i, err.subject, err.message);
    }
}

/* The invariant CRC, which is not written, and the padding. That of a pause frame counts as its
 * own.
 */
static bool is_free(const struct layers *layers, uint32_t at)
{
    const struct layer *last = &layers->layer[layers->n - 1];
    return at >= (last->kind == LAYER_PFC ? 34 : last->kind == LAYER_PAUSE ? 18 : last->end);
}

static void every_flipped_bit_is_noticed(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < N_FRAMES; i++) {
        struct layers sent, read;
        struct xoff_err err = {0};
        uint8_t octets[LAYERS_MORE_OCTETS + 60];
        xoff_packet_layers(&frames[i], &sent);
        const uint32_t n =
            xoff_layers_encode(&sent, &(struct layers_out){.least_octets = 60}, NULL, octets);
        const struct layers_in in = {
            .octets = octets, .captured = n, .original = n, .has_telemetry = frames[i].has_hops};
        assert_int_equal(xoff_layers_decode(&in, &read, &err), 0);
        for (uint32_t bit = 0; bit < 8 * n; bit++) {
            octets[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            const int code = xoff_packet_check_octets(&sent, octets, n, &err);
            octets[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            if (!code != is_free(&read, bit / 8))
                fail_msg("frame %u: bit %u of octet %u: answer %d", i, bit % 8, bit / 8, code);
            if (code)
                assert_true(err.subject[0] && err.message[0]);
        }
    }
}

/* The message names the field. */
static void field_is_named(void **unused)
{
    (void)unused;
    struct layers sent;
    struct xoff_err err = {0};
    uint8_t octets[LAYERS_MORE_OCTETS + 60];
    xoff_packet_layers(&frames[0], &sent);
    const uint32_t n =
        xoff_layers_encode(&sent, &(struct layers_out){.least_octets = 60}, NULL, octets);
    octets[18 + 2 * 3] ^= 1; /* time of class 3 */
    assert_refused(xoff_packet_check_octets(&sent, octets, n, &err), &err, "pause.quanta",
                   "is read another than it was sent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_frames_pass),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(field_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
