/* elf_model.c -- see elf_model.h. */
#include "elf_model.h"

#include <elf.h>
#include <string.h>

#include "drawn.h"

static uint32_t
below(uint64_t limit)
{
    return (uint32_t)draw(limit);
}

static void
make_symbol(struct elf_model *model, uint32_t i, bool is_local)
{
    static const uint32_t types[] = {STT_FUNC,      STT_FUNC,    STT_FUNC,
                                     STT_NOTYPE,    STT_SECTION, STT_FILE,
                                     STT_GNU_IFUNC, STT_TLS};
    struct elf_symbol *symbol = &model->symbols[i];
    const struct elf_symbol *other = &model->symbols[i > 0 ? below(i) : 0];

    *symbol = (struct elf_symbol){
        .start = ELF_TEXT + below(ELF_TEXT_BYTES),
        .bytes = below(8) == 0 ? 0 : 1 + below(below(2) == 0 ? 400 : 24),
        .type = types[below(sizeof types / sizeof *types)],
        .binding = is_local        ? STB_LOCAL
                   : below(2) == 0 ? STB_GLOBAL
                                   : STB_WEAK,
        .is_undefined = below(12) == 0};
    if (i > 0 && below(3) == 0)
        symbol->start = other->start;
    if (i > 0 && below(2) == 0)
        symbol->bytes = other->bytes;
    if (below(12) > 0)
        snprintf(symbol->name, sizeof symbol->name, "%c%u%s", model->tag, i,
                 below(4) == 0   ? "@@V_1"
                 : below(4) == 0 ? "@V"
                                 : "");
}

static void
make_symbols(struct elf_model *model)
{
    const uint32_t count = below(ELF_SYMBOLS + 1);
    const uint32_t locals = below(count + 1);

    model->symbols_count = count;
    for (uint32_t i = 0; i < count; i++)
        make_symbol(model, i, i < locals);
}

static void
make_unwind(struct elf_model *model)
{
    static const uint64_t places[] = {0x2000, ELF_TEXT + 0x2000};
    uint64_t at = ELF_TEXT + below(200);

    model->unwind = below(3) > 0 ? ELF_TABLE : (enum elf_unwind)below(4);
    model->unwind_address = places[below(2)];
    model->starts_count = 0;
    for (uint32_t i = below(ELF_STARTS + 1);
         i > 0 && at < ELF_TEXT + ELF_TEXT_BYTES; i--) {
        model->starts[model->starts_count++] = at;
        at += 1 + below(100);
    }
}

static struct elf_entry *
add_entry(struct elf_model *model, struct elf_entry entry)
{
    if (model->entries_count == ELF_ENTRIES)
        return NULL;
    model->entries[model->entries_count] = entry;
    return &model->entries[model->entries_count++];
}

/* Fill a range with calls and blocks, which nest. */
static void
make_calls(struct elf_model *model, const struct elf_entry *parent,
           uint64_t start, uint64_t limit, uint32_t depth_max)
{
    uint64_t at = start;

    while (at < limit && parent->depth < depth_max && below(5) > 0) {
        struct elf_entry child = {.kind =
                                      below(3) == 0 ? ELF_BLOCK : ELF_INLINED,
                                  .depth = parent->depth + 1,
                                  .unit = parent->unit,
                                  .origin = below(ELF_ORIGINS),
                                  .call_file = below(3),
                                  .call_line = 1 + below(3000),
                                  .is_left_out = parent->is_left_out};

        child.start[0] = at + below(3);
        child.limit[0] = child.start[0] + 1 + below(limit - start);
        if (child.limit[0] > limit)
            return;
        at = child.limit[0];
        if (below(3) == 0 && at + 3 < limit) {
            child.start[1] = at + 1;
            child.limit[1] = at + 2 + below(limit - at - 2);
            at = child.limit[1];
        }
        if (add_entry(model, child) == NULL)
            return;
        make_calls(model, &child, child.start[0], child.limit[0], depth_max);
    }
}

