/*
 * convert.c -- from a recorder's spool to a recording.
 *
 *      spool --pass 1--> stacks, pcs, modules, threads --symbols--> tables
 *            --pass 2--> events, addresses turned into dense numbers
 *
 * The spool was written inside a program that may have gone wrong in any way,
 * so each record is checked; the first bad one fails the conversion. Stacks are
 * sorted from the root: then neighbours share most frames, and the file is
 * small. Frames and locks are numbered in order of appearance.
 */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"
#include "recfile.h"
#include "spool.h"
#include "symbols.h"

_Static_assert(CLI_RECFILE_CAUSES == EMBED_DROP_COUNT,
               "the causes are those of the format");

struct stack {
    uint64_t offset; /* of its record */
    uint32_t *frames;
    uint32_t depth;
};

/* An array that grows; zeroed memory is empty. */
struct items {
    void *items;
    size_t count;
    size_t room;
};

struct convert {
    const uint8_t *bytes;
    uint64_t used_bytes;
    const struct embed_spool_header *header;
    struct cli_recfile file;
    struct cli_symbols *symbols;
    struct items stacks;  /* struct stack */
    struct items pcs;     /* uint64_t, by frame */
    struct items modules; /* uint64_t: offsets of their records */
    struct items threads; /* uint64_t */
    struct items strings; /* char * */
    struct cli_map frame_of_pc;
    struct cli_map stack_at; /* by offset */
    struct cli_map string_of_hash;
    struct cli_map object_at; /* by address; live ones */
    struct cli_map lock_at;   /* by address */
    uint64_t stacks_written;
    uint64_t objects;
    uint64_t locks;
    uint64_t previous_ticks;
    uint64_t dropped[EMBED_DROP_COUNT];
    char *error;
    size_t error_bytes;
};

static bool
fail(struct convert *convert, const char *reason)
{
    snprintf(convert->error, convert->error_bytes, "%s", reason);
    return false;
}

static bool
no_memory(struct convert *convert)
{
    return fail(convert, "not enough memory to convert the recording");
}

static bool
damaged(struct convert *convert, uint64_t offset, const char *what)
{
    snprintf(convert->error, convert->error_bytes,
             "the log is damaged at offset %llu: %s",
             (unsigned long long)offset, what);
    return false;
}

static void *
add(struct items *items, size_t item_bytes)
{
    if (items->count == items->room) {
        size_t room = items->room * 2 + 64;
        void *grown = realloc(items->items, room * item_bytes);

        if (grown == NULL)
            return NULL;
        items->items = grown;
        items->room = room;
    }
    return (uint8_t *)items->items + items->count++ * item_bytes;
}

static const uint64_t *
words_at(const struct convert *convert, uint64_t offset)
{
    return (const void *)(convert->bytes + offset + 8);
}

/* Words behind word 0 that a record of this kind has at least. */
static uint32_t
words_of(uint8_t kind)
{
    static const uint8_t words[] = {0, 1, 1, 5, 4, 2, 4, 3, 2};

    return kind < sizeof words ? words[kind] : 0;
}

/* returns: false if there is no sound record at offset */
static bool
check_record(struct convert *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);
    const uint64_t *words = words_at(convert, offset);
    uint64_t left_words = (convert->used_bytes - offset) / 8;

    if (left_words == 0 || record->words > left_words)
        return damaged(convert, offset, "a record reaches past the end");
    if (words_of(record->kind) == 0)
        return damaged(convert, offset, "a record of no known kind");
    if (record->words < words_of(record->kind) + 1u)
        return damaged(convert, offset, "a record is too short");
    if (record->kind == EMBED_STACK && (record->number > EMBED_DEPTH_MAX ||
                                        record->words != record->number + 2))
        return damaged(convert, offset, "a stack of another length");
    if (record->kind == EMBED_MODULE &&
        ((words[4] & UINT32_MAX) > 64 || words[4] >> 32 > 4096 ||
         (words[4] & UINT32_MAX) + (words[4] >> 32) > 8u * record->words - 48u))
        return damaged(convert, offset, "a module of another length");
    return true;
}

