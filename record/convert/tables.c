/*
 * tables.c -- converts what a spool holds besides events: stacks with the names
 * of their frames, threads and modules.
 *
 * Stacks are sorted from the root: then neighbours share most frames, and the
 * file is small. Frames are numbered in order of appearance.
 */
#include "record/convert/conversion.h"

#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"

uint32_t
cli_conversion_words_of(uint8_t kind)
{
    static const uint8_t words[] = {0, 1, 1, 5, 4, 2, 4, 3, 2, 5, 2, 2, 1, 2};

    return kind < sizeof words ? words[kind] : 0;
}

/* returns: false if there is no sound record at offset */
static bool
check_record(struct cli_conversion *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);
    const uint64_t *words = cli_conversion_words(convert, offset);
    uint64_t left_words = (convert->used_bytes - offset) / 8;

    if (left_words == 0 || cli_conversion_length(record) > left_words)
        return cli_conversion_damaged(convert, offset,
                                      "a record reaches past the end");
    if (cli_conversion_is_short(record))
        return true;
    if (cli_conversion_words_of(record->kind) == 0)
        return cli_conversion_damaged(convert, offset,
                                      "a record of no known kind");
    if (record->words < cli_conversion_words_of(record->kind) + 1u)
        return cli_conversion_damaged(convert, offset, "a record is too short");
    if (record->kind == EMBED_STACK &&
        (record->number > convert->header->depth_max ||
         record->words != record->number + 2))
        return cli_conversion_damaged(convert, offset,
                                      "a stack of another length");
    if (record->kind == EMBED_MODULE &&
        ((words[4] & UINT32_MAX) > 64 || words[4] >> 32 > 4096 ||
         (words[4] & UINT32_MAX) + (words[4] >> 32) > 8u * record->words - 48u))
        return cli_conversion_damaged(convert, offset,
                                      "a module of another length");
    if (record->kind == EMBED_NAME && record->number >= convert->threads.count)
        return cli_conversion_damaged(convert, offset,
                                      "a name of no known thread");
    return true;
}

static void
take_stack(struct cli_conversion *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);
    struct cli_stack *stack = cli_items_add(&convert->stacks, sizeof *stack);

    stack->offset = offset;
    stack->epoch = convert->epoch;
    stack->depth = record->number;
    stack->frames =
        cli_need(malloc((record->number + 1) * sizeof *stack->frames));
}

static void
add_number(struct cli_items *items, uint64_t number)
{
    *(uint64_t *)cli_items_add(items, sizeof number) = number;
}

/* Number the pcs of a stack. All modules are known. */
static void
number_pcs(struct cli_conversion *convert, const struct cli_stack *stack)
{
    const uint64_t *words = cli_conversion_words(convert, stack->offset);

    for (uint32_t i = 0; i < stack->depth; i++) {
        /* pc 0 is not a key; the recorder never logs it. */
        const uint64_t given = words[1 + i] != 0 ? words[1 + i] : 1;
        const uint64_t pc =
            given + cli_modules_shift(convert, stack->epoch, given);
        uint64_t frame = cli_map_get(&convert->number_of_pc, pc);

        if (frame == CLI_MAP_NONE) {
            frame = convert->pcs.count;
            add_number(&convert->pcs, pc);
            cli_map_put(&convert->number_of_pc, pc, frame);
        }
        stack->frames[i] = (uint32_t)frame;
    }
}

static void
take_record(struct cli_conversion *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);

    if (record->kind == EMBED_STACK) {
        take_stack(convert, offset);
    } else if (record->kind == EMBED_MODULE) {
        cli_modules_take(convert, offset);
    } else if (record->kind == EMBED_UNLOAD) {
        convert->epoch++;
    } else if (record->kind == EMBED_THREAD) {
        add_number(&convert->threads, cli_conversion_words(convert, offset)[0]);
        add_number(&convert->thread_names, 0);
    } else if (record->kind == EMBED_NAME) {
        ((uint64_t *)convert->thread_names.items)[record->number] = offset;
    }
}

bool
cli_conversion_take_tables(struct cli_conversion *convert)
{
    uint64_t offset = EMBED_SPOOL_FIRST;

    while (offset < convert->used_bytes) {
        if (!check_record(convert, offset))
            return false;
        take_record(convert, offset);
        offset +=
            8u * cli_conversion_length((const void *)(convert->bytes + offset));
    }
    cli_modules_place(convert);
    for (size_t i = 0; i < convert->stacks.count; i++)
        number_pcs(convert, (struct cli_stack *)convert->stacks.items + i);
    return true;
}

