/* Reads what a claim is worth (kind, strength, the paper's own words), and the readings: other ways
 * to understand the paper, and what a claim comes to under each of them.
 *
 * A claim under another reading is a whole claim of its own: a copy in which the keys that the
 * reading gives replace those of the claim. So it is run and judged like any other.
 */
#include <stdlib.h>
#include <string.h>

#include "reproduce/claims_parts.h"

const char *const kind_words[N_KINDS] = {"number", "direction", "own"};
const char *const strength_words[N_STRENGTHS] = {"independent", "returned", "tuned"};
const char *const average_words[N_AVERAGES] = {"seeds", "metrics", "median"};

/* The reason for a strength stands in a key of the strength's name; another strength has none. */
static int read_strength_why(struct claims_reader *r, const struct yaml_node *node,
                             struct claim *claim)
{
    static const char *const wanted[N_STRENGTHS] = {
        [STRENGTH_RETURNED] = "which figure of the paper went in",
        [STRENGTH_TUNED] = "which parameter was chosen, and over what range it holds"};
    int rc = 0;
    for (uint32_t i = STRENGTH_RETURNED; i < N_STRENGTHS && !rc; i++) {
        const char *key = strength_words[i];
        if (i == claim->strength) {
            rc = claims_take_text(r, node, key, wanted[i], &claim->strength_why);
        } else if (yaml_find(node, key)) {
            char message[80];
            const size_t length = fields_enter(&r->fields, key);
            snprintf(message, sizeof message, "goes with strength: %s only", key);
            rc = fields_fail_key(&r->fields, yaml_find(node, key), XOFF_E_CONFLICT, message);
            fields_leave(&r->fields, length);
        }
    }
    return rc;
}

/* Reads a word that must be there. */
static int need_word(struct claims_reader *r, const struct yaml_node *node, const char *key,
                     const char *const *words, uint32_t n, const char *message, uint32_t *out)
{
    return yaml_find(node, key) ? claims_take_word(r, node, key, words, n, out)
                                : claims_fail_missing(r, node, key, message);
}

int claims_read_worth(struct claims_reader *r, const struct yaml_node *node, struct claim *claim)
{
    uint32_t kind = 0, strength = 0;
    int rc = need_word(r, node, "kind", kind_words, N_KINDS,
                       "missing; give number, direction or own: does the paper state it?", &kind);
    claim->kind = (enum claim_kind)kind;
    if (!rc && claim->kind == KIND_NUMBER && !claim->has_published)
        rc = claims_fail_missing(r, yaml_find(node, "kind"), "published",
                                 "missing; kind: number says that the paper states one");
    if (!rc)
        rc = need_word(r, node, "strength", strength_words, N_STRENGTHS,
                       "missing; give independent, returned or tuned: what is a result worth?",
                       &strength);
    claim->strength = (enum claim_strength)strength;
    if (!rc)
        rc = read_strength_why(r, node, claim);
    if (!rc)
        rc = claims_take_text(r, node, "chapter", NULL, &claim->chapter);
    if (!rc)
        rc = claims_take_text(r, node, "quote",
                              claim->kind == KIND_OWN ? NULL
                                                      : "the paper's own sentence, or kind: own",
                              &claim->quote);
    return rc;
}

static uint32_t find_reading(const struct paper *p, const char *id)
{
    uint32_t i = 0;
    while (i < p->n_readings && strcmp(p->readings[i].id, id))
        i++;
    return i;
}

/* Reads a declaration into its place: that of the plain reading, or a new one. */
static int declare(struct claims_reader *r, const struct yaml_node *node, bool *has_plain)
{
    static const char *const keys[] = {"id", "title", "text", "after_the_fact", NULL},
                             *const truths[] = {"false", "true"};
    struct paper *p = r->paper;
    struct reading reading = {0};
    uint32_t truth = 0;
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "id", "a short name such as cells", &reading.id);
    if (!rc)
        rc = claims_check_id(r, node, reading.id);
    if (!rc)
        rc = claims_take_text(r, node, "title", "what is assumed, in a few words", &reading.title);
    if (!rc)
        rc = claims_take_text(r, node, "text", NULL, &reading.text);
    if (!rc)
        rc = claims_take_word(r, node, "after_the_fact", truths, 2, &truth);
    if (rc)
        return rc;
    reading.is_after_the_fact = truth;
    const uint32_t i = find_reading(p, reading.id);
    if (i == PLAIN_READING ? *has_plain : i < p->n_readings) {
        const size_t length = fields_enter(&r->fields, "id");
        rc = fields_fail(&r->fields, yaml_find(node, "id"), XOFF_E_CONFLICT, "given twice");
        fields_leave(&r->fields, length);
        return rc;
    }
    *has_plain |= i == PLAIN_READING;
    p->n_readings += i == p->n_readings;
    p->readings[i] = reading;
    return 0;
}

