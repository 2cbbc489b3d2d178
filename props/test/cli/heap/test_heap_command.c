/*
 * test_heap_command.c -- `profsim run` and `profsim diff` on recordings of a
 * few events: each number that they print and write follows from heap_case.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "command.h"
#include "folder.h"
#include "heap_case.h"
#include "heap_random.h"
#include "subject_shown.h"
#include "unit_test.h"

enum { WORDS_MAX = 10, TEXT_BYTES = 1 << 14 };

/* Run the command; its words end in NULL. out: the output */
static void
expect_output(enum cli_exit (*command)(int argc, char **argv),
              const char *const *words, int exit_code, const char *want)
{
    char copies[WORDS_MAX][32];
    char *argv[WORDS_MAX + 1] = {NULL};
    struct captured captured;

    for (int i = 0; words[i] != NULL; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", words[i]);
        argv[i] = copies[i];
    }
    assert_true(captured_run(&captured, command, argv, -1, 60));
    assert_string_equal(captured.text, want);
    assert_int_equal(captured.exit_code, exit_code);
    captured_free(&captured);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void
expect_file(const char *path, const char *want)
{
    static char text[TEXT_BYTES];
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
}

/* ---- One heap ---- */

#define HEAD                                                             \
    "a.rec: /bin/prog a b\n"                                             \
    "process 42, 2 threads, 2.000 s, 10 recorded events\n\n"             \
    "peak          4000 bytes (3.9 KiB) in 3 objects, at 0.600 s\n"      \
    "at exit       3000 bytes (2.9 KiB) in 1 object never freed\n"       \
    "allocated     5024 bytes (4.9 KiB) in 5 objects; 4 of them freed\n" \
    "waits         1, for locks\n"                                       \
    "not recorded  3 events after the disk was full: what is here is "   \
    "exact up to then; record again with TMPDIR on a larger disk\n\n"

#define PEAK                                                  \
    "in use at the peak, by site (3 of 3)\n"                  \
    "         bytes    objects\n"                             \
    "          3000          1  75.0 %  main (a.c:12)\n"      \
    "          1000          1  25.0 %  work (a.c:7) < main " \
    "(a.c:12)\n"                                              \
    "             0          1   0.0 %  (no stack)\n\n"

#define LEFT                          \
    "never freed, by site (1 of 1)\n" \
    "         bytes    objects\n"     \
    "          3000          1 100.0 %  main (a.c:12)\n\n"

#define ALLOCATED                                             \
    "allocated in all, by site (3 of 3)\n"                    \
    "         bytes    objects\n"                             \
    "          3024          2  60.2 %  main (a.c:12)\n"      \
    "          2000          2  39.8 %  work (a.c:7) < main " \
    "(a.c:12)\n"                                              \
    "             0          1   0.0 %  (no stack)\n\n"

#define THREADS_AND_SIZES                                                      \
    "\nby thread\n"                                                            \
    "    thread    at the peak    never freed      allocated    objects    "   \
    "freed by it\n"                                                            \
    "        42           1000              0           2000          3      " \
    "     1000  first\n"                                                       \
    "        43           3000           3000           3024          2      " \
    "     1024  \n"                                                            \
    "\nby size\n"                                                              \
    "      bytes an object    at the peak    never freed      allocated    "   \
    "objects\n"                                                                \
    "         0-         0              0              0              0      " \
    "    1\n"                                                                  \
    "        16-        31              0              0             24      " \
    "    1\n"                                                                  \
    "       512-      1023           1000              0           2000      " \
    "    2\n"                                                                  \
    "      2048-      4095           3000           3000           3000      " \
    "    1\n"

/* The 2,000 ms in 32 spans of 63 ms, computed from the events of
 * heap_case.c. */
static void
add_time(char *text, size_t room)
{
    static const struct {
        unsigned last_ms;
        unsigned most_bytes;
        unsigned last_bytes;
        unsigned allocated_bytes;
        unsigned objects;
    } spans[] = {
        {63, 0, 0, 0, 0},           {126, 1000, 1000, 1000, 1},
        {189, 1000, 1000, 0, 0},    {252, 1024, 1024, 24, 1},
        {315, 2024, 2024, 1000, 1}, {378, 2024, 2024, 0, 0},
        {441, 2024, 1024, 0, 0},    {504, 1024, 1024, 0, 1},
        {567, 1024, 1024, 0, 0},    {630, 4000, 4000, 3000, 1},
        {693, 4000, 4000, 0, 0},    {756, 4000, 3000, 0, 0},
    };
    size_t at = strlen(text);

    at += (size_t)snprintf(&text[at], room - at,
                           "over time\n%10s %14s %14s %14s %10s\n", "until s",
                           "most bytes", "at its end", "allocated", "objects");
    for (unsigned i = 0; i < sizeof spans / sizeof *spans; i++)
        at += (size_t)snprintf(
            &text[at], room - at, "     0.%03u %14u %14u %14u %10u  %.*s\n",
            spans[i].last_ms, spans[i].most_bytes, spans[i].last_bytes,
            spans[i].allocated_bytes, spans[i].objects,
            (int)spans[i].most_bytes / 200, "####################");
    for (unsigned ms = 819; ms < 2000 + 63; ms += 63)
        at += (size_t)snprintf(
            &text[at], room - at,
            "     %u.%03u           3000           3000              0         "
            " 0  ###############\n",
            (ms < 2000 ? ms : 2000) / 1000, (ms < 2000 ? ms : 2000) % 1000);
}

static void
expect_run(const char *const *words, const char *sites)
{
    static char want[TEXT_BYTES];

    snprintf(want, sizeof want, "%s%s", HEAD, sites);
    add_time(want, sizeof want);
    snprintf(&want[strlen(want)], sizeof want - strlen(want), "%s",
             THREADS_AND_SIZES);
    expect_output(cli_run, words, CLI_OK, want);
}

TEST(a_heap_is_summed_up)
{
    heap_case_write("a.rec", false);
    expect_run(WORDS("run", "a.rec"), PEAK LEFT ALLOCATED);
    expect_run(WORDS("run", "a.rec", "--by", "peak"), PEAK);
    expect_run(WORDS("run", "--by=exit", "a.rec"), LEFT);
    expect_run(WORDS("run", "--by", "allocs", "a.rec"), ALLOCATED);
    expect_output(cli_run, WORDS("run", "--folded", "a.rec"), CLI_OK,
                  "main 3000\nmain;work 1000\n");
    expect_output(cli_run, WORDS("run", "--folded", "--by", "allocs", "a.rec"),
                  CLI_OK, "main 3024\nmain;work 2000\n");
}

TEST(what_is_written_has_the_same_numbers)
{
    struct captured captured;
    char words[][8] = {"run", "b.rec", "--out", "out"};
    char *argv[] = {words[0], words[1], words[2], words[3], NULL};

    heap_case_write("b.rec", true);
    assert_true(captured_run(&captured, cli_run, argv, -1, 60));
    assert_int_equal(captured.exit_code, CLI_OK);
    captured_free(&captured);
#define ROWS(work, main, none)                         \
    work " @ 0x3010 0x1104 0x1204\n" main " @ 0x3010 " \
         "0x1204\n" none " @ 0x1\n"
#define IN_USE                                                         \
    "heap profile: 4: 504000 [6: 505024] @ "                           \
    "heapprofile\n" ROWS("2: 501000 [3: 502000]", "1: 3000 [2: 3024]", \
                         "1: 0 [1: 0]")
    expect_file("out/heap.txt", IN_USE);
    expect_file("out/allocs.txt", IN_USE);
    expect_file(
        "out/exit.txt",
        "heap profile: 2: 503000 [6: 505024] @ heapprofile\n" ROWS(
            "1: 500000 [3: 502000]", "1: 3000 [2: 3024]", "0: 0 [1: 0]"));
    expect_file("out/heap.symbolized",
                "--- symbol\nbinary=/bin/prog\n"
                "0x0000000000001104 work\n0x0000000000001204 main\n"
                "0x0000000000003010 malloc\n---\n" IN_USE);
    /* The wait lasted 50 ms; for 30 of them this holder had the lock. */
    expect_file("out/block.txt",
                "--- contention:\ncycles/second=1000\n50 1 @ 0x3010 0x1204\n"
                "#\t0x300f\tmalloc+0xf\t:0\n#\t0x1203\tmain+0x3\tsrc/a.c:12"
                "\n\n");
    expect_file("out/mutex.txt",
                "--- mutex:\ncycles/second=1000\nsampling period=1\n"
                "30 1 @ 0x3010 0x1104 0x1204\n#\t0x300f\tmalloc+0xf\t:0\n"
                "#\t0x1103\twork+0x3\tsrc/a.c:7\n"
                "#\t0x1203\tmain+0x3\tsrc/a.c:12\n\n");
    expect_file("out/peak.folded", "main 3000\nmain;work 501000\n");
    expect_file(
        "out/heap.speedscope.json",
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
        "\"exporter\":\"profsim\",\"name\":\"b.rec\",\"activeProfileIndex\":0,"
        "\n\"shared\":{\"frames\":[{\"name\":\"main\"},\n{\"name\":\"work\"},\n"
        "{\"name\":\"(no stack)\"}]},\n"
        "\"profiles\":[{\"type\":\"sampled\",\"name\":\"peak\",\"unit\":"
        "\"bytes\",\"startValue\":0,\"endValue\":504000,\n\"samples\":[[0],\n"
        "[0,1]],\n\"weights\":[3000,501000]},\n"
        "{\"type\":\"sampled\",\"name\":\"exit\",\"unit\":"
        "\"bytes\",\"startValue\":0,\"endValue\":503000,\n\"samples\":[[0],\n"
        "[0,1]],\n\"weights\":[3000,500000]},\n"
        "{\"type\":\"sampled\",\"name\":\"allocs\",\"unit\":"
        "\"bytes\",\"startValue\":0,\"endValue\":505024,\n\"samples\":[[0],\n"
        "[0,1]],\n\"weights\":[3024,502000]}]}\n");
}

/* Bytes are shown in the largest unit of which there is at least one; of no
 * object there is no table of sites. */
TEST(large_sums_have_a_unit)
{
    static const struct {
        uint64_t bytes;
        const char *want;
    } sums[] = {
        {1023, "peak          1023 bytes in 1 object,"},
        {1024, "peak          1024 bytes (1.0 KiB) in 1 object,"},
        {(1 << 20) - 1, "peak          1048575 bytes (1024.0 KiB) in"},
        {1 << 20, "peak          1048576 bytes (1.0 MiB) in"},
        {3 << 19, "peak          1572864 bytes (1.5 MiB) in 1 object,"},
        {UINT64_C(5) << 29, "peak          2684354560 bytes (2.5 GiB) in"},
        {UINT64_C(1) << 42, "peak          4398046511104 bytes (4.0 TiB) in"},
        {UINT64_C(1) << 51,
         "peak          2251799813685248 bytes (2048.0 TiB)"},
        {UINT64_MAX, "allocated     0 bytes in 0 objects; 0 of them freed\n"
                     "not recorded  nothing\n\nover time\n"},
    };
    char words[][8] = {"run", "s.rec"};
    char *argv[] = {words[0], words[1], NULL};

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct captured captured;

        heap_case_write_sites("s.rec", &sums[i].bytes, 1);
        assert_true(captured_run(&captured, cli_run, argv, -1, 60));
        if (strstr(captured.text, sums[i].want) == NULL)
            fail_msg("no '%s' in: %s", sums[i].want, captured.text);
        captured_free(&captured);
    }
}

