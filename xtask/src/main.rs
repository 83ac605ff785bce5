// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tasks of more than one line of cargo: `cargo xtask test`, `check`, `model`, `tidy` and others.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports on a terminal"
)]

mod attack;
mod beside;
mod bindings;
mod captures;
mod dist;
mod figures;
mod fuzz;
mod install;
mod lines;
mod linking;
mod map;
mod package;
mod picture;
mod quick;
mod simulate;
mod skipped;
mod step;
mod targets;
mod test_count;
mod tidy;
mod times;
mod viewer;

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use beside::Beside;
use step::Step;

const USAGE: &str = "\
usage: cargo xtask TASK

  test     installs what the tests need and runs all of them, model checks too
           --quick: unit tests, named trees and the answers of the program; no root, and
           nothing is installed
           --count: writes how many tests there are, for docs/testing.md
  check    formatting, clippy and docs with warnings denied, the types of the packages
           outside of the workspace and of the engine on other systems, tidy
  bindings the tests of the bindings to C and other languages, where the machine has
           them; a part of `test`
  docs     the documentation of the bindings, by doxygen, pdoc, TypeDoc and javadoc; a part
           of `bindings`
  c-library PREFIX
           builds the C library and installs it, with its headers and statwalk.pc
  wheel    builds the Python module as a wheel that installs the program, too
  targets  the types of the engine on Windows, macOS, FreeBSD and Arm Linux; a part of
           `check` (needs Debian's rustc-web, cargo-web and rust-web-src)
  viewer   the tests of the page of reports, in Node and in Chromium where they are
           installed; a part of `test`
  lines    the lines of the product by crate, here or at a commit: `lines HEAD~3`
  map      each source file and the first sentence of its head: `map listing` those with
           this word in their path
  suites   the suites that mostly wait, `program` and `attack`; a part of `test`
  model    the model checks of the hand-over of work (loom)
  simulate the simulation of the scheduler: `simulate SEED` runs one again with all its
           steps, `simulate seeds COUNT` many, `simulate table` writes docs/workers.md
  tidy     licence lines, layers, the map, paths, figures, the age of the pictures, and wording
  fuzz     every fuzz target for 15 seconds, or as many as are named: `fuzz 600`
  attack   random attacks on the program for 10 minutes, or as many as are named: `attack 60`
  dist     the program as it is released: static, position-independent, full RELRO;
           with its manual pages and completions
  package  builds the packages of the crates, and installs the program from the checkout
  picture  plays a session and draws docs/pictures/session.svg (needs root, tmux, mkfs.ext4)
           --keep: keeps it, for new words that no screen of the session shows
  page-picture
           takes docs/pictures/report-light.png and report-dark.png (needs Node and Chromium, too)
           --keep: keeps them, for a change of the page that they do not show
  captures plays docs/captures; target/captures has them in colour, on black and on white
           (needs the same)
  figures  writes the figures of README.md from the records of bench
  deny     licences, versions and sources of dependencies, those of the bindings too
           (needs cargo-deny)
  install  only installs what the tests need
";

fn main() -> ExitCode {
    let begun = Instant::now();
    let task = std::env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => match std::env::args().nth(2).as_deref() {
            None => test(),
            Some("--quick") => quick::test(),
            Some("--count") => test_count::print(),
            Some(word) => Err(format!(
                "test: unknown word {word}; it takes --quick, --count or nothing"
            )),
        },
        Some("check") => check(),
        Some("bindings") => bindings::test(),
        Some("docs") => bindings::docs(),
        Some("c-library") => match std::env::args_os().nth(2) {
            Some(prefix) => bindings::install_c(prefix.as_ref(), bindings::Build::Release),
            None => Err("c-library: name the directory to install to".to_owned()),
        },
        Some("wheel") => bindings::wheel(bindings::Build::Release),
        Some("targets") => targets::check(),
        Some("viewer") => viewer::test(),
        Some("model") => model(),
        Some("suites") => waiting_suites(),
        Some("lines") => lines::print(std::env::args().nth(2).as_deref()),
        Some("map") => map::print(std::env::args().nth(2).as_deref()),
        Some("simulate") => simulate::simulate(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("tidy") => tidy::tidy(),
        Some("fuzz") => match std::env::args().nth(2).map(|text| text.parse()) {
            None => fuzz::fuzz(fuzz::SECONDS_EACH),
            Some(Ok(seconds)) => fuzz::fuzz(seconds),
            Some(Err(_)) => Err("fuzz: not a number of seconds".to_owned()),
        },
        Some("attack") => match std::env::args().nth(2).map(|text| text.parse()) {
            None => attack::attack(attack::MINUTES),
            Some(Ok(minutes)) => attack::attack(minutes),
            Some(Err(_)) => Err("attack: not a number of minutes".to_owned()),
        },
        Some("dist") => dist::dist(),
        Some("package") => package::package(),
        Some("figures") => figures::figures(),
        Some("picture") => match std::env::args().nth(2).as_deref() {
            None => picture::picture(),
            Some("--keep") => picture::age::keep(),
            Some(word) => Err(format!(
                "picture: unknown word {word}; it takes --keep or nothing"
            )),
        },
        Some("page-picture") => match std::env::args().nth(2).as_deref() {
            None => picture::page::page_picture(),
            Some("--keep") => picture::age::keep_page(),
            Some(word) => Err(format!(
                "page-picture: unknown word {word}; it takes --keep or nothing"
            )),
        },
        Some("captures") => captures::captures(),
        Some("deny") => deny(),
        Some("install") => {
            install::tools();
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if matches!(
        task.as_deref(),
        Some("test" | "bindings" | "viewer" | "model" | "suites")
    ) {
        times::print(begun);
        skipped::print();
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("xtask: {failed}");
            ExitCode::FAILURE
        }
    }
}

/// The suites that mostly wait: for terminals, for programs and for clocks.
const WAITING: [&str; 2] = ["attack", "program"];

fn test() -> Result<(), String> {
    install::tools();
    let beside = Beside::begin(&["bindings", "viewer", "model"]);
    // Examples are built here, too.
    let built = Step::cargo(&["test", "--workspace", "--no-run"]).run();
    let done = match built {
        Ok(()) => {
            let waiting = Beside::begin(&["suites"]);
            let done = [other_suites(), doc_tests(), waiting.end()];
            joined(done)
        }
        Err(reason) => Err(reason),
    };
    joined([done, beside.end()])
}

/// All reasons together.
fn joined<const N: usize>(done: [Result<(), String>; N]) -> Result<(), String> {
    let failed: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("; ")),
    }
}

