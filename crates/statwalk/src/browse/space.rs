// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of `statwalk df` for the browser.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::thread;

use statwalk_view::{Charset, Colour, SizeFormat, Terminal};

use super::Message;
use crate::space;
use crate::system::stdio::reason;

/// The desk for tables, one at a time.
pub(super) struct SpaceDesk {
    format: SizeFormat,
    charset: Charset,
    sender: Sender<Message>,
    /// Counts the questions; the answer to an earlier one comes too late.
    asked: u64,
    stop: Arc<AtomicBool>,
}

impl SpaceDesk {
    pub(super) fn new(format: SizeFormat, charset: Charset, sender: Sender<Message>) -> SpaceDesk {
        SpaceDesk {
            format,
            charset,
            sender,
            asked: 0,
            stop: Arc::default(),
        }
    }

    /// Asks for the table of the file system that holds a directory.
    pub(super) fn ask(&mut self, directory: Option<Vec<u8>>, width: usize) {
        self.end();
        self.stop = Arc::default();
        let (stop, sender) = (Arc::clone(&self.stop), self.sender.clone());
        let (number, format) = (self.asked, self.format);
        let terminal = Terminal {
            width,
            charset: self.charset,
            colour: Colour::Off,
        };
        let directory = PathBuf::from(OsString::from_vec(directory.unwrap_or_default()));
        let work = move || {
            let table = space::table_of(&directory, format, terminal, &stop);
            let table = table.map_err(|error| error.to_string());
            let _ = sender.send(Message::Space(number, table));
        };
        let started = thread::Builder::new()
            .name("browse-space".to_owned())
            .spawn(work);
        if let Err(error) = started {
            let error = format!("cannot start a thread: {}", reason(&error));
            let _ = self.sender.send(Message::Space(number, Err(error)));
        }
    }

    /// Ends the question.
    pub(super) fn end(&mut self) {
        self.asked += 1;
        self.stop.store(true, Relaxed);
    }

    pub(super) fn is_wanted(&self, number: u64) -> bool {
        number == self.asked
    }
}
