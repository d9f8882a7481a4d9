/* What can be seen in a capture of a link: whether PFC, DCBX and CN frames are well formed, and
 * what the two ports do with them. */
#ifndef CONFORM_WATCH_H
#define CONFORM_WATCH_H

#include <xoff/conform.h>

#include "wire/capture_in.h"

#define WATCH_MAX_FINDINGS 32 /* of a check that are kept; all are counted */

struct watch_finding {
    uint64_t frame; /* its number in the file, from 1 */
    char text[160];
};

struct watch_result {
    struct xoff_conform_result result;
    uint64_t n_findings;
    struct watch_finding findings[WATCH_MAX_FINDINGS];
};

enum watch_check {
    WATCH_PFC,     /* pause frames are well formed */
    WATCH_QUANTA,  /* how long pauses last */
    WATCH_REFRESH, /* pauses are renewed before they run out */
    WATCH_RESUME,  /* pauses end by a resume */
    WATCH_DCBX,    /* LLDP frames and their TLVs are well formed */
    WATCH_WILLING, /* the two ports agree */
    WATCH_CNM,     /* congestion notification messages are well formed */
    WATCH_N_CHECKS
};

extern const struct xoff_conform_test watch_tests[WATCH_N_CHECKS];

struct watch;

/* `rate_bps` of the link tells how long a quantum is. */
struct watch *watch_create(xoff_rate rate_bps);
void watch_destroy(struct watch *watch);
void watch_frame(struct watch *watch, const struct capture_frame *frame);
/* The capture has ended; WATCH_N_CHECKS results follow, which stay the watch's. */
const struct watch_result *watch_end(struct watch *watch);

#endif
