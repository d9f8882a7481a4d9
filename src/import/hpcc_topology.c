/* topology.txt of the ns-3 RDMA family:
 *
 *     NODES SWITCHES LINKS          the PowerTCP fork: NODES SWITCHES TORS LINKS
 *     ids of the switches, on one line or several
 *     A B RATE DELAY ERROR_RATE     one line per link
 *
 * Ports of a node are numbered in the order of these lines, from 1 there, from 0 here. The paths
 * for standalone times are those of CalculateRoute() in third.cc: breadth first from the
 * destination, hosts do not forward, the first way found counts.
 *
 * Differs: where two nodes have several links, the original keeps the last for routing; here all
 * carry traffic (a warning says so). Neighbours are taken in order of their ids, where the original
 * takes them in order of their addresses in memory: it matters for standalone times only where
 * equally short paths differ in rate or delay.
 */
#include "import/hpcc_parts.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "base/text.h"

#define LINK_FIELDS 5
#define MIN_RATE XOFF_KBPS /* least rate that a scenario's link accepts */
#define MAX_RATE (UINT64_C(10000) * XOFF_GBPS)

struct header {
    uint64_t n_nodes, n_switches, n_links;
};

static int refuse(const struct words *w, const struct word *word, enum xoff_err_code code,
                  const char *message, struct xoff_err *err)
{
    return words_fail(w, word, code, "topology", message, err);
}

static int read_header(struct words *w, struct header *h, struct xoff_err *err)
{
    struct word word[4];
    uint64_t number[4];
    const int n = words_line(w, word, 4);
    if (n == 0)
        return refuse(w, NULL, XOFF_E_MISSING, "empty; the first line is: nodes switches links",
                      err);
    if (n != 3 && n != 4)
        return refuse(w, word, XOFF_E_SYNTAX,
                      "the first line is: nodes switches links, or: nodes switches tors links",
                      err);
    for (int i = 0; i < n; i++)
        if (!words_u64(&word[i], UINT32_MAX, &number[i]))
            return refuse(w, &word[i], XOFF_E_TYPE, "a whole number from 0 on is accepted", err);
    *h = (struct header){.n_nodes = number[0], .n_switches = number[1], .n_links = number[n - 1]};
    if (h->n_nodes == 0 || h->n_nodes > HPCC_MAX_NODES)
        return refuse(w, &word[0], XOFF_E_RANGE, "from 1 to 1048576 nodes are accepted", err);
    if (h->n_switches > h->n_nodes)
        return refuse(w, &word[1], XOFF_E_CONFLICT, "more switches than nodes", err);
    return 0;
}

static int fail_short(const struct words *w, const char *what, uint64_t n, uint64_t count,
                      struct xoff_err *err)
{
    const int rc = refuse(w, NULL, XOFF_E_MISSING, "the file ends before the number of ", err);
    xoff_err_add(err, what);
    xoff_err_add(err, " it states: ");
    xoff_err_add_int(err, (long long)n);
    xoff_err_add(err, " of ");
    xoff_err_add_int(err, (long long)count);
    return rc;
}

/* The header may be wrong: the memory used grows with the words read, not with its counts. */
static int read_switches(struct words *w, const struct header *h, struct word **switches,
                         struct xoff_err *err)
{
    for (uint32_t i = 0; i < h->n_switches; i++) {
        struct word word;
        uint64_t id;
        void *array = *switches;
        if (!words_next(w, &word))
            return fail_short(w, "switches", i, h->n_switches, err);
        if (!words_u64(&word, h->n_nodes - 1, &id))
            return refuse(w, &word, XOFF_E_UNKNOWN,
                          "is not the id of a switch: ids are below the number of nodes", err);
        if (!hpcc_grow(&array, i, sizeof **switches))
            return hpcc_no_memory(err);
        *switches = array;
        (*switches)[i] = word;
    }
    return 0;
}

static int read_delay(const struct words *w, const struct word *word, xoff_time *out,
                      struct xoff_err *err)
{
    char text[64];
    words_copy(word, text, sizeof text);
    if (word->length >= sizeof text || memchr(word->text, '\0', word->length) ||
        xoff_parse_time(text, out))
        return refuse(w, word, XOFF_E_UNIT, "a delay with its unit, as 1000ns or 1us, is accepted",
                      err);
    if (*out > XOFF_S)
        return refuse(w, word, XOFF_E_RANGE, "a delay up to 1s is accepted", err);
    return 0;
}

