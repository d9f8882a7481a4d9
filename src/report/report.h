/* Pages that people open: one HTML file each, with everything inside, that needs no network.
 *
 * The page is markup, style and script made at build from web/ (Apache ECharts and our own), and a
 * JSON document that the script draws. What a run's page shows is read from run.sqlite, so that it
 * can be made at any time.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdint.h>

#include <xoff/err.h>

enum report_page { REPORT_RUN, REPORT_REPRODUCE };

/* Writes the page with that JSON in it, aside first, then renamed. */
int report_write_page(const char *path, enum report_page page, const char *title, const char *json,
                      struct xoff_err *err);

/* The page of one or more results (folders, or run.sqlite files), all their variants side by side,
 * at `path`. Results of another version, broken, or of an interrupted run are told, or shown and
 * marked. */
int report_create(const char *const *results, uint32_t n_results, const char *path,
                  struct xoff_err *err);

#endif
