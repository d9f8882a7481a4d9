/* DCBX at a port: who the peer is, and which parameters are in force.
 *
 * Source: 802.1Qaz, by what public descriptions and Intel's LLDP agent say of its two state
 * machines; the text of the standard was not at hand.
 *
 *   asymmetric (ETS)   INIT          operational = administered
 *                      RX_RECOMMEND  operational = the peer's recommendation
 *                      in RX_RECOMMEND: willing, and a recommendation is there
 *   symmetric (PFC)    INIT, RX_RECOMMEND as above, with the peer's configuration
 *                      in RX_RECOMMEND: willing, a configuration is there, and
 *                      the peer is not willing, or the addresses say that this port gives way
 *
 * Both are functions of what holds now, so they are computed anew whenever something changes
 * (resolve), and there is no state to get out of step. In RX_RECOMMEND a port sends what it has
 * taken, with its own willing bit.
 *
 * Congestion notification (802.1Qau 32.4): a priority is at the edge until the peer says that it is
 * a congestion notification priority there, too; then it is interior, its defences are down, and
 * the port says that it is ready; with the peer's ready it is interior-ready and may use CN-TAGs.
 *
 * Choices, where the source is silent:
 * - A frame replaces all that a neighbour has said. A malformed TLV counts as not being in it.
 * - Tables that a port cannot apply are not taken: a class that it does not have, ETS bandwidths
 * that do not add up to 100, more lossless priorities than it can serve. It stays with its own.
 * - With equal MAC addresses nobody gives way.
 * - A port told to speak 802.1Qaz alone goes on sending it to a peer that speaks Baseline, and
 * takes nothing from it. By default it yields and speaks Baseline, as Intel's agent does.
 * - Two willing ports of Baseline settle PFC by the same rule, and keep their groups.
 * - What more neighbours say than there are places for is not kept, but they count as neighbours
 *   until it would have lapsed (802.1AB 9.2.7.7.5).
 */
#include <xoff/dcbx.h>

#include "mech/dcbx/baseline.h"

#include <string.h>

#define BIT(kind) ((uint8_t)(1u << (kind)))

enum { MAX_CN_PRIORITIES = 7 };

static unsigned resolve(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now);
static void hear(const struct xoff_dcbx_cfg *cfg, const struct xoff_lldp *lldp,
                 const struct xoff_dcbx_pdu *pdu, struct xoff_dcbx_neighbour *neighbour);
static void forget(struct xoff_dcbx *dcbx, unsigned i);
static unsigned forget_all(struct xoff_dcbx *dcbx);
static unsigned find(const struct xoff_dcbx *dcbx, const struct xoff_lldp *lldp);
static bool is_usable(const struct xoff_dcbx_ets *ets, unsigned max_classes);
static unsigned n_set(unsigned bits);

int xoff_dcbx_check(const struct xoff_dcbx_cfg *cfg, const struct xoff_dcbx_admin *admin,
                    struct xoff_err *err)
{
    const int code = xoff_lldp_tx_check(&cfg->lldp, err);
    if (code != 0)
        return code;
    if (admin->sends & BIT(XOFF_DCBX_ETS_CONFIGURATION) &&
        (admin->ets.max_classes > 8 || !is_usable(&admin->ets, admin->ets.max_classes)))
        return xoff_err_set(err, XOFF_E_CONFLICT, "ets", NULL,
                            "every priority needs a traffic class that the port has, and the "
                            "bandwidths of the ETS classes must add up to 100 %");
    if (admin->sends & BIT(XOFF_DCBX_ETS_RECOMMENDATION) && !is_usable(&admin->recommendation, 8))
        return xoff_err_set(err, XOFF_E_CONFLICT, "recommendation", NULL,
                            "the bandwidths of the ETS classes must add up to 100 %");
    if (n_set(admin->pfc.enabled) > admin->pfc.max_classes)
        return xoff_err_set(err, XOFF_E_CONFLICT, "pfc", NULL,
                            "enabled on more priorities than the port can hold lossless");
    if (n_set(admin->cn_priorities) > MAX_CN_PRIORITIES)
        return xoff_err_set(err, XOFF_E_RANGE, "cn", NULL,
                            "at most 7 priorities are under congestion notification");
    for (unsigned i = 0; i < admin->apps.n; i++)
        for (unsigned k = 0; k < i; k++)
            if (admin->apps.app[i].selector == admin->apps.app[k].selector &&
                admin->apps.app[i].protocol == admin->apps.app[k].protocol)
                return xoff_err_set(err, XOFF_E_CONFLICT, "app", NULL,
                                    "two entries are for the same protocol");
    return 0;
}

