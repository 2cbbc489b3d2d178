// runtime.go reaches into the Go 1.19 runtime: the functions behind its heap
// and block profiles and its table of stacks, by their linker names.
package main

import "unsafe"

const (
	memProfile = 1 + iota
	blockProfile
)

type rtMutex struct{ key uintptr }

func ticks() uint64

func fence()

//go:linkname stkbucket runtime.stkbucket
func stkbucket(typ int, size uintptr, stk []uintptr, alloc bool) unsafe.Pointer

//go:linkname mProfFree runtime.mProf_Free
func mProfFree(b unsafe.Pointer, size uintptr)

//go:linkname mProfNextCycle runtime.mProf_NextCycle
func mProfNextCycle()

//go:linkname mProfFlush runtime.mProf_Flush
func mProfFlush()

//go:linkname mProfPostSweep runtime.mProf_PostSweep
func mProfPostSweep()

//go:linkname blockEvent runtime.blockevent
func blockEvent(cycles int64, skip int)

//go:linkname rtLock runtime.lock
func rtLock(l *rtMutex)

//go:linkname rtUnlock runtime.unlock
func rtUnlock(l *rtMutex)

//go:linkname stackTablePut runtime.(*traceStackTable).put
func stackTablePut(table unsafe.Pointer, pcs []uintptr) uint32

//go:linkname rtBuckhash runtime.buckhash
var rtBuckhash unsafe.Pointer

//go:linkname rtMbuckets runtime.mbuckets
var rtMbuckets unsafe.Pointer

//go:linkname rtBbuckets runtime.bbuckets
var rtBbuckets unsafe.Pointer

//go:linkname rtXbuckets runtime.xbuckets
var rtXbuckets unsafe.Pointer

//go:linkname rtFutureLock runtime.profMemFutureLock
var rtFutureLock [3]uintptr

//go:linkname rtBlockLock runtime.profBlockLock
var rtBlockLock uintptr

//go:linkname rtCycle runtime.mProfCycle
var rtCycle uint32

// The words of runtime.bucket before its stack, and of one memRecordCycle.
const (
	bucketWords = 6
	cycleWords  = 4
)

// account is what mProf_Malloc does once it has the stack and the bucket.
func account(b unsafe.Pointer, size uintptr, depth int) {
	index := (rtCycle>>1 + 2) % 3
	at := (bucketWords + depth + cycleWords*(1+int(index))) * 8
	counts := (*[cycleWords]uintptr)(unsafe.Add(b, at))
	lock := (*rtMutex)(unsafe.Pointer(&rtFutureLock[index]))
	rtLock(lock)
	counts[0]++
	counts[2] += size
	rtUnlock(lock)
}

// blockAccount is what saveblockevent does once it has the stack.
func blockAccount(stk []uintptr, cycles int64) {
	b := stkbucket(blockProfile, 0, stk, true)
	counts := (*[2]uint64)(unsafe.Add(b, (bucketWords+len(stk))*8))
	lock := (*rtMutex)(unsafe.Pointer(&rtBlockLock))
	rtLock(lock)
	*(*float64)(unsafe.Pointer(&counts[0]))++
	counts[1] += uint64(cycles)
	rtUnlock(lock)
}

// forget drops all buckets; their memory is never returned.
func forget() {
	rtBuckhash, rtMbuckets, rtBbuckets, rtXbuckets = nil, nil, nil, nil
}
