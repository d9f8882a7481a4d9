/* libFuzzer target for trace.txt of the ns-3 RDMA family: whatever is refused has a code and a
 * place; whatever is accepted names nodes of the topology. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/hpcc_parts.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression, (void)file, (void)line;
    abort();
}

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
