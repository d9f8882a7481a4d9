/* Options and output that the verbs share. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <xoff/units.h>

#include "cli/cli.h"
#include "stats/folder.h"
#include "stats/text_stream.h"
#include "stats/whole.h"

enum { OPTION_SET = 256, OPTION_SEED, OPTION_THREADS, OPTION_MEMORY, OPTION_CELLS, OPTION_COMPAT };

static const struct argp_option table[] = {
    {"set", OPTION_SET, "KEY=VALUE", 0, "Change one key of the scenario, such as switch.pause=none",
     0},
    {"seed", OPTION_SEED, "N", 0, "Seed of all random streams", 0},
    {"threads", OPTION_THREADS, "N", 0,
     "Run on N threads; the results are the same. More than there are cores are no faster", 0},
    {"memory", OPTION_MEMORY, "SIZE", 0,
     "Memory that a run may take, such as 4GB; one that needs more is refused or ended early "
     "(default: what is free)",
     0},
    {"cell-bound", OPTION_CELLS, "TIME", OPTION_HIDDEN,
     "Join nodes by links with less lookahead than this; the results are the same", 0},
    {"compat", OPTION_COMPAT, "ns3", 0,
     "Frame sizes, whole nanoseconds and order of equal times as in the ns-3 RDMA family", 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {0},
};

void cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    errno = argp_parse(argp, argc, argv, flags, NULL, input);
    XOFF_ASSERT(errno == 0);
}

static void add_setting(struct cli_options *c, struct argp_state *state, const char *key,
                        const char *value)
{
    if (c->n_settings == CLI_MAX_SETTINGS)
        argp_error(state, "more than %d settings", CLI_MAX_SETTINGS);
    c->settings[c->n_settings++] = (struct plan_setting){key, value};
}

/* Threads without cores of their own make nothing faster. Up to four for each core cost little;
 * more are not used, since every one of them has a part of the network to keep apart. */