void xoff_dcbx_init(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                    const struct xoff_dcbx_admin *admin)
{
    memset(dcbx, 0, sizeof *dcbx);
    memcpy(&dcbx->admin, admin, sizeof *admin);
    dcbx->is_enabled = true;
    dcbx->too_many_until = XOFF_NEVER;
    for (unsigned i = 0; i < XOFF_DCBX_MAX_NEIGHBOURS; i++)
        dcbx->neighbours[i].lapses_at = XOFF_NEVER;
    xoff_lldp_tx_init(&dcbx->tx);
    resolve(cfg, dcbx, 0);
}

unsigned xoff_dcbx_on_link(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, bool is_up,
                           xoff_time now)
{
    dcbx->is_up = is_up;
    if (is_up) {
        if (dcbx->is_enabled)
            xoff_lldp_tx_start(&cfg->lldp, &dcbx->tx, now);
        return 0;
    }
    xoff_lldp_tx_cut(&dcbx->tx);
    return forget_all(dcbx) | resolve(cfg, dcbx, now);
}

unsigned xoff_dcbx_on_admin(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                            const struct xoff_dcbx_admin *admin, xoff_time now)
{
    if (memcmp(&dcbx->admin, admin, sizeof *admin) == 0)
        return 0;
    memcpy(&dcbx->admin, admin, sizeof *admin);
    dcbx->cee_seq++;
    xoff_lldp_tx_on_change(&cfg->lldp, &dcbx->tx, now);
    return resolve(cfg, dcbx, now);
}

unsigned xoff_dcbx_on_enable(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                             bool is_enabled, xoff_time now)
{
    dcbx->is_enabled = is_enabled;
    if (is_enabled) {
        if (dcbx->is_up)
            xoff_lldp_tx_start(&cfg->lldp, &dcbx->tx, now);
        return 0;
    }
    xoff_lldp_tx_stop(&dcbx->tx, now);
    return forget_all(dcbx) | resolve(cfg, dcbx, now);
}

unsigned xoff_dcbx_on_frame(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx,
                            const struct xoff_lldp *lldp, const struct xoff_dcbx_pdu *pdu,
                            xoff_time now)
{
    if (dcbx->tx.status != XOFF_LLDP_TX_ON)
        return 0;
    if (memcmp(lldp->destination, xoff_lldp_nearest_bridge, 6) != 0) {
        dcbx->n_other_group++;
        return 0;
    }
    dcbx->n_heard++;
    unsigned i = find(dcbx, lldp);
    const bool is_known = i < XOFF_DCBX_MAX_NEIGHBOURS;
    if (lldp->ttl_s == 0) {
        if (!is_known)
            return 0;
        forget(dcbx, i);
        return XOFF_DCBX_PEER_GONE | resolve(cfg, dcbx, now);
    }
    unsigned events = 0;
    dcbx->n_malformed += pdu->malformed != 0;
    dcbx->n_repeated += pdu->repeated != 0;
    if (pdu->malformed || pdu->repeated)
        events |= XOFF_DCBX_MALFORMED;
    const xoff_time lapses_at = xoff_time_after(now, cfg->lldp.second_for * lldp->ttl_s);
    if (!is_known) {
        for (i = 0; i < XOFF_DCBX_MAX_NEIGHBOURS; i++)
            if (dcbx->neighbours[i].lapses_at == XOFF_NEVER)
                break;
        if (i == XOFF_DCBX_MAX_NEIGHBOURS) {
            if (dcbx->too_many_until == XOFF_NEVER || lapses_at > dcbx->too_many_until)
                dcbx->too_many_until = lapses_at;
            return events | resolve(cfg, dcbx, now);
        }
        events |= XOFF_DCBX_PEER_NEW;
        dcbx->n_neighbours++;
        xoff_lldp_tx_on_neighbour(&cfg->lldp, &dcbx->tx, now);
    }
    struct xoff_dcbx_neighbour *neighbour = &dcbx->neighbours[i];
    const uint32_t seq = neighbour->cee_seq;
    hear(cfg, lldp, pdu, neighbour);
    neighbour->lapses_at = lapses_at;
    dcbx->last = (uint8_t)i;
    events |= resolve(cfg, dcbx, now);
    if (dcbx->speaks_baseline && neighbour->cee_seq != seq) /* it waits for its acknowledgement */
        xoff_lldp_tx_on_change(&cfg->lldp, &dcbx->tx, now);
    return events;
}

