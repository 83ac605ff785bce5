// SPDX-License-Identifier: MIT OR Apache-2.0

//! Programs in C and C++ that the compiler of this machine builds against the library.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use statwalk_testkit::{Scratch, strategy, trees};

/// The folder with the shared library under the name by which programs load it.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let built = test.parent().unwrap();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("library");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["libstatwalk.so", "libstatwalk.so.0"] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            symlink(built.join("libstatwalk.so"), link).unwrap();
        }
        let _ = std::fs::remove_file(folder.join("libstatwalk.a"));
        symlink(built.join("libstatwalk.a"), folder.join("libstatwalk.a")).unwrap();
        folder
    })
}

/// The words of pkg-config for a program that holds the library.
fn static_words() -> Vec<String> {
    let prefix = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let (lib, folder) = (prefix.join("lib"), prefix.join("lib/pkgconfig"));
    std::fs::create_dir_all(&folder).unwrap();
    // The archive alone, so that no program takes the shared library.
    let _ = std::fs::remove_file(lib.join("libstatwalk.a"));
    symlink(library().join("libstatwalk.a"), lib.join("libstatwalk.a")).unwrap();
    let text = include_str!("../statwalk.pc.in")
        .replace("@PREFIX@", prefix.to_str().unwrap())
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    std::fs::write(folder.join("statwalk.pc"), text).unwrap();
    let mut ask = Command::new("pkg-config");
    ask.args(["--static", "--libs", "statwalk"]);
    let words = succeeds(ask.env("PKG_CONFIG_PATH", folder)).stdout;
    let words = String::from_utf8(words).unwrap();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Builds a program, and gives its path.
fn build(source: &str, name: &str, more: &[&str]) -> PathBuf {
    match source.ends_with(".cpp") {
        true => build_by("c++", "c++17", source, name, more),
        false => build_by("cc", "gnu11", source, name, more),
    }
}

/// As [`build`], by a compiler and in a standard of the language.
fn build_by(compiler: &str, standard: &str, source: &str, name: &str, more: &[&str]) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compile = Command::new(compiler);
    compile.args(["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    compile.arg(format!("-std={standard}"));
    if source.ends_with(".cpp") {
        compile.args(["-Wshadow", "-Wconversion"]);
    }
    compile
        .arg("-I")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
    compile.arg(tests.join(source)).arg("-o").arg(&program);
    compile.arg("-L").arg(library()).args(more);
    if !more.contains(&"-l:libstatwalk.a") {
        compile
            .arg("-lstatwalk")
            .arg(format!("-Wl,-rpath,{}", library().display()));
    }
    compile.args(["-lpthread", "-ldl", "-lm"]);
    succeeds(&mut compile);
    program
}

fn succeeds(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{words}",
        output.status
    );
    output
}

fn behaviour() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("behaviour.c", "behaviour", &[]))
}

/// A small tree, with what belongs to a test removed at its end.
fn tree() -> Scratch {
    let scratch = Scratch::new().unwrap();
    trees::basic()
        .materialise(&scratch.path().join("tree"))
        .unwrap();
    scratch
}

fn holds(case: &str) {
    let scratch = tree();
    succeeds(
        Command::new(behaviour())
            .arg(case)
            .arg(scratch.path().join("tree")),
    );
}

#[test]
fn entries_are_those_of_fts_and_find() {
    let program = build("agree.c", "agree", &[]);
    let scratch = Scratch::new().unwrap();
    let mut roots = Vec::new();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        roots.push(dir);
    }
    for seed in 0..40 {
        let dir = scratch.path().join(format!("random-{seed}"));
        let model = strategy::of_seed(&strategy::model(), seed);
        model.materialise(&dir).unwrap();
        roots.push(dir);
    }
    for root in roots {
        agrees(&program, &root).unwrap();
    }
    // Others write there now and then: a difference counts if find sees the same before and after.
    let usr = Path::new("/usr");
    let has_agreed = (0..TRIES_MAX).any(|_| {
        let before = facts(usr);
        let agreed = agrees(&program, usr);
        agreed.is_ok() || {
            assert!(facts(usr) != before, "{agreed:?}");
            false
        }
    });
    assert!(has_agreed, "/usr changes all the time");
}

