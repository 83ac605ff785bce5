// SPDX-License-Identifier: MIT OR Apache-2.0

//! The dialog before a removal.

use crate::event::Key;
use crate::prompt::Line;
use crate::removal::{Manner, Proposal};

/// The dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialog {
    pub(crate) proposal: Proposal,
    /// The place among [`choices`](Self::choices).
    pub(crate) place: usize,
    /// The text so far, once one of the choices needs it.
    pub(crate) typed: Option<Line>,
    /// Whether the last text was another one.
    pub(crate) is_wrong: bool,
}

/// The wish of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Cancel,
    Remove(Manner),
}

impl Dialog {
    pub(crate) fn new(proposal: Proposal) -> Dialog {
        Dialog {
            proposal,
            place: 0,
            typed: None,
            is_wrong: false,
        }
    }

    /// The choices, the first of which does nothing.
    pub(crate) fn choices(&self) -> Vec<(Choice, &'static str)> {
        let mut choices = vec![(Choice::Cancel, "Cancel")];
        if self.proposal.refusal.is_none() {
            if self.proposal.no_trash.is_none() {
                choices.push((Choice::Remove(Manner::Trash), "Move to trash"));
            }
            choices.push((Choice::Remove(Manner::Forever), "Remove forever"));
        }
        choices
    }

    fn needs_text(&self, manner: Manner) -> bool {
        manner == Manner::Forever || self.proposal.is_large
    }

    /// Takes a key. Answers with the user's wish, once there is one.
    pub(crate) fn take(&mut self, key: Key) -> Option<Choice> {
        let choices = self.choices();
        let chosen = choices[self.place].0;
        if key == Key::Esc {
            return Some(Choice::Cancel);
        }
        if let Some(line) = &mut self.typed {
            match key {
                Key::Enter if line.text == self.proposal.word => return Some(chosen),
                Key::Enter => self.is_wrong = true,
                key => {
                    self.is_wrong = false;
                    line.take(key);
                }
            }
            return None;
        }
        let last = choices.len() - 1;
        match key {
            Key::Left | Key::Up | Key::BackTab | Key::Char('h') => {
                self.place = self.place.checked_sub(1).unwrap_or(last);
            }
            Key::Right | Key::Down | Key::Tab | Key::Char('l') => {
                self.place = if self.place == last {
                    0
                } else {
                    self.place + 1
                };
            }
            Key::Char('q' | 'n') => return Some(Choice::Cancel),
            Key::Enter | Key::Char('y') => match chosen {
                Choice::Cancel if key == Key::Enter => return Some(Choice::Cancel),
                // `y` asks for the gentle way where the user has not chosen one.
                Choice::Cancel => {
                    let trash = Choice::Remove(Manner::Trash);
                    let has_trash = choices.iter().any(|(choice, _)| *choice == trash);
                    return (has_trash && !self.needs_text(Manner::Trash)).then_some(trash);
                }
                Choice::Remove(manner) if self.needs_text(manner) => {
                    self.typed = Some(Line::default());
                }
                chosen => return Some(chosen),
            },
            _ => {}
        }
        None
    }
}
