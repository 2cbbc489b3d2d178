/* drawn_expression.h -- a random expression of unwind tables, and the value
 * that DWARF 5, section 2.5.1, gives it. */
#ifndef DRAWN_EXPRESSION_H
#define DRAWN_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expression {
    uint8_t bytes[160];
    size_t bytes_count;
    uintptr_t stack[32]; /* afterwards */
    size_t depth;
    bool is_good; /* has a value: the top of the stack */
};

enum { EXPRESSION_FIRST = 7, EXPRESSION_PC = 0x100b };

/* Draw one to twelve operations, up to the first that cannot be done: it is
 * not followed, or needs more numbers than are there or more than eight places.
 */
void expression_draw(struct expression *to);

#endif
