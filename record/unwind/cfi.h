/*
 * cfi.h -- call frame information: where a caller's registers are, according to
 * the unwind tables (.eh_frame) that compilers write beside the code.
 *
 * Nothing here allocates, locks, or calls the system: the tables are read where
 * the loader mapped them. x86-64 only; on other machines, stacks are walked by
 * frame pointers (frames.h).
 */
#ifndef RECORD_UNWIND_CFI_H
#define RECORD_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define EMBED_CFI_OFFERED 1
#else
#define EMBED_CFI_OFFERED 0
#endif

/* The registers that a walk follows, with DWARF's numbers on x86-64. */
enum embed_register {
    EMBED_REGISTER_BASE = 3, /* rbx: the linker's own code finds frames by it */
    EMBED_REGISTER_FP = 6,   /* rbp */
    EMBED_REGISTER_SP = 7,   /* rsp */
    EMBED_REGISTER_SCRATCH = 10, /* r10: while a function aligns its stack */
    EMBED_REGISTER_PC = 16,      /* the return address */
};

struct embed_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t base;
    uintptr_t scratch; /* these three: 0 if they are not known */
};

/* How to find a value. The CFA is the caller's stack pointer. */
enum embed_rule_kind {
    EMBED_RULE_SAME,      /* unchanged */
    EMBED_RULE_UNDEFINED, /* there is none; for the pc: there is no caller */
    EMBED_RULE_UNKNOWN,   /* in a register that is not followed */
    EMBED_RULE_AT,        /* stored at CFA + offset */
    EMBED_RULE_PLUS,      /* CFA + offset; of the CFA: register + offset */
    EMBED_RULE_AT_EXPRESSION, /* stored at the expression's value */
    EMBED_RULE_EXPRESSION,    /* the expression's value */
};

struct embed_rule {
    enum embed_rule_kind kind;
    uint32_t number;           /* of the CFA: its register; else bytes of the
                                  expression */
    int64_t offset;            /* of AT and PLUS */
    const uint8_t *expression; /* in the table */
};

/* The rules at one pc. */
struct embed_row {
    struct embed_rule cfa;
    struct embed_rule fp;
    struct embed_rule base;
    struct embed_rule pc;
    bool is_signal; /* the frame of a signal: its caller was interrupted */
};

/* Bytes that may be read, such as those of a module. */
struct embed_bytes {
    const uint8_t *begin;
    const uint8_t *end;
};

/*
 * Find the row of a pc.
 *
 * out:     *row
 * in:      header, the module's .eh_frame_hdr, inside `module`
 *          pc, in a function; of a frame that has called another one, the
 *          return address into it, less 1
 * returns: false if the tables do not have it, or are of an unusual layout
 */
bool embed_cfi_find(struct embed_row *row, const uint8_t *header,
                    struct embed_bytes module, uintptr_t pc);

/*
 * Run a table's instructions up to an offset from the function's first byte.
 *
 * in, out: *row, the rules so far; unspecified after false
 * in:      initial, the row that `restore` goes back to
 *          code_align, data_align, of the common entry
 * returns: false if an instruction is not known
 */
bool embed_cfi_run(struct embed_row *row, const struct embed_row *initial,
                   struct embed_bytes instructions, uint64_t code_align,
                   int64_t data_align, uint64_t offset);

/* Reads a word of the stack. returns: false if it cannot be read */
typedef bool embed_read(void *context, uintptr_t address, uintptr_t *value);

/*
 * Evaluate a DWARF expression.
 *
 * in:      bytes, the operations
 *          initial, on the stack at the beginning
 * returns: false if an operation is not known, or memory cannot be read
 */
bool embed_cfi_evaluate(uintptr_t *value, struct embed_bytes bytes,
                        const struct embed_registers *registers,
                        uintptr_t initial, embed_read *read, void *context);

/*
 * Step from a frame to its caller's, as a row says.
 *
 * in, out: *registers; untouched on false
 * returns: false if there is no caller, or a value cannot be found
 */
bool embed_cfi_step(struct embed_registers *registers,
                    const struct embed_row *row, embed_read *read,
                    void *context);

/*
 * Pack a row into 64 bits, for the cache. This form can express every row that
 * compilers make for code that calls functions.
 *
 *      bit 0       1
 *      bits 1-2    enum embed_packed_cfa
 *      bits 3-4    rbp, enum embed_packed_saved
 *      bits 5-6    rbx, the same
 *      bit 7       no caller
 *      bits 16-39  offset of the CFA
 *      bits 40-51  where rbp is saved, from the CFA, in words
 *      bits 52-63  where rbx is saved
 *
 * Offsets are signed. The return address is at CFA - 8.
 *
 * returns: 0 if the row does not fit
 */
uint64_t embed_row_pack(const struct embed_row *row);

enum embed_packed_cfa {
    EMBED_PACKED_FROM_SP, /* rsp + offset */
    EMBED_PACKED_FROM_FP, /* rbp + offset */
    EMBED_PACKED_AT_FP,   /* stored at rbp + offset: the frame was aligned */
};
enum embed_packed_saved {
    EMBED_PACKED_SAME,
    EMBED_PACKED_SAVED,
    EMBED_PACKED_LOST,
};
#define EMBED_PACKED_CFA(packed)  ((packed) >> 1 & 3)
#define EMBED_PACKED_FP(packed)   ((packed) >> 3 & 3)
#define EMBED_PACKED_BASE(packed) ((packed) >> 5 & 3)
#define EMBED_PACKED_LAST(packed) (((packed) >> 7 & 1) != 0)

/* returns: the signed number in `bits` bits from bit `shift` on */
static inline int64_t
embed_packed_number(uint64_t packed, uint32_t shift, uint32_t bits)
{
    return (int64_t)(packed << (64 - shift - bits)) >> (64 - bits);
}

#endif
