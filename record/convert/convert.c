/*
 * convert.c -- from a recorder's spool to a recording.
 *
 *      spool --pass 1--> stacks, pcs, modules, threads --symbols--> tables
 *            --pass 2--> events, addresses turned into dense numbers
 *
 * The spool was written inside a program that may have overwritten it, so each
 * record is checked. The conversion fails at the first bad one. Pass 1 is in
 * tables.c.
 */
#include "record/convert/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/convert/conversion.h"
#include "record/symbols/images.h"
#include "common/output.h"

_Static_assert(CLI_RECFILE_CAUSES == EMBED_DROP_COUNT,
               "the causes are those of the format");

static void
write_about(struct cli_conversion *convert)
{
    const struct embed_spool_header *header = convert->header;
    const char *arguments[sizeof header->command];
    struct cli_recfile_about about = {
        .ticks_per_second = 1000000000,
        .start_ticks = header->start_ticks,
        .forked_ticks = header->forked_ticks,
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
}

static uint64_t
lock_of(struct cli_conversion *convert, uint64_t address)
{
    uint64_t lock = cli_map_get(&convert->lock_at, address);

    if (lock != CLI_MAP_NONE)
        return lock;
    cli_map_put(&convert->lock_at, address, convert->locks);
    return convert->locks++;
}

static void
write_free(struct cli_conversion *convert, uint32_t thread, uint64_t ticks,
           uint64_t address)
{
    uint64_t object = cli_map_get(&convert->object_at, address);

    if (object == CLI_MAP_NONE) {
        convert->dropped[EMBED_DROP_UNKNOWN]++;
        return;
    }
    cli_recfile_free(&convert->file, thread, ticks, object);
    cli_map_put(&convert->object_at, address, CLI_MAP_NONE);
}

/* If an address is allocated again, its free was not seen: record it now. */
static void
clear_address(struct cli_conversion *convert, uint32_t thread, uint64_t ticks,
              uint64_t address)
{
    if (cli_map_get(&convert->object_at, address) == CLI_MAP_NONE)
        return;
    convert->dropped[EMBED_DROP_MISSED]++;
    write_free(convert, thread, ticks, address);
}

/* returns: the usable bytes, which come before the stack, the last word; 0 if
 * malloc was not asked */
static uint64_t
usable_of(const struct embed_record *record, const uint64_t *words)
{
    return record->words > cli_conversion_words_of(record->kind) + 1u
               ? words[record->words - 3]
               : 0;
}

static void
write_alloc(struct cli_conversion *convert, const struct embed_record *record,
            uint64_t ticks, const uint64_t *words, uint32_t stack)
{
    const uint32_t alignment = record->detail >> 1 & 0x7f;
    const struct cli_recfile_request request = {
        .zeroed = (record->detail & 1) != 0,
        .has_alignment = alignment != 0 && alignment <= 64,
        .alignment_log2 = (alignment - 1) & 63,
        .usable_bytes = usable_of(record, words),
    };

    if (record->detail == 0)
        convert->is_reached = true;
    clear_address(convert, record->number, ticks, words[1]);
    cli_recfile_alloc(&convert->file, record->number, ticks, words[2], &request,
                      stack);
    cli_map_put(&convert->object_at, words[1], convert->objects++);
}

/* During a resize the object has no address. If the resize never ends, the
 * object stays live. */
static void
begin_resize(struct cli_conversion *convert, uint64_t offset, uint64_t address)
{
    const uint64_t object = cli_map_get(&convert->object_at, address);

    if (object == CLI_MAP_NONE) {
        convert->dropped[EMBED_DROP_UNKNOWN]++;
        return;
    }
    cli_map_put(&convert->object_at, address, CLI_MAP_NONE);
    cli_map_put(&convert->resize_at, offset, object);
}

/* A resize of an object that was never seen counts as an allocation. */
static void
end_resize(struct cli_conversion *convert, const struct embed_record *record,
           uint64_t ticks, const uint64_t *words, uint32_t stack)
{
    /* words[3] may be 0, which is no key. */
    const uint64_t object = cli_map_get(&convert->resize_at, words[3]);

    if (object == CLI_MAP_NONE) {
        write_alloc(convert, record, ticks, words, stack);
        return;
    }
    clear_address(convert, record->number, ticks, words[1]);
    cli_recfile_resize(&convert->file, record->number, ticks, object, words[2],
                       usable_of(record, words), stack);
    cli_map_put(&convert->object_at, words[1], object);
    cli_map_put(&convert->resize_at, words[3], CLI_MAP_NONE);
}

static bool
write_event(struct cli_conversion *convert, uint64_t offset,
            const struct embed_record *record, const uint64_t *words)
{
    const uint32_t last = record->words - 2u;
    uint64_t ticks = words[0] - convert->header->start_ticks;
    uint64_t waited = 0;
    uint64_t stack = 0;

    if (words[0] < convert->previous_ticks)
        return cli_conversion_damaged(convert, offset, "the clock goes back");
    convert->previous_ticks = words[0];
    if (record->number >= convert->threads.count)
        return cli_conversion_damaged(convert, offset,
                                      "an event of no known thread");
    if (record->kind != EMBED_FREE && record->kind != EMBED_RESIZE)
        stack = cli_map_get(&convert->stack_at, words[last]);
    if (stack == CLI_MAP_NONE || words[1] == 0)
        return cli_conversion_damaged(convert, offset,
                                      "an event with no known stack");
    switch (record->kind) {
    case EMBED_ALLOC:
        write_alloc(convert, record, ticks, words, (uint32_t)stack);
        break;
    case EMBED_RESIZE:
        begin_resize(convert, offset, words[1]);
        break;
    case EMBED_RESIZED:
        end_resize(convert, record, ticks, words, (uint32_t)stack);
        break;
    case EMBED_FREE:
        write_free(convert, record->number, ticks, words[1]);
        break;
    case EMBED_WAIT:
        if (words[2] >= convert->header->start_ticks && words[2] <= words[0])
            waited = words[0] - words[2];
        cli_recfile_wait(&convert->file, record->number, ticks,
                         record->detail & 7, (record->detail & 0x80) != 0,
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

/* Write the event of a short record. */
static bool
write_short(struct cli_conversion *convert, uint64_t offset,
            const uint64_t *from)
{
    const bool is_alloc = (uint8_t)from[0] == EMBED_SHORT_ALLOC;
    const struct embed_record record = {
        .kind = is_alloc ? EMBED_ALLOC : EMBED_FREE,
        .words = is_alloc ? 5 : 3,
        .number = from[0] >> 8 & ((1u << EMBED_SHORT_THREAD_BITS) - 1)};
    uint64_t words[4] = {convert->previous_ticks,
                         from[0] >> (64 - EMBED_SHORT_ADDRESS_BITS) << 4};

    if (is_alloc) {
        words[0] += from[1] >> EMBED_SHORT_BYTES_BITS &
                    ((1u << EMBED_SHORT_TICKS_BITS) - 1);
        words[2] = from[1] & ((1u << EMBED_SHORT_BYTES_BITS) - 1);
        words[3] = from[1] >> (64 - EMBED_SHORT_STACK_BITS) << 3;
    }
    return write_event(convert, offset, &record, words);
}

/* Pass 2. Records are those that pass 1 has checked. */
static bool
write_events(struct cli_conversion *convert)
{
    uint64_t offset = EMBED_SPOOL_FIRST;

    convert->previous_ticks = convert->header->start_ticks;
    while (offset < convert->used_bytes) {
        const struct embed_record *record =
            (const void *)(convert->bytes + offset);
        const uint64_t *words = cli_conversion_words(convert, offset);

        /* Read `kind` only once: a record may become EMBED_CANCELLED
         * meanwhile. */
        if (record->kind >= EMBED_ALLOC && record->kind <= EMBED_RESIZED &&
            !write_event(convert, offset, record, words))
            return false;
        if (record->kind == EMBED_CANCELLED &&
            words[0] > convert->previous_ticks)
            convert->previous_ticks = words[0]; /* a short record counts on */
        if (cli_conversion_is_short(record) &&
            !write_short(convert, offset, words - 1))
            return false;
        offset += 8u * cli_conversion_length(record);
    }
    return true;
}

/* Join the arguments with spaces, truncated to `bytes`. */
static void
command_of(const struct embed_spool_header *header, char *text, size_t bytes)
{
    size_t length = header->command_bytes;

    if (length > bytes)
        length = bytes;
    memcpy(text, header->command, length);
    for (size_t i = 0; i + 1 < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length > 0 ? length - 1 : 0] = '\0';
}

static void
sum_up(struct cli_conversion *convert, struct cli_converted *what)
{
    const struct embed_spool_header *header = convert->header;
    const struct cli_recfile *file = &convert->file;

    memset(what, 0, sizeof *what);
    what->events = file->allocs + file->frees + file->resizes + file->waits +
                   file->releases;
    what->stacks = convert->stacks_written;
    what->process = header->process;
    memcpy(what->dropped, convert->dropped, sizeof what->dropped);
    command_of(header, what->command, sizeof what->command);
}

static bool
convert_all(struct cli_conversion *convert, const char *to)
{
    const struct props_output output = {.path = to, .is_private = true};
    const char *reason;
    uint32_t i;

    if (!cli_conversion_take_tables(convert))
        return false;
    write_about(convert);
    if (!cli_conversion_write_tables(convert) || !write_events(convert))
        return false;
    for (i = 0; i < EMBED_DROP_COUNT; i++)
        convert->dropped[i] += atomic_load(&convert->header->dropped[i]);
    if (convert->is_reached) /* its own malloc calls the next one */
        convert->dropped[EMBED_DROP_OWN] = 0;
    cli_recfile_end(&convert->file, convert->dropped);
    reason = props_output_write(&output, convert->file.to.at,
                                convert->file.to.count);
    if (reason == NULL)
        return true;
    snprintf(convert->error, convert->error_bytes, "cannot write %s: %s", to,
             reason);
    return false;
}

static void
release(struct cli_conversion *convert)
{
    struct cli_stack *stacks = convert->stacks.items;
    size_t i;

    for (i = 0; i < convert->stacks.count; i++)
        free(stacks[i].frames);
    free(stacks);
    cli_strings_release(&convert->strings);
    free(convert->pcs.items);
    free(convert->frames.items);
    free(convert->modules.items);
    free(convert->sightings.items);
    free(convert->threads.items);
    free(convert->thread_names.items);
    cli_map_release(&convert->number_of_pc);
    cli_map_release(&convert->stack_at);
    cli_map_release(&convert->module_of_hash);
    cli_map_release(&convert->object_at);
    cli_map_release(&convert->resize_at);
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

/* returns: the mapped spool, or NULL with errno (0: it is not a spool) */
static const struct embed_spool_header *
map_spool(const char *from, uint64_t *bytes)
{
    /* The program may have put anything there: a link, a pipe without end. */
    int file = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    void *mapped = MAP_FAILED;

    if (file < 0)
        return NULL;
    errno = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= EMBED_SPOOL_FIRST) {
        *bytes = (uint64_t)status.st_size;
        mapped = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
    if (mapped == MAP_FAILED)
        return NULL;
    if (is_spool(mapped, *bytes))
        return mapped;
    munmap(mapped, *bytes);
    errno = 0;
    return NULL;
}

bool
cli_convert(const char *from, const char *to, struct cli_symbol_files *files,
            struct cli_converted *what, char *error, size_t error_bytes)
{
    struct cli_conversion convert = {.error = error,
                                     .error_bytes = error_bytes};
    uint64_t bytes = 0;
    bool good;

    convert.header = map_spool(from, &bytes);
    if (convert.header == NULL)
        return cli_conversion_fail(&convert,
                                   errno != 0 ? strerror(errno)
                                              : "the log has a damaged header");
    convert.bytes = (const uint8_t *)convert.header;
    convert.used_bytes = atomic_load(&convert.header->used_bytes);
    cli_recfile_init(&convert.file);
    convert.symbols = cli_symbols_open(files);
    good = convert_all(&convert, to);
    if (good)
        sum_up(&convert, what);
    munmap((void *)(uintptr_t)convert.header, bytes);
    release(&convert);
    return good;
}

/* Stop at a damaged record; the conversion of the spool reports where it is. */
static void
list_executed(const struct embed_spool_header *header, uint64_t bytes,
              cli_executed_fn *each, void *context)
{
    const uint8_t *const spool = (const void *)header;
    uint64_t used = atomic_load(&header->used_bytes);
    uint64_t offset = EMBED_SPOOL_FIRST;

    if (used > bytes)
        used = bytes;
    while (offset < used) {
        const struct embed_record *record = (const void *)(spool + offset);
        const uint64_t *words = (const void *)(record + 1);
        const uint32_t length_words = cli_conversion_length(record);

        if (length_words == 0 || length_words > (used - offset) / 8)
            return;
        if (record->kind == EMBED_EXEC && record->words >= 3 &&
            words[1] <= 8u * (record->words - 3u)) {
            char path[512];
            const size_t length =
                words[1] < sizeof path ? (size_t)words[1] : sizeof path - 1;

            memcpy(path, words + 2, length);
            path[length] = '\0';
            each(context, record->number, words[0], path);
        }
        offset += 8u * length_words;
    }
}

void
cli_convert_executed(const char *from, cli_executed_fn *each, void *context)
{
    uint64_t bytes = 0;
    const struct embed_spool_header *header = map_spool(from, &bytes);

    if (header == NULL)
        return;
    if (atomic_load(&header->executed) > 0)
        list_executed(header, bytes, each, context);
    munmap((void *)(uintptr_t)header, bytes);
}

bool
cli_convert_peek(const char *from, struct cli_image *image)
{
    uint64_t bytes = 0;
    const struct embed_spool_header *header = map_spool(from, &bytes);

    if (header == NULL)
        return false;
    image->process = header->process;
    image->parent = header->parent;
    image->events = atomic_load(&header->events);
    image->bytes = atomic_load(&header->requested_bytes);
    command_of(header, image->command, sizeof image->command);
    munmap((void *)(uintptr_t)header, bytes);
    return true;
}
