/* Counts what roots did to operations: bytes times the time that they held one of its hosts.
 *
 * An iteration of a collective waits for all ranks: it stands while the link of any of them is
 * held. A query or a command waits for the hosts that send to its own, and for its own link. The
 * time is that in which at least one of these links was held, counted once.
 */
#include <stdlib.h>
#include <string.h>

#include "explain/harm.h"

#define MOST_SPANS 20000000

/* The hosts behind the operations of an entry, or of one of its hosts. */
struct group {
    bool *is_member; /* per node */
    uint8_t priorities;
    struct span *spans; /* by root and time, apart within a root; made when first needed */
    uint32_t *first;    /* per root, and one more */
};

struct jobs {
    struct explanation *e;
    struct key_table *names;
    struct key_table keys;
    struct group *groups;
    uint32_t n_groups;
    bool are_there;
    bool *has_operations; /* per entry at the time of creation */
    uint32_t n_known;
    uint64_t n_spans;
};

struct jobs *jobs_create(struct explanation *e, struct key_table *names)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    struct rows *rows = &e->run.rows;
    XOFF_ASSERT(jobs);
    *jobs = (struct jobs){.e = e, .names = names};
    /* Entries of the configuration keep their numbers. */
    const uint32_t n_given = e->n_entries;
    e->n_entries = 0;
    for (uint32_t i = 0; i < n_given; i++) {
        const struct entry entry = e->entries[i];
        if (key_put_text(names, entry.name, strlen(entry.name)) == e->n_entries)
            e->entries[e->n_entries++] = entry;
    }
    rows_begin(rows, "SELECT DISTINCT traffic FROM operations WHERE run_id = ?", e->run.run_id);
    uint32_t *found = NULL, n = 0;
    while (rows_next(rows)) {
        found = run_grown(found, n, sizeof *found);
        found[n++] = harm_entry(e, names, rows_text(rows, 0));
    }
    jobs->are_there = n > 0;
    jobs->n_known = e->n_jobs = e->n_entries;
    jobs->has_operations = calloc(jobs->n_known + 1, sizeof *jobs->has_operations);
    XOFF_ASSERT(jobs->has_operations);
    for (uint32_t i = 0; i < n; i++)
        jobs->has_operations[found[i]] = true;
    free(found);
    for (uint32_t i = 0; i < e->n_roots; i++) {
        e->roots[i].jobs = calloc(jobs->n_known + 1, sizeof *e->roots[i].jobs);
        XOFF_ASSERT(e->roots[i].jobs);
        for (uint32_t k = 0; k < jobs->n_known; k++)
            e->roots[i].jobs[k].entry = k;
    }
    return jobs;
}

bool jobs_are_there(const struct jobs *jobs)
{
    return jobs->are_there;
}

static struct group *group_of(struct jobs *jobs, uint32_t entry, uint32_t node)
{
    const uint32_t key = jobs->e->entries[entry].is_collective ? NONE : node;
    const uint32_t number = key_put(&jobs->keys, entry, key);
    if (number == jobs->n_groups) {
        jobs->groups = run_grown(jobs->groups, number, sizeof *jobs->groups);
        jobs->groups[jobs->n_groups++] =
            (struct group){.is_member = calloc(jobs->e->run.n_nodes + 1, sizeof(bool))};
        XOFF_ASSERT(jobs->groups[number].is_member);
    }
    return &jobs->groups[number];
}

void jobs_add_flow(struct jobs *jobs, uint32_t entry, uint32_t from, uint32_t to, uint32_t priority)
{
    if (entry >= jobs->n_known || !jobs->has_operations[entry])
        return;
    const uint32_t nodes[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        struct group *group = group_of(jobs, entry, nodes[i]);
        group->is_member[from] = true;
        group->priorities |= (uint8_t)(1u << priority);
    }
}

struct piece {
    uint32_t root;
    int64_t from_ps, to_ps;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->from_ps != y->from_ps)
        return x->from_ps < y->from_ps ? -1 : 1;
    return (x->to_ps > y->to_ps) - (x->to_ps < y->to_ps);
}

