// SPDX-License-Identifier: MIT OR Apache-2.0

//! The marked paths as a file: for `xargs -0`, or as a script to read and to run.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::system::whole_file::{Existing, WholeFile};

/// Writes paths to a new file, each from the root of the file system, so that the file can
/// be used in any directory. A name with the ending `.sh` makes a script, any other a list
/// where each path ends with NUL.
///
/// Returns an error if the file is there already, or cannot be written whole. Then there
/// is no new file: a path that is cut off would be another path.
pub(super) fn marks(paths: &[Vec<u8>], file: &Path) -> io::Result<()> {
    let is_script = file.extension().is_some_and(|extension| extension == "sh");
    let whole = |path: &Vec<u8>| {
        let path = std::path::absolute(Path::new(OsStr::from_bytes(path)))?;
        Ok(path.into_os_string().into_vec())
    };
    let paths: Vec<Vec<u8>> = paths.iter().map(whole).collect::<io::Result<_>>()?;
    let text = match is_script {
        true => script(&paths),
        false => paths
            .iter()
            .flat_map(|path| [&path[..], b"\0"].concat())
            .collect(),
    };
    let mut new = WholeFile::begin(file, Existing::Kept)?;
    new.write(&text)?;
    new.finish().map(drop)
}

/// A script of the POSIX shell, with the command of each path switched off.
fn script(paths: &[Vec<u8>]) -> Vec<u8> {
    let mut text = b"#!/bin/sh\n\
        # The marked paths. Nothing happens until you set COMMAND, for instance to\n\
        # rm -r --one-file-system --\n\
        set -eu\n\
        COMMAND=${COMMAND:-echo}\n"
        .to_vec();
    for path in paths {
        text.extend_from_slice(b"$COMMAND ");
        text.extend(quoted(path));
        text.push(b'\n');
    }
    text
}

/// A path as one word of the POSIX shell (XCU 2.2.2): a quote ends the quotes, stands
/// behind a backslash, and begins them again.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut word = b"'".to_vec();
    for &byte in path {
        match byte {
            b'\'' => word.extend_from_slice(br"'\''"),
            byte => word.push(byte),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_shell_reads_every_name_back() {
        let dir = statwalk_testkit::Scratch::new().unwrap();
        let names: [&[u8]; 7] = [
            b"plain",
            b"it's",
            b"a b\n$HOME `id`",
            b"-rf",
            b"\xff\xfe\\",
            b"''",
            b"*",
        ];
        let paths: Vec<Vec<u8>> = names.iter().map(|name| name.to_vec()).collect();
        let file = dir.path().join("marks.sh");
        marks(&paths, &file).unwrap();
        let output = Command::new("sh")
            .arg(&file)
            .env("COMMAND", r"printf %s\0")
            .output()
            .unwrap();
        let read: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
        let here = std::env::current_dir().unwrap();
        let here = here.as_os_str().as_bytes();
        let expected = names.map(|name| [here, b"/", name].concat());
        assert!(output.status.success());
        assert_eq!(read[..names.len()], expected.each_ref().map(Vec::as_slice));
        // Nothing is overwritten.
        let again = marks(&paths, &file).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        let list = dir.path().join("marks");
        marks(&paths, &list).unwrap();
        let list = std::fs::read(list).unwrap();
        assert_eq!(list, [expected.join(&0), vec![0]].concat());
    }
}
