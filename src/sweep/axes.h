/* Values of parameters: shared by sweep_file.c, sweep_schema.c, axes.c and points.c alone. */
#ifndef SWEEP_AXES_H
#define SWEEP_AXES_H

#include "scenario/fields.h"
#include "sweep/sweep_file.h"

extern const struct xoff_param sweep_params[]; /* keys of a file with a plain value */
extern const struct xoff_param axes_range[];   /* keys of a range */

/* Reads an entry of `vary`: a list, or a range. */
int axes_read(struct fields_reader *r, struct sweep_file *file, const struct yaml_node *node,
              struct sweep_axis *axis);

/* The value at a share of a range, from 0 to 1, rounded; and its text, kept by the document. */
double axes_between(const struct sweep_axis *axis, double share);
const char *axes_text(struct sweep_file *file, const struct sweep_axis *axis, double number);

#endif
