/* libFuzzer target for trace.txt of the ns-3 RDMA family: whatever is refused has a code and a
 * place; whatever is accepted names nodes of the topology. */
#include "import/hpcc_parts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xoff_err err = {0};
    struct hpcc_config *c = hpcc_create("config.txt");
    require(c != NULL);
    c->n_nodes = 100;
    const int rc = hpcc_trace_parse("trace.txt", (const char *)data, size, c, &err);
    require(rc == 0 || (rc == -(int)err.code && err.subject[0] && err.message[0]));
    require(rc == 0 || (err.line > 0 && err.column > 0));
    for (uint32_t i = 0; i < c->n_trace_ids; i++)
        require(c->trace_ids[i] < c->n_nodes);
    hpcc_destroy(c);
    return 0;
}
