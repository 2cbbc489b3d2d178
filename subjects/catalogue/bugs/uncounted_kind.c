/*
 * uncounted_kind.c -- K52, memray#63: a new kind of record is not added to the
 * count in the head of the file.
 */
#include "subjects/catalogue/small_world.h"

enum kind { ALLOC, FREE, RESIZE };
enum { RECORDS_MAX = 16 };

static unsigned char records[RECORDS_MAX][FILE_RECORD_BYTES];
static unsigned length;
static unsigned counts[3];

static void
note(enum kind kind, unsigned address, unsigned site)
{
    if (length == RECORDS_MAX)
        return;
    records[length][0] = (unsigned char)kind;
    records[length][1] = (unsigned char)address;
    records[length][2] = (unsigned char)site;
    length++;
    counts[kind]++;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    note(ALLOC, address, site);
    report_alloc(address, site, bytes);
    return address;
}

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    const unsigned result = heap_resize(site, address, bytes);

    if (result == 0)
        return 0;
    note(RESIZE, result, site);
    report_free(address);
    report_alloc(result, site, bytes);
    return result;
}

static void
drop(unsigned address)
{
    note(FREE, address, 0);
    report_free(address);
    heap_give(address);
}

static size_t
write_file(unsigned char *bytes, size_t size)
{
    size_t at = 1;

    bytes[0] = (unsigned char)(counts[ALLOC] + counts[FREE]);
#ifdef FIXED
    bytes[0] = (unsigned char)(bytes[0] + counts[RESIZE]);
#endif
    for (unsigned i = 0; i < length && at + FILE_RECORD_BYTES <= size; i++)
        for (unsigned j = 0; j < FILE_RECORD_BYTES; j++)
            bytes[at++] = records[i][j];
    return at;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = reported,
    .write = write_file,
};
