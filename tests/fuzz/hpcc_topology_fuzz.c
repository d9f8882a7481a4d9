/* libFuzzer target for topology.txt of the ns-3 RDMA family: whatever is refused has a code and a
 * place; in whatever is accepted every host has one link and paths are symmetric in reach. */
#include "import/hpcc_parts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xoff_err err = {0};
    struct hpcc_config *c = hpcc_create("config.txt");
    require(c != NULL);
    const int rc = hpcc_topology_parse("t", (const char *)data, size, c, &err);
    if (rc) {
        require(rc == -(int)err.code && err.subject[0] && err.message[0]);
        require(err.line > 0 && err.column > 0);
        hpcc_destroy(c);
        return 0;
    }
    require(c->n_hosts <= c->n_nodes && c->n_nodes <= HPCC_MAX_NODES);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        require(c->nodes[c->ids[i]] == i && c->is_switch[c->ids[i]] == (i >= c->n_hosts));
    struct hpcc_paths *paths = hpcc_paths_create(c);
    require(paths != NULL);
    if (c->n_hosts > 1) {
        const uint32_t a = c->ids[0], b = c->ids[c->n_hosts - 1];
        const bool there = hpcc_paths_to(paths, b)[a].rate_bps != 0;
        require(there == (hpcc_paths_to(paths, a)[b].rate_bps != 0));
    }
    hpcc_paths_destroy(paths);
    hpcc_destroy(c);
    return 0;
}
