#!/bin/bash
# SPDX-License-Identifier: MIT
# A program of Go that calls C, and so is linked dynamically: its runtime handles signals itself, by system calls of its own, on
# stacks that are not the threads'. It says and does the same, and its stacks are whole, through goroutines and through C below them.
. "$(dirname "$0")/guest.inc"

command -v go >/dev/null || { echo "SKIPPED: go is not installed"; exit 0; }

cat >chain.go <<'G'
package main

// static unsigned long in_c(unsigned long x, long n) {
//   for (; n; n--) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
//   return x;
// }
import "C"
import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

//go:noinline
func leaf(x uint64, n int) uint64 {
	var kept [64]uint64 // so that it has a frame
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		kept[x&63] += x
	}
	return x + kept[3]
}

//go:noinline
func middle(x uint64, n int) uint64 { return leaf(x, n) + 1 }

//go:noinline
func callsC(x uint64, n int) uint64 { return uint64(C.in_c(C.ulong(x), C.long(n))) + 1 }

func main() {
	var all sync.WaitGroup
	var lock sync.Mutex
	sum, numbers := uint64(0), make(chan int)
	for g := 1; g <= 4; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for i := 0; i < 10; i++ {
				x := middle(uint64(g), 6000000) + callsC(uint64(g), 6000000)
				lock.Lock()
				sum += x
				lock.Unlock()
				numbers <- i
				time.Sleep(time.Millisecond)
			}
		}(g)
	}
	go func() { all.Wait(); close(numbers) }()
	received := 0
	for n := range numbers {
		received += n
	}
	said, err := exec.Command("echo", "child").Output()
	fmt.Println(received, sum, string(said), err)
	os.Exit(3)
}
G
HOME=$work GOCACHE=$work/cache GO111MODULE=off CGO_ENABLED=1 go build -o chain chain.go >built 2>&1 ||
  { echo "SKIPPED: go cannot build here: $(tail -n 1 built)"; exit 0; }

for options in "" "--interval 1ms" "--timer cpu"; do
  read -ra record_options <<<"$options"
  same go ./chain
  holds "samples with '$options'" "$(summary samples go) >= 40"
  holds "whole stacks with '$options': $(summary whole_stack_share go)" "$(summary whole_stack_share go) >= 0.95"
  # Who calls what has the time stands above it.
  for pair in main.leaf:main.middle in_c:main.callsC; do
    rows hotspots go "(own('${pair%:*}'), total('${pair#*:}'))" >times
    holds "${pair#*:} is above ${pair%:*}: $(cat times)" "(lambda below, above: 0 < 0.9 * below < above)$(cat times)"
  done
done
