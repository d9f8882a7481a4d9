/* Calm windows of a network: see calm.c. */
#ifndef NET_CALM_H
#define NET_CALM_H

#include "net/model.h"

/* Finds out whether the network, which is complete, has calm windows. */
void calm_build(struct net *net);

/* As sim_model has them. */
xoff_time calm_for(void *net, xoff_time now, xoff_time end);
void calm_settle(void *net, struct worker *w, uint32_t node, xoff_time end);

#endif
