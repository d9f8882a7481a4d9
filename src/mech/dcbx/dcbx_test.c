/* DCBX at a port: each transition of its machines, and both sides of every boundary. The peers here
 * are hand-written frames; two ports against each other are in dcbx_pair_test.c. A second is 1 us.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/dcbx.h>

#define SECOND XOFF_US
#define BIT(kind) ((uint8_t)(1u << (kind)))

enum {
    ETS = BIT(XOFF_DCBX_ETS_CONFIGURATION),
    RECOMMENDATION = BIT(XOFF_DCBX_ETS_RECOMMENDATION),
    PFC = BIT(XOFF_DCBX_PFC),
    APPS = BIT(XOFF_DCBX_APPLICATIONS),
    CN = BIT(XOFF_DCBX_CONGESTION_NOTIFICATION),
    CEE = BIT(XOFF_DCBX_CEE),
    ALL = ETS | RECOMMENDATION | PFC | APPS | CN,
};

static const struct xoff_dcbx_ets half_and_half = {
    .max_classes = 8, .class_of = {[3] = 1}, .percent = {50, 50}, .tsa = {2, 2}};
static const struct xoff_dcbx_ets quarter = {
    .max_classes = 8, .class_of = {[3] = 1, [4] = 2}, .percent = {25, 25, 50}, .tsa = {2, 2, 2}};

/* A port at 02-..-10 with PFC on priority 3 and two classes; `is_willing` in everything or nothing.
 */
struct rig {
    struct xoff_dcbx_cfg cfg;
    struct xoff_dcbx_admin admin;
    struct xoff_dcbx port;
};

static void start(struct rig *rig, bool is_willing)
{
    memset(rig, 0, sizeof *rig);
    rig->cfg.lldp = xoff_lldp_tx_defaults;
    rig->cfg.lldp.second_for = SECOND;
    rig->cfg.mac[0] = 0x02;
    rig->cfg.mac[5] = 0x10;
    rig->admin.sends = ALL;
    rig->admin.ets = rig->admin.recommendation = half_and_half;
    rig->admin.ets.is_willing = is_willing;
    rig->admin.pfc =
        (struct xoff_dcbx_pfc){.is_willing = is_willing, .max_classes = 4, .enabled = 0x08};
    rig->admin.is_willing_apps = is_willing;
    struct xoff_err err = {0};
    assert_int_equal(xoff_dcbx_check(&rig->cfg, &rig->admin, &err), 0);
    xoff_dcbx_init(&rig->cfg, &rig->port, &rig->admin);
    assert_true(xoff_dcbx_deadline(&rig->port) == XOFF_NEVER);
    assert_int_equal(xoff_dcbx_on_link(&rig->cfg, &rig->port, true, 0), 0);
}

/* What a neighbour whose MAC address ends in `number` says. */
struct speech {
    uint8_t number;
    uint16_t ttl_s;
    struct xoff_dcbx_pdu pdu;
};

static struct speech speech(uint8_t number)
{
    return (struct speech){.number = number, .ttl_s = 120, .pdu = {.has = 0}};
}

static unsigned hear(struct rig *rig, const struct speech *s, xoff_time now)
{
    struct xoff_lldp lldp = {.source = {0x02, 0, 0, 0, 0, s->number},
                             .chassis = {XOFF_LLDP_CHASSIS_MAC, 1, {s->number}},
                             .port = {XOFF_LLDP_PORT_MAC, 1, {s->number}},
                             .ttl_s = s->ttl_s};
    memcpy(lldp.destination, xoff_lldp_nearest_bridge, 6);
    return xoff_dcbx_on_frame(&rig->cfg, &rig->port, &lldp, &s->pdu, now);
}

static void say(struct rig *rig, xoff_time now, struct xoff_lldp *lldp, struct xoff_dcbx_pdu *pdu)
{
    assert_true(xoff_dcbx_is_due(&rig->port, now));
    xoff_dcbx_take(&rig->cfg, &rig->port, now, lldp, pdu);
}

