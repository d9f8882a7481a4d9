/* A results file as people hand it over. */
#ifndef READING_RUN_FILE_H
#define READING_RUN_FILE_H

#include <stdint.h>

#include <sqlite3.h>

#include <xoff/err.h>

/* A results file whose head has been checked. */
struct run_file {
    char *path;   /* path of run.sqlite */
    char *folder; /* name shown to people */
    sqlite3 *db;
};
int run_file_open(const char *results, struct run_file *file, struct xoff_err *err);
void run_file_close(struct run_file *file);
/* Lists the runs of the file, in order; at least one. The caller frees *ids. */
int run_file_list(const struct run_file *file, int64_t **ids, uint32_t *n, struct xoff_err *err);

#endif
