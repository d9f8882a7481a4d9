/* Figures of a run, by name. Tables, expectations and summary.json are made of them.
 *
 * A figure that is not defined (the mean of nothing) is left out rather than given as zero.
 */
#include "stats/curves.h"
#include "stats/summary_parts.h"

/* Running figures of the flows of one traffic entry, or of all. */
struct tally {
    uint64_t n_flows, n_finished, n_unfinished, n_notices;
    uint64_t sent_bytes, delivered_bytes, measured_bytes, drained_bytes;
    uint64_t n_rates; /* flows with a life longer than 0 */
    double rate_sum, rate_square_sum, rate_min, rate_max;
    uint64_t n_starved;
};

/* Running figures of the operations of one traffic entry, or of all. */
struct operation_tally {
    uint64_t n, bytes, n_unfinished;
    xoff_time last_at; /* completion */
};

static void add_flows(struct build *b);
static void add_operations(struct build *b);
static void add_throughput(struct build *b, const struct tally *tally, const char *group);
static void add_fairness(struct build *b, const struct tally *tally, const char *group);
static void add_drops(struct build *b);
static void add_pauses(struct build *b);
static void add_dcbx(struct build *b);
static void add_ports(struct build *b);
static void add_buffers(struct build *b);
static void add_maxima(struct build *b);
static void add_insurance(struct build *b);
static void add_run(struct build *b);
static void add_curves(struct build *b);

struct summary *summary_create(const struct results *results)
{
    const uint64_t most =
        results->n_flows > results->n_operations ? results->n_flows : results->n_operations;
    const size_t n = most ? (size_t)most : 1;
    const size_t n_groups = (size_t)results->n_tags + OUTPUT_BUCKETS + 2;
    const struct output_span traffic = output_traffic(results), measured = output_measured(results);
    struct build b = {.results = results,
                      .traffic_for = traffic.to - traffic.from,
                      .measured = measured,
                      .measured_for = measured.to - measured.from};

    b.summary = calloc(1, sizeof *b.summary);
    b.labels = calloc((size_t)results->n_tags + 1, sizeof *b.labels);
    b.values = calloc(n, sizeof *b.values);
    b.scratch = calloc(n, sizeof *b.scratch);
    b.keys = calloc(n, sizeof *b.keys);
    b.offsets = calloc(n_groups, sizeof *b.offsets);
    b.ages = calloc(n_groups, sizeof *b.ages);
    b.failed =
        !b.summary || !b.labels || !b.values || !b.scratch || !b.keys || !b.offsets || !b.ages;
    if (!b.failed) {
        metric_labels(results->tag_names, results->n_tags, b.labels);
        add_flows(&b);
        summary_times_of_flows(&b);
        add_operations(&b);
        add_drops(&b);
        add_pauses(&b);
        add_dcbx(&b);
        add_ports(&b);
        add_maxima(&b);
        add_buffers(&b);
        add_insurance(&b);
        add_run(&b);
        add_curves(&b);
    }
    free(b.ages);
    free(b.offsets);
    free(b.keys);
    free(b.scratch);
    free(b.values);
    free(b.labels);
    if (b.failed) {
        summary_destroy(b.summary);
        return NULL;
    }
    return b.summary;
}

void summary_destroy(struct summary *summary)
{
    if (!summary)
        return;
    curves_destroy(summary->curves, summary->n_curves);
    for (uint32_t i = 0; i < summary->n_distributions; i++)
        free(summary->distributions[i].counts);
    free(summary->distributions);
    free(summary->findings);
    free(summary->metrics);
    free(summary);
}

const struct metric *summary_find(const struct summary *summary, const char *name)
{
    for (uint32_t i = 0; i < summary->n_metrics; i++)
        if (!strcmp(summary->metrics[i].name, name))
            return &summary->metrics[i];
    return NULL;
}

/* Adds a flow's mean payload rate over its life, which ends with its last byte or with the run. A
 * stream lives as long as it is measured: when the run drains nothing is offered to it. */