void xoff_dcbx_on_void(struct xoff_dcbx *dcbx)
{
    dcbx->n_void++;
}

xoff_time xoff_dcbx_lapse_at(const struct xoff_dcbx *dcbx)
{
    xoff_time at = dcbx->too_many_until;
    for (unsigned i = 0; i < XOFF_DCBX_MAX_NEIGHBOURS; i++)
        at = xoff_time_min(at, dcbx->neighbours[i].lapses_at);
    return at;
}

unsigned xoff_dcbx_expire(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now)
{
    unsigned events = 0;
    bool is_new = false;
    for (unsigned i = 0; i < XOFF_DCBX_MAX_NEIGHBOURS; i++) {
        if (dcbx->neighbours[i].lapses_at > now)
            continue;
        forget(dcbx, i);
        events |= XOFF_DCBX_PEER_GONE;
        is_new = true;
    }
    if (dcbx->too_many_until <= now) {
        dcbx->too_many_until = XOFF_NEVER;
        is_new = true;
    }
    return is_new ? events | resolve(cfg, dcbx, now) : 0;
}

void xoff_dcbx_take(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now,
                    struct xoff_lldp *lldp, struct xoff_dcbx_pdu *pdu)
{
    memset(lldp, 0, sizeof *lldp);
    memset(pdu, 0, sizeof *pdu);
    memcpy(lldp->destination, xoff_lldp_nearest_bridge, 6);
    memcpy(lldp->source, cfg->mac, 6);
    lldp->chassis.subtype = XOFF_LLDP_CHASSIS_MAC;
    lldp->port.subtype = XOFF_LLDP_PORT_MAC;
    lldp->chassis.length = lldp->port.length = 6;
    memcpy(lldp->chassis.octets, cfg->mac, 6);
    memcpy(lldp->port.octets, cfg->mac, 6);
    lldp->ttl_s = xoff_lldp_tx_take(&cfg->lldp, &dcbx->tx, now);
    dcbx->n_sent++;
    if (lldp->ttl_s == 0)
        return;
    if (dcbx->speaks_baseline) {
        const uint32_t ack = dcbx->n_neighbours == 1 ? dcbx->neighbours[dcbx->last].cee_seq : 0;
        pdu->has = BIT(XOFF_DCBX_CEE);
        xoff_baseline_say(dcbx, ack, &pdu->cee);
        return;
    }
    pdu->has = dcbx->admin.sends;
    pdu->ets = dcbx->operational.ets;
    pdu->recommendation = dcbx->admin.recommendation;
    pdu->pfc = dcbx->operational.pfc;
    pdu->apps = dcbx->admin.apps;
    pdu->cn.priorities = dcbx->admin.cn_priorities;
    for (unsigned p = 0; p < XOFF_N_PRIORITIES; p++)
        if (dcbx->operational.cn_mode[p] >= XOFF_CN_INTERIOR)
            pdu->cn.ready |= BIT(p);
}

const struct xoff_dcbx_remote *xoff_dcbx_peer(const struct xoff_dcbx_cfg *cfg,
                                              const struct xoff_dcbx *dcbx)
{
    if (dcbx->n_neighbours == 0)
        return NULL;
    const bool is_single = dcbx->n_neighbours == 1 && dcbx->too_many_until == XOFF_NEVER;
    return is_single || cfg->follows_last ? &dcbx->neighbours[dcbx->last].remote : NULL;
}

