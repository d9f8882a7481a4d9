/* TCP's reliability: parameters, and sender and receiver together over a channel of a few lines
 * that loses, reorders, repeats and delays. A bitmap of what has arrived is the model.
 *
 *   sender --- data: lost, doubled, late --->  receiver     one store of ranges for both
 *          <-- ACKs: lost, late -------------
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mech/mechanisms.h"
#include "mech/rel/tcp.h"
#include <xoff/rng.h>

enum { MSS = 10, MAX_BYTES = 800, N_BLOCKS = 1024, MAX_PACKETS = 4096 };

struct packet {
    xoff_time at;
    uint64_t seq;
    uint32_t bytes; /* 0: an ACK */
    bool is_again, asks, is_marked;
    xoff_time sent_at;
    struct xoff_rel_ack ack;
};

struct world {
    struct xoff_tcp_cfg cfg;
    struct xoff_tcp_tx tx;
    struct xoff_tcp_rx rx;
    struct xoff_range blocks[N_BLOCKS];
    struct xoff_range_store store;
    struct packet packets[MAX_PACKETS]; /* oldest first */
    uint32_t n_packets;
    struct xoff_rng rng;
    xoff_time now, send_at, delay, jitter;
    uint64_t offered, window, data_loss, ack_loss, repeat, cut; /* chances in 1000 */
    uint64_t lose_only;                                         /* data packet number, from 1 */
    uint32_t n_sent, n_again, n_timeouts, n_lost;
    bool has_arrived[MAX_BYTES];
    char *log;
    size_t log_size, log_length;
};

static bool happens(struct world *w, uint64_t chance)
{
    return chance > 0 && xoff_rng_below(&w->rng, 1000) < chance;
}

__attribute__((format(printf, 2, 3))) static void note(struct world *w, const char *form, ...)
{
    va_list arguments;
    if (!w->log)
        return;
    va_start(arguments, form);
    const int n = vsnprintf(w->log + w->log_length, w->log_size - w->log_length, form, arguments);
    va_end(arguments);
    assert_true(n > 0 && (size_t)n < w->log_size - w->log_length);
    w->log_length += (size_t)n;
}

static void carry(struct world *w, const struct packet *packet, uint64_t loss)
{
    if (happens(w, loss))
        return;
    for (int copies = happens(w, packet->bytes ? w->repeat : 0) ? 2 : 1; copies > 0; copies--) {
        assert_true(w->n_packets < MAX_PACKETS);
        w->packets[w->n_packets] = *packet;
        w->packets[w->n_packets].at =
            w->now + w->delay +
            (w->jitter ? (xoff_time)xoff_rng_below(&w->rng, (uint64_t)w->jitter) : 0);
        w->n_packets++;
    }
}

static uint64_t count_arrived(const struct world *w, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += w->has_arrived[i];
    return n;
}

static void check_sender(const struct world *w)
{
    const struct xoff_tcp_tx *tx = &w->tx;
    uint64_t sacked = 0, lost = 0;
    bool is_sacked[MAX_BYTES] = {0};
    for (uint32_t at = tx->sacked; at != XOFF_RANGE_NONE; at = w->blocks[at].next) {
        for (uint64_t i = w->blocks[at].from; i < w->blocks[at].to; i++) {
            assert_true(w->has_arrived[i]);
            is_sacked[i] = true;
            sacked++;
        }
    }
    assert_int_equal(sacked, tx->sacked_bytes);
    assert_true(tx->head.una <= w->rx.head.delivered && tx->head.una <= tx->head.sent_to &&
                tx->head.sent_to <= w->offered);
    assert_true(tx->left_bytes + tx->lost_bytes <= tx->head.sent_to - tx->head.una);
    assert_int_equal(tx->head.deadline == XOFF_NEVER, tx->head.una == tx->head.sent_to);
    if (tx->state == XOFF_TCP_OPEN)
        assert_int_equal(tx->lost_bytes, 0);
    else
        for (uint64_t i = tx->head.una; i < tx->lost_to; i++)
            lost += i >= tx->again_to && !is_sacked[i];
    assert_int_equal(lost, tx->lost_bytes);
    if (!w->cfg.has_fast_retransmit) {
        assert_true(tx->state != XOFF_TCP_RECOVERING);
        assert_true(tx->state != XOFF_TCP_OPEN ||
                    xoff_tcp_outstanding(tx) == tx->head.sent_to - tx->head.una);
    }
}

