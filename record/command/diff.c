/*
 * diff.c -- `profsim diff`: shows, by site, where one recorded run uses more
 * memory than another.
 *
 * A site is its functions from the leaf to the root, by name: addresses and
 * lines differ from one build to the next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/report/call_tree.h"
#include "common/command/recording_input.h"
#include "common/command/complaint.h"
#include "record/command/record.h"
#include "record/convert/losses.h"
#include "common/command/options.h"

enum { BY = 1, TOP };
enum { OLD, NEW, SIDES }; /* columns of the tree */

static const struct cli_option table[] = {
    {BY, 0, "by", "WHAT",
     "what to compare: peak (in use at the peak of each\nrun), exit (never "
     "freed), allocs (all allocated);\ndefault: peak"},
    {TOP, 0, "top", "N", "sites to print (20)"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "diff",
    .words = "[OPTION...] OLD.rec NEW.rec",
    .about = "Compare the heaps of two recorded runs, site by site. What grew "
             "comes first,\nwith a plus; what shrank comes last, with a "
             "minus.\n",
    .options = table,
    .exits = "0, or 1 if a file cannot be read\n",
};

struct side {
    struct sim_input input;
    struct sim_recording *recording;
    struct sim_live_heap heap;
    struct cli_calls *calls;
};

/* returns: CLI_OK, and a complaint otherwise */
static enum cli_exit
open_side(struct side *side, const char *path)
{
    if (!sim_input_read(&side->input, path))
        return cli_usage("%s: %s", path, side->input.reason);
    side->recording = cli_take_recording(&side->input, path);
    if (side->recording == NULL)
        return CLI_USAGE;
    cli_losses_report("profsim diff", path,
                      sim_recording_totals(side->recording)->dropped);
    if (!sim_live_heap_open(&side->heap, side->recording, cli_show_progress))
        cli_need(NULL);
    cli_hide_progress();
    side->calls = cli_calls_open(side->recording);
    return CLI_OK;
}

static void
close_side(struct side *side)
{
    cli_calls_close(side->calls);
    sim_live_heap_close(&side->heap);
    sim_recording_close(side->recording);
    sim_input_free(&side->input);
}

/* ---- rows ---- */

/* returns: the difference of two counts with its sign. Both are below 2^63,
 * except in a forged file */
static int64_t
growth(const struct cli_tree_node *node)
{
    return (int64_t)(node->self[NEW].bytes - node->self[OLD].bytes);
}

static int
compare_nodes(const void *a, const void *b)
{
    const struct cli_tree_node *x = *(const struct cli_tree_node *const *)a;
    const struct cli_tree_node *y = *(const struct cli_tree_node *const *)b;

    if (growth(x) != growth(y))
        return growth(x) > growth(y) ? -1 : 1;
    return x < y ? -1 : x > y; /* in one array: a total order */
}

static void
print_change(struct sim_heap_count old, struct sim_heap_count new)
{
    printf("%+15" PRId64 " %+10" PRId64 " %15" PRIu64 " %15" PRIu64 "  ",
           (int64_t)(new.bytes - old.bytes),
           (int64_t)(new.objects - old.objects), old.bytes, new.bytes);
}

static void
print_node(const struct cli_tree_node *nodes, const struct cli_tree_node *node)
{
    print_change(node->self[OLD], node->self[NEW]);
    for (int shown = 0; shown < 4 && node != nodes; shown++) {
        fputs(shown > 0 ? " < " : "", stdout);
        cli_print_function(stdout, node->function);
        node = &nodes[node->parent];
    }
    putchar('\n');
}

/* Print the first and the last rows: what grew most and what shrank most. */
static void
print_rows(const struct cli_tree_node *nodes,
           const struct cli_tree_node **changed, uint32_t count, uint64_t top)
{
    const uint64_t shown = count < top ? count : top;
    uint64_t grown = 0;
    uint64_t first;

    while (grown < count && growth(changed[grown]) > 0)
        grown++;
    first = grown < shown ? grown : shown;
    if (first > shown - shown / 4)
        first = shown - (shown / 4 < count - grown ? shown / 4 : count - grown);
    for (uint64_t i = 0; i < first; i++)
        print_node(nodes, changed[i]);
    if (shown < count)
        printf("%15s  %" PRIu64 " more sites changed; --top shows more\n",
               "...", count - shown);
    for (uint64_t i = count - (shown - first); i < count; i++)
        print_node(nodes, changed[i]);
}

static void
print_tree(const struct cli_call_tree *tree, uint64_t top)
{
    uint32_t count;
    const struct cli_tree_node *nodes = cli_call_tree_nodes(tree, &count);
    const struct cli_tree_node **changed =
        cli_need(calloc(count, sizeof *changed));
    uint32_t changed_count = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].self[OLD].bytes != nodes[i].self[NEW].bytes ||
            nodes[i].self[OLD].objects != nodes[i].self[NEW].objects)
            changed[changed_count++] = &nodes[i];
    }
    qsort(changed, changed_count, sizeof *changed, compare_nodes);
    printf("%15s %10s %15s %15s\n", "bytes", "objects", "before", "after");
    print_change(nodes[0].total[OLD], nodes[0].total[NEW]);
    puts("in all");
    if (changed_count == 0)
        puts("no site changed");
    print_rows(nodes, changed, changed_count, top);
    free(changed);
}

/* ---- the command ---- */

static void
compare(const struct side *sides, enum cli_measure measure, uint64_t top)
{
    static const char *const titles[CLI_MEASURES] = {
        "in use at the peak of each run", "never freed", "allocated in all"};
    struct cli_call_tree *tree = cli_call_tree_new();

    for (uint32_t i = 0; i < SIDES; i++)
        cli_call_tree_add(tree, i, sides[i].calls, sides[i].recording,
                          &sides[i].heap, measure);
    cli_call_tree_finish(tree);
    printf("%s\n\n", titles[measure]);
    print_tree(tree, top);
    cli_call_tree_delete(tree);
}

enum cli_exit
cli_diff(int argc, char **argv)
{
    struct side sides[SIDES] = {{.recording = NULL}};
    enum cli_measure measure = CLI_BY_PEAK;
    enum cli_exit exit_code = CLI_OK;
    struct cli_options options;
    uint64_t top = 20;
    const char *files[SIDES];
    int files_count = 0;
    int id;

    cli_options_begin(&options, &syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD && files_count == SIDES)
            return cli_usage("diff: takes two recordings; '%s' is one more",
                             options.value);
        if (id == CLI_OPTIONS_WORD)
            files[files_count++] = options.value;
        else if (id == TOP &&
                 !cli_number("--top", options.value, 1, UINT32_MAX, &top))
            return CLI_USAGE;
        else if (id == BY && !cli_measure_find(options.value, &measure))
            return cli_usage("--by takes peak, exit or allocs, not '%s'",
                             options.value);
    }
    if (options.ended)
        return options.exit_code;
    if (files_count < SIDES)
        return cli_options_missing(&options, "OLD.rec NEW.rec");
    for (int i = 0; i < SIDES && exit_code == CLI_OK; i++)
        exit_code = open_side(&sides[i], files[i]);
    if (exit_code == CLI_OK)
        compare(sides, measure, top);
    for (int i = 0; i < SIDES; i++)
        close_side(&sides[i]);
    return exit_code;
}
