/*
 * debug_info.c -- see debug_info.h.
 *
 *      module -> units, sorted by address
 *                  -> functions, sorted by address
 *                       -> entries below that cover it
 *
 * The units of a module and the functions of a unit are listed once. libdw
 * alone would search all functions for each address, and would find no unit at
 * all if the compiler (clang, for example) wrote no table of address ranges.
 */
#include "record/symbols/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "record/convert/items.h"

/* A range of addresses that belongs to an entry. */
struct range {
    uint64_t start; /* as in the file */
    uint64_t limit;
    Dwarf_Die die;
    uint32_t unit;
};

struct cli_debug_info {
    Dwarf_Addr bias;
    struct cli_items units;      /* struct range */
    struct cli_items *functions; /* by unit; filled at first use */
    bool *is_filled;             /* by unit */
    uint32_t units_count;
};

enum { NESTING_MAX = 16 }; /* of namespaces, classes and blocks */

/* ---- functions ---- */

static void
add_range(struct cli_items *ranges, struct range range)
{
    *(struct range *)cli_items_add(ranges, sizeof range) = range;
}

static void
add_ranges_of(struct cli_items *ranges, Dwarf_Die *die, uint32_t unit)
{
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr limit;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &limit)) > 0) {
        if (start < limit)
            add_range(ranges, (struct range){start, limit, *die, unit});
    }
}

/* Add all functions below an entry, including those in namespaces, classes and
 * other functions (lambdas). */
static void
add_functions(struct cli_items *functions, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_ranges_of(functions, &die, 0);
            add_functions(functions, &die, nesting + 1);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_module:
            add_functions(functions, &die, nesting + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int
compare_ranges(const void *a, const void *b)
{
    const struct range *x = a;
    const struct range *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void
sort_ranges(struct cli_items *ranges)
{
    if (ranges->count > 0)
        qsort(ranges->items, ranges->count, sizeof(struct range),
              compare_ranges);
}

/* returns: NULL if none covers the address */
static struct range *
range_of(const struct cli_items *ranges, uint64_t address)
{
    struct range *const items = ranges->items;
    size_t low = 0;
    size_t high = ranges->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < items[low - 1].limit ? &items[low - 1] : NULL;
}

/* ---- units ---- */

struct cli_debug_info *
cli_debug_info_open(Dwfl_Module *module)
{
    struct cli_debug_info *const info = cli_need(calloc(1, sizeof *info));
    Dwarf_Die *die = NULL;

    while ((die = dwfl_module_nextcu(module, die, &info->bias)) != NULL)
        add_ranges_of(&info->units, die, info->units_count++);
    sort_ranges(&info->units);
    info->functions = cli_need(
        calloc((size_t)info->units_count + 1, sizeof *info->functions));
    info->is_filled = cli_need(
        calloc((size_t)info->units_count + 1, sizeof *info->is_filled));
    return info;
}

void
cli_debug_info_close(struct cli_debug_info *info)
{
    if (info == NULL)
        return;
    for (uint32_t i = 0; i < info->units_count; i++)
        free(info->functions[i].items);
    free(info->functions);
    free(info->is_filled);
    free(info->units.items);
    free(info);
}

static const struct cli_items *
functions_of(struct cli_debug_info *info, struct range *unit)
{
    struct cli_items *functions = &info->functions[unit->unit];

    if (!info->is_filled[unit->unit]) {
        info->is_filled[unit->unit] = true;
        add_functions(functions, &unit->die, 0);
        sort_ranges(functions);
    }
    return functions;
}

static struct cli_line
line_of(Dwarf_Die *unit, uint64_t address)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    struct cli_line found = {.file = ""};
    const char *file;
    int number = 0;

    if (line == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)
        return found;
    file = dwarf_linesrc(line, NULL, NULL);
    if (file != NULL)
        found = (struct cli_line){.file = file, .line = (uint32_t)number};
    return found;
}

/* ---- inlined calls ---- */

static const char *
name_of(Dwarf_Die *die)
{
    static const unsigned int names[] = {DW_AT_linkage_name,
                                         DW_AT_MIPS_linkage_name, DW_AT_name};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dwarf_Attribute attribute;
        const char *name =
            dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

        if (name != NULL)
            return name;
    }
    return "(inlined)";
}

static uint64_t
number_of(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0)
        return 0;
    return value;
}

/* returns: "" if it is not known. Number 0 is a file since DWARF 5. */
static const char *
call_file(Dwarf_Die *die, Dwarf_Files *files)
{
    const char *path =
        files != NULL && dwarf_hasattr(die, DW_AT_call_file)
            ? dwarf_filesrc(files, number_of(die, DW_AT_call_file), NULL, NULL)
            : NULL;

    return path != NULL && strcmp(path, "???") != 0 ? path : "";
}

static struct cli_inline
describe(Dwarf_Die *die, Dwarf_Files *files)
{
    return (struct cli_inline){
        .function = name_of(die),
        .call = {.file = call_file(die, files),
                 .line = (uint32_t)number_of(die, DW_AT_call_line)},
    };
}

/* Find the next entry below `parent` that covers the address. */
static bool
enter_child(Dwarf_Die *parent, uint64_t address, Dwarf_Die *child)
{
    if (dwarf_child(parent, child) != 0)
        return false;
    do {
        const int tag = dwarf_tag(child);

        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(child, address) > 0)
            return true;
    } while (dwarf_siblingof(child, child) == 0);
    return false;
}

static void
reverse(struct cli_inline *found, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        const struct cli_inline other = found[i];

        found[i] = found[count - 1 - i];
        found[count - 1 - i] = other;
    }
}

uint32_t
cli_debug_info_find(struct cli_debug_info *info, uint64_t address,
                    struct cli_line *line, struct cli_inline *found)
{
    const uint64_t at = address - info->bias;
    struct range *unit = range_of(&info->units, at);
    const struct range *function;
    Dwarf_Files *files = NULL;
    Dwarf_Die die;
    uint32_t count = 0;

    *line = (struct cli_line){.file = ""};
    if (unit == NULL)
        return 0;
    *line = line_of(&unit->die, at);
    function = range_of(functions_of(info, unit), at);
    if (function == NULL)
        return 0;
    if (dwarf_getsrcfiles(&unit->die, &files, NULL) != 0)
        files = NULL;
    die = function->die;
    while (count < CLI_INLINES_MAX && enter_child(&die, at, &die)) {
        if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
            found[count++] = describe(&die, files);
    }
    reverse(found, count);
    return count;
}
