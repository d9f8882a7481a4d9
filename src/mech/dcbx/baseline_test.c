/* Baseline in the terms of 802.1Qaz: groups and classes, what is said, what is heard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mech/dcbx/baseline.h"

#define BIT(kind) ((uint8_t)(1u << (kind)))

static const struct xoff_cee_head on = {.is_there = true, .is_enabled = true};

/* Priority 7 is strict. Groups 0 and 1 have 60 and 40 %, so class 7 is the highest that is free. */
static void strict_priorities_get_a_class(void **state)
{
    (void)state;
    const struct xoff_cee cee = {
        .groups = {.head = on,
                   .group_of = {0, 0, 0, 1, 0, 0, 0, XOFF_CEE_STRICT_GROUP},
                   .percent = {60, 40},
                   .n_classes = 3}};
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_true(remote.is_baseline);
    assert_int_equal(remote.has,
                     BIT(XOFF_DCBX_ETS_CONFIGURATION) | BIT(XOFF_DCBX_ETS_RECOMMENDATION));
    const uint8_t class_of[8] = {0, 0, 0, 1, 0, 0, 0, 7}, tsa[8] = {2, 2, 2, 2, 2, 2, 2, 0};
    assert_memory_equal(remote.ets.class_of, class_of, 8);
    assert_memory_equal(remote.ets.percent, cee.groups.percent, 8);
    assert_memory_equal(remote.ets.tsa, tsa, 8);
    assert_int_equal(remote.ets.max_classes, 3);
    assert_memory_equal(&remote.recommendation, &remote.ets, sizeof remote.ets);
}

/* Eight groups leave no class for strict priorities; seven leave one. */
static void without_a_class_left_the_tables_are_unusable(void **state)
{
    (void)state;
    struct xoff_cee cee = {.groups = {.head = on,
                                      .group_of = {15, 0, 1, 2, 3, 4, 5, 6},
                                      .percent = {13, 13, 13, 13, 12, 12, 12, 12}}};
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.ets.class_of[0], 8);
    assert_true(xoff_dcbx_ets_remarks(&remote.ets, true) & BIT(XOFF_DCBX_REMARK_CLASS));
    /* A group of one per cent without a priority is a group. */
    cee.groups.percent[7] = 1;
    cee.groups.percent[6] = 23;
    memset(&remote, 0, sizeof remote);
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.ets.class_of[0], 8);
    cee.groups.percent[7] = 0;
    cee.groups.percent[6] = 24;
    memset(&remote, 0, sizeof remote);
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.ets.class_of[0], 7);
    assert_int_equal(remote.ets.tsa[7], XOFF_TSA_STRICT);
    assert_int_equal(xoff_dcbx_ets_remarks(&remote.ets, true), 0);
}

static void a_willing_peer_recommends_nothing(void **state)
{
    (void)state;
    struct xoff_cee cee = {.groups = {.head = on, .percent = {100}}};
    cee.groups.head.is_willing = true;
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.has, BIT(XOFF_DCBX_ETS_CONFIGURATION));
    assert_true(remote.ets.is_willing);
}

static void a_feature_that_is_off_is_not_heard(void **state)
{
    (void)state;
    struct xoff_cee cee = {
        .groups.head.is_there = true, .pfc.head.is_there = true, .apps.head.is_there = true};
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.has, 0);
    cee.pfc.head.is_enabled = true;
    cee.pfc.enabled = 0x18;
    cee.pfc.n_classes = 4;
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.has, BIT(XOFF_DCBX_PFC));
    assert_int_equal(remote.pfc.enabled, 0x18);
    assert_int_equal(remote.pfc.max_classes, 4);
}

static void applications_are_translated(void **state)
{
    (void)state;
    const struct xoff_cee cee = {.apps = {.head = on,
                                          .n = 4,
                                          .app = {{0x8906, 0, 0x001b21, 0x28},
                                                  {3260, 1, 0x001b21, 0x10},
                                                  {7, 2, 0, 0x10},    /* unknown selector */
                                                  {8, 0, 0, 0x00}}}}; /* no priority */
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_int_equal(remote.apps.n, 2);
    const struct xoff_dcbx_app fcoe = {3, XOFF_APP_ETHERTYPE, 0x8906},
                               iscsi = {4, XOFF_APP_PORT, 3260};
    assert_memory_equal(&remote.apps.app[0], &fcoe, sizeof fcoe);
    assert_memory_equal(&remote.apps.app[1], &iscsi, sizeof iscsi);
}

