// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Python module, in an environment of its own.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::install::is_there;
use crate::step::Step;

const FOLDER: &str = "bindings/python";
const PROJECT: &str = "bindings/python/pyproject.toml";
/// The environment. Its mark is written when it is whole.
const VENV: &str = "bindings/target/venv";
const MARK: &str = "bindings/target/venv/complete";

pub(super) fn test() -> Result<(), String> {
    let needs = |what: &str| println!("xtask: skipped: needs {what} (bindings to Python)");
    if !has_python() {
        needs("Python 3.11 with venv");
        return Ok(());
    }
    if !is_fresh().unwrap_or(false) {
        // A machine without a network still has the tests of the others.
        if let Err(reason) = make_environment() {
            println!("xtask: {reason}");
            needs("packages of PyPI");
            return Ok(());
        }
    }
    let venv = std::path::absolute(VENV).map_err(|error| format!("{VENV}: {error}"))?;
    let venv = venv.display();
    Step::shell(&format!(
        "cd {FOLDER} && VIRTUAL_ENV={venv} {venv}/bin/maturin develop"
    ))
    .run()?;
    Step::shell(&format!("cd {FOLDER} && {venv}/bin/pytest")).run_and_list_skipped()
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
