/* heap_tree.c -- see heap_shown.h: stacks merged from the root. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "heap_shown.h"
#include "unit_test.h"

enum { NODES = 20000, NAMES = 32, COLUMNS = 3 };

struct node {
    uint32_t parent;
    uint32_t name;
    uint32_t child[NAMES]; /* by name; 0: none */
    struct model_count self[COLUMNS];
    struct model_count total[COLUMNS];
};

/* The tree of the last call of one of this file's functions. Nodes and names
 * are in the order in which they came; node 0 is the root. */
static struct node nodes[NODES];
static uint32_t nodes_count;
static const char *names[NAMES];
static uint32_t names_count;

static uint32_t
name_of(const char *text)
{
    uint32_t i = 0;

    while (i < names_count && strcmp(names[i], text) != 0)
        i++;
    assert_true(i < NAMES);
    names[i] = text;
    names_count += i == names_count;
    return i;
}

static uint32_t
child_of(uint32_t parent, const char *text)
{
    const uint32_t name = name_of(text);

    if (nodes[parent].child[name] == 0) {
        assert_true(nodes_count < NODES);
        nodes[parent].child[name] = nodes_count;
        nodes[nodes_count++] = (struct node){.parent = parent, .name = name};
    }
    return nodes[parent].child[name];
}

static void
begin_tree(void)
{
    nodes_count = 1;
    nodes[0] = (struct node){.parent = 0};
    names_count = 0;
}

static void
add_to_tree(const struct heap_model *model, enum model_measure measure,
            uint32_t column)
{
    for (uint32_t i = 0; i < model->stacks_count; i++) {
        const struct model_count count = model->stacks[i].sums.at[measure];
        const struct model_call *calls[MODEL_CALLS];
        const uint32_t calls_count = heap_model_calls(model, i, calls);
        uint32_t leaf = 0;
        uint32_t node = 0;

        if (count.objects == 0)
            continue;
        while (leaf + 1 < calls_count && calls[leaf]->is_plumbing)
            leaf++;
        if (calls_count == 0)
            node = child_of(0, "(no stack)");
        for (uint32_t k = calls_count; k > leaf; k--)
            node = child_of(node, calls[k - 1]->shown);
        nodes[node].self[column].objects += count.objects;
        nodes[node].self[column].bytes += count.bytes;
        for (uint32_t at = node;; at = nodes[at].parent) {
            nodes[at].total[column].objects += count.objects;
            nodes[at].total[column].bytes += count.bytes;
            if (at == 0)
                break;
        }
    }
}

static void
make_tree(const struct heap_model *model)
{
    begin_tree();
    for (int i = 0; i < MODEL_MEASURES; i++)
        add_to_tree(model, (enum model_measure)i, (uint32_t)i);
}

/* Call a function for a node and all below it, children by name. */
static void
walk(uint32_t node, void (*each)(uint32_t node, void *context), void *context)
{
    const char *before = "";

    each(node, context);
    for (;;) {
        uint32_t next = NAMES;

        for (uint32_t i = 0; i < names_count; i++) {
            if (nodes[node].child[i] != 0 && strcmp(names[i], before) > 0 &&
                (next == NAMES || strcmp(names[i], names[next]) < 0))
                next = i;
        }
        if (next == NAMES)
            return;
        before = names[next];
        walk(nodes[node].child[next], each, context);
    }
}

static FILE *
begin_text(char **text)
{
    static size_t bytes;
    FILE *to = open_memstream(text, &bytes);

    assert_non_null(to);
    return to;
}

/* Print the numbers or the names from the root's child to the node. */
static void
put_path(FILE *to, uint32_t node, bool as_numbers)
{
    if (nodes[node].parent != 0) {
        put_path(to, nodes[node].parent, as_numbers);
        fputc(as_numbers ? ',' : ';', to);
    }
    if (as_numbers) {
        fprintf(to, "%u", nodes[node].name);
        return;
    }
    for (const char *at = names[nodes[node].name]; *at != '\0'; at++) {
        const char one[2] = {*at == ';' ? ':' : *at};

        if ((*at & 0x80) != 0)
            fputc(*at, to); /* part of a letter */
        else
            sim_escape_text(to, one);
    }
}

/* ---- Collapsed ---- */

struct folding {
    FILE *to;
    enum model_measure measure;
};