static int read_link(const struct words *w, const struct word *word, uint64_t n_nodes,
                     struct hpcc_link *link, struct xoff_err *err)
{
    uint64_t id;
    for (int i = 0; i < 2; i++) {
        if (!words_u64(&word[i], n_nodes - 1, &id))
            return refuse(w, &word[i], XOFF_E_UNKNOWN,
                          "no such node: ids are below the number of nodes", err);
        link->node[i] = (uint32_t)id;
    }
    if (link->node[0] == link->node[1])
        return refuse(w, &word[1], XOFF_E_CONFLICT, "a link from a node to itself", err);
    if (!hpcc_rate(&word[2], &link->rate_bps))
        return refuse(w, &word[2], XOFF_E_UNIT,
                      "a rate with its unit, as 100Gbps or 40Mb/s, is accepted (bit/s without a "
                      "unit from 1000000 on)",
                      err);
    if (link->rate_bps < MIN_RATE || link->rate_bps > MAX_RATE)
        return refuse(w, &word[2], XOFF_E_RANGE, "a rate from 1kbps to 10Tbps is accepted", err);
    const int rc = read_delay(w, &word[3], &link->delay, err);
    if (rc)
        return rc;
    if (!words_real(&word[4], &link->error) || link->error > 1)
        return refuse(w, &word[4], XOFF_E_RANGE, "an error rate from 0 to 1 is accepted", err);
    link->line = word->line;
    return 0;
}

static int read_links(struct words *w, const struct header *h, struct hpcc_config *c,
                      struct xoff_err *err)
{
    struct word word[LINK_FIELDS];
    while (c->n_links < h->n_links) {
        struct hpcc_link link;
        void *array = c->links;
        const int n = words_line(w, word, LINK_FIELDS);
        if (n == 0)
            return fail_short(w, "links", c->n_links, h->n_links, err);
        if (n < 0)
            return refuse(w, word, XOFF_E_SYNTAX, "a line has at most 4096 bytes", err);
        if (n != LINK_FIELDS)
            return refuse(w, word, XOFF_E_SYNTAX,
                          "a link has five fields: a b rate delay error_rate", err);
        const int rc = read_link(w, word, h->n_nodes, &link, err);
        if (rc)
            return rc;
        if (!hpcc_grow(&array, c->n_links, sizeof *c->links))
            return hpcc_no_memory(err);
        c->links = array;
        c->links[c->n_links++] = link;
    }
    const int n = words_line(w, word, 1);
    if (n > 0 && text_is_digit(word[0].text[0]))
        hpcc_warn(
            c, w->path, word[0].line,
            "links beyond the %llu that the first line states are left out, as by the original",
            (unsigned long long)h->n_links);
    return 0;
}

/* Sets the kinds of nodes and the maps between their ids and our numbers. */
static int number_nodes(const struct words *w, const struct header *h, const struct word *switches,
                        struct hpcc_config *c, struct xoff_err *err)
{
    const uint32_t n = (uint32_t)h->n_nodes;
    c->is_switch = calloc(n, sizeof *c->is_switch);
    c->ids = calloc(n, sizeof *c->ids);
    c->nodes = calloc(n, sizeof *c->nodes);
    if (!c->is_switch || !c->ids || !c->nodes)
        return hpcc_no_memory(err);
    c->n_nodes = n;
    for (uint32_t i = 0; i < h->n_switches; i++) {
        uint64_t id = 0;
        words_u64(&switches[i], UINT32_MAX, &id);
        if (c->is_switch[id])
            return refuse(w, &switches[i], XOFF_E_CONFLICT, "this switch is listed twice", err);
        c->is_switch[id] = 1;
    }
    c->n_hosts = n - (uint32_t)h->n_switches;
    uint32_t host = 0, sw = c->n_hosts;
    for (uint32_t id = 0; id < n; id++) {
        const uint32_t node = c->is_switch[id] ? sw++ : host++;
        c->ids[node] = id;
        c->nodes[id] = node;
    }
    return 0;
}

static struct word place_of(char *text, size_t size, uint32_t id, int line)
{
    struct text t = text_at(text, size, 0);
    text_add_u64(&t, id);
    return (struct word){.text = text, .length = t.length, .line = line, .column = 1};
}

static int check_hosts(const struct words *w, struct hpcc_config *c, struct xoff_err *err)
{
    char text[16];
    uint8_t *n_links = calloc(c->n_nodes, 1);
    if (!n_links)
        return hpcc_no_memory(err);
    int rc = 0;
    for (uint32_t i = 0; i < c->n_links && !rc; i++)
        for (int end = 0; end < 2 && !rc; end++) {
            const uint32_t id = c->links[i].node[end];
            if (n_links[id] && !c->is_switch[id]) {
                const struct word word = place_of(text, sizeof text, id, c->links[i].line);
                rc = refuse(w, &word, XOFF_E_CONFLICT,
                            "a second link of a host; a host has exactly one here", err);
            }
            n_links[id] = 1;
        }
    for (uint32_t id = 0; id < c->n_nodes && !rc; id++)
        if (!n_links[id] && !c->is_switch[id]) {
            const struct word word = place_of(text, sizeof text, id, 1);
            rc = refuse(w, &word, XOFF_E_CONFLICT, "a host without a link", err);
        }
    free(n_links);
    return rc;
}

