// SPDX-License-Identifier: MIT OR Apache-2.0

//! The meaning of the flags: a scan, and the form of its answer.
//!
//! Texts become values here. A text without a meaning becomes an error that names it.

pub(crate) mod filters;
pub(crate) mod name_pattern;
pub(crate) mod owners;
pub(crate) mod path_list;
pub(crate) mod scan_flags;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use statwalk_core::tuning::{Calls, Freshness, StatOrder};
use statwalk_core::{
    Exclusions, IoClass, KernelFileSystems, LinkPolicy, MountCrossing, Scan, Source, SymlinkPolicy,
    SyncPolicy,
};
use statwalk_view::{SizeColumn, SizeFilter, SizeFormat, Unit};

use crate::answer::about::About;
use crate::answer::filter_texts::FilterTexts;
use crate::answer::origin::Origin;
use crate::answer::owner_names::KnownOwners;
use crate::failure::Failure;
use crate::flags::{
    LinkFlags, OrderChoice, ReadFlags, ScanFlags, SizeFlags, SourceName, StatOrderName, UnitFlags,
    WalkFlags, When, shown_word,
};
use crate::request::path_list::PathList;
use crate::request::scan_flags::first_of_scan;
use crate::stored::{Reading, StoredScan};
use crate::system::screen::Screen;
use crate::system::used_inodes::Cover;

/// How many errors a scan keeps for its summary.
const ERRORS_KEPT: usize = 1_000;

/// A scan, and the options for its answer that all commands share.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) scan: Scan,
    pub(crate) paths: Vec<PathBuf>,
    /// The file that the paths are from, one for one; absent for those of the command line.
    pub(crate) list: Option<String>,
    pub(crate) form: Form,
    /// When and where it was made, for answers that are printed later.
    pub(crate) origin: Arc<Origin>,
    /// The filters of the answer, where there is one.
    pub(crate) filters: Option<FilterTexts>,
    pub(crate) explain: bool,
    /// The condition for progress.
    pub(crate) progress: When,
    /// Whether symbolic links are followed.
    pub(crate) follows: bool,
    /// Whether `.gitignore` files count.
    pub(crate) reads_gitignore: bool,
    stays: bool,
    enters_kernel: bool,
    /// Whether the scan covers everything below its roots.
    is_whole: bool,
    /// The stored scan that is read, and how; absent for a scan of now.
    pub(crate) stored: Option<(Arc<StoredScan>, Reading)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// A picture or a table for a person.
    Screen(Screen),
    /// Rows with raw names, for programs.
    Rows(RowEnd),
    /// A JSON document; on a screen indented and safe.
    Json(Option<Screen>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowEnd {
    Newline,
    Nul,
}

impl RowEnd {
    pub(crate) fn byte(self) -> u8 {
        match self {
            RowEnd::Newline => b'\n',
            RowEnd::Nul => 0,
        }
    }
}

/// The kind of sizes, and their format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) column: SizeColumn,
    /// Whether no file of the scan has blocks, so that apparent sizes order what the user
    /// wants by space on disk.
    pub(crate) lacks_blocks: bool,
    /// The format for a person.
    pub(crate) format: SizeFormat,
    /// The format in rows for programs: plain bytes, or with a unit as du writes them.
    pub(crate) format_in_rows: SizeFormat,
}

impl Request {
    /// The request that `flags` and `paths` make. A path can be the name of a snapshot.
    pub(crate) fn new(
        flags: &ScanFlags,
        paths: impl IntoIterator<Item = OsString>,
        form: Form,
    ) -> Result<Request, Failure> {
        let paths: Vec<OsString> = paths.into_iter().collect();
        match StoredScan::named(&paths)? {
            Some(stored) => Request::of_stored(stored, flags, form),
            None => Request::of_paths_alone(flags, paths, form),
        }
    }

