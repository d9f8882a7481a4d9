/* All tests in order, and the devices that come with the suites. */
#include <stdlib.h>
#include <string.h>

#include "conform/reference.h"
#include "conform/suites.h"

static const struct xoff_conform_test *const suites[] = {
    pfc_receive_tests, pfc_send_tests, ets_tests, cn_point_tests, cn_tag_tests, dcbx_tests};

uint32_t xoff_conform_count(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        for (const struct xoff_conform_test *test = suites[i]; test->id; test++)
            n++;
    return n;
}

const struct xoff_conform_test *xoff_conform_test(uint32_t index)
{
    for (uint32_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        for (const struct xoff_conform_test *test = suites[i]; test->id; test++)
            if (!index--)
                return test;
    return NULL;
}

const struct xoff_conform_model xoff_conform_models[] = {
    {"reference", "a bridge or an end station made of libxoff's mechanisms", ""},
    {"broken-two-classes", "has two lossless classes only", "PFC.1.1 PFC.3.2 PFC.3.6"},
    {"broken-small-buffer", "keeps half of the headroom that it needs", "PFC.3.5"},
    {"broken-multiple-peers", "follows the last of several peers", "DCBX.4.1"},
    {"broken-tie-break", "lets the higher MAC address win", "DCBX.2.2"},
    {"broken-malformed-tlv", "acts on malformed TLVs", "38.1.4 DCBX.2.3"},
    {"broken-two-queues", "has two queues for all eight priorities",
     "PFC.1.1 PFC.3.2 37.1.2 37.1.3 37.1.4 37.1.5 37.1.7 ETS.2.3"},
    {"broken-forwards-control", "forwards frames to reserved addresses", "PFC.2.7 DCBX.4.7"},
    {"broken-ignores-vector", "takes all times of a PFC frame for valid", "PFC.1.4"},
    {"broken-quanta-plus", "pauses for one quantum too many", "PFC.1.3"},
    {"broken-quanta-minus", "pauses for one quantum too few", "PFC.1.3"},
    {"broken-adds-quanta", "adds a new time to the one that is left", "PFC.1.6 PFC.1.9"},
    {"broken-slow-response", "takes twice the response time", "PFC.1.3 PFC.1.7"},
    {"broken-pauses-control", "holds its own PFC frames back while it is paused", "PFC.1.8"},
    {"broken-malformed-pfc", "acts on malformed PFC frames", "PFC.2.1 PFC.2.2 PFC.2.3 PFC.2.4"},
    {"broken-no-refresh", "sends a pause once and never again", "PFC.3.3"},
    {"broken-pauses-all", "pauses all priorities when one is full", "PFC.3.2"},
    {"broken-equal-shares", "gives all classes the same share",
     "37.1.1 37.1.2 37.1.3 37.1.4 37.1.5 37.1.7 ETS.2.3"},
    {"broken-hard-shares", "takes shares for limits", "37.1.5 ETS.2.1 ETS.2.3"},
    {"broken-strict-last", "does not serve strict classes first", "37.1.7"},
    {"broken-cnm-version", "sends notifications of version 1", "33.1.1"},
    {"broken-cnm-sign", "sends queue offset and delta with the wrong sign", "33.1.5 33.1.6"},
    {"broken-cnm-address", "sends notifications to the destination of the frame", "5.3.2"},
    {"broken-strips-tags", "as a bridge removes CN-TAGs everywhere", "33.2.4 32.2.5 32.3.4"},
    {"broken-keeps-tags", "removes CN-TAGs nowhere", "31.2.3 32.2.6 32.3.4 32.3.7"},
    {"broken-no-override", "leaves priorities alone at the edge of the domain", "32.3.5"},
    {"broken-ignores-cnm", "does not react to notifications", "31.3.6 33.1.13 CN.4.1"},
    {"broken-reads-versions", "acts on notifications of other versions", "33.1.13"},
    {"broken-tag-first", "puts the CN-TAG before the VLAN tag", "33.2.2"},
    {"broken-ignores-willing", "takes parameters over whether it is willing or not",
     "38.1.3 DCBX.2.1"},
    {"broken-never-lapses", "keeps what a peer said for ever", "DCBX.4.1 DCBX.4.2"},
    {"broken-refuses-reserved", "ignores TLVs in which reserved bits are set", "DCBX.2.6"},
    {0},
};

struct xoff_device *xoff_conform_model_create(const char *name)
{
    uint32_t i = 0;
    while (xoff_conform_models[i].name && strcmp(xoff_conform_models[i].name, name))
        i++;
    return xoff_conform_models[i].name ? reference_create((enum fault)i) : NULL;
}

void xoff_conform_destroy(struct xoff_device *device)
{
    if (device && device->ops->destroy)
        device->ops->destroy(device->state);
}
