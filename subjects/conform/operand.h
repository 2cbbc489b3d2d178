/*
 * operand.h -- parses the place that holds a probe's argument when its nop
 * runs: "8@%rdi", "-4@%eax", "8@$16", "8@-24(%rbp)", "4@8(%rax,%rcx,4)".
 */
#ifndef SUBJECTS_CONFORM_OPERAND_H
#define SUBJECTS_CONFORM_OPERAND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct operand {
    enum { OPERAND_REGISTER, OPERAND_CONSTANT, OPERAND_MEMORY } kind;
    uint32_t bytes; /* 1, 2, 4, 8 */
    bool is_signed;
    int base;       /* index into gregs; -1: none */
    int index;      /* same */
    int64_t offset; /* the constant, or of the memory */
    uint32_t scale;
};

/*
 * Read one argument.
 *
 * returns: the text after the argument and the blanks that follow it; NULL if
 *          the form of the argument is not known
 */
const char *operand_parse(const char *text, struct operand *operand);

/* returns: its value, sign or zero extended. context: a signal handler */
uint64_t operand_value(const struct operand *operand,
                       const ucontext_t *context);

#endif
