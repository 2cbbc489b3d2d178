// The Go runtime's own gaps between heap samples: for random states of its
// generator, the number of 26 bits that it draws and what nextSample makes of
// it, a line each, as props/peers/go_thresholds.c reads them.
//
// usage: go_thresholds RATE COUNT
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"
)

//go:linkname nextSample runtime.nextSample
func nextSample() uintptr

//go:linkname acquirem runtime.acquirem
func acquirem() unsafe.Pointer

//go:linkname releasem runtime.releasem
func releasem(m unsafe.Pointer)

// stateOf finds where m keeps the generator's state: the word that a call moves
// by the generator's increment.
func stateOf(m unsafe.Pointer) *uint64 {
	const words = 240
	before := *(*[words]uint64)(m)
	random()
	for i := uintptr(0); i < words; i++ {
		word := (*uint64)(unsafe.Add(m, 8*i))
		if *word-before[i] == 0xa0761d6478bd642f {
			return word
		}
	}
	panic("the state of the generator is not where it was looked for")
}

// numberOf returns the number that nextSample makes of a random one, as by
// fastrandn(1 << 26), from Go 1.22 on cheaprandn(1 << 26).
func numberOf(random uint32) uint32 { return random >> 6 }

// one sets the generator to a state. It returns the number that comes next and,
// from the same state, the gap that nextSample draws.
func one(state uint64) (uint32, uintptr) {
	m := acquirem()
	at := stateOf(m)
	*at = state
	number := numberOf(random())
	*at = state
	gap := nextSample()
	releasem(m)
	return number, gap
}

func main() {
	rate, err := strconv.Atoi(os.Args[1])
	count, err2 := strconv.Atoi(os.Args[2])
	if err != nil || err2 != nil {
		os.Exit(1)
	}
	runtime.LockOSThread()
	runtime.MemProfileRate = rate
	out := bufio.NewWriter(os.Stdout)
	state := uint64(1)
	for i := 0; i < count; i++ {
		number, gap := one(state)
		fmt.Fprintln(out, number, gap)
		state = state*6364136223846793005 + 1442695040888963407
	}
	out.Flush()
}
