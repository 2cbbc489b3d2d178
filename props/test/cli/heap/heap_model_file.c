/* heap_model_file.c -- see heap_model.h: writes the recording. */
#include <string.h>

#include "heap_model.h"
#include "recfile.h"
#include "unit_test.h"

static const char *texts[MODEL_FRAMES];
static uint32_t texts_count;

/* returns: the number of a text in the file; 0 for "" */
static uint32_t
text_of(const char *text)
{
    uint32_t i = 0;

    if (*text == '\0')
        return 0;
    while (i < texts_count && strcmp(texts[i], text) != 0)
        i++;
    if (i == texts_count)
        texts[texts_count++] = text;
    return i + 1;
}

static void
write_tables(const struct heap_model *model, struct cli_recfile *file)
{
    const struct cli_recfile_about about = {.ticks_per_second =
                                                model->ticks_per_second,
                                            .process = model->process,
                                            .depth_max = MODEL_DEPTH,
                                            .arguments_count = model->arguments,
                                            .arguments = model->argument};

    cli_recfile_about(file, &about);
    texts_count = 0;
    for (uint32_t i = 0; i < model->calls_count; i++) {
        text_of(model->calls[i].symbol);
        text_of(model->calls[i].file);
    }
    for (uint32_t i = 0; i < MODEL_MODULES; i++)
        text_of(heap_model_modules[i]);
    for (uint32_t i = 0; i < texts_count; i++)
        cli_recfile_string(file, texts[i]);
    for (uint32_t i = 1; i < MODEL_MODULES; i++) {
        const struct cli_recfile_module module = {
            .start = 0x10000 * (MODEL_MODULES + 1 - i),
            .length_bytes = 0x10000,
            .path = text_of(heap_model_modules[i])};

        cli_recfile_module(file, &module);
    }
}

static void
write_code(const struct heap_model *model, struct cli_recfile *file)
{
    for (uint32_t i = 0; i < model->calls_count; i++) {
        const struct model_call *call = &model->calls[i];
        struct cli_recfile_frame frame = {.pc = call->pc,
                                          .function = text_of(call->symbol),
                                          .function_offset = call->offset,
                                          .file = text_of(call->file),
                                          .line = call->line};

        for (uint32_t k = 1; k < MODEL_MODULES; k++) {
            if (strcmp(heap_model_modules[k], call->module) == 0)
                frame.module = k;
        }
        cli_recfile_frame(file, &frame);
    }
    for (uint32_t i = 0; i < model->stacks_count; i++)
        cli_recfile_stack(file, model->stacks[i].frames,
                          model->stacks[i].depth);
    for (uint32_t i = 0; i < model->threads_count; i++)
        cli_recfile_thread(file, model->threads[i].number,
                           model->threads[i].name);
}

static void
write_event(struct cli_recfile *file, const struct model_event *event)
{
    const struct cli_recfile_request request = {.usable_bytes =
                                                    event->usable_bytes};

    switch (event->kind) {
    case MODEL_ALLOC:
        cli_recfile_alloc_as(file, event->thread, event->ticks, event->bytes,
                             &request, event->stack);
        break;
    case MODEL_FREE:
        cli_recfile_free(file, event->thread, event->ticks, event->object);
        break;
    case MODEL_RESIZE:
        cli_recfile_resize_usable(file, event->thread, event->ticks,
                                  event->object, event->bytes,
                                  event->usable_bytes, event->stack);
        break;
    case MODEL_WAIT:
        cli_recfile_wait(file, event->thread, event->ticks, 0, false,
                         event->lock, event->waited, event->stack);
        break;
    case MODEL_RELEASE:
        cli_recfile_release_of(file, event->thread, event->ticks, 0,
                               event->lock, event->stack);
        break;
    }
}

void
heap_model_write(const struct heap_model *model, const char *path)
{
    struct cli_recfile file;
    FILE *to = fopen(path, "wb");

    assert_non_null(to);
    cli_recfile_init(&file, 0);
    write_tables(model, &file);
    write_code(model, &file);
    for (uint32_t i = 0; i < model->events_count; i++)
        write_event(&file, &model->events[i]);
    cli_recfile_end(&file, model->dropped);
    assert_false(file.failed);
    assert_int_equal(fwrite(file.bytes, 1, file.bytes_count, to),
                     file.bytes_count);
    assert_int_equal(fclose(to), 0);
    cli_recfile_release(&file);
}
