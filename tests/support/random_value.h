/* Values drawn at random for the parameters of tables. */
#ifndef SUPPORT_RANDOM_VALUE_H
#define SUPPORT_RANDOM_VALUE_H

#include <xoff/param.h>
#include <xoff/rng.h>

#include "net/topo.h"

struct draw {
    struct xoff_rng rng;
    const struct topo *topo; /* NULL: not known yet */
    xoff_time stop;
    xoff_rate max_rate;
    uint8_t lossless;   /* mask of priorities */
    uint32_t node;      /* the switch drawn last */
    uint32_t n_traffic; /* entries of traffic so far; they are called t0, t1, ... */
};

#define DRAW_TEXT 256

/* No call may have two draws as arguments: compilers differ in the order of evaluation. */
uint32_t draw_below(struct draw *d, uint32_t n);
bool draw_chance(struct draw *d, uint32_t percent);

/* Draws a value as text for a parameter of the section or role at `path` ("switch.mmu",
 * "traffic[]"). A number is drawn around its default, within its range; where there is no default,
 * by its type and the size of the network. Texts are drawn by their key. Returns false if nothing
 * is known about such a text. */
bool draw_value(struct draw *d, const char *path, const struct xoff_param *p, char text[DRAW_TEXT]);

#endif
