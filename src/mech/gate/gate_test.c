/* Pause reception: every transition to the picosecond, then random frames against a model that
 * keeps all frames and answers for any instant.
 *
 * At 10 Gb/s a quantum is 51200 ps; the response time of most tests is 60 quanta = 3072000 ps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/gate.h>
#include <xoff/rng.h>

#define QUANTUM INT64_C(51200)
#define RESPONSE INT64_C(3072000)

static const struct xoff_gate_cfg pfc = {
    .wire = XOFF_WIRE_PFC, .obeys = 0xff, .response_for = RESPONSE, .rate_bps = 10 * XOFF_GBPS};
static const struct xoff_gate_cfg pause = {
    .wire = XOFF_WIRE_PAUSE, .obeys = 0, .response_for = RESPONSE, .rate_bps = 10 * XOFF_GBPS};

/* One time for all classes of the frame. */
static struct xoff_pause_frame pfc_frame(uint8_t classes, uint16_t quanta)
{
    struct xoff_pause_frame frame = {.opcode = XOFF_OPCODE_PFC, .classes = classes};
    for (int n = 0; n < 8; n++)
        frame.quanta[n] = quanta; /* also of classes not enabled: they must be ignored */
    return frame;
}

static void receive(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, uint8_t classes,
                    uint16_t quanta, xoff_time now)
{
    const struct xoff_pause_frame frame = pfc_frame(classes, quanta);
    assert_true(xoff_gate_on_frame(cfg, gate, &frame, now));
}

/* The next change comes at `at` and not a picosecond earlier, and leaves `open`. */
static void assert_next(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time at,
                        uint8_t open)
{
    const uint8_t before = gate->open;
    assert_int_equal(gate->next_at, at);
    assert_false(xoff_gate_is_due(gate, at - 1));
    assert_true(xoff_gate_is_due(gate, at));
    assert_int_equal(xoff_gate_expire(cfg, gate, at - 1), 0);
    assert_int_equal(gate->open, before);
    assert_int_equal(gate->next_at, at);
    assert_int_equal(xoff_gate_expire(cfg, gate, at), before ^ open);
    assert_int_equal(gate->open, open);
}

static void init_opens_all(void **state)
{
    (void)state;
    struct xoff_gate gate;
    memset(&gate, 0xa5, sizeof gate);
    xoff_gate_init(&gate);
    assert_int_equal(gate.open, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
    assert_int_equal(xoff_gate_expire(&pfc, &gate, 1000 * XOFF_S), 0);
    assert_int_equal(gate.open, 0xff);
}

static void closes_after_the_response_time_for_the_quanta(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 10, 1000);
    assert_int_equal(gate.open, 0xff);
    assert_next(&pfc, &gate, 1000 + RESPONSE, 0xf7);
    assert_next(&pfc, &gate, 1000 + RESPONSE + 10 * QUANTUM, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

/* 3 Gb/s: 512 bits take 170666.67 ps, one quantum lasts 170667 and three exactly 512000. */
static void quanta_are_rounded_up(void **state)
{
    (void)state;
    struct xoff_gate_cfg cfg = pfc;
    cfg.rate_bps = 3 * XOFF_GBPS;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&cfg, &gate, 0x01, 1, 0);
    assert_next(&cfg, &gate, RESPONSE, 0xfe);
    assert_next(&cfg, &gate, RESPONSE + 170667, 0xff);
    receive(&cfg, &gate, 0x01, 3, 5 * XOFF_US);
    assert_next(&cfg, &gate, 5 * XOFF_US + RESPONSE, 0xfe);
    assert_next(&cfg, &gate, 5 * XOFF_US + RESPONSE + 512000, 0xff);
}

/* 65535 quanta at 100 Gb/s: 65535 * 5120 ps = 335.5392 us. */
static void longest_pause(void **state)
{
    (void)state;
    struct xoff_gate_cfg cfg = pfc;
    cfg.rate_bps = 100 * XOFF_GBPS;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&cfg, &gate, 0x80, 65535, 0);
    assert_next(&cfg, &gate, RESPONSE, 0x7f);
    assert_next(&cfg, &gate, RESPONSE + 335539200, 0xff);
}

