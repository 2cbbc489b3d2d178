/*
 * small_world.h -- the small world that a rebuilt profiler lives in: an
 * allocator that knows the truth, the services that a profiler calls, and what
 * it must provide.
 *
 * A profiler here is one file of some forty lines with one bug of a real one.
 * It is built twice, with the bug and with FIXED, and `profsim explore` runs
 * the same plans (plans.c) with both. No plan knows of any bug, and the judge
 * (small_world.c) always checks everything. An address is a number from 1; the
 * allocator hands out the lowest that is free, so addresses come back soon.
 */
#ifndef SUBJECTS_CATALOGUE_SMALL_WORLD_H
#define SUBJECTS_CATALOGUE_SMALL_WORLD_H

#include <stdbool.h>
#include <stddef.h>

enum { ADDRESSES = 8, SITES = 5 };

/* The site of what the services themselves allocate. No plan uses it. */
enum { SITE_INSIDE = 0 };
enum { FILE_RECORD_BYTES = 3 };

/* What a profile says of one site. */
struct shown {
    long objects; /* live */
    long bytes;
};

/* How the program's threads run. */
enum manner {
    NATIVE,      /* at once */
    INTERPRETED, /* one at a time: they hold the interpreter in each call */
    ATTACHED     /* at once; stopping the world waits for each call's end */
};

/*
 * A profiler that is wrapped around the allocator. A function may be NULL: the
 * profiler lacks that call, and plans that need it are not run.
 */
struct profiler {
    enum manner manner;

    /* `end` is the last call. Memory that is still allocated after it is a
     * leak. */
    void (*begin)(void);
    void (*end)(void);
    void (*thread_begin)(void); /* on the program's second and third thread */
    void (*thread_end)(void);

    /* What the program calls. returns: the address; 0: failed */
    unsigned (*alloc)(unsigned site, unsigned bytes);
    unsigned (*resize)(unsigned site, unsigned address, unsigned bytes);
    void (*free)(unsigned address);

    /* Free the end of a block, as munmap() of its last page does. */
    void (*trim)(unsigned address, unsigned bytes);

    /* The controls. out: shown[SITES] */
    void (*snapshot)(struct shown *shown);
    void (*turn)(bool on);
    bool turn_forgets; /* turned off, it forgets what was live */
    void (*reset)(void);

    /* Write a file: a byte that says how many records follow, then the records.
     * out: bytes. returns: how many bytes */
    size_t (*write)(unsigned char *bytes, size_t size);

    bool is_collected; /* objects go by the collector, and are looked up */

    /* Called after the collector has run; called to do postponed work. */
    void (*collected)(void);
    void (*job)(void);
};

extern const struct profiler profiler;

/* ---- The allocator ---- */

/* returns: an address; 0: no memory */
unsigned heap_take(unsigned site, unsigned bytes);
void heap_give(unsigned address);

/* returns: the new address, which is the old one if it fits there; 0: failed,
 * and the old block is as it was */
unsigned heap_resize(unsigned site, unsigned address, unsigned bytes);
void heap_trim(unsigned address, unsigned bytes);
unsigned heap_bytes(unsigned address);

/* ---- A profiler that reports what it sees, event by event ---- */

void report_alloc(unsigned address, unsigned site, unsigned bytes);
void report_free(unsigned address);

/* For `free`: frees a block, and reports it only if its allocation was
 * reported. */
void give_if_reported(unsigned address);

/* For `snapshot`: shows what is live according to the reported events. */
void reported(struct shown *shown);

/* ---- Services, which may allocate, and so call the profiler again ---- */

/* Walk the stack, under the loader's lock. The program's first walk allocates.
 */
void unwind(void);

/* Find this thread's stack. The first call allocates. */
void thread_bounds(void);

/* The loader's list of libraries, and what a profiler patches in each. */
struct library {
    struct library *next;
    bool is_patched;
};
struct library *library_first(void);
void loader_lock(void);
void loader_unlock(void);

/* INTERPRETED: let other threads run. ATTACHED: wait until no thread is in a
 * call. */
void interpreter_give(void);
void interpreter_take(void);
void world_stop(void);
void world_start(void);

/* A managed heap's object, while it has not been swept. NULL: none */
struct object {
    unsigned *bytes; /* gone first when the object is swept */
    bool is_dying;
};
struct object *object_at(unsigned address);

/* ---- The judge ---- */

/* Complain, and end the run. in: the property that does not hold */
void broken(const char *property, const char *what, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

#endif
