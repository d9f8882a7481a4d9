/* The tables of results and their columns (tables.h). Counters carry SAI's names where SAI has the
 * counter (docs/results.md). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/digest.h"
#include "stats/flow_sums.h"
#include "stats/spread.h"
#include "stats/tables.h"

#define FIELD(type, member) \
    .offset = offsetof(struct type, member), .size = sizeof(((const struct type *)0)->member)
/* The field is word `n` of its row in the digest, alone or together with other fields. */
#define DIGEST(n) .digest_word = (n)
#define DIGEST_SHIFTED(n, bits) .digest_word = (n), .digest_shift = (bits)

static void set_whole(struct cell *cell, int64_t value)
{
    cell->kind = CELL_WHOLE;
    cell->whole = value;
}

static void set_text(struct cell *cell, const char *text)
{
    cell->kind = CELL_TEXT;
    cell->text = text;
}

static void get_index(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, (int64_t)row->index);
}

/* Tables whose rows are an array in struct results. */
#define ARRAY(array)                                                               \
    static uint64_t count_##array(const struct table_run *run)                     \
    {                                                                              \
        return run->results->n_##array;                                            \
    }                                                                              \
    static const void *fields_##array(const struct table_run *run, uint64_t index) \
    {                                                                              \
        return &run->results->array[index];                                        \
    }
ARRAY(nodes)
ARRAY(buffers)
ARRAY(operations)
ARRAY(ports)
ARRAY(drops)
ARRAY(pauses)
ARRAY(samples)
ARRAY(deadlocks)
ARRAY(findings)
ARRAY(expectations)
#define ROWS(array) .count = count_##array, .fields = fields_##array

/* run */

static uint64_t count_run(const struct table_run *run)
{
    (void)run;
    return 1;
}

static const void *fields_run(const struct table_run *run, uint64_t index)
{
    (void)index;
    return run->results;
}

static void get_version(const struct table_row *row, struct cell *cell)
{
    (void)row;
    set_text(cell, XOFF_VERSION);
}

static void get_digest(const struct table_row *row, struct cell *cell)
{
    digest_hex(&(struct digest){row->run->results->digest}, cell->room);
    set_text(cell, cell->room);
}

static void get_verdict(const struct table_row *row, struct cell *cell)
{
    set_text(cell, output_verdict(row->run->results));
}

static void get_traffic_from(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, output_traffic(row->run->results).from);
}

static void get_traffic_to(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, output_traffic(row->run->results).to);
}

static void get_measured_from(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, output_measured(row->run->results).from);
}

static void get_measured_to(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, output_measured(row->run->results).to);
}

static const struct column run_columns[] = {
    {"xoff_version", COLUMN_STRING, "", "version that wrote the file", .get = get_version},
    {"variant", COLUMN_STRING, "", "name of the variant, empty without variants",
     FIELD(results, variant)},
    {"title", COLUMN_STRING, "", "title of the scenario", FIELD(results, title)},
    {"scenario_file", COLUMN_STRING, "", "path of the scenario as given",
     FIELD(results, scenario_file)},
    {"scenario_text", COLUMN_STRING, "", "the scenario as read", FIELD(results, scenario_text)},
    {"config_text", COLUMN_STRING, "", "the effective configuration with all defaults",
     FIELD(results, config_text)},
    {"seed", COLUMN_UNSIGNED, "", "seed of all random streams", FIELD(results, seed)},
    {"digest", COLUMN_STRING, "", "16 hexadecimal digits, see [above](#the-digest)",
     .get = get_digest},
    {"verdict", COLUMN_STRING, "", "as in summary.json", .get = get_verdict},
    {"interrupted", COLUMN_UNSIGNED, "", "1: stopped by the user", FIELD(results, interrupted)},
    {"lossless_priorities", COLUMN_PRIORITIES, "", "such as `3,4`", FIELD(results, lossless)},
    {"end_at_ps", COLUMN_SIGNED, "ps", "simulated end", FIELD(results, end_at)},
    {"stop_at_ps", COLUMN_SIGNED, "ps", "instant from which nothing new was offered",
     FIELD(results, stop_at)},
    {"traffic_from_ps", COLUMN_SIGNED, "ps", "start of the first flow", .get = get_traffic_from},
    {"traffic_to_ps", COLUMN_SIGNED, "ps",
     "last byte received or acknowledged; the end, if some flow was not done",
     .get = get_traffic_to},
    {"measured_from_ps", COLUMN_SIGNED, "ps", "start of the [measured time](#the-measured-time)",
     .get = get_measured_from},
    {"measured_to_ps", COLUMN_SIGNED, "ps", "its end", .get = get_measured_to},
    {"wall_s", COLUMN_REAL, "s", "real time that the run took", FIELD(results, wall_s)},
    {"threads", COLUMN_UNSIGNED, "", "threads used", FIELD(results, threads)},
    {"packet_hops", COLUMN_UNSIGNED, "frames", "data and ACK frames carried over a link",
     FIELD(results, packet_hops)},
    {"control_hops", COLUMN_UNSIGNED, "frames", "PAUSE and PFC frames carried over a link",
     FIELD(results, control_hops)},
    {"events", COLUMN_UNSIGNED, "", "events of the simulator", FIELD(results, events)},
    {"windows", COLUMN_UNSIGNED, "", "windows of the simulator", FIELD(results, windows)},
    {"peak_rss_bytes", COLUMN_UNSIGNED, "B", "most memory used", FIELD(results, peak_rss_bytes)},
    {"pauses_left_out", COLUMN_UNSIGNED, "",
     "decisions (XOFF and XON) beyond the number kept in `pause`", FIELD(results, pauses_left_out)},
    {0},
};

