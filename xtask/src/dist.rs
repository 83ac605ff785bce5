// SPDX-License-Identifier: MIT OR Apache-2.0

//! Builds the program as it is released: static and position-independent.
//!
//! A checkout builds as cargo does everywhere. Static linking is a choice of the
//! release, because a small scan is over before a dynamic loader is:
//! `docs/platform.md` has the figures.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::linking::Linking;
use crate::step::Step;

/// Leads rustc to static-pie, where `relocation-model` stays as it is by default.
const STATIC: &str = "-C target-feature=+crt-static";

/// Builds it, checks how it is linked, writes its manual pages and completions beside
/// it, and prints where it is.
pub(crate) fn dist() -> Result<(), String> {
    let program = build()?;
    write_documents(&program)?;
    println!("{}", program.display());
    Ok(())
}

/// Writes `man/statwalk.1`, a page for each command, and completions for each shell.
fn write_documents(program: &Path) -> Result<(), String> {
    let folder = program.parent().unwrap_or(Path::new("."));
    let write = |words: &[&str], file: &str| {
        let output = Command::new(program).args(words).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        if !output.status.success() || output.stdout.is_empty() {
            return Err(format!("{words:?}: {}", output.status));
        }
        let path = folder.join(file);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let directory = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(directory).map_err(failed)?;
        std::fs::write(&path, &output.stdout).map_err(failed)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let page = write(&["man"], "man/statwalk.1")?;
    // The page names that of each command.
    let commands = page
        .lines()
        .filter_map(|line| line.strip_prefix(".BR statwalk\\-")?.split(' ').next());
    for command in commands {
        write(&["man", command], &format!("man/statwalk-{command}.1"))?;
    }
    for (shell, file) in [
        ("bash", "completions/statwalk.bash"),
        ("zsh", "completions/_statwalk"),
        ("fish", "completions/statwalk.fish"),
    ] {
        write(&["completions", shell], file)?;
    }
    Ok(())
}

/// Builds it and returns where it is: `target/dist/statwalk`.
pub(crate) fn build() -> Result<PathBuf, String> {
    let built = compile()?;
    let linking = Linking::of(&built)?;
    let fault = |fault: String| format!("{}: {fault}", built.display());
    linking.check().map_err(fault)?;
    if !linking.is_static {
        return Err(fault("it is not static".to_owned()));
    }
    install(&built)
}

/// Compiles for this machine, and returns the program that cargo made.
fn compile() -> Result<PathBuf, String> {
    // With a target named, the flags do not reach procedural macros, which
    // cannot be static.
    let target = host()?;
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.push(' ');
    flags.push_str(STATIC);
    let build = [
        "build",
        "--release",
        "--locked",
        "--package=statwalk",
        "--target",
        &target,
        "--message-format=json-render-diagnostics",
    ];
    let messages = Step::cargo(&build).env("RUSTFLAGS", &flags).output()?;
    // The one artifact that can be run; no path has a quote in it.
    let program = messages
        .lines()
        .filter_map(|line| line.split_once("\"executable\":\""))
        .filter_map(|(_, rest)| rest.split('"').next())
        .next_back()
        .map(PathBuf::from);
    program
        .filter(|path| path.is_file())
        .ok_or_else(|| "dist: cargo named no program".to_owned())
}

/// The name of this machine's target.
fn host() -> Result<String, String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--print", "host-tuple"])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => Err(format!("rustc --print host-tuple: {}", output.status)),
        Err(error) => Err(format!("rustc: {error}")),
    }
}

/// Copies a program as an installation copies it. A linker writes its output in
/// pieces, and the page cache keeps the pieces: a start from there has more page
/// faults, 0.1 ms in all (`bench/run`, start-up).
fn install(built: &Path) -> Result<PathBuf, String> {
    // `target/TARGET/release/statwalk`
    let target = built.ancestors().nth(3).unwrap_or(Path::new("target"));
    let folder = target.join("dist");
    let installed = folder.join("statwalk");
    let failed = |error: std::io::Error| format!("{}: {error}", installed.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    // A program that runs cannot be written to, but its name can be given away.
    if installed.exists() {
        std::fs::remove_file(&installed).map_err(failed)?;
    }
    std::fs::copy(built, &installed).map_err(failed)?;
    Ok(installed)
}
