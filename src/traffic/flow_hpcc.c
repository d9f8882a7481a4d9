/* Reads flow files of the ns-3 RDMA family (flow_hpcc.h). The file is held in memory and its lines
 * are cut in place; a million take a fraction of a second.
 *
 * Differs: the original reads words and does not see lines. Here a flow is a line, so that a
 * missing word is reported at its place, and not as nonsense in every later flow. Sizes beyond 2^32
 * - 1, which the original cannot read, are accepted.
 */
#include "traffic/flow_hpcc.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "base/text.h"
#include "traffic/sizes.h"
#include "traffic/words.h"

#define FIELDS 6 /* with DPORT */
#define MAX_ID (UINT32_MAX - 1)

static int refuse(const struct words *w, const struct word *word, enum xoff_err_code code,
                  const char *message, struct xoff_err *err)
{
    return words_fail(w, word, code, "file", message, err);
}

static int read_flow(const struct words *w, const struct word *word, int n,
                     struct flow_hpcc_line *out, struct xoff_err *err)
{
    const bool has_dport = n == FIELDS;
    const struct word *bytes = &word[has_dport ? 4 : 3], *start = &word[has_dport ? 5 : 4];
    uint64_t from, to, priority, dport = FLOW_HPCC_NO_PORT;
    if (!words_u64(&word[0], MAX_ID, &from) || !words_u64(&word[1], MAX_ID, &to))
        return refuse(w, &word[words_u64(&word[0], MAX_ID, &from)], XOFF_E_TYPE,
                      "a node is a whole number from 0 on", err);
    if (from == to)
        return refuse(w, &word[1], XOFF_E_CONFLICT, "a host does not send to itself", err);
    if (!words_u64(&word[2], XOFF_N_PRIORITIES - 1, &priority))
        return refuse(w, &word[2], XOFF_E_RANGE, "a priority from 0 to 7 is accepted", err);
    if (has_dport && !words_u64(&word[3], UINT16_MAX, &dport))
        return refuse(w, &word[3], XOFF_E_RANGE, "a port number from 0 to 65535 is accepted", err);
    if (!words_u64(bytes, (uint64_t)SIZES_MAX_BYTES, &out->bytes) || out->bytes == 0)
        return refuse(w, bytes, XOFF_E_RANGE,
                      "a flow has a whole number of bytes, from 1 to 10^15, without a unit", err);
    if (!words_seconds(start, &out->at))
        return refuse(w, start, XOFF_E_TYPE,
                      "a start is a number of seconds from 0 on, as 2.000001", err);
    out->from = (uint32_t)from;
    out->to = (uint32_t)to;
    out->priority = (uint8_t)priority;
    out->dport = (uint32_t)dport;
    out->line = word->line;
    return 0;
}

static int append(struct flow_hpcc *out, uint32_t *capacity, const struct flow_hpcc_line *flow,
                  struct xoff_err *err)
{
    if (out->n == *capacity) {
        if (*capacity > UINT32_MAX / 2)
            return bind_no_memory(err);
        const uint32_t grown = *capacity ? 2 * *capacity : 64;
        struct flow_hpcc_line *moved = realloc(out->flows, grown * sizeof *moved);
        if (!moved)
            return bind_no_memory(err);
        out->flows = moved;
        *capacity = grown;
    }
    out->flows[out->n++] = *flow;
    return 0;
}

static int scan_flows(struct words *w, uint64_t count, struct flow_hpcc *out, struct xoff_err *err)
{
    struct word word[FIELDS];
    uint32_t capacity = 0;
    int n_fields = 0;
    while (out->n < count) {
        struct flow_hpcc_line flow;
        const int n = words_line(w, word, FIELDS);
        if (n == 0) {
            const int rc = refuse(w, NULL, XOFF_E_MISSING,
                                  "the file ends before the number of flows it states: ", err);
            xoff_err_add_int(err, (long long)out->n);
            xoff_err_add(err, " of ");
            xoff_err_add_int(err, (long long)count);
            return rc;
        }
        if (n < 0)
            return refuse(w, word, XOFF_E_SYNTAX, "a line has at most 4096 bytes", err);
        if (n != FIELDS && n != FIELDS - 1)
            return refuse(w, word, XOFF_E_SYNTAX,
                          "a flow has six fields: src dst priority dport bytes start_s", err);
        if (n_fields && n != n_fields)
            return refuse(w, word, XOFF_E_SYNTAX, "not as many fields as the flows before", err);
        n_fields = n;
        int rc = read_flow(w, word, n, &flow, err);
        if (rc == 0 && out->n && flow.at < out->flows[out->n - 1].at)
            rc = refuse(w, &word[n - 1], XOFF_E_CONFLICT,
                        "starts before the flow above it; flows are in order of start", err);
        if (rc == 0)
            rc = append(out, &capacity, &flow, err);
        if (rc)
            return rc;
    }
    for (int n; (n = words_line(w, word, 1)) != 0;) {
        if (n < 0 || !text_is_digit(word[0].text[0]))
            break; /* notes */
        if (out->n_beyond++ == 0)
            out->line_beyond = word[0].line;
    }
    return 0;
}

