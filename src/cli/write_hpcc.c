/* Writes results in the files of the ns-3 RDMA family: fct.txt, pfc.txt, and qlen.txt when the
 * config asks for it, under the names that the config gives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { FILE_FCT, FILE_PFC, FILE_QLEN, N_FILES };
static const char *const usual[N_FILES] = {"fct.txt", "pfc.txt", "qlen.txt"};

static const char *name_of(const struct hpcc_config *config, uint32_t file)
{
    const char *const given[N_FILES] = {config->keys.fct_file, config->keys.pfc_file,
                                        config->keys.qlen_file};
    if (!given[file] || !*given[file])
        return usual[file];
    const char *slash = strrchr(given[file], '/');
    return slash && slash[1] ? slash + 1 : given[file];
}

const char *cli_fct_name(const struct hpcc_config *config)
{
    return config ? name_of(config, FILE_FCT) : usual[FILE_FCT];
}

int cli_write_hpcc(const char *aside, const struct hpcc_config *config,
                   const struct results *results, bool has_node_ids, const char *dir, FILE *told,
                   struct xoff_err *err)
{
    int code = 0;
    for (uint32_t i = 0; i < N_FILES && !code; i++) {
        if (i == FILE_QLEN && !results->n_histograms)
            continue;
        char *path;
        XOFF_ASSERT(asprintf(&path, "%s/%s", aside, name_of(config, i)) >= 0);
        FILE *out = fopen(path, "w");
        int reason = out ? 0 : errno;
        errno = 0;
        if (out && i == FILE_PFC)
            hpcc_write_pfc(out, config, results);
        else if (out && i == FILE_QLEN)
            hpcc_write_qlen(out, config, results);
        else if (out)
            code = hpcc_write_fct(out, config, results, has_node_ids, err);
        if (out && (fflush(out) || ferror(out)))
            reason = errno ? errno : EIO;
        if (out && fclose(out) && !reason)
            reason = errno;
        if (!code && reason)
            code = cli_cannot_write(path, reason, err);
        free(path);
        fprintf(told, ", %s/%s", dir, name_of(config, i));
    }
    return code;
}
