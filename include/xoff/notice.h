/* The message of a congestion point: the content of a notification that a switch sends to the
 * source of a frame, and of the tag that switches write into a data frame on its way.
 *
 * The kind decides which fields have a meaning. A kind belongs to one scheme: the scheme's
 * congestion point writes the message, its reaction point or receiver reads it, and everyone else
 * passes it on unread.
 */
#ifndef XOFF_NOTICE_H
#define XOFF_NOTICE_H

#include <stdint.h>

#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_NOTICE_NONE 0 /* the frame carries no tag yet */
#define XOFF_NOTICE_QCN 1  /* feedback, queue_offset_bytes, queue_delta_bytes */
#define XOFF_NOTICE_FECN 2 /* rate_bps; feedback below 0: from a switch, in severe congestion */
#define XOFF_NOTICE_ECM 3  /* queue_offset_bytes, queue_delta_bytes; both 0: stop */
/* The rate-regulation tag of a source (rp.h): point cp_id limits the flow of this frame. */
#define XOFF_NOTICE_LIMITED 4
#define XOFF_NOTICE_E2CM 5 /* a probe that comes back; no field has a meaning */

#define XOFF_NOTICE_NO_RATE UINT64_MAX /* rate_bps that no switch has lowered yet */
#define XOFF_RATE_TAG_BYTES 16         /* that a tag takes in a data frame of its own source */

struct xoff_notice {
    uint64_t cp_id;             /* the congestion point that wrote it: xoff_cp_id() */
    int32_t feedback;           /* how bad it is, in the scheme's units; QCN: Fb, -63 .. -1 */
    int32_t queue_offset_bytes; /* queue length less its set point */
    int32_t queue_delta_bytes;  /* queue length less that of the sample before */
    xoff_rate rate_bps;         /* rate granted to each flow; FECN's explicit rate */
    uint8_t kind;               /* defined by the scheme; XOFF_NOTICE_NONE: no message */
};

#ifdef __cplusplus
}
#endif

#endif