static void
fold(uint32_t node, void *context)
{
    const struct folding *const folding = context;
    const uint64_t bytes = nodes[node].self[folding->measure].bytes;

    if (bytes == 0)
        return;
    put_path(folding->to, node, false);
    fprintf(folding->to, " %" PRIu64 "\n", bytes);
}

char *
heap_shown_folded(const struct heap_model *model, enum model_measure measure)
{
    char *text;
    struct folding folding = {begin_text(&text), measure};

    make_tree(model);
    walk(0, fold, &folding);
    assert_int_equal(fclose(folding.to), 0);
    return text;
}

/* ---- Speedscope ---- */

static void
put_json(FILE *to, const char *name)
{
    char *text;
    FILE *escaped = begin_text(&text);

    sim_escape_text(escaped, name);
    assert_int_equal(fclose(escaped), 0);
    fputc('"', to);
    for (const char *at = text; *at != '\0'; at++)
        fprintf(to, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputc('"', to);
    free(text);
}

static void
put_column(FILE *to, uint32_t column, const char *name)
{
    const char *comma = "";

    fprintf(to,
            "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"bytes\","
            "\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
            name, nodes[0].total[column].bytes);
    for (uint32_t i = 1; i < nodes_count; i++) {
        if (nodes[i].self[column].bytes == 0)
            continue;
        fprintf(to, "%s[", comma);
        put_path(to, i, true);
        fputc(']', to);
        comma = ",\n";
    }
    fputs("],\n\"weights\":[", to);
    comma = "";
    for (uint32_t i = 1; i < nodes_count; i++) {
        if (nodes[i].self[column].bytes == 0)
            continue;
        fprintf(to, "%s%" PRIu64, comma, nodes[i].self[column].bytes);
        comma = ",";
    }
    fputs("]}", to);
}

char *
heap_shown_speedscope(const struct heap_model *model, const char *path)
{
    static const char *const measures[] = {"peak", "exit", "allocs"};
    char *text;
    FILE *to = begin_text(&text);

    make_tree(model);
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
          "\n\"exporter\":\"profsim\",\"name\":",
          to);
    put_json(to, path);
    fputs(",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", to);
    for (uint32_t i = 0; i < names_count; i++) {
        fputs(i > 0 ? ",\n{\"name\":" : "{\"name\":", to);
        put_json(to, names[i]);
        fputc('}', to);
    }
    fputs("]},\n\"profiles\":[", to);
    for (uint32_t i = 0; i < MODEL_MEASURES; i++) {
        fputs(i > 0 ? ",\n" : "", to);
        put_column(to, i, measures[i]);
    }
    fputs("]}\n", to);
    assert_int_equal(fclose(to), 0);
    return text;
}

/* ---- Flames ---- */

struct flames {
    const char *at; /* the next box */
    enum model_measure measure;
    uint64_t left[MODEL_CALLS + 2]; /* by depth: bytes to the left */
    uint32_t boxes;
};

static uint32_t
depth_of(uint32_t node)
{
    return node == 0 ? 0 : depth_of(nodes[node].parent) + 1;
}

static void
expect_tenths(long got_whole, long got_tenths, double want)
{
    const double got = (double)(10 * got_whole + got_tenths);

    if (got < want - 1.01 || got > want + 1.01)
        fail_msg("%f tenths of a pixel instead of %f", got, want);
}

/* Boxes of less than three tenths of a pixel are left out; near that, rounding
 * decides. */
static void
expect_box(uint32_t node, void *context)
{
    struct flames *const flames = context;
    const struct model_count count = nodes[node].total[flames->measure];
    const double all = (double)nodes[0].total[flames->measure].bytes;
    const uint32_t depth = depth_of(node);
    const double left = (double)flames->left[depth] / all * 12000;
    const double width = (double)count.bytes / all * 12000;
    const char *const title_end = strstr(flames->at, "</title>");
    char want[128];
    long numbers[5];

    flames->left[depth + 1] = flames->left[depth];
    flames->left[depth] += count.bytes;
    if (width < 2)
        return;
    snprintf(want, sizeof want,
             "\n%" PRIu64 " bytes in %" PRIu64 " objects, %.2f %%", count.bytes,
             count.objects, 100.0 * (double)count.bytes / all);
    if (title_end == NULL || (size_t)(title_end - flames->at) < strlen(want) ||
        strncmp(title_end - strlen(want), want, strlen(want)) != 0) {
        if (width > 4)
            fail_msg("no box of%s, but %.200s", want, flames->at);
        return;
    }
    assert_int_equal(
        sscanf(title_end,
               "</title><rect x=\"%ld.%ld\" y=\"%ld\" width=\"%ld.%ld\"",
               &numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4]),
        5);
    expect_tenths(numbers[0], numbers[1], left);
    assert_int_equal(numbers[2], 40 + 17 * depth);
    expect_tenths(numbers[3], numbers[4], width);
    flames->at = strstr(title_end, "</g>\n");
    assert_non_null(flames->at);
    flames->at += 5;
    flames->boxes++;
}

