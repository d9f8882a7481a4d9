/* An explanation as JSON, for pages and programs. */
#include <math.h>
#include <stdlib.h>

#include "explain/parts.h"

static json_t *taken(char *sentence)
{
    json_t *value = json_words(sentence, 0);
    free(sentence);
    return value;
}

static json_t *name_json(const struct explanation *e, uint32_t node)
{
    return node == NONE ? json_null() : json_words(run_node_name(&e->run, node), 0);
}

static json_t *sure_json(const struct explanation *e, const struct root *root)
{
    const struct sureness sure = words_sure(e, root);
    return json_pack("{ss so}", "level", sure.level, "why", json_words(sure.why, 0));
}

static json_t *chain_json(const struct explanation *e, const struct root *root)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < root->n_chain; i++) {
        const struct strand *strand = &e->strands[root->chain[i]];
        const struct run_port *port = &e->run.ports[e->run.lines[strand->line].port];
        json_array_append_new(
            list,
            json_pack("{so so sI so sI so so}", "node", name_json(e, port->node), "peer",
                      name_json(e, port->peer_node), "port", (json_int_t)port->number, "from_s",
                      json_seconds(e->spans[strand->first].from_ps), "pauses",
                      (json_int_t)strand->n, "held_s", json_seconds(strand->held_ps),
                      "held_fraction", json_rounded(share_of_time(e, strand->measured_ps), 6)));
    }
    return list;
}

static json_t *paused_json(const struct explanation *e, const struct root *root)
{
    struct paused paused[MOST_PAUSED];
    uint32_t left_out;
    json_t *list = json_array();
    const uint32_t n = explain_paused(e, root, paused, &left_out);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{so so}", "node", name_json(e, paused[i].node), "held_fraction",
                            json_rounded(share_of_time(e, paused[i].held_ps), 6)));
    return list;
}

static json_t *victims_json(const struct explanation *e, const struct root *root)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < root->n_victims; i++) {
        const struct victim *v = &root->victims[i];
        const double share = v->life_ps > 0 ? (double)v->held_ps / (double)v->life_ps : 0;
        json_array_append_new(
            list, json_pack("{sI so so so sI sb so so so so so}", "flow", (json_int_t)v->id,
                            "traffic", json_words(v->traffic, 0), "from", name_json(e, v->from),
                            "to", name_json(e, v->to), "priority", (json_int_t)v->priority,
                            "bystander", v->is_bystander, "held_s", json_seconds(v->held_ps),
                            "held_fraction", json_rounded(share, 6), "lost_fraction",
                            json_rounded(v->lost, 6), "slowdown", json_rounded(v->slowdown, 6),
                            "harm_byte_s", json_rounded(v->harm_byte_s, 6)));
    }
    return list;
}

static json_t *jobs_json(const struct explanation *e, const struct root *root)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->n_jobs; i++) {
        const struct job *job = &root->jobs[i];
        const bool stands = job->stands && e->entries[i].is_collective;
        if (!job->n_operations && !stands)
            continue;
        json_array_append_new(
            list, json_pack("{so sI so so sb}", "traffic", json_words(e->entries[i].name, 0),
                            "operations", (json_int_t)job->n_operations, "held_s",
                            json_number(job->held_ps / (double)XOFF_S), "held_fraction",
                            json_rounded(job->lasted_ps > 0 ? job->held_ps / job->lasted_ps : 0, 6),
                            "stands", stands));
    }
    return list;
}

static json_t *remedies_json(const struct explanation *e, const struct root *root)
{
    const struct explain_remedy *remedies[MOST_REMEDIES];
    const uint32_t n = kind_remedies(e, root, remedies);
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *changes = json_array();
        for (uint32_t k = 0; remedies[i]->changes[k]; k++)
            json_array_append_new(changes, json_string(remedies[i]->changes[k]));
        json_array_append_new(
            list, json_pack("{ss so}", "words", remedies[i]->words, "changes", changes));
    }
    return list;
}

