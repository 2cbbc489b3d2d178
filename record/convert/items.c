/* items.c -- see items.h. */
#include "record/convert/items.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/command/complaint.h"

void *
cli_items_add(struct cli_items *items, size_t item_bytes)
{
    if (items->count == items->room) {
        size_t room = items->room * 2 + 64;

        items->items = cli_need(realloc(items->items, room * item_bytes));
        items->room = room;
    }
    return (uint8_t *)items->items + items->count++ * item_bytes;
}
