/*
 * frames.h -- stacks by frame pointers, for programs that keep them.
 */
#ifndef RECORD_UNWIND_FRAMES_H
#define RECORD_UNWIND_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/unwind/stack_memory.h"

/* Offsets from a frame pointer to the caller's and to the return address. */
#if defined(__x86_64__) || defined(__aarch64__)
#define EMBED_FRAMES_OFFERED 1
#else
#define EMBED_FRAMES_OFFERED 0
#endif

/*
 * Walk from a frame to its callers. The walk ends before a frame that is not
 * completely inside the bounds, not aligned, or not above the previous one. So
 * it always ends, and reads nothing outside the bounds, whatever a frame holds.
 *
 * out:     pcs, return addresses, the innermost first
 * in:      depth_max, room in pcs
 *          frame, __builtin_frame_address(0) or what a register held; anything
 *          bounds, of memory that can be read from `frame` on
 * returns: the number of pcs; 0 if `frame` is not in the bounds
 * context: any thread, signal handlers included; takes no lock, calls nothing
 */
uint32_t embed_frames_walk(uintptr_t *pcs, uint32_t depth_max, uintptr_t frame,
                           const struct embed_bounds *bounds);

#endif
