/* shard_file.c -- see shard_file.h. */
#include "common/shard/shard_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/command/complaint.h"
#include "common/output.h"
#include "prof/version.h"

#define FIRST "profsim result 2\n"

enum { NAME_BYTES = 128, END_BYTES = 21 /* "end ", 16 digits, a newline */ };

/* ---- Which shard this is ---- */

bool
cli_shard_build(char build[CLI_BUILD_BYTES])
{
    static char bytes[1 << 16];
    static XXH3_state_t state;
    FILE *file = fopen("/proc/self/exe", "rb");
    XXH128_hash_t hash;
    size_t count;
    bool good;

    XXH3_128bits_reset(&state);
    while (file != NULL && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        XXH3_128bits_update(&state, bytes, count);
    good = file != NULL && ferror(file) == 0;
    if (!good)
        cli_complain("/proc/self/exe: %s", strerror(errno));
    if (file != NULL)
        (void)fclose(file);
    hash = XXH3_128bits_digest(&state);
    snprintf(build, CLI_BUILD_BYTES, "%.20s %016" PRIx64 "%016" PRIx64,
             PROF_VERSION, hash.high64, hash.low64);
    return good;
}

/* returns: how many of the words are one of the options, with its value */
static int
words_of_option(char *const *words, const char *const *options)
{
    const size_t bytes = strcspn(words[0], "=");

    for (; strncmp(words[0], "--", 2) == 0 && *options != NULL; options++) {
        if (strlen(*options) == bytes - 2 &&
            memcmp(words[0] + 2, *options, bytes - 2) == 0)
            return words[0][bytes] == '=' || words[1] == NULL ? 1 : 2;
    }
    return 0;
}

static void
take_words(struct cli_shard_file *mine, int argc, char *const *argv,
           const char *const *dropped)
{
    static const char *const outputs[] = {"shard", "result", "jobs", "json",
                                          "junit", "html",   "data", NULL};
    size_t count = 0;
    bool is_plain = false; /* behind "--" */

    mine->words = cli_need(calloc((size_t)argc + 1, sizeof mine->words[0]));
    for (int i = 0; i < argc; i++) {
        int words = 0;

        is_plain |= strcmp(argv[i], "--") == 0;
        if (!is_plain)
            words = words_of_option(&argv[i], outputs) +
                    words_of_option(&argv[i], dropped);
        if (words == 0)
            mine->words[count++] = argv[i];
        else
            i += words - 1;
    }
}

bool
cli_shard_begin(struct cli_shard_file *mine, struct cli_shard shard, int argc,
                char *const *argv, const char *const *dropped,
                const char *given, char *path, size_t room)
{
    *mine = (struct cli_shard_file){
        .shard = shard.count != 0 ? shard : (struct cli_shard){1, 1}};
    take_words(mine, argc, argv, dropped);
    if (cli_shard_build(mine->build) &&
        (given == NULL || cli_result_path(given, mine->shard, path, room))) {
        mine->path = given != NULL ? path : NULL;
        return true;
    }
    cli_shard_close(mine);
    return false;
}

const char *
cli_shard_difference(const struct cli_shard_file *a,
                     const struct cli_shard_file *b)
{
    size_t i = 0;

    while (a->words[i] != NULL && b->words[i] != NULL &&
           strcmp(a->words[i], b->words[i]) == 0)
        i++;
    if (strcmp(a->build, b->build) != 0)
        return "build of the program";
    if (a->words[i] != NULL || b->words[i] != NULL)
        return "command";
    return a->shard.count != b->shard.count ? "number of shards" : NULL;
}

bool
cli_shard_fits(const struct cli_shard_file *a, const struct cli_shard_file *b)
{
    const char *what = cli_shard_difference(a, b);

    return what == NULL ||
           cli_complain("%s: it is of another %s", b->path, what);
}

bool
cli_shard_resume(const struct cli_shard_file *mine,
                 struct cli_shard_file *found, bool *exists)
{
    struct stat like;
    bool good;

    *exists = mine->path != NULL &&
              (lstat(mine->path, &like) == 0 || errno != ENOENT);
    if (!*exists)
        return true;
    good = cli_shard_read(found, mine->path) && cli_shard_fits(mine, found) &&
           (found->shard.index == mine->shard.index ||
            cli_complain("%s: it is of shard %" PRIu32, mine->path,
                         found->shard.index));
    if (!good)
        cli_shard_close(found);
    return good;
}

/* ---- Lines ---- */

/* Go to the line of a name, which is most often the next one. returns: its
 * text; NULL: there is none */
static char *
find(struct cli_shard_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->lines_count; i++) {
        const uint32_t at = (file->at + i) % file->lines_count;

        if (strcmp(file->lines[at].name, name) == 0) {
            file->at = at + 1;
            return file->lines[at].text;
        }
    }
    return NULL;
}

