/* Images: what was saved comes back, and what does not fit is found where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/image.h"

struct example {
    uint32_t n, capacity;
    uint16_t *numbers;
};

static void image_example(struct image *image, struct example *e, uint64_t shape)
{
    uint16_t *built = e->numbers;
    image_part(image, "first");
    image_same(image, shape);
    image_bytes(image, e, sizeof *e);
    e->numbers = built;
    image_part(image, "second");
    image_array(image, &e->numbers, e->n, e->capacity, sizeof *e->numbers);
}

static struct image saved(uint64_t shape)
{
    uint16_t numbers[] = {7, 8, 9, 10};
    struct image image = {0};
    image_example(&image, &(struct example){3, 4, numbers}, shape);
    image.is_loading = true;
    return image;
}

static void test_round(void **state)
{
    (void)state;
    struct image image = saved(5);
    struct example e = {0};
    image_example(&image, &e, 5);
    assert_null(image.misfit);
    assert_int_equal(image.at, image.n);
    assert_int_equal(e.n, 3);
    assert_int_equal(e.capacity, 4);
    assert_int_equal(e.numbers[0], 7);
    assert_int_equal(e.numbers[2], 9);
    assert_true(image_has(&image, &e) && image.misfit); /* there is nothing behind the end */
    free(e.numbers);
    image_fini(&image);
}

/* After a misfit nothing changes any more. */
static void test_misfit(void **state)
{
    (void)state;
    struct image image = saved(5);
    struct example e = {.n = 1, .capacity = 2};
    image_example(&image, &e, 6);
    assert_string_equal(image.misfit, "first");
    assert_int_equal(e.n, 1);
    assert_null(e.numbers);
    image_fini(&image);
}

/* Each byte that is missing at the end is noticed. */
static void test_short(void **state)
{
    (void)state;
    struct image image = saved(5);
    const size_t n = image.n;
    for (size_t length = 0; length < n; length++) {
        struct example e = {0};
        image.n = length;
        image.at = 0;
        image.misfit = NULL;
        image_example(&image, &e, 5);
        /* Parts: 8 bytes of name, 8 of shape, the struct; 8 of name, 6 of numbers. */
        assert_string_equal(image.misfit, length < 16 + sizeof e ? "first" : "second");
        free(e.numbers);
    }
    image_fini(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_misfit),
                                       cmocka_unit_test(test_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
