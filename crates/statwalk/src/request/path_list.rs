// SPDX-License-Identifier: MIT OR Apache-2.0

//! The list of paths that `--files0-from` names.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::failure::Failure;
use crate::request::safe;
use crate::system::stdio::reason;

/// Paths from a file, each ended by NUL, as `find -print0` writes them.
pub(crate) struct PathList {
    /// The file, for messages.
    pub(crate) name: String,
    /// Empty names too: the place of a name in the file is its place here.
    pub(crate) paths: Vec<OsString>,
}

/// The bytes that a name in a list can have: more than the kernel takes (PATH_MAX).
const NAME_BYTES_MAX: usize = 1 << 16;
/// The empty names that a list can have. Each is an error that the answer lists.
const EMPTY_MAX: usize = 10_000;
/// The bytes of all names. They stay in memory, several times each.
const LIST_BYTES_MAX: usize = 1 << 28;

impl PathList {
    /// Reads the list; `-` is standard input.
    ///
    /// Returns an error if the file cannot be read, or is no list: an endless file would
    /// take all memory.
    pub(crate) fn read(file: &Path) -> Result<PathList, Failure> {
        let name = safe(&file.to_string_lossy());
        let list = match file.as_os_str() == "-" {
            true => stdin(),
            false => File::open(file),
        };
        let paths = list.and_then(|list| paths_in(BufReader::new(list)));
        let paths = paths
            .map_err(|error| Failure::Usage(format!("cannot read {name}: {}", reason(&error))))?;
        Ok(PathList { name, paths })
    }
}

/// The std handle takes a closed stdin for an empty one. A copy of its descriptor does not.
fn stdin() -> io::Result<File> {
    Ok(File::from(rustix::stdio::stdin().try_clone_to_owned()?))
}

fn paths_in(mut list: impl BufRead) -> io::Result<Vec<OsString>> {
    let (mut paths, mut empty, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let mut path = Vec::new();
        let mut rest = list.by_ref().take(NAME_BYTES_MAX as u64 + 1);
        if rest.read_until(0, &mut path)? == 0 {
            return Ok(paths);
        }
        // The last name may lack its end.
        path.pop_if(|last| *last == 0);
        empty += usize::from(path.is_empty());
        bytes += path.len();
        let refused = |why: String| Err(io::Error::other(why));
        if path.len() >= NAME_BYTES_MAX {
            let place = paths.len() + 1;
            return refused(format!("name {place} has more than {NAME_BYTES_MAX} bytes"));
        }
        if empty > EMPTY_MAX {
            return refused(format!("the list has more than {EMPTY_MAX} empty names"));
        }
        if bytes > LIST_BYTES_MAX {
            return refused("the names have more than 256 MiB".to_owned());
        }
        path.shrink_to_fit();
        paths.push(OsString::from_vec(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_list_ends() {
        for (byte, why) in [(0, "empty names"), (b'a', "name 1 has more than")] {
            let error = paths_in(BufReader::new(io::repeat(byte))).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn a_list_of_a_million_paths_is_read() {
        let list = b"some/where\0".repeat(1_000_000);
        assert_eq!(paths_in(&list[..]).unwrap().len(), 1_000_000);
        assert_eq!(paths_in(&b"a\0\0b"[..]).unwrap(), ["a", "", "b"]);
        assert_eq!(paths_in(&b""[..]).unwrap(), [""; 0]);
    }
}
