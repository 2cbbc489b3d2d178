/*
 * symbols.c -- names for program counters: symbol tables, .dynsym, DWARF lines.
 *
 * A symbol counts only if it covers the pc. The nearest exported symbol before
 * a stripped static function is a wrong name, and a wrong name is worse than
 * `module+0xoffset`.
 */
#include "symbols.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug_info.h"
#include "eh_table.h"
#include "items.h"
#include "symbol_cache.h"
#include "symbol_table.h"

struct mapping {
    uint64_t start;
    uint64_t limit;
    uint64_t offset;
    uint64_t bias;
    uint32_t file; /* of the cache; 0: none */
    char *path;
};

/* The tables of a file, read at its first look-up. */
struct tables {
    struct cli_symbol_table symbols;
    struct cli_eh_table unwind;
    struct cli_debug_info *debug_info;
};

struct cli_symbols {
    struct cli_symbol_cache *cache;
    Dwfl *dwfl;
    struct cli_items mappings; /* struct mapping */
    char text[4400];
};

/* Find separate debug information on this machine only: no debuginfod. */
static int
find_debuginfo(Dwfl_Module *module, void **data, const char *name,
               Dwarf_Addr base, const char *file, const char *link,
               GElf_Word crc, char **found)
{
    int by_id = dwfl_build_id_find_debuginfo(module, data, name, base, file,
                                             link, crc, found);

    if (by_id >= 0)
        return by_id;
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link,
                                        crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
};

