/* Notification points that send no frame of their own: all they tell goes back on ACKs.
 *
 * "echo": marks go back on ACKs, as the reliability writes them (go-back-N counts frames and marks,
 * TCP has its ECE). "int": ACKs also return the telemetry of the last frame that they acknowledge
 * (HPCC, Li et al., SIGCOMM 2019, 3.1).
 */
#include <xoff/np.h>

static const struct xoff_param echo_table[] = {{0}};

static int int_configure(const void *params, const struct xoff_np_env *env, void *cfg,
                         struct xoff_np_shape *shape, struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    shape->returns_written = true;
    return 0;
}

const struct xoff_np_ops xoff_np_echo = {
    .name = "echo",
    .summary = "marks go back on ACKs",
    .params = echo_table,
};

const struct xoff_np_ops xoff_np_int = {
    .name = "int",
    .summary = "marks and in-band telemetry go back on ACKs",
    .params = echo_table,
    .has_telemetry = true,
    .configure = int_configure,
};
