/* Puts an explanation together, and takes it apart. */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "explain/parts.h"

int explain_run(const struct run_file *file, int64_t run_id, struct explanation **out,
                struct xoff_err *err)
{
    struct explanation *e = calloc(1, sizeof *e);
    XOFF_ASSERT(e);
    e->run.rows = (struct rows){.db = file->db, .path = file->path, .err = err};
    e->run.run_id = run_id;
    evidence_read(e);
    if (!e->run.rows.status) {
        roots_find(e);
        harm_count(e);
        kinds_judge(e);
    }
    const int status = e->run.rows.status;
    if (status) {
        explain_destroy(e);
        e = NULL;
    }
    *out = e;
    return status;
}

void explain_destroy(struct explanation *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; i < e->n_roots; i++)
        free(e->roots[i].jobs);
    free(e->difference);
    free(e->line_of);
    free(e->is_deaf);
    free(e->spans);
    free(e->first_strand);
    free(e->first_span);
    free(e->line_spans);
    free(e->strands);
    free(e->root_of);
    free(e->roots);
    free(e->deadlock_ports);
    free(e->deadlocks);
    free(e->drops);
    free(e->queues);
    free(e->slowest_bps);
    free(e->entries);
    free(e->changes);
    free(e->receivers);
    config_forget(e);
    free(e->config);
    free(e->scenario_file);
    free(e->title);
    free(e->variant);
    run_data_fini(&e->run);
    free(e);
}

void explain_against(struct explanation *e, const struct explanation *first)
{
    free(e->difference);
    e->difference = words_difference(e, first);
}

const char *explain_config(const struct explanation *e)
{
    return e->config;
}

const char *explain_scenario_file(const struct explanation *e)
{
    return e->scenario_file;
}

char *explain_headline(const struct explanation *e)
{
    return words_headline(e);
}

const char *explain_variant(const struct explanation *e)
{
    return e->variant;
}

struct explain_figures explain_figures(const struct explanation *e)
{
    struct explain_figures f = {.lost_frames = e->lost_frames,
                                .unfinished_flows = e->n_unfinished,
                                .delivered_bytes = e->delivered_bytes};
    for (uint32_t i = 0; i < e->n_roots; i++) {
        f.harm_byte_s += e->roots[i].harm_byte_s;
        f.bystanders_byte_s += e->roots[i].bystanders_byte_s;
    }
    return f;
}

static int compare_paused(const void *a, const void *b)
{
    const struct paused *x = a, *y = b;
    if (x->held_ps != y->held_ps)
        return x->held_ps > y->held_ps ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

uint32_t explain_paused(const struct explanation *e, const struct root *root,
                        struct paused paused[MOST_PAUSED], uint32_t *n_left_out)
{
    struct paused *all = calloc(e->run.n_nodes + 1, sizeof *all);
    uint32_t n = 0;
    XOFF_ASSERT(all);
    for (uint32_t i = 0; i < e->run.n_nodes; i++)
        all[i].node = i;
    for (uint32_t i = 0; i < e->n_strands; i++) {
        const struct strand *strand = &e->strands[i];
        const uint32_t node = e->run.ports[e->run.lines[strand->line].port].peer_node;
        if (strand->root == root->id && node != NONE && strand->measured_ps > all[node].held_ps)
            all[node].held_ps = strand->measured_ps;
    }
    qsort(all, e->run.n_nodes, sizeof *all, compare_paused);
    while (n < e->run.n_nodes && all[n].held_ps > 0)
        n++;
    const uint32_t n_kept = n < MOST_PAUSED ? n : MOST_PAUSED;
    memcpy(paused, all, n_kept * sizeof *paused);
    *n_left_out = n - n_kept;
    free(all);
    return n_kept;
}
