/*
 * segment.c -- see segment.h.
 *
 * Whether the first page of a module can be read is asked of the kernel once: a
 * word of the table below says that it can. A word has the page and the number
 * of unloads so far, so the answer does not outlive the module.
 */
#include "record/unwind/segment.h"

#include <stdatomic.h>
#include <string.h>

#include "record/unwind/stack_memory.h"
#include "record/unwind/unwind.h"

#define CHECKED_LOG2 8u

#define KEY_BITS 48u /* of an address in user space */

static _Atomic uint64_t checked[1u << CHECKED_LOG2];
static _Atomic uint64_t unloads;

void
embed_unwind_forget(void)
{
    atomic_fetch_add_explicit(&unloads, 1, memory_order_relaxed);
}

uint64_t
embed_unwind_key(uintptr_t pc)
{
    return pc ^ atomic_load_explicit(&unloads, memory_order_relaxed)
                    << KEY_BITS;
}

/* in: module, the first bytes of its file, if it is the usual one */
static bool
has_first_page(const void *module)
{
    const uint64_t key = embed_unwind_key((uintptr_t)module);
    _Atomic uint64_t *const word =
        &checked[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CHECKED_LOG2)];

    if (atomic_load_explicit(word, memory_order_relaxed) == key)
        return true;
    if (!embed_stack_memory_is_readable((uintptr_t)module))
        return false;
    atomic_store_explicit(word, key, memory_order_relaxed);
    return true;
}

static struct embed_bytes
bytes_of(const struct embed_headers *headers, const ElfW(Phdr) * segment)
{
    const uint8_t *const begin =
        (const void *)(headers->bias + segment->p_vaddr);

    return (struct embed_bytes){begin, begin + segment->p_memsz};
}

static bool
holds(struct embed_bytes bytes, const void *begin, const void *end)
{
    return (const uint8_t *)begin >= bytes.begin &&
           (const uint8_t *)end <= bytes.end && begin <= end;
}

struct embed_bytes
embed_segment_of(const struct embed_headers *headers, const void *address)
{
    for (uint32_t i = 0; i < headers->count; i++) {
        const struct embed_bytes bytes = bytes_of(headers, &headers->at[i]);

        if (headers->at[i].p_type == PT_LOAD &&
            (headers->at[i].p_flags & PF_R) != 0 &&
            holds(bytes, address, (const uint8_t *)address + 1))
            return bytes;
    }
    return (struct embed_bytes){NULL, NULL};
}

/* returns: false if they are not on the first page of the module */
static bool
find_usual(struct embed_headers *headers, const struct dl_find_object *module)
{
    const uint8_t *const begin = module->dlfo_map_start;
    const ElfW(Ehdr) *const head = module->dlfo_map_start;
    const uint8_t *end;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_phoff % _Alignof(ElfW(Phdr)) != 0 ||
        head->e_phoff > EMBED_PAGE_BYTES)
        return false;
    headers->at = (const void *)(begin + head->e_phoff);
    headers->count = head->e_phnum;
    end = (const uint8_t *)(headers->at + head->e_phnum);
    return end <= begin + EMBED_PAGE_BYTES &&
           holds(embed_segment_of(headers, headers->at), headers->at, end);
}

/*
 * The loader has a copy of headers that lie elsewhere, as patchelf leaves them.
 * To ask it takes no lock, but forgets an error that dlerror() would have told:
 * so it is not asked of usual modules.
 */
static void
ask_loader(struct embed_headers *headers, const struct dl_find_object *module)
{
    enum { DI_PHDR = 11 }; /* RTLD_DI_PHDR, which older headers lack */
    const int count = dlinfo(module->dlfo_link_map, DI_PHDR, &headers->at);

    headers->count = count > 0 ? (uint32_t)count : 0;
}

void
embed_headers_find(struct embed_headers *headers,
                   const struct dl_find_object *module)
{
    *headers = (struct embed_headers){module->dlfo_link_map->l_addr, NULL, 0};
    if (!has_first_page(module->dlfo_map_start) || !find_usual(headers, module))
        ask_loader(headers, module);
}
