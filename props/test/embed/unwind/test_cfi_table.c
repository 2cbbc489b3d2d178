/*
 * test_cfi_table.c -- lookups in unwind tables made by hand: what is found, and
 * what is refused; nothing outside of a module may be read.
 */
#include <string.h>

#include "cfi.h"
#include "unit_test.h"

static struct embed_row row;

enum { TABLE = 200, ENTRY = 12 + 8 };

/* A module made by hand: a header, a common entry (CIE), and the entry of 64
 * bytes of code that begins 1000 bytes behind the header. */
static uint8_t table[TABLE];

static void
put_u32(uint32_t at, uint32_t value)
{
    memcpy(&table[at], &value, sizeof value);
}

static void
make_table(void **state)
{
    static const uint8_t common[] = {
        0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};
    static const uint8_t code[] = {0, 0x41, 0x0e, 16, 0x86, 2};

    (void)state;
    memset(table, 0, sizeof table);
    memcpy(table, (const uint8_t[]){1, 0x1b, 3, 0x3b}, 4);
    put_u32(8, 1);
    put_u32(12, 1000);
    put_u32(16, ENTRY + 4 + sizeof common);
    put_u32(ENTRY, sizeof common);
    memcpy(&table[ENTRY + 4], common, sizeof common);
    put_u32(ENTRY + 22, 12 + sizeof code);
    put_u32(ENTRY + 26, 26);
    put_u32(ENTRY + 30, 1000 - (ENTRY + 30));
    put_u32(ENTRY + 34, 64);
    memcpy(&table[ENTRY + 38], code, sizeof code);
}

static bool
find(uintptr_t offset)
{
    const struct embed_bytes module = {table, table + sizeof table};

    return embed_cfi_find(&row, table, module, (uintptr_t)table + offset);
}

static void
expect_cfa(int64_t offset)
{
    assert_int_equal(row.cfa.kind, EMBED_RULE_PLUS);
    assert_int_equal(row.cfa.number, EMBED_REGISTER_SP);
    assert_int_equal(row.cfa.offset, offset);
}

TEST(a_pc_finds_its_entry)
{
    make_table(state);
    assert_true(find(1000));
    expect_cfa(8);
    assert_int_equal(row.pc.kind, EMBED_RULE_AT);
    assert_int_equal(row.pc.offset, -8);
    assert_true(find(1001));
    expect_cfa(16);
    assert_int_equal(row.fp.kind, EMBED_RULE_AT);
    assert_int_equal(row.fp.offset, -16);
    assert_false(row.is_signal);
    assert_true(find(1063));
    assert_false(find(1064));
    assert_false(find(999));
    assert_false(find(0));
}

/* The tables of a large library have more rows than 16 bits can count. */
TEST(a_large_table_is_searched)
{
    enum { ROWS = 70000, STEP = 2, FIRST = 1000000, ROWS_AT = 12 };
    enum { ENTRY_AT = ROWS_AT + 8 * ROWS, BEHIND = 22 };
    static uint8_t large[ENTRY_AT + TABLE - ENTRY];
    const struct embed_bytes module = {large, large + sizeof large};
    static const uint32_t wanted[] = {0, 1, 4463, 4464, 65535, 65536, 69999};
    const uint32_t count = ROWS;
    const uint32_t entry = ENTRY_AT + BEHIND;

    make_table(state);
    memcpy(large, table, 8);
    memcpy(&large[8], &count, 4);
    memcpy(&large[ENTRY_AT], &table[ENTRY], TABLE - ENTRY);
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t words[] = {FIRST + STEP * i, 0};

        memcpy(&large[ROWS_AT + 8 * i], words, sizeof words);
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint32_t at = FIRST + STEP * wanted[i];
        const uint32_t function[] = {at - (ENTRY_AT + BEHIND + 8), STEP};

        /* Only this row leads to the entry. */
        memcpy(&large[ROWS_AT + 8 * wanted[i] + 4], &entry, sizeof entry);
        memcpy(&large[ENTRY_AT + BEHIND + 8], function, sizeof function);
        assert_true(embed_cfi_find(&row, large, module, (uintptr_t)large + at));
        expect_cfa(8);
        assert_false(
            embed_cfi_find(&row, large, module, (uintptr_t)large + at + STEP));
        assert_false(
            embed_cfi_find(&row, large, module, (uintptr_t)large + at - 1));
        memset(&large[ROWS_AT + 8 * wanted[i] + 4], 0, sizeof entry);
    }
}

