/* check_options.h -- the arguments of `profsim check`. */
#ifndef PROPS_COMMAND_CHECK_OPTIONS_H
#define PROPS_COMMAND_CHECK_OPTIONS_H

#include <stdbool.h>

#include "props/campaign/campaign.h"
#include "common/command/exit.h"
#include "common/report/report.h"
#include "common/shard/shard.h"

struct cli_check_options {
    struct props_campaign campaign;
    const char *save;
    const char *save_above; /* its parent folder, if that may be new, too */
    char save_room[64];
    const char *corpus;       /* a folder to exchange failures; NULL: none */
    const char *subject_path; /* of campaign.subject; NULL: the library */
    bool named;               /* properties were named: each must be tried */
    bool rules_named;
    bool unbiased;          /* `profsim bias --verify` */
    bool pairs;             /* print the pairs of coverage goals */
    bool drawn;             /* the first seed is random */
    struct cli_shard shard; /* count 0: no --shard */
    const char *result;     /* its file or folder; NULL: none */
    uint32_t every_seconds; /* between writes; 0: at each slice */
    struct cli_report *report;
    int files_count; /* argv[0 .. files_count) are files to judge */
};

/*
 * in:      report, which receives the paths of --json and --junit
 * out:     *options; argv, its first words are the files
 *          *exit_code, if false
 * returns: false after help, or a complaint
 */
bool cli_check_options(struct cli_check_options *options,
                       struct cli_report *report, int argc, char **argv,
                       enum cli_exit *exit_code);

#endif
