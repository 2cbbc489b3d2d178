/*
 * cfi.c -- computes a row of an unwind table, and steps to a caller by a row.
 *
 *      push %rbp            pc     CFA       rbp        return address
 *      mov %rsp, %rbp        0     rsp + 8   same       at CFA - 8
 *      ...                   1     rsp + 16  CFA - 16   at CFA - 8
 *                            4     rbp + 16  CFA - 16   at CFA - 8
 *
 * A table has an entry for each function: a list of instructions that build
 * this matrix row by row. Running them up to a pc gives the row of that pc.
 * Columns are kept for the CFA (the caller's stack pointer), the return
 * address, rbp and rbx. Compilers compute the CFA from rsp or rbp; in signal
 * frames, linkage stubs and frames that align their stack, from an expression
 * of these two. At a row that needs another register, the walk ends.
 */
#include "record/unwind/cfi.h"

#include "record/unwind/cfi_read.h"

#define STATES_MAX 4u /* remembered at a time */

struct machine {
    struct embed_row *row;
    const struct embed_row *initial;
    struct embed_row states[STATES_MAX];
    uint32_t states_count;
    struct cfi_reader reader;
    uint64_t code_align;
    int64_t data_align;
    uint64_t location; /* from the function's first byte */
};

/* returns: where the rule of a register is kept; NULL if it is not followed */
static struct embed_rule *
rule_of(struct embed_row *row, uint64_t number)
{
    switch (number) {
    case EMBED_REGISTER_BASE:
        return &row->base;
    case EMBED_REGISTER_FP:
        return &row->fp;
    case EMBED_REGISTER_PC:
        return &row->pc;
    default:
        return NULL;
    }
}

static void
set_rule(struct machine *machine, uint64_t number, enum embed_rule_kind kind,
         int64_t offset)
{
    struct embed_rule *const rule = rule_of(machine->row, number);

    if (rule != NULL)
        *rule = (struct embed_rule){.kind = kind, .offset = offset};
}

static void
restore_rule(struct machine *machine, uint64_t number)
{
    struct embed_row initial = *machine->initial;
    struct embed_rule *const rule = rule_of(machine->row, number);

    if (rule != NULL)
        *rule = *rule_of(&initial, number);
}

/* Read the block that follows: a length, then operations. */
static struct embed_rule
read_expression(struct machine *machine, enum embed_rule_kind kind)
{
    const uint64_t bytes = cfi_uleb(&machine->reader);
    const uint8_t *const at = cfi_skip(&machine->reader, bytes);

    return (struct embed_rule){
        .kind = kind, .number = (uint32_t)bytes, .expression = at};
}

static void
set_expression(struct machine *machine, enum embed_rule_kind kind)
{
    struct embed_rule *const rule =
        rule_of(machine->row, cfi_uleb(&machine->reader));
    const struct embed_rule read = read_expression(machine, kind);

    if (rule != NULL)
        *rule = read;
}

static int64_t
scaled(const struct machine *machine, uint64_t factor)
{
    return (int64_t)(factor * (uint64_t)machine->data_align);
}

static void
define_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
    machine->row->cfa = (struct embed_rule){
        .kind = EMBED_RULE_PLUS, .number = (uint32_t)number, .offset = offset};
}

static bool
push_state(struct machine *machine)
{
    if (machine->states_count == STATES_MAX)
        return false;
    machine->states[machine->states_count++] = *machine->row;
    return true;
}

static bool
pop_state(struct machine *machine)
{
    if (machine->states_count == 0)
        return false;
    *machine->row = machine->states[--machine->states_count];
    return true;
}