/* Sends all that is due up to `now`. */
static void drain(struct rig *rig, xoff_time now)
{
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    while (xoff_dcbx_is_due(&rig->port, now))
        xoff_dcbx_take(&rig->cfg, &rig->port, rig->port.tx.due_at, &lldp, &pdu);
}

static struct speech pfc_of(uint8_t number, bool is_willing, uint8_t enabled)
{
    struct speech s = speech(number);
    s.pdu.has = PFC;
    s.pdu.pfc =
        (struct xoff_dcbx_pfc){.is_willing = is_willing, .max_classes = 8, .enabled = enabled};
    return s;
}

static struct speech ets_of(uint8_t number, const struct xoff_dcbx_ets *recommendation)
{
    struct speech s = speech(number);
    s.pdu.has = RECOMMENDATION;
    s.pdu.recommendation = *recommendation;
    return s;
}

static void alone_a_port_has_what_was_administered(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    const struct xoff_dcbx_operational *now = &rig.port.operational;
    assert_memory_equal(&now->ets, &rig.admin.ets, sizeof now->ets);
    assert_memory_equal(&now->pfc, &rig.admin.pfc, sizeof now->pfc);
    assert_int_equal(now->from_peer | now->differs | now->unusable, 0);
    assert_null(xoff_dcbx_peer(&rig.cfg, &rig.port));

    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    say(&rig, 0, &lldp, &pdu);
    assert_memory_equal(lldp.destination, xoff_lldp_nearest_bridge, 6);
    assert_memory_equal(lldp.source, rig.cfg.mac, 6);
    assert_memory_equal(lldp.port.octets, rig.cfg.mac, 6);
    assert_int_equal(lldp.ttl_s, 120);
    assert_int_equal(pdu.has, ALL);
    assert_int_equal(pdu.pfc.enabled, 0x08);
    assert_true(pdu.pfc.is_willing);
    assert_true(xoff_dcbx_deadline(&rig.port) == SECOND); /* fast start */
}

/* Willing, recommendation there: taken. Either missing: not. */
static void ets_takes_a_recommendation_if_willing(void **state)
{
    (void)state;
    struct rig rig;
    for (int willing = 0; willing < 2; willing++) {
        start(&rig, willing);
        const struct speech s = ets_of(1, &quarter);
        const unsigned events = hear(&rig, &s, 1);
        assert_int_equal(events, XOFF_DCBX_PEER_NEW | (willing ? XOFF_DCBX_CHANGED : 0));
        const struct xoff_dcbx_ets *want = willing ? &quarter : &half_and_half;
        assert_memory_equal(rig.port.operational.ets.class_of, want->class_of, 8);
        assert_memory_equal(rig.port.operational.ets.percent, want->percent, 8);
        assert_int_equal(rig.port.operational.ets.is_willing, willing);
        assert_int_equal(rig.port.operational.from_peer, willing ? RECOMMENDATION : 0);
    }
    /* The peer's configuration alone recommends nothing. */
    start(&rig, true);
    struct speech s = speech(1);
    s.pdu.has = ETS;
    s.pdu.ets = quarter;
    assert_int_equal(hear(&rig, &s, 1), XOFF_DCBX_PEER_NEW);
    assert_memory_equal(rig.port.operational.ets.percent, half_and_half.percent, 8);
}

/* Adopted values are sent on with the own willing bit; the recommendation stays the own. */
static void what_was_taken_is_sent(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    drain(&rig, 3 * SECOND);
    struct speech s = ets_of(1, &quarter);
    hear(&rig, &s, 4 * SECOND); /* a new neighbour: at once, the last frame is a second old */
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    say(&rig, 4 * SECOND, &lldp, &pdu);
    assert_memory_equal(pdu.ets.percent, quarter.percent, 8);
    assert_true(pdu.ets.is_willing);
    assert_memory_equal(pdu.recommendation.percent, half_and_half.percent, 8);
    drain(&rig, 10 * SECOND);
    assert_true(rig.port.tx.due_at == 37 * SECOND); /* 7 s: the last of four; nothing is new */
    s.pdu.recommendation = half_and_half;
    assert_int_equal(hear(&rig, &s, 8 * SECOND), XOFF_DCBX_CHANGED);
    assert_true(rig.port.tx.due_at == 9 * SECOND); /* 2 s behind the last frame */
}

