/* FECN's reflection point: a tag goes back to the source of its frame as it has come, at once and
 * in a frame of its own.
 *
 * Source: Jiang, Jain and So-In, "An explicit rate control framework for lossless Ethernet
 * operation", section III A.
 */
#include <xoff/np.h>

static const struct xoff_param reflect_table[] = {{0}};

static unsigned reflect_on_data(const void *cfg, void *state, const struct xoff_np_data *data,
                                xoff_time now)
{
    (void)cfg, (void)state, (void)now;
    return data->has_tag ? XOFF_NP_RETURN_TAG : 0;
}

const struct xoff_np_ops xoff_np_reflect = {
    .name = "reflect",
    .summary = "tags go back to the source of their frame",
    .params = reflect_table,
    .on_data = reflect_on_data,
};
