// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows on their way to readers of every sort: slow ones, those that take a byte
//! at a time, leave early or send a signal, and streams that do not block.
//!
//! The rows are exactly what is there, each of them whole and once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Latency, Op, Where};
use statwalk_testkit::model::NodeKind;
use statwalk_testkit::strategy;
use statwalk_testkit::{Model, Random, Scratch};

use crate::program::{self, Ended, statwalk};
use statwalk_testkit::attack::{Attack, Round};

const DIRS: usize = 40;
const FILES: usize = 60;
/// Readers are slow for so many reads, and then hurry.
const SLOW_READS: usize = 100;
const PAUSE: Duration = Duration::from_millis(3);

/// Names of all lengths, hostile ones among them.
fn hostile_tree(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let mut model = Model::new();
    let mut dirs = vec![Model::ROOT];
    for _ in 0..DIRS {
        let parent = *random.pick(&dirs[..dirs.len().min(8)]);
        if let Ok(dir) = model.add(parent, &hostile_name(&mut random), NodeKind::Directory) {
            dirs.push(dir);
        }
    }
    for &dir in &dirs {
        for _ in 0..FILES {
            // The rare name that is taken is left out.
            let _ = model.add(dir, &hostile_name(&mut random), NodeKind::file(0));
        }
    }
    model
}

fn hostile_name(random: &mut Random) -> Vec<u8> {
    let mut name = strategy::of_seed(&strategy::name(), random.next());
    let tail = strategy::of_seed(&strategy::name(), random.next());
    name.extend(format!("{:x}", random.below(1 << 20)).bytes());
    while !random.one_in(3) && name.len() + tail.len() <= 255 {
        name.extend(&tail);
    }
    if random.one_in(4) {
        name.resize(255, b'x');
    }
    name.truncate(255);
    name
}

/// Where the tree is read.
struct Place {
    /// It is `.` there.
    dir: PathBuf,
    // Away when this goes.
    _scratch: Option<Scratch>,
    _mount: Option<FaultMount>,
}

fn places(model: &Model) -> Vec<Place> {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("tree");
    model.materialise(&dir).unwrap();
    let mut places = vec![Place {
        dir,
        _scratch: Some(scratch),
        _mount: None,
    }];
    // There a scan is so slow that rows are written before it is over.
    let latency = Latency::Fixed(Duration::from_millis(5));
    let slow =
        FaultFs::builder()
            .model("", model)
            .latency_of(Where::Everywhere, Op::Readdir, latency);
    match slow.mount() {
        Ok(mount) => places.push(Place {
            dir: mount.path().to_owned(),
            _scratch: None,
            _mount: Some(mount),
        }),
        Err(skipped) => skipped.report(),
    }
    places
}

/// How `find` writes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Lines,
    Nul,
    Json,
}

const FORMS: [Form; 3] = [Form::Lines, Form::Nul, Form::Json];

impl Form {
    fn flag(self) -> Option<&'static str> {
        match self {
            Form::Lines => None,
            Form::Nul => Some("-0"),
            Form::Json => Some("--json"),
        }
    }

    fn end(self) -> u8 {
        match self {
            Form::Nul => 0,
            Form::Lines | Form::Json => b'\n',
        }
    }

    /// What a row says; nothing where it says nothing.
    fn read(self, row: &[u8]) -> Option<Vec<u8>> {
        if self != Form::Json {
            return Some(row.to_vec());
        }
        let value: Value = serde_json::from_slice(row).ok()?;
        match value.get("path_b64") {
            Some(exact) => STANDARD.decode(exact.as_str()?).ok(),
            None => Some(value["path"].as_str()?.as_bytes().to_vec()),
        }
    }
}

/// How often a row must be there. Lines of a name with newlines are rows.
type Rows = HashMap<Vec<u8>, i64>;

fn expected_rows(model: &Model, form: Form) -> Rows {
    let mut rows = Rows::new();
    for (path, _) in model.entries() {
        if path.is_empty() {
            continue;
        }
        let path = [b"./", &path[..]].concat();
        match form {
            Form::Lines => {
                for line in path.split(|&byte| byte == b'\n') {
                    *rows.entry(line.to_vec()).or_default() += 1;
                }
            }
            Form::Nul | Form::Json => *rows.entry(path).or_default() += 1,
        }
    }
    rows
}

/// What the program writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    Pipe,
    /// A pipe of one page.
    ShortPipe,
    Socket,
    File,
}

const CHANNELS: [Channel; 4] = [
    Channel::Pipe,
    Channel::ShortPipe,
    Channel::Socket,
    Channel::File,
];