/* ---- Two heaps ---- */

/* in: the name of a recording of heap_case.h */
#define LACKS(name)                                            \
    "profsim diff: " name ": not recorded 3 events after the " \
    "disk was full: what is here is exact up to then; record " \
    "again with TMPDIR on a larger disk\n"

#define DIFF_HEAD                        \
    "in use at the peak of each run\n\n" \
    "          bytes    objects          before           after\n"

TEST(two_heaps_differ_by_what_one_has_more)
{
    heap_case_write("a.rec", false);
    heap_case_write("b.rec", true);
    expect_output(
        cli_diff, WORDS("diff", "a.rec", "b.rec"), CLI_OK,
        LACKS("a.rec") LACKS("b.rec") DIFF_HEAD
        "        +500000         +1            4000          504000  in all\n"
        "        +500000         +1            1000          501000  work < "
        "main\n");
    expect_output(
        cli_diff, WORDS("diff", "b.rec", "a.rec", "--by", "exit"), CLI_OK,
        LACKS("b.rec") LACKS("a.rec") "never freed\n\n"
                                      "          bytes    objects          "
                                      "before           after\n"
                                      "        -500000         -1          "
                                      "503000            3000  in all\n"
                                      "        -500000         -1          "
                                      "500000               0  work < "
                                      "main\n");
    expect_output(
        cli_diff, WORDS("diff", "a.rec", "a.rec"), CLI_OK,
        LACKS("a.rec") LACKS("a.rec") DIFF_HEAD
        "             +0         +0            4000            4000  in all\n"
        "no site changed\n");
    expect_output(cli_diff, WORDS("diff", "a.rec"), CLI_USAGE,
                  "profsim: diff: needs OLD.rec NEW.rec; 'profsim diff --help' "
                  "says more\n");
    expect_output(cli_diff, WORDS("diff", "a.rec", "a.rec", "a.rec"), CLI_USAGE,
                  "profsim: diff: takes two recordings; 'a.rec' is one more\n");
    expect_output(cli_diff, WORDS("diff", "a.rec", "c.rec"), CLI_USAGE,
                  LACKS("a.rec") "profsim: c.rec: No such file or directory\n");
    expect_output(cli_diff, WORDS("diff", "c.rec", "a.rec"), CLI_USAGE,
                  "profsim: c.rec: No such file or directory\n");
}

