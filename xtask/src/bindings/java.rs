// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Java library: built and tested by Maven, with a JDK of 22 or newer.

use std::fs;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cargo;
use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

pub(super) const FOLDER: &str = "bindings/java";
const CENTRAL: &str = "repo.maven.apache.org:443";
/// The first with the final foreign function interface.
const OLDEST: u32 = 22;

pub(super) fn test() -> Result<(), String> {
    let needs = |what: &str| skipped::suite(what, "bindings to Java");
    let Some(jdk) = jdk().filter(|_| is_there("mvn")) else {
        needs("JDK 22 and Maven");
        return Ok(());
    };
    cargo(&["build"], &["-p", "statwalk-c"]).run()?;
    let native = own_library()?;
    let home = jdk.to_string_lossy().into_owned();
    let maven = |words: &str| {
        let words = format!("-Dstatwalk.native={} {words}", native.display());
        Step::shell(&format!("cd {FOLDER} && mvn -q -B {words}")).env("JAVA_HOME", &home)
    };
    // The first call brings the plugins of Maven, and JUnit.
    if let Err(reason) = maven("-DskipITs verify").run() {
        if is_offline() {
            needs("Maven Central");
            return Ok(());
        }
        return Err(reason);
    }
    maven("verify").run()
}

/// A folder with a copy of the library: builds of other suites take it away for moments, to put
/// theirs in its place.
fn own_library() -> Result<PathBuf, String> {
    const NAME: &str = "libstatwalk.so";
    let folder = std::path::absolute("bindings/target/java").map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let built = Path::new("bindings/target/debug").join(NAME);
    let mut copied = Ok(0);
    for _ in 0..100 {
        copied = fs::copy(&built, folder.join(NAME));
        if copied.is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    copied
        .map(|_| folder)
        .map_err(|error| format!("{}: {error}", built.display()))
}

/// A JDK that is new enough: that of `JAVA_HOME`, or one where Linux has them.
pub(super) fn jdk() -> Option<PathBuf> {
    let given = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let installed = installed.filter_map(|entry| Some(entry.ok()?.path()));
    let mut all = given.into_iter().chain(installed);
    all.find(|home| version(home).is_some_and(|version| version >= OLDEST))
}

/// The first number of its version, by the file `release` that every JDK has.
fn version(home: &Path) -> Option<u32> {
    if !home.join("bin/javac").exists() {
        return None;
    }
    let release = fs::read_to_string(home.join("release")).ok()?;
    let (_, version) = release.split_once("JAVA_VERSION=\"")?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn is_offline() -> bool {
    let mut addresses = CENTRAL.to_socket_addrs().into_iter().flatten();
    let patience = Duration::from_secs(5);
    !addresses.any(|address| TcpStream::connect_timeout(&address, patience).is_ok())
}
