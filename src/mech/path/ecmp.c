/* Equal-cost multipath: a hash of the flow picks the port, so that frames of a flow stay in order.
 *
 * Source: RFC 2992, hash-threshold: the 2^32 values of the hash are divided into n regions of equal
 * size, one for each candidate. Hash h lies in region floor(h * n / 2^32). When a candidate goes
 * away or comes, a quarter to a half of the flows move.
 */
#include <xoff/path.h>

static const struct xoff_param ecmp_table[] = {{0}};

const struct xoff_path_ops xoff_path_ecmp = {
    .name = "ecmp",
    .summary = "by a hash of the flow",
    .params = ecmp_table,
};