static bool
take_stack(struct convert *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);
    const uint64_t *words = words_at(convert, offset);
    uint32_t depth = record->number;
    struct stack *stack = add(&convert->stacks, sizeof *stack);
    uint32_t i;

    if (stack == NULL)
        return no_memory(convert);
    stack->offset = offset;
    stack->depth = depth;
    stack->frames = malloc((depth + 1) * sizeof *stack->frames);
    if (stack->frames == NULL)
        return no_memory(convert);
    for (i = 0; i < depth; i++) {
        /* pc 0 is not a key; the recorder leaves it away. */
        uint64_t pc = words[1 + i] != 0 ? words[1 + i] : 1;
        uint64_t frame = cli_map_get(&convert->frame_of_pc, pc);

        if (frame == CLI_MAP_NONE) {
            uint64_t *place = add(&convert->pcs, sizeof *place);

            frame = convert->pcs.count - 1;
            if (place == NULL || !cli_map_put(&convert->frame_of_pc, pc, frame))
                return no_memory(convert);
            *place = pc;
        }
        stack->frames[i] = (uint32_t)frame;
    }
    return true;
}

static bool
take_number(struct convert *convert, struct items *items, uint64_t number)
{
    uint64_t *place = add(items, sizeof *place);

    if (place == NULL)
        return no_memory(convert);
    *place = number;
    return true;
}

/* Pass 1: everything that is not an event. */
static bool
take_tables(struct convert *convert)
{
    uint64_t offset = EMBED_SPOOL_FIRST;

    while (offset < convert->used_bytes) {
        const struct embed_record *record =
            (const void *)(convert->bytes + offset);
        bool good = check_record(convert, offset);

        if (good && record->kind == EMBED_STACK)
            good = take_stack(convert, offset);
        else if (good && record->kind == EMBED_MODULE)
            good = take_number(convert, &convert->modules, offset);
        else if (good && record->kind == EMBED_THREAD)
            good = take_number(convert, &convert->threads,
                               words_at(convert, offset)[0]);
        if (!good)
            return false;
        offset += 8u * record->words;
    }
    return true;
}

