/* Entries of the cache (cache.h).
 *
 *   xoff-cache 4 KEY
 *   VALUE<tab>UNIT<tab>NAME      one line per metric, the value in hexadecimal: exact
 *   curve<tab>NAME<tab>UNIT<tab>FIRST<tab>EVERY<tab>N VALUE VALUE ...
 *                                one line per curve, times in picoseconds
 *   counts<tab>NAME<tab>STEP<tab>N COUNT COUNT ...
 *                                one line per distribution
 *   finding<tab>TEXT             one line per finding
 *   digest DIGEST                of the run's results
 *   end DIGEST                   of all bytes before this line
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "many/cache.h"
#include "scenario/yaml.h"
#include "stats/whole.h"
#include "traffic/words.h"

#define MAGIC "xoff-cache 4 "
#define CURVE "curve\t"
#define COUNTS "counts\t"
#define FINDING "finding\t"
#define DIGEST "digest "
#define TAIL_SIZE (sizeof "end 0123456789abcdef\n" - 1)

uint64_t cache_binary(const char *path)
{
    struct digest d;
    struct xoff_err err;
    char *bytes;
    size_t size;
    digest_init(&d);
    if (words_load(path, "program", &bytes, &size, &err))
        return 0;
    digest_bytes(&d, bytes, size);
    free(bytes);
    return d.state;
}

/* Adds the file of that name to the digest, if there is one. */
static void count_file(struct digest *d, const char *scenario, const char *name)
{
    char path[4096];
    const char *slash = strrchr(scenario, '/');
    const int folder = slash && name[0] != '/' ? (int)(slash - scenario) + 1 : 0;
    struct stat status;
    struct xoff_err err;
    char *bytes;
    size_t size;
    if (!*name || snprintf(path, sizeof path, "%.*s%s", folder, scenario, name) >= (int)sizeof path)
        return;
    if (stat(path, &status) || !S_ISREG(status.st_mode) ||
        words_load(path, "file", &bytes, &size, &err))
        return;
    digest_bytes(d, name, strlen(name));
    digest_bytes(d, bytes, size);
    free(bytes);
}

static void count_named(struct digest *d, const char *scenario, const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR)
        count_file(d, scenario, node->text);
    for (const struct yaml_node *child = node->first; child; child = child->next)
        count_named(d, scenario, child);
}

void cache_key(const struct cache_subject *s, char key[CACHE_KEY])
{
    struct digest d;
    struct yaml_doc doc;
    struct xoff_err err;
    digest_init(&d);
    digest_u64(&d, s->binary);
    digest_bytes(&d, s->text, s->size);
    digest_u64(&d, s->n_settings);
    for (uint32_t i = 0; i < s->n_settings; i++) {
        digest_bytes(&d, s->settings[i].key, strlen(s->settings[i].key));
        digest_bytes(&d, s->settings[i].value, strlen(s->settings[i].value));
        count_file(&d, s->file, s->settings[i].value);
    }
    digest_u64(&d, s->seed);
    digest_bytes(&d, s->variant, strlen(s->variant));
    digest_bytes(&d, s->by, strlen(s->by));
    if (!yaml_parse(&doc, s->text, s->size, &err)) {
        count_named(&d, s->file, doc.root);
        yaml_fini(&doc);
    }
    digest_hex(&d, key);
}

static void add_tail(const char *text, size_t size, char tail[TAIL_SIZE + 1])
{
    struct digest d;
    char hex[17];
    digest_init(&d);
    digest_bytes(&d, text, size);
    digest_hex(&d, hex);
    snprintf(tail, TAIL_SIZE + 1, "end %s\n", hex);
}

