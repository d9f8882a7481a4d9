/* Reading pcap and pcapng: both byte orders, all blocks, whatever pieces the file comes in, and
 * every way a file can be wrong. */
#include "wire/codec_testing.h"

#include "wire/capture_in.h"
#include "wire/pcapng.h"

static uint8_t file[1 << 16];
static size_t length;
static bool is_big;
static struct capture_in in;
static struct xoff_err err;

static void put(uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        file[length++] = (uint8_t)(value >> 8 * (is_big ? n - 1 - i : i));
}

static void put_text(const char *text, size_t n)
{
    memcpy(file + length, text, n);
    length += n;
    while (length % 4)
        file[length++] = 0;
}

/* Ends the block that began at `from` with its length at both ends. */
static void end_block(size_t from)
{
    const size_t end = length + 4;
    length = from + 4;
    put(end - from, 4);
    length = end - 4;
    put(end - from, 4);
}

static size_t begin_block(uint32_t type)
{
    const size_t from = length;
    put(type, 4);
    put(0, 4);
    return from;
}

static void put_section(void)
{
    const size_t from = begin_block(0x0a0d0d0a);
    put(0x1a2b3c4d, 4);
    put(1, 2);
    put(0, 2);
    put(UINT64_MAX, 8);
    end_block(from);
}

/* An interface with times in 10^-resolution s (0: no such option) and a name. */
static void put_interface(unsigned resolution, uint32_t snap, int64_t offset_s)
{
    const size_t from = begin_block(1);
    put(1, 2);
    put(0, 2);
    put(snap, 4);
    put(2, 2);
    put(5, 2);
    put_text("leaf0", 5);
    if (resolution) {
        put(9, 2);
        put(1, 2);
        put_text((char[]){(char)resolution}, 1);
    }
    if (offset_s) {
        put(14, 2);
        put(8, 2);
        put((uint64_t)offset_s, 8);
    }
    put(0, 4);
    end_block(from);
}

static void put_packet(uint32_t interface, uint64_t time, const char *octets, uint32_t n,
                       uint32_t original, uint32_t flags)
{
    const size_t from = begin_block(6);
    put(interface, 4);
    put(time >> 32, 4);
    put(time & UINT32_MAX, 4);
    put(n, 4);
    put(original, 4);
    put_text(octets, n);
    if (flags) {
        put(2, 2);
        put(4, 2);
        put(flags, 4);
        put(0, 4);
    }
    end_block(from);
}

static void put_pcap(uint32_t magic, uint32_t link)
{
    length = 0;
    put(magic, 4);
    put(2, 2);
    put(4, 2);
    put(0, 8);
    put(65535, 4);
    put(link, 4);
}

static void put_record(uint32_t s, uint32_t part, const char *octets, uint32_t n, uint32_t original)
{
    put(s, 4);
    put(part, 4);
    put(n, 4);
    put(original, 4);
    memcpy(file + length, octets, n);
    length += n;
}

static struct capture_frame frames[16];
static char seen[16][8]; /* the first octets of each */

/* Reads the file in pieces of `piece` octets. Returns the frames, or a negative code; `n_frames`
 * counts those before it. */
static unsigned n_frames;
static int read_all(size_t piece)
{
    static uint8_t buffer[2 * CAPTURE_MAX_BLOCK];
    size_t from = 0, kept = 0;
    n_frames = 0;
    xoff_capture_begin(&in, xoff_capture_format(file));
    for (;;) {
        size_t used;
        struct capture_frame frame;
        const int answer = xoff_capture_next(&in, buffer, kept, &used, &frame, &err);
        if (answer < 0)
            return answer;
        if (answer == CAPTURE_FRAME) {
            memset(seen[n_frames], 0, sizeof seen[0]);
            memcpy(seen[n_frames], frame.octets, frame.captured < 7 ? frame.captured : 7);
            frames[n_frames++] = frame;
        }
        memmove(buffer, buffer + used, kept - used);
        kept -= used;
        if (answer == CAPTURE_FRAME)
            continue;
        const size_t n = length - from < piece ? length - from : piece;
        if (!n) {
            const int end = xoff_capture_end(&in, kept, &err);
            return end ? end : (int)n_frames;
        }
        memcpy(buffer + kept, file + from, n);
        kept += n;
        from += n;
    }
}