/// What the reader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Quick,
    /// So many bytes at a time, and at first with pauses.
    Slow(usize),
    /// Away after so many bytes.
    Leaving(usize),
    /// SIGINT after so many bytes.
    Interrupting(usize),
}

fn open(channel: Channel, scratch: &Path) -> (Box<dyn Read>, OwnedFd) {
    match channel {
        Channel::Pipe | Channel::ShortPipe => {
            let (read, write) = std::io::pipe().unwrap();
            if channel == Channel::ShortPipe {
                fcntl_setpipe_size(&write, 4096).unwrap();
            }
            (Box::new(read), write.into())
        }
        Channel::Socket => {
            let (read, write) = UnixStream::pair().unwrap();
            (Box::new(read), write.into())
        }
        Channel::File => {
            let path = scratch.join("output");
            let write = File::create(&path).unwrap();
            (Box::new(File::open(&path).unwrap()), write.into())
        }
    }
}

/// Reads to the end, in the way of the reader; the program runs meanwhile.
fn read_all(mut from: Box<dyn Read>, reader: Reader, child: &Child) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let (piece, mut pauses) = match reader {
        Reader::Slow(piece) => (piece, SLOW_READS),
        _ => (buffer.len(), 0),
    };
    let mut interrupts = true;
    loop {
        let piece = match reader {
            Reader::Leaving(until) if bytes.len() >= until => return bytes,
            Reader::Leaving(until) => piece.min(until - bytes.len()),
            Reader::Interrupting(until) if bytes.len() >= until && interrupts => {
                interrupts = false;
                kill_process(Pid::from_child(child), Signal::INT).unwrap();
                piece
            }
            Reader::Interrupting(until) => piece.min(until.saturating_sub(bytes.len()).max(1)),
            Reader::Quick | Reader::Slow(_) => piece,
        };
        if pauses > 0 {
            pauses -= 1;
            std::thread::sleep(PAUSE);
        }
        match from.read(&mut buffer[..piece]) {
            Ok(0) => return bytes,
            Ok(count) => bytes.extend(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A socket whose other end was closed with something unread in it.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return bytes,
            Err(error) => panic!("reading the answer: {error}"),
        }
    }
}

/// Starts the program, reads its answer, and waits for its end.
fn ask(mut command: Command, channel: Channel, blocks: bool, reader: Reader) -> Ended {
    let scratch = Scratch::new().unwrap();
    let (from, to) = open(channel, scratch.path());
    if !blocks {
        let flags = fcntl_getfl(&to).unwrap();
        fcntl_setfl(&to, flags | OFlags::NONBLOCK).unwrap();
    }
    command.stdout(to).stderr(Stdio::piped());
    let child = program::spawn(&mut command);
    // Otherwise this process would keep the stream open for writing.
    command.stdout(Stdio::null());
    if channel == Channel::File {
        let mut ended = program::end(&command, child);
        let mut from = from;
        from.read_to_end(&mut ended.stdout).unwrap();
        return ended;
    }
    let bytes = read_all(from, reader, &child);
    let mut ended = program::end(&command, child);
    ended.stdout = bytes;
    ended
}

/// Whether each row is one that is there and none is there too often; tells
/// what is not, and how many rows there were.
fn compare(bytes: &[u8], form: Form, expected: &Rows, cut: bool) -> Result<u64, String> {
    let mut left = expected.clone();
    let mut count = 0;
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|&byte| byte == form.end()) {
        let row = &rest[..end];
        rest = &rest[end + 1..];
        count += 1;
        let path = form.read(row);
        let times = path.and_then(|path| left.get_mut(&path));
        let Some(times) = times else {
            return Err(format!("row {count} is torn: '{}'", row.escape_ascii()));
        };
        *times -= 1;
        if *times < 0 {
            return Err(format!("row {count} came before: '{}'", row.escape_ascii()));
        }
    }
    if !cut && !rest.is_empty() {
        return Err(format!(
            "the last row has no end: '{}'",
            rest.escape_ascii()
        ));
    }
    let begins = |row: &Vec<u8>| row.starts_with(rest);
    if form != Form::Json && !rest.is_empty() && !expected.keys().any(begins) {
        return Err(format!("the last row is torn: '{}'", rest.escape_ascii()));
    }
    Ok(count)
}

