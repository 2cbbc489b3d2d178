/*
 * notes.c -- see notes.h.
 *
 * A note of type 3 and name "stapsdt" holds three addresses (of the nop, of
 * .stapsdt.base when the note was written, and of the semaphore) and three
 * texts. If the whole file was relocated since, .stapsdt.base moved by the same
 * distance.
 */
#include "subjects/notes.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_TYPE = 3, ADDRESSES = 3 };

static const char owner[] = "stapsdt";

/* A file in memory. */
struct image {
    const uint8_t *bytes;
    size_t count;
};

/* returns: whether `bytes` bytes at `offset` lie in the file */
static int
is_inside(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->count && bytes <= image->count - offset;
}

static int
take_header(const struct image *image, Elf64_Ehdr *header)
{
    if (!is_inside(image, 0, sizeof *header))
        return 0;
    memcpy(header, image->bytes, sizeof *header);
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_shentsize == sizeof(Elf64_Shdr);
}

static int
take_section(const struct image *image, const Elf64_Ehdr *header,
             uint32_t index, Elf64_Shdr *section)
{
    const uint64_t offset = header->e_shoff + (uint64_t)index * sizeof *section;

    if (index >= header->e_shnum || offset < header->e_shoff ||
        !is_inside(image, offset, sizeof *section))
        return 0;
    memcpy(section, image->bytes + offset, sizeof *section);
    return 1;
}

/* returns: whether the file has this section; out: where */
static int
find_section(const struct image *image, const Elf64_Ehdr *header,
             const char *wanted, Elf64_Shdr *section)
{
    const size_t length = strlen(wanted) + 1;
    Elf64_Shdr names;

    if (!take_section(image, header, header->e_shstrndx, &names))
        return 0;
    for (uint32_t i = 0; take_section(image, header, i, section); i++)
        if (section->sh_name < names.sh_size &&
            names.sh_offset <= UINT64_MAX - section->sh_name &&
            is_inside(image, names.sh_offset + section->sh_name, length) &&
            memcmp(image->bytes + names.sh_offset + section->sh_name, wanted,
                   length) == 0)
            return 1;
    return 0;
}

/* Copy a text that ends before `end`. returns: what follows it; NULL: none */
static const char *
copy_text(char *to, const char *from, const char *end)
{
    const char *const zero =
        from != NULL ? memchr(from, '\0', (size_t)(end - from)) : NULL;

    if (zero == NULL || zero - from >= NOTES_TEXT_MAX)
        return NULL;
    memcpy(to, from, (size_t)(zero - from) + 1);
    return zero + 1;
}

static int
take_note(struct note *note, const char *provider, const uint8_t *bytes,
          size_t count, uint64_t base_now)
{
    const char *const end = (const char *)bytes + count;
    uint64_t addresses[ADDRESSES];
    uint64_t moved;
    const char *at;

    if (count < sizeof addresses)
        return 0;
    memcpy(addresses, bytes, sizeof addresses);
    at = copy_text(note->provider, (const char *)bytes + sizeof addresses, end);
    at = copy_text(note->name, at, end);
    at = copy_text(note->arguments, at, end);
    moved = base_now != 0 ? base_now - addresses[1] : 0;
    note->address = addresses[0] + moved;
    note->semaphore = addresses[2] != 0 ? addresses[2] + moved : 0;
    return at != NULL && strcmp(note->provider, provider) == 0;
}

static size_t
rounded(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static void
take_notes(const struct image *image, const Elf64_Shdr *section,
           uint64_t base_now, const char *provider, struct note *notes,
           size_t room, size_t *count)
{
    const uint8_t *const bytes = image->bytes + section->sh_offset;
    const size_t end = section->sh_size;
    size_t at = 0;

    while (*count < room && end - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        size_t left;

        memcpy(&header, bytes + at, sizeof header);
        at += sizeof header;
        left = end - at;
        if (rounded(header.n_namesz) > left ||
            rounded(header.n_descsz) > left - rounded(header.n_namesz))
            return;
        if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof owner &&
            memcmp(bytes + at, owner, sizeof owner) == 0)
            *count += (size_t)take_note(&notes[*count], provider,
                                        bytes + at + rounded(header.n_namesz),
                                        header.n_descsz, base_now);
        at += rounded(header.n_namesz) + rounded(header.n_descsz);
    }
}

const char *
notes_read(const char *path, const char *provider, struct note *notes,
           size_t room, size_t *count)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    struct image image;
    Elf64_Ehdr header;
    Elf64_Shdr section;
    uint64_t base_now = 0;
    void *map;

    *count = 0;
    if (file < 0)
        return "it cannot be opened";
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size <= 0) {
        close(file);
        return "it is no plain file";
    }
    map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (map == MAP_FAILED)
        return "it cannot be read";
    image = (struct image){map, (size_t)status.st_size};
    if (take_header(&image, &header)) {
        if (find_section(&image, &header, ".stapsdt.base", &section))
            base_now = section.sh_addr;
        if (find_section(&image, &header, ".note.stapsdt", &section) &&
            is_inside(&image, section.sh_offset, section.sh_size))
            take_notes(&image, &section, base_now, provider, notes, room,
                       count);
    }
    munmap(map, image.count);
    return NULL;
}
