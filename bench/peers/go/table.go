package main

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	batchOps = 64
	ops      = 1 << 15
	maxDepth = 32      // runtime.maxStack
	warmOps  = ops / 2 // untimed, as in bench/batch.c
	orderLen = 1 << 20
)

var keys struct {
	n, depth int
	words    []uintptr // n records of size and frames
	order    []uint32
	buckets  []unsafe.Pointer
	mapped   []byte
	stacks   unsafe.Pointer // a runtime.traceStackTable
}

func record(i int) []uintptr {
	w := keys.depth + 1
	return keys.words[i*w : (i+1)*w]
}

func load(path string) float64 {
	f, err := os.Open(path)
	if err != nil {
		return -1
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return -1
	}
	if keys.mapped != nil {
		syscall.Munmap(keys.mapped)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ,
		syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		return -1
	}
	head := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), 2)
	keys.mapped = b
	keys.n, keys.depth = int(head[0]), int(head[1])
	if keys.depth > maxDepth {
		keys.n = 0
		return -1
	}
	words := keys.n * (keys.depth + 1)
	keys.words = unsafe.Slice((*uintptr)(unsafe.Pointer(&b[16])), words)
	keys.order = unsafe.Slice((*uint32)(unsafe.Pointer(&b[16+8*words])), orderLen)
	keys.stacks = nil
	insert()
	keys.buckets = make([]unsafe.Pointer, keys.n)
	for i := range keys.buckets {
		r := record(i)
		keys.buckets[i] = stkbucket(memProfile, r[0], r[1:], false)
		account(keys.buckets[i], r[0], keys.depth)
	}
	return 1
}

type staged struct {
	frames  [batchOps][]uintptr
	sizes   [batchOps]uintptr
	buckets [batchOps]unsafe.Pointer
}

func newStaged() *staged {
	s := &staged{}
	room := make([]uintptr, batchOps*keys.depth)
	for i := range s.frames {
		s.frames[i] = room[i*keys.depth : (i+1)*keys.depth : (i+1)*keys.depth]
	}
	return s
}

func (s *staged) put(at, i int) {
	r := record(i)
	s.sizes[at] = r[0]
	copy(s.frames[at], r[1:])
}

// insert drops all buckets and adds all keys.
func insert() {
	forget()
	for i := 0; i < keys.n; i++ {
		r := record(i)
		stkbucket(memProfile, r[0], r[1:], true)
	}
}

func batch(verb string, s *staged) {
	switch verb {
	case "hit":
		for i := 0; i < batchOps; i++ {
			stkbucket(memProfile, s.sizes[i], s.frames[i], true)
		}
	case "hitalone":
		for i := 0; i < batchOps; i++ {
			stkbucket(memProfile, s.sizes[i], s.frames[i], true)
			fence()
		}
	case "alloc":
		for i := 0; i < batchOps; i++ {
			b := stkbucket(memProfile, s.sizes[i], s.frames[i], true)
			account(b, s.sizes[i], keys.depth)
		}
	case "free":
		for i := 0; i < batchOps; i++ {
			mProfFree(s.buckets[i], s.sizes[i])
		}
	case "block":
		for i := 0; i < batchOps; i++ {
			blockAccount(s.frames[i], 1000)
		}
	case "stackid":
		for i := 0; i < batchOps; i++ {
			stackTablePut(keys.stacks, s.frames[i])
		}
	}
}

func (s *staged) fill(from int) {
	for i := 0; i < batchOps; i++ {
		at := int(keys.order[from+i])
		s.put(i, at)
		s.buckets[i] = keys.buckets[at]
	}
}

func sliceOf(slice uint32) int {
	return int(uint64(slice) * ops % (orderLen - ops - warmOps))
}

func runBatches(verb string, slice uint32) float64 {
	s := newStaged()
	values := make([]float64, 0, ops/batchOps)
	at := sliceOf(slice)
	for o := at; o < at+warmOps+ops; o += batchOps {
		s.fill(o)
		begun := ticks()
		batch(verb, s)
		if o >= at+warmOps {
			values = append(values, float64(ticks()-begun))
		}
	}
	return middleMean(values) * nsATick / batchOps
}

// A meeting is where two threads wait for each other, as in bench/pair.c.
type meeting struct{ arrived int32 }

func (m *meeting) meet(round int) {
	atomic.AddInt32(&m.arrived, 1)
	for spins := 1; atomic.LoadInt32(&m.arrived) < int32(2*(round+1)); spins++ {
		if spins%10000 == 0 {
			syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}

// onTwo returns the mean of what a function gave on two threads.
func onTwo(f func(m *meeting, thread int) float64) float64 {
	var m meeting
	got := make(chan float64)
	for i := 0; i < 2; i++ {
		go func(i int) {
			pin(uint(i))
			got <- f(&m, i)
		}(i)
	}
	return (<-got + <-got) / 2
}

// runPair is runBatches of two threads, four batches a meeting.
func runPair(verb string, round uint32) float64 {
	const together = 4
	ns := onTwo(func(m *meeting, thread int) float64 {
		var s [together]*staged
		for i := range s {
			s[i] = newStaged()
		}
		values := make([]float64, 0, ops/batchOps/together)
		at := sliceOf(round*2 + uint32(thread))
		for round := 0; round < (warmOps+ops)/batchOps/together; round++ {
			for i := range s {
				s[i].fill(at + (round*together+i)*batchOps)
			}
			m.meet(round)
			begun := ticks()
			for i := range s {
				batch(verb, s[i])
			}
			if round >= warmOps/batchOps/together {
				values = append(values, float64(ticks()-begun))
			}
		}
		return middleMean(values) * nsATick / (together * batchOps)
	})
	return ns / 2
}

func batches(verb string, round uint32, threads int) float64 {
	if verb == "stackid" && keys.stacks == nil {
		keys.stacks = unsafe.Pointer(new([1<<16 + 256]byte))
		for i := 0; i < keys.n; i++ {
			stackTablePut(keys.stacks, record(i)[1:])
		}
	}
	if verb == "block" {
		for i := 0; i < keys.n; i++ {
			stkbucket(blockProfile, 0, record(i)[1:], true)
		}
	}
	if threads == 1 {
		return runBatches(verb, round)
	}
	return runPair(verb, round)
}
