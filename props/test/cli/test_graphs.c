/*
 * test_graphs.c -- heaps written for viewers of stacks: stacks are merged from
 * the root, values are added up, and names contain no syntax of the viewer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "graphs.h"
#include "small_recording.h"
#include "unit_test.h"

/* Functions: main, one whose name has all characters of syntax, one inlined
 * into main, malloc. */
static const char *const names[] = {"main", "a;b<c>&\"d'\\e\n\x1b]f", "inner",
                                    "malloc"};

struct made {
    struct sim_recording *recording;
    struct sim_live_heap heap;
    struct cli_calls *calls;
    struct cli_call_tree *tree;
};

static void
write_tables(struct cli_recfile *file)
{
    static const char *const arguments[] = {"prog"};
    static const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                                   .depth_max = 8,
                                                   .arguments_count = 1,
                                                   .arguments = arguments};
    /* Frame 3 is 'inner', which is inlined into main at the same pc, frame
     * 4. The byte before is also a pc, that of frame 5. */
    static const struct cli_recfile_frame frames[] = {
        {.pc = 0x1000, .function = 1, .function_offset = 4},
        {.pc = 0x2000, .function = 2, .function_offset = 4, .line = 7},
        {.pc = 0x3000, .function = 4, .function_offset = 4},
        {.pc = 0x1100, .function = 3, .line = 9},
        {.pc = 0x1100, .function = 1, .function_offset = 0x104, .line = 5},
        {.pc = 0x10ff, .function = 1, .function_offset = 0x103, .line = 11},
    };
    static const uint32_t stacks[][3] = {{2, 1, 0}, {1, 0}, {3}};
    static const uint32_t depths[] = {3, 2, 1};

    cli_recfile_about(file, &about);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cli_recfile_string(file, names[i]);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        cli_recfile_frame(file, &frames[i]);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        cli_recfile_stack(file, stacks[i], depths[i]);
    cli_recfile_thread(file, 1, "");
}

/* Write a recording with an object from each of the three stacks; the second is
 * freed. in: sizes */
static void
make(struct made *made, const uint64_t *sizes)
{
    static const uint64_t dropped[CLI_RECFILE_CAUSES];
    struct cli_recfile file;

    cli_recfile_init(&file, 0);
    write_tables(&file);
    for (uint32_t i = 0; i < 3; i++)
        cli_recfile_alloc(&file, 0, i, sizes[i], i);
    cli_recfile_free(&file, 0, 3, 1);
    cli_recfile_end(&file, dropped);
    made->recording = props_small_recording_read(file.bytes, file.bytes_count);
    cli_recfile_release(&file);
    assert_true(sim_live_heap_open(&made->heap, made->recording, NULL));
    made->calls = cli_calls_open(made->recording);
    made->tree = cli_call_tree_new();
    assert_non_null(made->calls);
    assert_non_null(made->tree);
    for (uint32_t i = 0; i < CLI_MEASURES; i++)
        assert_true(cli_call_tree_add(made->tree, i, made->calls,
                                      made->recording, &made->heap,
                                      (enum cli_measure)i));
    assert_true(cli_call_tree_finish(made->tree));
}

static void
release(struct made *made)
{
    cli_call_tree_delete(made->tree);
    cli_calls_close(made->calls);
    sim_live_heap_close(&made->heap);
    sim_recording_close(made->recording);
}

static int refused_stream; /* counted down, fails at 1; 0: off */

FILE *__real_open_memstream(char **text, size_t *bytes);
FILE *__wrap_open_memstream(char **text, size_t *bytes);
FILE *
__wrap_open_memstream(char **text, size_t *bytes)
{
    if (refused_stream > 0 && --refused_stream == 0)
        return NULL;
    return __real_open_memstream(text, bytes);
}

/* Return what one of the writers prints; the caller frees it. */
static char *
print(const struct made *made, char form)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    if (form == 'p')
        assert_true(cli_graphs_folded(file, made->tree, CLI_BY_PEAK));
    else if (form == 'e')
        assert_true(cli_graphs_folded(file, made->tree, CLI_BY_EXIT));
    else if (form == 's')
        assert_true(cli_graphs_flames(file, made->tree, CLI_BY_PEAK, "x<y"));
    else
        assert_true(cli_graphs_speedscope(file, made->tree, "x\"y"));
    assert_int_equal(fclose(file), 0);
    return text;
}

