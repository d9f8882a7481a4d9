/* Reads flow.txt and trace.txt of the ns-3 RDMA family, searches for the files that config.txt
 * names, and does the checks that need all of them.
 *
 * trace.txt has the number of nodes, then their ids; ids of no node are ignored, as in the
 * original. Packet traces are not written here, so a missing trace file is no error.
 */
#include "import/hpcc_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define FIRST_DPORT 100 /* first port of a host in ConWeave, whose flow files have none */

static int refuse_node(const char *path, int line, uint32_t id, bool is_known, struct xoff_err *err)
{
    char text[16];
    struct text t = text_at(text, sizeof text, 0);
    struct words w;
    text_add_u64(&t, id);
    words_init(&w, path, "", 0);
    const struct word word = {.text = text, .length = t.length, .line = line, .column = 1};
    return words_fail(
        &w, &word, is_known ? XOFF_E_CONFLICT : XOFF_E_UNKNOWN, "flows",
        is_known ? "is a switch; flows go from host to host" : "no such node in the topology", err);
}

static int check_ends(const char *path, const struct hpcc_config *c, struct xoff_err *err)
{
    for (uint32_t i = 0; i < c->flows.n; i++) {
        const struct flow_hpcc_line *f = &c->flows.flows[i];
        const uint32_t ends[] = {f->from, f->to};
        for (int end = 0; end < 2; end++)
            if (ends[end] >= c->n_nodes || c->is_switch[ends[end]])
                return refuse_node(path, f->line, ends[end], ends[end] < c->n_nodes, err);
    }
    return 0;
}

/* Groups flows by source, and numbers ports for lines without: ConWeave counts from 100 at each
 * destination. */
static int sort_by_source(struct hpcc_config *c, struct xoff_err *err)
{
    const struct flow_hpcc *file = &c->flows;
    c->first = calloc((size_t)c->n_hosts + 2, sizeof *c->first);
    c->by_source = calloc((size_t)file->n + 1, sizeof *c->by_source);
    uint32_t *n_to = calloc((size_t)c->n_hosts + 1, sizeof *n_to);
    if (!c->first || !c->by_source || !n_to) {
        free(n_to);
        return hpcc_no_memory(err);
    }
    for (uint32_t i = 0; i < file->n; i++)
        c->first[c->nodes[file->flows[i].from] + 2]++;
    for (uint32_t host = 2; host < c->n_hosts + 2; host++)
        c->first[host] += c->first[host - 1];
    for (uint32_t i = 0; i < file->n; i++) {
        struct flow_hpcc_line *f = &c->flows.flows[i];
        c->by_source[c->first[c->nodes[f->from] + 1]++] = i;
        c->priorities |= (uint8_t)(1u << f->priority);
        const uint32_t before = n_to[c->nodes[f->to]]++;
        if (f->dport == FLOW_HPCC_NO_PORT)
            f->dport = (FIRST_DPORT + before) & UINT16_MAX;
    }
    free(n_to);
    return 0;
}

int hpcc_flows_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                     struct xoff_err *err)
{
    int rc = flow_hpcc_scan(path, text, size, &config->flows, err);
    if (rc == 0)
        rc = check_ends(path, config, err);
    if (rc == 0)
        rc = sort_by_source(config, err);
    if (rc)
        return rc;
    const struct flow_hpcc *file = &config->flows;
    if (file->n_beyond)
        hpcc_warn(
            config, path, file->line_beyond,
            "%llu lines beyond the %u flows that the first line states are left out, as by the "
            "original",
            (unsigned long long)file->n_beyond, file->n);
    if (config->priorities & 1)
        hpcc_warn(config, path, 0,
                  "flows of priority 0: never paused there, as they are here, but also outside the "
                  "buffer's accounting there");
    return 0;
}

int hpcc_trace_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                     struct xoff_err *err)
{
    struct words w;
    struct word word;
    uint64_t count, id;
    words_init(&w, path, text, size);
    if (!words_next(&w, &word))
        return words_fail(&w, NULL, XOFF_E_MISSING, "trace",
                          "empty; the first word is the number of nodes", err);
    if (!words_u64(&word, UINT32_MAX, &count))
        return words_fail(&w, &word, XOFF_E_TYPE, "trace", "the first word is the number of nodes",
                          err);
    for (uint64_t i = 0; i < count; i++) {
        void *array = config->trace_ids;
        if (!words_next(&w, &word)) {
            const int rc = words_fail(&w, NULL, XOFF_E_MISSING, "trace",
                                      "the file ends before the number of nodes it states: ", err);
            xoff_err_add_int(err, (long long)i);
            xoff_err_add(err, " of ");
            xoff_err_add_int(err, (long long)count);
            return rc;
        }
        if (!words_u64(&word, UINT32_MAX, &id))
            return words_fail(&w, &word, XOFF_E_TYPE, "trace", "a node is a whole number", err);
        if (id >= config->n_nodes)
            continue;
        if (!hpcc_grow(&array, config->n_trace_ids, sizeof *config->trace_ids))
            return hpcc_no_memory(err);
        config->trace_ids = array;
        config->trace_ids[config->n_trace_ids++] = (uint32_t)id;
    }
    return 0;
}

