/* Finished flows are summarised while the run goes on (fold.c). */
#ifndef NET_FOLD_H
#define NET_FOLD_H

#include "net/flow_record.h"
#include "net/model.h"
#include "stats/flow_sums.h"

/* Of one host. */
struct fold_host {
    /* A bit for each flow that it has started: whether it has been summarised. Receivers of any
     * thread ask for it, so it changes at instants only. */
    uint64_t *is_folded;
    uint64_t n;                       /* flows that there are bits for */
    uint64_t late_notices, late_tags; /* that came for summarised flows */
    uint8_t served; /* priorities in which a summarised flow received something after MARK_HALF */
};

struct fold {
    struct flow_sums *sums;
    struct fold_host *hosts;
    struct flow_records records;
    xoff_time at, every; /* the next instant, and the time from one to the next */
    bool has_moved;      /* some summarised flow received something after MARK_HALF */
};

/* What its receiver knows of a flow that is over. */
struct fold_received {
    struct rx_note note;
    uint64_t early_bytes, half_bytes, end_bytes; /* that had arrived by MARK_FROM, _HALF, _TO */
};

/* Called when all else of the network has been built. */
void fold_create(struct net *net);
void fold_destroy(struct net *net);

static inline xoff_time fold_next(const struct net *net)
{
    return net->fold ? net->fold->at : XOFF_NEVER;
}
/* Called at an instant for which it asked: summarises what has finished, and sets the next one. */
void fold_take(struct net *net, xoff_time now);
/* Summarises what has finished; returns the number of flows, at all ranks together. */
uint64_t fold_flows(struct net *net);
/* At the end of the run: the sums, which the caller owns from now on. The results have the flows
 * that are kept. */
struct flow_sums *fold_take_sums(const struct net *net, const struct results *results);

/* Whether that flow of host `from` has been summarised. */
static inline bool fold_has(const struct fold *fold, uint32_t from, uint32_t number)
{
    const struct fold_host *host = &fold->hosts[from];
    return number < host->n && host->is_folded[number / 64] >> number % 64 & 1;
}

/* fold_ranks.c: flows whose ends are at different ranks. Called by all ranks, when each has
 * summarised the `n` flows that have both ends there. Returns the number of all. */
uint64_t fold_meet(struct net *net, uint64_t n);
/* At the end of the run: brings the sums of all ranks to the first one. */
void fold_gather(struct net *net);

/* For fold_ranks.c. What is known of a flow at its receiver, in this process. */
struct fold_received fold_received(const struct net *net, const struct rx_note *note);
/* Summarises the flow if its sender, in this process, is done with it. Returns whether it was. */
bool fold_try(struct net *net, const struct fold_received *received);
/* Forgets what the host has noted of received flows that is_taken() says so of; returns how many.
 */
uint64_t fold_drop(struct host *host, bool (*is_taken)(void *, const struct rx_note *),
                   void *context);
/* Makes bits for so many flows. */
void fold_grow_bits(struct fold_host *bits, uint64_t n);

/* Notes of a host's flows lie in pages of their own, which can be given back. */
void fold_grow_notes(struct host *host);
void fold_free_notes(struct host *host);

/* fold_image.c: the image of all of this, and of the notes of a host. */
struct image;
void image_fold(struct image *image, struct net *net);
void image_sums(struct image *image, struct flow_sums *sums);
/* `built`: the host as it was before the image was loaded over it. */
void image_flow_notes(struct image *image, struct host *host, const struct host *built);

#endif
