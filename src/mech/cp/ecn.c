/* ECN marking by queue length (RED on the instantaneous queue), the congestion point of DCQCN.
 *
 * Source: DCQCN (Zhu et al., 2015) 3.1, and the ns-3 RDMA family whose defaults are taken: kmin and
 * kmax 100 and 400 kB per 25 Gb/s of the port, pmax 0.2. With q the bytes of the egress queue:
 *
 *   p(q) = 0                                   q <= kmin
 *          pmax * (q - kmin) / (kmax - kmin)   kmin < q <= kmax
 *          1                                   q > kmax
 *
 * A frame is marked when its draw d, uniform in 0 .. 2^32 - 1, satisfies d / 2^32 < p(q). With
 * pmax rounded once to P / 2^32 that is d * (kmax - kmin) < P * (q - kmin) in whole numbers: no
 * division, and exact at every queue length (at q = kmax just P of the 2^32 draws mark).
 *
 * The mechanism keeps no state. Marking at dequeue tells the sender of the queue as it is when the
 * frame leaves, one queueing delay fresher than at enqueue.
 *
 * Thresholds may be given by the rate of the port, as the ns-3 family does with its maps of kmin,
 * kmax and pmax: by_rate is a list of "rate kmin kmax pmax", and the entry of the port's own rate
 * wins. Every entry is checked at every port, so that a mistake shows wherever it stands.
 *
 * Differs: the DCQCN paper's kmin 5 KB, kmax 200 KB and pmax 1 % are for 40 Gb/s; they must be
 * given. Differs: q counts the frame itself unless told otherwise (counts: others); the ns-3 family
 * looks at the queue after the frame has left. Differs: a port whose rate is in no entry has the
 * plain thresholds; the ns-3 family stops. Differs: any priority may be marked; the ns-3 family
 * leaves out queue 0.
 */
#include <string.h>

#include <xoff/ecn_quick.h>
#include <xoff/units.h>

enum ecn_at { ECN_AT_ENQUEUE, ECN_AT_DEQUEUE };
static const char *const ecn_ats[] = {"enqueue", "dequeue", NULL};
static const char *const ecn_counts[] = {"all", "others", NULL};

struct ecn_params {
    int64_t kmin, kmax;
    double pmax;
    int64_t at, counts;
    char by_rate[XOFF_PARAM_TEXT];
};

static const struct xoff_param ecn_table[] = {
    {.name = "kmin",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecn_params, kmin),
     .preset = "auto",
     .allows_auto = true,
     .help = "Queue length up to which nothing is marked; auto: 100KB per 25Gbps of the port."},
    {.name = "kmax",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecn_params, kmax),
     .preset = "auto",
     .allows_auto = true,
     .help = "Queue length beyond which every frame is marked; auto: 400KB per 25Gbps of the "
             "port."},
    {.name = "pmax",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct ecn_params, pmax),
     .preset = "0.2",
     .min = "0",
     .max = "1",
     .help = "Probability of a mark when the queue is at kmax."},
    {.name = "at",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct ecn_params, at),
     .preset = "dequeue",
     .choices = ecn_ats,
     .help = "When the queue is looked at: as the frame joins it or as it leaves."},
    {.name = "counts",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct ecn_params, counts),
     .preset = "all",
     .choices = ecn_counts,
     .help = "Whose bytes make the queue length: those of all frames, or of the others without the "
             "frame that is judged."},
    {.name = "by_rate",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct ecn_params, by_rate),
     .preset = "",
     .help = "Thresholds for ports of a rate, as 25Gbps 100KB 400KB 0.2, 100Gbps 400KB 1600KB "
             "0.2 (rate, kmin, kmax, pmax); ports of other rates have kmin, kmax and pmax."},
    {0},
};

/* kmin and kmax are 100 and 400 KB per 25 Gb/s: one byte for this many bits per second of the port.
 */
#define ECN_KMIN_BPS (25 * XOFF_GBPS / 100000)
#define ECN_KMAX_BPS (25 * XOFF_GBPS / 400000)