static uint32_t fit_threads(uint32_t n)
{
    cpu_set_t cores;
    const uint32_t n_cores =
        sched_getaffinity(0, sizeof cores, &cores) ? 64 : (uint32_t)CPU_COUNT(&cores);
    const uint32_t most = 4 * n_cores;
    if (n <= n_cores)
        return n;
    fprintf(stderr,
            "%swarning:%s --threads %u: there %s %u core%s; more threads than that are no faster",
            cli_style(stderr)->yellow, cli_style(stderr)->off, n, n_cores == 1 ? "is" : "are",
            n_cores, n_cores == 1 ? "" : "s");
    if (n > most)
        fprintf(stderr, ", %u are used", most);
    fputc('\n', stderr);
    return n < most ? n : most;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli_options *c = state->input;
    int64_t n;
    switch (key) {
    case OPTION_SET: {
        char *equals = strchr(arg, '=');
        if (!equals || equals == arg)
            argp_error(state, "--set %s: give KEY=VALUE, such as switch.buffer=16MB", arg);
        *equals = 0;
        add_setting(c, state, arg, equals + 1);
        return 0;
    }
    case OPTION_SEED:
        if (xoff_parse_int(arg, &n))
            argp_error(state, "--seed %s: give a whole number", arg);
        add_setting(c, state, "seed", arg);
        return 0;
    case OPTION_THREADS:
        if (xoff_parse_int(arg, &n) || n < 1 || n > 64)
            argp_error(state, "--threads %s: give a number from 1 to 64", arg);
        c->n_threads = fit_threads((uint32_t)n);
        return 0;
    case OPTION_MEMORY:
        if (xoff_parse_bytes(arg, &n) || n < 1)
            argp_error(state, "--memory %s: give a size such as 4GB", arg);
        c->memory_bytes = (uint64_t)n;
        return 0;
    case OPTION_CELLS:
        if (xoff_parse_time(arg, &c->cell_bound))
            argp_error(state, "--cell-bound %s: give a time such as 100ns", arg);
        return 0;
    case OPTION_COMPAT:
        if (strcmp(arg, "ns3"))
            argp_error(state, "--compat %s: there is ns3", arg);
        c->is_ns3 = true;
        return 0;
    case 'j':
        c->json = true;
        return 0;
    case ARGP_KEY_ARG:
        c->files = realloc(c->files, sizeof *c->files * (c->n_files + 1));
        XOFF_ASSERT(c->files);
        c->files[c->n_files++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_options_argp = {.options = table, .parser = parse};

void cli_options_init(struct cli_options *options)
{
    *options = (struct cli_options){
        .n_threads = 1, .memory_bytes = cli_free_memory(), .cell_bound = XOFF_PARAM_AUTO};
}

void cli_options_fini(struct cli_options *options)
{
    free(options->files);
}

const struct cli_style *cli_style(FILE *stream)
{
    static const struct cli_style plain = {"", "", "", "", "", ""};
    static const struct cli_style colour = {"\033[1m",  "\033[2m",  "\033[31m",
                                            "\033[32m", "\033[33m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !cli_is_terminal(stream))
        return &plain;
    return &colour;
}

uint32_t cli_columns(FILE *out)
{
    struct winsize size;
    const char *asked = getenv("COLUMNS");
    const long n = asked ? strtol(asked, NULL, 10) : 0;
    if (n >= 40 && n <= 1000)
        return (uint32_t)n;
    if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= 40)
        return size.ws_col;
    return 80;
}

static void print_place(FILE *out, const struct xoff_err *err)
{
    if (err->file[0])
        fprintf(out, "%s:", err->file);
    if (err->line)
        fprintf(out, "%d:%d:", err->line, err->column);
    if (err->file[0] || err->line)
        fputc(' ', out);
}

void cli_print_error(const struct xoff_err *err)
{
    const struct cli_style *s = cli_style(stderr);
    fputs(s->bold, stderr);
    print_place(stderr, err);
    fprintf(stderr, "%s%serror:%s ", s->off, s->red, s->off);
    if (err->subject[0])
        fprintf(stderr, "%s: ", err->subject);
    fprintf(stderr, "%s", err->message[0] ? err->message : xoff_err_text(err->code));
    if (err->value[0])
        fprintf(stderr, " (given: %s)", err->value);
    fputc('\n', stderr);
}

int cli_status(const struct xoff_err *err)
{
    return err->code == XOFF_E_NO_MEMORY ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static void print_words(FILE *out, const struct xoff_err *warning)
{
    if (warning->subject[0])
        fprintf(out, "%s: ", warning->subject);
    if (warning->value[0])
        fprintf(out, "%s: ", warning->value);
    fputs(warning->message, out);
}

void cli_print_warning(const struct xoff_err *warning)
{
    const struct cli_style *s = cli_style(stderr);
    fputs(s->bold, stderr);
    print_place(stderr, warning);
    fprintf(stderr, "%s%swarning:%s ", s->off, s->yellow, s->off);
    print_words(stderr, warning);
    fputc('\n', stderr);
}

char *cli_warning_text(const struct xoff_err *warning)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    XOFF_ASSERT(out);
    print_place(out, warning);
    print_words(out, warning);
    text_stream_close(out, &text);
    return text;
}

void cli_print_warnings(char *const *warnings, uint32_t n_warnings)
{
    const struct cli_style *s = cli_style(stderr);
    for (uint32_t i = 0; i < n_warnings; i++)
        fprintf(stderr, "%swarning:%s %s\n", s->yellow, s->off, warnings[i]);
}

int cli_write_text(const char *to, const char *mode, const char *text)
{
    FILE *out = fopen(to, mode);
    int reason = out ? 0 : errno;
    if (out && (fputs(text, out) < 0 || fflush(out)))
        reason = errno;
    if (out && fclose(out) && !reason)
        reason = errno;
    return reason;
}

static void write_text(FILE *out, const void *text)
{
    fputs(text, out);
}

int cli_open_folder(const char *path, const char *const *names, struct folder **folder)
{
    struct xoff_err err = {0};
    const int code = folder_open(path, names, folder, &err);
    if (!code)
        return EXIT_FINE;
    cli_print_error(&err);
    return code == -XOFF_E_CONFLICT ? EXIT_BAD_INPUT : EXIT_FAILED;
}

int cli_write_file(const char *path, const char *text)
{
    const int reason = whole_write(path, write_text, text);
    if (!reason)
        return EXIT_FINE;
    struct xoff_err err = {0};
    xoff_err_set(&err, XOFF_E_IO, NULL, NULL, "cannot be written: ");
    xoff_err_add(&err, strerror(reason));
    snprintf(err.file, sizeof err.file, "%s", path);
    cli_print_error(&err);
    return EXIT_FAILED;
}

int cli_cannot_write(const char *path, int reason, struct xoff_err *err)
{
    const int code = xoff_err_set(err, XOFF_E_IO, "output", NULL, "cannot write ");
    xoff_err_add(err, path);
    xoff_err_add(err, ": ");
    xoff_err_add(err, strerror(reason));
    return code;
}

char *cli_figure(char *buf, size_t size, double value, const char *unit)
{
    static const struct {
        const char *unit;
        double scale;
        const char *text;
    } scales[] = {
        {"s", 1, "s"},         {"s", 1e-3, "ms"},    {"s", 1e-6, "us"},    {"s", 0, "ns"},
        {"bps", 1e12, "Tb/s"}, {"bps", 1e9, "Gb/s"}, {"bps", 1e6, "Mb/s"}, {"bps", 0, "kb/s"},
        {"B", 1e9, "GB"},      {"B", 1e6, "MB"},     {"B", 1e3, "KB"},     {"B", 0, "B"},
    };
    static const double zero_scale[] = {['s'] = 1e-9, ['b'] = 1e3, ['B'] = 1};
    for (uint32_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (strcmp(unit, scales[i].unit) || value < scales[i].scale)
            continue;
        const double scale = scales[i].scale > 0 ? scales[i].scale : zero_scale[(int)unit[0]];
        if (value == 0)
            snprintf(buf, size, "0");
        else
            snprintf(buf, size, "%.4g %s", value / scale, scales[i].text);
        return buf;
    }
    if (!strcmp(unit, "ratio"))
        snprintf(buf, size, "%.4g", value);
    else
        snprintf(buf, size, "%.0f", value);
    return buf;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint64_t cli_peak_rss(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}
