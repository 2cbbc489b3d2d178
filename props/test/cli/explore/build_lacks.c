/* build_lacks.c -- builds_without_tools() of build_parts.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_program.h"
#include "captured.h"
#include "explore/build_parts.h"
#include "unit_test.h"

enum { SECONDS = 60 };

static void
expect_build(const char *source, const char *option, const char *wanted)
{
    char words[4][16] = {"explore"};
    char *argv[] = {words[0], words[1], words[2], words[3], NULL};
    struct captured said;

    snprintf(words[1], sizeof words[1], "%s", source);
    snprintf(words[2], sizeof words[2], "%s", option);
    snprintf(words[3], sizeof words[3], "--replay=0");
    argv[*option == '\0' ? 2 : 4] = NULL;
    assert_true(captured_run(&said, cli_explore_any, argv, -1, SECONDS));
    if (fnmatch(wanted, said.text, 0) != 0)
        fail_msg("%s\nnot %s", said.text, wanted);
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
}

static void
expect_too_many(void)
{
    enum { WORDS = 3001 };
    static char source[] = "a.c";
    static char *argv[WORDS + 1];
    struct captured said;

    for (int i = 0; i < WORDS; i++)
        argv[i] = source;
    assert_true(captured_run(&said, cli_explore_any, argv, -1, SECONDS));
    assert_string_equal(said.text, "profsim: explore: more than 3000 words\n");
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
}

/* A folder's path of any length: DIR/././. */
static void
set_parent(size_t bytes)
{
    char parent[8192];
    size_t used =
        (size_t)snprintf(parent, sizeof parent, "%s", build_path("any"));

    for (; used < bytes; used += 2)
        memcpy(&parent[used], used + 3 == bytes ? "///" : "/.", 3);
    parent[bytes] = '\0';
    setenv("TMPDIR", parent, 1);
}

/* The second choice is there alone, then the first, too. */
static void
finds_compilers(const char *compiler, size_t bytes)
{
    static const char *const names[] = {"clang", "clang++", "gcc", "g++"};
    char wanted[256];

    for (int i = 0; i < 4; i++) {
        char name[32];
        char list[256];

        snprintf(name, sizeof name, "any/%s", names[i]);
        build_put_file(name, compiler, bytes);
        snprintf(list, sizeof list, "/none:%s:/nothing", build_path("any"));
        setenv("PATH", list, 1);
        snprintf(wanted, sizeof wanted,
                 "%s STOP=\nprofsim: a.c%s: %s cannot compile it\n", names[i],
                 i % 2 == 1 ? "c" : "", names[i]);
        expect_build(i % 2 == 1 ? "a.cc" : "a.c", "", wanted);
    }
}

/* Without a compiler, gdb or a place for files. */
void
builds_without_tools(const char *in)
{
    static const char compiler[] =
        "#!/bin/sh\n"
        "echo \"${0##*/} STOP=$PROFSIM_EXPLORE_STOP\""
        "\nexit 1\n";
    char *path = strdup(getenv("PATH"));
    char wanted[256];

    build_folder(in);
    assert_non_null(path);
    build_put_file("lib.a", "", 0);
    assert_int_equal(mkdir(build_path("any"), 0700), 0);
    setenv("PROFSIM_EXPLORE_LIBRARY", build_path("lib.a"), 1);
    setenv("PROFSIM_EXPLORE_STOP", "7", 1);
    setenv("TMPDIR", "", 1);
    setenv("PATH", build_path("any"), 1);
    setenv("CC", "", 1);
    unsetenv("CXX");
    expect_build("a.c", "",
                 "profsim: no compiler: neither gcc nor clang is installed; if "
                 "you have another, name it in CC\n");
    expect_build("a.cc", "",
                 "profsim: no compiler: neither g++ nor clang++ is installed; "
                 "if you have another, name it in CXX\n");
    expect_build("a.c", "--gdb=1", "profsim: --gdb: gdb is not installed\n");
    expect_too_many();
    build_put_file("any/gcc", compiler, sizeof compiler - 1);
    assert_int_equal(chmod(build_path("any/gcc"), 0644), 0);
    expect_build("a.c", "",
                 "profsim: no compiler: neither gcc nor clang is installed; if "
                 "you have another, name it in CC\n");
    setenv("CC", build_path("any/gcc"), 1);
    expect_build("a.c", "", "profsim: */gcc: no such compiler (CC)\n");
    setenv("CC", "", 1);
    assert_int_equal(unlink(build_path("any/gcc")), 0);
    finds_compilers(compiler, sizeof compiler - 1);
    set_parent(4096 - 32 - 16);
    expect_build("a.c", "", "gcc STOP=\nprofsim: a.c: gcc cannot compile it\n");
    assert_int_equal(build_count(build_path("any")), 4);
    set_parent(4096 - 32 - 15);
    expect_build("a.c", "", "profsim: TMPDIR: its path is too long\n");
    setenv("TMPDIR", build_path("none"), 1);
    snprintf(wanted, sizeof wanted,
             "profsim: %s/profsim-??????: No such file or directory\n",
             build_path("none"));
    expect_build("a.c", "", wanted);
    setenv("PATH", path, 1);
    free(path);
}
