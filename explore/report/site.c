/*
 * site.c -- names for addresses, from the debug information of this process.
 *
 * Only reports use it, so it is simple rather than fast. It never prints a
 * number that depends on where code or data were loaded.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdwfl.h>

enum { TEXTS_MAX = 256, TEXT_BYTES = 160 };

static struct {
    uintptr_t site;
    char text[TEXT_BYTES];
} texts[TEXTS_MAX];
static uint32_t texts_count;

static Dwfl *
session(void)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    static Dwfl *dwfl;

    if (dwfl != NULL)
        return dwfl;
    dwfl = dwfl_begin(&callbacks);
    if (dwfl == NULL)
        return NULL;
    dwfl_report_begin(dwfl);
    if (dwfl_linux_proc_report(dwfl, getpid()) != 0 ||
        dwfl_report_end(dwfl, NULL, NULL) != 0) {
        dwfl_end(dwfl);
        dwfl = NULL;
    }
    return dwfl;
}

/* The path as the compiler was given it. */
static const char *
shorten(const char *path, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *folder =
        dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    const size_t length = folder != NULL ? strlen(folder) : 0;

    if (length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* A header of the compiler or of a library: not the reader's own code. */
static bool
in_system(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0;
}

/* Where the inlined code at `pc` was called from, outwards. */
static void
add_callers(char *text, Dwarf_Die *unit, Dwarf_Addr pc)
{
    Dwarf_Die *inner = NULL;
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files;
    size_t files_count;
    int count = dwarf_getscopes(unit, pc, &inner);

    if (count > 0)
        count = dwarf_getscopes_die(&inner[0], &scopes);
    if (count > 0 && dwarf_getsrcfiles(unit, &files, &files_count) == 0) {
        for (int i = 0; i < count; i++) {
            Dwarf_Attribute attribute;
            Dwarf_Word file;
            Dwarf_Word line;
            const char *path;
            const size_t used = strlen(text);

            if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine ||
                dwarf_formudata(
                    dwarf_attr(&scopes[i], DW_AT_call_file, &attribute),
                    &file) != 0 ||
                dwarf_formudata(
                    dwarf_attr(&scopes[i], DW_AT_call_line, &attribute),
                    &line) != 0)
                continue;
            path = dwarf_filesrc(files, file, NULL, NULL);
            if (path != NULL && in_system(text))
                text[0] = '\0'; /* frames so far are not the reader's code */
            if (path != NULL && text[0] == '\0')
                snprintf(text, TEXT_BYTES, "%s:%u", shorten(path, unit),
                         (unsigned)line);
            else if (path != NULL)
                snprintf(text + used, TEXT_BYTES - used, " < %s:%u",
                         shorten(path, unit), (unsigned)line);
        }
    }
    free(inner);
    free(scopes);
}

/* Find the unit with code at pc, without an address table, which clang does not
 * emit. */
static Dwarf_Die *
unit_of(Dwfl_Module *module, uintptr_t pc, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = NULL;

    do {
        unit = dwfl_module_nextcu(module, unit, bias);
    } while (unit != NULL && dwarf_haspc(unit, pc - *bias) <= 0);
    return unit;
}

static void
describe(char *text, uintptr_t pc)
{
    Dwfl *dwfl = session();
    Dwfl_Module *module = dwfl != NULL ? dwfl_addrmodule(dwfl, pc) : NULL;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = module != NULL ? unit_of(module, pc, &bias) : NULL;
    Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, pc - bias) : NULL;
    const char *path;
    int number = 0;

    if (line == NULL || dwarf_lineno(line, &number) != 0) {
        const char *name =
            module != NULL ? dwfl_module_addrname(module, pc) : NULL;

        if (name != NULL)
            snprintf(text, TEXT_BYTES, "a call of %s", name);
        return;
    }
    path = dwarf_linesrc(line, NULL, NULL);
    if (path == NULL)
        return;
    snprintf(text, TEXT_BYTES, "%s:%d", shorten(path, unit), number);
    add_callers(text, unit, pc - bias);
}

const char *
sim_site_text(uintptr_t site)
{
    uint32_t i;

    if (site == 0)
        return "an unknown place";
    for (i = 0; i < texts_count; i++) {
        if (texts[i].site == site)
            return texts[i].text;
    }
    if (texts_count == TEXTS_MAX)
        i = TEXTS_MAX - 1; /* the last one is overwritten */
    else
        texts_count++;
    texts[i].site = site;
    snprintf(texts[i].text, TEXT_BYTES, "an unknown place");
    describe(texts[i].text, site - 1); /* the call before the return */
    return texts[i].text;
}

bool
sim_site_address_text(char *text, size_t text_bytes, uintptr_t address)
{
    Dwfl *dwfl = session();
    Dwfl_Module *module = dwfl != NULL ? dwfl_addrmodule(dwfl, address) : NULL;
    const uintptr_t here = (uintptr_t)&sim_site_address_text;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name;

    /* Zero-initialised data lies beyond what is mapped from the file. */
    if (module == NULL && dwfl != NULL)
        module = dwfl_addrmodule(dwfl, here);
    if (module == NULL)
        return false;
    name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL,
                                NULL);
    if (name == NULL || offset >= symbol.st_size)
        return false;
    if (offset == 0)
        snprintf(text, text_bytes, "%s", name);
    else
        snprintf(text, text_bytes, "%s+%u", name, (unsigned)offset);
    return true;
}
