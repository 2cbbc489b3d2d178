/*
 * eh_table.c -- .eh_frame_hdr: unwind tables do not name functions, but list
 * where each begins. They remain in a stripped file.
 *
 *      1 | 1b 03 3b | u32 to .eh_frame | u32 rows | row row row ...
 *      row: i32 first byte of the function, i32 its entry; both from the
 *           section's address; sorted by the first
 */
#include "record/symbols/eh_table.h"

#include <string.h>

#define HEAD_BYTES 12u
#define ROW_BYTES  8u

static int64_t
row_start(const struct cli_eh_table *table, uint32_t row)
{
    int32_t value;

    memcpy(&value, table->rows + (size_t)row * ROW_BYTES, sizeof value);
    return value;
}

/* Leaves the table empty if it has another layout than the usual one. */
static void
take_table(struct cli_eh_table *table, const GElf_Shdr *header,
           const Elf_Data *data)
{
    static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};
    const uint8_t *bytes;
    uint32_t count;

    if (data == NULL || data->d_buf == NULL || data->d_size < HEAD_BYTES)
        return;
    bytes = data->d_buf;
    memcpy(&count, bytes + 8, sizeof count);
    if (memcmp(bytes, usual, sizeof usual) != 0 ||
        count > (data->d_size - HEAD_BYTES) / ROW_BYTES)
        return;
    table->count = count;
    table->rows = bytes + HEAD_BYTES;
    table->address = header->sh_addr;
}

void
cli_eh_table_find(struct cli_eh_table *table, Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name;

        if (gelf_getshdr(section, &header) == NULL)
            continue;
        name = elf_strptr(elf, names, header.sh_name);
        if (name != NULL && strcmp(name, ".eh_frame_hdr") == 0)
            take_table(table, &header, elf_rawdata(section, NULL));
    }
}

bool
cli_eh_table_start(const struct cli_eh_table *table, uint64_t address,
                   uint64_t *start)
{
    int64_t wanted = (int64_t)(address - table->address);
    uint32_t low = 0;
    uint32_t high = table->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (row_start(table, middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *start = table->address + (uint64_t)row_start(table, low - 1);
    return true;
}
