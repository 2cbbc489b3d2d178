package main

import "runtime"

var records []runtime.MemProfileRecord

// One allocation and one free of each step-th bucket in the slot that the next
// flush publishes.
func fill(step int) {
	for i := 0; i < keys.n; i += step {
		account(keys.buckets[i], record(i)[0], keys.depth)
	}
	mProfNextCycle()
	for i := 0; i < keys.n; i += step {
		mProfFree(keys.buckets[i], record(i)[0])
	}
}

func cycle(verb string) float64 {
	if verb == "next" {
		const calls = 100000
		begun := cpuNs()
		for i := 0; i < calls; i++ {
			mProfNextCycle()
		}
		return float64(cpuNs()-begun) / calls
	}
	var begun uint64
	switch verb {
	case "flush", "flushidle":
		if verb == "flush" {
			fill(1)
		} else {
			fill(100)
		}
		mProfNextCycle()
		begun = cpuNs()
		mProfFlush()
	case "sweep":
		fill(1)
		begun = cpuNs()
		mProfPostSweep()
	case "snapshot":
		if len(records) < keys.n+50 {
			records = make([]runtime.MemProfileRecord, keys.n+50)
			for i := range records {
				records[i].AllocBytes = 1
			}
		}
		begun = cpuNs()
		if _, ok := runtime.MemProfile(records, true); !ok {
			return -1
		}
	}
	return float64(cpuNs()-begun) / float64(keys.n)
}

func sampledOut() float64 {
	const calls = 100000
	runtime.SetBlockProfileRate(1000000000)
	begun := cpuNs()
	for i := 0; i < calls; i++ {
		blockEvent(10, 1)
	}
	spent := cpuNs() - begun
	runtime.SetBlockProfileRate(0)
	return float64(spent) / calls
}
