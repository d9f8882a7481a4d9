/* xoff resume: goes on with a run from the checkpoint in its folder of results. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/checkpoint.h"

struct resume_arguments {
    struct checkpoint how;
    const char *dir, *threads, *memory;
};

enum { OPTION_MEMORY = 768 };

static const struct argp_option options[] = {
    {"threads", 't', "N", 0,
     "Run on N threads from here on (default: as before); the results are the same", 0},
    {"memory", OPTION_MEMORY, "SIZE", 0,
     "Take at most SIZE from here on, such as 4GB (default: as before)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct resume_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->how;
        return 0;
    case 't':
        a->threads = arg;
        return 0;
    case OPTION_MEMORY:
        a->memory = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->dir)
            argp_error(state, "%s: one folder at a time", arg);
        a->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->dir)
            argp_error(state, "give the folder of results of a run with --checkpoint");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Enters the folder in which the command was given, since files are named from there. */
static int enter(const char *folder, struct xoff_err *err)
{
    if (!chdir(folder))
        return 0;
    const int reason = errno;
    xoff_err_set(err, XOFF_E_IO, "resume", folder,
                 "the folder in which the run was started cannot be entered: ");
    xoff_err_add(err, strerror(reason));
    return -XOFF_E_IO;
}

static int go_on(const struct resume_arguments *a, const struct checkpoint_command *command,
                 const char *dir)
{
    int argc = 1;
    while (command->words[argc - 1])
        argc++;
    char **argv = calloc((size_t)argc + 5, sizeof *argv);
    XOFF_ASSERT(argv);
    argv[0] = "xoff resume";
    memcpy(argv + 1, command->words, sizeof *argv * (size_t)(argc - 1));
    if (a->threads) {
        argv[argc++] = "--threads";
        argv[argc++] = (char *)a->threads;
    }
    if (a->memory) {
        argv[argc++] = "--memory";
        argv[argc++] = (char *)a->memory;
    }
    const int status = cli_run_again(argc, argv, dir, command->scenario, &a->how);
    free(argv);
    return status;
}

int cmd_resume(int argc, char **argv)
{
    static const struct argp_child children[] = {{&checkpoint_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DIR",
        .doc =
            "Goes on with a run that was killed or interrupted, from the last checkpoint in its "
            "folder of results, with the options that the run was started with. The results "
            "are those of a run without interruption.\v"
            "Exit status: as that of xoff run; 2 if there is no checkpoint, or it is damaged, of "
            "another version or of files that have changed since. It is then left as it is.\n"
            "Example: xoff run scenarios/quickstart.yaml --checkpoint 5m\n"
            "         xoff resume run-quickstart --threads 2\n"
            "         mpirun -n 4 xoff resume run-large",
        .children = children};
    struct resume_arguments a = {0};
    struct checkpoint_command command = {0};
    struct xoff_err err = {0};
    cli_parse(&argp, argc, argv, 0, &a);
    char *dir = realpath(a.dir, NULL), *here = getcwd(NULL, 0);
    int code = cli_start_ranks(&err);
    int status = code ? EXIT_BAD_INPUT : EXIT_FINE;
    if (code) {
        cli_print_error(&err);
    } else {
        code = checkpoint_read_command(a.dir, &command, &err);
        status = code ? EXIT_BAD_INPUT : EXIT_FINE;
        if (!code && (code = enter(command.folder, &err)))
            status = EXIT_FAILED;
        if (cli_agree(&status, code)) /* a rank may be on a machine without the folder */
            cli_print_error(&err);
    }
    if (!status)
        status = go_on(&a, &command, here && !strcmp(here, command.folder) ? a.dir : dir);
    checkpoint_command_fini(&command);
    free(here);
    free(dir);
    return status;
}
