/* A YAML document as a small tree with places, which settings may change before it is read.
 *
 * libfyaml does the parsing. Building the tree refuses anchors, aliases, merge keys, tags, keys
 * that are not words, keys given twice, and a second document.
 */
#ifndef SCENARIO_YAML_H
#define SCENARIO_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#define YAML_MAX_BYTES 16000000 /* limit for a document */
#define YAML_MAX_DEPTH 32       /* limit for nesting */
#define YAML_MAX_NODES \
    1000000 /* values in a document; bounds the memory that a small file can use */

enum yaml_kind { YAML_EMPTY, YAML_SCALAR, YAML_MAPPING, YAML_SEQUENCE };

struct yaml_node {
    enum yaml_kind kind;
    int line, column; /* place of the value, from 1; that of its key where the value is empty */
    int key_line, key_column; /* place of the key; 0: no key */
    const char *key;          /* in a mapping; NULL otherwise */
    const char *text;         /* YAML_SCALAR */
    const char *option;       /* the --set key that put it here; NULL: from the file */
    uint32_t n;               /* entries of a mapping or sequence */
    struct yaml_node *first, *last, *next;
};

/* A document owns its nodes and their text. */
struct yaml_doc {
    struct yaml_node *root;
    struct yaml_block *blocks;
    uint32_t n_nodes;
};

/* Reads one document. `doc` needs no preparation and holds nothing after a failure. err gets line
 * and column, not the file. */
int yaml_parse(struct yaml_doc *doc, const char *text, size_t size, struct xoff_err *err);
void yaml_fini(struct yaml_doc *doc);

/* Refuses bytes that are not UTF-8, and control characters. err gets line and column. */
int yaml_check_text(const char *text, size_t size, struct xoff_err *err);

/* Returns a deep copy of `from` in `doc`, which is zeroed or holds other nodes; NULL: no memory. */
struct yaml_node *yaml_copy(struct yaml_doc *doc, const struct yaml_node *from);
/* Returns a new node without a place. */
struct yaml_node *yaml_node(struct yaml_doc *doc, enum yaml_kind kind, const char *text);
void yaml_append(struct yaml_node *parent, struct yaml_node *child);
/* Replaces `old` among the entries of `parent` by `child`, which takes over its key. */
void yaml_replace(struct yaml_node *parent, struct yaml_node *old, struct yaml_node *child);

/* These return the entry of that key, or of that index; NULL: none. */
struct yaml_node *yaml_find(const struct yaml_node *mapping, const char *key);
struct yaml_node *yaml_at(const struct yaml_node *sequence, uint32_t index);

/* Copies text into the document's memory. */
char *yaml_keep(struct yaml_doc *doc, const char *text, size_t length);

#endif
