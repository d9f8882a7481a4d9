/* xoff decode: frames out of captures or hex text, for people or as JSON. */
#include <stdlib.h>
#include <string.h>

#include <xoff/dcbx_tlv.h>

#include "cli/cli.h"
#include "cli/frame_text.h"
#include "cli/frames_in.h"

enum { OPTION_ONLY = 256, OPTION_COUNT, OPTION_FCS, OPTION_TELEMETRY };
#define ONLY_MALFORMED (1u << N_LAYER_KINDS) /* beside the kinds of layers */

struct decode_arguments {
    const char *file;
    uint32_t only; /* kinds to print, a bit each; 0: all */
    bool is_json, is_count, has_fcs, has_telemetry;
};

/* What the end tells of all frames, printed or not. */
struct decode_sums {
    uint64_t n_frames, n_bytes, n_matching;
    uint64_t n_malformed, n_snapped, n_foreign; /* `foreign`: of a link that is no Ethernet */
    uint64_t n_bad_fcs, n_bad_icrc, n_bad_checksums;
    uint64_t n_of[N_LAYER_KINDS]; /* frames with a header of each kind */
    bool has_time;
    uint64_t first_ns, last_ns;
};

struct decoder {
    const struct decode_arguments *arguments;
    struct decode_sums sums;
    struct crc32 crc32;
    struct layers layers;
    struct xoff_ctlos ctlos;
    struct xoff_dcbx_pdu pdu;
    struct values values;
};

static const struct argp_option options[] = {
    {"only", OPTION_ONLY, "KIND,...", 0,
     "Print frames with one of these only: pause, pfc, cc-update, mac-control, cnm, cn-tag, bcn, "
     "rrt, rate-tag, notice, lldp, ipv4, udp, tcp, roce, aeth, cnp, hpcc, ctlos, malformed",
     0},
    {"count", OPTION_COUNT, NULL, 0, "Print no frames, only the summary", 0},
    {"fcs", OPTION_FCS, NULL, 0,
     "Frames end with their FCS (default: as the capture says; in hex text, if it is right)", 0},
    {"telemetry", OPTION_TELEMETRY, NULL, 0, "HPCC's header follows the BTH of RoCEv2 frames", 0},
    {"json", 'j', NULL, 0, "Print a line of JSON for each frame", 0},
    {0},
};

static void parse_only(struct argp_state *state, struct decode_arguments *a, char *list)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        uint32_t kind = 0;
        while (kind < N_LAYER_KINDS && strcmp(name, xoff_layer_name(kind)))
            kind++;
        if (kind == N_LAYER_KINDS && strcmp(name, "malformed"))
            argp_error(state, "--only %s: there is no such kind; --help lists them", name);
        a->only |= 1u << kind;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct decode_arguments *a = state->input;
    switch (key) {
    case OPTION_ONLY:
        parse_only(state, a, arg);
        return 0;
    case OPTION_COUNT:
        a->is_count = true;
        return 0;
    case OPTION_FCS:
        a->has_fcs = true;
        return 0;
    case OPTION_TELEMETRY:
        a->has_telemetry = true;
        return 0;
    case 'j':
        a->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->file)
            argp_error(state, "more than one file given");
        a->file = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* An ordered set has eight octets, less than any frame. */
static bool is_ctlos(const struct capture_frame *frame)
{
    return !frame->interface && frame->captured == XOFF_CTLOS_OCTETS;
}

static int decode_ethernet(struct decoder *d, const struct capture_frame *frame,
                           struct xoff_err *err)
{
    const struct decode_arguments *a = d->arguments;
    const struct layers_in in = {
        .octets = frame->octets,
        .captured = frame->captured,
        .original = frame->original,
        .fcs_octets = (int8_t)(a->has_fcs         ? 4
                               : frame->interface ? frame->fcs_octets
                                                  : LAYERS_FIND_FCS),
        .has_telemetry = a->has_telemetry,
        .crc32 = &d->crc32,
    };
    int code = xoff_layers_decode(&in, &d->layers, err);
    if (!code && d->layers.kinds >> LAYER_LLDP & 1 && frame->captured == frame->original) {
        struct xoff_lldp lldp;
        err->code = XOFF_E_OK;
        xoff_dcbx_pdu_decode(frame->octets, d->layers.payload_end, &lldp, &d->pdu, err);
        code = -(int)err->code;
    }
    return code;
}