/* Sum 100 or not; a class that the port has or not; a known algorithm or not. */
static void unusable_tables_are_not_taken(void **state)
{
    (void)state;
    struct rig rig;
    struct xoff_dcbx_ets bad[4] = {quarter, quarter, quarter, quarter};
    bad[0].percent[2] = 51;
    bad[1].class_of[0] = 8;
    bad[2].tsa[7] = 3;
    bad[3].class_of[0] = 7;
    for (int i = 0; i < 4; i++) {
        start(&rig, true);
        rig.admin.ets.max_classes = 7;
        xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 1);
        const struct speech s = ets_of(1, &bad[i]);
        hear(&rig, &s, 2);
        assert_memory_equal(rig.port.operational.ets.percent, half_and_half.percent, 8);
        assert_int_equal(rig.port.operational.unusable, RECOMMENDATION);
        assert_int_equal(rig.port.operational.from_peer, 0);
    }
    rig.admin.ets.max_classes = 8; /* with another class the last one can be applied */
    assert_int_equal(xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 3), XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.ets.class_of[0], 7);
}

/* The peer has PFC on priority 4. Who is willing, whose address is lower (ours ends in 10), and the
 * rule decide: 1 stands for the peer's configuration. */
static void pfc_follows_willing_bits_and_addresses(void **state)
{
    (void)state;
    static const struct {
        bool willing, peer_willing;
        uint8_t peer;
        enum xoff_dcbx_tie tie;
        bool takes;
    } cases[] = {
        {false, false, 0x0f, XOFF_DCBX_TIE_LOWER, false},
        {false, true, 0x0f, XOFF_DCBX_TIE_LOWER, false},
        {true, false, 0x0f, XOFF_DCBX_TIE_LOWER, true},
        {true, false, 0x11, XOFF_DCBX_TIE_LOWER, true},
        {true, true, 0x0f, XOFF_DCBX_TIE_LOWER, true},  /* the peer is lower */
        {true, true, 0x11, XOFF_DCBX_TIE_LOWER, false}, /* this port is lower */
        {true, true, 0x10, XOFF_DCBX_TIE_LOWER, false}, /* equal: nobody gives way */
        {true, true, 0x0f, XOFF_DCBX_TIE_HIGHER, false},
        {true, true, 0x11, XOFF_DCBX_TIE_HIGHER, true},
        {true, true, 0x10, XOFF_DCBX_TIE_HIGHER, false},
        {true, false, 0x0f, XOFF_DCBX_TIE_HIGHER, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig;
        start(&rig, cases[i].willing);
        rig.cfg.tie = cases[i].tie;
        const struct speech s = pfc_of(cases[i].peer, cases[i].peer_willing, 0x10);
        const unsigned events = hear(&rig, &s, 1);
        assert_int_equal(rig.port.operational.pfc.enabled, cases[i].takes ? 0x10 : 0x08);
        assert_int_equal(events, XOFF_DCBX_PEER_NEW | (cases[i].takes ? XOFF_DCBX_CHANGED : 0));
        assert_int_equal(rig.port.operational.from_peer, cases[i].takes ? PFC : 0);
        assert_int_equal(rig.port.operational.differs, cases[i].takes ? 0 : PFC);
        assert_int_equal(rig.port.operational.pfc.is_willing, cases[i].willing);
        assert_int_equal(rig.port.operational.pfc.max_classes, 4);
    }
}

/* The port can hold four priorities lossless: four are taken, five are not. */
static void pfc_beyond_the_capability_is_not_taken(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct speech s = pfc_of(1, false, 0x0f);
    hear(&rig, &s, 1);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x0f);
    s = pfc_of(1, false, 0x1f);
    assert_int_equal(hear(&rig, &s, 2), XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_int_equal(rig.port.operational.unusable, PFC);
    assert_int_equal(rig.port.operational.differs, PFC);
}

/* A frame with a TTL of 120 s at second 1 counts until second 121, or until the next frame. */
static void what_a_peer_said_lapses(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    const struct speech s = pfc_of(1, false, 0x10);
    hear(&rig, &s, SECOND);
    drain(&rig, 200 * SECOND);
    assert_true(xoff_dcbx_deadline(&rig.port) == 121 * SECOND);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 121 * SECOND - 1), 0);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
    hear(&rig, &s, 121 * SECOND - 1);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 121 * SECOND), 0);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 241 * SECOND - 1),
                     XOFF_DCBX_PEER_GONE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_int_equal(rig.port.n_neighbours, 0);
}

