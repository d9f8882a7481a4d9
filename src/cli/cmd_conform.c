/* xoff conform: runs the conformance suites against a device. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xoff/conform.h>
#include <xoff/units.h>

#include "cli/cli.h"
#include "cli/conform_capture.h"
#include "conform/devices.h"
#include "stats/whole.h"
#include "wire/pcapng.h"

struct conform {
    const char *device, *suite, *test, *explain, *evidence, *serve, *pcap;
    xoff_rate rate_bps;
    bool json, lists, is_verbose, by_hand;
};

enum { OPTION_EXPLAIN = 256, OPTION_LIST, OPTION_RATE, OPTION_SERVE, OPTION_BY_HAND, OPTION_PCAP };

static const struct argp_option options[] = {
    {"device", 'd', "NAME", 0,
     "the device under test: reference (default), one of broken-..., tap:NAME,NAME... (interfaces) "
     "or files:TO,FROM",
     0},
    {"by-hand", OPTION_BY_HAND, NULL, 0, "a device behind tap: is configured already", 0},
    {"serve", OPTION_SERVE, "WHERE", 0,
     "be the device of a station elsewhere: tap:NAME,... or files:FROM,TO", 0},
    {"suite", 's', "NAME", 0, "only the tests of pfc, ets, cn or dcbx", 0},
    {"test", 't', "ID", 0, "only this test", 0},
    {"rate", OPTION_RATE, "RATE", 0, "rate of the ports (default 10Gbps; with tap: 1Mbps)", 0},
    {"evidence", 'e', "DIR", 0, "write the frames of each test to DIR/ID.pcapng", 0},
    {"pcap", OPTION_PCAP, "FILE", 0,
     "check what can be seen in a capture of a link (at --rate) instead", 0},
    {"list", OPTION_LIST, NULL, 0, "print tests and devices, and run nothing", 0},
    {"explain", OPTION_EXPLAIN, "ID", 0, "print purpose and procedure of a test", 0},
    {"verbose", 'v', NULL, 0, "print what was seen for tests that pass, too", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static bool is_suite(const char *name)
{
    for (uint32_t i = 0; i < xoff_conform_count(); i++)
        if (!strcmp(xoff_conform_test(i)->suite, name))
            return true;
    return false;
}

static const struct xoff_conform_test *find_test(const char *id)
{
    for (uint32_t i = 0; i < xoff_conform_count(); i++)
        if (!strcasecmp(xoff_conform_test(i)->id, id))
            return xoff_conform_test(i);
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct conform *c = state->input;
    switch (key) {
    case 'd':
        c->device = arg;
        return 0;
    case 's':
        if (!is_suite(arg))
            argp_error(state, "--suite %s: there is no such suite; see --list", arg);
        c->suite = arg;
        return 0;
    case 't':
    case OPTION_EXPLAIN:
        if (!find_test(arg))
            argp_error(state, "no test %s; see --list", arg);
        *(key == 't' ? &c->test : &c->explain) = arg;
        return 0;
    case OPTION_RATE:
        if (xoff_parse_rate(arg, &c->rate_bps) || c->rate_bps < 100 * XOFF_KBPS ||
            c->rate_bps > 800 * XOFF_GBPS)
            argp_error(state, "--rate %s: a rate from 100kbps to 800Gbps", arg);
        return 0;
    case 'e':
        c->evidence = arg;
        return 0;
    case OPTION_PCAP:
        c->pcap = arg;
        return 0;
    case OPTION_SERVE:
        c->serve = arg;
        return 0;
    case OPTION_BY_HAND:
        c->by_hand = true;
        return 0;
    case OPTION_LIST:
        c->lists = true;
        return 0;
    case 'v':
        c->is_verbose = true;
        return 0;
    case 'j':
        c->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: conform takes options only", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Evidence */

struct evidence {
    struct pcapng out;
    uint32_t step;
    xoff_time began_at, last_at; /* of the step, in the file; of the last frame, in the step */
};

#define MAX_FRAME_OCTETS 16384

static void grow(struct evidence *e, size_t needed)
{
    if (e->out.length + needed <= e->out.capacity)
        return;
    e->out.capacity = 2 * (e->out.capacity + needed);
    e->out.buf = realloc(e->out.buf, e->out.capacity);
    XOFF_ASSERT(e->out.buf);
}

static void witness(void *context, uint32_t step, const struct xoff_device_frame *frame,
                    bool is_from_device)
{
    struct evidence *e = context;
    char comment[128];
    if (step != e->step) {
        e->began_at += e->last_at + XOFF_MS;
        e->step = step;
    }
    e->last_at = frame->at > e->last_at ? frame->at : e->last_at;
    snprintf(comment, sizeof comment, "step %u, port %u, %s the device, ends at %.6f us%s", step,
             frame->port, is_from_device ? "from" : "to", (double)frame->at / (double)XOFF_US,
             frame->has_bad_fcs ? ", wrong FCS" : "");
    const struct pcapng_packet packet = {
        .at_ns = (uint64_t)((e->began_at + frame->at) / XOFF_NS),
        .octets = frame->octets,
        .captured_bytes = frame->length,
        .original_bytes = frame->length,
        .direction = is_from_device ? PCAPNG_INBOUND : PCAPNG_OUTBOUND,
        .comment = comment,
    };
    grow(e, PCAPNG_BLOCK_BYTES(MAX_FRAME_OCTETS));
    XOFF_ASSERT(xoff_pcapng_packet(&e->out, &packet));
}

