/*
 * test_cfi.c -- unwind tables: each instruction, each operation of expressions,
 * packed rows, and tables that are damaged.
 *
 * The expected rows are from the DWARF 5 specification, sections 6.4.2 and
 * 2.5.1, not from what the code does.
 */
#include <string.h>

#include "cfi.h"
#include "drawn_expression.h"
#include "unit_test.h"

#define BYTES(...) \
    (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

enum { FP = EMBED_REGISTER_FP, SP = EMBED_REGISTER_SP };
enum { PC = EMBED_REGISTER_PC, BASE = EMBED_REGISTER_BASE };

static struct embed_row row;
static bool known;

/* The row at a function's first byte: CFA = rsp + 8, return address at CFA -
 * 8. */
static const struct embed_row first = {
    .cfa = {.kind = EMBED_RULE_PLUS, .number = SP, .offset = 8},
    .pc = {.kind = EMBED_RULE_AT, .offset = -8},
};

/* Run instructions whose code unit is 2 bytes and whose data unit is -8. */
static const struct embed_row *
run(uint64_t offset, const uint8_t *bytes, size_t bytes_count)
{
    row = first;
    known = embed_cfi_run(&row, &first,
                          (struct embed_bytes){bytes, bytes + bytes_count}, 2,
                          -8, offset);
    return &row;
}

static void
assert_rule(const struct embed_rule *rule, enum embed_rule_kind kind,
            int64_t offset)
{
    assert_true(known);
    assert_int_equal(rule->kind, kind);
    assert_int_equal(rule->offset, offset);
}

static void
assert_cfa(uint32_t number, int64_t offset)
{
    assert_rule(&row.cfa, EMBED_RULE_PLUS, offset);
    assert_int_equal(row.cfa.number, number);
}

TEST(rows_end_at_the_pc)
{
    /* Four rows begin after steps of 6, 4, 2 * 300 and 2 * 70000 bytes; the
     * offset of the CFA is the row's number. */
    const uint8_t bytes[] = {0x43, 0x0e, 1, 0x02, 2, 0x0e, 2,
                             0x03, 0x2c, 1, 0x0e, 3, 0x04, 0x70,
                             0x11, 1,    0, 0x0e, 4};
    const struct {
        uint64_t offset;
        int64_t cfa;
    } expected[] = {{0, 8},      {5, 8},         {6, 1},   {9, 1},
                    {10, 2},     {609, 2},       {610, 3}, {140609, 3},
                    {140610, 4}, {UINT64_MAX, 4}};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        run(expected[i].offset, bytes, sizeof bytes);
        assert_cfa(SP, expected[i].cfa);
    }
}

TEST(the_cfa_is_defined)
{
    run(0, BYTES(0x0c, FP, 16));
    assert_cfa(FP, 16);
    run(0, BYTES(0x0d, FP));
    assert_cfa(FP, 8);
    run(0, BYTES(0x0e, 0x80, 2));
    assert_cfa(SP, 256);
    run(0, BYTES(0x12, FP, 0x7e)); /* -2 times -8 */
    assert_cfa(FP, 16);
    run(0, BYTES(0x13, 0x7d));
    assert_cfa(SP, 24);
    run(0, BYTES(0x0f, 2, 0x77, 8));
    assert_true(known);
    assert_int_equal(row.cfa.kind, EMBED_RULE_EXPRESSION);
    assert_int_equal(row.cfa.number, 2);
    assert_int_equal(row.cfa.expression[0], 0x77);
}