    /// The request to read a stored scan. Flags that only a scan can follow are refused.
    fn of_stored(stored: StoredScan, flags: &ScanFlags, form: Form) -> Result<Request, Failure> {
        if let Some(flag) = first_of_scan(flags) {
            let why = "is for a scan, and a snapshot was scanned before";
            return Err(Failure::Usage(format!("{flag} {why}")));
        }
        // Nothing runs this scan: it has no root.
        let scan = Scan::of(Vec::<PathBuf>::new());
        let root = vec![stored.root()];
        let mut request = Request::of_scan(scan, root, form, flags.walk.progress);
        request.is_whole = false;
        request.explain = flags.walk.explain;
        request.origin = stored.origin();
        let reading = Reading {
            counts_links: flags.links.count_links,
            errors_max: Some(ERRORS_KEPT),
            ..Reading::default()
        };
        request.stored = Some((Arc::new(stored), reading));
        Ok(request)
    }

    /// The request that `flags` and `paths` make, where no path names a snapshot.
    pub(crate) fn of_paths_alone(
        flags: &ScanFlags,
        paths: impl IntoIterator<Item = OsString>,
        form: Form,
    ) -> Result<Request, Failure> {
        let mut request = Request::of_walk(&flags.walk, paths, form)?;
        request.set_links(&flags.links);
        Ok(request)
    }

    /// The request that `flags` and a list of paths make.
    ///
    /// A list without paths asks for nothing, and not for the current directory.
    pub(crate) fn of_list(
        flags: &ScanFlags,
        list: PathList,
        form: Form,
    ) -> Result<Request, Failure> {
        let paths = list.paths.into_iter().map(PathBuf::from).collect();
        let mut request = Request::of_paths(&flags.walk.read, paths)?;
        request.form = form;
        request.set_reading(&flags.walk);
        request.set_links(&flags.links);
        request.list = Some(list.name);
        Ok(request)
    }

    /// The request of a browser, which has no other form.
    pub(crate) fn of_browser(
        flags: &ReadFlags,
        links: &LinkFlags,
        paths: impl IntoIterator<Item = OsString>,
    ) -> Result<Request, Failure> {
        let mut request = Request::of_read(flags, paths)?;
        request.set_links(links);
        Ok(request)
    }

    fn set_links(&mut self, flags: &LinkFlags) {
        let mut scan = self.scan.clone();
        if flags.no_sync {
            scan = scan.syncing(SyncPolicy::Refused);
        }
        if flags.follow {
            scan = scan.symlinks(SymlinkPolicy::Follow);
            self.follows = true;
            self.is_whole = false;
        }
        if flags.count_links {
            scan = scan.links(LinkPolicy::Each);
        }
        self.scan = scan;
    }

    /// The request that `flags` and `paths` make, without policies on links.
    pub(crate) fn of_walk(
        flags: &WalkFlags,
        paths: impl IntoIterator<Item = OsString>,
        form: Form,
    ) -> Result<Request, Failure> {
        let mut request = Request::of_read(&flags.read, paths)?;
        request.form = form;
        request.set_reading(flags);
        Ok(request)
    }

    fn set_reading(&mut self, flags: &WalkFlags) {
        self.explain = flags.explain;
        self.progress = flags.progress;
    }

    fn of_read(
        flags: &ReadFlags,
        paths: impl IntoIterator<Item = OsString>,
    ) -> Result<Request, Failure> {
        let mut paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
        if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        Request::of_paths(flags, paths)
    }

