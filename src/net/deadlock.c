/* Deadlock at run time: a cycle of paused queues from which no frame left for a while.
 *
 * An egress queue waits for its peer to resume it; the peer's ingress waits for the egress queues
 * that hold its bytes. The peer's pause policy says which priorities those are: the same one, or
 * several where a port is paused as a whole (PAUSE, a buffer that has thresholds for ports). So a
 * cycle may go through several priorities. The search follows only queues that are paused and from
 * which nothing has left. The onset is the instant at which the last gate of the cycle closed.
 *
 * A switch may also wait for itself: its pipeline is stopped by what lies at its own inputs. That
 * is a cycle of one, the queue that the frame is for; its onset is the stop.
 */
#include <stdlib.h>
#include <string.h>

#include "net/model.h"

/* A queue in the walk: switch, egress port, priority. */
struct place {
    uint32_t sw, port;
    uint8_t priority;
    uint32_t next; /* next (out port, priority) of the peer to look at */
};

enum { UNSEEN, ON_PATH, DONE, REPORTED };

static bool is_frozen(struct net *net, uint32_t sw, uint32_t port, uint32_t priority, xoff_time now)
{
    const struct egress *queue = sw_queue(net->switches[sw], port, priority);
    struct port *out = &net->switches[sw]->ports[port];
    const xoff_time since = now - net->spec.deadlock_after;
    return queue->n && !(port_open(out, now) >> priority & 1) &&
           out->closed_at[priority] <= since && queue->left_at <= since;
}

/* Whether the switch waits for itself, and with a frame for this queue. */
static bool is_locked(const struct net *net, uint32_t sw, uint32_t port, uint32_t priority,
                      xoff_time now)
{
    const struct sw *s = net->switches[sw];
    return s->fabric->waits_for_itself && s->stopped_at <= now - net->spec.deadlock_after &&
           s->fabric->waits_for_itself(s, port, priority);
}

static uint8_t *mark_of(struct net *net, uint8_t *marks, const struct place *p)
{
    const uint32_t node = net->n_hosts + p->sw;
    const uint32_t port = net->topo->nodes[node].first_port + p->port;
    return &marks[port * XOFF_N_PRIORITIES + p->priority];
}

static void report(struct net *net, const struct place *path, uint32_t n, xoff_time now)
{
    net->deadlocks = realloc(net->deadlocks, sizeof *net->deadlocks * (net->n_deadlocks + 1));
    net->deadlock_ports =
        realloc(net->deadlock_ports, sizeof *net->deadlock_ports * (net->n_deadlock_ports + n));
    XOFF_ASSERT(net->deadlocks && net->deadlock_ports);
    struct result_deadlock *d = &net->deadlocks[net->n_deadlocks++];
    *d = (struct result_deadlock){.found_at = now, .first = net->n_deadlock_ports, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        const struct sw *sw = net->switches[path[i].sw];
        const xoff_time closed_at = is_locked(net, path[i].sw, path[i].port, path[i].priority, now)
                                        ? sw->stopped_at
                                        : sw->ports[path[i].port].closed_at[path[i].priority];
        d->onset_at = closed_at > d->onset_at ? closed_at : d->onset_at;
        net->deadlock_ports[net->n_deadlock_ports++] = (struct result_deadlock_port){
            .node = net->n_hosts + path[i].sw, .port = path[i].port, .priority = path[i].priority};
    }
}

/* Whether the peer of port `in` may send `priority` only when frames leave egress queue (out, p).
 * Frames that wait at inputs for a stopped pipeline wait for the queue that stopped it, whatever
 * their own output and priority are. Whether the ingress queue holds the peer is asked for the
 * port's own egress queue: a policy by ingress and egress queues never holds a port by that one, so
 * that its answer is about the ingress alone. A queue that holds the peer itself may have its
 * frames at inputs, behind some for another output. */
static bool waits(const struct sw *sw, uint32_t in, uint32_t priority, uint32_t out, uint32_t p)
{
    const struct xoff_pause *policy = sw->fabric->policy(sw, in, out);
    const uint8_t waits_for = xoff_pause_waits_for(policy, in, priority);
    const enum xoff_hold hold = xoff_pause_held_by(policy, in, out, p);
    if (waits_for && sw->fabric->holds_up && sw->fabric->holds_up(sw, out, p) &&
        xoff_pause_held_by(policy, in, in, priority) == XOFF_HOLD_BY_FRAMES)
        return true;
    if (!(waits_for >> p & 1))
        return false;
    for (uint32_t o = 0; sw->fabric->waits_behind && o < sw->n_ports; o++)
        if (o != out && xoff_pause_held_by(policy, in, o, p) == XOFF_HOLD_YES &&
            sw->fabric->waits_behind(sw, o, out, p))
            return true;
    if (hold != XOFF_HOLD_BY_FRAMES)
        return hold == XOFF_HOLD_YES;
    return !sw->fabric->holds_up && *sw_held(sw, p, in, out) > 0;
}