static void xon_is_delayed_alike(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 1000, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    receive(&pfc, &gate, 0x08, 0, RESPONSE + 5);
    assert_int_equal(gate.open, 0xf7);
    assert_next(&pfc, &gate, 2 * RESPONSE + 5, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER); /* the old timer is forgotten */
    assert_int_equal(xoff_gate_expire(&pfc, &gate, 1000 * XOFF_MS), 0);
}

static void xon_to_an_open_gate_changes_nothing(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0xff, 0, 0);
    assert_int_equal(gate.next_at, XOFF_NEVER);
    assert_int_equal(xoff_gate_expire(&pfc, &gate, RESPONSE), 0);
    assert_int_equal(gate.open, 0xff);
}

/* XON 7 ps after XOFF: closed for 7 ps, one response time later. */
static void xoff_and_xon_within_one_response_time(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 1000, 0);
    receive(&pfc, &gate, 0x08, 0, 7);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    assert_next(&pfc, &gate, RESPONSE + 7, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

/* A late caller sees the state of its instant; what came and went in between is no change. */
static void late_expire_sees_the_net_change(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 1000, 0);
    receive(&pfc, &gate, 0x08, 0, 7);
    receive(&pfc, &gate, 0x10, 1, 8);
    receive(&pfc, &gate, 0x20, 9, 9);
    assert_int_equal(xoff_gate_expire(&pfc, &gate, RESPONSE + 8 + QUANTUM), 0x20);
    assert_int_equal(gate.open, 0xdf);
    assert_int_equal(gate.next_at, RESPONSE + 9 + 9 * QUANTUM);
}

static void a_later_frame_overwrites_longer(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    receive(&pfc, &gate, 0x08, 200, QUANTUM);
    /* from QUANTUM + RESPONSE on, for 200: not 100 + 200 */
    assert_next(&pfc, &gate, RESPONSE + 201 * QUANTUM, 0xff);
}

static void a_later_frame_overwrites_shorter(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    receive(&pfc, &gate, 0x08, 3, QUANTUM);
    assert_next(&pfc, &gate, RESPONSE + 4 * QUANTUM, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

/* A refresh in effect at the end of the timer keeps the gate closed; a picosecond later it
 * comes too late. */
static void refresh_at_the_last_moment(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    receive(&pfc, &gate, 0x08, 100, 100 * QUANTUM);
    assert_next(&pfc, &gate, RESPONSE + 200 * QUANTUM, 0xff);

    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    receive(&pfc, &gate, 0x08, 100, 100 * QUANTUM + 1);
    assert_next(&pfc, &gate, RESPONSE + 100 * QUANTUM, 0xff);
    assert_next(&pfc, &gate, RESPONSE + 100 * QUANTUM + 1, 0xf7);
    assert_next(&pfc, &gate, RESPONSE + 200 * QUANTUM + 1, 0xff);
}

/* Refreshes wake nobody up, however many: twenty of them, and one change at the end. */
static void refreshes_are_no_change(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);
    for (int i = 1; i <= 20; i++) {
        receive(&pfc, &gate, 0x08, 100, i * 50 * QUANTUM);
        assert_int_equal(gate.open, 0xf7);
        assert_int_equal(gate.next_at, RESPONSE + (i * 50 + 100) * QUANTUM);
    }
    assert_next(&pfc, &gate, RESPONSE + 1100 * QUANTUM, 0xff);
}

static void classes_not_enabled_are_ignored(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x00, 100, 0);
    assert_int_equal(gate.next_at, XOFF_NEVER);
    receive(&pfc, &gate, 0x21, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xde);
    receive(&pfc, &gate, 0x10, 0, RESPONSE); /* XON for another one */
    assert_int_equal(gate.next_at, RESPONSE + 100 * QUANTUM);
}

