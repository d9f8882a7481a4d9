/* Finds out whether this process is one of several ranks, and loads the module that has MPI. */
#include "dist/dist.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct dist_module *module;
static struct sim_ranks the_ranks;

static bool read_number(const char *name, uint32_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return false;
    const unsigned long n = strtoul(text, &end, 10);
    if (*end || n > INT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

uint32_t dist_environment(uint32_t *rank)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"}};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t n;
        if (read_number(names[i][0], &n) && read_number(names[i][1], rank) && *rank < n)
            return n;
    }
    *rank = 0;
    return 0;
}

/* Beside the command, as in a build folder, else where it is installed. */
static void *load(void)
{
    char path[PATH_MAX + 32];
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length > 0) {
        path[length] = 0;
        snprintf(strrchr(path, '/') + 1, 32, "xoff_mpi.so");
        void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* parts of MPI look for symbols */
        if (handle)
            return handle;
    }
    return dlopen(XOFF_MODULES "/xoff_mpi.so", RTLD_NOW | RTLD_GLOBAL);
}

int dist_start(const struct dist_calls *calls, const struct sim_ranks **ranks, struct xoff_err *err)
{
    *ranks = &the_ranks;
    if (module)
        return 0;
    void *handle = load();
    const struct dist_module *found = handle ? dlsym(handle, "dist_module") : NULL;
    if (!found || found->version != DIST_VERSION)
        return xoff_err_set(err, XOFF_E_MISSING, "mpirun", NULL,
                            "this build of xoff has no MPI: it cannot run over several ranks. "
                            "Build it where MPI is installed (meson setup -Dmpi=enabled), or run "
                            "it as one process, with --threads");
    const char *why = found->start(calls, &the_ranks);
    if (why)
        return xoff_err_set(err, XOFF_E_CONFLICT, "mpirun", NULL, why);
    uint32_t rank;
    if (the_ranks.n != dist_environment(&rank)) { /* each process would run all by itself */
        xoff_err_set(err, XOFF_E_CONFLICT, "mpirun", NULL,
                     "is not that of the MPI which xoff was built with, ");
        xoff_err_add(err, found->library);
        xoff_err_add(err, ": ranks do not find each other. Give the mpirun of that MPI, or build "
                          "xoff for the other one (meson setup -Dmpi_kind=)");
        return -XOFF_E_CONFLICT;
    }
    module = found;
    return 0;
}

void dist_end(void)
{
    if (module)
        module->end();
}
