/* What must hold of any run, whatever network it is of. */
#ifndef SUPPORT_MUST_HOLD_H
#define SUPPORT_MUST_HOLD_H

#include "scenario/build.h"

enum verdict {
    JUDGE_FINE,
    JUDGE_BUSY,     /* the time to drain was over before all was delivered */
    JUDGE_LOSS,     /* a frame of a lossless priority found no room */
    JUDGE_AUDIT,    /* books that do not add up */
    JUDGE_DEADLOCK, /* one was reported that the routes do not allow */
    JUDGE_HELD,     /* frames are left although the network is at rest */
    JUDGE_FLOW      /* a flow did not arrive although nothing was lost */
};

/* Judges a run; `why` gets a sentence if something is wrong. No loss is held against networks that
 * are warned about, that have errors or changes of links, or whose ports agree on their PFC. */
enum verdict judge(const struct built *built, const struct results *results, char *why,
                   size_t why_size);

/* Whether the only link of a host is down at the end of a run: what the host has to send, and
 * messages of transports that ask for an answer again and again, stay there. */
bool is_cut_off(const struct built *built, uint32_t node, xoff_time end_at);

#endif
