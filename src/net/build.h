/* Shared by the files that build a network: blocks of memory, links over their life, and the
 * mechanisms that both hosts and switches have. */
#ifndef NET_BUILD_H
#define NET_BUILD_H

#include "net/model.h"

/* Purposes of a node's random streams; the streams of apps follow them. */
enum {
    STREAM_MARKING = 1,
    STREAM_ERRORS = 2,
    STREAM_PATHS = 3,
    STREAM_PRIORITIES = 4,
    STREAM_PAUSE = 5,
    STREAM_CULPRITS = 6,
    STREAM_APPS = 1000
};

/* Both return zeroed memory; build_aligned() puts it on cache lines of its own. */
void *build_block(size_t n, size_t size);
void *build_aligned(size_t n, size_t size);
void build_free(void *block);

/* headroom_build.c: the rates and delays that a link has during the run. */
struct net_life {
    xoff_rate min_rate_bps, max_rate_bps;
    xoff_time min_delay, max_delay;
};
struct net_life net_life_of(const struct topo *topo, uint32_t link);
/* The rate of the fastest port that a node ever has. */
xoff_rate net_fastest(const struct topo *topo, uint32_t node);
/* Describes the port at the end of this link to its buffer and its pause policy. */
struct xoff_mmu_port net_served_port(const struct net *net, uint32_t link);

/* build_port() leaves the gate to build_gates(), which needs the peer. */
int build_port(struct net *net, uint32_t node, uint32_t number,
               const struct xoff_pause_signalling *how, struct port *port, struct xoff_err *err);
void build_gates(struct net *net);
void build_free_port(struct port *port);
void build_free_frames(struct capture *capture);

/* The rate of a host's link. */
xoff_rate build_nic_rate(const struct net *net, uint32_t host);
/* Describes a buffer behind the one port of a host. */
struct xoff_mmu_env build_host_env(const struct net *net, uint32_t host, int64_t buffer_bytes,
                                   struct xoff_mmu_port *port);
/* receiver_build.c: the congestion point of a receive queue is built before the stores of switches,
 * the rest of the receiver with its host. */
int build_receive_point(struct net *net, const struct net_receiver *spec, struct xoff_err *err);
int build_receiver(struct net *net, struct host *host, struct xoff_err *err);
void build_free_receiver(struct receiver *receiver);

int build_mmu(struct net *net, enum net_part part, uint32_t node, const struct xoff_mmu_ops *ops,
              const void *params, const struct xoff_mmu_env *env, struct xoff_mmu *mmu,
              struct xoff_err *err);
/* `served` describes the buffer beside the policy, without the extra that this policy asks for. */
int build_pause(struct net *net, enum net_part part, uint32_t node,
                const struct xoff_mmu_env *served, struct xoff_pause *pause,
                struct xoff_edges *edges, struct xoff_err *err);
/* Adds the headroom that the pause policy asks for to the headroom that the link needs. */
void build_add_late(const struct xoff_pause *pause, struct xoff_mmu_port *port);
/* Returns the ports of `env` with that headroom; the caller frees them. */
struct xoff_mmu_port *build_late_ports(const struct xoff_pause *pause,
                                       const struct xoff_mmu_env *env);
/* Builds a scheduler and its states for all ports of the node, one behind the other. */
int build_sched(struct net *net, uint32_t node, struct xoff_sched *sched, unsigned char **states,
                struct xoff_err *err);
/* point_build.c: congestion points with their first deadlines, and the choice of paths. The tables
 * of the switch must exist. */
int build_points(struct net *net, struct sw *sw, struct xoff_err *err);
/* Refuses a marking that needs more than arrivals, at an input or a receive queue: frames do not
 * leave it by a wire of its own. `where` begins the sentence about what is accepted. */
int build_check_arrivals(const struct xoff_cp *cp, const char *where, struct xoff_err *err);
void build_point_timers(struct sw *sw);
void build_free_domain(struct domain *domain);
/* The units of all queues of a node; the index of places grows with the store. */
struct occupancy *build_occupancy(const struct net *net, uint32_t node, uint32_t n_queues,
                                  uint32_t unit_bytes);
void build_free_occupancy(struct occupancy *occupancy);
int build_path(struct net *net, struct sw *sw, struct xoff_err *err);
/* parts_build.c: refuses what ranks cannot share yet, and divides the nodes among them
 * (net->part_of). */
int parts_build(struct net *net, const struct sim_spec *spec, struct xoff_err *err);
/* agree_build.c: a step builds items that are divided among ranks. At its end all ranks have the
 * first error, and the warnings, of a single process; of switches also what others want to know. */
void build_begin_step(struct net *net);
int build_end_step(struct net *net, int code, struct net_blame *blame, struct xoff_err *err);
void build_share_facts(struct net *net);
/* warning_build.c: adds a warning, or counts its nodes with those of an equal one of this step. */
void build_keep_warning(struct net *net, const struct net_warning *w);
/* transport_build.c: builds the transports for all rates, and picks those that a host uses. *index
 * is the transport that an error is about. */
int build_transports(struct net *net, uint32_t *index, struct xoff_err *err);
void build_use_transports(struct net *net, struct host *host);
void build_free_transports(struct net *net);
/* Checks that switches write telemetry, and have room for it, where a transport reads it: each
 * switch when it has been built, then what was found, first for the first transport. */
void build_check_stamps(struct net *net, const struct sw *sw);
int build_check_telemetry(const struct net *net, uint32_t *index, struct xoff_err *err);
/* net_dcbx_build.c: ports that speak, after the gates and the engine are built; an error is about
 * the entry blame->index. The scheduler of a node with such ports has a cfg for each. */
int build_dcbx(struct net *net, struct net_blame *blame, struct xoff_err *err);
bool build_has_dcbx(const struct net *net, uint32_t node);
void build_split_sched(struct net *net, uint32_t node, struct xoff_sched *sched);
unsigned char *build_split_states(const struct xoff_sched *sched, uint32_t n_ports);
void build_free_sched(struct xoff_sched *sched, uint32_t n_ports);
void build_free_dcbx(struct port *port);
void build_free_far_editions(struct net *net);
/* switch_build.c: allocates the frames of a switch, once every mechanism has said what frames
 * carry. */
void build_store(struct sw *sw);
void build_free_notes(struct notes *notes);

#endif