TEST(registers_get_rules)
{
    assert_rule(&run(0, BYTES(0x80 | FP, 2))->fp, EMBED_RULE_AT, -16);
    assert_rule(&run(0, BYTES(0x80 | BASE, 3))->base, EMBED_RULE_AT, -24);
    assert_rule(&run(0, BYTES(0x05, PC, 3))->pc, EMBED_RULE_AT, -24);
    assert_rule(&run(0, BYTES(0x07, PC))->pc, EMBED_RULE_UNDEFINED, 0);
    assert_rule(&run(0, BYTES(0x08, PC))->pc, EMBED_RULE_SAME, 0);
    assert_rule(&run(0, BYTES(0x09, FP, 3))->fp, EMBED_RULE_UNKNOWN, 0);
    assert_rule(&run(0, BYTES(0x11, FP, 0x7e))->fp, EMBED_RULE_AT, 16);
    assert_rule(&run(0, BYTES(0x14, FP, 2))->fp, EMBED_RULE_PLUS, -16);
    assert_rule(&run(0, BYTES(0x15, FP, 0x7e))->fp, EMBED_RULE_PLUS, 16);
    assert_rule(&run(0, BYTES(0x2f, FP, 2))->fp, EMBED_RULE_AT, 16);
    run(0, BYTES(0x10, FP, 2, 0x77, 120));
    assert_int_equal(row.fp.kind, EMBED_RULE_AT_EXPRESSION);
    run(0, BYTES(0x16, FP, 1, 0x9c));
    assert_int_equal(row.fp.kind, EMBED_RULE_EXPRESSION);
    assert_int_equal(row.fp.number, 1);
}

TEST(rules_are_restored)
{
    run(0, BYTES(0x80 | PC, 5, 0xc0 | PC));
    assert_rule(&row.pc, EMBED_RULE_AT, -8);
    run(0, BYTES(0x80 | PC, 5, 0x06, PC));
    assert_rule(&row.pc, EMBED_RULE_AT, -8);
    run(0, BYTES(0x08, PC, 0xc0 | PC)); /* it was the same meanwhile */
    assert_rule(&row.pc, EMBED_RULE_AT, -8);
    run(0, BYTES(0x08, PC, 0x06, PC));
    assert_rule(&row.pc, EMBED_RULE_AT, -8);
    run(0, BYTES(0x0a, 0x0e, 32, 0x80 | FP, 2, 0x0b));
    assert_cfa(SP, 8);
    assert_rule(&row.fp, EMBED_RULE_SAME, 0);
}

/* At most four states are remembered. */
TEST(states_are_remembered_to_a_limit)
{
    run(0, BYTES(0x0e, 1, 0x0a, 0x0e, 2, 0x0a, 0x0e, 3, 0x0a, 0x0e, 4, 0x0a,
                 0x0e, 5, 0x0b, 0x0b));
    assert_cfa(SP, 3);
    run(0, BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a));
    assert_false(known);
    run(0, BYTES(0x0a, 0x0b, 0x0b));
    assert_false(known);
}

TEST(what_is_not_followed_is_skipped)
{
    run(0, BYTES(0x80 | 12, 9, 0x05, 13, 1, 0x10, 14, 2, 1, 1, 0x16, 15, 1, 1,
                 0xc0 | 12, 0x2e, 0x80, 1, 0x00, 0x0e, 32));
    assert_cfa(SP, 32);
}

TEST(what_is_not_known_ends_the_walk)
{
    run(0, BYTES(0x1c, 0));
    assert_false(known);
    run(0, BYTES(0x01, 0)); /* set_loc */
    assert_false(known);
    run(0, BYTES(0x3f));
    assert_false(known);
    run(0, BYTES(0x0b)); /* nothing was remembered */
    assert_false(known);
    run(0, BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a));
    assert_false(known);
    run(0, BYTES(0x0e, 0x80)); /* cut */
    assert_false(known);
    run(0, BYTES(0x0f, 5, 0x77, 8));
    assert_false(known);
    run(0, BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff, 0xff));
    assert_false(known);
}

/* ---- expressions ---- */

static uintptr_t memory[4] = {100, 200, 300, 400};

static bool
read_memory(void *context, uintptr_t address, uintptr_t *value)
{
    const uintptr_t index = (address - (uintptr_t)memory) / sizeof *memory;

    (void)context;
    if (address < (uintptr_t)memory || index >= 4)
        return false;
    *value = memory[index];
    return true;
}

static bool
evaluate(uintptr_t *value, const uint8_t *bytes, size_t bytes_count)
{
    const struct embed_registers registers = {
        .pc = EXPRESSION_PC, .sp = 1000, .fp = (uintptr_t)memory};

    return embed_cfi_evaluate(value,
                              (struct embed_bytes){bytes, bytes + bytes_count},
                              &registers, EXPRESSION_FIRST, read_memory, NULL);
}

