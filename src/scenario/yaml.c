/* Reads YAML from libfyaml's event stream into a tree of our own.
 *
 * Events are used instead of libfyaml's document tree for three reasons: aliases can be refused
 * before anything is expanded, every value keeps its place through --set and variants, and the tree
 * is plain memory from one arena that a variant copies and changes. Before libfyaml sees a byte,
 * the text is checked to be UTF-8 without control characters, so that a binary file gives one clear
 * sentence.
 *
 * Differs: of YAML 1.2 this reader accepts what a scenario needs: one document of mappings with
 * plain or quoted keys, sequences and scalars. Tags, anchors, aliases, merge keys and block scalars
 * are refused.
 */
#include "scenario/yaml.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

struct yaml_block {
    struct yaml_block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

/* The mappings and sequences that are open, and the key that waits for its value. */
struct builder {
    struct yaml_doc *doc;
    struct xoff_err *err;
    struct yaml_node *open[YAML_MAX_DEPTH];
    uint32_t depth;
    const char *key; /* NULL: none waiting */
    int key_line, key_column;
    uint32_t n_documents;
    int line, column; /* place of the last event that had one */
};

static int build(struct builder *b, struct fy_parser *parser);
static int take_event(struct builder *b, struct fy_event *event);
static int refuse(struct builder *b, int line, int column, const char *subject,
                  const char *message);
static int syntax_error(struct fy_diag *diag, struct xoff_err *err);
static void *arena_take(struct yaml_doc *doc, size_t size);
static int no_memory(struct xoff_err *err);

int yaml_parse(struct yaml_doc *doc, const char *text, size_t size, struct xoff_err *err)
{
    *doc = (struct yaml_doc){0};
    err->line = 0;
    err->column = 0;
    if (size > YAML_MAX_BYTES) {
        err->line = 1;
        err->column = 1;
        return xoff_err_set(err, XOFF_E_RANGE, "scenario", NULL,
                            "the document is larger than 16MB; accepted: up to 16MB");
    }
    int rc = yaml_check_text(text, size, err);
    if (rc)
        return rc;

    errno = 0;
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    if (!diag)
        return no_memory(err);
    fy_diag_set_collect_errors(diag, true);
    const struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG, .diag = diag};
    struct fy_parser *parser = fy_parser_create(&cfg);
    struct builder b = {.doc = doc, .err = err, .line = 1, .column = 1};
    if (!parser || (size && fy_parser_set_string(parser, text, size)))
        rc = no_memory(err);
    else if (size)
        rc = build(&b, parser);
    if (errno == ENOMEM) /* which the library does not tell from an error in the text, or its end */
        rc = no_memory(err);
    if (!rc && parser && fy_parser_get_stream_error(parser))
        rc = syntax_error(diag, err);
    if (!rc && (!doc->root || doc->root->kind == YAML_EMPTY)) {
        err->line = 1;
        err->column = 1;
        rc = xoff_err_set(err, XOFF_E_MISSING, "scenario", NULL,
                          "the file is empty; a scenario has at least topology:");
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    if (rc)
        yaml_fini(doc);
    return rc;
}

void yaml_fini(struct yaml_doc *doc)
{
    while (doc->blocks) {
        struct yaml_block *next = doc->blocks->next;
        free(doc->blocks);
        doc->blocks = next;
    }
    *doc = (struct yaml_doc){0};
}

struct yaml_node *yaml_copy(struct yaml_doc *doc, const struct yaml_node *from)
{
    struct yaml_node *to = yaml_node(doc, from->kind, from->text);
    if (!to)
        return NULL;
    *to = (struct yaml_node){.kind = from->kind,
                             .line = from->line,
                             .column = from->column,
                             .key_line = from->key_line,
                             .key_column = from->key_column,
                             .key = from->key,
                             .text = to->text,
                             .option = from->option};
    if (from->key && !(to->key = yaml_keep(doc, from->key, strlen(from->key))))
        return NULL;
    for (const struct yaml_node *child = from->first; child; child = child->next) {
        struct yaml_node *copy = yaml_copy(doc, child);
        if (!copy)
            return NULL;
        yaml_append(to, copy);
    }
    return to;
}

struct yaml_node *yaml_node(struct yaml_doc *doc, enum yaml_kind kind, const char *text)
{
    struct yaml_node *node = arena_take(doc, sizeof *node);
    if (!node)
        return NULL;
    *node = (struct yaml_node){.kind = kind};
    doc->n_nodes++;
    if (text && !(node->text = yaml_keep(doc, text, strlen(text))))
        return NULL;
    return node;
}

void yaml_append(struct yaml_node *parent, struct yaml_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->n++;
}

void yaml_replace(struct yaml_node *parent, struct yaml_node *old, struct yaml_node *child)
{
    struct yaml_node **link = &parent->first;
    while (*link != old)
        link = &(*link)->next;
    *link = child;
    child->next = old->next;
    child->key = old->key;
    child->key_line = old->key_line;
    child->key_column = old->key_column;
    if (parent->last == old)
        parent->last = child;
}

struct yaml_node *yaml_find(const struct yaml_node *mapping, const char *key)
{
    for (struct yaml_node *child = mapping->first; child; child = child->next)
        if (child->key && strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

struct yaml_node *yaml_at(const struct yaml_node *sequence, uint32_t index)
{
    struct yaml_node *child = sequence->first;
    while (child && index--)
        child = child->next;
    return child;
}

char *yaml_keep(struct yaml_doc *doc, const char *text, size_t length)
{
    char *kept = arena_take(doc, length + 1);
    if (!kept)
        return NULL;
    memcpy(kept, text, length);
    kept[length] = '\0';
    return kept;
}

static void *arena_take(struct yaml_doc *doc, size_t size)
{
    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!doc->blocks || doc->blocks->size - doc->blocks->used < size) {
        const size_t room = size > 65536 ? size : 65536;
        struct yaml_block *block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct yaml_block){.next = doc->blocks, .size = room};
        doc->blocks = block;
    }
    void *taken = doc->blocks->bytes + doc->blocks->used;
    doc->blocks->used += size;
    return taken;
}

static int no_memory(struct xoff_err *err)
{
    return xoff_err_set(err, XOFF_E_NO_MEMORY, "scenario", NULL,
                        "not enough memory to read the scenario");
}

/* Returns the length of the well-formed UTF-8 sequence at `s` (RFC 3629 section 4), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    const bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : n;
}

int yaml_check_text(const char *text, size_t size, struct xoff_err *err)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    int line = 1, column = 1;
    for (size_t i = 0; i < size;) {
        const size_t n = utf8_length(s + i, size - i);
        /* Lines must end in LF or CR LF, so that line numbers and columns agree with every
         * editor's. */
        const bool line_end = s[i] == '\n' || (s[i] == '\r' && i + 1 < size && s[i + 1] == '\n');
        const bool control = (s[i] < 0x20 && s[i] != '\t' && !line_end) || s[i] == 0x7f;
        if (n == 0 || control) {
            const char byte[] = {'0', 'x', hex[s[i] >> 4], hex[s[i] & 15], '\0'};
            err->line = line;
            err->column = column;
            xoff_err_set(err, XOFF_E_SYNTAX, "scenario", byte, "the byte ");
            xoff_err_add(err, byte);
            xoff_err_add(err, " is not text; a scenario is YAML in UTF-8");
            return -XOFF_E_SYNTAX;
        }
        column++;
        if (s[i] == '\n') {
            line++;
            column = 1;
        }
        i += n;
    }
    return 0;
}

