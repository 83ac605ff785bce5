// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text that a person sees of a scan: sizes, ages, names and tables.
//!
//! Everything here is a pure function of its arguments: nothing prints, asks
//! the terminal, reads the environment or looks at a clock. The width of the
//! terminal, the present moment, and whether there is colour are parameters;
//! the program finds them out.
//!
//! Every name that is to reach a terminal goes through [`escape()`]; the
//! tables, the progress line and the error summary do so themselves and take
//! names as bytes.

#![forbid(unsafe_code)]

pub mod best_first;
mod charset;
mod colour;
mod terminal;

mod age;
mod bar;
mod count;
mod date;
mod duration;
mod escape;
mod json_path;
mod name_pattern;
mod share;
mod shell_word;
mod size;
mod spread;
mod truncate;

mod details;
mod figures;
mod kind;
mod notes;
mod tree;

mod bar_plot;
mod error_summary;
mod list_table;
mod progress;
mod summary;
mod tree_table;

mod line;
mod wrap;

pub mod rebuildable;

pub use age::{MomentError, age, parse_moment};
pub use bar::bar;
pub use bar_plot::{PlotBar, bar_plot};
pub use charset::Charset;
pub use colour::{Colour, Style};
pub use count::{compact, counted, grouped, rate};
pub use date::{DateStyle, DateStyleError};
pub use details::Details;
pub use duration::duration;
pub use error_summary::{ErrorCause, ErrorSummary};
pub use escape::escape;
pub use figures::Figures;
pub use json_path::json_path;
pub use kind::Kind;
pub use list_table::{Align, Cell, Column, list_table};
pub use name_pattern::{NamePattern, PatternError};
pub use notes::Notes;
pub use progress::Progress;
pub use share::share;
pub use shell_word::shell_word;
pub use size::{ParseSizeError, SizeFilter, SizeFormat, Unit};
pub use spread::Spread;
pub use summary::{Ending, NO_BLOCKS, Summary, sentences_of_stacked};
pub use terminal::Terminal;
pub use tree::Tree;
pub use tree_table::{Direction, Files, SizeColumn, Small, SortKey, TreeOptions, tree_table};
pub use truncate::{text_width, truncate_end, truncate_to_width};
pub use wrap::wrap;
