/*
 * spool_case.h -- a spool made by hand, and the recording that it becomes.
 *
 * The spool begins with thread 0; ticks count from START. Functions that append
 * a record return its offset, unless they return nothing.
 */
#ifndef SPOOL_CASE_H
#define SPOOL_CASE_H

#include "convert.h"
#include "hooks.h"
#include "recording.h"
#include "spool.h"

#define SPOOL_BYTES (EMBED_SPOOL_FIRST + 8192u)
#define START       UINT64_C(1000)

extern uint8_t spool[SPOOL_BYTES];

struct embed_spool_header *spool_header(void);
const char *spool_path_of(const char *name);
uint64_t spool_append(enum embed_kind kind, uint8_t detail, uint32_t number,
                      const uint64_t *words, uint32_t words_count);
void spool_begin(void);
uint64_t spool_append_stack(uint64_t first_pc, uint32_t depth);
void spool_append_alloc(uint64_t ticks, uint64_t address, uint64_t bytes,
                        uint64_t stack);
uint64_t spool_append_free(enum embed_kind kind, uint64_t ticks,
                           uint64_t address);
void spool_append_resized(uint64_t ticks, uint64_t address, uint64_t bytes,
                          uint64_t begun, uint64_t stack);
void spool_append_module_of(const char *path);
void spool_append_module(void);
bool spool_convert(struct cli_converted *what, char *error, size_t error_bytes);

/* returns: how many events were lost, without the frees that were put in */
uint64_t spool_lost(const struct cli_converted *what);
struct sim_recording *spool_open_result(void);
int spool_make_folder(void **state);
int spool_remove_folder(void **state);

#endif
