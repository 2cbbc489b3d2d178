/*
 * graphs.c -- see graphs.h. Names are not trusted: they are escaped as in
 * common/escape.h, and a semicolon, which parts the calls, is a colon.
 */
#include "record/report/graphs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "common/command/saved_file.h"

static void
put_name(FILE *to, const char *name)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const memory = cli_need(open_memstream(&text, &bytes));

    sim_escape_text(memory, name);
    fclose(memory);
    cli_need(text);
    for (const char *at = text; *at != '\0'; at++)
        fputc(*at == ';' ? ':' : *at, to);
    free(text);
}

static void
put_path(FILE *file, const struct cli_tree_node *nodes, uint32_t node)
{
    uint32_t path[CLI_CALLS_MAX + 1];
    uint32_t depth = 0;

    for (; node != 0; node = nodes[node].parent)
        path[depth++] = node;
    while (depth > 0) {
        put_name(file, nodes[path[--depth]].function);
        fputs(depth > 0 ? ";" : "", file);
    }
}

void
cli_graphs_folded(FILE *file, const struct cli_call_tree *tree,
                  enum cli_measure measure)
{
    uint32_t count;
    const struct cli_tree_node *nodes = cli_call_tree_nodes(tree, &count);

    for (uint32_t i = cli_call_tree_next(tree, 0); i != 0;
         i = cli_call_tree_next(tree, i)) {
        if (nodes[i].self[measure].bytes == 0)
            continue;
        put_path(file, nodes, i);
        fprintf(file, " %" PRIu64 "\n", nodes[i].self[measure].bytes);
    }
}

bool
cli_graphs_write(const char *folder, const struct cli_call_tree *tree)
{
    struct cli_bytes bytes = {.count = 0};
    char *text = NULL;
    FILE *const memory = cli_need(open_memstream(&text, &bytes.count));
    bool good;

    cli_graphs_folded(memory, tree, CLI_BY_PEAK);
    fclose(memory);
    bytes.at = cli_need(text);
    good = cli_save(folder, "peak.folded", NULL, cli_save_bytes, &bytes);
    free(text);
    return good;
}
