/* elf_model_find.c -- what is at an address of the files of elf_model.h: all
 * facts are read, one after the other. */
#include <elf.h>
#include <string.h>

#include "elf_model.h"

void
elf_model_origin(const struct elf_model *model, const struct elf_entry *entry,
                 char *name, size_t name_bytes)
{
    static const char *const kinds[ELF_ORIGINS] = {"name", "linkage", "mips",
                                                   ""};

    if (entry->origin == ELF_ORIGINS - 1)
        snprintf(name, name_bytes, "(inlined)");
    else
        snprintf(name, name_bytes, "%c_%s_%u", model->tag, kinds[entry->origin],
                 entry->unit);
}

void
elf_model_file_name(const struct elf_model *model, uint32_t unit, uint32_t file,
                    char *name, size_t name_bytes)
{
    snprintf(name, name_bytes, "/%c/%u/%u.c", model->tag, unit, file);
}

static bool
covers(const struct elf_entry *entry, uint64_t at)
{
    return (at >= entry->start[0] && at < entry->limit[0]) ||
           (at >= entry->start[1] && at < entry->limit[1]);
}

static uint32_t
rank_of(const struct elf_symbol *symbol)
{
    return symbol->binding == STB_GLOBAL ? 0
           : symbol->binding == STB_WEAK ? 1
                                         : 2;
}

/* returns: whether a symbol is a better name than another, for the bytes that
 * both cover */
static bool
is_nearer(const struct elf_symbol *one, const struct elf_symbol *other)
{
    if (other == NULL || one->start != other->start)
        return other == NULL || one->start > other->start;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes;
    return rank_of(one) < rank_of(other);
}

static const struct elf_symbol *
symbol_at(const struct elf_model *model, uint64_t at)
{
    const struct elf_symbol *found = NULL;

    for (uint32_t i = 0; i < model->symbols_count; i++) {
        const struct elf_symbol *symbol = &model->symbols[i];
        const bool is_code = symbol->name[0] != '\0' && !symbol->is_undefined &&
                             symbol->type != STT_SECTION &&
                             symbol->type != STT_FILE &&
                             symbol->type != STT_TLS;

        if (is_code && at >= symbol->start &&
            at - symbol->start < symbol->bytes && is_nearer(symbol, found))
            found = symbol;
    }
    return found;
}

/* returns: the first byte of the function at an address; 0: not known */
static uint64_t
start_at(const struct elf_model *model, uint64_t at)
{
    uint64_t start = 0;

    for (uint32_t i = 0; model->unwind == ELF_TABLE && i < model->starts_count;
         i++)
        if (model->starts[i] <= at)
            start = model->starts[i];
    return start;
}

static void
name_outermost(const struct elf_mapping *mapping, uint64_t pc,
               const struct elf_symbol *symbol, struct elf_found *found)
{
    char *const name = found->functions[found->count];
    const size_t bytes = sizeof found->functions[0];
    uint64_t start = pc;

    if (symbol != NULL) {
        snprintf(name, bytes, "%.*s", (int)strcspn(symbol->name, "@"),
                 symbol->name);
        found->symbols[found->count].function_offset =
            pc - mapping->bias - symbol->start;
        return;
    }
    if (mapping == NULL) {
        snprintf(name, bytes, "0x%llx", (unsigned long long)pc);
        return;
    }
    if (mapping->is_known &&
        start_at(mapping->model, pc - 1 - mapping->bias) != 0)
        start =
            start_at(mapping->model, pc - 1 - mapping->bias) + mapping->bias;
    if (start < mapping->start)
        start = pc;
    found->symbols[found->count].function_offset = pc - start;
    snprintf(name, bytes, "%s+0x%llx", strrchr(mapping->model->path, '/') + 1,
             (unsigned long long)(start - mapping->start + mapping->offset));
}

/* Add the calls that are inlined at an address, innermost first. */
static void
add_calls(const struct elf_model *model, uint64_t at, struct elf_found *found)
{
    const struct elf_entry *calls[CLI_SYMBOLS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->entries_count; i++)
        if (model->entries[i].kind == ELF_INLINED &&
            !model->entries[i].is_left_out && covers(&model->entries[i], at) &&
            count < CLI_SYMBOLS_MAX - 1)
            calls[count++] = &model->entries[i];
    while (count > 0) {
        const struct elf_entry *call = calls[--count];
        const uint32_t outer = found->count + 1;

        elf_model_origin(model, call, found->functions[found->count],
                         sizeof found->functions[0]);
        found->symbols[outer].line = call->call_line;
        if (call->call_file != 0)
            elf_model_file_name(model, call->unit, call->call_file,
                                found->files[outer], sizeof found->files[0]);
        found->count++;
    }
}

static void
add_line(const struct elf_model *model, uint64_t at, struct elf_found *found)
{
    const struct elf_row *row = NULL;
    bool is_in_unit = false;

    for (uint32_t i = 0; i < model->entries_count; i++)
        is_in_unit = is_in_unit || (model->entries[i].kind == ELF_UNIT &&
                                    covers(&model->entries[i], at));
    for (uint32_t i = 0; i < model->rows_count; i++)
        if (!model->rows[i].is_end && model->rows[i].address <= at)
            row = &model->rows[i];
    if (!is_in_unit || row == NULL || row->line == 0)
        return;
    found->symbols[0].line = row->line;
    elf_model_file_name(model, row->unit, row->file, found->files[0],
                        sizeof found->files[0]);
}

void
elf_model_find(const struct elf_mapping *mappings, uint32_t count, uint64_t pc,
               struct elf_found *found)
{
    const struct elf_mapping *mapping = NULL;
    const struct elf_symbol *symbol = NULL;

    memset(found, 0, sizeof *found);
    for (uint32_t i = 0; i < count; i++)
        if (pc - 1 >= mappings[i].start && pc - 1 < mappings[i].limit)
            mapping = &mappings[i];
    if (mapping != NULL && mapping->is_known) {
        add_line(mapping->model, pc - 1 - mapping->bias, found);
        add_calls(mapping->model, pc - 1 - mapping->bias, found);
        symbol = symbol_at(mapping->model, pc - 1 - mapping->bias);
    }
    name_outermost(mapping, pc, symbol, found);
    found->count++;
    for (uint32_t i = 0; i < found->count; i++) {
        found->symbols[i].function = found->functions[i];
        found->symbols[i].file = found->files[i];
    }
}