static void
assert_value(uintptr_t expected, const uint8_t *bytes, size_t bytes_count)
{
    uintptr_t value = ~expected;

    assert_true(evaluate(&value, bytes, bytes_count));
    assert_int_equal(value, expected);
}

TEST(operations_are_those_of_dwarf)
{
    assert_value(7, BYTES(0x96)); /* the value that was on the stack; nop */
    assert_value(1008, BYTES(0x77, 8));
    assert_value(936, BYTES(0x77, 0x40));
    assert_value(0x100b, BYTES(0x80, 0));
    assert_value(200, BYTES(0x76, 8, 0x06));
    assert_value(31, BYTES(0x4f));
    assert_value(255, BYTES(0x08, 255));
    assert_value((uintptr_t)-1, BYTES(0x09, 255));
    assert_value(0x8000, BYTES(0x0a, 0, 0x80));
    assert_value((uintptr_t)-32768, BYTES(0x0b, 0, 0x80));
    assert_value(0x80000000u, BYTES(0x0c, 0, 0, 0, 0x80));
    assert_value((uintptr_t)INT32_MIN, BYTES(0x0d, 0, 0, 0, 0x80));
    assert_value(1, BYTES(0x0e, 1, 0, 0, 0, 0, 0, 0, 0));
    assert_value(300, BYTES(0x10, 0xac, 2));
    assert_value((uintptr_t)-2, BYTES(0x11, 0x7e));
    assert_value(10, BYTES(0x35, 0x12, 0x22));  /* dup, plus */
    assert_value(5, BYTES(0x35, 0x36, 0x13));   /* drop */
    assert_value(8, BYTES(0x3c, 0x3a, 0x1a));   /* and */
    assert_value(2, BYTES(0x3c, 0x3a, 0x1c));   /* minus */
    assert_value(120, BYTES(0x3c, 0x3a, 0x1e)); /* mul */
    assert_value(14, BYTES(0x3c, 0x3a, 0x21));  /* or */
    assert_value(17, BYTES(0x3c, 0x23, 5));     /* plus_uconst */
    assert_value(48, BYTES(0x3c, 0x32, 0x24));  /* shl */
    assert_value(3, BYTES(0x3c, 0x32, 0x25));   /* shr */
    assert_value(UINTPTR_MAX / 2 + 1, BYTES(0x31, 0x08, 63, 0x24));
    assert_value(0, BYTES(0x31, 0x08, 64, 0x24)); /* all bits shifted out */
    assert_value(1, BYTES(0x09, 255, 0x08, 63, 0x25));
    assert_value(0, BYTES(0x09, 255, 0x08, 64, 0x25));
    assert_value(36, BYTES(0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x22, 0x22,
                           0x22, 0x22, 0x22, 0x22, 0x08, 15, 0x22));
    assert_value(1, BYTES(0x33, 0x33, 0x29));      /* eq */
    assert_value(1, BYTES(0x33, 0x33, 0x2a));      /* ge */
    assert_value(0, BYTES(0x32, 0x33, 0x2a));      /* ge */
    assert_value(0, BYTES(0x33, 0x33, 0x2b));      /* gt */
    assert_value(1, BYTES(0x33, 0x33, 0x2c));      /* le */
    assert_value(1, BYTES(0x09, 255, 0x33, 0x2d)); /* lt, signed */
    assert_value(0, BYTES(0x33, 0x33, 0x2e));      /* ne */
    /* The expression of a linkage stub, at its byte 11: CFA = rsp + 16, as the
     * stub has pushed 8 bytes by then. */
    assert_value(1016, BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
                             0x24, 0x22));
}

TEST(expressions_that_cannot_be_evaluated_are_refused)
{
    uintptr_t value;

    assert_false(evaluate(&value, BYTES(0x73, 0)));    /* rbx is not known */
    assert_false(evaluate(&value, BYTES(0x30, 0x06))); /* reads address 0 */
    assert_false(evaluate(&value, BYTES(0x22)));       /* one number only */
    assert_false(evaluate(&value, BYTES(0x13)));       /* none is left */
    assert_false(evaluate(&value, BYTES(0x13, 0x12))); /* none to double */
    assert_false(evaluate(&value, BYTES(0x28, 0, 0))); /* a jump */
    assert_false(evaluate(&value, BYTES(0x0a, 1)));    /* cut */
    assert_false(evaluate(&value, BYTES(0x2f)));       /* a jump */
    assert_false(evaluate(&value, BYTES(0x50)));       /* a register's name */
    assert_false(evaluate(&value, BYTES(0x13, 0x96))); /* nothing is left */
    assert_false(evaluate(&value, BYTES(0x13, 0x31, 0x22)));
    assert_false(evaluate(&value, BYTES(0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
                                        0x30, 0x30))); /* too deep */
}

