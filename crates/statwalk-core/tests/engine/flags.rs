// SPDX-License-Identifier: MIT OR Apache-2.0

//! Flags of inodes, as chattr(1) sets them, by the kernel and read in place.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, IFlags, StatxFlags};
use statwalk_core::{Fields, Next, Scan, Source};
use statwalk_testkit::mounts::{FileSystem, Mounted};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use super::devices::needs_device;

/// The bits of statx(2) for compressed, immutable, append-only, nodump, encrypted and verity.
const ALL: u32 = 0x4 | 0x10 | 0x20 | 0x40 | 0x800 | 0x10_0000;
const DAX: u32 = 0x20_0000;

/// Files and directories with flags, each named by them.
fn filled(file_system: FileSystem, at: &Path) -> Result<Mounted, Skipped> {
    let mounted = file_system.mount(at)?;
    for (name, flags) in [
        ("none", IFlags::empty()),
        ("compressed", IFlags::COMPRESSED),
        ("nodump", IFlags::NODUMP),
        ("immutable", IFlags::IMMUTABLE),
        ("append", IFlags::APPEND | IFlags::NODUMP),
    ] {
        let dir = at.join(name);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("file"), "x").unwrap();
        for path in [dir.join("file"), dir] {
            let file = File::open(path).unwrap();
            // XFS and ext4 compress nothing.
            let own = rustix::fs::ioctl_getflags(&file).unwrap();
            let is_set = rustix::fs::ioctl_setflags(&file, own | flags).is_ok();
            assert!(is_set || name == "compressed", "{name}");
        }
    }
    mounted.settle().unwrap();
    Ok(mounted)
}

/// The flags of each entry and those that are known, by its path.
fn found(root: &Path, source: Source, fields: Fields) -> BTreeMap<Vec<u8>, Option<(u32, u32)>> {
    let mut entries = Scan::new(root)
        .fields(fields)
        .source(source)
        .entries()
        .unwrap();
    let mut all = BTreeMap::new();
    loop {
        match entries.next_within(std::time::Duration::from_secs(60)) {
            Next::Value(entry) => {
                let of = entry.attributes();
                all.insert(entry.path(), of.flags().zip(of.flags_mask()));
            }
            Next::End => return all,
            other => panic!("{other:?}"),
        }
    }
}

/// Asserts that a scan has the flags that statx(2) has.
fn check(file_system: FileSystem, in_place: Source, tells: u32) -> Result<(), Skipped> {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = filled(file_system, &at)?;
    let by_kernel = found(&at, Source::Posix, Fields::FLAGS);
    assert_eq!(
        by_kernel.len(),
        if at.join("lost+found").exists() {
            12
        } else {
            11
        }
    );
    for (path, flags) in &by_kernel {
        let path = super::harness::text(path);
        let stat = rustix::fs::statx(CWD, &path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        let expected = stat.unwrap().stx_attributes.bits() as u32 & (ALL | DAX);
        let (flags, mask) = flags.unwrap();
        assert_eq!((flags, mask & ALL & tells), (expected, tells), "{path}");
    }
    let of = |name: &str| by_kernel[at.join(name).as_os_str().as_encoded_bytes()];
    assert_eq!(of("none/file").map(|of| of.0), Some(0));
    assert_eq!(of("immutable/file").map(|of| of.0), Some(0x10));
    assert_eq!(of("append").map(|of| of.0), Some(0x20 | 0x40));
    // Without a wish they are absent, and not zero.
    let unasked = found(&at, Source::Posix, Fields::SIZE);
    assert!(unasked.values().all(Option::is_none));
    if in_place != Source::Posix {
        needs_device(&mounted)?;
        let others = found(&at, in_place, Fields::FLAGS);
        assert_eq!(others.len(), by_kernel.len());
        for (path, flags) in others {
            let (flags, mask) = flags.unwrap();
            let (expected, _) = by_kernel[&path].unwrap();
            assert_eq!((flags, mask & tells), (expected & !DAX, tells));
        }
    }
    // Else nobody can remove them.
    for path in by_kernel.keys().map(|path| super::harness::text(path)) {
        if let Ok(file) = File::open(path) {
            let own = rustix::fs::ioctl_getflags(&file).unwrap();
            let held = IFlags::IMMUTABLE | IFlags::APPEND;
            let _ = rustix::fs::ioctl_setflags(&file, own - held);
        }
    }
    Ok(())
}

#[test]
fn flags_are_those_of_statx() {
    // ext4's own bits, those of XFS, and those of btrfs.
    or_skip!(check(FileSystem::Ext4, Source::Ext4, ALL));
    or_skip!(check(FileSystem::Xfs, Source::Posix, 0x70));
    or_skip!(check(FileSystem::Btrfs, Source::Btrfs, 0x74));
}
