/* Sums over finished flows (flow_sums.h). */
#include "stats/flow_sums.h"

#include <stdlib.h>
#include <string.h>

#include "stats/tables.h"

uint64_t flow_slowdown_fixed(double slowdown)
{
    const double fixed = slowdown * (double)FLOW_SLOWDOWN_ONE;
    return fixed < 0x1p63 ? (uint64_t)fixed : UINT64_C(1) << 63;
}

struct flow_sums *flow_sums_create(void)
{
    struct flow_sums *sums = calloc(1, sizeof *sums);
    if (sums)
        sums->from = XOFF_NEVER;
    return sums;
}

static void fini_times(struct sketch *times)
{
    for (uint32_t i = 0; i < N_FLOW_TIMES; i++)
        sketch_fini(&times[i]);
}

void flow_sums_destroy(struct flow_sums *sums)
{
    if (!sums)
        return;
    fini_times(sums->times);
    for (uint32_t i = 0; i < OUTPUT_BUCKETS; i++)
        fini_times(sums->by_size[i]);
    for (uint32_t i = 0; i < sums->n_entries; i++)
        fini_times(sums->entries[i].times);
    free(sums->entries);
    free(sums->worst);
    free(sums->bins);
    free(sums);
}

bool flow_sums_grow(struct flow_sums *sums, uint32_t n_entries)
{
    if (n_entries <= sums->n_entries)
        return true;
    struct flow_entry *entries = realloc(sums->entries, sizeof *entries * n_entries);
    if (!entries)
        return false;
    memset(entries + sums->n_entries, 0, sizeof *entries * (n_entries - sums->n_entries));
    sums->entries = entries;
    sums->n_entries = n_entries;
    return true;
}

static void tally(struct flow_tally *t, const struct result_flow *flow)
{
    t->n++;
    t->sent_bytes += flow->sent_bytes;
    t->delivered_bytes += flow->delivered_bytes;
    t->early_bytes += flow->early_bytes;
    t->late_bytes += flow->late_bytes;
    t->retransmitted_frames += flow->retransmitted_frames;
    t->notices += flow->notices;
    t->tags_sent += flow->tags_sent;
    t->tags_back += flow->tags_back;
    const xoff_time life = flow->finish_at - flow->start_at;
    if (life <= 0)
        return;
    const uint64_t rate = (uint64_t)((unsigned __int128)flow->delivered_bytes * 8 *
                                     (uint64_t)XOFF_S / (uint64_t)life);
    t->rate_min = !t->n_rates || rate < t->rate_min ? rate : t->rate_min;
    t->rate_max = rate > t->rate_max ? rate : t->rate_max;
    t->rate_sum += rate;
    t->rate_square_sum += (unsigned __int128)rate * rate;
    t->n_rates++;
}

static bool add_times(struct sketch *times, const struct result_flow *flow)
{
    bool is_good = true;
    if (output_is_finished(flow))
        is_good &= sketch_add(&times[FLOW_FCT], (uint64_t)(flow->finish_at - flow->start_at));
    if (flow->acked_at != XOFF_NEVER)
        is_good &= sketch_add(&times[FLOW_ACK], (uint64_t)(flow->acked_at - flow->start_at));
    if (output_has_slowdown(flow))
        is_good &= sketch_add(&times[FLOW_SLOWDOWN], flow_slowdown_fixed(output_slowdown(flow)));
    return is_good;
}

