/*
 * cfi_table.c -- finds the entry of a pc in .eh_frame_hdr and .eh_frame.
 *
 *      header   1 | 1b 03 3b | i32 to .eh_frame | u32 rows | row row row ...
 *      row      i32 first byte of a function, i32 its entry; from the header
 *      entry    u32 bytes | u32 back to its common entry | first byte | bytes
 *               of the function | more | instructions
 *      common   u32 bytes | 0 | 1 | "zR.." | alignments | return address
 *               register | more | instructions that all its entries begin with
 *
 * The rows are sorted. All reads are checked to lie inside the segment that has
 * the tables: a damaged table cuts a stack short, but never crashes the
 * program.
 */
#include "record/unwind/cfi.h"
#include "record/unwind/cfi_read.h"

#define HEADER_BYTES 12u
#define ROW_BYTES    8u

/* Encodings of pointers: the form in the low half, then what it counts from. */
enum { FORM = 0x0f, FROM = 0x70, FROM_HERE = 0x10, INDIRECT = 0x80 };

struct common {
    struct embed_bytes instructions;
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding; /* of the entries' pointers */
    bool has_more;    /* entries have a block of their own, with its length */
    bool is_signal;
};

static struct cfi_reader
reader_at(struct embed_bytes module, const uint8_t *at)
{
    const bool inside = at >= module.begin && at < module.end;

    return (struct cfi_reader){
        .at = at, .end = inside ? module.end : at, .bad = !inside};
}

/* A reader of one entry, behind its length. */
static struct cfi_reader
open_entry(struct embed_bytes module, const uint8_t *at)
{
    struct cfi_reader reader = reader_at(module, at);
    const uint32_t bytes = cfi_u32(&reader);

    /* Zero ends the table; all ones begin a length of 64 bits. */
    if (bytes == 0 || bytes == UINT32_MAX ||
        bytes > (uint64_t)(reader.end - reader.at))
        reader.bad = true;
    else
        reader.end = reader.at + bytes;
    return reader;
}

static uint64_t
read_form(struct cfi_reader *reader, uint8_t encoding)
{
    switch (encoding & FORM) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return cfi_u64(reader);
    case 0x01:
        return cfi_uleb(reader);
    case 0x09:
        return cfi_leb(reader, true);
    case 0x02:
        return cfi_u16(reader);
    case 0x0a:
        return (uint64_t)(int16_t)cfi_u16(reader);
    case 0x03:
        return cfi_u32(reader);
    case 0x0b:
        return (uint64_t)(int32_t)cfi_u32(reader);
    default:
        reader->bad = true;
        return 0;
    }
}

static uint64_t
read_pointer(struct cfi_reader *reader, uint8_t encoding)
{
    const uint64_t here = (uintptr_t)reader->at;
    const uint64_t value = read_form(reader, encoding);

    if ((encoding & INDIRECT) != 0 ||
        ((encoding & FROM) != 0 && (encoding & FROM) != FROM_HERE))
        reader->bad = true;
    return value + ((encoding & FROM) == FROM_HERE ? here : 0);
}

/* Read the letters of the augmentation; each has its part of the block. */
static void
read_letters(struct common *common, struct cfi_reader *reader,
             const char *letters)
{
    struct cfi_reader block = *reader;
    uint64_t bytes;

    if (letters[0] == '\0')
        return;
    common->has_more = true;
    bytes = cfi_uleb(reader);
    block = *reader;
    if (letters[0] != 'z' || cfi_skip(reader, bytes) == NULL) {
        reader->bad = true;
        return;
    }
    block.end = reader->at;
    for (letters++; *letters != '\0' && !block.bad; letters++) {
        switch (*letters) {
        case 'R':
            common->encoding = cfi_u8(&block);
            break;
        case 'P': {
            const uint8_t encoding = cfi_u8(&block);

            (void)read_form(&block, encoding);
            break;
        }
        case 'L':
            (void)cfi_u8(&block);
            break;
        case 'S':
            common->is_signal = true;
            break;
        case 'B':
            break; /* signed return addresses, on other machines */
        default:
            block.bad = true;
            break;
        }
    }
    reader->bad |= block.bad;
}

static bool
read_common(struct common *common, struct embed_bytes module, const uint8_t *at)
{
    struct cfi_reader reader = open_entry(module, at);
    const char *letters;
    uint8_t version;
    uint64_t number;

    *common = (struct common){.encoding = 0};
    if (cfi_u32(&reader) != 0)
        return false;
    version = cfi_u8(&reader);
    letters = (const char *)reader.at;
    while (cfi_u8(&reader) != 0)
        ;
    if (reader.bad)
        return false;
    common->code_align = cfi_uleb(&reader);
    common->data_align = cfi_sleb(&reader);
    number = version == 1 ? cfi_u8(&reader) : cfi_uleb(&reader);
    read_letters(common, &reader, letters);
    common->instructions = (struct embed_bytes){reader.at, reader.end};
    return !reader.bad && (version == 1 || version == 3) &&
           number == EMBED_REGISTER_PC;
}

static int32_t
number_at(const uint8_t *at)
{
    int32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* returns: the last row that does not begin after pc; NULL: there is none */
static const uint8_t *
entry_of(const uint8_t *header, struct embed_bytes module, uintptr_t pc)
{
    static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};
    struct cfi_reader reader = reader_at(module, header);
    const int64_t wanted = (int64_t)(pc - (uintptr_t)header);
    const uint8_t *rows = header + HEADER_BYTES;
    uint32_t count;
    uint32_t low = 0;

    if (cfi_skip(&reader, HEADER_BYTES) == NULL ||
        memcmp(header, usual, sizeof usual) != 0)
        return NULL;
    memcpy(&count, header + 8, sizeof count);
    if (cfi_skip(&reader, (uint64_t)count * ROW_BYTES) == NULL)
        return NULL;
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;

        if (number_at(rows + (size_t)middle * ROW_BYTES) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    return header + number_at(rows + (size_t)(low - 1) * ROW_BYTES + 4);
}

bool
embed_cfi_find(struct embed_row *row, const uint8_t *header,
               struct embed_bytes module, uintptr_t pc)
{
    const uint8_t *const entry = entry_of(header, module, pc);
    const struct embed_row nothing = {.cfa = {.kind = EMBED_RULE_UNKNOWN}};
    struct embed_row initial;
    struct cfi_reader reader;
    struct common common;
    const uint8_t *here;
    uint64_t first;
    uint64_t bytes;

    if (entry == NULL)
        return false;
    reader = open_entry(module, entry);
    here = reader.at;
    if (!read_common(&common, module, here - cfi_u32(&reader)) || reader.bad)
        return false;
    first = read_pointer(&reader, common.encoding);
    bytes = read_form(&reader, common.encoding);
    if (common.has_more)
        (void)cfi_skip(&reader, cfi_uleb(&reader));
    if (reader.bad || pc < first || pc - first >= bytes)
        return false;
    *row = nothing;
    if (!embed_cfi_run(row, &nothing, common.instructions, common.code_align,
                       common.data_align, 0))
        return false;
    row->is_signal = common.is_signal;
    initial = *row;
    return embed_cfi_run(row, &initial,
                         (struct embed_bytes){reader.at, reader.end},
                         common.code_align, common.data_align, pc - first);
}