/* node */

static const char *node_kind(uint8_t is_switch)
{
    return is_switch ? "switch" : "host";
}

static const struct column node_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "hosts come first", .get = get_index},
    {"name", COLUMN_CHARS, "", "as the topology names it", FIELD(result_node, name)},
    {"kind", COLUMN_WORD, "", "`host` or `switch`", FIELD(result_node, is_switch),
     .word = node_kind},
    {"held_bytes", COLUMN_SIGNED, "B", "in queues at the end", FIELD(result_node, held_bytes)},
    {"stops", COLUMN_UNSIGNED, "", "times that a full egress queue stopped its pipeline",
     FIELD(result_node, stops)},
    {"stopped_ps", COLUMN_SIGNED, "ps", "how long its pipeline was stopped",
     FIELD(result_node, stopped_for)},
    {0},
};

/* buffer */

#define POOL(name, watermark, id, pool)                                 \
    {name, COLUMN_SIGNED, "B", "size of " pool,                         \
     FIELD(result_buffer, view.capacity_bytes[XOFF_POOL_##id])},        \
    {                                                                   \
        watermark, COLUMN_SIGNED, "B", "most that was in use of " pool, \
            FIELD(result_buffer, view.peak_bytes[XOFF_POOL_##id])       \
    }

static const struct column buffer_columns[] = {
    {"node_id", COLUMN_NODE, "", "whose buffer it is", FIELD(result_buffer, node)},
    {"name", COLUMN_CHARS, "", "`shared` at a switch, `receive` at a slow receiver",
     FIELD(result_buffer, name)},
    {"buffer_bytes", COLUMN_SIGNED, "B", "size of the whole buffer",
     FIELD(result_buffer, view.capacity_total_bytes)},
    {"buffer_pool_watermark_bytes", COLUMN_SIGNED, "B", "most that it ever held",
     FIELD(result_buffer, view.peak_total_bytes)},
    POOL("reserved_bytes", "reserved_watermark_bytes", RESERVED, "the reserves of its queues"),
    POOL("shared_bytes", "shared_watermark_bytes", SHARED, "the pool that its queues share"),
    POOL("xoff_room_bytes", "buffer_pool_xoff_room_watermark_bytes", HEADROOM, "its headroom"),
    POOL("insurance_bytes", "insurance_watermark_bytes", INSURANCE, "the insurance of its ports"),
    {0},
};

/* flow: those that are kept, then the worst of those that were summarised */

static uint64_t count_flows(const struct table_run *run)
{
    const struct results *r = run->results;
    return r->n_flows + (r->sums ? r->sums->n_worst : 0);
}

static const void *fields_flows(const struct table_run *run, uint64_t index)
{
    const struct results *r = run->results;
    return index < r->n_flows ? &r->flows[index] : &r->sums->worst[index - r->n_flows];
}

/* Flows that were summarised are in no order: the digests of all flows are added up. */
static bool digest_flows(const struct table_run *run, struct digest *digest)
{
    const struct results *r = run->results;
    if (!r->sums)
        return false;
    uint64_t sum = r->sums->digest;
    for (uint64_t i = 0; i < r->n_flows; i++)
        sum += table_digest_flow(&r->flows[i]);
    digest_u64(digest, r->n_flows + r->sums->tally.n);
    digest_u64(digest, sum);
    return true;
}

static void get_fct(const struct table_row *row, struct cell *cell)
{
    const struct result_flow *flow = row->fields;
    set_whole(cell, flow->finish_at - flow->start_at);
    if (!output_is_finished(flow))
        cell->kind = CELL_NULL;
}

static void get_ideal(const struct table_row *row, struct cell *cell)
{
    const struct result_flow *flow = row->fields;
    set_whole(cell, flow->ideal_for);
    if (flow->ideal_for <= 0)
        cell->kind = CELL_NULL;
}

static void get_slowdown(const struct table_row *row, struct cell *cell)
{
    const struct result_flow *flow = row->fields;
    cell->kind = CELL_NULL;
    if (!output_has_slowdown(flow))
        return;
    cell->kind = CELL_REAL;
    cell->real = output_slowdown(flow);
}

static void get_measured_bytes(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, (int64_t)output_measured_bytes(row->fields));
}

static const struct column flow_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "position by (start, source, number)", .get = get_index,
     .place = COLUMN_IN_DATABASE},
    {"from_node_id", COLUMN_NODE, "", "host that sends", FIELD(result_flow, from),
     DIGEST_SHIFTED(1, 32)},
    {"to_node_id", COLUMN_NODE, "", "host that receives", FIELD(result_flow, to), DIGEST(1)},
    {"number", COLUMN_UNSIGNED, "", "number of the flow at its source", FIELD(result_flow, number)},
    {"traffic", COLUMN_TRAFFIC, "", "name of the traffic entry", FIELD(result_flow, tag)},
    {"priority", COLUMN_UNSIGNED, "", "0 to 7", FIELD(result_flow, priority)},
    {"reliable", COLUMN_UNSIGNED, "", "1: with ACKs and retransmission",
     FIELD(result_flow, reliable)},
    {"offered_bytes", COLUMN_UNSIGNED, "B", "payload to carry; NULL: a stream without end",
     FIELD(result_flow, offered_bytes), DIGEST(2)},
    {"sent_bytes", COLUMN_UNSIGNED, "B", "payload sent, repeats included",
     FIELD(result_flow, sent_bytes), DIGEST(3)},
    {"delivered_bytes", COLUMN_UNSIGNED, "B", "payload received",
     FIELD(result_flow, delivered_bytes), DIGEST(4)},
    {"measured_bytes", COLUMN_UNSIGNED, "B",
     "of it, payload received in the [measured time](#the-measured-time)",
     .get = get_measured_bytes},
    {"drained_bytes", COLUMN_UNSIGNED, "B", "of it, payload received after the measured time",
     FIELD(result_flow, late_bytes)},
    {"starving", COLUMN_UNSIGNED, "", "1: it [starves](#starvation)",
     FIELD(result_flow, is_starving)},
    {"start_at_ps", COLUMN_SIGNED, "ps", "first byte offered", FIELD(result_flow, start_at),
     DIGEST(5)},
    {"finish_at_ps", COLUMN_SIGNED, "ps", "last byte at the receiver; NULL: not finished",
     FIELD(result_flow, finish_at), DIGEST(6)},
    {"acked_at_ps", COLUMN_SIGNED, "ps", "last ACK at the sender; NULL: none",
     FIELD(result_flow, acked_at), DIGEST(7)},
    {"fct_ps", COLUMN_SIGNED, "ps", "completion time; NULL: not finished", .get = get_fct,
     .place = COLUMN_IN_CSV},
    {"ideal_ps", COLUMN_SIGNED, "ps", "the same transfer alone in the network; NULL: not defined",
     FIELD(result_flow, ideal_for), .get = get_ideal, DIGEST(8)},
    {"slowdown", COLUMN_REAL, "", "max(1, completion time / ideal); NULL: not defined",
     .get = get_slowdown},
    {"marked_frames", COLUMN_UNSIGNED, "frames", "received with an ECN mark",
     FIELD(result_flow, marked_frames), DIGEST_SHIFTED(9, 32)},
    {"retransmitted_frames", COLUMN_UNSIGNED, "frames", "sent again",
     FIELD(result_flow, retransmitted_frames), DIGEST(9)},
    {"notices", COLUMN_UNSIGNED, "frames",
     "notifications of congestion points that reached the source", FIELD(result_flow, notices)},
    {"tags_sent", COLUMN_UNSIGNED, "", "tags sent for switches to write a rate into",
     FIELD(result_flow, tags_sent)},
    {"tags_back", COLUMN_UNSIGNED, "", "tags that came back to the source",
     FIELD(result_flow, tags_back)},
    {0},
};

/* operations */

static void get_duration(const struct table_row *row, struct cell *cell)
{
    const struct result_operation *operation = row->fields;
    set_whole(cell, operation->finish_at - operation->start_at);
}

static const struct column operation_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "position by (completion, host)", .get = get_index,
     .place = COLUMN_IN_DATABASE},
    {"node_id", COLUMN_NODE, "",
     "host whose operation it is: the aggregator of a query, the initiator of a command, the rank",
     FIELD(result_operation, host), DIGEST_SHIFTED(1, 32)},
    {"traffic", COLUMN_TRAFFIC, "", "name of the traffic entry", FIELD(result_operation, tag),
     DIGEST(1)},
    {"bytes", COLUMN_UNSIGNED, "B", "payload of the operation", FIELD(result_operation, bytes),
     DIGEST(4)},
    {"start_at_ps", COLUMN_SIGNED, "ps",
     "when it began; for a query, when it arrived, even if it then waited to be sent out",
     FIELD(result_operation, start_at), DIGEST(2)},
    {"finish_at_ps", COLUMN_SIGNED, "ps", "when it was complete",
     FIELD(result_operation, finish_at), DIGEST(3)},
    {"duration_ps", COLUMN_SIGNED, "ps", "`finish_at_ps` - `start_at_ps`", .get = get_duration},
    {0},
};

