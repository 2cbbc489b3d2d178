/*
 * test_mutants_table.c -- `profsim mutants TABLE`: counts, scores and the exit
 * code; an incomplete table is refused. The checksum is that of cksum(1).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "conform/conform_command.h"
#include "folder.h"
#include "mutants.h"
#include "unit_test.h"

static char path[64];

#define NAMES "name,kind,verdict,by,runs\n"

static void
write_rows(const char *rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(rows, file);
    assert_int_equal(fclose(file), 0);
}

/* Write a table. in: rows, with the line of names; count, the number of rows
 * that the last line claims; less, what its checksum is short of */
static void
write_table(const char *rows, unsigned count, unsigned less, const char *end)
{
    char command[128];
    unsigned long sum;
    FILE *file;

    write_rows(rows);
    snprintf(command, sizeof command, "cksum <%s", path);
    file = popen(command, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &sum), 1);
    assert_int_equal(pclose(file), 0);
    file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "end,%u,%lu%s", count, sum - less, end);
    assert_int_equal(fclose(file), 0);
}

static void
expect_output(int exit_code, const char *want)
{
    char word[] = "mutants";
    char *argv[] = {word, path, NULL};
    struct captured captured;

    assert_true(captured_run(&captured, cli_mutants, argv, -1, 60));
    assert_string_equal(captured.text, want);
    assert_int_equal(captured.exit_code, exit_code);
    captured_free(&captured);
}

static void
expect_refusal(unsigned line, const char *why)
{
    char want[256];

    if (line == 0)
        snprintf(want, sizeof want, "profsim: %s: %s\n", path, why);
    else
        snprintf(want, sizeof want, "profsim: %s:%u: %s\n", path, line, why);
    expect_output(1, want);
}

#define TITLES "mutants  caught  no mistake  survive   score\n"

TEST(mutants_are_counted_by_file_and_by_judge)
{
    write_table(NAMES "\"prof/b.c f: a, \"\"b\"\" -> c\",k,failed,\"t2 x\",1\n"
                      "prof/a.c g: x -> y,k,crashed,t1 z,\n"
                      "\"prof/a.c h: x\",\"k,k\",hangs,t1,7\n"
                      "prof/a.c i,k,equivalent,,\n"
                      "prof/a.c i,k,same object code,,\n"
                      "prof/a.c i,k,survives,,\n"
                      "prof/c.c i,k,equivalent,,\n",
                7, 0, "\n");
    expect_output(
        2, "file                     " TITLES
           "prof/a.c                       5       2           2        1     "
           "66.6\n"
           "prof/b.c                       1       1           0        0    "
           "100.0\n"
           "prof/c.c                       1       0           1        0\n\n"
           "                         " TITLES
           "all                            7       3           3        1     "
           "75.0\n\n"
           "first to notice           caught\n"
           "t1                             2\n"
           "t2                             1\n");
    write_table(NAMES "prof/a.c,k,unmet,,\n", 1, 0, "\n");
    expect_output(
        2, "file                     " TITLES
           "prof/a.c                       1       0           0        1      "
           "0.0\n\n"
           "                         " TITLES
           "all                            1       0           0        1      "
           "0.0\n\n"
           "first to notice           caught\n");
    write_table(NAMES "a,k,failed,t,\nb,k,equivalent,,\n", 2, 0, "\n");
    expect_output(
        0, "file                     " TITLES
           "a                              1       1           0        0    "
           "100.0\n"
           "b                              1       0           1        0\n\n"
           "                         " TITLES
           "all                            2       1           1        0    "
           "100.0\n\n"
           "first to notice           caught\n"
           "t                              1\n");
}

