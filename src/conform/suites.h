/* The suites: arrays of tests, each ended by an empty one. */
#ifndef CONFORM_SUITES_H
#define CONFORM_SUITES_H

#include "conform/station.h"

extern const struct xoff_conform_test pfc_receive_tests[], pfc_send_tests[], ets_tests[],
    cn_point_tests[], cn_tag_tests[], dcbx_tests[];

#endif
