// cases.go -- the records: random ones, on which nothing may differ, and one
// case for each row of the table of differences.
package main

import (
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"runtime/pprof"
	"sort"
)

type testCase struct {
	pprof.Fed
	name    string
	proto   string   // the row by which profile.proto must differ; "": none
	text    string   // the same for the text
	instead []string // for the text: what Go prints, what we print, ...
}

const randomOfEach = 150

func stack(random *rand.Rand, most int) []uintptr {
	var pcsOfIt []uintptr
	for n := 1 + random.Intn(most); n > 0; n-- {
		pcsOfIt = append(pcsOfIt, pcs[random.Intn(len(pcs))])
	}
	if random.Intn(3) == 0 {
		pcsOfIt = append([]uintptr{runtimePcs[random.Intn(len(runtimePcs))]}, pcsOfIt...)
	}
	if random.Intn(3) == 0 {
		pcsOfIt = append(pcsOfIt, goexit)
	}
	return pcsOfIt
}

func heapRecord(allocs, frees, size int64, pcs ...uintptr) runtime.MemProfileRecord {
	r := runtime.MemProfileRecord{AllocObjects: allocs, FreeObjects: frees,
		AllocBytes: allocs * size, FreeBytes: frees * size}
	copy(r.Stack0[:], pcs)
	return r
}

func wait(count, cycles int64, pcs ...uintptr) runtime.BlockProfileRecord {
	r := runtime.BlockProfileRecord{Count: count, Cycles: cycles}
	copy(r.Stack0[:], pcs)
	return r
}

func (c *testCase) add(labels map[string]string, pcs ...uintptr) *testCase {
	var r runtime.StackRecord
	copy(r.Stack0[:], pcs)
	c.Stacks = append(c.Stacks, r)
	c.Labels = append(c.Labels, labels)
	return c
}

// No two totals of bytes in use are equal: how equal ones are ordered is a row
// of its own.
func randomHeap(random *rand.Rand, rate int) *testCase {
	c := &testCase{Fed: pprof.Fed{Kind: []string{"heap", "allocs"}[random.Intn(2)], Rate: rate}}
	seen := map[int64]bool{}
	for n := 1 + random.Intn(12); n > 0; n-- {
		size := int64(8 + 8*random.Intn(64))
		r := heapRecord(2+random.Int63n(1000), 1, size, stack(random, 20)...)
		if !seen[r.InUseBytes()] {
			c.Heap = append(c.Heap, r)
		}
		seen[r.InUseBytes()] = true
	}
	return c
}

func randomWaits(random *rand.Rand, kind string) *testCase {
	c := &testCase{Fed: pprof.Fed{Kind: kind, PerSecond: 1e9, Fraction: 1 + random.Intn(20)}}
	seen := map[int64]bool{}
	for n := random.Intn(12); n > 0; n-- {
		cycles := random.Int63n(1 << uint(1+random.Intn(40)))
		if !seen[cycles] {
			c.Waits = append(c.Waits, wait(random.Int63n(1000), cycles, stack(random, 20)...))
		}
		seen[cycles] = true
	}
	return c
}

var words = []string{"a", "b", "key", "a\"b", "\\", "\n", "\x7f", "\xff", "\u00e4", "\u65e5", "", "}", ","}

// At most one label in profile.proto, as Go writes labels in random order.
func randomCounts(random *rand.Rand) *testCase {
	c := &testCase{Fed: pprof.Fed{Kind: "count", Title: []string{"goroutine", "custom"}[random.Intn(2)]}}
	var stacks [][]uintptr
	for i := 0; i < 4; i++ {
		stacks = append(stacks, stack(random, 4))
	}
	for n := random.Intn(30); n > 0; n-- {
		var labels map[string]string
		if random.Intn(2) == 0 {
			labels = map[string]string{words[random.Intn(len(words))]: words[random.Intn(len(words))]}
		}
		c.add(labels, stacks[random.Intn(len(stacks))]...)
	}
	return c
}

