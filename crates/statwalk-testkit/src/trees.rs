// SPDX-License-Identifier: MIT OR Apache-2.0

//! Named trees, each about one thing that a scanner gets wrong.
//!
//! They are data ([`Model`]); the test chooses where to make them. Trees too
//! large for a model of their own are made directly ([`make_wide`]).

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::model::{EntryType, Model, NodeKind, Totals};
use crate::text;
use crate::unprivileged::is_root;

/// The default depth of [`deep`]: close to the limit of a path.
pub const DEEP_DEFAULT: usize = 2_000;

/// How many files [`wide`] has where nothing else is asked for: several buffers of getdents64.
pub const WIDE_DEFAULT: usize = 5_000;

/// Every named tree that works on every Linux file system and that the oracle can walk.
///
/// Device nodes are among them where root makes them. [`deep`] has
/// [`DEEP_DEFAULT`] levels, [`wide`] has [`WIDE_DEFAULT`] files.
pub fn named() -> Vec<(&'static str, Model)> {
    let mut trees = vec![
        ("empty", Model::new()),
        ("basic", basic()),
        ("permissions", permissions()),
        ("hard_links", hard_links()),
        ("symbolic_links", symbolic_links()),
        ("odd_names", odd_names()),
        ("endings", endings()),
        ("deep", deep(DEEP_DEFAULT)),
        ("wide", wide(WIDE_DEFAULT)),
        ("sparse", sparse()),
        ("times", times()),
        ("special", special()),
    ];
    if is_root() {
        trees.push(("devices", devices()));
    }
    trees
}

/// Makes named trees with entries of all kinds in a directory that exists: to fill
/// a file system of its own.
///
/// # Errors
///
/// The first failing call.
pub fn make_assorted(dir: &Path) -> io::Result<()> {
    for (name, tree) in [
        ("basic", basic()),
        ("hard_links", hard_links()),
        ("odd_names", odd_names()),
        ("symbolic_links", symbolic_links()),
        ("special", special()),
        ("deep", deep(300)),
        ("wide", wide(WIDE_DEFAULT)),
    ] {
        tree.materialise(&dir.join(name))?;
    }
    Ok(())
}

/// A few directories, files and a link: the first thing that must work.
pub fn basic() -> Model {
    tree(
        "
        README          1200
        empty-file      0
        empty/
        docs/
        docs/a.txt      5000
        docs/b.txt      70
        docs/deeper/
        docs/deeper/c   4096
        src/
        src/main.rs     12K
        src/lib.rs      8193
        src/docs        -> ../docs
        target/
        target/debug/
        target/debug/binary  1M
        ",
    )
}

/// Names that end in more than one part, and such as only look like it.
pub fn endings() -> Model {
    tree(
        "
        a.tar.gz            1000
        b.TAR.GZ            2000
        c.tar               30
        d.gz                4
        e.tar.zst           50
        lib/
        lib/libc.so         10
        lib/libc.so.6       20
        lib/libm.so.6.0.1   30
        lib/python3.11      40
        lib/loop.ko.xz      50
        man/
        man/ls.1            100
        man/ls.1.gz         200
        man/printf.3pm.gz   300
        log/
        log/auth.log        7
        log/auth.log.1      7
        log/auth.log.2.gz   7
        log/auth.log.2.gzip 7
        log/mail.log-20261101     9
        log/mail.log-20261102.xz  9
        log/syslog          5
        log/syslog.1        5
        dir.tar.gz/
        dir.tar.gz/.gz      3
        dir.tar.gz/.tar.gz  3
        dir.tar.gz/gz       3
        dir.tar.gz/a..gz    3
        ",
    )
}

/// Directories and files that only their modes keep apart; root sees no difference.
///
/// For an ordinary user `none`, `execute-only` and `write-only` cannot be listed, and
/// `read-only` shows its names and nothing else. Files of mode 000 are as good as
/// others: the directory decides about their attributes.
pub fn permissions() -> Model {
    tree(
        "
        open/                   mode=755
        open/file          10   mode=644
        open/unreadable    20   mode=000
        none/                   mode=000
        none/hidden        30
        none/inner/
        none/inner/hidden  40
        execute-only/           mode=111
        execute-only/known 50
        execute-only/inner/
        write-only/             mode=222
        write-only/hidden  60
        read-only/              mode=444
        read-only/file     70
        read-only/inner/
        read-only/inner/x  80
        read-only/link          -> file
        nested/
        nested/a/
        nested/a/none/          mode=000
        nested/a/none/x    90
        nested/z          100
        ",
    )
}

/// Hard links: in one directory, across directories, three names, and to links and pipes.
///
/// `z/first` is the first of its names to be made and the last in path order. Its
/// bytes belong to `a/three`: `/` is lower than the `.` of `a.d/two`.
pub fn hard_links() -> Model {
    tree(
        "
        z/
        z/first         10000
        a/
        a.d/
        a.d/two         = z/first
        a/three         = z/first
        pair            300
        pair-again      = pair
        nested/
        nested/inner/
        nested/inner/x  500
        nested/x        = nested/inner/x
        other/
        other/x         = nested/inner/x
        link            -> pair
        a/link-again    = link
        pipe            fifo
        a/pipe-again    = pipe
        alone           7
        empty           0
        a/empty-again   = empty
        ",
    )
}

