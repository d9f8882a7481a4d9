/* xoff headroom: what a lossless priority of a port must be able to take after XOFF, with its
 * parts, and the profile that SONiC would use. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/headroom.h>
#include <xoff/units.h>

#include "cli/cli.h"

enum { DEFAULT_MTU = 1518, MAX_MTU = 65535, MAX_QUANTA = 65535 };

struct headroom_arguments {
    xoff_rate rate_bps;
    int64_t length_mm;
    int64_t frame_bytes, quanta; /* quanta -1: by rate */
    bool sonic, json;
    struct xoff_sonic_params params;
};

enum {
    OPTION_RATE = 512,
    OPTION_LENGTH,
    OPTION_MTU,
    OPTION_RESPONSE,
    OPTION_SONIC,
    OPTION_CELL,
    OPTION_SMALL,
    OPTION_QUANTA
};

static const struct argp_option options[] = {
    {"rate", OPTION_RATE, "RATE", 0, "Rate of the link, such as 400G or 25Gbps", 0},
    {"length", OPTION_LENGTH, "LENGTH", 0, "Length of the cable, such as 100m (5 ns per metre)", 0},
    {"mtu", OPTION_MTU, "BYTES", 0, "Largest frame with its FCS, such as 9216 (1518)", 0},
    {"response", OPTION_RESPONSE, "QUANTA", 0,
     "Time that the peer takes to stop; without it the limit of 802.3 for the rate", 0},
    {"sonic", OPTION_SONIC, NULL, 0, "Also print the line of SONiC's pg_profile_lookup.ini", 0},
    {"cell", OPTION_CELL, "BYTES", 0, "SONiC: size of a buffer cell (96: Spectrum)", 0},
    {"small", OPTION_SMALL, "PERCENT", 0, "SONiC: packets of 64 bytes, of all packets (100)", 0},
    {"quanta", OPTION_QUANTA, NULL, 0,
     "SONiC: the peer's response by 802.3's limit for the rate instead of 3.8 KB", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0},
};

/* A rate as people say it: 400G is 400Gbps. */
static int parse_rate(const char *text, xoff_rate *rate_bps)
{
    char longer[64];
    const size_t length = strlen(text);
    if (length && length < sizeof longer - 4 && strchr("kMGT", text[length - 1])) {
        snprintf(longer, sizeof longer, "%sbps", text);
        text = longer;
    }
    return xoff_parse_rate(text, rate_bps);
}

