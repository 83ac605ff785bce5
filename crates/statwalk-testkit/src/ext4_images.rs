// SPDX-License-Identifier: MIT OR Apache-2.0

//! Images of ext2, ext3 and ext4: made with mke2fs, filled with whatever such a
//! file system can hold, and read by debugfs, which is another reader than the kernel.
//!
//! As [`mounts`](crate::mounts) says: an image with `inline_data` is made with a
//! copy of a tree ([`make`]) and never mounted for writing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};

use crate::mounts::{make_image, program, run};
use crate::skipped::Skipped;

/// Makes an image with arguments for mke2fs, and if `from` is given with a copy of that tree.
///
/// This needs no root.
///
/// # Errors
///
/// Skipped without mke2fs.
///
/// # Panics
///
/// If mke2fs fails.
pub fn make(
    file: &Path,
    bytes: u64,
    arguments: &[&str],
    from: Option<&Path>,
) -> Result<(), Skipped> {
    let mke2fs = program("mke2fs")?;
    make_image(file, bytes);
    let mut command = Command::new(mke2fs);
    command.args(["-q", "-F"]).args(arguments);
    if let Some(from) = from {
        command.arg("-d").arg(from);
    }
    run(command.arg(file));
    Ok(())
}

/// How much [`fill`] makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A few hundred entries of each kind, also those that only root can make.
    Everything,
    /// As that, without large entries: for file systems of a few MiB.
    Small,
}

/// Fills an empty directory, as root, with all that a file system of the family can hold.
///
/// Names that are no text, hard links, short and long symbolic links, pipes, sockets,
/// devices, sparse and shattered files. Attributes, large ids, times before 1970 and
/// after 2038, deleted entries, deep and wide directories.
///
/// # Errors
///
/// An entry cannot be made there.
pub fn fill(root: &Path, extent: Extent) -> io::Result<()> {
    names(&root.join("names"))?;
    links(&root.join("links"))?;
    special(&root.join("special"))?;
    owners_and_times(&root.join("owners and times"))?;
    deleted(&root.join("deleted"))?;
    attributes(&root.join("attributes"), extent)?;
    deep(&root.join("deep"), 40)?;
    if extent == Extent::Everything {
        files(&root.join("files"))?;
        wide(&root.join("wide"), 3000)?;
    }
    Ok(())
}

/// Makes a directory of empty files; from some hundred on it has an index.
///
/// # Errors
///
/// An entry cannot be made there.
pub fn wide(directory: &Path, files_count: u32) -> io::Result<()> {
    fs::create_dir(directory)?;
    let opened = File::open(directory)?;
    for number in 0..files_count {
        let name = format!("file number {number:06} of many");
        rustix::fs::mknodat(&opened, name, FileType::RegularFile, Mode::RUSR, 0)?;
    }
    Ok(())
}

fn names(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)?;
    let longest = [0xFF; 255];
    let names: [&[u8]; 9] = [
        b"a",
        b"\xC3\x28 is no text",
        b"a\nnew line",
        b" ",
        b"...",
        b"-rf",
        b"\x01\x1B[31m\x7F",
        "größe".as_bytes(),
        &longest,
    ];
    for name in names {
        let path = directory.join(OsStr::from_bytes(name));
        fs::write(&path, name)?;
        let mut in_directory = name.to_vec();
        in_directory.truncate(250);
        in_directory.extend(b" dir");
        fs::create_dir(directory.join(OsStr::from_bytes(&in_directory)))?;
    }
    Ok(())
}

fn links(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory.join("other"))?;
    fs::write(directory.join("one"), "three names")?;
    fs::hard_link(directory.join("one"), directory.join("two"))?;
    fs::hard_link(directory.join("one"), directory.join("other/three"))?;
    // The inode holds targets below 60 bytes.
    for length in [1, 59, 60, 61, 200, 1000] {
        let target = "t".repeat(length);
        std::os::unix::fs::symlink(target, directory.join(format!("to {length}")))?;
    }
    Ok(())
}

