// SPDX-License-Identifier: MIT OR Apache-2.0

//! The marked paths as a file: for `xargs -0`, or as a script to read and to run.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes paths to a new file. A name with the ending `.sh` makes a script, any other a
/// list where each path ends with NUL.
///
/// # Errors
///
/// Returns an error if the file is there already, or cannot be written.
pub(super) fn marks(paths: &[Vec<u8>], file: &Path) -> io::Result<()> {
    let is_script = file.extension().is_some_and(|extension| extension == "sh");
    let text = match is_script {
        true => script(paths),
        false => paths
            .iter()
            .flat_map(|path| [&path[..], b"\0"].concat())
            .collect(),
    };
    // Nothing is overwritten.
    let mut file = OpenOptions::new().write(true).create_new(true).open(file)?;
    file.write_all(&text)?;
    file.sync_all()
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
    // A word that begins with a dash would be a flag.
    match path.starts_with(b"-") {
        true => [b"./", &word[..]].concat(),
        false => word,
    }
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
        let expected = names.map(|name| match name.starts_with(b"-") {
            true => [b"./", name].concat(),
            false => name.to_vec(),
        });
        assert!(output.status.success());
        assert_eq!(read[..names.len()], expected.each_ref().map(Vec::as_slice));
        // Nothing is overwritten.
        let again = marks(&paths, &file).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        let list = dir.path().join("marks");
        marks(&paths, &list).unwrap();
        let list = std::fs::read(list).unwrap();
        assert_eq!(list, [paths.join(&0), vec![0]].concat());
    }
}