static void tally_flow(const struct build *b, struct tally *t, const struct result_flow *flow)
{
    const bool is_finished = output_is_finished(flow), is_stream = output_is_stream(flow);
    const xoff_time from =
        is_stream && flow->start_at < b->measured.from ? b->measured.from : flow->start_at;
    const xoff_time to = is_finished ? flow->finish_at
                         : is_stream ? b->measured.to
                                     : b->results->end_at;
    const uint64_t bytes = is_stream ? output_measured_bytes(flow) : flow->delivered_bytes;

    t->n_flows++;
    t->n_finished += is_finished;
    t->n_unfinished += output_is_unfinished(flow);
    t->sent_bytes += flow->sent_bytes;
    t->n_notices += flow->notices;
    t->delivered_bytes += flow->delivered_bytes;
    t->measured_bytes += output_measured_bytes(flow);
    t->drained_bytes += flow->late_bytes;
    t->n_starved += flow->is_starving;
    if (to <= from)
        return;
    const double rate = (double)bytes * 8 / output_seconds(to - from);
    if (!t->n_rates || rate < t->rate_min)
        t->rate_min = rate;
    if (!t->n_rates || rate > t->rate_max)
        t->rate_max = rate;
    t->n_rates++;
    t->rate_sum += rate;
    t->rate_square_sum += rate * rate;
}

/* Begins with what is known of the flows that were summarised. */
static struct tally begin_tally(const struct flow_tally *t)
{
    return (struct tally){
        .n_flows = t->n,
        .n_finished = t->n,
        .n_notices = t->notices,
        .sent_bytes = t->sent_bytes,
        .delivered_bytes = t->delivered_bytes,
        .measured_bytes = t->delivered_bytes - t->early_bytes - t->late_bytes,
        .drained_bytes = t->late_bytes,
        .n_rates = t->n_rates,
        .rate_sum = (double)t->rate_sum,
        .rate_square_sum = (double)t->rate_square_sum,
        .rate_min = (double)t->rate_min,
        .rate_max = (double)t->rate_max,
    };
}

static void add_flows(struct build *b)
{
    const struct results *r = b->results;
    struct tally all = {0};
    struct tally *by_tag = calloc((size_t)r->n_tags + 1, sizeof *by_tag);
    if (!by_tag) {
        b->failed = true;
        return;
    }
    uint64_t retransmitted = 0;
    if (r->sums) {
        all = begin_tally(&r->sums->tally);
        retransmitted = r->sums->tally.retransmitted_frames;
        for (uint32_t i = 0; i < r->n_tags && i < r->sums->n_entries; i++)
            by_tag[i] = begin_tally(&r->sums->entries[i].tally);
    }
    for (uint64_t i = 0; i < r->n_flows; i++) {
        tally_flow(b, &all, &r->flows[i]);
        if (r->flows[i].tag < r->n_tags)
            tally_flow(b, &by_tag[r->flows[i].tag], &r->flows[i]);
    }
    add_throughput(b, &all, NULL);
    if (r->sums)
        add(b, "flows", NULL, "summarised", "", (double)r->sums->tally.n,
            "finished flows that are not kept: percentiles of flows are within 0.1 %");
    for (uint32_t i = 0; i < r->n_tags; i++)
        add_throughput(b, &by_tag[i], b->labels[i].text);
    free(by_tag);
    for (uint64_t i = 0; i < r->n_flows; i++)
        retransmitted += r->flows[i].retransmitted_frames;
    add(b, "retransmissions", NULL, NULL, "frames", (double)retransmitted,
        "data frames sent again by reliable senders");
}