/* port */

static void get_measured_busy(const struct table_row *row, struct cell *cell)
{
    const struct result_port *port = row->fields;
    set_whole(cell, port->busy_for - port->unmeasured_busy_for);
}

static const struct column port_columns[] = {
    {"node_id", COLUMN_NODE, "", "whose port it is", FIELD(result_port, node)},
    {"port", COLUMN_UNSIGNED, "", "number of the port at its node", FIELD(result_port, port)},
    {"peer_node_id", COLUMN_NODE, "", "node at the other end", FIELD(result_port, peer_node)},
    {"peer_port", COLUMN_UNSIGNED, "", "port at the other end", FIELD(result_port, peer_port)},
    {"link", COLUMN_UNSIGNED, "", "number of the link", FIELD(result_port, link),
     .place = COLUMN_IN_DATABASE},
    {"rate_bps", COLUMN_UNSIGNED, "bps", "rate of the link", FIELD(result_port, rate_bps)},
    {"busy_ps", COLUMN_SIGNED, "ps", "wire occupied, preamble and gap included",
     FIELD(result_port, busy_for), DIGEST(1)},
    {"measured_busy_ps", COLUMN_SIGNED, "ps", "of it, in the measured time",
     .get = get_measured_busy},
    {"pause_tx_pkts", COLUMN_UNSIGNED, "frames", "PAUSE and PFC frames sent, refreshes included",
     FIELD(result_port, control_tx_frames), DIGEST_SHIFTED(2, 32)},
    {"pause_rx_pkts", COLUMN_UNSIGNED, "frames",
     "PAUSE and PFC frames received, refreshes included", FIELD(result_port, control_rx_frames),
     DIGEST(2)},
    {0},
};

