/* Frames out of a file or standard input: pcap, pcapng or hex text, told by the first octets. */
#ifndef CLI_FRAMES_IN_H
#define CLI_FRAMES_IN_H

#include "wire/capture_in.h"

struct frames_in;

/* `path` NULL or "-": standard input. Returns NULL with `err` filled where it cannot be opened. */
struct frames_in *frames_open(const char *path, struct xoff_err *err);
/* Reads the next frame; its octets are valid until the next call. Returns 1, 0 at the end, or a
 * negative code with `err` filled, which was zeros: nothing more can be read. Frames of text have
 * no interface. */
int frames_next(struct frames_in *in, struct capture_frame *frame, struct xoff_err *err);
/* Whether the file is a capture; hex text is none. Known once frames_next() was called. */
bool frames_is_capture(const struct frames_in *in);
void frames_close(struct frames_in *in);

#endif
