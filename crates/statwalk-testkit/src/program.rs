// SPDX-License-Identifier: MIT OR Apache-2.0

//! Starts programs in surroundings that are the same on every machine.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The traversal orders of statwalk, by their names on the command line.
///
/// A test of the program compares them with the engine's list.
pub const ORDERS: [&str; 7] = [
    "recursive",
    "stack",
    "stack-reserved",
    "queue",
    "futures",
    "inode",
    "parallel",
];

/// A program, in known surroundings.
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    in_known_surroundings(&mut command);
    command
}

/// Gives a command an environment of language, time zone and path alone, and an
/// empty stdin.
pub fn in_known_surroundings(command: &mut Command) {
    command.env_clear().env("LANG", "C.UTF-8").env("TZ", "UTC");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::null());
}

/// Starts a program, even one whose file was written a moment ago.
///
/// Another test may have started a process meanwhile. Until that process calls
/// `execve`, it has the file open for writing as well, and the kernel answers ETXTBSY.
///
/// # Panics
///
/// Where the program cannot be started for another reason.
pub fn spawn(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            child => return child.expect("the program starts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_environment_is_known() {
        let mut command = command("env");
        command.env("EXTRA", "1").stdout(Stdio::piped());
        let mut child = spawn(&mut command);
        let mut text = String::new();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        let mut names: Vec<_> = (text.lines())
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["EXTRA", "LANG", "PATH", "TZ"]);
    }
}
