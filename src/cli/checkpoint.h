/* Checkpoints of a run, from which `xoff resume` goes on: docs/checkpoint.md.
 *
 * There is a file for each variant in the folder of results, checkpoint-N.xoff, replaced as a whole
 * when the next one is complete. That of a variant that has ended holds its last state, from which
 * its results are collected again. All of them go when the results take their places.
 */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "cli/cli.h"

struct checkpoint {
    double every_s; /* seconds of wall time between two; 0: none are made by the clock */
    xoff_time at;   /* one is made at this simulated time, and the run ends there; 0: none */
    bool resumes;   /* the files of the folder are loaded */
    /* What the files say, and are compared with. */
    const char *dir; /* of the results */
    char **words;    /* the command's arguments, up to a NULL */
    const struct cli_options *options;
    const struct scenario *scenario;
};
/* --checkpoint and --checkpoint-at; input: struct checkpoint. */
extern const struct argp checkpoint_argp;

static inline bool checkpoint_is_wanted(const struct checkpoint *c)
{
    return c->every_s > 0 || c->at > 0 || c->resumes;
}

/* How far the run of a plan has come. */
struct checkpoint_state {
    xoff_time now;
    double wall_s; /* spent on it so far */
    bool is_over;
};

/* Writes the checkpoint of plan `index`, whose network rests. On failure the earlier one stays.
 * Ranks call it together, and have the same code. */
int checkpoint_write(const struct checkpoint *c, uint32_t index, struct net *net,
                     const struct checkpoint_state *state, struct xoff_err *err);
/* Loads the checkpoint of plan `index` into its network, which has not run. Without a file *state
 * is left alone, and the plan begins at 0. */
int checkpoint_load(const struct checkpoint *c, uint32_t index, struct net *net,
                    struct checkpoint_state *state, struct xoff_err *err);

/* Reads which rank has run which node, by the checkpoint of plan `index`; *parts is NULL, or the
 * caller's to free. Ranks load the state of the nodes that they had. */
int checkpoint_read_parts(const struct checkpoint *c, uint32_t index, uint32_t **parts, uint32_t *n,
                          struct xoff_err *err);

/* Runs the command of a checkpoint again, with its folder of results and the scenario as it was
 * (cmd_run.c). `how` has what is different now; its `at` counts, not that of the command. */
int cli_run_again(int argc, char **argv, const char *dir, const char *text,
                  const struct checkpoint *how);

/* The command of the run that a folder has checkpoints of, and the scenario as it was. */
struct checkpoint_command {
    char *folder; /* in which the command was given */
    char **words; /* its arguments, up to a NULL */
    char *scenario;
};
int checkpoint_read_command(const char *dir, struct checkpoint_command *command,
                            struct xoff_err *err);
void checkpoint_command_fini(struct checkpoint_command *command);
/* Whether the folder has any. */
bool checkpoint_is_in(const char *dir);

#endif
