/* audit_command.h -- `profsim audit`. */
#ifndef SUBJECTS_COMMAND_AUDIT_COMMAND_H
#define SUBJECTS_COMMAND_AUDIT_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "common/command/exit.h"

struct subjects_rules;

enum cli_exit cli_audit(int argc, char **argv);

/* `profsim audit --recording FILE`. in: rate, 0: for about 1000 samples */
enum cli_exit cli_audit_recording(const char *path, uint64_t rate);

/* `profsim audit --judge`. returns: CLI_BROKEN if a rule set is not right */
enum cli_exit cli_audit_judge(const struct subjects_rules *const *rules,
                              size_t count, uint64_t rate);

/*
 * Audit live tools: replace this process by `make audit-live`.
 *
 * returns: CLI_USAGE, reported, if make cannot be run; else does not return
 */
enum cli_exit cli_audit_live(void);

#endif
