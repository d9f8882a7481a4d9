/* Flows from a flow file of the ns-3 RDMA family.
 *
 *     COUNT
 *     SRC DST PRIORITY DPORT BYTES START_S     one line per flow, in order of start
 *
 * SRC and DST are node ids, START_S seconds as in words_seconds(). ConWeave's lines lack DPORT; the
 * first flow decides for the file. Lines beyond COUNT are left out, as there: published files carry
 * spare flows and notes at their end. Flows out of order are refused: the original schedules the
 * next flow with a negative delay, which it does not survive.
 */
#ifndef TRAFFIC_FLOW_HPCC_H
#define TRAFFIC_FLOW_HPCC_H

#include "traffic/flow_file.h"

#define FLOW_HPCC_NO_PORT UINT32_MAX

struct flow_hpcc_line {
    xoff_time at;
    uint64_t bytes;
    uint32_t from, to; /* node ids */
    uint32_t dport;    /* FLOW_HPCC_NO_PORT: the lines have none */
    int line;
    uint8_t priority;
};

struct flow_hpcc {
    struct flow_hpcc_line *flows; /* from malloc */
    uint32_t n;
    uint64_t n_beyond; /* lines that look like flows, beyond the stated number */
    int line_beyond;   /* the first of them */
};

/* Reads the file without looking at the network. `out` needs no preparation and holds nothing after
 * a failure. */
int flow_hpcc_scan(const char *path, const char *text, size_t size, struct flow_hpcc *out,
                   struct xoff_err *err);

/* Appends the flows of the file to *schedule, as flow_file_read() does. Node id 7 is the host with
 * the name n7, or host number 7 in a network without such names. `preset` gives all fields that a
 * line does not state. */
int flow_hpcc_read(const char *path, const struct flow_names *names,
                   const struct schedule_entry *preset, struct schedule **schedule,
                   struct xoff_err *err);
/* Reads the flows from memory, for tests and fuzzing. */
int flow_hpcc_parse(const char *path, const char *text, size_t size, const struct flow_names *names,
                    const struct schedule_entry *preset, struct schedule **schedule,
                    struct xoff_err *err);

#endif
