// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk snapshot --list`: the snapshots of the store.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::ser::{Serialize, SerializeMap};
use statwalk_snapshot::{MANIFEST_NAME, Manifest};
use statwalk_view::{
    Align, Cell, Column, DateStyle, SizeFormat, counted, grouped, list_table, wrap,
};

use super::{shown, store};
use crate::answer::origin::Origin;
use crate::commands::delivery::{form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SnapshotFlags;
use crate::output::json::{self, Fields, Object};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::store::disk::Store;
use crate::store::disk::patience::settled;
use crate::store::key::{Key, nearest};
use crate::store::stored::Stored;
use crate::system::screen::Screen;
use crate::system::stdio::reason;

/// The snapshots of the store, newest first.
pub(super) struct ListAnswer {
    origin: Arc<Origin>,
    store: PathBuf,
    all: Vec<Listed>,
    zone: TimeZone,
}

/// A snapshot of the store.
struct Listed {
    key: Key,
    stored: Stored,
    folder: PathBuf,
    /// The manifest, or the reason why it cannot be read.
    manifest: Result<Manifest, String>,
}

pub(super) fn run(flags: &SnapshotFlags) -> Result<ExitStatus, Failure> {
    let store = store()?;
    let mut keys = store.keys()?;
    if let Some(path) = &flags.path {
        let path = Path::new(path);
        // The root may be gone since.
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) => std::path::absolute(path).map_err(|error| {
                Failure::Usage(format!("cannot open {}: {}", shown(path), reason(&error)))
            })?,
        };
        keys = nearest(&keys, &real).into_iter().cloned().collect();
    }
    let answer = ListAnswer {
        origin: Origin::of_this_process(),
        all: listed(&store, keys)?,
        store: store.path().to_owned(),
        zone: TimeZone::system(),
    };
    print(&answer, form_of(&flags.scan.walk.form))?;
    let can_read = answer.all.iter().all(|one| one.manifest.is_ok());
    Ok(match can_read {
        true => ExitStatus::Complete,
        false => ExitStatus::Incomplete,
    })
}

fn listed(store: &Store, keys: Vec<Key>) -> Result<Vec<Listed>, Failure> {
    let mut all = Vec::new();
    for key in keys {
        for stored in store.snapshots(&key)? {
            let folder = store.folder(&key, stored);
            let manifest = settled(&folder, MANIFEST_NAME)
                .map_err(|error| reason(&error))
                .and_then(|()| Manifest::read(&folder).map_err(|error| error.to_string()));
            all.push(Listed {
                key: key.clone(),
                stored,
                folder,
                manifest,
            });
        }
    }
    all.sort_by_key(|one| (Reverse(one.stored.began_s), Reverse(one.stored.number)));
    Ok(all)
}

impl Listed {
    /// Whether it has all that is below its root, in a word.
    fn state(&self) -> &str {
        match &self.manifest {
            Err(_) => "damaged",
            Ok(manifest) if manifest.facts.interrupted => "partial",
            Ok(manifest) if manifest.complete => "complete",
            Ok(_) => "incomplete",
        }
    }
}

impl Answer for ListAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if self.all.is_empty() {
            let store = shown(&self.store);
            return wrap(&format!("{store} has no snapshot."), screen.terminal);
        }
        let absent = screen.terminal.charset.absent();
        let columns = [
            Column::new("WHEN", Align::Left),
            Column::new("ENTRIES", Align::Right),
            Column::new("DISK", Align::Right),
            Column::new("STORED", Align::Right).optional(),
            Column::new("STATE", Align::Left),
            Column::new("ROOT", Align::Left),
        ];
        let rows = self.all.iter().map(|one| {
            let began_ns = one.stored.began_s.saturating_mul(1_000_000_000);
            let when = DateStyle::default().text(began_ns, &self.zone);
            let manifest = one.manifest.as_ref().ok();
            let size = |bytes: u128| SizeFormat::Binary.text(bytes);
            let of = |text: Option<String>| text.unwrap_or_else(|| absent.to_owned());
            vec![
                Cell::Text(of(when).into()),
                Cell::Text(of(manifest.map(|one| grouped(one.counts.entries))).into()),
                Cell::Text(of(manifest.map(|one| size(one.counts.allocated_bytes))).into()),
                Cell::Text(of(manifest.map(|one| size(one.bytes().into()))).into()),
                Cell::Text(one.state().into()),
                Cell::Name((&one.key.root[..]).into()),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let mut lines = list_table(&columns, &rows, screen.terminal);
        lines.push(String::new());
        let count = counted(self.all.len() as u64, "snapshot", "snapshots");
        let manifests = self.all.iter().filter_map(|one| one.manifest.as_ref().ok());
        let bytes: u128 = manifests.map(|one| u128::from(one.bytes())).sum();
        let size = SizeFormat::Binary.text(bytes);
        let text = format!("{count} in {}: {size}.", shown(&self.store));
        lines.extend(wrap(&text, screen.terminal));
        for one in &self.all {
            if let Err(error) = &one.manifest {
                let error = shown(Path::new(OsStr::from_bytes(error.as_bytes())));
                let text = format!("cannot read {}: {error}", shown(&one.folder));
                lines.extend(wrap(&text, screen.terminal));
            }
        }
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for one in &self.all {
            let when = DateStyle::default()
                .text(one.stored.began_s.saturating_mul(1_000_000_000), &self.zone);
            let number = |of: fn(&Manifest) -> u128| {
                let manifest = one.manifest.as_ref().ok();
                manifest.map_or_else(|| "-".to_owned(), |manifest| of(manifest).to_string())
            };
            let columns = [
                when.unwrap_or_else(|| "-".to_owned()),
                number(|one| one.counts.entries.into()),
                number(|one| one.counts.allocated_bytes),
                number(|one| one.bytes().into()),
                one.state().to_owned(),
            ];
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            rows.row(&columns, &one.key.root)?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        json::alone(&self.origin, self)
    }
}

impl Fields for ListAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("store", self.store.as_os_str().as_bytes());
        object.list("snapshots", self.all.iter());
    }
}

impl Fields for Listed {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("folder", self.folder.as_os_str().as_bytes());
        object.text("root", &self.key.root);
        object.text("machine", &self.key.host);
        object.text("file_system", &self.key.file_system);
        object.field("number", self.stored.number);
        object.field("state", self.state());
        match &self.manifest {
            Err(error) => object.field("error", error),
            Ok(manifest) => {
                object.time(["began_s", "began_ns"], Some(manifest.facts.began_ns));
                object.time(["ended_s", "ended_ns"], Some(manifest.facts.ended_ns));
                object.field("entries", manifest.counts.entries);
                object.field("apparent_bytes", manifest.counts.size_bytes);
                object.field("allocated_bytes", manifest.counts.allocated_bytes);
                object.field("bytes", manifest.bytes());
                object.field("program", &manifest.facts.program);
            }
        }
    }
}