static void begin_evidence(struct evidence *e, const struct conform *c,
                           const struct xoff_conform_test *test)
{
    *e = (struct evidence){.step = 1};
    grow(e, PCAPNG_BLOCK_BYTES(MAX_FRAME_OCTETS));
    const struct pcapng_interface about = {
        .name = test->id, .description = test->title, .speed_bps = c->rate_bps};
    XOFF_ASSERT(xoff_pcapng_section(&e->out, "xoff " XOFF_VERSION, test->purpose));
    XOFF_ASSERT(xoff_pcapng_interface(&e->out, &about));
}

static void write_octets(FILE *out, const void *context)
{
    const struct evidence *e = context;
    fwrite(e->out.buf, 1, e->out.length, out);
}

static int end_evidence(struct evidence *e, const struct conform *c,
                        const struct xoff_conform_test *test)
{
    char path[4096];
    struct xoff_err err;
    snprintf(path, sizeof path, "%s/%s.pcapng", c->evidence, test->id);
    const int reason = whole_write(path, write_octets, e);
    free(e->out.buf);
    if (!reason)
        return EXIT_FINE;
    cli_cannot_write(path, reason, &err);
    cli_print_error(&err);
    return EXIT_BAD_INPUT;
}

/* Printing */

static const char *const verdicts[] = {
    [XOFF_PASS] = "pass", [XOFF_FAIL] = "FAIL", [XOFF_SKIP] = "skip"};

/* Prints a text in lines of at most 80 columns behind `indent` spaces; the first is indented. */
static void print_wrapped(const char *text, int indent)
{
    const size_t width = 80 - (size_t)indent;
    while (*text) {
        size_t n = strlen(text);
        if (n > width)
            for (n = width; n > 1 && text[n] != ' ';)
                n--;
        printf("%*s%.*s\n", indent, "", (int)n, text);
        text += n;
        while (*text == ' ')
            text++;
    }
}

void cli_print_conform(const struct xoff_conform_result *r, bool is_verbose)
{
    const struct cli_style *s = cli_style(stdout);
    const char *colour = r->verdict == XOFF_PASS   ? s->green
                         : r->verdict == XOFF_FAIL ? s->red
                                                   : s->dim;
    printf("%-8s %s%s%s  %-36.36s %9llu frames\n", r->test->id, colour, verdicts[r->verdict],
           s->off, r->test->title, (unsigned long long)r->n_frames);
    if (r->verdict != XOFF_PASS || is_verbose)
        print_wrapped(r->observed, 15);
}

json_t *cli_conform_json(const struct xoff_conform_result *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "id", r->test->id, "suite",
                     r->test->suite, "title", r->test->title, "purpose", r->test->purpose,
                     "procedure", r->test->procedure, "verdict",
                     r->verdict == XOFF_FAIL ? "fail" : verdicts[r->verdict], "observed",
                     r->observed, "frames", (json_int_t)r->n_frames);
}

