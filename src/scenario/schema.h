/* Parts of JSON schemas that files of several kinds share. */
#ifndef SCENARIO_SCHEMA_H
#define SCENARIO_SCHEMA_H

#include <jansson.h>

#include <xoff/param.h>

/* Makes a mapping that takes `properties`, the keys of a table, and no others. Those of `required`
 * and those of the table without a default must be there; NULL: none must. Takes ownership of
 * both. */
json_t *schema_mapping(json_t *properties, json_t *required, const struct xoff_param *table);
/* Prints a whole schema, and frees it; the caller frees the text. */
char *schema_text(json_t *schema, const char *title);

#endif