static void formats(void **unused)
{
    (void)unused;
    assert_int_equal(xoff_capture_format((const uint8_t *)"\xd4\xc3\xb2\xa1"), CAPTURE_PCAP);
    assert_int_equal(xoff_capture_format((const uint8_t *)"\xa1\xb2\xc3\xd4"), CAPTURE_PCAP);
    assert_int_equal(xoff_capture_format((const uint8_t *)"\x4d\x3c\xb2\xa1"), CAPTURE_PCAP);
    assert_int_equal(xoff_capture_format((const uint8_t *)"\xa1\xb2\x3c\x4d"), CAPTURE_PCAP);
    assert_int_equal(xoff_capture_format((const uint8_t *)"\x0a\x0d\x0d\x0a"), CAPTURE_PCAPNG);
    assert_int_equal(xoff_capture_format((const uint8_t *)"0180"), CAPTURE_UNKNOWN);
}

static void pcap(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        const bool is_ns = i & 1;
        is_big = i & 2;
        put_pcap(is_ns ? 0xa1b23c4d : 0xa1b2c3d4, is_ns ? 0x24000001 : 1);
        put_record(3, 5, "abc", 3, 3);
        put_record(4, 0, "defg", 4, 1500);
        for (size_t piece = 1; piece < 80; piece++) {
            assert_int_equal(read_all(piece), 2);
            assert_true(frames[0].at_ns == 3000000000 + (is_ns ? 5u : 5000u));
            assert_int_equal(frames[0].captured, 3);
            assert_string_equal(seen[0], "abc");
            assert_int_equal(frames[0].fcs_octets, is_ns ? 4 : 0);
            assert_int_equal(frames[1].original, 1500);
            assert_string_equal(seen[1], "defg");
            assert_int_equal(frames[1].interface->link_type, 1);
            assert_int_equal(frames[1].offset, 24 + 19);
        }
    }
    is_big = false;
}

static void make_pcapng(void)
{
    length = 0;
    put_section();
    put_interface(0, 0, 0);
    put_interface(9, 0, 0);
    put_packet(0, 7, "abc", 3, 3, 0);
    size_t from = begin_block(0x0bad); /* unknown */
    put_text("nothing to see", 14);
    end_block(from);
    put_packet(1, 0x100000007, "defgh", 5, 64, 2 | 4 << 5);
    from = begin_block(3); /* simple packet: no time, interface 0 */
    put(6, 4);
    put_text("simple", 6);
    end_block(from);
    is_big = !is_big;
    put_section(); /* another section in the other order, with interfaces of its own */
    put_interface(3, 4, 2);
    from = begin_block(2); /* old packet block */
    put(0, 2);
    put(9, 2);
    put(0, 4);
    put(1500, 4);
    put(2, 4);
    put(2, 4);
    put_text("ol", 2);
    end_block(from);
    from = begin_block(3);
    put(6, 4);
    put_text("simp", 4);
    end_block(from);
}

static void pcapng(void **unused)
{
    (void)unused;
    for (unsigned big = 0; big < 2; big++) {
        is_big = big;
        make_pcapng();
        for (size_t piece = 1; piece < 200; piece += 3) {
            assert_int_equal(read_all(piece), 5);
            assert_true(frames[0].has_time && frames[0].at_ns == 7000);
            assert_string_equal(seen[0], "abc");
            assert_string_equal(frames[0].interface->name, "leaf0");
            assert_int_equal(frames[1].interface_index, 1);
            assert_true(frames[1].at_ns == 0x100000007);
            assert_int_equal(frames[1].captured, 5);
            assert_int_equal(frames[1].original, 64);
            assert_int_equal(frames[1].direction, CAPTURE_OUTBOUND);
            assert_int_equal(frames[1].fcs_octets, 4);
            assert_false(frames[2].has_time);
            assert_string_equal(seen[2], "simple");
            assert_true(frames[3].at_ns == 3500000000); /* 1500 ms and 2 s */
            assert_string_equal(seen[3], "ol");
            assert_int_equal(frames[4].captured, 4); /* the snap length of its interface */
            assert_int_equal(frames[4].original, 6);
        }
    }
    is_big = false;
}

