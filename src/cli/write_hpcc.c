/* Results in the files of the ns-3 RDMA family: fct.txt, pfc.txt, and qlen.txt when its config asks
 * for it. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { FILE_FCT, FILE_PFC, FILE_QLEN, N_FILES };
static const char *const names[N_FILES] = {"fct.txt", "pfc.txt", "qlen.txt"};

int cli_write_hpcc(const char *dir, const struct hpcc_config *config, const struct results *results,
                   bool has_node_ids)
{
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < N_FILES && !status; i++) {
        if (i == FILE_QLEN && !results->n_histograms)
            continue;
        struct xoff_err err = {0};
        char *text = NULL, path[1024];
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        XOFF_ASSERT(out);
        if (i == FILE_PFC)
            hpcc_write_pfc(out, config, results);
        else if (i == FILE_QLEN)
            hpcc_write_qlen(out, config, results);
        else if (hpcc_write_fct(out, config, results, has_node_ids, &err))
            status = EXIT_FAILED;
        fclose(out);
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (status)
            cli_print_error(&err);
        else
            status = cli_write_file(path, text);
        free(text);
    }
    return status;
}
