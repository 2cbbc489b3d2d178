/*
 * spool.h -- what the recorder leaves behind: one file per process image.
 *
 *      0        header
 *      8192     record record record ...                 up to used_bytes
 *
 * The file is a shared mapping: it survives however the process ends. A record
 * counts once used_bytes has moved past it, so a process killed in the middle
 * of a record leaves a valid log. Native byte order and raw addresses: a spool
 * is read once, on the same machine, by `profsim record`.
 *
 * Invariants
 *   S1  used_bytes only grows, by whole records, each a multiple of 8 bytes.
 *   S2  the order of records is the order of events: a free of an address lies
 *       after its allocation, and before that address is allocated again.
 *   S3  ticks never fall from one record to the next.
 *   S4  an event's stack and thread lie before it.
 */
#ifndef RECORD_PRELOAD_SPOOL_H
#define RECORD_PRELOAD_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#define EMBED_SPOOL_MAGIC   0x6c6f6f7073666f72u
#define EMBED_SPOOL_VERSION 8u
#define EMBED_SPOOL_FIRST   8192u /* offset of the first record */
#define EMBED_DEPTH_MAX     128u
#define EMBED_ENV_SPOOL     "PROFSIM_SPOOL"
#define EMBED_ENV_DEVICE    "PROFSIM_SPOOL_DEVICE" /* of that folder */
#define EMBED_ENV_INODE     "PROFSIM_SPOOL_INODE"
#define EMBED_ENV_LIMIT     "PROFSIM_SPOOL_BYTES"
#define EMBED_ENV_DEPTH     "PROFSIM_DEPTH"
#define EMBED_ENV_FRAMES    "PROFSIM_FRAME_POINTERS" /* 1: it keeps them */
#define EMBED_ENV_USABLE    "PROFSIM_USABLE"         /* 1: malloc is asked */

/* Why an event is not in the log; the order is that of docs/recording.md. */
enum embed_cause {
    EMBED_DROP_LIMIT,
    EMBED_DROP_DISK,
    EMBED_DROP_INSIDE,
    EMBED_DROP_EARLY,
    EMBED_DROP_UNKNOWN, /* found when the spool is read */
    EMBED_DROP_MISSED,  /* found when the spool is read */
    EMBED_DROP_WAITERS,
    EMBED_DROP_CHILDREN, /* forked by a process that confined itself */
    EMBED_DROP_CONFINED, /* it has used the room that it had by then */
    EMBED_DROP_CUT,      /* stacks deeper than --depth */
    EMBED_DROP_OWN,      /* 1: the program has a malloc of its own */
    EMBED_DROP_MAPPED,   /* bytes that the program mapped itself */
    EMBED_DROP_COUNT
};

struct embed_spool_header {
    uint64_t magic;
    uint32_t version;
    uint32_t depth_max;
    uint32_t process;
    uint32_t parent;
    uint64_t start_ticks;
    uint64_t forked_ticks; /* 0: the image began by an exec */
    uint64_t limit_bytes;
    _Atomic uint64_t used_bytes;
    _Atomic uint64_t events;          /* except frees */
    _Atomic uint64_t requested_bytes; /* of all allocations */
    _Atomic uint64_t executed;        /* EXEC records, and those taken back */
    _Atomic uint64_t dropped[EMBED_DROP_COUNT];
    uint32_t command_bytes;
    char command[4096]; /* arguments, each ended by NUL */
};

_Static_assert(sizeof(struct embed_spool_header) <= EMBED_SPOOL_FIRST,
               "records begin behind the header");

enum embed_kind {
    EMBED_STACK = 1,
    EMBED_THREAD,
    EMBED_MODULE,
    EMBED_ALLOC,
    EMBED_FREE,
    EMBED_WAIT,
    EMBED_RELEASE,
    EMBED_RESIZE,    /* begins; until it ends the object is unchanged */
    EMBED_RESIZED,   /* the resize has ended */
    EMBED_CANCELLED, /* a resize that did not happen: realloc failed */
    EMBED_NAME,      /* of a thread, from now on */
    EMBED_UNLOAD,    /* begins an epoch: from here on another module may be
                        mapped where one was */
    EMBED_EXEC,      /* number: the process */
    EMBED_SHORT_ALLOC = 64,
    EMBED_SHORT_FREE,
};

/*
 * Short records. Most events fit into one or two words, and have no word 0:
 *
 *   SHORT_ALLOC, SHORT_FREE   kind, 8 bits; thread, 12; address / 16, 44
 *   and of SHORT_ALLOC        bytes, 14 bits; ticks since the event before, 24;
 *                             offset of the stack / 8, 26; nothing in detail
 *
 * A SHORT_FREE has the time of the previous event. Short records need fewer
 * pages. The kernel must zero each new page, which is half of the cost of the
 * log in a program that only allocates.
 */
#define EMBED_SHORT_THREAD_BITS  12u
#define EMBED_SHORT_ADDRESS_BITS 44u
#define EMBED_SHORT_BYTES_BITS   14u
#define EMBED_SHORT_TICKS_BITS   24u
#define EMBED_SHORT_STACK_BITS   26u

/* Word 0 of every record; `words` counts the whole record, this included. */
struct embed_record {
    uint8_t kind;
    uint8_t detail; /* see below */
    uint16_t words;
    uint32_t number; /* thread; of a stack: its depth */
};

/*
 * The words after word 0:
 *   STACK    hash, pc...
 *   THREAD   kernel thread number
 *   MODULE   load bias, start, limit, file offset, id bytes | path bytes << 32,
 *            id, path (one after the other, padded with zeros)
 *   UNLOAD   ticks
 *   EXEC     ticks before it, bytes of the path, path (padded with zeros)
 *   NAME     16 bytes, ended by NUL
 *   ALLOC    ticks, address, bytes, stack (offset in the file; 0: none);
 *            detail: bit 0 zeroed; from bit 1 on 1 + log2 of the requested
 *            alignment, 0 if there was none
 *   ALLOC and RESIZED may have one more word before the stack: the usable
 *   bytes, as malloc says
 *   FREE     ticks, address
 *   RESIZE   ticks, address
 *   RESIZED  ticks, address, bytes, offset of its RESIZE, stack
 *   WAIT     ticks at the end, lock, ticks at the start, stack; detail: kind of
 *            lock; bit 7: it ended without the lock
 *   RELEASE  ticks, lock, stack
 */

#endif
