/* How much memory a run may take, how much the process has, and what it needs up to its end.
 *
 * Free is what the kernel says it can give without swapping (MemAvailable), less where the process
 * group has a limit (cgroup v2 memory.max, v1 memory.limit_in_bytes).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define COPIES 4 /* of a note: at its node, among the results, while sorting, for the summary */
#define CACHE_BYTES (UINT64_C(64) << 20) /* of the database that results are written to */
#define LEAST_BYTES (UINT64_C(8) << 20)  /* that writing takes, of the smallest run, too */

/* Reads the number behind `key`, or at the start of the file without one; false: none. */
static bool read_number(const char *path, const char *key, uint64_t *value)
{
    char line[256];
    bool found = false;
    FILE *in = fopen(path, "r");
    while (in && !found && fgets(line, sizeof line, in)) {
        const size_t n = key ? strlen(key) : 0;
        char *end = line;
        if (key && strncmp(line, key, n))
            continue;
        *value = strtoull(line + n, &end, 10);
        found = end > line + n;
    }
    if (in)
        fclose(in);
    return found;
}

uint64_t cli_free_memory(void)
{
    static const char *const groups[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    uint64_t bytes, limit, used;
    if (read_number("/proc/meminfo", "MemAvailable:", &bytes))
        bytes *= 1024;
    else
        bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (read_number(groups[i][0], NULL, &limit) && read_number(groups[i][1], NULL, &used) &&
            limit - used < bytes && limit > used)
            bytes = limit - used;
    return bytes;
}

uint64_t cli_used_memory(void)
{
    unsigned long long pages, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in && fscanf(in, "%llu %llu", &pages, &resident) != 2)
        resident = 0;
    if (in)
        fclose(in);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t cli_memory_to_end(uint64_t used_bytes, uint64_t noted_bytes, uint32_t n_ports)
{
    const uint64_t of_ports = n_ports * sizeof(struct result_port);
    /* Rows and their indexes take up to twice the bytes of what was noted down. */
    const uint64_t rows = 2 * noted_bytes + of_ports;
    const uint64_t more =
        (COPIES - 1) * noted_bytes + of_ports + (rows < CACHE_BYTES ? rows : CACHE_BYTES);
    return used_bytes + (more > LEAST_BYTES ? more : LEAST_BYTES);
}

/* A tenth is left for what grows between two looks at the memory. */
uint64_t cli_memory_limit(uint64_t bytes)
{
    return bytes + bytes / 9;
}