/// Symbolic links: to files and directories, out of the tree, dangling, in loops and in chains.
pub fn symbolic_links() -> Model {
    let mut model = tree(
        "
        real/
        real/file            1000
        real/inner/
        real/inner/deep      200
        to-file              -> real/file
        to-file-again        -> real/file
        to-directory         -> real
        real/to-parent       -> ..
        real/to-itself       -> .
        real/inner/to-top    -> ../..
        dangling             -> nowhere/at/all
        not-a-directory      -> real/file/x
        self                 -> self
        ping                 -> pong
        pong                 -> ping
        absolute             -> /
        absolute-file        -> /etc/passwd
        a-before-real        -> real/inner
        odd-target           -> \\xff\\n\\e[31m
        ",
    );
    // One step more than the kernel goes before it says ELOOP.
    let chain: String = (0..42)
        .map(|n| format!("chain-{n} -> chain-{}\n", n + 1))
        .collect();
    let chain = text::parse(&chain).expect("the text is made above");
    for (_, node) in chain.nodes().skip(1) {
        add(&mut model, &node.name, node.kind.clone());
    }
    add(
        &mut model,
        b"chain-42",
        NodeKind::Symlink {
            target: b"real/file".to_vec(),
        },
    );
    // XFS takes no more than 1,024 bytes.
    let target = [b"long/".repeat(200), b"end".to_vec()].concat();
    add(&mut model, b"long-target", NodeKind::Symlink { target });
    model
}

/// Links that stay within the tree and end, for scans that follow them: no `/etc/passwd`, no `/`.
pub fn followable_links() -> Model {
    tree(
        "
        a-file          -> real/file
        a-to-real       -> real
        b-to-inner      -> real/inner
        dangling        -> nowhere
        loop/
        loop/up         -> ..
        loop/self       -> self
        real/
        real/file       3000
        real/inner/
        real/inner/x    500
        real/inner/up   -> ..
        to-file         -> real/file
        to-link         -> to-file
        twice           -> real/file
        ",
    )
}

/// Names that break programs: invalid UTF-8, control bytes, escape sequences, globs, names like flags.
pub fn odd_names() -> Model {
    let mut model = tree(
        r"
        \xff\xfe                      1
        latin1-\xe9\xe8               2
        cut-utf8-\xe2\x82             3
        overlong-\xc0\xaf             4
        surrogate-\xed\xa0\x80        5
        new\nline                     6
        tab\there                     7
        carriage\rreturn              8
        \e[31mred\e[0m                9
        \e]0;title\x07                10
        bell\x07                      11
        delete\x7f                    12
        c1-\u{9b}31m                  13
        \x01\x02\x03                  14
        bidi-\u{202e}gpj.exe          15
        isolate-\u{2066}x\u{2069}     16
        zero\u{200b}width\u{200d}     17
        bom\u{feff}                   18
        line\u{2028}separator         19
        -rf                           20
        --help                        21
        -                             22
        \sleading                     23
        trailing\s                    24
        \s                            25
        two\s\swords                  26
        *                             27
        ?                             28
        [a-z]                         29
        {a,b}                         30
        back\\slash                   31
        'quote'                       32
        \x22double\x22                33
        $HOME                         34
        `date`                        35
        $(date)                       36
        ;true                         37
        a|b                           38
        ~                             39
        ...                           40
        .hidden                       41
        ..hidden                      42
        %s%n                          43
        CON                           44
        wide-\u{6f22}\u{5b57}         45
        combining-e\u{301}            46
        composed-\u{e9}               47
        \u{1f468}\u{200d}\u{1f469}    48
        \x23comment                   49
        =                             50
        ->                            51
        top/
        top/inside                    52
        snapshot/
        find/
        link-to-odd                   -> \xff\xfe
        dir\n\xff/
        dir\n\xff/\e[2J               53
        ",
    );
    add(&mut model, &[b'x'; 255], NodeKind::file(54));
    add(&mut model, &[0xff; 255], NodeKind::file(55));
    add(&mut model, "ä".repeat(127).as_bytes(), NodeKind::file(56));
    add(
        &mut model,
        &[b"d".repeat(254), b"\n".to_vec()].concat(),
        NodeKind::Directory,
    );
    // Every byte that a name can have.
    for byte in (1..=255).filter(|byte| *byte != b'/') {
        add(&mut model, &[b'b', byte], NodeKind::file(1));
    }
    model
}

/// A chain of `depth` directories, one in the other, with a file in the last.
///
/// Beyond some 2,000 levels the last can no longer be named by one path, and
/// beyond the descriptor limit not every level can be open.
pub fn deep(depth: usize) -> Model {
    let mut model = Model::new();
    let mut directory = Model::ROOT;
    for _ in 0..depth {
        directory = model
            .add(directory, b"d", NodeKind::Directory)
            .expect("a new directory");
    }
    model
        .add(directory, b"f", NodeKind::file(1))
        .expect("the only file");
    model
}

/// One directory with `count` empty files; for a million see [`make_wide`].
pub fn wide(count: usize) -> Model {
    let mut model = Model::new();
    for number in 0..count {
        add(&mut model, wide_name(number).as_bytes(), NodeKind::file(0));
    }
    model
}

/// Files that are larger than their disk usage.
pub fn sparse() -> Model {
    tree(
        "
        tebibyte        1T sparse
        dir/
        dir/gibibyte    1G sparse
        dir/head        1G data=64K
        dir/tail        4097 data=1
        dir/dense       1M
        ",
    )
}

/// Modification times far from today: before 1970, at the ends of 32 bits, after 2262, with nanoseconds.
///
/// The last is more than 64 bits of nanoseconds hold.
pub fn times() -> Model {
    tree(
        "
        epoch             1 mtime=0
        before-1970       1 mtime=-1
        half-before-1970  1 mtime=-1+500000000
        year-1950         1 mtime=-631152000
        year-1902         1 mtime=-2145916800
        minimum-32        1 mtime=-2147483648
        old/                mtime=315532800
        old/year-1980     1 mtime=315532800
        old/only-old/       mtime=4102444800
        old/only-old/x    1 mtime=86400
        old/zero          1 mtime=0
        maximum-32        1 mtime=2147483647+999999999
        after-32          1 mtime=2147483648
        future/
        future/year-2100  1 mtime=4102444800+1
        beyond/
        beyond/year-2400  1 mtime=13569465600+123456789
        link              -> epoch mtime=1000000000+5
        no-files/           mtime=5
        no-files/inner/     mtime=6
        ",
    )
}

/// Pipes and sockets, which are neither files nor directories.
pub fn special() -> Model {
    tree(
        "
        pipe            fifo
        socket          socket
        dir/
        dir/pipe        fifo
        dir/socket      socket
        dir/file        10
        ",
    )
}

/// Device nodes, which only root can make. Their numbers are the largest of XFS. Tests must count and never open them.
pub fn devices() -> Model {
    tree(
        "
        null            char 1:3
        zero            char 1:5
        loop            block 7:0
        large           char 511:262143
        dir/
        dir/null-again  = null
        ",
    )
}

/// How [`make_wide`] fills a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideFiles {
    /// Each file an inode of its own, empty.
    Empty,
    /// Names of as few one-byte files as the file system allows.
    HardLinks,
}

/// Makes one directory with `count` files, one call each: a million takes seconds.
///
/// # Errors
///
/// The first failing call; `dir` must not exist.
pub fn make_wide(dir: &Path, count: usize, files: WideFiles) -> io::Result<Totals> {
    // ext4 allows 65,000 links to an inode, XFS and tmpfs more, btrfs 65,535.
    const LINKS_MAX: usize = 60_000;
    std::fs::create_dir(dir)?;
    let directory = File::open(dir)?;
    let mut totals = Totals::default();
    totals.count_name(EntryType::Directory);
    let mut first = String::new();
    for number in 0..count {
        let name = wide_name(number);
        totals.count_name(EntryType::File);
        if files == WideFiles::HardLinks && number % LINKS_MAX != 0 {
            totals.extra_hard_links += 1;
            rustix::fs::linkat(&directory, &first, &directory, &name, AtFlags::empty())?;
            continue;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, &name, flags, Mode::from_raw_mode(0o644))?;
        if files == WideFiles::HardLinks {
            rustix::io::write(&file, b"x")?;
            totals.count_bytes(EntryType::File, 1);
        }
        first = name;
    }
    Ok(totals)
}

fn wide_name(number: usize) -> String {
    format!("file-{number:07}")
}

fn tree(text: &str) -> Model {
    text::parse(text).expect("the trees of this file are well formed")
}

fn add(model: &mut Model, name: &[u8], kind: NodeKind) {
    model
        .add(Model::ROOT, name, kind)
        .expect("names of this file are possible and different");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each tree has what it is there for.
    #[test]
    fn trees_are_about_what_they_say() {
        assert_eq!(basic().totals().dirs, 7);
        assert_eq!(hard_links().totals().extra_hard_links, 8);
        assert!(symbolic_links().totals().symlinks > 50);
        assert_eq!(special().totals().others, 4);
        assert_eq!(devices().totals().others, 5);
        assert_eq!(sparse().totals().file_size_bytes >> 40, 1);
        let names: Vec<_> = odd_names().entries();
        assert!(
            names
                .iter()
                .any(|(path, _)| std::str::from_utf8(path).is_err())
        );
        assert!(names.iter().any(|(path, _)| path.len() == 255));
        let named = named();
        let mut different: Vec<_> = named.iter().map(|(name, _)| name).collect();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), named.len());
    }

    #[test]
    fn deep_and_wide_are_as_large_as_asked() {
        let deep = deep(100_000).totals();
        assert_eq!((deep.dirs, deep.files), (100_001, 1));
        let wide = wide(1_000).totals();
        assert_eq!((wide.dirs, wide.files), (1, 1_000));
    }
}
