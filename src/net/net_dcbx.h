/* DCBX in a network: ports that exchange LLDP frames and take over what comes of it.
 *
 * A port that speaks has a struct dcbx_port. What is in force for PFC decides which priorities the
 * port obeys pauses for and which it asks pauses of; what is in force for ETS configures its
 * scheduler. Buffers are laid out for the lossless priorities of the scenario and stay as they are,
 * so a priority that both ends hold lossless before and after a change loses nothing by it.
 *
 * An LLDP frame on a link names its sender and an edition: the octets of the frame, which the
 * sender keeps for the whole run and never changes. Frames are small, and a forwarded one is just
 * sent on. To another rank the octets travel with each frame, and are kept there as well: whoever
 * sends a frame on has them.
 */
#ifndef NET_NET_DCBX_H
#define NET_NET_DCBX_H

#include <xoff/dcbx.h>

#include "net/port.h"

struct net;
struct net_dcbx;

/* Distinct contents of the frames that a port has sent, in order; of a port at another rank those
 * that have come here. */
struct edition {
    struct edition *next;
    uint32_t number;
    uint16_t length;
    uint8_t octets[];
};

enum { DCBX_FORWARDS = 16 };

struct dcbx_port {
    const struct net_dcbx *const *entries; /* of the scenario, by time, the first at 0 */
    uint32_t n_entries, next_entry;        /* n_entries 0: the port only passes frames on */
    const struct net_dcbx *entry;          /* in force */
    struct xoff_dcbx_cfg cfg;
    struct xoff_dcbx state;
    uint8_t permitted; /* priorities with PFC */
    uint8_t asked;     /* priorities that the pause policy wants paused, permitted or not */
    uint8_t peer_pfc;  /* priorities with PFC as the peer last said */
    bool has_adopted;  /* the scheduler has other weights than those of the scenario: */
    struct xoff_dcbx_ets adopted;
    struct edition *editions, *last;
    uint32_t n_editions;
    struct frame forwards[DCBX_FORWARDS]; /* frames of others that wait for the wire: a ring */
    uint32_t first_forward, n_forwards;
    uint64_t n_changes, n_lost; /* changes of what is in force; forwarded frames without room */
};

/* Scheduler of a node whose ports have weights of their own: it stands before the chosen one. */
struct dcbx_sched {
    struct xoff_sched inner;
    const void **cfgs; /* by port: in force, ... */
    void **spares;     /* ... and the room for the next one */
};
/* The state of a port begins with its number, and that of the inner scheduler follows. */
enum { DCBX_SCHED_HEAD = 8 };
extern const struct xoff_sched_ops dcbx_sched_ops;

/* Called by ports: the wire is free for an LLDP frame; one has come; the link fails or is back. */
void dcbx_send(struct node *node, struct port *port, struct worker *w);
void dcbx_receive(struct node *node, struct port *port, struct worker *w,
                  const struct frame *frame);
void dcbx_set_up(struct node *node, struct port *port, struct worker *w, bool up, xoff_time now);
/* Called by nodes: their timer has come. */
void dcbx_timer(struct node *node, struct worker *w);
/* What a port asks of its peer, of what the pause policy decided: the permitted priorities. */
uint8_t dcbx_mask(struct dcbx_port *dcbx, const struct xoff_edge *edge);
/* Sets the timer of the node. Called when the network is built, too. */
void dcbx_settle(struct node *node);
/* Gives the scheduler the weights that the port had adopted when its image was made. */
void dcbx_resume(struct node *node, struct port *port);
/* Puts what the port has agreed on into force, before the run. */
void dcbx_begin(struct node *node, struct port *port);

/* Returns the octets that an LLDP frame stands for. */
const struct edition *dcbx_edition(const struct net *net, const struct frame *frame);
/* notes.c: these keep a copy. The second is for a port of another rank. */
void dcbx_add_edition(struct dcbx_port *dcbx, const uint8_t *octets, size_t length);
void dcbx_add_far_edition(struct edition **editions, uint32_t number, const uint8_t *octets,
                          size_t length);
/* The same octets as sim_model knows them: what travels with a frame to another rank. */
size_t dcbx_attachment(void *context, const struct frame *frame, const void **octets);
void dcbx_take_attachment(void *context, const struct frame *frame, const void *octets, size_t n);

#endif
