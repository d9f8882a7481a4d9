/* What variants of a fork may differ in: numbers of mechanisms, which the state does not hold. All
 * else is part of the state (traffic, random streams) or of its shape (topology, kinds, sizes). */
#include "cli/fork.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

static const char *const sections[] = {"mmu", "pause", "scheduler", "marking", "path", "arbiter"};
/* Parameters of buffers by which their space is laid out: frames lie in it already. */
static const char *const layouts[] = {"reserved", "reserved_lossy", "headroom", "headroom_factor",
                                      "xoff",     "pool",           "dedicated"};

static bool is_layout(const char *name)
{
    for (uint32_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(name, layouts[i]))
            return true;
    return false;
}

/* Whether a path such as switch.mmu.alpha, switches.0.marking.kmin or transport.gain names a
 * parameter of a mechanism. */
static bool is_of_mechanism(const char *path)
{
    if (!strncmp(path, "transport.", 10))
        return true;
    if (strncmp(path, "transports.", 11) == 0) {
        path = strchr(path + 11, '.');
        return path && strcmp(path, ".name");
    }
    if (!strncmp(path, "switches.", 9))
        path = strchr(path + 9, '.');
    else if (!strncmp(path, "switch.", 7))
        path += 6;
    else
        path = NULL;
    for (uint32_t i = 0; path && i < sizeof sections / sizeof *sections; i++) {
        const size_t n = strlen(sections[i]);
        if (!strncmp(path + 1, sections[i], n) && path[1 + n] == '.')
            return i > 0 || !is_layout(path + n + 2); /* the first is mmu */
    }
    return false;
}

/* Words choose what a state is made of, numbers do not. */
static bool is_number(const char *value)
{
    return value && (isdigit((unsigned char)*value) || !strcmp(value, "auto"));
}

struct finding {
    const struct plan *plan;
    struct xoff_err *err;
    int code;
};

static void look(void *context, const char *path, const char *first, const char *value)
{
    struct finding *f = context;
    if (f->code || !strcmp(path, "title") ||
        (is_of_mechanism(path) && is_number(first) && is_number(value)))
        return;
    f->code = xoff_err_set(f->err, XOFF_E_CONFLICT, "--fork-at", path,
                           "cannot change from one state on, as it does in variant ");
    xoff_err_add(f->err, f->plan->variant);
    xoff_err_add(f->err,
                 "; variants of a fork differ in thresholds of a switch's mmu, in numbers of "
                 "its pause, scheduler, marking, path and arbiter, and of transports");
}

/* Whether the states of the networks have one shape: that of the first is loaded into the others,
 * before any of them has run. */
static int compare_shapes(const struct scenario *scenario, struct xoff_err *err)
{
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct fork fork = {0};
    int code = 0;
    for (uint32_t i = 0; i < scenario->n_plans && !code; i++) {
        struct built *built;
        code = build_create(scenario->plans[i], &options, &built, err);
        if (code)
            break;
        if (i == 0)
            net_image(built->net, &fork.image);
        else
            code = fork_load(&fork, scenario->plans[i], built->net, err);
        build_destroy(built);
    }
    image_fini(&fork.image);
    return code;
}

int fork_check(const struct scenario *scenario, xoff_time at, struct xoff_err *err)
{
    char given[32];
    if (at >= net_end(&scenario->plans[0]->net))
        return xoff_err_set(err, XOFF_E_RANGE, "--fork-at",
                            xoff_format_time(given, sizeof given, at),
                            "the first variant comes to its end before or at this time");
    if (scenario->n_plans < 2)
        return xoff_err_set(err, XOFF_E_CONFLICT, "--fork-at", NULL,
                            "the scenario has no variants to go on with from one state");
    char *first = plan_print(scenario->plans[0]);
    XOFF_ASSERT(first);
    struct finding f = {.err = err};
    for (uint32_t i = 1; i < scenario->n_plans && !f.code; i++) {
        char *text = plan_print(scenario->plans[i]);
        XOFF_ASSERT(text);
        f.plan = scenario->plans[i];
        cli_compare_keys(first, text, look, &f);
        free(text);
    }
    free(first);
    return f.code ? f.code : compare_shapes(scenario, err);
}

int fork_load(const struct fork *fork, const struct plan *plan, struct net *net,
              struct xoff_err *err)
{
    struct image image = fork->image;
    image.is_loading = true;
    net_image(net, &image);
    if (!image.misfit)
        return 0;
    xoff_err_set(err, XOFF_E_CONFLICT, "--fork-at", plan->variant,
                 "this variant's state has another shape than that of the first one: ");
    xoff_err_add(err, image.misfit);
    return -XOFF_E_CONFLICT;
}