static void check_receiver(const struct world *w)
{
    uint64_t next = 0;
    while (next < w->offered && w->has_arrived[next])
        next++;
    assert_int_equal(w->rx.head.delivered, next);
    uint64_t held = 0;
    for (uint32_t at = w->rx.held; at != XOFF_RANGE_NONE; at = w->blocks[at].next)
        held += w->blocks[at].to - w->blocks[at].from;
    assert_int_equal(held, count_arrived(w, next, w->offered));
    assert_int_equal(w->rx.head.deadline == XOFF_NEVER, w->rx.n_unacked == 0);
}

static void answer(struct world *w, const struct xoff_rel_ack *ack, xoff_time sent_at,
                   bool is_again)
{
    assert_true(ack->acked_to <= w->rx.head.delivered);
    for (uint32_t i = 0; i < ack->n_sacks; i++)
        assert_int_equal(count_arrived(w, ack->sack_from[i], ack->sack_to[i]),
                         ack->sack_to[i] - ack->sack_from[i]);
    const struct packet packet = {.ack = *ack, .sent_at = sent_at, .is_again = is_again};
    carry(w, &packet, w->ack_loss);
}

static void take_data(struct world *w, const struct packet *packet)
{
    struct xoff_rel_ack acks[2];
    memset(w->has_arrived + packet->seq, 1, packet->bytes);
    const uint32_t n_acks =
        xoff_tcp_on_segment(&w->cfg, &w->rx, &w->store, packet->seq, packet->bytes,
                            packet->is_marked, false, packet->asks, w->now, acks);
    assert_true(n_acks <= 2);
    for (uint32_t i = 0; i < n_acks; i++)
        answer(w, &acks[i], packet->sent_at, packet->is_again);
    check_receiver(w);
}

static void take_ack(struct world *w, const struct packet *packet)
{
    const xoff_time rtt = packet->is_again ? 0 : w->now - packet->sent_at;
    const uint64_t una = w->tx.head.una;
    const struct xoff_tcp_outcome outcome =
        xoff_tcp_on_ack(&w->cfg, &w->tx, &w->store, &packet->ack, rtt, w->now);
    assert_int_equal(outcome.newly_acked_bytes, w->tx.head.una - una);
    assert_int_equal(outcome.is_recovering, w->tx.state == XOFF_TCP_RECOVERING);
    w->n_lost += outcome.has_lost;
    note(w, "%3d us  ack %d", (int)(w->now / XOFF_US), (int)packet->ack.acked_to / MSS);
    for (uint32_t i = 0; i < packet->ack.n_sacks; i++)
        note(w, " sack %d-%d", (int)packet->ack.sack_from[i] / MSS,
             (int)packet->ack.sack_to[i] / MSS);
    note(w, "%s\n", outcome.has_lost ? "  loss" : "");
}

