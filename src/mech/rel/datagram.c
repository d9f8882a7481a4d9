/* Datagrams: frames are sent and forgotten.
 *
 * The receiver is the default of the role (rel.h): it counts the bytes of the current message.
 * Frames of a message arrive together, but in any order where paths differ.
 */
#include <xoff/rel.h>

static const struct xoff_param datagram_table[] = {{0}};

static int datagram_configure(const void *params, const struct xoff_rel_env *env, void *cfg,
                              struct xoff_rel_shape *shape, struct xoff_err *err)
{
    (void)params, (void)cfg;
    if (env->needs_acks)
        return xoff_err_set(err, XOFF_E_CONFLICT, "reliability", "datagram",
                            "this kind learns from ACKs, and datagrams have none; give go-back-n "
                            "or tcp");
    if (env->has_window)
        return xoff_err_set(err, XOFF_E_CONFLICT, "window", NULL,
                            "ACKs open a window, and datagrams have none; give reliability: "
                            "go-back-n, or window: none");
    shape->reorders = true;
    return 0;
}

static void datagram_on_sent(const void *cfg, struct xoff_rel_tx *tx,
                             const struct xoff_rel_segment *segment, xoff_time now)
{
    (void)cfg, (void)now;
    tx->next += segment->bytes;
    tx->sent_to = tx->next;
    if (segment->is_last)
        tx->una = tx->next;
}

const struct xoff_rel_ops xoff_rel_datagram = {
    .name = "datagram",
    .summary = "frames are sent and forgotten",
    .params = datagram_table,
    .format = XOFF_REL_AS_DATAGRAM,
    .configure = datagram_configure,
    .on_sent = datagram_on_sent,
};
