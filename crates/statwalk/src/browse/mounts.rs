// SPDX-License-Identifier: MIT OR Apache-2.0

//! The mounted file systems, from which the user selects one.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use statwalk_browse::{Event, Mount, MountSpace, MountWish, Mounts, Options};
use statwalk_sys::mount_table;

use super::screen::{Input, Screen};
use crate::failure::Failure;
use crate::system::signals;
use crate::system::stdio::reason;

/// How long the first screen waits for slow file systems.
const FIRST_WAIT: Duration = Duration::from_millis(60);
const PERIOD: Duration = Duration::from_millis(100);

/// Lets the user select a file system. Answers with its mount point; absent where the
/// user quits.
pub(super) fn select(
    screen: &mut dyn Screen,
    options: &Options,
) -> Result<Option<Vec<u8>>, Failure> {
    let table = mount_table::read().map_err(|error| {
        let reason = reason(&error);
        Failure::Usage(format!("cannot read the mount table: {reason}"))
    })?;
    let mut rows = rows(table);
    let (sender, answers) = mpsc::channel();
    for (place, row) in rows.iter().enumerate() {
        let (sender, point) = (sender.clone(), row.point.clone());
        // A file system that gives no answer holds up nobody but its thread.
        let _ = thread::Builder::new().spawn(move || {
            let _ = sender.send((place, space(&point)));
        });
    }
    drop(sender);
    let deadline = Instant::now() + FIRST_WAIT;
    let take = |rows: &mut Vec<Mount>, wait: Duration| {
        let answer = answers.recv_timeout(wait);
        answer
            .map(|(place, space)| rows[place].space = space)
            .is_ok()
    };
    while take(
        &mut rows,
        deadline.saturating_duration_since(Instant::now()),
    ) {}
    let mut list = Mounts::new(options.clone(), shown(&rows));
    loop {
        screen.draw(&mut |buffer| Some(list.draw(buffer)))?;
        let input = screen.input(PERIOD)?;
        if signals::caught().is_some() {
            return Ok(None);
        }
        if screen.was_continued() {
            screen.resume();
        }
        let mut has_more = false;
        while take(&mut rows, Duration::ZERO) {
            has_more = true;
        }
        if has_more {
            list.replace(shown(&rows));
        }
        let event = match input {
            Some(Input::Key(key)) => Event::Key(key),
            Some(Input::Mouse(mouse)) => Event::Mouse(mouse),
            _ => continue,
        };
        match list.update(&event) {
            None => {}
            Some(MountWish::Browse(point)) => return Ok(Some(point)),
            Some(MountWish::Suspend) => screen.suspend(),
            Some(MountWish::Quit) => return Ok(None),
        }
    }
}

/// The mounts that can be seen, each file system once: at its first mount.
fn rows(table: Vec<mount_table::Mount>) -> Vec<Mount> {
    let mut rows: Vec<(String, Mount)> = Vec::new();
    for mount in table {
        // A later mount at the same place covers an earlier one.
        rows.retain(|(_, row)| row.point != mount.point);
        let row = Mount {
            point: mount.point,
            file_system: mount.file_system,
            space: None,
        };
        rows.push((mount.device, row));
    }
    let mut devices = HashSet::new();
    let rows = rows
        .into_iter()
        .filter(|(device, _)| devices.insert(device.clone()));
    rows.map(|(_, row)| row).collect()
}

/// File systems without any space, such as proc, are left out; those without an answer
/// are not. The fullest in bytes comes first.
fn shown(rows: &[Mount]) -> Vec<Mount> {
    let has_space = |row: &&Mount| row.space.is_none_or(|space| space.total_bytes > 0);
    let mut rows: Vec<Mount> = rows.iter().filter(has_space).cloned().collect();
    rows.sort_by_key(|row| Reverse(row.space.map(|space| space.used_bytes)));
    rows
}

fn space(point: &[u8]) -> Option<MountSpace> {
    let counts = match rustix::fs::statvfs(Path::new(OsStr::from_bytes(point))) {
        Ok(counts) => counts,
        // It answered, and there is nothing to see.
        Err(_) => {
            return Some(MountSpace {
                total_bytes: 0,
                used_bytes: 0,
                free_bytes: 0,
                inodes: None,
            });
        }
    };
    let bytes = |blocks: u64| blocks.saturating_mul(counts.f_frsize);
    Some(MountSpace {
        total_bytes: bytes(counts.f_blocks),
        used_bytes: bytes(counts.f_blocks.saturating_sub(counts.f_bfree)),
        free_bytes: bytes(counts.f_bavail),
        inodes: (counts.f_files > 0).then(|| {
            (
                counts.f_files.saturating_sub(counts.f_ffree),
                counts.f_files,
            )
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_system_is_one_row() {
        let mount = |point: &[u8], device: &str| mount_table::Mount {
            id: 1,
            parent: 0,
            device: device.to_owned(),
            root: b"/".to_vec(),
            point: point.to_vec(),
            file_system: "ext4".to_owned(),
            source: Vec::new(),
            options: Vec::new(),
            file_system_options: Vec::new(),
        };
        let table = vec![
            mount(b"/", "8:1"),
            mount(b"/mnt", "8:2"),
            mount(b"/home", "8:3"),
            mount(b"/srv", "8:1"),
            mount(b"/mnt", "8:4"),
        ];
        let rows = rows(table);
        let points: Vec<&[u8]> = rows.iter().map(|row| &row.point[..]).collect();
        assert_eq!(points, [&b"/"[..], b"/home", b"/mnt"]);
    }
}