static int
compare_stacks(const void *left, const void *right)
{
    const struct stack *a = left;
    const struct stack *b = right;
    uint32_t i;

    for (i = 1; i <= a->depth && i <= b->depth; i++) {
        uint32_t frame_a = a->frames[a->depth - i];
        uint32_t frame_b = b->frames[b->depth - i];

        if (frame_a != frame_b)
            return frame_a < frame_b ? -1 : 1;
    }
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool
write_stacks(struct convert *convert)
{
    struct stack *stacks = convert->stacks.items;
    uint64_t number = 0;
    size_t i;

    if (convert->stacks.count > 0)
        qsort(stacks, convert->stacks.count, sizeof *stacks, compare_stacks);
    for (i = 0; i < convert->stacks.count; i++) {
        const struct stack *stack = &stacks[i];
        bool same = i > 0 && stack->depth == stack[-1].depth &&
                    memcmp(stack->frames, stack[-1].frames,
                           stack->depth * sizeof *stack->frames) == 0;

        if (!same) {
            cli_recfile_stack(&convert->file, stack->frames, stack->depth);
            number++;
        }
        if (!cli_map_put(&convert->stack_at, stack->offset, number - 1))
            return no_memory(convert);
    }
    convert->stacks_written = number;
    return true;
}

/* The number of a text; CLI_MAP_NONE if there is no memory. */
static uint64_t
string_of(struct convert *convert, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const char *at;
    uint64_t found;
    char **place;

    if (*text == '\0')
        return 0;
    for (at = text; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    for (hash |= 1;; hash += 2) {
        found = cli_map_get(&convert->string_of_hash, hash);
        if (found == CLI_MAP_NONE)
            break;
        if (strcmp(((char **)convert->strings.items)[found - 1], text) == 0)
            return found;
    }
    place = add(&convert->strings, sizeof *place);
    if (place == NULL)
        return CLI_MAP_NONE;
    *place = strndup(text, 65536);
    if (*place == NULL ||
        !cli_map_put(&convert->string_of_hash, hash, convert->strings.count))
        return CLI_MAP_NONE;
    return convert->strings.count;
}

/* The path behind a module's record, as text. */
static void
path_of(const uint64_t *words, char *path, size_t path_bytes)
{
    size_t id_bytes = words[4] & UINT32_MAX;
    size_t length = (size_t)(words[4] >> 32);

    if (length >= path_bytes)
        length = path_bytes - 1;
    memcpy(path, (const char *)(words + 5) + id_bytes, length);
    path[length] = '\0';
}

static bool
describe_modules(struct convert *convert, struct cli_recfile_module *modules)
{
    const uint64_t *offsets = convert->modules.items;
    char path[4097];
    size_t i;

    for (i = 0; i < convert->modules.count; i++) {
        const uint64_t *words = words_at(convert, offsets[i]);
        struct cli_recfile_module *to = &modules[i];

        path_of(words, path, sizeof path);
        to->start = words[1];
        to->length_bytes = words[2] - words[1];
        to->offset = words[3];
        to->id = (const uint8_t *)(words + 5);
        to->id_bytes = (uint32_t)(words[4] & UINT32_MAX);
        to->path = string_of(convert, path);
        if (to->path == CLI_MAP_NONE)
            return no_memory(convert);
        if (words[2] <= words[1])
            return damaged(convert, offsets[i], "an empty module");
        cli_symbols_add(convert->symbols, path, words[0], words[1], words[2],
                        words[3], to->id, to->id_bytes);
    }
    cli_symbols_added(convert->symbols);
    return true;
}

static bool
describe_frames(struct convert *convert,
                const struct cli_recfile_module *modules,
                struct cli_recfile_frame *frames)
{
    const uint64_t *pcs = convert->pcs.items;
    struct cli_symbol symbol;
    size_t i;
    size_t m;

    for (i = 0; i < convert->pcs.count; i++) {
        struct cli_recfile_frame *to = &frames[i];

        cli_symbols_find(convert->symbols, pcs[i], &symbol);
        to->pc = pcs[i];
        to->function = string_of(convert, symbol.function);
        to->function_offset = symbol.function_offset;
        to->file = string_of(convert, symbol.file);
        to->line = symbol.line;
        to->module = 0;
        for (m = 0; m < convert->modules.count; m++)
            if (pcs[i] - 1 - modules[m].start < modules[m].length_bytes)
                to->module = m + 1;
        if (to->function == CLI_MAP_NONE || to->file == CLI_MAP_NONE)
            return no_memory(convert);
    }
    return true;
}

static bool
write_named(struct convert *convert, struct cli_recfile_module *modules,
            struct cli_recfile_frame *frames)
{
    char **strings;
    size_t i;

    if (modules == NULL || frames == NULL)
        return no_memory(convert);
    if (!describe_modules(convert, modules) ||
        !describe_frames(convert, modules, frames))
        return false;
    strings = convert->strings.items;
    for (i = 0; i < convert->strings.count; i++)
        cli_recfile_string(&convert->file, strings[i]);
    for (i = 0; i < convert->modules.count; i++)
        cli_recfile_module(&convert->file, &modules[i]);
    for (i = 0; i < convert->pcs.count; i++)
        cli_recfile_frame(&convert->file, &frames[i]);
    return true;
}

static bool
write_tables(struct convert *convert)
{
    struct cli_recfile_module *modules =
        calloc(convert->modules.count + 1, sizeof *modules);
    struct cli_recfile_frame *frames =
        calloc(convert->pcs.count + 1, sizeof *frames);
    const uint64_t *threads = convert->threads.items;
    bool good = write_named(convert, modules, frames);
    size_t i;

    free(modules);
    free(frames);
    if (!good || !write_stacks(convert))
        return false;
    for (i = 0; i < convert->threads.count; i++)
        cli_recfile_thread(&convert->file, threads[i]);
    return true;
}

static bool
write_about(struct convert *convert)
{
    const struct embed_spool_header *header = convert->header;
    const char *arguments[sizeof header->command];
    struct cli_recfile_about about = {
        .ticks_per_second = 1000000000,
        .start_ticks = header->start_ticks,
        .process = header->process,
        .parent = header->parent,
        .depth_max = header->depth_max,
        .arguments = arguments,
    };
    uint32_t at = 0;

    while (at < header->command_bytes) {
        arguments[about.arguments_count++] = header->command + at;
        at += (uint32_t)strlen(header->command + at) + 1;
    }
    cli_recfile_about(&convert->file, &about);
    return true;
}

static uint64_t
lock_of(struct convert *convert, uint64_t address)
{
    uint64_t lock = cli_map_get(&convert->lock_at, address);

    if (lock != CLI_MAP_NONE)
        return lock;
    if (!cli_map_put(&convert->lock_at, address, convert->locks))
        convert->file.failed = true;
    return convert->locks++;
}

static void
write_free(struct convert *convert, uint32_t thread, uint64_t ticks,
           uint64_t address)
{
    uint64_t object = cli_map_get(&convert->object_at, address);

    if (object == CLI_MAP_NONE) {
        convert->dropped[EMBED_DROP_UNKNOWN]++;
        return;
    }
    cli_recfile_free(&convert->file, thread, ticks, object);
    if (!cli_map_put(&convert->object_at, address, CLI_MAP_NONE))
        convert->file.failed = true;
}

static void
write_alloc(struct convert *convert, uint32_t thread, uint64_t ticks,
            const uint64_t *words, uint32_t stack)
{
    if (cli_map_get(&convert->object_at, words[1]) != CLI_MAP_NONE) {
        convert->dropped[EMBED_DROP_MISSED]++;
        write_free(convert, thread, ticks, words[1]);
    }
    cli_recfile_alloc(&convert->file, thread, ticks, words[2], stack);
    if (!cli_map_put(&convert->object_at, words[1], convert->objects++))
        convert->file.failed = true;
}

static bool
write_event(struct convert *convert, uint64_t offset,
            const struct embed_record *record, const uint64_t *words)
{
    uint32_t last = words_of(record->kind) - 1;
    uint64_t ticks = words[0] - convert->header->start_ticks;
    uint64_t waited = 0;
    uint64_t stack = 0;

    if (words[0] < convert->previous_ticks)
        return damaged(convert, offset, "the clock goes back");
    convert->previous_ticks = words[0];
    if (record->number >= convert->threads.count)
        return damaged(convert, offset, "an event of no known thread");
    if (record->kind != EMBED_FREE)
        stack = cli_map_get(&convert->stack_at, words[last]);
    if (stack == CLI_MAP_NONE || words[1] == 0)
        return damaged(convert, offset, "an event with no known stack");
    switch (record->kind) {
    case EMBED_ALLOC:
        write_alloc(convert, record->number, ticks, words, (uint32_t)stack);
        break;
    case EMBED_FREE:
        write_free(convert, record->number, ticks, words[1]);
        break;
    case EMBED_WAIT:
        if (words[2] >= convert->header->start_ticks && words[2] <= words[0])
            waited = words[0] - words[2];
        cli_recfile_wait(&convert->file, record->number, ticks,
                         record->detail & 3, (record->detail & 0x80) != 0,
                         lock_of(convert, words[1]), waited, (uint32_t)stack);
        break;
    case EMBED_RELEASE:
        cli_recfile_release_of(&convert->file, record->number, ticks,
                               record->detail & 1, lock_of(convert, words[1]),
                               (uint32_t)stack);
        break;
    }
    return true;
}

/* Pass 2. Records are those that pass 1 has checked. */
static bool
write_events(struct convert *convert)
{
    uint64_t offset = EMBED_SPOOL_FIRST;

    convert->previous_ticks = convert->header->start_ticks;
    while (offset < convert->used_bytes) {
        const struct embed_record *record =
            (const void *)(convert->bytes + offset);
        const uint64_t *words = words_at(convert, offset);

        /* A free can turn into a cancelled one in between: look once. */
        if (record->kind >= EMBED_ALLOC && record->kind <= EMBED_RELEASE &&
            !write_event(convert, offset, record, words))
            return false;
        offset += 8u * record->words;
    }
    return true;
}

static void
sum_up(struct convert *convert, struct cli_converted *what)
{
    const struct embed_spool_header *header = convert->header;
    const struct cli_recfile *file = &convert->file;
    size_t limit = header->command_bytes;
    size_t i;

    memset(what, 0, sizeof *what);
    what->events = file->allocs + file->frees + file->waits + file->releases;
    what->stacks = convert->stacks_written;
    what->process = header->process;
    for (i = 0; i < EMBED_DROP_COUNT; i++)
        if (i != EMBED_DROP_MISSED) /* those are in the file */
            what->dropped += convert->dropped[i];
    if (limit > sizeof what->command)
        limit = sizeof what->command;
    memcpy(what->command, header->command, limit);
    for (i = 0; i + 1 < limit; i++)
        if ((uint8_t)what->command[i] < ' ')
            what->command[i] = ' ';
    what->command[limit > 0 ? limit - 1 : 0] = '\0';
}

static bool
convert_all(struct convert *convert, const char *to)
{
    uint32_t i;

    if (!take_tables(convert) || !write_about(convert) ||
        !write_tables(convert) || !write_events(convert))
        return false;
    for (i = 0; i < EMBED_DROP_COUNT; i++)
        convert->dropped[i] += atomic_load(&convert->header->dropped[i]);
    cli_recfile_end(&convert->file, convert->dropped);
    if (convert->file.failed)
        return no_memory(convert);
    if (cli_recfile_save(&convert->file, to))
        return true;
    snprintf(convert->error, convert->error_bytes, "cannot write %s: %s", to,
             strerror(errno));
    return false;
}

static void
release(struct convert *convert)
{
    struct stack *stacks = convert->stacks.items;
    char **strings = convert->strings.items;
    size_t i;

    for (i = 0; i < convert->stacks.count; i++)
        free(stacks[i].frames);
    for (i = 0; i < convert->strings.count; i++)
        free(strings[i]);
    free(stacks);
    free(strings);
    free(convert->pcs.items);
    free(convert->modules.items);
    free(convert->threads.items);
    cli_map_release(&convert->frame_of_pc);
    cli_map_release(&convert->stack_at);
    cli_map_release(&convert->string_of_hash);
    cli_map_release(&convert->object_at);
    cli_map_release(&convert->lock_at);
    cli_symbols_close(convert->symbols);
    cli_recfile_release(&convert->file);
}

static bool
is_spool(const struct embed_spool_header *header, uint64_t bytes)
{
    uint64_t used = atomic_load(&header->used_bytes);

    return header->magic == EMBED_SPOOL_MAGIC &&
           header->version == EMBED_SPOOL_VERSION && header->depth_max >= 1 &&
           header->depth_max <= EMBED_DEPTH_MAX &&
           header->command_bytes <= sizeof header->command &&
           (header->command_bytes == 0 ||
            header->command[header->command_bytes - 1] == '\0') &&
           used >= EMBED_SPOOL_FIRST && used <= bytes && used % 8 == 0;
}

/* returns: the mapped spool, or NULL with errno (0: it is no spool) */
static const struct embed_spool_header *
map_spool(const char *from, uint64_t *bytes)
{
    int file = open(from, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *place = MAP_FAILED;

    if (file < 0)
        return NULL;
    errno = 0;
    if (fstat(file, &status) == 0 && status.st_size >= EMBED_SPOOL_FIRST) {
        *bytes = (uint64_t)status.st_size;
        place = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
    if (place == MAP_FAILED)
        return NULL;
    if (is_spool(place, *bytes))
        return place;
    munmap(place, *bytes);
    errno = 0;
    return NULL;
}

bool
cli_convert(const char *from, const char *to, struct cli_converted *what,
            char *error, size_t error_bytes)
{
    struct convert convert = {.error = error, .error_bytes = error_bytes};
    uint64_t bytes = 0;
    bool good;

    convert.header = map_spool(from, &bytes);
    if (convert.header == NULL)
        return fail(&convert, errno != 0 ? strerror(errno)
                                         : "the log has a damaged header");
    convert.bytes = (const uint8_t *)convert.header;
    convert.used_bytes = atomic_load(&convert.header->used_bytes);
    cli_recfile_init(&convert.file, 0);
    convert.symbols = cli_symbols_open();
    good = convert.symbols != NULL ? convert_all(&convert, to)
                                   : no_memory(&convert);
    if (good)
        sum_up(&convert, what);
    munmap((void *)(uintptr_t)convert.header, bytes);
    release(&convert);
    return good;
}

uint32_t
cli_convert_process(const char *from)
{
    uint64_t bytes = 0;
    const struct embed_spool_header *header = map_spool(from, &bytes);
    uint32_t process;

    if (header == NULL)
        return 0;
    process = header->process;
    munmap((void *)(uintptr_t)header, bytes);
    return process;
}
