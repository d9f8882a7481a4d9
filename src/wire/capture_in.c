/* Reading pcap and pcapng.
 *
 * Source: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. A pcap file is a header of 24 octets
 *
 *   magic 4, version 2 and 2, zone 4, accuracy 4, snap length 4, link type 4
 *
 * and records of time 4 and 4, captured length 4, original length 4, octets. The magic tells byte
 * order and whether the second half of a time is us (a1b2c3d4) or ns (a1b23c4d). A pcapng file is
 * blocks of type 4, length 4, body, length 4 again; a section header says the byte order and
 * begins the list of interfaces anew.
 *
 * Blocks that hold no frame and no interface are skipped without being kept, so they can be of any
 * length. Of times beyond what 64 bits of ns hold the largest is taken.
 */
#include "wire/capture_in.h"

#include <string.h>

#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du
#define ORDER_MAGIC 0x1a2b3c4du
#define NS_PER_S UINT64_C(1000000000)
#define HAS_FCS                                                                      \
    (1u << 26) /* in a pcap's link type; the FCS in units of two octets above bit 28 \
                */

enum {
    PCAP_HEAD = 24,
    RECORD_HEAD = 16,
    BLOCK_LEAST = 12,
    SECTION_LEAST = 28,
    INTERFACE_LEAST = 20,
    SIMPLE_LEAST = 16,
    PACKET_LEAST = 32,
};

enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_OLD_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_PACKET = 6,
};

enum {
    OPTION_END = 0,
    INTERFACE_NAME = 2,
    INTERFACE_RESOLUTION = 9,
    INTERFACE_FCS = 13,
    INTERFACE_OFFSET = 14,
    PACKET_FLAGS = 2
};

__extension__ typedef unsigned __int128 u128;

/* Blocks read so far are used; the one at `octets` is looked at. */
struct view {
    struct capture_in *in;
    const uint8_t *octets;
    size_t n; /* that are there */
    struct xoff_err *err;
};

static int refuse(const struct view *v, size_t at, const char *subject, const char *message)
{
    const int code = xoff_err_set(v->err, XOFF_E_SYNTAX, subject, NULL, "offset ");
    xoff_err_add_int(v->err, (long long)(v->in->offset + at));
    xoff_err_add(v->err, " of the file: ");
    xoff_err_add(v->err, message);
    return code;
}

