/* What tests of codecs share: random values, and errors that must name field and place. */
#ifndef WIRE_CODEC_TESTING_H
#define WIRE_CODEC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/err.h>
#include <xoff/rng.h>

enum { CODEC_ROUNDS = 20000, CODEC_SEED = 1 };

/* A failed assertion of the library fails the test, or is what the test expects. */
_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static inline void random_octets(struct xoff_rng *rng, void *to, size_t n)
{
    uint8_t *octets = to;
    for (size_t i = 0; i < n; i++)
        octets[i] = (uint8_t)xoff_rng_below(rng, 256);
}

static inline uint64_t random_bits(struct xoff_rng *rng, unsigned n)
{
    return n == 64 ? xoff_rng_u64(rng) : xoff_rng_u64(rng) & ((UINT64_C(1) << n) - 1);
}

/* `answer` is what a decoder returned: a refusal of `field` with that message. A single octet that
 * is named is also shown. */
static inline void assert_refused(int answer, const struct xoff_err *err, const char *field,
                                  const char *message)
{
    assert_true(answer < 0);
    assert_int_equal(answer, -(int)err->code);
    assert_string_equal(err->subject, field);
    assert_string_equal(err->message, message);
    if (strncmp(message, "octet ", 6) == 0 && !strstr(message, "cut off"))
        assert_int_equal(strlen(err->value), 2);
}

/* Any octets that `fix` makes valid are read and written back as they were, need their room to the
 * last octet, and are refused when one is missing. `decode` and `encode` are those of `type`, for a
 * part at offset 0 with a length of n. */
#define ASSERT_OCTETS_SURVIVE(type, decode, encode, n, fix)                               \
    do {                                                                                  \
        struct xoff_rng rng_;                                                             \
        xoff_rng_init(&rng_, CODEC_SEED, __LINE__, n);                                    \
        for (int round_ = 0; round_ < CODEC_ROUNDS; round_++) {                           \
            uint8_t octets_[n], back_[(n) + 1];                                           \
            type decoded_;                                                                \
            struct xoff_err err_;                                                         \
            random_octets(&rng_, octets_, n);                                             \
            fix(octets_);                                                                 \
            memset(back_, 0xee, sizeof back_);                                            \
            assert_int_equal(decode(octets_, n, 0, &decoded_, &err_), n);                 \
            assert_int_equal(encode(&decoded_, back_, n), n);                             \
            assert_memory_equal(back_, octets_, n);                                       \
            assert_int_equal(back_[n], 0xee);                                             \
            assert_int_equal(encode(&decoded_, back_, (n)-1), 0);                         \
            const size_t cut_ = xoff_rng_below(&rng_, n);                                 \
            assert_int_equal(decode(octets_, cut_, 0, &decoded_, &err_), -XOFF_E_SYNTAX); \
        }                                                                                 \
    } while (0)

#endif