/// How often a tree that others change is looked at.
const TRIES_MAX: usize = 20;

/// Compares a program's entries with those of fts, and its paths with those of find.
fn agrees(program: &Path, root: &Path) -> Result<(), String> {
    let find = Command::new("find").arg(root).arg("-print0").output();
    let found = find.map_err(|error| error.to_string())?.stdout;
    for threads in ["1", "4"] {
        let output = Command::new(program).arg(root).arg(threads).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        if paths(&output.stdout) != paths(&found) {
            return Err(format!("{}: other paths than find", root.display()));
        }
    }
    Ok(())
}

/// All that the program compares, by find.
fn facts(root: &Path) -> Vec<u8> {
    let format = "%p %i %D %s %b %n %U %G %m %T@ %C@\\0";
    let find = Command::new("find")
        .arg(root)
        .args(["-printf", format])
        .output();
    find.unwrap().stdout
}

fn paths(output: &[u8]) -> BTreeSet<&[u8]> {
    output.split(|&byte| byte == 0).collect()
}

#[test]
fn a_thousand_scans_leave_nothing_behind() {
    holds("early_exit");
}

#[test]
fn errors_are_items_and_the_end_says_so() {
    holds("errors");
}

#[test]
fn wrong_use_is_a_failure() {
    holds("wrong_use");
}

#[test]
fn entries_come_in_the_order_that_was_asked_for() {
    holds("order");
}

#[test]
fn nothing_below_a_skipped_directory_of_a_table_comes() {
    holds("skipping");
}

#[test]
fn tables_become_arrays_of_arrow() {
    holds("to_arrow");
}

#[test]
fn one_directory_alone_is_listed() {
    holds("one_directory");
}

#[test]
fn another_thread_can_stop_a_scan() {
    holds("cancel");
}

#[test]
fn nobody_has_to_wait() {
    holds("waiting");
}

#[test]
fn an_event_loop_waits_by_a_descriptor() {
    holds("readiness");
}

#[test]
fn a_thread_with_a_small_stack_can_scan() {
    holds("small_stack");
}

#[test]
fn a_thread_that_is_ending_can_scan() {
    holds("ending_thread");
}

#[test]
fn a_process_without_threads_and_with_few_descriptors_can_scan() {
    let scratch = Scratch::new().unwrap();
    for number in 0..1_200 {
        let path = format!("{}/{}/{number}", number % 7, number % 11);
        std::fs::create_dir_all(scratch.path().join(path)).unwrap();
    }
    succeeds(Command::new(behaviour()).arg("limits").arg(scratch.path()));
}

#[test]
fn the_child_of_a_fork_has_its_own_scans() {
    holds("after_fork");
}

#[test]
fn handlers_of_signals_stay() {
    holds("signals");
}

