/* libFuzzer target for sweep files: whatever is refused has a code, a subject and a place. Points
 * of what is accepted, where they are few, are checked against the scenario that the file names. */
#include "sweep/sweep.h"
#include "target.h"

#define MOST_POINTS 16

/* How many points a file has; a range of a Latin hypercube has no values of its own. */
static double count_points(const struct sweep_file *file)
{
    double n = 1;
    for (uint32_t a = 0; a < file->n_axes && !file->params.latin; a++)
        n *= file->axes[a].n_values;
    return file->params.latin ? (double)file->params.latin : n;
}

static void require_error(int rc, const struct xoff_err *err)
{
    require(rc == -(int)err->code && err->subject[0] && err->message[0]);
    require(err->line > 0 && err->column > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sweep_options options = {.n_workers = 1};
    struct sweep_file *file;
    struct xoff_err err;
    int rc = sweep_file_read_text("fuzz", (const char *)data, size, &file, &err);
    if (rc) {
        require(file == NULL);
        require_error(rc, &err);
        return 0;
    }
    struct sweep_until until;
    require(file->n_axes > 0 && file->n_seeds > 0);
    if (*file->params.until && !until_parse(file->params.until, &until, &err))
        require(until.metric[0] && until.tolerance > 0);
    if (count_points(file) > MOST_POINTS) {
        sweep_file_destroy(file);
        return 0;
    }
    struct sweep sweep;
    rc = sweep_open(&sweep, file, &options, &err);
    if (rc)
        require(rc == -(int)err.code && err.message[0]);
    else
        require(sweep.n_cells == sweep.n_points * sweep.n_variants && sweep.n_cells > 0);
    sweep_fini(&sweep);
    return 0;
}