/* The kernel has four orders that are not relaxed. */
TEST(the_weaker_orders_of_one_kernel_are_tried)
{
    static const struct {
        const char *words[5];
        int exit_code;
        const char *contains;
    } rows[] = {
        {{"mutants", "--memory-order", "table-same-2p1r"},
         0,
         "\n4 of 4 weaker orders found\n"},
        {{"mutants", "--memory-order", "no-such-kernel"},
         1,
         "profsim: there is no kernel 'no-such-kernel'"},
        {{"mutants", "--csv", "table-same-2p1r"},
         1,
         "profsim: --csv is for --memory-order"},
        {{"mutants", "--shard=1/2", "table-same-2p1r"},
         1,
         "profsim: --shard and --result are for --memory-order, without --csv"},
        {{"mutants", "--result=/none/x"},
         1,
         "profsim: --shard and --result are for --memory-order"},
        {{"mutants", "--memory-order", "--csv", "--shard=1/2"},
         1,
         "profsim: --shard and --result are for --memory-order"},
        {{"mutants", "--shard=3/2"}, 1, "profsim: "},
        {{"mutants", "a", "b"},
         1,
         "profsim: mutants: one at a time: 'a' or 'b'?"},
        {{"mutants", "--help"}, 0, "usage: profsim mutants"},
        {{"mutants", "--memory-order", "--result=/none/x", "table-same-2p1r"},
         1,
         "profsim: /none/x: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[4][32];
        char *argv[5] = {NULL};
        struct captured captured;

        for (int k = 0; rows[i].words[k] != NULL; k++) {
            snprintf(words[k], sizeof words[k], "%s", rows[i].words[k]);
            argv[k] = words[k];
        }
        assert_true(captured_run(&captured, cli_mutants, argv, -1, 60));
        assert_int_equal(captured.exit_code, rows[i].exit_code);
        if (strstr(captured.text, rows[i].contains) == NULL)
            fail_msg("no '%s' in:\n%s", rows[i].contains, captured.text);
        assert_null(strstr(captured.text, "SURVIVES"));
        captured_free(&captured);
    }
}

TEST(the_report_of_a_table_has_a_result_for_each_file)
{
    static const char wanted[] =
        "  \"results\": [\n"
        "    {\n      \"subject\": \"@\",\n      \"name\": \"a\",\n"
        "      \"verdict\": \"survives\",\n"
        "      \"text\": \"2 of 6 mutants survive\",\n"
        "      \"counts\": {\"mutants\": 6, \"caught\": 3, \"no_mistake\": 1, "
        "\"survive\": 2}\n    },\n"
        "    {\n      \"subject\": \"@\",\n      \"name\": \"b\",\n"
        "      \"verdict\": \"caught\",\n"
        "      \"counts\": {\"mutants\": 3, \"caught\": 1, \"no_mistake\": 2, "
        "\"survive\": 0}\n    },\n"
        "    {\n      \"subject\": \"@\",\n      \"name\": \"c\",\n"
        "      \"verdict\": \"not-applicable\",\n"
        "      \"text\": \"none of its changes is a mistake\",\n"
        "      \"counts\": {\"mutants\": 1, \"caught\": 0, \"no_mistake\": 1, "
        "\"survive\": 0}\n    },\n"
        "    {\n      \"subject\": \"@\",\n      \"name\": \"d\",\n"
        "      \"verdict\": \"survives\",\n"
        "      \"text\": \"1 of 1 mutants survive\",\n"
        "      \"counts\": {\"mutants\": 1, \"caught\": 0, \"no_mistake\": 0, "
        "\"survive\": 1}\n    }\n  ]\n}\n";
    char json[80];
    char word[] = "mutants";
    char *argv[] = {word, json, path, NULL};
    char text[4096] = "";
    char *from;
    struct captured captured;
    FILE *file;

    write_table(NAMES "c,k,equivalent,,\na,k,failed,t,\na,k,unmet,,\n"
                      "a,k,survives,,\na,k,crashed,t,\na,k,hangs,t,\n"
                      "a,k,equivalent,,\nb,k,failed,t,\nb,k,equivalent,,\n"
                      "b,k,same object code,,\nd,k,unmet,,\n",
                11, 0, "\n");
    snprintf(json, sizeof json, "--json=%s/json", folder);
    assert_true(captured_run(&captured, cli_mutants, argv, -1, 60));
    assert_int_equal(captured.exit_code, 2);
    captured_free(&captured);
    file = fopen(json + strlen("--json="), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    while ((from = strstr(text, path)) != NULL) { /* @ for the path */
        *from = '@';
        memmove(from + 1, from + strlen(path), strlen(from + strlen(path)) + 1);
    }
    from = strstr(text, "  \"results\"");
    assert_non_null(from);
    assert_string_equal(from, wanted);
}

TEST(a_table_that_is_not_whole_is_refused)
{
    static const char damaged[] =
        "the table is damaged: its last line is not 'end', its rows and its "
        "checksum";
    static const char row[] = NAMES "a,k,failed,t,\n";

    write_table(row, 1, 1, "\n");
    expect_refusal(3, damaged);
    write_table(row, 2, 0, "\n");
    expect_refusal(3, damaged);
    write_table(row, 0, 0, "\n");
    expect_refusal(3, damaged);
    write_table(row, 1, 0, "");
    expect_refusal(3, damaged);
    write_table(row, 1, 0, ",\n");
    expect_refusal(3, damaged);
    write_rows(NAMES "a,k,failed,t,\na,k,failed,t,\n");
    expect_refusal(3, damaged);
    write_table(NAMES "a\1,k,failed,t,\n", 1, 0, "\n");
    expect_refusal(2, "not a text file");
    write_table(NAMES, 0, 0, "\n");
    expect_refusal(2, "the table has no mutants");
    write_rows("name,kinds\n");
    expect_refusal(0, "this is no table of mutants");
}

TEST(a_row_that_is_none_is_refused_with_its_line)
{
    static const char *const rows[] = {
        NAMES "a,k,failed,t,\na,k,failed,t\n",
        NAMES "a,k,failed,t,\na,k,failed,t,,\n",
        NAMES "a,k,failed,t,\na,k,failed,\"t,\n",
        NAMES "a,k,failed,t,\n\"a\"b,k,failed,t,\n",
        NAMES "a,k,failed,t,\n\n",
    };
    static const char *const verdicts[] = {"", "Failed", "fail", "faileds",
                                           "none"};
    char table[128];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_table(rows[i], 2, 0, "\n");
        expect_refusal(3, "not a row of five fields");
    }
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        snprintf(table, sizeof table, NAMES "a,k,failed,t,\na,k,%s,t,\n",
                 verdicts[i]);
        write_table(table, 2, 0, "\n");
        expect_refusal(3, "not a verdict on a mutant");
    }
}