/* What a port says is what it would hear: classes under ETS keep their numbers, the strict one is
 * group 15 between. */
static void what_is_said_is_heard(void **state)
{
    (void)state;
    struct xoff_dcbx dcbx = {
        .cee_seq = 5,
        .admin = {.sends = BIT(XOFF_DCBX_ETS_CONFIGURATION) | BIT(XOFF_DCBX_PFC) |
                           BIT(XOFF_DCBX_APPLICATIONS),
                  .is_willing_apps = true,
                  .apps = {.n = 3,
                           .app = {{3, XOFF_APP_ETHERTYPE, 0x8906},
                                   {4, XOFF_APP_TCP, 3260},
                                   {5, XOFF_APP_DSCP, 46}}}},
        .operational = {.ets = {.max_classes = 8,
                                .class_of = {0, 0, 0, 1, 0, 0, 0, 7},
                                .percent = {60, 40},
                                .tsa = {2, 2, 2, 2, 2, 2, 2, 0}},
                        .pfc = {.is_willing = true, .max_classes = 4, .enabled = 0x08},
                        .differs = BIT(XOFF_DCBX_PFC)}};
    struct xoff_cee cee;
    xoff_baseline_say(&dcbx, 9, &cee);
    assert_int_equal(cee.control.seq, 5);
    assert_int_equal(cee.control.ack, 9);
    assert_int_equal(cee.groups.group_of[7], XOFF_CEE_STRICT_GROUP);
    assert_false(cee.groups.head.has_error);
    assert_true(cee.pfc.head.has_error);
    assert_int_equal(cee.apps.n, 2); /* there is no entry for a DSCP */
    struct xoff_dcbx_remote remote = {0};
    xoff_baseline_hear(&cee, &remote);
    assert_memory_equal(&remote.ets, &dcbx.operational.ets, sizeof remote.ets);
    assert_memory_equal(&remote.pfc, &dcbx.operational.pfc, sizeof remote.pfc);
    const struct xoff_dcbx_app iscsi = {4, XOFF_APP_PORT, 3260};
    assert_memory_equal(&remote.apps.app[1], &iscsi, sizeof iscsi);
    dcbx.admin.sends = 0;
    xoff_baseline_say(&dcbx, 9, &cee);
    assert_false(cee.groups.head.is_there || cee.pfc.head.is_there || cee.apps.head.is_there);
}

/* The fullest table has a TLV that can be written. */
static void a_full_table_of_applications_fits(void **state)
{
    (void)state;
    struct xoff_dcbx dcbx = {.admin = {.sends = BIT(XOFF_DCBX_ETS_CONFIGURATION) |
                                                BIT(XOFF_DCBX_PFC) | BIT(XOFF_DCBX_APPLICATIONS),
                                       .apps.n = XOFF_DCBX_MAX_APPS}};
    for (unsigned i = 0; i < XOFF_DCBX_MAX_APPS; i++)
        dcbx.admin.apps.app[i] = (struct xoff_dcbx_app){1, XOFF_APP_TCP, (uint16_t)i};
    struct xoff_cee cee;
    xoff_baseline_say(&dcbx, 0, &cee);
    uint8_t buf[XOFF_DCBX_MAX_TLV];
    assert_true(xoff_cee_tlv_encode(&cee, buf, sizeof buf) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_priorities_get_a_class),
        cmocka_unit_test(without_a_class_left_the_tables_are_unusable),
        cmocka_unit_test(a_willing_peer_recommends_nothing),
        cmocka_unit_test(a_feature_that_is_off_is_not_heard),
        cmocka_unit_test(applications_are_translated),
        cmocka_unit_test(what_is_said_is_heard),
        cmocka_unit_test(a_full_table_of_applications_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