static void add_throughput(struct build *b, const struct tally *t, const char *group)
{
    add(b, "flows", group, NULL, "", (double)t->n_flows, "flows started");
    add(b, "flows", group, "finished", "", (double)t->n_finished,
        "flows whose last byte was received");
    add(b, "flows", group, "unfinished", "", (double)t->n_unfinished,
        "flows of finite size that had not finished when the run ended");
    add(b, "sent", group, NULL, "B", (double)t->sent_bytes, "payload sent, repeats included");
    add(b, "delivered", group, NULL, "B", (double)t->delivered_bytes, "payload received");
    add(b, "drained", group, NULL, "B", (double)t->drained_bytes,
        "of it, payload received after the measured time, while the run drained");
    if (b->measured_for > 0)
        add(b, "throughput", group, NULL, "bps",
            (double)t->measured_bytes * 8 / output_seconds(b->measured_for),
            "payload received per second of the measured time, sum of the flows");
    if (group)
        add(b, "notices", group, "received", "frames", (double)t->n_notices,
            "notifications that reached their source");
    add_fairness(b, t, group);
    if (!t->n_rates)
        return;
    const double n = (double)t->n_rates;
    add(b, "throughput", group, "mean", "bps", t->rate_sum / n,
        "payload received per second of a flow's life, mean over flows");
    add(b, "throughput", group, "min", "bps", t->rate_min,
        "payload received per second of a flow's life, slowest flow");
    add(b, "throughput", group, "max", "bps", t->rate_max,
        "payload received per second of a flow's life, fastest flow");
    /* Jain, Chiu, Hawe 1984: (sum x)^2 / (n sum x^2), 1 when all are equal. */
    if (t->rate_square_sum > 0)
        add(b, "jain", group, NULL, "ratio", t->rate_sum * t->rate_sum / (n * t->rate_square_sum),
            "Jain's fairness index of the flows' mean throughputs");
}

/* Starvation, as far as a finite run can show it (fairness dissertation 2.2, weak fairness: a flow
 * that may always send is served eventually), and the slowest flow's distance from an equal
 * share. */
static void add_fairness(struct build *b, const struct tally *t, const char *group)
{
    add(b, "starved", group, NULL, "", (double)t->n_starved,
        "flows that had something to send, and of which nothing arrived any more");
    if (t->rate_sum > 0)
        add(b, "min_share", group, NULL, "ratio", t->rate_min / (t->rate_sum / (double)t->n_rates),
            "throughput of the slowest flow over the mean of the flows' throughputs");
}

static void tally_operation(struct operation_tally *t, const struct result_operation *o)
{
    t->n++;
    t->bytes += o->bytes;
    t->last_at = o->finish_at; /* operations are sorted by finish_at */
}

static void add_operation_counts(struct build *b, const struct operation_tally *t,
                                 const char *group)
{
    static const char name[] = "operations";
    add(b, name, group, NULL, "", (double)t->n, "closed-loop operations completed");
    add(b, name, group, "unfinished", "", (double)t->n_unfinished,
        "closed-loop operations that had begun and not ended when the run ended");
    add(b, name, group, "bytes", "B", (double)t->bytes, "payload of the operations completed");
    if (t->last_at > 0)
        add(b, name, group, "rate", "/s", (double)t->n / output_seconds(t->last_at),
            "operations completed per second of the run up to the last completion");
}

static void add_operations(struct build *b)
{
    const struct results *r = b->results;
    struct operation_tally all = {0};
    struct operation_tally *by_tag = calloc((size_t)r->n_tags + 1, sizeof *by_tag);
    if (!by_tag) {
        b->failed = true;
        return;
    }
    for (uint64_t i = 0; i < r->n_operations; i++) {
        tally_operation(&all, &r->operations[i]);
        if (r->operations[i].tag < r->n_tags)
            tally_operation(&by_tag[r->operations[i].tag], &r->operations[i]);
    }
    for (uint32_t i = 0; i < r->n_running; i++) {
        all.n_unfinished += r->running[i].n;
        if (r->running[i].tag < r->n_tags)
            by_tag[r->running[i].tag].n_unfinished += r->running[i].n;
    }
    add_operation_counts(b, &all, NULL);
    for (uint32_t i = 0; i < r->n_tags; i++)
        add_operation_counts(b, &by_tag[i], b->labels[i].text);
    free(by_tag);
    summary_times_of_operations(b);
}