#[test]
fn a_directory_without_permission_is_an_item_and_a_row() {
    let scratch = tree();
    let tree = scratch.path().join("tree");
    let closed = tree.join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
    let listable = tree.join("listable");
    std::fs::create_dir_all(listable.join("directory")).unwrap();
    std::fs::write(listable.join("file"), "text").unwrap();
    std::fs::set_permissions(&listable, PermissionsExt::from_mode(0o444)).unwrap();
    // Root may read it all the same.
    let is_root = std::fs::read_dir(&closed).is_ok();
    let case = ["unreadable".as_ref(), tree.as_os_str()];
    match is_root {
        false => succeeds(Command::new(behaviour()).args(case)),
        true => {
            let program = scratch.path().join("behaviour");
            // By a process of its own: a child that another thread has just forked would hold
            // the descriptor that writes, and no system runs a file that is open for that.
            succeeds(Command::new("cp").arg(behaviour()).arg(&program));
            let so = scratch.path().join("libstatwalk.so.0");
            std::fs::copy(library().join("libstatwalk.so"), so).unwrap();
            let mut run = Command::new("setpriv");
            run.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            run.env("LD_LIBRARY_PATH", scratch.path());
            succeeds(run.arg(program).args(case))
        }
    };
    for folder in [&closed, &listable] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn the_header_of_cpp_has_a_loop() {
    let scratch = tree();
    let program = build("loop.cpp", "loop", &[]);
    succeeds(Command::new(program).arg(scratch.path().join("tree")));
}

#[test]
fn the_static_library_serves_as_well() {
    let scratch = tree();
    let program = build("behaviour.c", "behaviour-static", &["-l:libstatwalk.a"]);
    succeeds(
        Command::new(program)
            .arg("errors")
            .arg(scratch.path().join("tree")),
    );
}

/// clang++ itself, or the one with a version.
fn clang() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = std::env::split_paths(&path).filter_map(|folder| std::fs::read_dir(folder).ok());
    let names = files
        .flatten()
        .filter_map(|file| file.ok()?.file_name().into_string().ok());
    let is_clang = |name: &String| {
        let version = name.strip_prefix("clang++");
        version.is_some_and(|rest| rest.chars().all(|c| c == '-' || c.is_ascii_digit()))
    };
    names.filter(is_clang).min_by_key(String::len)
}

/// Whether a compiler can use the views of its library: clang 15 and older cannot use those of
/// libstdc++.
fn knows_views(compiler: &str) -> bool {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("views.cpp");
    let text = "#include <ranges>\nint main() { for (int i : std::views::iota(0) | \
                std::views::filter([](int i) { return i > 0; }) | std::views::take(1)) return i; }\n";
    std::fs::write(&source, text).unwrap();
    let mut check = Command::new(compiler);
    check.args(["-std=c++20", "-fsyntax-only"]).arg(source);
    check.output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_header_of_cpp_holds_in_every_standard() {
    let clang = clang();
    if clang.is_none() {
        eprintln!("skipped: needs clang++ (the_header_of_cpp_holds_in_every_standard)");
    }
    for compiler in ["c++".to_owned()].into_iter().chain(clang) {
        let knows_views = knows_views(&compiler);
        if !knows_views {
            eprintln!("skipped: needs views (the_header_of_cpp_holds_in_every_standard)");
        }
        for standard in ["c++17", "c++20"] {
            for source in ["ownership.cpp", "ranges.cpp"] {
                if source == "ranges.cpp" && (standard == "c++17" || !knows_views) {
                    continue;
                }
                let scratch = tree();
                let name = format!("{compiler}-{standard}-{source}");
                let program = build_by(&compiler, standard, source, &name, &[]);
                succeeds(Command::new(program).arg(scratch.path().join("tree")));
            }
        }
    }
}

#[test]
fn names_of_any_bytes_are_those_of_the_header_of_cpp() {
    let program = build("ownership.cpp", "ownership-names", &[]);
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("tree");
    for name in [&b"\xff\xfe/\n\x01"[..], b" /\t", b"'\"/\\0", b"--/*"] {
        std::fs::create_dir_all(root.join(OsStr::from_bytes(name))).unwrap();
    }
    std::fs::write(root.join(OsStr::from_bytes(&[0xc3; 255])), "x").unwrap();
    succeeds(Command::new(program).arg(root));
}

/// The linker found no -lgcc_s, because that library has no static form. The compiler brings
/// the unwinder that fits.
#[test]
fn a_static_program_links_by_the_words_of_pkg_config() {
    if !has_program("pkg-config") {
        eprintln!("skipped: needs pkg-config (a_static_program_links_by_the_words_of_pkg_config)");
        return;
    }
    let scratch = tree();
    let words = static_words();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("by-pkg-config");
    let sources: [(&str, &str, &[&str]); 2] =
        [("cc", "behaviour.c", &["errors"]), ("c++", "loop.cpp", &[])];
    for (compiler, source, case) in sources {
        // With no word, the C library is shared.
        for form in [None, Some("-static"), Some("-static-pie")] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/programs")
                .join(source);
            let mut link = Command::new(compiler);
            link.arg(source)
                .arg("-I")
                .arg(&include)
                .arg("-o")
                .arg(&program);
            succeeds(link.args(form).args(&words));
            succeeds(
                Command::new(&program)
                    .args(case)
                    .arg(scratch.path().join("tree")),
            );
        }
    }
}