static uint32_t get16(const struct capture_in *in, const uint8_t *at)
{
    return in->is_swapped ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static uint32_t get32(const struct capture_in *in, const uint8_t *at)
{
    return in->is_swapped ? get16(in, at) << 16 | get16(in, at + 2)
                          : get16(in, at + 2) << 16 | get16(in, at);
}

static uint64_t get64(const struct capture_in *in, const uint8_t *at)
{
    const uint64_t first = get32(in, at), second = get32(in, at + 4);
    return in->is_swapped ? first << 32 | second : second << 32 | first;
}

/* Nanoseconds of a time in units of the interface. */
static uint64_t nanoseconds(uint64_t time, const struct capture_interface *interface)
{
    const uint32_t n = interface->resolution & 127;
    if (interface->resolution == 9 && !interface->offset_s)
        return time; /* most files: no division */
    u128 ns = (u128)time * NS_PER_S;
    if (interface->resolution & 128) {
        ns >>= n;
    } else {
        u128 per_s = 1;
        for (uint32_t i = 0; i < n && per_s <= ns; i++)
            per_s *= 10;
        ns /= per_s;
    }
    const u128 offset_ns = (u128)(interface->offset_s < 0 ? -(uint64_t)interface->offset_s
                                                          : (uint64_t)interface->offset_s) *
                           NS_PER_S;
    if (interface->offset_s < 0)
        ns = ns > offset_ns ? ns - offset_ns : 0;
    else
        ns += offset_ns;
    return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

enum capture_format xoff_capture_format(const uint8_t first[4])
{
    const struct capture_in little = {.is_swapped = false}, *in = &little;
    const uint32_t magic = get32(in, first);
    const uint32_t swapped = __builtin_bswap32(magic);
    if (magic == BLOCK_SECTION)
        return CAPTURE_PCAPNG;
    return magic == MAGIC_US || magic == MAGIC_NS || swapped == MAGIC_US || swapped == MAGIC_NS
               ? CAPTURE_PCAP
               : CAPTURE_UNKNOWN;
}

void xoff_capture_begin(struct capture_in *in, enum capture_format format)
{
    in->format = format;
    in->is_swapped = false;
    in->offset = in->skip = in->tail = 0;
    in->n_interfaces = 0;
}

/* ---------------------------------------------------------------------------------------- pcap */

static int read_pcap_head(struct view *v)
{
    struct capture_in *in = v->in;
    const uint32_t magic = get32(in, v->octets);
    in->is_swapped = magic != MAGIC_US && magic != MAGIC_NS;
    const bool is_ns = get32(in, v->octets) == MAGIC_NS;
    if (get16(in, v->octets + 4) != 2)
        return refuse(v, 4, "version", "must be 2.4");
    const uint32_t link = get32(in, v->octets + 20);
    in->interfaces[in->n_interfaces++] =
        (struct capture_interface){.link_type = (uint16_t)link,
                                   .resolution = is_ns ? 9 : 6,
                                   .fcs_octets = link & HAS_FCS && link >> 28 == 2 ? 4 : 0,
                                   .snap_octets = get32(in, v->octets + 16)};
    return 0;
}

static int check_lengths(const struct view *v, size_t at, const struct capture_frame *frame,
                         size_t room)
{
    if (frame->captured > CAPTURE_MAX_FRAME)
        return refuse(v, at, "captured length", "more than 262144, which no frame has");
    if (frame->captured > frame->original)
        return refuse(v, at, "captured length", "more than the original length behind it");
    if (frame->captured > room)
        return refuse(v, at, "captured length", "more than the block has");
    return 0;
}

/* Returns the octets of the record, 0 where not all are there, or a negative code. */
static int64_t read_record(struct view *v, struct capture_frame *frame)
{
    const struct capture_in *in = v->in;
    if (v->n < RECORD_HEAD)
        return 0;
    const bool is_ns = in->interfaces[0].resolution == 9;
    *frame = (struct capture_frame){
        .octets = v->octets + RECORD_HEAD,
        .captured = get32(in, v->octets + 8),
        .original = get32(in, v->octets + 12),
        .interface = &in->interfaces[0],
        .has_time = true,
        .at_ns = get32(in, v->octets) * NS_PER_S +
                 get32(in, v->octets + 4) * (is_ns ? UINT64_C(1) : UINT64_C(1000)),
        .fcs_octets = in->interfaces[0].fcs_octets,
        .offset = in->offset,
    };
    const int code = check_lengths(v, 8, frame, SIZE_MAX);
    if (code)
        return code;
    const int64_t length = RECORD_HEAD + (int64_t)frame->captured;
    return (int64_t)v->n < length ? 0 : length;
}

static int next_record(struct view *v, size_t *used, struct capture_frame *frame)
{
    struct capture_in *in = v->in;
    if (!in->n_interfaces) {
        if (v->n < PCAP_HEAD)
            return CAPTURE_MORE;
        const int code = read_pcap_head(v);
        if (code)
            return code;
        in->offset = *used = PCAP_HEAD;
        v->octets += PCAP_HEAD;
        v->n -= PCAP_HEAD;
    }
    const int64_t length = read_record(v, frame);
    if (length <= 0)
        return (int)length;
    in->offset += (uint64_t)length;
    *used += (size_t)length;
    return CAPTURE_FRAME;
}

/* -------------------------------------------------------------------------------------- pcapng */

/* An option of the list at `at`, which moves on. Returns 1, 0 at the end, or a negative code. */
static int next_option(const struct view *v, size_t *at, size_t end, uint32_t *code,
                       const uint8_t **value, uint32_t *n)
{
    if (end - *at < 4)
        return *at == end ? 0 : refuse(v, *at, "option", "cut off by the end of its block");
    *code = get16(v->in, v->octets + *at);
    *n = get16(v->in, v->octets + *at + 2);
    *value = v->octets + *at + 4;
    if (*code == OPTION_END)
        return 0;
    if (*n > end - *at - 4)
        return refuse(v, *at + 2, "option length", "more than its block has");
    const size_t padded = 4 + (*n + 3u) / 4 * 4;
    *at = padded < end - *at ? *at + padded : end;
    return 1;
}

/* The byte order of a section decides what its length means. */
static int read_section(struct view *v)
{
    struct capture_in *in = v->in;
    if (get32(in, v->octets + 8) != ORDER_MAGIC) {
        in->is_swapped = !in->is_swapped;
        if (get32(in, v->octets + 8) != ORDER_MAGIC)
            return refuse(v, 8, "byte-order magic", "must be 1a2b3c4d in either order");
    }
    if (get16(in, v->octets + 12) != 1)
        return refuse(v, 12, "version", "must be 1.0 or 1.2");
    in->n_interfaces = 0;
    return 0;
}

static int read_interface(struct view *v, size_t end)
{
    struct capture_in *in = v->in;
    if (in->n_interfaces == CAPTURE_MAX_INTERFACES)
        return refuse(v, 0, "interface", "more than 1024 in one section");
    struct capture_interface *interface = &in->interfaces[in->n_interfaces];
    *interface = (struct capture_interface){.link_type = (uint16_t)get16(in, v->octets + 8),
                                            .snap_octets = get32(in, v->octets + 12),
                                            .resolution = 6};
    size_t at = 16;
    uint32_t code, n;
    const uint8_t *value;
    int answer;
    while ((answer = next_option(v, &at, end, &code, &value, &n)) > 0) {
        if (code == INTERFACE_NAME)
            memcpy(interface->name, value, n < CAPTURE_MAX_NAME ? n : (size_t)CAPTURE_MAX_NAME - 1);
        else if (code == INTERFACE_RESOLUTION && n == 1)
            interface->resolution = *value;
        else if (code == INTERFACE_FCS && n == 1)
            interface->fcs_octets = *value == 4 ? 4 : 0;
        else if (code == INTERFACE_OFFSET && n == 8)
            interface->offset_s = (int64_t)get64(in, value);
    }
    in->n_interfaces += answer == 0;
    return answer;
}

static int find_interface(const struct view *v, uint32_t index, struct capture_frame *frame)
{
    if (index >= v->in->n_interfaces)
        return refuse(v, 8, "interface", "no such one in this section");
    frame->interface_index = index;
    frame->interface = &v->in->interfaces[index];
    frame->fcs_octets = frame->interface->fcs_octets;
    return 0;
}

static int read_flags(const struct view *v, size_t at, size_t end, struct capture_frame *frame)
{
    uint32_t code, n;
    const uint8_t *value;
    int answer;
    while ((answer = next_option(v, &at, end, &code, &value, &n)) > 0)
        if (code == PACKET_FLAGS && n == 4) {
            const uint32_t flags = get32(v->in, value);
            const uint32_t fcs_octets = flags >> 5 & 15;
            frame->direction = (flags & 3) < 3 ? (enum capture_direction)(flags & 3) : 0;
            if (fcs_octets)
                frame->fcs_octets = fcs_octets == 4 ? 4 : 0;
        }
    return answer;
}

/* The enhanced and the old packet block: the latter has an interface of 2 octets. */
static int read_packet(const struct view *v, uint32_t type, size_t end, struct capture_frame *frame)
{
    const struct capture_in *in = v->in;
    const uint32_t index =
        type == BLOCK_PACKET ? get32(in, v->octets + 8) : get16(in, v->octets + 8);
    int code = find_interface(v, index, frame);
    if (code)
        return code;
    const uint64_t time = (uint64_t)get32(in, v->octets + 12) << 32 | get32(in, v->octets + 16);
    frame->has_time = true;
    frame->at_ns = nanoseconds(time, frame->interface);
    frame->octets = v->octets + 28;
    frame->captured = get32(in, v->octets + 20);
    frame->original = get32(in, v->octets + 24);
    code = check_lengths(v, 20, frame, end - 28);
    if (code)
        return code;
    const size_t padded = 28 + (frame->captured + 3u) / 4 * 4;
    return read_flags(v, padded < end ? padded : end, end, frame);
}

static int read_simple_packet(const struct view *v, size_t end, struct capture_frame *frame)
{
    const int code = find_interface(v, 0, frame);
    if (code)
        return code;
    const uint32_t snap = frame->interface->snap_octets;
    frame->octets = v->octets + 12;
    frame->original = frame->captured = get32(v->in, v->octets + 8);
    if (snap && frame->captured > snap)
        frame->captured = snap;
    return check_lengths(v, 8, frame, end - 12);
}

/* Octets that the block must have at least; 0: it is of no interest. */
static uint32_t least_of(uint32_t type)
{
    switch (type) {
    case BLOCK_SECTION:
        return SECTION_LEAST;
    case BLOCK_INTERFACE:
        return INTERFACE_LEAST;
    case BLOCK_SIMPLE_PACKET:
        return SIMPLE_LEAST;
    case BLOCK_OLD_PACKET:
    case BLOCK_PACKET:
        return PACKET_LEAST;
    default:
        return 0;
    }
}

/* Looks at the block at `v`, which has `length` octets. Returns CAPTURE_FRAME, CAPTURE_MORE where
 * it is done with a block without a frame, or a negative code. */
static int read_block(struct view *v, uint32_t type, uint32_t length, struct capture_frame *frame)
{
    const size_t end = length - 4;
    if (get32(v->in, v->octets + end) != length)
        return refuse(v, end, "block length", "not the same as at the start of the block");
    int code = 0;
    switch (type) {
    case BLOCK_INTERFACE:
        return read_interface(v, end);
    case BLOCK_OLD_PACKET:
    case BLOCK_PACKET:
        *frame = (struct capture_frame){.offset = v->in->offset};
        code = read_packet(v, type, end, frame);
        return code ? code : CAPTURE_FRAME;
    case BLOCK_SIMPLE_PACKET:
        *frame = (struct capture_frame){.offset = v->in->offset};
        code = read_simple_packet(v, end, frame);
        return code ? code : CAPTURE_FRAME;
    default:
        return 0; /* a section's header has been read */
    }
}

/* Passes over what is left of a block, and checks its end. Returns false for more octets. */
static bool skip_block(struct view *v, size_t *used, int *code)
{
    struct capture_in *in = v->in;
    const size_t n = in->skip < v->n ? (size_t)in->skip : v->n;
    in->skip -= n;
    in->offset += n;
    *used += n;
    v->octets += n;
    v->n -= n;
    if (!in->tail || in->skip)
        return !in->skip;
    if (v->n < 4)
        return false;
    if (get32(in, v->octets) != in->tail) {
        *code = refuse(v, 0, "block length", "not the same as at the start of the block");
        return false;
    }
    in->tail = 0;
    in->skip = 4;
    return skip_block(v, used, code);
}

/* Checks type and length of the next block. Returns its length, 0 where too little of it is there,
 * or a negative code. */
static int64_t begin_block(struct view *v, uint32_t *type)
{
    struct capture_in *in = v->in;
    if (v->n < 8)
        return 0;
    *type = get32(in, v->octets);
    if (*type == BLOCK_SECTION) {
        if (v->n < SECTION_LEAST)
            return 0;
        const int code = read_section(v);
        if (code)
            return code;
    } else if (in->offset == 0) {
        return refuse(v, 0, "block type", "the first block must be a section header");
    }
    const uint32_t length = get32(in, v->octets + 4), least = least_of(*type);
    if (length % 4)
        return refuse(v, 4, "block length", "must be a multiple of 4");
    if (length < (least ? least : (uint32_t)BLOCK_LEAST))
        return refuse(v, 4, "block length", "less than a block of this type has");
    if (least && length > CAPTURE_MAX_BLOCK)
        return refuse(v, 4, "block length", "more than 1048576, the most that is read");
    return length;
}

static int next_block(struct view *v, size_t *used, struct capture_frame *frame)
{
    struct capture_in *in = v->in;
    for (;;) {
        uint32_t type = 0;
        int code = 0;
        if ((in->skip || in->tail) && !skip_block(v, used, &code))
            return code;
        const int64_t length = begin_block(v, &type);
        if (length <= 0)
            return (int)length;
        if (!least_of(type)) {
            in->skip = (uint64_t)length - 4;
            in->tail = (uint64_t)length;
            continue;
        }
        if ((int64_t)v->n < length)
            return CAPTURE_MORE;
        const int answer = read_block(v, type, (uint32_t)length, frame);
        if (answer < 0)
            return answer;
        in->offset += (uint64_t)length;
        *used += (size_t)length;
        if (answer == CAPTURE_FRAME)
            return answer;
        v->octets += length;
        v->n -= (size_t)length;
    }
}

int xoff_capture_next(struct capture_in *in, const uint8_t *octets, size_t n, size_t *used,
                      struct capture_frame *frame, struct xoff_err *err)
{
    struct view v = {.in = in, .octets = octets, .n = n, .err = err};
    *used = 0;
    return in->format == CAPTURE_PCAP ? next_record(&v, used, frame) : next_block(&v, used, frame);
}

int xoff_capture_end(const struct capture_in *in, size_t left, struct xoff_err *err)
{
    const bool has_begun = in->format == CAPTURE_PCAP ? in->n_interfaces > 0 : in->offset > 0;
    if (!left && !in->skip && !in->tail && has_begun)
        return 0;
    const int code = xoff_err_set(err, XOFF_E_SYNTAX, "capture", NULL, "cut off at offset ");
    xoff_err_add_int(err, (long long)(in->offset + left));
    xoff_err_add(err, " of the file, in the middle of ");
    xoff_err_add(err, in->format == CAPTURE_PCAPNG ? "a block"
                      : has_begun                  ? "a record"
                                                   : "its header");
    return code;
}
