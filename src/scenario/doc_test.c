/* docs/scenario.md is in step with the tables.
 *
 * The document has marked regions (doc_testing.h) that are made from the tables,
 *     <!-- keys: switch -->  ... <!-- end -->      one table (struct section.path)
 *     <!-- kinds: switch.mmu -->  ... <!-- end -->  every kind of a role (kinds_path)
 * The test makes them again and compares; it also looks that no table is left out. Called with
 * --update it writes the document anew instead.
 *
 *     doc_test [--update] [folder with the sources]
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc_testing.h"
#include "scenario/sections.h"

static bool write_region(FILE *out, const char *mark);
static struct doc page = {".", "docs/scenario.md", write_region};

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

static void write_rows(FILE *out, const struct xoff_param *table)
{
    for (const struct xoff_param *p = table; p && p->name; p++) {
        char accepts[256];
        const char *preset = !p->preset ? "required" : p->preset[0] ? p->preset : "none";
        xoff_param_accepts(p, accepts, sizeof accepts);
        fprintf(out, "| `%s` | %s | %s | %s |\n", p->name, accepts, preset, p->help);
    }
}

/* Keys of both tables in one; `more` may be NULL. */
static void write_table(FILE *out, const struct xoff_param *table, const struct xoff_param *more)
{
    if ((!table || !table->name) && (!more || !more->name)) {
        fprintf(out, "No keys of its own.\n");
        return;
    }
    fprintf(out, "| key | accepts | default | meaning |\n|---|---|---|---|\n");
    write_rows(out, table);
    write_rows(out, more);
}

static void write_kinds(FILE *out, enum kinds_role role)
{
    struct kind kind;
    for (uint32_t i = 0; kinds_at(role, i, &kind); i++) {
        const bool is_default = i == 0 && role != KINDS_TRAFFIC && role != KINDS_TOPOLOGY;
        fprintf(out, "\n**`%s`**%s: %s.\n\n", kind.name, is_default ? " (default)" : "",
                kind.summary);
        write_table(out, kind.params, kind.np_params);
        const struct traffic_kind *traffic = role == KINDS_TRAFFIC ? kind.ops : NULL;
        if (traffic && traffic->items_key) {
            fprintf(out, "\nEntries of `%s`:\n\n", traffic->items_key);
            write_table(out, traffic->item_params, NULL);
        }
    }
}

/* The inside of a region, by its mark's text such as "keys: switch"; false: no such table. */
static bool write_region(FILE *out, const char *mark)
{
    for (const struct section *s = sections; s->path; s++) {
        char name[64];
        snprintf(name, sizeof name, "keys: %s", s->path[0] ? s->path : "top");
        if (strcmp(name, mark) == 0) {
            write_table(out, s->table, NULL);
            return true;
        }
    }
    for (uint32_t k = 0; xoff_rels[k]; k++) {
        char name[64];
        snprintf(name, sizeof name, "keys: transport.%s", xoff_rels[k]->name);
        if (strcmp(name, mark) == 0) {
            write_table(out, xoff_rels[k]->params, NULL);
            return true;
        }
    }
    for (int role = 0; role < N_KINDS_ROLES; role++) {
        char name[64];
        snprintf(name, sizeof name, "kinds: %s", kinds_path((enum kinds_role)role));
        if (strcmp(name, mark) == 0) {
            write_kinds(out, (enum kinds_role)role);
            return true;
        }
    }
    return false;
}

static void test_in_step(void **state)
{
    (void)state;
    char *doc = doc_load(&page);
    assert_non_null(doc);
    const uint32_t line = doc_differs_at(&page, doc);
    if (line)
        fail_msg("%s:%u: differs from the tables; run doc_test --update", page.name, line);
    free(doc);
}

static void test_complete(void **state)
{
    (void)state;
    char mark[96];
    char *doc = doc_load(&page);
    assert_non_null(doc);
    for (const struct section *s = sections; s->path; s++) {
        if (strcmp(s->path, "topology.fabric_link") == 0)
            continue; /* the table of host_link */
        snprintf(mark, sizeof mark, "<!-- keys: %s -->\n", s->path[0] ? s->path : "top");
        if (!strstr(doc, mark))
            fail_msg("%s: lacks %s", page.name, mark);
    }
    for (uint32_t k = 0; xoff_rels[k]; k++) {
        snprintf(mark, sizeof mark, "<!-- keys: transport.%s -->\n", xoff_rels[k]->name);
        if (xoff_rels[k]->params->name && !strstr(doc, mark))
            fail_msg("%s: lacks %s", page.name, mark);
    }
    for (int role = 0; role < N_KINDS_ROLES; role++) {
        snprintf(mark, sizeof mark, "<!-- kinds: %s -->\n", kinds_path((enum kinds_role)role));
        if (!strstr(doc, mark))
            fail_msg("%s: lacks %s", page.name, mark);
    }
    free(doc);
}

/* The YAML examples of the document, those that state a topology, are scenarios. */
static void test_examples(void **state)
{
    (void)state;
    static const char fence[] = "```yaml\n";
    char *doc = doc_load(&page);
    assert_non_null(doc);
    uint32_t n = 0;
    for (char *at = strstr(doc, fence); at; at = strstr(at, fence)) {
        at += sizeof fence - 1;
        char *end = strstr(at, "```\n");
        assert_non_null(end);
        *end = '\0';
        static const char small[] = "topology: star\n";
        static char text[65536];
        assert_in_range(strlen(at), 1, sizeof text - sizeof small);
        /* An example of one section is completed by the smallest network. */
        const bool whole = strstr(at, "\ntopology:") || strncmp(at, "topology:", 9) == 0;
        snprintf(text, sizeof text, "%s%s", whole ? "" : small, at);
        struct scenario *s;
        struct xoff_err err;
        if (scenario_read_text("example", text, strlen(text), NULL, 0, &s, &err))
            fail_msg("%s: %d:%d: %s: %s in\n%s", page.name, err.line, err.column, err.subject,
                     err.message, text);
        scenario_destroy(s);
        at = end + 1;
        n++;
    }
    assert_true(n >= 5);
    free(doc);
}

int main(int argc, char **argv)
{
    const bool updates = argc > 1 && strcmp(argv[1], "--update") == 0;
    if (argc > 1 + updates)
        page.root = argv[1 + updates];
    if (updates)
        return doc_update(&page);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_step),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
