/* The contract between a host and its apps: an app has a deadline, answers with offers of traffic
 * when it expires, and may be told what arrived for it.
 *
 * net/ knows apps only by this contract; traffic/ implements them. An app belongs to one host, has
 * plain-bytes state and a random stream of its own.
 */
#ifndef NET_APP_H
#define NET_APP_H

#include <xoff/rng.h>

#include "net/topo.h"

#define APP_MAX_WORD 0xffffff

/* A flow to start, or more bytes for a connection that the same app started before. */
struct app_offer {
    uint32_t to;          /* host */
    uint64_t bytes;       /* payload; UINT64_MAX: without end (until the run's stop) */
    xoff_rate rate_bps;   /* pace of frames on the wire, 0: line rate */
    uint32_t frame_bytes; /* full frame of this flow; 0: the network's max frame */
    uint8_t priority;
    uint8_t priorities;  /* a new flow gets one of this set, drawn; 0: `priority` */
    uint8_t transport;   /* of the network's list */
    bool continues;      /* more bytes for the app's connection `connection`, not a new flow */
    bool is_message;     /* with continues: these bytes have a record and an end of their own */
    bool is_done;        /* no flow: an operation that began at `began_at` ended, note it down */
    uint16_t dport;      /* of a new flow, where paths are chosen by ports; 0: unknown */
    uint32_t connection; /* number of the connection within the app, below app.n_connections */
    uint32_t tag;        /* carried to the flow record: index of the traffic entry */
    uint32_t word;       /* for the apps at both ends, up to APP_MAX_WORD: see app_event */
    xoff_time began_at;
};

#define APP_MAX_OFFERS 16 /* per call; an app with more due answers again at the same instant */

/* Something that an app waits for happened at its host: a flow or message of its traffic entry has
 * arrived whole, or one of its own has been acknowledged whole. An app hears of nothing else. */
struct app_event {
    enum { APP_ARRIVED, APP_ACKED } kind;
    uint32_t peer;  /* the host that the bytes came from, or went to */
    uint32_t word;  /* that of the offer */
    uint64_t bytes; /* size of the flow or message; APP_ARRIVED only */
};

struct app_ops {
    const char *name;
    /* Returns the next time at which the app wants to offer; XOFF_NEVER: none. The time changes
     * only inside expire() and on_event(). */
    xoff_time (*deadline)(const void *cfg, const void *state);
    /* Fills up to APP_MAX_OFFERS offers due at `now`; returns their number. */
    uint32_t (*expire)(const void *cfg, void *state, struct xoff_rng *rng, xoff_time now,
                       struct app_offer *offers);
    /* Takes an event and fills offers as expire() does; NULL: the app wants no events. An app with
     * more than APP_MAX_OFFERS to offer sets its deadline to `now`. At most one app of a traffic
     * entry on a host may have this function. */
    uint32_t (*on_event)(const void *cfg, void *state, struct xoff_rng *rng,
                         const struct app_event *event, xoff_time now, struct app_offer *offers);
    /* Returns how many operations have begun and not ended; NULL: the app has no operations. */
    uint64_t (*n_under_way)(const void *cfg, const void *state);
};

/* An app instance on a host. cfg may be shared by many; state is owned here. Both are blocks from
 * malloc, freed by app_set_fini (cfg once). */
struct app {
    const struct app_ops *ops;
    uint32_t host;
    uint32_t stream_purpose; /* distinguishes random streams of one host */
    uint32_t tag;            /* index of the traffic entry whose events the app hears */
    uint32_t n_connections;  /* 0: one */
    const void *cfg;
    void *state;       /* plain bytes ... */
    size_t state_size; /* ... so many */
};

struct app_set {
    struct app *apps;
    uint32_t n, capacity;
    double n_flows; /* that will be started, as far as that is known before the run */
    void **blocks;  /* everything to free */
    uint32_t n_blocks, blocks_capacity;
};

int app_set_add(struct app_set *set, const struct app *app);
/* Hands a malloc'ed block over to the set. */
int app_set_keep(struct app_set *set, void *block);
void app_set_fini(struct app_set *set);

/* What traffic kinds may know of the network. */
struct traffic_env {
    const struct topo *topo;
    uint64_t seed;
    xoff_time stop;
    uint32_t max_frame_bytes;
    uint32_t header_bytes; /* bytes of a frame that are not payload; used where `header` is NULL */
    uint32_t (*header)(void *context, uint8_t transport); /* the same, by transport */
    /* Finds the transport of that name in the scenario's list, or of that kind; "" is the default
     * one. Returns -1 for none and -2 for too many. NULL: there is only transport 0. */
    int (*transport)(void *context, const char *name);
    void *transport_context;
    /* Tells whether APP_ACKED comes for what that transport carries; NULL: it does for all of them.
     */
    bool (*acknowledges)(void *context, uint8_t transport);
    uint32_t index;     /* index of the traffic entry */
    const char *folder; /* folder of the scenario file, with a slash at the end, or ""; NULL: "" */
    /* Resolves a host set; see topology_hosts. */
    int (*hosts)(const struct topo *topo, const char *set, uint32_t *hosts, uint32_t *n_hosts,
                 struct xoff_err *err);
};

#endif
