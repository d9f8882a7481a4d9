/* Two ports of DCBX on a link that loses frames, against a slow model that keeps everything it ever
 * received and works out anew, at every step, what the rules say. Frames travel as octets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/dcbx.h>
#include <xoff/rng.h>

#define SECOND XOFF_US
#define BIT(kind) ((uint8_t)(1u << (kind)))

enum { MAX_LOG = 2000, N_STEPS = 60 };

/* A frame as the model remembers it: who, until when, and what it said of ETS and PFC. */
struct entry {
    uint8_t mac[6];
    xoff_time at, until;
    bool has_reco, has_pfc, pfc_willing;
    struct xoff_dcbx_ets reco;
    uint8_t pfc;
};

struct end {
    struct xoff_dcbx_cfg cfg;
    struct xoff_dcbx_admin admin;
    struct xoff_dcbx port;
    struct entry log[MAX_LOG];
    int n_log;
    bool is_off;
};

static struct end ends[2];
static struct xoff_rng rng;

static bool coin(void)
{
    return xoff_rng_below(&rng, 2);
}

static void random_ets(struct xoff_dcbx_ets *ets)
{
    memset(ets, 0, sizeof *ets);
    ets->max_classes = 8;
    const unsigned n = 1 + (unsigned)xoff_rng_below(&rng, 4);
    unsigned left = 100;
    for (unsigned c = 0; c < n; c++) {
        const unsigned share = c + 1 < n ? (unsigned)xoff_rng_below(&rng, left) : left;
        ets->percent[c] = (uint8_t)share;
        ets->tsa[c] = XOFF_TSA_ETS;
        left -= share;
    }
    for (unsigned p = 0; p < 8; p++)
        ets->class_of[p] = (uint8_t)xoff_rng_below(&rng, n);
}

static void random_admin(struct xoff_dcbx_admin *admin)
{
    memset(admin, 0, sizeof *admin);
    admin->sends = BIT(XOFF_DCBX_ETS_CONFIGURATION);
    admin->sends |= coin() ? BIT(XOFF_DCBX_ETS_RECOMMENDATION) : 0;
    admin->sends |= xoff_rng_below(&rng, 4) ? BIT(XOFF_DCBX_PFC) : 0;
    random_ets(&admin->ets);
    admin->ets.is_willing = coin();
    if (admin->sends & BIT(XOFF_DCBX_ETS_RECOMMENDATION))
        random_ets(&admin->recommendation);
    admin->pfc.is_willing = coin();
    admin->pfc.max_classes = coin() ? 8 : (uint8_t)(1 + xoff_rng_below(&rng, 8));
    for (unsigned p = 0, n = 0; p < 8; p++)
        if (coin() && n < admin->pfc.max_classes) {
            admin->pfc.enabled |= BIT(p);
            n++;
        }
}

/* ---------------------------------------------------------------------------- the slow model */

static bool model_can(const struct xoff_dcbx_admin *admin, uint8_t enabled)
{
    int n = 0;
    for (int p = 0; p < 8; p++)
        n += enabled >> p & 1;
    return n <= admin->pfc.max_classes;
}

/* Of each sender the last frame that has not lapsed; the one sender if it is the only one. */
static const struct entry *model_peer(const struct end *end, xoff_time now)
{
    const struct entry *peer = NULL;
    for (int i = 0; i < end->n_log; i++) {
        const struct entry *e = &end->log[i];
        bool is_last = true;
        for (int k = i + 1; k < end->n_log; k++)
            is_last &= memcmp(end->log[k].mac, e->mac, 6) != 0;
        if (!is_last || e->until <= now)
            continue;
        if (peer)
            return NULL;
        peer = e;
    }
    return peer;
}

static uint8_t model_pfc(const struct end *end, const struct entry *peer)
{
    const struct xoff_dcbx_admin *admin = &end->admin;
    if (!(admin->sends & BIT(XOFF_DCBX_PFC)) || !peer || !peer->has_pfc)
        return admin->pfc.enabled;
    const bool is_lower = memcmp(end->cfg.mac, peer->mac, 6) < 0;
    const bool wins = is_lower == (end->cfg.tie == XOFF_DCBX_TIE_LOWER);
    if (admin->pfc.is_willing && (!peer->pfc_willing || !wins) && model_can(admin, peer->pfc))
        return peer->pfc;
    return admin->pfc.enabled;
}

