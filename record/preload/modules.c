/*
 * modules.c -- which files are mapped where, to name pcs later.
 *
 * _dl_find_object() takes no lock. dl_iterate_phdr() does: if a thread forks
 * while another is in dlopen(), that lock stays taken in the child for ever. A
 * program may also allocate in a callback that runs under that lock.
 *
 * A module is logged when a new stack has a frame in the module. So it is in
 * the log even if it is unloaded later, or the process is killed.
 */
#include "record/preload/recorder.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 64u

static uint64_t
hash_of(const struct dl_phdr_info *info)
{
    uint64_t hash = info->dlpi_addr + UINT64_C(0x9e3779b97f4a7c15);
    const char *name = info->dlpi_name;

    for (; name != NULL && *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static uint32_t
path_of(const struct dl_phdr_info *info, char *path)
{
    const char *name = info->dlpi_name;
    size_t bytes = name != NULL ? strlen(name) : 0;
    size_t before = 0;

    if (bytes == 0) {
        ssize_t got = readlink("/proc/self/exe", path, EMBED_PATH_BYTES);

        return got > 0 ? (uint32_t)got : 0;
    }
    /* A name that has a slash, but not at its start, is relative to the current
     * folder. */
    if (name[0] != '/' && strchr(name, '/') != NULL &&
        getcwd(path, EMBED_PATH_BYTES - 1) != NULL) {
        before = strlen(path);
        path[before++] = '/';
    }
    if (bytes > EMBED_PATH_BYTES - before)
        bytes = EMBED_PATH_BYTES - before;
    memcpy(path + before, name, bytes);
    return (uint32_t)(before + bytes);
}

/* The build id lies in a loaded note: name "GNU", type 3. */
static uint32_t
id_in(const uint8_t *note, size_t bytes, uint8_t *id)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        size_t name_bytes;
        size_t id_bytes;

        memcpy(&head, note, sizeof head);
        name_bytes = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        id_bytes = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        note += sizeof head;
        bytes -= sizeof head;
        if (name_bytes > bytes || id_bytes > bytes - name_bytes)
            break;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(note, "GNU", 4) == 0 && head.n_descsz <= ID_BYTES) {
            memcpy(id, note + name_bytes, head.n_descsz);
            return head.n_descsz;
        }
        note += name_bytes + id_bytes;
        bytes -= name_bytes + id_bytes;
    }
    return 0;
}

static uint32_t
id_of(const struct dl_phdr_info *info, uint8_t *id)
{
    uint32_t found = 0;
    uint32_t i;

    for (i = 0; i < info->dlpi_phnum && found == 0; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE)
            found = id_in((const void *)(info->dlpi_addr + segment->p_vaddr),
                          segment->p_memsz, id);
    }
    return found;
}

/* returns: true if this module was not logged before; context: lock held */
static bool
is_new_locked(uint64_t hash)
{
    struct embed_state *state = embed_state;
    uint32_t i;

    for (i = 0; i < state->module_count; i++)
        if (state->modules[i] == hash)
            return false;
    if (state->module_count < EMBED_MODULES)
        state->modules[state->module_count++] = hash;
    return true;
}

static void
log_segment_locked(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                   const uint8_t *id, uint32_t id_bytes, const char *path,
                   uint32_t path_bytes)
{
    uint32_t words_count = 5 + (id_bytes + path_bytes + 7) / 8;
    uint64_t *words = embed_append_locked(EMBED_MODULE, 0, 0, words_count);
    uint64_t start = info->dlpi_addr + segment->p_vaddr;

    if (words == NULL)
        return;
    words[0] = info->dlpi_addr;
    words[1] = start;
    words[2] = start + segment->p_memsz;
    words[3] = segment->p_offset;
    words[4] = id_bytes | (uint64_t)path_bytes << 32;
    words[words_count - 1] = 0;
    memcpy((char *)(words + 5), id, id_bytes);
    memcpy((char *)(words + 5) + id_bytes, path, path_bytes);
    embed_publish_locked();
}

/*
 * Describe the module around an address, as dl_iterate_phdr() would.
 *
 * returns: false if the address is in none
 */
static bool
describe(uintptr_t address, struct dl_phdr_info *info)
{
    struct dl_find_object found;
    ElfW(Ehdr) head;

    if (_dl_find_object((void *)address, &found) != 0)
        return false;
    /* The first bytes that are mapped are those of the file. */
    memcpy(&head, found.dlfo_map_start, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    memset(info, 0, sizeof *info);
    info->dlpi_addr = found.dlfo_link_map->l_addr;
    info->dlpi_name = found.dlfo_link_map->l_name;
    info->dlpi_phdr =
        (const void *)((const char *)found.dlfo_map_start + head.e_phoff);
    info->dlpi_phnum = head.e_phnum;
    return true;
}

static void
log_module(const struct dl_phdr_info *info, char *path)
{
    uint8_t id[ID_BYTES];
    uint32_t path_bytes = path_of(info, path);
    uint32_t id_bytes = id_of(info, id);
    uint32_t i;

    embed_lock();
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
            log_segment_locked(info, segment, id, id_bytes, path, path_bytes);
    }
    embed_unlock();
}

void
embed_modules_note(struct embed_stack *stack)
{
    struct dl_phdr_info info;
    uint64_t previous = 0;
    uint32_t i;

    for (i = 0; i < stack->depth; i++) {
        uint64_t hash;
        bool is_new;

        if (!describe(stack->pcs[i] - 1, &info))
            continue;
        hash = hash_of(&info);
        if (hash == previous)
            continue;
        previous = hash;
        embed_lock();
        is_new = is_new_locked(hash);
        embed_unlock();
        if (is_new)
            log_module(&info, stack->path);
    }
}
