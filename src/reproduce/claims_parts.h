/* Shared by claims.c and figures.c, which read claims.yaml. No other file includes this. */
#ifndef REPRODUCE_CLAIMS_PARTS_H
#define REPRODUCE_CLAIMS_PARTS_H

#include "reproduce/claims.h"
#include "scenario/fields.h"

/* State of the reader. */
struct reading {
    struct fields_reader fields;
    struct paper *paper;
};

/* Fails unless all keys of the mapping are among `keys`. */
int claims_check_keys(struct reading *r, const struct yaml_node *node, const char *const *keys);
int claims_fail_missing(struct reading *r, const struct yaml_node *mapping, const char *key,
                        const char *message);
/* Reads the text of a key. An absent key gives NULL if `what` is NULL; otherwise it is an error
 * that says `what` to give. */
int claims_take_text(struct reading *r, const struct yaml_node *mapping, const char *key,
                     const char *what, const char **out);
/* Accepts a plain signed decimal number, without unit or percent sign. */
bool claims_is_number(const char *text, double *out);
int claims_take_number(struct reading *r, const struct yaml_node *node, double *out);
/* Checks an id, which is part of a selection PAPER/ID and of a page's address. */
int claims_check_id(struct reading *r, const struct yaml_node *mapping, const char *id);
int claims_take_expression(struct reading *r, const struct yaml_node *mapping, const char *key,
                           const char *what, bool is_comparison, struct expression *out);
/* Reads scenario:, quick: and seeds:. */
int claims_read_experiment(struct reading *r, const struct yaml_node *mapping, bool is_required,
                           struct experiment *e);
/* Finds a list in `mapping`; NULL where it is absent and not required. */
int claims_open_list(struct reading *r, const struct yaml_node *mapping, const char *key,
                     bool is_required, const struct yaml_node **list);

int claims_read_figure(struct reading *r, const struct yaml_node *node, struct figure *figure);

#endif
