// SPDX-License-Identifier: MIT OR Apache-2.0

//! Terminals without a person (pty(7)).

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Opens a terminal of this size: the side of the person, and the side of programs.
///
/// # Errors
///
/// The system has no terminal to give.
pub fn terminal(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    resize(&master, columns, rows)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(&name, flags, Mode::empty())?;
    Ok((master, terminal))
}

/// Gives a terminal another size, of which its programs learn by SIGWINCH.
///
/// # Errors
///
/// The descriptor is no terminal.
pub fn resize(terminal: &OwnedFd, columns: u16, rows: u16) -> io::Result<()> {
    let size = Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size)
}
