/* The growing list of apps and the blocks behind them. It is used only while a network is built. */
#include <stdlib.h>

#include "net/app.h"

/* Makes room for one more element by doubling. Returns the array, which may have moved, or NULL. */
static void *reserve(void *array, uint32_t n, uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return array;
    if (*capacity > UINT32_MAX / 2)
        return NULL;
    const uint32_t grown = *capacity ? 2 * *capacity : 16;
    void *moved = realloc(array, grown * size);
    if (moved)
        *capacity = grown;
    return moved;
}

int app_set_add(struct app_set *set, const struct app *app)
{
    struct app *apps = reserve(set->apps, set->n, &set->capacity, sizeof *apps);
    if (!apps)
        return -XOFF_E_NO_MEMORY;
    set->apps = apps;
    set->apps[set->n++] = *app;
    return 0;
}

/* The set owns the block from here on, and frees it at once if it cannot keep it. */
int app_set_keep(struct app_set *set, void *block)
{
    void **blocks = reserve(set->blocks, set->n_blocks, &set->blocks_capacity, sizeof *blocks);
    if (!blocks) {
        free(block);
        return -XOFF_E_NO_MEMORY;
    }
    set->blocks = blocks;
    set->blocks[set->n_blocks++] = block;
    return 0;
}

void app_set_fini(struct app_set *set)
{
    for (uint32_t i = 0; i < set->n_blocks; i++)
        free(set->blocks[i]);
    free(set->blocks);
    free(set->apps);
    *set = (struct app_set){0};
}
