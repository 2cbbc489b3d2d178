/* check_options.h -- the arguments of `profsim check`. */
#ifndef CLI_CHECK_OPTIONS_H
#define CLI_CHECK_OPTIONS_H

#include <stdbool.h>

#include "campaign.h"
#include "exit.h"
#include "report.h"
#include "shard.h"

struct cli_check_options {
    struct props_campaign campaign;
    const char *save;
    const char *save_above; /* the folder of that, if both may be new */
    char save_room[64];
    const char *corpus; /* a folder to exchange them through; NULL: none */
    const char *subject_path; /* of campaign.subject; NULL: the library */
    bool named; /* properties were, so each of them must be tried */
    bool rules_named;
    bool unbiased;          /* `profsim bias --verify` */
    bool pairs;             /* of coverage goals are asked for */
    bool drawn;             /* the first seed, so that no two runs are alike */
    struct cli_shard shard; /* of count 0: none was asked for */
    const char *result;     /* the file or folder of it; NULL: none */
    uint32_t every_seconds; /* between writes; 0: at each slice */
    struct cli_report *report;
    int files_count; /* argv[0 .. files_count) are files to judge */
};

/*
 * in:      report, which gets the paths of --json and --junit
 * out:     *options; argv, its first words are the files
 *          *exit_code, if false
 * returns: false after help, or a complaint
 */
bool cli_check_options(struct cli_check_options *options,
                       struct cli_report *report, int argc, char **argv,
                       enum cli_exit *exit_code);

#endif
