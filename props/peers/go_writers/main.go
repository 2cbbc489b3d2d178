// main.go -- gives the same records to Go's writers and to ours, and compares
// the files.
//
//	go_writers make DIR   DIR/cases for ours, DIR/NAME.go.pb and DIR/NAME.go.txt
//	go_writers compare DIR TABLE
//
// A case is equal to the byte, or differs as one row of TABLE says
// (docs/profiles.md), and in nothing else. Each row must be met.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_writers:", err)
		os.Exit(1)
	}
}

// The return addresses of which stacks are made, by the kind of their function.
var pcs, runtimePcs, inlinedPcs []uintptr
var lost, goexit uintptr

//go:noinline
func leaf() uintptr {
	var at [1]uintptr
	runtime.Callers(2, at[:])
	return at[0]
}

//go:noinline
func serve() uintptr { return leaf() }

//go:noinline
func handle() uintptr { return leaf() + 0 }

//go:noinline
func store() uintptr { p := leaf(); return p }

type T struct{}

//go:noinline
func (*T) Put() uintptr { return leaf() }

//go:noinline
func (T) Get(int) uintptr { return leaf() }

//go:noinline
func twoFrames() []uintptr {
	var at [2]uintptr
	runtime.Callers(2, at[:])
	return at[:]
}

// inner is inlined into outer: Go's stacks have an address for each of the two,
// profiles do not.
func inner() []uintptr { return twoFrames()[:] }

//go:noinline
func outer() []uintptr { return inner() }

func entry(function interface{}) uintptr { return reflect.ValueOf(function).Pointer() }

func frames(pc uintptr) []runtime.Frame {
	var all []runtime.Frame
	next := runtime.CallersFrames([]uintptr{pc})
	for {
		frame, more := next.Next()
		all = append(all, frame)
		if !more {
			return all
		}
	}
}

func collect() {
	lost = entry(pprof.FedLost()) + 1
	pcs = []uintptr{serve(), handle(), store(), (&T{}).Put(), T{}.Get(1)}
	for _, function := range []interface{}{strings.Index, os.Exit, fmt.Sprint, io.Copy, bytes.Count} {
		pcs = append(pcs, single(entry(function)))
	}
	for _, function := range []interface{}{runtime.GC, runtime.Gosched, runtime.NumCPU} {
		runtimePcs = append(runtimePcs, single(entry(function)))
	}
	inlinedPcs = outer()
	if frames(inlinedPcs[0])[0].Func != nil {
		must(fmt.Errorf("inner is not inlined"))
	}
	var all [64]uintptr
	for _, pc := range all[:runtime.Callers(0, all[:])] {
		if frames(pc)[0].Function == "runtime.goexit" {
			goexit = pc
		}
	}
}

// Return the first address of a function that has one frame.
func single(pc uintptr) uintptr {
	for pc += 2; len(frames(pc)) != 1; pc++ {
	}
	return pc
}

func unpack(packed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	must(err)
	plain, err := io.ReadAll(reader)
	must(err)
	return plain
}

var maxRSS = regexp.MustCompile(`(?m)^# MaxRSS = .*\n`)

func write(dir string, c *testCase) {
	var packed, text bytes.Buffer
	must(pprof.WriteFed(&packed, &c.Fed, 0))
	must(os.WriteFile(filepath.Join(dir, c.name+".go.pb"), unpack(packed.Bytes()), 0600))
	if c.Kind == "cpu" {
		return
	}
	must(pprof.WriteFed(&text, &c.Fed, 1))
	plain := maxRSS.ReplaceAll(text.Bytes(), nil) // differs for each process
	must(os.WriteFile(filepath.Join(dir, c.name+".go.txt"), plain, 0600))
}

func makeAll(dir string) {
	file, err := os.Create(filepath.Join(dir, "cases"))
	must(err)
	fmt.Fprintf(file, "lost %d\n", lost)
	all := append(append(append([]uintptr{lost, goexit}, pcs...), runtimePcs...), inlinedPcs...)
	for _, pc := range all {
		frame := frames(pc)[len(frames(pc))-1]
		fmt.Fprintf(file, "sym %d %d %d %s %s\n", pc, frame.Entry, frame.Line, frame.Function, frame.File)
	}
	for _, c := range cases() {
		c.print(file)
		write(dir, c)
	}
	must(file.Close())
}

func main() {
	collect()
	switch {
	case len(os.Args) == 3 && os.Args[1] == "make":
		makeAll(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "compare":
		compareAll(os.Args[2], os.Args[3])
	default:
		must(fmt.Errorf("usage: go_writers make DIR | compare DIR TABLE"))
	}
}