/* 2^-10 s; 10^-12 s; 10^-60 s, of which 2^64 are nothing; years beyond 64 bits of ns. */
static void times(void **unused)
{
    (void)unused;
    static const struct {
        unsigned resolution;
        int64_t offset_s;
        uint64_t time, want;
    } cases[] = {
        {0x8a, 0, 1024, 1000000000},     {12, 0, 1999, 1},   {60, 0, UINT64_MAX, 0},
        {9, -1, 5000000000, 4000000000}, {9, -9, 5, 0},      {6, 0, UINT64_MAX, UINT64_MAX},
        {9, 1, UINT64_MAX, UINT64_MAX},  {0xff, 0, 1024, 0}, {9, INT64_MIN, 5, 0},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const size_t k = i / 2;
        is_big = i % 2;
        length = 0;
        put_section();
        put_interface(cases[k].resolution, 0, cases[k].offset_s);
        put_packet(0, cases[k].time, "abc", 3, 3, 0);
        assert_int_equal(read_all(4096), 1);
        assert_true(frames[0].at_ns == cases[k].want);
    }
    is_big = false;
}

/* An interface of 20 octets, without options; one with options up to the last octet of its block;
 * FCS of the interface and of a packet; a direction that is reserved; the interface of an old
 * packet block. */
static void options(void **unused)
{
    (void)unused;
    length = 0;
    put_section();
    size_t from = begin_block(1);
    put(1, 2);
    put(0, 6);
    end_block(from);
    assert_int_equal(length, 28 + 20);
    from = begin_block(1);
    put(1, 2);
    put(0, 6);
    put(2, 2);
    put(17, 2);
    put_text("leaf0:0 to spine1", 17);
    put(13, 2);
    put(1, 2);
    put_text("\4", 1);
    put(9, 2);
    put(1, 2);
    put_text("\3", 1); /* no end of the list follows */
    end_block(from);
    end_block(begin_block(0x0bad)); /* 12 octets: nothing in it */
    put_packet(0, 5, "abc", 3, 3, 0);
    put_packet(1, 5, "abc", 3, 3, 3);          /* reserved direction; FCS not said */
    put_packet(1, 5, "abc", 3, 3, 1 | 2 << 5); /* an FCS of two octets is none of Ethernet's */
    from = begin_block(2);
    put(1, 2);
    put(0, 8);
    put(0, 2);
    put(1, 4);
    put(1, 4);
    put_text("x", 1);
    end_block(from);
    assert_int_equal(read_all(4096), 4);
    assert_int_equal(frames[0].fcs_octets, 0);
    assert_string_equal(frames[0].interface->name, "");
    assert_int_equal(frames[1].fcs_octets, 4);
    assert_int_equal(frames[1].direction, CAPTURE_NO_DIRECTION);
    assert_string_equal(frames[1].interface->name, "leaf0:0 to spine1");
    assert_true(frames[1].at_ns == 5000000);
    assert_int_equal(frames[2].fcs_octets, 0);
    assert_int_equal(frames[2].direction, CAPTURE_INBOUND);
    assert_int_equal(frames[3].interface_index, 1);
}

/* 63 characters of a name are kept. The FCS of pcap needs its bit and a length of two units. */
static void names_and_fcs(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t link;
        uint8_t fcs_octets;
    } links[] = {{0x24000001, 4}, {0x04000001, 0}, {0x20000001, 0}, {0x14000001, 0}};
    for (unsigned n = 63; n < 66; n++) {
        char name[66];
        memset(name, 'a', sizeof name);
        length = 0;
        put_section();
        const size_t from = begin_block(1);
        put(1, 8);
        put(2, 2);
        put(n, 2);
        put_text(name, n);
        end_block(from);
        assert_int_equal(read_all(4096), 0);
        assert_int_equal(strlen(in.interfaces[0].name), 63);
        assert_int_equal(in.interfaces[0].fcs_octets, 0);
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        put_pcap(0xa1b2c3d4, links[i].link);
        put_record(3, 5, "abc", 3, 3);
        assert_int_equal(read_all(4096), 1);
        assert_int_equal(frames[0].fcs_octets, links[i].fcs_octets);
        assert_int_equal(frames[0].interface->link_type, 1);
    }
}

