/* Reads fct.txt of the ns-3 RDMA family, to compare a run with it.
 *
 *     sip dip sport dport bytes start_ns fct_ns standalone_ns     one line per finished flow
 *
 * sip and dip are addresses as hexadecimal digits, 0x0b000001 + 65536 * (node / 256) + 256 * (node
 * % 256), or, in ConWeave, plain node ids. An address has a hexadecimal digit from a to f or eight
 * digits; ids have fewer, all decimal.
 */
#include "import/hpcc_parts.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 8
#define FIRST_ADDRESS 0x0b000001u
#define ADDRESS_DIGITS 8
#define MAX_NS ((uint64_t)(INT64_MAX / XOFF_NS))

static bool read_hex(const struct word *word, uint32_t *out)
{
    uint32_t n = 0;
    if (word->length == 0 || word->length > ADDRESS_DIGITS)
        return false;
    for (size_t i = 0; i < word->length; i++) {
        static const char digits[] = "0123456789abcdef";
        const char c = word->text[i];
        const char *digit =
            memchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c, sizeof digits - 1);
        if (!digit)
            return false;
        n = n << 4 | (uint32_t)(digit - digits);
    }
    *out = n;
    return true;
}

static bool read_node(const struct word *word, uint32_t *id)
{
    uint64_t plain;
    uint32_t address;
    if (word->length < ADDRESS_DIGITS && words_u64(word, HPCC_MAX_NODES - 1, &plain)) {
        *id = (uint32_t)plain;
        return true;
    }
    if (!read_hex(word, &address) || address < FIRST_ADDRESS)
        return false;
    address -= FIRST_ADDRESS;
    *id = (address >> 16) * 256 + (address >> 8 & 0xff);
    return (address & 0xff) == 0 && *id < HPCC_MAX_NODES;
}

/* Reads field `i` of a line; false: it is not what the field may be. */
static bool read_field(int i, const struct word *word, struct hpcc_fct_line *line)
{
    uint64_t port = 0;
    bool is_good = false;
    switch (i) {
    case 0:
        return read_node(word, &line->from);
    case 1:
        return read_node(word, &line->to);
    case 2:
        is_good = words_u64(word, UINT16_MAX, &port);
        line->sport = (uint32_t)port;
        return is_good;
    case 3:
        is_good = words_u64(word, UINT16_MAX, &port);
        line->dport = (uint32_t)port;
        return is_good;
    case 4:
        return words_u64(word, INT64_MAX, &line->bytes);
    case 5:
        return words_u64(word, MAX_NS, &line->start_ns);
    case 6:
        return words_u64(word, MAX_NS, &line->fct_ns) && line->fct_ns > 0;
    default:
        return words_u64(word, MAX_NS, &line->standalone_ns);
    }
}

static const char *const accepted[FIELDS] = {
    "sip: an address such as 0b000701, or a node id, is accepted",
    "dip: an address such as 0b000701, or a node id, is accepted",
    "sport: a port number from 0 to 65535 is accepted",
    "dport: a port number from 0 to 65535 is accepted",
    "bytes: a whole number from 0 on is accepted",
    "start_ns: a whole number of nanoseconds from 0 on is accepted",
    "fct_ns: a whole number of nanoseconds from 1 on is accepted",
    "standalone_ns: a whole number of nanoseconds from 0 on is accepted",
};

static int read_line(const struct words *w, const struct word *word, int n,
                     struct hpcc_fct_line *line, struct xoff_err *err)
{
    if (n < 0)
        return words_fail(w, word, XOFF_E_SYNTAX, "fct", "a line has at most 4096 bytes", err);
    for (int i = 0; i < FIELDS && i < n; i++)
        if (!read_field(i, &word[i], line))
            return words_fail(w, &word[i], XOFF_E_RANGE, "fct", accepted[i], err);
    if (n != FIELDS)
        return words_fail(w, &word[n < FIELDS ? n - 1 : FIELDS], XOFF_E_SYNTAX, "fct",
                          "a line has eight fields: sip dip sport dport bytes start_ns fct_ns "
                          "standalone_ns",
                          err);
    return 0;
}

