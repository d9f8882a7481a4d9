/* No reaction point: the flow sends at the rate of its link, whatever it is told.
 *
 * There are two of them, which differ only in the reliability they name: "datagram" forgets what it
 * has sent, "none" repeats it by go-back-N. The caller keeps to a pace that the traffic sets itself
 * (xoff_rp_flow.pace_bps), which bounds the flow whatever a reaction point allows.
 */
#include <xoff/rp.h>

static const struct xoff_param rp_none_table[] = {{0}};

const struct xoff_rp_ops xoff_rp_datagram = {
    .name = "datagram",
    .summary = "frames sent at the traffic's own pace and forgotten",
    .params = rp_none_table,
    .marking = "none",
    .np = "echo",
    .rel = "datagram",
};

const struct xoff_rp_ops xoff_rp_none = {
    .name = "none",
    .summary = "go-back-N without congestion control: line rate, or the traffic's own pace",
    .params = rp_none_table,
    .marking = "none",
    .np = "echo",
    .rel = "go-back-n",
};