/* Finds the next frozen queue that holds bytes this queue waits for; false: there is none left. */
static bool next_wait(struct net *net, struct place *from, xoff_time now, struct place *to)
{
    const uint32_t node = net->n_hosts + from->sw;
    const uint32_t peer = topo_peer(net->topo, node, from->port);
    if (peer < net->n_hosts)
        return false;
    const uint32_t in = topo_peer_port(net->topo, node, from->port);
    const struct sw *sw = net_sw(net, peer);
    while (from->next < sw->n_ports * XOFF_N_PRIORITIES) {
        const uint32_t out = from->next / XOFF_N_PRIORITIES, p = from->next % XOFF_N_PRIORITIES;
        from->next++;
        if (sw_is_lossless(sw, p) && is_frozen(net, peer - net->n_hosts, out, p, now) &&
            waits(sw, in, from->priority, out, p)) {
            *to = (struct place){peer - net->n_hosts, out, (uint8_t)p, 0};
            return true;
        }
    }
    return false;
}

/* Searches depth first from one queue; a queue met again on the path closes a cycle. */
static void walk(struct net *net, uint8_t *marks, struct place *path, xoff_time now)
{
    uint32_t n = 1;
    *mark_of(net, marks, &path[0]) = ON_PATH;
    while (n) {
        struct place to;
        if (!next_wait(net, &path[n - 1], now, &to)) {
            uint8_t *mark = mark_of(net, marks, &path[--n]);
            *mark = *mark == REPORTED ? REPORTED : DONE;
            continue;
        }
        uint8_t *mark = mark_of(net, marks, &to);
        if (*mark == UNSEEN) {
            *mark = ON_PATH;
            path[n++] = to;
        } else if (*mark == ON_PATH) {
            uint32_t first = n - 1;
            while (path[first].sw != to.sw || path[first].port != to.port ||
                   path[first].priority != to.priority)
                first--;
            report(net, path + first, n - first, now);
            for (uint32_t i = first; i < n; i++)
                *mark_of(net, marks, &path[i]) = REPORTED;
        }
    }
}

/* A queue that moves again may deadlock again, so its mark is cleared. */
static void forget_released(struct net *net, uint8_t *marks, xoff_time now)
{
    for (uint32_t s = 0; s < net->n_switches && net->n_deadlocks; s++)
        for (uint32_t port = 0; port < net->switches[s]->n_ports; port++)
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
                const struct place at = {s, port, (uint8_t)p, 0};
                uint8_t *mark = mark_of(net, marks, &at);
                if (*mark == REPORTED && !is_frozen(net, s, port, p, now) &&
                    !is_locked(net, s, port, p, now))
                    *mark = UNSEEN;
            }
}

static void find_locked(struct net *net, uint8_t *marks, xoff_time now)
{
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t port = 0; port < net->switches[s]->n_ports; port++)
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
                const struct place at = {s, port, (uint8_t)p, 0};
                uint8_t *mark = mark_of(net, marks, &at);
                if (*mark == REPORTED || !is_locked(net, s, port, p, now))
                    continue;
                report(net, &at, 1, now);
                *mark = REPORTED;
            }
}

void deadlock_check(struct net *net, xoff_time now)
{
    const uint32_t n_queues = net->topo->n_ports * XOFF_N_PRIORITIES;
    if (!net->deadlock_marks) {
        net->deadlock_marks = calloc(n_queues, 1);
        XOFF_ASSERT(net->deadlock_marks);
    }
    uint8_t *marks = net->deadlock_marks;
    for (uint32_t i = 0; i < n_queues; i++)
        marks[i] = marks[i] == REPORTED ? REPORTED : UNSEEN;
    forget_released(net, marks, now);
    find_locked(net, marks, now);
    struct place *path = NULL;
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t port = 0; port < net->switches[s]->n_ports; port++) {
            if (net->switches[s]->ports[port].open == 0xff)
                continue;
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
                const struct place from = {s, port, (uint8_t)p, 0};
                if (!sw_is_lossless(net->switches[s], p) || *mark_of(net, marks, &from) != UNSEEN ||
                    !is_frozen(net, s, port, p, now))
                    continue;
                if (!path)
                    path = malloc(sizeof *path * (n_queues + 1));
                XOFF_ASSERT(path);
                path[0] = from;
                walk(net, marks, path, now);
            }
        }
    free(path);
}
