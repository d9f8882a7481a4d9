/* The digest: order, position, byte order, and values pinned for every machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"

static uint64_t of_words(const uint64_t *words, size_t n)
{
    struct digest d;
    digest_init(&d);
    for (size_t i = 0; i < n; i++)
        digest_u64(&d, words[i]);
    return d.state;
}

static uint64_t of_bytes(const void *bytes, size_t n)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, bytes, n);
    return d.state;
}

/* One value into a fresh digest is the first splitmix64 output of a generator seeded with it; that
 * of seed 0 is published with the algorithm. */
static void first_value_is_splitmix(void **state)
{
    (void)state;
    assert_true(of_words((uint64_t[]){0}, 1) == UINT64_C(0xe220a8397b1dcdaf));
}

static void order_and_count_matter(void **state)
{
    (void)state;
    const uint64_t ab = of_words((uint64_t[]){1, 2}, 2);
    assert_true(ab != of_words((uint64_t[]){2, 1}, 2));
    assert_true(ab != of_words((uint64_t[]){1, 2, 0}, 3));
    assert_true(ab != of_words((uint64_t[]){0, 1, 2}, 3));
    assert_true(ab == of_words((uint64_t[]){1, 2}, 2));
    assert_true(of_words(NULL, 0) != of_words((uint64_t[]){0}, 1));
}

/* Every single-bit change of a short record shows, and about half the digest's bits move. */
static void each_bit_matters(void **state)
{
    (void)state;
    unsigned char record[24];
    for (size_t i = 0; i < sizeof record; i++)
        record[i] = (unsigned char)(i * 37);
    const uint64_t base = of_bytes(record, sizeof record);
    unsigned n_moved = 0;
    for (unsigned bit = 0; bit < 8 * sizeof record; bit++) {
        record[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const uint64_t other = of_bytes(record, sizeof record);
        record[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(other != base);
        n_moved += (unsigned)__builtin_popcountll(other ^ base);
    }
    /* 192 changes of 32 bits on average: 6144, standard deviation sqrt(192 * 16) = 55 */
    assert_in_range(n_moved, 6144 - 5 * 55, 6144 + 5 * 55);
}

/* Eight bytes are one word, low byte first, and then their number. */
static void bytes_are_little_endian_words(void **state)
{
    (void)state;
    const unsigned char bytes[9] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff};
    const uint64_t words[] = {UINT64_C(0x0807060504030201), 8};
    assert_true(of_bytes(bytes, 8) == of_words(words, 2));
    assert_true(of_bytes(bytes, 9) == of_words((uint64_t[]){words[0], 0xff, 9}, 3));
    assert_true(of_bytes(bytes, 7) == of_words((uint64_t[]){UINT64_C(0x07060504030201), 7}, 2));
    assert_true(of_bytes(bytes, 0) == of_words((uint64_t[]){0}, 1));
    assert_true(of_bytes("a\0", 1) != of_bytes("a\0", 2)); /* padding is not content */
}

static void pieces_are_told_apart(void **state)
{
    (void)state;
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, "ab", 2);
    digest_bytes(&d, "c", 1);
    assert_true(d.state != of_bytes("abc", 3));
}

static void hex_text(void **state)
{
    (void)state;
    char text[18] = "zzzzzzzzzzzzzzzzz";
    digest_hex(&(struct digest){UINT64_C(0x0123456789abcdef)}, text);
    assert_memory_equal(text, "0123456789abcdef\0", 18);
    digest_hex(&(struct digest){0}, text);
    assert_string_equal(text, "0000000000000000");
    digest_hex(&(struct digest){of_bytes("xoff", 4)}, text);
    assert_string_equal(text, "220f864c4e730178");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_value_is_splitmix), cmocka_unit_test(order_and_count_matter),
        cmocka_unit_test(each_bit_matters),        cmocka_unit_test(bytes_are_little_endian_words),
        cmocka_unit_test(pieces_are_told_apart),   cmocka_unit_test(hex_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
