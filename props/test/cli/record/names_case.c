/* names_case.c -- see names_case.h. */
#include "names_case.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "refused_memory.h"
#include "symbols.h"
#include "unit_test.h"

enum { START = 0x10000000, LIMIT = START + 0x4000, PC = START + 0x10 };

/* Write a file with two segments. */
static void
write_file(const char *path, const Elf64_Phdr *segments)
{
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                    EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof head,
        .e_ehsize = sizeof head,
        .e_phentsize = sizeof *segments,
        .e_phnum = 2,
    };
    FILE *const file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file), 1);
    assert_int_equal(fwrite(segments, sizeof *segments, 2, file), 2);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(path, 0x4000), 0);
}

static struct prof_mapping
mapping_of(const char *path, uint64_t offset)
{
    return (struct prof_mapping){
        .start = START, .limit = LIMIT, .offset = offset, .file = path};
}

static const char *
name_at(struct cli_names *names, uintptr_t pc)
{
    const struct prof_symbols symbols = cli_names_symbols(names);
    struct prof_symbol symbol = {.line = 0};

    symbols.find(symbols.context, pc, &symbol);
    return symbol.function;
}

static void
expect(const char *path, uint64_t offset, bool is_there)
{
    const struct prof_mapping mapping = mapping_of(path, offset);
    struct cli_names *const names = cli_names_open(&mapping, 1);
    const char *const slash = strrchr(path, '/');
    char want[64];

    assert_non_null(names);
    if (is_there)
        snprintf(want, sizeof want, "%s+0x%llx",
                 slash != NULL ? slash + 1 : path,
                 (unsigned long long)(PC - START + offset));
    else
        snprintf(want, sizeof want, "0x%x", PC);
    assert_string_equal(name_at(names, PC), want);
    cli_names_close(names);
}

/* A page of the mapping is in the segment. */
static void
check(const char *path, uint32_t type, uint32_t flags, int place)
{
    static const uint64_t offsets[] = {0,      1,      0xfff, 0x1000,
                                       0x1fff, 0x2000, 0x2001};
    const Elf64_Phdr segment = {.p_type = type,
                                .p_flags = flags,
                                .p_offset = 0x1000,
                                .p_vaddr = 0x1000,
                                .p_filesz = 0x1000,
                                .p_memsz = 0x1000,
                                .p_align = 0x1000};
    Elf64_Phdr segments[2] = {{.p_type = PT_NOTE}, {.p_type = PT_NOTE}};

    segments[place] = segment;
    write_file(path, segments);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        expect(path, offsets[i],
               type == PT_LOAD && (flags & PF_X) != 0 && offsets[i] > 0 &&
                   offsets[i] < 0x2000);
}

static int
next_descriptor(void)
{
    const int file = dup(2);

    close(file);
    return file;
}

void
names_check_segments(const char *path)
{
    const int next = next_descriptor();

    for (int place = 0; place < 2; place++) {
        check(path, PT_LOAD, PF_X, place);
        check(path, PT_LOAD, PF_R | PF_W, place);
        check(path, PT_LOAD, PF_R | PF_X, place);
        check(path, PT_NOTE, PF_X, place);
        check(path, PT_NULL, PF_X, place);
    }
    assert_int_equal(next_descriptor(), next);
    assert_int_equal(remove(path), 0);
}

void
names_check_other_files(const char *path)
{
    const Elf64_Phdr code[2] = {{.p_type = PT_LOAD,
                                 .p_flags = PF_X,
                                 .p_filesz = 0x4000,
                                 .p_memsz = 0x4000},
                                {.p_type = PT_NOTE}};
    const int input = dup(0);
    FILE *file;

    expect(path, 0, false); /* it is not there */
    expect("[vdso]", 0, false);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fputs("no code\n", file) >= 0, true);
    assert_int_equal(fclose(file), 0);
    expect(path, 0, false);
    write_file(path, code);
    expect(path, 0, true);
    close(0); /* the file's number is 0 */
    expect(path, 0, true);
    assert_true(input < 0 || (dup2(input, 0) == 0 && close(input) == 0));
    assert_int_equal(remove(path), 0);
}

void
names_check_again(void)
{
    const struct prof_mapping mapping = mapping_of("[heap]", 0);
    char want[32];

    for (uint32_t request = 0; request < 12; request++) {
        struct cli_names *names;

        refused_memory_at = request;
        names = cli_names_open(&mapping, 1);
        for (int again = 0; names != NULL && again < 3; again++) {
            for (uintptr_t i = 0; i < 70; i++) {
                const char *const found = name_at(names, PC + i);

                snprintf(want, sizeof want, "0x%x", (unsigned)(PC + i));
                if (found != NULL || again > 1)
                    assert_string_equal(found, want);
            }
        }
        assert_true(names != NULL || request > 0);
        assert_null(names != NULL ? name_at(names, 0) : NULL);
        refused_memory_at = 0;
        cli_names_close(names);
    }
    cli_names_close(NULL);
}

/* The number that the next file gets. */
static int
next_number(void)
{
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(file >= 0);
    close(file);
    return file;
}

/* in: path, of a file that is a program, or not. If the file's descriptor were
 * closed too soon, `other` would get its number, and be closed with the symbols
 */
static void
expect_closed_once(const char *path)
{
    const int next = next_number();
    struct cli_symbols *const symbols = cli_symbols_open(NULL);
    struct cli_symbol symbol;
    int other;

    assert_non_null(symbols);
    cli_symbols_add(symbols, path, 0, START, LIMIT, 0, NULL, 0);
    cli_symbols_added(symbols);
    cli_symbols_find(symbols, PC, &symbol);
    other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    cli_symbols_close(symbols);
    assert_int_not_equal(fcntl(other, F_GETFD), -1);
    close(other);
    assert_int_equal(next_number(), next);
}

void
names_check_descriptors(const char *path)
{
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    FILE *const file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    expect_closed_once(path);
    expect_closed_once("/proc/self/exe");
    close(STDIN_FILENO);
    assert_int_equal(cli_symbols_open_file(path), STDIN_FILENO);
    close(STDIN_FILENO);
    if (input >= 0)
        assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
    assert_int_equal(remove(path), 0);
}