/* Run an instruction that defines the CFA. returns: false if it is not one */
static bool
run_cfa(struct machine *machine, uint8_t operation)
{
    struct cfi_reader *const reader = &machine->reader;
    struct embed_rule *const cfa = &machine->row->cfa;
    uint64_t number;

    switch (operation) {
    case 0x0c: /* def_cfa */
        number = cfi_uleb(reader);
        define_cfa(machine, number, (int64_t)cfi_uleb(reader));
        return true;
    case 0x12: /* def_cfa_sf */
        number = cfi_uleb(reader);
        define_cfa(machine, number, scaled(machine, cfi_leb(reader, true)));
        return true;
    case 0x0d: /* def_cfa_register */
        define_cfa(machine, cfi_uleb(reader), cfa->offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        define_cfa(machine, cfa->number, (int64_t)cfi_uleb(reader));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        define_cfa(machine, cfa->number,
                   scaled(machine, cfi_leb(reader, true)));
        return true;
    case 0x0f: /* def_cfa_expression */
        *cfa = read_expression(machine, EMBED_RULE_EXPRESSION);
        return true;
    default:
        return false;
    }
}

/* Run an instruction that gives a register a rule. returns: false if it is not
 * one */
static bool
run_rule(struct machine *machine, uint8_t operation)
{
    struct cfi_reader *const reader = &machine->reader;
    uint64_t number;

    if (operation == 0x10) { /* expression */
        set_expression(machine, EMBED_RULE_AT_EXPRESSION);
        return true;
    }
    if (operation == 0x16) { /* val_expression */
        set_expression(machine, EMBED_RULE_EXPRESSION);
        return true;
    }
    if (operation < 0x05 || operation > 0x2f)
        return false;
    number = cfi_uleb(reader);
    switch (operation) {
    case 0x05: /* offset_extended */
        set_rule(machine, number, EMBED_RULE_AT,
                 scaled(machine, cfi_uleb(reader)));
        return true;
    case 0x06:
        restore_rule(machine, number);
        return true;
    case 0x07:
        set_rule(machine, number, EMBED_RULE_UNDEFINED, 0);
        return true;
    case 0x08:
        set_rule(machine, number, EMBED_RULE_SAME, 0);
        return true;
    case 0x09: /* register */
        (void)cfi_uleb(reader);
        set_rule(machine, number, EMBED_RULE_UNKNOWN, 0);
        return true;
    case 0x11: /* offset_extended_sf */
        set_rule(machine, number, EMBED_RULE_AT,
                 scaled(machine, cfi_leb(reader, true)));
        return true;
    case 0x14: /* val_offset */
        set_rule(machine, number, EMBED_RULE_PLUS,
                 scaled(machine, cfi_uleb(reader)));
        return true;
    case 0x15: /* val_offset_sf */
        set_rule(machine, number, EMBED_RULE_PLUS,
                 scaled(machine, cfi_leb(reader, true)));
        return true;
    case 0x2e:
        return true; /* GNU_args_size: not needed here */
    case 0x2f:       /* GNU_negative_offset_extended */
        set_rule(machine, number, EMBED_RULE_AT,
                 -scaled(machine, cfi_uleb(reader)));
        return true;
    default:
        return false;
    }
}

static void
advance(struct machine *machine, uint64_t delta)
{
    machine->location += delta * machine->code_align;
}

/* returns: false if the instruction is not known, or out of place */
static bool
run_one(struct machine *machine)
{
    struct cfi_reader *const reader = &machine->reader;
    const uint8_t byte = cfi_u8(reader);
    const uint8_t low = byte & 0x3f;

    switch (byte >> 6) {
    case 1:
        advance(machine, low);
        return true;
    case 2:
        set_rule(machine, low, EMBED_RULE_AT,
                 scaled(machine, cfi_uleb(reader)));
        return true;
    case 3:
        restore_rule(machine, low);
        return true;
    default:
        break;
    }
    switch (byte) {
    case 0x00:
        return true;
    case 0x02:
        advance(machine, cfi_u8(reader));
        return true;
    case 0x03:
        advance(machine, cfi_u16(reader));
        return true;
    case 0x04:
        advance(machine, cfi_u32(reader));
        return true;
    case 0x0a:
        return push_state(machine);
    case 0x0b:
        return pop_state(machine);
    default:
        return run_cfa(machine, byte) || run_rule(machine, byte);
    }
}

bool
embed_cfi_run(struct embed_row *row, const struct embed_row *initial,
              struct embed_bytes instructions, uint64_t code_align,
              int64_t data_align, uint64_t offset)
{
    struct machine machine = {
        .row = row,
        .initial = initial,
        .reader = {.at = instructions.begin, .end = instructions.end},
        .code_align = code_align,
        .data_align = data_align};

    while (machine.reader.at < machine.reader.end) {
        if (!run_one(&machine) || machine.reader.bad)
            return false;
        if (machine.location > offset)
            return true; /* the rows from here on are of later code */
    }
    return true;
}

/* ---- stepping ---- */

struct frame {
    const struct embed_registers *registers;
    uintptr_t cfa;
    embed_read *read;
    void *context;
};

static bool
evaluate(uintptr_t *value, const struct frame *frame,
         const struct embed_rule *rule)
{
    const struct embed_bytes bytes = {rule->expression,
                                      rule->expression + rule->number};

    return embed_cfi_evaluate(value, bytes, frame->registers, frame->cfa,
                              frame->read, frame->context);
}

static bool
find_cfa(struct frame *frame, const struct embed_rule *rule)
{
    if (rule->kind == EMBED_RULE_EXPRESSION)
        return evaluate(&frame->cfa, frame, rule);
    switch (rule->number) {
    case EMBED_REGISTER_SP:
        frame->cfa = frame->registers->sp;
        break;
    case EMBED_REGISTER_FP:
        frame->cfa = frame->registers->fp;
        break;
    case EMBED_REGISTER_BASE:
        frame->cfa = frame->registers->base;
        break;
    case EMBED_REGISTER_SCRATCH:
        frame->cfa = frame->registers->scratch;
        break;
    default:
        return false;
    }
    frame->cfa += (uintptr_t)rule->offset;
    return true;
}

static bool
find_value(uintptr_t *value, const struct frame *frame,
           const struct embed_rule *rule, uintptr_t now)
{
    uintptr_t address = frame->cfa + (uintptr_t)rule->offset;

    switch (rule->kind) {
    case EMBED_RULE_SAME:
        *value = now;
        return true;
    case EMBED_RULE_PLUS:
        *value = address;
        return true;
    case EMBED_RULE_EXPRESSION:
        return evaluate(value, frame, rule);
    case EMBED_RULE_AT:
        return frame->read(frame->context, address, value);
    case EMBED_RULE_AT_EXPRESSION:
        return evaluate(&address, frame, rule) &&
               frame->read(frame->context, address, value);
    case EMBED_RULE_UNDEFINED:
    case EMBED_RULE_UNKNOWN:
    default:
        return false;
    }
}

bool
embed_cfi_step(struct embed_registers *registers, const struct embed_row *row,
               embed_read *read, void *context)
{
    const struct embed_registers now = *registers;
    struct frame frame = {.registers = &now, .read = read, .context = context};
    struct embed_registers caller = {0};

    if (!find_cfa(&frame, &row->cfa) ||
        !find_value(&caller.pc, &frame, &row->pc, now.pc))
        return false;
    /* A register that is lost matters only if a later frame needs it. */
    if (!find_value(&caller.fp, &frame, &row->fp, now.fp))
        caller.fp = 0;
    if (!find_value(&caller.base, &frame, &row->base, now.base))
        caller.base = 0;
    caller.sp = frame.cfa;
    *registers = caller;
    return true;
}

/* ---- packing ---- */

/* Is the CFA stored at rbp + offset? This is how a function that aligns its
 * stack keeps the CFA. */
static bool
is_at_fp(const struct embed_rule *rule, int64_t *offset)
{
    struct cfi_reader reader = {.at = rule->expression};

    if (rule->kind != EMBED_RULE_EXPRESSION)
        return false;
    reader.end = rule->expression + rule->number;
    if (cfi_u8(&reader) != 0x70 + EMBED_REGISTER_FP)
        return false;
    *offset = cfi_sleb(&reader);
    return cfi_u8(&reader) == 0x06 && !reader.bad && reader.at == reader.end;
}

static bool
fits(int64_t number, uint32_t bits)
{
    return number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1)
                                                                 << (bits - 1);
}

