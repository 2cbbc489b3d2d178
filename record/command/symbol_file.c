/* symbol_file.c -- see symbol_file.h. */
#include "record/command/symbol_file.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "record/convert/items.h"

struct cli_symbol_files {
    struct cli_items items; /* struct cli_symbol_file * */
};

/* Find separate debug information on this machine only: no debuginfod. */
static int
find_debuginfo(Dwfl_Module *module, void **data, const char *name,
               Dwarf_Addr base, const char *file, const char *link,
               GElf_Word crc, char **found)
{
    int by_id = dwfl_build_id_find_debuginfo(module, data, name, base, file,
                                             link, crc, found);

    if (by_id >= 0)
        return by_id;
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link,
                                        crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
};

int
cli_symbol_file_open(const char *path)
{
    struct stat status;
    int file;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* ---- one ---- */

static void
release(struct cli_symbol_file *file)
{
    cli_symbol_table_release(&file->symbols);
    cli_debug_info_close(file->debug_info);
    dwfl_end(file->dwfl);
    free(file->path);
    free(file->id);
    free(file);
}

/* returns: NULL if it cannot be read */
static Dwfl_Module *
report(Dwfl *dwfl, const char *path)
{
    const int descriptor = dwfl != NULL ? cli_symbol_file_open(path) : -1;
    Dwfl_Module *module = NULL;
    GElf_Addr bias;

    if (descriptor < 0)
        return NULL;
    dwfl_report_begin(dwfl);
    module = dwfl_report_elf(dwfl, path, path, descriptor, 0, true);
    dwfl_report_end(dwfl, NULL, NULL);
    if (module == NULL)
        close(descriptor); /* else it is the module's */
    return module != NULL && dwfl_module_getelf(module, &bias) != NULL ? module
                                                                       : NULL;
}

/* Is this the file that was mapped? If it was replaced since, its names belong
 * to other code. */
static bool
has_id(Dwfl_Module *module, const uint8_t *id, uint32_t id_bytes)
{
    const unsigned char *found = NULL;
    GElf_Addr place;

    return id_bytes == 0 ||
           (dwfl_module_build_id(module, &found, &place) == (int)id_bytes &&
            memcmp(found, id, id_bytes) == 0);
}

static int
take_module(Dwfl_Module *module, void **unused, const char *name,
            Dwarf_Addr start, void *context)
{
    struct cli_symbol_file *const file = context;
    GElf_Addr bias = 0;

    (void)unused;
    (void)name;
    (void)start;
    cli_symbol_table_fill(&file->symbols, module);
    cli_eh_table_find(&file->unwind, dwfl_module_getelf(module, &bias));
    file->debug_info = cli_debug_info_open(module);
    return DWARF_CB_OK;
}

void
cli_symbol_file_read(struct cli_symbol_file *file)
{
    if (!file->is_read && file->dwfl != NULL)
        dwfl_getmodules(file->dwfl, take_module, file, 0);
    file->is_read = true;
}

static struct cli_symbol_file *
make(const char *path, const uint8_t *id, uint32_t id_bytes)
{
    struct cli_symbol_file *const file = cli_need(calloc(1, sizeof *file));
    Dwfl_Module *module;

    file->path = cli_need(strdup(path));
    file->id = cli_need(malloc(id_bytes + 1));
    if (id_bytes > 0)
        memcpy(file->id, id, id_bytes);
    file->id_bytes = id_bytes;
    file->dwfl = dwfl_begin(&callbacks);
    module = report(file->dwfl, path);
    if (module == NULL || !has_id(module, id, id_bytes)) {
        dwfl_end(file->dwfl);
        file->dwfl = NULL;
    }
    return file;
}

/* ---- all ---- */

struct cli_symbol_files *
cli_symbol_files_open(void)
{
    unsetenv("DEBUGINFOD_URLS");
    return cli_need(calloc(1, sizeof(struct cli_symbol_files)));
}

void
cli_symbol_files_close(struct cli_symbol_files *files)
{
    struct cli_symbol_file **items = files != NULL ? files->items.items : NULL;

    for (size_t i = 0; files != NULL && i < files->items.count; i++)
        release(items[i]);
    free(items);
    free(files);
}

struct cli_symbol_file *
cli_symbol_file_of(struct cli_symbol_files *files, const char *path,
                   const uint8_t *id, uint32_t id_bytes)
{
    struct cli_symbol_file **items = files->items.items;
    struct cli_symbol_file **slot;

    for (size_t i = 0; i < files->items.count; i++)
        if (items[i]->id_bytes == id_bytes &&
            (id_bytes == 0 || memcmp(items[i]->id, id, id_bytes) == 0) &&
            strcmp(items[i]->path, path) == 0)
            return items[i];
    slot = cli_items_add(&files->items, sizeof(struct cli_symbol_file *));
    *slot = make(path, id, id_bytes);
    return *slot;
}