/* What the writer writes is read. */
static void our_own_files(void **unused)
{
    (void)unused;
    struct pcapng out = {.buf = file, .capacity = sizeof file};
    assert_true(xoff_pcapng_section(&out, "xoff", "a comment"));
    assert_true(xoff_pcapng_interface(
        &out, &(struct pcapng_interface){.name = "spine1:0 to leaf0", .fcs_bytes = 4}));
    assert_true(xoff_pcapng_packet(&out, &(struct pcapng_packet){.at_ns = 12345,
                                                                 .octets = (const uint8_t *)"abcd",
                                                                 .captured_bytes = 4,
                                                                 .original_bytes = 64,
                                                                 .direction = PCAPNG_INBOUND,
                                                                 .fcs_bytes = 4,
                                                                 .comment = "why"}));
    assert_true(xoff_pcapng_counts(&out, &(struct pcapng_counts){0}));
    length = out.length;
    assert_int_equal(read_all(100), 1);
    assert_true(frames[0].at_ns == 12345);
    assert_int_equal(frames[0].fcs_octets, 4);
    assert_int_equal(frames[0].direction, CAPTURE_INBOUND);
    assert_string_equal(frames[0].interface->name, "spine1:0 to leaf0");
}

/* A file that ends anywhere but between two blocks is cut off; what came before was read. */
static void cut_files(void **unused)
{
    (void)unused;
    make_pcapng();
    is_big = false;
    const size_t whole = length;
    size_t ends[16];
    unsigned n_ends = 0;
    for (length = 1; length <= whole; length++) {
        const int answer = read_all(17);
        if (answer >= 0)
            ends[n_ends++] = length;
        else
            assert_string_equal(err.subject, "capture");
    }
    length = whole;
    assert_int_equal(n_ends, 11); /* as many blocks as there are */
    assert_int_equal(ends[10], whole);
    length = whole - 1;
    assert_true(read_all(1000) < 0);
    assert_int_equal(n_frames, 4);
    char message[80];
    snprintf(message, sizeof message, "cut off at offset %zu of the file, in the middle of a block",
             whole - 1);
    assert_string_equal(err.message, message);
    put_pcap(0xa1b2c3d4, 1);
    put_record(3, 5, "abc", 3, 3);
    length--;
    assert_refused(read_all(5), &err, "capture",
                   "cut off at offset 42 of the file, in the middle of a record");
    length = 23;
    assert_refused(read_all(5), &err, "capture",
                   "cut off at offset 23 of the file, in the middle of its header");
}

static void set32(size_t at, uint32_t value)
{
    const size_t whole = length;
    length = at;
    put(value, 4);
    length = whole;
}

/* The file has a section of 28 octets, an interface of 44, and a packet. */
static void check_lie(size_t at, uint32_t value, const char *subject, const char *message)
{
    length = 0;
    put_section();
    put_interface(9, 0, 0);
    assert_int_equal(length, 28 + 44);
    put_packet(0, 7, "abc", 3, 3, 1);
    set32(at, value);
    assert_refused(read_all(64), &err, subject, message);
}

