/* Histograms of switch queues, sampled at a fixed interval without an event per sample: when the
 * length changes, the samples since the last change are counted at once. */
#include <stdlib.h>
#include <string.h>

#include "net/model.h"

#define HISTOGRAM_STEP 1000 /* width of a bin, in bytes */

/* A sample sees arrivals of its own instant, but not the ends of transmissions (NS3_LAST in
 * profile.c). */
#define SAMPLE_LATE (XOFF_NS / 2)

static void count(struct histogram *h, const struct net_spec *spec, xoff_time now)
{
    const xoff_time last =
        now < spec->histogram_to + SAMPLE_LATE + 1 ? now : spec->histogram_to + SAMPLE_LATE + 1;
    /* Counts the samples before `last`; they are taken at from + k * every. */
    const xoff_time since = last - 1 - SAMPLE_LATE - spec->histogram_from;
    const uint64_t n = since < 0 ? 0 : (uint64_t)(since / spec->histogram_every) + 1;
    if (n <= h->n_samples)
        return;
    const uint32_t bin = (uint32_t)(h->bytes / HISTOGRAM_STEP);
    if (bin >= h->n_bins)
        histogram_grow(h, bin + 1);
    h->counts[bin] += n - h->n_samples;
    h->n_samples = n;
}

void histogram_change(struct sw *sw, uint32_t port, int64_t bytes, xoff_time now)
{
    struct histogram *h = &sw->histograms[port];
    count(h, &sw->net->spec, now);
    h->bytes += bytes;
}

void histogram_collect(struct net *net, struct results *r)
{
    if (!net->spec.histogram_every)
        return;
    for (uint32_t s = 0; s < net->n_switches; s++)
        r->n_histograms += net->switches[s]->n_ports;
    r->histograms = calloc(r->n_histograms + 1, sizeof *r->histograms);
    XOFF_ASSERT(r->histograms);
    uint32_t k = 0;
    for (uint32_t s = 0; s < net->n_switches; s++) {
        struct sw *sw = net->switches[s];
        for (uint32_t p = 0; p < sw->n_ports; p++) {
            struct histogram *h = &sw->histograms[p];
            count(h, &net->spec, net_end(&net->spec));
            r->histograms[k++] = (struct result_histogram){
                .node = sw->node, .port = p, .counts = h->counts, .n = h->n_bins};
            h->counts = NULL; /* now owned by the results */
        }
    }
}
