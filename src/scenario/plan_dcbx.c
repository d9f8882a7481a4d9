/* `dcbx:` and `lldp:` of a scenario: what ports administer, and when they send. */
#include "scenario/plan_read.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#define BIT(kind) ((uint8_t)(1u << (kind)))

static int fail(struct xoff_err *err, const char *key, const char *value, const char *message)
{
    return xoff_err_set(err, XOFF_E_SYNTAX, key, value, message);
}

/* A list of priorities as a mask; `lossless` stands for those of the scenario. */
static int read_mask(const char *key, const char *text, uint8_t lossless, uint8_t *mask,
                     struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    *mask = 0;
    for (const char *at = text[0] ? text : NULL; plan_next_entry(&at, entry, sizeof entry);) {
        int64_t priority;
        if (strcmp(entry, "lossless") == 0) {
            *mask |= lossless;
            continue;
        }
        if (xoff_parse_int(entry, &priority) || priority < 0 || priority > 7)
            return fail(err, key, entry, "not a priority; give a list of 0 to 7 such as [3, 4]");
        *mask |= BIT(priority);
    }
    return 0;
}

/* Cuts "3: 60" into its name and its number. */
static bool cut_pair(char *entry, char **name, int64_t *number)
{
    char *colon = strrchr(entry, ':');
    if (!colon)
        return false;
    *colon = '\0';
    *name = entry;
    for (size_t n = strlen(entry); n > 0 && entry[n - 1] == ' '; n--)
        entry[n - 1] = '\0';
    return xoff_parse_int(colon + 1 + strspn(colon + 1, " "), number) == 0;
}

/* Shares of priorities: each of them is a class of its own, and the others join the first one. */
static int read_ets(const char *key, const char *text, uint8_t strict, struct xoff_dcbx_ets *ets,
                    struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    int first = -1;
    memset(ets, 0, sizeof *ets);
    ets->max_classes = 8;
    for (const char *at = text[0] ? text : NULL; plan_next_entry(&at, entry, sizeof entry);) {
        char *name;
        int64_t percent, priority;
        if (!cut_pair(entry, &name, &percent) || xoff_parse_int(name, &priority) || priority < 0 ||
            priority > 7 || percent < 0 || percent > 100)
            return fail(err, key, entry,
                        "not a share; give PRIORITY: PER CENT for each, such as [0: 40, 3: 60]");
        ets->percent[priority] = (uint8_t)percent;
        ets->tsa[priority] = XOFF_TSA_ETS;
        first = first < 0 || priority < first ? (int)priority : first;
    }
    for (unsigned p = 0; p < XOFF_N_PRIORITIES; p++) {
        const bool is_own = ets->tsa[p] == XOFF_TSA_ETS || strict >> p & 1;
        ets->class_of[p] = (uint8_t)(is_own || first < 0 ? (int)p : first);
        if (strict >> p & 1 && ets->tsa[p] == XOFF_TSA_ETS)
            return fail(err, key, text, "a strict priority has no share");
    }
    return 0;
}

static const struct {
    const char *name;
    uint8_t selector;
    int32_t protocol; /* -1: a number follows the name */
} protocols[] = {
    {"default", XOFF_APP_ETHERTYPE, 0},
    {"fcoe", XOFF_APP_ETHERTYPE, XOFF_APP_FCOE},
    {"fip", XOFF_APP_ETHERTYPE, XOFF_APP_FIP},
    {"iscsi", XOFF_APP_TCP, XOFF_APP_ISCSI},
    {"roce", XOFF_APP_UDP, XOFF_APP_ROCE},
    {"ethertype", XOFF_APP_ETHERTYPE, -1},
    {"tcp", XOFF_APP_TCP, -1},
    {"udp", XOFF_APP_UDP, -1},
    {"port", XOFF_APP_PORT, -1},
    {"dscp", XOFF_APP_DSCP, -1},
};

static bool find_protocol(char *name, struct xoff_dcbx_app *app)
{
    char *space = strchr(name, ' ');
    int64_t number = -1;
    if (space) {
        *space = '\0';
        if (xoff_parse_int(space + 1, &number) || number < 0 || number > UINT16_MAX)
            return false;
    }
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        if (strcmp(name, protocols[i].name) != 0 || (protocols[i].protocol < 0) != (number >= 0))
            continue;
        app->selector = protocols[i].selector;
        app->protocol = (uint16_t)(number >= 0 ? number : protocols[i].protocol);
        return true;
    }
    return false;
}

static int read_apps(const char *text, struct xoff_dcbx_apps *apps, struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    for (const char *at = text[0] ? text : NULL; plan_next_entry(&at, entry, sizeof entry);) {
        char *name;
        int64_t priority;
        struct xoff_dcbx_app *app = &apps->app[apps->n];
        if (!cut_pair(entry, &name, &priority) || priority < 0 || priority > 7 ||
            !find_protocol(name, app))
            return fail(
                err, "apps", entry,
                "not an application; give PROTOCOL: PRIORITY for each, the protocol being "
                "default, fcoe, fip, iscsi, roce, or ethertype, tcp, udp, port or dscp with "
                "a number, such as [fcoe: 3, tcp 3260: 4]");
        app->priority = (uint8_t)priority;
        apps->n++; /* a text of 256 bytes has fewer entries than there are places */
    }
    return 0;
}

