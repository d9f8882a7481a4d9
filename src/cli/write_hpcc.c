/* Results in the files of the ns-3 RDMA family: fct.txt, pfc.txt, and qlen.txt when its config asks
 * for it; under the names that it gives them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void cli_remove_hpcc(const char *dir)
{
    for (uint32_t i = 0; i < N_FILES; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir, usual[i]);
        unlink(path);
    }
}

int cli_write_hpcc(const char *dir, const struct hpcc_config *config, const struct results *results,
                   bool has_node_ids, char *written, size_t size)
{
    int status = EXIT_FINE;
    written[0] = 0;
    for (uint32_t i = 0; i < N_FILES && !status; i++) {
        if (i == FILE_QLEN && !results->n_histograms)
            continue;
        struct xoff_err err = {0};
        char *text = NULL, path[1024];
        size_t text_size = 0;
        FILE *out = open_memstream(&text, &text_size);
        XOFF_ASSERT(out);
        if (i == FILE_PFC)
            hpcc_write_pfc(out, config, results);
        else if (i == FILE_QLEN)
            hpcc_write_qlen(out, config, results);
        else if (hpcc_write_fct(out, config, results, has_node_ids, &err))
            status = EXIT_FAILED;
        fclose(out);
        snprintf(path, sizeof path, "%s/%s", dir, name_of(config, i));
        if (status)
            cli_print_error(&err);
        else
            status = cli_write_file(path, text);
        free(text);
        snprintf(written + strlen(written), size - strlen(written), ", %s", path);
    }
    return status;
}