/* A whole number of bytes, with or without a unit, from `min` to `max`. */
static int64_t bytes_of(struct argp_state *state, const char *text, int64_t min, int64_t max)
{
    int64_t n;
    if ((xoff_parse_int(text, &n) && xoff_parse_bytes(text, &n)) || n < min || n > max)
        argp_error(state, "%s: must be a number from %lld to %lld", text, (long long)min,
                   (long long)max);
    return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct headroom_arguments *a = state->input;
    switch (key) {
    case OPTION_RATE:
        if (parse_rate(arg, &a->rate_bps) || a->rate_bps < XOFF_MBPS ||
            a->rate_bps > 10000 * XOFF_GBPS)
            argp_error(state, "%s: must be a rate from 1M to 10T, such as 400G", arg);
        return 0;
    case OPTION_LENGTH:
        if (xoff_parse_length(arg, &a->length_mm) || a->length_mm < 0 ||
            a->length_mm > 200000000000)
            argp_error(state, "%s: must be a length from 0m to 200000km, such as 100m", arg);
        return 0;
    case OPTION_MTU:
        a->frame_bytes = bytes_of(state, arg, 64, MAX_MTU);
        return 0;
    case OPTION_RESPONSE:
        a->quanta = bytes_of(state, arg, 0, MAX_QUANTA);
        return 0;
    case OPTION_SONIC:
        a->sonic = true;
        return 0;
    case OPTION_CELL:
        a->params.cell_bytes = (uint32_t)bytes_of(state, arg, 1, 65536);
        return 0;
    case OPTION_SMALL:
        a->params.small_percent = (double)bytes_of(state, arg, 0, 100);
        return 0;
    case OPTION_QUANTA:
        a->params.by_quanta = true;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: no file is read", arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->rate_bps)
            argp_error(state, "give the rate of the link: --rate 400G");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_part(const char *what, xoff_rate rate_bps, int64_t bytes)
{
    char text[32];
    const double seconds = (double)bytes * 8 / (double)rate_bps;
    printf("  %-44s %10s %12lld\n", what,
           bytes < 0 ? "" : cli_figure(text, sizeof text, seconds, "s"), (long long)bytes);
}

static void print_table(const struct headroom_arguments *a, const struct xoff_headroom_params *p)
{
    char rate[32], response[64];
    struct xoff_headroom_parts parts;
    xoff_headroom_split(p, &parts);
    const int64_t flight = xoff_bytes_in(2 * p->delay, p->rate_bps);
    printf("One lossless priority at %s over %g m, frames of up to %lld B\n\n",
           cli_figure(rate, sizeof rate, (double)p->rate_bps, "bps"), (double)a->length_mm / 1000,
           (long long)a->frame_bytes);
    printf("  %-44s %10s %12s\n", "what still arrives after XOFF is decided", "time", "bytes");
    print_part("the frame at whose end it is decided", p->rate_bps, parts.deciding_bytes);
    print_part("our port has just begun a largest frame", p->rate_bps, parts.own_frame_bytes);
    print_part("the pause frame", p->rate_bps, parts.pause_bytes);
    print_part("propagation, there and back", p->rate_bps, flight);
    snprintf(response, sizeof response, "response of the peer, %lld quanta", (long long)a->quanta);
    print_part(response, p->rate_bps, parts.away_bytes - flight);
    print_part("the peer has just begun a largest frame", p->rate_bps, parts.peer_frame_bytes);
    print_part("less gaps and preambles", p->rate_bps, -parts.overhead_bytes);
    printf("  %-44s %10s %12lld\n", "headroom in the worst case", "",
           (long long)xoff_headroom_bytes(p));
    printf("  %-44s %10s %12lld\n", "eta, the rule of the DSH slides", "",
           (long long)xoff_headroom_eta_bytes(p));
}

static void print_sonic(const struct headroom_arguments *a, const struct xoff_sonic_profile *s)
{
    printf("\nSONiC, cells of %u B, port MTU %u B:\n", a->params.cell_bytes,
           a->params.port_mtu_bytes);
    printf("# speed cable size    xon  xoff    threshold\n");
    printf("%llu   %gm    %lld   %lld %lld    0\n", (unsigned long long)(a->rate_bps / XOFF_MBPS),
           (double)a->length_mm / 1000, (long long)s->size_bytes, (long long)s->xon_bytes,
           (long long)s->xoff_bytes);
    printf("# of xoff %lld B come from rounding up to 1024 B\n", (long long)s->rounding_bytes);
}

static void print_json(const struct headroom_arguments *a, const struct xoff_headroom_params *p,
                       const struct xoff_sonic_profile *s)
{
    struct xoff_headroom_parts parts;
    xoff_headroom_split(p, &parts);
    json_t *all = json_pack(
        "{s:I, s:f, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "rate_bps",
        (json_int_t)p->rate_bps, "length_m", (double)a->length_mm / 1000, "max_frame_bytes",
        (json_int_t)p->max_frame_bytes, "response_quanta", (json_int_t)a->quanta, "headroom_bytes",
        (json_int_t)xoff_headroom_bytes(p), "eta_bytes", (json_int_t)xoff_headroom_eta_bytes(p),
        "parts", "deciding_bytes", (json_int_t)parts.deciding_bytes, "own_frame_bytes",
        (json_int_t)parts.own_frame_bytes, "pause_bytes", (json_int_t)parts.pause_bytes,
        "away_bytes", (json_int_t)parts.away_bytes, "peer_frame_bytes",
        (json_int_t)parts.peer_frame_bytes, "overhead_bytes", (json_int_t)parts.overhead_bytes);
    if (a->sonic)
        json_object_set_new(all, "sonic",
                            json_pack("{s:I, s:I, s:I, s:I}", "size", (json_int_t)s->size_bytes,
                                      "xon", (json_int_t)s->xon_bytes, "xoff",
                                      (json_int_t)s->xoff_bytes, "rounding",
                                      (json_int_t)s->rounding_bytes));
    json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(all);
}

int cmd_headroom(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Says how much room a lossless priority needs after XOFF, and for what.\v"
               "SONiC's profile has a port MTU of 9100 B, a lossless MTU of 1024 B, 0.8 KB for MAC "
               "and PHY and a pipeline of 19 KB, as its tables for Spectrum have.\n"
               "Example: xoff headroom --rate 400G --length 100m --mtu 9216 --sonic"};
    struct headroom_arguments a = {.frame_bytes = DEFAULT_MTU,
                                   .quanta = -1,
                                   .params = {.port_mtu_bytes = 9100,
                                              .lossless_mtu_bytes = 1024,
                                              .cell_bytes = 96,
                                              .small_percent = 100,
                                              .pipeline_kb = 19,
                                              .mac_phy_kb = 0.8,
                                              .peer_response_kb = 3.8}};
    cli_parse(&argp, argc, argv, 0, &a);
    if (a.quanta < 0)
        a.quanta = xoff_response_quanta(a.rate_bps);
    const struct xoff_headroom_params params = {
        .rate_bps = a.rate_bps,
        .delay = a.length_mm * XOFF_PS_PER_MM,
        .max_frame_bytes = (uint32_t)a.frame_bytes,
        .response_for = xoff_quanta_time((uint32_t)a.quanta, a.rate_bps)};
    a.params.rate_bps = a.rate_bps;
    a.params.length_mm = a.length_mm;
    const struct xoff_sonic_profile sonic = xoff_headroom_sonic(&a.params);
    if (a.json) {
        print_json(&a, &params, &sonic);
        return EXIT_FINE;
    }
    print_table(&a, &params);
    if (a.sonic)
        print_sonic(&a, &sonic);
    return EXIT_FINE;
}