static void a_shutdown_takes_everything_back(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct speech s = pfc_of(1, false, 0x10);
    hear(&rig, &s, 1);
    struct speech other = speech(2);
    other.ttl_s = 0;
    assert_int_equal(hear(&rig, &other, 2), 0); /* of a stranger: nothing */
    s.ttl_s = 0;
    assert_int_equal(hear(&rig, &s, 3), XOFF_DCBX_PEER_GONE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    s.ttl_s = 120;
    assert_int_equal(hear(&rig, &s, 4), XOFF_DCBX_PEER_NEW | XOFF_DCBX_CHANGED);
}

/* Two neighbours: as if there were none, until one of them lapses. The one that is left counts at
 * once, by what it said last. */
static void several_neighbours_are_none(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct speech a = pfc_of(1, false, 0x10), b = pfc_of(2, false, 0x20);
    b.ttl_s = 10;
    hear(&rig, &a, 1);
    assert_int_equal(hear(&rig, &b, 2),
                     XOFF_DCBX_PEER_NEW | XOFF_DCBX_PEERS_MULTIPLE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_null(xoff_dcbx_peer(&rig.cfg, &rig.port));
    assert_int_equal(hear(&rig, &a, 3), 0); /* still two */
    assert_int_equal(hear(&rig, &b, 4), 0);
    drain(&rig, 60 * SECOND);
    assert_true(xoff_dcbx_deadline(&rig.port) == 4 + 10 * SECOND);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 4 + 10 * SECOND),
                     XOFF_DCBX_PEER_GONE | XOFF_DCBX_PEERS_SINGLE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
}

/* Four neighbours are kept. A fifth is not, but it counts until it would have lapsed. */
static void a_fifth_neighbour_counts_without_a_place(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct speech s = pfc_of(1, false, 0x10), bye;
    for (uint8_t n = 1; n <= 4; n++) {
        s.number = n;
        assert_true(hear(&rig, &s, n) & XOFF_DCBX_PEER_NEW);
    }
    s.number = 5;
    s.ttl_s = 20;
    assert_int_equal(hear(&rig, &s, 5), 0);
    s.ttl_s = 10;
    assert_int_equal(hear(&rig, &s, 6), 0); /* the longer time holds */
    bye = speech(0);
    bye.ttl_s = 0;
    for (uint8_t n = 2; n <= 4; n++) {
        bye.number = n;
        assert_int_equal(hear(&rig, &bye, 10 + n), XOFF_DCBX_PEER_GONE);
    }
    assert_int_equal(rig.port.n_neighbours, 1);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    drain(&rig, 15 * SECOND);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 5 + 20 * SECOND - 1), 0);
    assert_int_equal(xoff_dcbx_expire(&rig.cfg, &rig.port, 5 + 20 * SECOND),
                     XOFF_DCBX_PEERS_SINGLE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
}