/* -------------------------------------------------------------------------- with all at hand */

static bool has_rate(const struct hpcc_map *map, xoff_rate rate_bps, double *value)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (map->entries[i].rate_bps == rate_bps) {
            *value = map->entries[i].value;
            return true;
        }
    return false;
}

static int fail_at(const char *path, int line, enum xoff_err_code code, const char *subject,
                   const char *message, struct xoff_err *err)
{
    struct words w;
    words_init(&w, path, "", 0);
    w.line = line;
    return words_fail(&w, NULL, code, subject, message, err);
}

/* Checks that every rate at a switch has thresholds; the original stops with an assertion
 * otherwise. */
static int check_marks(const struct hpcc_config *c, struct xoff_err *err)
{
    const struct hpcc_keys *k = &c->keys;
    static const char *const names[] = {"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"};
    const struct hpcc_map *maps[] = {&k->kmin, &k->kmax, &k->pmax};
    if (!k->enable_qcn || (k->cc_mode != HPCC_CC_DCQCN && k->cc_mode != HPCC_CC_DCTCP))
        return 0;
    for (uint32_t i = 0; i < c->n_links; i++) {
        const struct hpcc_link *link = &c->links[i];
        double value[3];
        for (int m = 0; m < 3; m++)
            if (!has_rate(maps[m], link->rate_bps, &value[m])) {
                const int rc =
                    fail_at(c->topology_path ? c->topology_path : "", link->line, XOFF_E_MISSING,
                            names[m], "has no value for this rate: ", err);
                xoff_err_add_int(err, (long long)link->rate_bps);
                return rc;
            }
        if (value[0] > value[1])
            return fail_at(c->path, hpcc_key_line(c, "KMIN_MAP"), XOFF_E_CONFLICT, "KMIN_MAP",
                           "the lower threshold is above that of KMAX_MAP", err);
    }
    return 0;
}

static int check_link_down(const struct hpcc_config *c, struct xoff_err *err)
{
    const struct hpcc_keys *k = &c->keys;
    if (k->link_down_us == 0)
        return 0;
    for (uint32_t i = 0; i < c->n_links; i++)
        for (int end = 0; end < 2; end++)
            if (c->links[i].node[end] == k->link_down_node[0] &&
                c->links[i].node[!end] == k->link_down_node[1])
                return 0;
    return fail_at(c->path, hpcc_key_line(c, "LINK_DOWN"), XOFF_E_UNKNOWN, "LINK_DOWN",
                   "there is no link between these nodes", err);
}

/* Warns of keys whose value asks for something that works differently here. */
static void warn_keys(struct hpcc_config *c)
{
    const struct hpcc_keys *k = &c->keys;
    const bool is_hpcc = k->cc_mode == HPCC_CC_HPCC || k->cc_mode == HPCC_CC_PINT;
    const bool reads_marks = k->cc_mode == HPCC_CC_DCQCN || k->cc_mode == HPCC_CC_DCTCP;
    const struct {
        bool holds;
        const char *key, *text;
    } differences[] = {
        {k->cc_mode == HPCC_CC_PINT, "CC_MODE",
         "PINT is not supported: runs as HPCC, whose telemetry PINT compresses"},
        {reads_marks && !k->enable_qcn, "ENABLE_QCN",
         "0: nothing is marked, so the congestion control never acts"},
        {is_hpcc && !k->fast_react, "FAST_REACT", "0 is not supported: every ACK is reacted to"},
        {is_hpcc && k->multi_rate, "MULTI_RATE",
         "1 (also when left out) is not supported: one rate per flow, as with 0"},
        {is_hpcc && k->sample_feedback, "SAMPLE_FEEDBACK", "1 is not supported: as with 0"},
        {is_hpcc && !k->rate_bound, "RATE_BOUND", "0 is not supported: rates are bound, as with 1"},
        {is_hpcc && k->int_multi != 1, "INT_MULTI", "telemetry is as fine as with 1"},
        {k->back_to_zero != 0, "L2_BACK_TO_ZERO", "1 is not supported: go-back-N, as with 0"},
        {k->enable_trace && hpcc_key_line(c, "ENABLE_TRACE"), "ENABLE_TRACE",
         "1: give --trace FILE, which writes text and traces all nodes"},
        {k->cc_mode == HPCC_CC_DCTCP, "DCTCP_RATE_AI",
         "not supported: DCTCP holds a window here and adds a frame to it each round trip"},
        {k->lb_mode != 0, "LB_MODE", "not supported: ECMP, as with 0"},
        {k->enable_irn != 0, "ENABLE_IRN", "not supported: go-back-N, as with 0"},
    };
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        if (differences[i].holds)
            hpcc_warn(c, c->path, hpcc_key_line(c, differences[i].key), "%s: %s",
                      differences[i].key, differences[i].text);
    const bool is_conweave = hpcc_is_conweave(c);
    const xoff_time stop = is_conweave ? k->flowgen_stop : k->stop;
    if (c->flows.n && c->flows.flows[c->flows.n - 1].at >= stop)
        hpcc_warn(c, c->path,
                  hpcc_key_line(c, is_conweave ? "FLOWGEN_STOP_TIME" : "SIMULATOR_STOP_TIME"),
                  "flows that start at the stop time or later do not run");
}

