/*
 * prof/fork.h -- what a fork does to the library, and how the child continues.
 *
 * The child has a copy of everything, but only one thread. What other threads
 * were doing stops half-way, and a lock that they held is never released. So
 * for each object it has, the child calls the matching function below before
 * any other function of the library. If it does not, it may only call exec or
 * _exit. The parent need not do anything.
 *
 * context, of all: the child's only thread, which forked outside any call of
 * the library and not between a true result of prof_heap_sample() and its
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
 * Continue with an instance.
 *
 * Kept: every bucket, the events recorded before the fork, published or
 * waiting, the cycle, the rates. prof_check() returns NULL, and no control call
 * waits for a thread that is gone. Every processor may be used again.
 *
 * Lost: for each other thread at most the one event that it was recording (of a
 * wait perhaps only the ticks), and room for one bucket. The next flush or
 * snapshot completes a publication that the fork cut short. In two cases events
 * appear in the wrong collection, off by one: if the fork cut short next_cycle,
 * the frees of that sweep may come late; if it cut short a flush under
 * PROF_HEAP_STAGES, allocations may come early.
 *
 * Objects of the threads that are gone are still in the child's memory, and so
 * in its profile. Parent and child continue with the same random numbers: if
 * you will add up the profiles of both, give one of them new seeds
 * (prof_proc_seed()).
 *
 * The call visits every processor. It visits every bucket only if another
 * thread was inside a heap event or the first snapshot.
 */
void prof_after_fork_child(struct prof *prof);

/*
 * Continue with a tracer: it is off, and there is nothing to read. A session
 * goes on only in the parent, which has all its events, so the child counts
 * none as dropped. The child may start a session of its own; to it, a stamp
 * from before the fork is one from before the session. Bytes that
 * prof_trace_read() returned are no longer valid.
 */
void prof_trace_after_fork_child(struct prof_trace *trace);

/*
 * Continue with a flight recorder: it is off, and there is nothing to read. The
 * parent has what was recorded.
 */
void prof_flight_after_fork_child(struct prof_flight *flight);

/*
 * Continue with a CPU profile: none is being taken, and there is none to write.
 * The parent has what was collected, and continues.
 *
 * Timers are not inherited: do not close the parent's. If the child is to take
 * a CPU profile, first detach SIGPROF from the old one (prof_process_end()).
 */
void prof_cpu_after_fork_child(struct prof_cpu *cpu);

/*
 * Continue with a registry. Open entries stay open. An entry that another
 * thread was opening or closing, or a profile that it was making, exists as a
 * whole or not at all. The call takes time for every entry.
 */
void prof_registry_after_fork_child(struct prof_registry *registry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
