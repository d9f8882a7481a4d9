/* Makes one plan from one document tree (scenario/plan_read.c). */
#ifndef SCENARIO_PLAN_READ_H
#define SCENARIO_PLAN_READ_H

#include "scenario/fields.h"

/* Keys of the file that are not in section_top; NULL-terminated. */
extern const char *const plan_sections[];

/* Makes a validated plan of the document; the caller fills in file, text and variant. */
int plan_create(struct fields_reader *r, const struct yaml_node *root, struct plan **out);
void plan_destroy(struct plan *plan);

/* These read topology, switches, traffic and curves into the plan; on failure the caller destroys
 * the plan. */
int plan_read_topology(struct fields_reader *r, const struct yaml_node *root,
                       struct plan_topology *topology);
int plan_read_switch(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
/* Entries inherit the keys of `switch`, including its marking, so marking must be chosen before. */
int plan_read_switches(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
int plan_choose_marking(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
int plan_check_unused(struct fields_reader *r, const struct yaml_node *root,
                      const struct plan *plan);
int plan_check_headroom(struct fields_reader *r, const struct yaml_node *root,
                        const struct plan *plan);
int plan_read_curves(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
int plan_read_traffic(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
/* Receivers name traffic, which must have been read before. */
int plan_read_receivers(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
/* Reads `lldp` and `dcbx`; priorities must have been read before. */
int plan_read_dcbx(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
void plan_free_receivers(struct plan *plan);

/* Cuts the next entry of a comma-separated list without the spaces around it; false: no more. */
bool plan_next_entry(const char **at, char *buf, size_t size);
/* Makes room for the entries of a list; none if it is absent. */
int plan_begin_list(struct fields_reader *r, const struct yaml_node *node, size_t entry_size,
                    void **entries);

/* Reads the parameters of a kind from a mapping (whose keys `others` the caller reads), a word or
 * nothing. They start from `base` (NULL: the defaults). *params is malloc'ed, also on failure. */
int plan_read_kind(struct fields_reader *r, const struct yaml_node *node, const struct kind *kind,
                   const void *base, const char *const *others, void **params);

#endif
