// SPDX-License-Identifier: MIT OR Apache-2.0

// The sums of a tree, and its largest file: largest PATH. By purego, without cgo.
package main

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/ebitengine/purego"
)

const ok, value, sizeColumn, file, dir = 0, 1, 1 << 2, 0, 1

// The beginning of sw_entry: new members come at its end.
type entry struct {
	path                    *byte
	pathLen, name, nameLen  uintptr
	known, depth, root      uint32
	kind, state, isFollowed uint8
	size                    uint64
}

func load[F any](library uintptr, name string) (call F) {
	purego.RegisterLibFunc(&call, library, name)
	return call
}

func main() {
	library, err := purego.Dlopen("libstatwalk.so.0", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		panic(err)
	}
	failure := load[func(number unsafe.Pointer) string](library, "sw_failure")
	scanNew := load[func(root string) uintptr](library, "sw_scan_new")
	setColumns := load[func(scan uintptr, columns uint32) int32](library, "sw_scan_set_columns")
	walkOpen := load[func(scan uintptr, walk *uintptr) int32](library, "sw_walk_open")
	walkNext := load[func(walk uintptr, next **entry) int32](library, "sw_walk_next")
	walkClose := load[func(walk uintptr, report unsafe.Pointer) int32](library, "sw_walk_close")
	scan, walk := scanNew(os.Args[1]), uintptr(0)
	if scan == 0 || setColumns(scan, sizeColumn) != ok || walkOpen(scan, &walk) != ok {
		panic(failure(nil))
	}
	var next *entry               // It is there until the next call: of its path a copy stays.
	var counts, bytes [256]uint64 // By the kind of an entry.
	all, largest, path := uint64(0), uint64(0), ""
	for got := walkNext(walk, &next); got > 0; got = walkNext(walk, &next) {
		if got == value && next.depth > 0 { // sw_walk_close says of errors.
			all++
			counts[next.kind]++
			bytes[next.kind] += next.size
			if next.kind == file && next.size >= largest {
				largest, path = next.size, string(unsafe.Slice(next.path, next.pathLen))
			}
		}
	}
	fmt.Printf("%d %d %d\n%d %s\n", all-counts[dir], counts[dir], bytes[file], largest, path)
	os.Exit(int(walkClose(walk, nil)))
}
