/* Settings by dotted path, `switch.mmu.alpha` or `traffic.0.load`. They are applied to a document
 * before it is read, so a setting is checked exactly as a value in the file. */
#ifndef SCENARIO_SETTINGS_H
#define SCENARIO_SETTINGS_H

#include "scenario/plan.h"
#include "scenario/yaml.h"

/* Applies a variant's `set` entry; the value keeps its place in the file. On failure err has
 * subject and place. */
int settings_apply_node(struct yaml_doc *doc, const struct yaml_node *entry, struct xoff_err *err);

/* Applies `--set key=value`. A value that starts with [ or { is read as YAML, any other as text. */
int settings_apply_option(struct yaml_doc *doc, const struct plan_setting *setting,
                          struct xoff_err *err);

/* The order in which the settings of these keys are applied: as they are written, but a key before
 * all keys below it. Replacing `switch.mmu` would otherwise undo an earlier `switch.mmu.alpha`
 * without a word. Returns n indices, which the caller frees; NULL: not enough memory. */
uint32_t *settings_order(const char *const *keys, uint32_t n);

#endif
