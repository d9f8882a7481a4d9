/* Shared by shipped.c and shipped_text.c. No other file includes this. */
#ifndef REPRODUCE_SHIPPED_PARTS_H
#define REPRODUCE_SHIPPED_PARTS_H

#include "reproduce/shipped.h"

/* Digest of what a claim asks. */
void shipped_ask(const struct claim *claim, char hex[17]);

#endif
