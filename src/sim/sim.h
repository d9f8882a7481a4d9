/* The engine: windows of lookahead, one cell at a time.
 *
 * Nodes affect each other only through links. L is the least time from the start of a transmission
 * to its arrival over all links between cells; in a window [w, w+L) nothing a cell does can reach
 * another, so each cell runs alone to the window's end. A cell is one node, or several joined by
 * links too short to be worth a window. Threads share the cells (rounds.c). Within a node events
 * are ordered by (time, kind, hash(time, port), port), kinds in the order below. This order does
 * not depend on cells and threads, so results are the same bits.
 *
 * The engine works with slots: per node one arrival and one transmit slot per port, and one timer
 * slot. A slot has at most one pending event; `at[slot]` is its time.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stddef.h>

#include "sim/image.h"
#include "sim/link.h"
#include "sim/sim_ranks.h"

enum sim_kind { SIM_ARRIVAL, SIM_TIMER, SIM_TRANSMIT };

struct sim;

/* The thread that handles an event, as the model sees it. */
struct worker {
    struct sim *sim;
    struct link *links;
    xoff_time now;             /* time of the event */
    xoff_time next_at;         /* earliest event after this round that it has noted */
    xoff_time advances_before; /* sim_advance() reaches no time from here on */
};

/* What a node does about its events; `self` is the node as the model knows it. */
struct sim_node {
    void *self;
    void (*arrive)(void *self, struct worker *w, uint32_t port, const struct frame *frame);
    void (*transmit)(void *self, struct worker *w, uint32_t port);
    void (*timer)(void *self, struct worker *w);
    /* Runs the window of a cell that is this node: sim_run_alone(), or sim_run_end() for a node
     * with one port, with the three handlers compiled into it (alone.h). NULL: they are called. */
    void (*run)(void *self, struct worker *w, uint32_t cell);
};

/* The modelled network, as the engine sees it. */
struct sim_model {
    void *net;
    const struct sim_node *nodes; /* stay the model's */
    /* A cell will run soon: prefetches the data that its first node needs. */
    void (*warm)(void *net, uint32_t node); /* may be NULL */
    /* The cell starts running and warm() data is cached: prefetches what that data points to. */
    void (*begin)(void *net, uint32_t node); /* may be NULL */
    /* Calm windows (run_calm in run.c). Returns how long they may last, if all that arrives from
     * `now` to `end` at nodes with several ports shows for so long in their arrivals alone: neither
     * in their other events nor in what they send. 0: it is not known. NULL: there are none. */
    xoff_time (*calm_for)(void *net, xoff_time now, xoff_time end);
    const struct sim_node *calm_nodes; /* in place of `nodes` in calm windows, of those nodes */
    /* The node has handled all its events before `end`, where a calm window ends. */
    void (*settle)(void *net, struct worker *w, uint32_t node, xoff_time end);
    /* A global instant. All cells are at rest: every event before `now` has happened, none at
     * `now`. Returns the next instant (XOFF_NEVER: none; before now: the run ends here). */
    xoff_time (*instant)(void *net, xoff_time now);
    /* Called right after an instant for which wants_sample() holds, for each node, by the thread
     * that owns it. */
    void (*sample)(void *net, uint32_t node, xoff_time now);
    bool (*wants_sample)(void *net, xoff_time now);
    /* Whether later instants may wake a network at rest (by repairing a link, say). */
    bool (*has_changes)(void *net);
    /* Called before each window, from one thread at a time, with the number of frames that arrived
     * anywhere so far; false ends the run after that window. */
    bool (*progress)(void *net, xoff_time now, uint64_t arrivals);
    /* What belongs to a frame and is not in it, and has to travel with it to another rank. Returns
     * the number of octets and where they are; 0: there are none. Called when all events of the
     * sender in this window have happened, while other nodes may run. NULL: no frame has any. */
    size_t (*attachment)(void *net, const struct frame *frame, const void **octets);
    /* The octets that came with a frame of another rank. Called between windows, before the frame
     * arrives at its node; they are gone afterwards. */
    void (*take_attachment)(void *net, const struct frame *frame, const void *octets, size_t n);
};

/* One direction of a link for sim_create. */
struct sim_link_spec {
    uint32_t from_node, from_port, to_node, to_port;
    xoff_time lookahead; /* least time from start of transmission to arrival in its whole life */
};

