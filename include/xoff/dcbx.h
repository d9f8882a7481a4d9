/* DCBX at a port (802.1Qaz clause 38, Annex D of the amendment; 802.1Qau for congestion
 * notification): which parameters are in force, given what was administered here and what the peer
 * says.
 *
 * Administered parameters are what the operator wants. The peer's come in by LLDP frames. The
 * operational ones are in force:
 *
 *   ETS     asymmetric: a willing port takes the peer's recommendation, if there is one that it can
 *           apply; any other port stays with its own
 *   PFC     symmetric: a willing port takes the configuration of a peer that is not willing; of two
 *           willing ports one gives way, by their MAC addresses
 *   App     informational: own entries count; a port that is willing in this adds the peer's
 * entries for protocols of which it has none CN      each congestion notification priority has a
 * defence mode, by what the peer says of it
 *
 * Without a peer, or with several, nothing has been said: operational is administered. Several
 * neighbours mean that something between passes LLDP frames on; the port waits until all but one
 * have lapsed.
 *
 * The caller decodes frames (dcbx_tlv.h), sends what xoff_dcbx_take() fills when it is due, and
 * puts the operational parameters into force when a call answers XOFF_DCBX_CHANGED. It reads the
 * deadline after every call.
 */
#ifndef XOFF_DCBX_H
#define XOFF_DCBX_H

#include <xoff/dcbx_tlv.h>
#include <xoff/lldp_tx.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XOFF_DCBX_MAX_NEIGHBOURS = 4 };

/* Whose PFC configuration counts where both ports are willing: that of the lower or of the higher
 * MAC address. Texts and implementations differ. */
enum xoff_dcbx_tie { XOFF_DCBX_TIE_LOWER, XOFF_DCBX_TIE_HIGHER };

/* What a port speaks. AUTO: 802.1Qaz, and Baseline with a peer that speaks nothing else. */
enum xoff_dcbx_version { XOFF_DCBX_AUTO, XOFF_DCBX_IEEE, XOFF_DCBX_BASELINE };

struct xoff_dcbx_cfg {
    uint8_t mac[6];
    enum xoff_dcbx_tie tie;
    enum xoff_dcbx_version version;
    bool
        follows_last; /* of several neighbours the one heard last counts: a fault of real devices */
    struct xoff_lldp_tx_cfg lldp;
};

/* What was administered. TLVs that `sends` does not name are not sent, and what the peer says of
 * them has no effect. */
struct xoff_dcbx_admin {
    uint8_t sends; /* bit n: enum xoff_dcbx_kind, CEE apart */
    bool is_willing_apps;
    struct xoff_dcbx_ets ets;
    struct xoff_dcbx_ets recommendation;
    struct xoff_dcbx_pfc pfc;
    struct xoff_dcbx_apps apps;
    uint8_t cn_priorities;
};

/* Defence mode of a priority (802.1Qau 32.4): what the port does to frames of a priority under
 * congestion notification, by whether the peer knows of it and is ready for CN-TAGs. */
enum xoff_cn_mode { XOFF_CN_DISABLED, XOFF_CN_EDGE, XOFF_CN_INTERIOR, XOFF_CN_INTERIOR_READY };

struct xoff_dcbx_operational {
    struct xoff_dcbx_ets ets;
    struct xoff_dcbx_pfc pfc;
    struct xoff_dcbx_apps apps;
    uint8_t cn_mode[8]; /* of each priority: enum xoff_cn_mode */
    /* How it came about; bit n: enum xoff_dcbx_kind. */
    uint8_t from_peer; /* taken from the peer */
    uint8_t differs;   /* the peer says something else than what is in force here; not for ETS, in
                          which both directions may differ */
    uint8_t unusable;  /* it would be taken from the peer, but cannot be applied */
};

/* What the one peer says, if there is one. */
struct xoff_dcbx_remote {
    uint8_t has; /* bit n: enum xoff_dcbx_kind */
    bool is_baseline;
    uint8_t mac[6];
    struct xoff_dcbx_ets ets, recommendation;
    struct xoff_dcbx_pfc pfc;
    struct xoff_dcbx_apps apps;
    struct xoff_dcbx_cn cn;
};

struct xoff_dcbx_neighbour {
    xoff_time lapses_at; /* XOFF_NEVER: this place is free */
    struct xoff_lldp_id chassis, port;
    struct xoff_dcbx_remote remote;
    uint32_t cee_seq; /* Baseline: of its control sub-TLV */
};

