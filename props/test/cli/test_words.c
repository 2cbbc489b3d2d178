/* test_words.c -- parsing a command's arguments, and quoting for a shell. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

#include "complaint.h"
#include "missing.h"
#include "options.h"
#include "quote.h"

static char output_path[] = "/tmp/test_words_XXXXXX";

/* ---- Options ---- */

enum { NAME = 1, FLAG, LONG };

static const struct cli_option table[] = {
    {NAME, 'n', "name", "N", "a name"},
    {FLAG, 'f', "flag", NULL, "a flag"},
    {LONG, 0, "name-long", "V", "one without a letter"},
    {0}};

enum { WORDS_MAX = 8 };

struct line {
    const char *words[WORDS_MAX];
    const char *taken; /* what is parsed, in order, and how it ends */
};

/* Parse the words into a text: "1=x" is an option with its value, "2" a flag,
 * "Wx" a word; "." is the end, "!1" an early end with this exit code. */
static void
take_all(struct cli_options *options, char *text, size_t room)
{
    size_t at = 0;
    int id;

    while ((id = cli_options_next(options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            at +=
                (size_t)snprintf(&text[at], room - at, "W%s ", options->value);
        else if (options->value != NULL)
            at += (size_t)snprintf(&text[at], room - at, "%d=%s ", id,
                                   options->value);
        else
            at += (size_t)snprintf(&text[at], room - at, "%d ", id);
    }
    assert_int_equal(cli_options_next(options), CLI_OPTIONS_END);
    if (options->ended)
        snprintf(&text[at], room - at, "!%d", (int)options->exit_code);
    else
        snprintf(&text[at], room - at, ".");
}

/* returns: the index of the next word */
static int
expect_line(const struct cli_syntax *syntax, const struct line *line)
{
    char words[WORDS_MAX + 1][32] = {"command"};
    char *argv[WORDS_MAX + 2] = {words[0]};
    struct cli_options options;
    char taken[256];
    int argc = 1;

    for (; argc <= WORDS_MAX && line->words[argc - 1] != NULL; argc++) {
        snprintf(words[argc], sizeof words[argc], "%s", line->words[argc - 1]);
        argv[argc] = words[argc];
    }
    cli_options_begin(&options, syntax, argc, argv);
    take_all(&options, taken, sizeof taken);
    assert_string_equal(taken, line->taken);
    return options.index;
}

static const struct cli_syntax plain = {
    .command = "try", .words = "WORD...", .about = "", .options = table};

TEST(an_option_is_taken_in_any_of_its_forms)
{
    static const struct line lines[] = {
        {{NULL}, "."},
        {{"a"}, "Wa ."},
        {{"--name", "5"}, "1=5 ."},
        {{"--name=5"}, "1=5 ."},
        {{"--name="}, "1= ."},
        {{"--name=a=b"}, "1=a=b ."},
        {{"--name", "--flag"}, "1=--flag ."},
        {{"--name-long", "5"}, "3=5 ."},
        {{"--name-long=5", "--name=6"}, "3=5 1=6 ."},
        {{"-n", "5"}, "1=5 ."},
        {{"-n5"}, "1=5 ."},
        {{"-nf"}, "1=f ."},
        {{"-n="}, "1== ."},
        {{"-f"}, "2 ."},
        {{"-ff"}, "2 2 ."},
        {{"-fn5"}, "2 1=5 ."},
        {{"-fn", "5", "a"}, "2 1=5 Wa ."},
        {{"-n5", "-f"}, "1=5 2 ."},
        {{"a", "-f", "b"}, "Wa 2 Wb ."},
        {{"-"}, "W- ."},
        {{""}, "W ."},
        {{"--"}, "."},
        {{"-f", "--", "-f", "--name", "--"}, "2 W-f W--name W-- ."},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_line(&plain, &lines[i]);
}

/* Of other values nothing is known: a number may be negative, a flag of a
 * compiler begins with dashes. */
TEST(an_option_is_not_taken_for_the_name_of_a_file)
{
    static const char *const values[] = {"FILE", "DIR", "FOLDER", "OUT",
                                         "PREFIX"};
    static const char *const others[] = {"N", "FILES", "WORDS", "F", "NAME"};
    static const struct line refused[] = {{{"--name", "--flag"}, "!1"},
                                          {{"-n", "--flag", "a"}, "!1"},
                                          {{"-fn", "--flag=x"}, "2 !1"},
                                          {{"--name", "--"}, "!1"},
                                          {{"--name", "--x"}, "!1"}};
    static const struct line taken[] = {
        {{"--name", "-"}, "1=- ."},         {{"--name", "-f"}, "1=-f ."},
        {{"--name", "./--f"}, "1=./--f ."}, {{"--name", ""}, "1= ."},
        {{"--name=--flag"}, "1=--flag ."},  {{"-n--flag"}, "1=--flag ."}};
    static const struct line other[] = {{{"--name", "--flag"}, "1=--flag ."},
                                        {{"-n", "--"}, "1=-- ."},
                                        {{"--name", "-1"}, "1=-1 ."}};

    for (size_t value = 0; value < 5; value++) {
        struct cli_option own[] = {table[0], table[1], {0}};
        const struct cli_syntax syntax = {
            .command = "try", .words = "", .about = "", .options = own};

        own[0].value = values[value];
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            expect_line(&syntax, &refused[i]);
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            expect_line(&syntax, &taken[i]);
        own[0].value = others[value];
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            expect_line(&syntax, &other[i]);
    }
    assert_string_equal(cli_complaint_last(),
                        "try: --name needs a value: PREFIX, not '--x'; a file "
                        "of that name is ./--x");
}

TEST(what_is_no_option_ends_the_words)
{
    static const struct line lines[] = {
        {{"--name"}, "!1"},       {{"-n"}, "!1"},
        {{"-fn"}, "2 !1"},        {{"--flag=1"}, "!1"},
        {{"--flag="}, "!1"},      {{"--nam", "5"}, "!1"},
        {{"--names", "5"}, "!1"}, {{"--name-", "5"}, "!1"},
        {{"--Name", "5"}, "!1"},  {{"--=5"}, "!1"},
        {{"-x", "a"}, "!1"},      {{"-fx", "a"}, "2 !1"},
        {{"---flag"}, "!1"},      {{"--hel"}, "!1"},
        {{"--helps"}, "!1"},      {{"--help=1"}, "!1"},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_line(&plain, &lines[i]);
    expect_line(&plain, &(struct line){{"--nmae", "5"}, "!1"});
    assert_string_equal(cli_complaint_last(),
                        "try: unknown option '--nmae'; did you mean '--name'?");
    expect_line(&plain, &(struct line){{"--nmae=5"}, "!1"});
    assert_string_equal(cli_complaint_last(),
                        "try: unknown option '--nmae'; did you mean '--name'?");
    expect_line(&plain, &(struct line){{"--hepl"}, "!1"});
    assert_string_equal(cli_complaint_last(),
                        "try: unknown option '--hepl'; did you mean '--help'?");
    expect_line(&plain, &(struct line){{"--quite-other"}, "!1"});
    assert_string_equal(
        cli_complaint_last(),
        "try: unknown option '--quite-other'; 'profsim try --help' lists them");
    expect_line(&plain, &(struct line){{"--flag=1"}, "!1"});
    assert_string_equal(cli_complaint_last(), "try: --flag takes no value");
    expect_line(&plain, &(struct line){{"-n"}, "!1"});
    assert_string_equal(cli_complaint_last(), "try: --name needs a value: N");
}

TEST(help_ends_the_words_and_is_no_mistake)
{
    const struct cli_syntax own_code = {.command = "try",
                                        .words = "",
                                        .about = "",
                                        .options = table,
                                        .usage_error = CLI_RECORD};
    const struct cli_syntax bare = {.command = "try", .words = "", .about = ""};

    expect_line(&plain, &(struct line){{"--help", "-x"}, "!0"});
    expect_line(&plain, &(struct line){{"-fh"}, "2 !0"});
    expect_line(&own_code, &(struct line){{"-h"}, "!0"});
    expect_line(&own_code, &(struct line){{"-x"}, "!125"});
    expect_line(&bare, &(struct line){{"-h"}, "!0"});
    expect_line(&bare, &(struct line){{"a", "--flag"}, "Wa !1"});
}

TEST(where_the_words_are_of_another_program_the_first_ends_the_options)
{
    struct cli_syntax syntax = plain;

    syntax.ends_at_word = true;
    assert_int_equal(
        expect_line(&syntax, &(struct line){{"-f", "ls", "-f"}, "2 ."}), 2);
    assert_int_equal(
        expect_line(&syntax, &(struct line){{"-f", "--", "-x"}, "2 ."}), 3);
    assert_int_equal(
        expect_line(&syntax, &(struct line){{"-n", "ls"}, "1=ls ."}), 3);
}

TEST(plain_words_are_collected)
{
    const struct cli_syntax bare = {.command = "try", .words = "", .about = ""};
    char words[5][8] = {"try", "a", "--", "-b", "c"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
    char wrong[2][8] = {"try", "--b"};
    char *wrong_argv[] = {wrong[0], wrong[1], NULL};
    struct cli_options options;
    int count = 9;

    cli_options_begin(&options, &bare, 5, argv);
    assert_true(cli_options_words(&options, &count));
    assert_int_equal(count, 3);
    assert_string_equal(argv[1], "a");
    assert_string_equal(argv[2], "-b");
    assert_string_equal(argv[3], "c");
    cli_options_begin(&options, &bare, 2, wrong_argv);
    assert_false(cli_options_words(&options, &count));
    assert_int_equal(options.exit_code, CLI_USAGE);
    assert_int_equal(cli_options_missing(&options, "a FILE"), CLI_USAGE);
    assert_string_equal(cli_complaint_last(),
                        "try: needs a FILE; 'profsim try --help' says more");
}

/* ---- Numbers ---- */

struct number {
    const char *text;
    uint64_t least;
    uint64_t most;
    uint64_t value; /* UINT64_C(0xbad): the text is refused */
};

#define REFUSED UINT64_C(0xbad)

static void
expect_number(const struct number *want,
              bool (*read)(const char *name, const char *text, uint64_t least,
                           uint64_t most, uint64_t *value))
{
    uint64_t value = 7;
    const bool good = read("--n", want->text, want->least, want->most, &value);

    if (good != (want->value != REFUSED) || (good && value != want->value))
        fail_msg("'%s' from %" PRIu64 " to %" PRIu64 ": %d, %" PRIu64,
                 want->text, want->least, want->most, good, value);
}

TEST(a_number_is_digits_and_within_its_limits)
{
    static const struct number numbers[] = {
        {"0", 0, 9, 0},
        {"9", 0, 9, 9},
        {"007", 0, 9, 7},
        {"10", 0, 9, REFUSED},
        {"5", 5, 5, 5},
        {"4", 5, 9, REFUSED},
        {"2147483648", 0, UINT64_MAX, UINT64_C(1) << 31},
        {"4294967296", 0, UINT64_MAX, UINT64_C(1) << 32},
        {"4294967297", 0, 1, REFUSED},
        {"9223372036854775808", 0, UINT64_MAX, UINT64_C(1) << 63},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, REFUSED},
        {"99999999999999999999", 0, UINT64_MAX, REFUSED},
        {"", 0, 9, REFUSED},
        {" 1", 0, 9, REFUSED},
        {"1 ", 0, 9, REFUSED},
        {"+1", 0, 9, REFUSED},
        {"-1", 0, UINT64_MAX, REFUSED},
        {"1k", 0, 9, REFUSED},
        {"0x1", 0, 9, REFUSED},
        {"1.5", 0, 9, REFUSED},
        {":", 0, UINT64_MAX, REFUSED},
        {"/", 0, UINT64_MAX, REFUSED},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        expect_number(&numbers[i], cli_number);
    assert_string_equal(cli_complaint_last(),
                        "--n takes a whole number from 0 to "
                        "18446744073709551615, not '/'");
}

TEST(bytes_may_have_a_unit_and_do_not_wrap)
{
    static const struct number numbers[] = {
        {"0", 0, 9, 0},
        {"9", 0, 9, 9},
        {"10", 0, 9, REFUSED},
        {"4", 5, 9, REFUSED},
        {"5", 5, 9, 5},
        {"1k", 0, UINT64_MAX, 1024},
        {"1K", 0, UINT64_MAX, 1024},
        {"3m", 0, UINT64_MAX, 3 << 20},
        {"3M", 0, UINT64_MAX, 3 << 20},
        {"3g", 0, UINT64_MAX, UINT64_C(3) << 30},
        {"4G", 0, UINT64_MAX, UINT64_C(1) << 32},
        {"1k", 1024, 1024, 1024},
        {"1k", 1025, 9999, REFUSED},
        {"2k", 0, 2047, REFUSED},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, REFUSED},
        {"18014398509481983k", 0, UINT64_MAX, UINT64_MAX - 1023},
        {"18014398509481984k", 0, UINT64_MAX, REFUSED},
        {"17592186044416m", 0, UINT64_MAX, REFUSED},
        {"17179869183g", 0, UINT64_MAX, UINT64_MAX << 30},
        {"17179869184g", 0, UINT64_MAX, REFUSED},
        {"17179869185g", 0, UINT64_MAX, REFUSED},
        {"", 0, UINT64_MAX, REFUSED},
        {"k", 0, UINT64_MAX, REFUSED},
        {"1kk", 0, UINT64_MAX, REFUSED},
        {"1kb", 0, UINT64_MAX, REFUSED},
        {"1t", 0, UINT64_MAX, REFUSED},
        {"1f", 0, UINT64_MAX, REFUSED},
        {"1J", 0, UINT64_MAX, REFUSED},
        {"1l", 0, UINT64_MAX, REFUSED},
        {"1 k", 0, UINT64_MAX, REFUSED},
        {"-1k", 0, UINT64_MAX, REFUSED},
        {"+1", 0, UINT64_MAX, REFUSED},
        {":", 0, UINT64_MAX, REFUSED},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        expect_number(&numbers[i], cli_bytes);
}

/* ---- For a shell ---- */

static void
expect_quoted(void (*print)(FILE *file, const char *word), const char *word,
              const char *want)
{
    char text[64] = "";
    FILE *file = fmemopen(text, sizeof text, "w");

    assert_non_null(file);
    print(file, word);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
}

TEST(a_shell_makes_the_same_word_of_it)
{
    expect_quoted(cli_quote_word, "a-b_@%+=:,./Z9", "a-b_@%+=:,./Z9");
    expect_quoted(cli_quote_word, "", "''");
    expect_quoted(cli_quote_word, "a b", "'a b'");
    expect_quoted(cli_quote_word, "$x", "'$x'");
    expect_quoted(cli_quote_word, "~", "'~'");
    expect_quoted(cli_quote_word, "it's", "'it'\\''s'");
    expect_quoted(cli_quote_word, "a\\b", "'a\\b'");
    expect_quoted(cli_quote_word, "\xc3\xa9", "'\xc3\xa9'");
    expect_quoted(cli_quote_word, "a\nb", "$'a\\012b'");
    expect_quoted(cli_quote_word, "\x1b'\\", "$'\\033\\'\\\\'");
    expect_quoted(cli_quote_word, "\xff\xc3\xa9", "$'\\377\xc3\xa9'");
    expect_quoted(cli_quote_word, "-x", "-x");
    expect_quoted(cli_quote_path, "-x", "./-x");
    expect_quoted(cli_quote_path, "- x", "./'- x'");
    expect_quoted(cli_quote_path, "x", "x");
}

/* in: context, a string with a '1' for each shard that is missing */
static bool
is_missing(const void *context, uint32_t shard)
{
    return ((const char *)context)[shard] == '1';
}

static void
expect_missing(const char *shards, const char *asked, const char *path,
               uint32_t count, const char *want)
{
    static char text[512];
    const int file = open(output_path, O_RDWR | O_TRUNC | O_CLOEXEC);
    const int output = dup(1);
    ssize_t bytes;
    uint32_t found;

    assert_in_range(file, 0, 1000);
    fflush(stdout);
    dup2(file, 1);
    found = cli_missing_tell(is_missing, shards, (uint32_t)strlen(shards),
                             asked, path);
    fflush(stdout);
    dup2(output, 1);
    close(output);
    bytes = pread(file, text, sizeof text - 1, 0);
    close(file);
    assert_in_range(bytes, 0, sizeof text - 1);
    text[bytes] = '\0';
    assert_string_equal(text, want);
    assert_int_equal(found, count);
}

TEST(the_command_for_missing_shards_runs_just_those)
{
    expect_missing("", "check", "r", 0, "");
    expect_missing("000", "check", "r", 0, "");
    expect_missing("1", "check", "r", 1,
                   "missing, in whole or in part: 1 of 1 shards: 1\n"
                   "run them: for i in 1; do profsim check --shard $i/1 "
                   "--result r/; done\n");
    expect_missing("1011101", "check H2", "-r", 5,
                   "missing, in whole or in part: 5 of 7 shards: 1,3-5,7\n"
                   "run them: for i in 1 $(seq 3 5) 7; do profsim check H2 "
                   "--shard $i/7 --result ./-r/; done\n");
    expect_missing("110", "make mutants", "a b", 2,
                   "missing, in whole or in part: 2 of 3 shards: 1-2\n"
                   "run them: for i in $(seq 1 2); do make mutants SHARD=$i/3 "
                   "RESULT='a b'/; done\n");
    expect_missing("011", "makes", "r", 2,
                   "missing, in whole or in part: 2 of 3 shards: 2-3\n"
                   "run them: for i in $(seq 2 3); do profsim makes --shard "
                   "$i/3 --result r/; done\n");
}

static int
make_file(void **state)
{
    const int file = mkstemp(output_path);

    (void)state;
    return file < 0 || close(file) != 0;
}

static int
remove_file(void **state)
{
    (void)state;
    return remove(output_path);
}

int
main(void)
{
    return tests_run(make_file, remove_file);
}
