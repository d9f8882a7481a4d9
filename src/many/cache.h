/* Results of earlier runs, kept as small files: one per (scenario, settings, seed, variant).
 *
 * The name of an entry is the digest of all that its figures depend on: the bytes of the program,
 * the scenario's text, the files that it names, the settings, the seed and the variant. So entries
 * never become out of date, and an entry may be removed at any time.
 */
#ifndef MANY_CACHE_H
#define MANY_CACHE_H

#include "scenario/plan.h"
#include "stats/results.h"

#define CACHE_KEY 17 /* 16 hexadecimal digits and NUL */

struct cache_subject {
    uint64_t binary;  /* cache_binary() */
    const char *file; /* the scenario's path: files it names are looked for beside it */
    const char *text; /* the scenario */
    size_t size;
    const struct plan_setting *settings;
    uint32_t n_settings;
    uint64_t seed;
    const char *variant;
    const char *by; /* the command: commands may keep different things of a run */
};

/* Digest of a program file; 0: it cannot be read. */
uint64_t cache_binary(const char *path);
/* Every plain value of the scenario or of a setting that is the name of an existing file adds that
 * file's contents to the digest. What the value is for does not matter, so no file is
 * overlooked. */
void cache_key(const struct cache_subject *subject, char key[CACHE_KEY]);

/* Encodes the figures, curves, findings and digest of a run as text: names, units and exact values.
 * The caller frees it. */
char *cache_encode(const struct summary *summary, const char *key, size_t *size);
/* Returns NULL when the text is not what cache_encode() made for that key. */
struct summary *cache_decode(const char *text, size_t size, const char *key);

/* Returns NULL when there is no entry, or a damaged one. */
struct summary *cache_load(const char *folder, const char *key);
/* Writes a temporary file, then renames it. Returns 0 or the reason (errno). */
int cache_store(const char *folder, const char *key, const struct summary *summary);

/* $XDG_CACHE_HOME/xoff or ~/.cache/xoff; false: neither is known. */
bool cache_default_folder(char *buf, size_t size);
/* Makes a folder and those above it. Returns 0 or the reason (errno). */
int cache_make_folder(const char *folder);

#endif
