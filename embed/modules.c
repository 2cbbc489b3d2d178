/*
 * modules.c -- what is mapped where, so that pcs can be named later.
 *
 * The dynamic linker counts the modules it has added. After a stack that was
 * new the counter is compared, and modules not seen before are logged: a pc's
 * module is in the log even if it is unloaded, or the process killed, later.
 *
 * The linker calls back under its own lock; the recorder's is taken inside, in
 * the order that malloc under dlopen takes them too (R3).
 */
#include "recorder.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 1024u
#define ID_BYTES   64u

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

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
        ssize_t got = readlink("/proc/self/exe", path, PATH_BYTES);

        return got > 0 ? (uint32_t)got : 0;
    }
    /* A relative name (with a slash) means: relative to where we are. */
    if (name[0] != '/' && strchr(name, '/') != NULL &&
        getcwd(path, PATH_BYTES - 1) != NULL) {
        before = strlen(path);
        path[before++] = '/';
    }
    if (bytes > PATH_BYTES - before)
        bytes = PATH_BYTES - before;
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

static int
visit(struct dl_phdr_info *info, size_t info_bytes, void *unused)
{
    char path[PATH_BYTES];
    uint8_t id[ID_BYTES];
    uint32_t path_bytes;
    uint32_t id_bytes;
    uint32_t i;

    (void)info_bytes;
    (void)unused;
    if (atomic_load_explicit(&embed_state->module_adds, memory_order_relaxed) ==
        info->dlpi_adds)
        return 1;
    /* No stack has a frame of the recorder itself. */
    if (info->dlpi_addr == (uintptr_t)__ehdr_start)
        return 0;
    path_bytes = path_of(info, path);
    id_bytes = id_of(info, id);
    embed_lock();
    if (is_new_locked(hash_of(info))) {
        for (i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

            if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
                log_segment_locked(info, segment, id, id_bytes, path,
                                   path_bytes);
        }
    }
    embed_unlock();
    return 0;
}

static int
note_adds(struct dl_phdr_info *info, size_t info_bytes, void *to)
{
    (void)info_bytes;
    *(uint64_t *)to = info->dlpi_adds;
    return 1;
}

void
embed_modules_refresh(void)
{
    uint64_t adds = 0;

    dl_iterate_phdr(note_adds, &adds);
    if (adds ==
        atomic_load_explicit(&embed_state->module_adds, memory_order_relaxed))
        return;
    dl_iterate_phdr(visit, NULL);
    atomic_store_explicit(&embed_state->module_adds, adds,
                          memory_order_relaxed);
}