static void lies(void **unused)
{
    (void)unused;
    check_lie(8, 0x1a2b3c4e, "byte-order magic",
              "offset 8 of the file: must be 1a2b3c4d in either order");
    check_lie(12, 2, "version", "offset 12 of the file: must be 1.0 or 1.2");
    check_lie(4, 24, "block length", "offset 4 of the file: less than a block of this type has");
    check_lie(24, 32, "block length",
              "offset 24 of the file: not the same as at the start of the block");
    check_lie(32, 42, "block length", "offset 32 of the file: must be a multiple of 4");
    check_lie(32, 16, "block length", "offset 32 of the file: less than a block of this type has");
    check_lie(44, 0x00800002, "option length", "offset 46 of the file: more than its block has");
    check_lie(80, 1, "interface", "offset 80 of the file: no such one in this section");
    check_lie(92, 4, "captured length",
              "offset 92 of the file: more than the original length behind it");
    check_lie(76, 0x100004, "block length",
              "offset 76 of the file: more than 1048576, the most that is read");
    check_lie(76, 0x100000, "capture",
              "cut off at offset 120 of the file, in the middle of a block");
    length = 0;
    put_section();
    put_interface(9, 0, 0);
    size_t simple = begin_block(3); /* without even its length */
    end_block(simple);
    assert_refused(read_all(64), &err, "block length",
                   "offset 76 of the file: less than a block of this type has");
    length = 0;
    put_section();
    put_interface(9, 0, 0);
    simple = begin_block(3); /* a frame of which nothing was kept */
    put(0, 4);
    end_block(simple);
    assert_int_equal(read_all(64), 1);
    assert_int_equal(frames[0].captured, 0);
    length = 0;
    put_section();
    put_interface(9, 0, 0);
    simple = begin_block(3);
    put(5, 4);
    put_text("abcd", 4);
    end_block(simple);
    assert_refused(read_all(64), &err, "captured length",
                   "offset 80 of the file: more than the block has");
    size_t used;
    struct capture_frame frame;
    xoff_capture_begin(&in, CAPTURE_PCAPNG);
    assert_refused(xoff_capture_next(&in, file + 28, 44, &used, &frame, &err), &err, "block type",
                   "offset 0 of the file: the first block must be a section header");
    length = 0;
    put_section();
    put_interface(9, 0, 0);
    put_packet(0, 7, "abc", 3, 262145, 0);
    set32(92, 262145);
    assert_refused(read_all(64), &err, "captured length",
                   "offset 92 of the file: more than 262144, which no frame has");
    set32(92, 262144);
    assert_refused(read_all(64), &err, "captured length",
                   "offset 92 of the file: more than the block has");
    set32(92, 5); /* 3 octets and 1 of padding are there */
    assert_refused(read_all(64), &err, "captured length",
                   "offset 92 of the file: more than the block has");
    set32(92, 4);
    assert_int_equal(read_all(64), 1);
    set32(72, 0x0bad); /* skipped, up to a length at its end that is wrong */
    set32(104, 44);
    assert_refused(read_all(64), &err, "block length",
                   "offset 104 of the file: not the same as at the start of the block");
    length = 0;
    put_pcap(0xa1b2c3d4, 1);
    file[4] = 1;
    assert_refused(read_all(64), &err, "version", "offset 4 of the file: must be 2.4");
    put_pcap(0xa1b2c3d4, 1);
    put_record(1, 1, "abc", 3, 3);
    set32(32, 0xffffffff);
    assert_refused(read_all(64), &err, "captured length",
                   "offset 32 of the file: more than 262144, which no frame has");
}

/* A block of any length is skipped; 1024 interfaces are taken, one more is not. */
static void limits(void **unused)
{
    (void)unused;
    length = 0;
    put_section();
    for (unsigned i = 0; i < 1024; i++)
        put_interface(0, 0, 0);
    assert_int_equal(read_all(4096), 0);
    assert_int_equal(in.n_interfaces, 1024);
    put_interface(0, 0, 0);
    assert_true(read_all(4096) < 0);
    assert_string_equal(err.subject, "interface");
    length = 0;
    put_section();
    const size_t from = length;
    put(0x0bad, 4);
    put(0xfffffffc, 4); /* 4 GB: the file ends long before */
    put(0, 4);
    assert_true(read_all(4096) < 0);
    assert_string_equal(err.subject, "capture");
    assert_int_equal(from, 28);
}

/* Any octets at all: no step outside, and an end. */
static void damaged_files(void **unused)
{
    (void)unused;
    struct xoff_rng rng;
    xoff_rng_init(&rng, CODEC_SEED, 3, 0);
    for (unsigned round = 0; round < 3000; round++) {
        is_big = round & 1;
        make_pcapng();
        for (int i = 0; i < 4; i++)
            file[4 + xoff_rng_below(&rng, length - 4)] = (uint8_t)random_bits(&rng, 8);
        const int answer = read_all(1 + xoff_rng_below(&rng, 300));
        assert_true(answer >= 0 || answer == -XOFF_E_SYNTAX);
        assert_true(in.offset <= length);
    }
    is_big = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),       cmocka_unit_test(pcap),
        cmocka_unit_test(pcapng),        cmocka_unit_test(times),
        cmocka_unit_test(options),       cmocka_unit_test(names_and_fcs),
        cmocka_unit_test(our_own_files), cmocka_unit_test(cut_files),
        cmocka_unit_test(lies),          cmocka_unit_test(limits),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests_name("capture_in", tests, NULL, NULL);
}
