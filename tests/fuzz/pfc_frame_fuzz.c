/* libFuzzer target for the decoder of PAUSE and PFC frames: whatever it accepts must keep its
 * meaning through encode and decode, and whatever it refuses must name a field and pause nobody. */
#include <xoff/pfc_frame.h>

#include "target.h"

#define N_OCTETS (XOFF_PAUSE_FRAME_BYTES - 4)

static int same(const struct xoff_pause_frame *a, const struct xoff_pause_frame *b)
{
    return a->opcode == b->opcode && a->classes == b->classes &&
           memcmp(a->quanta, b->quanta, sizeof a->quanta) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xoff_err err = {0};
    struct xoff_pause_frame frame, again;
    memset(&frame, 0xff, sizeof frame);
    const int code = xoff_pause_frame_decode(data, size, &frame, &err);
    if (code != 0) {
        require(code == -(int)err.code);
        require(err.subject[0] != '\0' && err.message[0] != '\0');
        require(same(&frame, &(struct xoff_pause_frame){0}));
        return 0;
    }

    uint8_t buf[N_OCTETS];
    xoff_pause_frame_encode(&frame, data + 6, buf);
    require(xoff_pause_frame_decode(buf, sizeof buf, &again, &err) == 0);
    require(same(&frame, &again));
    /* All but the padding, which is zero now. */
    const size_t meaning = frame.opcode == XOFF_OPCODE_PAUSE ? 18 : 34;
    require(memcmp(buf, data, meaning) == 0);
    for (size_t i = meaning; i < sizeof buf; i++)
        require(buf[i] == 0);
    return 0;
}
