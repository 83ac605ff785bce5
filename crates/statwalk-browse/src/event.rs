// SPDX-License-Identifier: MIT OR Apache-2.0

//! Events that the browser learns of, and its wishes to its shell.

use std::time::Duration;

use crate::answer::Answer;
use crate::data::ItemId;
use crate::filter::Filter;
use crate::list::Query;
use crate::removal::{Manner, Proposal, RemovalReport, RemovalState};
use crate::report::ReportState;

/// A key of the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character.
    Char(char),
    /// A character together with Ctrl.
    Ctrl(char),
    /// A function key.
    F(u8),
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Tab.
    Tab,
    /// Tab together with Shift.
    BackTab,
    /// Escape.
    Esc,
}

/// A use of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    /// A press of the first button, at a column and a line from 0.
    Press(u16, u16),
    /// A turn of the wheel.
    WheelUp,
    /// A turn of the wheel.
    WheelDown,
}

/// How far the scan has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanState {
    /// Whether it is done, or was stopped.
    pub is_over: bool,
    /// Whether it was stopped before it was done.
    pub is_interrupted: bool,
    /// The names read so far.
    pub entries: u64,
    /// The number of faults so far.
    pub unreadable: u64,
    /// The time since its beginning.
    pub elapsed: Duration,
    /// The share of the file system that was read, in per cent; absent where nothing
    /// tells it.
    pub percent: Option<u8>,
    /// The bytes in use of a whole file system that the scan did not reach; absent where
    /// these are few, or unknown.
    pub elsewhere_bytes: Option<u128>,
    /// A directory that is read now.
    pub current: Vec<u8>,
    /// The time of the scan, where its numbers were kept since; absent for one of now.
    pub taken: Option<String>,
}

/// The facts that the system knows about an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The item.
    pub id: ItemId,
    /// Facts and their names, safe for a terminal.
    pub rows: Vec<(&'static str, String)>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// The mouse was used.
    Mouse(Mouse),
    /// A text came from the clipboard. It is never a key, but text where a line is typed.
    Paste(String),
    /// The terminal has this width and this height.
    Resize(u16, u16),
    /// Some time passed.
    Tick,
    /// A question was answered.
    Answer(Answer),
    /// The scan has come further.
    Scan(ScanState),
    /// All numbers, or those in a directory, are about to be those of another scan. The
    /// data has the old ones still; the new ones come with [`Data`](Event::Data) or with
    /// [`Refreshed`](Event::Refreshed).
    Replacing(Option<ItemId>),
    /// The data is another: at the beginning of a scan, or at its end.
    Data,
    /// The system answered about an item.
    Details(Details),
    /// The texts of the filter form were read, or the reason why they have no meaning.
    Form(Result<Filter, String>),
    /// A filter has its numbers now.
    Filtered(Filter),
    /// A directory was read again, and the data has its items with other numbers. A
    /// sentence tells the difference, where the user waits for it.
    Refreshed(Option<String>),
    /// So many bytes lie in the trash, and the sums lack them: they are not read yet, or the
    /// trash lies outside.
    InTrash(u128),
    /// The survey before a removal has met so many entries.
    Surveying(u64),
    /// The survey is done, or there is a reason why it is not.
    Surveyed(Result<Proposal, String>),
    /// A removal has come further.
    Removing(RemovalState),
    /// A removal has ended. The data has the removed items no more.
    Removed(RemovalReport),
    /// An undo has ended: items are back at their places, and the data has them. A sentence
    /// tells how many, or why none.
    Restored(String),
    /// The table of the space of a file system, as lines that are safe for a terminal; or
    /// the reason why there is none.
    Space(Result<Vec<String>, String>),
    /// A report has come further.
    Reporting(ReportState),
    /// A report has ended: a sentence with the name of its file, or the reason why there is
    /// none.
    Reported(Result<String, String>),
    /// Something that the user must know.
    Message(String),
}

/// Something that the browser asks its shell for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// An answer to a question. A question before it is not of interest any more.
    Ask(Query),
    /// This directory is to be read next.
    Prefer(ItemId),
    /// The facts about an item.
    Details(ItemId),
    /// The meaning of the texts of the filter form, by field.
    ReadForm(Vec<String>),
    /// The numbers of those items alone that pass.
    SetFilter(Filter),
    /// The numbers of this directory as they are now.
    Refresh(ItemId),
    /// A new scan of everything.
    ScanAgain,
    /// The end of the scan, with the sums so far.
    StopScan,
    /// A shell in this directory; absent for the directory of the program.
    Shell(Option<ItemId>),
    /// The program that the system opens the item with.
    Open(ItemId),
    /// The path of the item in the clipboard of the terminal.
    Copy(ItemId),
    /// The paths of these items in a file of this name.
    Write(Vec<ItemId>, String),
    /// The identity of these items, which were marked at this moment, for the comparison
    /// before they are removed.
    Identify(Vec<ItemId>),
    /// A survey of these items, before they are removed.
    Survey(Vec<ItemId>),
    /// The end of the survey, or of the thought of removing its items.
    EndSurvey,
    /// The removal of the items of the last survey.
    Remove(Manner),
    /// The end of the removal that goes on, between two entries.
    StopRemoval,
    /// The table of the space of the file system that holds this directory, in so many
    /// columns; absent for the first root.
    Space(Option<ItemId>, usize),
    /// No table any more.
    EndSpace,
    /// The report of this directory, as it is now, in a file; absent for all roots.
    Report(Option<ItemId>),
    /// The end of the report that is on its way.
    StopReport,
    /// The items of the last move to the trash at their old places.
    Undo,
    /// The program in the background, as with Ctrl-Z.
    Suspend,
    /// The end. With an item, its path is printed.
    Quit(Option<ItemId>),
}