fn special(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)?;
    let opened = File::open(directory)?;
    let make = |name: &str, kind, major, minor| {
        let device = rustix::fs::makedev(major, minor);
        rustix::fs::mknodat(&opened, name, kind, Mode::from(0o640), device)
    };
    make("pipe", FileType::Fifo, 0, 0)?;
    make("socket", FileType::Socket, 0, 0)?;
    make("null", FileType::CharacterDevice, 1, 3)?;
    make("old most", FileType::BlockDevice, 255, 255)?;
    make("new least", FileType::BlockDevice, 256, 0)?;
    make("new minor", FileType::CharacterDevice, 8, 256)?;
    make("new most", FileType::BlockDevice, 4095, (1 << 20) - 1)?;
    make("zero", FileType::CharacterDevice, 0, 0)?;
    Ok(())
}

fn owners_and_times(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)?;
    let owners = [
        (0, 0),
        (65535, 65536),
        (65536, 65535),
        (4_000_000_000, 1_234_567),
    ];
    for (uid, gid) in owners {
        let path = directory.join(format!("of {uid} and {gid}"));
        File::create(&path)?;
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        rustix::fs::chown(&path, Some(uid), Some(gid))?;
    }
    for mode in [0, 0o777, 0o4755, 0o2755, 0o1777, 0o7777] {
        let path = directory.join(format!("mode {mode:o}"));
        fs::create_dir(&path)?;
        rustix::fs::chmod(&path, Mode::from(mode))?;
    }
    let seconds = [
        i64::from(i32::MIN),
        -1,
        0,
        1,
        i64::from(i32::MAX),
        1 << 31,
        (1 << 32) + 5,
        1 << 33,
        // 2262: nanoseconds end in 64 bits.
        9_223_372_036,
        // 2446: the last that an inode can hold.
        15_032_385_535,
    ];
    for tv_sec in seconds {
        let path = directory.join(format!("at {tv_sec}"));
        File::create(&path)?;
        let times = Timestamps {
            last_access: Timespec {
                tv_sec,
                tv_nsec: 999_999_999,
            },
            last_modification: Timespec {
                tv_sec: tv_sec - 1,
                tv_nsec: 1,
            },
        };
        rustix::fs::utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

fn deleted(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)?;
    for number in 0..120 {
        File::create(directory.join(format!("{number}")))?;
    }
    // The first of a block, neighbours, and single ones.
    for number in (0..120).filter(|number| number % 3 != 1) {
        fs::remove_file(directory.join(format!("{number}")))?;
    }
    fs::rename(directory.join("1"), directory.join("moved"))?;
    fs::create_dir(directory.join("emptied"))?;
    File::create(directory.join("emptied/only"))?;
    fs::remove_file(directory.join("emptied/only"))
}

fn attributes(directory: &Path, extent: Extent) -> io::Result<()> {
    fs::create_dir(directory)?;
    let large = match extent {
        Extent::Everything => 2500,
        Extent::Small => 600,
    };
    for (name, length) in [("in the inode", 20), ("outside", large)] {
        let path = directory.join(name);
        fs::create_dir(&path)?;
        File::create(path.join("file"))?;
        for path in [path.clone(), path.join("file")] {
            let value = vec![b'v'; length];
            match rustix::fs::setxattr(&path, "user.test", &value, XattrFlags::CREATE) {
                // A block of 1 KiB holds no more than that.
                Err(rustix::io::Errno::NOSPC) => {}
                outcome => outcome?,
            }
        }
    }
    Ok(())
}

