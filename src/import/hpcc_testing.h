/* Shared by the importer's tests: files of a small run, and configs made of text in memory. */
#ifndef IMPORT_HPCC_TESTING_H
#define IMPORT_HPCC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/hpcc_parts.h"

/* Two hosts send 1 MB each to a third: node 3 is the switch. */
#define TESTING_TOPOLOGY            \
    "4 1 3\n3\n"                    \
    "0 3 100Gbps 1000ns 0.000000\n" \
    "1 3 100Gbps 1000ns 0.000000\n" \
    "2 3 100Gbps 1000ns 0.000000\n"
#define TESTING_FLOWS "2\n0 2 3 100 1000000 2.000000000\n1 2 3 100 1000000 2.000000000\n"
#define TESTING_FILES "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\n"

/* Makes a config of the given texts; fails the test when one of them is refused. */
static inline struct hpcc_config *testing_config(const char *config, const char *topology,
                                                 const char *flows)
{
    struct xoff_err err = {0};
    struct hpcc_config *c = hpcc_create("mix/config.txt");
    assert_non_null(c);
    int rc = hpcc_config_parse("mix/config.txt", config, strlen(config), c, &err);
    if (rc == 0)
        rc = hpcc_topology_parse("mix/topology.txt", topology, strlen(topology), c, &err);
    if (rc == 0)
        rc = hpcc_flows_parse("mix/flow.txt", flows, strlen(flows), c, &err);
    c->topology_path = strdup("mix/topology.txt");
    c->flow_path = strdup("mix/flow.txt");
    if (rc == 0)
        rc = hpcc_check(c, &err);
    if (rc)
        fail_msg("%s:%d: %s: %s", err.file, err.line, err.subject, err.message);
    return c;
}

static inline bool testing_has_warning(const struct hpcc_config *c, const char *part)
{
    for (uint32_t i = 0; i < c->n_warnings; i++)
        if (strstr(c->warnings[i], part))
            return true;
    return false;
}

/* Makes a new folder, with a slash at its end, and files in it. */
static inline void testing_folder(char folder[64])
{
    strcpy(folder, "/tmp/hpcc-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    strcat(folder, "/");
}

static inline void testing_write(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void testing_remove(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", folder, name);
    assert_int_equal(remove(path), 0);
}

#endif