int hpcc_check(struct hpcc_config *config, struct xoff_err *err)
{
    int rc = check_marks(config, err);
    if (rc == 0)
        rc = check_link_down(config, err);
    if (rc == 0)
        warn_keys(config);
    return rc;
}

/* -------------------------------------------------------------------------- finding the files */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Finds a file named in config.txt; NULL: not found. */
static char *find_file(const struct hpcc_config *c, const char *name)
{
    const char *const places[] = {c->folder, "", "../", "../../"};
    char *path = NULL;
    const bool is_absolute = name[0] == '/';
    for (int i = is_absolute; i < (is_absolute ? 2 : 4); i++) {
        XOFF_ASSERT(asprintf(&path, "%s%s%s", i >= 2 ? c->folder : "", places[i], name) >= 0);
        if (is_file(path))
            return path;
        free(path);
    }
    return NULL;
}

typedef int parse_file(const char *path, const char *text, size_t size, struct hpcc_config *config,
                       struct xoff_err *err);

/* Finds, loads and parses the file of a key. *where is the path where it was found. */
static int read_named(struct hpcc_config *c, const char *key, const char *name, parse_file *parse,
                      char **where, struct xoff_err *err)
{
    char *text, *path = find_file(c, name);
    size_t size;
    *where = path;
    if (!path) {
        const int rc =
            fail_at(c->path, hpcc_key_line(c, key), XOFF_E_IO, key,
                    "no such file beside the config, in the working directory, or in the "
                    "two folders above the config: ",
                    err);
        xoff_err_add(err, name);
        return rc;
    }
    int rc = words_load(path, key, &text, &size, err);
    if (rc)
        return rc;
    rc = parse(path, text, size, c, err);
    free(text);
    return rc;
}

int hpcc_read(const char *path, struct hpcc_config **out, struct xoff_err *err)
{
    char *text, *trace_path = NULL;
    size_t size;
    *out = NULL;
    int rc = words_load(path, "config", &text, &size, err);
    if (rc)
        return rc;
    struct hpcc_config *c = hpcc_create(path);
    if (!c) {
        free(text);
        return hpcc_no_memory(err);
    }
    rc = hpcc_config_parse(path, text, size, c, err);
    free(text);
    if (rc == 0)
        rc = read_named(c, "TOPOLOGY_FILE", c->keys.topology_file, hpcc_topology_parse,
                        &c->topology_path, err);
    if (rc == 0)
        rc = read_named(c, "FLOW_FILE", c->keys.flow_file, hpcc_flows_parse, &c->flow_path, err);
    if (rc == 0 && c->keys.trace_file) {
        rc = read_named(c, "TRACE_FILE", c->keys.trace_file, hpcc_trace_parse, &trace_path, err);
        if (!trace_path) {
            hpcc_warn(c, path, hpcc_key_line(c, "TRACE_FILE"),
                      "TRACE_FILE: %s is not there; nothing here needs it", c->keys.trace_file);
            rc = 0;
        }
        free(trace_path);
    }
    if (rc == 0)
        rc = hpcc_check(c, err);
    if (rc) {
        hpcc_destroy(c);
        return rc;
    }
    *out = c;
    return 0;
}