TEST(random_expressions_have_the_value_that_dwarf_says)
{
    static struct expression drawn;
    int refused = 0;

    (void)state;
    for (int i = 0; i < 30000; i++) {
        uintptr_t value = 0;

        expression_draw(&drawn);
        assert_int_equal(evaluate(&value, drawn.bytes, drawn.bytes_count),
                         drawn.is_good);
        if (drawn.is_good)
            assert_int_equal(value, drawn.stack[drawn.depth - 1]);
        refused += !drawn.is_good;
    }
    assert_in_range(refused, 5000, 25000);
}

/* ---- stepping ---- */

static struct embed_registers at;

/* From registers that are all different. */
static bool
step(struct embed_rule cfa, struct embed_rule pc)
{
    at = (struct embed_registers){.pc = 1,
                                  .sp = (uintptr_t)memory,
                                  .fp = (uintptr_t)memory + 8,
                                  .base = (uintptr_t)memory + 16,
                                  .scratch = (uintptr_t)memory + 24};
    row.cfa = cfa;
    row.pc = pc;
    return embed_cfi_step(&at, &row, read_memory, NULL);
}

static void
assert_untouched(void)
{
    assert_int_equal(at.pc, 1);
    assert_int_equal(at.sp, (uintptr_t)memory);
    assert_int_equal(at.fp, (uintptr_t)memory + 8);
    assert_int_equal(at.base, (uintptr_t)memory + 16);
    assert_int_equal(at.scratch, (uintptr_t)memory + 24);
}

TEST(a_step_leads_to_the_caller)
{
    static const uint8_t deref[] = {0x76, 0, 0x06}; /* at rbp */
    static const uint32_t bases[] = {SP, FP, BASE, EMBED_REGISTER_SCRATCH};
    const struct embed_rule sp = {.kind = EMBED_RULE_PLUS, .number = SP};
    const struct embed_rule same = {.kind = EMBED_RULE_SAME};
    const struct embed_rule stored = {.kind = EMBED_RULE_AT, .offset = 16};
    const struct embed_rule lost = {.kind = EMBED_RULE_UNKNOWN};
    const struct embed_rule said = {
        .kind = EMBED_RULE_EXPRESSION, .number = 3, .expression = deref};
    const struct embed_rule where = {
        .kind = EMBED_RULE_AT_EXPRESSION, .number = 2, .expression = deref};
    struct embed_rule rule = sp;

    row = first;
    for (uint32_t i = 0; i < 4; i++) {
        rule.number = bases[i];
        rule.offset = 5;
        assert_true(step(rule, same));
        assert_int_equal(at.sp, (uintptr_t)memory + 8 * i + 5);
        assert_int_equal(at.pc, 1);
        assert_int_equal(at.fp, (uintptr_t)memory + 8);
        assert_int_equal(at.base, (uintptr_t)memory + 16);
        assert_int_equal(at.scratch, 0);
    }
    assert_true(step(sp, stored));
    assert_int_equal(at.pc, 300);
    assert_true(step(sp, said));
    assert_int_equal(at.pc, 200);
    assert_true(step(sp, where));
    assert_int_equal(at.pc, 200);
    assert_true(step(said, sp));
    assert_int_equal(at.sp, 200);
    assert_int_equal(at.pc, 200);
    row.fp = stored;
    row.base = lost;
    assert_true(step(sp, same));
    assert_int_equal(at.fp, 300);
    assert_int_equal(at.base, 0);
    row.fp = (struct embed_rule){.kind = EMBED_RULE_AT, .offset = 64};
    assert_true(step(sp, same));
    assert_int_equal(at.fp, 0);
}

