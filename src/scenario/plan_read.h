/* One plan from one document tree (scenario/plan_read.c). */
#ifndef SCENARIO_PLAN_READ_H
#define SCENARIO_PLAN_READ_H

#include "scenario/fields.h"

/* Keys of the file that are not in section_top; NULL-terminated. */
extern const char *const plan_sections[];

/* A validated plan of the document; file, text and variant are the caller's to fill. */
int plan_create(struct fields_reader *r, const struct yaml_node *root, struct plan **out);
void plan_destroy(struct plan *plan);

/* Topology, switches, traffic and curves, split off for length. They fill what belongs to the plan;
 * on failure the caller destroys it. */
int plan_read_topology(struct fields_reader *r, const struct yaml_node *root,
                       struct plan_topology *topology);
int plan_read_switch(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
/* Entries inherit what `switch` has, marking included: it is chosen before. */
int plan_read_switches(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
int plan_choose_marking(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
int plan_check_headroom(struct fields_reader *r, const struct yaml_node *root,
                        const struct plan *plan);
int plan_read_curves(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
int plan_read_traffic(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);

/* The parameters of a kind, from a mapping (whose keys `others` the caller reads), a word or
 * nothing, on top of `base` (NULL: the defaults); malloc'ed into *params, also on failure. */
int plan_read_kind(struct fields_reader *r, const struct yaml_node *node, const struct kind *kind,
                   const void *base, const char *const *others, void **params);

#endif