int flow_hpcc_scan(const char *path, const char *text, size_t size, struct flow_hpcc *out,
                   struct xoff_err *err)
{
    struct words w;
    struct word word;
    uint64_t count;
    *out = (struct flow_hpcc){0};
    words_init(&w, path, text, size);
    const int n = words_line(&w, &word, 1);
    if (n == 0)
        return refuse(&w, NULL, XOFF_E_MISSING, "empty; the first line is the number of flows",
                      err);
    if (n != 1 || !words_u64(&word, UINT32_MAX, &count))
        return refuse(&w, &word, XOFF_E_SYNTAX, "the first line is the number of flows alone", err);
    const int rc = scan_flows(&w, count, out, err);
    if (rc) {
        free(out->flows);
        *out = (struct flow_hpcc){0};
    }
    return rc;
}

/* Maps node ids to hosts. */
struct ids {
    uint32_t *hosts; /* by id; TOPO_NONE: no host */
    uint32_t n;
    bool has_names; /* some hosts have names n<ID> */
};

/* Returns the id in a name such as n12; UINT32_MAX: none. */
static uint32_t id_of(const char *name)
{
    const struct word digits = {.text = name + 1, .length = name[0] ? strlen(name + 1) : 0};
    uint64_t id;
    if (name[0] != 'n' || (digits.length > 1 && name[1] == '0') || !words_u64(&digits, MAX_ID, &id))
        return UINT32_MAX;
    return (uint32_t)id;
}

/* In an imported network ids are below the number of nodes. Larger ids, in networks made by hand,
 * are found by name. */
static int ids_init(struct ids *ids, const struct topo *topo, struct xoff_err *err)
{
    *ids = (struct ids){.n = topo->n_nodes};
    ids->hosts = malloc((topo->n_nodes ? topo->n_nodes : 1) * sizeof *ids->hosts);
    if (!ids->hosts)
        return bind_no_memory(err);
    memset(ids->hosts, 0xff, topo->n_nodes * sizeof *ids->hosts);
    for (uint32_t i = 0; i < topo->n_hosts; i++) {
        const uint32_t id = id_of(topo->nodes[i].name);
        ids->has_names |= id != UINT32_MAX;
        if (id < ids->n)
            ids->hosts[id] = i;
    }
    return 0;
}

static uint32_t ids_find(const struct ids *ids, const struct flow_names *names, uint32_t id)
{
    if (!ids->has_names)
        return id < names->topo->n_hosts ? id : TOPO_NONE;
    if (id < ids->n)
        return ids->hosts[id];
    char name[16];
    struct text text = text_at(name, sizeof name, 0);
    text_add(&text, "n");
    text_add_u64(&text, id);
    return flow_names_find(names, name, text.length);
}

static int refuse_node(const char *path, const struct flow_hpcc_line *flow, uint32_t id,
                       const struct topo *topo, struct xoff_err *err)
{
    char name[16];
    struct text text = text_at(name, sizeof name, 0);
    struct words w;
    words_init(&w, path, "", 0);
    w.line = flow->line;
    text_add(&text, "n");
    text_add_u64(&text, id);
    bool is_switch = false;
    for (uint32_t i = topo->n_hosts; i < topo->n_nodes; i++)
        is_switch |= strcmp(topo->nodes[i].name, name) == 0;
    const struct word word = {
        .text = name + 1, .length = text.length - 1, .line = flow->line, .column = 1};
    return refuse(&w, &word, is_switch ? XOFF_E_CONFLICT : XOFF_E_UNKNOWN,
                  is_switch ? "is a switch; flows go from host to host"
                            : "no such host; node 7 is the host of the name n7",
                  err);
}

int flow_hpcc_parse(const char *path, const char *text, size_t size, const struct flow_names *names,
                    const struct schedule_entry *preset, struct schedule **schedule,
                    struct xoff_err *err)
{
    struct flow_hpcc file;
    struct ids ids = {0};
    int rc = flow_hpcc_scan(path, text, size, &file, err);
    if (rc == 0)
        rc = ids_init(&ids, names->topo, err);
    for (uint32_t i = 0; rc == 0 && i < file.n; i++) {
        const struct flow_hpcc_line *flow = &file.flows[i];
        struct schedule_entry entry = *preset;
        entry.at = flow->at;
        entry.bytes = flow->bytes;
        entry.priority = flow->priority;
        entry.priorities = 0;
        entry.dport = flow->dport == FLOW_HPCC_NO_PORT ? 0 : (uint16_t)flow->dport;
        entry.from = ids_find(&ids, names, flow->from);
        entry.to = ids_find(&ids, names, flow->to);
        if (entry.from == TOPO_NONE || entry.to == TOPO_NONE)
            rc = refuse_node(path, flow, entry.from == TOPO_NONE ? flow->from : flow->to,
                             names->topo, err);
        else
            rc = schedule_add(schedule, &entry, err);
    }
    free(ids.hosts);
    free(file.flows);
    return rc;
}

int flow_hpcc_read(const char *path, const struct flow_names *names,
                   const struct schedule_entry *preset, struct schedule **schedule,
                   struct xoff_err *err)
{
    char *text;
    size_t size;
    int rc = words_load(path, "file", &text, &size, err);
    if (rc)
        return rc;
    rc = flow_hpcc_parse(path, text, size, names, preset, schedule, err);
    free(text);
    return rc;
}
