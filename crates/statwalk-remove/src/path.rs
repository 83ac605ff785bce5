// SPDX-License-Identifier: MIT OR Apache-2.0

//! Absolute paths as bytes.

/// Says whether a path begins at the root and holds neither `.`, `..` nor an empty name.
pub(crate) fn is_plain(path: &[u8]) -> bool {
    match path.strip_prefix(b"/") {
        Some(b"") => true,
        Some(rest) => rest.split(|&byte| byte == b'/').all(is_plain_name),
        None => false,
    }
}

/// Says whether a name stands for one entry of a directory.
pub(crate) fn is_plain_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0)
}

/// The directory of a plain path and the name in it; nothing for the root.
pub(crate) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|&byte| byte == b'/')?;
    let name = &path[slash + 1..];
    let directory = if slash == 0 { b"/" } else { &path[..slash] };
    is_plain_name(name).then_some((directory, name))
}

/// `directory/name`.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths() {
        for path in [&b"/"[..], b"/a", b"/a/b\n", b"/...", b"/a\xff"] {
            assert!(is_plain(path), "{path:?}");
        }
        for path in [
            &b""[..],
            b"a",
            b"//",
            b"/a/",
            b"/a//b",
            b"/./a",
            b"/a/..",
            b"/a\0",
        ] {
            assert!(!is_plain(path), "{path:?}");
        }
    }

    #[test]
    fn parents_and_names() {
        assert_eq!(split(b"/a/b"), Some((&b"/a"[..], &b"b"[..])));
        assert_eq!(split(b"/a"), Some((&b"/"[..], &b"a"[..])));
        assert_eq!(split(b"/"), None);
        assert_eq!(split(b"/a/.."), None);
        assert_eq!(join(b"/", b"a"), b"/a");
        assert_eq!(join(b"/a", b"b"), b"/a/b");
    }
}