/* The rows of a diff: for each function its number and its growth. */
static void
expect_rows(const char *top, const char *rows)
{
    struct captured captured;
    char words[][8] = {"diff", "o.rec", "n.rec", "--top", ""};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
    char found[256] = "";
    char *line;
    char *rest;

    snprintf(words[4], sizeof words[4], "%s", top);
    assert_true(captured_run(&captured, cli_diff, argv, -1, 60));
    assert_int_equal(captured.exit_code, CLI_OK);
    strtok_r(captured.text, "\n", &rest);
    for (int i = 0; i < 2; i++)
        strtok_r(NULL, "\n", &rest);
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        const size_t at = strlen(found);
        int growth;
        int objects;
        char name[16];

        if (sscanf(line, "%d %d %*u %*u %15s", &growth, &objects, name) == 3)
            snprintf(&found[at], sizeof found - at, "%s%+d/%+d ", name, growth,
                     objects);
        else
            snprintf(&found[at], sizeof found - at, "...%d ",
                     atoi(strstr(line, "...") + 3));
    }
    captured_free(&captured);
    assert_string_equal(found, rows);
}

TEST(what_grew_most_comes_first_and_what_shrank_most_last)
{
    static const uint64_t old[] = {0,  UINT64_MAX, UINT64_MAX, 100, 100,
                                   50, 100,        100,        100, 100};
    static const uint64_t new[] = {UINT64_MAX, 0,  30, 90,  99,
                                   90,         20, 97, 100, 130};

    heap_case_write_sites("o.rec", old, 10);
    heap_case_write_sites("n.rec", new, 10);
    /* If functions grew by equally much, those that the old run has come
     * first. */
#define GROWN  "f5+40/+0 f9+30/+0 f2+30/+1 "
#define SHRUNK "f4-1/+0 f7-3/+0 f3-10/+0 f6-80/+0 "
    expect_rows("20", GROWN "f0+0/-1 f1+0/+1 " SHRUNK);
    expect_rows("9", GROWN "f0+0/-1 f1+0/+1 " SHRUNK);
    /* A quarter of the rows is for functions that did not grow, and more if few
     * grew. */
    expect_rows("8", GROWN "...1 f1+0/+1 " SHRUNK);
    expect_rows("4", GROWN "...5 f6-80/+0 ");
    expect_rows("3", GROWN "...6 ");
    expect_rows("1", "f5+40/+0 ...8 ");
}

