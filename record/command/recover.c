/*
 * recover.c -- `profsim recover`: saves spools that `profsim record`
 * left behind because it was killed before it could save them, or because their
 * processes outlived it.
 */
#include <stdio.h>

#include "common/command/complaint.h"
#include "record/symbols/images.h"
#include "common/command/options.h"
#include "record/command/record_options.h"

enum { OUTPUT = 1, IMAGES };

static const struct cli_option table[] = {
    {OUTPUT, 'o', "output", "FILE", "the recording (profsim.rec)"},
    {IMAGES, 0, "images", "N",
     "save the N process images that asked for the most\nbytes (32)"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "recover",
    .words = "[OPTION...] FOLDER",
    .about = "Make recordings of the logs in FOLDER, a profsim-XXXXXX in "
             "$TMPDIR or /tmp that\na killed `profsim record` left. Once they "
             "are saved all logs are removed,\nunless a process still writes "
             "to them.\n",
    .options = table,
};

enum cli_exit
cli_recover(int argc, char **argv)
{
    const char *output = "profsim.rec";
    const char *folder = NULL;
    uint64_t most = CLI_IMAGES_DEFAULT;
    struct cli_images images;
    struct cli_options words;
    bool good;
    int id;

    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == OUTPUT) {
            if (!cli_record_output(&output, words.value))
                return CLI_USAGE;
        } else if (id == IMAGES) {
            if (!cli_number("--images", words.value, 1, 1000000, &most))
                return CLI_USAGE;
        } else if (folder == NULL) {
            folder = words.value;
        } else {
            return cli_usage("recover: takes one folder; '%s' is one more",
                             words.value);
        }
    }
    if (words.ended)
        return words.exit_code;
    if (folder == NULL)
        return cli_options_missing(&words, "a FOLDER");
    good = cli_images_read(&images, "recover", folder) &&
           cli_images_save(&images, output, most);
    if (images.count > 0)
        cli_images_remove(&images);
    cli_images_release(&images);
    return good ? CLI_OK : CLI_USAGE;
}
