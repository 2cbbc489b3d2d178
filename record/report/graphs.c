/*
 * graphs.c -- see graphs.h. Names are not trusted: they are first escaped as in
 * common/escape.h, and then by the rules of each format.
 */
#include "record/report/graphs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "common/command/saved_file.h"

/* returns: a name as printable UTF-8, to be freed */
static char *
printable(const char *name)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const memory = cli_need(open_memstream(&text, &bytes));

    sim_escape_text(memory, name);
    fclose(memory);
    return cli_need(text);
}

/* Write a name with some of its bytes replaced. */
static void
put_name(FILE *to, const char *name, const char *(*replace)(char byte))
{
    char *text = printable(name);

    for (const char *at = text; *at != '\0'; at++) {
        const char *other = replace(*at);

        if (other != NULL)
            fputs(other, to);
        else
            fputc(*at, to);
    }
    free(text);
}

/* ---- collapsed ---- */

static const char *
replace_folded(char byte)
{
    return byte == ';' ? ":" : NULL;
}

static void
put_path(FILE *file, const struct cli_tree_node *nodes, uint32_t node)
{
    uint32_t path[CLI_CALLS_MAX + 1];
    uint32_t depth = 0;

    for (; node != 0; node = nodes[node].parent)
        path[depth++] = node;
    while (depth > 0) {
        put_name(file, nodes[path[--depth]].function, replace_folded);
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

/* ---- speedscope ---- */

static const char *
replace_json(char byte)
{
    if (byte == '"')
        return "\\\"";
    return byte == '\\' ? "\\\\" : NULL;
}

static void
put_json(FILE *file, const char *name)
{
    fputc('"', file);
    put_name(file, name, replace_json);
    fputc('"', file);
}

/* Write one profile: a sample, with its bytes, for each node that counts
 * anything. */
static void
put_samples(FILE *file, const struct cli_call_tree *tree,
            enum cli_measure measure)
{
    uint32_t count;
    const struct cli_tree_node *nodes = cli_call_tree_nodes(tree, &count);
    const char *comma = "";

    fprintf(file,
            "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"bytes\","
            "\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
            cli_measure_name(measure), nodes[0].total[measure].bytes);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t path[CLI_CALLS_MAX + 1];
        uint32_t depth = 0;

        if (nodes[i].self[measure].bytes == 0)
            continue;
        for (uint32_t node = i; node != 0; node = nodes[node].parent)
            path[depth++] = node;
        fprintf(file, "%s[", comma);
        while (depth-- > 0)
            fprintf(file, "%" PRIu32 "%s", nodes[path[depth]].name,
                    depth > 0 ? "," : "]");
        comma = ",\n";
    }
    fputs("],\n\"weights\":[", file);
    comma = "";
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].self[measure].bytes == 0)
            continue;
        fprintf(file, "%s%" PRIu64, comma, nodes[i].self[measure].bytes);
        comma = ",";
    }
    fputs("]}", file);
}

static void
speedscope(FILE *file, const struct cli_call_tree *tree, const char *name)
{
    uint32_t count;
    const char *const *names = cli_call_tree_names(tree, &count);

    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
          "\n\"exporter\":\"profsim\",\"name\":",
          file);
    put_json(file, name);
    fputs(",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", file);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",\n{\"name\":" : "{\"name\":", file);
        put_json(file, names[i]);
        fputc('}', file);
    }
    fputs("]},\n\"profiles\":[", file);
    for (int i = 0; i < CLI_MEASURES; i++) {
        fputs(i > 0 ? ",\n" : "", file);
        put_samples(file, tree, (enum cli_measure)i);
    }
    fputs("]}\n", file);
}

/* ---- flames ---- */

enum {
    WIDTH = 1200,
    ROW = 17,
    TOP = 40,
    LETTER = 7,      /* pixels, about */
    LEAST_TENTHS = 3 /* of a pixel: narrower boxes are left out */
};

static const char *
replace_xml(char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static uint64_t
tenths_of(uint64_t bytes, uint64_t all)
{
    return (uint64_t)((double)bytes / (double)all * WIDTH * 10);
}

/* returns: a warm colour that depends only on the name */
static uint32_t
colour_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    hash ^= hash >> 15;
    return (205 + hash % 50) << 16 | (80 + hash / 64 % 130) << 8 |
           (hash / 8192 % 55);
}

/* Write as much of a name as fits. A character takes at least one byte, so
 * bytes are an upper bound of its width. */
static void
put_label(FILE *file, const char *function, uint64_t tenths)
{
    char *text = printable(function);
    const size_t fits = tenths / 10 / LETTER;
    char label[WIDTH / LETTER + 8];
    size_t length = strlen(text);

    if (length > fits)
        length = fits > 2 ? fits - 2 : 0;
    while (length > 0 && length < strlen(text) &&
           ((uint8_t)text[length] & 0xc0) == 0x80)
        length--; /* not in the middle of a letter */
    if (length >= 2) {
        snprintf(label, sizeof label, "%.*s%s", (int)length, text,
                 length < strlen(text) ? ".." : "");
        put_name(file, label, replace_xml);
    }
    free(text);
}

