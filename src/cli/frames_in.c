/* Frames out of files. A buffer of fixed size slides over the file; whole blocks are looked at
 * where they lie. */
#include "cli/frames_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/hex_in.h"

/* Twice what has to be there at once, so that little is moved to make room. */
#define BUFFER_OCTETS (2 * CAPTURE_MAX_BLOCK)
/* A line of text that describes the largest frame, with separators. */
#define MAX_LINE (4 * CAPTURE_MAX_FRAME)

struct frames_in {
    const char *name;
    int fd;
    bool has_begun, is_at_end;
    int line; /* of text */
    size_t at, end;
    struct capture_in capture;
    struct hex_in hex;
    uint8_t buffer[BUFFER_OCTETS];
};

struct frames_in *frames_open(const char *path, struct xoff_err *err)
{
    const bool is_stdin = !path || !strcmp(path, "-");
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct frames_in *in = fd < 0 ? NULL : malloc(sizeof *in);
    if (!in) {
        xoff_err_set(err, fd < 0 ? XOFF_E_IO : XOFF_E_NO_MEMORY, NULL, NULL, "cannot be read: ");
        xoff_err_add(err, strerror(errno));
        snprintf(err->file, sizeof err->file, "%s", path);
        return NULL;
    }
    in->name = is_stdin ? "standard input" : path;
    in->fd = fd;
    in->has_begun = in->is_at_end = false;
    in->line = 0;
    in->at = in->end = 0;
    xoff_hex_begin(&in->hex);
    return in;
}

void frames_close(struct frames_in *in)
{
    if (in && in->fd != STDIN_FILENO)
        close(in->fd);
    free(in);
}

bool frames_is_capture(const struct frames_in *in)
{
    return in->capture.format != CAPTURE_UNKNOWN;
}

/* Adds what the file has next. Returns 0, or the reason (errno). */
static int fill(struct frames_in *in)
{
    memmove(in->buffer, in->buffer + in->at, in->end - in->at);
    in->end -= in->at;
    in->at = 0;
    ssize_t n;
    do
        n = read(in->fd, in->buffer + in->end, sizeof in->buffer - in->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    in->is_at_end = n == 0;
    in->end += (size_t)n;
    return 0;
}

static int refuse_file(int reason, struct xoff_err *err)
{
    const int code = xoff_err_set(err, XOFF_E_IO, NULL, NULL, "cannot be read: ");
    xoff_err_add(err, strerror(reason));
    return code;
}

/* Reads until four octets tell the format, or the file ends. */
static int begin(struct frames_in *in, struct xoff_err *err)
{
    while (in->end < 4 && !in->is_at_end) {
        const int reason = fill(in);
        if (reason)
            return refuse_file(reason, err);
    }
    xoff_capture_begin(&in->capture,
                       in->end < 4 ? CAPTURE_UNKNOWN : xoff_capture_format(in->buffer));
    in->has_begun = true;
    return 0;
}

static int next_captured(struct frames_in *in, struct capture_frame *frame, struct xoff_err *err)
{
    for (;;) {
        size_t used;
        const int answer = xoff_capture_next(&in->capture, in->buffer + in->at, in->end - in->at,
                                             &used, frame, err);
        in->at += used;
        if (answer)
            return answer;
        if (in->is_at_end)
            return xoff_capture_end(&in->capture, in->end - in->at, err);
        const int reason = fill(in);
        if (reason)
            return refuse_file(reason, err);
    }
}

static int give_hex(struct frames_in *in, struct capture_frame *frame)
{
    *frame = (struct capture_frame){
        .octets = in->hex.octets, .captured = in->hex.n, .original = in->hex.n};
    return CAPTURE_FRAME;
}

/* Finds the next line in the buffer. Returns its length with its end, 0 at the end of the file, or
 * a negative code. */
static int64_t find_line(struct frames_in *in, struct xoff_err *err)
{
    for (;;) {
        const uint8_t *line = in->buffer + in->at;
        const size_t n = in->end - in->at;
        const uint8_t *end = memchr(line, '\n', n);
        if (end)
            return end - line + 1;
        if (in->is_at_end)
            return (int64_t)n;
        if (n > MAX_LINE) {
            err->line = in->line + 1;
            err->column = 1;
            return xoff_err_set(err, XOFF_E_SYNTAX, "hex", NULL,
                                "neither a capture nor a line of hex digits: no end in sight");
        }
        const int reason = fill(in);
        if (reason)
            return refuse_file(reason, err);
    }
}

static int next_hex(struct frames_in *in, struct capture_frame *frame, struct xoff_err *err)
{
    for (;;) {
        const int64_t n = find_line(in, err);
        if (n < 0)
            return (int)n;
        if (!n)
            return xoff_hex_end(&in->hex) == HEX_FRAME ? give_hex(in, frame) : 0;
        const int answer =
            xoff_hex_line(&in->hex, (const char *)in->buffer + in->at, (size_t)n, err);
        if (answer < 0) {
            err->line = in->line + 1;
            return answer;
        }
        if (answer != HEX_AGAIN) {
            in->at += (size_t)n;
            in->line++;
        }
        if (answer != HEX_NOTHING)
            return give_hex(in, frame);
    }
}

int frames_next(struct frames_in *in, struct capture_frame *frame, struct xoff_err *err)
{
    int answer = in->has_begun ? 0 : begin(in, err);
    if (!answer)
        answer = frames_is_capture(in) ? next_captured(in, frame, err) : next_hex(in, frame, err);
    if (answer < 0)
        snprintf(err->file, sizeof err->file, "%s", in->name);
    return answer;
}
