// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type model int

const (
	count model = iota
	size
	records
	directory
)

var models = map[string]model{
	"count": count, "size": size, "records": records, "directory": directory,
}

type record struct {
	name                string
	size                int64
	kind                fs.FileMode
	mtime, atime, ctime syscall.Timespec
}

// What a round has found. fastwalk calls from several threads at once: numbers
// are atomic, and the list has a lock.
type found struct {
	files, directories, bytes atomic.Int64
	failed                    atomic.Bool
	lock                      sync.Mutex
	records                   []record
}

// entry takes an entry; info is asked only where the model wants attributes.
func (f *found) entry(wanted model, kind fs.FileMode, info func() (fs.FileInfo, error)) {
	if kind.IsDir() {
		f.directories.Add(1)
	} else {
		f.files.Add(1)
	}
	if wanted == count || wanted == size && !kind.IsRegular() {
		return
	}
	attributes, err := info()
	if err != nil {
		f.fail(err)
		return
	}
	if kind.IsRegular() {
		f.bytes.Add(attributes.Size())
	}
	if wanted == records {
		stat := attributes.Sys().(*syscall.Stat_t)
		kept := record{attributes.Name(), attributes.Size(), kind, stat.Mtim, stat.Atim, stat.Ctim}
		f.lock.Lock()
		f.records = append(f.records, kept)
		f.lock.Unlock()
	}
}

func (f *found) fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	f.failed.Store(true)
}

func (f *found) print(wanted model, elapsed time.Duration) {
	fmt.Print(elapsed.Nanoseconds(), " ", f.files.Load(), " ", f.directories.Load(), " ", f.bytes.Load())
	if wanted == records {
		var mtime int64
		for i := range f.records {
			mtime += f.records[i].mtime.Sec
		}
		fmt.Print(" ", mtime)
	}
	fmt.Println()
}