/* Each row changes one byte: another version or return address register, an
 * unknown letter, a pointer of another kind; an entry that is empty, in the
 * 64-bit format, or longer than the module. */
TEST(a_table_of_another_kind_is_refused)
{
    static const struct {
        uint32_t at;
        uint8_t value;
        bool is_found;
    } rows[] = {{0, 2, false},
                {1, 0x3b, false},
                {2, 0x0b, false},
                {3, 0x1b, false},
                {ENTRY + 4, 1, false}, /* not a common entry */
                {ENTRY + 8, 0, false}, /* version */
                {ENTRY + 8, 2, false},
                {ENTRY + 8, 3, true},
                {ENTRY + 8, 4, false},
                {ENTRY + 9, 'y', false}, /* letters */
                {ENTRY + 10, 'X', false},
                {ENTRY + 10, 'S', false}, /* then the pointers are absolute */
                {ENTRY + 10, 'L', false},
                {ENTRY + 14, 15, false}, /* return address */
                {ENTRY + 14, 17, false},
                {ENTRY + 15, 0, false}, /* the letters' block is too short */
                {ENTRY + 15, 200, false},
                {ENTRY + 16, 0x9b, false}, /* indirect */
                {ENTRY + 16, 0x3b, false}, /* relative to another base */
                {ENTRY + 16, 0x1e, false},
                {ENTRY + 22, 0, false},
                {ENTRY + 22, 255, false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_table(state);
        table[rows[i].at] = rows[i].value;
        if (find(1001) != rows[i].is_found)
            fail_msg("byte %u is %u", rows[i].at, rows[i].value);
    }
    make_table(state);
    put_u32(ENTRY + 22, UINT32_MAX);
    assert_false(find(1001));
}

/* Change each byte to each of 256 values: whether the entry is found or not,
 * nothing outside the module is read. */
TEST(damaged_tables_are_survived)
{
    for (uint32_t at = 0; at < ENTRY + 44; at++)
        for (uint32_t value = 0; value < 256; value++) {
            make_table(state);
            table[at] = (uint8_t)value;
            (void)find(1000 + value % 64);
        }
    for (uint32_t cut = 0; cut < ENTRY + 44; cut++) {
        const struct embed_bytes module = {table, table + cut};

        make_table(state);
        assert_false(
            embed_cfi_find(&row, table, module, (uintptr_t)table + 1001));
    }
}

/* ---- tables with absolute pointers, and the header behind the entries ---- */

enum { CODE = 5000, FUNCTION = 32, FUNCTIONS = 3 };

static uint8_t made[400];
static size_t made_count;
static const uint8_t *header;
static size_t common_at, entry_at; /* of the first entry */

static void
add(const void *bytes, size_t count)
{
    if (count > 0)
        memcpy(&made[made_count], bytes, count);
    made_count += count;
}

static void
add_u32(uint32_t value)
{
    add(&value, sizeof value);
}

static uintptr_t
function(uint32_t i)
{
    return (uintptr_t)made + CODE + i * 2 * FUNCTION; /* gaps between */
}

/* Write the length of an entry that is complete. */
static void
end_entry(size_t at)
{
    const uint32_t bytes = (uint32_t)(made_count - at - 4);

    memcpy(&made[at], &bytes, sizeof bytes);
}

/* Make a table. in: letters of the common entry, with their NUL; block, the
 * data that the letters announce; instructions, of each entry */
static void
make(const char *letters, const uint8_t *block, uint8_t block_count,
     const uint8_t *instructions, size_t instructions_count)
{
    /* Code unit 1, data unit -8; CFA = rsp + 8, pc at CFA - 8, rbp at CFA -
     * 24. */
    static const uint8_t first[] = {0x0c, 7, 8, 0x90, 1, 0x86, 3};
    const bool has_block = letters[0] == 'z';
    size_t entries[FUNCTIONS];

    made_count = common_at = 0;
    memset(made, 0, sizeof made);
    add_u32(0);
    add_u32(0);
    add("\1", 1);
    add(letters, strlen(letters) + 1);
    add("\1\x78\x10", 3);
    if (has_block)
        add(&block_count, 1);
    add(block, block_count);
    add(first, sizeof first);
    end_entry(common_at);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const uint64_t words[] = {function(i), FUNCTION};

        entries[i] = made_count;
        add_u32(0);
        add_u32((uint32_t)(made_count - common_at));
        add(words, sizeof words);
        if (has_block)
            add("\2\x55\x55", 3);
        add(instructions, instructions_count);
        end_entry(entries[i]);
    }
    entry_at = entries[0];
    header = &made[made_count];
    add("\1\x1b\3\x3b", 4);
    add_u32(0);
    add_u32(FUNCTIONS);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        add_u32((uint32_t)(function(i) - (uintptr_t)header));
        add_u32((uint32_t)(&made[entries[i]] - header));
    }
}

