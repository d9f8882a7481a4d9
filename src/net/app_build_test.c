/* The list of apps: growth keeps order, blocks are freed once, an empty set can be finished. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/app.h"

static void grows_in_order(void **unused)
{
    (void)unused;
    struct app_set set = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *block = malloc(sizeof *block);
        assert_non_null(block);
        *block = i;
        assert_int_equal(app_set_keep(&set, block), 0);
        assert_int_equal(app_set_add(&set, &(struct app){.host = i, .state = block}), 0);
    }
    assert_int_equal(set.n, 1000);
    assert_int_equal(set.n_blocks, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(set.apps[i].host, i);
        assert_int_equal(*(uint32_t *)set.apps[i].state, i);
        assert_ptr_equal(set.blocks[i], set.apps[i].state);
    }
    app_set_fini(&set);
    assert_int_equal(set.n, 0);
    assert_null(set.apps);
}

static void empty_set_is_finished_twice(void **unused)
{
    (void)unused;
    struct app_set set = {0};
    app_set_fini(&set);
    app_set_fini(&set);
    assert_null(set.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_in_order),
        cmocka_unit_test(empty_set_is_finished_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