/* Write a table with one mutant in each of many files. in: files, how many;
 * bytes, the length of the first name */
static void
write_many(unsigned files, int bytes)
{
    static char table[1 << 14];
    size_t at = (size_t)snprintf(table, sizeof table, NAMES);

    for (unsigned i = 0; i < files; i++)
        at +=
            (size_t)snprintf(&table[at], sizeof table - at,
                             "%0*u f,k,equivalent,,\n", i == 0 ? bytes : 3, i);
    write_table(table, files, 0, "\n");
}

TEST(a_table_has_128_files_and_names_of_39_bytes)
{
    static const char too_many[] = "one name too many, or too long a name";
    char word[] = "mutants";
    char *argv[] = {word, path, NULL};
    struct captured captured;

    write_many(16, 3); /* its size begins with 1, as a number to base 256 */
    assert_true(captured_run(&captured, cli_mutants, argv, -1, 60));
    assert_int_equal(captured.exit_code, 0);
    captured_free(&captured);
    write_many(129, 3);
    expect_refusal(130, too_many);
    write_many(3, 40);
    expect_refusal(2, too_many);
    write_many(128, 39);
    assert_true(captured_run(&captured, cli_mutants, argv, -1, 60));
    assert_int_equal(captured.exit_code, 0);
    assert_non_null(strstr(captured.text, "\n127 "));
    captured_free(&captured);
}

/* Who caught a mutant is no name of a row, and may be longer. */
TEST(a_field_has_up_to_1022_bytes)
{
    char rows[2048];

    snprintf(rows, sizeof rows, NAMES "a,k,failed,%01022d,1\n", 0);
    write_table(rows, 1, 0, "\n");
    expect_refusal(2, "one name too many, or too long a name");
    snprintf(rows, sizeof rows, NAMES "a,k,failed,t x%01020d,1\n", 0);
    write_table(rows, 1, 0, "\n");
    expect_refusal(2, "not a row of five fields");
    snprintf(rows, sizeof rows, NAMES "a,k,failed,t x%01019d,1\n", 0);
    write_table(rows, 1, 0, "\n");
    expect_output(0,
                  "file                     " TITLES
                  "a                              1       1           0        "
                  "0    100.0\n\n"
                  "                         " TITLES
                  "all                            1       1           0        "
                  "0    100.0\n\n"
                  "first to notice           caught\n"
                  "t                              1\n");
}

/* ---- Producers of probes ---- */

TEST(each_check_of_a_library_is_told_as_it_ended)
{
    conform_of_libraries(folder);
}

TEST(a_command_is_judged_by_its_events)
{
    conform_of_a_command(folder);
}

TEST(conform_refuses_what_it_cannot_judge)
{
    conform_of_wrong_words(folder);
}

static int
make_path(void **state)
{
    (void)state;
    return folder_with(path, sizeof path, "table");
}

int
main(void)
{
    return tests_run(make_path, folder_clear);
}