/// Runs tests of the workspace. A package alone would have other features of what it
/// depends on, and all of that would be built once more.
fn run_tests(which: &[&str]) -> Result<(), String> {
    // One program of tests that fails keeps no other from its tests.
    let words = [
        &["test", "--workspace", "--no-fail-fast"],
        which,
        &["--", "--show-output"],
    ];
    Step::cargo(&words.concat()).run_and_note_skipped()
}

fn waiting_suites() -> Result<(), String> {
    let words: Vec<&str> = WAITING.iter().flat_map(|suite| ["--test", suite]).collect();
    run_tests(&words)
}

fn other_suites() -> Result<(), String> {
    let suites = quick::suites_but(&WAITING)?;
    let suites = suites.iter().flat_map(|suite| ["--test", suite]);
    let words: Vec<&str> = ["--lib", "--bins"].into_iter().chain(suites).collect();
    run_tests(&words)
}

fn doc_tests() -> Result<(), String> {
    run_tests(&["--doc"])
}

fn check() -> Result<(), String> {
    Step::cargo(&["fmt", "--all", "--check"]).run()?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    Step::cargo(&clippy).run()?;
    Step::cargo(&["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    bindings::check()?;
    check_outside()?;
    targets::check()?;
    tidy::tidy()
}

/// Checks the types of the packages that use the library and are not in the workspace.
///
/// Nothing else builds them before somebody measures or fuzzes, so they stayed behind
/// when the library changed. A first run takes about a minute, and the next ones seconds.
fn check_outside() -> Result<(), String> {
    const ENGINE: &str = "bench/engines/statwalk";
    // As its own build does, which keeps no lock of its own.
    fs::copy("Cargo.lock", format!("{ENGINE}/Cargo.lock"))
        .map_err(|error| format!("{ENGINE}/Cargo.lock: {error}"))?;
    for (package, locked) in [(ENGINE, None), ("fuzz", Some("--locked"))] {
        let manifest = format!("{package}/Cargo.toml");
        let mut check = vec!["check", "--all-targets", "--manifest-path", &manifest];
        check.extend(locked);
        Step::cargo(&check)
            .env("CARGO_TARGET_DIR", "target/outside")
            .run()?;
    }
    Ok(())
}

fn model() -> Result<(), String> {
    let mut step = Step::cargo(&["test", "-p", "statwalk-core", "--lib", "model_"]);
    // The checks take seconds, and an optimised build of what they need minutes.
    for (name, value) in [("OPT_LEVEL", "0"), ("DEBUG", "0")] {
        for profile in ["DEV", "TEST"] {
            step = step.env(&format!("CARGO_PROFILE_{profile}_{name}"), value);
        }
    }
    step.env("RUSTFLAGS", "--cfg loom")
        // Apart, so that the flag does not rebuild everything twice.
        .env("CARGO_TARGET_DIR", "target/loom")
        .run()
}

fn deny() -> Result<(), String> {
    const MISSING: &str = "cargo-deny is not installed; \
        `cargo install --locked cargo-deny@0.20.2` installs it in some minutes";
    if !Step::cargo(&["deny", "--version"]).succeeds_quietly() {
        return Err(MISSING.to_owned());
    }
    for manifest in ["Cargo.toml", bindings::MANIFEST] {
        let words = [
            "deny",
            "--locked",
            "--manifest-path",
            manifest,
            "--config",
            "deny.toml",
            "check",
            "licenses",
            "bans",
            "sources",
        ];
        Step::cargo(&words).run()?;
    }
    Ok(())
}
