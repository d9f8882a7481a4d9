/* config.txt of the ns-3 RDMA family: lines KEY value...
 *
 * Keys and defaults are those of simulation/scratch/third.cc of HPCC, and of the fork ConWeave
 * (ENABLE_PFC, FLOWGEN_*, RANDOM_SEED, LB_MODE, ENABLE_IRN). A table says for each key how it is
 * read, where it goes, and what happens to those that have no meaning here.
 *
 * Differs: the original reads words and does not see lines, so that a value may stand on a line of
 * its own and a bad number spoils all that follows. Here a key and its values are a line, and a bad
 * value is an error. If a key is given twice, the last one counts, with a warning.
 */
#include "import/hpcc_parts.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/units.h>

#define MAX_WORDS 1024 /* words of a line */

enum key_type {
    KEY_WHOLE,
    KEY_REAL,
    KEY_SECONDS,
    KEY_RATE,
    KEY_TEXT,
    KEY_MAP,       /* count, then pairs of a rate in bit/s and a whole number */
    KEY_MAP_REAL,  /* ... and a probability */
    KEY_LINK_DOWN, /* microseconds and two nodes */
    KEY_QUIET,     /* no effect in the original either, or no meaning for results */
    KEY_LOUD,      /* not supported: a warning */
};

struct key {
    const char *name;
    enum key_type type;
    size_t offset; /* into struct hpcc_keys */
    double max;    /* KEY_WHOLE, KEY_REAL */
    double min;
    const char *instead; /* KEY_LOUD: what happens */
};

#define AT(field) offsetof(struct hpcc_keys, field)
#define WHOLE(name, field, max)                  \
    {                                            \
        name, KEY_WHOLE, AT(field), max, 0, NULL \
    }
#define FROM_ONE(name, field, max)               \
    {                                            \
        name, KEY_WHOLE, AT(field), max, 1, NULL \
    }
#define REAL(name, field, max)                  \
    {                                           \
        name, KEY_REAL, AT(field), max, 0, NULL \
    }
#define ABOVE(name, field, min, max)              \
    {                                             \
        name, KEY_REAL, AT(field), max, min, NULL \
    }
#define RATE(name, field)                     \
    {                                         \
        name, KEY_RATE, AT(field), 0, 0, NULL \
    }
#define TEXT(name, field)                     \
    {                                         \
        name, KEY_TEXT, AT(field), 0, 0, NULL \
    }
#define SECONDS(name, field)                     \
    {                                            \
        name, KEY_SECONDS, AT(field), 0, 0, NULL \
    }
#define QUIET(name)                    \
    {                                  \
        name, KEY_QUIET, 0, 0, 0, NULL \
    }
#define LOUD(name, instead)              \
    {                                    \
        name, KEY_LOUD, 0, 0, 0, instead \
    }

static const char not_written[] = "this file is not written";
static const char conweave[] = "load balancing is by ECMP here";

