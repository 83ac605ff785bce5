// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of mounted file systems that the calling process sees.
//!
//! Format: proc_pid_mountinfo(5).

use std::fs::File;
use std::io::{self, Read, Seek};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::makedev;

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mount {
    /// The number of the mount.
    pub id: u64,
    /// The mount that it is mounted on.
    pub parent: u64,
    /// `major:minor` of the file system, the same for all its mounts.
    pub device: String,
    /// The directory within the file system that is mounted.
    pub root: Vec<u8>,
    /// Where it is mounted.
    pub point: Vec<u8>,
    /// The type of the file system.
    pub file_system: String,
    /// The device, or the name that the type of file system shows in its place.
    pub source: Vec<u8>,
    /// The options of this mount, separated by commas.
    pub options: Vec<u8>,
    /// The options of the file system, the same for all its mounts, with the escapes of the
    /// kernel: a path in a value can hold commas. See [`values_of`](Mount::values_of).
    pub file_system_options: Vec<u8>,
}

impl Mount {
    /// Whether the mount or its file system has an option.
    #[must_use]
    pub fn has_option(&self, option: &str) -> bool {
        has(&self.options, option) || has(&self.file_system_options, option)
    }

    /// The values of an option of the file system, in the order of the table.
    pub fn values_of<'a>(&'a self, option: &'a str) -> impl Iterator<Item = Vec<u8>> + 'a {
        let options = self.file_system_options.split(|&byte| byte == b',');
        options.filter_map(move |own| {
            let value = own.strip_prefix(option.as_bytes())?.strip_prefix(b"=")?;
            Some(unescape(value))
        })
    }

    /// The path within the file system of what the mount shows at a path; absent for a path
    /// elsewhere.
    #[must_use]
    pub fn shows_at(&self, path: &[u8]) -> Option<Vec<u8>> {
        if !is_within(path, &self.point) {
            return None;
        }
        let below = &path[self.point.len()..];
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let root = self.root.strip_suffix(b"/").unwrap_or(&self.root);
        // `/` alone keeps its slash, and nothing else has one at its end.
        Some(match (root, below) {
            ([], _) => [b"/", below].concat(),
            (root, []) => root.to_vec(),
            (root, below) => [root, b"/", below].concat(),
        })
    }

    /// The paths of the layers of an overlay, the uppermost first. Absent if one is relative,
    /// to a directory that nobody knows any more, or is written in a way that has two meanings.
    ///
    /// Options: `ovl_show_options` and `ovl_parse_layer`, fs/overlayfs/params.c of Linux 6.18.
    #[must_use]
    pub fn overlay_layers(&self) -> Option<Vec<Vec<u8>>> {
        let mut paths: Vec<Vec<u8>> = self.values_of("upperdir").collect();
        paths.extend(self.values_of("lowerdir+"));
        paths.extend(self.values_of("datadir+"));
        // Some kernels undo escapes in these, and some do not.
        if paths.iter().any(|path| path.contains(&b'\\')) {
            return None;
        }
        for list in self.values_of("lowerdir") {
            paths.extend(lower_layers(&list)?);
        }
        let is_whole = !paths.is_empty() && paths.iter().all(|path| path.first() == Some(&b'/'));
        is_whole.then_some(paths)
    }

    /// Whether no mount of the file system allows writing.
    #[must_use]
    pub fn is_read_only_file_system(&self) -> bool {
        has(&self.file_system_options, "ro")
    }