/* A faulty device follows whoever spoke last. */
static void a_faulty_port_follows_the_last(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    rig.cfg.follows_last = true;
    struct speech a = pfc_of(1, false, 0x10), b = pfc_of(2, false, 0x20);
    hear(&rig, &a, 1);
    hear(&rig, &b, 2);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x20);
    hear(&rig, &a, 3);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
    a.ttl_s = 0;
    hear(&rig, &a, 4);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x20);
}

/* A malformed TLV is as good as none: the port falls back on its own. So does one that the peer no
 * longer sends. The rest of the frame counts. */
static void a_malformed_tlv_says_nothing(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct speech s = pfc_of(1, false, 0x10);
    s.pdu.has |= RECOMMENDATION;
    s.pdu.recommendation = quarter;
    hear(&rig, &s, 1);
    s.pdu.has = RECOMMENDATION;
    s.pdu.malformed = PFC;
    assert_int_equal(hear(&rig, &s, 2), XOFF_DCBX_MALFORMED | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_memory_equal(rig.port.operational.ets.percent, quarter.percent, 8);
    s = pfc_of(1, false, 0x10);
    s.pdu.repeated = PFC; /* the first one counts */
    assert_int_equal(hear(&rig, &s, 3), XOFF_DCBX_MALFORMED | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
    assert_int_equal(rig.port.n_malformed, 1);
    assert_int_equal(rig.port.n_repeated, 1);
    xoff_dcbx_on_void(&rig.port);
    assert_int_equal(rig.port.n_void, 1);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
}

/* DCBX belongs to the nearest bridge: frames to the other two groups are not its own. */
static void other_groups_are_not_heard(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    const struct speech s = pfc_of(1, false, 0x10);
    struct xoff_lldp lldp = {.destination = {0x01, 0x80, 0xc2, 0, 0, 0x03},
                             .chassis = {4, 1, {1}},
                             .port = {3, 1, {1}},
                             .ttl_s = 120};
    assert_int_equal(xoff_dcbx_on_frame(&rig.cfg, &rig.port, &lldp, &s.pdu, 1), 0);
    lldp.destination[5] = 0x00;
    assert_int_equal(xoff_dcbx_on_frame(&rig.cfg, &rig.port, &lldp, &s.pdu, 1), 0);
    assert_int_equal(rig.port.n_other_group, 2);
    assert_int_equal(rig.port.n_neighbours, 0);
}

static void a_tlv_that_is_not_sent_is_not_heard(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    rig.admin.sends = ETS;
    xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 0);
    struct speech s = pfc_of(1, false, 0x10);
    s.pdu.has |= RECOMMENDATION;
    s.pdu.recommendation = quarter;
    hear(&rig, &s, 1);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_memory_equal(rig.port.operational.ets.percent, quarter.percent, 8);
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    say(&rig, 1, &lldp, &pdu);
    assert_int_equal(pdu.has, ETS);
}

static void own_applications_go_first(void **state)
{
    (void)state;
    for (int willing = 0; willing < 2; willing++) {
        struct rig rig;
        start(&rig, willing);
        rig.admin.apps = (struct xoff_dcbx_apps){.n = 1, .app = {{3, XOFF_APP_ETHERTYPE, 0x8906}}};
        xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 0);
        struct speech s = speech(1);
        s.pdu.has = APPS;
        s.pdu.apps = (struct xoff_dcbx_apps){.n = 3,
                                             .app = {{4, XOFF_APP_ETHERTYPE, 0x8906},
                                                     {5, XOFF_APP_PORT, 3260},
                                                     {6, 7, 1}}}; /* a reserved selector */
        hear(&rig, &s, 1);
        const struct xoff_dcbx_operational *now = &rig.port.operational;
        assert_int_equal(now->apps.n, willing ? 2 : 1);
        assert_int_equal(now->differs, APPS);
        assert_int_equal(now->from_peer, willing ? APPS : 0);
        assert_int_equal(xoff_dcbx_priority(now, XOFF_APP_ETHERTYPE, 0x8906), 3);
        assert_int_equal(xoff_dcbx_priority(now, XOFF_APP_TCP, 3260), willing ? 5 : -1);
    }
}

