// SPDX-License-Identifier: MIT OR Apache-2.0

//! Items of the last move to the trash that go back to their places, on a thread of its own:
//! each call can hang on a dead file system.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use statwalk_browse::ItemId;
use statwalk_remove::{Restored, Trashed, restore};

use super::message::Message;

/// An item in the trash, with the number that the browser had of it.
#[derive(Clone)]
pub(crate) struct Moved {
    pub(super) trashed: Trashed,
    pub(super) id: Option<ItemId>,
    /// The directory that held it, as the rows show it.
    pub(super) dir: Option<Vec<u8>>,
    pub(super) bytes: u128,
}

/// An item that is back at its place.
pub(super) struct Back {
    pub(super) id: Option<ItemId>,
    pub(super) dir: Option<Vec<u8>>,
    /// Something shows that it is not as it was before the move.
    pub(super) is_changed: bool,
    /// The trash that it comes from.
    pub(super) trash: Vec<u8>,
    pub(super) bytes: u128,
}

/// The end of an undo.
pub(crate) struct Undone {
    pub(super) back: Vec<Back>,
    /// The items that stay in the trash, and the first reason.
    pub(super) left: Vec<Moved>,
    pub(super) failure: Option<String>,
}

/// An undo that goes on.
pub(super) struct Undo {
    shared: Arc<Shared>,
    thread: thread::JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    is_stopped: AtomicBool,
    /// The item in work.
    path: Mutex<Vec<u8>>,
}

impl Undo {
    /// Begins to move items back.
    ///
    /// The system has no thread; then nothing moves.
    pub(super) fn start(items: Vec<Moved>, sender: Sender<Message>) -> io::Result<Undo> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let work = move || {
            let undone = run(items, &own);
            let _ = sender.send(Message::Undone(Box::new(undone)));
        };
        let builder = thread::Builder::new().name("browse-undo".to_owned());
        Ok(Undo {
            shared,
            thread: builder.spawn(work)?,
        })
    }

    /// Asks it to end before its next item.
    pub(super) fn stop(&self) {
        self.shared.is_stopped.store(true, Relaxed);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// The path of the item in work.
    pub(super) fn path(&self) -> Vec<u8> {
        let path = self.shared.path.lock();
        path.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn run(items: Vec<Moved>, shared: &Shared) -> Undone {
    let mut undone = Undone {
        back: Vec::new(),
        left: Vec::new(),
        failure: None,
    };
    for item in items {
        if shared.is_stopped.load(Relaxed) {
            undone.left.push(item);
            continue;
        }
        let mut path = shared.path.lock().unwrap_or_else(PoisonError::into_inner);
        path.clone_from(&item.trashed.path);
        drop(path);
        match restore(&item.trashed) {
            Ok(restored) => undone.back.push(Back {
                id: item.id,
                dir: item.dir,
                is_changed: restored == Restored::Changed,
                trash: item.trashed.trash,
                bytes: item.bytes,
            }),
            Err(error) => {
                undone.failure.get_or_insert_with(|| error.to_string());
                undone.left.push(item);
            }
        }
    }
    undone
}
