/* Reads mappings into structs by parameter tables.
 *
 * One walk follows the keys in the order of the file, so that the first mistake in the file is the
 * one reported; required keys that are missing are reported afterwards. The error for an unknown
 * key names the nearest accepted key and lists all keys that are accepted there.
 */
#include "scenario/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t fields_enter(struct fields_reader *r, const char *step)
{
    const size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "%s%s", length ? "." : "", step);
    return length;
}

size_t fields_enter_index(struct fields_reader *r, uint32_t index)
{
    char step[16];
    snprintf(step, sizeof step, "%u", (unsigned)index);
    return fields_enter(r, step);
}

void fields_leave(struct fields_reader *r, size_t length)
{
    r->path[length] = '\0';
}

/* A value that an option set has no place in the file, so the error names the option instead. */
static int locate(struct fields_reader *r, const char *option, int line, int column, int rc)
{
    struct xoff_err *err = r->err;
    if (option) {
        err->file[0] = '\0';
        err->line = 0;
        err->column = 0;
        snprintf(err->subject, sizeof err->subject, "--set %s", option);
        if (strcmp(option, r->path) != 0) {
            char message[sizeof err->message];
            memcpy(message, err->message, sizeof message);
            xoff_err_set(err, err->code, err->subject, err->value, r->path);
            xoff_err_add(err, ": ");
            xoff_err_add(err, message);
        }
        return rc;
    }
    snprintf(err->file, sizeof err->file, "%s", r->file);
    xoff_err_set(err, err->code, r->path[0] ? r->path : "scenario", err->value, err->message);
    err->line = line ? line : 1;
    err->column = column ? column : 1;
    return rc;
}

int fields_fail(struct fields_reader *r, const struct yaml_node *node, enum xoff_err_code code,
                const char *message)
{
    xoff_err_set(r->err, code, NULL, node->text, message);
    return fields_locate(r, node, -(int)code);
}

int fields_fail_key(struct fields_reader *r, const struct yaml_node *node, enum xoff_err_code code,
                    const char *message)
{
    xoff_err_set(r->err, code, NULL, NULL, message);
    return locate(r, node->option, node->key_line, node->key_column, -(int)code);
}

int fields_locate(struct fields_reader *r, const struct yaml_node *node, int rc)
{
    return locate(r, node->option, node->line, node->column, rc);
}

int fields_no_memory(struct fields_reader *r)
{
    return xoff_err_set(r->err, XOFF_E_NO_MEMORY, "scenario", NULL,
                        "not enough memory to read the scenario");
}

static const char *kind_text(enum yaml_kind kind)
{
    static const char *const texts[] = {[YAML_EMPTY] = "nothing",
                                        [YAML_SCALAR] = "a plain value",
                                        [YAML_MAPPING] = "a mapping",
                                        [YAML_SEQUENCE] = "a list"};
    return texts[kind];
}

/* "<kind given> is given here; give <accepts>" */
static int fail_kind(struct fields_reader *r, const struct yaml_node *node, const char *accepts)
{
    char message[sizeof r->err->message];
    snprintf(message, sizeof message, "%s is given; give %s", kind_text(node->kind), accepts);
    return fields_fail(r, node, node->kind == YAML_EMPTY ? XOFF_E_MISSING : XOFF_E_TYPE, message);
}

int fields_want(struct fields_reader *r, const struct yaml_node *node, enum yaml_kind kind,
                const char *what)
{
    return node->kind == kind ? 0 : fail_kind(r, node, what);
}

/* The keys that a place accepts: those of the table, then the others, which may repeat some. */
struct key_walk {
    const struct xoff_param *table, *p;
    const char *const *other;
};

static bool has_key(const struct xoff_param *table, const char *key)
{
    for (; table && table->name; table++)
        if (!strcmp(table->name, key))
            return true;
    return false;
}