static void priorities_not_obeyed_are_ignored(void **state)
{
    (void)state;
    struct xoff_gate_cfg cfg = pfc;
    cfg.obeys = 0x18;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&cfg, &gate, 0xe7, 100, 0);
    assert_int_equal(gate.next_at, XOFF_NEVER);
    receive(&cfg, &gate, 0xff, 100, 0);
    assert_next(&cfg, &gate, RESPONSE, 0xe7);
    assert_next(&cfg, &gate, RESPONSE + 100 * QUANTUM, 0xff);
}

static void each_priority_has_its_own_timer(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    const struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 0xff, .quanta = {1, 2, 3, 4, 5, 6, 7, 0}};
    assert_true(xoff_gate_on_frame(&pfc, &gate, &frame, 0));
    assert_next(&pfc, &gate, RESPONSE, 0x80);
    uint8_t open = 0x80;
    for (int n = 0; n < 7; n++) {
        open |= (uint8_t)(1 << n);
        assert_next(&pfc, &gate, RESPONSE + (n + 1) * QUANTUM, open);
    }
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

static void pause_closes_all_eight(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    /* classes and quanta[1..7] as no decoder makes them: they must not matter */
    struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PAUSE, .classes = 0x01, .quanta = {4, 0, 1, 2, 3, 4, 5, 6}};
    assert_true(xoff_gate_on_frame(&pause, &gate, &frame, 0));
    assert_next(&pause, &gate, RESPONSE, 0x00);
    assert_next(&pause, &gate, RESPONSE + 4 * QUANTUM, 0xff);

    assert_true(xoff_gate_on_frame(&pause, &gate, &frame, 4 * XOFF_US));
    assert_next(&pause, &gate, 4 * XOFF_US + RESPONSE, 0x00);
    frame.quanta[0] = 0;
    assert_true(xoff_gate_on_frame(&pause, &gate, &frame, 4 * XOFF_US + RESPONSE));
    assert_next(&pause, &gate, 4 * XOFF_US + RESPONSE + 4 * QUANTUM,
                0xff); /* the timer is sooner */
}

static void the_other_kind_is_ignored(void **state)
{
    (void)state;
    const struct xoff_gate_cfg none = {.wire = XOFF_WIRE_NONE, .obeys = 0xff, .rate_bps = 1000};
    const struct xoff_pause_frame of_pfc = pfc_frame(0xff, 9);
    const struct xoff_pause_frame of_pause = {
        .opcode = XOFF_OPCODE_PAUSE, .classes = 0xff, .quanta = {9}};
    const struct xoff_pause_frame of_nothing = {.classes = 0xff, .quanta = {9}};
    struct xoff_gate gate, fresh;
    xoff_gate_init(&gate);
    xoff_gate_init(&fresh);
    assert_false(xoff_gate_on_frame(&pause, &gate, &of_pfc, 5));
    assert_false(xoff_gate_on_frame(&pfc, &gate, &of_pause, 5));
    assert_false(xoff_gate_on_frame(&none, &gate, &of_pfc, 5));
    assert_false(xoff_gate_on_frame(&none, &gate, &of_pause, 5));
    assert_false(xoff_gate_on_frame(&pfc, &gate, &of_nothing, 5));
    assert_false(xoff_gate_on_frame(&pause, &gate, &of_nothing, 5));
    assert_memory_equal(&gate, &fresh, sizeof gate);
}

static void no_response_time_is_due_at_once(void **state)
{
    (void)state;
    struct xoff_gate_cfg cfg = pfc;
    cfg.response_for = 0;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&cfg, &gate, 0x08, 2, 100);
    assert_int_equal(gate.open, 0xff); /* expire() reports it, on_frame does not act */
    assert_next(&cfg, &gate, 100, 0xf7);
    assert_next(&cfg, &gate, 100 + 2 * QUANTUM, 0xff);
}