void
heap_shown_expect_flames(const struct heap_model *model,
                         enum model_measure measure, const char *text)
{
    static struct flames flames;

    make_tree(model);
    flames = (struct flames){.measure = measure};
    flames.at = strstr(text, "<g><title>");
    if (nodes[0].total[measure].bytes == 0) {
        assert_null(flames.at);
        return;
    }
    assert_non_null(flames.at);
    walk(0, expect_box, &flames);
    assert_string_equal(flames.at, "</svg>\n");
}

/* ---- Differences ---- */

static int64_t
growth_of(uint32_t node)
{
    return (int64_t)(nodes[node].self[1].bytes - nodes[node].self[0].bytes);
}

static int
by_growth(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;

    if (growth_of(x) != growth_of(y))
        return growth_of(x) < growth_of(y) ? 1 : -1;
    return x < y ? -1 : 1;
}

static void
put_change(FILE *to, const struct model_count *counts)
{
    fprintf(to, "%+15" PRId64 " %+10" PRId64 " %15" PRIu64 " %15" PRIu64 "  ",
            (int64_t)(counts[1].bytes - counts[0].bytes),
            (int64_t)(counts[1].objects - counts[0].objects), counts[0].bytes,
            counts[1].bytes);
}

/* At least a quarter of the rows, rounded down, is for what did not grow, if
 * there is as much. */
static void
put_changes(FILE *to, const uint32_t *changed, uint64_t count, uint64_t top)
{
    uint64_t grown = 0;
    uint64_t others;

    while (grown < count && growth_of(changed[grown]) > 0)
        grown++;
    if (top > count)
        top = count;
    others = count - grown < top / 4 ? count - grown : top / 4;
    if (grown < top - others)
        others = top - grown;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t node = changed[i];

        if (i == top - others && top < count)
            fprintf(to,
                    "%15s  %" PRIu64 " more sites changed; --top shows "
                    "more\n",
                    "...", count - top);
        if (i >= top - others && i < count - others)
            continue;
        put_change(to, nodes[node].self);
        for (int k = 0; k < 4 && node != 0; k++) {
            fputs(k > 0 ? " < " : "", to);
            heap_shown_name(to, names[nodes[node].name]);
            node = nodes[node].parent;
        }
        fputc('\n', to);
    }
}

/* What each recording lacks that the program did; inserted frees (5), and those
 * of objects from before (4), are not mentioned. */
static void
put_lacking(FILE *to, const char *path, const struct heap_model *model)
{
    for (int i = 0; i < MODEL_CAUSES; i++) {
        if (i == 4 || i == 5 || model->dropped[i] == 0)
            continue;
        fprintf(to, "profsim diff: %s: not recorded ", path);
        heap_shown_loss(to, model, i);
    }
}

char *
heap_shown_diff(const struct heap_model *old, const struct heap_model *new,
                enum model_measure measure, uint64_t top)
{
    static const char *const titles[] = {"in use at the peak of each run",
                                         "never freed", "allocated in all"};
    static uint32_t changed[NODES];
    uint32_t count = 0;
    char *text;
    FILE *to = begin_text(&text);

    begin_tree();
    add_to_tree(old, measure, 0);
    add_to_tree(new, measure, 1);
    for (uint32_t i = 1; i < nodes_count; i++) {
        if (memcmp(&nodes[i].self[0], &nodes[i].self[1],
                   sizeof nodes[i].self[0]) != 0)
            changed[count++] = i;
    }
    qsort(changed, count, sizeof *changed, by_growth);
    put_lacking(to, "m.rec", old);
    put_lacking(to, "n.rec", new);
    fprintf(to, "%s\n\n%15s %10s %15s %15s\n", titles[measure], "bytes",
            "objects", "before", "after");
    put_change(to, nodes[0].total);
    fputs(count == 0 ? "in all\nno site changed\n" : "in all\n", to);
    put_changes(to, changed, count, top);
    assert_int_equal(fclose(to), 0);
    return text;
}