static void send_segment(struct world *w, struct xoff_rel_segment segment)
{
    struct xoff_rel_segment more;
    const uint64_t before = xoff_tcp_outstanding(&w->tx);
    if (segment.bytes > 1 && happens(w, w->cut))
        segment.bytes -= (uint32_t)xoff_rng_below(&w->rng, segment.bytes);
    assert_true(segment.bytes > 0 && segment.bytes <= MSS);
    const bool is_first = segment.is_again && segment.seq == w->tx.head.una;
    assert_true(is_first || before + segment.bytes <= w->window);
    if (segment.is_again) {
        assert_true(w->tx.state != XOFF_TCP_OPEN);
        for (uint64_t i = segment.seq; i < segment.seq + segment.bytes; i++)
            assert_true(xoff_ranges_find(&w->store, w->tx.sacked, i) == XOFF_RANGE_NONE);
    } else if (!w->cfg.has_fast_retransmit && w->tx.state == XOFF_TCP_OPEN) {
        assert_true(segment.seq + segment.bytes - w->tx.head.una <= w->window);
    }
    xoff_tcp_on_sent(&w->cfg, &w->tx, &segment, w->now);
    w->n_again += segment.is_again;
    const bool is_last = !xoff_tcp_next(&w->cfg, &w->tx, &w->store, w->offered, w->window, &more);
    const struct packet packet = {.seq = segment.seq,
                                  .bytes = segment.bytes,
                                  .is_again = segment.is_again,
                                  .asks = is_last && happens(w, 500),
                                  .is_marked = happens(w, 200),
                                  .sent_at = w->now};
    const bool is_lost = ++w->n_sent == w->lose_only;
    note(w, "%3d us            send %d%s\n", (int)(w->now / XOFF_US), (int)segment.seq / MSS,
         segment.is_again ? " again"
         : is_lost        ? " (lost)"
                          : "");
    carry(w, &packet, is_lost ? 1000 : w->data_loss);
    w->send_at = w->now + XOFF_US;
}

/* One event, the earliest; at equal times arrivals (oldest first), delayed ACK, timeout, sending.
 * Returns false when nothing is left to happen. */
static bool step(struct world *w)
{
    struct xoff_rel_segment segment;
    const bool may_send =
        xoff_tcp_next(&w->cfg, &w->tx, &w->store, w->offered, w->window, &segment);
    xoff_time at = XOFF_NEVER;
    uint32_t first = 0;
    for (uint32_t i = 0; i < w->n_packets; i++)
        if (w->packets[i].at < at)
            at = w->packets[i].at, first = i;
    const xoff_time arrival_at = at;
    at = xoff_time_min(xoff_time_min(at, w->rx.head.deadline), w->tx.head.deadline);
    if (may_send)
        at = xoff_time_min(at, w->send_at > w->now ? w->send_at : w->now);
    if (at == XOFF_NEVER)
        return false;
    assert_true(at >= w->now);
    w->now = at;
    if (arrival_at == at) {
        const struct packet packet = w->packets[first];
        w->n_packets--;
        memmove(w->packets + first, w->packets + first + 1,
                (w->n_packets - first) * sizeof *w->packets);
        if (packet.bytes)
            take_data(w, &packet);
        else
            take_ack(w, &packet);
    } else if (w->rx.head.deadline == at) {
        struct xoff_rel_ack ack;
        xoff_tcp_on_delayed(&w->cfg, &w->rx, &w->store, &ack);
        answer(w, &ack, 0, true);
    } else if (w->tx.head.deadline == at) {
        xoff_tcp_on_timeout(&w->cfg, &w->tx, &w->store, w->now);
        w->n_timeouts++;
    } else {
        send_segment(w, segment);
    }
    check_sender(w);
    return true;
}

static void world_init(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    xoff_rng_init(&w->rng, seed, 0, 0);
    w->cfg = (struct xoff_tcp_cfg){.has_sack = true,
                                   .has_fast_retransmit = true,
                                   .duplicates = 3,
                                   .ack_every = 2,
                                   .rto_min = XOFF_MS,
                                   .rto_max = 20 * XOFF_MS,
                                   .rto_initial = 10 * XOFF_MS,
                                   .delayed_ack = 100 * XOFF_US,
                                   .mss = MSS};
    w->delay = 5 * XOFF_US;
    w->window = 20 * MSS;
    w->offered = MAX_BYTES;
    xoff_range_store_init(&w->store, w->blocks, N_BLOCKS);
    xoff_tcp_tx_init(&w->cfg, &w->tx);
    xoff_tcp_rx_init(&w->rx);
}

