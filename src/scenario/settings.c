/* Settings by dotted path on the tree of a scenario.
 *
 * Steps of the path are keys of mappings or indices of lists. A step that does not exist is
 * created, so that the reader of the section judges its name. A mechanism or topology written as a
 * word (`mmu: sih`) becomes {kind: sih} when one of its parameters is set, and keeps its kind.
 */
#include "scenario/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/sections.h"

struct change {
    struct yaml_doc *doc;
    const char *path;
    const char *option; /* as in struct yaml_node */
    int line, column;   /* place of the value, also given to nodes created on the way */
    struct xoff_err *err;
};

static int apply(const struct change *c, struct yaml_node *value);
static struct yaml_node *step_into(const struct change *c, struct yaml_node *node, const char *step,
                                   size_t prefix_length, bool is_last);
static int fail(const struct change *c, enum xoff_err_code code, const char *message);
static void mark_option(struct yaml_node *node, const char *option);

int settings_apply_node(struct yaml_doc *doc, const struct yaml_node *entry, struct xoff_err *err)
{
    const struct change c = {.doc = doc,
                             .path = entry->key,
                             .line = entry->key_line,
                             .column = entry->key_column,
                             .err = err};
    struct yaml_node *value = yaml_copy(doc, entry);
    return value ? apply(&c, value) : fail(&c, XOFF_E_NO_MEMORY, "not enough memory");
}

int settings_apply_option(struct yaml_doc *doc, const struct plan_setting *setting,
                          struct xoff_err *err)
{
    const struct change c = {.doc = doc, .path = setting->key, .option = setting->key, .err = err};
    struct yaml_node *value = NULL;
    if (yaml_check_text(setting->key, strlen(setting->key), err) ||
        yaml_check_text(setting->value, strlen(setting->value), err)) {
        char message[sizeof err->message];
        memcpy(message, err->message, sizeof message);
        return fail(&c, XOFF_E_SYNTAX, message);
    }
    if (setting->value[0] == '[' || setting->value[0] == '{') {
        struct yaml_doc snippet;
        const int rc = yaml_parse(&snippet, setting->value, strlen(setting->value), err);
        if (rc) {
            char message[sizeof err->message];
            memcpy(message, err->message, sizeof message);
            return fail(&c, (enum xoff_err_code) - rc, message);
        }
        value = yaml_copy(doc, snippet.root);
        yaml_fini(&snippet);
    } else {
        value = yaml_node(doc, YAML_SCALAR, setting->value);
    }
    if (!value)
        return fail(&c, XOFF_E_NO_MEMORY, "not enough memory");
    mark_option(value, setting->key);
    return apply(&c, value);
}

static void mark_option(struct yaml_node *node, const char *option)
{
    node->option = option;
    node->line = 0;
    node->column = 0;
    for (struct yaml_node *child = node->first; child; child = child->next)
        mark_option(child, option);
}

static int fail(const struct change *c, enum xoff_err_code code, const char *message)
{
    xoff_err_set(c->err, code, c->option ? "--set " : "", NULL, message);
    strncat(c->err->subject, c->path, sizeof c->err->subject - strlen(c->err->subject) - 1);
    c->err->line = c->line;
    c->err->column = c->column;
    return -(int)code;
}

#define MAX_STEPS YAML_MAX_DEPTH

static int apply(const struct change *c, struct yaml_node *value)
{
    char *path = yaml_keep(c->doc, c->path, strlen(c->path));
    if (!path)
        return fail(c, XOFF_E_NO_MEMORY, "not enough memory");
    const char *steps[MAX_STEPS];
    uint32_t n = 0;
    for (char *at = path;; at++) {
        if (n == MAX_STEPS)
            return fail(c, XOFF_E_RANGE, "nested too deeply; accepted: up to 32 levels");
        steps[n++] = at;
        at += strcspn(at, ".");
        if (at == steps[n - 1])
            return fail(c, XOFF_E_SYNTAX,
                        "not a key; give keys and list numbers with dots between them, such as "
                        "switch.buffer or traffic.0.load");
        if (!*at)
            break;
        *at = '\0';
    }
    if (strcmp(steps[0], "variants") == 0 || strcmp(steps[0], "expect") == 0)
        return fail(c, XOFF_E_CONFLICT,
                    "cannot be set; variants and expectations belong to the file as a whole");

    struct yaml_node *node = c->doc->root;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const size_t prefix_length = (size_t)(steps[i] - path);
        node = step_into(c, node, steps[i], prefix_length, false);
        if (!node)
            return -(int)c->err->code;
    }
    struct yaml_node *old = step_into(c, node, steps[n - 1], (size_t)(steps[n - 1] - path), true);
    if (!old)
        return -(int)c->err->code;
    const int key_line = value->option ? 0 : c->line, key_column = value->option ? 0 : c->column;
    yaml_replace(node, old, value);
    value->key_line = key_line;
    value->key_column = key_column;
    return 0;
}

/* Tells whether a word may stand for a kind at the first `length` bytes of the path. */
static bool is_kind_place(const char *path, size_t length)
{
    for (int role = 0; role < KINDS_TRAFFIC; role++) {
        const char *place = kinds_path((enum kinds_role)role);
        if (strlen(place) == length && strncmp(path, place, length) == 0)
            return true;
    }
    uint32_t index;
    int n = 0;
    if (sscanf(path, "switches.%6u.%n", &index, &n) == 1 && n && (size_t)n < length)
        for (const struct switch_role *role = switch_roles; role->key; role++)
            if (strlen(role->key) == length - (size_t)n &&
                strncmp(path + n, role->key, length - (size_t)n) == 0)
                return true;
    n = 0;
    if (sscanf(path, "receivers.%6u.marking%n", &index, &n) == 1 && n && (size_t)n == length)
        return true;
    static const char nodes[] = "topology.nodes.";
    return length > sizeof nodes - 1 && strncmp(path, nodes, sizeof nodes - 1) == 0 &&
           !memchr(path + sizeof nodes - 1, '.', length - (sizeof nodes - 1));
}