struct ecn_thresholds {
    xoff_rate rate_bps;
    int64_t kmin_bytes, kmax_bytes;
    double pmax;
};

/* By rate */

/* Takes the next entry off *rest, up to a comma or the end, without the spaces around it. Returns
 * false after the last. *rest becomes NULL at the end of the text, so a comma at the end is
 * followed by an empty entry. */
static bool ecn_next_entry(const char **rest, char entry[XOFF_PARAM_TEXT])
{
    const char *first = *rest;
    if (!first)
        return false;
    const char *end = strchr(first, ',');
    *rest = end ? end + 1 : NULL;
    if (!end)
        end = first + strlen(first);
    while (first < end && *first == ' ')
        first++;
    while (end > first && end[-1] == ' ')
        end--;
    const size_t length = (size_t)(end - first);
    memcpy(entry, first, length);
    entry[length] = '\0';
    return true;
}

/* Cuts an entry into its words, in place. Returns how many there are, at most `max` + 1. */
static uint32_t ecn_words(char *entry, char *words[], uint32_t max)
{
    uint32_t n = 0;
    while (*entry && n <= max) {
        if (n < max)
            words[n] = entry;
        n++;
        while (*entry && *entry != ' ')
            entry++;
        while (*entry == ' ')
            *entry++ = '\0';
    }
    return n;
}

static int ecn_refuse_entry(const char *entry, enum xoff_err_code code, const char *message,
                            struct xoff_err *err)
{
    return xoff_err_set(err, code, "by_rate", entry, message);
}

static int ecn_refuse_word(const char *entry, int code, const char *word, const char *accepts,
                           struct xoff_err *err)
{
    xoff_err_set(err, (enum xoff_err_code) - code, "by_rate", entry, word);
    xoff_err_add(err, " is not ");
    xoff_err_add(err, accepts);
    return code;
}

static int ecn_read_entry(const char *entry, struct ecn_thresholds *t, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT], *words[4];
    memcpy(text, entry, strlen(entry) + 1);
    if (ecn_words(text, words, 4) != 4)
        return ecn_refuse_entry(entry, XOFF_E_SYNTAX,
                                "an entry has four words: rate, kmin, kmax, pmax, such as 100Gbps "
                                "400KB 1600KB 0.2; commas stand between entries",
                                err);
    int code = xoff_parse_rate(words[0], &t->rate_bps);
    if (code || t->rate_bps == 0)
        return ecn_refuse_word(entry, code ? code : -XOFF_E_RANGE, words[0],
                               "a rate such as 100Gbps", err);
    code = xoff_parse_bytes(words[1], &t->kmin_bytes);
    if (code)
        return ecn_refuse_word(entry, code, words[1], "a size such as 400KB (kmin)", err);
    code = xoff_parse_bytes(words[2], &t->kmax_bytes);
    if (code)
        return ecn_refuse_word(entry, code, words[2], "a size such as 1600KB (kmax)", err);
    code = xoff_parse_real(words[3], &t->pmax);
    if (code || t->pmax > 1)
        return ecn_refuse_word(entry, code ? code : -XOFF_E_RANGE, words[3],
                               "a probability from 0 to 1 (pmax)", err);
    if (t->kmin_bytes > t->kmax_bytes)
        return ecn_refuse_entry(entry, XOFF_E_CONFLICT, "marking needs kmin <= kmax", err);
    return 0;
}

/* 1: *out has the thresholds for `rate_bps`; 0: no entry for it; negative: a mistake. */
static int ecn_by_rate(const char *list, xoff_rate rate_bps, struct ecn_thresholds *out,
                       struct xoff_err *err)
{
    char entry[XOFF_PARAM_TEXT];
    struct ecn_thresholds t;
    int found = 0;
    for (const char *rest = *list ? list : NULL; ecn_next_entry(&rest, entry);) {
        const int code = ecn_read_entry(entry, &t, err);
        if (code)
            return code;
        if (t.rate_bps != rate_bps)
            continue;
        if (found)
            return ecn_refuse_entry(entry, XOFF_E_CONFLICT, "an earlier entry has this rate", err);
        *out = t;
        found = 1;
    }
    return found;
}

