/* Reads what claims.yaml says of the paper as a whole: name, title and source, a paragraph about
 * it, remarks on what came out, and where the paper contradicts itself or others, with what is done
 * about it. */
#include <stdlib.h>

#include "reproduce/claims_parts.h"

static int read_remark(struct claims_reader *r, const struct yaml_node *node, bool has_choice,
                       struct remark *remark)
{
    static const char *const keys[] = {"place", "text", "choice", NULL}, *const fewer[] = {
                                                                             "place", "text", NULL};
    int rc = claims_check_keys(r, node, has_choice ? keys : fewer);
    if (!rc)
        rc = claims_take_text(r, node, "place", "section, figure or table", &remark->place);
    if (!rc)
        rc = claims_take_text(r, node, "text", "what is to be said", &remark->text);
    if (!rc && has_choice)
        rc = claims_take_text(r, node, "choice", "what is done about it", &remark->choice);
    return rc;
}

static int read_remarks(struct claims_reader *r, const struct yaml_node *root, const char *key,
                        bool has_choice, struct remark **out, uint32_t *n)
{
    const struct yaml_node *list;
    int rc = claims_open_list(r, root, key, false, &list);
    if (rc || !list)
        return rc;
    *out = calloc(list->n + 1, sizeof **out);
    if (!*out)
        return fields_no_memory(&r->fields);
    const size_t length = fields_enter(&r->fields, key);
    for (const struct yaml_node *entry = list->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter_index(&r->fields, *n);
        rc = read_remark(r, entry, has_choice, &(*out)[(*n)++]);
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
    if (!rc)
        rc = read_remarks(r, root, "remarks", false, &p->remarks, &p->n_remarks);
    if (!rc)
        rc =
            read_remarks(r, root, "contradictions", true, &p->contradictions, &p->n_contradictions);
    return rc;
}
