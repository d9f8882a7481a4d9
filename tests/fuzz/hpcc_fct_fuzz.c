/* libFuzzer target for fct.txt of the ns-3 RDMA family: whatever is refused has a code and a place;
 * whatever is accepted is compared with a run of two hosts, and every line of it is accounted
 * for. */
#include "import/hpcc_parts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result_node nodes[] = {{.name = "n0"}, {.name = "n1"}};
    struct result_flow flows[3];
    for (uint32_t i = 0; i < 3; i++)
        flows[i] = (struct result_flow){
            .to = 1, .number = i, .offered_bytes = 1, .acked_at = i ? i * XOFF_NS : XOFF_NEVER};
    const struct results r = {
        .nodes = nodes, .n_nodes = 2, .n_hosts = 2, .flows = flows, .n_flows = 3};
    struct xoff_err err = {0};
    struct hpcc_fct fct;
    const int rc = hpcc_fct_parse("fct.txt", (const char *)data, size, &fct, &err);
    if (rc) {
        require(rc == -(int)err.code && err.subject[0] && err.message[0]);
        require(err.line > 0 && err.column > 0 && !fct.lines);
        return 0;
    }
    struct compare *c = hpcc_compare(&fct, "fct.txt", NULL, &r);
    require(c != NULL);
    require(c->n_theirs == fct.n && c->n_ours == 2 && c->n_both + c->n_unfinished <= fct.n);
    require(c->n_equal <= c->n_within && c->n_within <= c->n_both && c->n_ports <= c->n_both);
    require(c->n_worst == c->n_both - c->n_equal);
    uint64_t by_size = 0;
    for (uint32_t i = 0; i < COMPARE_BUCKETS; i++)
        by_size += c->buckets[i].n;
    require(by_size == c->slowdown.n && c->slowdown.n <= c->n_both);
    compare_destroy(c);
    free(fct.lines);
    return 0;
}
