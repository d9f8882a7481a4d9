/* Every fabric, the default first. A new one adds its line here. */
#include "net/switch.h"

const struct fabric_ops *const fabrics[] = {&fabric_shared, &fabric_output_queued, &fabric_cioq,
                                            &fabric_pipeline, NULL};