func randomCPU(random *rand.Rand) *testCase {
	c := &testCase{Fed: pprof.Fed{Kind: "cpu", Words: []uint64{3, 0, 100}}}
	for n := random.Intn(30); n > 0; n-- {
		if random.Intn(8) == 0 {
			c.Words = append(c.Words, 4, 0, 0, uint64(1+random.Intn(9)))
			continue
		}
		pcsOfIt := stack(random, 3)
		c.Words = append(c.Words, uint64(3+len(pcsOfIt)), 0, uint64(1+random.Intn(3)))
		for _, pc := range pcsOfIt {
			c.Words = append(c.Words, uint64(pc))
		}
	}
	return c
}

func one(name, proto, text string, fed pprof.Fed, instead ...string) *testCase {
	return &testCase{Fed: fed, name: name, proto: proto, text: text, instead: instead}
}

func counts(name, proto, text, title string, instead ...string) *testCase {
	return one(name, proto, text, pprof.Fed{Kind: "count", Title: title}, instead...)
}

func equals() (all []runtime.BlockProfileRecord) {
	for i := 0; i < 40; i++ {
		all = append(all, wait(int64(i), int64(i%3), pcs[i%len(pcs)]))
	}
	return all
}

// One case for each row, and similar cases that must be equal.
func chosen() []*testCase {
	in := []runtime.MemProfileRecord{heapRecord(5, 0, 16, pcs[0])}
	under := []runtime.MemProfileRecord{heapRecord(1, 3, 16, pcs[0])}
	hex := func(pc uintptr) string { return fmt.Sprintf("%#x", pc) }
	at := func(pc uintptr) string {
		f := frames(pc)[0]
		return fmt.Sprintf("#\t%#x\t%s+%#x\t%s:%d\n", f.PC, f.Function, f.PC-f.Entry, f.File, f.Line)
	}
	many := map[string]string{}
	for _, key := range words[:8] {
		many[key] = key
	}
	labelled := counts("labels", "label-order", "", "goroutine")
	for _, pc := range pcs {
		labelled.add(many, pc).add(map[string]string{"a": "a"}, pc).add(nil, pc)
	}
	return []*testCase{
		one("equal-totals", "", "equal-totals", pprof.Fed{Kind: "heap", Rate: 1, Heap: in},
			"heap profile: 5: 80 [5: 80] @", "heap profile: 5: 80 [5: 81] @"),
		one("negative-totals", "", "negative-totals", pprof.Fed{Kind: "heap", Rate: 1, Heap: under},
			"heap profile: -2: -32 [1: 16] @", "heap profile: 0: 0 [1: 16] @"),
		one("no-heap", "", "equal-totals", pprof.Fed{Kind: "heap", Rate: 512},
			"heap profile: 0: 0 [0: 0] @", "heap profile: 0: 0 [0: 1] @"),
		one("empty-stack", "empty-stack", "", pprof.Fed{Kind: "heap", Rate: 1,
			Heap: []runtime.MemProfileRecord{heapRecord(5, 1, 16)}}),
		one("empty-wait", "empty-stack", "", pprof.Fed{Kind: "block", PerSecond: 1e9,
			Waits: []runtime.BlockProfileRecord{wait(1, 5)}}),
		one("roots-only", "roots-only", "", pprof.Fed{Kind: "block", PerSecond: 1e9,
			Waits: []runtime.BlockProfileRecord{wait(1, 5, goexit)}}),
		counts("empty-count", "empty-stack", "empty-count", "goroutine",
			"1 @\n", "1 @ "+hex(lost)+"\n", "#\t0x0\n", at(lost)).add(nil),
		one("equal-ticks", "order-of-equals", "order-of-equals", pprof.Fed{Kind: "block",
			PerSecond: 1e9, Waits: equals()}),
		one("clock", "clock", "", pprof.Fed{Kind: "block", PerSecond: 2596000000,
			Waits: []runtime.BlockProfileRecord{wait(1, 1<<62+12345, pcs[0]), wait(1, 7788, pcs[1])}}),
		one("slow-clock", "clock", "", pprof.Fed{Kind: "block", PerSecond: 1,
			Waits: []runtime.BlockProfileRecord{wait(1, 1<<40, pcs[0])}}),
		one("mutex-off", "mutex-off", "mutex-off", pprof.Fed{Kind: "mutex", PerSecond: 1e9,
			Waits: []runtime.BlockProfileRecord{wait(3, 50, pcs[0])}},
			"sampling period=0\n", "sampling period=1\n"),
		one("wrapped", "", "", pprof.Fed{Kind: "mutex", PerSecond: 1e9, Fraction: 2,
			Waits: []runtime.BlockProfileRecord{wait(-1, -1<<50, pcs[0]), wait(2, 7, pcs[1]), wait(-3, 1<<50, pcs[2])}}),
		labelled,
		counts("label-sets", "label-order", "", "goroutine").add(map[string]string{"a": "v"}, pcs[0]).add(
			map[string]string{"a": "v", "b": "w"}, pcs[0]).add(nil, pcs[0]),
		counts("unassigned", "", "label-printable", "goroutine",
			`\u0378`, "\u0378").add(map[string]string{"\u0378": "v"}, pcs[0]),
		counts("blank", "", "name-blank", "open files", "open files profile", "open_files profile").add(nil, pcs[0]),
		counts("unnamed", "", "unnamed", "goroutine", "#\t0x0\n", "#\t0x12344\n").add(nil, 0x12345),
		counts("unnamed-leaf", "", "unnamed", "goroutine", at(pcs[0]), "#\t0x12344\n"+at(pcs[0])).add(nil, 0x12345, pcs[0]),
		counts("inlined", "inlined", "", "goroutine").add(nil, inlinedPcs[0], inlinedPcs[1], pcs[0]),
	}
}

