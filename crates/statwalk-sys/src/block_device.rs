// SPDX-License-Identifier: MIT OR Apache-2.0

//! Block devices, as sysfs shows them.
//!
//! Source: Documentation/ABI/stable/sysfs-block of Linux 6.18.

use std::path::Path;

use rustix::fs::{major, minor};

/// Whether a device turns and has heads to move, by its `st_rdev`; absent where the
/// kernel has no queue for it.
#[must_use]
pub fn is_rotational(device: u64) -> Option<bool> {
    let number = format!("{}:{}", major(device), minor(device));
    of(&Path::new("/sys/dev/block").join(number))
}

/// A partition has no queue of its own; its disk has.
fn of(folder: &Path) -> Option<bool> {
    let queues = ["queue", "../queue"].into_iter();
    let mut answers = queues.filter_map(|queue| {
        let file = folder.join(queue).join("rotational");
        std::fs::read_to_string(file).ok()
    });
    answers.next().map(|answer| answer.trim() == "1")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_partition_is_as_its_disk() {
        let home = tempfile::tempdir().unwrap();
        let disk = home.path().join("sda");
        let partition = disk.join("sda1");
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir(&partition).unwrap();
        for (answer, expected) in [("1\n", true), ("0\n", false)] {
            fs::write(disk.join("queue/rotational"), answer).unwrap();
            assert_eq!(of(&disk), Some(expected));
            assert_eq!(of(&partition), Some(expected));
        }
        assert_eq!(of(home.path()), None);
    }
}