    /// Its `device` as `st_dev` has it.
    #[must_use]
    pub fn device_number(&self) -> Option<u64> {
        let (major, minor) = self.device.split_once(':')?;
        Some(makedev(major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Splits a list of lower layers. A backslash takes its meaning from the next byte, and two
/// colons come before a layer that holds data alone.
fn lower_layers(list: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut paths = vec![Vec::new()];
    let mut bytes = list.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => paths.last_mut()?.push(bytes.next()?),
            b':' => paths.push(Vec::new()),
            byte => paths.last_mut()?.push(byte),
        }
    }
    paths.retain(|path| !path.is_empty());
    Some(paths)
}

fn has(options: &[u8], option: &str) -> bool {
    let mut options = options.split(|&byte| byte == b',');
    options.any(|own| unescape(own) == option.as_bytes())
}

/// Reads the table. Later mounts cover earlier ones at the same place.
///
/// # Errors
///
/// Where `/proc` is not mounted or cannot be read.
pub fn read() -> io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

/// The open table, which says when it changes.
#[derive(Debug)]
pub struct Watch {
    file: File,
}

impl Watch {
    /// Opens the table.
    ///
    /// # Errors
    ///
    /// Where `/proc` is not mounted or cannot be read.
    pub fn open() -> io::Result<Watch> {
        let file = File::open("/proc/self/mountinfo")?;
        Ok(Watch { file })
    }

    /// Reads the table.
    ///
    /// # Errors
    ///
    /// Of the kernel.
    pub fn read(&mut self) -> io::Result<Vec<Mount>> {
        let mut table = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut table)?;
        Ok(parse(&table))
    }

    /// Whether the table has changed since it was opened, or since this was last true:
    /// proc_pid_mounts(5). The next call does not repeat it, so the caller must read the table.
    ///
    /// # Errors
    ///
    /// Of the kernel.
    pub fn has_changed(&self) -> io::Result<bool> {
        let mut files = [PollFd::new(&self.file, PollFlags::PRI)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut files, Some(&at_once))?;
        let told = files[0].revents();
        Ok(told.intersects(PollFlags::PRI | PollFlags::ERR))
    }
}

/// The mounts of a table. Lines of another format are left out.
#[must_use]
pub fn parse(table: &[u8]) -> Vec<Mount> {
    let lines = table.split(|&byte| byte == b'\n');
    lines.filter_map(line).collect()
}

/// Whether `path` is `directory` or lies below it.
#[must_use]
pub fn is_within(path: &[u8], directory: &[u8]) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || directory.last() == Some(&b'/'),
        None => false,
    }
}

fn line(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|&byte| byte == b' ');
    let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let parent = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let device = String::from_utf8(words.next()?.to_vec()).ok()?;
    let root = unescape(words.next()?);
    let point = unescape(words.next()?);
    let options = unescape(words.next()?);
    // Optional fields end with a hyphen.
    let mut words = words.skip_while(|word| *word != b"-").skip(1);
    Some(Mount {
        id,
        parent,
        device,
        root,
        point,
        file_system: String::from_utf8(words.next()?.to_vec()).ok()?,
        source: unescape(words.next()?),
        options,
        file_system_options: words.next().unwrap_or_default().to_vec(),
    })
}

