// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of `statwalk df` for the browser.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use statwalk_browse::Event;
use statwalk_view::{Charset, Colour, SizeFormat, Terminal};

use super::desk::Desk;
use super::message::Message;
use crate::space;

/// The desk for tables, one at a time. A file system may hang, so each has a thread.
pub(super) struct SpaceDesk {
    format: SizeFormat,
    charset: Charset,
    desk: Desk,
}

impl SpaceDesk {
    pub(super) fn new(format: SizeFormat, charset: Charset, sender: Sender<Message>) -> SpaceDesk {
        let refused = |error| Message::Event(Event::Space(Err(error)));
        SpaceDesk {
            format,
            charset,
            desk: Desk::with_a_thread_each("space", sender, refused),
        }
    }

    /// Asks for the table of the file system that holds a directory.
    pub(super) fn ask(&mut self, directory: Option<Vec<u8>>, width: usize) {
        let format = self.format;
        let terminal = Terminal {
            width,
            charset: self.charset,
            colour: Colour::Off,
        };
        let directory = PathBuf::from(OsString::from_vec(directory.unwrap_or_default()));
        self.desk.ask_for_the_last(move |stop| {
            let table = space::table_of(&directory, format, terminal, stop);
            let table = table.map_err(|error| error.to_string());
            Some(Message::Event(Event::Space(table)))
        });
    }

    /// Ends the question.
    pub(super) fn end(&self) {
        self.desk.end();
    }
}
