/* Traffic kinds: what hosts offer to the network, by scenario keyword.
 *
 * A kind states its parameters; bind() checks them against the network; each sending host then gets
 * its own generator state (plain bytes, own random stream), asked for its next deadline and for
 * what it offers then. Nothing is shared between hosts.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "net/app.h"

struct plan_traffic; /* scenario/plan.h fills params and items */

struct traffic_kind {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    /* A kind may have a list of entries (`list:` of `flows`), each with a table of its own. */
    const char *items_key;
    const struct xoff_param *item_params;
    size_t item_size;
    /* Validates and creates the per-host apps; err.subject is the offending key. A message in err
     * beside the answer 0 is a warning. */
    int (*bind)(const struct traffic_env *env, const void *params, const void *items,
                uint32_t n_items, struct app_set *apps, struct xoff_err *err);
};

extern const struct traffic_kind *const traffic_kinds[]; /* NULL-terminated */
const struct traffic_kind *traffic_find(const char *name);

#endif
