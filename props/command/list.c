/* list.c -- `profsim list`: every name that other commands take. */
#include <stdio.h>

#include "props/command/commands.h"
#include "sim/world/event.h"
#include "sim/world/instrument.h"
#include "props/judge/faults.h"
#include "common/command/options.h"
#include "props/pairs.h"

static const struct cli_syntax syntax = {
    .command = "list",
    .words = "",
    .about = "Print every name that other commands take or print.\n",
};

static void
list_faults(void)
{
    puts("\nfaults, and the coverage goal or the test that meets each");
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const enum sim_fault fault = (enum sim_fault)i;
        const char *test = sim_fault_test(fault);

        printf("  %-19s %s (%s)\n", sim_fault_name(fault),
               sim_fault_sentence(fault),
               test != NULL ? test : props_cover_id(props_fault_cover(fault)));
    }
}

static void
list_pairs(void)
{
    const struct props_pairs_sums known = props_pairs_known();

    printf(
        "\npairs of goals that one run of `profsim check --seeds 1..1000000 "
        "--pairs`\nmeets: %u, all but %u that none can meet and %u that none "
        "has met:\n",
        known.met, known.impossible, known.possible);
    for (size_t i = 0; i < props_pairs_unmet_count; i++) {
        const struct props_pairs_unmet *row = &props_pairs_unmet[i];

        printf("  %-26s with %s", props_cover_id(row->goal),
               props_cover_id(row->first));
        if (row->last != row->first)
            printf(" to %s", props_cover_id(row->last));
        printf(": %s%s\n", row->possible ? "not yet; " : "", row->reason);
    }
}

enum cli_exit
cli_list(int argc, char **argv)
{
    struct cli_options words;
    int count;

    cli_options_begin(&words, &syntax, argc, argv);
    if (!cli_options_words(&words, &count))
        return words.exit_code;
    if (count > 0)
        return cli_usage("list: takes no words, not '%s'", argv[1]);
    puts("properties");
    for (int i = 0; i < PROPS_COUNT; i++)
        printf("  %-4s %s\n", props_property_id((enum props_property)i),
               props_property_sentence((enum props_property)i));
    puts("\nrules");
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        const struct prof_rules *rules = prof_rules_all[i];

        printf("  %s%s\n", rules->name,
               rules == &prof_rules_exact        ? " (default)"
               : rules == &prof_rules_go1_6_late ? " (known bad: "
                                                   "golang/go#19311)"
                                                 : "");
    }
    puts("\nevents of scenario files");
    for (int i = 0; i < SIM_EV_COUNT; i++)
        printf("  %s\n", sim_event_word((enum sim_event_kind)i));
    puts("\ninstruments of scenario files");
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++)
        printf("  %s\n", sim_instrument_word((enum sim_instrument_id)i));
    list_faults();
    puts("\ncoverage goals of a campaign");
    for (int i = 0; i < COVER_COUNT; i++)
        printf("  %-26s %s\n", props_cover_id((enum props_cover)i),
               props_cover_text((enum props_cover)i));
    list_pairs();
    return CLI_OK;
}
