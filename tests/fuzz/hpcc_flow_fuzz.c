/* libFuzzer target for flow.txt of the ns-3 RDMA family: whatever is refused has a code and a
 * place; whatever is accepted is in order and each flow is found again from its source. */
#include "import/hpcc_parts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char topology[] = "4 1 3\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
    struct xoff_err err = {0};
    struct hpcc_config *c = hpcc_create("config.txt");
    require(c != NULL);
    require(hpcc_topology_parse("t", topology, strlen(topology), c, &err) == 0);
    const int rc = hpcc_flows_parse("f", (const char *)data, size, c, &err);
    if (rc) {
        require(rc == -(int)err.code && err.subject[0] && err.message[0]);
        require(err.line > 0 && err.column > 0);
        hpcc_destroy(c);
        return 0;
    }
    require(c->first[c->n_hosts] == c->flows.n);
    for (uint32_t host = 0; host < c->n_hosts; host++)
        for (uint32_t i = c->first[host]; i < c->first[host + 1]; i++)
            require(c->flows.flows[c->by_source[i]].from == c->ids[host]);
    for (uint32_t i = 0; i < c->flows.n; i++) {
        const struct flow_hpcc_line *f = &c->flows.flows[i];
        require(f->bytes > 0 && f->at >= 0 && f->from != f->to && f->dport <= 65535);
        require(i == 0 || f->at >= f[-1].at);
    }
    hpcc_destroy(c);
    return 0;
}