struct sim_spec {
    uint32_t n_nodes;
    const uint32_t *n_ports; /* per node */
    const struct sim_link_spec *links;
    uint32_t n_links;
    uint32_t n_threads;
    xoff_time cell_bound;  /* links with less lookahead join their nodes; XOFF_PARAM_AUTO: chosen;
                              XOFF_NEVER: one cell */
    xoff_time frame_for;   /* of a largest frame on the fastest link; 0: not known */
    uint32_t chunk_frames; /* in a chunk of a link, a power of two from 2 on; 0: chosen */
    bool has_extra;        /* frames have a second line behind them */
    bool ties_by_port;     /* equal times of a node are ordered by port, not by hash */
    const struct sim_ranks *ranks; /* NULL: this process runs all nodes */
    const uint32_t *part_of;       /* per node: the rank that runs it */
    struct sim_model model;
};

/* Finds the nodes that should not be parted: a link between them is so short that cutting it would
 * make every window short. Fills in a group for each node and returns the number of groups. */
uint32_t sim_group(const struct sim_spec *spec, uint32_t *group_of);

int sim_create(const struct sim_spec *spec, struct sim **out);
void sim_destroy(struct sim *sim);

/* Runs from time 0, or from that of an image, until nothing is pending, the model says stop, or
 * `end`. First instant at `first_instant`. Returns the simulated time reached. */
xoff_time sim_run(struct sim *sim, xoff_time first_instant, xoff_time end);

/* The model calls these while it handles an event (or, between windows, from instant()). sim_send()
 * puts a frame onto a link, to arrive at `at`. A frame never overtakes another: its time is moved
 * if it would. */
static inline void sim_send(struct worker *w, uint32_t link, const struct frame *frame,
                            xoff_time at);
/* Set the one pending transmit event of a port, or the one timer of a node; XOFF_NEVER cancels. */
void sim_at_transmit(struct worker *w, uint32_t node, uint32_t port, xoff_time at);
void sim_at_timer(struct worker *w, uint32_t node, xoff_time at);
/* Called while a transmit or timer event is handled. Returns true when this cell has no other event
 * in this window up to and including `at`. Time has then moved on to `at`, and the handler does at
 * once what it would have set a transmit event for. */
bool sim_try_advance(struct worker *w, xoff_time at);
static inline bool sim_advance(struct worker *w, xoff_time at)
{
    return at < w->advances_before && sim_try_advance(w, at);
}
/* The worker to pass to these functions before the run or from instant(). */
struct worker *sim_exclusive(struct sim *sim);

static inline xoff_time sim_now(const struct worker *w)
{
    return w->now;
}

/* Called from instant(): discards the frames in flight on a link, calls `lost` for each, and
 * returns their number. Where the link is cut, the receiving rank has the frames. */
uint32_t sim_flush_link(struct sim *sim, uint32_t link, void *context,
                        void (*lost)(void *context, const struct frame *frame));
/* Counts the frames on a link that are not pauses; their bytes are added to *bytes. */
uint32_t sim_in_flight(const struct sim *sim, uint32_t link, uint64_t *bytes);

/* Saves the engine's state while the model's progress() is called, or after the run. Loads it into
 * a simulation that was created alike, with any number of threads, before sim_run() (sim_image.c).
 */
void sim_image(struct sim *sim, struct image *image);
/* The time up to which all events have happened. */
xoff_time sim_reached(const struct sim *sim);

struct sim_figures {
    uint64_t events, windows;
    uint32_t n_cells;
    xoff_time lookahead;
    bool is_at_rest; /* the run ended because nothing was pending */
    bool is_stopped; /* the model of some rank has ended it */
};
struct sim_figures sim_figures(const struct sim *sim);

/* The parts of sim_send() that most frames of a single thread do not need: a frame has a second
 * line or would overtake one; a frame is on its way over a link that was empty, or is shared; a
 * chunk is full. */
void sim_send_specially(struct worker *w, struct link *link, const struct frame *frame,
                        xoff_time at);
void sim_expect(struct worker *w, const struct link *link, xoff_time at);
/* Returns the chunk that follows the one that `last` has filled. */
struct frame *sim_next_chunk(struct worker *w, struct frame *last);

static inline __attribute__((always_inline)) void sim_send(struct worker *w, uint32_t index,
                                                           const struct frame *frame, xoff_time at)
{
    struct link *link = &w->links[index];
    if (__builtin_expect(at <= link->last_at, 0)) {
        sim_send_specially(w, link, frame, at);
        return;
    }
    struct frame *in = link_end(link), *end = in + 1;
    *in = *frame;
    in->at = at;
    link->last_at = at;
    if (__builtin_expect(chunk_begins(end, link->mask), 0))
        end = sim_next_chunk(w, in);
    link_append(link, end);
    /* The time of a slot is then XOFF_NEVER, as no frame overtakes another. That of a shared link
     * always is: there it is enough that an earlier event has been noted. */
    if (at < *link->to_at && (at < w->next_at || !link->is_shared))
        sim_expect(w, link, at);
}

#endif
