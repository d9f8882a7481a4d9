/* No congestion point: frames are never marked and the caller need never ask. */
#include <xoff/cp.h>

static const struct xoff_param cp_none_table[] = {{0}};

const struct xoff_cp_ops xoff_cp_none = {
    .name = "none",
    .summary = "no marking",
    .params = cp_none_table,
};