static int build(struct builder *b, struct fy_parser *parser)
{
    int rc = 0;
    struct fy_event *event;
    while (rc == 0 && (event = fy_parser_parse(parser)) != NULL) {
        rc = take_event(b, event);
        fy_parser_event_free(parser, event);
    }
    return rc;
}

static int refuse(struct builder *b, int line, int column, const char *subject, const char *message)
{
    b->err->line = line ? line : b->line;
    b->err->column = line ? column : b->column;
    return xoff_err_set(b->err, XOFF_E_SYNTAX, subject, NULL, message);
}

/* Reports the parser's first complaint at its place. */
static int syntax_error(struct fy_diag *diag, struct xoff_err *err)
{
    void *iterator = NULL;
    const struct fy_diag_error *first = fy_diag_errors_iterate(diag, &iterator);
    xoff_err_set(err, XOFF_E_SYNTAX, "YAML", NULL, "");
    if (first) {
        err->line = first->line > 0 ? first->line : 1;
        err->column = first->column > 0 ? first->column : 1;
        xoff_err_add(err, first->msg);
    } else {
        err->line = 1;
        err->column = 1;
        xoff_err_add(err, "not a YAML document");
    }
    xoff_err_add(err, "; check indentation, brackets, and quotes around text with ': ' in it");
    return -XOFF_E_SYNTAX;
}

