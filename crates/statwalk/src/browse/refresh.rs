// SPDX-License-Identifier: MIT OR Apache-2.0

//! One directory is read again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use statwalk_browse::{Data, ItemId};
use statwalk_core::{Scan, TreeSink};
use statwalk_view::{SizeFormat, counted};

use super::place::new_scan;
use super::scan::ERRORS_KEPT;
use super::tree_data::TreeData;

/// How often a scan asks whether it is still wanted.
const PERIOD: Duration = Duration::from_millis(20);

/// Reads a directory again, or an entry of it that came after the scan. Answers with its new
/// numbers, or with the reason why there are none. Absent where `stop` asked to end.
pub(super) fn read_again(
    scan: &Scan,
    sink: TreeSink,
    below: &dyn Data,
    at: ItemId,
    new: Option<&[u8]>,
    stop: &dyn Fn() -> bool,
) -> Option<Result<Arc<dyn Data>, String>> {
    let Some(mut path) = below.path(at) else {
        return Some(Err("cannot read it again: it is gone".to_owned()));
    };
    if let Some(name) = new {
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    let scan = scan.clone().with_root(Path::new(OsStr::from_bytes(&path)));
    let scan = scan.errors_kept(ERRORS_KEPT);
    let running = match scan.start(sink) {
        Ok(running) => running,
        Err(error) => return Some(Err(error.to_string())),
    };
    while !running.wait_for(PERIOD) {
        if stop() {
            return None;
        }
    }
    let outcome = running.finish();
    let missing = outcome.report.roots.first().and_then(|root| root.missing);
    if let Some(errno) = missing {
        return Some(Err(format!("cannot read it again: {errno}")));
    }
    let newer = TreeData::new(
        new_scan(),
        outcome.output,
        &[path],
        &outcome.report,
        Arc::default(),
    );
    Some(Ok(Arc::new(newer)))
}

/// A sentence about the difference of bytes and entries.
pub(super) fn difference([bytes, entries]: [(bool, u128); 2], format: SizeFormat) -> String {
    if bytes.1 == 0 && entries.1 == 0 {
        return "read again: the sums are the same".to_owned();
    }
    let sign = |is_less: bool| if is_less { '-' } else { '+' };
    let count = u64::try_from(entries.1).unwrap_or(u64::MAX);
    let count = counted(count, "entry", "entries");
    let size = format.text(bytes.1);
    format!(
        "read again: {}{size}, {}{count}",
        sign(bytes.0),
        sign(entries.0)
    )
}
