/* Named values for people or as JSON, from one and the same calls.
 *
 * Text is "name value, name value" behind the name of a group, wrapped to 80 columns; JSON is one
 * object a line. A group within a list is an object of its own.
 */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct values {
    FILE *out;
    bool is_json;
    bool has_field;  /* in this group or object: a comma is due */
    unsigned column; /* of text */
};

/* Begins and ends the object of a line of JSON; of text, nothing. */
void values_begin_line(struct values *f);
void values_end_line(struct values *f);
/* The list of groups in that object. */
void values_begin_groups(struct values *f, const char *name);
void values_end_groups(struct values *f);
/* A group: a line of text that begins with its name. */
void values_begin(struct values *f, const char *name);
void values_end(struct values *f);

void values_text(struct values *f, const char *name, const char *value);
/* At most `n` characters, which may be anything. */
void values_raw_text(struct values *f, const char *name, const void *characters, size_t n);
void values_int(struct values *f, const char *name, int64_t value);
void values_unsigned(struct values *f, const char *name, uint64_t value);
/* Text has it as 0x with as many digits, and so has JSON beyond eight of them: a double holds less
 * than 64 bits. Below, JSON has a number. */
void values_hex(struct values *f, const char *name, uint64_t value, unsigned digits);
/* Text has the name alone, and nothing where the value is false. */
void values_is(struct values *f, const char *name, bool value);
void values_mac(struct values *f, const char *name, const uint8_t mac[6]);
void values_ipv4(struct values *f, const char *name, uint32_t address);
void values_octets(struct values *f, const char *name, const uint8_t *octets, size_t n);
/* The bits that are set: [3, 7]. */
void values_bits(struct values *f, const char *name, uint32_t bits);
void values_numbers(struct values *f, const char *name, const uint32_t *numbers, size_t n);

#endif