static const struct key keys[] = {
    TEXT("TOPOLOGY_FILE", topology_file),
    TEXT("FLOW_FILE", flow_file),
    TEXT("TRACE_FILE", trace_file),
    TEXT("TRACE_OUTPUT_FILE", trace_output_file),
    TEXT("FCT_OUTPUT_FILE", fct_file),
    TEXT("PFC_OUTPUT_FILE", pfc_file),
    TEXT("QLEN_MON_FILE", qlen_file),
    WHOLE("ENABLE_QCN", enable_qcn, UINT32_MAX),
    WHOLE("ENABLE_PFC", enable_pfc, UINT32_MAX),
    QUIET("USE_DYNAMIC_PFC_THRESHOLD"),
    WHOLE("CLAMP_TARGET_RATE", clamp_target_rate, UINT32_MAX),
    QUIET("PAUSE_TIME"),
    QUIET("DATA_RATE"),
    QUIET("LINK_DELAY"),
    FROM_ONE("PACKET_PAYLOAD_SIZE", payload_bytes, 16000),
    WHOLE("L2_CHUNK_SIZE", chunk_bytes, UINT32_MAX),
    WHOLE("L2_ACK_INTERVAL", ack_interval_bytes, UINT32_MAX),
    WHOLE("L2_BACK_TO_ZERO", back_to_zero, UINT32_MAX),
    SECONDS("SIMULATOR_STOP_TIME", stop),
    SECONDS("FLOWGEN_START_TIME", flowgen_start),
    SECONDS("FLOWGEN_STOP_TIME", flowgen_stop),
    WHOLE("CC_MODE", cc_mode, UINT32_MAX),
    ABOVE("ALPHA_RESUME_INTERVAL", alpha_resume_us, 0.001, 1e6),
    ABOVE("RATE_DECREASE_INTERVAL", rate_decrease_us, 0.001, 1e6),
    ABOVE("RP_TIMER", rp_timer_us, 0.001, 1e6),
    ABOVE("EWMA_GAIN", ewma_gain, 1e-6, 1),
    WHOLE("FAST_RECOVERY_TIMES", fast_recovery_times, 1000),
    RATE("RATE_AI", rate_ai),
    RATE("RATE_HAI", rate_hai),
    RATE("MIN_RATE", min_rate),
    RATE("DCTCP_RATE_AI", dctcp_rate_ai),
    REAL("ERROR_RATE_PER_LINK", error_rate, 1),
    WHOLE("HAS_WIN", has_win, UINT32_MAX),
    WHOLE("GLOBAL_T", global_t, UINT32_MAX),
    WHOLE("VAR_WIN", var_win, UINT32_MAX),
    WHOLE("FAST_REACT", fast_react, UINT32_MAX),
    ABOVE("U_TARGET", u_target, 0.01, 1),
    WHOLE("MI_THRESH", mi_thresh, 1000000),
    WHOLE("INT_MULTI", int_multi, UINT32_MAX),
    WHOLE("MULTI_RATE", multi_rate, INT32_MAX),
    WHOLE("SAMPLE_FEEDBACK", sample_feedback, INT32_MAX),
    QUIET("PINT_LOG_BASE"),
    QUIET("PINT_PROB"),
    WHOLE("RATE_BOUND", rate_bound, UINT32_MAX),
    WHOLE("ACK_HIGH_PRIO", ack_high_prio, UINT32_MAX),
    {"LINK_DOWN", KEY_LINK_DOWN, 0, 0, 0, NULL},
    WHOLE("ENABLE_TRACE", enable_trace, UINT32_MAX),
    {"KMAX_MAP", KEY_MAP, AT(kmax), 0, 0, NULL},
    {"KMIN_MAP", KEY_MAP, AT(kmin), 0, 0, NULL},
    {"PMAX_MAP", KEY_MAP_REAL, AT(pmax), 0, 0, NULL},
    FROM_ONE("BUFFER_SIZE", buffer_mib, 3814),
    WHOLE("QLEN_MON_START", qlen_start_ns, 9e15),
    WHOLE("QLEN_MON_END", qlen_end_ns, 9e15),
    FROM_ONE("RANDOM_SEED", seed, INT32_MAX),
    WHOLE("LB_MODE", lb_mode, UINT32_MAX),
    WHOLE("ENABLE_IRN", enable_irn, UINT32_MAX),
    QUIET("LOAD"),
    QUIET("FLOW_INPUT_FILE"),
    LOUD("CNP_OUTPUT_FILE", not_written),
    LOUD("EST_ERROR_MON_FILE", not_written),
    LOUD("VOQ_MON_FILE", not_written),
    LOUD("VOQ_MON_DETAIL_FILE", not_written),
    LOUD("UPLINK_MON_FILE", not_written),
    LOUD("CONN_MON_FILE", not_written),
    QUIET("SW_MONITORING_INTERVAL"),
    LOUD("CONWEAVE_TX_EXPIRY_TIME", conweave),
    LOUD("CONWEAVE_REPLY_TIMEOUT_EXTRA", conweave),
    LOUD("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", conweave),
    LOUD("CONWEAVE_PATH_PAUSE_TIME", conweave),
    LOUD("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", conweave),
};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

int hpcc_no_memory(struct xoff_err *err)
{
    return xoff_err_set(err, XOFF_E_NO_MEMORY, "import", NULL, "not enough memory");
}

bool hpcc_grow(void **array, uint32_t n, size_t size)
{
    if (n & (n - 1)) /* the array grows at powers of two */
        return true;
    if (n > UINT32_MAX / 2)
        return false;
    void *moved = realloc(*array, (n ? 2 * (size_t)n : 1) * size);
    if (moved)
        *array = moved;
    return moved != NULL;
}

