/* Baseline DCBX (CEE) in the terms of 802.1Qaz, for ports that speak it.
 *
 * Source: the sub-TLVs of cee_tlv.c. A priority group is a traffic class under ETS, group 15 a
 * strict one. There is no recommendation: a willing port takes the groups of a peer that is not
 * willing. PFC is passed as in 802.1Qaz. An application has a set of priorities, of which the
 * lowest is taken; "port" means TCP and UDP.
 *
 * Differs: feature versions are not negotiated, since there is one version of each.
 */
#include "mech/dcbx/baseline.h"

#include <string.h>

enum { N_CLASSES = 8, SELECT_ETHERTYPE = 0, SELECT_PORT = 1 };

#define BIT(kind) ((uint8_t)(1u << (kind)))

static void hear_groups(const struct xoff_cee_groups *groups, struct xoff_dcbx_ets *ets);
static void hear_apps(const struct xoff_cee_apps *from, struct xoff_dcbx_apps *apps);
static void say_groups(const struct xoff_dcbx_ets *ets, struct xoff_cee_groups *groups);
static void say_apps(const struct xoff_dcbx_apps *apps, struct xoff_cee_apps *to);

void xoff_baseline_hear(const struct xoff_cee *cee, struct xoff_dcbx_remote *remote)
{
    remote->is_baseline = true;
    if (cee->groups.head.is_there && cee->groups.head.is_enabled) {
        remote->has |= BIT(XOFF_DCBX_ETS_CONFIGURATION);
        hear_groups(&cee->groups, &remote->ets);
        if (!remote->ets.is_willing) {
            remote->has |= BIT(XOFF_DCBX_ETS_RECOMMENDATION);
            remote->recommendation = remote->ets;
        }
    }
    if (cee->pfc.head.is_there && cee->pfc.head.is_enabled) {
        remote->has |= BIT(XOFF_DCBX_PFC);
        remote->pfc.is_willing = cee->pfc.head.is_willing;
        remote->pfc.max_classes = cee->pfc.n_classes;
        remote->pfc.enabled = cee->pfc.enabled;
    }
    if (cee->apps.head.is_there && cee->apps.head.is_enabled) {
        remote->has |= BIT(XOFF_DCBX_APPLICATIONS);
        hear_apps(&cee->apps, &remote->apps);
    }
}

void xoff_baseline_say(const struct xoff_dcbx *dcbx, uint32_t ack, struct xoff_cee *cee)
{
    const struct xoff_dcbx_operational *operational = &dcbx->operational;
    const uint8_t sends = dcbx->admin.sends, differs = operational->differs;
    memset(cee, 0, sizeof *cee);
    cee->control.seq = dcbx->cee_seq;
    cee->control.ack = ack;
    if (sends & BIT(XOFF_DCBX_ETS_CONFIGURATION)) {
        cee->groups.head = (struct xoff_cee_head){
            .is_there = true, .is_enabled = true, .is_willing = operational->ets.is_willing};
        say_groups(&operational->ets, &cee->groups);
    }
    if (sends & BIT(XOFF_DCBX_PFC)) {
        cee->pfc.head = (struct xoff_cee_head){.is_there = true,
                                               .is_enabled = true,
                                               .is_willing = operational->pfc.is_willing,
                                               .has_error = differs & BIT(XOFF_DCBX_PFC)};
        cee->pfc.enabled = operational->pfc.enabled;
        cee->pfc.n_classes = operational->pfc.max_classes;
    }
    if (sends & BIT(XOFF_DCBX_APPLICATIONS)) {
        cee->apps.head = (struct xoff_cee_head){.is_there = true,
                                                .is_enabled = true,
                                                .is_willing = dcbx->admin.is_willing_apps,
                                                .has_error = differs & BIT(XOFF_DCBX_APPLICATIONS)};
        say_apps(&dcbx->admin.apps, &cee->apps);
    }
}

/* The strict priorities get the highest class that is no group. Where all eight are groups there
 * is none left, and the tables cannot be applied: the class is one that does not exist. */
static uint8_t strict_class(const struct xoff_cee_groups *groups)
{
    unsigned used = 0;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        used |= 1u << groups->group_of[n];
        used |= groups->percent[n] > 0 ? 1u << n : 0;
    }
    uint8_t class = N_CLASSES;
    for (unsigned c = 0; c < N_CLASSES; c++)
        class = used & 1u << c ? class : (uint8_t)c;
    return class;
}

static void hear_groups(const struct xoff_cee_groups *groups, struct xoff_dcbx_ets *ets)
{
    const uint8_t strict = strict_class(groups);
    ets->is_willing = groups->head.is_willing;
    ets->max_classes = groups->n_classes;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        const uint8_t group = groups->group_of[n];
        ets->class_of[n] = group == XOFF_CEE_STRICT_GROUP ? strict : group;
        ets->percent[n] = groups->percent[n];
        ets->tsa[n] = n == strict ? XOFF_TSA_STRICT : XOFF_TSA_ETS;
    }
}

static void hear_apps(const struct xoff_cee_apps *from, struct xoff_dcbx_apps *apps)
{
    for (unsigned i = 0; i < from->n; i++) {
        const struct xoff_cee_app *app = &from->app[i];
        if (app->selector > SELECT_PORT || app->priorities == 0)
            continue;
        apps->app[apps->n++] = (struct xoff_dcbx_app){
            .priority = (uint8_t)__builtin_ctz(app->priorities),
            .selector = app->selector == SELECT_PORT ? XOFF_APP_PORT : XOFF_APP_ETHERTYPE,
            .protocol = app->protocol};
    }
}

static void say_groups(const struct xoff_dcbx_ets *ets, struct xoff_cee_groups *groups)
{
    groups->n_classes = ets->max_classes;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        const uint8_t class = ets->class_of[n];
        const bool is_ets = ets->tsa[class] == XOFF_TSA_ETS;
        groups->group_of[n] = is_ets ? class : XOFF_CEE_STRICT_GROUP;
        groups->percent[n] = ets->tsa[n] == XOFF_TSA_ETS ? ets->percent[n] : 0;
    }
}

/* Baseline has no entries for a DSCP, and none for TCP or UDP alone. What does not fit into the TLV
 * beside the others is left out. */
static void say_apps(const struct xoff_dcbx_apps *apps, struct xoff_cee_apps *to)
{
    enum { MOST = 77 }; /* 4 + 12 + 8 + 19 + 6 + 77 * 6 octets are 511 */
    for (unsigned i = 0; i < apps->n && to->n < MOST; i++) {
        const struct xoff_dcbx_app *app = &apps->app[i];
        if (app->selector < XOFF_APP_ETHERTYPE || app->selector > XOFF_APP_PORT)
            continue;
        to->app[to->n++] = (struct xoff_cee_app){
            .protocol = app->protocol,
            .selector = app->selector == XOFF_APP_ETHERTYPE ? SELECT_ETHERTYPE : SELECT_PORT,
            .oui = XOFF_CEE_OUI,
            .priorities = (uint8_t)(1u << app->priority)};
    }
}
