/* Scenarios drawn at random, for properties that must hold in any network. */
#ifndef SUPPORT_RANDOM_SCENARIO_H
#define SUPPORT_RANDOM_SCENARIO_H

#include <stdint.h>

/* Makes a scenario file for this seed; the caller frees it. PFC or PAUSE is on, some priority is
 * lossless, headroom is computed, and the buffer is large enough for it and not much larger.
 * Traffic ends early; the run goes on until all is delivered. */
char *random_scenario(uint64_t seed);

#endif
