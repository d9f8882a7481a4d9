/* The registry: defaults, lookup by keyword, and what every entry must bring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/registry.h>

/* Weak: a test build may bring its own. */
__attribute__((weak)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

static void test_defaults_come_first(void **unused)
{
    (void)unused;
    assert_string_equal(xoff_mmus[0]->name, "sih");
    assert_string_equal(xoff_pauses[0]->name, "pfc");
    assert_string_equal(xoff_scheds[0]->name, "ets");
    assert_string_equal(xoff_cps[0]->name, "none");
    assert_string_equal(xoff_rps[0]->name, "datagram");
    assert_string_equal(xoff_nps[0]->name, "echo");
    assert_string_equal(xoff_arbs[0]->name, "round-robin");
}

static void test_lookup(void **unused)
{
    (void)unused;
    static const char *const mmus[] = {"sih", "static", "ns3", NULL};
    static const char *const pauses[] = {"pfc", "pause", "tpfc", "capfc", "none", NULL};
    static const char *const scheds[] = {"ets", "strict", "drr", "drr-awc", "wfq", "fifo", NULL};
    static const char *const cps[] = {"none", "ecn", "step", "int", "qcn", "ecm", "fecn", NULL};
    static const char *const rps[] = {
        "datagram", "none",  "dcqcn",      "dcqcn-nic", "hpcc", "powertcp", "theta-powertcp",
        "timely",   "dctcp", "dctcp-rate", "tcp",       "qcn",  "ecm",      "fecn",
        "e2cm",     NULL};
    for (size_t i = 0; mmus[i]; i++)
        assert_string_equal(xoff_mmu_find(mmus[i])->name, mmus[i]);
    for (size_t i = 0; pauses[i]; i++)
        assert_string_equal(xoff_pause_find(pauses[i])->name, pauses[i]);
    for (size_t i = 0; scheds[i]; i++)
        assert_string_equal(xoff_sched_find(scheds[i])->name, scheds[i]);
    static const char *const paths[] = {"ecmp", "scatter", "flowlet", "adaptive", NULL};
    for (size_t i = 0; paths[i]; i++)
        assert_string_equal(xoff_path_find(paths[i])->name, paths[i]);
    static const char *const arbs[] = {"round-robin", "longest", NULL};
    for (size_t i = 0; arbs[i]; i++)
        assert_string_equal(xoff_arb_find(arbs[i])->name, arbs[i]);
    for (size_t i = 0; cps[i]; i++)
        assert_string_equal(xoff_cp_find(cps[i])->name, cps[i]);
    /* Reaction points also in this order, in which help lists them. */
    for (size_t i = 0; rps[i] || xoff_rps[i]; i++) {
        assert_true(rps[i] && xoff_rps[i]);
        assert_string_equal(xoff_rps[i]->name, rps[i]);
        assert_ptr_equal(xoff_rp_find(rps[i]), xoff_rps[i]);
    }
    /* Whole words, as written. */
    static const char *const unknown[] = {"", "si", "sihh", "SIH", "pf", "et", "ec", "dctc"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_null(xoff_mmu_find(unknown[i]));
        assert_null(xoff_pause_find(unknown[i]));
        assert_null(xoff_sched_find(unknown[i]));
        assert_null(xoff_cp_find(unknown[i]));
        assert_null(xoff_rp_find(unknown[i]));
        assert_null(xoff_path_find(unknown[i]));
        assert_null(xoff_arb_find(unknown[i]));
        assert_null(xoff_rel_find(unknown[i]));
        assert_null(xoff_np_find(unknown[i]));
    }
}

/* Names of a table are unique, presets parse, and every parameter explains itself. */
static void expect_good_table(const struct xoff_param *table, size_t params_size)
{
    _Alignas(16) unsigned char params[1024];
    struct xoff_err err;
    assert_non_null(table);
    assert_true(params_size <= sizeof params);
    for (const struct xoff_param *p = table; p->name; p++) {
        assert_ptr_equal(xoff_param_find(table, p->name), p);
        assert_non_null(p->help);
        assert_true(p->offset < params_size);
        if (p->preset)
            assert_int_equal(xoff_param_set(p, params, p->preset, &err), 0);
    }
}

static void test_entries_are_complete(void **unused)
{
    (void)unused;
    for (size_t i = 0; xoff_mmus[i]; i++) {
        const struct xoff_mmu_ops *ops = xoff_mmus[i];
        assert_ptr_equal(xoff_mmu_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_true(ops->admit && ops->release && ops->view);
        assert_true(ops->used_bytes && ops->ingress_bytes);
    }
    for (size_t i = 0; xoff_pauses[i]; i++) {
        const struct xoff_pause_ops *ops = xoff_pauses[i];
        assert_ptr_equal(xoff_pause_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
    }
    for (size_t i = 0; xoff_scheds[i]; i++) {
        const struct xoff_sched_ops *ops = xoff_scheds[i];
        assert_ptr_equal(xoff_sched_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_non_null(ops->select);
    }
    for (size_t i = 0; xoff_cps[i]; i++) {
        const struct xoff_cp_ops *ops = xoff_cps[i];
        assert_ptr_equal(xoff_cp_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_true(!ops->deadline == !ops->expire);
    }
    for (size_t i = 0; xoff_paths[i]; i++) {
        const struct xoff_path_ops *ops = xoff_paths[i];
        assert_ptr_equal(xoff_path_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
    }
    for (size_t i = 0; xoff_arbs[i]; i++) {
        const struct xoff_arb_ops *ops = xoff_arbs[i];
        assert_ptr_equal(xoff_arb_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_non_null(ops->match);
    }
    for (size_t i = 0; xoff_rps[i]; i++) {
        const struct xoff_rp_ops *ops = xoff_rps[i];
        assert_ptr_equal(xoff_rp_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_true(!ops->cfg_size == !ops->configure);
        /* What it reads, is told by and comes with is there. */
        assert_non_null(xoff_cp_find(ops->marking));
        assert_non_null(xoff_np_find(ops->np));
        assert_non_null(xoff_rel_find(ops->rel));
        /* Keys of its notification point stand among its own. */
        for (const struct xoff_param *p = xoff_np_find(ops->np)->params; p->name; p++)
            assert_null(xoff_param_find(ops->params, p->name));
    }
    size_t n_rels = 0;
    for (; xoff_rels[n_rels]; n_rels++) {
        const struct xoff_rel_ops *ops = xoff_rels[n_rels];
        assert_ptr_equal(xoff_rel_find(ops->name), ops);
        assert_string_equal(xoff_rel_words[n_rels + 1], ops->name);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
        assert_true(ops->has_acks == (ops->on_data && ops->on_ack && ops->on_late));
        /* The default of on_sent() goes with that of next(). */
        assert_true(!ops->next || ops->on_sent);
    }
    assert_true(n_rels <= XOFF_MAX_RELS);
    assert_string_equal(xoff_rel_words[0], "auto");
    assert_null(xoff_rel_words[n_rels + 1]);
    for (size_t i = 0; xoff_nps[i]; i++) {
        const struct xoff_np_ops *ops = xoff_nps[i];
        assert_ptr_equal(xoff_np_find(ops->name), ops);
        assert_non_null(ops->summary);
        expect_good_table(ops->params, ops->params_size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_come_first),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_entries_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