/* queue */

static const struct result_port *port_of(const struct table_row *row)
{
    return &row->run->results->ports[row->index / XOFF_N_PRIORITIES];
}

static uint64_t count_queues(const struct table_run *run)
{
    return (uint64_t)run->results->n_ports * XOFF_N_PRIORITIES;
}

static const void *fields_queues(const struct table_run *run, uint64_t index)
{
    return &run->results->ports[index / XOFF_N_PRIORITIES].queue[index % XOFF_N_PRIORITIES];
}

static void get_queue_node(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, port_of(row)->node);
}

static void get_queue_port(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, port_of(row)->port);
}

static void get_queue_priority(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, (int64_t)(row->index % XOFF_N_PRIORITIES));
}

static void get_measured_paused(const struct table_row *row, struct cell *cell)
{
    const struct result_queue *queue = row->fields;
    set_whole(cell, queue->paused_for - queue->unmeasured_paused_for);
}

static const struct column queue_columns[] = {
    {"node_id", COLUMN_NODE, "", "whose port it is", .get = get_queue_node,
     .place = COLUMN_IN_DATABASE},
    {"port", COLUMN_UNSIGNED, "", "number of the port at its node", .get = get_queue_port,
     .place = COLUMN_IN_DATABASE},
    {"priority", COLUMN_UNSIGNED, "", "0 to 7", .get = get_queue_priority},
    {"queue_packets", COLUMN_UNSIGNED, "frames", "data and ACK frames sent",
     FIELD(result_queue, tx_frames), DIGEST(1)},
    {"queue_bytes", COLUMN_UNSIGNED, "B", "their MAC bytes", FIELD(result_queue, tx_bytes),
     DIGEST(2)},
    {"queue_wred_ecn_marked_packets", COLUMN_UNSIGNED, "frames", "frames marked with ECN",
     FIELD(result_queue, marked_frames), DIGEST(4)},
    {"queue_watermark_bytes", COLUMN_SIGNED, "B", "longest egress queue",
     FIELD(result_queue, queue_peak_bytes), DIGEST(6)},
    {"pg_packets", COLUMN_UNSIGNED, "frames", "data and ACK frames received",
     FIELD(result_queue, rx_frames)},
    {"pg_bytes", COLUMN_UNSIGNED, "B", "their MAC bytes", FIELD(result_queue, rx_bytes), DIGEST(3)},
    {"pg_xoff_room_watermark_bytes", COLUMN_SIGNED, "B", "most headroom used on the ingress side",
     FIELD(result_queue, headroom_peak_bytes), DIGEST(7)},
    {"pg_xoff_room_bytes", COLUMN_SIGNED, "B", "size of that headroom; 0: none",
     FIELD(result_queue, headroom_bytes)},
    {"xoff_tx", COLUMN_UNSIGNED, "", "pauses sent to the peer, refreshes not counted",
     FIELD(result_queue, pause_tx)},
    {"xon_tx", COLUMN_UNSIGNED, "", "resumes sent to the peer", FIELD(result_queue, resume_tx)},
    {"pfc_on2off_rx_pkts", COLUMN_UNSIGNED, "", "pauses received, refreshes not counted",
     FIELD(result_queue, pause_rx)},
    {"xon_rx", COLUMN_UNSIGNED, "", "resumes received", FIELD(result_queue, resume_rx)},
    {"pfc_rx_pause_duration_ps", COLUMN_SIGNED, "ps",
     "time that the peer kept this transmitter paused", FIELD(result_queue, paused_for), DIGEST(5)},
    {"measured_paused_ps", COLUMN_SIGNED, "ps", "of it, in the measured time",
     .get = get_measured_paused},
    {"cp_samples", COLUMN_UNSIGNED, "", "samples that the congestion point took, or tags it read",
     FIELD(result_queue, samples)},
    {"cp_notices", COLUMN_UNSIGNED, "frames", "notifications that it sent to sources",
     FIELD(result_queue, notices)},
    {0},
};