/* ---- Random heaps ---- */

TEST(random_heaps_are_shown_and_written_as_they_are_added_up)
{
    heap_random_run();
}

TEST(random_heaps_differ_by_the_sums_of_their_sites)
{
    heap_random_diff();
}

TEST(a_random_heap_over_time_is_added_up_moment_by_moment)
{
    heap_random_bins();
}

TEST(files_are_whole_or_not_there_when_memory_or_the_disk_is_full)
{
    heap_random_refused();
}

/* ---- Subjects ---- */

TEST(a_subject_is_shown_and_written_as_it_shows_itself)
{
    subject_shown_random();
}

TEST(a_subject_s_files_are_whole_or_not_there)
{
    subject_shown_refused();
}

/* ---- What is refused ---- */

TEST(words_that_make_no_sense_are_refused)
{
    heap_case_write("a.rec", false);
    expect_output(cli_run, WORDS("run"), CLI_USAGE,
                  "profsim: run: needs a FILE; 'profsim run --help' says "
                  "more\n");
    expect_output(cli_run, WORDS("run", "a.rec", "--by", "size"), CLI_USAGE,
                  "profsim: --by takes peak, exit or allocs, not 'size'\n");
    expect_output(cli_run, WORDS("run", "a.rec", "--top", "0"), CLI_USAGE,
                  "profsim: --top takes a whole number from 1 to 4294967295, "
                  "not '0'\n");
    expect_output(cli_run, WORDS("run", "a.rec", "--out", ""), CLI_USAGE,
                  "profsim: --out needs the name of a folder\n");
    expect_output(cli_run, WORDS("run", "a.rec", "--debug", "x"), CLI_USAGE,
                  "profsim: --debug takes alloc, not 'x'\n");
    expect_output(cli_run, WORDS("run", "a.rec", "a.rec", "--data", "x"),
                  CLI_USAGE, "profsim: --html and --data take one file\n");
    expect_output(cli_diff, WORDS("diff", "a.rec", "a.rec", "--top", "x"),
                  CLI_USAGE,
                  "profsim: --top takes a whole number from 1 to 4294967295, "
                  "not 'x'\n");
    expect_output(cli_diff, WORDS("diff", "a.rec", "a.rec", "--by", "x"),
                  CLI_USAGE,
                  "profsim: --by takes peak, exit or allocs, not 'x'\n");
    expect_output(
        cli_diff, WORDS("diff", "a.rec", "/dev/null"), CLI_USAGE,
        LACKS("a.rec") "profsim: /dev/null: offset 0: not a recording\n");
}