/// Undoes `\040` and its like, with which the kernel writes space, tab, newline and
/// backslash.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .filter(|digits| first == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        match octal {
            Some(digits) => {
                let value = digits.iter().fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
                out.push(value as u8);
                rest = &tail[3..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_escapes_is_read() {
        let table = b"36 35 98:0 /mnt1 /mnt\\0402\\134 rw,noatime master:1 - ext3 /dev/r\\040t errors=remount-ro\n";
        let read = parse(table);
        let expected = Mount {
            id: 36,
            parent: 35,
            device: "98:0".into(),
            root: b"/mnt1".into(),
            point: b"/mnt 2\\".into(),
            file_system: "ext3".into(),
            source: b"/dev/r t".into(),
            options: b"rw,noatime".into(),
            file_system_options: b"errors=remount-ro".into(),
        };
        assert_eq!(read, [expected]);
        assert!(read[0].has_option("noatime") && !read[0].has_option("lazytime"));
        assert!(read[0].has_option("errors=remount-ro") && !read[0].has_option("errors"));
        assert_eq!(read[0].device_number(), Some(makedev(98, 0)));
        assert!(!read[0].is_read_only_file_system());
    }

    #[test]
    fn a_read_only_mount_is_no_read_only_file_system() {
        let of = |own: &str, super_block: &str| {
            let table = format!("1 0 8:1 / / {own} - ext4 /dev/sda1 {super_block}\n");
            parse(table.as_bytes())[0].is_read_only_file_system()
        };
        assert!(!of("ro", "rw") && of("ro", "ro"));
    }

    #[test]
    fn a_value_holds_the_separators_of_options() {
        let table = b"1 0 0:9 / /m rw - overlay o rw,lowerdir=/a\\054b\\040c:/d,upperdir=/e\\075\n";
        let mount = &parse(table)[0];
        let values = |option| mount.values_of(option).collect::<Vec<_>>();
        assert_eq!(values("lowerdir"), [b"/a,b c:/d".to_vec()]);
        assert_eq!(values("upperdir"), [b"/e=".to_vec()]);
        assert!(values("lower").is_empty() && values("b c").is_empty());
    }

    #[test]
    fn other_lines_are_left_out() {
        assert_eq!(parse(b"garbage\n\n12 x\n1 0 8:1 / / rw - ext4\n"), []);
    }

    #[test]
    fn a_watch_reads_the_table_again() {
        let mut watch = Watch::open().unwrap();
        for _ in 0..2 {
            let found = watch.read().unwrap();
            assert!(found.iter().any(|mount| mount.point == b"/"));
        }
    }

    #[test]
    fn the_own_table_has_the_root() {
        assert!(read().unwrap().iter().any(|mount| mount.point == b"/"));
    }

    #[test]
    fn within_ends_at_components() {
        assert!(is_within(b"/a/b", b"/a") && is_within(b"/a", b"/a") && is_within(b"/a", b"/"));
        assert!(!is_within(b"/ab", b"/a") && !is_within(b"/", b"/a"));
    }

    fn overlay(options: &str) -> Mount {
        Mount {
            file_system: "overlay".into(),
            file_system_options: options.into(),
            ..Mount::default()
        }
    }

    #[test]
    fn a_path_is_found_in_its_file_system() {
        let check = |root: &str, point: &str, path: &str, expected: Option<&str>| {
            let mount = Mount {
                root: root.into(),
                point: point.into(),
                ..Mount::default()
            };
            let found = mount.shows_at(path.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{path}");
        };
        check("/", "/", "/", Some("/"));
        check("/", "/", "/a/b", Some("/a/b"));
        check("/", "/m", "/m", Some("/"));
        check("/", "/m", "/m/a", Some("/a"));
        check("/@", "/", "/a", Some("/@/a"));
        check("/@", "/m", "/m", Some("/@"));
        check("/@/b", "/m", "/m/a", Some("/@/b/a"));
        check("/", "/m", "/ma", None);
    }

    #[test]
    fn layers_are_read_from_the_options() {
        let check = |options: &str, expected: Option<&[&str]>| {
            let expected = expected.map(|paths| {
                let paths = paths.iter().map(|path| path.as_bytes().to_vec());
                paths.collect::<Vec<_>>()
            });
            assert_eq!(overlay(options).overlay_layers(), expected, "{options}");
        };
        check(
            "rw,lowerdir=/a:/b,upperdir=/u,workdir=/w,xino=off",
            Some(&["/u", "/a", "/b"]),
        );
        check("ro,lowerdir=/a:/b", Some(&["/a", "/b"]));
        check("ro,lowerdir=/a:/b::/d::/e", Some(&["/a", "/b", "/d", "/e"]));
        check(
            "rw,lowerdir+=/a:x,lowerdir+=/b,datadir+=/d,upperdir=/u",
            Some(&["/u", "/a:x", "/b", "/d"]),
        );
        check(
            r"ro,lowerdir=/a\134:x\054y:/b\134\134c",
            Some(&["/a:x,y", r"/b\c"]),
        );
        check("rw,lowerdir=l/A:l/B,upperdir=/u", None);
        check("rw,lowerdir=/a:b,upperdir=/u", None);
        check("rw,lowerdir=/a,upperdir=u", None);
        check(r"rw,lowerdir=/a,upperdir=/u\134:x", None);
        check(r"ro,lowerdir=/a\134", None);
        check("rw", None);
    }
}
