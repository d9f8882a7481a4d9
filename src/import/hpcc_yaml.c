/* Writes a config of the ns-3 RDMA family as a scenario (docs/import.md has the table of keys).
 *
 * Node 7 of the files is n7. The flow file is not copied: the scenario names it. ENABLE_QCN with a
 * congestion control that reads marks becomes ecn thresholds by rate, judged when a frame leaves,
 * by the queue it leaves behind, as SwitchNotifyDequeue() does. ACKs: the original's interval
 * counts bytes, and every multiple of L2_CHUNK_SIZE is acknowledged as well; here an ACK answers a
 * number of frames.
 */
#include "import/hpcc_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/telemetry.h>
#include <xoff/units.h>

#include "net/net.h"
#include "stats/text_stream.h"

#define MIB 1048576
#define HPCC_TIMESTAMP_BYTES 8
#define CONWEAVE_DRAIN "10s" /* Simulator::Stop(flowgen_stop_time + 10.0) */

struct yaml {
    FILE *out;
    const struct hpcc_config *config;
    bool compat_ns3;
};

static void put_quoted(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else
            putc(*text, out);
    }
    putc('"', out);
}

static void put_time(FILE *out, xoff_time t)
{
    char text[32];
    fputs(xoff_format_time(text, sizeof text, t), out);
}

static void put_rate(FILE *out, const char *key, xoff_rate rate)
{
    char text[32];
    fprintf(out, ", %s: %s", key, xoff_format_rate(text, sizeof text, rate));
}

static void put_real(FILE *out, const char *key, double value)
{
    char text[32];
    fprintf(out, ", %s: %s", key, xoff_format_real(text, sizeof text, value));
}

/* Writes microseconds, to the nanosecond. */
static void put_us(FILE *out, const char *key, double us)
{
    fprintf(out, ", %s: ", key);
    put_time(out, (xoff_time)(us * 1000 + 0.5) * XOFF_NS);
}

static void put_general(const struct yaml *y)
{
    const struct hpcc_config *c = y->config;
    const char *name = c->path + strlen(c->folder);
    char title[192];
    const bool is_conweave = hpcc_is_conweave(c);
    snprintf(title, sizeof title, "Imported from %s", name);
    fputs("title: ", y->out);
    put_quoted(y->out, title);
    fprintf(y->out, "\nseed: %llu\nstop: ", (unsigned long long)c->keys.seed);
    put_time(y->out, is_conweave ? c->keys.flowgen_stop : c->keys.stop);
    fprintf(y->out, "\ndrain: %s\nreroute_after: 0s\n%s", is_conweave ? CONWEAVE_DRAIN : "0s",
            y->compat_ns3 ? "compat: ns3\n" : "");
}

static void put_topology(const struct yaml *y)
{
    const struct hpcc_config *c = y->config;
    char text[32];
    fputs("topology:\n  kind: custom\n  nodes:\n", y->out);
    for (uint32_t id = 0; id < c->n_nodes; id++)
        fprintf(y->out, "    n%u: %s\n", id, c->is_switch[id] ? "switch" : "host");
    fputs("  links:\n", y->out);
    for (uint32_t i = 0; i < c->n_links; i++) {
        const struct hpcc_link *l = &c->links[i];
        fprintf(y->out, "    - {endpoints: [n%u, n%u]", l->node[0], l->node[1]);
        put_rate(y->out, "rate", l->rate_bps);
        fputs(", delay: ", y->out);
        put_time(y->out, l->delay);
        const double error = l->error > 0 ? l->error : c->keys.error_rate;
        fprintf(y->out, ", error: %s}\n", xoff_format_real(text, sizeof text, error));
    }
}

