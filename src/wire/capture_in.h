/* Frames out of a pcap or pcapng file that is read piece by piece, in constant memory.
 *
 * The caller owns a buffer of at least CAPTURE_MAX_BLOCK octets, keeps in it what was not yet used,
 * and fills it up when asked. Nothing is copied: a frame's octets lie in that buffer.
 */
#ifndef WIRE_CAPTURE_IN_H
#define WIRE_CAPTURE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#define CAPTURE_MAX_BLOCK (1u << 20) /* that has to be read; others are skipped, however long */
#define CAPTURE_MAX_FRAME 262144u    /* as other programs have it */
#define CAPTURE_MAX_INTERFACES 1024  /* of a section */
#define CAPTURE_MAX_NAME 64
#define CAPTURE_ETHERNET 1 /* link_type */

enum capture_format { CAPTURE_UNKNOWN, CAPTURE_PCAP, CAPTURE_PCAPNG };
enum capture_direction { CAPTURE_NO_DIRECTION, CAPTURE_INBOUND, CAPTURE_OUTBOUND };

struct capture_interface {
    uint16_t link_type;
    uint8_t resolution; /* of times, as pcapng has it: 10^-n s; with the top bit set 2^-n s */
    uint8_t fcs_octets;
    uint32_t snap_octets; /* kept of a frame; 0: all */
    int64_t offset_s;     /* added to times */
    char name[CAPTURE_MAX_NAME];
};

struct capture_in {
    enum capture_format format;
    bool is_swapped;       /* numbers are big-endian */
    uint64_t offset;       /* in the file, of the next octet to use */
    uint64_t skip;         /* octets of a block that nobody needs */
    uint64_t tail;         /* length that must stand at its end; 0: none is expected */
    uint32_t n_interfaces; /* of this section */
    struct capture_interface interfaces[CAPTURE_MAX_INTERFACES];
};

struct capture_frame {
    const uint8_t *octets;
    uint32_t captured, original;
    const struct capture_interface *interface;
    uint32_t interface_index;
    bool has_time;
    uint64_t at_ns;
    uint8_t fcs_octets; /* at the end of the frame on the wire; 0: none, or not known */
    enum capture_direction direction;
    uint64_t offset; /* of its block in the file */
};

enum { CAPTURE_MORE = 0, CAPTURE_FRAME = 1 };

/* By the first 4 octets of a file. */
enum capture_format xoff_capture_format(const uint8_t first[4]);

void xoff_capture_begin(struct capture_in *in, enum capture_format format);

/* Looks for the next frame in the `n` octets that were not yet used, and says in `*used` how many
 * are used now. Returns CAPTURE_FRAME, CAPTURE_MORE where the next block is not all there, or a
 * negative code with `err` filled: the rest of the file cannot be read. */
int xoff_capture_next(struct capture_in *in, const uint8_t *octets, size_t n, size_t *used,
                      struct capture_frame *frame, struct xoff_err *err);

/* The file ends with `left` octets unused. Returns 0, or a negative code where it is cut off. */
int xoff_capture_end(const struct capture_in *in, size_t left, struct xoff_err *err);

#endif