fn check_find(round: &mut Round, model: &Model, place: &Place) {
    let form = *round.in_turn(&FORMS);
    let channel = *round.in_turn(&CHANNELS);
    let blocks = *round.in_turn(&[true, true, true, false]);
    let piece = *round.random.pick(&[1, 7, 100, 4095, 4096, 4097, 20_000]);
    let after = round.random.below(1 << round.random.clone().below(19)) as usize;
    let reader = match channel {
        Channel::File => Reader::Quick,
        _ => *round.random.pick(&[
            Reader::Quick,
            Reader::Slow(piece),
            Reader::Slow(piece),
            Reader::Leaving(after),
            Reader::Interrupting(after),
        ]),
    };
    let mut command = statwalk();
    command
        .arg("find")
        .args(form.flag())
        .current_dir(&place.dir);
    let threads = round.random.below(8) + 1;
    command.arg(format!("-j{threads}"));
    let order = round
        .random
        .pick(&["parallel", "stack", "queue", "inode", "futures"]);
    command.args(["--order", order]);
    let expected = expected_rows(model, form);
    let whole = expected.values().sum::<i64>() as u64;
    let mut wanted = whole;
    // Names with newlines are several lines, but one row to `-n`.
    if form != Form::Lines && round.random.one_in(4) {
        let lines = *round.random.pick(&[1, 2, 100, 1_000, 2_000]);
        command.arg(format!("-n{lines}"));
        wanted = wanted.min(lines);
    }
    let ended = ask(command, channel, blocks, reader);
    let told = |what: &str| {
        let how = format!("{form:?} to {channel:?}, blocking {blocks}, {reader:?}");
        format!("{what}, {how}: {}", ended.told())
    };
    let was_interrupted = ended.signal() == Some(Signal::INT.as_raw());
    let ends_well = match reader {
        Reader::Interrupting(_) => was_interrupted || ended.code() == Some(0),
        _ => ended.code() == Some(0),
    };
    round.check(ends_well, || told("must end well"));
    let cut = was_interrupted || matches!(reader, Reader::Leaving(_));
    let count = compare(&ended.stdout, form, &expected, cut);
    let is_right = match &count {
        Ok(count) => cut || *count == wanted,
        Err(_) => false,
    };
    round.check(is_right, || {
        told(&format!("{wanted} rows, and got {count:?}"))
    });
}

/// Answers that are written at the end are the same whoever reads them.
fn check_other_views(round: &mut Round, place: &Place) {
    const VIEWS: [&[&str]; 4] = [
        &["-a", "-d99", "-0"],
        &["-a", "-d99"],
        &["top", "-n9999", "-0"],
        &["stats", "--by", "depth"],
    ];
    let arguments = *round.random.pick(&VIEWS);
    let ask = |channel, blocks, reader| {
        let mut command = statwalk();
        command.args(arguments).current_dir(&place.dir);
        ask(command, channel, blocks, reader)
    };
    let expected = ask(Channel::File, true, Reader::Quick);
    let piece = *round.random.pick(&[100, 4095, 4096, 4097]);
    let channel = *round.random.pick(&CHANNELS[..3]);
    let blocks = round.random.one_in(2);
    let found = ask(channel, blocks, Reader::Slow(piece));
    let is_same = expected.code() == Some(0)
        && found.code() == Some(0)
        && !found.stdout.is_empty()
        && found.stdout == expected.stdout;
    round.check(is_same, || {
        let lengths = (expected.stdout.len(), found.stdout.len());
        format!("{lengths:?} bytes, {channel:?}, {blocks}: {}", found.told())
    });
}

#[test]
fn rows_are_whole_whoever_reads_them() {
    let model = hostile_tree(1);
    let places = places(&model);
    let attack = Attack {
        kind: "torn_output",
        rounds_small: 36,
        checks_least: 2,
    };
    attack.run(|round| {
        // Most rounds where it is slow, if there is such a place.
        let place = match round.random.one_in(4) {
            true => &places[0],
            false => places.last().unwrap(),
        };
        check_find(round, &model, place);
        if round.random.one_in(4) {
            check_other_views(round, &places[0]);
        }
    });
}

/// What the comparison of this file would not notice, nobody would.
#[test]
fn torn_rows_are_noticed() {
    let expected = Rows::from([(b"./ab".to_vec(), 1), (b"./c".to_vec(), 1)]);
    let compared = |bytes: &[u8], cut| compare(bytes, Form::Nul, &expected, cut);
    assert_eq!(compared(b"./c\0./ab\0", false), Ok(2));
    assert_eq!(compared(b"./c\0./a", true), Ok(1));
    for torn in [&b"./c\0./a"[..], b"./a./c\0b\0", b"./c\0./c\0", b"./c\0\0"] {
        assert!(compared(torn, false).is_err(), "{}", torn.escape_ascii());
    }
    assert!(compared(b"./c\0/a", true).is_err());
}