static const struct xoff_dcbx_ets *model_ets(const struct end *end, const struct entry *peer)
{
    return end->admin.ets.is_willing && peer && peer->has_reco ? &peer->reco : &end->admin.ets;
}

static void check(const struct end *end, xoff_time now)
{
    const struct entry *peer = model_peer(end, now);
    const struct xoff_dcbx_ets *ets = model_ets(end, peer);
    assert_int_equal(end->port.operational.pfc.enabled, model_pfc(end, peer));
    assert_memory_equal(end->port.operational.ets.class_of, ets->class_of, 8);
    assert_memory_equal(end->port.operational.ets.percent, ets->percent, 8);
    assert_memory_equal(end->port.operational.ets.tsa, ets->tsa, 8);
}

/* ---------------------------------------------------------------------------------- the link */

static void receive(struct end *end, const uint8_t *frame, size_t length, xoff_time now)
{
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    struct xoff_err err;
    assert_int_equal(xoff_dcbx_pdu_decode(frame, length, &lldp, &pdu, &err), 0);
    assert_int_equal(err.code, XOFF_E_OK);
    xoff_dcbx_on_frame(&end->cfg, &end->port, &lldp, &pdu, now);
    if (end->is_off)
        return;
    assert_true(end->n_log < MAX_LOG);
    struct entry *e = &end->log[end->n_log++];
    *e = (struct entry){.at = now,
                        .until = now + lldp.ttl_s * SECOND,
                        .has_reco = pdu.has & BIT(XOFF_DCBX_ETS_RECOMMENDATION),
                        .has_pfc = pdu.has & BIT(XOFF_DCBX_PFC),
                        .pfc_willing = pdu.pfc.is_willing,
                        .reco = pdu.recommendation,
                        .pfc = pdu.pfc.enabled};
    memcpy(e->mac, lldp.source, 6);
}

/* Runs both ports to `until`; of a thousand frames `loss` get lost. Returns the frames sent. */
static int run(xoff_time *now, xoff_time until, unsigned loss)
{
    int n_sent = 0;
    for (;;) {
        const xoff_time at =
            xoff_time_min(xoff_dcbx_deadline(&ends[0].port), xoff_dcbx_deadline(&ends[1].port));
        if (at > until)
            break;
        assert_true(at >= *now);
        *now = at;
        for (int i = 0; i < 2; i++) {
            struct end *end = &ends[i];
            xoff_dcbx_expire(&end->cfg, &end->port, at);
            if (!xoff_dcbx_is_due(&end->port, at))
                continue;
            struct xoff_lldp lldp;
            struct xoff_dcbx_pdu pdu;
            uint8_t tlvs[256], frame[512];
            xoff_dcbx_take(&end->cfg, &end->port, at, &lldp, &pdu);
            const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
            const size_t length = xoff_lldp_encode(&lldp, tlvs, n, frame, sizeof frame);
            assert_true(length > 0);
            n_sent++;
            if (xoff_rng_below(&rng, 1000) >= loss)
                receive(&ends[!i], frame, length, at);
        }
        check(&ends[0], at);
        check(&ends[1], at);
    }
    *now = until;
    return n_sent;
}

static void begin(uint64_t seed, enum xoff_dcbx_tie tie)
{
    xoff_rng_init(&rng, seed, 0, 0);
    memset(ends, 0, sizeof ends);
    for (int i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        end->cfg.lldp = xoff_lldp_tx_defaults;
        end->cfg.lldp.second_for = SECOND;
        end->cfg.tie = tie;
        end->cfg.mac[0] = 0x02;
        end->cfg.mac[4] = (uint8_t)xoff_rng_below(&rng, 256);
        end->cfg.mac[5] = (uint8_t)(2 * xoff_rng_below(&rng, 128) + (unsigned)i);
        random_admin(&end->admin);
        struct xoff_err err = {0};
        assert_int_equal(xoff_dcbx_check(&end->cfg, &end->admin, &err), 0);
        xoff_dcbx_init(&end->cfg, &end->port, &end->admin);
        xoff_dcbx_on_link(&end->cfg, &end->port, true, 0);
    }
}

/* With the link clean and both configurations at rest, what must come out follows from the two
 * alone. Returns whether both have PFC on the same priorities by the rules. */
