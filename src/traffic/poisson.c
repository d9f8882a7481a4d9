/* Traffic kind poisson: flows arrive at each sender as a Poisson process and go to receivers drawn
 * uniformly. Load counts payload: a sender starts flows at load * link rate / (8 * mean size), as
 * in the traffic generator of HPCC's ns-3, so the link carries the headers on top. With `load_of`
 * bisection the links out of the sender's edge switch take the place of its own (bisection.h). With
 * `every` in place of load, flows of all senders together arrive so far apart on average.
 */
#include "traffic/arrivals.h"
#include "traffic/bisection.h"
#include "traffic/kinds.h"

#include <stdlib.h>

#include "base/text.h"

struct poisson_params {
    struct targets_params targets; /* from and to */
    double load;
    int64_t load_of;
    xoff_time every;
    char sizes[XOFF_PARAM_TEXT];
    struct bind_period period;
    struct bind_carriage carriage;
};

enum { LOAD_OF_HOSTS, LOAD_OF_BISECTION };
static const char *const load_ofs[] = {"hosts", "bisection", NULL};

static const struct xoff_param poisson_table[] = {
    TARGETS_SETS(struct poisson_params),
    {.name = "load",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct poisson_params, load),
     .preset = "auto",
     .min = "0",
     .max = "1",
     .allows_auto = true,
     .help = "Payload offered by each sender, as a part of its link's rate, or see load_of; auto: "
             "see every."},
    {.name = "load_of",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct poisson_params, load_of),
     .preset = "hosts",
     .choices = load_ofs,
     .help = "What load is a part of: the senders' own links, or the links from their switches to "
             "other switches, of which only what goes to other switches' hosts counts."},
    {.name = "every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct poisson_params, every),
     .preset = "auto",
     .min = "1ps",
     .allows_auto = true,
     .help = "Mean time from one flow to the next, of all senders together; auto: by load."},
    {.name = "sizes",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct poisson_params, sizes),
     .help = "Flow sizes: websearch or another name, 64KB, uniform 1KB 10KB, exponential 100KB, "
             "pareto 10KB 1.5, or points as \"0B 0, 10KB 0.5, 1MB 1\"."},
    BIND_PERIOD(struct poisson_params),
    BIND_CARRIAGE(struct poisson_params),
    {0},
};

/* Sets the rate that each sender's load is a part of, where that is not the rate of its link. */
static int find_rates(const struct traffic_env *env, const struct poisson_params *p,
                      const struct targets *targets, struct arrivals *arrivals, double *rates_bps,
                      struct xoff_err *err)
{
    arrivals->rates_bps = rates_bps;
    if (p->every == XOFF_PARAM_AUTO)
        return bisection_rates(env, targets, p->load, rates_bps, err);
    if (p->load_of != LOAD_OF_HOSTS)
        return xoff_err_set(err, XOFF_E_CONFLICT, "load_of", NULL,
                            "says what load is a part of; with every there is no load");
    arrivals->load = 1;
    for (uint32_t i = 0; i < targets->senders.n; i++)
        rates_bps[i] = arrivals->bits * (double)XOFF_S / ((double)p->every * targets->senders.n);
    return 0;
}

static int poisson_bind(const struct traffic_env *env, const void *params, const void *items,
                        uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct poisson_params *p = params;
    struct arrivals arrivals = {.load = p->load};
    struct targets targets;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &arrivals.offer, err);
    if (rc == 0)
        rc = bind_load_or_every(p->load, p->every, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &arrivals.period, err);
    if (rc)
        return rc;
    rc = sizes_parse(p->sizes, &arrivals.sizes, err);
    if (rc) {
        if (err) {
            struct text subject = text_at(err->subject, sizeof err->subject, 0);
            text_add(&subject, "sizes");
        }
        return rc;
    }
    arrivals.bits = arrivals.sizes.mean_bytes * 8;
    struct targets_params uniform = p->targets; /* the pattern is fixed for this kind */
    uniform.pattern = TARGETS_UNIFORM;
    rc = targets_bind(env, &uniform, TARGETS_UNIFORM, &targets, err);
    if (rc)
        return rc;
    double *rates_bps = NULL;
    if (p->load_of == LOAD_OF_BISECTION || p->every != XOFF_PARAM_AUTO) {
        rates_bps = calloc(targets.senders.n, sizeof *rates_bps);
        rc = rates_bps ? find_rates(env, p, &targets, &arrivals, rates_bps, err)
                       : bind_no_memory(err);
    }
    if (rc == 0)
        rc = arrivals_bind(env, &arrivals, &targets, apps, err);
    free(rates_bps);
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_poisson = {
    .name = "poisson",
    .summary = "flows that arrive at random, with drawn sizes and receivers",
    .params = poisson_table,
    .params_size = sizeof(struct poisson_params),
    .bind = poisson_bind,
};
