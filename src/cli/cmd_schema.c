/* xoff schema: the JSON schema of scenario files. */
#include <stdlib.h>

#include "cli/cli.h"

int cmd_schema(int argc, char **argv)
{
    static const struct argp argp = {
        .doc = "Prints the JSON schema of scenario files, for completion in an editor.\v"
               "Example: xoff schema > xoff.schema.json"};
    cli_parse(&argp, argc, argv, 0, NULL);
    char *text = scenario_schema();
    fputs(text, stdout);
    free(text);
    return ferror(stdout) ? EXIT_FAILED : EXIT_FINE;
}
