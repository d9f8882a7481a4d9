/* The keys by which the runs of a file differ, as columns of metrics.csv. They are read from the
 * effective configuration of each run, so a key that one variant sets has its value in the others,
 * too, given or by default. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "scenario/yaml.h"

struct leaf {
    char *path, *value; /* "traffic.0.load" */
};
struct leaves {
    struct leaf *list;
    uint32_t n;
};

static void add_leaf(struct leaves *leaves, const char *path, const char *value)
{
    if (!(leaves->n & (leaves->n - 1))) /* a power of two: double the room */
        leaves->list =
            realloc(leaves->list, sizeof *leaves->list * (leaves->n ? 2 * leaves->n : 1));
    XOFF_ASSERT(leaves->list);
    struct leaf *leaf = &leaves->list[leaves->n++];
    leaf->path = strdup(path);
    leaf->value = strdup(value);
    XOFF_ASSERT(leaf->path && leaf->value);
}

/* Adds every value below the node; the depth of a document is limited (YAML_MAX_DEPTH). */
static void add_leaves(struct leaves *leaves, const struct yaml_node *node, const char *path)
{
    uint32_t i = 0;
    if (node->kind == YAML_SCALAR)
        add_leaf(leaves, path, node->text);
    for (const struct yaml_node *child = node->first; child; child = child->next, i++) {
        char *below;
        const char *dot = *path ? "." : "";
        XOFF_ASSERT((child->key ? asprintf(&below, "%s%s%s", path, dot, child->key)
                                : asprintf(&below, "%s%s%u", path, dot, i)) >= 0);
        add_leaves(leaves, child, below);
        free(below);
    }
}

static struct leaves leaves_of(const char *config)
{
    struct leaves leaves = {0};
    struct yaml_doc doc;
    struct xoff_err err;
    if (!yaml_parse(&doc, config, strlen(config), &err)) {
        add_leaves(&leaves, doc.root, "");
        yaml_fini(&doc);
    }
    return leaves;
}

static void leaves_fini(struct leaves *leaves)
{
    for (uint32_t i = 0; i < leaves->n; i++) {
        free(leaves->list[i].path);
        free(leaves->list[i].value);
    }
    free(leaves->list);
}

/* Configurations are much alike: `near` is looked at first. */
static const char *value_at(const struct leaves *leaves, const char *path, uint32_t near)
{
    if (near < leaves->n && !strcmp(leaves->list[near].path, path))
        return leaves->list[near].value;
    for (uint32_t i = 0; i < leaves->n; i++)
        if (!strcmp(leaves->list[i].path, path))
            return leaves->list[i].value;
    return NULL;
}

/* Whether the option --set gave this value: as KEY, or as KEY.kind where KEY is a mechanism. */
static bool is_set(const struct cli_options *options, const char *path)
{
    for (uint32_t i = 0; i < options->n_settings; i++) {
        const char *key = options->settings[i].key;
        const size_t n = strlen(key);
        if (!strncmp(path, key, n) && (!path[n] || !strcmp(path + n, ".kind")))
            return true;
    }
    return false;
}

static bool differs(const struct leaves *all, uint32_t n_runs, const char *path, uint32_t near)
{
    const char *first = value_at(&all[0], path, near);
    for (uint32_t i = 1; i < n_runs; i++) {
        const char *value = value_at(&all[i], path, near);
        if (!first != !value || (first && strcmp(first, value)))
            return true;
    }
    return false;
}

static bool is_known(const struct cli_run *run, const char *path)
{
    for (uint32_t i = 0; i < run->results->n_keys; i++)
        if (!strcmp(run->keys[i].name, path))
            return true;
    return false;
}

static void add_key(struct cli_run *runs, const struct leaves *all, uint32_t n_runs,
                    const char *path)
{
    for (uint32_t i = 0; i < n_runs; i++) {
        const char *value = value_at(&all[i], path, UINT32_MAX);
        struct results *r = runs[i].results;
        runs[i].keys = realloc(runs[i].keys, sizeof *runs[i].keys * (r->n_keys + 1));
        XOFF_ASSERT(runs[i].keys);
        struct result_key *key = &runs[i].keys[r->n_keys++];
        *key = (struct result_key){strdup(path), strdup(value ? value : "")};
        XOFF_ASSERT(key->name && key->value);
        r->keys = runs[i].keys;
    }
}

void cli_find_keys(struct cli_run *runs, uint32_t n_runs, const struct cli_options *options)
{
    if (n_runs < 2 && !options->n_settings)
        return;
    struct leaves *all = calloc(n_runs, sizeof *all);
    XOFF_ASSERT(all);
    for (uint32_t i = 0; i < n_runs; i++)
        all[i] = leaves_of(runs[i].config_text);
    for (uint32_t i = 0; i < n_runs; i++)
        for (uint32_t k = 0; k < all[i].n; k++) {
            const char *path = all[i].list[k].path;
            /* The seed has a column of its own, and the title is no key of the network. */
            if (strcmp(path, "seed") && strcmp(path, "title") &&
                (is_set(options, path) || differs(all, n_runs, path, k)) &&
                !is_known(&runs[0], path))
                add_key(runs, all, n_runs, path);
        }
    for (uint32_t i = 0; i < n_runs; i++)
        leaves_fini(&all[i]);
    free(all);
}

void cli_compare_keys(const char *one, const char *other,
                      void (*found)(void *context, const char *path, const char *one,
                                    const char *other),
                      void *context)
{
    struct leaves both[2] = {leaves_of(one), leaves_of(other)};
    for (uint32_t k = 0; k < both[0].n; k++) {
        const struct leaf *leaf = &both[0].list[k];
        const char *value = value_at(&both[1], leaf->path, k);
        if (!value || strcmp(leaf->value, value))
            found(context, leaf->path, leaf->value, value);
    }
    for (uint32_t k = 0; k < both[1].n; k++) {
        const struct leaf *leaf = &both[1].list[k];
        if (!value_at(&both[0], leaf->path, k))
            found(context, leaf->path, NULL, leaf->value);
    }
    leaves_fini(&both[0]);
    leaves_fini(&both[1]);
}
