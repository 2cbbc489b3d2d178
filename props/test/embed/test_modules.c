/*
 * test_modules.c -- what the recorder logs about the modules of a stack. A stub
 * of _dl_find_object() finds modules made by hand.
 *
 * While the recorder holds its lock, it must call nothing that could take
 * another. It must not read a module's notes beyond readable memory.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder.h"
#include "unit_test.h"

enum {
    PAGE = 4096,
    MODULES = 3,
    RECORDS_MAX = 8,
    WORDS_MAX = 150,
    BIAS = 0x1000, /* address in memory minus address in the file */
    CODE = 0x300,
    NOTES_BYTES = 256
};

/* ---- the log ---- */

static struct {
    uint32_t words_count;
    uint64_t words[WORDS_MAX];
} records[RECORDS_MAX];

static size_t records_count, published, count_unlocked;
static bool is_locked, is_full;

static struct embed_state the_state;
struct embed_state *embed_state = &the_state;

void
embed_lock(void)
{
    assert_false(is_locked);
    assert_int_equal(the_state.module_count, count_unlocked);
    is_locked = true;
}

void
embed_unlock(void)
{
    assert_true(is_locked);
    is_locked = false;
    count_unlocked = the_state.module_count;
}

uint64_t *
embed_append_locked(enum embed_kind kind, uint32_t detail, uint32_t number,
                    uint32_t words_count)
{
    assert_true(is_locked);
    assert_int_equal(kind, EMBED_MODULE);
    assert_int_equal(detail, 0);
    assert_int_equal(number, 0);
    assert_in_range(words_count, 5, WORDS_MAX);
    if (is_full)
        return NULL;
    memset(records[records_count].words, 0xff, sizeof records[0].words);
    records[records_count].words_count = words_count;
    return records[records_count++].words;
}

void
embed_publish_locked(void)
{
    assert_true(is_locked);
    for (uint32_t i = 0; i < records[records_count - 1].words_count; i++)
        assert_int_not_equal(records[records_count - 1].words[i], UINT64_MAX);
    published++;
}

/* ---- modules ---- */

static unsigned char *images; /* MODULES pages, and one that is not readable */
static struct link_map maps[MODULES];
static const char *cwd, *own_path;

static unsigned char *
image_of(size_t i)
{
    return images + i * PAGE;
}

int __wrap__dl_find_object(void *place, struct dl_find_object *found);
int
__wrap__dl_find_object(void *place, struct dl_find_object *found)
{
    const size_t i = ((uintptr_t)place - (uintptr_t)images) / PAGE;

    assert_false(is_locked);
    if (i >= MODULES)
        return -1;
    found->dlfo_map_start = image_of(i);
    found->dlfo_map_end = image_of(i) + PAGE;
    found->dlfo_link_map = &maps[i];
    return 0;
}

ssize_t __wrap_readlink(const char *path, char *to, size_t room);
ssize_t
__wrap_readlink(const char *path, char *to, size_t room)
{
    assert_false(is_locked);
    assert_string_equal(path, "/proc/self/exe");
    assert_int_equal(room, EMBED_PATH_BYTES);
    if (own_path == NULL)
        return -1;
    memcpy(to, own_path, strlen(own_path)); /* the final NUL is missing */
    return (ssize_t)strlen(own_path);
}

char *__wrap_getcwd(char *to, size_t room);
char *
__wrap_getcwd(char *to, size_t room)
{
    assert_false(is_locked);
    assert_int_equal(room, EMBED_PATH_BYTES - 1);
    return cwd != NULL && strlen(cwd) < room ? strcpy(to, cwd) : NULL;
}

static ElfW(Phdr) * segment(size_t module, size_t i)
{
    return (ElfW(Phdr) *)(void *)(image_of(module) + 64) + i;
}

/* Make a module: headers, data, code, notes, and more code. In one module, as
 * in the vDSO, code comes first. */
