// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"io/fs"
	"path/filepath"

	"github.com/charlievieth/fastwalk"
)

// filepath.Walk: sorts the names of a directory and stats each, whatever is wanted.
func walk(wanted model, root string, all *found) {
	filepath.Walk(root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			all.fail(err)
		}
		// A directory that cannot be listed comes once, with the error.
		if path == root || info == nil {
			return nil
		}
		all.entry(wanted, info.Mode().Type(), func() (fs.FileInfo, error) { return info, nil })
		return nil
	})
}

// filepath.WalkDir: sorts the names of a directory, stats on request.
func walkDir(wanted model, root string, all *found) {
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			// A directory that cannot be listed comes a second time, with the error.
			all.fail(err)
			return nil
		}
		if path == root {
			return nil
		}
		all.entry(wanted, entry.Type(), entry.Info)
		return below(wanted, entry.IsDir())
	})
}

// fastwalk: several directories at once, not sorted.
func fastWalk(wanted model, root string, all *found) {
	err := fastwalk.Walk(nil, root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			all.fail(err)
			return nil
		}
		if entry.(fastwalk.DirEntry).Depth() == 0 {
			return nil
		}
		all.entry(wanted, entry.Type(), entry.Info)
		return below(wanted, entry.IsDir())
	})
	if err != nil {
		all.fail(err)
	}
}

func below(wanted model, isDir bool) error {
	if wanted == directory && isDir {
		return fs.SkipDir
	}
	return nil
}