func cases() []*testCase {
	var all []*testCase
	for seed := int64(1); seed <= randomOfEach; seed++ {
		random := rand.New(rand.NewSource(seed))
		for _, c := range []*testCase{randomHeap(random, 1), randomWaits(random, "block"),
			randomWaits(random, "mutex"), randomCounts(random), randomCPU(random)} {
			c.name = fmt.Sprintf("%s-%d", c.Kind, seed)
			all = append(all, c)
		}
		c := randomHeap(random, 4096)
		c.name, c.proto = fmt.Sprintf("sampled-%d", seed), "scaled"
		all = append(all, c)
	}
	return append(all, chosen()...)
}

func printStack(w io.Writer, pcs []uintptr) {
	fmt.Fprintf(w, " %d", len(pcs))
	for _, pc := range pcs {
		fmt.Fprintf(w, " %d", pc)
	}
	fmt.Fprintln(w)
}

func (c *testCase) print(w io.Writer) {
	title := c.Title
	if title == "" {
		title = "-"
	}
	fmt.Fprintf(w, "case %s %s %d %d %d %x\n", c.name, c.Kind, c.Rate, c.PerSecond, c.Fraction, title)
	for i := range c.Heap {
		r := &c.Heap[i]
		size := r.AllocBytes / r.AllocObjects
		fmt.Fprintf(w, "heap %d %d %d", r.AllocObjects, r.FreeObjects, size)
		printStack(w, r.Stack())
	}
	for i := range c.Waits {
		r := &c.Waits[i]
		fmt.Fprintf(w, "wait %d %d", r.Count, r.Cycles)
		printStack(w, r.Stack())
	}
	for i := range c.Stacks {
		var keys []string
		for key := range c.Labels[i] {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		fmt.Fprintf(w, "count %d", len(keys))
		for _, key := range keys {
			fmt.Fprintf(w, " .%x .%x", key, c.Labels[i][key])
		}
		printStack(w, c.Stacks[i].Stack())
	}
	fmt.Fprintf(w, "words %d", len(c.Words))
	for _, word := range c.Words {
		fmt.Fprintf(w, " %d", word)
	}
	fmt.Fprintf(w, "\nend\n")
}