static struct yaml_node *made(const struct change *c, enum yaml_kind kind, const char *text,
                              const char *key)
{
    struct yaml_node *node = yaml_node(c->doc, kind, text);
    if (!node) {
        fail(c, XOFF_E_NO_MEMORY, "not enough memory");
        return NULL;
    }
    node->option = c->option;
    node->line = node->key_line = c->line;
    node->column = node->key_column = c->column;
    node->key = key;
    return node;
}

/* Returns the entry of `node` that the step names. The first `prefix_length` bytes of the path,
 * including the dot, lead to `node`. */
static struct yaml_node *step_into(const struct change *c, struct yaml_node *node, const char *step,
                                   size_t prefix_length, bool is_last)
{
    if (node->kind == YAML_SEQUENCE) {
        uint32_t index = 0;
        const size_t digits = strspn(step, "0123456789");
        if (step[digits] || digits > 6) {
            fail(c, XOFF_E_TYPE, "a list takes a number here, counted from 0");
            return NULL;
        }
        for (const char *d = step; *d; d++)
            index = index * 10 + (uint32_t)(*d - '0');
        struct yaml_node *entry = yaml_at(node, index);
        if (!entry) {
            fail(c, XOFF_E_RANGE, "no such entry; the list has ");
            xoff_err_add_int(c->err, node->n);
            xoff_err_add(c->err, " entries, counted from 0");
        }
        return entry;
    }
    if (node->kind == YAML_SCALAR) {
        if (!is_kind_place(c->path, prefix_length ? prefix_length - 1 : 0)) {
            fail(c, XOFF_E_TYPE, node->text);
            xoff_err_add(c->err, " is a plain value and has no keys below it");
            return NULL;
        }
        struct yaml_node *kind = made(c, YAML_SCALAR, node->text, "kind");
        if (!kind)
            return NULL;
        kind->option = node->option;
        kind->line = kind->key_line = node->line;
        kind->column = kind->key_column = node->column;
        yaml_append(node, kind);
    }
    node->kind = YAML_MAPPING;
    struct yaml_node *entry = yaml_find(node, step);
    if (!entry) {
        entry = made(c, is_last ? YAML_EMPTY : YAML_MAPPING, NULL, step);
        if (entry)
            yaml_append(node, entry);
    }
    return entry;
}

/* A key among the others in alphabetical order, in which a key is followed by those below it. */
struct ordered {
    const char *key;
    uint32_t number; /* as it is written */
    uint32_t same;   /* the first entry with this key */
    uint32_t parent; /* the first entry with the nearest key above it; NONE */
};
#define NONE UINT32_MAX

/* A dot counts as less than any other character of a key: nothing comes between a key and those
 * below it. */
static int compare_keys(const void *a, const void *b)
{
    const struct ordered *one = a, *two = b;
    const unsigned char *c = (const unsigned char *)one->key, *d = (const unsigned char *)two->key;
    while (*c && *c == *d) {
        c++;
        d++;
    }
    if (*c == *d)
        return (one->number > two->number) - (one->number < two->number);
    const int left = *c == '.' ? 1 : *c + (*c > 0), right = *d == '.' ? 1 : *d + (*d > 0);
    return (left > right) - (left < right);
}

static bool is_below(const char *key, const char *parent)
{
    const size_t n = strlen(parent);
    return strncmp(key, parent, n) == 0 && key[n] == '.';
}

static void find_parents(struct ordered *list, uint32_t n)
{
    qsort(list, n, sizeof *list, compare_keys);
    for (uint32_t i = 0; i < n; i++) {
        struct ordered *at = &list[i];
        uint32_t above = i ? list[i - 1].same : NONE;
        if (i && strcmp(at->key, list[above].key) == 0) {
            at->same = above;
            at->parent = list[above].parent;
            continue;
        }
        while (above != NONE && !is_below(at->key, list[above].key))
            above = list[above].parent;
        at->same = i;
        at->parent = above;
    }
}

uint32_t *settings_order(const char *const *keys, uint32_t n)
{
    struct ordered *list = calloc((size_t)n + 1, sizeof *list);
    /* By number the place in the list; a key and those above it, nearest first; whether a key is in
     * the order, together with those above it and those that are equal; the order. */
    uint32_t *place = calloc((size_t)n + 1, sizeof *place),
             *above = calloc((size_t)n + 1, sizeof *above),
             *order = calloc((size_t)n + 1, sizeof *order);
    bool *is_done = calloc((size_t)n + 1, sizeof *is_done);
    uint32_t n_done = 0;
    if (!list || !place || !above || !order || !is_done) {
        free(order);
        order = NULL;
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct ordered){.key = keys[i], .number = i};
    if (n)
        find_parents(list, n);
    for (uint32_t i = 0; i < n; i++)
        place[list[i].number] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_above = 0;
        for (uint32_t p = list[place[i]].same; p != NONE && !is_done[p]; p = list[p].parent)
            above[n_above++] = p;
        while (n_above) {
            const uint32_t first = above[--n_above];
            is_done[first] = true;
            for (uint32_t k = first; k < n && list[k].same == first; k++)
                order[n_done++] = list[k].number;
        }
    }
    free(is_done);
    free(above);
    free(place);
    free(list);
    return order;
}