    fn of_paths(flags: &ReadFlags, paths: Vec<PathBuf>) -> Result<Request, Failure> {
        let mut scan = Scan::of(&paths)
            .exclusions(exclusions(flags, &paths)?)
            .calls(calls(flags)?);
        if let Some(OrderChoice(order)) = flags.order {
            scan = scan.order(order);
        }
        if let Some(name) = flags.source {
            scan = scan.source(source(name));
        }
        if flags.one_file_system {
            scan = scan.crossing(MountCrossing::Stay);
        }
        if flags.include_kernfs {
            scan = scan.kernel_file_systems(KernelFileSystems::Enter);
        }
        if flags.nice {
            scan = scan.io_class(IoClass::Idle).threads(few_workers());
        }
        if let Some(threads) = flags.threads {
            scan = scan.threads(threads.into());
        }
        let excludes = flags.exclude_caches
            || flags.gitignore
            || !flags.exclude.is_empty()
            || !flags.exclude_from.is_empty();
        Ok(Request {
            scan,
            form: Form::Rows(RowEnd::Newline),
            origin: Origin::of_this_process(),
            filters: None,
            explain: false,
            progress: When::Never,
            follows: false,
            reads_gitignore: flags.gitignore,
            stays: flags.one_file_system,
            enters_kernel: flags.include_kernfs,
            is_whole: !excludes,
            paths,
            list: None,
            stored: None,
        })
    }

    /// The request of a scan that the engine made; `paths` are its first roots.
    pub(crate) fn of_scan(scan: Scan, paths: Vec<PathBuf>, form: Form, progress: When) -> Request {
        Request {
            scan,
            form,
            origin: Origin::of_this_process(),
            filters: None,
            explain: false,
            progress,
            follows: false,
            reads_gitignore: false,
            stays: true,
            enters_kernel: false,
            is_whole: paths.len() == 1,
            paths,
            list: None,
            stored: None,
        }
    }

    /// The same scan, begun now.
    pub(crate) fn of_now(&self) -> Request {
        Request {
            origin: Origin::of_now(),
            ..self.clone()
        }
    }

    /// The same scan of one directory alone, begun now.
    pub(crate) fn of_directory(&self, path: PathBuf) -> Request {
        Request {
            scan: self.scan.clone().with_root(&path),
            paths: vec![path],
            list: None,
            ..self.of_now()
        }
    }

    /// Leaves progress out where rows come during the scan, unless the user asks for it.
    ///
    /// Behind a terminal, a pager or a filter the rows would share the screen with it.
    /// Only a file takes the rows elsewhere.
    pub(crate) fn prepare_for_a_stream(&mut self, stdout_is_file: bool) {
        if self.progress == When::Auto && !stdout_is_file {
            self.progress = When::Never;
        }
    }

    pub(crate) fn limit_depth(&mut self, depth_max: Option<u32>) {
        if let Some(depth) = depth_max {
            self.scan = self.scan.clone().max_depth(depth);
            self.is_whole = false;
            if let Some((_, reading)) = &mut self.stored {
                reading.depth_max = Some(depth);
            }
        }
    }

    /// Keeps every error of the scan, for an answer that lists them.
    pub(crate) fn keep_all_errors(&mut self) {
        self.scan = self.scan.clone().errors_kept(usize::MAX);
        if let Some((_, reading)) = &mut self.stored {
            reading.errors_max = None;
        }
    }

    /// Where the names of owners are known.
    pub(crate) fn owners(&self) -> KnownOwners<'_> {
        KnownOwners::of(self.stored())
    }

    /// The stored scan that is read, for what else it knows.
    pub(crate) fn stored(&self) -> Option<&StoredScan> {
        self.stored.as_ref().map(|(stored, _)| &**stored)
    }

    /// The part of the mount tree that the scan covers, where it leaves nothing out.
    pub(crate) fn cover(&self) -> Option<Cover> {
        self.is_whole.then(|| Cover {
            roots: self.paths.clone(),
            stays: self.stays,
            enters_kernel: self.enters_kernel,
        })
    }
}

impl Sizes {
    pub(crate) fn new(flags: &SizeFlags) -> Result<Sizes, Failure> {
        let mut sizes = Sizes::on_disk(&flags.units)?;
        if flags.apparent_size || flags.bytes {
            sizes.column = SizeColumn::Apparent;
        }
        let units = &flags.units;
        let has_unit = units.human_readable || units.si || units.kib || units.mib;
        if flags.bytes && !has_unit && units.unit.is_none() {
            sizes.format = SizeFormat::Bytes;
        }
        Ok(sizes)
    }