static struct piece *pieces_of(const struct explanation *e, const struct group *group, uint32_t *n)
{
    struct piece *pieces = NULL;
    *n = 0;
    for (uint32_t node = 0; node < e->run.n_nodes; node++) {
        const struct run_node *host = &e->run.nodes[node];
        if (!group->is_member[node])
            continue;
        for (uint32_t p = host->first_port; p < host->first_port + host->n_ports; p++)
            for (uint32_t k = 0; k <= ALL_PRIORITIES; k++) {
                const uint32_t line = harm_line(e, p, k);
                if (line == NONE || (k < ALL_PRIORITIES && !(group->priorities >> k & 1)))
                    continue;
                for (uint32_t i = e->first_strand[line]; i < e->first_strand[line + 1]; i++) {
                    const struct strand *strand = &e->strands[i];
                    for (uint32_t s = strand->first; s < strand->first + strand->n; s++) {
                        pieces = run_grown(pieces, *n, sizeof *pieces);
                        pieces[(*n)++] =
                            (struct piece){strand->root, e->spans[s].from_ps, e->spans[s].to_ps};
                    }
                }
            }
    }
    return pieces;
}

static void make_spans(struct jobs *jobs, struct group *group)
{
    const struct explanation *e = jobs->e;
    uint32_t n, made = 0;
    struct piece *pieces = pieces_of(e, group, &n);
    group->first = calloc(e->n_roots + 2, sizeof *group->first);
    group->spans = malloc((n + 1) * sizeof *group->spans);
    XOFF_ASSERT(group->first && group->spans);
    if (n)
        qsort(pieces, n, sizeof *pieces, compare_pieces);
    uint32_t at = 0;
    for (uint32_t root = 0; root < e->n_roots; root++) {
        int64_t before_ps = 0;
        group->first[root] = made;
        for (; at < n && pieces[at].root == root; at++) {
            struct span *last = made > group->first[root] ? &group->spans[made - 1] : NULL;
            if (last && pieces[at].from_ps <= last->to_ps) {
                if (pieces[at].to_ps > last->to_ps)
                    last->to_ps = pieces[at].to_ps;
                continue;
            }
            if (last)
                before_ps += last->to_ps - last->from_ps;
            group->spans[made++] = (struct span){
                .from_ps = pieces[at].from_ps, .to_ps = pieces[at].to_ps, .before_ps = before_ps};
        }
    }
    group->first[e->n_roots] = made;
    jobs->n_spans += made;
    free(pieces);
}

static void count_operation(struct jobs *jobs, uint32_t entry, uint32_t node, double bytes,
                            int64_t from_ps, int64_t to_ps)
{
    struct explanation *e = jobs->e;
    struct group *group = group_of(jobs, entry, node);
    if (!group->spans && jobs->n_spans > MOST_SPANS) {
        e->is_coarse = true;
        return;
    }
    if (!group->spans)
        make_spans(jobs, group);
    for (uint32_t root = 0; root < e->n_roots; root++) {
        const uint32_t first = group->first[root], n = group->first[root + 1] - first;
        const int64_t held_ps = n ? harm_held(group->spans + first, n, from_ps, to_ps) : 0;
        if (!held_ps)
            continue;
        struct job *job = &e->roots[root].jobs[entry];
        job->n_operations++;
        job->held_ps += (double)held_ps;
        job->lasted_ps += (double)(to_ps - from_ps);
        e->roots[root].operations_byte_s += bytes * (double)held_ps / (double)XOFF_S;
    }
}

void jobs_count(struct jobs *jobs)
{
    struct explanation *e = jobs->e;
    struct rows *rows = &e->run.rows;
    if (!e->n_roots)
        return;
    rows_begin(rows,
               "SELECT node_id, traffic, bytes, start_at_ps, finish_at_ps FROM operations "
               "WHERE +run_id = ?",
               e->run.run_id);
    while (rows_next(rows)) {
        const uint32_t entry = harm_entry(e, jobs->names, rows_text(rows, 1));
        if (entry < jobs->n_known)
            count_operation(jobs, entry, rows_index(rows, 0), rows_real(rows, 2), rows_int(rows, 3),
                            rows_int(rows, 4));
    }
}

void jobs_destroy(struct jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->n_groups; i++) {
        free(jobs->groups[i].is_member);
        free(jobs->groups[i].spans);
        free(jobs->groups[i].first);
    }
    free(jobs->groups);
    free(jobs->has_operations);
    key_table_fini(&jobs->keys);
    free(jobs);
}