int xoff_dcbx_priority(const struct xoff_dcbx_operational *operational, uint8_t selector,
                       uint16_t protocol)
{
    int found = -1, rank = 0;
    for (unsigned i = 0; i < operational->apps.n; i++) {
        const struct xoff_dcbx_app *app = &operational->apps.app[i];
        int is = 0;
        if (app->selector == selector && app->protocol == protocol)
            is = 3;
        else if (app->selector == XOFF_APP_PORT && app->protocol == protocol &&
                 (selector == XOFF_APP_TCP || selector == XOFF_APP_UDP))
            is = 2;
        else if (app->selector == XOFF_APP_ETHERTYPE && app->protocol == 0)
            is = 1;
        if (is > rank) {
            rank = is;
            found = app->priority;
        }
    }
    return found;
}

/* ------------------------------------------------------------------------- what is in force */

static bool is_usable(const struct xoff_dcbx_ets *ets, unsigned max_classes)
{
    const unsigned fatal = 1u << XOFF_DCBX_REMARK_CLASS | 1u << XOFF_DCBX_REMARK_ALGORITHM |
                           1u << XOFF_DCBX_REMARK_SUM;
    if (xoff_dcbx_ets_remarks(ets, true) & fatal)
        return false;
    for (unsigned p = 0; p < XOFF_N_PRIORITIES; p++)
        if (ets->class_of[p] >= max_classes)
            return false;
    return true;
}

static unsigned n_set(unsigned bits)
{
    unsigned n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* Whether this port gives way to a peer that is willing, too. */
static bool gives_way(const struct xoff_dcbx_cfg *cfg, const struct xoff_dcbx_remote *peer)
{
    const int order = memcmp(cfg->mac, peer->mac, 6);
    return cfg->tie == XOFF_DCBX_TIE_LOWER ? order > 0 : order < 0;
}

static void resolve_ets(const struct xoff_dcbx_admin *admin, const struct xoff_dcbx_remote *peer,
                        struct xoff_dcbx_operational *out)
{
    out->ets = admin->ets;
    if (!admin->ets.is_willing || !(peer->has & BIT(XOFF_DCBX_ETS_RECOMMENDATION)))
        return;
    if (!is_usable(&peer->recommendation, admin->ets.max_classes)) {
        out->unusable |= BIT(XOFF_DCBX_ETS_RECOMMENDATION);
        return;
    }
    memcpy(out->ets.class_of, peer->recommendation.class_of, sizeof out->ets.class_of);
    memcpy(out->ets.percent, peer->recommendation.percent, sizeof out->ets.percent);
    memcpy(out->ets.tsa, peer->recommendation.tsa, sizeof out->ets.tsa);
    out->from_peer |= BIT(XOFF_DCBX_ETS_RECOMMENDATION);
}

static void resolve_pfc(const struct xoff_dcbx_cfg *cfg, const struct xoff_dcbx_admin *admin,
                        const struct xoff_dcbx_remote *peer, struct xoff_dcbx_operational *out)
{
    const uint8_t bit = BIT(XOFF_DCBX_PFC);
    out->pfc = admin->pfc;
    if (!(peer->has & bit))
        return;
    if (admin->pfc.is_willing && (!peer->pfc.is_willing || gives_way(cfg, peer))) {
        if (n_set(peer->pfc.enabled) <= admin->pfc.max_classes) {
            out->pfc.enabled = peer->pfc.enabled;
            out->from_peer |= bit;
        } else {
            out->unusable |= bit;
        }
    }
    out->differs |= peer->pfc.enabled != out->pfc.enabled ? bit : 0;
}

static void resolve_apps(const struct xoff_dcbx_admin *admin, const struct xoff_dcbx_remote *peer,
                         struct xoff_dcbx_operational *out)
{
    const uint8_t bit = BIT(XOFF_DCBX_APPLICATIONS);
    for (unsigned i = 0; i < admin->apps.n; i++)
        out->apps.app[out->apps.n++] = admin->apps.app[i];
    if (!(peer->has & bit))
        return;
    for (unsigned k = 0; k < peer->apps.n; k++) {
        const struct xoff_dcbx_app *theirs = &peer->apps.app[k];
        const struct xoff_dcbx_app *ours = NULL;
        for (unsigned i = 0; i < out->apps.n && !ours; i++)
            if (out->apps.app[i].selector == theirs->selector &&
                out->apps.app[i].protocol == theirs->protocol)
                ours = &out->apps.app[i];
        const bool is_known =
            theirs->selector >= XOFF_APP_ETHERTYPE && theirs->selector <= XOFF_APP_DSCP;
        if (ours) {
            out->differs |= ours->priority != theirs->priority ? bit : 0;
        } else if (admin->is_willing_apps && is_known && out->apps.n < XOFF_DCBX_MAX_APPS) {
            out->apps.app[out->apps.n++] = *theirs;
            out->from_peer |= bit;
        }
    }
}

static void resolve_cn(const struct xoff_dcbx_admin *admin, const struct xoff_dcbx_remote *peer,
                       struct xoff_dcbx_operational *out)
{
    const uint8_t bit = BIT(XOFF_DCBX_CONGESTION_NOTIFICATION);
    const struct xoff_dcbx_cn none = {0, 0}, *cn = peer->has & bit ? &peer->cn : &none;
    for (unsigned p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(admin->cn_priorities & BIT(p)))
            out->cn_mode[p] = XOFF_CN_DISABLED;
        else if (!(cn->priorities & BIT(p)))
            out->cn_mode[p] = XOFF_CN_EDGE;
        else
            out->cn_mode[p] = cn->ready & BIT(p) ? XOFF_CN_INTERIOR_READY : XOFF_CN_INTERIOR;
    }
    if (peer->has & bit)
        out->differs |= cn->priorities != admin->cn_priorities ? bit : 0;
}

