# SPDX-License-Identifier: MIT OR Apache-2.0
#
# std/os of Nim: walkDir with types, getFileInfo where sizes are wanted.
#
#   walk MODEL ROUNDS PATH

import std/[monotimes, os, strutils, times]

type Found = object
  files, directories, bytes: int64

var failed = false

proc walk(found: var Found, directory: string, model: string) =
  var paths: seq[string]
  try:
    for kind, path in walkDir(directory, checkDir = true):
      if kind == pcDir:
        found.directories.inc
        if model != "directory": paths.add path
      else:
        found.files.inc
        # The library's kinds have no devices or sockets: they are files to it.
        if kind == pcFile and model != "count":
          let info = getFileInfo(path, followSymlink = false)
          found.bytes += info.size
  except OSError as error:
    stderr.writeLine directory & ": " & error.msg.replace("\n", " ")
    failed = true
  for path in paths: walk(found, path, model)

let arguments = commandLineParams()
if arguments.len != 3 or arguments[0] notin ["count", "size", "directory"]:
  quit "usage: walk count|size|directory ROUNDS PATH", 2
for _ in 1 .. parseInt(arguments[1]):
  var found: Found
  let start = getMonoTime()
  walk(found, arguments[2], arguments[0])
  let elapsed = (getMonoTime() - start).inNanoseconds
  echo elapsed, " ", found.files, " ", found.directories, " ", found.bytes
quit int(failed)