/* Fills d->layers, or d->ctlos. Returns 0, or a negative code where the frame is malformed. */
static int decode(struct decoder *d, const struct capture_frame *frame, struct xoff_err *err)
{
    d->layers.n = d->layers.kinds = 0;
    d->layers.payload_at = d->layers.payload_end = 0;
    d->layers.fcs = d->layers.icrc = CHECK_ABSENT;
    d->layers.ip_checksum = d->layers.l4_checksum = CHECK_ABSENT;
    d->layers.is_snapped = false;
    if (frame->interface && frame->interface->link_type != CAPTURE_ETHERNET)
        return 0;
    if (!is_ctlos(frame))
        return decode_ethernet(d, frame, err);
    const int end = xoff_ctlos_decode(frame->octets, frame->captured, &d->ctlos, err);
    d->layers.kinds = end < 0 ? 0 : 1u << LAYER_CTLOS;
    return end < 0 ? end : 0;
}

static void add_up(struct decode_sums *sums, const struct capture_frame *frame,
                   const struct layers *layers, bool is_malformed)
{
    sums->n_frames++;
    sums->n_bytes += frame->original;
    sums->n_malformed += is_malformed;
    sums->n_snapped += layers->is_snapped;
    sums->n_foreign += frame->interface && frame->interface->link_type != CAPTURE_ETHERNET;
    sums->n_bad_fcs += layers->fcs == CHECK_BAD;
    sums->n_bad_icrc += layers->icrc == CHECK_BAD;
    sums->n_bad_checksums += layers->ip_checksum == CHECK_BAD || layers->l4_checksum == CHECK_BAD;
    for (uint32_t kinds = layers->kinds; kinds; kinds &= kinds - 1)
        sums->n_of[__builtin_ctz(kinds)]++;
    if (frame->has_time) {
        if (!sums->has_time)
            sums->first_ns = frame->at_ns;
        sums->last_ns = frame->at_ns;
        sums->has_time = true;
    }
}

/* "frame 12  0.000001234 s  64 B  leaf0:3 to spine1, out" */
static void print_head(struct decoder *d, const struct capture_frame *frame)
{
    static const char *const directions[] = {"", "in", "out"};
    struct values *f = &d->values;
    const char *name = frame->interface ? frame->interface->name : "";
    if (!f->is_json) {
        const struct cli_style *s = cli_style(stdout);
        printf("%sframe %llu%s", s->bold, (unsigned long long)d->sums.n_frames, s->off);
        if (frame->has_time)
            printf("  %llu.%09llu s", (unsigned long long)(frame->at_ns / 1000000000),
                   (unsigned long long)(frame->at_ns % 1000000000));
        printf("  %u B", frame->original);
        if (frame->captured < frame->original)
            printf(", %u kept", frame->captured);
        printf("%s%s%s%s\n", *name ? "  " : "", name, frame->direction ? "  " : "",
               directions[frame->direction]);
        return;
    }
    values_unsigned(f, "frame", d->sums.n_frames);
    if (frame->has_time)
        values_unsigned(f, "time_ns", frame->at_ns);
    values_unsigned(f, "bytes", frame->original);
    values_unsigned(f, "captured_bytes", frame->captured);
    if (*name)
        values_text(f, "interface", name);
    if (frame->direction)
        values_text(f, "direction", directions[frame->direction]);
}

static void print_frame(struct decoder *d, const struct capture_frame *frame,
                        const struct xoff_err *err)
{
    struct values *f = &d->values;
    values_begin_line(f);
    print_head(d, frame);
    values_begin_groups(f, "layers");
    if (d->layers.kinds >> LAYER_CTLOS & 1)
        frame_print_ctlos(f, &d->ctlos);
    else
        frame_print_layers(f, &d->layers, frame->octets, err);
    if (frame->interface && frame->interface->link_type != CAPTURE_ETHERNET) {
        values_begin(f, "foreign");
        values_unsigned(f, "link_type", frame->interface->link_type);
        values_end(f);
    }
    if (err)
        frame_print_error(f, err);
    values_end_groups(f);
    values_end_line(f);
}