/* An arrival in the instant of a change comes before its timer: the change is still reported. */
static void arrival_at_the_instant_of_a_change(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    receive(&pfc, &gate, 0x10, 100, RESPONSE);
    assert_int_equal(gate.open, 0xff);
    assert_int_equal(gate.next_at, RESPONSE);
    assert_int_equal(xoff_gate_expire(&pfc, &gate, RESPONSE), 0x08);
    assert_next(&pfc, &gate, 2 * RESPONSE, 0xe7);
}

/* Eight wait; the ninth makes the oldest take effect at once, and its timer starts then. */
static void a_full_ring_applies_the_oldest_at_once(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    for (int i = 0; i < 8; i++)
        receive(&pfc, &gate, (uint8_t)(1 << i), 100, i);
    assert_int_equal(gate.open, 0xff);
    assert_int_equal(gate.next_at, RESPONSE);
    receive(&pfc, &gate, 0x01, 7, 50);
    assert_int_equal(gate.open, 0xfe); /* priority 0 at 50, not at RESPONSE */
    assert_int_equal(gate.next_at, RESPONSE + 1);
    receive(&pfc, &gate, 0x80, 0, 60);
    assert_int_equal(gate.open, 0xfc); /* then priority 1 */
    assert_next(&pfc, &gate, RESPONSE + 2, 0xf8);
    xoff_gate_expire(&pfc, &gate, RESPONSE + 7);
    assert_int_equal(gate.open, 0x00);
    assert_next(&pfc, &gate, RESPONSE + 60, 0x80); /* the XON that came last */
    /* Priority 0 was overwritten at 50 + RESPONSE with 7 quanta, priority 1 runs from 60. */
    assert_next(&pfc, &gate, RESPONSE + 50 + 7 * QUANTUM, 0x81);
    assert_next(&pfc, &gate, 60 + 100 * QUANTUM, 0x83);
    assert_next(&pfc, &gate, RESPONSE + 2 + 100 * QUANTUM, 0x87);
}

/* With the ring full and its oldest due in this very instant nothing is early. */
static void a_full_ring_with_the_oldest_due(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    for (int i = 0; i < 8; i++)
        receive(&pfc, &gate, (uint8_t)(1 << i), 100, i);
    receive(&pfc, &gate, 0x01, 0, RESPONSE);
    assert_int_equal(gate.open, 0xfe);
    assert_int_equal(gate.n_pending, 8);
    assert_next(&pfc, &gate, RESPONSE + 1, 0xfc);
}

/* The response time shrinks between two frames (10G: 60 quanta, then 1G: 2 quanta = 1024 ns): the
 * older frame is drawn forward, the younger one's word counts. */
static void a_shorter_response_time_keeps_the_order(void **state)
{
    (void)state;
    struct xoff_gate_cfg slow = pfc;
    slow.rate_bps = XOFF_GBPS;
    slow.response_for = 1024000;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x0f, 100, 0);
    receive(&pfc, &gate, 0x30, 100, 1);
    receive(&slow, &gate, 0x09, 0, 1000);
    assert_int_equal(gate.n_pending, 1);
    assert_next(&slow, &gate, 1000 + 1024000, 0xc9);
    assert_next(&slow, &gate, 1000 + 1024000 + 100 * 512000, 0xff);
}

/* Two frames in one instant are one: the second one's word counts, the first takes no place. */
static void frames_of_one_instant_are_one(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x18, 100, 0);
    receive(&pfc, &gate, 0x10, 0, 0);
    assert_int_equal(gate.n_pending, 1);
    assert_next(&pfc, &gate, RESPONSE, 0xf7);

    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x08, 100, 0);
    receive(&pfc, &gate, 0x08, 0, 0);
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

/* The model: every frame obeyed so far, with the instant it took or takes effect. */
struct model {
    struct {
        xoff_time effective_at;
        uint8_t classes;
        uint16_t quanta[8];
    } frames[1500];
    int n;
    int n_early; /* that a full ring made take effect before their time */
};