#[test]
fn valgrind_finds_no_fault() {
    if !has_program("valgrind") {
        eprintln!("skipped: needs valgrind (valgrind_finds_no_fault)");
        return;
    }
    let scratch = tree();
    let tree = scratch.path().join("tree");
    let program = build("agree.c", "agree-valgrind", &[]);
    let valgrind = |program: &Path, arguments: &[&OsStr]| {
        let mut run = Command::new("valgrind");
        run.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
        run.args([
            "--show-leak-kinds=definite,indirect",
            "--errors-for-leak-kinds=definite,indirect",
        ]);
        succeeds(run.arg(program).args(arguments));
    };
    valgrind(&program, &[tree.as_ref(), "2".as_ref()]);
    for case in ["errors", "wrong_use", "one_directory"] {
        valgrind(behaviour(), &[case.as_ref(), tree.as_ref()]);
    }
}

/// The compiler's own checks see the program, and every allocation of the library: a use after
/// its end, a second free, a leak at the end.
#[test]
fn sanitizers_find_no_fault() {
    let checks = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fno-omit-frame-pointer",
    ];
    let scratch = tree();
    let tree = scratch.path().join("tree");
    let run = |program: &Path, arguments: &[&OsStr], leaks: bool| {
        let options = format!(
            "detect_stack_use_after_return=1:detect_leaks={}",
            u8::from(leaks)
        );
        let mut run = Command::new(program);
        succeeds(run.env("ASAN_OPTIONS", options).args(arguments));
    };
    let agree = build("agree.c", "agree-sanitized", &checks);
    run(&agree, &[tree.as_ref(), "4".as_ref()], true);
    let behaviour = build("behaviour.c", "behaviour-sanitized", &checks);
    // A small stack has no room for what the checks keep on it, and their allocator can be
    // locked for good in the child of a fork among threads.
    for case in [
        "errors",
        "wrong_use",
        "one_directory",
        "cancel",
        "waiting",
        "early_exit",
        "skipping",
        "to_arrow",
        "readiness",
        "order",
    ] {
        run(&behaviour, &[case.as_ref(), tree.as_ref()], true);
    }
    // A call from the destructor of a key comes after the C library has freed what the thread
    // had of its own: the failure of that last call, some 80 bytes, stays (glibc 2.36,
    // nptl/pthread_create.c: `__call_tls_dtors`, then `__nptl_deallocate_tsd`).
    run(
        &behaviour,
        &["ending_thread".as_ref(), tree.as_ref()],
        false,
    );
    for (source, standard) in [
        ("loop.cpp", "c++17"),
        ("ownership.cpp", "c++17"),
        ("ranges.cpp", "c++20"),
    ] {
        let name = format!("{source}-sanitized");
        let cpp = build_by("c++", standard, source, &name, &checks);
        run(&cpp, &[tree.as_ref()], true);
    }
}

fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).exists())
}

#[test]
fn the_shared_library_has_its_name_and_exports_the_interface_alone() {
    let so = library().join("libstatwalk.so");
    let dynamic = succeeds(Command::new("readelf").arg("-d").arg(&so)).stdout;
    let dynamic = String::from_utf8_lossy(&dynamic);
    assert!(
        dynamic.contains("Library soname: [libstatwalk.so.0]"),
        "{dynamic}"
    );
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    let header = include_str!("../include/statwalk.h");
    let symbols = succeeds(Command::new("nm").args(["-D", "--defined-only"]).arg(&so)).stdout;
    let symbols = String::from_utf8_lossy(&symbols).into_owned();
    let exported: BTreeSet<&str> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    assert!(exported.len() > 20);
    for name in exported {
        assert!(header.contains(&format!("{name}(")), "{name}");
    }
}
