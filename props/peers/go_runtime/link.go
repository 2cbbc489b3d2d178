// link.go reaches into the Go 1.19 runtime by linker names, and knows how it
// lays a bucket out in memory:
//
//	words 0..5         next in chain, next of its kind, kind, hash, size, depth
//	words 6..          the stack
//	then, heap         active, future[0], future[1], future[2]: each of
//	                   allocs, frees, alloc bytes, free bytes
//	then, contention   count (a float64), cycles
package main

import "unsafe"

const (
	memProfile = 1 + iota
	blockProfile
	mutexProfile
)

const (
	headerWords = 6
	cellWords   = 4
	chains      = 179999
	cycleWrap   = 3 * (2 << 24)
	// The kind of the note that ties an object to its bucket.
	specialProfile = 2
)

type rtMutex struct{ key uintptr }

//go:linkname stkbucket runtime.stkbucket
func stkbucket(kind int, size uintptr, stk []uintptr, alloc bool) unsafe.Pointer

//go:linkname mProfMalloc runtime.mProf_Malloc
func mProfMalloc(p unsafe.Pointer, size uintptr)

//go:linkname mProfFree runtime.mProf_Free
func mProfFree(b unsafe.Pointer, size uintptr)

//go:linkname removeSpecial runtime.removespecial
func removeSpecial(p unsafe.Pointer, kind uint8) unsafe.Pointer

//go:linkname freeSpecial runtime.freeSpecial
func freeSpecial(special, p unsafe.Pointer, size uintptr)

//go:linkname mProfNextCycle runtime.mProf_NextCycle
func mProfNextCycle()

//go:linkname mProfFlush runtime.mProf_Flush
func mProfFlush()

//go:linkname mProfPostSweep runtime.mProf_PostSweep
func mProfPostSweep()

//go:linkname iterateMemprof runtime.iterate_memprof
func iterateMemprof(fn func(b unsafe.Pointer, depth uintptr, stk *uintptr,
	size, allocs, frees uintptr))

//go:linkname blockEvent runtime.blockevent
func blockEvent(cycles int64, skip int)

//go:linkname blockSampled runtime.blocksampled
func blockSampled(cycles, rate int64) bool

//go:linkname mutexEvent sync.event
func mutexEvent(cycles int64, skip int)

//go:linkname nextSample runtime.nextSample
func nextSample() uintptr

//go:linkname fastrand runtime.fastrand
func fastrand() uint32

//go:linkname acquirem runtime.acquirem
func acquirem() unsafe.Pointer

//go:linkname releasem runtime.releasem
func releasem(m unsafe.Pointer)

//go:linkname rtLock runtime.lock
func rtLock(l *rtMutex)

//go:linkname rtUnlock runtime.unlock
func rtUnlock(l *rtMutex)

//go:linkname rtBuckhash runtime.buckhash
var rtBuckhash *[chains]unsafe.Pointer

//go:linkname rtMbuckets runtime.mbuckets
var rtMbuckets unsafe.Pointer

//go:linkname rtBbuckets runtime.bbuckets
var rtBbuckets unsafe.Pointer

//go:linkname rtXbuckets runtime.xbuckets
var rtXbuckets unsafe.Pointer

//go:linkname rtFutureLock runtime.profMemFutureLock
var rtFutureLock [3]rtMutex

//go:linkname rtBlockLock runtime.profBlockLock
var rtBlockLock rtMutex

//go:linkname rtCycle runtime.mProfCycle
var rtCycle uint32

//go:linkname rtBlockRate runtime.blockprofilerate
var rtBlockRate uint64

//go:linkname rtMutexRate runtime.mutexprofilerate
var rtMutexRate uint64

//go:linkname rtTicks runtime.ticks
var rtTicks struct {
	lock rtMutex
	pad  uint32
	val  uint64
}

type header struct {
	chain, next             unsafe.Pointer
	kind, hash, size, depth uintptr
}

func headerOf(b unsafe.Pointer) *header { return (*header)(b) }

func wordAt(b unsafe.Pointer, index uintptr) unsafe.Pointer {
	return unsafe.Add(b, index*unsafe.Sizeof(uintptr(0)))
}

func stackOf(b unsafe.Pointer) []uintptr {
	return unsafe.Slice((*uintptr)(wordAt(b, headerWords)), headerOf(b).depth)
}

// cellOf returns a cell of a heap bucket: the active one (-1) or a future one.
func cellOf(b unsafe.Pointer, future int) *[cellWords]uintptr {
	at := headerWords + headerOf(b).depth + cellWords*uintptr(1+future)
	return (*[cellWords]uintptr)(wordAt(b, at))
}

// randomOf finds where m keeps the state of fastrand: the word that a call
// moves by the generator's increment.
func randomOf(m unsafe.Pointer) *uint64 {
	const words = 64
	before := *(*[words]uint64)(m)
	fastrand()
	for i := uintptr(0); i < words; i++ {
		word := (*uint64)(wordAt(m, i))
		if *word-before[i] == 0xa0761d6478bd642f {
			return word
		}
	}
	panic("the state of fastrand is not where it was looked for")
}

// forget empties the profiles and begins at a cycle, as a new process would.
// The memory of the buckets is not given back.
func forget(cycle uint32) {
	for _, list := range []*unsafe.Pointer{&rtMbuckets, &rtBbuckets, &rtXbuckets} {
		for b := *list; b != nil; b = headerOf(b).next {
			rtBuckhash[headerOf(b).hash%chains] = nil
		}
		*list = nil
	}
	rtCycle = cycle << 1
}
