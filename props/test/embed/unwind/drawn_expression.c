/* drawn_expression.c -- see drawn_expression.h. */
#include "drawn_expression.h"

#include <string.h>

#include "drawn.h"

static void
draw_bytes(struct expression *to, uint8_t operation, const void *operand,
           size_t bytes)
{
    to->bytes[to->bytes_count++] = operation;
    memcpy(&to->bytes[to->bytes_count], operand, bytes);
    to->bytes_count += bytes;
}

static uintptr_t
result_of(struct expression *to, uint8_t operation, uintptr_t a, uintptr_t b)
{
    const intptr_t low = (intptr_t)a;
    const intptr_t top = (intptr_t)b;
    const uintptr_t results[] = {a & b,
                                 a - b,
                                 a * b,
                                 a | b,
                                 a + b,
                                 b > 63 ? 0 : a << b,
                                 b > 63 ? 0 : a >> b,
                                 a == b,
                                 low >= top,
                                 low > top,
                                 low <= top,
                                 low < top,
                                 a != b};
    static const uint8_t names[] = {0x1a, 0x1c, 0x1e, 0x21, 0x22, 0x24, 0x25,
                                    0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e};

    for (size_t i = 0; i < sizeof names; i++)
        if (names[i] == operation)
            return results[i];
    to->is_good = false;
    return 0;
}

/* An operation on the numbers that are there, or one that is not followed. */
static void
draw_operation(struct expression *to)
{
    const uint8_t operation = (uint8_t)(0x12 + draw(0x1d));
    uintptr_t *const top = &to->stack[to->depth];
    const uint8_t more = (uint8_t)draw(128);

    draw_bytes(to, operation, &more, operation == 0x23);
    if (to->depth < (operation <= 0x13 || operation == 0x23 ? 1 : 2))
        to->is_good = false;
    else if (operation == 0x12)
        to->stack[to->depth++] = top[-1];
    else if (operation == 0x13)
        to->depth--;
    else if (operation == 0x23)
        top[-1] += more;
    else
        to->stack[--to->depth - 1] = result_of(to, operation, top[-2], top[-1]);
}

/* returns: the number of one to ten bytes that it drew, as LEB128 */
static uintptr_t
draw_leb(struct expression *to)
{
    const bool is_signed = draw(2) == 0;
    const uint64_t count = 1 + draw(10);
    uint8_t bytes[10];
    uintptr_t value = 0;

    for (uint64_t i = count; i > 0; i--) {
        const uint8_t seven = (uint8_t)draw(128);

        bytes[i - 1] = i == count ? seven : seven | 0x80;
        value = value * 128 + seven;
    }
    if (is_signed && count < 10 && (bytes[count - 1] & 0x40) != 0)
        value -= (uintptr_t)1 << 7 * count;
    draw_bytes(to, is_signed ? 0x11 : 0x10, bytes, count);
    return value;
}

/* A number: of one byte, of eight, in the operation, as LEB128, or from a
 * register. */
static void
draw_number(struct expression *to)
{
    static const uint64_t numbers[] = {
        0, 1, 63, 64, 65, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2 + 1};
    const uint64_t number = numbers[draw(8)];
    const uint8_t small = (uint8_t)draw(256);
    const uint8_t leb = small & 0x7f;
    const uint8_t offset = (uint8_t)(leb - (leb & 0x40) * 2);
    uintptr_t *const next = &to->stack[to->depth++];

    switch (draw(5)) {
    case 3:
        *next = draw_leb(to);
        break;
    case 0:
        draw_bytes(to, 0x09, &small, 1);
        *next = (uintptr_t)(int8_t)small;
        break;
    case 1:
        draw_bytes(to, 0x30 + small % 32, "", 0);
        *next = small % 32;
        break;
    case 2:
        draw_bytes(to, 0x80, &leb, 1); /* the pc */
        *next = EXPRESSION_PC + (uintptr_t)(int8_t)offset;
        break;
    default:
        draw_bytes(to, 0x0e, &number, 8);
        *next = number;
    }
}

void
expression_draw(struct expression *to)
{
    memset(to, 0, sizeof *to);
    to->stack[0] = EXPRESSION_FIRST;
    to->depth = 1;
    to->is_good = true;
    for (uint64_t left = 1 + draw(12); left > 0 && to->is_good; left--) {
        if (draw(2) == 0)
            draw_number(to);
        else
            draw_operation(to);
        to->is_good = to->is_good && to->depth <= 8;
    }
    to->is_good = to->is_good && to->depth > 0;
}
