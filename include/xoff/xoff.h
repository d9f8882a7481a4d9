/* libxoff: mechanisms of lossless Ethernet as pure state machines, and their wire formats. */
#ifndef XOFF_XOFF_H
#define XOFF_XOFF_H

#include <xoff/arb.h>
#include <xoff/bcn.h>
#include <xoff/cee_tlv.h>
#include <xoff/cnm.h>
#include <xoff/cp.h>
#include <xoff/dcbx.h>
#include <xoff/dcbx_tlv.h>
#include <xoff/drr_quick.h>
#include <xoff/ecn_quick.h>
#include <xoff/err.h>
#include <xoff/eth.h>
#include <xoff/gate.h>
#include <xoff/headroom.h>
#include <xoff/lldp.h>
#include <xoff/lldp_tx.h>
#include <xoff/mmu.h>
#include <xoff/mmu_quick.h>
#include <xoff/notice.h>
#include <xoff/np.h>
#include <xoff/param.h>
#include <xoff/path.h>
#include <xoff/pause.h>
#include <xoff/pfc_frame.h>
#include <xoff/rate_tag.h>
#include <xoff/registry.h>
#include <xoff/rel.h>
#include <xoff/rng.h>
#include <xoff/rp.h>
#include <xoff/sched.h>
#include <xoff/signal.h>
#include <xoff/time.h>
#include <xoff/uec.h>
#include <xoff/units.h>

#endif
