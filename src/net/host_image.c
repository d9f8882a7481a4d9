/* The image of a host (sim/image.h): its flows at both ends, apps, notes and slow receiver. */
#include "net/fold.h"
#include "net/image.h"

IMAGE_SIZE(struct host, 2560)
IMAGE_SIZE(struct receiver, 336)

static void image_receiver(struct image *image, struct receiver *r)
{
    image_part(image, "slow receivers");
    image_mmu(image, &r->mmu);
    image_pause(image, &r->pause);
    image_same(image, r->spec->n_servers);
    for (uint32_t i = 0; i < r->spec->n_servers; i++) {
        const struct net_server *spec = r->servers[i].spec;
        image_bytes(image, &r->servers[i], sizeof r->servers[i]);
        r->servers[i].spec = spec;
    }
    const struct heap due = r->due;
    image_bytes(image, &r->due, sizeof r->due);
    image_heap(image, &r->due, &due);
    image_bytes(image, r->held_bytes, sizeof r->held_bytes);
    image_bytes(image, &r->marking_rng, sizeof r->marking_rng);
    image_bytes(image, r->n_marked, sizeof r->n_marked);
    if (image_has(image, r->point))
        image_point(image, r->point);
    if (image_has(image, r->occupancy))
        image_occupancy(image, r->occupancy);
}

static void image_apps(struct image *image, struct host *host)
{
    image_part(image, "traffic");
    image_same(image, host->n_apps);
    uint64_t n_connections = 0;
    for (uint32_t a = 0; a < host->n_apps; a++) {
        const struct app *app = &host->apps[a];
        image_same(image, app->state_size);
        image_bytes(image, app->state, app->state_size);
        n_connections += app->n_connections ? app->n_connections : 1;
    }
    image_same(image, n_connections);
    image_bytes(image, host->app_rngs, sizeof *host->app_rngs * host->n_apps);
    image_bytes(image, host->app_connections, sizeof *host->app_connections * n_connections);
}

/* What building has made, and what hangs on pointers, is put back; the tables follow. */
static void put_back(struct host *host, const struct host *built)
{
    host->net = built->net;
    host->sched = built->sched;
    host->sched_state = built->sched_state;
    host->transports = built->transports;
    host->flows = built->flows;
    host->messages.at = built->messages.at;
    host->ranges.blocks = built->ranges.blocks;
    host->rx_states = built->rx_states;
    host->delayed = built->delayed;
    host->pending = built->pending;
    /* Made anew from the notes when somebody asks. */
    host->finished = built->finished;
    host->finished_mask = built->finished_mask;
    host->n_finished = built->n_finished;
    host->scan.flows = built->scan.flows;
    host->apps = built->apps;
    host->app_rngs = built->app_rngs;
    host->app_connections = built->app_connections;
    host->app_first_connection = built->app_first_connection;
    host->receiver = built->receiver;
    host->bus = built->bus;
    host->rx = built->rx;
    host->flow_notes = built->flow_notes;
    host->rx_notes = built->rx_notes;
    host->operations = built->operations;
    host->n_flows_to = built->n_flows_to;
}

static void image_flows(struct image *image, struct host *host, const struct host *built)
{
    image_part(image, "flows");
    image_array(image, &host->flows, host->n_flows, host->flows_capacity, host->flow_bytes);
    image_array(image, &host->messages.at, host->messages.used, host->messages.capacity,
                sizeof *host->messages.at);
    image_array(image, &host->ranges.blocks, host->ranges.used, host->ranges.capacity,
                sizeof *host->ranges.blocks);
    image_array(image, &host->rx_states, host->n_rx_states, host->rx_states_capacity,
                host->rx_state_bytes);
    image_array(image, &host->delayed, host->delayed_capacity, host->delayed_capacity,
                sizeof *host->delayed);
    image_array(image, &host->pending, host->n_pending, host->pending_capacity,
                sizeof *host->pending);
    image_array(image, &host->scan.flows, host->scan.n, host->scan.capacity,
                sizeof *host->scan.flows);
    const uint64_t n_rx = host->rx_mask ? (uint64_t)host->rx_mask + 1 : 0;
    image_array(image, &host->rx, n_rx, n_rx, sizeof *host->rx);
    if (host->net->fold)
        image_flow_notes(image, host, built);
    else
        image_array(image, &host->flow_notes, host->n_flow_notes, host->flow_notes_capacity,
                    sizeof *host->flow_notes);
    image_array(image, &host->rx_notes, host->n_rx_notes, host->rx_notes_capacity,
                sizeof *host->rx_notes);
    image_array(image, &host->operations, host->n_operations, host->operations_capacity,
                sizeof *host->operations);
    if (image_has(image, host->n_flows_to))
        image_bytes(image, host->n_flows_to, sizeof *host->n_flows_to * host->net->n_hosts);
}

void image_host(struct image *image, struct host *host)
{
    const struct host built = *host;
    image_part(image, "hosts (transport)");
    image_same(image, host->flow_bytes);
    image_same(image, host->rp_at);
    image_same(image, host->rx_state_bytes);
    image_same(image, host->sched.shape.state_size);
    image_bytes(image, host, sizeof *host);
    put_back(host, &built);
    image_store(image, &host->store, &built.store);
    image_notes(image, &host->notes, &built.notes);
    image_heap(image, &host->timers, &built.timers);
    host->timer_entries = host->timers.entries;
    host->timer_pos = host->timers.pos;
    image_port(image, &host->head, &host->port, &built.port);
    image_part(image, "the scheduler");
    image_bytes(image, host->sched_state, host->sched.shape.state_size);
    image_flows(image, host, &built);
    image_apps(image, host);
    if (image_has(image, host->bus))
        image_bytes(image, &host->bus->free_at, sizeof host->bus->free_at);
    if (image_has(image, host->receiver))
        image_receiver(image, host->receiver);
}