static void run(struct world *w, uint64_t seed)
{
    uint32_t n_steps = 0;
    while (step(w))
        if (++n_steps == 100000)
            fail_msg("seed %llu does not end", (unsigned long long)seed);
    /* Every byte once and in order: next follows the bitmap, from 0 to the end. */
    assert_int_equal(w->rx.head.delivered, w->offered);
    assert_int_equal(w->tx.head.una, w->offered);
    assert_int_equal(xoff_tcp_outstanding(&w->tx), 0);
    assert_int_equal(w->tx.state, XOFF_TCP_OPEN);
    assert_int_equal(w->store.n_taken, 0);
    xoff_tcp_tx_fini(&w->tx, &w->store);
    xoff_tcp_rx_fini(&w->rx, &w->store);
    assert_int_equal(w->store.n_taken, 0);
}

/* Any settings, any misfortune. */
static void every_byte_once(void **unused)
{
    (void)unused;
    static struct world w;
    uint32_t n_again = 0, n_timeouts = 0, n_lost = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        world_init(&w, seed);
        w.cfg.has_sack = happens(&w, 600);
        w.cfg.has_fast_retransmit = happens(&w, 700);
        w.cfg.duplicates = 1 + (uint32_t)xoff_rng_below(&w.rng, 5);
        w.cfg.ack_every = 1 + (uint32_t)xoff_rng_below(&w.rng, 4);
        w.cfg.delayed_ack = (xoff_time)xoff_rng_below(&w.rng, 3) * 50 * XOFF_US;
        w.cfg.echo = happens(&w, 500) ? XOFF_TCP_ECHO_DCTCP : XOFF_TCP_ECHO_RFC3168;
        w.offered = 1 + xoff_rng_below(&w.rng, MAX_BYTES);
        w.window = happens(&w, 800) ? 20 * MSS : 1 + xoff_rng_below(&w.rng, 20 * MSS);
        w.jitter = happens(&w, 500) ? (xoff_time)xoff_rng_below(&w.rng, 20) * XOFF_US : 0;
        w.data_loss = happens(&w, 800) ? xoff_rng_below(&w.rng, 300) : 0;
        w.ack_loss = happens(&w, 500) ? xoff_rng_below(&w.rng, 300) : 0;
        w.repeat = happens(&w, 300) ? xoff_rng_below(&w.rng, 200) : 0;
        w.cut = happens(&w, 300) ? 300 : 0;
        run(&w, seed);
        n_again += w.n_again, n_timeouts += w.n_timeouts, n_lost += w.n_lost;
    }
    /* The misfortune was there. */
    assert_true(n_again > 10000 && n_timeouts > 1000 && n_lost > 1000);
}

/* Nothing is lost, all is reordered within twice the round trip: DeTail's sender sends nothing
 * twice, the usual one does. */
static void reordering_alone(void **unused)
{
    (void)unused;
    static struct world w;
    uint32_t n_again[2] = {0};
    for (int fast = 0; fast < 2; fast++) {
        for (uint64_t seed = 0; seed < 300; seed++) {
            world_init(&w, seed);
            w.cfg.has_fast_retransmit = fast;
            w.jitter = 20 * XOFF_US;
            run(&w, seed);
            assert_int_equal(w.n_timeouts, 0);
            n_again[fast] += w.n_again;
        }
    }
    assert_int_equal(n_again[0], 0);
    assert_true(n_again[1] > 300);
}

/* A clean channel: nothing again, one ACK for two segments. */
static void clean_channel(void **unused)
{
    (void)unused;
    static struct world w;
    for (int sack = 0; sack < 2; sack++) {
        world_init(&w, 1);
        w.cfg.has_sack = sack;
        run(&w, 1);
        assert_int_equal(w.n_again, 0);
        assert_int_equal(w.n_timeouts, 0);
        assert_int_equal(w.n_sent, MAX_BYTES / MSS);
        assert_int_equal(w.store.peak, 0);
    }
}

