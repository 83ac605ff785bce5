// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk snapshot --check`: verifies a snapshot.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap};
use statwalk_snapshot::{Checked, Fault, check};
use statwalk_view::{counted, wrap};

use super::{failure, shown};
use crate::answer::origin::Origin;
use crate::commands::delivery::{form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SnapshotFlags;
use crate::output::json::{self, Fields, Object};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::stored::folder_of;
use crate::system::panics::{caught, reads};
use crate::system::screen::Screen;

/// The result of a check.
struct CheckAnswer {
    origin: Arc<Origin>,
    folder: PathBuf,
    checked: Checked,
}

pub(super) fn run(flags: &SnapshotFlags) -> Result<ExitStatus, Failure> {
    let Some(word) = &flags.path else {
        let message = "--check needs a snapshot, such as /home@last or its folder";
        return Err(Failure::Usage(message.to_owned()));
    };
    let folder = folder_of(word)?.ok_or_else(|| {
        let word = shown(Path::new(word));
        Failure::Usage(format!("cannot check {word}: it names no snapshot"))
    })?;
    reads(&folder);
    let checked = caught(|| check(&folder)).map_err(|error| failure("read", &folder, &error))?;
    let status = match checked.fault_count {
        0 => ExitStatus::Complete,
        _ => ExitStatus::Incomplete,
    };
    let answer = CheckAnswer {
        origin: Origin::of_this_process(),
        folder,
        checked,
    };
    print(&answer, form_of(&flags.scan.walk.form))?;
    Ok(status)
}

impl Answer for CheckAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let checked = &self.checked;
        let entries = counted(checked.entries, "entry", "entries");
        let dirs = counted(checked.dirs, "directory", "directories");
        let folder = shown(&self.folder);
        let found = match checked.fault_count {
            0 => "no fault".to_owned(),
            count => counted(count, "fault", "faults"),
        };
        let mut lines = Vec::new();
        for fault in &checked.faults {
            let text = fault.to_string();
            let text = shown(Path::new(OsStr::from_bytes(text.as_bytes())));
            lines.extend(wrap(&text, screen.terminal));
        }
        let text = format!("{folder}: {found} in {entries} and {dirs}.");
        lines.extend(wrap(&text, screen.terminal));
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for fault in &self.checked.faults {
            rows.row(&[&fault.words], fault.place.as_bytes())?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        json::alone(&self.origin, self)
    }
}

impl Fields for CheckAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("folder", self.folder.as_os_str().as_bytes());
        object.field("entries", self.checked.entries);
        object.field("dirs", self.checked.dirs);
        object.field("fault_count", self.checked.fault_count);
        object.list("faults", self.checked.faults.iter().map(FaultJson));
    }
}

/// A fault as an object.
struct FaultJson<'a>(&'a Fault);

impl Fields for FaultJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("place", &self.0.place);
        object.field("error", &self.0.words);
    }
}