static json_t *root_json(const struct explanation *e, const struct root *root, double all)
{
    /* Losses at a switch are named by the port where the frames came in. */
    const bool is_inside = root->kind == ROOT_HEADROOM || root->kind == ROOT_NO_ROUTE ||
                           root->kind == ROOT_CYCLIC_ROUTES;
    const uint32_t index =
        root->port == NONE || !is_inside ? root->port : e->run.ports[root->port].peer;
    const struct run_port *port = index == NONE ? NULL : &e->run.ports[index];
    const double harm = root->harm_byte_s + root->operations_byte_s;
    json_t *o = json_object();
    XOFF_ASSERT(o);
    json_object_set_new(o, "kind", json_string(kind_word(root->kind)));
    json_object_set_new(o, "title", taken(words_title(e, root)));
    json_object_set_new(o, "what", taken(words_what(e, root)));
    json_object_set_new(o, "node", name_json(e, port ? port->node : root->node));
    json_object_set_new(o, "port", port ? json_integer(port->number) : json_null());
    json_object_set_new(o, "peer", port ? name_json(e, port->peer_node) : json_null());
    json_object_set_new(o, "host",
                        root->kind == ROOT_INCAST ? name_json(e, root->target) : json_null());
    json_t *priorities = json_array();
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (root->priorities >> p & 1)
            json_array_append_new(priorities, json_integer(p));
    json_object_set_new(o, "priorities", priorities);
    json_object_set_new(o, "from_s", json_seconds(root->from_ps));
    json_object_set_new(o, "to_s", json_seconds(root->to_ps));
    json_object_set_new(o, "harm_byte_s", json_rounded(root->harm_byte_s, 6));
    json_object_set_new(o, "bystanders_byte_s", json_rounded(root->bystanders_byte_s, 6));
    json_object_set_new(o, "operations_byte_s", json_rounded(root->operations_byte_s, 6));
    json_object_set_new(o, "harm_share", json_rounded(all > 0 ? harm / all : 0, 6));
    json_object_set_new(o, "pauses", json_integer((json_int_t)root->n_pauses));
    json_object_set_new(o, "held_s", json_seconds(root->held_ps));
    json_object_set_new(o, "lost_frames", json_integer((json_int_t)root->lost_frames));
    json_object_set_new(o, "chain", chain_json(e, root));
    json_object_set_new(o, "nodes", paused_json(e, root));
    json_object_set_new(o, "victims", victims_json(e, root));
    json_object_set_new(o, "n_flows", json_integer((json_int_t)root->n_flows));
    json_object_set_new(o, "n_bystanders", json_integer((json_int_t)root->n_bystanders));
    json_object_set_new(o, "jobs", jobs_json(e, root));
    json_object_set_new(o, "evidence", words_evidence(e, root));
    json_object_set_new(o, "remedies", remedies_json(e, root));
    json_object_set_new(o, "sure", sure_json(e, root));
    return o;
}

json_t *explain_json(const struct explanation *e, uint32_t most_roots)
{
    json_t *o = json_object(), *roots = json_array();
    const uint32_t n = e->n_named < most_roots ? e->n_named : most_roots;
    double all = 0;
    XOFF_ASSERT(o && roots);
    for (uint32_t i = 0; i < e->n_roots; i++)
        all += e->roots[i].harm_byte_s + e->roots[i].operations_byte_s;
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(roots, root_json(e, &e->roots[i], all));
    json_object_set_new(o, "headline", taken(words_headline(e)));
    json_object_set_new(o, "difference",
                        e->difference ? json_words(e->difference, 0) : json_null());
    json_object_set_new(o, "sure", sure_json(e, e->n_named ? &e->roots[0] : NULL));
    json_object_set_new(o, "healthy", json_boolean(!e->n_named));
    json_object_set_new(o, "facts", words_facts(e));
    json_object_set_new(o, "roots", roots);
    json_object_set_new(o, "minor", json_integer((json_int_t)e->n_roots - (json_int_t)n));
    return o;
}
