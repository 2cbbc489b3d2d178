/* blocks.c -- see blocks.h. */
#include "blocks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { BLOCKS_MAX = 4096, GUARD_BYTES = 64, GUARDED_MAX = 1 << 16 };

static struct block {
    uint8_t *at;
    size_t bytes;
} blocks[BLOCKS_MAX];
static uint32_t blocks_count;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t each_bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *old);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t each_bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *old);

void *
__wrap_malloc(size_t bytes)
{
    uint8_t *at;

    if (bytes > GUARDED_MAX || blocks_count == BLOCKS_MAX)
        return __real_malloc(bytes);
    at = __real_malloc(bytes + GUARD_BYTES);
    if (at == NULL)
        abort();
    memset(at, 0xa5, bytes + GUARD_BYTES);
    blocks[blocks_count++] = (struct block){at, bytes};
    return at;
}

void *
__wrap_calloc(size_t count, size_t each_bytes)
{
    const size_t bytes = count * each_bytes;

    if (count > GUARDED_MAX || bytes > GUARDED_MAX ||
        blocks_count == BLOCKS_MAX)
        return __real_calloc(count, each_bytes);
    return memset(__wrap_malloc(bytes), 0, bytes);
}

static struct block *
block_at(const uint8_t *at)
{
    for (uint32_t i = blocks_count; i-- > 0;) {
        if (blocks[i].at == at)
            return &blocks[i];
    }
    return NULL;
}

void
__wrap_free(void *old)
{
    struct block *b = old != NULL ? block_at(old) : NULL;

    for (uint32_t k = 0; b != NULL && k < GUARD_BYTES; k++)
        assert_int_equal(b->at[b->bytes + k], 0xa5);
    if (b != NULL)
        *b = blocks[--blocks_count];
    __real_free(old);
}

void *
__wrap_realloc(void *old, size_t bytes)
{
    const struct block *b = old != NULL ? block_at(old) : NULL;
    void *at;

    if (old != NULL && b == NULL)
        return __real_realloc(old, bytes);
    at = __wrap_malloc(bytes);
    b = old != NULL ? block_at(old) : NULL;
    if (b != NULL) {
        memcpy(at, old, b->bytes < bytes ? b->bytes : bytes);
        __wrap_free(old);
    }
    return at;
}

uint32_t
blocks_guarded(void)
{
    return blocks_count;
}
