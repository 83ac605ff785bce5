// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sentence at the foot of the screen, and how long it stays.

use std::time::Duration;

use crate::browser::{Browser, Mode, QUIET};

/// How long a message stays.
const MESSAGE_TIME: Duration = Duration::from_secs(5);

/// A sentence at the foot.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    /// The time when it came.
    since: Duration,
    /// Whether it stays until the user has seen it: it is no answer to the last key.
    is_news: bool,
}

impl Message {
    /// Whether the time has come for it to go. News stay until a key.
    pub(crate) fn is_old(&self, at: Duration) -> bool {
        !self.is_news && at.saturating_sub(self.since) > MESSAGE_TIME
    }

    /// Whether a key ends it. One that was on its way when news came does not.
    pub(crate) fn is_seen(&self, mode: &Mode, at: Duration) -> bool {
        !self.is_news || (*mode == Mode::Rows && at.saturating_sub(self.since) >= QUIET)
    }
}

impl Browser {
    pub(crate) fn say(&mut self, text: impl Into<String>, at: Duration) {
        self.message = Some(Message {
            text: text.into(),
            since: at,
            is_news: false,
        });
    }

    /// Says something that is no answer to a key.
    pub(crate) fn say_news(&mut self, text: String, at: Duration) {
        self.message = Some(Message {
            text,
            since: at,
            is_news: true,
        });
    }
}
