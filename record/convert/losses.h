/*
 * losses.h -- what a recording lacks, in words, by cause; the causes are those
 * of docs/recording.md, in its order.
 */
#ifndef RECORD_CONVERT_LOSSES_H
#define RECORD_CONVERT_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/convert/recfile.h"

/* Write `3 events after the log was full: ...`, truncated to `bytes`. */
void cli_losses_text(char *text, size_t bytes, size_t cause, uint64_t count);

/* returns: does the recording lack something that the program did? Frees that
 * were put in, or are of objects from before, do not count */
bool cli_losses_any(const uint64_t dropped[CLI_RECFILE_CAUSES]);

/*
 * Print on stderr what a recording lacks, a line a cause.
 *
 * in:      who, what lines begin with: "profsim diff"; path, of the recording
 */
void cli_losses_report(const char *who, const char *path,
                       const uint64_t dropped[CLI_RECFILE_CAUSES]);

#endif
