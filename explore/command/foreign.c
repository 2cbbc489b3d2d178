/* foreign.c -- see foreign.h. */
#include "explore/command/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "common/command/complaint.h"
#include "common/demangle.h"

enum { SHOWN_MAX = 20 };

struct names {
    char **list;
    uint32_t count;
};

static const struct {
    const char *name;
    bool is_prefix;
} allowed[] = {
#define NAME(name)   {#name, false},
#define PREFIX(name) {#name, true},
#include "explore/command/foreign.def"
#undef NAME
#undef PREFIX
};

/* ---- Sets of names ---- */

static void
add(struct names *names, const char *name)
{
    names->list = cli_need(
        realloc(names->list, (names->count + 1) * sizeof *names->list));
    names->list[names->count++] = cli_need(strdup(name));
}

static int
compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
sort(struct names *names)
{
    if (names->count > 0)
        qsort(names->list, names->count, sizeof *names->list, compare);
}

static bool
has(const struct names *names, char *name)
{
    return names->count > 0 && bsearch(&name, names->list, names->count,
                                       sizeof *names->list, compare) != NULL;
}

static bool
is_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        const char *entry = allowed[i].name;

        if (allowed[i].is_prefix ? strncmp(name, entry, strlen(entry)) == 0
                                 : strcmp(name, entry) == 0)
            return true;
    }
    return false;
}

/* ---- Files ---- */

static void
read_symbols(Elf *elf, struct names *needed, struct names *had)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *data = gelf_getshdr(section, &header) != NULL
                             ? elf_getdata(section, NULL)
                             : NULL;
        GElf_Sym symbol;

        /* None is found in a section that is not of symbols. */
        for (int i = 1; gelf_getsym(data, i, &symbol) != NULL; i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

            if (name == NULL || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
                continue;
            add(symbol.st_shndx == SHN_UNDEF ? needed : had, name);
        }
    }
}

static bool
read_object(const char *path, struct names *needed, struct names *had)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    const bool ok = elf_kind(elf) == ELF_K_ELF;

    if (ok)
        read_symbols(elf, needed, had);
    else
        cli_complain("%s: not an object file", path);
    elf_end(elf);
    close(file);
    return ok;
}

static bool
read_archive(const char *path, struct names *had)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    size_t count = 0;
    const Elf_Arsym *symbols = elf != NULL ? elf_getarsym(elf, &count) : NULL;

    for (size_t i = 0; symbols != NULL && i < count; i++) {
        if (symbols[i].as_name != NULL)
            add(had, symbols[i].as_name);
    }
    if (symbols == NULL)
        cli_complain("%s: not an archive", path);
    elf_end(elf);
    close(file);
    return symbols != NULL;
}

/* ---- The check ---- */

static bool
report(struct names *needed, const struct names *had)
{
    const char *last = ""; /* a name without letters is none */
    uint32_t found = 0;

    for (uint32_t i = 0; i < needed->count; i++) {
        char *name = needed->list[i];
        char *text;

        if (strcmp(name, last) == 0 || has(had, name) || is_allowed(name))
            continue;
        last = name;
        if (++found > SHOWN_MAX)
            continue;
        text = cli_demangle(name);
        cli_complain("the program calls %s, which is not instrumented: what "
                     "it touches would not be seen",
                     text != NULL ? text : name);
        free(text);
    }
    if (found > SHOWN_MAX)
        cli_complain("... and %u more", (unsigned)(found - SHOWN_MAX));
    return found == 0;
}

bool
cli_foreign_check(char *const *objects, uint32_t count, const char *archive)
{
    static struct names needed;
    static struct names had;
    bool ok = true;

    (void)elf_version(EV_CURRENT);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = read_object(objects[i], &needed, &had);
    ok = ok && read_archive(archive, &had);
    sort(&needed);
    sort(&had);
    return ok && report(&needed, &had);
}
