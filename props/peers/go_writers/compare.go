// compare.go -- compares the two files of one case: equal to the byte, or
// different by one row of the table and by nothing else.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// A sample whose references are resolved.
type sample struct {
	values []int64
	stack  []string // address and lines of each location
	labels []string
}

type mapping struct {
	of           string
	hasFunctions uint64
}

type profile struct {
	header   []string // everything but samples, locations, mappings and strings
	mappings []mapping
	samples  []sample
}

type message struct {
	field  uint64
	number uint64
	bytes  []byte
}

func parse(data []byte) (all []message) {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		data = data[n:]
		value, n := binary.Uvarint(data)
		data = data[n:]
		m := message{field: tag >> 3, number: value}
		if tag&7 == 2 {
			m.bytes, data = data[:value], data[value:]
		}
		all = append(all, m)
	}
	return all
}

func numbers(m message) (all []uint64) {
	if m.bytes == nil {
		return []uint64{m.number}
	}
	for data := m.bytes; len(data) > 0; {
		value, n := binary.Uvarint(data)
		all, data = append(all, value), data[n:]
	}
	return all
}

// The number in a field of a message, 0 if the field is missing.
func field(data []byte, number uint64) uint64 {
	for _, m := range parse(data) {
		if m.field == number {
			return m.number
		}
	}
	return 0
}

func read(data []byte) (p profile) {
	var texts []string
	functions, places := map[uint64]string{}, map[uint64]string{}
	all := parse(data)
	for _, m := range all {
		if m.field == 6 {
			texts = append(texts, string(m.bytes))
		}
	}
	for _, m := range all {
		if m.field == 5 {
			functions[field(m.bytes, 1)] = texts[field(m.bytes, 2)] + " " + texts[field(m.bytes, 4)]
		}
	}
	for _, m := range all {
		if m.field == 4 {
			place := fmt.Sprintf("%#x", field(m.bytes, 3))
			for _, line := range parse(m.bytes) {
				if line.field == 4 {
					place += fmt.Sprintf(" [%s:%d]", functions[field(line.bytes, 1)], field(line.bytes, 2))
				}
			}
			places[field(m.bytes, 1)] = place
		}
	}
	for _, m := range all {
		switch m.field {
		case 2:
			p.samples = append(p.samples, readSample(m.bytes, texts, places))
		case 3:
			p.mappings = append(p.mappings, mapping{fmt.Sprintf("%#x %#x %#x %s %s", field(m.bytes, 2),
				field(m.bytes, 3), field(m.bytes, 4), texts[field(m.bytes, 5)],
				texts[field(m.bytes, 6)]), field(m.bytes, 7)})
		case 1, 11:
			p.header = append(p.header, fmt.Sprintf("%d %s %s", m.field, texts[field(m.bytes, 1)], texts[field(m.bytes, 2)]))
		case 4, 5, 6:
		default:
			p.header = append(p.header, fmt.Sprintf("%d %d", m.field, m.number))
		}
	}
	return p
}

func readSample(data []byte, texts []string, places map[uint64]string) (s sample) {
	for _, m := range parse(data) {
		switch m.field {
		case 1:
			for _, id := range numbers(m) {
				s.stack = append(s.stack, places[id])
			}
		case 2:
			for _, value := range numbers(m) {
				s.values = append(s.values, int64(value))
			}
		case 3:
			s.labels = append(s.labels, fmt.Sprintf("%q %q %d", texts[field(m.bytes, 1)],
				texts[field(m.bytes, 2)], field(m.bytes, 3)))
		}
	}
	return s
}

func near(a, b int64, share float64) bool {
	difference := float64(a) - float64(b)
	if difference < 0 {
		difference = -difference
	}
	return difference <= 1+share*float64(b)
}

var linesOf = regexp.MustCompile(`\[[^\]]*\]`)

// For each row, a function that removes the difference it allows; the rest must
// be equal.
var rows = map[string]func(theirs, ours *profile){
	"scaled": func(theirs, ours *profile) {
		for i := range ours.samples {
			for j, value := range ours.samples[i].values {
				if near(theirs.samples[i].values[j], value, 1e-15) {
					theirs.samples[i].values[j] = value
				}
			}
		}
	},
	"clock": func(theirs, ours *profile) {
		for i := range ours.samples {
			if near(theirs.samples[i].values[1], ours.samples[i].values[1], 1e-15) || ours.samples[i].values[1] == 1<<63-1 {
				theirs.samples[i].values[1] = ours.samples[i].values[1]
			}
		}
	},
	"empty-stack": lostInstead, "roots-only": lostInstead,
	"order-of-equals": func(theirs, ours *profile) { order(theirs); order(ours) },
	"mutex-off": func(theirs, ours *profile) {
		for i := range theirs.samples { // Go multiplies by 0
			if theirs.samples[i].values[0] == 0 && theirs.samples[i].values[1] == 0 {
				theirs.samples[i].values = ours.samples[i].values
			}
		}
	},
	"label-order": func(theirs, ours *profile) {
		for _, p := range []*profile{theirs, ours} {
			for i := range p.samples {
				sort.Strings(p.samples[i].labels)
			}
		}
	},
	// Go has one location with several lines, we have several with one line each.
	"inlined": func(theirs, ours *profile) {
		for _, p := range []*profile{theirs, ours} {
			for i := range p.samples {
				all := linesOf.FindAllString(strings.Join(p.samples[i].stack, " "), -1)
				p.samples[i].stack = all
			}
		}
	},
}

