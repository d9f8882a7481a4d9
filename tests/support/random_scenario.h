/* Scenarios drawn at random, for properties that must hold in any network.
 *
 * Everything is drawn from the tables that the parser reads: sections, kinds of every role, and
 * their parameters. A new mechanism takes part by its line in the registry. A draw that the reader
 * refuses is mended where the message points to: the key gets the nearest value that the message
 * names, or is left out, or put in. */
#ifndef SUPPORT_RANDOM_SCENARIO_H
#define SUPPORT_RANDOM_SCENARIO_H

#include <stdint.h>

#include <xoff/err.h>

/* Makes a scenario for this seed, a key to a line (support/outline.h). The caller frees it.
 * Networks are small, buffers hardly larger than needed, and traffic ends soon; the run goes on
 * until all is delivered. `fabric`: the fabric of switches; NULL: drawn. Sets err to what was
 * refused last if the scenario could not be mended, and err->code to 0 else. */
char *random_scenario(uint64_t seed, const char *fabric, struct xoff_err *err);

/* Told of each refusal and how often; for statistics. */
extern void (*random_scenario_refused)(const struct xoff_err *err);

#endif