static bool check_converged(void)
{
    const struct end *low = memcmp(ends[0].cfg.mac, ends[1].cfg.mac, 6) < 0 ? &ends[0] : &ends[1];
    const struct end *high = low == &ends[0] ? &ends[1] : &ends[0];
    const struct end *winner = ends[0].cfg.tie == XOFF_DCBX_TIE_LOWER ? low : high;
    const struct end *loser = winner == low ? high : low;
    const uint8_t of_winner = winner->admin.pfc.enabled, of_loser = loser->admin.pfc.enabled;
    const bool both_speak = winner->admin.sends & loser->admin.sends & BIT(XOFF_DCBX_PFC);
    const bool w = winner->admin.pfc.is_willing, l = loser->admin.pfc.is_willing;
    uint8_t at_winner = of_winner, at_loser = of_loser;
    if (both_speak && l && model_can(&loser->admin, of_winner))
        at_loser = of_winner;
    if (both_speak && w && !l && model_can(&winner->admin, of_loser))
        at_winner = of_loser;
    assert_int_equal(winner->port.operational.pfc.enabled, at_winner);
    assert_int_equal(loser->port.operational.pfc.enabled, at_loser);
    for (int i = 0; i < 2; i++) {
        const struct xoff_dcbx_admin *mine = &ends[i].admin, *theirs = &ends[!i].admin;
        const bool takes =
            mine->ets.is_willing && theirs->sends & BIT(XOFF_DCBX_ETS_RECOMMENDATION);
        assert_memory_equal(ends[i].port.operational.ets.percent,
                            takes ? theirs->recommendation.percent : mine->ets.percent, 8);
        const bool differs = both_speak && at_winner != at_loser;
        assert_int_equal(ends[i].port.operational.differs, differs ? BIT(XOFF_DCBX_PFC) : 0);
    }
    return at_winner == at_loser;
}

static void two_ports_follow_the_model_and_converge(void **state)
{
    (void)state;
    int n_equal = 0, n_unequal = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        begin(seed, seed & 1 ? XOFF_DCBX_TIE_LOWER : XOFF_DCBX_TIE_HIGHER);
        xoff_time now = 0;
        for (int step = 0; step < N_STEPS; step++) {
            run(&now, now + (xoff_time)xoff_rng_below(&rng, 40 * SECOND), 300);
            struct end *end = &ends[xoff_rng_below(&rng, 2)];
            const unsigned what = (unsigned)xoff_rng_below(&rng, 8);
            if (what == 0) { /* the link fails; both know at once */
                for (int i = 0; i < 2; i++) {
                    xoff_dcbx_on_link(&ends[i].cfg, &ends[i].port, false, now);
                    ends[i].n_log = 0;
                    xoff_dcbx_on_link(&ends[i].cfg, &ends[i].port, true, now);
                }
            } else if (what == 1) { /* switched off and on, with a shutdown frame between */
                xoff_dcbx_on_enable(&end->cfg, &end->port, false, now);
                end->n_log = 0;
                end->is_off = true;
                run(&now, now + 1, 0);
                xoff_dcbx_on_enable(&end->cfg, &end->port, true, now);
                end->is_off = false;
            } else if (what < 5) {
                random_admin(&end->admin);
                xoff_dcbx_on_admin(&end->cfg, &end->port, &end->admin, now);
            }
            check(&ends[0], now);
            check(&ends[1], now);
        }
        /* Clean from here: a frame each way within an interval, and one more for the answer. */
        run(&now, now + 70 * SECOND, 0);
        check_converged() ? n_equal++ : n_unequal++;
        /* At rest there is one frame each way per interval and no more. */
        assert_int_equal(run(&now, now + 30 * SECOND, 0), 2);
    }
    print_message("%d converged to equal PFC, %d not\n", n_equal, n_unequal);
    assert_true(n_equal >= 100 && n_unequal >= 50); /* both happen often enough to mean something */
}

/* 90 % of frames lost for long: what was said lapses now and then, and nothing goes wrong. */
static void heavy_loss_lets_peers_lapse(void **state)
{
    (void)state;
    int n_lapsed = 0;
    for (uint64_t seed = 1001; seed <= 1020; seed++) {
        begin(seed, XOFF_DCBX_TIE_LOWER);
        xoff_time now = 0;
        for (int step = 0; step < 50; step++) {
            run(&now, now + 100 * SECOND, 900);
            n_lapsed += ends[0].port.n_neighbours == 0;
        }
        run(&now, now + 70 * SECOND, 0);
        check_converged();
    }
    assert_true(n_lapsed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ports_follow_the_model_and_converge),
        cmocka_unit_test(heavy_loss_lets_peers_lapse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
