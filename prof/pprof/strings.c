/*
 * strings.c -- the string table of a profile.proto: strings are numbered in the
 * order of first use. Texts are not copied; they stay valid until the writer
 * returns.
 *
 * Invariants
 *   I1  strings[0] is "". Strings differ from each other.
 */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "prof/pprof/builder.h"
#include "prof/core/poison.h"

static bool
string_is(const struct string *string, const char *text, size_t bytes,
          uint32_t hash)
{
    return string->hash == hash && string->bytes == bytes &&
           (bytes == 0 || memcmp(string->text, text, bytes) == 0);
}

static uint32_t
add_string(struct builder *builder, const struct string *string)
{
    struct index *const index = &builder->string_index;
    const uint32_t number = builder->strings_count;

    if (number == builder->strings_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return 0;
    }
    if (index_widened(index, number)) {
        for (uint32_t i = 0; i < number; i++)
            index_add(index, builder->strings[i].hash, i);
    }
    index_add(index, string->hash, number);
    builder->strings[number] = *string;
    builder->strings_count++;
    return number;
}

uint32_t
prof_builder_string(struct builder *builder, const char *text)
{
    const struct index *const index = &builder->string_index;
    const size_t bytes = prof_text_bytes(text);
    const uint32_t hash = (uint32_t)XXH3_64bits(text, bytes);
    uint32_t slot = index_home(index, hash);
    uint32_t seen;

    /* At least a quarter of the slots is empty, so the probe ends. */
    while ((seen = index->slots[slot]) != 0) {
        if (string_is(&builder->strings[seen - 1], text, bytes, hash))
            return seen - 1;
        slot = index_after(index, slot);
    }
    return add_string(
        builder,
        &(struct string){.text = text, .bytes = (uint32_t)bytes, .hash = hash});
}
