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
    /// Whether the text was right, and a question follows: nobody can know the items again.
    pub(crate) is_asked_again: bool,
}

/// The effect of `y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Yes {
    /// It is the user's wish.
    Act(Manner),
    /// It asks for the word.
    Ask,
    /// Nothing, for this reason.
    Nothing(String),
    /// Nothing: there is no choice, or it is a letter of the word.
    Absent,
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
            is_asked_again: false,
        }
    }

    /// The choices, the first of which does nothing.
    pub(crate) fn choices(&self) -> Vec<(Choice, &'static str)> {
        let mut choices = vec![(Choice::Cancel, "Cancel")];
        if self.is_asked_again {
            choices.push((Choice::Remove(Manner::ByName), "Remove by name"));
        } else if self.proposal.refusal.is_none() {
            if self.proposal.no_trash.is_none() {
                choices.push((Choice::Remove(Manner::Trash), "Move to trash"));
            }
            choices.push((Choice::Remove(Manner::Permanent), "Remove forever"));
        }
        choices
    }

    fn needs_text(&self, manner: Manner) -> bool {
        manner == Manner::Permanent || self.proposal.why_typed.is_some()
    }

    /// The way that the next key takes: that of the choice, or of `y` beside *Cancel*.
    /// Absent where several are left.
    pub(crate) fn manner(&self) -> Option<Manner> {
        match self.choices()[self.place].0 {
            Choice::Remove(manner) => Some(manner),
            Choice::Cancel if self.is_asked_again => Some(Manner::ByName),
            Choice::Cancel if self.proposal.no_trash.is_some() => Some(Manner::Permanent),
            Choice::Cancel if self.proposal.why_typed.is_none() => Some(Manner::Trash),
            Choice::Cancel => None,
        }
    }

    /// The effect of `y` now. Its key and the line that names it have it from here.
    pub(crate) fn yes(&self) -> Yes {
        if self.typed.is_some() || self.proposal.refusal.is_some() {
            return Yes::Absent;
        }
        if self.is_asked_again {
            return Yes::Act(Manner::ByName);
        }
        match self.choices()[self.place].0 {
            Choice::Remove(manner) if self.needs_text(manner) => Yes::Ask,
            Choice::Remove(manner) => Yes::Act(manner),
            // `y` asks for the gentle way where the user has not chosen one.
            Choice::Cancel => match (&self.proposal.no_trash, &self.proposal.why_typed) {
                (Some(_), _) => Yes::Nothing("no trash".to_owned()),
                (None, Some(why)) => Yes::Nothing(why.clone()),
                (None, None) => Yes::Act(Manner::Trash),
            },
        }
    }

    /// The keys and their effects, the first of which matters most.
    pub(crate) fn keys(&self) -> Vec<String> {
        let yes = match self.yes() {
            Yes::Absent if self.typed.is_some() && self.proposal.is_by_name => {
                "Enter next question".to_owned()
            }
            Yes::Absent if self.typed.is_some() => "Enter remove".to_owned(),
            Yes::Absent => return vec!["Esc leave it".to_owned()],
            Yes::Act(Manner::Trash) => "y move to the trash".to_owned(),
            Yes::Act(Manner::Permanent) => "y remove".to_owned(),
            Yes::Act(Manner::ByName) => "y remove by name".to_owned(),
            Yes::Ask => "y type the name".to_owned(),
            Yes::Nothing(why) => format!("{why}: Tab chooses"),
        };
        let others: &[&str] = match self.yes() {
            Yes::Absent => &["Esc leave it"],
            Yes::Nothing(_) => &["Enter choose", "Esc leave it"],
            Yes::Act(_) | Yes::Ask => &["Tab next choice", "Enter choose", "Esc leave it"],
        };
        let others = others.iter().map(|key| (*key).to_owned());
        std::iter::once(yes).chain(others).collect()
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
                Key::Enter if line.text == self.proposal.word && self.proposal.is_by_name => {
                    self.typed = None;
                    self.is_asked_again = true;
                    self.place = 0;
                }
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
            Key::Enter if chosen == Choice::Cancel => return Some(Choice::Cancel),
            Key::Enter | Key::Char('y') => match self.yes() {
                Yes::Act(manner) => return Some(Choice::Remove(manner)),
                Yes::Ask => self.typed = Some(Line::default()),
                Yes::Nothing(_) | Yes::Absent => {}
            },
            _ => {}
        }
        None
    }
}