/* drop_place */

static const struct column drop_columns[] = {
    {"node_id", COLUMN_NODE, "", "where the frames were lost", FIELD(result_drop, node),
     DIGEST_SHIFTED(1, 32)},
    {"port", COLUMN_UNSIGNED, "", "port where they came in; for link causes the receiving port",
     FIELD(result_drop, port), DIGEST(1)},
    {"out_port", COLUMN_UNSIGNED, "", "port where they wanted to go; NULL: not known",
     FIELD(result_drop, out_port)},
    {"priority", COLUMN_UNSIGNED, "", "0 to 7", FIELD(result_drop, priority), DIGEST(2)},
    {"cause", COLUMN_WORD, "",
     "`buffer`, `corrupt`, `link-down`, `no-route`, `receiver`, `egress` or `hops`",
     FIELD(result_drop, cause), .word = output_drop_cause, DIGEST_SHIFTED(2, 8)},
    {"lossless", COLUMN_UNSIGNED, "", "1: of a lossless priority", FIELD(result_drop, lossless)},
    {"frames", COLUMN_UNSIGNED, "frames", "frames lost", FIELD(result_drop, frames), DIGEST(3)},
    {"bytes", COLUMN_UNSIGNED, "B", "their MAC bytes", FIELD(result_drop, bytes)},
    {"first_at_ps", COLUMN_SIGNED, "ps", "when the first of them was lost",
     FIELD(result_drop, first_at), DIGEST(4)},
    {0},
};