int claims_declare_readings(struct claims_reader *r, const struct yaml_node *root)
{
    struct paper *p = r->paper;
    const struct yaml_node *list;
    bool has_plain = false;
    int rc = claims_open_list(r, root, "readings", false, &list);
    if (rc)
        return rc;
    p->readings = calloc(list ? list->n + 1 : 1, sizeof *p->readings);
    if (!p->readings)
        return fields_no_memory(&r->fields);
    p->readings[PLAIN_READING] = (struct reading){.id = "plain", .title = "as the text says"};
    p->n_readings = 1;
    const size_t length = fields_enter(&r->fields, "readings");
    uint32_t n = 0;
    for (const struct yaml_node *entry = list ? list->first : NULL; entry && !rc;
         entry = entry->next) {
        const size_t inner = fields_enter_index(&r->fields, n++);
        rc = declare(r, entry, &has_plain);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

/* Finds the declared reading that `reading:` names, which the claim must not have yet. */
static int name_reading(struct claims_reader *r, const struct yaml_node *node,
                        const struct claim *claim, uint32_t *out)
{
    const struct paper *p = r->paper;
    const char *id;
    int rc = claims_take_text(r, node, "reading", "the id of a reading declared above", &id);
    if (rc)
        return rc;
    char message[200] = "not declared in readings: of the paper; there are none";
    const uint32_t i = find_reading(p, id);
    bool is_good = i > PLAIN_READING && i < p->n_readings;
    if (i == PLAIN_READING)
        snprintf(message, sizeof message, "the plain reading is the claim itself");
    for (uint32_t k = 1; k < p->n_readings && i == p->n_readings; k++) {
        const size_t used = k == 1 ? 0 : strlen(message);
        snprintf(message + used, sizeof message - used, "%s %s", k == 1 ? "accepted:" : ",",
                 p->readings[k].id);
    }
    for (uint32_t k = 0; k + 1 < claim->n_readings; k++)
        if (is_good && claim->readings[k].reading == i) {
            snprintf(message, sizeof message, "given twice");
            is_good = false;
        }
    const size_t length = fields_enter(&r->fields, "reading");
    if (!is_good)
        rc = fields_fail(&r->fields, yaml_find(node, "reading"), XOFF_E_UNKNOWN, message);
    fields_leave(&r->fields, length);
    *out = i;
    return rc;
}

/* Reads scenario, quick and seeds of the reading; what it leaves out is the claim's. */
static int read_experiment(struct claims_reader *r, const struct yaml_node *node,
                           const struct claim *claim, struct experiment *out)
{
    struct experiment e = {0};
    const struct experiment *own = &claim->experiment;
    const int rc = claims_read_experiment(r, node, false, &e);
    if (!e.scenario) {
        e.scenario = own->scenario;
        e.place = own->place;
    }
    if (!yaml_find(node, "seeds"))
        e.n_seeds = own->n_seeds;
    if (!yaml_find(node, "quick")) {
        e.quick = own->quick;
        e.n_quick = own->n_quick;
        e.quick_place = own->quick_place;
        e.is_left_out_of_quick = own->is_left_out_of_quick;
    }
    *out = e;
    return rc;
}

static int read_expression(struct claims_reader *r, const struct yaml_node *node, const char *key,
                           bool is_comparison, struct expression *own)
{
    return yaml_find(node, key) ? claims_take_expression(r, node, key, NULL, is_comparison, own)
                                : 0;
}

/* `node` is the entry of the reading, `whole` that of its claim. */
static int read_reading(struct claims_reader *r, const struct yaml_node *node,
                        const struct yaml_node *whole, const struct claim *claim,
                        struct claim_reading *out)
{
    static const char *const keys[] = {"reading", "scenario",  "quick",   "seeds",
                                       "measure", "direction", "average", "verdict",
                                       "why",     "notes",     NULL};
    struct claim *own = out->claim = malloc(sizeof *own);
    if (!own)
        return fields_no_memory(&r->fields);
    *own = *claim;
    own->readings = NULL;
    own->n_readings = 0;
    own->at = (struct plan_place){node->line, node->column};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = name_reading(r, node, claim, &out->reading);
    if (!rc)
        rc = claims_read_verdict(r, node, own);
    if (!rc)
        rc = read_experiment(r, node, claim, &own->experiment);
    if (!rc && !own->experiment.scenario && own->recorded != VERDICT_UNTESTABLE)
        rc = claims_fail_missing(r, node, "scenario", "missing; the claim has none either");
    if (!rc)
        rc = read_expression(r, node, "measure", false, &own->measure);
    if (!rc)
        rc = read_expression(r, node, "direction", true, &own->direction);
    if (!rc)
        rc = claims_read_average(r, node, own);
    if (!rc)
        rc = claims_take_text(r, node, "notes", NULL, &own->notes);
    return rc ? rc : claims_check_testable(r, whole, node, own);
}

int claims_read_readings(struct claims_reader *r, const struct yaml_node *node, struct claim *claim)
{
    const struct yaml_node *list;
    int rc = claims_open_list(r, node, "readings", false, &list);
    if (rc || !list)
        return rc;
    claim->readings = calloc(list->n + 1, sizeof *claim->readings);
    if (!claim->readings)
        return fields_no_memory(&r->fields);
    const size_t length = fields_enter(&r->fields, "readings");
    for (const struct yaml_node *entry = list->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter_index(&r->fields, claim->n_readings);
        struct claim_reading *reading = &claim->readings[claim->n_readings++];
        rc = read_reading(r, entry, node, claim, reading);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

void claims_free_readings(struct claim *claim)
{
    for (uint32_t i = 0; i < claim->n_readings; i++) {
        struct claim *own = claim->readings[i].claim;
        if (own && own->experiment.quick != claim->experiment.quick)
            free(own->experiment.quick);
        free(own);
    }
    free(claim->readings);
}
