/* weaker_orders.c -- see weaker_orders.h. */
#include "explore/weaker_orders.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "mutants.h"
#include "rows.h"
#include "sanitized.h"
#include "unit_test.h"

enum { TEXT_BYTES = 1 << 14, ROWS_MAX = 16, SECONDS = 60, SHARDS = 3 };

/* A row of the table. */
struct row {
    char site[256];
    char order[32]; /* "on failure acquire" */
    char weaker[16];
    char kernel[32];
    char how[32];
    uint64_t runs;
};

static struct row rows[ROWS_MAX];
static int rows_count;
static char text[TEXT_BYTES];

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(&text[used], sizeof text - used, format, arguments);
    va_end(arguments);
}

/* in: words after --memory-order, NULL: none. out: said, to be freed */
static void
run(struct captured *said, const char *kernel, const char *first,
    const char *second)
{
    const char *const given[] = {"mutants", "--memory-order", kernel, first,
                                 second};
    char words[5][160];
    char *argv[6] = {NULL};
    int count = 0;

    for (int i = 0; i < 5; i++) {
        if (given[i] == NULL)
            continue;
        snprintf(words[count], sizeof words[0], "%s", given[i]);
        argv[count] = words[count];
        count++;
    }
    assert_true(captured_run(said, cli_mutants, argv, -1, SECONDS));
}

static void
read_table(const char *kernel)
{
    struct captured said;
    const char *line;

    run(&said, kernel, "--csv", NULL);
    assert_int_equal(said.exit_code, 0);
    line = strchr(said.text, '\n');
    assert_memory_equal(said.text, "site,order,weaker,noticed by,how,runs\n",
                        (size_t)(line - said.text) + 1);
    for (rows_count = 0; line[1] != '\0'; rows_count++) {
        struct row *row = &rows[rows_count];

        assert_true(rows_count < ROWS_MAX);
        if (sscanf(line + 1,
                   "\"%255[^\"]\",%31[^,],%15[^,],%31[^,],%31[^,],%" SCNu64,
                   row->site, row->order, row->weaker, row->kernel, row->how,
                   &row->runs) != 6)
            fail_msg("%s", said.text);
        line = strchr(line + 1, '\n');
        assert_non_null(line);
    }
    captured_free(&said);
}

static int
rank(const char *order)
{
    static const char *const orders[] = {"relaxed", "acquire", "release",
                                         "acq_rel", "seq_cst"};
    int i = 0;

    order += strncmp(order, "on failure ", 11) == 0 ? 11 : 0;
    while (i < 4 && strcmp(orders[i], order) != 0)
        i++;
    return i;
}

static bool
is_noticed(const struct row *row)
{
    return strcmp(row->kernel, "SURVIVES") != 0;
}

/* The rows of a shard, as text. returns: how many were noticed */
static int
put_rows(int shard, int shards)
{
    int noticed = 0;

    text[0] = '\0';
    for (int i = shard; i < rows_count; i += shards) {
        put("%s\n    %s -> %s: %s, %s, %" PRIu64 " runs\n", rows[i].site,
            rows[i].order, rows[i].weaker, rows[i].kernel, rows[i].how,
            rows[i].runs);
        noticed += is_noticed(&rows[i]);
    }
    return noticed;
}

static void
expect_file(const char *path, const char *what)
{
    char bytes[TEXT_BYTES] = "";
    FILE *file = fopen(path, "r");
    char *results;

    assert_non_null(file);
    assert_true(fread(bytes, 1, sizeof bytes - 1, file) > 0);
    fclose(file);
    results = strstr(bytes, what);
    if (results == NULL)
        fail_msg("%s\nis not in\n%s", what, bytes);
}

