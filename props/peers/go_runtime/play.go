package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"unsafe"
)

const (
	objectsMax = 512 // objects of a schedule
	roomMax    = 512 // records of a reading
	untouched  = -7777
)

// object is an object of the schedule: its bucket, or the block that carries
// its note.
type object struct {
	bucket unsafe.Pointer
	thing  *[64]byte
	noted  bool
	size   uintptr
}

type play struct {
	own     bool
	stacks  [][]uintptr
	objects [objectsMax]object
	random  *uint64
	bases   [mutexProfile + 1]int // own: the depth of stack 0, for each kind
	heap    []runtime.MemProfileRecord
	waits   []runtime.BlockProfileRecord
	answer  bytes.Buffer
}

func newPlay(own bool) *play {
	p := &play{
		own:   own,
		heap:  make([]runtime.MemProfileRecord, roomMax+1),
		waits: make([]runtime.BlockProfileRecord, roomMax+1),
	}
	for i := range p.objects {
		p.objects[i].thing = new([64]byte)
	}
	m := acquirem()
	p.random = randomOf(m)
	releasem(m)
	return p
}

// prelude is played first: its events show how deep stack 0 is.
const prelude = `run 0 0
stack 1
alloc 0 0 1
block 0 1 0
mutex 0 1 0
measure
`

func (p *play) measure() {
	p.bases[memProfile] = len(stackOf(rtMbuckets))
	p.bases[blockProfile] = len(stackOf(rtBbuckets))
	p.bases[mutexProfile] = len(stackOf(rtXbuckets))
	p.answer.Reset()
}