void hpcc_warn(struct hpcc_config *config, const char *path, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (config->n_warnings >= HPCC_MAX_WARNINGS)
        return;
    int n = line ? snprintf(text, sizeof text, "%s:%d: ", path, line)
                 : snprintf(text, sizeof text, "%s: ", path);
    n = n < (int)sizeof text / 2 ? n : (int)sizeof text / 2;
    if (config->n_warnings == HPCC_MAX_WARNINGS - 1)
        snprintf(text, sizeof text, "further warnings are left out");
    else {
        va_start(arguments, format);
        vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
        va_end(arguments);
    }
    void *array = config->warnings;
    char *copy = strdup(text);
    XOFF_ASSERT(copy);
    XOFF_ASSERT(hpcc_grow(&array, config->n_warnings, sizeof *config->warnings));
    config->warnings = array;
    config->warnings[config->n_warnings++] = copy;
}

struct hpcc_config *hpcc_create(const char *path)
{
    struct hpcc_config *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    const char *slash = strrchr(path, '/');
    c->path = strdup(path);
    c->folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    c->key_lines = calloc(N_KEYS, sizeof *c->key_lines);
    if (!c->path || !c->folder || !c->key_lines) {
        hpcc_destroy(c);
        return NULL;
    }
    /* RP_TIMER, RATE_AI, RATE_HAI and EWMA_GAIN have no usable default in the original (0, none,
     * and 1 / 16 of whole numbers): keys that are left out are left out of the scenario too. */
    c->keys = (struct hpcc_keys){
        .enable_qcn = 1,
        .enable_pfc = 1,
        .payload_bytes = 1000,
        .cc_mode = HPCC_CC_DCQCN,
        .has_win = 1,
        .global_t = 1,
        .fast_react = 1,
        .multi_rate = 1,
        .rate_bound = 1,
        .mi_thresh = 5,
        .int_multi = 1,
        .fast_recovery_times = 5,
        .enable_trace = 1,
        .buffer_mib = 16,
        .qlen_start_ns = 2000000000,
        .qlen_end_ns = 2100000000,
        .seed = 1,
        .alpha_resume_us = 55,
        .rate_decrease_us = 4,
        .u_target = 0.95,
        .min_rate = 100 * XOFF_MBPS,
        .dctcp_rate_ai = 1000 * XOFF_MBPS,
        .stop = 3010 * XOFF_MS,
        .flowgen_start = 2 * XOFF_S,
        .flowgen_stop = 2500 * XOFF_MS,
    };
    return c;
}

void hpcc_destroy(struct hpcc_config *c)
{
    if (!c)
        return;
    struct hpcc_keys *k = &c->keys;
    char *texts[] = {k->topology_file, k->flow_file, k->trace_file,        k->fct_file,
                     k->pfc_file,      k->qlen_file, k->trace_output_file, c->path,
                     c->folder,        c->flow_path, c->topology_path};
    void *arrays[] = {k->kmin.entries, k->kmax.entries, k->pmax.entries, c->key_lines,
                      c->is_switch,    c->ids,          c->nodes,        c->links,
                      c->flows.flows,  c->first,        c->by_source,    c->trace_ids};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    for (uint32_t i = 0; i < c->n_warnings; i++)
        free(c->warnings[i]);
    free(c->warnings);
    free(c);
}

int hpcc_key_line(const struct hpcc_config *config, const char *key)
{
    int i = 0;
    while (i < N_KEYS && strcmp(keys[i].name, key) != 0)
        i++;
    XOFF_ASSERT(i < N_KEYS);
    return config->key_lines[i];
}