func lostInstead(theirs, ours *profile) {
	f := frames(lost)[0]
	place := fmt.Sprintf("%#x [%s %s:%d]", lost-1, f.Function, f.File, f.Line)
	for i := range theirs.samples {
		if len(theirs.samples[i].stack) == 0 {
			theirs.samples[i].stack = []string{place}
			theirs.mappings[0].hasFunctions = 1 // only this mapping
		}
	}
}

func order(p *profile) {
	sort.Slice(p.samples, func(i, j int) bool { return fmt.Sprint(p.samples[i]) < fmt.Sprint(p.samples[j]) })
}

func sorted(text []byte) []byte {
	header, records, _ := strings.Cut(string(text), "cycles/second=1000000000\n")
	parts := strings.Split(records, "\n\n")
	sort.Strings(parts)
	return []byte(header + strings.Join(parts, "\n\n"))
}

// returns: how the two differ, "" if they agree
func differ(c *testCase, form, row string, theirs, ours []byte) string {
	if row == "" || bytes.Equal(theirs, ours) {
		switch {
		case !bytes.Equal(theirs, ours):
			return "they differ, and no row says so"
		case row != "" && row != "scaled" && row != "label-order": // by chance
			return "they are equal, which row " + row + " denies"
		}
		return ""
	}
	if form == "txt" {
		for i := 0; i < len(c.instead); i += 2 {
			theirs = bytes.Replace(theirs, []byte(c.instead[i]), []byte(c.instead[i+1]), 1)
		}
		if row == "order-of-equals" {
			theirs, ours = sorted(theirs), sorted(ours)
		}
		if !bytes.Equal(squeeze(theirs), squeeze(ours)) {
			return fmt.Sprintf("they differ in more than row %s:\n Go:   %s\n ours: %s", row, theirs, ours)
		}
		return ""
	}
	a, b := read(theirs), read(ours)
	if len(a.samples) == len(b.samples) {
		rows[row](&a, &b)
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Sprintf("they differ in more than row %s:\n Go:   %v\n ours: %v", row, a, b)
	}
	return ""
}

// Columns move if another line has another width, so runs of tabs are one.
func squeeze(text []byte) []byte { return regexp.MustCompile(`\t+`).ReplaceAll(text, []byte("\t")) }

func table(path string) map[string]bool {
	text, err := os.ReadFile(path)
	must(err)
	_, after, found := strings.Cut(string(text), "\n## What differs from Go's writers\n")
	if !found {
		must(fmt.Errorf("%s has no section on what differs from Go's writers", path))
	}
	after, _, _ = strings.Cut(after, "\n## ")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(after, -1) {
		ids[m[1]] = false
	}
	return ids
}

func compareAll(dir, path string) {
	met := table(path)
	equal, different, bad := 0, 0, 0
	for _, c := range cases() {
		for form, row := range map[string]string{"pb": c.proto, "txt": c.text} {
			if form == "txt" && c.Kind == "cpu" {
				continue
			}
			theirs, err := os.ReadFile(filepath.Join(dir, c.name+".go."+form))
			must(err)
			ours, err := os.ReadFile(filepath.Join(dir, c.name+".our."+form))
			must(err)
			why := differ(c, form, row, theirs, ours)
			if _, known := met[row]; row != "" && !known && why == "" {
				why = "the table has no row " + row
			}
			if why != "" {
				bad++
				fmt.Printf("%s.%s: %s\n", c.name, form, why)
				continue
			}
			if bytes.Equal(theirs, ours) {
				equal++
			} else {
				different++
				met[row] = true
			}
		}
	}
	for row, seen := range met {
		if !seen {
			bad++
			fmt.Printf("%s: row %s is met by no case\n", path, row)
		}
	}
	fmt.Printf("go_writers: %d files equal to the byte, %d differ as the table says, %d wrong\n", equal, different, bad)
	if bad > 0 || equal < 1000 {
		os.Exit(1)
	}
}