static void the_closest_entry_gives_the_priority(void **state)
{
    (void)state;
    struct xoff_dcbx_operational op = {.apps = {.n = 4,
                                                .app = {{1, XOFF_APP_ETHERTYPE, 0},
                                                        {2, XOFF_APP_PORT, 4791},
                                                        {3, XOFF_APP_UDP, 4791},
                                                        {4, XOFF_APP_DSCP, 46}}}};
    assert_int_equal(xoff_dcbx_priority(&op, XOFF_APP_UDP, 4791), 3);
    assert_int_equal(xoff_dcbx_priority(&op, XOFF_APP_TCP, 4791), 2);
    assert_int_equal(xoff_dcbx_priority(&op, XOFF_APP_DSCP, 46), 4);
    assert_int_equal(xoff_dcbx_priority(&op, XOFF_APP_DSCP, 4791), 1); /* the default */
    op.apps.app[0].protocol = 1;
    assert_int_equal(xoff_dcbx_priority(&op, XOFF_APP_DSCP, 4791), -1);
}

/* edge -> interior when the peer has the priority, too -> interior-ready with its ready bit. The
 * port is ready as soon as it is interior. */
static void congestion_notification_goes_step_by_step(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, false);
    rig.admin.cn_priorities = 0x30;
    xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 0);
    const uint8_t *mode = rig.port.operational.cn_mode;
    assert_int_equal(mode[3], XOFF_CN_DISABLED);
    assert_int_equal(mode[4], XOFF_CN_EDGE);
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    say(&rig, 0, &lldp, &pdu);
    assert_int_equal(pdu.cn.priorities, 0x30);
    assert_int_equal(pdu.cn.ready, 0);

    struct speech s = speech(1);
    s.pdu.has = CN;
    s.pdu.cn = (struct xoff_dcbx_cn){.priorities = 0x18, .ready = 0x08};
    assert_true(hear(&rig, &s, SECOND) & XOFF_DCBX_CHANGED);
    assert_int_equal(mode[3], XOFF_CN_DISABLED); /* not administered here */
    assert_int_equal(mode[4], XOFF_CN_INTERIOR);
    assert_int_equal(mode[5], XOFF_CN_EDGE);
    assert_int_equal(rig.port.operational.differs, CN);
    say(&rig, SECOND, &lldp, &pdu);
    assert_int_equal(pdu.cn.ready, 0x10);

    s.pdu.cn = (struct xoff_dcbx_cn){.priorities = 0x30, .ready = 0x10};
    hear(&rig, &s, 2 * SECOND);
    assert_int_equal(mode[4], XOFF_CN_INTERIOR_READY);
    assert_int_equal(mode[5], XOFF_CN_INTERIOR);
    assert_int_equal(rig.port.operational.differs, 0);
    s.pdu.has = 0;
    hear(&rig, &s, 3 * SECOND);
    assert_int_equal(mode[4], XOFF_CN_EDGE);
}

/* A peer that speaks Baseline: a port of 802.1Qaz alone takes nothing and goes on as before; by
 * default it changes over, and back when the peer speaks 802.1Qaz. */