char *cache_encode(const struct summary *summary, const char *key, size_t *size)
{
    char *text = NULL, tail[TAIL_SIZE + 1];
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    fprintf(out, MAGIC "%s\n", key);
    for (uint32_t i = 0; i < summary->n_metrics; i++) {
        const struct metric *m = &summary->metrics[i];
        fprintf(out, "%a\t%s\t%s\n", m->value, m->unit, m->name);
    }
    for (uint32_t i = 0; i < summary->n_curves; i++) {
        const struct curve *c = &summary->curves[i];
        fprintf(out, CURVE "%s\t%s\t%lld\t%lld\t%u", c->name, c->unit, (long long)c->first_at,
                (long long)c->every, c->n);
        for (uint32_t k = 0; k < c->n; k++)
            fprintf(out, " %a", c->values[k]);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < summary->n_distributions; i++) {
        const struct distribution *d = &summary->distributions[i];
        fprintf(out, COUNTS "%s\t%a\t%u", d->name, d->step, d->n);
        for (uint32_t k = 0; k < d->n; k++)
            fprintf(out, " %llu", (unsigned long long)d->counts[k]);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < summary->n_findings; i++)
        fprintf(out, FINDING "%s\n", summary->findings[i].text);
    fprintf(out, DIGEST "%016llx\n", (unsigned long long)summary->digest);
    const bool is_whole = fflush(out) == 0;
    if (is_whole) {
        add_tail(text, *size, tail);
        fputs(tail, out);
    }
    if (fclose(out) == 0 && is_whole)
        return text;
    free(text);
    return NULL;
}

/* Reads one line of an entry; false: the line is not a metric. */
static bool read_metric(const char *line, size_t length, struct metric *m)
{
    char copy[160], *end;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *unit = strchr(copy, '\t'), *name = unit ? strchr(unit + 1, '\t') : NULL;
    if (!name || strlen(name + 1) >= sizeof m->name || (size_t)(name - unit) > sizeof m->unit)
        return false;
    *unit++ = *name++ = '\0';
    *m = (struct metric){.value = strtod(copy, &end), .meaning = ""};
    snprintf(m->unit, sizeof m->unit, "%s", unit);
    snprintf(m->name, sizeof m->name, "%s", name);
    return end != copy && !*end;
}

/* Copies the text up to a tab and moves past it; false: no tab, or too long. */
static bool take_word(const char **at, const char *end, char *buf, size_t size)
{
    const char *tab = memchr(*at, '\t', (size_t)(end - *at));
    if (!tab || (size_t)(tab - *at) >= size)
        return false;
    memcpy(buf, *at, (size_t)(tab - *at));
    buf[tab - *at] = '\0';
    *at = tab + 1;
    return true;
}

/* Reads how many values follow in the line and moves past it; false: no number, or too many. */
static bool take_length(const char **at, const char *end, uint32_t *out)
{
    char *stop;
    const unsigned long n = strtoul(*at, &stop, 10);
    if (stop == *at || n > (size_t)(end - stop) / 2) /* a value takes at least two bytes */
        return false;
    *out = (uint32_t)n;
    *at = stop;
    return true;
}

/* Reads a curve's line behind its first word. strtod stops at the line's end, where `end`
 * points. */
static bool read_curve(const char *at, const char *end, struct curve *c)
{
    char first[24], every[24], *stop;
    if (!take_word(&at, end, c->name, sizeof c->name) ||
        !take_word(&at, end, c->unit, sizeof c->unit) ||
        !take_word(&at, end, first, sizeof first) || !take_word(&at, end, every, sizeof every) ||
        !take_length(&at, end, &c->n))
        return false;
    c->first_at = strtoll(first, NULL, 10);
    c->every = strtoll(every, NULL, 10);
    c->values = calloc((size_t)c->n + 1, sizeof *c->values);
    for (uint32_t i = 0; c->values && i < c->n; i++) {
        if (*at != ' ' || at[1] == '\n')
            return false;
        c->values[i] = strtod(at + 1, &stop);
        at = stop;
    }
    return c->values && at == end;
}

/* The same for a distribution's line. */
static bool read_counts(const char *at, const char *end, struct distribution *d)
{
    char step[40], *stop;
    if (!take_word(&at, end, d->name, sizeof d->name) || !take_word(&at, end, step, sizeof step) ||
        !take_length(&at, end, &d->n))
        return false;
    d->step = strtod(step, NULL);
    d->counts = calloc((size_t)d->n + 1, sizeof *d->counts);
    for (uint32_t i = 0; d->counts && i < d->n; i++) {
        if (*at != ' ' || at[1] == '\n')
            return false;
        d->counts[i] = strtoull(at + 1, &stop, 10);
        at = stop;
    }
    return d->counts && at == end;
}