/* pause */

static const char *pause_decision(uint8_t pause)
{
    return pause ? "XOFF" : "XON";
}

static void get_egress(const struct table_row *row, struct cell *cell, uint8_t value)
{
    const struct result_pause *pause = row->fields;
    set_whole(cell, value);
    if (pause->egress_port == UINT32_MAX)
        cell->kind = CELL_NULL;
}

static void get_egress_priority(const struct table_row *row, struct cell *cell)
{
    get_egress(row, cell, ((const struct result_pause *)row->fields)->egress_priority);
}

static void get_egress_paused(const struct table_row *row, struct cell *cell)
{
    get_egress(row, cell, ((const struct result_pause *)row->fields)->egress_paused);
}

static const struct column pause_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "position in time", .get = get_index},
    {"at_ps", COLUMN_SIGNED, "ps", "when it was decided", FIELD(result_pause, at), DIGEST(1)},
    {"node_id", COLUMN_NODE, "", "who decided", FIELD(result_pause, node), DIGEST_SHIFTED(2, 32)},
    {"port", COLUMN_UNSIGNED, "", "towards the peer of this port", FIELD(result_pause, port),
     DIGEST(2)},
    {"priorities", COLUMN_PRIORITIES, "", "such as `3`; all eight for 802.3x PAUSE",
     FIELD(result_pause, priorities), DIGEST_SHIFTED(3, 8)},
    {"decision", COLUMN_WORD, "", "`XOFF` or `XON`", FIELD(result_pause, pause),
     .word = pause_decision, DIGEST(3)},
    {"unit", COLUMN_WORD, "",
     "what crossed its threshold: `ingress` (port, priority), `ingress-port`, `egress` (port, "
     "priority)",
     FIELD(result_pause, unit), .word = output_unit},
    {"occupied_bytes", COLUMN_SIGNED, "B", "its bytes then", FIELD(result_pause, occupied_bytes),
     DIGEST(5)},
    {"threshold_bytes", COLUMN_SIGNED, "B", "the threshold", FIELD(result_pause, threshold_bytes)},
    {"egress_port", COLUMN_UNSIGNED, "",
     "port of the egress queue that held most of them; NULL: none",
     FIELD(result_pause, egress_port), DIGEST_SHIFTED(4, 32)},
    {"egress_priority", COLUMN_UNSIGNED, "", "priority of that queue", .get = get_egress_priority},
    {"egress_paused", COLUMN_UNSIGNED, "", "1: that queue was itself paused then",
     .get = get_egress_paused},
    {"parent_id", COLUMN_UNSIGNED, "", "by this earlier pause; NULL: this one is a root",
     FIELD(result_pause, parent), DIGEST(4)},
    {0},
};

/* sample */

static const struct column sample_columns[] = {
    {"at_ps", COLUMN_SIGNED, "ps", "when it was taken", FIELD(result_sample, at)},
    {"node_id", COLUMN_NODE, "", "where", FIELD(result_sample, node)},
    {"port", COLUMN_UNSIGNED, "", "NULL: of the node", FIELD(result_sample, port)},
    {"priority", COLUMN_UNSIGNED, "", "NULL: all together", FIELD(result_sample, priority)},
    {"metric", COLUMN_WORD, "",
     "`queue_bytes`, `tx_bps`, `paused_fraction`, `buffer_bytes` or `input_bytes`; with `pools`, "
     "of every pool "
     "that has a size, `reserved_bytes`, `shared_bytes`, `headroom_bytes` or `insurance_bytes`; "
     "with `point`, of congestion points that compute a rate, `advertised_bps`, `load_ratio` or "
     "`control_ratio`",
     FIELD(result_sample, metric), .word = output_sample_metric},
    {"value", COLUMN_REAL, "", "in the unit that ends the metric's name",
     FIELD(result_sample, value), DIGEST(1)},
    {0},
};

/* Series of a host's pauses follow from pauses that the digest has. They are left out of it, so
 * that digests of earlier versions stay valid. */
