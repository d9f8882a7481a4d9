/* Set-ups as text: everything comes back, and what cannot be meant is refused by its word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conform/devices.h"

static struct xoff_device_setup filled(void)
{
    struct xoff_device_setup setup = {.kind = XOFF_DEVICE_STATION,
                                      .n_ports = 9,
                                      .rate_bps = 800 * XOFF_GBPS,
                                      .delay = 500 * XOFF_NS,
                                      .max_frame_bytes = 1522,
                                      .pfc = 0xff,
                                      .strict = 0x80,
                                      .cn = 0x7f,
                                      .cn_alternate = 7,
                                      .cn_min_header = 64,
                                      .has_dcbx = true,
                                      .ets_willing = true,
                                      .fcoe_priority = -1,
                                      .dcbx_mac = {0x02, 0xff, 0x80, 0x7f, 0x01, 0x00},
                                      .sources = 0x81,
                                      .source_bytes = 1000,
                                      .station_mac = {0xff, 0xfe, 0, 1, 2, 3}};
    for (uint32_t i = 0; i < XOFF_CONFORM_MAX_PORTS; i++)
        setup.defence[i] = (enum xoff_device_defence)(i & 3);
    for (uint8_t p = 0; p < 8; p++)
        setup.percent[p] = (uint8_t)(12 + p);
    return setup;
}

static void test_round_trip(void **state)
{
    const struct xoff_device_setup setup = filled();
    struct xoff_device_setup back;
    struct xoff_err err;
    char text[1024], again[1024];
    (void)state;
    setup_format(&setup, text, sizeof text);
    assert_true(strlen(text) < sizeof text - 1);
    assert_int_equal(setup_parse(text, &back, &err), 0);
    assert_string_equal(setup_format(&back, again, sizeof again), text);
    assert_int_equal(back.fcoe_priority, -1);
    assert_int_equal(back.pfc, 0xff);
    assert_memory_equal(back.dcbx_mac, setup.dcbx_mac, 6);
    assert_int_equal(back.defence[7], XOFF_DEVICE_CN_INTERIOR_READY);
}

static void refused(const char *text, const char *words)
{
    struct xoff_device_setup setup;
    struct xoff_err err = {0};
    assert_true(setup_parse(text, &setup, &err) < 0);
    assert_non_null(strstr(err.message, words));
}

#define GOOD "ports=1 rate=1000000 max_frame=64"

static void test_refused(void **state)
{
    struct xoff_device_setup setup;
    struct xoff_err err;
    (void)state;
    assert_int_equal(setup_parse(GOOD, &setup, &err), 0);
    assert_int_equal(setup_parse("max_frame=16000 rate=1 ports=9", &setup, &err), 0);
    refused("", "out of range");
    refused("ports=0 rate=1 max_frame=64", "out of range");
    refused("ports=10 rate=1 max_frame=64", "out of range");
    refused("ports=1 rate=0 max_frame=64", "out of range");
    refused("ports=1 rate=1 max_frame=63", "out of range");
    refused("ports=1 rate=1 max_frame=16001", "out of range");
    refused(GOOD " cn_alternate=8", "out of range");
    refused(GOOD " colour=1", "is no key=value");
    refused(GOOD " pfc", "is no key=value");
    refused(GOOD " pfc=", "not a list of numbers");
    refused(GOOD " pfc=x", "not a list of numbers");
    refused(GOOD " pfc=1,2", "too many");
    refused(GOOD " mac=1,2,3,4,5", "too few");
    refused(GOOD " mac=1,2,3,4,5,6,7", "too many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