int
cli_symbols_open_file(const char *path)
{
    struct stat status;
    int file;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

struct cli_symbols *
cli_symbols_open(struct cli_symbol_cache *cache)
{
    struct cli_symbols *symbols = calloc(1, sizeof *symbols);

    unsetenv("DEBUGINFOD_URLS");
    if (symbols == NULL)
        return NULL;
    symbols->cache = cache;
    symbols->dwfl = dwfl_begin(&callbacks);
    if (symbols->dwfl == NULL) {
        free(symbols);
        return NULL;
    }
    dwfl_report_begin(symbols->dwfl);
    return symbols;
}

static int
free_tables(Dwfl_Module *module, void **known, const char *name,
            Dwarf_Addr start, void *unused)
{
    struct tables *tables = *known;

    (void)module;
    (void)name;
    (void)start;
    (void)unused;
    if (tables != NULL) {
        cli_symbol_table_release(&tables->symbols);
        cli_debug_info_close(tables->debug_info);
    }
    free(tables);
    *known = NULL;
    return DWARF_CB_OK;
}

/* returns: NULL if there is no memory */
static struct tables *
tables_of(Dwfl_Module *module)
{
    struct tables *tables;
    GElf_Addr bias = 0;
    void **known = NULL;

    dwfl_module_info(module, &known, NULL, NULL, NULL, NULL, NULL, NULL);
    if (known == NULL || *known != NULL)
        return known != NULL ? *known : NULL;
    tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return NULL;
    *known = tables;
    cli_symbol_table_fill(&tables->symbols, module);
    cli_eh_table_find(&tables->unwind, dwfl_module_getelf(module, &bias));
    tables->debug_info = cli_debug_info_open(module);
    return tables;
}

void
cli_symbols_close(struct cli_symbols *symbols)
{
    struct mapping *mappings;

    if (symbols == NULL)
        return;
    mappings = symbols->mappings.items;
    for (size_t i = 0; i < symbols->mappings.count; i++)
        free(mappings[i].path);
    free(mappings);
    dwfl_getmodules(symbols->dwfl, free_tables, NULL, 0);
    dwfl_end(symbols->dwfl);
    free(symbols);
}

static bool
has_id(Dwfl_Module *module, const uint8_t *id, uint32_t id_bytes)
{
    const unsigned char *found = NULL;
    GElf_Addr place;
    GElf_Addr bias;
    int found_bytes;

    if (id_bytes == 0)
        return true;
    if (dwfl_module_getelf(module, &bias) == NULL)
        return false;
    found_bytes = dwfl_module_build_id(module, &found, &place);
    return found_bytes == (int)id_bytes && memcmp(found, id, id_bytes) == 0;
}

static Dwfl_Module *
report(Dwfl *dwfl, const char *path, uint64_t bias)
{
    const int file = cli_symbols_open_file(path);
    Dwfl_Module *module = NULL;

    if (file >= 0)
        module = dwfl_report_elf(dwfl, path, path, file, bias, true);
    if (file >= 0 && module == NULL)
        close(file); /* else it is the module's */
    return module;
}

static int
id_of_file(const char *path, Dwfl *scratch, const uint8_t *id,
           uint32_t id_bytes)
{
    Dwfl_Module *module;
    bool same;

    dwfl_report_begin(scratch);
    module = report(scratch, path, 0);
    same = module != NULL && has_id(module, id, id_bytes);
    dwfl_report_end(scratch, NULL, NULL);
    return same;
}

/* Is this the file that was mapped? If it was replaced since, its names belong
 * to other code. */
static bool
is_same_file(const char *path, const uint8_t *id, uint32_t id_bytes)
{
    Dwfl *scratch;
    bool same;

    if (access(path, R_OK) != 0)
        return false;
    if (id_bytes == 0)
        return true;
    scratch = dwfl_begin(&callbacks);
    if (scratch == NULL)
        return false;
    same = id_of_file(path, scratch, id, id_bytes);
    dwfl_end(scratch);
    return same;
}

/* Is this the first mapping of its file at its place? in: the last mapping */
static bool
is_first_segment(const struct cli_symbols *symbols, const struct mapping *last)
{
    const struct mapping *other = symbols->mappings.items;

    while (other->bias != last->bias || strcmp(other->path, last->path) != 0)
        other++;
    return other == last;
}

void
cli_symbols_add(struct cli_symbols *symbols, const char *path, uint64_t bias,
                uint64_t start, uint64_t limit, uint64_t offset,
                const uint8_t *id, uint32_t id_bytes)
{
    char *const copy = strdup(path);
    struct mapping *mapping =
        copy != NULL ? cli_items_add(&symbols->mappings, sizeof *mapping)
                     : NULL;

    if (mapping == NULL) {
        free(copy);
        return;
    }
    *mapping = (struct mapping){
        .start = start,
        .limit = limit,
        .offset = offset,
        .bias = bias,
        .file = cli_symbol_cache_file(symbols->cache, path, id, id_bytes),
        .path = copy,
    };
    if (is_first_segment(symbols, mapping) && is_same_file(path, id, id_bytes))
        (void)report(symbols->dwfl, path, bias);
}

void
cli_symbols_added(struct cli_symbols *symbols)
{
    dwfl_report_end(symbols->dwfl, NULL, NULL);
}

/* returns: the first byte of the function that a call returns to, according to
 * unwind tables; else pc */
static uint64_t
function_start(Dwfl_Module *module, uint64_t pc)
{
    const struct tables *tables = tables_of(module);
    GElf_Addr bias = 0;
    uint64_t start;

    if (tables == NULL || dwfl_module_getelf(module, &bias) == NULL ||
        !cli_eh_table_start(&tables->unwind, pc - 1 - bias, &start))
        return pc;
    return start + bias;
}

/* returns: the last mapping at pc, which has replaced earlier ones; NULL if
 *          there is none */
static const struct mapping *
mapping_of(const struct cli_symbols *symbols, uint64_t pc)
{
    const struct mapping *const mappings = symbols->mappings.items;
    size_t i = symbols->mappings.count;

    while (i > 0 &&
           (pc - 1 < mappings[i - 1].start || pc - 1 >= mappings[i - 1].limit))
        i--;
    return i > 0 ? &mappings[i - 1] : NULL;
}

static void
name_by_place(struct cli_symbols *symbols, Dwfl_Module *module, uint64_t pc,
              struct cli_symbol *symbol)
{
    const struct mapping *const mapping = mapping_of(symbols, pc);
    const char *name;
    uint64_t start;

    symbol->function = symbols->text;
    if (mapping == NULL) {
        snprintf(symbols->text, sizeof symbols->text, "0x%llx",
                 (unsigned long long)pc);
        return;
    }
    start = module != NULL ? function_start(module, pc) : pc;
    if (start < mapping->start || start > pc)
        start = pc;
    symbol->function_offset = pc - start;
    name = strrchr(mapping->path, '/');
    name = name != NULL ? name + 1 : mapping->path;
    snprintf(symbols->text, sizeof symbols->text, "%s+0x%llx", name,
             (unsigned long long)(start - mapping->start + mapping->offset));
}

/* Name the function that contains the pc, not one that was inlined into it. */
static void
name_function(struct cli_symbols *symbols, Dwfl_Module *module, uint64_t pc,
              struct cli_symbol *symbol)
{
    const struct tables *tables = module != NULL ? tables_of(module) : NULL;
    const struct cli_table_symbol *found =
        tables != NULL ? cli_symbol_table_find(&tables->symbols, pc - 1) : NULL;

    if (found == NULL) {
        name_by_place(symbols, module, pc, symbol);
        return;
    }
    /* Leave out the version of `name@@VERSION`. */
    snprintf(symbols->text, sizeof symbols->text, "%.*s",
             (int)strcspn(found->name, "@"), found->name);
    symbol->function = symbols->text;
    symbol->function_offset = pc - found->start;
}

/* The pc's line belongs to the innermost function; each outer function has the
 * line of its call. */
static uint32_t
look_up(struct cli_symbols *symbols, uint64_t pc, struct cli_symbol *found)
{
    Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, pc - 1);
    const struct tables *tables = module != NULL ? tables_of(module) : NULL;
    struct cli_inline inlined[CLI_INLINES_MAX];
    struct cli_line line = {.file = ""};
    uint32_t count = 0;

    if (tables != NULL && tables->debug_info != NULL)
        count = cli_debug_info_find(tables->debug_info, pc - 1, &line, inlined);
    for (uint32_t i = 0; i <= count; i++) {
        found[i] = (struct cli_symbol){.file = line.file, .line = line.line};
        if (i == count)
            break;
        found[i].function = inlined[i].function;
        line = inlined[i].call;
    }
    name_function(symbols, module, pc, &found[count]);
    return count + 1;
}

uint32_t
cli_symbols_find_all(struct cli_symbols *symbols, uint64_t pc,
                     struct cli_symbol *found)
{
    const struct mapping *const mapping = mapping_of(symbols, pc);
    const uint32_t file = mapping != NULL ? mapping->file : 0;
    const uint64_t offset = mapping != NULL ? pc - mapping->bias : 0;
    uint32_t count = cli_symbol_cache_get(symbols->cache, file, offset, found);

    if (count > 0)
        return count;
    count = look_up(symbols, pc, found);
    cli_symbol_cache_put(symbols->cache, file, offset, found, count);
    return count;
}

void
cli_symbols_find(struct cli_symbols *symbols, uint64_t pc,
                 struct cli_symbol *symbol)
{
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t count = cli_symbols_find_all(symbols, pc, found);

    /* Only the outermost function, and its line. */
    *symbol = found[count - 1];
}
