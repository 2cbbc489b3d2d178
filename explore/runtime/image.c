/*
 * image.c -- resets the program's variables before each run.
 *
 * The variables are the executable's writable memory, except the sections with
 * names of their own in which the explorer keeps its variables.
 */
#include "explore/runtime/program.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

enum { PARTS_MAX = 16 };

extern void *__libc_stack_end;
extern char __start_profsim_data[], __stop_profsim_data[];
extern char __start_profsim_bss[], __stop_profsim_bss[];

struct part {
    uintptr_t begin;
    uintptr_t end;
    uint8_t *copy;
};

static struct part parts[PARTS_MAX];
static uint32_t parts_count;

static void
add(uintptr_t begin, uintptr_t end)
{
    if (begin >= end)
        return;
    if (parts_count == PARTS_MAX)
        abort();
    parts[parts_count++] = (struct part){.begin = begin, .end = end};
}

/* Take [begin, end) out of all parts. */
static void
cut(uintptr_t begin, uintptr_t end)
{
    const uint32_t count = parts_count;

    for (uint32_t i = 0; i < count; i++) {
        const struct part p = parts[i];

        if (end <= p.begin || p.end <= begin)
            continue;
        parts[i].end = begin > p.begin ? begin : p.begin;
        add(end, p.end);
    }
}

/* Linkers put the part that is made read-only behind those it belongs to. */
static int
add_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) != 0)
            add(begin, begin + p->p_memsz);
        else if (p->p_type == PT_GNU_RELRO)
            cut(begin, begin + p->p_memsz);
    }
    return 1; /* the first object is the executable */
}

void
sim_image_keep(uintptr_t stack)
{
    for (uint32_t i = 0; i < parts_count; i++)
        free(parts[i].copy);
    parts_count = 0;
    add(stack, (uintptr_t)__libc_stack_end);
    dl_iterate_phdr(add_object, NULL);
    cut((uintptr_t)__start_profsim_data, (uintptr_t)__stop_profsim_data);
    cut((uintptr_t)__start_profsim_bss, (uintptr_t)__stop_profsim_bss);
    for (uint32_t i = 0; i < parts_count; i++) {
        struct part *p = &parts[i];

        p->copy = sim_need(malloc(p->end - p->begin));
        memcpy(p->copy, (const void *)p->begin, p->end - p->begin);
    }
}

void
sim_image_reset(void)
{
    for (uint32_t i = 0; i < parts_count; i++)
        memcpy((void *)parts[i].begin, parts[i].copy,
               parts[i].end - parts[i].begin);
}

bool
sim_image_has(uintptr_t address)
{
    for (uint32_t i = 0; i < parts_count; i++) {
        if (address - parts[i].begin < parts[i].end - parts[i].begin)
            return true;
    }
    return false;
}

void
sim_image_each(void (*visit)(uintptr_t begin, uintptr_t end))
{
    for (uint32_t i = 0; i < parts_count; i++)
        visit(parts[i].begin, parts[i].end);
}