func number(field []byte) int64 {
	v, err := strconv.ParseInt(string(field), 10, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func word(field []byte, base int) uint64 {
	v, err := strconv.ParseUint(string(field), base, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// line plays one line of a schedule. It returns false if the line is not valid.
func (p *play) line(f [][]byte) bool {
	switch string(f[0]) {
	case "run":
		p.begin(f)
	case "measure":
		p.measure()
	case "stack":
		stack := make([]uintptr, 0, len(f)-1)
		for _, pc := range f[1:] {
			stack = append(stack, uintptr(word(pc, 16)))
		}
		p.stacks = append(p.stacks, stack)
	case "alloc":
		p.alloc(int(number(f[1])), int(number(f[2])), uintptr(word(f[3], 10)))
	case "free":
		p.free(int(number(f[1])))
	case "next":
		mProfNextCycle()
	case "flush":
		mProfFlush()
	case "sweep":
		mProfPostSweep()
	case "block":
		p.wait(blockProfile, int(number(f[1])), number(f[2]), word(f[3], 16))
	case "mutex":
		p.wait(mutexProfile, int(number(f[1])), number(f[2]), word(f[3], 16))
	case "rate":
		runtime.SetBlockProfileRate(int(number(f[1])))
		fmt.Fprintf(&p.answer, "rate %d\n", int64(rtBlockRate))
	case "fraction":
		before := runtime.SetMutexProfileFraction(int(number(f[1])))
		fmt.Fprintf(&p.answer, "fraction %d\n", before)
	case "inuse":
		p.readHeap(int(number(f[1])), false)
	case "all":
		p.readHeap(int(number(f[1])), true)
	case "iterate":
		p.iterate()
	case "blocks":
		p.readWaits("blocks", blockProfile, int(number(f[1])), runtime.BlockProfile)
	case "mutexes":
		p.readWaits("mutexes", mutexProfile, int(number(f[1])), runtime.MutexProfile)
	case "gap":
		p.gap(int(number(f[1])), word(f[2], 16))
	default:
		return false
	}
	return true
}

func (p *play) begin(f [][]byte) {
	for i := range p.objects {
		if p.objects[i].noted {
			p.free(i)
		}
		p.objects[i].bucket = nil
	}
	forget(uint32(word(f[2], 10)))
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	p.stacks = p.stacks[:0]
	fmt.Fprintf(&p.answer, "run %s\n", f[1])
}

func same(a, b []uintptr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// first returns the number of the first stack with these frames, or -1.
func (p *play) first(frames []uintptr) int {
	for i := range p.stacks {
		if same(p.stacks[i], frames) {
			return i
		}
	}
	return -1
}

// which returns the stack of the schedule that a record shows.
func (p *play) which(kind int, frames []uintptr) int {
	if p.own {
		return len(frames) - p.bases[kind]
	}
	return p.first(frames)
}

// ------------------------------------------------------------- own stacks

// act is what climb does in its innermost call.
type act struct {
	kind   int
	thing  unsafe.Pointer
	size   uintptr
	cycles int64
}

var todo act

//go:noinline
func climb(more int) {
	if more > 0 {
		climb(more - 1)
		return
	}
	switch todo.kind {
	case memProfile:
		mProfMalloc(todo.thing, todo.size)
	case blockProfile:
		blockEvent(todo.cycles, 1)
	case mutexProfile:
		mutexEvent(todo.cycles, 1)
	}
}

// climbTo is the only caller of climb, so that stacks differ only in their
// depth.
//
//go:noinline
func (p *play) climbTo(stack int, what act) {
	todo = what
	climb(p.first(p.stacks[stack]))
}

// ----------------------------------------------------------------- records

func (p *play) alloc(number, stack int, size uintptr) {
	o := &p.objects[number]
	o.size = size
	if p.own {
		p.climbTo(stack, act{kind: memProfile, thing: unsafe.Pointer(o.thing), size: size})
		o.noted = true
		return
	}
	index := int((rtCycle>>1 + 2) % 3)
	o.bucket = stkbucket(memProfile, size, p.stacks[stack], true)
	cell := cellOf(o.bucket, index)
	rtLock(&rtFutureLock[index])
	cell[0]++
	cell[2] += size
	rtUnlock(&rtFutureLock[index])
}

// free does nothing for an object that was not sampled.
func (p *play) free(number int) {
	o := &p.objects[number]
	if o.noted {
		thing := unsafe.Pointer(o.thing)
		freeSpecial(removeSpecial(thing, specialProfile), thing, o.size)
		o.noted = false
	} else if o.bucket != nil {
		mProfFree(o.bucket, o.size)
		o.bucket = nil
	}
}

func (p *play) wait(kind, stack int, cycles int64, state uint64) {
	m := acquirem()
	*p.random = state
	drew := false
	if p.own {
		drew = p.waitOwn(kind, stack, cycles, state)
	} else {
		if kind == blockProfile {
			p.block(stack, cycles)
		} else {
			p.mutex(stack, cycles)
		}
		drew = *p.random != state
	}
	releasem(m)
	fmt.Fprintf(&p.answer, "drew %t\n", drew)
}

// waitOwn records a wait at a stack of this program. Unwinding draws random
// numbers, too, so whether the decision draws one is found out before. A mutex
// event decides first, or does not unwind.
func (p *play) waitOwn(kind, stack int, cycles int64, state uint64) bool {
	drew := false
	if kind == blockProfile {
		blockSampled(atLeast(1, cycles), int64(rtBlockRate))
		drew = *p.random != state
		*p.random = state
	}
	p.climbTo(stack, act{kind: kind, cycles: cycles})
	if kind == mutexProfile {
		drew = *p.random != state
	}
	return drew
}

func atLeast(least, cycles int64) int64 {
	if cycles < least {
		return least
	}
	return cycles
}

// block does what blockevent does, with a given stack.
func (p *play) block(stack int, cycles int64) {
	cycles = atLeast(1, cycles)
	rate := int64(rtBlockRate)
	if !blockSampled(cycles, rate) {
		return
	}
	if cycles < rate {
		p.save(blockProfile, stack, float64(rate)/float64(cycles), rate)
	} else {
		p.save(blockProfile, stack, 1, cycles)
	}
}

// mutex does what mutexevent does, with a given stack.
func (p *play) mutex(stack int, cycles int64) {
	cycles = atLeast(0, cycles)
	rate := int64(rtMutexRate)
	if rate > 0 && int64(fastrand())%rate == 0 {
		p.save(mutexProfile, stack, 1, cycles)
	}
}

func (p *play) save(kind, stack int, count float64, cycles int64) {
	b := stkbucket(kind, 0, p.stacks[stack], true)
	at := headerWords + headerOf(b).depth
	rtLock(&rtBlockLock)
	*(*float64)(wordAt(b, at)) += count
	*(*int64)(wordAt(b, at+1)) += cycles
	rtUnlock(&rtBlockLock)
}

// ---------------------------------------------------------------- readings

// state prints the cycle, the flushed flag, and the published and pending
// events.
func (p *play) state() {
	var published, pending [2]uintptr
	for b := rtMbuckets; b != nil; b = headerOf(b).next {
		for i := range published {
			published[i] += cellOf(b, -1)[i]
			for future := 0; future < 3; future++ {
				pending[i] += cellOf(b, future)[i]
			}
		}
	}
	fmt.Fprintf(&p.answer, " cycle %d %d published %d %d pending %d %d\n",
		rtCycle>>1, rtCycle&1, published[0], published[1], pending[0],
		pending[1])
}

func (p *play) head(word string, n int, ok, touched bool) {
	verdict := "ok"
	if !ok {
		verdict = "short"
	}
	if touched {
		verdict = "touched"
	}
	fmt.Fprintf(&p.answer, "%s %d %s", word, n, verdict)
}

func (p *play) readHeap(room int, all bool) {
	for i := range p.heap[:room+1] {
		p.heap[i].AllocBytes = untouched
	}
	n, ok := runtime.MemProfile(p.heap[:room], all)
	written := 0
	if ok {
		written = n
	}
	touched := false
	for i := written; i <= room; i++ {
		touched = touched || p.heap[i].AllocBytes != untouched
	}
	p.head("heap", n, ok, touched)
	p.state()
	for i := range p.heap[:written] {
		r := &p.heap[i]
		fmt.Fprintf(&p.answer, " %d %d %d %d %d\n",
			p.which(memProfile, r.Stack()), r.AllocObjects, r.FreeObjects,
			uint64(r.AllocBytes), uint64(r.FreeBytes))
	}
}

func (p *play) readWaits(word string, kind, room int,
	read func([]runtime.BlockProfileRecord) (int, bool)) {
	for i := range p.waits[:room+1] {
		p.waits[i].Count = untouched
	}
	n, ok := read(p.waits[:room])
	written := 0
	if ok {
		written = n
	}
	touched := false
	for i := written; i <= room; i++ {
		touched = touched || p.waits[i].Count != untouched
	}
	p.head(word, n, ok, touched)
	p.answer.WriteByte('\n')
	for i := range p.waits[:written] {
		r := &p.waits[i]
		fmt.Fprintf(&p.answer, " %d %d %d\n", p.which(kind, r.Stack()),
			uint64(r.Count), uint64(r.Cycles))
	}
}

type visit struct {
	bucket              unsafe.Pointer
	size, allocs, frees uintptr
}

// iterate calls iterate_memprof. That fails on an empty stack; if the schedule
// has one, the list is walked here instead.
func (p *play) iterate() {
	var visits [roomMax]visit
	n := 0
	note := func(b unsafe.Pointer, depth uintptr, stk *uintptr,
		size, allocs, frees uintptr) {
		visits[n] = visit{b, size, allocs, frees}
		n++
	}
	if !p.own && p.first(nil) >= 0 {
		for b := rtMbuckets; b != nil; b = headerOf(b).next {
			note(b, 0, nil, headerOf(b).size, cellOf(b, -1)[0], cellOf(b, -1)[1])
		}
	} else {
		iterateMemprof(note)
	}
	p.head("iterate", n, true, false)
	p.state()
	for _, v := range visits[:n] {
		fmt.Fprintf(&p.answer, " %d %d %d %d\n",
			p.which(memProfile, stackOf(v.bucket)), v.size, v.allocs, v.frees)
	}
}

// gap prints how far it is to the next sampled allocation at a rate.
func (p *play) gap(rate int, state uint64) {
	m := acquirem()
	*p.random = state
	runtime.MemProfileRate = rate
	bytes := nextSample()
	runtime.MemProfileRate = 0
	releasem(m)
	fmt.Fprintf(&p.answer, "gap %d\n", bytes)
}