/* One loss is repaired without the timer wherever it falls, as long as three segments come after
 * it and are acknowledged; the last three need the timer. */
static void one_loss_anywhere(void **unused)
{
    (void)unused;
    static struct world w;
    for (int sack = 0; sack < 2; sack++) {
        for (uint32_t lost = 1; lost <= 40; lost++) {
            world_init(&w, lost);
            w.cfg.has_sack = sack;
            w.offered = 40 * MSS;
            w.lose_only = lost;
            run(&w, lost);
            assert_int_equal(w.n_lost, lost <= 37 ? 1 : 0);
            assert_int_equal(w.n_timeouts, lost <= 37 ? 0 : 1);
            if (lost <= 37)
                assert_int_equal(w.n_again, 1);
        }
    }
}

/* The example of docs/mechanisms/tcp.md: 9 segments, window 6, a segment per us, 5 us each way,
 * segment 2 lost, every second segment in order acknowledged. */
static void worked_example(void **unused)
{
    (void)unused;
    static struct world w;
    static char log[4096];
    world_init(&w, 1);
    w.offered = 9 * MSS;
    w.window = 6 * MSS;
    w.lose_only = 3;
    w.log = log;
    w.log_size = sizeof log;
    run(&w, 1);
    assert_string_equal(log, "  0 us            send 0\n"
                             "  1 us            send 1\n"
                             "  2 us            send 2 (lost)\n"
                             "  3 us            send 3\n"
                             "  4 us            send 4\n"
                             "  5 us            send 5\n"
                             " 11 us  ack 2\n"
                             " 11 us            send 6\n"
                             " 12 us            send 7\n"
                             " 13 us  ack 2 sack 3-4\n"
                             " 13 us            send 8\n"
                             " 14 us  ack 2 sack 3-5\n"
                             " 15 us  ack 2 sack 3-6  loss\n"
                             " 15 us            send 2 again\n"
                             " 21 us  ack 2 sack 3-7\n"
                             " 22 us  ack 2 sack 3-8\n"
                             " 23 us  ack 2 sack 3-9\n"
                             " 25 us  ack 9\n");
}

static const struct xoff_rel_env env = {.payload_bytes = 1460};

static struct xoff_tcp_params defaults(void)
{
    struct xoff_tcp_params params;
    memset(&params, 0, sizeof params);
    xoff_param_defaults(xoff_tcp_table, &params);
    return params;
}

static void parameter_defaults(void **unused)
{
    (void)unused;
    const struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    struct xoff_err err;
    assert_int_equal(params.echo, XOFF_PARAM_AUTO);
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), 0);
    assert_true(cfg.has_sack);
    assert_true(cfg.has_fast_retransmit);
    assert_int_equal(cfg.duplicates, 3);
    assert_int_equal(cfg.ack_every, 2);
    assert_true(cfg.rto_min == XOFF_MS);
    assert_true(cfg.rto_max == 60 * XOFF_S);
    assert_true(cfg.rto_initial == 10 * XOFF_MS);
    assert_true(cfg.delayed_ack == 100 * XOFF_US);
    assert_int_equal(cfg.echo, XOFF_TCP_ECHO_RFC3168);
    assert_int_equal(cfg.mss, 1460);
}

