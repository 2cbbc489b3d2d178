/*
 * names.c -- names for the addresses of this process itself, by libdw.
 *
 * Each address is looked up once. The texts are kept, because the writer of a
 * profile uses them until its end.
 */
#include "record/symbols/names.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "record/convert/items.h"
#include "record/symbols/map.h"
#include "record/command/symbol_file.h"
#include "record/symbols/symbols.h"

struct name {
    struct prof_symbol symbol;
    char *function;
};

struct cli_names {
    struct cli_symbols *symbols;
    struct cli_map numbers; /* address -> number in names */
    struct cli_items names; /* struct name */
};

/* ---- mappings ---- */

/* Find what was added to the addresses of a mapped segment. */
static bool
bias_of_segment(Elf *elf, const struct prof_mapping *mapping, uint64_t *bias)
{
    size_t count;

    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) == NULL ||
            header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 ||
            mapping->offset + 4096 <= header.p_offset ||
            mapping->offset >= header.p_offset + header.p_filesz)
            continue;
        *bias = mapping->start - mapping->offset -
                (header.p_vaddr - header.p_offset);
        return true;
    }
    return false;
}

static bool
find_bias(const struct prof_mapping *mapping, uint64_t *bias)
{
    const int descriptor = cli_symbol_file_open(mapping->file);
    Elf *elf;
    bool found;

    if (descriptor < 0)
        return false;
    elf_version(EV_CURRENT);
    elf = elf_begin(descriptor, ELF_C_READ, NULL);
    found = bias_of_segment(elf, mapping, bias);
    elf_end(elf);
    close(descriptor);
    return found;
}

static int
digit_of(char digit)
{
    const char *const digits = "0123456789abcdef";
    const char *const at = digit != '\0' ? strchr(digits, digit) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Profiles have only UTF-8: of a path that is not, other bytes are written as
 * \xff. returns: the path of the file, to be freed */
static char *
path_intended(const char *shown)
{
    char *const path = cli_need(strdup(shown));
    const char *from = path;
    char *to = path;

    if (access(shown, F_OK) == 0)
        return path;
    while (*from != '\0') {
        const bool is_escape = from[0] == '\\' && from[1] == 'x' &&
                               digit_of(from[2]) >= 8 && digit_of(from[3]) >= 0;

        *to++ = is_escape ? (char)(digit_of(from[2]) << 4 | digit_of(from[3]))
                          : *from;
        from += is_escape ? 4 : 1;
    }
    *to = '\0';
    return path;
}

struct cli_names *
cli_names_open(const struct prof_mapping *mappings, size_t mappings_count)
{
    struct cli_names *const names = cli_need(calloc(1, sizeof *names));

    names->symbols = cli_symbols_open(NULL);
    for (size_t i = 0; i < mappings_count; i++) {
        struct prof_mapping mapping = mappings[i];
        char *const path = path_intended(mapping.file);
        uint64_t bias;

        mapping.file = path;
        /* [vdso] and the like have no file. */
        if (path[0] == '/' && find_bias(&mapping, &bias))
            cli_symbols_add(names->symbols, path, bias, mapping.start,
                            mapping.limit, mapping.offset, NULL, 0);
        free(path);
    }
    return names;
}

void
cli_names_close(struct cli_names *names)
{
    struct name *const all = names->names.items;

    for (size_t i = 0; i < names->names.count; i++)
        free(all[i].function);
    free(all);
    cli_map_release(&names->numbers);
    cli_symbols_close(names->symbols);
    free(names);
}

/* ---- looking ---- */

static void
look_up(struct cli_names *names, uintptr_t pc, struct name *name)
{
    struct cli_symbol found;

    cli_symbols_find(names->symbols, pc, &found);
    name->function = cli_need(strdup(found.function));
    name->symbol = (struct prof_symbol){
        .function = name->function,
        .file = found.file,
        .line = found.line,
        .entry = found.function_offset != 0 ? pc - found.function_offset : 0,
    };
}

static void
find_name(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    struct cli_names *names = context;
    uint64_t number = cli_map_get(&names->numbers, pc);

    if (pc == 0)
        return;
    if (number == CLI_MAP_NONE) {
        number = names->names.count;
        look_up(names, pc, cli_items_add(&names->names, sizeof(struct name)));
        cli_map_put(&names->numbers, pc, number);
    }
    *symbol = ((const struct name *)names->names.items)[number].symbol;
}

struct prof_symbols
cli_names_symbols(struct cli_names *names)
{
    return (struct prof_symbols){.find = find_name, .context = names};
}
