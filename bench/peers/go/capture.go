package main

import (
	"runtime"
	"strconv"
	"strings"
)

const captures = 2000

// descend calls f below `left` more frames.
//
//go:noinline
func descend(left int, f func()) int {
	if left == 0 {
		f()
		return 0
	}
	return descend(left-1, f) + 1
}

// capture takes stacks of `depth` frames, and does nothing else.
func capture(depth int) float64 {
	spent := uint64(0)
	descend(depth, func() {
		var pcs [maxDepth]uintptr
		begun := cpuNs()
		for i := 0; i < captures; i++ {
			rtCallers(0, pcs[:depth])
		}
		spent = cpuNs() - begun
	})
	return float64(spent) / captures
}

var sink *[64]byte

// mallocs allocates with every object sampled; the sweep is not timed.
func mallocs() float64 {
	spent := uint64(0)
	runtime.MemProfileRate = 1
	descend(16, func() {
		begun := cpuNs()
		for i := 0; i < captures; i++ {
			sink = new([64]byte)
		}
		spent = cpuNs() - begun
	})
	runtime.MemProfileRate = 0
	return float64(spent) / captures
}

// captured handles verbs that begin with "capture", and "malloc".
func captured(verb string) float64 {
	if verb == "malloc" {
		return mallocs()
	}
	depth, err := strconv.Atoi(strings.TrimLeft(verb, "capture-"))
	if err != nil {
		return -1
	}
	return capture(depth)
}