static void
make_module(size_t module, const char *name)
{
    ElfW(Ehdr) head = {.e_phoff = 64, .e_phnum = 5};
    const size_t code = module == 1 ? 0 : 2;

    memset(image_of(module), 0, PAGE);
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(image_of(module), &head, sizeof head);
    *segment(module, 2 - code) =
        (ElfW(Phdr)){.p_type = PT_PHDR, .p_flags = PF_X};
    *segment(module, 1) = (ElfW(Phdr)){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = BIAS};
    *segment(module, code) = (ElfW(Phdr)){.p_type = PT_LOAD,
                                          .p_flags = PF_R | PF_X,
                                          .p_vaddr = BIAS + CODE,
                                          .p_filesz = 0x10,
                                          .p_memsz = 0x20,
                                          .p_offset = UINT64_C(0x123456789)};
    *segment(module, 3) = (ElfW(Phdr)){.p_type = PT_NOTE};
    *segment(module, 4) = (ElfW(Phdr)){.p_type = PT_LOAD,
                                       .p_flags = PF_X,
                                       .p_vaddr = BIAS + 2 * CODE,
                                       .p_memsz = 0x40,
                                       .p_offset = 0x777};
    *segment(module, 5) = *segment(module, 4); /* behind the last */
    maps[module].l_addr = (uintptr_t)image_of(module) - BIAS;
    maps[module].l_name = (char *)(uintptr_t)name;
}

/* Put notes at the end of the module's page. in: i, the notes' segment */
static void
give_notes(size_t module, size_t i, const void *notes, size_t bytes)
{
    unsigned char *const at = image_of(module) + PAGE - bytes;

    memcpy(at, notes, bytes);
    *segment(module, i) =
        (ElfW(Phdr)){.p_type = PT_NOTE,
                     .p_vaddr = (uintptr_t)at - maps[module].l_addr,
                     .p_memsz = bytes};
}

/* ---- stacks ---- */

static struct {
    struct embed_stack stack;
    unsigned char guard[64];
} the_stack;

/* Log a stack. in: count, its frames; modules, that of each frame */
static void
note_modules(size_t count, const size_t *modules)
{
    the_stack.stack.depth = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        the_stack.stack.pcs[i] = (uintptr_t)image_of(modules[i]) + PAGE;
    records_count = published = 0;
    count_unlocked = the_state.module_count;
    embed_modules_note(&the_stack.stack);
    assert_int_equal(the_state.module_count, count_unlocked);
    for (size_t i = 0; i < sizeof the_stack.guard; i++)
        assert_int_equal(the_stack.guard[i], 0);
}

static void
note_module(size_t module)
{
    note_modules(1, &module);
}

static int
set_out(void **state)
{
    (void)state;
    the_state.module_count = 0;
    is_full = false;
    cwd = "/w";
    own_path = "/bin/own";
    make_module(0, "/lib/x.so");
    make_module(1, "/lib/y.so");
    make_module(2, "/lib/z.so");
    return 0;
}

static void
expect_path(size_t record, const char *want, size_t bytes)
{
    const uint64_t *const words = records[record].words;
    const size_t id_bytes = words[4] & UINT32_MAX;

    assert_int_equal(words[4] >> 32, bytes);
    assert_int_equal(records[record].words_count,
                     5 + (id_bytes + bytes + 7) / 8);
    assert_memory_equal((const char *)&words[5] + id_bytes, want, bytes);
    for (size_t i = id_bytes + bytes; i % 8 != 0; i++) /* padding */
        assert_int_equal(((const char *)&words[5])[i], 0);
}

TEST_WITH(set_out, NULL, each_piece_of_code_is_logged)
{
    const uintptr_t image = (uintptr_t)image_of(0);

    note_module(0);
    assert_int_equal(records_count, 2);
    assert_int_equal(published, 2);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t *const words = records[i].words;

        assert_int_equal(words[0], image - BIAS);
        assert_int_equal(words[1], image + (i + 1) * CODE);
        assert_int_equal(words[2], words[1] + (i == 0 ? 0x20 : 0x40));
        assert_int_equal(words[3], i == 0 ? UINT64_C(0x123456789) : 0x777);
        expect_path(i, "/lib/x.so", 9);
    }
}

TEST_WITH(set_out, NULL, a_module_is_logged_once_in_an_epoch)
{
    static const size_t mixed[] = {0, 1, 0, 0, 1, 2, 0};

    note_modules(7, mixed);
    assert_int_equal(records_count, 6);
    assert_int_equal(records[2].words[0], maps[1].l_addr);
    note_modules(7, mixed);
    assert_int_equal(records_count, 0);
    assert_int_equal(the_state.module_count, 3);
    maps[0].l_name = (char *)(uintptr_t) "/lib/x.os"; /* another module */
    note_module(0);
    assert_int_equal(records_count, 2);
    maps[0].l_addr += PAGE;
    note_module(0);
    assert_int_equal(records_count, 2);
    the_state.module_count = 0;
    note_modules(2, mixed);
    assert_int_equal(records_count, 4);
}

