/* Histograms of switch queues, sampled at a fixed interval without an event per sample: when the
 * length changes, the samples since the last change are counted at once. */
#include <stdlib.h>
#include <string.h>

#include "net/harvest.h"

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

void histogram_harvest(struct sw *sw, uint64_t **bins, uint64_t *n)
{
    const struct net_spec *spec = &sw->net->spec;
    *n = sw->n_ports;
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        count(&sw->histograms[p], spec, net_end(spec));
        *n += sw->histograms[p].n_bins;
    }
    *bins = malloc(sizeof **bins * *n);
    XOFF_ASSERT(*bins);
    uint64_t *counts = *bins + sw->n_ports;
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        const struct histogram *h = &sw->histograms[p];
        (*bins)[p] = h->n_bins;
        if (h->n_bins)
            memcpy(counts, h->counts, sizeof *counts * h->n_bins);
        counts += h->n_bins;
    }
}