static const char *next_key(void *state)
{
    struct key_walk *walk = state;
    if (walk->p && walk->p->name)
        return (walk->p++)->name;
    while (walk->other && *walk->other && has_key(walk->table, *walk->other))
        walk->other++;
    return walk->other && *walk->other ? *walk->other++ : NULL;
}

static int fail_unknown(struct fields_reader *r, const struct yaml_node *node,
                        const struct xoff_param *table, const char *const *others)
{
    struct key_walk walk = {table, table, others};
    const char *near = nearest_word(node->key, next_key, &walk);
    xoff_err_set(r->err, XOFF_E_UNKNOWN, NULL, node->key, "unknown key");
    if (near) {
        xoff_err_add(r->err, "; did you mean ");
        xoff_err_add(r->err, near);
        xoff_err_add(r->err, "?");
    }
    walk = (struct key_walk){table, table, others};
    const char *key = next_key(&walk);
    if (!key)
        xoff_err_add(r->err, "; no keys are accepted here");
    for (const char *lead = near ? " accepted: " : "; accepted: "; key; key = next_key(&walk)) {
        xoff_err_add(r->err, lead);
        xoff_err_add(r->err, key);
        lead = ", ";
    }
    return locate(r, node->option, node->key_line, node->key_column, -XOFF_E_UNKNOWN);
}

