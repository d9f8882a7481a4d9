/* xoff schema: the JSON schema of the files that people write. */
#include <stdlib.h>

#include "cli/cli.h"
#include "sweep/sweep_file.h"

static const struct argp_option options[] = {
    {"sweep", 's', NULL, 0, "Print that of sweep files", 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bool *is_sweep = state->input;
    (void)arg;
    if (key != 's')
        return ARGP_ERR_UNKNOWN;
    *is_sweep = true;
    return 0;
}

int cmd_schema(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Prints the JSON schema of scenario files, for completion in an editor.\v"
               "Example: xoff schema > xoff.schema.json"};
    bool is_sweep = false;
    cli_parse(&argp, argc, argv, 0, &is_sweep);
    char *text = is_sweep ? sweep_schema() : scenario_schema();
    fputs(text, stdout);
    free(text);
    return ferror(stdout) ? EXIT_FAILED : EXIT_FINE;
}