TEST_WITH(set_out, NULL, more_modules_than_are_known_are_logged)
{
    memset(the_state.modules, 0, sizeof the_state.modules);
    the_state.module_count = EMBED_MODULES - 1;
    note_module(0);
    note_module(0);
    assert_int_equal(records_count, 0);
    assert_int_equal(the_state.module_count, EMBED_MODULES);
    for (int i = 0; i < 2; i++) {
        note_module(1);
        assert_int_equal(records_count, 2);
    }
    assert_int_equal(the_state.module_count, EMBED_MODULES);
    assert_int_equal(the_state.waiters[0].lock, 0); /* what is behind */
}

TEST_WITH(set_out, NULL, what_is_no_module_is_passed_over)
{
    static const size_t beyond[] = {MODULES, 1, 0};

    note_module(2); /* leaves something on the stack */
    the_state.module_count = 0;
    image_of(1)[3] = 'f';
    note_modules(3, beyond);
    assert_int_equal(records_count, 2);
    assert_int_equal(records[0].words[0], maps[0].l_addr);
}

TEST_WITH(set_out, NULL, a_full_log_gets_none)
{
    is_full = true;
    note_module(0);
    assert_int_equal(records_count, 0);
    assert_int_equal(published, 0);
}

/* ---- names ---- */

TEST_WITH(set_out, NULL, a_name_leads_to_a_file)
{
    static const struct {
        const char *name, *cwd, *own, *want;
    } rows[] = {{"/lib/a.so", NULL, NULL, "/lib/a.so"},
                {"", "/w", "/bin/me", "/bin/me"},
                {NULL, "/w", "/bin/me", "/bin/me"},
                {"", "/w", NULL, ""},
                {"", "/w", "", ""},
                {"", "/w", "x", "x"},
                {"a/b.so", "/w", NULL, "/w/a/b.so"},
                {"./b.so", "/w", NULL, "/w/./b.so"},
                {"a/b.so", NULL, NULL, "a/b.so"},
                {"linux-vdso.so.1", "/w", NULL, "linux-vdso.so.1"},
                {"/lib/eight.b.so", NULL, NULL, "/lib/eight.b.so"},
                {"/lib/sixteen.so.", NULL, NULL, "/lib/sixteen.so."}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        maps[0].l_name = (char *)(uintptr_t)rows[i].name;
        cwd = rows[i].cwd;
        own_path = rows[i].own;
        note_module(0);
        assert_int_equal(records_count, 2);
        expect_path(0, rows[i].want, strlen(rows[i].want));
        expect_path(1, rows[i].want, strlen(rows[i].want));
    }
}

TEST_WITH(set_out, NULL, a_long_name_is_cut)
{
    static char name[1500], folder[1100], want[2700];
    static const struct {
        size_t name, folder;
    } rows[] = {{1023, 0}, {1024, 0},   {1025, 0},   {1400, 0},
                {30, 992}, {31, 992},   {32, 992},   {100, 1022},
                {3, 1022}, {1400, 500}, {100, 1023}, {100, 1024}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool fits = rows[i].folder != 0 && rows[i].folder < 1023;
        size_t bytes;

        set_out(state);
        memset(name, 'n', rows[i].name);
        name[rows[i].name] = '\0';
        name[rows[i].name / 2] = '/';
        name[0] = rows[i].folder == 0 ? '/' : 'n';
        memset(folder, 'f', rows[i].folder);
        folder[rows[i].folder] = '\0';
        maps[0].l_name = name;
        cwd = folder;
        bytes = (size_t)snprintf(want, sizeof want, "%s%s%s",
                                 fits ? folder : "", fits ? "/" : "", name);
        if (bytes > EMBED_PATH_BYTES)
            bytes = EMBED_PATH_BYTES;
        note_module(0);
        expect_path(0, want, bytes);
    }
}

/* ---- build ids ---- */

struct notes {
    unsigned char bytes[NOTES_BYTES];
    size_t count;
};

static void
add_note(struct notes *notes, const char *name, uint32_t name_bytes,
         uint32_t type, uint32_t id_bytes)
{
    const ElfW(Nhdr) head = {name_bytes, id_bytes, type};
    unsigned char *at = notes->bytes + notes->count;

    memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (name_bytes <= 16) {
        memcpy(at, name, name_bytes);
        at += (name_bytes + 3) / 4 * 4;
    }
    for (uint32_t i = 0; i < id_bytes && id_bytes <= 100; i++)
        at[i] = (unsigned char)(i + id_bytes + 1);
    if (id_bytes <= 100)
        at += (id_bytes + 3) / 4 * 4;
    notes->count = (size_t)(at - notes->bytes);
}