TEST(where_nobody_called_registers_stay)
{
    static const uint8_t drop[] = {0x13};
    const struct embed_rule sp = {.kind = EMBED_RULE_PLUS, .number = SP};
    const struct embed_rule refused[] = {
        {.kind = EMBED_RULE_UNDEFINED},
        {.kind = EMBED_RULE_UNKNOWN},
        {.kind = EMBED_RULE_AT, .offset = 64},
        {.kind = EMBED_RULE_EXPRESSION, .number = 1, .expression = drop},
        {.kind = EMBED_RULE_AT_EXPRESSION, .number = 1, .expression = drop}};

    row = first;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(step(sp, refused[i]));
        assert_untouched();
    }
    assert_false(step((struct embed_rule){.number = 0}, sp)); /* rax */
    assert_untouched();
    assert_false(step(refused[3], sp));
    assert_untouched();
}

/* ---- packing ---- */

static void
assert_packed(uint64_t cfa, int64_t cfa_offset, uint64_t fp, int64_t fp_words,
              uint64_t base, int64_t base_words)
{
    const uint64_t packed = embed_row_pack(&row);

    assert_true(known);
    assert_int_equal(packed & 1, 1);
    assert_false(EMBED_PACKED_LAST(packed));
    assert_int_equal(EMBED_PACKED_CFA(packed), cfa);
    assert_int_equal(embed_packed_number(packed, 16, 24), cfa_offset);
    assert_int_equal(EMBED_PACKED_FP(packed), fp);
    assert_int_equal(embed_packed_number(packed, 40, 12), fp_words);
    assert_int_equal(EMBED_PACKED_BASE(packed), base);
    assert_int_equal(embed_packed_number(packed, 52, 12), base_words);
}

TEST(usual_rows_are_packed)
{
    run(0, BYTES(0));
    assert_packed(EMBED_PACKED_FROM_SP, 8, 0, 0, 0, 0);
    run(0, BYTES(0x0c, FP, 16, 0x80 | FP, 2, 0x80 | BASE, 0x80, 0x10));
    assert_packed(EMBED_PACKED_FROM_FP, 16, EMBED_PACKED_SAVED, -2,
                  EMBED_PACKED_SAVED, -2048);
    run(0, BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x07, FP, 0x09, BASE, 12));
    assert_packed(EMBED_PACKED_AT_FP, -8, EMBED_PACKED_LOST, 0,
                  EMBED_PACKED_LOST, 0);
    run(0, BYTES(0x0e, 0xff, 0xff, 0xff, 3));
    assert_packed(EMBED_PACKED_FROM_SP, (1 << 23) - 1, 0, 0, 0, 0);
    assert_true(EMBED_PACKED_LAST(embed_row_pack(run(0, BYTES(0x07, PC)))));
}

static bool
is_packed(const uint8_t *bytes, size_t bytes_count)
{
    return embed_row_pack(run(0, bytes, bytes_count)) != 0;
}

/* A CFA is stored at rbp + a number: rbp with that number, then a read, and
 * nothing behind. */
TEST(one_expression_is_packed)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;

        assert_int_equal(is_packed(BYTES(0x0f, 3, byte, 8, 0x06)), i == 0x76);
        assert_int_equal(is_packed(BYTES(0x0f, 3, 0x76, 8, byte)), i == 0x06);
        assert_false(is_packed(BYTES(0x0f, 4, 0x76, 8, 0x06, byte)));
        assert_int_equal(is_packed(BYTES(0x0f, 4, 0x76, byte, 0, 0x06)),
                         i >= 0x80); /* a number of two bytes */
    }
}

TEST(unusual_rows_are_not)
{
    assert_int_equal(embed_row_pack(run(0, BYTES(0x0c, 10, 0))), 0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x80 | PC, 2))), 0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x0e, 0x80, 0x80, 0x80, 4))),
                     0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x80 | FP, 0x81, 0x10))), 0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x10, FP, 1, 0x9c))), 0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x0f, 2, 0x76, 8))), 0);
    assert_int_equal(embed_row_pack(run(0, BYTES(0x0f, 3, 0x77, 8, 6))), 0);
    run(0, BYTES(0));
    row.is_signal = true;
    assert_int_equal(embed_row_pack(&row), 0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