static void add_drops(struct build *b)
{
    static const char *const meanings[RESULT_N_DROP_CAUSES] = {
#define X(id, name, text) "frames lost: " text,
        RESULT_DROP_MAP(X)
#undef X
    };
    uint64_t all = 0, bytes = 0, lossless = 0, by_cause[RESULT_N_DROP_CAUSES] = {0};
    for (uint32_t i = 0; i < b->results->n_drops; i++) {
        const struct result_drop *d = &b->results->drops[i];
        all += d->frames;
        bytes += d->bytes;
        if (d->cause < RESULT_N_DROP_CAUSES)
            by_cause[d->cause] += d->frames;
        if (d->lossless && (d->cause == RESULT_DROP_BUFFER || d->cause == RESULT_DROP_RECEIVER ||
                            d->cause == RESULT_DROP_EGRESS))
            lossless += d->frames;
    }
    add(b, "drops", NULL, NULL, "frames", (double)all, "frames lost, all causes");
    add(b, "drops", NULL, "bytes", "B", (double)bytes, "bytes of frames lost, all causes");
    add(b, "drops", NULL, "lossless", "frames", (double)lossless,
        "frames of lossless priorities lost for want of room (causes buffer, receiver, egress)");
    for (uint8_t c = 0; c < RESULT_N_DROP_CAUSES; c++)
        add(b, "drops", NULL, output_drop_cause(c), "frames", (double)by_cause[c], meanings[c]);
}

static void add_pauses(struct build *b)
{
    const struct results *r = b->results;
    uint64_t xoffs = r->xoffs_left_out, marked = 0, samples = 0, notices = 0, heard = 0;
    uint64_t tags = 0, tags_back = 0, stops = 0;
    xoff_time longest = 0, single;
    unsigned __int128 paused = 0, stopped = 0;
    for (uint64_t i = 0; i < r->n_pauses; i++)
        xoffs += r->pauses[i].pause;
    for (uint32_t n = 0; n < r->n_nodes; n++)
        stops += r->nodes[n].stops, stopped += (uint64_t)r->nodes[n].stopped_for;
    for (uint32_t i = 0; i < r->n_ports; i++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct result_queue *q = &r->ports[i].queue[p];
            paused += (uint64_t)q->paused_for;
            longest = q->paused_for > longest ? q->paused_for : longest;
            marked += q->marked_frames;
            samples += q->samples;
            notices += q->notices;
        }
    if (r->sums) {
        heard = r->sums->tally.notices + r->sums->late_notices;
        tags = r->sums->tally.tags_sent;
        tags_back = r->sums->tally.tags_back + r->sums->late_tags;
    }
    for (uint64_t i = 0; i < r->n_flows; i++) {
        heard += r->flows[i].notices;
        tags += r->flows[i].tags_sent;
        tags_back += r->flows[i].tags_back;
    }
    add(b, "pauses", NULL, NULL, "", (double)xoffs, "decisions to pause (XOFF), refreshes apart");
    add(b, "pauses", NULL, "frames", "frames", (double)r->control_hops,
        "PAUSE and PFC frames sent, refreshes and resumes included");
    if (output_longest_pause(r, &single))
        add(b, "pauses", NULL, "max", "s", output_seconds(single),
            "longest time from a decision to pause to that to resume");
    if (r->n_pause_counters)
        add(b, "pauses", NULL, "counters", "", (double)r->n_pause_counters,
            "counters of who sends to which egress queue, of the switch that needs most");
    add(b, "pause_time", NULL, NULL, "s", (double)paused / (double)XOFF_S,
        "time that transmitters were paused, sum over ports and priorities");
    add(b, "pause_time", NULL, "max", "s", output_seconds(longest),
        "time that the most paused (port, priority) was paused");
    add(b, "stops", NULL, NULL, "", (double)stops, "times that full queues stopped pipelines");
    add(b, "stop_time", NULL, NULL, "s", (double)stopped / (double)XOFF_S, "time of these stops");
    add(b, "marks", NULL, NULL, "frames", (double)marked, "frames marked with ECN");
    add(b, "notices", NULL, "samples", "", (double)samples, "samples taken, and tags read");
    add(b, "notices", NULL, "sent", "frames", (double)notices, "notifications sent to sources");
    add(b, "notices", NULL, "received", "frames", (double)heard,
        "notifications that reached their source");
    add(b, "tags", NULL, "sent", "", (double)tags, "tags sent for switches to write a rate into");
    add(b, "tags", NULL, "received", "", (double)tags_back, "tags that came back to their source");
    const double feedback = (double)(notices + tags_back), time_s = output_seconds(b->traffic_for);
    add(b, "feedback", NULL, NULL, "frames", feedback, "notifications sent, and tags come back");
    if (time_s > 0)
        add(b, "feedback", NULL, "rate", "/s", feedback / time_s, "messages to sources per second");
}

