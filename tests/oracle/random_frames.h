/* Random frames, each with what tshark must say of it: the makers and what they write to. */
#ifndef ORACLE_RANDOM_FRAMES_H
#define ORACLE_RANDOM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <xoff/rng.h>

enum { FRAMES_MAX_OCTETS = 2000, FRAMES_MAX_TRUTH = 1 << 15 };

struct frames {
    struct xoff_rng rng;
    uint8_t octets[FRAMES_MAX_OCTETS]; /* of the frame that is being made, without FCS */
    size_t n;
    char truth[FRAMES_MAX_TRUTH]; /* its fields: name=value, separated by tabs */
    size_t n_truth;
};

/* A field of tshark's and its value, a number. A field that occurs several times in a frame is said
 * several times, in order. */
void frames_say(struct frames *f, const char *field, uint64_t value);
void frames_say_signed(struct frames *f, const char *field, int64_t value);
/* The same for fields with a number in their name, which `field` has a %u for. */
void frames_say_at(struct frames *f, const char *field, unsigned index, uint64_t value);
void frames_say_address(struct frames *f, const char *field, const uint8_t address[6]);
void frames_say_octets(struct frames *f, const char *field, const uint8_t *octets, size_t n);
void frames_say_text(struct frames *f, const char *field, const char *text);

/* Random values. */
uint64_t frames_bits(struct frames *f, unsigned n);
unsigned frames_below(struct frames *f, unsigned n);
bool frames_coin(struct frames *f);
void frames_octets(struct frames *f, void *to, size_t n);

typedef void frames_maker(struct frames *f);
frames_maker make_cnm, make_bcn, make_notice, make_bth, make_tcp_header, make_lldp;
frames_maker make_pause, make_roce, make_tcp, make_message;

#endif