fn files(directory: &Path) -> io::Result<()> {
    fs::create_dir(directory)?;
    for length in [1, 59, 60, 61, 150, 511, 512, 513, 4096, 4097, 100_000] {
        fs::write(directory.join(format!("of {length}")), vec![b'x'; length])?;
    }
    let sparse = File::create(directory.join("sparse"))?;
    sparse.write_at(b"end", (5 << 30) + 7)?;
    File::create(directory.join("only a length"))?.set_len(4 << 30)?;
    let shattered = File::create(directory.join("shattered"))?;
    for number in 0..1500 {
        shattered.write_at(b"part", number * 2 * 4096)?;
    }
    let allocated = File::create(directory.join("allocated"))?;
    match rustix::fs::fallocate(
        &allocated,
        rustix::fs::FallocateFlags::KEEP_SIZE,
        0,
        1 << 20,
    ) {
        // Block maps have nothing of the kind.
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        outcome => Ok(outcome?),
    }
}

fn deep(directory: &Path, depth: u32) -> io::Result<()> {
    let mut path = directory.to_owned();
    for level in 0..depth {
        path.push(format!("level {level}"));
    }
    fs::create_dir_all(&path)?;
    File::create(path.join("at the end")).map(|_| ())
}

/// The answer of debugfs about an inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugfsStat {
    /// The inode.
    pub inode: u32,
    /// `regular`, `directory`, `symlink`, `FIFO`, `socket`, `character special`, `block special`.
    pub kind: String,
    /// Permission bits.
    pub permissions: u16,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// The size, in bytes.
    pub size_bytes: u64,
    /// The number of names.
    pub links: u32,
    /// The blocks taken, in the inode's own unit.
    pub blocks_count: u64,
    /// Seconds of the last change of the content, the low 32 bits.
    pub mtime_low: u32,
    /// The field with nanoseconds and epoch, if there is one.
    pub mtime_extra: Option<u32>,
}

/// Runs commands of debugfs on an image, one a line; with `-w` if it is to be changed.
///
/// # Errors
///
/// Skipped without debugfs.
///
/// # Panics
///
/// If debugfs cannot open the image.
pub fn debugfs(
    image: &Path,
    access: crate::mounts::Access,
    commands: &str,
) -> Result<String, Skipped> {
    let mut command = Command::new(program("debugfs")?);
    if access == crate::mounts::Access::ReadWrite {
        command.arg("-w");
    }
    let script = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(script.path(), commands).expect("a temporary file");
    let output = command
        .arg("-f")
        .arg(script.path())
        .arg(image)
        .output()
        .expect("debugfs runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Asks debugfs for many inodes at once.
///
/// # Errors
///
/// Skipped without debugfs.
///
/// # Panics
///
/// If its answer is not understood.
pub fn debugfs_stats(image: &Path, inodes: &[u32]) -> Result<Vec<DebugfsStat>, Skipped> {
    let commands: String = inodes
        .iter()
        .map(|inode| format!("stat <{inode}>\n"))
        .collect();
    let output = debugfs(image, crate::mounts::Access::ReadOnly, &commands)?;
    let stats: Vec<_> = output.split("debugfs: stat ").skip(1).map(parse).collect();
    assert_eq!(stats.len(), inodes.len(), "{output}");
    Ok(stats)
}

fn parse(text: &str) -> DebugfsStat {
    let after = |label: &str| {
        let at = text
            .find(label)
            .unwrap_or_else(|| panic!("no {label} in {text}"));
        text[at + label.len()..].trim_start()
    };
    let word = |label: &str| {
        let rest = after(label);
        &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())]
    };
    let number = |label: &str| word(label).parse::<u64>().expect("a decimal number");
    let time = word("mtime:").trim_start_matches("0x");
    let (low, extra) = time
        .split_once(':')
        .map_or((time, None), |(l, e)| (l, Some(e)));
    let hex = |text: &str| u32::from_str_radix(text, 16).expect("a hexadecimal number");
    DebugfsStat {
        inode: number("Inode:") as u32,
        kind: after("Type:")
            .split("    ")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned(),
        permissions: u16::from_str_radix(word("Mode:"), 8).expect("an octal number"),
        uid: number("User:") as u32,
        gid: number("Group:") as u32,
        size_bytes: number("Size:"),
        links: number("Links:") as u32,
        blocks_count: number("Blockcount:"),
        mtime_low: hex(low),
        mtime_extra: extra.map(hex),
    }
}
