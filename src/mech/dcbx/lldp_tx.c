/* When a port sends LLDP frames.
 *
 * Source: 802.1AB 9.2.5 for the names, and the defaults of manuals: interval 30 s, TTL 120 s, fast
 * start 1 s apart, transmission delay 2 s, reinitialisation 2 s. Four fast frames: txFastInit.
 *
 *   start               a frame now; it and the next n_fast - 1 are fast_s apart
 *   new neighbour       the same, the first one at least fast_s behind the last frame
 *   change              a frame, at least tx_delay_s behind the last one
 *   nothing             a frame every interval_s
 *   stop                a shutdown frame now; no start within reinit_s of it
 *
 * A frame that is due earlier anyway brings the change as well, so nothing is ever put off.
 *
 * Differs: the credit counter of later editions, which allows five frames in a row before changes
 * are held back, is not there; the transmission delay does its work.
 */
#include <xoff/lldp_tx.h>

#include <string.h>

const struct xoff_lldp_tx_cfg xoff_lldp_tx_defaults = {.second_for = XOFF_S,
                                                       .interval_s = 30,
                                                       .ttl_s = 120,
                                                       .fast_s = 1,
                                                       .tx_delay_s = 2,
                                                       .reinit_s = 2,
                                                       .n_fast = 4};

static int check_range(long long value, long long least, long long most, const char *name,
                       struct xoff_err *err);
static xoff_time after(const struct xoff_lldp_tx_cfg *cfg, xoff_time at, uint32_t seconds);
static void bring_forward(struct xoff_lldp_tx *tx, xoff_time now, xoff_time at);

int xoff_lldp_tx_check(const struct xoff_lldp_tx_cfg *cfg, struct xoff_err *err)
{
    const struct {
        const char *name;
        long long value, most;
    } rows[] = {
        {"second", cfg->second_for, XOFF_S}, {"interval", cfg->interval_s, 3600},
        {"ttl", cfg->ttl_s, 65535},          {"fast", cfg->fast_s, 3600},
        {"tx_delay", cfg->tx_delay_s, 8192}, {"reinit", cfg->reinit_s, 10},
        {"fast_frames", cfg->n_fast, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int code = check_range(rows[i].value, 1, rows[i].most, rows[i].name, err);
        if (code != 0)
            return code;
    }
    /* Otherwise what was said would lapse before it is said again. */
    return check_range(cfg->ttl_s, cfg->interval_s, 65535, "ttl", err);
}

void xoff_lldp_tx_init(struct xoff_lldp_tx *tx)
{
    memset(tx, 0, sizeof *tx);
    tx->due_at = XOFF_NEVER;
    tx->sent_at = tx->earliest_at = -XOFF_NEVER;
}

void xoff_lldp_tx_start(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx, xoff_time now)
{
    if (tx->status == XOFF_LLDP_TX_ON)
        return;
    tx->status = XOFF_LLDP_TX_ON;
    tx->sent_at = -XOFF_NEVER;
    tx->due_at = tx->earliest_at > now ? tx->earliest_at : now;
    tx->n_fast_left = (uint8_t)(cfg->n_fast - 1);
}

void xoff_lldp_tx_stop(struct xoff_lldp_tx *tx, xoff_time now)
{
    if (tx->status != XOFF_LLDP_TX_ON)
        return;
    tx->status = XOFF_LLDP_TX_STOPPING;
    tx->due_at = now;
}

void xoff_lldp_tx_cut(struct xoff_lldp_tx *tx)
{
    tx->status = XOFF_LLDP_TX_OFF;
    tx->due_at = XOFF_NEVER;
}

void xoff_lldp_tx_on_change(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                            xoff_time now)
{
    bring_forward(tx, now, after(cfg, tx->sent_at, cfg->tx_delay_s));
}

void xoff_lldp_tx_on_neighbour(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                               xoff_time now)
{
    if (tx->status != XOFF_LLDP_TX_ON)
        return;
    tx->n_fast_left = (uint8_t)(cfg->n_fast - 1);
    bring_forward(tx, now, after(cfg, tx->sent_at, cfg->fast_s));
}

uint16_t xoff_lldp_tx_take(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                           xoff_time now)
{
    XOFF_ASSERT(xoff_lldp_tx_is_due(tx, now));
    tx->sent_at = now;
    if (tx->status == XOFF_LLDP_TX_STOPPING) {
        tx->status = XOFF_LLDP_TX_OFF;
        tx->due_at = XOFF_NEVER;
        tx->earliest_at = after(cfg, now, cfg->reinit_s);
        return 0;
    }
    tx->due_at = after(cfg, now, tx->n_fast_left > 0 ? cfg->fast_s : cfg->interval_s);
    if (tx->n_fast_left > 0)
        tx->n_fast_left--;
    return cfg->ttl_s;
}

static int check_range(long long value, long long least, long long most, const char *name,
                       struct xoff_err *err)
{
    if (value >= least && value <= most)
        return 0;
    const int code = xoff_err_set(err, XOFF_E_RANGE, name, NULL, "must be from ");
    xoff_err_add_int(err, least);
    xoff_err_add(err, " to ");
    xoff_err_add_int(err, most);
    return code;
}

static xoff_time after(const struct xoff_lldp_tx_cfg *cfg, xoff_time at, uint32_t seconds)
{
    return xoff_time_after(at, cfg->second_for * seconds);
}

/* A frame is sent at `at`, or now where that is over, unless one is due before. Nothing is sent
 * before the time of reinitialisation is over. */
static void bring_forward(struct xoff_lldp_tx *tx, xoff_time now, xoff_time at)
{
    if (tx->status != XOFF_LLDP_TX_ON)
        return;
    at = at > now ? at : now;
    at = at > tx->earliest_at ? at : tx->earliest_at;
    tx->due_at = xoff_time_min(tx->due_at, at);
}