static void
expect_text(const char *kernel, const char *path)
{
    char option[160];
    struct captured said;
    const int noticed = put_rows(0, 1);

    put("%d of %d weaker orders found\n", noticed, rows_count);
    snprintf(option, sizeof option, "--json=%s", path);
    run(&said, kernel, option, NULL);
    assert_string_equal(said.text, text);
    assert_int_equal(said.exit_code, 0);
    captured_free(&said);
    snprintf(text, sizeof text, "  \"results\": [");
    for (int i = 0; i < rows_count; i++) {
        put("%s\n    {\n      \"subject\": \"%s\",\n      \"name\": \"%s -> "
            "%s\",\n      \"verdict\": \"%s\",\n",
            i > 0 ? "," : "", rows[i].site, rows[i].order, rows[i].weaker,
            is_noticed(&rows[i]) ? "caught" : "unnoticed");
        if (is_noticed(&rows[i]))
            put("      \"text\": \"%s, %s\",\n", rows[i].kernel, rows[i].how);
        put("      \"counts\": {\"runs\": %" PRIu64 "}\n    }", rows[i].runs);
    }
    put("\n  ]\n}\n");
    expect_file(path, text);
}

/* Each shard tells its own rows, and all know the same list. */
static void
expect_shards(const char *kernel, const char *path)
{
    uint64_t list = 0;

    for (int i = 0; i < rows_count; i++) {
        const char *order = rows[i].order;

        order += strncmp(order, "on failure ", 11) == 0 ? 11 : 0;
        cli_rows_name(&list, rows[i].site);
        /* The order itself is named, not the one on failure. */
        cli_rows_name(&list,
                      order != rows[i].order ? "release" : rows[i].weaker);
    }
    for (int shard = 0; shard < SHARDS; shard++) {
        const int count = (rows_count + SHARDS - 1 - shard) / SHARDS;
        char options[2][160];
        char wanted[256];
        struct captured said;

        (void)unlink(path);
        snprintf(options[0], sizeof options[0], "--shard=%d/%d", shard + 1,
                 SHARDS);
        snprintf(options[1], sizeof options[1], "--result=%s", path);
        run(&said, kernel, options[0], options[1]);
        assert_int_equal(said.exit_code, 0);
        put_rows(shard, SHARDS);
        put("mutants --memory-order %s: %d of %d rows, log hash ", kernel,
            count, rows_count);
        assert_memory_equal(said.text, text, strlen(text));
        captured_free(&said);
        snprintf(wanted, sizeof wanted,
                 "\nasked mutants --memory-order %s\nshard %d/%d\n", kernel,
                 shard + 1, SHARDS);
        expect_file(path, wanted);
        snprintf(wanted, sizeof wanted, "\nlist %016" PRIx64 "\nitems %d\n",
                 list, rows_count);
        expect_file(path, wanted);
    }
}

/* All orders of the kernel are relaxed. */
static void
expect_none(const char *kernel, const char *option)
{
    struct captured said;

    run(&said, kernel, option, NULL);
    text[0] = '\0';
    put("%sprofsim: explore: no access has an order that could be weaker, so "
        "nothing was tried\n",
        option != NULL ? "site,order,weaker,noticed by,how,runs\n" : "");
    assert_string_equal(said.text, text);
    assert_int_equal(said.exit_code, CLI_INCOMPLETE);
    captured_free(&said);
}

void
weaker_orders_in_each_form(const char *folder)
{
    /* How many weaker orders follows from the source of each. */
    static const struct {
        const char *kernel;
        int orders;
        int noticed;
    } kernels[] = {
        {"table-same-2p1r", 4, 4},
        {"table-2p1r", 4, 2},
        {"fence-relay", 2, 2},
        {"sb-seq-cst", 4, 4},
    };
    char path[128];

    if (SANITIZED) /* the sanitizer prints warnings about fibers */
        return;
    snprintf(path, sizeof path, "%s/orders", folder);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        read_table(kernels[i].kernel);
        assert_int_equal(rows_count, kernels[i].orders);
        assert_int_equal(put_rows(0, 1), kernels[i].noticed);
        for (int k = 0; k < rows_count; k++) {
            assert_true(rank(rows[k].weaker) < rank(rows[k].order));
            assert_true(k == 0 || strcmp(rows[k - 1].site, rows[k].site) <= 0);
        }
        expect_text(kernels[i].kernel, path);
        expect_shards(kernels[i].kernel, path);
    }
    expect_none("counter-3", NULL);
    expect_none("counter-3", "--csv");
}