static bool is_among(const char *const *words, const char *word)
{
    for (; words && *words; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

static int set_field(struct fields_reader *r, const struct yaml_node *node,
                     const struct xoff_param *p, void *params)
{
    char text[1024];
    int rc = fields_text(r, node, p, text, sizeof text);
    if (rc)
        return rc;
    rc = xoff_param_set(p, params, text, r->err);
    return rc ? fields_locate(r, node, rc) : 0;
}

int fields_overlay(struct fields_reader *r, const struct yaml_node *mapping,
                   const struct xoff_param *table, void *params, const char *const *others)
{
    int rc = fields_want(r, mapping, YAML_MAPPING, "a mapping of keys and values");
    for (const struct yaml_node *node = mapping->first; node && !rc; node = node->next) {
        const struct xoff_param *p = xoff_param_find(table, node->key);
        if (!p && is_among(others, node->key))
            continue;
        const size_t length = fields_enter(r, node->key);
        rc = p ? set_field(r, node, p, params) : fail_unknown(r, node, table, others);
        fields_leave(r, length);
    }
    for (const struct xoff_param *p = table; p && p->name && !rc; p++) {
        if (p->preset || yaml_find(mapping, p->name))
            continue;
        char accepts[256], message[sizeof r->err->message];
        xoff_param_accepts(p, accepts, sizeof accepts);
        snprintf(message, sizeof message, "missing; give %s. %s", accepts, p->help ? p->help : "");
        const size_t length = fields_enter(r, p->name);
        rc = fields_fail(r, mapping, XOFF_E_MISSING, message);
        fields_leave(r, length);
    }
    return rc;
}

int fields_read(struct fields_reader *r, const struct yaml_node *mapping,
                const struct xoff_param *table, void *params, const char *const *others)
{
    xoff_param_defaults(table, params);
    return fields_overlay(r, mapping, table, params, others);
}

/* Appends one entry of a joined list; `1ms: 1Gbps` in a list is a mapping with one key. */
static bool add_entry(char *buf, size_t size, const struct yaml_node *node)
{
    const size_t length = strlen(buf);
    int n = -1;
    const char *comma = length ? "," : "";
    if (node->kind == YAML_SCALAR)
        n = snprintf(buf + length, size - length, "%s%s", comma, node->text);
    else if (node->kind == YAML_MAPPING && node->n == 1 && node->first->kind == YAML_SCALAR)
        n = snprintf(buf + length, size - length, "%s%s: %s", comma, node->first->key,
                     node->first->text);
    return n >= 0 && (size_t)n < size - length;
}

int fields_text(struct fields_reader *r, const struct yaml_node *node, const struct xoff_param *p,
                char *buf, size_t size)
{
    char accepts[256] = "text";
    if (p)
        xoff_param_accepts(p, accepts, sizeof accepts);
    buf[0] = '\0';
    const bool takes_list = !p || p->type == XOFF_P_TEXT;
    if (node->kind == YAML_SCALAR) {
        if (strlen(node->text) < size) {
            memcpy(buf, node->text, strlen(node->text) + 1);
            return 0;
        }
        char message[sizeof r->err->message];
        snprintf(message, sizeof message, "too long; give %s", accepts);
        return fields_fail(r, node, XOFF_E_RANGE, message);
    }
    if (node->kind != YAML_SEQUENCE || !takes_list)
        return fail_kind(r, node, accepts);
    for (const struct yaml_node *entry = node->first; entry; entry = entry->next)
        if (!add_entry(buf, size, entry))
            return fields_fail(r, entry, XOFF_E_TYPE,
                               "not a word, or the list is too long; give a short list of words");
    return 0;
}

struct kind_walk {
    enum kinds_role role;
    uint32_t i;
};

static const char *next_kind(void *state)
{
    struct kind_walk *walk = state;
    struct kind kind;
    return kinds_at(walk->role, walk->i++, &kind) ? kind.name : NULL;
}

int fields_kind(struct fields_reader *r, const struct yaml_node *node, enum kinds_role role,
                struct kind *out)
{
    const struct yaml_node *word = node;
    size_t length = strlen(r->path);
    if (node && node->kind == YAML_MAPPING) {
        word = yaml_find(node, "kind");
        length = fields_enter(r, "kind");
    }
    int rc = 0;
    if (!word && role != KINDS_TRAFFIC)
        kinds_at(role, 0, out);
    else if (!word || word->kind != YAML_SCALAR || !kinds_find(role, word->text, out)) {
        struct kind_walk walk = {.role = role};
        const bool is_word = word && word->kind == YAML_SCALAR;
        const char *near = is_word ? nearest_word(word->text, next_kind, &walk) : NULL;
        xoff_err_set(r->err,
                     is_word ? XOFF_E_RANGE
                     : word  ? XOFF_E_TYPE
                             : XOFF_E_MISSING,
                     NULL, is_word ? word->text : NULL, "");
        xoff_err_add(r->err, !word ? "missing" : is_word ? "not known" : kind_text(word->kind));
        if (word && !is_word)
            xoff_err_add(r->err, " is given");
        if (near) {
            xoff_err_add(r->err, "; did you mean ");
            xoff_err_add(r->err, near);
            xoff_err_add(r->err, "?");
        }
        walk = (struct kind_walk){.role = role};
        const char *lead = near ? " accepted: " : "; accepted: ";
        for (const char *name = next_kind(&walk); name; name = next_kind(&walk)) {
            xoff_err_add(r->err, lead);
            xoff_err_add(r->err, name);
            lead = ", ";
        }
        rc = fields_locate(r, word ? word : node, -(int)r->err->code);
    }
    fields_leave(r, length);
    return rc;
}

int fields_check_name(struct fields_reader *r, const struct yaml_node *node, const char *name,
                      const char *also, size_t size)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    char accepted[sizeof word + 16];
    snprintf(accepted, sizeof accepted, "%s%s", word, also);
    const size_t length = strlen(name);
    if (length && length < size && strspn(name, accepted) == length && strchr(word, name[0]) &&
        strchr(word, name[length - 1]))
        return 0;
    char message[sizeof r->err->message];
    snprintf(message, sizeof message,
             "not a name; give up to %zu letters, digits and _, with any of %s inside", size - 1,
             also);
    return fields_fail(r, node, XOFF_E_SYNTAX, message);
}

struct named {
    const char *name;
    uint32_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

uint32_t fields_find_repeat(const char *const *names, uint32_t n)
{
    if (n < 2)
        return n;
    struct named *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (struct named){names[i], i};
    qsort(sorted, n, sizeof *sorted, compare_names);
    uint32_t repeat = n;
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0 && sorted[i].index < repeat)
            repeat = sorted[i].index;
    free(sorted);
    return repeat;
}
