/*
 * frame_lines.c -- the text lines of a stack, in columns.
 *
 *      #|TAB|0x401000|TAB|main.work+0x10|TAB|TAB|main.c:12
 *      #|TAB|0x4a0001                                       no name: no columns
 *
 * Columns are laid out as by Go's tabwriter (minimum width 1, padding 1, tab
 * stops every 8). A cell that ends in a tab is filled with tabs to the width of
 * its column: the widest cell plus one, rounded up to a tab stop. A column
 * consists of adjacent lines that have a cell in it; a line without a name has
 * only the first. The last cell of a line is not filled. So before a run of
 * named lines is written, the widths of two columns must be known.
 */
#include "prof/pprof/frame_lines.h"

#include "prof/core/assertion.h"
#include "prof/core/poison.h"
#include "prof/pprof/symbol_of.h"

enum { TEXT_BUFFER_BYTES = 1 << 14, TAB_STOP = 8 };

bool
prof_text_begin(struct text *text, const struct prof_output *output,
                struct arena *arena)
{
    void *const buffer = prof_arena_take(arena, TEXT_BUFFER_BYTES);

    text->symbols =
        prof_arena_take(arena, PROF_DEPTH_LIMIT * sizeof *text->symbols);
    if (buffer == NULL || text->symbols == NULL)
        return false;
    text->names = output->symbols;
    text->lost = output->lost != 0 ? output->lost : 1;
    prof_out_init(&text->out, &output->sink, buffer, TEXT_BUFFER_BYTES);
    return true;
}

void
prof_text_addresses(struct text *text, const uintptr_t *stack, uint32_t depth)
{
    prof_out_bytes(&text->out, "@", 1);
    for (uint32_t i = 0; i < depth; i++) {
        prof_out_bytes(&text->out, " ", 1);
        prof_out_0x(&text->out, stack[i]);
    }
    prof_out_bytes(&text->out, "\n", 1);
}

/* ---- cells ---- */

static uintptr_t
offset_of(uintptr_t pc, const struct prof_symbol *symbol)
{
    const uintptr_t at = shown_pc(pc, symbol);

    return symbol->entry != 0 && symbol->entry <= at ? at - symbol->entry : 0;
}

static size_t
hex_width(uint64_t value)
{
    char digits[OUT_DIGITS_MAX];

    return 2 + prof_out_hex(digits, value);
}

/* The number of UTF-8 characters: counts the bytes that begin one. */
static size_t
text_width(const char *text)
{
    const size_t bytes = prof_text_bytes(text);
    size_t width = 0;

    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static size_t
name_width(uintptr_t pc, const struct prof_symbol *symbol)
{
    return text_width(symbol->function) + 1 + hex_width(offset_of(pc, symbol));
}

/* Fill a cell of `width` characters with tabs; the widest cell of its column
 * has `widest`. */
static void
put_tabs(struct out *out, size_t width, size_t widest)
{
    for (size_t at = width / TAB_STOP; at <= widest / TAB_STOP; at++)
        prof_out_bytes(out, "\t", 1);
}

void
prof_text_name(struct out *out, const char *name)
{
    const size_t bytes = prof_text_bytes(name);

    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)name[i];

        prof_out_bytes(out, c < 0x20 || c == 0x7f ? "?" : &name[i], 1);
    }
}

/* ---- lines ---- */

static bool
is_named(const struct prof_symbol *symbol)
{
    return symbol->function != NULL && symbol->function[0] != '\0';
}

static void
put_unnamed(struct text *text, uintptr_t pc)
{
    prof_out_text(&text->out, "#\t");
    prof_out_0x(&text->out, pc != 0 ? pc - 1 : 0);
    prof_out_bytes(&text->out, "\n", 1);
}

static void
put_named(struct text *text, uintptr_t pc, const struct prof_symbol *symbol,
          size_t pc_widest, size_t name_widest)
{
    struct out *const out = &text->out;
    const uintptr_t at = shown_pc(pc, symbol);

    prof_out_text(out, "#\t");
    prof_out_0x(out, at);
    put_tabs(out, hex_width(at), pc_widest);
    prof_text_name(out, symbol->function);
    prof_out_bytes(out, "+", 1);
    prof_out_0x(out, offset_of(pc, symbol));
    put_tabs(out, name_width(pc, symbol), name_widest);
    prof_text_name(out, symbol->file);
    prof_out_bytes(out, ":", 1);
    prof_out_u64(out, symbol->line);
    prof_out_bytes(out, "\n", 1);
}

/*
 * Write the named lines from `from` on, up to a frame without a name.
 *
 * returns: the first frame that was not read
 */
static uint32_t
put_run(struct text *text, const uintptr_t *stack, uint32_t from,
        uint32_t depth)
{
    const struct prof_symbol *symbols = text->symbols;
    size_t pc_widest = 0;
    size_t name_widest = 0;
    uint32_t limit = from;

    for (; limit < depth && is_named(&symbols[limit]); limit++) {
        const size_t pc = hex_width(shown_pc(stack[limit], &symbols[limit]));
        const size_t name = name_width(stack[limit], &symbols[limit]);

        if (symbols[limit].kind == PROF_FRAME_ROOT)
            continue;
        pc_widest = pc > pc_widest ? pc : pc_widest;
        name_widest = name > name_widest ? name : name_widest;
    }
    for (uint32_t i = from; i < limit; i++) {
        if (symbols[i].kind != PROF_FRAME_ROOT)
            put_named(text, stack[i], &symbols[i], pc_widest, name_widest);
    }
    return limit;
}

static void
name_stack(struct text *text, const uintptr_t *stack, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        text->symbols[i] = symbol_of(&text->names, stack[i]);
}

/* returns: the first frame to show; 0 if all frames are the runtime's */
static uint32_t
first_shown(const struct text *text, uint32_t depth, enum frames_shown shown)
{
    if (shown == FRAMES_ALL)
        return 0;
    for (uint32_t i = 0; i < depth; i++) {
        if (!is_named(&text->symbols[i]) ||
            text->symbols[i].kind == PROF_FRAME_PROGRAM)
            return i;
    }
    return 0;
}

void
prof_text_frames(struct text *text, const uintptr_t *stack, uint32_t depth,
                 enum frames_shown shown)
{
    const uint32_t kept = depth < PROF_DEPTH_LIMIT ? depth : PROF_DEPTH_LIMIT;

    name_stack(text, stack, kept);
    if (depth == 0)
        prof_out_text(&text->out, "#\t0x0\n");
    for (uint32_t i = first_shown(text, kept, shown); i < kept;) {
        if (is_named(&text->symbols[i])) {
            i = put_run(text, stack, i, kept);
        } else {
            put_unnamed(text, stack[i]);
            i++;
        }
    }
    prof_out_bytes(&text->out, "\n", 1);
}
