/* xoff convert: turns files of other simulators into a scenario. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "import/hpcc.h"

struct convert_arguments {
    const char *format, *file, *output;
    bool compat_ns3;
};

enum { OPTION_COMPAT = 512 };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the scenario there (default, and -: standard output)", 0},
    {"compat", OPTION_COMPAT, "NAME", 0,
     "Repeat the frame sizes and whole-nanosecond times of ns3, for comparison with its results",
     0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct convert_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = strcmp(arg, "-") ? arg : NULL;
        return 0;
    case OPTION_COMPAT:
        if (strcmp(arg, "ns3"))
            argp_error(state, "--compat %s: there is ns3", arg);
        a->compat_ns3 = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!a->format && strcmp(arg, "hpcc"))
            argp_error(state, "no format %s; there is hpcc", arg);
        if (!a->format)
            a->format = arg;
        else if (!a->file)
            a->file = arg;
        else
            argp_error(state, "more than one file given");
        return 0;
    case ARGP_KEY_END:
        if (!a->file)
            argp_error(state, "give a format and a file, such as: hpcc config.txt");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Returns the flow file's path relative to the scenario's folder; NULL: no memory. */
static char *flow_path(const struct hpcc_config *config, const char *output)
{
    const char *slash = output ? strrchr(output, '/') : NULL;
    char *folder = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup("");
    char *path = folder ? hpcc_path_from(folder, config->flow_path) : NULL;
    free(folder);
    return path;
}

int cmd_convert(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "hpcc FILE",
        .doc = "Turns the files of another simulator into a scenario.\v"
               "hpcc: a config.txt of the ns-3 RDMA family, with the topology and flow files it "
               "names; what each key becomes is in docs/import.md. The scenario names the flow "
               "file, it does not contain it. Warnings go to standard error.\n"
               "Exit status: 0 fine, 1 the scenario could not be written, 2 bad input.\n"
               "Example: xoff convert hpcc mix/config.txt -o hpcc.yaml --compat ns3"};
    struct convert_arguments a = {0};
    cli_parse(&argp, argc, argv, 0, &a);
    struct hpcc_config *config;
    struct xoff_err err = {0};
    if (hpcc_read(a.file, &config, &err)) {
        cli_print_error(&err);
        return EXIT_BAD_INPUT;
    }
    cli_print_warnings(config->warnings, config->n_warnings);
    char *flows = flow_path(config, a.output);
    char *text = flows ? hpcc_to_yaml(config, a.compat_ns3, flows, &err) : NULL;
    int status = EXIT_FINE;
    if (!flows)
        xoff_err_set(&err, XOFF_E_NO_MEMORY, NULL, NULL, "not enough memory");
    if (!text) {
        cli_print_error(&err);
        status = EXIT_BAD_INPUT;
    } else if (a.output)
        status = cli_write_file(a.output, text);
    else
        fputs(text, stdout);
    free(text);
    free(flows);
    hpcc_destroy(config);
    return status;
}
