/* preloaded_program.c -- see preloaded_program.h. */
#include "common/command/preloaded_program.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

static void
find(char path[PATH_MAX], const char *name)
{
    const char *folders = getenv("PATH");
    int bytes = 0;

    snprintf(path, PATH_MAX, "%s", name);
    if (strchr(name, '/') != NULL)
        return;
    if (folders == NULL)
        folders = "/bin:/usr/bin";
    for (;; folders += bytes + 1) {
        bytes = (int)strcspn(folders, ":");
        snprintf(path, PATH_MAX, "%.*s%s%s", bytes, folders,
                 bytes > 0 ? "/" : "", name);
        if (is_program(path))
            return;
        if (folders[bytes] == '\0')
            break;
    }
    path[0] = '\0';
}

/* Follow the first line of a script, once. returns: a descriptor, -1: none */
static int
open_program(struct cli_program *program)
{
    char line[256] = "";
    int file = open(program->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *word;

    if (file < 0 || pread(file, line, sizeof line - 1, 0) < 2 ||
        memcmp(line, "#!", 2) != 0)
        return file;
    close(file);
    word = line + 2 + strspn(line + 2, " \t");
    snprintf(program->path, PATH_MAX, "%.*s", (int)strcspn(word, " \t\n"),
             word);
    return open(program->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static void
read_loader(char *loader, Elf *elf)
{
    size_t count = 0;
    size_t bytes = 0;
    const char *const file = elf_rawfile(elf, &bytes);
    GElf_Phdr segment;

    if (file == NULL || elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &segment) != NULL &&
            segment.p_type == PT_INTERP && segment.p_offset < bytes &&
            segment.p_filesz <= bytes - segment.p_offset)
            snprintf(loader, PATH_MAX, "%.*s", (int)segment.p_filesz,
                     file + segment.p_offset);
}

static bool
needs(Elf *elf, const char *library)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Dyn row;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *const data = elf_getdata(section, NULL);

        if (gelf_getshdr(section, &header) == NULL || data == NULL ||
            header.sh_type != SHT_DYNAMIC)
            continue;
        for (int i = 0; gelf_getdyn(data, i, &row) != NULL; i++) {
            const char *const name =
                row.d_tag == DT_NEEDED
                    ? elf_strptr(elf, header.sh_link, row.d_un.d_val)
                    : NULL;

            if (name != NULL && strncmp(name, library, strlen(library)) == 0)
                return true;
        }
    }
    return false;
}

static const char *
name_in(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void
look(struct cli_program *program)
{
    const int file = open_program(program);
    Elf *const elf = file >= 0 ? elf_begin(file, ELF_C_READ_MMAP, NULL) : NULL;

    if (elf != NULL) {
        read_loader(program->loader, elf);
        program->has_asan = needs(elf, "libasan.so");
    }
    elf_end(elf);
    if (file >= 0)
        close(file);
}

/* A loader of the same name is of the same C library and processor: it may lie
 * elsewhere. */
void
cli_program_look(struct cli_program *program, const char *name)
{
    struct cli_program own = {.path = "/proc/self/exe"};

    *program = (struct cli_program){.is_foreign = false};
    find(program->found, name);
    strcpy(program->path, program->found);
    if (elf_version(EV_CURRENT) == EV_NONE || program->path[0] == '\0')
        return;
    look(program);
    look(&own);
    program->is_foreign =
        program->loader[0] != '\0' && own.loader[0] != '\0' &&
        strcmp(name_in(program->loader), name_in(own.loader)) != 0;
}