/* in: want, bytes of the build id that is logged; the path follows it */
static void
expect_id(const struct notes *notes, uint32_t want)
{
    const uint8_t *id;

    set_out(NULL);
    give_notes(2, 3, notes->bytes, notes->count);
    note_module(2);
    assert_int_equal(records_count, 2);
    assert_int_equal(records[0].words[4] & UINT32_MAX, want);
    id = (const uint8_t *)&records[0].words[5];
    for (uint32_t i = 0; i < want; i++)
        assert_int_equal(id[i], i + want + 1);
    expect_path(0, "/lib/z.so", 9);
}

static void
expect_id_behind(const char *name, uint32_t name_bytes, uint32_t type,
                 uint32_t id_bytes, uint32_t want)
{
    struct notes notes = {.count = 0};

    add_note(&notes, name, name_bytes, type, id_bytes);
    add_note(&notes, "GNU", 4, NT_GNU_BUILD_ID, 20);
    expect_id(&notes, want);
}

TEST(an_id_is_found_behind_other_notes)
{
    struct notes notes = {.count = 0};

    expect_id(&notes, 0);
    add_note(&notes, "GNU", 4, NT_GNU_BUILD_ID, 20);
    expect_id(&notes, 20);
    expect_id_behind("GNU", 4, NT_GNU_BUILD_ID, 8, 8); /* the first note */
    expect_id_behind("GNU", 4, NT_GNU_ABI_TAG, 16, 20);
    expect_id_behind("GNU", 4, NT_GNU_ABI_TAG, 13, 20);
    expect_id_behind("XYZ", 4, NT_GNU_BUILD_ID, 16, 20);
    expect_id_behind("GNUx", 5, NT_GNU_BUILD_ID, 16, 20);
    expect_id_behind("GN", 3, NT_GNU_BUILD_ID, 16, 20);
    expect_id_behind("", 0, NT_GNU_BUILD_ID, 0, 20);
    expect_id_behind("GNU", 4, NT_GNU_BUILD_ID, 64, 64);
    expect_id_behind("GNU", 4, NT_GNU_BUILD_ID, 65, 20);
    /* Notes whose sizes are all wrong. */
    expect_id_behind("GNU", UINT32_MAX - 1, NT_GNU_BUILD_ID, 4, 0);
    expect_id_behind("GNU", 4, NT_GNU_BUILD_ID, UINT32_MAX - 1, 0);
}

TEST(notes_are_read_to_their_end)
{
    struct notes notes = {.count = 0};

    add_note(&notes, "GNU", 4, NT_GNU_BUILD_ID, 20);
    assert_int_equal(notes.count, 36);
    for (notes.count = 0; notes.count < 36; notes.count++)
        expect_id(&notes, 0);
    notes.count = 0;
    add_note(&notes, "GNU", 4, NT_GNU_ABI_TAG, 16);
    for (size_t end = notes.count + 12; notes.count <= end; notes.count++)
        expect_id(&notes, 0);
}

TEST_WITH(set_out, NULL, an_id_may_be_in_another_segment)
{
    struct notes notes = {.count = 0};

    give_notes(0, 0, &notes, 0);
    add_note(&notes, "GNU", 4, NT_GNU_BUILD_ID, 8);
    give_notes(0, 3, notes.bytes, notes.count);
    segment(0, 2)->p_type = PT_GNU_STACK;
    note_module(0);
    assert_int_equal(records_count, 1);
    assert_int_equal(records[0].words[4] & UINT32_MAX, 8);
    /* If two segments have notes, the first counts. */
    set_out(state);
    give_notes(0, 3, notes.bytes, notes.count);
    *segment(0, 1) = *segment(0, 3);
    segment(0, 3)->p_memsz = 0;
    note_module(0);
    assert_int_equal(records[0].words[4] & UINT32_MAX, 8);
}

static int
begin(void **state)
{
    (void)state;
    images = mmap(NULL, (MODULES + 1) * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return images == MAP_FAILED ||
           mprotect(image_of(MODULES), PAGE, PROT_NONE) != 0;
}

int
main(void)
{
    return tests_run(begin, NULL);
}