int hpcc_fct_parse(const char *path, const char *text, size_t size, struct hpcc_fct *out,
                   struct xoff_err *err)
{
    struct words w;
    struct word word[FIELDS + 1];
    size_t capacity = 0;
    int rc = 0;
    *out = (struct hpcc_fct){0};
    words_init(&w, path, text, size);
    for (int n; rc == 0 && (n = words_line(&w, word, FIELDS + 1)) != 0;) {
        struct hpcc_fct_line line = {0};
        rc = read_line(&w, word, n, &line, err);
        if (rc == 0 && out->n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct hpcc_fct_line *grown = realloc(out->lines, capacity * sizeof *grown);
            if (grown)
                out->lines = grown;
            else
                rc = hpcc_no_memory(err);
        }
        if (rc == 0)
            out->lines[out->n++] = line;
    }
    if (rc) {
        free(out->lines);
        *out = (struct hpcc_fct){0};
    }
    return rc;
}

int hpcc_fct_read(const char *path, struct hpcc_fct *out, struct xoff_err *err)
{
    char *text;
    size_t size;
    *out = (struct hpcc_fct){0};
    int rc = words_load(path, "fct", &text, &size, err);
    if (rc)
        return rc;
    rc = hpcc_fct_parse(path, text, size, out, err);
    free(text);
    return rc;
}

/* Whether hosts are named by node ids, as n12. Numbers of hosts are then no ids. */
static bool has_ids(const struct results *r)
{
    for (uint32_t i = 0; i < r->n_hosts; i++) {
        const char *name = r->nodes[i].name;
        if (name[0] == 'n' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1))
            return true;
    }
    return false;
}

static void name_node(const struct results *r, bool is_by_id, uint32_t id, char name[RESULT_NAME])
{
    if (!is_by_id && id < r->n_hosts)
        memcpy(name, r->nodes[id].name, RESULT_NAME);
    else
        snprintf(name, RESULT_NAME, "n%u", id);
}

static struct compare_flow *list_ours(const struct hpcc_config *config, const struct results *r,
                                      size_t *n)
{
    struct hpcc_sent *sent = hpcc_list_flows(config, r, n);
    struct compare_flow *list = sent ? calloc(*n + 1, sizeof *list) : NULL;
    for (size_t i = 0; list && i < *n; i++) {
        const struct result_flow *f = sent[i].flow;
        list[i] = (struct compare_flow){.sport = sent[i].sport,
                                        .dport = sent[i].dport,
                                        .bytes = f->offered_bytes,
                                        .start_ns = (uint64_t)(f->start_at / XOFF_NS),
                                        .standalone_ns = (uint64_t)(f->standalone_for / XOFF_NS)};
        if (f->acked_at != XOFF_NEVER)
            list[i].fct_ns = (uint64_t)((f->acked_at - f->start_at) / XOFF_NS);
        memcpy(list[i].from, r->nodes[f->from].name, RESULT_NAME);
        memcpy(list[i].to, r->nodes[f->to].name, RESULT_NAME);
    }
    free(sent);
    return list;
}

struct compare *hpcc_compare(const struct hpcc_fct *theirs, const char *path,
                             const struct hpcc_config *config, const struct results *results)
{
    size_t n_ours;
    struct compare *compare = NULL;
    struct compare_flow *ours = list_ours(config, results, &n_ours);
    struct compare_flow *list = calloc(theirs->n + 1, sizeof *list);
    const bool is_by_id = has_ids(results);
    for (size_t i = 0; list && i < theirs->n; i++) {
        const struct hpcc_fct_line *line = &theirs->lines[i];
        list[i] = (struct compare_flow){.sport = line->sport,
                                        .dport = line->dport,
                                        .bytes = line->bytes,
                                        .start_ns = line->start_ns,
                                        .fct_ns = line->fct_ns,
                                        .standalone_ns = line->standalone_ns};
        name_node(results, is_by_id, line->from, list[i].from);
        name_node(results, is_by_id, line->to, list[i].to);
    }
    if (ours && list)
        compare = compare_create(ours, n_ours, list, theirs->n, path);
    free(ours);
    free(list);
    return compare;
}
