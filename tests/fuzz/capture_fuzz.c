/* libFuzzer target for the readers of captures: pcap, pcapng and hex text. A file read in pieces
 * gives the same frames and the same error as the file read at once; no frame leaves the octets
 * that were given; what is refused names a field.
 *
 * The first octet of an input is the size of the pieces; the file follows.
 */
#include "target.h"
#include "wire/hex_in.h"

/* What a reader has made of a file. */
struct outcome {
    uint64_t n_frames, octets, sum, offset;
    int code; /* 0, or that of the error at its end */
};

static void count(struct outcome *o, const uint8_t *octets, uint32_t n)
{
    o->n_frames++;
    o->octets += n;
    for (uint32_t i = 0; i < n; i++)
        o->sum = o->sum * 31 + octets[i];
}

static int fail(struct outcome *o, int code, const struct xoff_err *err)
{
    require(code == -(int)err->code && err->message[0] != '\0');
    o->code = code;
    return code;
}

/* Reads with `piece` octets more whenever the reader asks for more. */
static struct outcome read_capture(const uint8_t *data, size_t size, enum capture_format format,
                                   size_t piece)
{
    static struct capture_in in;
    struct outcome o = {0};
    struct xoff_err err = {0};
    struct capture_frame frame;
    size_t from = 0, to = piece < size ? piece : size;
    xoff_capture_begin(&in, format);
    for (;;) {
        size_t used = 0;
        const int answer = xoff_capture_next(&in, data + from, to - from, &used, &frame, &err);
        require(used <= to - from);
        if (answer < 0) {
            fail(&o, answer, &err);
            break;
        }
        if (answer == CAPTURE_FRAME) {
            require(used > 0 && frame.captured <= frame.original);
            require(frame.octets >= data + from && frame.octets + frame.captured <= data + to);
            require(frame.interface && frame.interface->name[CAPTURE_MAX_NAME - 1] == '\0');
            count(&o, frame.octets, frame.captured);
        }
        from += used;
        if (answer == CAPTURE_MORE && to == size) {
            const int code = xoff_capture_end(&in, to - from, &err);
            if (code)
                fail(&o, code, &err);
            break;
        }
        if (answer == CAPTURE_MORE)
            to = piece < size - to ? to + piece : size;
    }
    o.offset = in.offset;
    return o;
}

static struct outcome read_text(const char *text, size_t size)
{
    static struct hex_in in;
    struct outcome o = {0};
    struct xoff_err err = {0};
    xoff_hex_begin(&in);
    while (size) {
        const char *newline = memchr(text, '\n', size);
        const size_t n = newline ? (size_t)(newline - text) + 1 : size;
        const int answer = xoff_hex_line(&in, text, n, &err);
        if (answer < 0) {
            require(err.column > 0 && (size_t)err.column <= n + 1);
            fail(&o, answer, &err);
            return o;
        }
        if (answer != HEX_NOTHING)
            count(&o, in.octets, in.n);
        if (answer == HEX_AGAIN)
            continue;
        text += n;
        size -= n;
    }
    if (xoff_hex_end(&in) == HEX_FRAME)
        count(&o, in.octets, in.n);
    return o;
}

/* Frames written as lines of digits are read as they were. */
static void check_line(const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    static char line[2 * 256];
    const size_t n = size < 256 ? size : 256;
    for (size_t i = 0; i < n; i++) {
        line[2 * i] = digits[data[i] >> 4];
        line[2 * i + 1] = digits[data[i] & 15];
    }
    struct outcome want = {0};
    count(&want, data, (uint32_t)n);
    const struct outcome got = read_text(line, 2 * n);
    require(!n || (!got.code && got.n_frames == 1 && got.sum == want.sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    const size_t piece = 1u + *data++;
    size--;
    const enum capture_format format = xoff_capture_format(data);
    if (format == CAPTURE_UNKNOWN) {
        read_text((const char *)data, size);
        check_line(data, size);
        return 0;
    }
    const struct outcome once = read_capture(data, size, format, size);
    const struct outcome parts = read_capture(data, size, format, piece);
    require(memcmp(&once, &parts, sizeof once) == 0);
    return 0;
}