static bool
find_in(size_t bytes, uintptr_t pc)
{
    return embed_cfi_find(&row, header,
                          (struct embed_bytes){made, made + bytes}, pc);
}

static const uint8_t further[] = {0x44, 0x0e, 16}; /* 4 bytes on */

TEST(a_table_ends_where_its_module_does)
{
    (void)state;
    make("", NULL, 0, further, sizeof further);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        assert_false(find_in(made_count, function(i) - 1));
        assert_true(find_in(made_count, function(i)));
        expect_cfa(8);
        assert_true(find_in(made_count, function(i) + 3));
        expect_cfa(8);
        assert_true(find_in(made_count, function(i) + 4));
        expect_cfa(16);
        assert_true(find_in(made_count, function(i) + FUNCTION - 1));
        assert_false(find_in(made_count, function(i) + FUNCTION));
        for (size_t cut = 1; cut < 40; cut++)
            assert_false(find_in(made_count - cut, function(i)));
    }
    assert_false(row.is_signal);
}

TEST(letters_say_what_a_common_entry_has)
{
    static const uint8_t all[] = {0x03, 1, 2, 3, 4, 0x1b, 0x00};
    static const uint8_t forms[] = {0x00, 0x04, 0x0c};
    static const uint8_t no_form[] = {0x05, 0x00};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        make("zR", &forms[i], 1, further, sizeof further);
        assert_true(find_in(made_count, function(1) + 4));
        expect_cfa(16);
    }
    make("zPLR", all, sizeof all, further, sizeof further);
    assert_true(find_in(made_count, function(1)));
    assert_false(row.is_signal);
    make("zSB", NULL, 0, further, sizeof further);
    assert_true(find_in(made_count, function(1)));
    assert_true(row.is_signal);
    make("zPR", no_form, sizeof no_form, further, sizeof further);
    assert_false(find_in(made_count, function(1)));
    make("zX", NULL, 0, further, sizeof further);
    assert_false(find_in(made_count, function(1)));
    make("zRX", forms, 1, further, sizeof further);
    assert_false(find_in(made_count, function(1)));
    make("eh", NULL, 0, further, sizeof further);
    assert_false(find_in(made_count, function(1)));
    make("zRR", forms, 1, further, sizeof further); /* a block too short */
    assert_false(find_in(made_count, function(1)));
}

TEST(what_a_common_entry_says_is_restored)
{
    static const uint8_t restores[] = {0x41, 0x86, 5, 0x41, 0xc6};

    (void)state;
    make("", NULL, 0, restores, sizeof restores);
    assert_true(find_in(made_count, function(0)));
    assert_int_equal(row.fp.offset, -24);
    assert_true(find_in(made_count, function(0) + 1));
    assert_int_equal(row.fp.offset, -40);
    assert_true(find_in(made_count, function(0) + 2));
    assert_int_equal(row.fp.kind, EMBED_RULE_AT);
    assert_int_equal(row.fp.offset, -24);
    expect_cfa(8);
}

