/* README.md of a paper: what it claims, what holds, and why the rest does not (readme.c). */
#ifndef REPRODUCE_README_H
#define REPRODUCE_README_H

#include "reproduce/scoreboard.h"

#define README_FILE "README.md"

/* Makes the page from a paper whose judgements are the shipped ones. The caller frees it. */
char *readme_text(const struct scored_paper *paper);

#endif