/* Ports that speak DCBX, and how they stand at the end. */
static void add_dcbx(struct build *b)
{
    const struct result_dcbx *d = &b->results->dcbx;
    if (!d->ports)
        return;
    add(b, "dcbx", NULL, "ports", "", d->ports, "ports that speak DCBX");
    add(b, "dcbx", NULL, "peers", "", d->peers, "of these, ports with one peer at the end");
    add(b, "dcbx", NULL, "sent", "frames", (double)d->sent, "LLDP frames sent");
    add(b, "dcbx", NULL, "received", "frames", (double)d->received, "LLDP frames understood");
    add(b, "dcbx", NULL, "changes", "", (double)d->changes,
        "times that other parameters came into force at a port");
    add(b, "dcbx", NULL, "taken", "", d->taken, "ports that have taken something from their peer");
    add(b, "dcbx", NULL, "differing", "", d->differing,
        "ports whose peer says something else than what is in force here");
    add(b, "dcbx", NULL, "unusable", "", d->unusable,
        "ports that cannot apply what their peer says");
    add(b, "dcbx", NULL, "multiple", "", d->multiple, "ports with several neighbours");
    add(b, "dcbx", NULL, "foreign", "", d->foreign,
        "ports whose peer speaks the other version of DCBX");
    add(b, "dcbx", NULL, "lossless", "", d->lossless, "(port, priority) with PFC in force");
}

/* A pause may outlast the last flow, and with it the measured time. */
static double share_of_time(const struct build *b, xoff_time part)
{
    return part < b->measured_for ? (double)part / (double)b->measured_for : 1;
}

static void add_ports(struct build *b)
{
    const struct results *r = b->results;
    int64_t queue_peak = 0, headroom_peak = 0;
    double busy_sum = 0, busy_max = 0, fraction_max = 0, paused_max = 0;
    bool has_headroom = false;

    for (uint32_t i = 0; i < r->n_ports; i++) {
        const struct result_port *port = &r->ports[i];
        const bool is_switch = port->node < r->n_nodes && r->nodes[port->node].is_switch;
        const double busy = share_of_time(b, port->busy_for - port->unmeasured_busy_for);
        busy_sum += busy;
        if (busy > busy_max)
            busy_max = busy;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct result_queue *q = &port->queue[p];
            const double paused = share_of_time(b, q->paused_for - q->unmeasured_paused_for);
            if (paused > paused_max)
                paused_max = paused;
            if (is_switch && q->queue_peak_bytes > queue_peak)
                queue_peak = q->queue_peak_bytes;
            if (q->headroom_bytes <= 0)
                continue;
            const double fraction = (double)q->headroom_peak_bytes / (double)q->headroom_bytes;
            has_headroom = true;
            if (q->headroom_peak_bytes > headroom_peak)
                headroom_peak = q->headroom_peak_bytes;
            if (fraction > fraction_max)
                fraction_max = fraction;
        }
    }
    if (r->n_ports && b->measured_for > 0) {
        add(b, "utilisation", NULL, "mean", "ratio", busy_sum / r->n_ports,
            "share of the measured time that a link was occupied, mean over link directions");
        add(b, "utilisation", NULL, "max", "ratio", busy_max,
            "share of the measured time that a link was occupied, busiest direction");
        add(b, "pause_fraction", NULL, "max", "ratio", paused_max,
            "share of the measured time that the most paused (port, priority) was paused");
    }
    add(b, "queue", NULL, "peak", "B", (double)queue_peak,
        "longest egress queue of a switch (port, priority)");
    if (!has_headroom)
        return;
    add(b, "headroom", NULL, "peak", "B", (double)headroom_peak,
        "most in use of the headroom set aside for an ingress queue, or for its port (dsh)");
    add(b, "headroom", NULL, "peak_fraction", "ratio", fraction_max,
        "largest share of that headroom that was used");
}

