/* Records of flows (flow_record.c). */
#ifndef NET_FLOW_RECORD_H
#define NET_FLOW_RECORD_H

#include "net/model.h"

struct flow_records {
    const struct net *net;
    struct routes *made; /* those of the start, where they change; NULL: the network's */
    struct hop *hops;    /* work space */
};

void flow_records_init(struct flow_records *records, const struct net *net);
void flow_records_fini(struct flow_records *records);
/* What its sender knows of a flow; the receiver's part is left at nothing. */
struct result_flow flow_record(const struct flow_records *records, uint32_t from,
                               const struct flow_note *note);

#endif
