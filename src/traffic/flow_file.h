/* Flows from a file of comma separated values: at_s,from,to,bytes[,priority] per line.
 *
 * at_s are seconds (0.0001, 1e-4), to the nearest picosecond; from and to are names of hosts, or
 * their numbers where no host has such a name; bytes are payload. Empty lines, lines that start
 * with # and a heading that starts with at_s are skipped. Lines end with LF or CRLF.
 */
#ifndef TRAFFIC_FLOW_FILE_H
#define TRAFFIC_FLOW_FILE_H

#include "traffic/schedule.h"

/* Hosts by name; the owner frees by_name. */
struct flow_names {
    const struct topo *topo;
    uint32_t *by_name; /* hosts in order of their names */
};

int flow_names_init(struct flow_names *names, const struct topo *topo, struct xoff_err *err);
/* Returns TOPO_NONE when there is no such host. The name need not be terminated. */
uint32_t flow_names_find(const struct flow_names *names, const char *name, size_t length);

/* Appends the flows of the file to *schedule. `preset` has the transport, rate and the priority of
 * lines without one. err has file and line for a bad line, subject `file`. */
int flow_file_read(const char *path, const struct flow_names *names,
                   const struct schedule_entry *preset, struct schedule **schedule,
                   struct xoff_err *err);
/* Reads the flows from memory, for tests and fuzzing. */
int flow_file_parse(const char *path, const char *text, size_t size, const struct flow_names *names,
                    const struct schedule_entry *preset, struct schedule **schedule,
                    struct xoff_err *err);

#endif