bool
cli_shard_claims(struct cli_shard_file *file, bool holds, const char *claim)
{
    if (!holds && !file->wrong) {
        file->wrong = true;
        cli_complain("%s: not a valid result: %s", file->path, claim);
    }
    return !file->wrong;
}

static bool
is_number(const char *text, uint64_t *value)
{
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return *text != '\0' && strspn(text, "0123456789") == strlen(text) &&
           errno == 0;
}

void
cli_shard_pass(struct cli_shard_file *file, uint64_t *value, const char *format,
               ...)
{
    char name[NAME_BYTES];
    const char *text;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (file->out != NULL) {
        fprintf(file->out, "%s %" PRIu64 "\n", name, *value);
        return;
    }
    *value = 0;
    text = find(file, name);
    if (text == NULL || !is_number(text, value))
        cli_shard_claims(file, false, name);
}

static void
print_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s ", name);
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? 'n' : *text, out);
    }
    fputc('\n', out);
}

void
cli_shard_pass_text(struct cli_shard_file *file, char **text,
                    const char *format, ...)
{
    char name[NAME_BYTES];
    const char *found;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (file->out == NULL) {
        found = find(file, name);
        *text = found != NULL ? cli_need(strdup(found)) : NULL;
    } else if (*text != NULL) {
        print_text(file->out, name, *text);
    }
}

/* ---- Writing ---- */

void
cli_shard_write(struct cli_shard_file *mine)
{
    mine->out = cli_need(open_memstream(&mine->out_bytes, &mine->out_count));
    fprintf(mine->out, FIRST "build %s\nshard %" PRIu32 "/%" PRIu32 "\n",
            mine->build, mine->shard.index, mine->shard.count);
    for (size_t i = 0; mine->words[i] != NULL; i++)
        print_text(mine->out, "word", mine->words[i]);
}

bool
cli_shard_written(struct cli_shard_file *mine)
{
    const struct props_output output = {.path = mine->path};
    const char *reason = NULL;

    fflush(mine->out);
    fprintf(mine->out, "end %016" PRIx64 "\n",
            (uint64_t)XXH3_64bits(mine->out_bytes, mine->out_count));
    cli_need(fclose(mine->out) == 0 ? mine->out_bytes : NULL);
    if (mine->path != NULL)
        reason = props_output_write(&output, mine->out_bytes, mine->out_count);
    free(mine->out_bytes);
    mine->out = NULL;
    mine->out_bytes = NULL;
    return reason == NULL || cli_complain("%s: %s", mine->path, reason);
}

/* ---- Reading ---- */

/* Is it a result, with the right hash at its end? */
static bool
is_whole(const struct sim_input *input)
{
    const char *text = (const char *)input->bytes;
    char end[END_BYTES + 1];

    if (input->bytes_count < sizeof FIRST - 1 + END_BYTES ||
        memcmp(text, FIRST, sizeof FIRST - 1) != 0 ||
        memchr(text, '\0', input->bytes_count) != NULL)
        return false;
    snprintf(end, sizeof end, "end %016" PRIx64 "\n",
             (uint64_t)XXH3_64bits(text, input->bytes_count - END_BYTES));
    text += input->bytes_count - END_BYTES;
    return text[-1] == '\n' && memcmp(text, end, END_BYTES) == 0;
}