/* Takes one frame. Returns whether it is well formed. */
static bool take(struct decoder *d, const struct capture_frame *frame)
{
    const struct decode_arguments *a = d->arguments;
    struct xoff_err err;
    const bool is_malformed = decode(d, frame, &err) < 0;
    add_up(&d->sums, frame, &d->layers, is_malformed);
    const uint32_t kinds = d->layers.kinds | (is_malformed ? ONLY_MALFORMED : 0);
    const bool is_wanted = !a->only || a->only & kinds;
    d->sums.n_matching += is_wanted;
    if (!a->is_count && is_wanted)
        print_frame(d, frame, is_malformed ? &err : NULL);
    if (is_malformed && a->is_count && d->sums.n_malformed == 1) {
        err.line = err.column = 0;
        snprintf(err.file, sizeof err.file, "frame %llu", (unsigned long long)d->sums.n_frames);
        cli_print_error(&err);
    }
    return !is_malformed;
}

static void print_sum(struct values *f, const char *name, uint64_t n)
{
    if (n)
        values_unsigned(f, name, n);
}

static void print_sums(struct decoder *d)
{
    const struct decode_sums *sums = &d->sums;
    struct values *f = &d->values;
    char text[32];
    if (f->is_json) {
        fputs("{\"summary\":", stdout);
        values_begin_line(f);
    } else {
        values_begin(f, "summary");
    }
    values_unsigned(f, "frames", sums->n_frames);
    if (d->arguments->only)
        values_unsigned(f, "matching", sums->n_matching);
    values_unsigned(f, "bytes", sums->n_bytes);
    if (sums->has_time && f->is_json)
        values_unsigned(f, "span_ns", sums->last_ns - sums->first_ns);
    else if (sums->has_time)
        values_text(
            f, "span",
            cli_figure(text, sizeof text, (double)(sums->last_ns - sums->first_ns) * 1e-9, "s"));
    for (uint32_t kind = LAYER_ETH + 1; kind < N_LAYER_KINDS; kind++)
        print_sum(f, xoff_layer_name(kind), sums->n_of[kind]);
    print_sum(f, "malformed", sums->n_malformed);
    print_sum(f, "bad_fcs", sums->n_bad_fcs);
    print_sum(f, "bad_icrc", sums->n_bad_icrc);
    print_sum(f, "bad_checksum", sums->n_bad_checksums);
    print_sum(f, "snapped", sums->n_snapped);
    print_sum(f, "foreign", sums->n_foreign);
    fputs(f->is_json ? "}}\n" : "\n", stdout);
}

static int decode_file(struct decoder *d, struct frames_in *in)
{
    struct capture_frame frame;
    struct xoff_err err = {0};
    int answer, status = EXIT_FINE;
    while ((answer = frames_next(in, &frame, &err)) > 0 && !ferror(stdout))
        if (!take(d, &frame))
            status = EXIT_FAILED;
    print_sums(d);
    if (answer < 0) {
        fflush(stdout);
        cli_print_error(&err);
        status = EXIT_FAILED;
    }
    return status;
}

int cmd_decode(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Decodes frames of a pcap or pcapng capture, or of hex text, from FILE or standard "
               "input.\v"
               "Hex text has a frame on each line, or dumps as hexdump -C, xxd and Wireshark print "
               "them. Frames that are malformed are shown as far as they are good, with the field, "
               "its offset and the reason; formats and their sources are in docs/wire.md.\n"
               "Exit status: 0 fine, 1 something is malformed or the file is cut off, 2 bad "
               "input.\n"
               "Example: xoff decode --only pfc,cnm capture-leaf0-3.pcapng\n"
               "Example: xoff encode pfc --pause 3:65535 | xoff decode -j"};
    struct decode_arguments a = {0};
    cli_parse(&argp, argc, argv, 0, &a);
    struct xoff_err err = {0};
    struct frames_in *in = frames_open(a.file, &err);
    if (!in) {
        cli_print_error(&err);
        return EXIT_BAD_INPUT;
    }
    struct decoder *d = calloc(1, sizeof *d);
    XOFF_ASSERT(d);
    d->arguments = &a;
    d->values = (struct values){.out = stdout, .is_json = a.is_json};
    xoff_crc32_init(&d->crc32);
    const int status = decode_file(d, in);
    frames_close(in);
    free(d);
    return status;
}