    /// Sizes on disk, in the unit of `flags`.
    pub(crate) fn on_disk(flags: &UnitFlags) -> Result<Sizes, Failure> {
        let (format, format_in_rows) = if let Some(text) = &flags.unit {
            unit_formats(text)?
        } else if flags.si {
            (SizeFormat::Si, SizeFormat::ShortSi)
        } else if flags.human_readable {
            (SizeFormat::Binary, SizeFormat::Short)
        } else {
            let unit = [(flags.kib, Unit::KiB), (flags.mib, Unit::MiB)];
            match unit.into_iter().find(|(is_set, _)| *is_set) {
                Some((_, unit)) => (SizeFormat::Unit(unit), SizeFormat::WholeNumber(unit)),
                None => (SizeFormat::Binary, SizeFormat::Bytes),
            }
        };
        Ok(Sizes {
            column: SizeColumn::Disk,
            lacks_blocks: false,
            format,
            format_in_rows,
        })
    }

    /// The same for a scan where no file has blocks: each size on disk is 0 there. A table
    /// then shows apparent sizes, under their title; rows and JSON keep their numbers.
    pub(crate) fn of_scan(self, about: &About, form: Form) -> Sizes {
        if self.column != SizeColumn::Disk || !about.has_no_blocks() {
            return self;
        }
        Sizes {
            column: match form {
                Form::Screen(_) => SizeColumn::Apparent,
                Form::Rows(_) | Form::Json(_) => SizeColumn::Disk,
            },
            lacks_blocks: true,
            ..self
        }
    }

    /// The size that orders rows.
    pub(crate) fn order(&self) -> SizeColumn {
        match self.lacks_blocks {
            true => SizeColumn::Apparent,
            false => self.column,
        }
    }

    /// The size that the user asks for.
    pub(crate) fn asked(self) -> Sizes {
        match self.lacks_blocks {
            true => Sizes {
                column: SizeColumn::Disk,
                ..self
            },
            false => self,
        }
    }

    /// The one of the two sizes that is shown.
    pub(crate) fn of<T>(&self, allocated_bytes: T, apparent_bytes: T) -> T {
        match self.column {
            SizeColumn::Disk | SizeColumn::Inodes => allocated_bytes,
            SizeColumn::Apparent => apparent_bytes,
        }
    }

    pub(crate) fn title(&self) -> &'static str {
        match self.column {
            SizeColumn::Disk => "DISK",
            SizeColumn::Apparent => "APPARENT",
            SizeColumn::Inodes => "INODES",
        }
    }
}

/// The formats of `--unit` for a person and in rows. As in du, a number before the unit
/// makes blocks, which are counted without a letter.
fn unit_formats(text: &str) -> Result<(SizeFormat, SizeFormat), Failure> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, letters) = text.split_at(digits);
    let unit: Unit = match letters {
        "" if digits > 0 => Unit::B,
        letters => letters
            .parse()
            .map_err(|error| invalid("--unit", text, error))?,
    };
    if digits == 0 {
        let in_rows = match letters.len() {
            3 => SizeFormat::WholeLong(unit),
            _ => SizeFormat::Whole(unit),
        };
        return Ok((SizeFormat::Unit(unit), in_rows));
    }
    let number: Option<u128> = number.parse().ok().filter(|number| *number > 0);
    let bytes = number.and_then(|number| number.checked_mul(unit.bytes()));
    match (number, bytes.map(u64::try_from)) {
        (Some(1), _) => Ok((SizeFormat::Unit(unit), SizeFormat::WholeNumber(unit))),
        (_, Some(Ok(bytes))) => Ok((SizeFormat::Blocks(bytes), SizeFormat::Blocks(bytes))),
        _ => Err(invalid("--unit", text, "must be between 1 and 2^64 bytes")),
    }
}

