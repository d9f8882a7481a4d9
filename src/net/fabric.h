/* A fabric: everything between the ports of a switch, from the last bit of a frame that came in to
 * the first bit that goes out. Each kind is one file and one line in fabrics.c. docs/fabrics.md
 * states what a fabric is told, must answer and may assume; switch.h has what all fabrics share. */
#ifndef NET_FABRIC_H
#define NET_FABRIC_H

#include <xoff/mmu.h>
#include <xoff/pause.h>

struct image;
struct sw;
struct worker;
struct frame;

/* Parts of the scenario that an error or a warning may be about; the last is none: the command line
 * is. */
enum net_part {
    NET_PART_NET,
    NET_PART_FABRIC,
    NET_PART_MMU,
    NET_PART_PAUSE,
    NET_PART_SCHED,
    NET_PART_MARKING,
    NET_PART_PATH,
    NET_PART_ARB,
    NET_PART_HOST,
    NET_PART_RECEIVERS,
    NET_PART_RECEIVE_POINT,
    NET_PART_DCBX,
    NET_PART_TRANSPORT,
    NET_PART_COMMAND,
    N_NET_PARTS
};

#define FABRIC_BUFFER_NAME 32

/* One buffer of a switch, as results, audit and samples see it. */
struct fabric_buffer {
    char name[FABRIC_BUFFER_NAME]; /* unique within its switch */
    const struct xoff_mmu *mmu;
    /* The input ports that the mmu has accounts for: it counts `first_port` as its port 0. */
    uint32_t first_port, n_ports;
    int64_t held_bytes[XOFF_N_PRIORITIES]; /* bytes of the frames in it, counted frame by frame */
    int64_t undecided_bytes[XOFF_N_PRIORITIES]; /* of those whose output is not decided yet */
    const uint64_t *maxima; /* maxima of its headroom, by permille (maxima.c); NULL: it has none */
};

struct net_switch;

/* What a fabric does in a calm window (calm.c): first all but what arrives, then what arrives, then
 * settle(). `self` is the switch. */
struct fabric_calm {
    /* Returns how long a calm window may last: what arrives shows nowhere else for so long. 0: this
     * switch has no calm windows. Called once, when the switch is ready. */
    xoff_time (*longest)(struct sw *sw);
    /* Returns whether it will be calm until `end`, whatever arrives: none of it is dropped, and no
     * pause is sent. */
    bool (*begins)(struct sw *sw, xoff_time now, xoff_time end);
    void (*transmit)(void *self, struct worker *w, uint32_t port);
    void (*timer)(void *self, struct worker *w);
    void (*arrive)(void *self, struct worker *w, uint32_t port, const struct frame *frame);
    void (*settle)(struct sw *sw, struct worker *w, xoff_time end);
};

struct fabric_ops {
    const char *name, *summary;
    const struct xoff_param *params; /* NULL: none */
    size_t params_size;
    size_t size; /* bytes of a switch of this kind, which begins with struct sw */
    uint32_t n_timers, n_port_timers; /* its own timers: per switch, per port */
    /* Frames leave the buffer of their input before they are sent, and the fabric says when
     * (input_leave); else they leave it with their egress queue, which needs no call. */
    bool leaves_inputs;
    bool asks_egress; /* uses the books of egress queues that a two-sided mmu has */
    bool arbitrates;  /* asks switch.arbiter */
    /* Whether a full egress queue may hold up all that waits at inputs; NULL: never. */
    bool (*is_coupled)(const struct net_switch *spec);
    /* Bytes of memory that a switch takes for the fabric's sake, frames aside; NULL: next to none.
     */
    uint64_t (*estimate)(const struct net_switch *spec, uint32_t n_ports);
    /* Returns the least time that a frame takes from its input to its egress queue in an idle
     * switch, processing delay aside; in *carries_for of it the fabric carries no other frame of
     * that input. Known before the switch is built: `fastest_bps` is the rate of its fastest port
     * ever. NULL: none. */
    xoff_time (*transit)(const struct net_switch *spec, xoff_rate fastest_bps, uint32_t bytes,
                         xoff_time *carries_for);
    /* Called when struct sw is ready except for what depends on the fabric: ports, queues, timers
     * and the frame store. `env` describes a buffer over all ports. Sets sw->signalling. */
    int (*build)(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                 struct xoff_err *err);
    /* Saves or loads what the fabric has behind struct sw (image.h). */
    void (*image)(struct sw *sw, struct image *image);
    void (*destroy)(struct sw *sw); /* also called for a switch whose build() failed */
    void (*arrive)(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame);
    /* Takes a frame that the switch made itself into the buffer, as if it had come in at `in`.
     * Returns its place; NET_NONE: it was dropped. */
    uint32_t (*admit)(struct sw *sw, struct worker *w, const struct frame *frame, uint32_t in,
                      uint32_t out);
    void (*transmit)(struct sw *sw, struct worker *w, uint32_t port);
    /* Runs the window of a switch that is a cell of its own, with arrive() and transmit() compiled
     * into it (sim/alone.h); NULL: they are called. */
    void (*run)(void *sw, struct worker *w, uint32_t cell);
    /* The fabric's timer `own` has expired; this function sets it anew or removes it. */
    void (*timer)(struct sw *sw, struct worker *w, uint32_t own);
    /* sw->clock_at has come; this function sets it anew. Of deadlines that expire at once, it comes
     * right before the fabric's timer `clock_before`. NULL: the fabric has no clock. */
    void (*clock)(struct sw *sw, struct worker *w);
    uint32_t clock_before;
    /* A frame has waited out the processing delay (switch.h, sw_process). */
    void (*processed)(struct sw *sw, struct worker *w, uint32_t place);
    /* The link of a port has failed; nothing will leave by it until it is repaired. */
    void (*link_down)(struct sw *sw, struct worker *w, uint32_t port);
    /* Fills in buffer `i` of the switch; false: there are no more. */
    bool (*buffer)(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer);
    /* Returns the pause policy that decides about frames from `in` to `out`. */
    const struct xoff_pause *(*policy)(const struct sw *sw, uint32_t in, uint32_t out);
    /* Whether an egress queue holds up all that waits at the inputs of the switch. NULL: frames at
     * inputs have outputs, and wait for their own (sw_held). */
    bool (*holds_up)(const struct sw *sw, uint32_t out, uint32_t priority);
    /* Whether the inputs hold up themselves, with a frame for this egress queue in front: only what
     * waits behind it could make room for it. NULL: never. */
    bool (*waits_for_itself)(const struct sw *sw, uint32_t out, uint32_t priority);
    /* Whether frames for `out` wait at an input behind one for `first`. NULL: no frame waits for
     * another output than its own. */
    bool (*waits_behind)(const struct sw *sw, uint32_t out, uint32_t first, uint32_t priority);
    const struct fabric_calm *calm; /* NULL: no window is calm */
};

/* The list ends with NULL; its first entry is the default. */
extern const struct fabric_ops *const fabrics[];

#endif