static int read_willing(const char *text, struct xoff_dcbx_admin *admin, struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    for (const char *at = text[0] ? text : NULL; plan_next_entry(&at, entry, sizeof entry);) {
        const bool is_all = strcmp(entry, "all") == 0;
        const bool is_pfc = strcmp(entry, "pfc") == 0, is_ets = strcmp(entry, "ets") == 0;
        const bool is_apps = strcmp(entry, "apps") == 0;
        if (!is_all && !is_pfc && !is_ets && !is_apps)
            return fail(err, "willing", entry,
                        "not known; give a list of pfc, ets and apps, or all");
        admin->pfc.is_willing |= is_all || is_pfc;
        admin->ets.is_willing |= is_all || is_ets;
        admin->is_willing_apps |= is_all || is_apps;
    }
    return 0;
}

static int read_tables(const struct plan_dcbx *entry, uint8_t strict, struct xoff_dcbx_admin *admin,
                       struct xoff_err *err)
{
    const bool has_ets = entry->ets[0] != '\0', is_same = strcmp(entry->recommend, "same") == 0;
    int rc = read_ets("ets", has_ets ? entry->ets : "0: 100", strict, &admin->ets, err);
    if (!rc && entry->recommend[0])
        rc = read_ets("recommend", is_same ? entry->ets : entry->recommend, strict,
                      &admin->recommendation, err);
    if (!rc && is_same && !has_ets)
        rc = fail(err, "recommend", "same", "there is no ets to recommend; give shares");
    return rc;
}

/* Fills in entry->net from the texts of the entry. */
static int read_texts(struct plan_dcbx *entry, uint8_t lossless, struct xoff_err *err)
{
    struct net_dcbx *net = &entry->net;
    struct xoff_dcbx_admin *admin = &net->admin;
    uint8_t strict;
    int rc = read_mask("strict", entry->strict, 0, &strict, err);
    if (!rc)
        rc = read_tables(entry, strict, admin, err);
    if (!rc)
        rc = read_mask("pfc", entry->pfc, lossless, &admin->pfc.enabled, err);
    if (!rc)
        rc = read_mask("cn", entry->cn, 0, &admin->cn_priorities, err);
    if (!rc)
        rc = read_mask("needs_lossless", entry->needs_lossless, 0, &net->needs_lossless, err);
    if (!rc)
        rc = read_apps(entry->apps, &admin->apps, err);
    if (!rc)
        rc = read_willing(entry->willing, admin, err);
    if (rc)
        return rc;
    admin->pfc.max_classes = (uint8_t)entry->pfc_classes;
    admin->sends = BIT(XOFF_DCBX_PFC);
    admin->sends |= entry->ets[0] || admin->ets.is_willing ? BIT(XOFF_DCBX_ETS_CONFIGURATION) : 0;
    admin->sends |= entry->recommend[0] ? BIT(XOFF_DCBX_ETS_RECOMMENDATION) : 0;
    admin->sends |= entry->apps[0] || admin->is_willing_apps ? BIT(XOFF_DCBX_APPLICATIONS) : 0;
    admin->sends |= entry->cn[0] ? BIT(XOFF_DCBX_CONGESTION_NOTIFICATION) : 0;
    net->from = entry->from;
    net->tie = (enum xoff_dcbx_tie)entry->tie;
    net->version = (enum xoff_dcbx_version)entry->version;
    net->follows_last = entry->follows_last;
    net->is_enabled = entry->lldp;
    net->pushes = entry->pushes;
    return 0;
}

static int read_entry(struct fields_reader *r, const struct yaml_node *node, uint8_t lossless,
                      struct plan_dcbx *entry)
{
    int rc = fields_read(r, node, section_dcbx, entry, NULL);
    if (rc)
        return rc;
    entry->place = (struct plan_place){node->line, node->column};
    rc = read_texts(entry, lossless, r->err);
    if (!rc)
        return 0;
    const struct yaml_node *given = yaml_find(node, r->err->subject);
    const size_t length = fields_enter(r, r->err->subject);
    rc = fields_locate(r, given ? given : node, rc);
    fields_leave(r, length);
    return rc;
}

static int read_lldp(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    static const struct yaml_node absent = {.kind = YAML_MAPPING};
    const struct yaml_node *node = yaml_find(root, "lldp");
    struct plan_lldp *lldp = &plan->lldp;
    const size_t length = fields_enter(r, "lldp");
    int rc = fields_read(r, node ? node : &absent, section_lldp, lldp, NULL);
    if (node)
        plan->lldp_place = (struct plan_place){node->line, node->column};
    if (!rc) {
        plan->net.lldp = (struct xoff_lldp_tx_cfg){.second_for = lldp->second,
                                                   .interval_s = (uint16_t)lldp->interval,
                                                   .ttl_s = (uint16_t)lldp->ttl,
                                                   .fast_s = (uint16_t)lldp->fast,
                                                   .tx_delay_s = (uint16_t)lldp->tx_delay,
                                                   .reinit_s = (uint16_t)lldp->reinit,
                                                   .n_fast = (uint8_t)lldp->fast_frames};
        if (lldp->ttl < lldp->interval)
            rc = fields_fail(r, node, XOFF_E_CONFLICT,
                             "ttl is below interval: what was said would lapse before it is said "
                             "again; give a longer ttl");
    }
    fields_leave(r, length);
    return rc;
}

int plan_read_dcbx(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    int rc = read_lldp(r, root, plan);
    const struct yaml_node *node = yaml_find(root, "dcbx");
    const size_t length = fields_enter(r, "dcbx");
    void *entries = NULL;
    if (!rc)
        rc = plan_begin_list(r, node, sizeof *plan->dcbx, &entries);
    plan->dcbx = entries;
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, plan->n_dcbx);
        rc = read_entry(r, node, plan->net.lossless, &plan->dcbx[plan->n_dcbx++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}