static int list(const struct conform *c)
{
    json_t *tests = json_array(), *devices = json_array();
    for (uint32_t i = 0; i < xoff_conform_count(); i++) {
        const struct xoff_conform_test *t = xoff_conform_test(i);
        if (c->json)
            json_array_append_new(tests,
                                  json_pack("{s:s, s:s, s:s, s:s}", "id", t->id, "suite", t->suite,
                                            "title", t->title, "purpose", t->purpose));
        else
            printf("%-8s %-4s  %s\n", t->id, t->suite, t->title);
    }
    if (!c->json)
        printf("\n");
    for (const struct xoff_conform_model *m = xoff_conform_models; m->name; m++)
        if (c->json)
            json_array_append_new(devices, json_pack("{s:s, s:s, s:s}", "name", m->name, "summary",
                                                     m->summary, "fails", m->fails));
        else
            printf("%-24s %s\n", m->name, m->summary);
    json_t *all = json_pack("{s:o, s:o}", "tests", tests, "devices", devices);
    if (c->json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(all);
    return EXIT_FINE;
}

static int explain(const struct conform *c)
{
    const struct xoff_conform_test *t = find_test(c->explain);
    const struct cli_style *s = cli_style(stdout);
    if (c->json) {
        json_t *text =
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", t->id, "suite", t->suite, "title",
                      t->title, "purpose", t->purpose, "procedure", t->procedure);
        json_dumpf(text, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(text);
        return EXIT_FINE;
    }
    printf("%s%s  %s%s (suite %s, %u ports)\n\nPurpose\n", s->bold, t->id, t->title, s->off,
           t->suite, t->n_ports);
    print_wrapped(t->purpose, 2);
    printf("\nProcedure\n");
    print_wrapped(t->procedure, 2);
    return EXIT_FINE;
}

/* Running */

static bool is_wanted(const struct conform *c, const struct xoff_conform_test *test)
{
    return (!c->suite || !strcmp(c->suite, test->suite)) &&
           (!c->test || !strcasecmp(c->test, test->id));
}

static int run_test(const struct conform *c, const struct xoff_conform_test *test,
                    const struct xoff_device *device, struct xoff_conform_result *result)
{
    struct evidence evidence;
    const struct xoff_conform_witness looks_on = {.context = &evidence, .frame = witness};
    if (c->evidence)
        begin_evidence(&evidence, c, test);
    xoff_conform_run(test, device, c->rate_bps, c->evidence ? &looks_on : NULL, result);
    return c->evidence ? end_evidence(&evidence, c, test) : EXIT_FINE;
}

static void print_sum(const struct conform *c, const uint32_t counts[3])
{
    printf("\n%s: %u passed, %u failed", c->device, counts[XOFF_PASS], counts[XOFF_FAIL]);
    if (counts[XOFF_SKIP])
        printf(", %u left out", counts[XOFF_SKIP]);
    printf("\n");
}

static int run_tests(const struct conform *c, const struct xoff_device *device)
{
    uint32_t counts[3] = {0};
    json_t *results = json_array();
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < xoff_conform_count() && status != EXIT_BAD_INPUT; i++) {
        struct xoff_conform_result result;
        if (!is_wanted(c, xoff_conform_test(i)))
            continue;
        status = run_test(c, xoff_conform_test(i), device, &result);
        counts[result.verdict]++;
        if (c->json)
            json_array_append_new(results, cli_conform_json(&result));
        else
            cli_print_conform(&result, c->is_verbose);
    }
    json_t *all =
        json_pack("{s:s, s:I, s:i, s:i, s:i, s:o}", "device", c->device, "rate_bps",
                  (json_int_t)c->rate_bps, "passed", (int)counts[XOFF_PASS], "failed",
                  (int)counts[XOFF_FAIL], "left_out", (int)counts[XOFF_SKIP], "tests", results);
    if (c->json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    } else {
        print_sum(c, counts);
    }
    json_decref(all);
    return status ? status : counts[XOFF_FAIL] ? EXIT_FAILED : EXIT_FINE;
}

/* Devices */

static struct xoff_device *open_device(const struct conform *c)
{
    struct xoff_device *device;
    struct xoff_err err = {0};
    errno = 0;
    if (!strncmp(c->device, "tap:", 4))
        device = tap_create(c->device + 4, c->by_hand, &err);
    else if (!strncmp(c->device, "files:", 6))
        device = files_create(c->device + 6, &err);
    else if (!(device = xoff_conform_model_create(c->device)))
        xoff_err_set(&err, XOFF_E_UNKNOWN, "device", c->device,
                     "there is no such device; xoff conform --list names them");
    XOFF_ASSERT(device || errno != ENOMEM);
    if (!device)
        cli_print_error(&err);
    return device;
}

static volatile bool is_stopped;

static void stop(int signal)
{
    (void)signal;
    is_stopped = true;
}

static int serve(const struct conform *c, const struct xoff_device *device)
{
    struct xoff_err err = {0};
    int code;
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!strncmp(c->serve, "tap:", 4))
        code = tap_serve(c->serve + 4, device, &is_stopped, &err);
    else if (!strncmp(c->serve, "files:", 6))
        code = files_serve(c->serve + 6, device, &err);
    else
        code =
            xoff_err_set(&err, XOFF_E_SYNTAX, "serve", c->serve, "tap:NAME,... or files:FROM,TO");
    if (code)
        cli_print_error(&err);
    return code ? EXIT_BAD_INPUT : EXIT_FINE;
}

int cmd_conform(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Tests a device for priority-based flow control, enhanced transmission selection, "
               "congestion notification and DCBX, and prints a verdict for each test.\v"
               "Example: xoff conform --suite pfc --device broken-two-classes\n"
               "Exit status: 0 all tests pass, 1 one fails, 2 bad input."};
    struct conform c = {.device = "reference"};
    cli_parse(&argp, argc, argv, 0, &c);
    if (!c.rate_bps) /* software keeps up with 1 Mb/s */
        c.rate_bps = strncmp(c.device, "tap:", 4) ? 10 * XOFF_GBPS : XOFF_MBPS;
    if (c.lists)
        return list(&c);
    if (c.explain)
        return explain(&c);
    if (c.pcap)
        return cli_conform_capture(c.pcap, c.rate_bps, c.json, c.is_verbose);
    struct xoff_device *device = open_device(&c);
    if (!device)
        return EXIT_BAD_INPUT;
    if (c.serve) {
        const int served = serve(&c, device);
        xoff_conform_destroy(device);
        return served;
    }
    if (c.evidence && mkdir(c.evidence, 0777) && errno != EEXIST) {
        struct xoff_err err;
        cli_cannot_write(c.evidence, errno, &err);
        cli_print_error(&err);
        xoff_conform_destroy(device);
        return EXIT_BAD_INPUT;
    }
    const int status = run_tests(&c, device);
    xoff_conform_destroy(device);
    return status;
}
