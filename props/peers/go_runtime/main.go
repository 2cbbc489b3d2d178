// The Go 1.19 runtime as an oracle: plays schedules of profiler calls, as
// props/peers/go_schedules.c writes them, and answers in the same format.
//
//	schedules --> play --> the runtime's own functions --> answers
//
// Two ways to play (-stacks):
//
//	given  The frames of the schedule are the frames: buckets are looked up by
//	       runtime.stkbucket, so empty and colliding stacks are met. Counting
//	       in a bucket that was found is done here, as mProf_Malloc and
//	       saveblockevent do it, because those capture their stack.
//	own    Each stack of the schedule stands for a stack of this program: one
//	       more call deep for each. Then everything is the runtime's:
//	       mProf_Malloc and the free of the note that it left at an object,
//	       blockevent, mutexevent.
//
// Random numbers: an event carries the state from which the runtime's
// generator goes on, so the decisions are compared, too, and whether a number
// was taken.
//
// The program's own allocations are not profiled, nothing is collected, and one
// goroutine does everything: only the schedules move the profiles.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

func init() { runtime.MemProfileRate = 0 }

func main() {
	stacks := flag.String("stacks", "given", "given or own")
	flag.Parse()
	if *stacks != "given" && *stacks != "own" || flag.NArg() != 0 {
		fmt.Fprintln(os.Stderr, "usage: go_runtime [-stacks given|own] <schedules")
		os.Exit(1)
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	rtTicks.val = 1000000000 // a tick is a nanosecond, as in the schedules
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	p := newPlay(*stacks == "own")
	lines := bufio.NewReaderSize(
		io.MultiReader(strings.NewReader(prelude), os.Stdin), 1<<16)
	for number := 1 - strings.Count(prelude, "\n"); ; number++ {
		line, err := lines.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			break
		}
		if !p.line(bytes.Fields(line)) {
			fmt.Fprintf(os.Stderr, "go_runtime: line %d: %s", number, line)
			os.Exit(1)
		}
		if p.answer.Len() > 1<<15 {
			out.Write(p.answer.Bytes())
			p.answer.Reset()
		}
	}
	out.Write(p.answer.Bytes())
	out.Flush()
}
