// pprof_tabs lays out profile texts again, by Go's own tabwriter: the runs of
// tabs of each line are made single, and what comes out must be the file.
//
// usage: go run pprof_tabs.go FILE...
package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"text/tabwriter"
)

func main() {
	runs := regexp.MustCompile("\t+")
	for _, name := range os.Args[1:] {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var out bytes.Buffer
		w := tabwriter.NewWriter(&out, 1, 8, 1, '\t', 0)
		w.Write(runs.ReplaceAll(text, []byte("\t")))
		w.Flush()
		if !bytes.Equal(out.Bytes(), text) {
			fmt.Fprintf(os.Stderr, "%s: columns differ\n", name)
			os.Exit(1)
		}
	}
}
