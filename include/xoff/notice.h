/* What a congestion point tells: the content of a notification that a switch sends to the source
 * of a frame, and of the tag that switches write into a data frame on its way.
 *
 * Which fields mean something is the kind's: it belongs to one scheme, whose congestion point
 * writes it and whose reaction point or receiver reads it. Everyone else carries it unread.
 */
#ifndef XOFF_NOTICE_H
#define XOFF_NOTICE_H

#include <stdint.h>

#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_NOTICE_NONE 0 /* a tag of this kind is no tag: the frame carries none yet */

struct xoff_notice {
    uint64_t cp_id;             /* which congestion point speaks: xoff_cp_id() */
    int32_t feedback;           /* how bad it is, in the scheme's units; QCN: Fb, quantised */
    int32_t queue_offset_bytes; /* queue length less its set point */
    int32_t queue_delta_bytes;  /* queue length less that of the sample before */
    xoff_rate rate_bps;         /* that the point grants each flow; FECN's explicit rate */
    uint8_t kind;               /* of the scheme; XOFF_NOTICE_NONE: nothing is said */
};

#ifdef __cplusplus
}
#endif

#endif
