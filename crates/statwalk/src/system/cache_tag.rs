// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file by which a directory says that it is a cache, `CACHEDIR.TAG`.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use statwalk_view::rebuildable::CACHE_TAG;

/// Whether a directory holds a regular file of this name with the signature.
///
/// It opens the file by its path, and waits for no FIFO. A path of more than 4,095 bytes
/// cannot be opened so, and the directory counts as no cache.
pub(crate) fn is_valid(dir: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(dir)).join("CACHEDIR.TAG");
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let Ok(mut file) = opened else {
        return false;
    };
    let is_regular = file.metadata().is_ok_and(|found| found.is_file());
    let mut start = [0; CACHE_TAG.len()];
    is_regular && file.read_exact(&mut start).is_ok() && start == *CACHE_TAG
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use statwalk_view::rebuildable::CACHE_TAG;

    use super::*;

    /// Whether a directory is a cache in which `make` has made the tag at a path.
    fn check(expected: bool, make: impl Fn(&Path)) {
        let dir = tempfile::tempdir().unwrap();
        make(&dir.path().join("CACHEDIR.TAG"));
        assert_eq!(is_valid(dir.path().as_os_str().as_bytes()), expected);
    }

    #[test]
    fn only_a_regular_file_with_the_signature_counts() {
        let good = [CACHE_TAG, &b"\n# a comment"[..]].concat();
        for (text, expected) in [
            (&good[..], true),
            (CACHE_TAG, true),
            (&CACHE_TAG[..42], false),
            (b"", false),
            (b" Signature: 8a477f597d28d172789f06886806bc55", false),
        ] {
            check(expected, |path| std::fs::write(path, text).unwrap());
        }
        check(false, |_| {});
        check(false, |path| std::fs::create_dir(path).unwrap());
        check(false, |path| {
            std::fs::write(path.with_extension("real"), CACHE_TAG).unwrap();
            symlink("CACHEDIR.real", path).unwrap();
        });
        check(false, |path| {
            let mode = rustix::fs::Mode::RUSR;
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
        });
    }
}
