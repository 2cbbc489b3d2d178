/*
 * segment.h -- what of a loaded module can be read.
 *
 * The loader reads the program headers from the file, so they need not be in
 * memory; and between a module's segments there may be holes. So nothing of a
 * module is read that is not in a segment which its headers call readable, and
 * if the headers are in no such segment themselves the loader is asked for
 * them.
 */
#ifndef RECORD_UNWIND_SEGMENT_H
#define RECORD_UNWIND_SEGMENT_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "record/unwind/cfi.h"

struct embed_headers {
    ElfW(Addr) bias;
    const ElfW(Phdr) * at;
    uint32_t count; /* 0: they cannot be read */
};

/*
 * Find the program headers of a module.
 *
 * in:      module, as _dl_find_object() has found it
 * context: any thread, signal handlers included; errno is left alone
 */
void embed_headers_find(struct embed_headers *headers,
                        const struct dl_find_object *module);

/* returns: the readable segment that holds an address; empty: there is none */
struct embed_bytes embed_segment_of(const struct embed_headers *headers,
                                    const void *address);

#endif