static bool is_of_switch(const struct results *r, const struct result_buffer *buffer)
{
    return buffer->node < r->n_nodes && r->nodes[buffer->node].is_switch;
}

static void add_buffers(struct build *b)
{
    int64_t peak = 0;
    double fraction_max = 0, aside_max = 0, shared_min = 1;
    bool has_buffer = false;
    for (uint32_t i = 0; i < b->results->n_buffers; i++) {
        const struct result_buffer *buffer = &b->results->buffers[i];
        const int64_t capacity = buffer->view.capacity_total_bytes;
        const int64_t used = buffer->view.peak_total_bytes;
        if (!is_of_switch(b->results, buffer) || capacity <= 0)
            continue;
        has_buffer = true;
        if (used > peak)
            peak = used;
        if ((double)used / (double)capacity > fraction_max)
            fraction_max = (double)used / (double)capacity;
        const int64_t shared = buffer->view.capacity_bytes[XOFF_POOL_SHARED];
        const int64_t aside = capacity - buffer->view.capacity_bytes[XOFF_POOL_RESERVED] - shared;
        if ((double)aside / (double)capacity > aside_max)
            aside_max = (double)aside / (double)capacity;
        if ((double)shared / (double)capacity < shared_min)
            shared_min = (double)shared / (double)capacity;
    }
    if (!has_buffer)
        return;
    add(b, "buffer", NULL, "peak", "B", (double)peak, "most bytes held by a buffer of a switch");
    add(b, "buffer", NULL, "peak_fraction", "ratio", fraction_max,
        "largest share of a buffer that its switch used");
    add(b, "buffer", NULL, "set_aside", "ratio", aside_max,
        "share of a buffer that is kept for headroom alone, buffer with the largest");
    add(b, "buffer", NULL, "shared", "ratio", shared_min,
        "share of a buffer that all its queues share, buffer with the smallest");
}

/* Copies the counts up to the last that is not 0. */
static void keep_distribution(struct build *b, const char *name, double step,
                              const uint64_t *counts, uint32_t n)
{
    while (n && !counts[n - 1])
        n--;
    struct distribution *d = calloc(1, sizeof *d);
    uint64_t *copy = calloc((size_t)n + 1, sizeof *copy);
    if (!d || !copy) {
        free(d);
        free(copy);
        b->failed = true;
        return;
    }
    memcpy(copy, counts, n * sizeof *copy);
    *d = (struct distribution){.step = step, .n = n, .counts = copy};
    snprintf(d->name, sizeof d->name, "%s", name);
    b->summary->distributions = d;
    b->summary->n_distributions = 1;
}

/* Percentiles by nearest rank of values that are known to a permille. */
static void add_maxima(struct build *b)
{
    static const char *const meaning =
        "share of a switch's headroom in use at its local maxima, to a permille";
    const uint64_t *counts = b->results->headroom_maxima;
    uint64_t n = 0;
    if (!counts)
        return;
    for (uint32_t i = 0; i < RESULT_MAXIMA; i++)
        n += counts[i];
    add(b, "headroom", "maxima", NULL, "", (double)n,
        "times that a switch's headroom in use fell after it had risen");
    if (n)
        keep_distribution(b, "headroom.maxima", 1. / RESULT_MAXIMA, counts, RESULT_MAXIMA);
    for (uint32_t i = STAT_P50; n && i < N_STATS; i++) {
        const uint64_t rank = (uint64_t)(((unsigned __int128)n * stat_percents[i] + 99) / 100);
        uint32_t step = 0;
        for (uint64_t below = counts[0]; below < rank; below += counts[step])
            step++;
        add(b, "headroom", "maxima", stat_names[i], "ratio", (step + 1.) / RESULT_MAXIMA, meaning);
    }
}

