/* items.h -- an array that grows. */
#ifndef RECORD_CONVERT_ITEMS_H
#define RECORD_CONVERT_ITEMS_H

#include <stddef.h>

/* Zeroed memory is empty. */
struct cli_items {
    void *items;
    size_t count;
    size_t room;
};

/* returns: a new item, not yet set */
void *cli_items_add(struct cli_items *items, size_t item_bytes);

#endif
