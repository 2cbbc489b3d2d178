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
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/unwind/segment.h"

#define ID_BYTES 64u

static uint64_t
hash_of(const struct link_map *map)
{
    uint64_t hash = map->l_addr + UINT64_C(0x9e3779b97f4a7c15);
    const char *name = map->l_name;

    for (; name != NULL && *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/*
 * Find the file that is mapped at an address. A name that the loader was given
 * may be relative to a folder that is not the current one any more.
 *
 * returns: bytes of its path; 0: none
 */
static uint32_t
mapped_path(uintptr_t address, char *path)
{
    const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                                  O_RDONLY | O_CLOEXEC);
    uintptr_t bounds[2] = {0, 0};
    uint32_t field =
        0; /* 0 and 1: the bounds; 2: from then on a path may come */
    uint32_t bytes = 0;
    char block[256];
    long got;

    while ((got = syscall(SYS_read, file, block, sizeof block)) > 0)
        for (long i = 0; i < got; i++) {
            const char c = block[i];
            const bool is_it = address >= bounds[0] && address < bounds[1];

            if (c == '\n') {
                if (is_it && bytes > 0)
                    goto out;
                bounds[0] = bounds[1] = field = bytes = 0;
            } else if (field < 2 && (c == '-' || c == ' ')) {
                field++;
            } else if (field < 2) {
                bounds[field] = bounds[field] << 4 |
                                (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (is_it && (bytes > 0 || c == '/') &&
                       bytes < EMBED_PATH_BYTES) {
                path[bytes++] = c;
            }
        }
    bytes = 0;
out:
    syscall(SYS_close, file);
    return bytes;
}

static uint32_t
path_of(const struct dl_find_object *module, char *path)
{
    const char *const name = module->dlfo_link_map->l_name;
    size_t bytes = strlen(name);

    if (name[0] != '/' && !embed_is_confined()) {
        const uint32_t mapped =
            mapped_path((uintptr_t)module->dlfo_map_start, path);

        if (mapped > 0)
            return mapped;
    }
    if (bytes > EMBED_PATH_BYTES)
        bytes = EMBED_PATH_BYTES;
    memcpy(path, name, bytes);
    return (uint32_t)bytes;
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
id_of(const struct embed_headers *headers, uint8_t *id)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < headers->count && found == 0; i++) {
        const ElfW(Phdr) *const segment = &headers->at[i];
        const uint8_t *const note =
            (const void *)(headers->bias + segment->p_vaddr);
        const struct embed_bytes room = embed_segment_of(headers, note);

        if (segment->p_type == PT_NOTE && room.begin != NULL &&
            segment->p_memsz <= (size_t)(room.end - note))
            found = id_in(note, segment->p_memsz, id);
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

/* What is logged of each segment of a module. */
struct module {
    struct embed_headers headers;
    uint8_t id[ID_BYTES];
    uint32_t id_bytes;
    const char *path;
    uint32_t path_bytes;
};

static void
log_segment_locked(const struct module *module, uint64_t start, uint64_t bytes,
                   uint64_t offset)
{
    uint32_t words_count = 5 + (module->id_bytes + module->path_bytes + 7) / 8;
    uint64_t *words = embed_append_locked(EMBED_MODULE, 0, 0, words_count);

    if (words == NULL)
        return;
    words[0] = module->headers.bias;
    words[1] = start;
    words[2] = start + bytes;
    words[3] = offset;
    words[4] = module->id_bytes | (uint64_t)module->path_bytes << 32;
    words[words_count - 1] = 0;
    memcpy((char *)(words + 5), module->id, module->id_bytes);
    memcpy((char *)(words + 5) + module->id_bytes, module->path,
           module->path_bytes);
    embed_publish_locked();
}

static void
log_module(const struct dl_find_object *found, char *path)
{
    struct module module = {.path = path};
    const struct embed_headers *const headers = &module.headers;

    embed_headers_find(&module.headers, found);
    module.path_bytes = path_of(found, path);
    module.id_bytes = id_of(headers, module.id);
    embed_lock();
    for (uint32_t i = 0; i < headers->count; i++) {
        const ElfW(Phdr) *const segment = &headers->at[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
            log_segment_locked(&module, headers->bias + segment->p_vaddr,
                               segment->p_memsz, segment->p_offset);
    }
    if (headers->count == 0) /* its functions have names even so */
        log_segment_locked(&module, (uintptr_t)found->dlfo_map_start,
                           (uint64_t)((const char *)found->dlfo_map_end -
                                      (const char *)found->dlfo_map_start),
                           0);
    embed_unlock();
}

void
embed_modules_note(struct embed_stack *stack)
{
    struct dl_find_object found;
    uint64_t previous = 0;
    uint32_t i;

    for (i = 0; i < stack->depth; i++) {
        uint64_t hash;
        bool is_new;

        if (_dl_find_object((void *)(stack->pcs[i] - 1), &found) != 0)
            continue;
        hash = hash_of(found.dlfo_link_map);
        if (hash == previous)
            continue;
        previous = hash;
        embed_lock();
        is_new = is_new_locked(hash);
        embed_unlock();
        if (is_new)
            log_module(&found, stack->path);
    }
}
