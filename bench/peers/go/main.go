// The Go runtime as a peer: reads one command per line, writes a number for each.
//
//	load PATH            take the keys of a load (bench/load.h), insert them
//	hit ROUND, hit2      find each key of a part of the order; 2: by two threads
//	hitalone             the same, without overlap of operations
//	alloc, alloc2        the same and count the allocation
//	free, free2          count the free of an object of a known bucket
//	next, flush, sweep   a step of the heap profile's cycle
//	flushidle            a flush with one bucket in a hundred to publish
//	snapshot             runtime.MemProfile(all, true)
//	block, blockoff      a block event with a given stack; one sampled out
//	stackid              runtime.traceStackTable.put of a known stack
//
// The numbers are nanoseconds per operation, or per bucket.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func init() { runtime.MemProfileRate = 0 }

func pin(cpu uint) {
	runtime.LockOSThread()
	var mask [16]uint64
	mask[0] = 1 << cpu
	syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask),
		uintptr(unsafe.Pointer(&mask)))
}

func clockNs(clock uintptr) uint64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock,
		uintptr(unsafe.Pointer(&now)), 0)
	return uint64(now.Nano())
}

// cpuNs is the processor time of the calling thread, as bench_cpu_ns().
func cpuNs() uint64 { return clockNs(3) }

var nsATick float64

func calibrate() {
	var tries []float64
	for i := 0; i < 5; i++ {
		begun, begunTicks := time.Now(), ticks()
		for time.Since(begun) < 10*time.Millisecond {
		}
		tries = append(tries, float64(time.Since(begun).Nanoseconds())/
			float64(ticks()-begunTicks))
	}
	sort.Float64s(tries)
	nsATick = tries[2]
}

// middleMean is the mean of the middle half, as in bench/timer.c.
func middleMean(values []float64) float64 {
	sort.Float64s(values)
	cut := len(values) / 4
	sum := 0.0
	for _, v := range values[cut : len(values)-cut] {
		sum += v
	}
	return sum / float64(len(values)-2*cut)
}

func answer(verb string, arg string, round uint32) float64 {
	threads := 1
	if strings.HasSuffix(verb, "2") {
		verb, threads = verb[:len(verb)-1], 2
	}
	if keys.n == 0 && verb != "load" {
		return -1
	}
	switch verb {
	case "load":
		return load(arg)
	case "hit", "hitalone", "alloc", "free", "block", "stackid":
		return batches(verb, round, threads)
	case "next", "flush", "flushidle", "sweep", "snapshot":
		return cycle(verb)
	case "blockoff":
		return sampledOut()
	}
	return -1
}

func main() {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(3) // two that work, and one for the runtime
	pin(0)
	calibrate()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var verb, arg string
		var round uint32
		fmt.Sscan(lines.Text(), &verb, &arg)
		fmt.Sscan(arg, &round)
		fmt.Printf("%.6f\n", answer(verb, arg, round))
	}
}