struct by_key {
    const struct yaml_node *node;
    uint32_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct by_key *x = a, *y = b;
    const int order = strcmp(x->node->key, y->node->key);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Keys are sorted, so that a long mapping costs n log n; the error names the first repetition in
 * the file. */
static int check_unique(struct builder *b, const struct yaml_node *mapping)
{
    if (mapping->n < 2)
        return 0;
    struct by_key *keys = malloc(mapping->n * sizeof *keys);
    if (!keys)
        return no_memory(b->err);
    uint32_t n = 0;
    for (const struct yaml_node *child = mapping->first; child; child = child->next, n++)
        keys[n] = (struct by_key){child, n};
    qsort(keys, n, sizeof *keys, compare_keys);
    const struct by_key *again = NULL, *before = NULL;
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(keys[i - 1].node->key, keys[i].node->key) == 0 &&
            (!again || keys[i].index < again->index)) {
            again = &keys[i];
            before = &keys[i - 1];
        }
    int rc = 0;
    if (again) {
        rc = refuse(b, again->node->key_line, again->node->key_column, again->node->key,
                    "given twice; it was first given in line ");
        xoff_err_add_int(b->err, before->node->key_line);
    }
    free(keys);
    return rc;
}

/* Stores a value under the last key or in the open sequence. */
static int place(struct builder *b, struct yaml_node *node)
{
    if (b->doc->n_nodes > YAML_MAX_NODES)
        return refuse(b, node->line, node->column, "scenario",
                      "too many values; accepted: up to a million");
    struct yaml_node *parent = b->depth ? b->open[b->depth - 1] : NULL;
    if (!parent) {
        b->doc->root = node;
        return 0;
    }
    if (parent->kind == YAML_MAPPING) {
        node->key = b->key;
        node->key_line = b->key_line;
        node->key_column = b->key_column;
        b->key = NULL;
        if (!node->line) {
            node->line = node->key_line;
            node->column = node->key_column;
        }
    } else if (!node->line) {
        node->line = parent->line;
        node->column = parent->column;
    }
    yaml_append(parent, node);
    return 0;
}

static bool wants_key(const struct builder *b)
{
    return b->depth && b->open[b->depth - 1]->kind == YAML_MAPPING && !b->key;
}

static bool is_null(const char *text, size_t length, enum fy_scalar_style style)
{
    if (style != FYSS_PLAIN)
        return false;
    return length == 0 || (length == 1 && text[0] == '~') ||
           (length == 4 && (memcmp(text, "null", 4) == 0 || memcmp(text, "Null", 4) == 0));
}