static void
expect_text(const struct made *made, char form, const char *want)
{
    char *text = print(made, form);

    assert_string_equal(text, want);
    free(text);
}

static void
expect_part(const struct made *made, char form, const char *part)
{
    char *text = print(made, form);

    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in: %s", part, text);
    free(text);
}

TEST(stacks_are_merged_and_malloc_is_left_out)
{
    static const uint64_t sizes[] = {1, 20, 300};
    struct made made;

    make(&made, sizes);
    expect_text(&made, 'p',
                "main;a:b<c>&\"d'\\e\\n\\x1b]f 21\n"
                "main;inner 300\n");
    expect_text(&made, 'e',
                "main;a:b<c>&\"d'\\e\\n\\x1b]f 1\n"
                "main;inner 300\n");
    release(&made);
}

TEST(names_are_no_syntax)
{
    static const uint64_t sizes[] = {1, 20, 300};
    struct made made;
    char *text;

    make(&made, sizes);
    expect_part(&made, 's', "<title>a;b&lt;c&gt;&amp;&quot;d&#39;");
    expect_part(&made, 's', ">x&lt;y: bytes in use at the peak<");
    expect_part(&made, 's', "21 bytes in 2 objects, 6.54 %");
    expect_part(&made, 'j', "\"name\":\"x\\\"y\"");
    expect_part(&made, 'j', "a;b<c>&\\\"d'\\\\e\\\\n\\\\x1b]f\"");
    text = print(&made, 's');
    assert_null(strstr(text, "<c>"));
    assert_null(strchr(text, '\x1b'));
    free(text);
    text = print(&made, 'j');
    assert_null(strchr(text, '\x1b'));
    free(text);
    release(&made);
}

TEST(calls_of_one_pc_have_addresses_of_their_own)
{
    static const uint64_t sizes[] = {1, 20, 300};
    const struct cli_call *calls[CLI_CALLS_MAX];
    struct made made;

    make(&made, sizes);
    assert_int_equal(cli_calls_of(made.calls, 2, calls), 2);
    assert_string_equal(calls[0]->function, "inner");
    assert_int_equal(calls[0]->line, 9);
    assert_string_equal(calls[1]->function, "main");
    assert_int_equal(calls[1]->line, 5);
    assert_int_equal(calls[0]->address, 0x1100);
    assert_int_not_equal(calls[1]->address, 0x1100);
    assert_int_not_equal(calls[1]->address, 0x10ff);
    assert_int_equal(cli_calls_find(made.calls, 0x10ff)->line, 11);
    assert_ptr_equal(cli_calls_find(made.calls, calls[0]->address), calls[0]);
    assert_ptr_equal(cli_calls_find(made.calls, calls[1]->address), calls[1]);
    release(&made);
}

static void
expect_name(const char *name, const char *want)
{
    char text[128] = "";
    FILE *file = fmemopen(text, sizeof text, "w");

    assert_non_null(file);
    cli_print_function(file, name);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
}

/* A name may have 64 bytes. A longer one is cut after a whole character, and
 * ends in dots. */
TEST(a_long_name_is_cut_between_letters)
{
#define TEN   "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN
    expect_name("", "");
    expect_name(SIXTY "0123", SIXTY "0123");
    expect_name(SIXTY "01234", SIXTY "0...");
    expect_name(SIXTY "\xc3\xa9xyz", SIXTY "...");
    expect_name(SIXTY "0\xc3\xa9xyz", SIXTY "0...");
}

TEST(a_heap_of_nothing_is_still_a_graph)
{
    static const uint64_t sizes[] = {0, 0, 0};
    struct made made;

    make(&made, sizes);
    expect_text(&made, 'p', "");
    expect_part(&made, 's', "</svg>");
    expect_part(&made, 'j', "\"samples\":[],");
    release(&made);
}

/* ---- a large heap ---- */

/* More than 16 bits can number. */
enum { FUNCTIONS = 70000, NAME_BYTES = 40 };

