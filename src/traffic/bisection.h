/* Load as a fraction of the bisection bandwidth: computes the rate that each sender's load refers
 * to.
 *
 * The bisection is counted where hosts meet the fabric. An edge switch e (one with hosts) has links
 * to other switches with rates that sum to U_e. With S_e senders on it, each has a share U_e / S_e
 * of these links. Of what it offers only the part p that goes behind other edges takes them; for
 * receivers drawn uniformly p is their share of all receivers but the sender itself. A sender that
 * offers
 *
 *     load * (U_e / S_e) / p
 *
 * fills, with the others of its edge, a part `load` of the links out of it. Where edges are alike
 * and the fabric above them does not narrow (leaf-spine, full fat tree) a cut between two halves of
 * the edges has half the sum of the U_e each way, and is filled to the same part.
 */
#ifndef TRAFFIC_BISECTION_H
#define TRAFFIC_BISECTION_H

#include "traffic/targets.h"

/* Fills rates_bps[] per sender, (U_e / S_e) / p, for receivers drawn uniformly from targets->pool.
 * A network without links between switches, a sender without a receiver behind another edge, and a
 * load that a sender's own link cannot carry are refused; the subject is `load_of` or `load`. */
int bisection_rates(const struct traffic_env *env, const struct targets *targets, double load,
                    double *rates_bps, struct xoff_err *err);

#endif
