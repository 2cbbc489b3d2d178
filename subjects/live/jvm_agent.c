/*
 * jvm_agent.c -- a heap sampling agent of the kind JEP 331 describes: counts
 * the sampled objects and their bytes by the method site_N that allocated them.
 *
 * options: INTERVAL,FILE
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 8, FRAMES = 16, SIZES = 64 };

/* Samples of one size at one site. */
struct tally {
    int site;
    jlong bytes;
    unsigned long count;
};

static struct tally tallies[SIZES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[4096];

static void
count(int site, jlong bytes)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIZES; i++) {
        if (tallies[i].count == 0)
            tallies[i] = (struct tally){site, bytes, 0};
        if (tallies[i].site == site && tallies[i].bytes == bytes) {
            tallies[i].count++;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void JNICALL
on_sample(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
          jclass type, jlong bytes)
{
    jvmtiFrameInfo frames[FRAMES];
    jint depth = 0;

    (void)jni;
    (void)object;
    (void)type;
    (*jvmti)->GetStackTrace(jvmti, thread, 0, FRAMES, frames, &depth);
    for (jint i = 0; i < depth; i++) {
        char *name = NULL;
        int site;

        if ((*jvmti)->GetMethodName(jvmti, frames[i].method, &name, NULL,
                                    NULL) != JVMTI_ERROR_NONE)
            continue;
        if (sscanf(name, "site_%d", &site) == 1 && site < SITES) {
            count(site, bytes);
            i = depth;
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    }
}

static void JNICALL
on_end(jvmtiEnv *jvmti, JNIEnv *jni)
{
    FILE *const file = fopen(path, "w");

    (void)jvmti;
    (void)jni;
    if (file == NULL)
        return;
    for (int i = 0; i < SIZES && tallies[i].count > 0; i++)
        fprintf(file, "%d %ld %lu\n", tallies[i].site, (long)tallies[i].bytes,
                tallies[i].count);
    fclose(file);
}

static int
hear(jvmtiEnv *jvmti, jvmtiEvent event)
{
    return (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event,
                                              NULL) != 0;
}

JNIEXPORT jint JNICALL
Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiCapabilities wanted;
    jvmtiEventCallbacks callbacks;
    int interval;

    (void)reserved;
    if ((*machine)->GetEnv(machine, (void **)&jvmti, JVMTI_VERSION_11) != 0 ||
        sscanf(options, "%d,%4095s", &interval, path) != 2)
        return 1;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_sampled_object_alloc_events = 1;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.SampledObjectAlloc = on_sample;
    callbacks.VMDeath = on_end;
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != 0 ||
        (*jvmti)->SetHeapSamplingInterval(jvmti, interval) != 0 ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != 0)
        return 1;
    return hear(jvmti, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC) ||
           hear(jvmti, JVMTI_EVENT_VM_DEATH);
}
