package main

import (
	"os"
	"runtime"
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

// warmPages: see bench_warm_pages() in bench/timer.c.
func warmPages(bytes int) {
	b, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	syscall.Munmap(b)
}

func insert() float64 {
	forget()
	warmPages(keys.n*(keys.depth*8+200) + 8<<20)
	s := newStaged()
	total := uint64(0)
	for from := 0; from < keys.n; from += batchOps {
		count := keys.n - from
		if count > batchOps {
			count = batchOps
		}
		for i := 0; i < count; i++ {
			s.put(i, from+i)
		}
		begun := ticks()
		for i := 0; i < count; i++ {
			stkbucket(memProfile, s.sizes[i], s.frames[i], true)
		}
		total += ticks() - begun
	}
	return float64(total) * nsATick / float64(keys.n)
}

func memory() float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	insert()
	runtime.ReadMemStats(&after)
	return float64(after.BuckHashSys-before.BuckHashSys) / float64(keys.n)
}

func batch(verb string, s *staged) {
	switch verb {
	case "hit":
		for i := 0; i < batchOps; i++ {
			stkbucket(memProfile, s.sizes[i], s.frames[i], true)
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

func runBatches(verb string, slice uint32) float64 {
	s := newStaged()
	values := make([]float64, 0, ops/batchOps)
	at := int(uint64(slice) * ops % (orderLen - ops))
	for o := at; o < at+warmOps+ops; o += batchOps {
		for i := 0; i < batchOps; i++ {
			s.put(i, int(keys.order[o+i]))
			s.buckets[i] = keys.buckets[keys.order[o+i]]
		}
		begun := ticks()
		batch(verb, s)
		if o >= at+warmOps {
			values = append(values, float64(ticks()-begun))
		}
	}
	return middleMean(values) * nsATick / batchOps
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
	ready := int32(threads)
	ns := make(chan float64)
	for i := 0; i < threads; i++ {
		go func(i uint32) {
			pin(uint(i))
			atomic.AddInt32(&ready, -1)
			for atomic.LoadInt32(&ready) != 0 {
			}
			ns <- runBatches(verb, round*2+i)
		}(uint32(i))
	}
	rate := 0.0
	for i := 0; i < threads; i++ {
		rate += 1 / <-ns
	}
	return 1 / rate
}
