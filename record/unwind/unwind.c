/*
 * unwind.c -- walks call stacks, by unwind tables or, where there are none, by
 * frame pointers.
 *
 *      pc --> cache --> rule --> CFA, return address, rbp --> pc ...
 *               | miss
 *               v
 *      _dl_find_object() --> .eh_frame_hdr --> .eh_frame --> rule
 *
 * _dl_find_object() takes no lock. dl_iterate_phdr() does: if a thread forks
 * while another is in dlopen(), that lock stays taken in the child for ever.
 *
 * The cache is shared by all threads and has no lock either. An entry is two
 * words, the rule and the key exclusive-or the rule: if two writers mix their
 * halves, the key comes out wrong, and the entry is a miss. The key contains
 * the number of unloads so far, so rules of code that is gone are not found.
 *
 * Invariants
 *   I1  Each word is checked to be readable before it is read (stack_memory.h).
 *   I2  A caller's frame lies above its callee's, except below a signal
 *       handler; a walk passes at most SIGNALS_MAX of these. So it ends.
 */
#include "record/unwind/unwind.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/unwind/segment.h"

#define CACHE_LOG2  16u
#define SIGNALS_MAX 8u

/* In the cache: this code has no unwind table. embed_row_pack() never makes
 * this value. */
#define BY_FRAME_POINTER UINT64_C(2)

struct entry {
    _Atomic uint64_t rule;
    _Atomic uint64_t mixed; /* key ^ rule */
};

struct walk {
    struct embed_registers at;
    struct embed_stack_memory memory;
    uint32_t signals;
    bool interrupted; /* at.pc is where the next instruction is */
};

static _Atomic(struct entry *) cache;

void
embed_unwind_start(void)
{
    void *place;

    if (atomic_load_explicit(&cache, memory_order_relaxed) != NULL)
        return;
    place =
        mmap(NULL, sizeof(struct entry) << CACHE_LOG2, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED)
        atomic_store_explicit(&cache, place, memory_order_release);
}

static struct entry *
entry_of(uintptr_t pc)
{
    struct entry *const entries =
        atomic_load_explicit(&cache, memory_order_acquire);
    const uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);

    return entries != NULL ? &entries[hash >> (64 - CACHE_LOG2)] : NULL;
}

/* returns: the rule, 0 if it is not known */
static uint64_t
cached(const struct entry *entry, uint64_t key)
{
    uint64_t rule;

    if (entry == NULL)
        return 0;
    rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
    return atomic_load_explicit(&entry->mixed, memory_order_relaxed) ==
                   (key ^ rule)
               ? rule
               : 0;
}

static void
remember(struct entry *entry, uint64_t key, uint64_t rule)
{
    if (entry == NULL)
        return;
    atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
    atomic_store_explicit(&entry->mixed, key ^ rule, memory_order_relaxed);
}

static bool
find_row(struct embed_row *row, uintptr_t pc)
{
    struct dl_find_object found;
    struct embed_headers headers;

    if (_dl_find_object((void *)pc, &found) != 0 || found.dlfo_eh_frame == NULL)
        return false;
    embed_headers_find(&headers, &found);
    return embed_cfi_find(row, found.dlfo_eh_frame,
                          embed_segment_of(&headers, found.dlfo_eh_frame), pc);
}

static bool
read_word(void *context, uintptr_t address, uintptr_t *value)
{
    return embed_stack_memory_read(context, address, value);
}

/* returns: a register of the caller; 0 if it is lost. in: offset, from the CFA,
 * in words */
static uintptr_t
restore(struct walk *walk, uint64_t how, uintptr_t now, uintptr_t cfa,
        int64_t offset)
{
    uintptr_t value;

    if (how == EMBED_PACKED_SAME)
        return now;
    if (how == EMBED_PACKED_LOST ||
        !embed_stack_memory_read(
            &walk->memory, cfa + (uintptr_t)offset * sizeof value, &value))
        return 0;
    return value;
}

/* Step to the caller, by a rule of embed_row_pack(). */
static bool
step_packed(struct walk *walk, uint64_t rule)
{
    struct embed_registers *const at = &walk->at;
    const bool from_sp = EMBED_PACKED_CFA(rule) == EMBED_PACKED_FROM_SP;
    uintptr_t cfa = (from_sp ? at->sp : at->fp) +
                    (uintptr_t)embed_packed_number(rule, 16, 24);
    uintptr_t pc;

    if (EMBED_PACKED_LAST(rule))
        return false;
    if (EMBED_PACKED_CFA(rule) == EMBED_PACKED_AT_FP &&
        !embed_stack_memory_read(&walk->memory, cfa, &cfa))
        return false;
    if (cfa <= at->sp ||
        !embed_stack_memory_read(&walk->memory, cfa - sizeof pc, &pc))
        return false;
    at->fp = restore(walk, EMBED_PACKED_FP(rule), at->fp, cfa,
                     embed_packed_number(rule, 40, 12));
    at->base = restore(walk, EMBED_PACKED_BASE(rule), at->base, cfa,
                       embed_packed_number(rule, 52, 12));
    at->scratch = 0;
    at->sp = cfa;
    at->pc = pc;
    walk->interrupted = false;
    return true;
}

/* Step to the caller by frame pointer, in code that has no unwind table. */
static bool
step_frame(struct walk *walk)
{
    const uintptr_t frame = walk->at.fp;
    uintptr_t fp;
    uintptr_t pc;

    if (frame < walk->at.sp ||
        !embed_stack_memory_read(&walk->memory, frame, &fp) ||
        !embed_stack_memory_read(&walk->memory, frame + sizeof fp, &pc))
        return false;
    walk->at = (struct embed_registers){
        .pc = pc, .sp = frame + 2 * sizeof fp, .fp = fp};
    walk->interrupted = false;
    return true;
}

static bool
step_row(struct walk *walk, const struct embed_row *row)
{
    const uintptr_t before = walk->at.sp;

    if (!embed_cfi_step(&walk->at, row, read_word, &walk->memory))
        return false;
    walk->interrupted = row->is_signal;
    if (!row->is_signal)
        return walk->at.sp > before;
    if (++walk->signals > SIGNALS_MAX)
        return false;
    /* The handler may have run on a stack of its own. */
    embed_stack_memory_begin(&walk->memory, walk->at.sp);
    return true;
}

static bool
step(struct walk *walk)
{
    const uintptr_t pc = walk->at.pc - (walk->interrupted ? 0 : 1);
    struct entry *const entry = entry_of(pc);
    const uint64_t key = embed_unwind_key(pc);
    uint64_t rule = cached(entry, key);
    struct embed_row row;

    if (rule == 0) {
        rule = BY_FRAME_POINTER;
        if (EMBED_CFI_OFFERED && find_row(&row, pc)) {
            rule = embed_row_pack(&row);
            if (rule == 0)
                return step_row(walk, &row);
        }
        remember(entry, key, rule);
    }
    return rule == BY_FRAME_POINTER ? step_frame(walk)
                                    : step_packed(walk, rule);
}

uint32_t
embed_unwind_walk(uintptr_t *pcs, uint32_t pcs_max,
                  const struct embed_registers *from, bool interrupted,
                  struct embed_own_stack *own)
{
    struct walk walk = {
        .at = *from, .memory = {.own = own}, .interrupted = interrupted};
    uint32_t count = 0;

    embed_stack_memory_begin(&walk.memory, walk.at.sp);
    pcs[count++] = walk.at.pc;
    while (count < pcs_max && step(&walk) && walk.at.pc != 0)
        pcs[count++] = walk.at.pc;
    return count;
}
