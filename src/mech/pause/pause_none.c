/* No flow control: nobody is ever paused. Frames beyond the buffer's limits are lost. */
#include "mech/mechanisms.h"

static const struct xoff_param none_table[] = {{0}};

const struct xoff_pause_ops xoff_pause_none = {
    .name = "none",
    .summary = "no flow control",
    .params = none_table,
};