/* A name that is long, and another one for each number. */
static void
name_of(char name[NAME_BYTES + 1], uint32_t number)
{
    memset(name, 'x', NAME_BYTES);
    snprintf(&name[NAME_BYTES - 8], 9, "_%07u", (unsigned)number);
}

/* Stacks: of each function, called by another one, called by function 0. */
static uint32_t
caller_of(uint32_t function)
{
    return (function * 9 + 1) % FUNCTIONS;
}

/* A block ends when it has grown past 64 KiB: with its last record. */
static void
expect_blocks(const struct cli_recfile *file)
{
    size_t at = 12;

    while (at < file->bytes_count) {
        const uint8_t *head = file->bytes + at;
        const size_t bytes = head[1] | (size_t)head[2] << 8 |
                             (size_t)head[3] << 16 | (size_t)head[4] << 24;

        assert_in_range(bytes, 1, 65536 + NAME_BYTES + 16);
        at += 9 + bytes;
    }
    assert_int_equal(at, file->bytes_count);
}

static struct sim_recording *
record_large(void)
{
    static const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                                   .depth_max = 8};
    static const uint64_t dropped[CLI_RECFILE_CAUSES];
    struct sim_recording *recording;
    struct cli_recfile file;
    char name[NAME_BYTES + 1];

    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        name_of(name, i);
        cli_recfile_string(&file, name);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const struct cli_recfile_frame frame = {.pc = 0x1000 + 16 * i,
                                                .function = 1 + i};

        cli_recfile_frame(&file, &frame);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        cli_recfile_stack(&file, (const uint32_t[]){i, caller_of(i), 0}, 3);
    cli_recfile_thread(&file, 1, "");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        cli_recfile_alloc(&file, 0, i, UINT64_C(0x100000000) + i, i);
    cli_recfile_end(&file, dropped);
    assert_true(file.bytes_count > 2 * 65536);
    expect_blocks(&file);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    cli_recfile_release(&file);
    return recording;
}

static void
expect_function(const struct cli_tree_node *node, uint32_t number)
{
    char name[NAME_BYTES + 1];

    name_of(name, number);
    assert_string_equal(node->function, name);
}

TEST(each_of_many_stacks_has_its_own_place_in_the_tree)
{
    struct sim_recording *recording = record_large();
    struct sim_live_heap heap;
    struct cli_calls *calls;
    struct cli_call_tree *tree = cli_call_tree_new();
    const struct cli_tree_node *nodes;
    static uint8_t seen[FUNCTIONS];
    uint32_t count;

    assert_true(sim_live_heap_open(&heap, recording, NULL));
    calls = cli_calls_open(recording);
    assert_true(
        cli_call_tree_add(tree, 1, calls, recording, &heap, CLI_BY_PEAK));
    assert_true(cli_call_tree_finish(tree));
    nodes = cli_call_tree_nodes(tree, &count);
    assert_int_equal(count, 2 + 2 * FUNCTIONS);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t number;

        if (nodes[i].self[1].objects == 0)
            continue;
        number = (uint32_t)(nodes[i].self[1].bytes - 0x100000000);
        assert_true(number < FUNCTIONS);
        assert_int_equal(nodes[i].self[1].objects, 1);
        assert_int_equal(nodes[i].depth, 3);
        seen[number]++;
        expect_function(&nodes[i], number);
        expect_function(&nodes[nodes[i].parent], caller_of(number));
        expect_function(&nodes[nodes[nodes[i].parent].parent], 0);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(nodes[0].total[1].objects, FUNCTIONS);
    assert_int_equal(nodes[0].total[1].bytes,
                     FUNCTIONS * UINT64_C(0x100000000) +
                         UINT64_C(1) * FUNCTIONS * (FUNCTIONS - 1) / 2);
    cli_call_tree_delete(tree);
    cli_calls_close(calls);
    sim_live_heap_close(&heap);
    sim_recording_close(recording);
}

enum { FILES = 5, FILE_BYTES = 1 << 14 };

/* Read and remove the files. returns: how many there are before one that is
 * missing; those behind it must be missing, too */
