/* What a run will take of memory, before it starts.
 *
 * Counted are the network, samples until stop, and the flows that traffic is known to start, each
 * with its record among the results, unless flows are summarised. More than may be taken is
 * refused. Samples while the run drains are taken only if it does not come to rest: where they
 * would be too many, that is warned about.
 */
#include <stdio.h>
#include <string.h>

#include "scenario/build.h"
#include "scenario/build_parts.h"

/* Samples from the start to `until`, each of at least one priority. */
static double n_samples(const struct built *b, xoff_time until)
{
    const struct net_spec *spec = &b->spec;
    uint64_t n_ports = 0;
    for (uint32_t n = 0; n < b->topo.n_nodes; n++)
        n_ports += !b->measured || b->measured[n] ? b->topo.nodes[n].n_ports : 0;
    return !spec->measure_every ? 0
                                : (double)until / (double)spec->measure_every * (double)n_ports *
                                      __builtin_popcount(spec->measure);
}

static const char *size_text(char text[32], double bytes)
{
    snprintf(text, 32, bytes < 1e9 ? "%.0f MB" : "%.1f GB", bytes / (bytes < 1e9 ? 1e6 : 1e9));
    return text;
}

static int refuse(const struct plan *plan, const char *subject, double bytes, uint64_t memory_bytes,
                  const char *advice, struct xoff_err *err)
{
    char message[256], needed[32], free[32];
    snprintf(message, sizeof message, "the run would take about %s of memory, and it may take %s; ",
             size_text(needed, bytes), size_text(free, (double)memory_bytes));
    xoff_err_set(err, XOFF_E_RANGE, subject, NULL, message);
    xoff_err_add(err, advice);
    xoff_err_add(err, ", or give --memory");
    return build_located(plan, plan->topology.place, NULL, err);
}

int build_check_memory(const struct plan *plan, uint64_t memory_bytes, struct built *b,
                       struct xoff_err *err)
{
    /* A sample is in its node, among the results, and there once more while they are sorted. */
    const double each = 3 * sizeof(struct result_sample);
    const double samples = n_samples(b, plan->net.stop);
    char message[256], needed[32], free[32];
    if (samples > 2e8) {
        snprintf(message, sizeof message,
                 "would take about %.0f million samples; give a longer interval, or fewer nodes in "
                 "measure.at",
                 samples / 1e6);
        xoff_err_set(err, XOFF_E_RANGE, "measure.every", NULL, message);
        return build_located(plan, plan->topology.place, NULL, err);
    }
    if (!memory_bytes)
        return 0;
    const double may_take = (double)memory_bytes, network = (double)net_estimate(&b->spec);
    const double flows = b->spec.summarises ? 0 : b->apps.n_flows * (double)net_flow_bytes();
    if (network > may_take)
        return refuse(plan, "topology", network, memory_bytes, "use fewer hosts or ports", err);
    if (network + flows > may_take) {
        snprintf(message, sizeof message, "start fewer flows than %.3g, or give results: summary",
                 b->apps.n_flows);
        return refuse(plan, "traffic", network + flows, memory_bytes, message, err);
    }
    const double least = network + flows + samples * each;
    const double most = network + flows + n_samples(b, net_end(&plan->net)) * each;
    if (least > may_take)
        return refuse(plan, "measure.every", least, memory_bytes, "give a longer interval", err);
    if (most <= may_take)
        return 0;
    struct xoff_err warning = {0};
    snprintf(message, sizeof message,
             "samples take up to %s of memory if the run does not come to rest before its drain "
             "is over, and it may take %s; it would end early",
             size_text(needed, most), size_text(free, may_take));
    xoff_err_set(&warning, XOFF_E_OK, "measure.every", NULL, message);
    build_located(plan, plan->topology.place, NULL, &warning);
    build_add_warning(b, &warning);
    return 0;
}
