/* Images of a network (sim/image.h): the functions that its files share. `built` is the struct as
 * it was before the image was loaded over it, where the caller has taken it as a whole. */
#ifndef NET_IMAGE_H
#define NET_IMAGE_H

#include "net/model.h"
#include "sim/image.h"

/* Stands beside the functions for a struct. One that has changed needs a look at them: a pointer,
 * or a member that is made when the network is built, is to be put back; a table behind a pointer,
 * or a member of a struct that is not taken as a whole, is to be added. Then the number is changed.
 */
#define IMAGE_SIZE(type, n_bytes)                                    \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == (n_bytes), \
                   #type " has changed: see to its part of the image (net/image.h)");

/* net_image.c */
void image_heap(struct image *image, struct heap *heap, const struct heap *built);
void image_store(struct image *image, struct frame_store *store, const struct frame_store *built);
void image_notes(struct image *image, struct notes *notes, const struct notes *built);
void image_port(struct image *image, struct node *node, struct port *port,
                const struct port *built);
void image_mmu(struct image *image, const struct xoff_mmu *mmu);
void image_pause(struct image *image, const struct xoff_pause *pause);
void image_point(struct image *image, struct point *point);
void image_occupancy(struct image *image, struct occupancy *occupancy);

/* host_image.c */
void image_host(struct image *image, struct host *host);

/* switch_image.c: the last two are for fabrics. */
void image_switch(struct image *image, struct sw *sw);
void image_ledger(struct image *image, struct ledger *ledger);
void image_maxima(struct image *image, struct maxima *maxima);

#endif
