/* Every mechanism's ops table, by role: what registry.c lists. */
#ifndef MECH_MECHANISMS_H
#define MECH_MECHANISMS_H

#include <xoff/arb.h>
#include <xoff/cp.h>
#include <xoff/mmu.h>
#include <xoff/np.h>
#include <xoff/path.h>
#include <xoff/pause.h>
#include <xoff/rel.h>
#include <xoff/rp.h>
#include <xoff/sched.h>

extern const struct xoff_mmu_ops xoff_mmu_sih;
extern const struct xoff_mmu_ops xoff_mmu_dsh;
extern const struct xoff_mmu_ops xoff_mmu_insurance_only;
extern const struct xoff_mmu_ops xoff_mmu_static;
extern const struct xoff_mmu_ops xoff_mmu_two_sided;
extern const struct xoff_mmu_ops xoff_mmu_ns3;

extern const struct xoff_pause_ops xoff_pause_pfc;
extern const struct xoff_pause_ops xoff_pause_8023x;
extern const struct xoff_pause_ops xoff_pause_tpfc;
extern const struct xoff_pause_ops xoff_pause_capfc;
extern const struct xoff_pause_ops xoff_pause_none;

extern const struct xoff_sched_ops xoff_sched_ets;
extern const struct xoff_sched_ops xoff_sched_strict;
extern const struct xoff_sched_ops xoff_sched_drr;
extern const struct xoff_sched_ops xoff_sched_drr_awc;
extern const struct xoff_sched_ops xoff_sched_wfq;
extern const struct xoff_sched_ops xoff_sched_fifo;

extern const struct xoff_cp_ops xoff_cp_none;
extern const struct xoff_cp_ops xoff_cp_ecn;
extern const struct xoff_cp_ops xoff_cp_step;
extern const struct xoff_cp_ops xoff_cp_int;
extern const struct xoff_cp_ops xoff_cp_qcn;
extern const struct xoff_cp_ops xoff_cp_ecm;
extern const struct xoff_cp_ops xoff_cp_fecn;

extern const struct xoff_rp_ops xoff_rp_datagram;
extern const struct xoff_rp_ops xoff_rp_none;
extern const struct xoff_rp_ops xoff_rp_dcqcn;
extern const struct xoff_rp_ops xoff_rp_dcqcn_nic;
extern const struct xoff_rp_ops xoff_rp_hpcc;
extern const struct xoff_rp_ops xoff_rp_powertcp;
extern const struct xoff_rp_ops xoff_rp_theta_powertcp;
extern const struct xoff_rp_ops xoff_rp_timely;
extern const struct xoff_rp_ops xoff_rp_dctcp;
extern const struct xoff_rp_ops xoff_rp_dctcp_rate;
extern const struct xoff_rp_ops xoff_rp_newreno;
extern const struct xoff_rp_ops xoff_rp_qcn;
extern const struct xoff_rp_ops xoff_rp_ecm;
extern const struct xoff_rp_ops xoff_rp_fecn;
extern const struct xoff_rp_ops xoff_rp_e2cm;

extern const struct xoff_path_ops xoff_path_adaptive;
extern const struct xoff_path_ops xoff_path_ecmp;
extern const struct xoff_path_ops xoff_path_flowlet;
extern const struct xoff_path_ops xoff_path_scatter;

extern const struct xoff_arb_ops xoff_arb_round_robin;
extern const struct xoff_arb_ops xoff_arb_longest;

extern const struct xoff_rel_ops xoff_rel_datagram;
extern const struct xoff_rel_ops xoff_rel_go_back_n;
extern const struct xoff_rel_ops xoff_rel_tcp;

extern const struct xoff_np_ops xoff_np_echo;
extern const struct xoff_np_ops xoff_np_cnp;
extern const struct xoff_np_ops xoff_np_int;
extern const struct xoff_np_ops xoff_np_reflect;

#endif
