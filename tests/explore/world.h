/* A small world around the mechanisms of flow control, for the explorer.
 *
 *   sender 0 ===\                          a sender begins a frame whenever its port is free and
 *                >=== [buffer, queue] ===> its gate open, or does not; a frame leaves whenever it
 *   sender 1 ===/                          wants, from the head of its queue, or does not
 *
 * Buffer, pause policy, signal and gate are the code of libxoff; the rest is this model. Links are
 * full duplex, and the switch may send data to a sender, too, so that pause frames have to wait.
 * Frames arrive in order and whole. With `mishaps` one pause frame, once, is lost or comes so late
 * that the next one overtakes it.
 *
 * Time is counted in ticks of 12 byte times, of which preamble, gap and all sizes here are
 * multiples: a frame of 76 B holds its wire for 8 ticks and arrives after 7 and the delay, one of
 * 64 B for 7 and after 6. Three quanta are 16 ticks, twice the time of a largest frame: the fewest
 * that can be refreshed. `now` is the same in every state, and times are moved instead, so that
 * states that differ in their time alone are one. What happens at one instant: senders, data to
 * senders and departures first, then arrivals, gates and refreshes, then pause frames begin. So a
 * frame may begin in the instant in which the gate closes: the worst case that headroom is for.
 *
 * In every state:
 *   loss        no frame of a lossless priority was dropped (unless a mishap has happened)
 *   books       total, pools and ingress bytes of the buffer are those of the frames in it; an
 * empty buffer has the books it began with, and nobody is paused for it decisions   a pause is
 * decided for who is not paused, and a resume for who is gate        it is what the frames received
 * say, by a model of 802.3 31B.3 of four lines once        a pause frame with something new changes
 * the gate, a refresh does not lapse       no pause runs out while its policy wants it agreement
 * with no pause frame due or under way, a gate is closed exactly if the policy wants
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdio.h>

#include <xoff/gate.h>
#include <xoff/mmu.h>
#include <xoff/pause.h>
#include <xoff/signal.h>

#include "explore/explorer.h"

#define WORLD_TICK_BYTES 12
#define WORLD_RATE XOFF_GBPS
#define WORLD_TICK (WORLD_TICK_BYTES * 8 * XOFF_NS)
#define WORLD_QUANTA 3
#define WORLD_QUANTA_TICKS 16
#define WORLD_MAX_FRAME 76
#define WORLD_SENDERS 2
#define WORLD_PORTS (WORLD_SENDERS + 1)
#define WORLD_PRIORITIES 2
#define WORLD_QUEUE 30

/* Faults to be found, planted around the code under test. */
enum world_fault {
    FAULT_NONE,
    FAULT_LATE_REFRESH,        /* a refresh falls due one tick late */
    FAULT_XON_LOST,            /* frames that only resume are not sent */
    FAULT_SHORT_HEADROOM,      /* buffers are told of one byte less than may arrive */
    FAULT_WRONG_PRIORITY,      /* pause frames name the other priority */
    FAULT_RELEASED_TWICE,      /* the buffer hears twice of what leaves others behind */
    FAULT_TIMER_NOT_RESTARTED, /* a closed gate ignores refreshes */
};

/* What the user of a world chooses. */
struct world_spec {
    const char *mmu, *mmu_params;     /* a keyword, and "name=value name=value" */
    const char *pause, *pause_params; /* likewise */
    int64_t shared_bytes;             /* of the buffer, beyond headroom */
    bool is_by_port;                  /* headroom is for a port, not for each of its queues */
    uint32_t n_senders, n_priorities; /* priorities 3 and 4 */
    bool is_second_lossy;             /* otherwise both are lossless */
    bool has_short;                   /* frames of 64 B besides those of 76 B */
    bool has_reverse;                 /* data to senders */
    bool has_mishaps;
    bool is_lazy;  /* gates are called when they ask for it, not in every tick */
    bool may_lose; /* the mechanism does not promise to lose nothing */
    enum world_fault fault;
};

/* A data frame on its way to the switch. */
struct world_flight {
    uint8_t left; /* ticks until it arrives */
    uint8_t priority, size;
};

/* A pause frame, until it takes effect. */
struct world_control {
    uint8_t left; /* ticks until it takes effect */
    uint8_t classes, pausing;
    uint8_t changes; /* priorities of which it says something new */
};

struct world_link {
    uint8_t tx_left, rx_left; /* ticks that the wire is held by the sender, by the switch */
    uint8_t n_flights, n_controls;
    uint8_t closed_for[WORLD_PRIORITIES]; /* ticks, as the frames received say */
    struct world_flight flights[4];
    struct world_control controls[6];
    struct xoff_gate gate;
    struct xoff_signal signal;
};

/* A frame in the queue. */
struct world_frame {
    uint8_t in_port, size, pool;
};

/* A state; those of buffer and pause policy follow. */
struct world_state {
    uint8_t had_mishap;
    uint8_t asked[WORLD_PORTS]; /* priorities that the policy has paused */
    uint8_t n_queued[WORLD_PRIORITIES];
    struct world_frame queue[WORLD_PRIORITIES][WORLD_QUEUE];
    struct world_link links[WORLD_SENDERS];
    _Alignas(16) unsigned char mechanisms[];
};

struct world_log;

struct world {
    struct world_spec spec;
    struct explorer_model model;
    uint32_t n_ports; /* the last one is the way out */
    uint8_t lossless;
    uint32_t n_sizes;
    uint32_t delay_ticks, response_ticks;
    int64_t headroom_bytes, buffer_bytes;
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    struct xoff_signal_cfg signal_cfg;
    struct xoff_gate_cfg gate_cfg;
    struct xoff_edge *edges;
    unsigned char *mmu_first; /* the buffer's initial state */
    size_t pause_at;          /* of the policy's state within mechanisms */
    /* Words of the buffer's state that are statistics: an empty buffer may have any there. */
    uint32_t *statistics, n_statistics;
    size_t rng_at;         /* of the policy's random stream in its state; SIZE_MAX: it has none */
    uint64_t draws[4];     /* counters at which the stream draws from each quarter */
    struct world_log *log; /* NULL: nobody reads along */
};

/* Returns 0, or -1 with *err filled in. */
int world_init(struct world *world, const struct world_spec *spec, struct xoff_err *err);
void world_fini(struct world *world);

/* Prints how the world got there: as a table, and as a scenario that does the same as nearly as
 * one can. */
void world_print_trace(struct world *world, const struct explorer_answer *answer, FILE *out);
void world_print_scenario(struct world *world, const struct explorer_answer *answer, FILE *out);

/* Whoever reads along hears of events in order. */
enum world_event {
    EVENT_TICK,
    EVENT_SEND,
    EVENT_REVERSE,
    EVENT_LEAVE,
    EVENT_ARRIVE,
    EVENT_DECIDE,
    EVENT_CONTROL,
    EVENT_HEAR,
    EVENT_MISHAP,
    EVENT_GATE,
};

struct world_log {
    void (*hear)(struct world_log *log, enum world_event event, uint32_t port, int64_t a, int64_t b,
                 int64_t c);
};

int64_t world_buffer_bytes(const struct world *world, uint32_t n_ports);
uint32_t world_size_bytes(uint32_t size); /* of a size number */
extern const uint8_t world_priorities[WORLD_PRIORITIES];

#endif
