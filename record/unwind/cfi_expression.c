/*
 * cfi_expression.c -- the DWARF expressions that occur in unwind tables.
 *
 * Evaluates them with a stack of numbers. Knows only the registers that the
 * walk follows, and no jumps: so each operation runs once, and an expression
 * ends.
 */
#include "record/unwind/cfi.h"
#include "record/unwind/cfi_read.h"

#define DEPTH_MAX 8u

struct evaluation {
    struct cfi_reader reader;
    const struct embed_registers *registers;
    embed_read *read;
    void *context;
    uintptr_t stack[DEPTH_MAX];
    uint32_t depth;
};

static bool
push(struct evaluation *on, uintptr_t value)
{
    if (on->depth == DEPTH_MAX)
        return false;
    on->stack[on->depth++] = value;
    return true;
}

static bool
push_register(struct evaluation *on, uint32_t number)
{
    const uintptr_t offset = (uintptr_t)cfi_sleb(&on->reader);

    switch (number) {
    case EMBED_REGISTER_FP:
        return push(on, on->registers->fp + offset);
    case EMBED_REGISTER_SP:
        return push(on, on->registers->sp + offset);
    case EMBED_REGISTER_PC:
        return push(on, on->registers->pc + offset);
    default:
        return false;
    }
}

/* returns: false if the operation is not one that pushes a constant */
static bool
constant_of(struct cfi_reader *reader, uint8_t operation, uintptr_t *value)
{
    switch (operation) {
    case 0x08:
        *value = cfi_u8(reader);
        return true;
    case 0x09:
        *value = (uintptr_t)(int8_t)cfi_u8(reader);
        return true;
    case 0x0a:
        *value = cfi_u16(reader);
        return true;
    case 0x0b:
        *value = (uintptr_t)(int16_t)cfi_u16(reader);
        return true;
    case 0x0c:
        *value = cfi_u32(reader);
        return true;
    case 0x0d:
        *value = (uintptr_t)(int32_t)cfi_u32(reader);
        return true;
    case 0x0e:
    case 0x0f:
        *value = cfi_u64(reader);
        return true;
    case 0x10:
        *value = cfi_uleb(reader);
        return true;
    case 0x11:
        *value = (uintptr_t)cfi_sleb(reader);
        return true;
    default:
        return false;
    }
}

/* Replace the top two numbers by one: a is below, b on top. */
static bool
combine(struct evaluation *on, uint8_t operation)
{
    uintptr_t a;
    uintptr_t b;
    uintptr_t *top;

    if (on->depth < 2)
        return false;
    b = on->stack[--on->depth];
    top = &on->stack[on->depth - 1];
    a = *top;
    switch (operation) {
    case 0x1a:
        *top = a & b;
        return true;
    case 0x1c:
        *top = a - b;
        return true;
    case 0x1e:
        *top = a * b;
        return true;
    case 0x21:
        *top = a | b;
        return true;
    case 0x22:
        *top = a + b;
        return true;
    case 0x24:
        *top = b < 64 ? a << b : 0;
        return true;
    case 0x25:
        *top = b < 64 ? a >> b : 0;
        return true;
    case 0x29:
        *top = a == b;
        return true;
    case 0x2a:
        *top = (intptr_t)a >= (intptr_t)b;
        return true;
    case 0x2b:
        *top = (intptr_t)a > (intptr_t)b;
        return true;
    case 0x2c:
        *top = (intptr_t)a <= (intptr_t)b;
        return true;
    case 0x2d:
        *top = (intptr_t)a < (intptr_t)b;
        return true;
    case 0x2e:
        *top = a != b;
        return true;
    default:
        return false;
    }
}

static bool
run_one(struct evaluation *on)
{
    const uint8_t operation = cfi_u8(&on->reader);
    uintptr_t value;

    if (operation >= 0x30 && operation <= 0x4f) /* lit0 to lit31 */
        return push(on, operation - 0x30u);
    if (operation >= 0x70 && operation <= 0x8f) /* breg0 to breg31 */
        return push_register(on, operation - 0x70u);
    if (constant_of(&on->reader, operation, &value))
        return push(on, value);
    if (on->depth == 0)
        return false;
    switch (operation) {
    case 0x06: /* deref */
        return on->read(on->context, on->stack[on->depth - 1],
                        &on->stack[on->depth - 1]);
    case 0x12:
        return push(on, on->stack[on->depth - 1]); /* dup */
    case 0x13:
        on->depth--;
        return true; /* drop */
    case 0x23:       /* plus_uconst */
        on->stack[on->depth - 1] += cfi_uleb(&on->reader);
        return true;
    case 0x96:
        return true; /* nop */
    default:
        return combine(on, operation);
    }
}

bool
embed_cfi_evaluate(uintptr_t *value, struct embed_bytes bytes,
                   const struct embed_registers *registers, uintptr_t initial,
                   embed_read *read, void *context)
{
    struct evaluation on = {.reader = {.at = bytes.begin, .end = bytes.end},
                            .registers = registers,
                            .read = read,
                            .context = context,
                            .stack = {initial},
                            .depth = 1};

    while (on.reader.at < on.reader.end)
        if (!run_one(&on) || on.reader.bad)
            return false;
    if (on.depth == 0)
        return false;
    *value = on.stack[on.depth - 1];
    return true;
}
