// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of mounted file systems, and what can be read from it.
//!
//! Format: proc_pid_mountinfo(5). The walk itself does not need the table; it
//! tells which directories can be reached twice, and names what was left out.

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::makedev;

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    /// The mount that it is mounted on.
    pub(crate) parent: u64,
    /// `major:minor` of the file system, the same for all its mounts.
    pub(crate) device: String,
    /// The directory within the file system that is mounted.
    root: Vec<u8>,
    /// Where it is mounted.
    pub(crate) point: Vec<u8>,
    /// The type of the file system.
    pub(crate) file_system: String,
    /// The options of the mount and of the file system.
    options: Vec<String>,
    /// Whether the file system itself, and not only this mount of it, is read-only.
    is_read_only: bool,
}

impl Mount {
    /// Whether the mount or its file system has an option.
    pub(crate) fn has_option(&self, option: &str) -> bool {
        self.options.iter().any(|own| own == option)
    }

    /// Whether nobody can write to the file system, by any mount of it.
    pub(crate) fn is_read_only_file_system(&self) -> bool {
        self.is_read_only
    }

    /// Its `device` as `st_dev` has it.
    pub(crate) fn device_number(&self) -> Option<u64> {
        let (major, minor) = self.device.split_once(':')?;
        Some(makedev(major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Reads the table of the calling process.
pub(crate) fn read() -> io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

fn parse(table: &[u8]) -> Vec<Mount> {
    table
        .split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let mut words = line.split(|&byte| byte == b' ');
            let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
            let parent = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
            let device = String::from_utf8(words.next()?.to_vec()).ok()?;
            let root = unescape(words.next()?);
            let point = unescape(words.next()?);
            let mut options = split_options(words.next()?);
            // Optional fields end with a hyphen.
            let mut words = words.skip_while(|word| *word != b"-").skip(1);
            let file_system = String::from_utf8(words.next()?.to_vec()).ok()?;
            let _source = words.next()?;
            let of_file_system = words.next().map(split_options).unwrap_or_default();
            let is_read_only = of_file_system.iter().any(|option| option == "ro");
            options.extend(of_file_system);
            Some(Mount {
                id,
                parent,
                device,
                root,
                point,
                file_system,
                options,
                is_read_only,
            })
        })
        .collect()
}

fn split_options(word: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(word);
    text.split(',').map(str::to_owned).collect()
}

/// Undoes `\040` and its like, with which the kernel writes space, tab,
/// newline and backslash.
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

/// The mounts whose directories a scan of `roots` can reach by two ways.
///
/// That is so where two mounts of one file system lie in the scanned trees and
/// one shows a directory that the other shows too. Roots are absolute paths.
pub(crate) fn reached_twice<'m>(mounts: &'m [Mount], roots: &[Vec<u8>]) -> HashSet<&'m Mount> {
    // What each mount shows of its file system to the scan.
    let mut shown: Vec<(&Mount, Vec<u8>)> = Vec::new();
    for root in roots {
        // Later mounts cover earlier ones at the same place.
        let own = mounts
            .iter()
            .enumerate()
            .filter(|(_, mount)| is_within(root, &mount.point))
            .max_by_key(|(index, mount)| (mount.point.len(), *index));
        if let Some((_, own)) = own {
            let below = Path::new(std::ffi::OsStr::from_bytes(root))
                .strip_prefix(std::ffi::OsStr::from_bytes(&own.point))
                .unwrap_or(Path::new(""));
            let region = Path::new(std::ffi::OsStr::from_bytes(&own.root)).join(below);
            shown.push((own, region.as_os_str().as_bytes().to_vec()));
        }
        shown.extend(
            mounts
                .iter()
                .filter(|mount| mount.point != *root && is_within(&mount.point, root))
                .map(|mount| (mount, mount.root.clone())),
        );
    }
    let mut twice = HashSet::new();
    for (index, (a, region_a)) in shown.iter().enumerate() {
        for (b, region_b) in &shown[index + 1..] {
            let overlap = a.id != b.id
                && a.device == b.device
                && (is_within(region_a, region_b) || is_within(region_b, region_a));
            if overlap {
                twice.insert(*a);
                twice.insert(*b);
            }
        }
    }
    twice
}

/// Whether `path` is `directory` or lies below it.
pub(crate) fn is_within(path: &[u8], directory: &[u8]) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || directory.last() == Some(&b'/'),
        None => false,
    }
}

/// The name of a file system that lives in the kernel alone, by its magic number.
///
/// Numbers: include/uapi/linux/magic.h and the file systems' own sources, Linux 6.18.
pub(crate) fn kernel_file_system(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x9fa0 => "proc",
        0x6265_6572 => "sysfs",
        0x0027_e0eb => "cgroup",
        0x6367_7270 => "cgroup2",
        0x1cd1 => "devpts",
        0x6462_6720 => "debugfs",
        0x7472_6163 => "tracefs",
        0x7363_6673 => "securityfs",
        0xf97c_ff8c => "selinuxfs",
        0x4341_5d53 => "smackfs",
        0xcafe_4a11 => "bpf",
        0x6165_676c => "pstore",
        0xde5e_81e4 => "efivarfs",
        0x6265_6570 => "configfs",
        0x6573_5543 => "fusectl",
        0x4249_4e4d => "binfmt_misc",
        0x6c6f_6f70 => "binder",
        0x6759_6969 => "rpc_pipefs",
        0x6e66_7364 => "nfsd",
        0x0765_5821 => "resctrl",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(id: u64, device: &str, root: &str, point: &str) -> Mount {
        Mount {
            id,
            parent: 35,
            device: device.into(),
            root: root.into(),
            point: point.into(),
            file_system: "ext3".into(),
            options: vec!["rw".into(), "noatime".into(), "errors=remount-ro".into()],
            is_read_only: false,
        }
    }

    #[test]
    fn reads_a_line_with_escapes() {
        let table = b"36 35 98:0 /mnt1 /mnt\\0402\\134 rw,noatime master:1 - ext3 /dev/root errors=remount-ro\n";
        let read = parse(table);
        assert_eq!(read, [mount(36, "98:0", "/mnt1", "/mnt 2\\")]);
        assert!(read[0].has_option("noatime") && !read[0].has_option("lazytime"));
        assert_eq!(read[0].device_number(), Some(makedev(98, 0)));
        assert_eq!(parse(b"garbage\n\n12 x\n"), []);
    }

    #[test]
    fn finds_what_is_shown_twice() {
        let check = |mounts: &[Mount], root: &str, expected: &[u64]| {
            let roots = [root.into()];
            let mut found: Vec<u64> = (reached_twice(mounts, &roots).iter())
                .map(|mount| mount.id)
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{mounts:?} from {root}");
        };
        let plain = mount(1, "8:1", "/", "/");
        let bind = mount(2, "8:1", "/data/sub", "/data/again");
        let mounts = [plain, bind];
        check(&mounts, "/", &[1, 2]);
        check(&mounts, "/data", &[1, 2]);
        check(&mounts, "/data/again", &[]);
        check(&mounts, "/usr", &[]);
        // Two subvolumes of one btrfs, side by side, as distributions set them up.
        let subvolumes = [
            mount(1, "0:30", "/@", "/"),
            mount(2, "0:30", "/@home", "/home"),
        ];
        check(&subvolumes, "/", &[]);
    }

    #[test]
    fn within_ends_at_components() {
        assert!(is_within(b"/a/b", b"/a") && is_within(b"/a", b"/a") && is_within(b"/a", b"/"));
        assert!(!is_within(b"/ab", b"/a") && !is_within(b"/", b"/a"));
    }
}