static int
take_files(char texts[FILES][FILE_BYTES])
{
    static const char *const files[FILES] = {"peak.folded",
                                             "heap.speedscope.json", "peak.svg",
                                             "exit.svg", "allocs.svg"};
    int count = 0;

    for (int i = 0; i < FILES; i++) {
        char path[64];
        FILE *file;

        folder_path(path, sizeof path, files[i]);
        file = fopen(path, "rb");
        if (file == NULL)
            continue;
        assert_int_equal(count, i);
        count++;
        memset(texts[i], 0, FILE_BYTES);
        assert_true(fread(texts[i], 1, FILE_BYTES - 1, file) > 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(remove(path), 0);
    }
    return count;
}

/* A name for which there is no memory is not left out: its file is not
 * written, and those before are whole. */
TEST(each_file_is_whole_or_not_written_without_memory)
{
    static const uint64_t sizes[] = {500, 300, 200};
    static char whole[FILES][FILE_BYTES];
    static char texts[FILES][FILE_BYTES];
    struct made made;
    bool good = false;

    make(&made, sizes);
    assert_true(cli_graphs_write(folder, made.tree, "x"));
    assert_int_equal(take_files(whole), FILES);
    for (int request = 1; !good; request++) {
        int written;

        assert_true(request < 200);
        refused_stream = request;
        good = cli_graphs_write(folder, made.tree, "x");
        assert_int_equal(good, refused_stream > 0);
        refused_stream = 0;
        written = take_files(texts);
        assert_int_equal(written == FILES, good);
        assert_memory_equal(texts, whole, (size_t)written * FILE_BYTES);
    }
    release(&made);
}

/* returns: the number behind the first `name="`; *at: behind it */
static double
attribute(const char **at, const char *name)
{
    char text[32];

    snprintf(text, sizeof text, " %s=\"", name);
    *at = strstr(*at, text);
    assert_non_null(*at);
    *at += strlen(text);
    return strtod(*at, NULL);
}

/* returns: the lower edge of a box; *cut: counts labels that end with
 * two dots */
static double
expect_label(const char *box, uint32_t *cut)
{
    const char *const end = strstr(box, "</g>");
    const char *label = strstr(box, "<text");
    const char *at = box;
    char title[64];
    char want[80];
    const double edge = attribute(&at, "y") + 17;
    const double width = attribute(&at, "width");
    size_t fits;

    assert_int_equal(sscanf(box, "<g><title>%63[^\n]", title), 1);
    assert_int_equal(label != NULL && label < end, width >= 21);
    fits = width >= 21 ? (size_t)(width * 10 + 0.5 - 60) / 10 / 7 : 0;
    snprintf(want, sizeof want, ">%s</text>", title);
    if (width >= 21 && strlen(title) > fits) {
        (*cut)++;
        fits = fits > 3 ? fits - 2 : 0;
        snprintf(want, sizeof want, ">%.*s%s</text>", (int)fits, title,
                 fits > 0 ? ".." : "");
    }
    if (width >= 21 && strchr(title, '&') == NULL) /* that of all syntax */
        assert_memory_equal(strchr(label, '>'), want, strlen(want));
    return edge;
}

/* Each box lies in the picture; a label is cut to fit, 7 pixels a letter. */
TEST(labels_and_boxes_fit)
{
    uint32_t cut = 0;

    for (uint64_t part = 1; part < 60; part++) {
        const uint64_t sizes[] = {3, 1000 - part, part};
        struct made made;
        const char *at;
        char *text;
        double height;
        double lowest = 0;

        make(&made, sizes);
        at = text = print(&made, 's');
        assert_true(attribute(&at, "width") == 1200);
        height = attribute(&at, "height");
        assert_string_equal(strrchr(text, '<'), "</svg>\n");
        expect_part(&made, 's', "<rect x=\"0.0\" y=\"40\" width=\"1200.0\"");
        while ((at = strstr(at, "<g>")) != NULL) {
            const double edge = expect_label(at++, &cut);

            lowest = edge > lowest ? edge : lowest;
        }
        assert_true(height == lowest + 10);
        free(text);
        release(&made);
    }
    assert_true(cut > 10);
}

int
main(void)
{
    return tests_run(folder_make, folder_remove);
}