static uint8_t model_open(const struct model *m, xoff_rate rate_bps, xoff_time at)
{
    uint8_t open = 0;
    for (int p = 0; p < 8; p++) {
        xoff_time from = 0, quanta = 0;
        for (int i = 0; i < m->n; i++) {
            if (m->frames[i].effective_at <= at && (m->frames[i].classes >> p & 1)) {
                from = m->frames[i].effective_at;
                quanta = m->frames[i].quanta[p];
            }
        }
        /* at >= from + ceil(bits / rate), without the division */
        const __int128 bits = (__int128)512 * quanta;
        if ((__int128)(at - from) * (__int128)rate_bps >= bits * XOFF_S)
            open |= (uint8_t)(1 << p);
    }
    return open;
}

static void model_receive(struct model *m, const struct xoff_gate_cfg *cfg,
                          const struct xoff_pause_frame *frame, xoff_time now)
{
    const bool is_pause = frame->opcode == XOFF_OPCODE_PAUSE;
    if (cfg->wire != (is_pause ? XOFF_WIRE_PAUSE : XOFF_WIRE_PFC))
        return;
    const uint8_t classes = is_pause ? 0xff : frame->classes & cfg->obeys;
    if (!classes)
        return;
    int n_waiting = 0, oldest = -1;
    for (int i = m->n - 1; i >= 0; i--) {
        if (m->frames[i].effective_at > now) {
            n_waiting++;
            oldest = i;
        }
    }
    if (n_waiting == XOFF_GATE_PENDING) {
        m->frames[oldest].effective_at = now;
        m->n_early++;
    }
    assert_true(m->n < 1500);
    m->frames[m->n].effective_at = now + cfg->response_for;
    m->frames[m->n].classes = classes;
    for (int p = 0; p < 8; p++)
        m->frames[m->n].quanta[p] = frame->quanta[is_pause ? 0 : p];
    m->n++;
}

/* Expires every change before `until` and holds it against the model on both sides. */
static void follow(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, const struct model *m,
                   xoff_time until)
{
    while (gate->next_at < until) {
        const xoff_time at = gate->next_at;
        assert_int_equal(gate->open, model_open(m, cfg->rate_bps, at - 1));
        assert_int_not_equal(xoff_gate_expire(cfg, gate, at), 0); /* a real change */
        assert_int_equal(gate->open, model_open(m, cfg->rate_bps, at));
        assert_true(gate->next_at > at);
    }
    assert_int_equal(gate->open, model_open(m, cfg->rate_bps, until - 1));
}

static struct xoff_pause_frame random_frame(struct xoff_rng *rng)
{
    struct xoff_pause_frame frame = {.opcode = xoff_rng_below(rng, 8) ? XOFF_OPCODE_PFC
                                                                      : XOFF_OPCODE_PAUSE,
                                     .classes = (uint8_t)(xoff_rng_u32(rng) & xoff_rng_u32(rng))};
    for (int p = 0; p < 8; p++)
        frame.quanta[p] = (uint16_t)(xoff_rng_below(rng, 3) ? xoff_rng_below(rng, 60) : 0);
    return frame;
}

/* Gaps of the order of a quantum, so that timers, response times and arrivals interleave; often
 * exactly on the next change or right beside it. Never twice in an instant: a link has no two
 * frames then. */
static xoff_time random_step(struct xoff_rng *rng, const struct xoff_gate *gate, xoff_time now,
                             uint64_t mean_gap)
{
    const xoff_time next_at = gate->next_at;
    if (next_at != XOFF_NEVER && next_at > now + 1 && xoff_rng_below(rng, 4) == 0)
        return next_at - 1 + (xoff_time)xoff_rng_below(rng, 3);
    return now + 1 + (xoff_time)xoff_rng_below(rng, 2 * mean_gap);
}

