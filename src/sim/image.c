/* See image.h. */
#include "sim/image.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/err.h>
#include <xoff/rng.h>

#define FIRST_CAPACITY (UINT64_C(1) << 16)

void image_fini(struct image *image)
{
    free(image->bytes);
    *image = (struct image){0};
}

static void misfit(struct image *image)
{
    image->misfit = image->part ? image->part : "the image";
}

static void reserve(struct image *image, size_t n)
{
    if (image->capacity - image->n >= n)
        return;
    size_t capacity = image->capacity ? image->capacity : FIRST_CAPACITY;
    while (capacity - image->n < n)
        capacity *= 2;
    image->bytes = realloc(image->bytes, capacity);
    XOFF_ASSERT(image->bytes);
    image->capacity = capacity;
}

void image_bytes(struct image *image, void *bytes, size_t n)
{
    if (!n || image->misfit)
        return;
    if (!image->is_loading) {
        reserve(image, n);
        memcpy(image->bytes + image->n, bytes, n);
        image->n += n;
    } else if (image->n - image->at < n) {
        misfit(image);
    } else {
        memcpy(bytes, image->bytes + image->at, n);
        image->at += n;
    }
}

void image_part(struct image *image, const char *name)
{
    uint64_t hash = 0;
    image->part = name;
    for (; *name; name++)
        hash = xoff_mix64(hash ^ (unsigned char)*name);
    image_same(image, hash);
}

void image_same(struct image *image, uint64_t value)
{
    uint64_t found = value;
    image_bytes(image, &found, sizeof found);
    if (found != value)
        misfit(image);
}

void image_array(struct image *image, void *array, uint64_t n, uint64_t capacity, size_t size)
{
    void *block;
    memcpy(&block, array, sizeof block);
    if (image->is_loading && !image->misfit) {
        if (n > capacity || n > (image->n - image->at) / (size ? size : 1)) {
            misfit(image);
            return;
        }
        free(block);
        block = NULL;
        if (capacity) {
            block = aligned_alloc(64, (capacity * size + 63) / 64 * 64);
            XOFF_ASSERT(block);
        }
        memcpy(array, &block, sizeof block);
    }
    image_bytes(image, block, n * size);
}