static bool is_sample_digested(const struct table_run *run, const void *fields)
{
    const struct result_sample *sample = fields;
    const struct results *r = run->results;
    return sample->metric != RESULT_PAUSED_FRACTION || sample->node >= r->n_nodes ||
           r->nodes[sample->node].is_switch;
}

/* deadlock, deadlock_port */

static const struct column deadlock_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "in the order of finding", .get = get_index},
    {"onset_at_ps", COLUMN_SIGNED, "ps", "when its last edge closed",
     FIELD(result_deadlock, onset_at), DIGEST(1)},
    {"found_at_ps", COLUMN_SIGNED, "ps", "when it was found", FIELD(result_deadlock, found_at)},
    {0},
};

static uint64_t count_deadlock_ports(const struct table_run *run)
{
    const struct results *r = run->results;
    return r->n_deadlocks ? r->deadlocks[r->n_deadlocks - 1].first +
                                (uint64_t)r->deadlocks[r->n_deadlocks - 1].n
                          : 0;
}

static const void *fields_deadlock_ports(const struct table_run *run, uint64_t index)
{
    return &run->results->deadlock_ports[index];
}

/* Returns the deadlock that the port is part of: ports of a deadlock follow each other without a
 * gap. */
static uint32_t deadlock_of(const struct table_row *row)
{
    const struct result_deadlock *deadlocks = row->run->results->deadlocks;
    uint32_t i = 0;
    while (row->index >= deadlocks[i].first + (uint64_t)deadlocks[i].n)
        i++;
    return i;
}

static void get_deadlock(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, deadlock_of(row));
}

static void get_position(const struct table_row *row, struct cell *cell)
{
    set_whole(cell, (int64_t)row->index - row->run->results->deadlocks[deadlock_of(row)].first);
}

static const struct column deadlock_port_columns[] = {
    {"deadlock_id", COLUMN_UNSIGNED, "", "the deadlock", .get = get_deadlock},
    {"position", COLUMN_UNSIGNED, "", "each port waits for the next, the last for the first",
     .get = get_position},
    {"node_id", COLUMN_NODE, "", "switch that cannot send", FIELD(result_deadlock_port, node)},
    {"port", COLUMN_UNSIGNED, "", "its egress port", FIELD(result_deadlock_port, port)},
    {"priority", COLUMN_UNSIGNED, "", "0 to 7", FIELD(result_deadlock_port, priority)},
    {0},
};

/* finding, expectation, metric */

static const struct column finding_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "in the order of finding", .get = get_index},
    {"text", COLUMN_CHARS, "", "what is wrong", FIELD(result_finding, text)},
    {0},
};

static const struct column expectation_columns[] = {
    {"id", COLUMN_UNSIGNED, "", "in the order of the file", .get = get_index},
    {"text", COLUMN_CHARS, "", "as the file says it", FIELD(result_expectation, text)},
    {"holds", COLUMN_UNSIGNED, "", "1: it holds", FIELD(result_expectation, holds)},
    {"detail", COLUMN_CHARS, "", "the values compared, or why there are none",
     FIELD(result_expectation, detail)},
    {0},
};

static uint64_t count_metrics(const struct table_run *run)
{
    return run->summary ? run->summary->n_metrics : 0;
}

static const void *fields_metrics(const struct table_run *run, uint64_t index)
{
    return &run->summary->metrics[index];
}

static const struct column metric_columns[] = {
    {"name", COLUMN_CHARS, "", "as [above](#metrics)", FIELD(metric, name)},
    {"value", COLUMN_REAL, "", "its value", FIELD(metric, value)},
    {"unit", COLUMN_CHARS, "", "its unit", FIELD(metric, unit)},
    {"meaning", COLUMN_STRING, "", "what it is", FIELD(metric, meaning)},
    {0},
};

/* spread */

static uint64_t count_spreads(const struct table_run *run)
{
    return run->results->seeds ? run->results->seeds->n_metrics : 0;
}

static const void *fields_spreads(const struct table_run *run, uint64_t index)
{
    return &run->results->seeds->metrics[index];
}

/* One value has neither: NULL. */
static void set_known(struct cell *cell, double value)
{
    cell->kind = isnan(value) ? CELL_NULL : CELL_REAL;
    cell->real = value;
}

static void get_stddev(const struct table_row *row, struct cell *cell)
{
    set_known(cell, ((const struct seed_metric *)row->fields)->over.stddev);
}