/* Equal stacks become one, in whichever order they are. */
static int
compare_stacks(const void *left, const void *right)
{
    const struct cli_stack *a = left;
    const struct cli_stack *b = right;
    uint32_t i;

    for (i = 1; i <= a->depth && i <= b->depth; i++) {
        uint32_t frame_a = a->frames[a->depth - i];
        uint32_t frame_b = b->frames[b->depth - i];

        if (frame_a != frame_b)
            return frame_a < frame_b ? -1 : 1;
    }
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static void
write_stacks(struct cli_conversion *convert)
{
    struct cli_stack *stacks = convert->stacks.items;
    uint64_t number = 0;
    size_t i;

    if (convert->stacks.count > 0)
        qsort(stacks, convert->stacks.count, sizeof *stacks, compare_stacks);
    for (i = 0; i < convert->stacks.count; i++) {
        const struct cli_stack *stack = &stacks[i];
        bool same = i > 0 && stack->depth == stack[-1].depth &&
                    memcmp(stack->frames, stack[-1].frames,
                           stack->depth * sizeof *stack->frames) == 0;

        if (!same) {
            cli_recfile_stack(&convert->file, stack->frames, stack->depth);
            number++;
        }
        cli_map_put(&convert->stack_at, stack->offset, number - 1);
    }
    convert->stacks_written = number;
}

/* returns: the number of a text, from 1; 0 of an empty one */
static uint64_t
string_of(struct cli_conversion *convert, const char *text)
{
    return *text == '\0' ? 0 : cli_strings_number(&convert->strings, text) + 1;
}

/* Copy the path at the end of a module's record, as text. */
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
describe_modules(struct cli_conversion *convert,
                 struct cli_recfile_module *modules)
{
    const struct cli_module *from = convert->modules.items;
    char path[4097];
    size_t i;

    for (i = 0; i < convert->modules.count; i++) {
        const uint64_t *words = cli_conversion_words(convert, from[i].offset);
        const uint64_t shift = from[i].layer << CLI_LAYER_BITS;
        struct cli_recfile_module *to = &modules[i];

        path_of(words, path, sizeof path);
        to->start = words[1] + shift;
        to->length_bytes = words[2] - words[1];
        to->offset = words[3];
        to->id = (const uint8_t *)(words + 5);
        to->id_bytes = (uint32_t)(words[4] & UINT32_MAX);
        to->path = string_of(convert, path);
        if (words[2] <= words[1])
            return cli_conversion_damaged(convert, from[i].offset,
                                          "an empty module");
        cli_symbols_add(convert->symbols, path, words[0] + shift,
                        words[1] + shift, words[2] + shift, words[3], to->id,
                        to->id_bytes);
    }
    return true;
}

/* returns: the number of the last module that contains a pc; 0: none */
static uint64_t
module_of(const struct cli_conversion *convert,
          const struct cli_recfile_module *modules, uint64_t pc)
{
    size_t m = convert->modules.count;

    while (m > 0 &&
           pc - 1 - modules[m - 1].start >= modules[m - 1].length_bytes)
        m--;
    return m;
}

/* Write one record for each function at the pc, the innermost first. */
static void
describe_pc(struct cli_conversion *convert,
            const struct cli_recfile_module *modules, uint64_t pc)
{
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t count = cli_symbols_find_all(convert->symbols, pc, found);
    const uint64_t module = module_of(convert, modules, pc);

    for (uint32_t i = 0; i < count; i++) {
        struct cli_recfile_frame *const to =
            cli_items_add(&convert->frames, sizeof *to);

        to->pc = pc;
        to->module = module;
        to->function = string_of(convert, found[i].function);
        to->function_offset = found[i].function_offset;
        to->file = string_of(convert, found[i].file);
        to->line = found[i].line;
    }
}

/* Replace the numbers of pcs in all stacks by those of frames. */
static void
number_frames(struct cli_conversion *convert, const uint32_t *frame_of)
{
    struct cli_stack *stacks = convert->stacks.items;

    for (size_t i = 0; i < convert->stacks.count; i++) {
        for (uint32_t k = 0; k < stacks[i].depth; k++)
            stacks[i].frames[k] = frame_of[stacks[i].frames[k]];
    }
}

static void
describe_frames(struct cli_conversion *convert,
                const struct cli_recfile_module *modules)
{
    const uint64_t *pcs = convert->pcs.items;
    uint32_t *frame_of =
        cli_need(calloc(convert->pcs.count + 1, sizeof *frame_of));

    for (size_t i = 0; i < convert->pcs.count; i++) {
        frame_of[i] = (uint32_t)convert->frames.count;
        describe_pc(convert, modules, pcs[i]);
    }
    number_frames(convert, frame_of);
    free(frame_of);
}

static void
write_named(struct cli_conversion *convert,
            const struct cli_recfile_module *modules)
{
    const struct cli_recfile_frame *frames;

    describe_frames(convert, modules);
    frames = convert->frames.items;
    for (size_t i = 0; i < convert->strings.count; i++)
        cli_recfile_string(&convert->file, convert->strings.texts[i]);
    for (size_t i = 0; i < convert->modules.count; i++)
        cli_recfile_module(&convert->file, &modules[i]);
    for (size_t i = 0; i < convert->frames.count; i++)
        cli_recfile_frame(&convert->file, &frames[i]);
}

bool
cli_conversion_write_tables(struct cli_conversion *convert)
{
    struct cli_recfile_module *modules =
        cli_need(calloc(convert->modules.count + 1, sizeof *modules));
    const uint64_t *threads = convert->threads.items;
    const uint64_t *names = convert->thread_names.items;
    const bool good = describe_modules(convert, modules);

    if (good)
        write_named(convert, modules);
    free(modules);
    if (!good)
        return false;
    write_stacks(convert);
    for (size_t i = 0; i < convert->threads.count; i++) {
        char name[17] = "";

        if (names[i] != 0)
            memcpy(name, cli_conversion_words(convert, names[i]), 16);
        cli_recfile_thread(&convert->file, threads[i], name);
    }
    return true;
}
