// As truth.c, for Go: byte slices of SIZE bytes. Writes what the runtime's own
// profile says, scaled as pprof does: a line a site.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
)

var (
	kept   [][]byte
	chance uint64
)

//go:noinline
func site_0(n int) []byte { return make([]byte, n) }

//go:noinline
func site_1(n int) []byte { return make([]byte, n) }

//go:noinline
func site_2(n int) []byte { return make([]byte, n) }

//go:noinline
func site_3(n int) []byte { return make([]byte, n) }

//go:noinline
func site_4(n int) []byte { return make([]byte, n) }

//go:noinline
func site_5(n int) []byte { return make([]byte, n) }

//go:noinline
func site_6(n int) []byte { return make([]byte, n) }

//go:noinline
func site_7(n int) []byte { return make([]byte, n) }

var sites = []func(int) []byte{site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7}

type part struct {
	bytes            int
	left, done, keep uint64
}

func nextNumber() uint64 {
	chance += 0x9e3779b97f4a7c15
	mixed := chance
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return mixed ^ mixed>>31
}

func allocateOne(parts []part) bool {
	var all uint64
	for i := range parts {
		all += parts[i].left
	}
	if all == 0 {
		return false
	}
	at := nextNumber() % all
	i := 0
	for at >= parts[i].left {
		at -= parts[i].left
		i++
	}
	allocateOf(parts, i)
	return true
}

func allocateOf(parts []part, i int) {
	p := &parts[i]
	p.left--
	block := sites[i](p.bytes)
	if p.done%p.keep == 0 {
		kept = append(kept, block)
	}
	p.done++
}

var last []byte

func warmUp() {
	for i := 0; i < 4096; i++ {
		last = make([]byte, 8192)
	}
}

// scaled is what pprof makes of a record.
func scaled(objects, bytes, rate int64) (float64, float64) {
	if objects == 0 || bytes == 0 {
		return 0, 0
	}
	size := float64(bytes) / float64(objects)
	scale := 1 / (1 - math.Exp(-size/float64(rate)))
	return float64(objects) * scale, float64(bytes) * scale
}

// report leaves out what the runtime itself allocates at a site, which it knows by the
// size: one sample of 96 bytes would count as 683 objects.
func report(parts []part) {
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 10000)
	n, _ := runtime.MemProfile(records, true)
	sums := make([][4]float64, len(parts))
	rate := int64(runtime.MemProfileRate)
	for _, record := range records[:n] {
		frames := runtime.CallersFrames(record.Stack())
		for {
			frame, more := frames.Next()
			if at := strings.Index(frame.Function, "site_"); at >= 0 {
				var site int
				fmt.Sscanf(frame.Function[at:], "site_%d", &site)
				if record.AllocBytes != record.AllocObjects*int64(parts[site].bytes) {
					break
				}
				objects, bytes := scaled(record.AllocObjects, record.AllocBytes, rate)
				liveObjects, liveBytes := scaled(record.InUseObjects(), record.InUseBytes(), rate)
				for i, value := range []float64{objects, bytes, liveObjects, liveBytes} {
					sums[site][i] += value
				}
				break
			}
			if !more {
				break
			}
		}
	}
	for i, sum := range sums {
		fmt.Println(i, sum[0], sum[1], sum[2], sum[3])
	}
}

func main() {
	fmt.Sscan(os.Getenv("AUDIT_RATE"), &runtime.MemProfileRate)
	fmt.Sscan(os.Args[2], &chance)
	parts := make([]part, len(os.Args)-3)
	for i := range parts {
		fmt.Sscanf(os.Args[i+3], "%d:%d:%d", &parts[i].bytes, &parts[i].left, &parts[i].keep)
	}
	if os.Args[1] != "cold" {
		warmUp()
	}
	if os.Args[1] == "siblings" {
		for i := range parts {
			done := make(chan bool)
			go func() {
				for parts[i].left > 0 {
					allocateOf(parts, i)
				}
				done <- true
			}()
			<-done
		}
	} else if os.Args[1] == "threads" {
		for more := true; more; {
			done := make(chan bool)
			go func() {
				ok := true
				for i := 0; i < 10 && ok; i++ {
					ok = allocateOne(parts)
				}
				done <- ok
			}()
			more = <-done
		}
	} else {
		for allocateOne(parts) {
		}
	}
	report(parts)
	runtime.KeepAlive(kept)
}
