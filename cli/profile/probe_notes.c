/*
 * probe_notes.c -- see probe_notes.h.
 *
 * A note is three addresses (the nop, where .stapsdt.base was when it was
 * written, the semaphore) and three texts. The file may have been moved as a
 * whole since (prelink): then .stapsdt.base has moved, too.
 */
#include "probe_notes.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_TYPE = 3, ADDRESSES = 3 };

struct reading {
    struct cli_probe *probes;
    size_t count;
    uint64_t base; /* of .stapsdt.base now; 0: the file has none */
};

/* Copy a text that ends before `end`. returns: what follows it; NULL: none */
static const char *
copy_text(char *to, size_t room, const char *from, const char *end)
{
    const char *const zero =
        from != NULL ? memchr(from, '\0', (size_t)(end - from)) : NULL;

    if (zero == NULL || (size_t)(zero - from) >= room)
        return NULL;
    memcpy(to, from, (size_t)(zero - from) + 1);
    return zero + 1;
}

/* returns: false if there is no memory, or the note is not one of a probe */
static bool
add_probe(struct reading *reading, const char *bytes, size_t count)
{
    const char *const end = bytes + count;
    struct cli_probe *const grown = realloc(
        reading->probes, (reading->count + 1) * sizeof *reading->probes);
    uint64_t addresses[ADDRESSES];
    struct cli_probe *probe;
    const char *at;

    if (grown == NULL)
        return false;
    reading->probes = grown;
    if (count < sizeof addresses)
        return false;
    memcpy(addresses, bytes, sizeof addresses);
    probe = &grown[reading->count];
    at = copy_text(probe->provider, sizeof probe->provider,
                   bytes + sizeof addresses, end);
    at = copy_text(probe->name, sizeof probe->name, at, end);
    at = copy_text(probe->arguments, sizeof probe->arguments, at, end);
    if (at == NULL)
        return false;
    probe->address = addresses[0];
    probe->semaphore = addresses[2];
    if (reading->base != 0) {
        probe->address += reading->base - addresses[1];
        if (probe->semaphore != 0)
            probe->semaphore += reading->base - addresses[1];
    }
    reading->count++;
    return true;
}

/* returns: false as add_probe() */
static bool
read_section(struct reading *reading, Elf_Scn *section)
{
    Elf_Data *const data = elf_getdata(section, NULL);
    size_t at = 0;
    size_t name;
    size_t bytes;
    GElf_Nhdr note;

    while (data != NULL &&
           (at = gelf_getnote(data, at, &note, &name, &bytes)) != 0)
        if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof "stapsdt" &&
            memcmp((const char *)data->d_buf + name, "stapsdt",
                   sizeof "stapsdt") == 0 &&
            !add_probe(reading, (const char *)data->d_buf + bytes,
                       note.n_descsz))
            return false;
    return true;
}

static Elf_Scn *
section_of(Elf *elf, const char *wanted, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name;

        if (gelf_getshdr(section, header) == NULL)
            return NULL;
        name = elf_strptr(elf, names, header->sh_name);
        if (name != NULL && strcmp(name, wanted) == 0)
            return section;
    }
    return NULL;
}

const char *
cli_probe_notes_read(const char *path, struct cli_probe **probes, size_t *count)
{
    struct reading reading = {.count = 0};
    const char *reason = NULL;
    GElf_Shdr header;
    Elf_Scn *notes;
    Elf *elf;
    int file;

    *probes = NULL;
    *count = 0;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return "it cannot be opened";
    (void)elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf == NULL || gelf_getclass(elf) != ELFCLASS64) {
        reason = "it is not an ELF file of 64 bits";
    } else {
        if (section_of(elf, ".stapsdt.base", &header) != NULL)
            reading.base = header.sh_addr;
        notes = section_of(elf, ".note.stapsdt", &header);
        if (notes != NULL && !read_section(&reading, notes))
            reason = "a note of its probes is broken";
    }
    elf_end(elf);
    close(file);
    *probes = reading.probes;
    *count = reason == NULL ? reading.count : 0;
    return reason;
}

size_t
cli_probe_arguments(const struct cli_probe *probe)
{
    size_t count = 0;

    for (const char *at = probe->arguments; *at != '\0'; at++)
        if (*at == '@')
            count++;
    return count;
}
