// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks a tree with one of several crates: `walk WAY MODEL ROUNDS PATH`.

mod article;
mod found;
mod with_ignore;
mod with_jwalk;
mod with_std;
mod with_walkdir;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use found::{Found, Model};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [way, model, rounds, path] = arguments.as_slice() else {
        return Err("wanted: WAY MODEL ROUNDS PATH".into());
    };
    let way: fn(Model, &Path) -> Found = match way.to_string_lossy().as_ref() {
        "article" => article::walk,
        "ignore" => with_ignore::walk,
        "jwalk" => with_jwalk::walk,
        "std" => with_std::walk,
        "walkdir" => with_walkdir::walk,
        other => return Err(format!("no such way: {other}").into()),
    };
    let model = match model.to_string_lossy().as_ref() {
        "count" => Model::Count,
        "size" => Model::Size,
        "records" => Model::Records,
        "directory" => Model::Directory,
        other => return Err(format!("no such model: {other}").into()),
    };
    let rounds: u32 = rounds.to_string_lossy().parse()?;
    let path = PathBuf::from(path);

    let mut failed = false;
    for _ in 0..rounds {
        let start = Instant::now();
        let found = way(model, &path);
        let elapsed = start.elapsed();
        found.print(model, elapsed);
        failed |= found.failed;
    }
    Ok(ExitCode::from(u8::from(failed)))
}
