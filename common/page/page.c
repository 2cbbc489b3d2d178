/* page.c -- see page.h. */
/*
 * build:
 * needs=common/page/campaign.js,common/page/failure.js,common/page/failure_trace.js,common/page/page.css,common/page/page.html,common/page/page.js,common/page/run.js
 */
#include "common/page/page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "common/json.h"
#include "common/output.h"

/* The templates as they were when this program was built. */
#define TEMPLATE(name, path)                     \
    __asm__(".pushsection .rodata\n"             \
            "cli_page_" #name ":\n"              \
            ".incbin \"common/page/" path "\"\n" \
            ".byte 0\n"                          \
            ".popsection\n");                    \
    extern const char cli_page_##name[] __attribute__((visibility("hidden")));

TEMPLATE(frame, "page.html")
TEMPLATE(css, "page.css")
TEMPLATE(common_js, "page.js")
TEMPLATE(failure_trace_js, "failure_trace.js")
TEMPLATE(failure_js, "failure.js")
TEMPLATE(run_js, "run.js")
TEMPLATE(campaign_js, "campaign.js")

bool
cli_page_take(struct cli_page_paths *paths, int id, const char *path)
{
    *(id == CLI_PAGE_HTML ? &paths->html : &paths->data) = path;
    return *path != '\0' || cli_complain("--%s needs the name of a file",
                                         id == CLI_PAGE_HTML ? "html" : "data");
}

void
cli_page_begin(struct cli_page *page)
{
    page->bytes = NULL;
    page->bytes_count = 0;
    page->file = open_memstream(&page->bytes, &page->bytes_count);
}

/*
 * Find the relative path from a page's folder to the current folder: "../" for
 * sub/page.html. File names in the page's data are relative to the current
 * folder.
 *
 * out:     folder, PATH_MAX bytes; "" if it is not known
 */
static void
find_folder(char *folder, const char *html)
{
    const char *slash = strrchr(html, '/');
    char named[PATH_MAX];
    char from[PATH_MAX];
    char to[PATH_MAX];
    size_t same = 0; /* bytes of the folder that both paths share */
    size_t used = 0;

    folder[0] = '\0';
    snprintf(named, sizeof named, "%.*s",
             slash == NULL ? 1 : (int)(slash - html) + 1,
             slash == NULL ? "." : html);
    if (realpath(named, from) == NULL || getcwd(to, sizeof to - 1) == NULL ||
        strlen(from) + 2 > sizeof from)
        return;
    strcat(from, "/");
    strcat(to, "/");
    for (size_t i = 0; from[i] == to[i] && from[i] != '\0'; i++) {
        if (from[i] == '/')
            same = i + 1;
    }
    for (const char *c = from + same; *c != '\0' && used + 3 < PATH_MAX; c++) {
        if (*c == '/')
            used += (size_t)snprintf(folder + used, PATH_MAX - used, "../");
    }
    snprintf(folder + used, PATH_MAX - used, "%s", to + same);
}

/* Print the template up to a given line. returns: the text after that line */
static const char *
put_frame(FILE *file, const char *frame, const char *line)
{
    const char *end = strstr(frame, line);

    fwrite(frame, 1, (size_t)(end - frame), file);
    return end + strlen(line);
}

/* The page allows the browser to run its own scripts, and to load nothing. */
static void
put_page(FILE *file, enum cli_page_kind kind, const struct cli_page *page,
         const char *folder)
{
    static const char *const scripts[] = {cli_page_failure_js, cli_page_run_js,
                                          cli_page_campaign_js};
    const char *frame = put_frame(file, cli_page_frame, "@STYLE\n");

    fputs(cli_page_css, file);
    frame = put_frame(file, frame, "@DATA\n");
    fwrite(page->bytes, 1, page->bytes_count, file);
    frame = put_frame(file, frame, "@SCRIPT\n");
    if (kind == CLI_PAGE_CAMPAIGN) { /* the others link to nothing */
        fputs("const folder = ", file);
        sim_json_string(file, folder);
        fputs(";\n", file);
    }
    fputs(cli_page_common_js, file);
    if (kind == CLI_PAGE_FAILURE)
        fputs(cli_page_failure_trace_js, file);
    fputs(scripts[kind], file);
    fputs(frame, file);
}

/* returns: NULL, or why the file was not written */
static const char *
write_page(const struct props_output *output, enum cli_page_kind kind,
           const struct cli_page *page)
{
    char folder[PATH_MAX];
    const char *why = "not enough memory";
    char *bytes = NULL;
    size_t bytes_count = 0;
    FILE *file = open_memstream(&bytes, &bytes_count);

    if (file == NULL)
        return why;
    find_folder(folder, output->path);
    put_page(file, kind, page, folder);
    if (fclose(file) == 0)
        why = props_output_write(output, bytes, bytes_count);
    free(bytes);
    return why;
}

bool
cli_page_end(struct cli_page *page, enum cli_page_kind kind,
             const struct cli_page_paths *paths, const char *input)
{
    const struct props_output html = {.path = paths->html, .input = input};
    const struct props_output data = {.path = paths->data, .input = input};
    bool good = page->file != NULL && ferror(page->file) == 0;
    const char *why;

    good = page->file != NULL && fclose(page->file) == 0 && good;
    if (!good) {
        free(page->bytes);
        return cli_complain("not enough memory for a page");
    }
    if (paths->data != NULL) {
        why = props_output_write(&data, page->bytes, page->bytes_count);
        good = why == NULL || cli_complain("%s: %s", paths->data, why);
    }
    if (paths->html != NULL) {
        why = write_page(&html, kind, page);
        good =
            (why == NULL || cli_complain("%s: %s", paths->html, why)) && good;
    }
    free(page->bytes);
    return good;
}

void
cli_page_drop(struct cli_page *page)
{
    if (page->file != NULL)
        fclose(page->file);
    free(page->bytes);
}

/* ---- Pages of earlier failures ---- */

enum { HEAD_BYTES = 1 << 15 };

/* Is the file a regular one that shows a failure, or holds its data? */
static bool
shows_failure(const char *path)
{
    static const char data[] = "{\"format\":\"profsim failure\"";
    static char head[HEAD_BYTES + 1];
    struct stat like;
    FILE *file;
    size_t bytes;

    if (lstat(path, &like) != 0 || !S_ISREG(like.st_mode))
        return false;
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    bytes = fread(head, 1, HEAD_BYTES, file);
    head[bytes] = '\0';
    fclose(file);
    if (strncmp(head, data, sizeof data - 1) == 0)
        return true;
    bytes = strcspn(cli_page_frame, "@");
    return strncmp(head, cli_page_frame, bytes) == 0 &&
           strstr(head, data) != NULL;
}

bool
cli_page_clear(const struct cli_page_paths *paths)
{
    const char *const both[] = {paths->html, paths->data};

    for (int i = 0; i < 2; i++) {
        if (both[i] == NULL || !shows_failure(both[i]))
            continue;
        if (unlink(both[i]) != 0)
            return cli_complain("%s: %s", both[i], strerror(errno));
        printf("%s: removed, as it shows an earlier failure\n", both[i]);
    }
    return true;
}
