/*
 * protobuf_c.c -- protobuf-c and libdeflate as a peer of the profile file
 * writer. Each key of a load becomes a sample with scaled counts, each address
 * a location, with one of 8192 functions. protobuf-c needs the profile as a
 * tree of messages, which it packs; libdeflate compresses the result at level
 * 1.
 */
#include <fcntl.h>
#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "profile.pb-c.h"
#include "bench/peers/serve.h"

enum {
    FUNCTIONS = 8192,
    STRINGS = FUNCTIONS + 16,
    FIRST_NAME = 8,
    LOCATIONS_MAX = 1 << 17,
    VALUES = 4,
    RATE = 512 * 1024,
    SIZE_KEY = 7 /* its string */
};

/* A load's file (bench/load.h): n, depth, then records of size and frames. */
static struct {
    const uint64_t *words;
    size_t n;
    size_t depth;
} load;

static char names[FUNCTIONS][16];

/* From address to number of location; open addressing, half full at most. */
static struct {
    uint64_t address;
    uint64_t id;
} slots[2 * LOCATIONS_MAX];

static struct tree {
    Profile profile;
    Location *locations;
    Line *lines;
    size_t locations_count;
} tree;

static void *
take(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL)
        exit(1);
    return memory;
}

static uint64_t
location_of(uint64_t address)
{
    const size_t mask = sizeof slots / sizeof *slots - 1;
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15U) >> 32) & mask;
    Location *location;
    Line *line;

    for (; slots[i].id != 0; i = (i + 1) & mask) {
        if (slots[i].address == address)
            return slots[i].id;
    }
    if (tree.locations_count == LOCATIONS_MAX)
        exit(1);
    location = &tree.locations[tree.locations_count];
    line = &tree.lines[tree.locations_count++];
    location__init(location);
    line__init(line);
    slots[i].address = address;
    slots[i].id = tree.locations_count;
    location->id = slots[i].id;
    location->mapping_id = 1;
    location->address = address;
    location->n_line = 1;
    line->function_id = 1 + (address - 0x401000) / 2048 % FUNCTIONS;
    line->line = (int64_t)(address % 1000);
    return location->id;
}

/* Make pointers to `count` adjacent messages, each of `bytes`. */
static void *
pointers_to(void *messages, size_t count, size_t bytes)
{
    char **pointers = take(count * sizeof *pointers);

    for (size_t i = 0; i < count; i++)
        pointers[i] = (char *)messages + i * bytes;
    return pointers;
}

static void
add_samples(void)
{
    Sample *samples = take(load.n * sizeof *samples);
    Label *labels = take(load.n * sizeof *labels);
    uint64_t *ids = take(load.n * load.depth * sizeof *ids);
    int64_t *values = take(load.n * VALUES * sizeof *values);
    Label **label_at = pointers_to(labels, load.n, sizeof *labels);

    for (size_t i = 0; i < load.n; i++) {
        const uint64_t *record = &load.words[i * (load.depth + 1)];
        const double scale = 1 / (1 - exp(-(double)record[0] / RATE));
        Sample *sample = &samples[i];

        sample__init(sample);
        label__init(&labels[i]);
        labels[i].key = SIZE_KEY;
        labels[i].num = (int64_t)record[0];
        for (size_t frame = 0; frame < load.depth; frame++)
            ids[i * load.depth + frame] = location_of(record[1 + frame]);
        for (size_t v = 0; v < VALUES; v++)
            values[i * VALUES + v] =
                (int64_t)(v % 2 == 0 ? scale : scale * (double)record[0]);
        sample->n_location_id = load.depth;
        sample->location_id = &ids[i * load.depth];
        sample->n_value = VALUES;
        sample->value = &values[i * VALUES];
        sample->n_label = 1;
        sample->label = &label_at[i];
    }
    tree.profile.n_sample = load.n;
    tree.profile.sample = pointers_to(samples, load.n, sizeof *samples);
}