/* Of several links between two nodes the original knows only the last. */
static void put_failure(const struct yaml *y)
{
    const struct hpcc_config *c = y->config;
    const struct hpcc_keys *k = &c->keys;
    uint32_t n = 0;
    if (k->link_down_us == 0)
        return;
    for (uint32_t i = 0; i < c->n_links; i++)
        for (int end = 0; end < 2; end++)
            n += c->links[i].node[end] == k->link_down_node[0] &&
                 c->links[i].node[!end] == k->link_down_node[1];
    fprintf(y->out, "links:\n  - {link: \"n%llu-n%llu", (unsigned long long)k->link_down_node[0],
            (unsigned long long)k->link_down_node[1]);
    if (n > 1)
        fprintf(y->out, "#%u", n - 1);
    fputs("\", at: ", y->out);
    put_time(y->out, k->flowgen_start + (xoff_time)k->link_down_us * XOFF_US);
    fputs(", fail: true}\n", y->out);
}

static double map_value(const struct hpcc_map *map, xoff_rate rate_bps)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (map->entries[i].rate_bps == rate_bps)
            return map->entries[i].value;
    return 0; /* not reached: hpcc_check() has made sure that it exists */
}

/* Writes "rate kmin kmax pmax, ..." for the rates that occur. */
static int put_thresholds(const struct yaml *y, struct xoff_err *err)
{
    const struct hpcc_config *c = y->config;
    const struct hpcc_keys *k = &c->keys;
    char list[XOFF_PARAM_TEXT] = "", rate[32], pmax[32];
    size_t length = 0;
    for (uint32_t i = 0; i < k->kmin.n; i++) {
        const xoff_rate rate_bps = k->kmin.entries[i].rate_bps;
        bool is_used = false;
        for (uint32_t n = 0; n < c->n_links && !is_used; n++)
            is_used = c->links[n].rate_bps == rate_bps;
        if (!is_used)
            continue;
        const int n = snprintf(list + length, sizeof list - length, "%s%s %.0fKB %.0fKB %s",
                               length ? ", " : "", xoff_format_rate(rate, sizeof rate, rate_bps),
                               map_value(&k->kmin, rate_bps), map_value(&k->kmax, rate_bps),
                               xoff_format_real(pmax, sizeof pmax, map_value(&k->pmax, rate_bps)));
        if (n < 0 || (size_t)n >= sizeof list - length)
            return xoff_err_set(err, XOFF_E_RANGE, "KMIN_MAP", NULL,
                                "thresholds for fewer different link rates are accepted");
        length += (size_t)n;
    }
    fprintf(y->out, "{kind: ecn, at: dequeue, counts: others, by_rate: \"%s\"}", list);
    return 0;
}

static int put_switch(const struct yaml *y, struct xoff_err *err)
{
    const struct hpcc_keys *k = &y->config->keys;
    int rc = 0;
    fprintf(y->out, "switch:\n  buffer: %lluB\n  mmu: {kind: ns3}\n  pause: %s\n  marking: ",
            (unsigned long long)k->buffer_mib * MIB, k->enable_pfc ? "pfc" : "none");
    if (k->cc_mode == HPCC_CC_HPCC || k->cc_mode == HPCC_CC_PINT)
        fputs(y->compat_ns3 ? "{kind: int, byte_unit: 128B, queue_unit: 80B}" : "int", y->out);
    else if (k->enable_qcn && (k->cc_mode == HPCC_CC_DCQCN || k->cc_mode == HPCC_CC_DCTCP))
        rc = put_thresholds(y, err);
    else
        fputs("none", y->out);
    putc('\n', y->out);
    return rc;
}

/* In the original, queue 0 goes first and is never paused; ACKs of ACK_HIGH_PRIO are in it. */
static void put_priorities(const struct yaml *y)
{
    fputs("priorities: {0: {strict: true}", y->out);
    for (int p = 1; p < XOFF_N_PRIORITIES; p++)
        if (y->config->priorities >> p & 1)
            fprintf(y->out, ", %d: {lossless: %s}", p,
                    y->config->keys.enable_pfc ? "true" : "false");
    fputs("}\n", y->out);
}

/* Number of frames that an ACK answers. */
static uint64_t ack_every(const struct hpcc_keys *k)
{
    const uint64_t payload = k->payload_bytes;
    uint64_t n = (k->ack_interval_bytes + payload - 1) / payload;
    const uint64_t chunk = k->chunk_bytes % payload == 0 ? k->chunk_bytes / payload : 0;
    if (chunk && chunk < n)
        n = chunk;
    return n ? n : 1;
}