static void baseline_is_recognised(void **state)
{
    (void)state;
    struct speech s = speech(1);
    s.pdu.has = CEE;
    s.pdu.cee = (struct xoff_cee){
        .control = {.seq = 7},
        .pfc = {.head = {.is_there = true, .is_enabled = true}, .enabled = 0x10, .n_classes = 8}};
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    struct rig rig;
    start(&rig, true);
    rig.cfg.version = XOFF_DCBX_IEEE;
    assert_int_equal(hear(&rig, &s, 1), XOFF_DCBX_PEER_NEW | XOFF_DCBX_FOREIGN);
    assert_int_equal(hear(&rig, &s, 2), 0); /* it is told once */
    assert_true(rig.port.is_foreign);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    say(&rig, 2, &lldp, &pdu);
    assert_int_equal(pdu.has, ALL);

    start(&rig, true);
    assert_int_equal(hear(&rig, &s, 1), XOFF_DCBX_PEER_NEW | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x10);
    say(&rig, 1, &lldp, &pdu);
    assert_int_equal(pdu.has, CEE);
    assert_int_equal(pdu.cee.pfc.enabled, 0x10);
    assert_int_equal(pdu.cee.control.ack, 7);
    const uint32_t seq = pdu.cee.control.seq;
    drain(&rig, 3 * SECOND);
    s.pdu.cee.control.seq = 8; /* news wait for an acknowledgement, which is none itself */
    assert_int_equal(hear(&rig, &s, 10 * SECOND), 0);
    say(&rig, 10 * SECOND, &lldp, &pdu);
    assert_int_equal(pdu.cee.control.ack, 8);
    assert_int_equal(pdu.cee.control.seq, seq);
    s.pdu.has = CEE | PFC;
    s.pdu.pfc = (struct xoff_dcbx_pfc){.max_classes = 8, .enabled = 0x20};
    assert_int_equal(hear(&rig, &s, 20 * SECOND), XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x20);
    say(&rig, 20 * SECOND, &lldp, &pdu);
    assert_int_equal(pdu.has, ALL);
}

static void a_port_of_baseline_takes_no_other(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    rig.cfg.version = XOFF_DCBX_BASELINE;
    struct speech s = pfc_of(1, false, 0x10);
    assert_int_equal(hear(&rig, &s, 1), XOFF_DCBX_PEER_NEW | XOFF_DCBX_FOREIGN);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    s.pdu.has |= CEE; /* a peer that sends both is understood by either */
    s.pdu.cee.pfc = (struct xoff_cee_pfc){
        .head = {.is_there = true, .is_enabled = true}, .enabled = 0x20, .n_classes = 8};
    assert_int_equal(hear(&rig, &s, 2), XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x20);
}

static void a_link_that_fails_forgets_the_peer(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    const struct speech s = pfc_of(1, false, 0x10);
    hear(&rig, &s, 1);
    drain(&rig, 60 * SECOND);
    assert_int_equal(xoff_dcbx_on_link(&rig.cfg, &rig.port, false, 70 * SECOND),
                     XOFF_DCBX_PEER_GONE | XOFF_DCBX_CHANGED);
    assert_int_equal(rig.port.operational.pfc.enabled, 0x08);
    assert_true(xoff_dcbx_deadline(&rig.port) == XOFF_NEVER);
    assert_int_equal(hear(&rig, &s, 71 * SECOND), 0); /* nothing is heard over a dead link */
    xoff_dcbx_on_link(&rig.cfg, &rig.port, true, 80 * SECOND);
    assert_true(xoff_dcbx_deadline(&rig.port) == 80 * SECOND);
}

static void disabled_it_says_goodbye_and_is_deaf(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    const struct speech s = pfc_of(1, false, 0x10);
    hear(&rig, &s, 1);
    drain(&rig, 10 * SECOND);
    assert_int_equal(xoff_dcbx_on_enable(&rig.cfg, &rig.port, false, 20 * SECOND),
                     XOFF_DCBX_PEER_GONE | XOFF_DCBX_CHANGED);
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    say(&rig, 20 * SECOND, &lldp, &pdu);
    assert_int_equal(lldp.ttl_s, 0);
    assert_int_equal(pdu.has, 0);
    assert_int_equal(hear(&rig, &s, 20 * SECOND), 0);
    xoff_dcbx_on_link(&rig.cfg, &rig.port, true, 20 * SECOND); /* up, and still disabled */
    assert_true(xoff_dcbx_deadline(&rig.port) == XOFF_NEVER);
    xoff_dcbx_on_enable(&rig.cfg, &rig.port, true, 21 * SECOND);
    assert_true(xoff_dcbx_deadline(&rig.port) == 22 * SECOND); /* reinitialisation: 2 s */
}

