// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Python module, in an environment of its own, and its wheel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::Build;
use crate::dist;
use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

const FOLDER: &str = "bindings/python";
const PROJECT: &str = "bindings/python/pyproject.toml";
/// The environment. Its mark is written when it is whole.
const VENV: &str = "bindings/target/venv";
const MARK: &str = "bindings/target/venv/complete";
const WHEELS: &str = "bindings/target/wheels";
/// The environment that only has the wheel.
const WITH_WHEEL: &str = "bindings/target/venv-with-wheel";
/// An interpreter without the global lock: the first that PyO3 takes, or a later one.
const FREE_THREADED: [&str; 2] = ["python3.14t", "python3.15t"];
const FREE_THREADED_VENV: &str = "bindings/target/venv-free-threaded";
const FREE_THREADED_WHEELS: &str = "bindings/target/wheels-free-threaded";

pub(super) fn test() -> Result<(), String> {
    if module()?.is_none() {
        return Ok(());
    }
    let pytest = format!("{}/bin/pytest", absolute(VENV)?);
    in_environment(&pytest)?.run_and_note_skipped()?;
    test_wheel()?;
    match FREE_THREADED.into_iter().find(|name| is_there(name)) {
        Some(python) => test_free_threaded(python),
        None => {
            needs("python3.14t, which has no global lock");
            Ok(())
        }
    }
}

/// Builds the module, and answers with the interpreter of an environment that has it.
pub(super) fn module() -> Result<Option<String>, String> {
    if !has_python() {
        needs("Python 3.11 with venv");
        return Ok(None);
    }
    // A machine without a network still has the tests of the others.
    if let Err(reason) = ensure_environment() {
        println!("xtask: {reason}");
        needs("packages of PyPI");
        return Ok(None);
    }
    let venv = absolute(VENV)?;
    in_environment(&format!("{venv}/bin/maturin develop"))?.run()?;
    Ok(Some(format!("{venv}/bin/python")))
}

fn needs(what: &str) {
    skipped::suite(what, "bindings to Python");
}

/// Builds a wheel that installs the program, too. Prints where it is.
pub(crate) fn wheel(build: Build) -> Result<(), String> {
    ensure_environment()?;
    let (program, profile) = match build {
        Build::Release => (dist::build()?, "--release"),
        Build::Dev => {
            // Built alone, it would have other features than the one that the tests run.
            Step::cargo(&["test", "--workspace", "--no-run"]).run()?;
            (PathBuf::from("target/debug/statwalk"), "")
        }
    };
    let _ = fs::remove_dir_all(WHEELS);
    let (venv, wheels) = (absolute(VENV)?, absolute(WHEELS)?);
    // Without an audit of the libraries that it needs, which a release makes.
    let line = format!("{venv}/bin/maturin build {profile} --compatibility linux -o {wheels}");
    in_environment(&line)?.run()?;
    // maturin packs a module or a program.
    Step::shell(&format!(
        "cd {wheels} && {venv}/bin/wheel unpack *.whl && rm *.whl && \
         folder=$(echo statwalk-*) && mkdir -p $folder/$folder.data/scripts && \
         cp {} $folder/$folder.data/scripts/statwalk && \
         {venv}/bin/wheel pack $folder && rm -r $folder",
        absolute(&program.to_string_lossy())?
    ))
    .run()?;
    println!("{WHEELS}");
    Ok(())
}

/// Installs the wheel where nothing else is, and calls the program and the module.
fn test_wheel() -> Result<(), String> {
    wheel(Build::Dev)?;
    Step::shell(&format!(
        "python3 -m venv --clear --without-pip {WITH_WHEEL} && \
         {VENV}/bin/pip --python {WITH_WHEEL}/bin/python install -q \
         --disable-pip-version-check --no-index {WHEELS}/*.whl"
    ))
    .run()?;
    let program = Step::shell(&format!("{WITH_WHEEL}/bin/statwalk --version")).output()?;
    let code = "import statwalk; from importlib.metadata import metadata; \
                assert statwalk.du('bindings').entries > 1; \
                assert len(metadata('statwalk').get_all('License-File')) == 2; \
                print('statwalk', statwalk.__version__)";
    let module = Step::shell(&format!("{WITH_WHEEL}/bin/python -c \"{code}\"")).output()?;
    match program.lines().next() == module.lines().next() {
        true => Ok(()),
        false => Err(format!("the wheel has {program:?} and {module:?}")),
    }
}

/// Builds the module for a Python without the global lock, and tests it there. The module
/// must not bring the lock back, which an import does for one that does not know of threads.
fn test_free_threaded(python: &str) -> Result<(), String> {
    let (venv, wheels) = (
        absolute(FREE_THREADED_VENV)?,
        absolute(FREE_THREADED_WHEELS)?,
    );
    let _ = fs::remove_dir_all(FREE_THREADED_WHEELS);
    let maturin = format!("{}/bin/maturin build", absolute(VENV)?);
    in_environment(&format!(
        "{maturin} -i {python} --compatibility linux -o {wheels}"
    ))?
    .run()?;
    Step::shell(&format!(
        "{python} -m venv --clear {venv} && \
         {venv}/bin/pip install -q --disable-pip-version-check pytest {wheels}/*.whl"
    ))
    .run()?;
    let code = "import statwalk, sys; sys.exit(sys._is_gil_enabled())";
    Step::shell(&format!("{venv}/bin/python -c '{code}'")).run()?;
    // Not as an argument: pytest would take the module from the checkout.
    let pytest = format!("cd {FOLDER}/tests && {venv}/bin/pytest -p no:cacheprovider .");
    Step::shell(&pytest).run_and_note_skipped()
}

/// A command in the folder of the module, with the environment's Python.
fn in_environment(line: &str) -> Result<Step, String> {
    let venv = absolute(VENV)?;
    let line = format!("cd {FOLDER} && VIRTUAL_ENV={venv} {line}");
    Ok(Step::shell(&line))
}

fn absolute(path: &str) -> Result<String, String> {
    let found = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(found.display().to_string())
}

fn ensure_environment() -> Result<(), String> {
    match is_fresh().unwrap_or(false) {
        true => Ok(()),
        false => make_environment(),
    }
}

fn has_python() -> bool {
    let code = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let python = Command::new("python3").args(["-c", code]).status();
    is_there("python3") && python.is_ok_and(|status| status.success())
}

/// Makes the environment, with the packages that the tests compare with.
fn make_environment() -> Result<(), String> {
    let packages = "import sys, tomllib; project = tomllib.load(open(sys.argv[1], 'rb')); \
         print(*project['build-system']['requires'], \
         *project['project']['optional-dependencies']['test'], sep='\\n')";
    Step::shell(&format!(
        "python3 -m venv --clear {VENV} && \
         python3 -c \"{packages}\" {PROJECT} > {VENV}/packages.txt && \
         {VENV}/bin/pip install -q --disable-pip-version-check -r {VENV}/packages.txt && \
         touch {MARK}"
    ))
    .run()
}

/// Whether the environment is younger than the list of its packages.
fn is_fresh() -> io::Result<bool> {
    let made = fs::metadata(MARK)?.modified()?;
    Ok(made >= fs::metadata(Path::new(PROJECT))?.modified()?)
}
