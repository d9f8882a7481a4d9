/* Datagrams, both ends by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct xoff_rel configured(void)
{
    struct xoff_rel rel = {.ops = &xoff_rel_datagram};
    const struct xoff_rel_env env = {.payload_bytes = 1000, .timeout_for = XOFF_MS};
    struct xoff_err err;
    assert_int_equal(rel.ops->configure(NULL, &env, NULL, &rel.shape, &err), 0);
    assert_true(rel.shape.reorders && !rel.ops->has_acks);
    assert_true(!rel.shape.rx_size && !rel.shape.tx_size);
    return rel;
}

/* Nothing is repeated and no timer runs; `una` is where the current message begins. */
static void sends_and_forgets(void **unused)
{
    (void)unused;
    const struct xoff_rel rel = configured();
    struct xoff_rel_tx tx;
    struct xoff_rel_segment s;
    xoff_rel_init_tx(&rel, &tx);
    static const uint64_t una[] = {0, 2500, 2500, 4500}; /* messages of 2500 B and 2000 B */
    static const uint32_t bytes[] = {1000, 1500, 1000, 1000};
    static const bool is_last[] = {false, true, false, true};
    uint64_t seq = 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(xoff_rel_next(&rel, &tx, NULL, UINT64_MAX, UINT64_MAX, bytes[i], &s));
        assert_int_equal(s.seq, seq);
        assert_false(s.is_again);
        s.is_last = is_last[i];
        xoff_rel_on_sent(&rel, &tx, &s, i);
        seq += bytes[i];
        assert_int_equal(tx.una, una[i]);
        assert_int_equal(tx.next, seq);
        assert_int_equal(tx.sent_to, seq);
        assert_true(tx.deadline == XOFF_NEVER);
    }
    assert_false(xoff_rel_next(&rel, &tx, NULL, 4500, UINT64_MAX, 1000, &s));
    assert_true(xoff_rel_next(&rel, &tx, NULL, 4501, UINT64_MAX, 1000, &s));
    assert_int_equal(s.bytes, 1);
}

/* Bytes of a message count in any order; with another message they count anew. */
static void counts_the_bytes_of_a_message(void **unused)
{
    (void)unused;
    const struct xoff_rel rel = configured();
    struct xoff_rel_rx rx;
    assert_null(rel.ops->on_data);
    xoff_rel_init_rx(&rel, &rx);
    assert_true(rx.delivered == 0 && rx.deadline == XOFF_NEVER && !rx.is_open);
    xoff_rel_count(&rx, false, 500);
    assert_int_equal(rx.delivered, 500);
    xoff_rel_count(&rx, false, 1000);
    assert_int_equal(rx.delivered, 1500);
    xoff_rel_count(&rx, true, 1000); /* what the last message lacked is lost */
    assert_int_equal(rx.delivered, 1000);
    xoff_rel_count(&rx, false, 1);
    assert_int_equal(rx.delivered, 1001);
    struct xoff_rel_ack ack;
    assert_false(xoff_rel_on_late(&rel, &(struct xoff_rel_data){.bytes = 10}, &ack));
}

static void refuses_what_needs_acks(void **unused)
{
    (void)unused;
    struct xoff_rel_shape shape = {0};
    struct xoff_err err;
    const struct xoff_rel_env acks = {.payload_bytes = 1000, .needs_acks = true};
    const struct xoff_rel_env window = {.payload_bytes = 1000, .has_window = true};
    assert_int_equal(xoff_rel_datagram.configure(NULL, &acks, NULL, &shape, &err),
                     -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "reliability");
    assert_non_null(strstr(err.message, "go-back-n or tcp"));
    assert_int_equal(xoff_rel_datagram.configure(NULL, &window, NULL, &shape, &err),
                     -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "window");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_and_forgets),
        cmocka_unit_test(counts_the_bytes_of_a_message),
        cmocka_unit_test(refuses_what_needs_acks),
    };
    return cmocka_run_group_tests_name("datagram", tests, NULL, NULL);
}