/* A change is sent 2 s behind the last frame; the same once more is none. */
static void a_change_is_sent_on(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, false);
    drain(&rig, 3 * SECOND);
    rig.admin.pfc.enabled = 0x18;
    assert_int_equal(xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 4 * SECOND),
                     XOFF_DCBX_CHANGED);
    assert_true(xoff_dcbx_deadline(&rig.port) == 5 * SECOND);
    drain(&rig, 5 * SECOND);
    assert_int_equal(xoff_dcbx_on_admin(&rig.cfg, &rig.port, &rig.admin, 10 * SECOND), 0);
    assert_true(xoff_dcbx_deadline(&rig.port) == 35 * SECOND);
}

static void check_refused(const struct xoff_dcbx_admin *admin, enum xoff_err_code code,
                          const char *subject)
{
    const struct xoff_dcbx_cfg cfg = {.lldp = xoff_lldp_tx_defaults};
    struct xoff_err err = {0};
    assert_int_equal(xoff_dcbx_check(&cfg, admin, &err), -(int)code);
    assert_string_equal(err.subject, subject);
}

static void what_cannot_be_applied_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    struct xoff_dcbx_admin admin = rig.admin;
    admin.ets.percent[0]--;
    check_refused(&admin, XOFF_E_CONFLICT, "ets");
    admin = rig.admin;
    admin.ets.max_classes = 1;
    check_refused(&admin, XOFF_E_CONFLICT, "ets");
    admin = rig.admin;
    admin.ets.max_classes = 9;
    check_refused(&admin, XOFF_E_CONFLICT, "ets");
    admin = rig.admin;
    admin.recommendation.percent[1]++;
    check_refused(&admin, XOFF_E_CONFLICT, "recommendation");
    admin = rig.admin;
    admin.pfc.enabled = 0x1f; /* five; it can hold four */
    check_refused(&admin, XOFF_E_CONFLICT, "pfc");
    admin = rig.admin;
    admin.cn_priorities = 0xff;
    check_refused(&admin, XOFF_E_RANGE, "cn");
    admin = rig.admin;
    admin.apps = (struct xoff_dcbx_apps){.n = 2, .app = {{3, 1, 5}, {4, 1, 5}}};
    check_refused(&admin, XOFF_E_CONFLICT, "app");
    struct xoff_err err = {0};
    const struct xoff_dcbx_cfg cfg = {.lldp = {.second_for = 1}};
    assert_int_equal(xoff_dcbx_check(&cfg, &rig.admin, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "interval");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_a_port_has_what_was_administered),
        cmocka_unit_test(ets_takes_a_recommendation_if_willing),
        cmocka_unit_test(what_was_taken_is_sent),
        cmocka_unit_test(unusable_tables_are_not_taken),
        cmocka_unit_test(pfc_follows_willing_bits_and_addresses),
        cmocka_unit_test(pfc_beyond_the_capability_is_not_taken),
        cmocka_unit_test(what_a_peer_said_lapses),
        cmocka_unit_test(a_shutdown_takes_everything_back),
        cmocka_unit_test(several_neighbours_are_none),
        cmocka_unit_test(a_fifth_neighbour_counts_without_a_place),
        cmocka_unit_test(a_faulty_port_follows_the_last),
        cmocka_unit_test(a_malformed_tlv_says_nothing),
        cmocka_unit_test(other_groups_are_not_heard),
        cmocka_unit_test(a_tlv_that_is_not_sent_is_not_heard),
        cmocka_unit_test(own_applications_go_first),
        cmocka_unit_test(the_closest_entry_gives_the_priority),
        cmocka_unit_test(congestion_notification_goes_step_by_step),
        cmocka_unit_test(baseline_is_recognised),
        cmocka_unit_test(a_port_of_baseline_takes_no_other),
        cmocka_unit_test(a_link_that_fails_forgets_the_peer),
        cmocka_unit_test(disabled_it_says_goodbye_and_is_deaf),
        cmocka_unit_test(a_change_is_sent_on),
        cmocka_unit_test(what_cannot_be_applied_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