static void get_ci95(const struct table_row *row, struct cell *cell)
{
    set_known(cell, ((const struct seed_metric *)row->fields)->over.ci95);
}

static const struct column spread_columns[] = {
    {"name", COLUMN_CHARS, "", "of the metric, as [above](#metrics)", FIELD(seed_metric, name)},
    {"unit", COLUMN_CHARS, "", "its unit", FIELD(seed_metric, unit)},
    {"n", COLUMN_UNSIGNED, "", "seeds whose run has it", FIELD(seed_metric, over.n)},
    {"mean", COLUMN_REAL, "", "over these seeds", FIELD(seed_metric, over.mean)},
    {"ci95", COLUMN_REAL, "",
     "half the width of the 95 % confidence interval of the mean; NULL for one seed",
     .get = get_ci95},
    {"stddev", COLUMN_REAL, "", "standard deviation, divided by n - 1; NULL for one seed",
     .get = get_stddev},
    {"min", COLUMN_REAL, "", "smallest", FIELD(seed_metric, over.min)},
    {"max", COLUMN_REAL, "", "largest", FIELD(seed_metric, over.max)},
    {0},
};

/* flow_bin */

static uint64_t count_bins(const struct table_run *run)
{
    return run->results->sums ? run->results->sums->n_bins : 0;
}

static const void *fields_bins(const struct table_run *run, uint64_t index)
{
    return &run->results->sums->bins[index];
}

static const char *time_word(uint8_t time)
{
    static const char *const words[N_FLOW_TIMES] = {
        [FLOW_FCT] = "fct", [FLOW_ACK] = "fct.ack", [FLOW_SLOWDOWN] = "slowdown"};
    return words[time];
}

static const char *size_word(uint8_t size)
{
    return size < OUTPUT_BUCKETS ? output_bucket_names[size] : "";
}

static const struct column bin_columns[] = {
    {"quantity", COLUMN_WORD, "", "`fct`, `fct.ack` or `slowdown`", FIELD(flow_bin, time),
     .word = time_word},
    {"traffic", COLUMN_TRAFFIC, "", "name of the traffic entry; empty: all of them",
     FIELD(flow_bin, tag)},
    {"size", COLUMN_WORD, "", "size bucket, such as `le10KB`; empty: all sizes",
     FIELD(flow_bin, size), .word = size_word},
    {"low", COLUMN_REAL, "", "smallest value counted here, in seconds, or a ratio",
     FIELD(flow_bin, low)},
    {"high", COLUMN_REAL, "", "where the next bin begins", FIELD(flow_bin, high)},
    {"flows", COLUMN_UNSIGNED, "", "flows with such a value", FIELD(flow_bin, flows)},
    {0},
};

const struct table tables[] = {
    {"run", .key = "id INTEGER PRIMARY KEY", .columns = run_columns, ROWS(run)},
    {"node", .columns = node_columns, ROWS(nodes)},
    {"buffer", "buffers.csv", .columns = buffer_columns, ROWS(buffers)},
    {"flow", "flows.csv", .columns = flow_columns, ROWS(flows), .digests_count = true,
     .digest = digest_flows},
    {"operations", "operations.csv", .columns = operation_columns, ROWS(operations)},
    {"port", .columns = port_columns, ROWS(ports)},
    {"queue", "ports.csv", .columns = queue_columns, ROWS(queues),
     .n_per_outer = XOFF_N_PRIORITIES},
    {"drop_place", "drops.csv", .columns = drop_columns, ROWS(drops)},
    {"pause", "pauses.csv", .columns = pause_columns, ROWS(pauses), .digests_count = true},
    {"sample", "samples.csv", .columns = sample_columns, ROWS(samples),
     .is_digested = is_sample_digested},
    {"deadlock", .columns = deadlock_columns, ROWS(deadlocks)},
    {"deadlock_port", .columns = deadlock_port_columns, ROWS(deadlock_ports)},
    {"finding", .columns = finding_columns, ROWS(findings)},
    {"expectation", .columns = expectation_columns, ROWS(expectations)},
    {"metric", .columns = metric_columns, ROWS(metrics)},
    {"spread", .columns = spread_columns, ROWS(spreads)},
    {"flow_bin", .columns = bin_columns, ROWS(bins)},
    {0},
};
