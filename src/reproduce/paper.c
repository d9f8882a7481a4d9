/* Reads what claims.yaml says of the paper as a whole: name, title and source, a paragraph about
 * it, and where it contradicts itself or others, with what is done about it. */
#include <stdlib.h>

#include "reproduce/claims_parts.h"

static int read_contradiction(struct claims_reader *r, const struct yaml_node *node,
                              struct contradiction *c)
{
    static const char *const keys[] = {"place", "says", "choice", NULL};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "place", "section, figure or table", &c->place);
    if (!rc)
        rc = claims_take_text(r, node, "says", "what does not fit together", &c->says);
    if (!rc)
        rc = claims_take_text(r, node, "choice", "what is done about it", &c->choice);
    return rc;
}

static int read_contradictions(struct claims_reader *r, const struct yaml_node *root)
{
    struct paper *p = r->paper;
    const struct yaml_node *list;
    int rc = claims_open_list(r, root, "contradictions", false, &list);
    if (rc || !list)
        return rc;
    p->contradictions = calloc(list->n + 1, sizeof *p->contradictions);
    if (!p->contradictions)
        return fields_no_memory(&r->fields);
    const size_t length = fields_enter(&r->fields, "contradictions");
    for (const struct yaml_node *entry = list->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter_index(&r->fields, p->n_contradictions);
        rc = read_contradiction(r, entry, &p->contradictions[p->n_contradictions++]);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

int claims_read_paper(struct claims_reader *r, const struct yaml_node *root)
{
    struct paper *p = r->paper;
    int rc = claims_take_text(r, root, "paper", "the name of the folder", &p->name);
    if (!rc)
        rc = claims_take_text(r, root, "title", "the paper's title", &p->title);
    if (!rc)
        rc = claims_take_text(r, root, "source", "a line that names the paper", &p->source);
    if (!rc)
        rc = claims_take_text(r, root, "about", NULL, &p->about);
    return rc ? rc : read_contradictions(r, root);
}