static void
expect_refused(size_t at, uint8_t value)
{
    make("z", NULL, 0, further, sizeof further);
    assert_true(find_in(made_count, function(0)));
    made[at] = value;
    assert_false(find_in(made_count, function(0)));
}

TEST(entries_that_are_wrong_are_refused)
{
    (void)state;
    expect_refused(common_at + 4, 1); /* not a common entry */
    make("z", NULL, 0, further, sizeof further);
    expect_refused(entry_at + 24, 200); /* its block is longer than the entry */
    expect_refused(entry_at + 4, 200);  /* no common entry at that offset */
    expect_refused(common_at + 15, 0x3f); /* no instruction */
}

static void
add_in_form(uint8_t form, int64_t value)
{
    static const uint8_t bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0,
                                      0, 0, 2, 4, 8, 0, 0, 0};
    const uint8_t leb[] = {(uint8_t)(value & 0x7f) | 0x80,
                           (uint8_t)(value >> 7 & 0x7f) | 0x80,
                           (uint8_t)(value >> 14 & 0x7f)};

    if (form == 1 || form == 9)
        add(leb, sizeof leb);
    else
        add(&value, bytes[form]);
}

/* Make a table of one function, which is so far from the word that says where
 * it is. returns: its place */
static uintptr_t
make_in_form(uint8_t form, int64_t distance)
{
    static const uint8_t instructions[] = {0x0c, 7, 8, 0x90, 1};
    const uint8_t encoding = 0x10 | form;
    uintptr_t at;

    made_count = common_at = 0;
    memset(made, 0, sizeof made);
    add_u32(0);
    add_u32(0);
    add("\1zR\0\1\x78\x10\1", 8);
    add(&encoding, 1);
    add(instructions, sizeof instructions);
    end_entry(common_at);
    entry_at = made_count;
    add_u32(0);
    add_u32((uint32_t)made_count);
    at = (uintptr_t)&made[made_count] + (uintptr_t)distance;
    add_in_form(form, distance);
    add_in_form(form, FUNCTION);
    add("", 1);
    end_entry(entry_at);
    header = &made[made_count];
    add("\1\x1b\3\x3b", 4);
    add_u32(0);
    add_u32(1);
    add_u32((uint32_t)(at - (uintptr_t)header));
    add_u32((uint32_t)(&made[entry_at] - header));
    return at;
}

/* Numbers of all forms, signed ones below 0, and the longest of each. */
TEST(pointers_are_read_in_the_form_they_have)
{
    static const struct {
        uint8_t form;
        int64_t distance;
    } rows[] = {{0, 5000},   {1, 5000},    {1, 1000000},
                {2, 65000},  {3, 3 << 28}, {4, 5000},
                {9, -5000},  {9, 5000},    {9, -(1 << 20)},
                {10, -5000}, {10, 32000},  {11, -(3 << 28)},
                {11, 5000},  {12, -5000},  {12, INT32_MAX / 2}};
    static const uint8_t unknown[] = {5, 6, 7, 8, 13, 14, 15};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uintptr_t at = make_in_form(rows[i].form, rows[i].distance);

        assert_false(find_in(made_count, at - 1));
        assert_true(find_in(made_count, at));
        assert_true(find_in(made_count, at + FUNCTION - 1));
        expect_cfa(8);
        assert_false(find_in(made_count, at + FUNCTION));
    }
    for (size_t i = 0; i < sizeof unknown; i++)
        assert_false(find_in(made_count, make_in_form(unknown[i], 0)));
}

/* The return address register is one byte in version 1, a number of any length
 * in version 3. */
TEST(the_return_address_is_written_as_the_version_says)
{
    (void)state;
    make("", NULL, 0, further, sizeof further);
    made[common_at + 8] = 3;
    assert_true(find_in(made_count, function(0)));
    made[common_at + 12] = 0x90; /* the 7 behind it is part of it */
    assert_false(find_in(made_count, function(0)));
    made[common_at + 13] = 0; /* 16 in two bytes; the rest are nops */
    memset(&made[common_at + 14], 0, 6);
    assert_true(find_in(made_count, function(0)));
    made[common_at + 8] = 1;
    assert_false(find_in(made_count, function(0)));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