static void parameter_words(void **unused)
{
    (void)unused;
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    struct xoff_err err;
    static const char *const words[][2] = {
        {"echo", "dctcp"},   {"sack", "off"},       {"fast_retransmit", "false"},
        {"duplicates", "5"}, {"delayed_ack", "0s"}, {"ack_every", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(xoff_param_set(xoff_param_find(xoff_tcp_table, words[i][0]), &params,
                                        words[i][1], &err),
                         0);
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), 0);
    assert_int_equal(cfg.echo, XOFF_TCP_ECHO_DCTCP);
    assert_false(cfg.has_sack);
    assert_false(cfg.has_fast_retransmit);
    assert_int_equal(cfg.duplicates, 5);
    assert_int_equal(cfg.ack_every, 1);
    assert_true(cfg.delayed_ack == 0);
    static const char *const refused[][2] = {
        {"duplicates", "0"}, {"ack_every", "0"}, {"rto_min", "0s"}, {"echo", "ecn"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_true(xoff_param_set(xoff_param_find(xoff_tcp_table, refused[i][0]), &params,
                                   refused[i][1], &err) < 0);
}

/* Each rule on both sides; the initial timeout is brought within the bounds. */
static void refusals(void **unused)
{
    (void)unused;
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    struct xoff_err err;
    params.rto_max = XOFF_MS;
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), 0);
    assert_true(cfg.rto_initial == XOFF_MS);
    params.rto_max = XOFF_MS - 1;
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "rto_min");
    assert_string_equal(err.value, "1ms");
    assert_non_null(strstr(err.message, "rto_max"));

    params = defaults();
    params.delayed_ack = XOFF_MS - 1;
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), 0);
    params.delayed_ack = XOFF_MS;
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "delayed_ack");
    assert_non_null(strstr(err.message, "rto_min is 1ms"));

    params = defaults();
    params.rto_min = 20 * XOFF_MS;
    assert_int_equal(xoff_tcp_configure(&params, &env, &cfg, &err), 0);
    assert_true(cfg.rto_initial == 20 * XOFF_MS);

    const struct xoff_rel_env telemetry = {.payload_bytes = 1460, .has_telemetry = true};
    assert_int_equal(xoff_tcp_configure(&params, &telemetry, &cfg, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "reliability");
    assert_non_null(strstr(err.message, "go-back-n"));
}

/* auto is what the reaction point reads; a word stands against it. */
static void echo_follows_the_reaction_point(void **unused)
{
    (void)unused;
    const struct xoff_rel_env each = {.payload_bytes = 1460, .reads_each_mark = true};
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    struct xoff_err err;
    assert_int_equal(xoff_tcp_configure(&params, &each, &cfg, &err), 0);
    assert_int_equal(cfg.echo, XOFF_TCP_ECHO_DCTCP);
    params.echo = XOFF_TCP_ECHO_RFC3168;
    assert_int_equal(xoff_tcp_configure(&params, &each, &cfg, &err), 0);
    assert_int_equal(cfg.echo, XOFF_TCP_ECHO_RFC3168);
}

static struct xoff_rel as_role(struct xoff_tcp_params *params, struct xoff_tcp_cfg *cfg)
{
    struct xoff_rel rel = {.ops = &xoff_rel_tcp, .cfg = cfg};
    struct xoff_err err;
    assert_int_equal(xoff_rel_tcp.configure(params, &env, cfg, &rel.shape, &err), 0);
    return rel;
}

static void shape_of_the_role(void **unused)
{
    (void)unused;
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    const struct xoff_rel rel = as_role(&params, &cfg);
    assert_int_equal(rel.shape.tx_size, sizeof(struct xoff_tcp_tx));
    assert_int_equal(rel.shape.rx_size, sizeof(struct xoff_tcp_rx));
    assert_int_equal(rel.shape.tx_blocks, XOFF_REL_BLOCKS);
    assert_int_equal(rel.shape.rx_blocks, 1);
    assert_true(rel.shape.names_blocks && rel.shape.reorders && rel.shape.asks_at_end_only);
    assert_false(xoff_rel_is_sequential(&rel));
    params.sack = false;
    assert_false(as_role(&params, &cfg).shape.names_blocks);
}

/* An echo is answered once per window of data, on the next new segment (RFC 3168 6.1.2). Segments
 * of 1460 B, window 4: the echo on the first ACK is answered by the fifth segment; echoes of what
 * was sent before it are not; one beyond it is. */
