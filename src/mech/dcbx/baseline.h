/* What a port of DCBX says and hears in the Baseline protocol, in the terms of 802.1Qaz. */
#ifndef MECH_DCBX_BASELINE_H
#define MECH_DCBX_BASELINE_H

#include <xoff/dcbx.h>

/* Fills what the TLV says; `mac` stays. */
void xoff_baseline_hear(const struct xoff_cee *cee, struct xoff_dcbx_remote *remote);
/* Fills the TLV of a port. `ack`: the peer's number, 0 without a peer. */
void xoff_baseline_say(const struct xoff_dcbx *dcbx, uint32_t ack, struct xoff_cee *cee);

#endif
