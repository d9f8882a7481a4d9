/* Every mechanism, found by its scenario keyword. Each array ends with NULL; the first entry is
 * the default. A new mechanism adds its line in src/mech/registry.c and nowhere else. */
#ifndef XOFF_REGISTRY_H
#define XOFF_REGISTRY_H

#include <xoff/arb.h>
#include <xoff/cp.h>
#include <xoff/mmu.h>
#include <xoff/np.h>
#include <xoff/path.h>
#include <xoff/pause.h>
#include <xoff/rel.h>
#include <xoff/rp.h>
#include <xoff/sched.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct xoff_mmu_ops *const xoff_mmus[];
extern const struct xoff_pause_ops *const xoff_pauses[];
extern const struct xoff_sched_ops *const xoff_scheds[];
extern const struct xoff_cp_ops *const xoff_cps[];
extern const struct xoff_rp_ops *const xoff_rps[];
extern const struct xoff_path_ops *const xoff_paths[];
extern const struct xoff_arb_ops *const xoff_arbs[];
extern const struct xoff_rel_ops *const xoff_rels[];
extern const struct xoff_np_ops *const xoff_nps[];

/* The word "auto" (the reliability that the reaction point names), then the names of xoff_rels. */
extern const char *const xoff_rel_words[];
#define XOFF_MAX_RELS 8

const struct xoff_mmu_ops *xoff_mmu_find(const char *name);
const struct xoff_pause_ops *xoff_pause_find(const char *name);
const struct xoff_sched_ops *xoff_sched_find(const char *name);
const struct xoff_cp_ops *xoff_cp_find(const char *name);
const struct xoff_rp_ops *xoff_rp_find(const char *name);
const struct xoff_path_ops *xoff_path_find(const char *name);
const struct xoff_arb_ops *xoff_arb_find(const char *name);
const struct xoff_rel_ops *xoff_rel_find(const char *name);
const struct xoff_np_ops *xoff_np_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
