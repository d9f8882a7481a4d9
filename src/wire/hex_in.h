/* Frames out of text: hex digits, line by line.
 *
 * A line is a frame: pairs of digits, alone or with blanks, ':', '-' or '.' between them. Or lines
 * are a dump, as hexdump -C, xxd, tcpdump -x and Wireshark print it: an offset, then up to 16
 * octets; a frame begins at offset 0 and ends before the next one, at an empty line, or at the end.
 * What follows '#' is a comment.
 */
#ifndef WIRE_HEX_IN_H
#define WIRE_HEX_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#include "wire/capture_in.h"

struct hex_in {
    uint32_t n; /* octets of the frame so far */
    bool is_dump, is_done;
    uint8_t octets[CAPTURE_MAX_FRAME];
};

enum hex_answer {
    HEX_NOTHING = 0,
    HEX_FRAME = 1, /* `octets` has a frame */
    HEX_AGAIN = 2, /* the same, of the lines before: this line has to be given again */
};

void xoff_hex_begin(struct hex_in *in);
/* Takes a line of `length` characters; one '\n' at its end does no harm. Returns an answer, or a
 * negative code with err->column where the line cannot be understood. */
int xoff_hex_line(struct hex_in *in, const char *line, size_t length, struct xoff_err *err);
/* The text has ended: HEX_FRAME or HEX_NOTHING. */
int xoff_hex_end(struct hex_in *in);

#endif
