/* libFuzzer target for config.txt of the ns-3 RDMA family: whatever is refused has a code, a
 * subject and a place; whatever is accepted makes a scenario that is YAML. */
#include "import/hpcc_parts.h"
#include "scenario/yaml.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char topology[] =
        "4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    static const char flows[] = "1\n0 1 3 100 5 2\n";
    struct xoff_err err = {0};
    struct hpcc_config *c = hpcc_create("config.txt");
    require(c != NULL);
    int rc = hpcc_config_parse("config.txt", (const char *)data, size, c, &err);
    if (rc) {
        require(rc == -(int)err.code && err.subject[0] && err.message[0]);
        require(err.line > 0 && err.column > 0);
        hpcc_destroy(c);
        return 0;
    }
    require(hpcc_topology_parse("t", topology, strlen(topology), c, &err) == 0);
    require(hpcc_flows_parse("f", flows, strlen(flows), c, &err) == 0);
    rc = hpcc_check(c, &err);
    require(rc == 0 || (rc == -(int)err.code && err.line > 0));
    char *text = rc ? NULL : hpcc_to_yaml(c, size & 1, "flow.txt", &err);
    if (text) {
        struct yaml_doc doc;
        require(yaml_parse(&doc, text, strlen(text), &err) == 0);
        yaml_fini(&doc);
    }
    free(text);
    hpcc_destroy(c);
    return 0;
}
