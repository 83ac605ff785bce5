// SPDX-License-Identifier: MIT OR Apache-2.0

// Walks a tree in one of several ways: walk WAY MODEL ROUNDS PATH.
// walk -version says what it was built of.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

var ways = map[string]func(model, string, *found){
	"walk":     walk,
	"walkdir":  walkDir,
	"fastwalk": fastWalk,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-version" {
		printVersion()
		return
	}
	if len(os.Args) != 5 {
		fatal("wanted: WAY MODEL ROUNDS PATH")
	}
	way, known := ways[os.Args[1]]
	if !known {
		fatal("no such way: " + os.Args[1])
	}
	wanted, known := models[os.Args[2]]
	if !known {
		fatal("no such model: " + os.Args[2])
	}
	rounds, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fatal(err.Error())
	}
	failed := false
	for range rounds {
		all := new(found)
		start := time.Now()
		way(wanted, os.Args[4], all)
		elapsed := time.Since(start)
		all.print(wanted, elapsed)
		failed = failed || all.failed.Load()
	}
	if failed {
		os.Exit(1)
	}
}

func printVersion() {
	fmt.Print(runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			fmt.Print(", ", module.Path, " ", module.Version)
		}
	}
	fmt.Println()
}

func fatal(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
