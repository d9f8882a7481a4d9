/* --fork-at: the first variant runs alone up to a time, and all go on from its state
 * (docs/checkpoint.md). */
#ifndef CLI_FORK_H
#define CLI_FORK_H

#include "cli/cli.h"

struct fork {
    xoff_time at;
    struct image image; /* of the first variant at that time; n 0: it has not come there */
    double wall_s;      /* that it took up to there */
};

/* Refuses variants that differ in more than a state can go on with, and a time that is not before
 * their end. */
int fork_check(const struct scenario *scenario, xoff_time at, struct xoff_err *err);
/* Loads the state into the network of another variant, which has not run. */
int fork_load(const struct fork *fork, const struct plan *plan, struct net *net,
              struct xoff_err *err);

#endif