/* Undo print_text(), in place. */
static void
unescape(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0')
            *to++ = *++text == 'n' ? '\n' : *text;
        else
            *to++ = *text;
    }
    *to = '\0';
}

static void
split(struct cli_shard_file *file)
{
    char *at = (char *)file->input.bytes + sizeof FIRST - 1;
    char *const end =
        (char *)file->input.bytes + file->input.bytes_count - END_BYTES;

    for (char *c = at; c < end; c++)
        file->lines_count += *c == '\n';
    file->lines =
        cli_need(calloc((size_t)file->lines_count + 1, sizeof file->lines[0]));
    file->words =
        cli_need(calloc((size_t)file->lines_count + 1, sizeof file->words[0]));
    for (uint32_t i = 0; i < file->lines_count; i++) {
        char *const newline = strchr(at, '\n');
        char *text;

        *newline = '\0';
        text = at + strcspn(at, " ");
        if (*text == ' ')
            *text++ = '\0';
        unescape(text);
        file->lines[i] = (struct cli_shard_line){at, text};
        at = newline + 1;
    }
}

/* Take the lines that every file has. */
static bool
take_head(struct cli_shard_file *file)
{
    const char *build = find(file, "build");
    const char *shard = find(file, "shard");
    const char *slash = shard != NULL ? strchr(shard, '/') : NULL;
    size_t words = 0;
    uint64_t index;
    uint64_t count;
    char first[16];

    if (!cli_shard_claims(file,
                          build != NULL && strlen(build) < CLI_BUILD_BYTES &&
                              slash != NULL && slash - shard < 16,
                          "no build or shard"))
        return false;
    snprintf(file->build, sizeof file->build, "%s", build);
    snprintf(first, sizeof first, "%.*s", (int)(slash - shard), shard);
    if (!cli_shard_claims(file,
                          is_number(first, &index) &&
                              is_number(slash + 1, &count) && index > 0 &&
                              index <= count && count <= CLI_SHARDS_MAX,
                          "not a shard I/N"))
        return false;
    file->shard = (struct cli_shard){(uint32_t)index, (uint32_t)count};
    for (uint32_t i = 0; i < file->lines_count; i++) {
        if (strcmp(file->lines[i].name, "word") == 0)
            file->words[words++] = file->lines[i].text;
    }
    return cli_shard_claims(file, words > 0, "no command");
}

bool
cli_shard_read(struct cli_shard_file *file, const char *path)
{
    *file = (struct cli_shard_file){.path = path};
    if (!sim_input_read_regular(&file->input, path))
        return cli_complain("%s: %s", path, file->input.reason);
    if (file->input.kind != SIM_INPUT_RESULT)
        return cli_complain("%s: not the result of a shard", path);
    if (!is_whole(&file->input))
        return cli_complain("%s: the result is cut or damaged, or of another "
                            "version of profsim",
                            path);
    split(file);
    return take_head(file);
}

void
cli_shard_close(struct cli_shard_file *file)
{
    sim_input_free(&file->input);
    free(file->lines);
    free(file->words);
    file->lines = NULL;
    file->words = NULL;
}

/* ---- Folders ---- */

static int
is_result(const struct dirent *entry)
{
    const char *end = ".result";
    const size_t length = strlen(entry->d_name);

    return length > strlen(end) && entry->d_name[0] != '.' &&
           strcmp(&entry->d_name[length - strlen(end)], end) == 0;
}

int
cli_shard_list(const char *folder, char ***paths)
{
    struct dirent **names;
    const int count = scandir(folder, &names, is_result, alphasort);

    if (count < 0)
        return -1;
    *paths = cli_need(calloc((size_t)count + 1, sizeof **paths));
    for (int i = 0; i < count; i++) {
        if (asprintf(&(*paths)[i], "%s/%s", folder, names[i]->d_name) < 0)
            cli_need(NULL);
        free(names[i]);
    }
    free(names);
    return count;
}

void
cli_shard_list_free(char **paths, int count)
{
    for (int i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}