static int take_scalar(struct builder *b, struct fy_token *token, int line, int column)
{
    const enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    /* Block scalars are refused: no key needs them, and libfyaml 0.7.12 returns wrong text for some
     * (found by fuzzing). */
    if (style == FYSS_LITERAL || style == FYSS_FOLDED)
        return refuse(b, line, column, "YAML",
                      "block text (| and >) is not accepted; write the text in quotes");
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : "";
    if (!text)
        return no_memory(b->err);
    /* An escape in double quotes may still produce a NUL. */
    if (memchr(text, '\0', length))
        return refuse(b, line, column, "scenario", "a NUL character in text is not accepted");
    if (wants_key(b)) {
        if (length == 2 && memcmp(text, "<<", 2) == 0 && style == FYSS_PLAIN)
            return refuse(b, line, column, "<<",
                          "merge keys are not accepted; write the keys out, or use variants:");
        if (!length)
            return refuse(b, line, column, "scenario", "a key is missing before ':'");
        b->key = yaml_keep(b->doc, text, length);
        b->key_line = line;
        b->key_column = column;
        return b->key ? 0 : no_memory(b->err);
    }
    const bool null = is_null(text, length, style);
    struct yaml_node *node = yaml_node(b->doc, null ? YAML_EMPTY : YAML_SCALAR, NULL);
    if (!node || (!null && !(node->text = yaml_keep(b->doc, text, length))))
        return no_memory(b->err);
    node->line = line;
    node->column = column;
    return place(b, node);
}

static int take_start(struct builder *b, enum yaml_kind kind, int line, int column)
{
    if (wants_key(b))
        return refuse(b, line, column, "YAML", "a key must be a word, not a list or a mapping");
    if (b->depth == YAML_MAX_DEPTH)
        return refuse(b, line, column, "YAML", "nested too deeply; accepted: up to 32 levels");
    struct yaml_node *node = yaml_node(b->doc, kind, NULL);
    if (!node)
        return no_memory(b->err);
    node->line = line;
    node->column = column;
    const int rc = place(b, node);
    if (rc == 0)
        b->open[b->depth++] = node;
    return rc;
}

static int take_event(struct builder *b, struct fy_event *event)
{
    struct fy_token *token = fy_event_get_token(event);
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    int line = mark ? mark->line + 1 : 0, column = mark ? mark->column + 1 : 0;
    struct fy_token *anchor = NULL, *tag = NULL;
    if (event->type == FYET_SCALAR) {
        anchor = event->scalar.anchor;
        tag = event->scalar.tag;
    } else if (event->type == FYET_MAPPING_START) {
        anchor = event->mapping_start.anchor;
        tag = event->mapping_start.tag;
    } else if (event->type == FYET_SEQUENCE_START) {
        anchor = event->sequence_start.anchor;
        tag = event->sequence_start.tag;
    }
    if (anchor || tag) { /* anchors and tags have a place even where the value is empty */
        mark = fy_token_start_mark(anchor ? anchor : tag);
        line = mark ? mark->line + 1 : 0;
        column = mark ? mark->column + 1 : 0;
    }
    if (line) {
        b->line = line;
        b->column = column;
    }
    if (anchor || event->type == FYET_ALIAS)
        return refuse(b, line, column, anchor ? "&" : "*",
                      "anchors and aliases are not accepted; write the value out, or use "
                      "variants: for what differs");
    if (tag)
        return refuse(b, line, column, "!", "tags are not accepted; write the plain value");

    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (b->n_documents++)
            return refuse(b, line, column, "---",
                          "a second document; a scenario file has one, use variants: for more");
        return 0;
    case FYET_SCALAR:
        return take_scalar(b, event->scalar.value, line, column);
    case FYET_MAPPING_START:
        return take_start(b, YAML_MAPPING, line, column);
    case FYET_SEQUENCE_START:
        return take_start(b, YAML_SEQUENCE, line, column);
    case FYET_MAPPING_END:
        return check_unique(b, b->open[--b->depth]);
    case FYET_SEQUENCE_END:
        b->depth--;
        return 0;
    default:
        return 0;
    }
}
