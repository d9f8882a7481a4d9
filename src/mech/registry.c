/* The table of all mechanisms: one line each, the default of each role first. */
#include <string.h>

#include <xoff/registry.h>

#include "mech/mechanisms.h"

const struct xoff_mmu_ops *const xoff_mmus[] = {
    &xoff_mmu_sih, &xoff_mmu_dsh, &xoff_mmu_insurance_only, &xoff_mmu_static, &xoff_mmu_two_sided,
    &xoff_mmu_ns3, NULL,
};

const struct xoff_pause_ops *const xoff_pauses[] = {
    &xoff_pause_pfc, &xoff_pause_8023x, &xoff_pause_tpfc, &xoff_pause_capfc, &xoff_pause_none, NULL,
};

const struct xoff_sched_ops *const xoff_scheds[] = {
    &xoff_sched_ets,
    &xoff_sched_strict,
    &xoff_sched_drr,
    &xoff_sched_drr_awc,
    &xoff_sched_wfq,
    &xoff_sched_fifo,
    NULL,
};

const struct xoff_cp_ops *const xoff_cps[] = {
    &xoff_cp_none, &xoff_cp_ecn, &xoff_cp_step, &xoff_cp_int,
    &xoff_cp_qcn,  &xoff_cp_ecm, &xoff_cp_fecn, NULL,
};

const struct xoff_rp_ops *const xoff_rps[] = {
    &xoff_rp_datagram, &xoff_rp_none,       &xoff_rp_dcqcn,          &xoff_rp_dcqcn_nic,
    &xoff_rp_hpcc,     &xoff_rp_powertcp,   &xoff_rp_theta_powertcp, &xoff_rp_timely,
    &xoff_rp_dctcp,    &xoff_rp_dctcp_rate, &xoff_rp_newreno,        &xoff_rp_qcn,
    &xoff_rp_ecm,      &xoff_rp_fecn,       &xoff_rp_e2cm,           NULL,
};

const struct xoff_path_ops *const xoff_paths[] = {&xoff_path_ecmp, &xoff_path_scatter,
                                                  &xoff_path_flowlet, &xoff_path_adaptive, NULL};

const struct xoff_arb_ops *const xoff_arbs[] = {&xoff_arb_round_robin, &xoff_arb_longest, NULL};

const struct xoff_rel_ops *const xoff_rels[] = {
    &xoff_rel_datagram,
    &xoff_rel_go_back_n,
    &xoff_rel_tcp,
    NULL,
};
const char *const xoff_rel_words[] = {"auto", "datagram", "go-back-n", "tcp", NULL};

const struct xoff_np_ops *const xoff_nps[] = {
    &xoff_np_echo, &xoff_np_cnp, &xoff_np_int, &xoff_np_reflect, NULL,
};

/* Finds the entry of a role's array whose name is `wanted`, or NULL. */
#define FIND(array, wanted)                              \
    do {                                                 \
        for (size_t i = 0; (array)[i]; i++)              \
            if (strcmp((array)[i]->name, (wanted)) == 0) \
                return (array)[i];                       \
        return NULL;                                     \
    } while (0)

const struct xoff_mmu_ops *xoff_mmu_find(const char *name)
{
    FIND(xoff_mmus, name);
}

const struct xoff_pause_ops *xoff_pause_find(const char *name)
{
    FIND(xoff_pauses, name);
}

const struct xoff_sched_ops *xoff_sched_find(const char *name)
{
    FIND(xoff_scheds, name);
}

const struct xoff_cp_ops *xoff_cp_find(const char *name)
{
    FIND(xoff_cps, name);
}

const struct xoff_rp_ops *xoff_rp_find(const char *name)
{
    FIND(xoff_rps, name);
}

const struct xoff_path_ops *xoff_path_find(const char *name)
{
    FIND(xoff_paths, name);
}

const struct xoff_arb_ops *xoff_arb_find(const char *name)
{
    FIND(xoff_arbs, name);
}

const struct xoff_rel_ops *xoff_rel_find(const char *name)
{
    FIND(xoff_rels, name);
}

const struct xoff_np_ops *xoff_np_find(const char *name)
{
    FIND(xoff_nps, name);
}
