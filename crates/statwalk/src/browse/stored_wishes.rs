// SPDX-License-Identifier: MIT OR Apache-2.0

//! The wishes of a browser of a snapshot: nothing on the disk is asked, started or changed,
//! because it is another disk than that of the scan by now.

use std::io;

use statwalk_browse::{Details, Effect, Event, ItemId, RemovalReport};
use statwalk_snapshot::Entry;
use statwalk_view::grouped;

use super::details;
use super::stored_data::StoredData;
use crate::system::stdio::reason;

/// The answer to a wish that a snapshot does not fulfil; absent for others.
pub(super) fn refusal(wish: &Effect, data: &StoredData) -> Option<Event> {
    let sentence = |what: &str| format!("{what}: this is a snapshot of {}", data.taken());
    Some(match wish {
        Effect::Refresh(_) | Effect::ScanAgain => Event::Message(sentence("nothing is read again")),
        Effect::Shell(_) | Effect::Open(_) => Event::Message(sentence("no program is started")),
        Effect::Space(..) => Event::Space(Err(sentence("no disk is asked"))),
        Effect::Report(_) => Event::Reported(Err(sentence("no report is made here"))),
        Effect::Survey(_) => Event::Surveyed(Err(sentence("nothing is removed"))),
        Effect::Remove(_) => Event::Removed(RemovalReport {
            sentence: sentence("nothing is removed"),
            ..RemovalReport::default()
        }),
        Effect::Undo => Event::Restored(sentence("nothing was removed")),
        _ => return None,
    })
}

/// The facts that a snapshot has about an item.
pub(super) fn details(id: ItemId, data: &StoredData) -> Details {
    let rows = match data.entry(id) {
        Some(entry) => rows(&entry, data),
        None => vec![("Error", "the snapshot does not have it".to_owned())],
    };
    Details { id, rows }
}

fn rows(entry: &Entry, data: &StoredData) -> Vec<(&'static str, String)> {
    let owners = data.owners();
    let account = |id: u32, name: Option<&[u8]>| details::account(name, id);
    let user = entry.uid.map(|uid| account(uid, owners.user(uid)));
    let group = entry.gid.map(|gid| account(gid, owners.group(gid)));
    let time = |at: usize| {
        let ns = entry.times_ns[at];
        let odd = entry.odd_times_s[at];
        let known = ns.map(|ns| (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000)));
        let (seconds, ns) = known.or(odd.map(|seconds| (seconds, 0)))?;
        Some(details::date(seconds, ns))
    };
    let rows = [
        ("Snapshot", Some(data.taken())),
        ("Owner", user),
        ("Group", group),
        ("Mode", entry.mode.map(|mode| details::mode(mode.into()))),
        ("Links", entry.links.map(|links| grouped(links.into()))),
        ("Inode", entry.ino.map(|ino| ino.to_string())),
        ("Modified", time(0)),
        ("Accessed", time(1)),
        ("Changed", time(2)),
        ("Born", time(3)),
        (
            "Error",
            entry
                .errno
                .map(|errno| reason(&io::Error::from_raw_os_error(errno))),
        ),
    ];
    let known = rows.into_iter();
    known
        .filter_map(|(name, text)| Some((name, text?)))
        .collect()
}
