/* The time that the ns-3 RDMA family states for a flow alone in the network: the last column of
 * fct.txt (third.cc: qp_finish), by which that family's slowdown is defined.
 *
 *   standalone = base_rtt + (bytes + 48 * packets) * 8 * 10^9 / bottleneck
 *   base_rtt   = 2 * sum of delays + sum over links of payload * 8 * 10^9 / rate
 *
 * with each division cut to whole nanoseconds. Reference i: 1 MB over two links of 100 Gb/s and 1
 * us is 4000 + 160 + 1048000 * 8 / 100 = 88000 ns.
 *
 * Differs: bytes with headers are kept in 64 bits; there they wrap beyond 4.09 GB.
 */
#include "import/hpcc_parts.h"

#include <stdlib.h>

static uint64_t standalone_ns(const struct hpcc_config *c, const struct hpcc_path *path,
                              uint64_t bytes)
{
    if (path->rate_bps == 0 || bytes == 0)
        return 0;
    const uint64_t packets = (bytes - 1) / c->keys.payload_bytes + 1;
    const unsigned __int128 total = bytes + packets * HPCC_HEADER_BYTES;
    return 2 * path->delay_ns + path->tx_ns + (uint64_t)(total * 8000000000u / path->rate_bps);
}

/* Lists the flows by receiver, so that paths are computed once for each: first[to] to first[to + 1]
 * of the list are those to `to`. Flows to unknown hosts are not in it. */
static uint64_t *by_receiver(const struct hpcc_config *c, const struct results *results,
                             uint64_t *first)
{
    uint64_t *list = malloc((results->n_flows + 1) * sizeof *list);
    for (uint64_t i = 0; list && i < results->n_flows; i++)
        if (results->flows[i].to < c->n_hosts)
            first[results->flows[i].to + 2]++;
    for (uint32_t host = 2; host < c->n_hosts + 2; host++)
        first[host] += first[host - 1];
    for (uint64_t i = 0; list && i < results->n_flows; i++)
        if (results->flows[i].to < c->n_hosts)
            list[first[results->flows[i].to + 1]++] = i;
    return list;
}

int hpcc_standalone(const struct hpcc_config *config, struct results *results, struct xoff_err *err)
{
    struct hpcc_paths *paths = hpcc_paths_create(config);
    uint64_t *first = calloc((size_t)config->n_hosts + 2, sizeof *first);
    uint64_t *list = first ? by_receiver(config, results, first) : NULL;
    for (uint32_t to = 0; paths && list && to < config->n_hosts; to++) {
        if (first[to] == first[to + 1])
            continue;
        const struct hpcc_path *path = hpcc_paths_to(paths, config->ids[to]);
        for (uint64_t i = first[to]; i < first[to + 1]; i++) {
            struct result_flow *f = &results->flows[list[i]];
            if (f->from < config->n_hosts)
                f->standalone_for = (xoff_time)standalone_ns(config, &path[config->ids[f->from]],
                                                             f->offered_bytes) *
                                    XOFF_NS;
        }
    }
    const bool is_good = paths && list;
    hpcc_paths_destroy(paths);
    free(first);
    free(list);
    return is_good ? 0 : hpcc_no_memory(err);
}

struct hpcc_config *hpcc_of_topo(const struct topo *topo, uint64_t payload_bytes)
{
    struct hpcc_config *c = hpcc_create("");
    if (!c)
        return NULL;
    c->keys.payload_bytes = payload_bytes;
    c->n_nodes = topo->n_nodes;
    c->n_hosts = topo->n_hosts;
    c->n_links = topo->n_links;
    c->is_switch = calloc((size_t)topo->n_nodes + 1, sizeof *c->is_switch);
    c->ids = calloc((size_t)topo->n_nodes + 1, sizeof *c->ids);
    c->links = calloc((size_t)topo->n_links + 1, sizeof *c->links);
    if (!c->is_switch || !c->ids || !c->links) {
        hpcc_destroy(c);
        return NULL;
    }
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        c->is_switch[i] = i >= topo->n_hosts;
        c->ids[i] = i;
    }
    for (uint32_t i = 0; i < topo->n_links; i++)
        c->links[i] = (struct hpcc_link){.node = {topo->links[i].node[0], topo->links[i].node[1]},
                                         .rate_bps = topo->links[i].rate_bps,
                                         .delay = topo->links[i].delay};
    return c;
}