static uint64_t
pack_number(int64_t number, uint32_t shift, uint32_t bits)
{
    return ((uint64_t)number & ((UINT64_C(1) << bits) - 1)) << shift;
}

/* returns: false if the rule is too unusual */
static bool
pack_saved(uint64_t *packed, const struct embed_rule *rule, uint32_t shift,
           uint32_t offset_shift)
{
    switch (rule->kind) {
    case EMBED_RULE_SAME:
        return true; /* EMBED_PACKED_SAME is 0 */
    case EMBED_RULE_AT:
        if (rule->offset % 8 != 0 || !fits(rule->offset / 8, 12))
            return false;
        *packed |= (uint64_t)EMBED_PACKED_SAVED << shift |
                   pack_number(rule->offset / 8, offset_shift, 12);
        return true;
    case EMBED_RULE_UNDEFINED:
    case EMBED_RULE_UNKNOWN:
        *packed |= (uint64_t)EMBED_PACKED_LOST << shift;
        return true;
    case EMBED_RULE_PLUS:
    case EMBED_RULE_AT_EXPRESSION:
    case EMBED_RULE_EXPRESSION:
    default:
        return false;
    }
}

static bool
pack_cfa(uint64_t *packed, const struct embed_rule *rule)
{
    int64_t offset = rule->offset;

    if (is_at_fp(rule, &offset))
        *packed |= EMBED_PACKED_AT_FP << 1;
    else if (rule->kind != EMBED_RULE_PLUS)
        return false;
    else if (rule->number == EMBED_REGISTER_FP)
        *packed |= EMBED_PACKED_FROM_FP << 1;
    else if (rule->number != EMBED_REGISTER_SP)
        return false;
    *packed |= pack_number(offset, 16, 24);
    return fits(offset, 24);
}

uint64_t
embed_row_pack(const struct embed_row *row)
{
    uint64_t packed = 1;

    if (row->pc.kind == EMBED_RULE_UNDEFINED)
        return packed | UINT64_C(1) << 7;
    if (row->is_signal || row->pc.kind != EMBED_RULE_AT ||
        row->pc.offset != -8 || !pack_cfa(&packed, &row->cfa) ||
        !pack_saved(&packed, &row->fp, 3, 40) ||
        !pack_saved(&packed, &row->base, 5, 52))
        return 0;
    return packed;
}