/* Configuration */

static int ecn_plain(const struct ecn_params *p, const struct xoff_cp_env *env,
                     struct ecn_thresholds *out, struct xoff_err *err)
{
    const int64_t kmin =
        p->kmin == XOFF_PARAM_AUTO ? (int64_t)(env->rate_bps / ECN_KMIN_BPS) : p->kmin;
    const int64_t kmax =
        p->kmax == XOFF_PARAM_AUTO ? (int64_t)(env->rate_bps / ECN_KMAX_BPS) : p->kmax;
    char text[32];
    if (kmin > kmax) {
        int code =
            xoff_err_set(err, XOFF_E_CONFLICT, "kmin", xoff_format_bytes(text, sizeof text, kmin),
                         "marking needs kmin <= kmax, and kmax is ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, kmax));
        if (p->kmin == XOFF_PARAM_AUTO)
            xoff_err_add(err, " (kmin: auto is 100KB per 25Gbps of the port)");
        if (p->kmax == XOFF_PARAM_AUTO)
            xoff_err_add(err, " (kmax: auto is 400KB per 25Gbps of the port)");
        return code;
    }
    if (!(p->pmax >= 0 && p->pmax <= 1)) /* also refuses NaN */
        return xoff_err_set(err, XOFF_E_RANGE, "pmax", NULL, "a probability is from 0 to 1");
    *out = (struct ecn_thresholds){.kmin_bytes = kmin, .kmax_bytes = kmax, .pmax = p->pmax};
    return 0;
}

static int ecn_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                         struct xoff_cp_shape *shape, struct xoff_err *err)
{
    const struct ecn_params *p = params;
    struct xoff_ecn_cfg *c = cfg;
    struct ecn_thresholds t = {0};
    int code = ecn_by_rate(p->by_rate, env->rate_bps, &t, err);
    if (code == 0)
        code = ecn_plain(p, env, &t, err);
    if (code < 0)
        return code;
    *c = (struct xoff_ecn_cfg){
        .kmin_bytes = t.kmin_bytes,
        .kmax_bytes = t.kmax_bytes,
        .span_bytes = (uint64_t)(t.kmax_bytes - t.kmin_bytes),
        .pmax_draws = (uint64_t)(t.pmax * 0x1p32 + 0.5),
        .counts = (enum xoff_ecn_counts)p->counts,
    };
    *shape = (struct xoff_cp_shape){
        /* The caller's length includes the frame. With counts: others the queue that is compared is
         * shorter, so no mark is missed. */
        .quiet_below = t.kmin_bytes,
        .skips_enqueue = p->at != ECN_AT_ENQUEUE,
        .skips_dequeue = p->at != ECN_AT_DEQUEUE,
        .draws = true,
    };
    return 0;
}

static bool ecn_marks(const void *cfg, int64_t queue_bytes, uint32_t bytes, uint32_t draw)
{
    return xoff_ecn_marks(cfg, queue_bytes, bytes, draw);
}

/* Called as the frame joins the queue or as it leaves; the shape says which. */
static void ecn_look(const void *cfg, void *state, const struct xoff_cp_frame *frame, xoff_time now,
                     struct xoff_cp_answer *answer)
{
    (void)state, (void)now;
    answer->mark = ecn_marks(cfg, frame->queue_bytes, frame->bytes, frame->draw);
}

const struct xoff_cp_ops xoff_cp_ecn = {
    .name = "ecn",
    .summary = "marks by queue length, between two thresholds with rising probability",
    .params = ecn_table,
    .params_size = sizeof(struct ecn_params),
    .cfg_size = sizeof(struct xoff_ecn_cfg),
    .configure = ecn_configure,
    .on_enqueue = ecn_look,
    .on_dequeue = ecn_look,
    .marks = ecn_marks,
};