static bool chooses_baseline(const struct xoff_dcbx_cfg *cfg, const struct xoff_dcbx_remote *peer)
{
    if (cfg->version != XOFF_DCBX_AUTO)
        return cfg->version == XOFF_DCBX_BASELINE;
    return peer && peer->is_baseline;
}

/* Whether others would hear of the difference. */
static bool says_the_same(const struct xoff_dcbx_operational *a,
                          const struct xoff_dcbx_operational *b)
{
    for (unsigned p = 0; p < XOFF_N_PRIORITIES; p++)
        if ((a->cn_mode[p] >= XOFF_CN_INTERIOR) != (b->cn_mode[p] >= XOFF_CN_INTERIOR))
            return false;
    return memcmp(&a->ets, &b->ets, sizeof a->ets) == 0 &&
           memcmp(&a->pfc, &b->pfc, sizeof a->pfc) == 0;
}

/* Computes what is in force from what was administered and what the peer says now. */
static unsigned resolve(const struct xoff_dcbx_cfg *cfg, struct xoff_dcbx *dcbx, xoff_time now)
{
    static const struct xoff_dcbx_remote nobody;
    const struct xoff_dcbx_remote *peer = xoff_dcbx_peer(cfg, dcbx);
    unsigned events = 0;
    const bool has_multiple = dcbx->n_neighbours > 1 || dcbx->too_many_until != XOFF_NEVER;
    if (has_multiple != dcbx->has_multiple)
        events |= has_multiple ? XOFF_DCBX_PEERS_MULTIPLE : XOFF_DCBX_PEERS_SINGLE;
    dcbx->has_multiple = has_multiple;

    const bool speaks_baseline = chooses_baseline(cfg, peer);
    const bool is_understood = peer && peer->is_baseline == speaks_baseline;
    const bool is_foreign = peer && peer->has && !is_understood;
    if (is_foreign && !dcbx->is_foreign)
        events |= XOFF_DCBX_FOREIGN;
    dcbx->is_foreign = is_foreign;
    /* A port takes part in what it sends itself. */
    struct xoff_dcbx_remote heard = is_understood ? *peer : nobody;
    uint8_t parts = dcbx->admin.sends;
    if (parts & BIT(XOFF_DCBX_ETS_CONFIGURATION))
        parts |= BIT(XOFF_DCBX_ETS_RECOMMENDATION);
    heard.has &= parts;

    struct xoff_dcbx_operational next;
    memset(&next, 0, sizeof next);
    resolve_ets(&dcbx->admin, &heard, &next);
    resolve_pfc(cfg, &dcbx->admin, &heard, &next);
    resolve_apps(&dcbx->admin, &heard, &next);
    resolve_cn(&dcbx->admin, &heard, &next);
    const size_t in_force = offsetof(struct xoff_dcbx_operational, from_peer);
    if (memcmp(&next, &dcbx->operational, in_force) != 0)
        events |= XOFF_DCBX_CHANGED;
    if (speaks_baseline != dcbx->speaks_baseline || !says_the_same(&next, &dcbx->operational)) {
        dcbx->cee_seq++;
        xoff_lldp_tx_on_change(&cfg->lldp, &dcbx->tx, now);
    }
    dcbx->speaks_baseline = speaks_baseline;
    memcpy(&dcbx->operational, &next, sizeof next);
    return events;
}