static bool read_finding(const char *at, const char *end, struct result_finding *finding)
{
    const size_t length = (size_t)(end - at);
    if (length >= sizeof finding->text)
        return false;
    memcpy(finding->text, at, length);
    return true;
}

static bool begins(const char *line, const char *end, const char *word)
{
    return (size_t)(end - line) > strlen(word) && !memcmp(line, word, strlen(word));
}

static bool read_line(const char *line, const char *end, struct summary *summary)
{
    if (begins(line, end, CURVE))
        return read_curve(line + strlen(CURVE), end, &summary->curves[summary->n_curves++]);
    if (begins(line, end, COUNTS))
        return read_counts(line + strlen(COUNTS), end,
                           &summary->distributions[summary->n_distributions++]);
    if (begins(line, end, FINDING))
        return read_finding(line + strlen(FINDING), end, &summary->findings[summary->n_findings++]);
    if (begins(line, end, DIGEST)) {
        char *stop;
        summary->digest = strtoull(line + strlen(DIGEST), &stop, 16);
        return stop == end;
    }
    return read_metric(line, (size_t)(end - line), &summary->metrics[summary->n_metrics++]);
}

struct summary *cache_decode(const char *text, size_t size, const char *key)
{
    char head[sizeof MAGIC + CACHE_KEY + 1], tail[TAIL_SIZE + 1];
    snprintf(head, sizeof head, MAGIC "%s\n", key);
    if (size < strlen(head) + TAIL_SIZE || memcmp(text, head, strlen(head)))
        return NULL;
    const char *at = text + strlen(head), *end = text + size - TAIL_SIZE;
    add_tail(text, size - TAIL_SIZE, tail);
    if (memcmp(end, tail, TAIL_SIZE))
        return NULL;
    uint32_t n_lines = 0;
    for (const char *c = at; c < end; c++)
        n_lines += *c == '\n';
    struct summary *summary = calloc(1, sizeof *summary);
    if (summary) {
        summary->metrics = calloc(n_lines + 1, sizeof *summary->metrics);
        summary->curves = calloc(n_lines + 1, sizeof *summary->curves);
        summary->distributions = calloc(n_lines + 1, sizeof *summary->distributions);
        summary->findings = calloc(n_lines + 1, sizeof *summary->findings);
    }
    bool is_good = summary && summary->metrics && summary->curves && summary->distributions &&
                   summary->findings;
    while (is_good && at < end) {
        const char *line = at;
        at = memchr(line, '\n', (size_t)(end - line));
        is_good = at && read_line(line, at, summary);
        at += is_good;
    }
    if (is_good)
        return summary;
    summary_destroy(summary);
    return NULL;
}

struct summary *cache_load(const char *folder, const char *key)
{
    char path[4096], *text;
    size_t size;
    struct xoff_err err;
    snprintf(path, sizeof path, "%s/%s", folder, key);
    if (words_load(path, "cache", &text, &size, &err))
        return NULL;
    struct summary *summary = cache_decode(text, size, key);
    free(text);
    return summary;
}

struct entry {
    char *text;
    size_t size;
};

static void write_entry(FILE *out, const void *context)
{
    const struct entry *entry = context;
    fwrite(entry->text, 1, entry->size, out);
}

int cache_store(const char *folder, const char *key, const struct summary *summary)
{
    char path[4096];
    struct entry entry;
    int reason = cache_make_folder(folder);
    if (reason)
        return reason;
    entry.text = cache_encode(summary, key, &entry.size);
    if (!entry.text)
        return ENOMEM;
    snprintf(path, sizeof path, "%s/%s", folder, key);
    reason = whole_write(path, write_entry, &entry);
    free(entry.text);
    return reason;
}

bool cache_default_folder(char *buf, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') /* the standard says to ignore a relative path */
        snprintf(buf, size, "%s/xoff", cache);
    else if (home && *home)
        snprintf(buf, size, "%s/.cache/xoff", home);
    else
        return false;
    return true;
}

int cache_make_folder(const char *folder)
{
    char path[4096];
    struct stat status;
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return ENAMETOOLONG;
    for (char *c = path + 1; c[-1]; c++) {
        const char was = *c;
        if (was && was != '/')
            continue;
        *c = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return errno;
        *c = was;
    }
    if (stat(path, &status))
        return errno;
    return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}
