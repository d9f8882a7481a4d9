/* What claims.c and figures.c share in reading claims.yaml; nobody else includes it. */
#ifndef REPRODUCE_CLAIMS_PARTS_H
#define REPRODUCE_CLAIMS_PARTS_H

#include "reproduce/claims.h"
#include "scenario/fields.h"

/* Where the reading stands. */
struct reading {
    struct fields_reader fields;
    struct paper *paper;
};

/* Fails unless all keys of the mapping are among `keys`. */
int claims_check_keys(struct reading *r, const struct yaml_node *node, const char *const *keys);
int claims_fail_missing(struct reading *r, const struct yaml_node *mapping, const char *key,
                        const char *message);
/* The text of a key: NULL where it is absent and `what`, which says what to give, is NULL. */
int claims_take_text(struct reading *r, const struct yaml_node *mapping, const char *key,
                     const char *what, const char **out);
/* A plain decimal number, signed; units and percents are not part of it. */
bool claims_is_number(const char *text, double *out);
int claims_take_number(struct reading *r, const struct yaml_node *node, double *out);
/* A name that is part of a selection PAPER/ID and of a page's address. */
int claims_check_id(struct reading *r, const struct yaml_node *mapping, const char *id);
int claims_take_expression(struct reading *r, const struct yaml_node *mapping, const char *key,
                           const char *what, bool is_comparison, struct expression *out);
/* scenario:, quick: and seeds:. */
int claims_read_experiment(struct reading *r, const struct yaml_node *mapping, bool is_required,
                           struct experiment *e);
/* A list in `mapping`; NULL where it is absent and not required. */
int claims_open_list(struct reading *r, const struct yaml_node *mapping, const char *key,
                     bool is_required, const struct yaml_node **list);

int claims_read_figure(struct reading *r, const struct yaml_node *node, struct figure *figure);

#endif
