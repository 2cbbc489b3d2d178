/*
 * prof/fork.h -- what a fork means, and how its child goes on.
 *
 * The child has a copy of everything and one thread. What other threads were
 * doing stops where it was, and a lock that they held is never given back. So
 * the child calls the function below that fits, for each object it has, before
 * it calls anything else of the library. Without that it may only go to exec or
 * _exit. The parent need not do anything, and notices nothing.
 *
 * context, of all: the child's only thread, which forked outside any call of
 * the library and not between a yes of prof_heap_sample() and its
 * prof_heap_alloc(). Async-signal-safe: they take no lock and no memory, so a
 * handler of pthread_atfork() may call them.
 */
#ifndef PROF_FORK_H
#define PROF_FORK_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof;
struct prof_trace;
struct prof_flight;
struct prof_cpu;
struct prof_registry;

/*
 * Go on with an instance.
 *
 * Kept: every bucket, the events recorded before the fork, what is published of
 * them and what waits, the cycle, the rates. prof_check() returns NULL, and no
 * control call waits for what is gone. Every processor may be used again.
 *
 * Lost: of each other thread the one event at most that it was recording (of a
 * wait it may be the ticks alone), and room for one bucket. Half a publication
 * is completed by the next flush or snapshot. In two cases something shows one
 * collection off: if next_cycle was cut short, the frees of that sweep may come
 * late; if a flush was under PROF_HEAP_STAGES, allocations may come early.
 *
 * Objects of the threads that are gone are in the child's memory, and so in its
 * profile. Parent and child continue with the same random numbers: give one of
 * them other seeds (prof_proc_seed()) before you add up the profiles of both.
 *
 * It looks at every processor, and at every bucket only if a thread is gone
 * inside a heap event or the first snapshot.
 */
void prof_after_fork_child(struct prof *prof);

/*
 * Go on with a tracer: it is off, and there is nothing to read. A session goes
 * on in the parent alone, with all its events, so in the child none of them
 * counts as dropped. The child may start a session of its own; a stamp from
 * before the fork counts as one from before that session. What
 * prof_trace_read() handed out is taken back.
 */
void prof_trace_after_fork_child(struct prof_trace *trace);

/*
 * Go on with a flight recorder: it is off, and there is nothing to read. What
 * was recorded is in the parent.
 */
void prof_flight_after_fork_child(struct prof_flight *flight);

/*
 * Go on with a CPU profile: none is being taken, and there is none to write.
 * What was collected is in the parent, which goes on with it.
 *
 * Timers are not inherited: close none of the parent's, and take SIGPROF away
 * from the profile (prof_process_end()) before the child directs it to one.
 */
void prof_cpu_after_fork_child(struct prof_cpu *cpu);

/*
 * Make a registry usable again. Open entries stay open. An entry that another
 * thread was opening or closing, or a profile that it was making, exists as a
 * whole or not at all. The call takes time for every entry.
 */
void prof_registry_after_fork_child(struct prof_registry *registry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
