/*
 * ns3.cc -- the event loop of ns-3 as a peer, with the fastest of its schedulers:
 * hold, one event taken and one put, as in bench/queue.c.
 */
#include <cstdlib>
#include <ns3/core-module.h>

extern "C" {
#include "../bench.h"
#include "serve.h"
}

namespace
{
const uint32_t HOLDS = 200000;
const uint32_t DELAY_MASK = (1U << 26) - 1;

uint64_t left;
uint64_t ended_ns;
uint64_t random_state;

/* As sim/choice/rng.h. */
uint64_t
next_random()
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

void
event(uint32_t who)
{
    if (--left == 0) {
        ended_ns = bench_cpu_ns();
        ns3::Simulator::Stop();
        return;
    }
    ns3::Simulator::Schedule(ns3::TimeStep(1 + (next_random() & DELAY_MASK)), &event,
                             who);
}

/* The argument is "N/ROUND". */
double
hold(const char *argument)
{
    const uint32_t actors = std::strtoul(argument, nullptr, 10);
    ns3::ObjectFactory factory;
    uint64_t begun_ns;

    random_state = actors;
    factory.SetTypeId("ns3::PriorityQueueScheduler");
    ns3::Simulator::SetScheduler(factory);
    for (uint32_t who = 0; who < actors; who++)
        ns3::Simulator::Schedule(ns3::TimeStep(next_random() & DELAY_MASK), &event,
                                 who);
    left = HOLDS;
    begun_ns = bench_cpu_ns();
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    return static_cast<double>(ended_ns - begun_ns) / HOLDS;
}
} /* namespace */

int
main()
{
    static const struct serve_verb verbs[] = {{"hold", hold}};

    bench_pin(0);
    return serve(verbs, sizeof verbs / sizeof *verbs);
}