/* Of what cannot be written the exit code speaks, whatever else is well. */
TEST(a_page_that_cannot_be_written_is_a_failure)
{
    static char *const commands[][6] = {
        {"run", "a.rec", "--html", "/nowhere/x.html"},
        {"run", "a.rec", "--data", "/nowhere/x.json"},
        {"run", "a.rec", "--out", "/nowhere/x/y"},
        {"run", "a.sim", "--html", "/nowhere/x.html"},
        {"replay", "a.sim", "--html", "/nowhere/x.html"},
        {"replay", "a.sim", "--data", "/nowhere/x.json"}};
    FILE *scenario = fopen("a.sim", "w");

    assert_non_null(scenario);
    fputs("profsim scenario 2\nbuckets 64\nstack s1 = 0x401000\n"
          "alloc o1 s1 16\n",
          scenario);
    assert_int_equal(fclose(scenario), 0);
    heap_case_write("a.rec", false);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        for (int with = 0; with < 2; with++) {
            char *argv[6];
            struct captured said;

            memcpy(argv, commands[i], sizeof argv);
            if (with == 0)
                argv[2] = NULL;
            assert_true(captured_run(&said, i < 4 ? cli_run : cli_replay, argv,
                                     -1, 60));
            if (said.exit_code != with)
                fail_msg("%zu: %d, %s", i, said.exit_code, said.text);
            captured_free(&said);
        }
    }
}

static int
enter(void **state)
{
    return folder_make(state) != 0 || chdir(folder) != 0;
}

int
main(void)
{
    return tests_run(enter, folder_clear);
}
