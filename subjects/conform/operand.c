/* operand.c -- see operand.h. x86-64 only. */
#include "subjects/conform/operand.h"

#include <stdlib.h>
#include <string.h>

/* A register with all of its names. A narrow name means the low part of the
 * register. */
static const struct {
    const char *name;
    int greg;
} registers[] = {
#define LETTER(letter, greg)                                            \
    {"r" letter "x", greg}, {"e" letter "x", greg}, {letter "x", greg}, \
    {                                                                   \
        letter "l", greg                                                \
    }
#define WORD(word, greg)                              \
    {"r" word, greg}, {"e" word, greg}, {word, greg}, \
    {                                                 \
        word "l", greg                                \
    }
#define NUMBER(number, greg)                                            \
    {"r" number, greg}, {"r" number "d", greg}, {"r" number "w", greg}, \
    {                                                                   \
        "r" number "b", greg                                            \
    }
    LETTER("a", REG_RAX),  LETTER("b", REG_RBX),  LETTER("c", REG_RCX),
    LETTER("d", REG_RDX),  WORD("si", REG_RSI),   WORD("di", REG_RDI),
    WORD("bp", REG_RBP),   WORD("sp", REG_RSP),   NUMBER("8", REG_R8),
    NUMBER("9", REG_R9),   NUMBER("10", REG_R10), NUMBER("11", REG_R11),
    NUMBER("12", REG_R12), NUMBER("13", REG_R13), NUMBER("14", REG_R14),
    NUMBER("15", REG_R15), {"rip", REG_RIP},
#undef LETTER
#undef WORD
#undef NUMBER
};

/* in: text, at the %. returns: what follows the name; NULL: no register */
static const char *
parse_register(const char *text, int *greg)
{
    const size_t length =
        *text == '%' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789")
                     : 0;

    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (strlen(registers[i].name) == length &&
            memcmp(registers[i].name, text + 1, length) == 0) {
            *greg = registers[i].greg;
            return text + 1 + length;
        }
    return NULL;
}

/* "(%base,%index,scale)"; a base, or an index, or both. */
static const char *
parse_address(const char *text, struct operand *operand)
{
    if (*text++ != '(')
        return NULL;
    if (*text == '%') {
        text = parse_register(text, &operand->base);
        if (text == NULL)
            return NULL;
    }
    if (*text == ',') {
        text = parse_register(text + 1, &operand->index);
        if (text == NULL)
            return NULL;
        if (*text == ',') {
            char *end;

            operand->scale = (uint32_t)strtoul(text + 1, &end, 10);
            text = end;
        }
    }
    return *text == ')' ? text + 1 : NULL;
}

const char *
operand_parse(const char *text, struct operand *operand)
{
    char *end;
    const long bytes = strtol(text, &end, 10);

    *operand = (struct operand){.base = -1, .index = -1, .scale = 1};
    operand->is_signed = bytes < 0;
    operand->bytes = (uint32_t)(bytes < 0 ? -bytes : bytes);
    if (end == text || *end != '@' ||
        (operand->bytes != 1 && operand->bytes != 2 && operand->bytes != 4 &&
         operand->bytes != 8))
        return NULL;
    text = end + 1;
    if (*text == '%') {
        operand->kind = OPERAND_REGISTER;
        text = parse_register(text, &operand->base);
    } else if (*text == '$') {
        operand->kind = OPERAND_CONSTANT;
        operand->offset = strtoll(text + 1, &end, 0);
        text = end != text + 1 ? end : NULL;
    } else {
        operand->kind = OPERAND_MEMORY;
        operand->offset = strtoll(text, &end, 0);
        text = parse_address(end, operand);
    }
    if (text == NULL || (*text != '\0' && *text != ' '))
        return NULL;
    return text + strspn(text, " ");
}

static uint64_t
cut(uint64_t value, const struct operand *operand)
{
    const uint32_t unused = 64 - 8 * operand->bytes;

    return operand->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused)
                              : value << unused >> unused;
}

uint64_t
operand_value(const struct operand *operand, const ucontext_t *context)
{
    const greg_t *const gregs = context->uc_mcontext.gregs;
    uint64_t address = (uint64_t)operand->offset;
    uint64_t value = 0;

    if (operand->kind == OPERAND_CONSTANT)
        return cut((uint64_t)operand->offset, operand);
    if (operand->kind == OPERAND_REGISTER)
        return cut((uint64_t)gregs[operand->base], operand);
    if (operand->base >= 0)
        address += (uint64_t)gregs[operand->base];
    if (operand->index >= 0)
        address += (uint64_t)gregs[operand->index] * operand->scale;
    memcpy(&value, (const void *)(uintptr_t)address, operand->bytes);
    return cut(value, operand);
}