static void put_hosts(const struct yaml *y)
{
    const struct hpcc_keys *k = &y->config->keys;
    uint64_t header = y->compat_ns3 ? HPCC_HEADER_BYTES : NET_HEADER_BYTES;
    if (y->compat_ns3 && (k->cc_mode == HPCC_CC_HPCC || k->cc_mode == HPCC_CC_PINT))
        header += XOFF_INT_WIRE_BYTES;
    if (y->compat_ns3 && k->cc_mode == HPCC_CC_TIMELY)
        header += HPCC_TIMESTAMP_BYTES;
    /* In the original a pause takes effect on arrival, and headroom is computed for that. */
    fprintf(y->out, "port: {max_frame: %lluB, response: 0}\n",
            (unsigned long long)(k->payload_bytes + header));
    fprintf(y->out, "host: {ack_every: %llu%s, timeout: 100ms}\n", (unsigned long long)ack_every(k),
            k->ack_high_prio ? ", ack_priority: 0" : "");
}

static void put_dcqcn(const struct yaml *y)
{
    const struct hpcc_config *c = y->config;
    const struct hpcc_keys *k = &c->keys;
    put_us(y->out, "alpha_interval", k->alpha_resume_us);
    put_us(y->out, "decrease_interval", k->rate_decrease_us);
    if (hpcc_key_line(c, "RP_TIMER"))
        put_us(y->out, "timer", k->rp_timer_us);
    if (hpcc_key_line(c, "EWMA_GAIN"))
        put_real(y->out, "gain", k->ewma_gain);
    fprintf(y->out, ", fast_recovery: %llu", (unsigned long long)k->fast_recovery_times);
    if (hpcc_key_line(c, "RATE_AI"))
        put_rate(y->out, "ai", k->rate_ai);
    if (hpcc_key_line(c, "RATE_HAI"))
        put_rate(y->out, "hai", k->rate_hai);
    fprintf(y->out, ", clamp_target: %s", k->clamp_target_rate ? "true" : "false");
}

static void put_transport(const struct yaml *y)
{
    const struct hpcc_config *c = y->config;
    const struct hpcc_keys *k = &c->keys;
    const char *kind = "none";
    switch ((enum hpcc_cc)k->cc_mode) {
    case HPCC_CC_NONE:
        break;
    case HPCC_CC_DCQCN:
        kind = "dcqcn-nic";
        break;
    case HPCC_CC_HPCC:
    case HPCC_CC_PINT:
        kind = "hpcc";
        break;
    case HPCC_CC_TIMELY:
        kind = "timely";
        break;
    case HPCC_CC_DCTCP:
        kind = y->compat_ns3 ? "dctcp-rate" : "dctcp";
        break;
    }
    fprintf(y->out, "transport: {kind: %s, window: %s, base_rtt: %s, reliability: go-back-n", kind,
            !k->has_win  ? "none"
            : k->var_win ? "scaled"
                         : "bdp",
            k->global_t == 1 ? "max" : "path");
    const bool is_hpcc = strcmp(kind, "hpcc") == 0, is_timely = strcmp(kind, "timely") == 0;
    if (k->cc_mode == HPCC_CC_DCQCN)
        put_dcqcn(y);
    if (is_hpcc) {
        put_real(y->out, "eta", k->u_target);
        fprintf(y->out, ", max_stage: %llu%s", (unsigned long long)k->mi_thresh,
                y->compat_ns3 ? ", queue_unit: 80B" : "");
    }
    if ((is_hpcc || is_timely) && hpcc_key_line(c, "RATE_AI"))
        put_rate(y->out, is_hpcc ? "ai" : "delta", k->rate_ai);
    if (is_timely && hpcc_key_line(c, "RATE_HAI"))
        put_rate(y->out, "hai", k->rate_hai);
    if (is_timely && y->compat_ns3)
        fputs(", min_rtt: 20us", y->out);
    if (k->cc_mode == HPCC_CC_DCTCP && hpcc_key_line(c, "EWMA_GAIN"))
        put_real(y->out, "gain", k->ewma_gain);
    const bool is_dctcp_rate = strcmp(kind, "dctcp-rate") == 0;
    if (is_dctcp_rate)
        put_rate(y->out, "ai", k->dctcp_rate_ai);
    if (k->cc_mode == HPCC_CC_DCQCN || is_hpcc || is_timely || is_dctcp_rate)
        put_rate(y->out, "min_rate", k->min_rate > XOFF_KBPS ? k->min_rate : XOFF_KBPS);
    fputs("}\n", y->out);
}