/* Returns how many frames took effect early. */
static int check_against_model(const struct xoff_gate_cfg *cfg, uint64_t seed, uint64_t mean_gap)
{
    static struct model m;
    struct xoff_rng rng;
    struct xoff_gate gate;
    xoff_rng_init(&rng, seed, 0, 0);
    xoff_gate_init(&gate);
    m.n = m.n_early = 0;
    xoff_time now = 0;
    for (int i = 0; i < 1500; i++) {
        now = random_step(&rng, &gate, now, mean_gap);
        follow(cfg, &gate, &m, now);
        if (xoff_rng_below(&rng, 2))
            xoff_gate_expire(cfg, &gate, now); /* else the arrival comes first */
        if (xoff_rng_below(&rng, 5)) {
            const struct xoff_pause_frame frame = random_frame(&rng);
            model_receive(&m, cfg, &frame, now);
            xoff_gate_on_frame(cfg, &gate, &frame, now);
        }
        xoff_gate_expire(cfg, &gate, now);
        assert_int_equal(gate.open, model_open(&m, cfg->rate_bps, now));
    }
    follow(cfg, &gate, &m, now + XOFF_S);
    assert_int_equal(gate.open, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
    return m.n_early;
}

static void agrees_with_the_model(void **state)
{
    (void)state;
    int n_early = 0;
    const xoff_rate rates[] = {10 * XOFF_GBPS, 3 * XOFF_GBPS, 800 * XOFF_GBPS};
    for (uint64_t seed = 1; seed <= 18; seed++) {
        struct xoff_gate_cfg cfg = seed % 6 == 0 ? pause : pfc;
        cfg.rate_bps = rates[seed % 3];
        const xoff_time quantum = (xoff_time)(512 * (uint64_t)XOFF_S / cfg.rate_bps);
        cfg.obeys = seed % 4 == 1 ? 0x5a : 0xff;
        cfg.response_for = seed % 5 == 4 ? 0 : 60 * quantum;
        /* 40 quanta: some frames wait; 15: about four; 2: the ring runs over */
        const uint64_t gaps[] = {40, 15, 2};
        print_message("seed %d\n", (int)seed);
        n_early += check_against_model(&cfg, seed, gaps[seed / 3 % 3] * (uint64_t)quantum);
    }
    assert_true(n_early > 1000);
}

/* Equal calls leave equal bytes: state may be copied and hashed. */
static void replay_is_identical(void **state)
{
    (void)state;
    struct xoff_gate a, b;
    memset(&a, 0x11, sizeof a);
    memset(&b, 0xee, sizeof b);
    struct xoff_gate *both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, 99, 0, 0);
        xoff_gate_init(both[i]);
        xoff_time now = 0;
        for (int k = 0; k < 500; k++) {
            const struct xoff_pause_frame frame = random_frame(&rng);
            now += (xoff_time)xoff_rng_below(&rng, 20 * QUANTUM);
            if (xoff_rng_below(&rng, 2))
                xoff_gate_expire(&pfc, both[i], now);
            xoff_gate_on_frame(&pfc, both[i], &frame, now);
        }
    }
    assert_memory_equal(&a, &b, sizeof a);
}

/* A link came up: what is obeyed waits, a pause that takes effect in that instant keeps it closed,
 * and the rest goes on. */
