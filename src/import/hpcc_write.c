/* fct.txt, pfc.txt and qlen.txt as the ns-3 RDMA family writes them (third.cc: qp_finish, get_pfc,
 * monitor_buffer).
 *
 *   fct   sip dip sport dport bytes start fct standalone, times in ns; an address is
 *         0x0b000001 + 256 * node; sport counts from 10000 for each pair (ScheduleFlowInputs)
 *   pfc   time node node_type(0 host, 1 switch) ifindex type(1 pause, 0 resume), by the receiver
 *   qlen  "time: T", then for each port of each switch: switch port counts...
 *
 * Differs: flows that end at the same instant are in order of source and number; there in order of
 * events.
 */
#include "import/hpcc_parts.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SPORT 10000

static int compare_done(const void *a, const void *b)
{
    const struct result_flow *x = ((const struct hpcc_sent *)a)->flow;
    const struct result_flow *y = ((const struct hpcc_sent *)b)->flow;
    if (x->acked_at != y->acked_at)
        return x->acked_at < y->acked_at ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_by_receiver(const void *a, const void *b)
{
    const struct result_flow *x = ((const struct hpcc_sent *)a)->flow;
    const struct result_flow *y = ((const struct hpcc_sent *)b)->flow;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Returns the destination port, by the flow's position among those of its source; 0: no flow of the
 * file. */
static uint32_t dport_of(const struct hpcc_config *c, const struct result_flow *f)
{
    if (f->number >= c->first[f->from + 1] - c->first[f->from])
        return 0;
    return c->flows.flows[c->by_source[c->first[f->from] + f->number]].dport;
}

struct hpcc_sent *hpcc_list_flows(const struct hpcc_config *config, const struct results *results,
                                  size_t *n)
{
    struct hpcc_sent *list = malloc((results->n_flows + 1) * sizeof *list);
    const uint32_t n_hosts = config ? config->n_hosts : results->n_hosts;
    *n = 0;
    if (!list)
        return NULL;
    for (uint64_t i = 0; i < results->n_flows; i++) {
        const struct result_flow *f = &results->flows[i];
        if (f->from < n_hosts && f->to < n_hosts)
            list[(*n)++] = (struct hpcc_sent){.flow = f};
    }
    qsort(list, *n, sizeof *list, compare_by_receiver);
    for (size_t i = 0; i < *n; i++) {
        const struct result_flow *f = list[i].flow, *last = i ? list[i - 1].flow : NULL;
        const bool is_same = last && f->to == last->to && f->from == last->from;
        list[i].sport = is_same ? (list[i - 1].sport + 1) & UINT16_MAX : FIRST_SPORT;
        list[i].dport = config ? dport_of(config, f) : HPCC_NO_PORT;
    }
    return list;
}

static uint32_t address(uint32_t id)
{
    return 0x0b000001u + (id / 256 << 16) + (id % 256 << 8);
}

int hpcc_write_fct(FILE *out, const struct hpcc_config *config, const struct results *results,
                   bool has_node_ids, struct xoff_err *err)
{
    size_t n, n_done = 0;
    struct hpcc_sent *list = hpcc_list_flows(config, results, &n);
    if (!list)
        return hpcc_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (list[i].flow->acked_at != XOFF_NEVER)
            list[n_done++] = list[i];
    qsort(list, n_done, sizeof *list, compare_done);
    for (size_t i = 0; i < n_done; i++) {
        const struct result_flow *f = list[i].flow;
        const uint32_t from = config->ids[f->from], to = config->ids[f->to];
        if (has_node_ids)
            fprintf(out, "%u %u", from, to);
        else
            fprintf(out, "%08x %08x", address(from), address(to));
        fprintf(out, " %u %u %llu %llu %llu %llu\n", list[i].sport, list[i].dport,
                (unsigned long long)f->offered_bytes, (unsigned long long)(f->start_at / XOFF_NS),
                (unsigned long long)((f->acked_at - f->start_at) / XOFF_NS),
                (unsigned long long)(f->standalone_for / XOFF_NS));
    }
    free(list);
    return 0;
}

void hpcc_write_pfc(FILE *out, const struct hpcc_config *config, const struct results *results)
{
    for (uint64_t i = 0; i < results->n_heard; i++) {
        const struct result_heard *h = &results->heard[i];
        if (h->node >= config->n_nodes)
            continue;
        for (int p = 0; p < XOFF_N_PRIORITIES; p++)
            if (h->priorities >> p & 1)
                fprintf(out, "%llu %u %u %u %u\n", (unsigned long long)(h->at / XOFF_NS),
                        config->ids[h->node], h->node >= config->n_hosts, h->port + 1, h->pause);
    }
}

/* Samples are taken at start, start + 100 ns, ... up to the first at or after end, and before the
 * simulation stops; a dump follows a sample whose time is a multiple of 100 ms. */
bool hpcc_qlen_window(const struct hpcc_config *config, xoff_time *from, xoff_time *to)
{
    const struct hpcc_keys *k = &config->keys;
    const xoff_time start = (xoff_time)k->qlen_start_ns * XOFF_NS;
    const xoff_time end = (xoff_time)k->qlen_end_ns * XOFF_NS;
    xoff_time last = start;
    if (end > start)
        last += (end - start + HPCC_QLEN_EVERY - 1) / HPCC_QLEN_EVERY * HPCC_QLEN_EVERY;
    if (start >= k->stop || start % HPCC_QLEN_EVERY != 0)
        return false; /* never a multiple of 100 ms */
    if (last >= k->stop)
        last = k->stop - 1;
    *from = start;
    *to = last / HPCC_QLEN_DUMP * HPCC_QLEN_DUMP;
    return *to >= start;
}

/* Writes the ports of all switches, in order of ids, each with one sample of an empty queue. */
static void write_empty(FILE *out, const struct hpcc_config *c, const struct results *results)
{
    for (uint32_t node = c->n_hosts; node < c->n_nodes; node++)
        for (uint32_t i = 0; i < results->n_histograms; i++)
            if (results->histograms[i].node == node)
                fprintf(out, "%u %u 1\n", c->ids[node], results->histograms[i].port + 1);
}

void hpcc_write_qlen(FILE *out, const struct hpcc_config *config, const struct results *results)
{
    xoff_time from, to;
    if (!hpcc_qlen_window(config, &from, &to))
        return;
    const bool is_empty = config->flows.n == 0 || from <= config->flows.flows[0].at;
    if (from % HPCC_QLEN_DUMP == 0 && to > from && is_empty) {
        fprintf(out, "time: %llu\n", (unsigned long long)(from / XOFF_NS));
        write_empty(out, config, results);
    }
    fprintf(out, "time: %llu\n", (unsigned long long)(to / XOFF_NS));
    for (uint32_t i = 0; i < results->n_histograms; i++) {
        const struct result_histogram *h = &results->histograms[i];
        if (h->node < config->n_hosts || h->node >= config->n_nodes)
            continue;
        uint32_t n = h->n;
        while (n && h->counts[n - 1] == 0)
            n--;
        fprintf(out, "%u %u", config->ids[h->node], h->port + 1);
        for (uint32_t k = 0; k < n; k++)
            fprintf(out, " %llu", (unsigned long long)h->counts[k]);
        putc('\n', out);
    }
}
