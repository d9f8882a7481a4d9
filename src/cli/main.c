/* xoff: one command with verbs. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "stats/folder.h"

const char *argp_program_version = "xoff " XOFF_VERSION;
error_t argp_err_exit_status = EXIT_BAD_INPUT;

static const struct verb verb_run = {"run", "run scenarios and leave their results", cmd_run};
static const struct verb verb_resume = {"resume", "go on with a run that was interrupted",
                                        cmd_resume};
static const struct verb verb_report = {"report", "make the page of one or more runs", cmd_report};
static const struct verb verb_explain = {"explain", "say what happened in a run, and why",
                                         cmd_explain};
static const struct verb verb_reproduce = {
    "reproduce", "run the experiments of papers, say which claims hold", cmd_reproduce};
static const struct verb verb_sweep = {"sweep", "run a scenario over values of its keys",
                                       cmd_sweep};
static const struct verb verb_check = {"check", "read scenarios, build them, say what is wrong",
                                       cmd_check};
static const struct verb verb_topology = {"topology", "print the network a scenario builds",
                                          cmd_topology};
static const struct verb verb_convert = {
    "convert", "turn files of other simulators into a scenario", cmd_convert};
static const struct verb verb_conform = {"conform", "test a device for PFC, ETS, CN and DCBX",
                                         cmd_conform};
static const struct verb verb_headroom = {"headroom", "say how much room XOFF needs, and for what",
                                          cmd_headroom};
static const struct verb verb_decode = {"decode", "show the frames of a capture or of hex text",
                                        cmd_decode};
static const struct verb verb_encode = {"encode", "write a frame as hex digits or capture",
                                        cmd_encode};
static const struct verb verb_bench = {"bench", "measure the simulator itself", cmd_bench};
static const struct verb verb_schema = {"schema", "print the JSON schema of scenario files",
                                        cmd_schema};
const struct verb *const verbs[] = {&verb_run,       &verb_resume, &verb_report, &verb_explain,
                                    &verb_reproduce, &verb_sweep,  &verb_check,  &verb_topology,
                                    &verb_convert,   &verb_decode, &verb_encode, &verb_conform,
                                    &verb_headroom,  &verb_bench,  &verb_schema, NULL};

static void usage(FILE *out)
{
    fprintf(out, "xoff " XOFF_VERSION ": a laboratory for lossless Ethernet\n\n"
                 "Usage: xoff VERB [OPTION...] [FILE...]\n\n");
    for (uint32_t i = 0; verbs[i]; i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(out, "\nxoff VERB --help tells the options of a verb.\n"
                 "Example: xoff run scenarios/quickstart.yaml --threads 2\n");
}

/* Allocations are asserted, too. What a command has aside is removed as far as memory allows; what
 * is left, the next command removes, as after a kill. */
_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    static bool is_ending;
    cli_unmute();
    if (errno == ENOMEM) {
        if (!is_ending) {
            is_ending = true;
            fprintf(stderr, "xoff: not enough memory (%s:%d)\n", file, line);
            folder_abandon();
        }
        _exit(EXIT_FAILED);
    }
    fprintf(stderr, "xoff: internal error at %s:%d: %s does not hold; please report it\n", file,
            line, expression);
    abort();
}

/* For the JSON library, whose objects otherwise lack what there was no memory for. */
static void *allocate(size_t size)
{
    void *memory = malloc(size);
    XOFF_ASSERT(memory);
    return memory;
}

/* Returns `status`, or that of a failure where standard output did not take all. */
static int close_output(int status)
{
    const bool was_short = ferror(stdout);
    errno = 0;
    if (!fflush(stdout) && !was_short)
        return status;
    fprintf(stderr, "xoff: cannot write to standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status ? status : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(allocate, free);
    if (argc < 2) {
        usage(stderr);
        return EXIT_BAD_INPUT;
    }
    if (!strcmp(argv[1], "help") && argc > 2) { /* xoff help run */
        argv[1] = argv[2];
        argv[2] = "--help";
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return EXIT_FINE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("%s\n", argp_program_version);
        return EXIT_FINE;
    }
    for (uint32_t i = 0; verbs[i]; i++)
        if (!strcmp(argv[1], verbs[i]->name)) {
            char name[64];
            snprintf(name, sizeof name, "xoff %s", verbs[i]->name);
            argv[1] = name;
            if (!cli_enter_ranks(verbs[i]->name))
                return EXIT_BAD_INPUT;
            const int status = close_output(verbs[i]->run(argc - 1, argv + 1));
            cli_end_ranks();
            return status;
        }
    fprintf(stderr, "xoff: no verb %s; there are", argv[1]);
    for (uint32_t i = 0; verbs[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", verbs[i]->name);
    fprintf(stderr, " (see xoff --help)\n");
    return EXIT_BAD_INPUT;
}