static void
put_box(FILE *file, const struct cli_tree_node *node, enum cli_measure measure,
        uint64_t left, uint64_t right, uint64_t all)
{
    const struct sim_heap_count total = node->total[measure];
    const uint32_t y = TOP + node->depth * ROW;

    fputs("<g><title>", file);
    put_name(file, node->function, replace_xml);
    fprintf(file,
            "\n%" PRIu64 " bytes in %" PRIu64 " objects, %.2f %%</title>"
            "<rect x=\"%" PRIu64 ".%" PRIu64 "\" y=\"%" PRIu32
            "\" width=\"%" PRIu64 ".%" PRIu64 "\" height=\"%d\" "
            "fill=\"#%06" PRIx32 "\"/>",
            total.bytes, total.objects,
            100.0 * (double)total.bytes / (double)all, left / 10, left % 10, y,
            (right - left) / 10, (right - left) % 10, ROW - 1,
            colour_of(node->function));
    if (right - left >= 10 * 3 * LETTER) {
        fprintf(file, "<text x=\"%" PRIu64 "\" y=\"%" PRIu32 "\">",
                left / 10 + 3, y + ROW - 5);
        put_label(file, node->function, right - left - 60);
        fputs("</text>", file);
    }
    fputs("</g>\n", file);
}

/* Write the boxes from left to right, each below its parent's. in: file, or
 * NULL. returns: the deepest row */
static uint32_t
put_boxes(FILE *file, const struct cli_call_tree *tree,
          enum cli_measure measure)
{
    uint32_t count;
    const struct cli_tree_node *nodes = cli_call_tree_nodes(tree, &count);
    const uint64_t all = nodes[0].total[measure].bytes;
    uint64_t at[CLI_CALLS_MAX + 2] = {0}; /* by depth */
    uint32_t deepest = 0;
    uint32_t i = 0;

    while (all > 0) {
        const uint64_t bytes = nodes[i].total[measure].bytes;
        const uint32_t depth = nodes[i].depth;
        const uint64_t left = tenths_of(at[depth], all);
        const uint64_t right = tenths_of(at[depth] + bytes, all);

        at[depth + 1] = at[depth];
        at[depth] += bytes;
        if (right - left >= LEAST_TENTHS) {
            if (file != NULL)
                put_box(file, &nodes[i], measure, left, right, all);
            deepest = depth > deepest ? depth : deepest;
        }
        i = cli_call_tree_next(tree, i);
        if (i == 0)
            break;
    }
    return deepest;
}

static void
flames(FILE *file, const struct cli_call_tree *tree, enum cli_measure measure,
       const char *name)
{
    static const char *const titles[CLI_MEASURES] = {
        "in use at the peak", "never freed", "allocated in all"};
    const uint32_t deepest = put_boxes(NULL, tree, measure);

    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%" PRIu32 "\" font-family=\"monospace\" "
            "font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf8\"/>\n"
            "<text x=\"10\" y=\"24\" font-size=\"15\">",
            WIDTH, TOP + (deepest + 1) * ROW + 10);
    put_name(file, name, replace_xml);
    fprintf(file, ": bytes %s</text>\n", titles[measure]);
    put_boxes(file, tree, measure);
    fputs("</svg>\n", file);
}

/* ---- files ---- */

enum graph_file {
    FOLDED,
    SPEEDSCOPE,
    PEAK_FLAMES,
    EXIT_FLAMES,
    ALLOCS_FLAMES,
    GRAPHS
};

static const char *const graph_files[GRAPHS] = {
    "peak.folded", "heap.speedscope.json", "peak.svg", "exit.svg",
    "allocs.svg"};

static void
put_graph(FILE *file, enum graph_file kind, const struct cli_call_tree *tree,
          const char *name)
{
    switch (kind) {
    case FOLDED:
        cli_graphs_folded(file, tree, CLI_BY_PEAK);
        break;
    case SPEEDSCOPE:
        speedscope(file, tree, name);
        break;
    case PEAK_FLAMES:
        flames(file, tree, CLI_BY_PEAK, name);
        break;
    case EXIT_FLAMES:
        flames(file, tree, CLI_BY_EXIT, name);
        break;
    case ALLOCS_FLAMES:
        flames(file, tree, CLI_BY_ALLOCS, name);
        break;
    case GRAPHS:
        break;
    }
}

bool
cli_graphs_write(const char *folder, const struct cli_call_tree *tree,
                 const char *name)
{
    bool good = true;

    for (int i = 0; i < GRAPHS && good; i++) {
        struct cli_bytes bytes = {.count = 0};
        char *text = NULL;
        FILE *const memory = cli_need(open_memstream(&text, &bytes.count));

        put_graph(memory, (enum graph_file)i, tree, name);
        fclose(memory);
        bytes.at = cli_need(text);
        good = cli_save(folder, graph_files[i], NULL, cli_save_bytes, &bytes);
        free(text);
    }
    return good;
}