bool hpcc_rate(const struct word *word, xoff_rate *out)
{
    static const struct {
        char letter;
        double scale, binary;
    } prefixes[] = {
        {'k', 1e3, 1024}, {'K', 1e3, 1024}, {'M', 1e6, 1048576}, {'G', 1e9, 1073741824}};
    struct word number = *word;
    size_t n = 0;
    while (n < word->length &&
           ((word->text[n] >= '0' && word->text[n] <= '9') || word->text[n] == '.'))
        n++;
    number.length = n;
    double rate;
    if (n == 0 || !words_real(&number, &rate))
        return false;
    struct word unit = {.text = word->text + n, .length = word->length - n};
    if (unit.length == 0) {
        if (rate < 1e6)
            return false;
    } else {
        double scale = 1, binary = 1;
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
            if (unit.text[0] == prefixes[i].letter) {
                scale = prefixes[i].scale;
                binary = prefixes[i].binary;
            }
        if (scale > 1) {
            unit.text++;
            unit.length--;
            if (unit.length && unit.text[0] == 'i') {
                scale = binary;
                unit.text++;
                unit.length--;
            }
        }
        if (words_is(&unit, "Bps") || words_is(&unit, "B/s"))
            scale *= 8;
        else if (!words_is(&unit, "bps") && !words_is(&unit, "b/s"))
            return false;
        rate *= scale;
    }
    if (rate >= 1e18)
        return false;
    *out = (xoff_rate)rate;
    return true;
}

static int refuse(const struct words *w, const struct word *word, const struct key *key,
                  enum xoff_err_code code, const char *message, struct xoff_err *err)
{
    return words_fail(w, word, code, key->name, message, err);
}

static int read_number(const struct words *w, const struct key *key, const struct word *word,
                       struct hpcc_keys *out, struct xoff_err *err)
{
    char *field = (char *)out + key->offset, low[32], high[32];
    uint64_t whole;
    double real;
    const bool is_real = key->type == KEY_REAL;
    if (is_real ? words_real(word, &real) && real >= key->min && real <= key->max
                : words_u64(word, (uint64_t)key->max, &whole) && (double)whole >= key->min) {
        memcpy(field, is_real ? (void *)&real : (void *)&whole, sizeof whole);
        return 0;
    }
    const int rc = refuse(w, word, key, XOFF_E_RANGE,
                          is_real ? "a number from " : "a whole number from ", err);
    xoff_err_add(err, xoff_format_real(low, sizeof low, key->min));
    xoff_err_add(err, " to ");
    xoff_err_add(err, xoff_format_real(high, sizeof high, key->max));
    xoff_err_add(err, " is accepted");
    return rc;
}

/* The last value for a rate counts, as in the original's map. */
static int map_set(struct hpcc_map *map, xoff_rate rate_bps, double value, struct xoff_err *err)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (map->entries[i].rate_bps == rate_bps) {
            map->entries[i].value = value;
            return 0;
        }
    void *array = map->entries;
    if (!hpcc_grow(&array, map->n, sizeof *map->entries))
        return hpcc_no_memory(err);
    map->entries = array;
    map->entries[map->n++] = (struct hpcc_map_entry){.rate_bps = rate_bps, .value = value};
    return 0;
}