struct xoff_dcbx {
    struct xoff_dcbx_admin admin;
    struct xoff_dcbx_operational operational;
    struct xoff_lldp_tx tx;
    struct xoff_dcbx_neighbour neighbours[XOFF_DCBX_MAX_NEIGHBOURS];
    uint8_t n_neighbours;
    uint8_t last; /* neighbour that was heard last */
    bool is_up, is_enabled;
    bool speaks_baseline;
    bool is_foreign;          /* the peer speaks the version that this port does not */
    bool has_multiple;        /* several neighbours: nothing that they say counts */
    xoff_time too_many_until; /* one more neighbour than there are places was heard; lapses then */
    uint32_t cee_seq;         /* Baseline: own number, counted on at each change */
    uint64_t n_sent, n_heard, n_void, n_malformed, n_repeated, n_other_group;
};

/* What a call has brought about; several may be set. */
enum {
    XOFF_DCBX_CHANGED = 1,        /* other operational parameters are in force */
    XOFF_DCBX_PEER_NEW = 2,       /* a neighbour was heard for the first time ... */
    XOFF_DCBX_PEER_GONE = 4,      /* ... lapsed, shut down, or was cut off */
    XOFF_DCBX_PEERS_MULTIPLE = 8, /* there are several neighbours now ... */
    XOFF_DCBX_PEERS_SINGLE = 16,  /* ... and at most one again */
    XOFF_DCBX_MALFORMED = 32,     /* a TLV was void, or came twice */
    XOFF_DCBX_FOREIGN = 64,       /* the peer turns out to speak the other version */
};

/* Checks what can be refused before a run: timers, and tables that cannot be applied. */
int xoff_dcbx_check(const struct xoff_dcbx_cfg *cfg, const struct xoff_dcbx_admin *admin,
                    struct xoff_err *err);
/* The link is down until xoff_dcbx_on_link(). */
void xoff_dcbx_init(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                    const struct xoff_dcbx_admin *admin);

unsigned xoff_dcbx_on_link(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, bool is_up,
                           xoff_time now);
/* Other administered parameters from now on. */
unsigned xoff_dcbx_on_admin(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                            const struct xoff_dcbx_admin *admin, xoff_time now);
/* LLDP is switched off, which sends a shutdown frame, or on again. */
unsigned xoff_dcbx_on_enable(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                             bool is_enabled, xoff_time now);
/* A frame was received and decoded. */
unsigned xoff_dcbx_on_frame(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                            const struct xoff_lldp *lldp, const struct xoff_dcbx_pdu *pdu,
                            xoff_time now);
/* A frame was received that is void as a whole. */
void xoff_dcbx_on_void(struct xoff_dcbx *dcbx);

/* When expire() has something to do; XOFF_NEVER: nothing is pending. */
xoff_time xoff_dcbx_lapse_at(const struct xoff_dcbx *dcbx);
/* When expire() or take() has something to do. */
static inline xoff_time xoff_dcbx_deadline(const struct xoff_dcbx *dcbx)
{
    return xoff_time_min(xoff_dcbx_lapse_at(dcbx), dcbx->tx.due_at);
}
/* Neighbours lapse. Call at the deadline, then take() where a frame is due. */
unsigned xoff_dcbx_expire(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now);

static inline bool xoff_dcbx_is_due(const struct xoff_dcbx *dcbx, xoff_time now)
{
    return xoff_lldp_tx_is_due(&dcbx->tx, now);
}

/* Fills the frame to send now and takes note of it. Call only when due. */
void xoff_dcbx_take(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now,
                    struct xoff_lldp *lldp, struct xoff_dcbx_pdu *pdu);

/* The peer that counts; NULL: there is none, or there are several. */
const struct xoff_dcbx_remote *xoff_dcbx_peer(const struct xoff_dcbx_cfg *cfg,
                                              const struct xoff_dcbx *dcbx);
/* The priority of a protocol by the operational entries; -1: there is none for it. An entry for
 * TCP or UDP goes before one for both, and the default entry (EtherType 0) comes last. */
int xoff_dcbx_priority(const struct xoff_dcbx_operational *operational, uint8_t selector,
                       uint16_t protocol);

#ifdef __cplusplus
}
#endif

#endif
