// SPDX-License-Identifier: MIT OR Apache-2.0

//! Other programs that the user starts from here.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use statwalk_view::{Charset, escape};

use crate::system::stdio::reason;

/// Runs the user's shell in a directory until the user leaves it, as ncdu does. Without a
/// directory it begins where the program does.
pub(crate) fn shell(directory: Option<&[u8]>) -> Result<(), String> {
    let set = env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let shell = set.unwrap_or_else(|| OsString::from("/bin/sh"));
    let mut command = Command::new(&shell);
    if let Some(directory) = directory {
        command.current_dir(Path::new(OsStr::from_bytes(directory)));
    }
    match command.status() {
        Ok(_) => Ok(()),
        Err(error) => {
            let shell = escape(shell.as_bytes(), Charset::Unicode);
            Err(format!("cannot start {shell} there: {}", reason(&error)))
        }
    }
}

/// Opens an item with the program of the desktop.
pub(crate) fn open(path: &[u8]) -> Result<(), String> {
    // A path that begins with a dash is no flag.
    let path = Path::new(".").join(Path::new(OsStr::from_bytes(path)));
    let mut command = Command::new("xdg-open");
    command.arg(path).stdin(Stdio::null());
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // It ends when the other program has started, and nobody else waits for it.
            let wait = std::thread::Builder::new().spawn(move || child.wait());
            drop(wait);
            Ok(())
        }
        Err(error) => Err(format!("cannot start xdg-open: {}", reason(&error))),
    }
}
