/* The state of a run as bytes: an image.
 *
 * One function for each struct both saves and loads it, by the same lines in the same order, so
 * that the two cannot differ. An image is loaded over a network that was built from the same
 * scenario: what building makes (tables, configurations, pointers) is not in it. A struct is taken
 * as a whole, and the members that belong to the build are put back after it:
 *
 *     const struct port built = *port;
 *     image_bytes(image, port, sizeof *port);
 *     port->wire = built.wire;
 *
 * So a new member is saved unless it is named, and a new pointer that nobody names shows at once. A
 * function that saves changes nothing by that: what it puts back is what is there.
 *
 * After the first misfit nothing more is loaded. Images are made and loaded between windows, while
 * all threads rest.
 */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
    unsigned char *bytes; /* from malloc; image_fini() frees them */
    size_t n, capacity;
    size_t at; /* loading: the next byte */
    bool is_loading;
    const char *part;   /* the part that is being saved or loaded */
    const char *misfit; /* the part that does not fit the network; NULL: all did so far */
};

void image_fini(struct image *image);

void image_bytes(struct image *image, void *bytes, size_t n);
/* From here on it is about that part. The name lies between the bytes, so that parts that are not
 * where they are expected are found. */
void image_part(struct image *image, const char *name);
/* A number that the network must have in common with the image: it is a misfit if not. */
void image_same(struct image *image, uint64_t value);
/* Both must have this part, or neither: returns whether there is one. */
static inline bool image_has(struct image *image, const void *part)
{
    image_same(image, part != NULL);
    return part;
}
/* An array from malloc of which the first `n` of `capacity` elements are in use; `array` points to
 * the pointer. On loading there is a new one, for `capacity` elements and on a cache line of its
 * own, in place of the old. */
void image_array(struct image *image, void *array, uint64_t n, uint64_t capacity, size_t size);

#endif
