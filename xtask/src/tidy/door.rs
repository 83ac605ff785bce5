// SPDX-License-Identifier: MIT OR Apache-2.0

//! Only one file of the product takes names away from directories.

use std::path::Path;

/// The file with the calls.
const DOOR: &str = "crates/statwalk-remove/src/door.rs";

/// Names that remove or replace entries.
const CALLS: [&str; 8] = [
    "unlinkat",
    "unlink(",
    "rmdir(",
    "remove_file",
    "remove_dir",
    "renameat",
    "fs::rename",
    "trash::",
];

/// Places that may use one of these names, each with its reason.
const ALLOWED: [(&str, &str, &str); 12] = [
    (
        "crates/statwalk/src/system/whole_file.rs",
        "fs::unlinkat(directory, own, AtFlags::empty())",
        "removes only a name that it has just given to its own file",
    ),
    (
        "crates/statwalk/src/system/whole_file.rs",
        "fs::renameat(directory, from, directory, to)",
        "gives a file that is whole its name, which --force alone takes from another",
    ),
    (
        "crates/statwalk/src/system/whole_file.rs",
        "fs::renameat_with(directory, from, directory, to, flags)",
        "gives a file that is whole its name, and replaces nothing",
    ),
    (
        "crates/statwalk/src/store/disk/mod.rs",
        "fs::rename(&snapshot, &leftover)",
        "takes from a snapshot of the store its name, before it goes",
    ),
    (
        "crates/statwalk/src/store/disk/mod.rs",
        "fs::remove_dir_all(leftover)",
        "removes a folder of the store whose name says that it is no snapshot",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::unlinkat(&folder, name, AtFlags::empty())",
        "removes a file of a snapshot that never got its name",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::unlinkat(&own, table.name(), AtFlags::REMOVEDIR)",
        "removes the empty folder of a table of such a snapshot",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::unlinkat(&own, MANIFEST_NAME, AtFlags::empty())",
        "removes its manifest",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::rmdir(path)",
        "removes its empty folder",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)",
        "gives a folder that is whole its name, and replaces nothing",
    ),
    (
        "crates/statwalk-snapshot/src/folder.rs",
        "fs::rename(from, to)",
        "the same where no flag is known; it replaces an empty folder at most",
    ),
    (
        "crates/statwalk-snapshot/src/scratch_file.rs",
        "fs::unlinkat(CWD, &own, AtFlags::empty())",
        "takes the name from its own file, which it has just made",
    ),
];

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    if !is_product(file) {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") || is_allowed(file, line) {
            continue;
        }
        for call in CALLS.iter().filter(|call| line.contains(*call)) {
            let place = format!("{}:{}", file.display(), number + 1);
            faults.push(format!("{place}: {call} belongs into {DOOR}"));
        }
    }
    // In the door itself, one call removes.
    let count = text.matches("fs::unlinkat(").count();
    if file == Path::new(DOOR) && count != 1 {
        faults.push(format!("{DOOR}: calls unlinkat {count} times, not once"));
    }
}

fn is_allowed(file: &Path, line: &str) -> bool {
    file == Path::new(DOOR)
        || (ALLOWED.iter()).any(|(place, call, _)| file == Path::new(place) && line.contains(call))
}

/// The sources of the crates, without tests and their tools.
fn is_product(file: &Path) -> bool {
    let mut parts = file.components().map(|part| part.as_os_str());
    let is_crate = parts.next().is_some_and(|part| part == "crates")
        && parts.next().is_some_and(|part| part != "statwalk-testkit")
        && parts.next().is_some_and(|part| part == "src");
    is_crate && !parts.any(|part| part == "tests" || part == "tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &str, text: &str) -> usize {
        let mut faults = Vec::new();
        check(Path::new(file), text, &mut faults);
        faults.len()
    }

    #[test]
    fn only_the_door_removes() {
        for call in CALLS {
            let line = format!("    {call}(x)?;\n");
            assert_eq!(faults("crates/statwalk/src/a.rs", &line), 1, "{call}");
            assert_eq!(faults("crates/statwalk-remove/src/tree.rs", &line), 1);
            for other in [
                "crates/statwalk/tests/a.rs",
                "crates/statwalk/src/a/tests.rs",
                "crates/statwalk-testkit/src/a.rs",
                "xtask/src/a.rs",
            ] {
                assert_eq!(faults(other, &line), 0, "{call} {other}");
            }
        }
        assert_eq!(faults("crates/statwalk/src/a.rs", "/// fs::rename\n"), 0);
    }

    #[test]
    fn the_door_removes_at_one_place() {
        let call = "rustix::fs::unlinkat(directory, name, flags)\n";
        assert_eq!(faults(DOOR, call), 0);
        assert_eq!(faults(DOOR, &call.repeat(2)), 1);
        assert_eq!(faults(DOOR, ""), 1);
    }

    #[test]
    fn an_allowed_place_may_use_its_own_call() {
        let whole_file = "crates/statwalk/src/system/whole_file.rs";
        let call = "rustix::fs::unlinkat(directory, own, AtFlags::empty())";
        assert_eq!(faults(whole_file, call), 0);
        assert_eq!(faults(whole_file, "fs::remove_dir_all(&self.0);"), 1);
        assert_eq!(faults("crates/statwalk/src/a.rs", call), 1);
    }
}