char *hpcc_to_yaml(const struct hpcc_config *config, bool compat_ns3, const char *flow_file,
                   struct xoff_err *err)
{
    char *text = NULL;
    size_t size = 0;
    struct yaml y = {.config = config, .compat_ns3 = compat_ns3};
    char *from_folder = NULL;
    if (!flow_file) {
        flow_file = from_folder =
            hpcc_path_from(config->folder, config->flow_path ? config->flow_path : "");
        if (!from_folder) {
            hpcc_no_memory(err);
            return NULL;
        }
    }
    if (strlen(flow_file) >= XOFF_PARAM_TEXT) {
        xoff_err_set(err, XOFF_E_RANGE, "FLOW_FILE", NULL,
                     "a path of at most 255 bytes is accepted in a scenario: ");
        xoff_err_add(err, flow_file);
        free(from_folder);
        return NULL;
    }
    y.out = open_memstream(&text, &size);
    XOFF_ASSERT(y.out);
    put_general(&y);
    put_topology(&y);
    put_failure(&y);
    int rc = put_switch(&y, err);
    put_priorities(&y);
    put_hosts(&y);
    put_transport(&y);
    fputs("traffic:\n  - {kind: flows, name: flows, format: hpcc, file: ", y.out);
    put_quoted(y.out, flow_file);
    fputs("}\n", y.out);
    free(from_folder);
    text_stream_close(y.out, &text);
    if (rc) {
        free(text);
        return NULL;
    }
    return text;
}

/* Returns the way up from `folder` to the common folder, and down to `path`. Both are absolute,
 * without dots, the folder without a slash at its end. */
static char *relative(const char *folder, const char *path)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        const char a = folder[i] ? folder[i] : '/', b = path[i];
        if (a == '/' && b == '/')
            common = i + 1;
        if (!folder[i] || a != b)
            break;
    }
    size_t n_up = 0;
    if (common <= strlen(folder))
        for (const char *p = folder + common; *p; p++)
            n_up += p == folder + common || *p == '/';
    char *out = malloc(3 * n_up + strlen(path + common) + 1), *end = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < n_up; i++, end += 3)
        memcpy(end, "../", 3);
    memcpy(end, path + common, strlen(path + common) + 1);
    return out;
}

char *hpcc_path_from(const char *folder, const char *path)
{
    char *from = realpath(folder[0] ? folder : ".", NULL), *out = NULL;
    XOFF_ASSERT(from || errno != ENOMEM);
    char *to = realpath(path, NULL);
    XOFF_ASSERT(to || errno != ENOMEM);
    if (from && to) {
        if (strcmp(from, "/") == 0)
            from[0] = '\0';
        out = relative(from, to);
    } else if (to)
        out = strdup(to);
    else
        out = strdup(path);
    free(from);
    free(to);
    return out;
}

int hpcc_scenario(const char *path, bool compat_ns3, const struct plan_setting *settings,
                  uint32_t n_settings, struct scenario **out, struct hpcc_config **config,
                  struct xoff_err *err)
{
    *out = NULL;
    int rc = hpcc_read(path, config, err);
    if (rc)
        return rc;
    char *text = hpcc_to_yaml(*config, compat_ns3, NULL, err);
    if (!text)
        rc = -(int)err->code;
    else {
        rc = scenario_read_text(path, text, strlen(text), settings, n_settings, out, err);
        if (rc) /* the user has not seen this generated text */
            err->line = err->column = 0;
    }
    free(text);
    if (rc) {
        hpcc_destroy(*config);
        *config = NULL;
    }
    return rc;
}