static void echo_is_answered_once_per_window(void **unused)
{
    (void)unused;
    enum { FULL = 1460 };
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    const struct xoff_rel rel = as_role(&params, &cfg);
    struct xoff_range blocks[8];
    struct xoff_range_store store;
    xoff_range_store_init(&store, blocks, 8);
    struct xoff_tcp_tx tx;
    xoff_rel_init_tx(&rel, &tx.head);
    struct xoff_rel_segment s;
    for (uint32_t i = 0; i < 10; i++) {
        if (i >= 4) { /* ACK of segment i - 4, with the echo but for the one of segment 1 */
            const struct xoff_rel_ack ack = {.acked_to = (i - 3) * FULL, .echo = i != 5};
            assert_int_equal(xoff_rel_on_ack(&rel, &tx.head, &store, &ack, 1, i), 0);
        }
        assert_true(xoff_rel_next(&rel, &tx.head, &store, UINT64_MAX, 4 * FULL, FULL, &s));
        assert_int_equal(s.seq, i * FULL);
        /* The first echo, on the ACK up to 1, came when 4 had been sent: the next that counts is
         * on the ACK up to 5, before segment 8. */
        assert_int_equal(s.has_reduced, i == 4 || i == 8);
        xoff_rel_on_sent(&rel, &tx.head, &s, i);
        assert_int_equal(tx.head.next, tx.head.sent_to);
    }
    assert_int_equal(xoff_rel_outstanding(&rel, &tx.head), 4 * FULL);
    xoff_rel_fini_tx(&rel, &tx.head, &store);
}

/* The ACK echoes the time stamp of the first segment that it acknowledges (RFC 7323 4.3). */
static void acks_echo_the_first_time_stamp(void **unused)
{
    (void)unused;
    struct xoff_tcp_params params = defaults();
    struct xoff_tcp_cfg cfg;
    const struct xoff_rel rel = as_role(&params, &cfg);
    struct xoff_range blocks[8];
    struct xoff_range_store store;
    xoff_range_store_init(&store, blocks, 8);
    struct xoff_tcp_rx rx;
    xoff_rel_init_rx(&rel, &rx.head);
    struct xoff_rel_ack acks[XOFF_REL_ACKS];
    struct xoff_rel_data data = {.seq = 0, .bytes = 10, .sent_at = 7};
    assert_int_equal(xoff_rel_on_data(&rel, &rx.head, &store, &data, 100, acks), 0);
    data = (struct xoff_rel_data){.seq = 10, .bytes = 10, .sent_at = 9};
    assert_int_equal(xoff_rel_on_data(&rel, &rx.head, &store, &data, 102, acks), 1);
    assert_int_equal(acks[0].acked_to, 20);
    assert_true(acks[0].sent_at == 7);
    /* Held back alone: the delayed ACK has the one it waits for. */
    data = (struct xoff_rel_data){.seq = 20, .bytes = 10, .sent_at = 11};
    assert_int_equal(xoff_rel_on_data(&rel, &rx.head, &store, &data, 104, acks), 0);
    assert_true(rx.head.deadline == 104 + 100 * XOFF_US);
    xoff_rel_expire_rx(&rel, &rx.head, &store, acks);
    assert_true(acks[0].sent_at == 11 && acks[0].acked_to == 30);
    assert_true(rx.head.deadline == XOFF_NEVER);
    /* After the flow is gone its segments are acknowledged one by one. */
    assert_true(xoff_rel_on_late(&rel, &data, acks));
    assert_int_equal(acks[0].acked_to, 30);
    assert_true(acks[0].sent_at == 11 && !acks[0].echo && !acks[0].is_nack);
    xoff_rel_fini_rx(&rel, &rx.head, &store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_defaults),
        cmocka_unit_test(parameter_words),
        cmocka_unit_test(refusals),
        cmocka_unit_test(clean_channel),
        cmocka_unit_test(echo_follows_the_reaction_point),
        cmocka_unit_test(shape_of_the_role),
        cmocka_unit_test(echo_is_answered_once_per_window),
        cmocka_unit_test(acks_echo_the_first_time_stamp),
        cmocka_unit_test(one_loss_anywhere),
        cmocka_unit_test(reordering_alone),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(every_byte_once),
    };
    return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
