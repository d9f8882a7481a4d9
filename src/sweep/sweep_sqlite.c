/* sweep.sqlite: parameters, points, runs, metrics and what they came to (docs/sweep.md). */
#include <errno.h>
#include <math.h>
#include <stdarg.h>

#include "many/json_parts.h" /* XOFF_VERSION */
#include "stats/database.h"
#include "sweep/sweep.h"

#define SCHEMA_VERSION "2"

static const char schema[] =
    "CREATE TABLE sweep (title TEXT, file TEXT, text TEXT, scenario_file TEXT, scenario_text TEXT, "
    "xoff_version TEXT);"
    "CREATE TABLE parameter (id INTEGER PRIMARY KEY, name TEXT, unit TEXT);"
    "CREATE TABLE value (point_id INTEGER, parameter_id INTEGER, text TEXT, number REAL);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, point_id INTEGER, variant TEXT, seed INTEGER, "
    "state TEXT, digest TEXT, error TEXT, verdict TEXT, why TEXT);"
    "CREATE TABLE metric (run_id INTEGER, name TEXT, unit TEXT, value REAL);"
    "CREATE TABLE spread (point_id INTEGER, variant TEXT, name TEXT, unit TEXT, n INTEGER, "
    "mean REAL, ci95 REAL, stddev REAL, min REAL, max REAL);"
    "CREATE TABLE pareto (point_id INTEGER, variant TEXT)";

static const char indexes[] = "CREATE UNIQUE INDEX value_key ON value (point_id, parameter_id);"
                              "CREATE UNIQUE INDEX metric_key ON metric (run_id, name);"
                              "CREATE UNIQUE INDEX spread_key ON spread (point_id, variant, name);"
                              "COMMIT";

/* Inserts a row: per letter a text (t), a whole number (i, int64_t) or a real one (r; NAN: NULL).
 */
static void insert(struct database *d, sqlite3_stmt *statement, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    for (int i = 0; kinds[i] && !d->status; i++) {
        int code = SQLITE_OK;
        if (kinds[i] == 't') {
            code = sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1,
                                     SQLITE_TRANSIENT);
        } else if (kinds[i] == 'i') {
            code = sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
        } else {
            const double x = va_arg(values, double);
            code = isnan(x) ? sqlite3_bind_null(statement, i + 1)
                            : sqlite3_bind_double(statement, i + 1, x);
        }
        database_check(d, code);
    }
    va_end(values);
    errno = 0;
    if (!d->status)
        database_check(d, sqlite3_step(statement));
    sqlite3_reset(statement);
}

static sqlite3_stmt *prepare(struct database *d, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!d->status)
        database_check(d, sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL));
    return statement;
}

static void put_head(struct database *d, const struct sweep *s)
{
    const struct sweep_file *f = s->file;
    sqlite3_stmt *sweep = prepare(d, "INSERT INTO sweep VALUES (?,?,?,?,?,?)"),
                 *parameter = prepare(d, "INSERT INTO parameter VALUES (?,?,?)"),
                 *value = prepare(d, "INSERT INTO value VALUES (?,?,?,?)");
    insert(d, sweep, "tttttt", f->params.title, f->file, f->text, f->scenario_file,
           f->scenario_text, XOFF_VERSION);
    for (uint32_t a = 0; a < f->n_axes; a++)
        insert(d, parameter, "itt", (int64_t)a, f->axes[a].key, amount_units[f->axes[a].unit]);
    for (uint32_t i = 0; i < s->n_points * f->n_axes; i++)
        insert(d, value, "iitr", (int64_t)(i / f->n_axes), (int64_t)(i % f->n_axes),
               s->values[i].text, s->values[i].number);
    sqlite3_finalize(sweep);
    sqlite3_finalize(parameter);
    sqlite3_finalize(value);
}

static void put_runs(struct database *d, const struct sweep *s)
{
    sqlite3_stmt *into_run = prepare(d, "INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?)"),
                 *into_metric = prepare(d, "INSERT INTO metric VALUES (?,?,?,?)");
    int64_t id = 0;
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++, id++) {
            const struct run *run = &s->cells[i].runs[k];
            const bool is_done = run->state == RUN_DONE;
            const char *why, *verdict = sweep_verdict(&s->cells[i], k, &why);
            char digest[17] = "";
            if (is_done)
                snprintf(digest, sizeof digest, "%016llx",
                         (unsigned long long)run->summary->digest);
            insert(d, into_run, "iitittttt", id, (int64_t)s->cells[i].point, run->variant,
                   (int64_t)run->seed, is_done ? "done" : "failed", digest,
                   is_done ? "" : run->err.message, verdict, why);
            for (uint32_t m = 0; is_done && m < run->summary->n_metrics; m++) {
                const struct metric *metric = &run->summary->metrics[m];
                insert(d, into_metric, "ittr", id, metric->name, metric->unit, metric->value);
            }
        }
    sqlite3_finalize(into_run);
    sqlite3_finalize(into_metric);
}

static void put_cells(struct database *d, const struct sweep *s)
{
    sqlite3_stmt *into_spread = prepare(d, "INSERT INTO spread VALUES (?,?,?,?,?,?,?,?,?,?)"),
                 *into_pareto = prepare(d, "INSERT INTO pareto VALUES (?,?)");
    for (uint32_t i = 0; i < s->n_cells; i++) {
        const struct sweep_cell *cell = &s->cells[i];
        const char *variant = s->variants[cell->variant];
        for (uint32_t k = 0; cell->spread && k < cell->spread->n_metrics; k++) {
            const struct seed_metric *m = &cell->spread->metrics[k];
            insert(d, into_spread, "itttirrrrr", (int64_t)cell->point, variant, m->name, m->unit,
                   (int64_t)m->over.n, m->over.mean, m->over.ci95, m->over.stddev, m->over.min,
                   m->over.max);
        }
        if (cell->is_on_front)
            insert(d, into_pareto, "it", (int64_t)cell->point, variant);
    }
    sqlite3_finalize(into_spread);
    sqlite3_finalize(into_pareto);
}

int sweep_write_sqlite(const struct sweep *s, const char *path, struct xoff_err *err)
{
    struct database d;
    database_create(&d, path, SCHEMA_VERSION, err);
    database_execute(&d, schema);
    if (!d.status)
        put_head(&d, s);
    if (!d.status)
        put_runs(&d, s);
    if (!d.status)
        put_cells(&d, s);
    database_execute(&d, indexes);
    return database_close(&d);
}