/* ------------------------------------------------------------------------------- neighbours */

static unsigned find(const struct xoff_dcbx *dcbx, const struct xoff_lldp *lldp)
{
    unsigned i = 0;
    for (; i < XOFF_DCBX_MAX_NEIGHBOURS; i++)
        if (dcbx->neighbours[i].lapses_at != XOFF_NEVER &&
            xoff_lldp_id_is(&dcbx->neighbours[i].chassis, &lldp->chassis) &&
            xoff_lldp_id_is(&dcbx->neighbours[i].port, &lldp->port))
            break;
    return i;
}

static void hear(const struct xoff_dcbx_cfg *cfg, const struct xoff_lldp *lldp,
                 const struct xoff_dcbx_pdu *pdu, struct xoff_dcbx_neighbour *neighbour)
{
    struct xoff_dcbx_remote *remote = &neighbour->remote;
    memset(neighbour, 0, sizeof *neighbour);
    neighbour->chassis = lldp->chassis;
    neighbour->port = lldp->port;
    memcpy(remote->mac, lldp->source, 6);
    const bool has_baseline = pdu->has & BIT(XOFF_DCBX_CEE);
    const bool has_ieee = pdu->has & (BIT(XOFF_DCBX_CEE) - 1);
    if (has_baseline) {
        neighbour->cee_seq = pdu->cee.control.seq;
        if (cfg->version == XOFF_DCBX_BASELINE || !has_ieee) {
            xoff_baseline_hear(&pdu->cee, remote);
            return;
        }
    }
    remote->has = pdu->has & (BIT(XOFF_DCBX_CEE) - 1);
    remote->ets = pdu->ets;
    remote->recommendation = pdu->recommendation;
    remote->pfc = pdu->pfc;
    memcpy(&remote->apps, &pdu->apps, sizeof remote->apps);
    remote->cn = pdu->cn;
}

/* Frees the place of neighbour i. Where one is left, it was heard last. */
static void forget(struct xoff_dcbx *dcbx, unsigned i)
{
    memset(&dcbx->neighbours[i], 0, sizeof dcbx->neighbours[i]);
    dcbx->neighbours[i].lapses_at = XOFF_NEVER;
    dcbx->n_neighbours--;
    if (dcbx->last != i)
        return;
    for (unsigned k = 0; k < XOFF_DCBX_MAX_NEIGHBOURS; k++)
        if (dcbx->neighbours[k].lapses_at != XOFF_NEVER)
            dcbx->last = (uint8_t)k;
}

static unsigned forget_all(struct xoff_dcbx *dcbx)
{
    unsigned events = 0;
    for (unsigned i = 0; i < XOFF_DCBX_MAX_NEIGHBOURS; i++) {
        if (dcbx->neighbours[i].lapses_at == XOFF_NEVER)
            continue;
        forget(dcbx, i);
        events = XOFF_DCBX_PEER_GONE;
    }
    dcbx->too_many_until = XOFF_NEVER;
    return events;
}
