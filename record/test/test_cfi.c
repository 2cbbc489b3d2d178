/*
 * test_cfi.c -- unwind tables: each instruction and each operation of
 * expressions, and a library's tables, damaged.
 *
 * The expected rows are from the DWARF 5 specification, sections 6.4.2 and
 * 2.5.1, not from what the code does. test_unwind.c compares whole stacks with
 * libunwind's.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "record/unwind/cfi.h"
#include "common/test/unit_test.h"

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
        .pc = 0x100b, .sp = 1000, .fp = (uintptr_t)memory};

    return embed_cfi_evaluate(value,
                              (struct embed_bytes){bytes, bytes + bytes_count},
                              &registers, 7, read_memory, NULL);
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

/* ---- a library's tables ---- */

enum { PAGE = 4096, DAMAGES = 4000, LOOKS = 8 };

static struct dl_find_object library; /* libcmocka */
static size_t library_bytes;
static size_t header_at;  /* in the library */
static uint8_t *room_end; /* an inaccessible page begins here */

/* A copy of the library's first bytes that ends at the inaccessible page, so
 * that a read behind it ends the test. */
static struct embed_bytes copy;

static uint64_t
drawn(uint64_t below)
{
    static uint64_t number = 1;

    number = number * UINT64_C(6364136223846793005) + 1;
    return (number >> 33) % below;
}

static void
make_copy(size_t bytes)
{
    copy = (struct embed_bytes){room_end - bytes, room_end};
    memcpy(room_end - bytes, library.dlfo_map_start, bytes);
}

static bool
find_in_copy(uintptr_t offset)
{
    return embed_cfi_find(&row, copy.begin + header_at, copy,
                          (uintptr_t)copy.begin + offset);
}

static int
find_library(void **state)
{
    size_t bytes;
    uint8_t *all;

    (void)state;
    if (_dl_find_object((void *)(uintptr_t)vprint_error, &library) != 0)
        return -1;
    library_bytes =
        (uintptr_t)library.dlfo_map_end - (uintptr_t)library.dlfo_map_start;
    header_at =
        (uintptr_t)library.dlfo_eh_frame - (uintptr_t)library.dlfo_map_start;
    bytes = (library_bytes + PAGE - 1) / PAGE * PAGE;
    all =
        mmap(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, bytes, PROT_READ | PROT_WRITE) != 0)
        return -1;
    room_end = all + bytes;
    return 0;
}

static bool
is_same_rule(const struct embed_rule *a, const struct embed_rule *b)
{
    return a->kind == b->kind && a->number == b->number &&
           a->offset == b->offset;
}

TEST(a_library_has_the_same_rows_wherever_it_lies)
{
    const uint8_t *const begin = library.dlfo_map_start;
    const struct embed_bytes module = {begin, begin + library_bytes};
    uint32_t found = 0;

    make_copy(library_bytes);
    for (uint32_t i = 0; i < 20000; i++) {
        const uintptr_t offset = drawn(library_bytes);
        struct embed_row want;
        const bool is_known = embed_cfi_find(&want, library.dlfo_eh_frame,
                                             module, (uintptr_t)begin + offset);

        assert_int_equal(find_in_copy(offset), is_known);
        found += is_known;
        if (is_known)
            assert_true(is_same_rule(&row.cfa, &want.cfa) &&
                        is_same_rule(&row.fp, &want.fp) &&
                        is_same_rule(&row.base, &want.base) &&
                        is_same_rule(&row.pc, &want.pc));
    }
    assert_true(found > 1000);
}

/* Some bytes of the tables are changed, and the module may end amid them: then
 * rows are wrong or missing, but nothing behind the module is read. */
TEST(damaged_tables_are_survived)
{
    const size_t behind = library_bytes - header_at;

    for (uint32_t i = 0; i < DAMAGES; i++) {
        make_copy(i % 2 == 0 ? library_bytes : header_at + drawn(behind));
        for (uint64_t n = drawn(8); n > 0; n--) {
            const size_t at = header_at + drawn(i % 3 == 0 ? 64 : 8192);

            if (copy.begin + at < copy.end)
                room_end[at - (size_t)(copy.end - copy.begin)] =
                    (uint8_t)drawn(256);
        }
        for (uint32_t look = 0; look < LOOKS; look++)
            (void)find_in_copy(drawn(library_bytes));
    }
}

/* The version, and the kinds of the header's pointers. */
TEST(a_table_of_another_kind_is_refused)
{
    static const uint8_t others[] = {2, 0x3b, 0x0b, 0x1b};
    const uintptr_t function =
        (uintptr_t)vprint_error - (uintptr_t)library.dlfo_map_start;

    for (size_t i = 0; i < sizeof others; i++) {
        make_copy(library_bytes);
        assert_true(find_in_copy(function));
        room_end[header_at + i - library_bytes] = others[i];
        assert_false(find_in_copy(function));
    }
    make_copy(library_bytes);
    assert_false(find_in_copy(1));
    assert_false(find_in_copy(library_bytes + PAGE));
}

int
main(void)
{
    return tests_run(find_library, NULL);
}