static int read_map(const struct words *w, const struct key *key, const struct word *word, int n,
                    struct hpcc_keys *out, struct xoff_err *err)
{
    struct hpcc_map *map = (struct hpcc_map *)((char *)out + key->offset);
    uint64_t count, rate_bps, whole;
    if (!words_u64(&word[1], (MAX_WORDS - 2) / 2, &count))
        return refuse(w, &word[1], key, XOFF_E_RANGE, "a number of pairs, up to 511, is accepted",
                      err);
    if ((uint64_t)n - 2 != 2 * count) {
        const int rc = refuse(w, &word[1], key, XOFF_E_CONFLICT,
                              "is not the number of pairs of rate and value that follow: ", err);
        xoff_err_add_int(err, (n - 2) / 2);
        if (n % 2)
            xoff_err_add(err, " and one word");
        return rc;
    }
    map->n = 0;
    for (int i = 2; i < n; i += 2) {
        double value = 0;
        if (!words_u64(&word[i], UINT64_C(1000000000000000), &rate_bps) || rate_bps == 0)
            return refuse(w, &word[i], key, XOFF_E_RANGE,
                          "a rate in bit/s without a unit, as 100000000000, is accepted", err);
        if (key->type == KEY_MAP_REAL ? !words_real(&word[i + 1], &value) || value > 1
                                      : !words_u64(&word[i + 1], 4000000, &whole))
            return refuse(w, &word[i + 1], key, XOFF_E_RANGE,
                          key->type == KEY_MAP_REAL
                              ? "a probability from 0 to 1 is accepted"
                              : "a whole number of kB, from 0 to 4000000, is accepted",
                          err);
        if (key->type == KEY_MAP)
            value = (double)whole;
        const int rc = map_set(map, rate_bps, value, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_link_down(const struct words *w, const struct key *key, const struct word *word,
                          struct hpcc_keys *out, struct xoff_err *err)
{
    if (!words_u64(&word[1], UINT64_C(1000000000000), &out->link_down_us))
        return refuse(w, &word[1], key, XOFF_E_RANGE,
                      "microseconds, from 0 (no failure) to 10^12, are accepted", err);
    for (int i = 0; i < 2; i++)
        if (!words_u64(&word[2 + i], UINT32_MAX, &out->link_down_node[i]))
            return refuse(w, &word[2 + i], key, XOFF_E_TYPE, "a node is a whole number", err);
    return 0;
}

static int read_text(const struct words *w, const struct key *key, const struct word *word,
                     struct hpcc_keys *out, struct xoff_err *err)
{
    char **field = (char **)((char *)out + key->offset);
    if (memchr(word->text, '\0', word->length))
        return refuse(w, word, key, XOFF_E_SYNTAX, "not a text file", err);
    char *copy = strndup(word->text, word->length);
    if (!copy)
        return hpcc_no_memory(err);
    free(*field);
    *field = copy;
    return 0;
}

/* Rounds to the nearest nanosecond. The original truncates 2.11 to 2109999999 ns; the difference
 * has no visible effect. */
static int read_seconds(const struct words *w, const struct key *key, const struct word *word,
                        xoff_time *out, struct xoff_err *err)
{
    double seconds;
    if (!words_real(word, &seconds) || seconds > 9e6)
        return refuse(w, word, key, XOFF_E_TYPE,
                      "a number of seconds from 0 to 9000000, as 2.01, is accepted", err);
    *out = (xoff_time)(seconds * 1e9 + 0.5) * XOFF_NS;
    return 0;
}

static int read_value(const struct words *w, const struct key *key, const struct word *word, int n,
                      struct hpcc_keys *out, struct xoff_err *err)
{
    char *field = (char *)out + key->offset;
    switch (key->type) {
    case KEY_WHOLE:
    case KEY_REAL:
        return read_number(w, key, &word[1], out, err);
    case KEY_SECONDS:
        return read_seconds(w, key, &word[1], (xoff_time *)field, err);
    case KEY_RATE:
        if (!hpcc_rate(&word[1], (xoff_rate *)field))
            return refuse(w, &word[1], key, XOFF_E_UNIT,
                          "a rate with its unit, as 100Gbps or 40Mb/s, is accepted", err);
        return 0;
    case KEY_TEXT:
        return read_text(w, key, &word[1], out, err);
    case KEY_MAP:
    case KEY_MAP_REAL:
        return read_map(w, key, word, n, out, err);
    case KEY_LINK_DOWN:
        return read_link_down(w, key, word, out, err);
    case KEY_QUIET:
    case KEY_LOUD:
        break;
    }
    return 0;
}

/* Returns the number of words before a comment. */
static int without_comment(const struct word *word, int n)
{
    for (int i = 0; i < n && i < MAX_WORDS; i++)
        if (word[i].text[0] == '#' || (word[i].length > 1 && memcmp(word[i].text, "//", 2) == 0))
            return i;
    return n;
}

static int check_count(const struct words *w, const struct key *key, const struct word *word, int n,
                       struct xoff_err *err)
{
    const bool is_map = key->type == KEY_MAP || key->type == KEY_MAP_REAL;
    const int expected = key->type == KEY_LINK_DOWN ? 4 : 2;
    if (n < expected)
        return refuse(w, &word[0], key, XOFF_E_MISSING,
                      expected == 4 ? "three numbers follow on its line: microseconds and two nodes"
                                    : "a value follows on its line",
                      err);
    if (n > expected && !is_map && key->type != KEY_QUIET && key->type != KEY_LOUD)
        return refuse(w, &word[expected], key, XOFF_E_SYNTAX,
                      "a key and its value are a line of their own", err);
    return 0;
}

/* Each unknown key is reported once. */
static void warn_unknown(struct hpcc_config *c, const char *path, const struct word *word)
{
    char name[64], text[160];
    words_copy(word, name, sizeof name);
    for (char *p = name; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    const int n = snprintf(text, sizeof text, "%s: unknown key, skipped as by the original", name);
    for (uint32_t i = 0; i < c->n_warnings; i++) {
        const size_t length = strlen(c->warnings[i]);
        if (length >= (size_t)n && strcmp(c->warnings[i] + length - (size_t)n, text) == 0)
            return;
    }
    hpcc_warn(c, path, word->line, "%s", text);
}

static int read_line(const struct words *w, const struct word *word, int n, struct hpcc_config *c,
                     struct xoff_err *err)
{
    for (int i = 0; i < N_KEYS; i++) {
        const struct key *key = &keys[i];
        if (!words_is(&word[0], key->name))
            continue;
        int rc = check_count(w, key, word, n, err);
        if (rc == 0)
            rc = read_value(w, key, word, n, &c->keys, err);
        if (rc)
            return rc;
        if (c->key_lines[i])
            hpcc_warn(c, w->path, word->line, "%s: given before in line %d; this one counts",
                      key->name, c->key_lines[i]);
        else if (key->type == KEY_LOUD)
            hpcc_warn(c, w->path, word->line, "%s: not supported: %s", key->name, key->instead);
        c->key_lines[i] = word->line;
        return 0;
    }
    warn_unknown(c, w->path, &word[0]);
    return 0;
}

static int check_mode(const struct words *w, const struct hpcc_config *c, struct xoff_err *err)
{
    static const int modes[] = {HPCC_CC_NONE,   HPCC_CC_DCQCN, HPCC_CC_HPCC,
                                HPCC_CC_TIMELY, HPCC_CC_DCTCP, HPCC_CC_PINT};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (c->keys.cc_mode == (uint64_t)modes[i])
            return 0;
    char value[32];
    snprintf(value, sizeof value, "%llu", (unsigned long long)c->keys.cc_mode);
    const struct word place = {
        .text = value, .length = strlen(value), .line = hpcc_key_line(c, "CC_MODE"), .column = 1};
    return words_fail(w, &place, XOFF_E_UNKNOWN, "CC_MODE",
                      "one of 0 (none), 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) and 10 (PINT, "
                      "runs as HPCC) is accepted",
                      err);
}

int hpcc_config_parse(const char *path, const char *text, size_t size, struct hpcc_config *config,
                      struct xoff_err *err)
{
    struct words w;
    struct word *word = malloc(MAX_WORDS * sizeof *word);
    if (!word)
        return hpcc_no_memory(err);
    words_init(&w, path, text, size);
    int rc = 0;
    for (int n; rc == 0 && (n = words_line(&w, word, MAX_WORDS)) != 0;) {
        if (n < 0 || n > MAX_WORDS)
            rc = words_fail(&w, word, XOFF_E_SYNTAX, "config",
                            "a line has at most 4096 bytes and 1024 words", err);
        else if ((n = without_comment(word, n)) > 0)
            rc = read_line(&w, word, n, config, err);
    }
    free(word);
    if (rc == 0 && (!config->keys.topology_file || !config->keys.flow_file))
        rc = words_fail(&w, NULL, XOFF_E_MISSING,
                        config->keys.topology_file ? "FLOW_FILE" : "TOPOLOGY_FILE",
                        "must be given: the name of a file", err);
    if (rc == 0)
        rc = check_mode(&w, config, err);
    return rc;
}

int hpcc_recognise(const char *path)
{
    struct stat status;
    char head[1 << 16];
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    if (size < 0)
        return 0;
    struct words w;
    struct word word[2];
    bool is_first = true;
    words_init(&w, path, head, (size_t)size);
    for (int n; (n = words_line(&w, word, 2)) > 0;) {
        if (without_comment(word, 1) == 0)
            continue;
        for (size_t i = 0; is_first && i < word[0].length; i++) {
            const char c = word[0].text[i];
            if (!(c >= 'A' && c <= 'Z') && !(i && ((c >= '0' && c <= '9') || c == '_')))
                return 0;
        }
        if (n > 1 && (words_is(&word[0], "TOPOLOGY_FILE") || words_is(&word[0], "FLOW_FILE")))
            return 1;
        is_first = false;
    }
    return 0;
}

bool hpcc_is_conweave(const struct hpcc_config *config)
{
    return !hpcc_key_line(config, "SIMULATOR_STOP_TIME") &&
           hpcc_key_line(config, "FLOWGEN_STOP_TIME");
}