static void
add_functions(void)
{
    Function *functions = take(FUNCTIONS * sizeof *functions);
    Mapping *mapping = take(sizeof *mapping);
    char **strings = take(STRINGS * sizeof *strings);
    Line **line_at =
        pointers_to(tree.lines, tree.locations_count, sizeof *tree.lines);

    for (size_t i = 0; i < STRINGS; i++)
        strings[i] = i == 0 ? "" : "alloc_space";
    for (size_t i = 0; i < FUNCTIONS; i++) {
        function__init(&functions[i]);
        functions[i].id = i + 1;
        functions[i].name = functions[i].system_name =
            (int64_t)(FIRST_NAME + i);
        functions[i].filename = 1;
        strings[FIRST_NAME + i] = names[i];
    }
    for (size_t i = 0; i < tree.locations_count; i++)
        tree.locations[i].line = &line_at[i];
    mapping__init(mapping);
    mapping->id = 1;
    mapping->has_functions = 1;
    tree.profile.n_function = FUNCTIONS;
    tree.profile.function =
        pointers_to(functions, FUNCTIONS, sizeof *functions);
    tree.profile.n_location = tree.locations_count;
    tree.profile.location = pointers_to(tree.locations, tree.locations_count,
                                        sizeof *tree.locations);
    tree.profile.n_mapping = 1;
    tree.profile.mapping = pointers_to(mapping, 1, sizeof *mapping);
    tree.profile.n_string_table = STRINGS;
    tree.profile.string_table = strings;
}

static void
add_types(void)
{
    ValueType *types = take(VALUES * sizeof *types);

    for (size_t i = 0; i < VALUES; i++) {
        value_type__init(&types[i]);
        types[i].type = (int64_t)i + 1;
        types[i].unit = (int64_t)i % 2 + 5;
    }
    tree.profile.n_sample_type = VALUES;
    tree.profile.sample_type = pointers_to(types, VALUES, sizeof *types);
    tree.profile.period = RATE;
}

/* The leaves of the tree, too, belong to its first message of a kind. */
static void
free_tree(void)
{
    Profile *profile = &tree.profile;

    free(profile->sample[0]->location_id);
    free(profile->sample[0]->value);
    free(profile->sample[0]->label[0]);
    free(profile->sample[0]->label);
    free(profile->sample[0]);
    free(profile->sample);
    free(profile->location[0]->line[0]);
    free(profile->location[0]->line);
    free(profile->location[0]);
    free(profile->location);
    free(profile->function[0]);
    free(profile->function);
    free(profile->mapping[0]);
    free(profile->mapping);
    free(profile->sample_type[0]);
    free(profile->sample_type);
    free(profile->string_table);
}

static size_t
write_profile(unsigned char *raw, unsigned char *packed, size_t room)
{
    struct libdeflate_compressor *compressor;
    size_t bytes;

    memset(slots, 0, sizeof slots);
    tree = (struct tree){.profile = PROFILE__INIT};
    tree.locations = take(LOCATIONS_MAX * sizeof *tree.locations);
    tree.lines = take(LOCATIONS_MAX * sizeof *tree.lines);
    add_types();
    add_samples();
    add_functions();
    if (profile__get_packed_size(&tree.profile) > room)
        return 0;
    bytes = profile__pack(&tree.profile, raw);
    free_tree();
    compressor = libdeflate_alloc_compressor(1);
    bytes = libdeflate_gzip_compress(compressor, raw, bytes, packed, room);
    libdeflate_free_compressor(compressor);
    return bytes;
}

static double
answer_profile(const char *argument)
{
    static unsigned char *raw, *packed;
    const size_t room = load.n * 256 + (64U << 20);
    uint64_t begun;

    (void)argument;
    if (load.n == 0)
        return -1;
    if (raw == NULL) {
        raw = bench_pages(room);
        packed = bench_pages(room);
    }
    begun = bench_cpu_ns();
    if (write_profile(raw, packed, room) == 0)
        return -1;
    return (double)(bench_cpu_ns() - begun) / 1e6;
}

static double
answer_load(const char *path)
{
    const int descriptor = open(path, O_RDONLY);
    struct stat status;
    const uint64_t *file;

    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        return -1;
    file = mmap(NULL, (size_t)status.st_size, PROT_READ,
                MAP_SHARED | MAP_POPULATE, descriptor, 0);
    close(descriptor);
    if (file == MAP_FAILED)
        return -1;
    load.n = file[0];
    load.depth = file[1];
    load.words = file + 2;
    return 1;
}

int
main(void)
{
    static const struct serve_verb verbs[] = {{"load", answer_load},
                                              {"profile", answer_profile}};

    bench_pin(0);
    for (int i = 0; i < FUNCTIONS; i++)
        snprintf(names[i], sizeof names[i], "function_%d", i);
    return serve(verbs, sizeof verbs / sizeof *verbs);
}
