/* libFuzzer target for sweep files: whatever is refused has a code, a subject and a place. Points
 * of what is accepted, where they are few, are checked against the scenario that the file names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

#define MOST_POINTS 16

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression, (void)file, (void)line;
    abort();
}

/* libfyaml 0.7.12 loses a buffer when a quoted scalar with many escaped quotes breaks off. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

static void require(int holds)
{
    if (!holds)
        abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
