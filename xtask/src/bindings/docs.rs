// SPDX-License-Identifier: MIT OR Apache-2.0

//! The documentation of each binding, by the tool of its language. A warning is an error.

use std::fs;

use super::{java, node, python};
use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

const FOLDER: &str = "bindings/target/docs";
const TYPEDOC: [&str; 2] = ["--package=typedoc@0.28.20", "--package=typescript@5.9.3"];

pub(crate) fn docs() -> Result<(), String> {
    let _ = fs::remove_dir_all(FOLDER);
    of_c()?;
    of_python()?;
    of_node()?;
    of_java()?;
    println!("{FOLDER}");
    Ok(())
}

fn of_c() -> Result<(), String> {
    if !is_there("doxygen") {
        needs("doxygen", "C");
        return Ok(());
    }
    let docs = folder("c")?;
    Step::program("doxygen", &["bindings/c/Doxyfile"])
        .env("DOCS", &docs)
        .run()
}

fn of_python() -> Result<(), String> {
    let Some(interpreter) = python::module()? else {
        return Ok(());
    };
    // The module gives some names only when they are asked for, and pdoc does not ask.
    let code = "import pathlib, sys, pdoc, statwalk; \
         vars(statwalk).update({name: getattr(statwalk, name) for name in statwalk.__all__}); \
         pdoc.pdoc('statwalk', output_directory=pathlib.Path(sys.argv[1]))";
    let words = ["-W", "error::UserWarning", "-c", code, &folder("python")?];
    Step::program(&interpreter, &words).run()
}

fn of_node() -> Result<(), String> {
    if !is_there("npm") || !node::has_node() {
        needs("Node 20 and npm", "Node");
        return Ok(());
    }
    if !Step::npm(&["ping"], node::FOLDER).succeeds_quietly() {
        needs("the registry of npm", "Node");
        return Ok(());
    }
    let docs = folder("node")?;
    let typedoc = [
        "--",
        "typedoc",
        "--entryPoints",
        "index.d.ts",
        "--tsconfig",
        "test/tsconfig.json",
        "--treatWarningsAsErrors",
        "--logLevel",
        "Warn",
        "--out",
        &docs,
    ];
    let words = [&["exec", "--yes"], &TYPEDOC[..], &typedoc].concat();
    Step::npm(&words, node::FOLDER).run()
}

fn of_java() -> Result<(), String> {
    let Some(jdk) = java::jdk() else {
        needs("JDK 22", "Java");
        return Ok(());
    };
    let javadoc = jdk.join("bin/javadoc");
    let sources = format!("{}/src/main/java", java::FOLDER);
    let docs = folder("java")?;
    let words = [
        "-quiet",
        "-Werror",
        "-Xdoclint:all",
        "-d",
        &docs,
        "--source-path",
        &sources,
        "-subpackages",
        "org.statwalk",
    ];
    Step::program(&javadoc.to_string_lossy(), &words).run()
}

fn needs(what: &str, language: &str) {
    let suite = format!("documentation of the binding to {language}");
    skipped::suite(what, &suite);
}

/// The folder of a language, which is made. Tools run elsewhere, so it is absolute.
fn folder(language: &str) -> Result<String, String> {
    let folder = format!("{FOLDER}/{language}");
    let made = fs::create_dir_all(&folder).and_then(|()| std::path::absolute(&folder));
    let made = made.map_err(|error| format!("{folder}: {error}"))?;
    Ok(made.to_string_lossy().into_owned())
}
