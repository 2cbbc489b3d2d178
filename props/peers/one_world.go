// Reads what profsim run --out writes; see one_world.sh.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"reader/profile"
	"reader/trace"
)

func readTrace(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	result, err := trace.Nameless(bytes.NewReader(data))
	if err == nil {
		return fmt.Sprintf("ok %d events", len(result.Events))
	}
	if err == trace.ErrTimeOrder {
		return "time-order"
	}
	return "error: " + err.Error()
}

func read(path string) (*profile.Profile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err == nil {
		err = p.CheckValid()
	}
	return p, err
}

// Sum up a profile's values of one type. It returns false if there is no such
// type.
func sum(p *profile.Profile, name string) (int64, bool) {
	for i, t := range p.SampleType {
		if t.Type == name {
			var total int64
			for _, s := range p.Sample {
				total += s.Value[i]
			}
			return total, true
		}
	}
	return 0, false
}

// Do bytes exceed 2^63, as faults can make them? They are negative then, which
// the text cannot show.
func passes(p *profile.Profile) bool {
	for _, s := range p.Sample {
		for _, v := range s.Value {
			if v < 0 {
				return true
			}
		}
	}
	return false
}

// For each kind, the value that the text also has, unscaled.
var same = map[string][2]string{
	"goroutine":    {"goroutine", "goroutine"},
	"threadcreate": {"threadcreate", "threadcreate"},
	"profile":      {"samples", "cpu"},
	"block":        {"contentions", "contentions"},
	"mutex":        {"contentions", "contentions"},
}

func check(path string, read_ map[string]int) error {
	kind := strings.TrimSuffix(filepath.Base(path), ".pb.gz")
	packed, err := read(path)
	if err != nil {
		return err
	}
	read_[kind]++
	if passes(packed) {
		return nil
	}
	text := strings.TrimSuffix(path, ".pb.gz") + ".txt"
	plain, err := read(text)
	if err != nil {
		return fmt.Errorf("%s: %v", filepath.Base(text), err)
	}
	names, ok := same[kind]
	if !ok {
		return nil
	}
	a, inPacked := sum(packed, names[0])
	b, inPlain := sum(plain, names[1])
	if !inPacked || (!inPlain && a != 0) || a != b {
		return fmt.Errorf("%d %s, the text has %d", a, names[0], b)
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	counts := map[string]int{}
	bad := false
	for lines.Scan() {
		path := lines.Text()
		if os.Args[1] == "trace" {
			fmt.Printf("%s: %s\n", path, readTrace(path))
		} else if err := check(path, counts); err != nil {
			fmt.Printf("%s: %v\n", path, err)
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
	for _, kind := range []string{"heap", "allocs", "block", "mutex",
		"goroutine", "threadcreate", "profile"} {
		if os.Args[1] == "profile" && counts[kind] == 0 {
			fmt.Printf("no world has a %s profile\n", kind)
			os.Exit(1)
		}
	}
	if os.Args[1] == "profile" {
		fmt.Printf("profiles read: %v\n", counts)
	}
}