static void hold_until_a_pause_could_be_here(void **state)
{
    (void)state;
    const struct xoff_gate_cfg cfg = {
        .wire = XOFF_WIRE_PFC, .obeys = 0x18, .response_for = 1000, .rate_bps = 100 * XOFF_GBPS};
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    xoff_gate_hold(&cfg, &gate, 500, 3000);
    assert_int_equal(gate.open, 0xe7);
    assert_int_equal(gate.next_at, 3000);
    assert_int_equal(xoff_gate_expire(&cfg, &gate, 2999), 0);
    /* Received at 2000, in effect at 3000: priority 3 stays closed for 2 quanta = 10240 ps. */
    const struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 0x08, .quanta = {0, 0, 0, 2}};
    assert_true(xoff_gate_on_frame(&cfg, &gate, &frame, 2000));
    assert_int_equal(xoff_gate_expire(&cfg, &gate, 3000), 0x10);
    assert_int_equal(gate.open, 0xf7);
    assert_int_equal(gate.next_at, 13240);

    /* A port that obeys PAUSE holds all priorities, from the first to the last. */
    xoff_gate_init(&gate);
    xoff_gate_hold(&pause, &gate, 500, 3000);
    assert_int_equal(gate.open, 0);
    assert_int_equal(xoff_gate_expire(&pause, &gate, 2999), 0);
    assert_int_equal(xoff_gate_expire(&pause, &gate, 3000), 0xff);

    /* A port that obeys nothing waits for nothing; a hold that is over already changes nothing. */
    const struct xoff_gate_cfg none = {.wire = XOFF_WIRE_NONE};
    xoff_gate_init(&gate);
    xoff_gate_hold(&none, &gate, 500, 3000);
    assert_int_equal(gate.open, 0xff);
    xoff_gate_hold(&cfg, &gate, 500, 500);
    assert_int_equal(gate.open, 0xff);
    assert_true(gate.next_at == XOFF_NEVER);
}

/* Priorities 3 and 4 are paused, and a longer pause of both is on its way. PFC ends for 4: it may
 * send at once, what waits is void for it, and 3 goes on as before. 200 quanta are 10.24 us. */
static void release_opens_and_forgets(void **state)
{
    (void)state;
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    receive(&pfc, &gate, 0x18, 100, 0);
    assert_next(&pfc, &gate, RESPONSE, 0xe7);
    receive(&pfc, &gate, 0x18, 200, RESPONSE);
    struct xoff_gate_cfg less = pfc;
    less.obeys = 0xef;
    xoff_gate_release(&less, &gate, 0x10);
    assert_int_equal(gate.open, 0xf7);
    assert_int_equal(xoff_gate_expire(&less, &gate, 2 * RESPONSE), 0);
    assert_int_equal(gate.open, 0xf7);
    assert_next(&less, &gate, 2 * RESPONSE + 10240 * XOFF_NS, 0xff);

    /* Nothing to release is nothing changed. */
    xoff_gate_release(&less, &gate, 0x10);
    assert_int_equal(gate.open, 0xff);
    assert_int_equal(gate.next_at, XOFF_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_opens_all),
        cmocka_unit_test(closes_after_the_response_time_for_the_quanta),
        cmocka_unit_test(quanta_are_rounded_up),
        cmocka_unit_test(longest_pause),
        cmocka_unit_test(xon_is_delayed_alike),
        cmocka_unit_test(xon_to_an_open_gate_changes_nothing),
        cmocka_unit_test(xoff_and_xon_within_one_response_time),
        cmocka_unit_test(late_expire_sees_the_net_change),
        cmocka_unit_test(a_later_frame_overwrites_longer),
        cmocka_unit_test(a_later_frame_overwrites_shorter),
        cmocka_unit_test(refresh_at_the_last_moment),
        cmocka_unit_test(refreshes_are_no_change),
        cmocka_unit_test(classes_not_enabled_are_ignored),
        cmocka_unit_test(priorities_not_obeyed_are_ignored),
        cmocka_unit_test(each_priority_has_its_own_timer),
        cmocka_unit_test(pause_closes_all_eight),
        cmocka_unit_test(the_other_kind_is_ignored),
        cmocka_unit_test(no_response_time_is_due_at_once),
        cmocka_unit_test(arrival_at_the_instant_of_a_change),
        cmocka_unit_test(a_full_ring_applies_the_oldest_at_once),
        cmocka_unit_test(a_full_ring_with_the_oldest_due),
        cmocka_unit_test(a_shorter_response_time_keeps_the_order),
        cmocka_unit_test(frames_of_one_instant_are_one),
        cmocka_unit_test(agrees_with_the_model),
        cmocka_unit_test(replay_is_identical),
        cmocka_unit_test(hold_until_a_pause_could_be_here),
        cmocka_unit_test(release_opens_and_forgets),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
