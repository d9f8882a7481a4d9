/* Notifications of our own format: golden octets, round trips, cut ones. */
#include "wire/codec_testing.h"

#include "wire/notice_frame.h"

static void golden(void **unused)
{
    (void)unused;
    static const uint8_t octets[33] = {
        7,    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,             /* kind, point */
        0xff, 0xff, 0xff, 0xfe, 0,    1,    2,    3,                      /* feedback, offset */
        0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0,    0, 0, 0x99, /* delta, rate */
        1,    2,    3,    4};                                             /* flow */
    struct notice_frame notice;
    struct xoff_err err;
    assert_int_equal(xoff_notice_frame_decode(octets, 33, 0, &notice, &err), 33);
    assert_int_equal(notice.kind, 7);
    assert_true(notice.cp_id == 0x1122334455667788);
    assert_int_equal(notice.feedback, -2);
    assert_int_equal(notice.queue_offset_bytes, 0x10203);
    assert_int_equal(notice.queue_delta_bytes, -1);
    assert_true(notice.rate_bps == 0x99);
    assert_int_equal(notice.flow, 0x01020304);
}

static void leave(uint8_t *octets)
{
    (void)octets;
}

static void any_notice_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct notice_frame, xoff_notice_frame_decode, xoff_notice_frame_encode,
                          33, leave);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(any_notice_survives),
    };
    return cmocka_run_group_tests_name("notice_frame", tests, NULL, NULL);
}