/// A failure that names a flag, its invalid value and the reason.
pub(crate) fn invalid(flag: &str, value: &str, reason: impl std::fmt::Display) -> Failure {
    let value = safe(value);
    Failure::Usage(format!("invalid value '{value}' for {flag}: {reason}"))
}

/// A size without a sign, such as `10G`, in bytes.
pub(crate) fn size(flag: &str, text: &str) -> Result<u128, Failure> {
    match text.parse() {
        Ok(SizeFilter::Exactly(bytes)) => Ok(bytes.into()),
        Ok(_) => Err(invalid(
            flag,
            text,
            "must be a size without a sign, such as 10G",
        )),
        Err(error) => Err(invalid(flag, text, error)),
    }
}

/// The engine's source.
fn source(name: SourceName) -> Source {
    match name {
        SourceName::Auto => Source::Auto,
        SourceName::Btrfs => Source::Btrfs,
        SourceName::Posix => Source::Posix,
        SourceName::Ext4 => Source::Ext4,
    }
}

/// The options of the source's calls.
pub(crate) fn calls(flags: &ReadFlags) -> Result<Calls, Failure> {
    let mut calls = Calls::default();
    if let Some(text) = &flags.buffer {
        calls = calls.buffer_bytes(buffer_bytes(text)?);
    }
    if flags.stat_order == Some(StatOrderName::Inode) {
        calls = calls.stat_order(StatOrder::Inode);
    }
    if flags.cached_attributes {
        calls = calls.freshness(Freshness::DontSync);
    }
    Ok(calls)
}

/// The size of the buffer, within its bounds.
fn buffer_bytes(text: &str) -> Result<usize, Failure> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" => Some(1),
        unit => unit.parse().map(Unit::bytes).ok(),
    };
    let number = number.parse::<u128>().ok();
    let bytes = number
        .zip(unit)
        .and_then(|(number, unit)| number.checked_mul(unit));
    match bytes.map(usize::try_from) {
        Some(Ok(bytes)) if (1 << 10..=4 << 20).contains(&bytes) => Ok(bytes),
        _ => Err(invalid("--buffer", text, "must be between 1K and 4M")),
    }
}

fn exclusions(flags: &ReadFlags, paths: &[PathBuf]) -> Result<Exclusions, Failure> {
    let ends_with_slash = |word: &OsStr| word.as_bytes().ends_with(b"/");
    // The shell completes a directory so. In du such a pattern fits a root that is written
    // so, and silently nothing else.
    let has_such_root = paths.iter().any(|path| ends_with_slash(path.as_os_str()));
    let mut exclusions = Exclusions::new()
        .caches(flags.exclude_caches)
        .gitignore(flags.gitignore);
    for glob in &flags.exclude {
        if ends_with_slash(glob) && !has_such_root {
            let glob = glob.to_string_lossy();
            let name = glob.trim_end_matches('/');
            let remedy = match name {
                "" => String::new(),
                name => format!("; try --exclude {}", shown_word(OsStr::new(name))),
            };
            let reason = format!("no path that it could fit ends with a slash{remedy}");
            return Err(invalid("--exclude", &glob, reason));
        }
        let added = exclusions.glob(glob.as_bytes());
        exclusions = added
            .map_err(|error| invalid("--exclude", &glob.to_string_lossy(), error_text(&error)))?;
    }
    for file in &flags.exclude_from {
        // As in du, `-` is stdin.
        let file = match file.as_os_str() == OsStr::new("-") {
            true => Path::new("/dev/stdin"),
            false => file,
        };
        exclusions = exclusions.glob_file(file)?;
    }
    Ok(exclusions)
}

fn error_text(error: &statwalk_core::Error) -> String {
    safe(&error.to_string())
}

/// Text that is safe on a terminal.
pub(crate) fn safe(text: &str) -> String {
    statwalk_view::escape(text.as_bytes(), statwalk_view::Charset::Unicode).into_owned()
}

/// A share of the processors that other programs hardly miss.
fn few_workers() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors / 4).clamp(1, 4)
}