static int compare_links(const void *a, const void *b)
{
    const struct hpcc_link *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->node[i] != y->node[i])
            return x->node[i] < y->node[i] ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int warn_parallel(const struct words *w, struct hpcc_config *c, struct xoff_err *err)
{
    struct hpcc_link *sorted = malloc((c->n_links ? c->n_links : 1) * sizeof *sorted);
    if (!sorted)
        return hpcc_no_memory(err);
    for (uint32_t i = 0; i < c->n_links; i++) {
        sorted[i] = c->links[i];
        if (sorted[i].node[0] > sorted[i].node[1]) {
            sorted[i].node[0] = c->links[i].node[1];
            sorted[i].node[1] = c->links[i].node[0];
        }
    }
    qsort(sorted, c->n_links, sizeof *sorted, compare_links);
    for (uint32_t i = 1; i < c->n_links; i++)
        if (sorted[i].node[0] == sorted[i - 1].node[0] &&
            sorted[i].node[1] == sorted[i - 1].node[1]) {
            hpcc_warn(c, w->path, sorted[i].line,
                      "nodes %u and %u have several links: all carry traffic here, only the last "
                      "one in the original",
                      sorted[i].node[0], sorted[i].node[1]);
            break;
        }
    free(sorted);
    return 0;
}

int hpcc_topology_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                        struct xoff_err *err)
{
    struct words w;
    struct header h = {0};
    struct word *switches = NULL;
    words_init(&w, path, text, size);
    int rc = read_header(&w, &h, err);
    if (rc == 0)
        rc = read_switches(&w, &h, &switches, err);
    if (rc == 0)
        rc = read_links(&w, &h, config, err);
    /* Every host has a link, so the arrays by node are not larger than the file. */
    if (rc == 0 && h.n_nodes - h.n_switches > 2 * (uint64_t)config->n_links)
        rc = refuse(&w, NULL, XOFF_E_CONFLICT, "more hosts than ends of links", err);
    if (rc == 0)
        rc = number_nodes(&w, &h, switches, config, err);
    if (rc == 0)
        rc = check_hosts(&w, config, err);
    if (rc == 0)
        rc = warn_parallel(&w, config, err);
    free(switches);
    return rc;
}

struct edge {
    uint32_t to, link;
};

struct hpcc_paths {
    const struct hpcc_config *config;
    uint32_t *first; /* per id (n_nodes + 1), into edges */
    struct edge *edges;
    struct hpcc_path *paths;
    uint32_t *queue;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->link < y->link) - (x->link > y->link); /* the last link first: it is the one kept */
}

struct hpcc_paths *hpcc_paths_create(const struct hpcc_config *c)
{
    struct hpcc_paths *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->config = c;
    p->first = calloc((size_t)c->n_nodes + 2, sizeof *p->first);
    p->edges = calloc(2 * (size_t)c->n_links + 1, sizeof *p->edges);
    p->paths = calloc((size_t)c->n_nodes + 1, sizeof *p->paths);
    p->queue = calloc((size_t)c->n_nodes + 1, sizeof *p->queue);
    if (!p->first || !p->edges || !p->paths || !p->queue) {
        hpcc_paths_destroy(p);
        return NULL;
    }
    /* Counts are stored two places further on, so first[id + 1] becomes the next free edge of
     * id. */
    for (uint32_t i = 0; i < c->n_links; i++)
        for (int end = 0; end < 2; end++)
            if (c->links[i].node[end] + 2 < c->n_nodes + 2)
                p->first[c->links[i].node[end] + 2]++;
    for (uint32_t id = 2; id < c->n_nodes + 2; id++)
        p->first[id] += p->first[id - 1];
    for (uint32_t i = 0; i < c->n_links; i++)
        for (int end = 0; end < 2; end++)
            p->edges[p->first[c->links[i].node[end] + 1]++] =
                (struct edge){.to = c->links[i].node[!end], .link = i};
    for (uint32_t id = 0; id < c->n_nodes; id++)
        qsort(p->edges + p->first[id], p->first[id + 1] - p->first[id], sizeof *p->edges,
              compare_edges);
    return p;
}

void hpcc_paths_destroy(struct hpcc_paths *paths)
{
    if (!paths)
        return;
    free(paths->first);
    free(paths->edges);
    free(paths->paths);
    free(paths->queue);
    free(paths);
}

const struct hpcc_path *hpcc_paths_to(struct hpcc_paths *p, uint32_t to)
{
    const struct hpcc_config *c = p->config;
    uint32_t n = 0;
    memset(p->paths, 0, c->n_nodes * sizeof *p->paths);
    p->paths[to].rate_bps = UINT64_MAX;
    p->queue[n++] = to;
    for (uint32_t i = 0; i < n; i++) {
        const struct hpcc_path *here = &p->paths[p->queue[i]];
        for (uint32_t e = p->first[p->queue[i]]; e < p->first[p->queue[i] + 1]; e++) {
            const struct hpcc_link *link = &c->links[p->edges[e].link];
            struct hpcc_path *next = &p->paths[p->edges[e].to];
            if (next->rate_bps)
                continue;
            next->delay_ns = here->delay_ns + (uint64_t)(link->delay / XOFF_NS);
            next->tx_ns = here->tx_ns + c->keys.payload_bytes * 8000000000u / link->rate_bps;
            next->rate_bps = here->rate_bps < link->rate_bps ? here->rate_bps : link->rate_bps;
            if (c->is_switch[p->edges[e].to])
                p->queue[n++] = p->edges[e].to;
        }
    }
    return p->paths;
}
