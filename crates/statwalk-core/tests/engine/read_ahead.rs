// SPDX-License-Identifier: MIT OR Apache-2.0

//! A whole file system on a disk that turns is read in the order of the disk,
//! if it is not in memory: as its device counts requests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use statwalk_core::{Reason, Scan, Source, Totals};
use statwalk_testkit::{Scratch, Skipped, mounts, or_skip};

use super::devices::needs_device;

/// A block device's settings and counts, in sysfs.
struct Queue {
    device: PathBuf,
    folder: PathBuf,
    read_ahead_before: String,
}

impl Queue {
    /// With the read-ahead of a disk that nobody tuned.
    fn new(device: &Path) -> Result<Queue, Skipped> {
        let folder = Path::new("/sys/block").join(device.file_name().unwrap());
        let file = folder.join("queue/read_ahead_kb");
        let read_ahead_before = std::fs::read_to_string(&file).unwrap_or_default();
        std::fs::write(&file, "128").map_err(|_| Skipped::needs("sysfs that may be written"))?;
        Ok(Queue {
            device: device.to_owned(),
            folder,
            read_ahead_before,
        })
    }

    fn turns(&self, is_rotational: bool) {
        let file = self.folder.join("queue/rotational");
        std::fs::write(file, if is_rotational { "1" } else { "0" }).unwrap();
    }

    /// Forgets what is in memory of this device, and of no other.
    fn forget(&self) -> Result<(), Skipped> {
        let done = Command::new("blockdev")
            .arg("--flushbufs")
            .arg(&self.device)
            .status();
        match done {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Skipped::needs("blockdev")),
        }
    }

    /// How many requests for reading there were (Documentation/block/stat.rst).
    fn reads(&self) -> u64 {
        let text = std::fs::read_to_string(self.folder.join("stat")).unwrap();
        text.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let file = self.folder.join("queue/read_ahead_kb");
        let _ = std::fs::write(file, self.read_ahead_before.trim());
    }
}

#[test]
fn a_cold_disk_is_read_in_its_order() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let image = scratch.path().join("image");
    or_skip!(mounts::ext4_image(&image, 256 << 20, &[], None));
    let mount = || mounts::image(&image, "ext4", &at, mounts::Access::ReadWrite, "");
    let mounted = or_skip!(mount());
    or_skip!(needs_device(&mounted));
    for dir in 0..4_000 {
        let path = at.join(format!("{}/{}/{dir}", dir % 10, dir % 70));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("file"), b"content").unwrap();
    }
    // What the journal holds cannot be forgotten.
    mounted.unmount().unwrap();
    let mounted = or_skip!(mount());
    let queue = or_skip!(Queue::new(mounted.device().unwrap()));
    // A day later nothing has changed lately, and all comes from the device.
    let later = SystemTime::now() + Duration::from_secs(24 * 3600);
    let scan = |root: &Path| {
        let before = queue.reads();
        let scan = Scan::new(root).source(Source::Ext4);
        let scan = scan.threads(2).as_of(later);
        let outcome = scan.run(&Totals::new()).unwrap();
        let told = outcome.report.plan.why;
        let is_ahead = (told.iter()).any(|why| matches!(why, Reason::ReadAhead { .. }));
        (outcome.output, is_ahead, queue.reads() - before)
    };
    queue.turns(false);
    or_skip!(queue.forget());
    let (totals, is_ahead, reads_as_named) = scan(&at);
    assert!(!is_ahead, "a disk without heads has no order");
    queue.turns(true);
    or_skip!(queue.forget());
    let (in_order, is_ahead, reads_in_order) = scan(&at);
    assert!(is_ahead, "a disk that turns has");
    println!("{reads_as_named} requests in the order of names, {reads_in_order} in its own");
    assert!(reads_in_order * 2 < reads_as_named);
    assert_eq!(in_order, totals);
    let (in_memory, is_ahead, reads) = scan(&at);
    assert!(!is_ahead && reads < 16, "all of it was in memory: {reads}");
    assert_eq!(in_memory, totals);
    or_skip!(queue.forget());
    let (_, is_ahead, _) = scan(&at.join("3"));
    assert!(!is_ahead, "a part is not the whole");
}