static int compare_places(const struct result_flow *a, const struct result_flow *b)
{
    if (a->start_at != b->start_at)
        return a->start_at < b->start_at ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_flows(const void *a, const void *b)
{
    return compare_places(a, b);
}

/* Whether a is worse than b; no two flows are equal in this. */
static bool is_worse(uint32_t by, const struct result_flow *a, const struct result_flow *b)
{
    const double x = by == WORST_SLOWDOWN && output_has_slowdown(a) ? output_slowdown(a) : 0;
    const double y = by == WORST_SLOWDOWN && output_has_slowdown(b) ? output_slowdown(b) : 0;
    if (x != y)
        return x > y;
    const xoff_time p = a->finish_at - a->start_at, q = b->finish_at - b->start_at;
    return p != q ? p > q : compare_places(a, b) < 0;
}

static void keep_worst(struct flow_worst *worst, uint32_t by, const struct result_flow *flow)
{
    if (worst->n == FLOW_WORST && !is_worse(by, flow, &worst->flows[FLOW_WORST - 1]))
        return;
    uint32_t i = worst->n < FLOW_WORST ? worst->n++ : FLOW_WORST - 1;
    for (; i > 0 && is_worse(by, flow, &worst->flows[i - 1]); i--)
        worst->flows[i] = worst->flows[i - 1];
    worst->flows[i] = *flow;
}

static bool add_all_times(struct flow_sums *sums, const struct result_flow *flow)
{
    bool is_good = add_times(sums->times, flow);
    is_good &= add_times(sums->entries[flow->tag].times, flow);
    is_good &= add_times(sums->by_size[output_bucket(flow->offered_bytes)], flow);
    return is_good;
}

bool flow_sums_add(struct flow_sums *sums, const struct result_flow *flow)
{
    if (!flow_sums_grow(sums, flow->tag + 1))
        return false;
    struct flow_entry *entry = &sums->entries[flow->tag];
    const xoff_time acked_at = flow->acked_at != XOFF_NEVER ? flow->acked_at : 0;
    const xoff_time last = acked_at > flow->finish_at ? acked_at : flow->finish_at;
    sums->from = xoff_time_min(sums->from, flow->start_at);
    sums->to = last > sums->to ? last : sums->to;
    sums->digest += table_digest_flow(flow);
    tally(&sums->tally, flow);
    tally(&entry->tally, flow);
    for (uint32_t by = 0; by < N_WORST; by++)
        keep_worst(&entry->worst[by], by, flow);
    return add_all_times(sums, flow);
}

static void merge_tallies(struct flow_tally *t, const struct flow_tally *other)
{
    if (other->n_rates && (!t->n_rates || other->rate_min < t->rate_min))
        t->rate_min = other->rate_min;
    t->rate_max = other->rate_max > t->rate_max ? other->rate_max : t->rate_max;
    t->rate_sum += other->rate_sum;
    t->rate_square_sum += other->rate_square_sum;
    t->n_rates += other->n_rates;
    t->n += other->n;
    t->sent_bytes += other->sent_bytes;
    t->delivered_bytes += other->delivered_bytes;
    t->early_bytes += other->early_bytes;
    t->late_bytes += other->late_bytes;
    t->retransmitted_frames += other->retransmitted_frames;
    t->notices += other->notices;
    t->tags_sent += other->tags_sent;
    t->tags_back += other->tags_back;
}

static bool merge_times(struct sketch *times, const struct sketch *other)
{
    bool is_good = true;
    for (uint32_t i = 0; i < N_FLOW_TIMES; i++)
        is_good &= sketch_merge(&times[i], &other[i]);
    return is_good;
}

bool flow_sums_merge(struct flow_sums *sums, const struct flow_sums *other)
{
    if (!flow_sums_grow(sums, other->n_entries))
        return false;
    bool is_good = merge_times(sums->times, other->times);
    for (uint32_t i = 0; i < OUTPUT_BUCKETS; i++)
        is_good &= merge_times(sums->by_size[i], other->by_size[i]);
    for (uint32_t i = 0; i < other->n_entries; i++) {
        struct flow_entry *entry = &sums->entries[i];
        merge_tallies(&entry->tally, &other->entries[i].tally);
        is_good &= merge_times(entry->times, other->entries[i].times);
        for (uint32_t by = 0; by < N_WORST; by++)
            for (uint32_t k = 0; k < other->entries[i].worst[by].n; k++)
                keep_worst(&entry->worst[by], by, &other->entries[i].worst[by].flows[k]);
    }
    merge_tallies(&sums->tally, &other->tally);
    sums->from = xoff_time_min(sums->from, other->from);
    sums->to = other->to > sums->to ? other->to : sums->to;
    sums->digest += other->digest;
    sums->late_notices += other->late_notices;
    sums->late_tags += other->late_tags;
    return is_good;
}

static double real_of(uint32_t time, uint64_t value)
{
    return (double)value / (double)(time == FLOW_SLOWDOWN ? FLOW_SLOWDOWN_ONE : (uint64_t)XOFF_S);
}

/* Adds the bins of the sketches of a group, or counts them as long as there is no array. */
static void list_bins(struct flow_sums *sums, const struct sketch *times, uint32_t tag,
                      uint32_t size)
{
    for (uint32_t t = 0; t < N_FLOW_TIMES; t++)
        for (uint32_t o = 0; o < SKETCH_OCTAVES; o++)
            for (uint32_t b = 0; times[t].octaves[o] && b < SKETCH_BINS; b++) {
                uint64_t low, high;
                if (!times[t].octaves[o][b])
                    continue;
                sketch_bin(o, b, &low, &high);
                if (sums->bins)
                    sums->bins[sums->n_bins] =
                        (struct flow_bin){.tag = tag,
                                          .time = (uint8_t)t,
                                          .size = (uint8_t)size,
                                          .low = real_of(t, low),
                                          .high = high ? real_of(t, high) : real_of(t, low),
                                          .flows = times[t].octaves[o][b]};
                sums->n_bins++;
            }
}

static void list_all_bins(struct flow_sums *sums)
{
    sums->n_bins = 0;
    list_bins(sums, sums->times, FLOW_ALL, OUTPUT_BUCKETS);
    for (uint32_t i = 0; i < OUTPUT_BUCKETS; i++)
        list_bins(sums, sums->by_size[i], FLOW_ALL, i);
    for (uint32_t i = 0; i < sums->n_entries; i++)
        list_bins(sums, sums->entries[i].times, i, OUTPUT_BUCKETS);
}

bool flow_sums_finish(struct flow_sums *sums, const struct result_flow *kept, uint64_t n_kept)
{
    const size_t most = (size_t)sums->n_entries * N_WORST * FLOW_WORST;
    sums->worst = calloc(most ? most : 1, sizeof *sums->worst);
    if (!sums->worst)
        return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < sums->n_entries; i++)
        for (uint32_t by = 0; by < N_WORST; by++)
            for (uint32_t k = 0; k < sums->entries[i].worst[by].n; k++)
                sums->worst[n++] = sums->entries[i].worst[by].flows[k];
    qsort(sums->worst, n, sizeof *sums->worst, compare_flows);
    for (uint32_t i = 0; i < n; i++) /* one that is in both lists is here twice, side by side */
        if (!sums->n_worst || compare_places(&sums->worst[sums->n_worst - 1], &sums->worst[i]))
            sums->worst[sums->n_worst++] = sums->worst[i];
    for (uint64_t i = 0; i < n_kept; i++)
        if (!flow_sums_grow(sums, kept[i].tag + 1) || !add_all_times(sums, &kept[i]))
            return false;
    list_all_bins(sums);
    sums->bins = calloc(sums->n_bins + 1, sizeof *sums->bins);
    if (sums->bins)
        list_all_bins(sums);
    return sums->bins;
}
