/* The network of a run: nodes, ports, names and distances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading/run_data.h"

void *run_grown(void *array, uint32_t n, size_t size)
{
    if (n && (n & (n - 1)))
        return array;
    array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
    XOFF_ASSERT(array);
    return array;
}

static void read_nodes(struct run_data *run)
{
    struct rows *rows = &run->rows;
    rows_begin(rows, "SELECT id, name, kind FROM node WHERE run_id = ? ORDER BY id", run->run_id);
    while (rows_next(rows)) {
        run->nodes = run_grown(run->nodes, run->n_nodes, sizeof *run->nodes);
        struct run_node *node = &run->nodes[run->n_nodes];
        *node = (struct run_node){.is_host = !strcmp(rows_text(rows, 2), "host")};
        if (rows_int(rows, 0) != run->n_nodes)
            rows_fail(rows, "the file is damaged (nodes are not numbered from 0)");
        snprintf(node->name, sizeof node->name, "%s", rows_text(rows, 1));
        run->n_nodes++;
    }
}

static void read_buffers(struct run_data *run)
{
    struct rows *rows = &run->rows;
    rows_begin(rows,
               "SELECT node_id, name, buffer_pool_watermark_bytes, buffer_bytes, reserved_bytes, "
               "shared_bytes, xoff_room_bytes, insurance_bytes FROM buffer WHERE run_id = ? "
               "AND buffer_bytes > 0 ORDER BY rowid",
               run->run_id);
    while (rows_next(rows)) {
        const uint32_t index = rows_index(rows, 0);
        if (index >= run->n_nodes) {
            rows_fail(rows, "the file is damaged (a buffer of no node)");
            return;
        }
        struct run_node *node = &run->nodes[index];
        const int64_t peak = rows_int(rows, 2), size = rows_int(rows, 3);
        node->buffer_bytes += size;
        for (int pool = 0; pool < RUN_N_POOLS; pool++)
            node->pool_bytes[pool] += rows_int(rows, 4 + pool);
        if (node->fullest_bytes > 0 &&
            (double)peak / (double)size <=
                (double)node->fullest_peak_bytes / (double)node->fullest_bytes)
            continue;
        snprintf(node->fullest_name, sizeof node->fullest_name, "%s", rows_text(rows, 1));
        node->fullest_peak_bytes = peak;
        node->fullest_bytes = size;
    }
}

/* A pause may outlast the traffic. */
static double fraction(const struct run_data *run, int64_t part)
{
    const int64_t whole = run->measured_ps;
    if (whole <= 0)
        return 0;
    return part < whole ? (double)part / (double)whole : 1;
}

static void read_ports(struct run_data *run)
{
    struct rows *rows = &run->rows;
    rows_begin(
        rows,
        "SELECT node_id, port, peer_node_id, peer_port, rate_bps, measured_busy_ps FROM port "
        "WHERE run_id = ? ORDER BY node_id, port",
        run->run_id);
    while (rows_next(rows)) {
        run->ports = run_grown(run->ports, run->n_ports, sizeof *run->ports);
        struct run_port *port = &run->ports[run->n_ports];
        *port = (struct run_port){.node = rows_index(rows, 0),
                                  .number = rows_index(rows, 1),
                                  .peer_node = rows_index(rows, 2),
                                  .peer_number = rows_index(rows, 3),
                                  .peer = NONE,
                                  .rate_bps = rows_real(rows, 4),
                                  .busy = fraction(run, rows_int(rows, 5))};
        if (port->node >= run->n_nodes) {
            rows_fail(rows, "the file is damaged (a port of no node)");
            continue;
        }
        if (port->peer_node >= run->n_nodes)
            port->peer_node = NONE;
        struct run_node *node = &run->nodes[port->node];
        if (!node->n_ports++)
            node->first_port = run->n_ports;
        run->n_ports++;
    }
    for (uint32_t i = 0; i < run->n_ports; i++) {
        struct run_port *port = &run->ports[i];
        port->peer = run_find_port(run, port->peer_node, port->peer_number);
        if (port->peer == NONE)
            port->peer_node = NONE;
    }
}