/* One call in the other, more than are listed; and all of one range. */
static void
make_chain(struct elf_model *model, const struct elf_entry *function)
{
    struct elf_entry child = *function;

    child.limit[1] = 0;
    child.kind = ELF_INLINED;
    for (uint32_t i = 60 + below(10); i > 0; i--) {
        child.depth++;
        child.origin = below(ELF_ORIGINS);
        child.call_line = i;
        child.call_file = 1 + i % 2;
        if (add_entry(model, child) == NULL)
            return;
    }
}

static void
make_functions(struct elf_model *model, uint32_t unit, uint64_t start,
               uint64_t limit)
{
    uint64_t at = start;

    while (at + 12 < limit && below(10) > 0) {
        struct elf_entry function = {.kind = ELF_FUNCTION, .unit = unit};
        const uint32_t spaces =
            below(3) > 0 ? 0 : 1 + below(below(2) == 0 ? 2 : ELF_NESTING + 1);

        for (; function.depth < spaces; function.depth++)
            add_entry(model, (struct elf_entry){.kind = ELF_SPACE,
                                                .depth = function.depth + 1,
                                                .unit = unit});
        function.depth++;
        function.is_left_out = spaces >= ELF_NESTING;
        function.start[0] = at + below(4);
        function.limit[0] = function.start[0] + 4 + below(80);
        if (function.limit[0] > limit)
            return;
        at = function.limit[0];
        if (below(4) == 0 && at + 8 < limit) {
            function.start[1] = at + 4;
            function.limit[1] = at + 8;
            at += 8;
        }
        if (add_entry(model, function) == NULL)
            return;
        if (below(10) == 0)
            make_chain(model, &function);
        else
            make_calls(model, &function, function.start[0], function.limit[0],
                       function.depth + 5);
    }
}

static void
make_rows(struct elf_model *model, uint32_t unit, uint64_t start,
          uint64_t limit)
{
    uint64_t at = start;
    uint32_t rows = 1 + below(12);

    for (; at < limit && rows > 0; rows--) {
        model->rows[model->rows_count++] =
            (struct elf_row){at, unit, 1 + below(2),
                             below(6) == 0 ? 0 : 1 + below(90000), false};
        at += 1 + below(20);
    }
    model->rows[model->rows_count++] =
        (struct elf_row){limit, unit, 1, 1, true};
}

/* Units in order of their addresses, with gaps. */
static void
make_units(struct elf_model *model)
{
    const uint32_t count = below(ELF_UNITS + 1);
    uint64_t at = ELF_TEXT + below(20);

    model->entries_count = 0;
    model->rows_count = 0;
    model->units_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct elf_entry unit = {.kind = ELF_UNIT, .unit = i};

        unit.start[0] = at;
        unit.limit[0] = at + 40 + below(160);
        at = unit.limit[0];
        if (below(3) == 0) {
            unit.start[1] = at + 10;
            unit.limit[1] = at + 30;
            at = unit.limit[1];
        }
        if (at > ELF_TEXT + ELF_TEXT_BYTES || add_entry(model, unit) == NULL)
            return;
        model->units_count++;
        make_functions(model, i, unit.start[0], unit.limit[0]);
        make_rows(model, i, unit.start[0], unit.limit[0]);
        if (unit.limit[1] != 0) {
            make_functions(model, i, unit.start[1], unit.limit[1]);
            make_rows(model, i, unit.start[1], unit.limit[1]);
        }
        at += below(2) * below(40);
    }
}

void
elf_model_make(struct elf_model *model, uint64_t seed, char tag)
{
    drawn = seed;
    model->tag = tag;
    make_symbols(model);
    make_unwind(model);
    make_units(model);
    for (uint32_t i = 0; i < ELF_ID_BYTES; i++)
        model->id[i] = (uint8_t)below(256);
}