/* Adds one figure for all ports of a buffer together: a buffer reports no more. */
static void add_insurance(struct build *b)
{
    int64_t peak = 0;
    double fraction_max = 0;
    bool has_insurance = false;
    for (uint32_t i = 0; i < b->results->n_buffers; i++) {
        const struct result_buffer *buffer = &b->results->buffers[i];
        const int64_t capacity = buffer->view.capacity_bytes[XOFF_POOL_INSURANCE];
        const int64_t used = buffer->view.peak_bytes[XOFF_POOL_INSURANCE];
        if (!is_of_switch(b->results, buffer) || capacity <= 0)
            continue;
        has_insurance = true;
        if (used > peak)
            peak = used;
        if ((double)used / (double)capacity > fraction_max)
            fraction_max = (double)used / (double)capacity;
    }
    if (!has_insurance)
        return;
    add(b, "insurance", NULL, "peak", "B", (double)peak,
        "most insurance in use in a buffer of a switch, all its ports together");
    add(b, "insurance", NULL, "peak_fraction", "ratio", fraction_max,
        "largest share of a buffer's insurance that was used, all its ports together");
}

static void add_run(struct build *b)
{
    const struct results *r = b->results;
    xoff_time onset_at = XOFF_NEVER;
    for (uint32_t i = 0; i < r->n_deadlocks; i++)
        onset_at = xoff_time_min(onset_at, r->deadlocks[i].onset_at);
    add(b, "deadlocks", NULL, NULL, "", r->n_deadlocks,
        "cycles of paused queues from which no frame left");
    add(b, "deadlocked", NULL, NULL, "", r->n_deadlocks > 0,
        "1 when there was a deadlock, else 0: its mean over runs is their share");
    if (r->n_deadlocks)
        add(b, "deadlock", NULL, "onset", "s", output_seconds(onset_at),
            "when the last edge of the first deadlock closed");
    add(b, "findings", NULL, NULL, "", r->n_findings, "things the audit found wrong");
    add(b, "packet_hops", NULL, NULL, "frames", (double)r->packet_hops,
        "data and ACK frames carried over a link");
    add(b, "control_hops", NULL, NULL, "frames", (double)r->control_hops,
        "PAUSE and PFC frames carried over a link");
    const struct output_span traffic = output_traffic(r);
    add(b, "traffic_start", NULL, NULL, "s", output_seconds(traffic.from),
        "when the first flow started");
    add(b, "traffic_end", NULL, NULL, "s", output_seconds(traffic.to),
        "when the last flow was done, or the end of the run");
    add(b, "measure_start", NULL, NULL, "s", output_seconds(b->measured.from),
        "start of the measured time");
    add(b, "measure_end", NULL, NULL, "s", output_seconds(b->measured.to),
        "end of the measured time: the run's stop, or when the last flow was done");
    add(b, "end_time", NULL, NULL, "s", output_seconds(r->end_at), "simulated time at the end");
}

static void add_curves(struct build *b)
{
    struct summary *s = b->summary;
    s->curves = curves_create(b->results);
    if (!s->curves) {
        b->failed = true;
        return;
    }
    s->n_curves = b->results->n_curves;
    for (uint32_t i = 0; i < s->n_curves; i++) {
        const struct curve *c = &s->curves[i];
        struct curve_figures f;
        if (!c->n)
            continue;
        if (!curve_figures(c, &f)) {
            b->failed = true;
            return;
        }
        const struct {
            const char *stat, *meaning;
            double value;
        } rows[] = {{"mean", "of the curve's samples, mean", f.mean},
                    {"min", "of the curve's samples, smallest", f.min},
                    {"max", "of the curve's samples, largest", f.max},
                    {"stddev", "of the curve's samples, standard deviation", f.stddev},
                    {"p50", "of the curve's samples, median", f.p50},
                    {"p99", "of the curve's samples, 99th percentile", f.p99}};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            add(b, "curve", c->name, rows[k].stat, c->unit, rows[k].value, rows[k].meaning);
        if (b->results->curves[i].level <= 0)
            continue;
        struct curve_lows lows;
        curve_lows(c, b->results->curves[i].level, &lows);
        add(b, "curve", c->name, "below", "s", lows.below_s, "time that it is not at its level");
        add(b, "curve", c->name, "until", "s", lows.until_s, "time until it stays at its level");
    }
}