/* A PAUSE of 802.3x closes all priorities at once, so the most paused priority stands for the
 * direction. */
static void read_paused(struct run_data *run)
{
    struct rows *rows = &run->rows;
    rows_begin(rows,
               "SELECT node_id, port, max(measured_paused_ps) FROM queue WHERE run_id = ? "
               "AND measured_paused_ps > 0 GROUP BY node_id, port",
               run->run_id);
    while (rows_next(rows)) {
        const uint32_t port = run_find_port(run, rows_index(rows, 0), rows_index(rows, 1));
        if (port != NONE)
            run->ports[port].paused = fraction(run, rows_int(rows, 2));
    }
}

/* Breadth-first search: sets the distance in links of nodes beyond those in `queue` and appends
 * them to it. */
static void walk(const struct run_data *run, uint32_t *queue, uint32_t n, uint32_t *distances)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct run_node *node = &run->nodes[queue[i]];
        for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
            const uint32_t peer = run->ports[p].peer_node;
            if (peer == NONE || distances[peer] != NONE)
                continue;
            distances[peer] = distances[queue[i]] + 1;
            queue[n++] = peer;
        }
    }
}

void run_distances(const struct run_data *run, uint32_t node, uint32_t *distances)
{
    uint32_t *queue = malloc((run->n_nodes + 1) * sizeof *queue);
    XOFF_ASSERT(queue);
    for (uint32_t i = 0; i < run->n_nodes; i++)
        distances[i] = NONE;
    distances[node] = 0;
    queue[0] = node;
    walk(run, queue, 1, distances);
    free(queue);
}

static void find_levels(struct run_data *run)
{
    uint32_t *queue = malloc((run->n_nodes + 1) * sizeof *queue);
    uint32_t *distances = malloc((run->n_nodes + 1) * sizeof *distances);
    uint32_t n = 0;
    XOFF_ASSERT(queue && distances);
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        distances[i] = run->nodes[i].is_host ? 0 : NONE;
        if (run->nodes[i].is_host)
            queue[n++] = i;
    }
    walk(run, queue, n, distances);
    for (uint32_t i = 0; i < run->n_nodes; i++)
        run->nodes[i].level = distances[i];
    free(distances);
    free(queue);
}

void run_read_network(struct run_data *run)
{
    read_nodes(run);
    read_buffers(run);
    read_ports(run);
    if (run->rows.status)
        return;
    read_paused(run);
    find_levels(run);
}

void run_data_fini(struct run_data *run)
{
    sqlite3_finalize(run->rows.statement);
    free(run->causes);
    free(run->lines);
    free(run->stops);
    free(run->pauses);
    free(run->ports);
    free(run->nodes);
}

uint32_t run_find_port(const struct run_data *run, uint32_t node, uint32_t number)
{
    if (node >= run->n_nodes)
        return NONE;
    uint32_t low = run->nodes[node].first_port, high = low + run->nodes[node].n_ports;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (run->ports[middle].number == number)
            return middle;
        if (run->ports[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

const char *run_node_name(const struct run_data *run, uint32_t node)
{
    return node < run->n_nodes ? run->nodes[node].name : "?";
}

char *run_label(const struct run_data *run, uint32_t node, uint32_t number, uint32_t priority,
                char buf[RUN_LABEL])
{
    const uint32_t port = run_find_port(run, node, number);
    int n = snprintf(buf, RUN_LABEL, "%s", run_node_name(run, node));
    if (number != NONE)
        n += snprintf(buf + n, (size_t)(RUN_LABEL - n), ":%u", number);
    if (port != NONE && run->ports[port].peer_node != NONE)
        n += snprintf(buf + n, (size_t)(RUN_LABEL - n), " (%s)",
                      run_node_name(run, run->ports[port].peer_node));
    if (priority < ALL_PRIORITIES)
        snprintf(buf + n, (size_t)(RUN_LABEL - n), " p%u", priority);
    return buf;
}
