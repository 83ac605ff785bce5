// SPDX-License-Identifier: MIT OR Apache-2.0

// The sums of a tree, and its largest file: largest PATH. By purego, without cgo.
package main

import (
	"fmt"
	"log"
	"os"
	"unsafe"

	"github.com/ebitengine/purego"
)

const (
	ok, entryError  = 0, 2
	columnSize      = 1 << 2
	file, directory = 0, 1
)

// The beginning of sw_entry: new members come at its end.
type entry struct {
	path               *byte
	pathLen            uintptr
	name               *byte
	nameLen            uintptr
	known, depth, root uint32
	kind, state        uint8
	isFollowed         bool
	size               uint64
}

func main() {
	library, err := purego.Dlopen("libstatwalk.so.0", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		log.Fatal(err)
	}
	var failure func(number unsafe.Pointer) string
	var scanNew func(root string) uintptr
	var setColumns func(scan uintptr, columns uint32) int32
	var walkOpen func(scan uintptr, walk *uintptr) int32
	var walkNext func(walk uintptr, next **entry) int32
	var walkClose func(walk uintptr, report unsafe.Pointer) int32
	for name, call := range map[string]any{
		"sw_failure": &failure, "sw_scan_new": &scanNew, "sw_scan_set_columns": &setColumns,
		"sw_walk_open": &walkOpen, "sw_walk_next": &walkNext, "sw_walk_close": &walkClose,
	} {
		purego.RegisterLibFunc(call, library, name)
	}
	scan := scanNew(os.Args[1])
	var walk uintptr
	if scan == 0 || setColumns(scan, columnSize) != ok || walkOpen(scan, &walk) != ok {
		log.Fatal(failure(nil))
	}
	var files, directories, bytes, largest uint64
	var path string
	var next *entry
	for got := walkNext(walk, &next); got > 0; got = walkNext(walk, &next) {
		switch {
		case got == entryError: // sw_walk_close says that something is missing.
		case next.depth == 0:
		case next.kind == directory:
			directories++
		case next.kind != file:
			files++
		default:
			files++
			bytes += next.size
			if next.size >= largest {
				// The entry is there until the next call: a copy stays.
				largest, path = next.size, string(unsafe.Slice(next.path, next.pathLen))
			}
		}
	}
	fmt.Printf("%d %d %d\n%d %s\n", files, directories, bytes, largest, path)
	if walkClose(walk, nil) != ok {
		os.Exit(1)
	}
}
