// SPDX-License-Identifier: MIT OR Apache-2.0

//! The user of a trial: presses keys, reads the screen, and remembers what was marked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::forest::{Forest, is_data};
use super::frame::{Dialog, Frame, Row};
use super::judge::{self, Case};
use super::mounter::{self, Cover, Mounter};
use super::mover::{Mover, Storm, occupy};
use super::picture::{Id, Kind, Picture, Thing};
use super::{Deeds, Focus, Seat};
use crate::attack::Round;
use crate::remove_tree;

/// Confirmed dialogs and their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Trash,
    Forever,
    Cancel,
}

/// So often a trial rests until a number is the expected one.
const RESTS_MAX: usize = 50;
/// So many faults of one removal are printed.
const FAULTS_TOLD: usize = 4;

pub(super) struct User<'a> {
    forest: Forest,
    focus: Focus,
    seat: &'a mut dyn Seat,
    round: &'a mut Round,
    deeds: &'a mut Deeds,
    mover: Mover,
    mounter: Option<Mounter>,
    /// By path below the root: what may go because of the mark. Absent where something
    /// else than the item of the row stood there at the moment of the mark.
    marks: BTreeMap<PathBuf, Option<Thing>>,
    /// The marks that are older than the last move of something.
    old_marks: BTreeSet<PathBuf>,
    /// By path below the root: what the scan found, and later readings.
    seen: BTreeMap<PathBuf, BTreeSet<Thing>>,
    /// Whether no mount showed a directory again at the last scan: the browser has it once.
    is_once: bool,
    /// Whether nothing moves before the next removal.
    is_quiet: bool,
    /// Whether nothing moved since the last scan.
    is_calm: bool,
    /// The number of times that something can have moved.
    moves: u64,
    /// The place in the journal.
    journal: usize,
    lists: u32,
    /// The paths of each inode after the last answer: only another answer takes some.
    known: BTreeMap<Thing, u64>,
    /// All that happened, to be printed with a difference.
    story: Vec<String>,
}

impl<'a> User<'a> {
    pub(super) fn new(
        mut forest: Forest,
        focus: Focus,
        seat: &'a mut dyn Seat,
        round: &'a mut Round,
        deeds: &'a mut Deeds,
    ) -> User<'a> {
        let mut journal = 0;
        judge::journal(&forest.ground.journal(), &mut journal);
        let mounter =
            (focus == Focus::Mounts).then(|| Mounter::begin(&mut forest, &mut round.random));
        User {
            forest,
            focus,
            seat,
            round,
            deeds,
            mover: Mover::default(),
            mounter,
            marks: BTreeMap::new(),
            old_marks: BTreeSet::new(),
            seen: BTreeMap::new(),
            is_once: true,
            is_quiet: false,
            is_calm: true,
            moves: 0,
            journal,
            lists: 0,
            known: BTreeMap::new(),
            story: Vec::new(),
        }
    }

    pub(super) fn work(&mut self) {
        self.seat.wait(&|frame| frame.directory().is_some());
        self.seat.settle();
        self.see_all();
        self.known = self.forest.picture().links();
        let most = if self.mounter.is_some() { 8 } else { 3 };
        for _ in 0..1 + self.round.random.below(most) {
            self.is_quiet = self.mounter.is_some() && !self.round.random.one_in(3);
            if self.is_quiet {
                self.begin_anew();
            }
            for _ in 0..3 + self.round.random.below(10) {
                self.step();
            }
            self.check_nothing_went();
            self.remove();
            self.known = self.forest.picture().links();
        }
        self.step();
        self.check_nothing_went();
        if self.mounter.take().is_some() {
            let left = mounter::points_below(&self.forest.ground.home);
            self.check(left.is_empty(), || format!("still mounted: {left:?}"));
        }
    }

    /// Has something mounted, drops the marks, and scans: what is marked then can go, where no
    /// mount is in the way.
    fn begin_anew(&mut self) {
        self.move_things();
        self.press("8*");
        if self.marked_count() == 0 {
            self.marks.clear();
            self.old_marks.clear();
        }
        self.scan_again();
    }

    fn check_nothing_went(&mut self) {
        let now = self.forest.picture().links();
        let mut known = self.known.iter();
        let lost = known.find(|(thing, count)| now.get(thing).is_none_or(|left| left < count));
        let lost = lost.map(|(thing, _)| *thing);
        self.check(lost.is_none(), || {
            format!("{lost:?} went without an answer")
        });
    }

    fn check(&mut self, holds: bool, told: impl FnOnce() -> String) {
        let story = &self.story;
        let screen = match holds {
            true => String::new(),
            false => self.seat.frame().text(),
        };
        self.round.check(holds, || {
            format!("{}\n{}\n{screen}", told(), story.join("; "))
        });
    }

    fn press(&mut self, keys: &str) -> Frame {
        self.story.push(format!("{keys:?}"));
        self.seat.press(keys);
        self.seat.settle();
        self.seat.frame()
    }

    fn step(&mut self) {
        if self.focus == Focus::Refresh && self.round.random.one_in(2) {
            return match self.round.random.below(3) {
                0 => self.scan_again(),
                1 => self.read_again(),
                _ => self.move_things(),
            };
        }
        if self.mounter.is_some() && !self.is_quiet && self.round.random.one_in(4) {
            return match self.round.random.below(2) {
                0 => self.scan_again(),
                _ => self.move_things(),
            };
        }
        match self.round.random.below(18) {
            0..=3 => self.mark(),
            4 => self.enter(),
            5 => drop(self.press("h")),
            6 => {
                let key = *self
                    .round
                    .random
                    .pick(&["n", "s", "C", "M", "O", "t", "a", "e"]);
                // Hidden names are shown again.
                self.press(if key == "e" { "ee" } else { key });
            }
            7 => self.scan_again(),
            8 => self.read_again(),
            9 => self.look_at_marks(),
            10 => self.write_marks(),
            11 => self.filter(),
            12 => self.mark_all(),
            13 | 14 => self.search(),
            _ if self.is_quiet => self.mark(),
            _ => self.move_things(),
        }
    }

    fn move_things(&mut self) {
        // The moment of a mark is the one of that look.
        self.seat.see_marks();
        for _ in 0..1 + self.round.random.below(3) {
            let near: Vec<PathBuf> = self.marks.keys().map(|mark| self.real(mark)).collect();
            let random = &mut self.round.random;
            let told = match &mut self.mounter {
                Some(mounter) if random.one_in(2) => mounter.act(&self.forest, &near, random),
                _ => self.mover.act(&self.forest, &near, random),
            };
            // Half of an act can have happened before it failed.
            self.note_a_move();
            self.story.extend(told);
        }
    }

    fn note_a_move(&mut self) {
        self.is_calm = false;
        self.moves += 1;
        self.old_marks = self.marks.keys().cloned().collect();
    }

    fn real(&self, below: &Path) -> PathBuf {
        self.forest.root.join(below)
    }

    fn below_root(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        path.strip_prefix(&self.forest.root)
            .ok()
            .map(Path::to_owned)
    }

    /// Remembers what a scan of everything finds.
    fn see_all(&mut self) {
        self.seen.clear();
        self.is_calm = true;
        self.is_once = Picture::of(&self.forest.root).has_directories_once();
        self.see(Path::new(""));
    }

    /// Remembers what a reading of a directory finds.
    fn see(&mut self, below: &Path) {
        let root = self.real(Path::new(""));
        let picture = Picture::of(&root.join(below));
        for (path, thing) in picture.things {
            let below = path.strip_prefix(&root).unwrap_or(&path).to_owned();
            let seen = self.seen.entry(below.clone()).or_default();
            // Only a scan resolves the root.
            if !below.as_os_str().is_empty() || seen.is_empty() {
                seen.insert(thing);
            }
        }
    }

    /// Forgets marks below a directory where a reading finds nothing, or another type.
    fn forget_marks_in(&mut self, directory: &Path) {
        let marks = std::mem::take(&mut self.marks);
        let is_there = |path: &Path, thing: &Option<Thing>| {
            let kind = Thing::at(&self.real(path)).map(|thing| thing.kind);
            kind.is_some() && thing.is_none_or(|thing| Some(thing.kind) == kind)
        };
        let stays = |path: &Path, thing: &Option<Thing>| {
            path == directory || !path.starts_with(directory) || is_there(path, thing)
        };
        let marks = marks.into_iter().filter(|(path, thing)| stays(path, thing));
        self.marks = marks.collect();
    }

    /// The thing that may go because of a mark that is made now.
    fn allowed(&self, below: &Path) -> Option<Thing> {
        let has_seen = |path: &Path, is_it: &dyn Fn(&Thing) -> bool| {
            let seen = self.seen.get(path);
            seen.is_some_and(|seen| seen.iter().any(is_it))
        };
        for above in below.ancestors().skip(1) {
            let thing = Thing::at(&self.real(above))?;
            let is_same = thing.kind == Kind::Directory && has_seen(above, &|seen| *seen == thing);
            is_same.then_some(())?;
        }
        let thing = Thing::at(&self.real(below))?;
        let is_same = match thing.kind {
            Kind::Directory => has_seen(below, &|seen| *seen == thing),
            kind => has_seen(below, &|seen| seen.kind == kind),
        };
        is_same.then_some(thing)
    }

    fn row_path(&self, frame: &Frame, row: &Row) -> Option<PathBuf> {
        let directory = self.below_root(frame.directory()?)?;
        // A path that does not fit lacks something in the middle.
        let is_whole = !row.name.contains('…');
        is_whole.then(|| directory.join(&row.name))
    }

    fn go_to_a_row(&mut self, wanted: impl Fn(&Row) -> bool) -> Option<Frame> {
        let frame = self.seat.frame();
        let rows = frame.rows().into_iter().filter(|row| !row.is_data());
        let rows: Vec<Row> = rows.filter(wanted).collect();
        if rows.is_empty() || frame.directory().is_none() {
            return None;
        }
        let row = self.round.random.pick(&rows).clone();
        Some(self.press(&format!("'{}\r", row.name)))
    }

    fn mark(&mut self) {
        for _ in 0..1 + self.round.random.below(4) {
            let Some(before) = self.go_to_a_row(|_| true) else {
                return;
            };
            let key = *self.round.random.pick(&[" ", "x"]);
            let after = self.press(key);
            self.note_marks(&before, &after);
        }
    }

    fn mark_all(&mut self) {
        self.press("1");
        // All rows must be there by then, also on a busy machine.
        self.rest();
        let before = self.seat.frame();
        let rows = before.rows();
        // The trash is no item of a trial.
        let is_fit = rows.len() <= 8 && rows.iter().all(|row| !row.is_data());
        if is_fit && before.directory().is_some() {
            let after = self.press("*");
            self.note_marks(&before, &after);
        }
    }

    /// Remembers the rows whose sign changed.
    fn note_marks(&mut self, before: &Frame, after: &Frame) {
        if before.directory() != after.directory() {
            return;
        }
        let marked = |frame: &Frame| -> BTreeSet<PathBuf> {
            let rows = frame.rows().into_iter().filter(|row| row.is_marked);
            rows.filter_map(|row| self.row_path(frame, &row)).collect()
        };
        // A row that scrolled out of sight keeps its mark.
        let shown = |frame: &Frame| -> BTreeSet<PathBuf> {
            let rows = frame.rows().into_iter();
            rows.filter_map(|row| self.row_path(frame, &row)).collect()
        };
        let both: BTreeSet<PathBuf> =
            (shown(before).intersection(&shown(after)).cloned()).collect();
        let marked = |frame| {
            marked(frame)
                .intersection(&both)
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        let (before, after) = (marked(before), marked(after));
        for path in after.difference(&before) {
            let allowed = self.allowed(path);
            self.marks.insert(path.clone(), allowed);
            self.old_marks.remove(path);
        }
        for path in before.difference(&after) {
            self.marks.remove(path);
        }
    }

    fn enter(&mut self) {
        if self.go_to_a_row(|row| row.is_directory).is_some() {
            self.press("l");
        }
    }

    fn scan_again(&mut self) {
        // A mark keeps the look of its moment, and that can have been one at another item
        // than the row's.
        if !self.is_calm {
            self.note_a_move();
        }
        // Before the key: nothing moves while it scans.
        self.see_all();
        self.forget_marks_in(Path::new(""));
        // A scan resolves the root, and a look of before was one at the old root.
        self.seat.see_marks();
        let again = self.focus == Focus::Refresh;
        let keys = ["R", "RR", "RhR", "rR", "Rr"];
        let keys = if again {
            *self.round.random.pick(&keys)
        } else {
            "R"
        };
        self.press(keys);
        self.rest();
    }

    fn read_again(&mut self) {
        let frame = self.press("1");
        let Some(directory) = frame.directory().and_then(|path| self.below_root(path)) else {
            return;
        };
        self.see(&directory);
        // Otherwise there is nothing to read, and the numbers stay.
        if Thing::at(&self.real(&directory)).is_some_and(|thing| thing.kind == Kind::Directory) {
            self.forget_marks_in(&directory);
        }
        self.press("r");
        self.seat
            .wait(&|frame| !frame.foot().contains("reading again"));
        self.rest();
    }

    /// Lets the rows come that wait for the fingers to rest.
    fn rest(&mut self) {
        self.seat.settle();
        std::thread::sleep(std::time::Duration::from_millis(60));
        self.seat.settle();
    }

    /// The number of marks in the foot.
    fn marked_count(&mut self) -> usize {
        let mut frame = self.press("1");
        for _ in 0..RESTS_MAX {
            if !frame.hides_marks() {
                break;
            }
            // A key takes the sentence away, but not one that came with it.
            self.rest();
            frame = self.press("1");
        }
        let foot = frame.foot();
        let before = foot.split_once(" marked").map(|(before, _)| before);
        let count = before.and_then(|before| before.rsplit(' ').next());
        count.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    fn look_at_marks(&mut self) {
        let frame = self.press("8");
        let (shown, known) = (frame.rows().len(), self.marks.len());
        self.check(shown <= known, || {
            format!("{shown} marks, and {known} were made")
        });
        let marks: Vec<String> = (self.marks.keys())
            .map(|mark| self.forest.root.join(mark).display().to_string())
            .collect();
        for row in frame.rows() {
            // A path that does not fit lacks something in the middle.
            let end = row.name.rsplit('…').next().unwrap_or_default();
            let is_known = marks.iter().any(|mark| mark.ends_with(end));
            self.check(is_known, || format!("nobody marked {}", row.name));
        }
        self.press("1");
    }

    fn write_marks(&mut self) {
        if self.marked_count() == 0 {
            return;
        }
        self.lists += 1;
        let list = self.forest.aside.join(format!("list{}", self.lists));
        self.press(&format!("E{}\r", list.display()));
        let text = std::fs::read_to_string(&list).unwrap_or_default();
        for path in text.split_terminator('\0') {
            let below = self.below_root(path);
            let is_known = below.is_some_and(|below| self.marks.contains_key(&below));
            self.check(is_known, || {
                format!("nobody marked {path}, and E writes it")
            });
        }
    }

    fn filter(&mut self) {
        let text = *self.round.random.pick(&["d1", "a", "s", "0", "nothing"]);
        self.press(&format!("/{text}\r"));
        if self.round.random.one_in(2) {
            self.mark();
        }
        // Esc is a key of its own only where nothing follows it.
        self.press("\x1b");
    }

    /// Marks results of a search, and goes to one of them, or stays there.
    fn search(&mut self) {
        let text = *self.round.random.pick(&["d", "*1*", "?", "a*", "s"]);
        self.press(&format!("F{text}\r"));
        for _ in 0..self.round.random.below(4) {
            if let Some(before) = self.go_to_a_result() {
                let after = self.press(" ");
                self.note_marks(&before, &after);
            }
        }
        let is_fit = self.go_to_a_result().is_some();
        match self.round.random.below(3) {
            0 if is_fit => drop(self.press("\r")),
            1 => drop(self.press("1")),
            _ => drop(self.press("\x1b")),
        }
    }

    /// Goes to a row whose path is on the screen, and no item of the trash.
    fn go_to_a_result(&mut self) -> Option<Frame> {
        let rows = self.seat.frame().rows().len().max(1);
        let down = "j".repeat(self.round.random.below(rows as u64) as usize);
        let frame = self.press(&format!("H{down}"));
        let path = frame.here().and_then(|row| self.row_path(&frame, &row))?;
        (!is_data(&path)).then_some(frame)
    }

    fn remove(&mut self) {
        if self.round.random.one_in(3) {
            self.move_things();
        }
        let count = self.marked_count();
        let here = self.seat.frame().here();
        // Where no row is, the key has nothing to act on, and the browser says nothing.
        if count == 0 && here.is_none_or(|row| row.is_data()) {
            return;
        }
        if self.round.random.one_in(12) {
            self.in_haste();
        }
        self.story.push("\"d\"".to_owned());
        let (frame, is_exact) = loop {
            let frame = self.seat.frame();
            let here = frame.here().and_then(|row| self.row_path(&frame, &row));
            if count == 0 && here.is_none() {
                // Its path does not fit, so nobody can say what goes.
                return;
            }
            match self.seat.press_on(&frame, "d") {
                Some(false) => {}
                pressed => break (frame, pressed.is_some()),
            }
        };
        let foot = frame.foot().to_owned();
        let confirmed = match count {
            0 => {
                let here = frame.here().and_then(|row| self.row_path(&frame, &row));
                let allowed = here.as_ref().map(|here| self.allowed(here));
                here.into_iter().zip(allowed).collect()
            }
            _ => self.marks.clone(),
        };
        let frame = self.seat.wait(&|frame| {
            let is_asked = frame.dialog().is_some();
            let is_told = frame.in_box("Remove").is_none() && frame.foot() != foot;
            is_asked || is_told
        });
        let Some(dialog) = frame.dialog() else {
            self.story.push(format!("no dialog: {}", frame.foot()));
            self.deeds.refused += 1;
            let may_refuse = self.may_refuse(&confirmed);
            self.check(may_refuse, || "no dialog, and nothing moved".to_owned());
            return;
        };
        if count == 0 && !is_exact && !self.has_only(&dialog, &confirmed) {
            // Another row was under the cursor by then; the user sees it in the dialog.
            drop(self.press("\x1b"));
            return;
        }
        self.check_dialog(&dialog, &confirmed);
        if self.round.random.one_in(3) {
            self.move_things();
        }
        self.answer(&dialog, &confirmed);
    }

    /// Keys that are pressed together with `d` were not meant for the dialog.
    fn in_haste(&mut self) {
        let before = self.forest.picture();
        self.story.push("\"dy\\t\\r\"".to_owned());
        self.seat.press("dy\t\r");
        self.seat.wait(&|frame| frame.dialog().is_some());
        let after = self.forest.picture();
        let is_same = before.things == after.things;
        self.check(is_same, || {
            "something went before a dialog was seen".to_owned()
        });
        self.press("\x1b");
    }

    fn check_dialog(&mut self, dialog: &Dialog, confirmed: &BTreeMap<PathBuf, Option<Thing>>) {
        let count = dialog.paths.len() + dialog.more;
        let most = confirmed.len();
        self.check(count <= most, || {
            format!("{count} items, and {most} were marked")
        });
        let is_known = self.has_only(dialog, confirmed);
        self.check(is_known, || {
            format!(
                "not all of {:?} are of {:?}",
                dialog.paths,
                confirmed.keys()
            )
        });
        let is_right = dialog.has_forever || self.may_refuse(confirmed);
        self.check(is_right, || "refused, and nothing moved".to_owned());
        let covers = self.covers();
        let held = dialog.paths.iter().find_map(|path| {
            let cover = covers.iter().find(|cover| cover.point.starts_with(path))?;
            Some((path, &cover.point))
        });
        self.deeds.refused_at_mounts += u64::from(held.is_some());
        let is_safe = held.is_none() || !dialog.has_forever;
        self.check(is_safe, || format!("offered, with a mount in it: {held:?}"));
    }

    fn covers(&self) -> Vec<Cover> {
        let mounter = self.mounter.as_ref();
        mounter.map_or_else(Vec::new, |mounter| mounter.covers(&self.forest))
    }

    /// The covers that a removal of items cannot go round: it reaches what they cover by
    /// their own paths alone.
    fn strict_covers(
        &self,
        confirmed: &BTreeMap<PathBuf, Option<Thing>>,
        picture: &Picture,
    ) -> Vec<Cover> {
        let mut covers = self.covers();
        covers.retain(|cover| {
            !confirmed.iter().any(|(path, thing)| {
                let is_inside = cover.point.starts_with(self.real(path));
                !is_inside && holds(*thing, picture, cover)
            })
        });
        covers
    }

    /// Whether a mount lies at one of these items or below, by any path.
    fn is_mounted_in(&self, confirmed: &BTreeMap<PathBuf, Option<Thing>>) -> bool {
        let covers = self.covers();
        if covers.is_empty() {
            return false;
        }
        let picture = self.forest.picture();
        confirmed.iter().any(|(path, thing)| {
            let path = self.real(path);
            let is_held =
                |cover: &Cover| cover.point.starts_with(&path) || holds(*thing, &picture, cover);
            covers.iter().any(is_held)
        })
    }

    /// Whether a mount lies above, at or in one of these items.
    fn is_at_mounts(&self, confirmed: &BTreeMap<PathBuf, Option<Thing>>) -> bool {
        let covers = self.covers();
        confirmed.keys().any(|path| {
            let path = self.real(path);
            let mut points = covers.iter().map(|cover| &cover.point);
            points.any(|point| path.starts_with(point) || point.starts_with(&path))
        })
    }

    /// Whether the dialog shows nothing but these items.
    fn has_only(&self, dialog: &Dialog, confirmed: &BTreeMap<PathBuf, Option<Thing>>) -> bool {
        dialog.paths.iter().all(|path| {
            let below = self.below_root(path);
            below.is_some_and(|below| confirmed.contains_key(&below))
        })
    }

    /// Whether nothing is confirmed, something moved since the scan, or a mark is one of
    /// something else.
    fn may_refuse(&self, confirmed: &BTreeMap<PathBuf, Option<Thing>>) -> bool {
        let is_there = |(path, thing): (&PathBuf, &Option<Thing>)| {
            let is_same = thing.is_some() && Thing::at(&self.real(path)) == *thing;
            is_same && !self.old_marks.contains(path)
        };
        let is_moved = !self.is_calm || !confirmed.iter().all(is_there);
        confirmed.is_empty() || is_moved || self.is_mounted_in(confirmed)
    }

    fn answer(&mut self, dialog: &Dialog, confirmed: &BTreeMap<PathBuf, Option<Thing>>) {
        let answer = match self.round.random.below(8) {
            _ if !dialog.has_forever => Answer::Cancel,
            0 => Answer::Cancel,
            _ if dialog.has_trash && matches!(self.focus, Focus::Undo | Focus::Trash) => {
                Answer::Trash
            }
            1..=3 if dialog.has_trash => Answer::Trash,
            _ => Answer::Forever,
        };
        let (before, whole) = (self.forest.picture(), self.forest.whole());
        let paths: Vec<PathBuf> = confirmed.keys().map(|path| self.real(path)).collect();
        let storm = self.round.random.one_in(4) && answer != Answer::Cancel;
        let seed = self.round.random.next();
        let wanted: BTreeSet<Thing> = (confirmed.iter())
            .filter_map(|(path, thing)| {
                Thing::at(&self.real(path)).filter(|at| Some(*at) == *thing)
            })
            .collect();
        let covers = self.strict_covers(confirmed, &before);
        let mut is_at_mounts = self.is_at_mounts(confirmed);
        let mut may_stay = self.may_refuse(confirmed);
        let points = self.mounter.as_ref().map(Mounter::points);
        let storm = storm.then(|| Storm::begin(&self.forest, &paths, points, seed));
        self.story.push(format!("{answer:?}"));
        match answer {
            Answer::Cancel => self.seat.press("\x1b"),
            Answer::Trash => {
                let keys = *self.round.random.pick(&["y", "\t\r", "ly"]);
                self.seat.press(keys);
            }
            Answer::Forever => {
                let keys = if dialog.has_trash { "\t\t\r" } else { "\t\r" };
                self.seat.press(keys);
                let asks = |frame: &Frame| {
                    let dialog = frame.dialog();
                    dialog.is_some_and(|dialog| dialog.word.is_some())
                };
                let frame = self.seat.wait(&asks);
                let word = frame.dialog().and_then(|dialog| dialog.word);
                let Some(word) = word else {
                    return self.check(false, || "the dialog asks for no word".to_owned());
                };
                self.seat.press(&format!("{word}\r"));
            }
        }
        self.seat.wait(&|frame| frame.in_box("Remove").is_none());
        self.seat.settle();
        let is_stormy = storm.is_some();
        if let Some(storm) = storm {
            let (exchanges, mounts) = storm.end();
            let told = format!("{exchanges} exchanges and {mounts} mounts meanwhile");
            self.story.push(told);
            self.note_a_move();
            is_at_mounts |= mounts > 0;
            may_stay = true;
        }
        let end = self.seat.frame();
        self.story.push(end.foot().to_owned());
        if let Some(lines) = end.in_box("Removed") {
            self.story.push(lines.join(" "));
            self.press("\x1b");
        }
        let after = self.forest.picture();
        let lines = judge::journal(&self.forest.ground.journal(), &mut self.journal);
        if answer == Answer::Cancel {
            let is_same = before.things == after.things;
            self.check(is_same, || "something went after Cancel".to_owned());
            self.deeds.refused += u64::from(!dialog.has_forever);
            return;
        }
        self.deeds.confirmed += 1;
        self.deeds.confirmed_at_mounts += u64::from(is_at_mounts);
        let allowed: BTreeSet<Id> = confirmed.values().flatten().map(Thing::id).collect();
        let case = Case {
            forest: &self.forest,
            before: &before,
            whole: &whole,
            after: &after,
            allowed: &allowed,
            covers: &covers,
            is_trash: answer == Answer::Trash,
            is_stormy,
            journal: &lines,
        };
        let (faults, gone) = (case.faults(), case.gone());
        self.deeds.removed += gone.len() as u64;
        let told = faults.len().min(FAULTS_TOLD);
        self.check(faults.is_empty(), || faults[..told].join("\n"));
        // The kernel moves no directory of a lower layer of an overlay.
        let is_lower = |thing: &Thing| {
            let mounter = self.mounter.as_ref();
            thing.kind == Kind::Directory
                && mounter.is_some_and(|mounter| mounter.is_on_overlay(thing))
        };
        may_stay |= answer == Answer::Trash && wanted.iter().any(is_lower);
        let is_whole = wanted.iter().all(|thing| gone.contains(&thing.id())) || may_stay;
        self.check(is_whole, || format!("{wanted:?} confirmed, {gone:?} gone"));
        // The browser reads again what is gone in part.
        for path in judge::ended(&lines, "partly") {
            if let Some(below) = self.below_root(&path) {
                self.see(&below);
            }
        }
        // Marks of removed items are gone, and those of what was in them.
        let removed = judge::ended(&lines, "removed");
        let removed: Vec<PathBuf> = (removed.iter())
            .filter_map(|path| self.below_root(path))
            .collect();
        self.marks
            .retain(|mark, _| !removed.iter().any(|path| mark.starts_with(path)));
        let takes_back = self.focus == Focus::Undo || self.round.random.one_in(2);
        if answer == Answer::Trash && !gone.is_empty() && takes_back {
            let moves = self.moves;
            if self.focus == Focus::Undo && self.round.random.one_in(2) {
                for _ in 0..1 + self.round.random.below(4) {
                    self.step();
                }
            }
            let is_exact = !is_stormy && moves == self.moves;
            self.take_back(&before, confirmed, is_exact);
        }
        self.check_rows();
    }

    /// Everything comes back to its place, or stays in the trash where that is taken.
    fn take_back(
        &mut self,
        before: &Picture,
        confirmed: &BTreeMap<PathBuf, Option<Thing>>,
        mut is_exact: bool,
    ) {
        if is_exact && self.round.random.one_in(4) {
            for (path, thing) in confirmed {
                let kind = thing.map_or(Kind::File, |thing| thing.kind);
                if occupy(&self.real(path), kind).is_some() {
                    self.story.push(format!("make {}", path.display()));
                    is_exact = false;
                    self.note_a_move();
                }
            }
        }
        self.press("U");
        self.rest();
        self.deeds.undone += 1;
        // They are rows again, also where a scan came between, and what lies beside them
        // can have been read with them.
        for path in confirmed.keys() {
            self.see(path.parent().unwrap_or(path));
        }
        if is_exact {
            let after = self.forest.picture();
            let lacking = before
                .things
                .iter()
                .find(|(path, thing)| after.things.get(*path) != Some(*thing));
            let lacking = lacking.map(|(path, _)| path.display().to_string());
            self.check(lacking.is_none(), || format!("{lacking:?} is not back"));
        }
        let all = self.forest.picture_with_trash().links();
        let lost = before
            .links()
            .into_iter()
            .find(|(thing, count)| all.get(thing).is_none_or(|left| left < count));
        let lost = lost.and_then(|(thing, _)| before.paths_of(thing.id()).next());
        let lost = lost.map(|path| path.display().to_string());
        self.check(lost.is_none(), || format!("{lost:?} is lost"));
    }

    /// The rows are those of the disk, where nothing else moved.
    fn check_rows(&mut self) {
        if !self.is_calm {
            return;
        }
        let trash = self.forest.ground.trash();
        // Mounts make ways that are deeper than the trees.
        self.press("1hhhhhhhhhhhh");
        // A trash in the tree is read on its own.
        self.rest();
        let mut frame = self.seat.frame();
        let whole = Picture::of(&self.forest.root);
        let count = whole.things.len() as u64;
        // A directory that mounts show twice counts once. One of the two can be gone by now.
        let is_known = self.is_once && whole.has_directories_once();
        // The reading of the trash takes its time on a busy machine.
        for _ in 0..RESTS_MAX {
            if !is_known || frame.entries() == Some(count) {
                break;
            }
            self.rest();
            frame = self.seat.frame();
        }
        let shown = frame.entries();
        self.check(!is_known || shown == Some(count), || {
            format!("{shown:?} of {count} entries")
        });
        let children: BTreeSet<String> = (whole.things.keys())
            .filter(|path| path.parent() == Some(&self.forest.root))
            .map(|path| super::name(path))
            .collect();
        let rows: BTreeSet<String> = frame.rows().into_iter().map(|row| row.name).collect();
        let fits = children.len() + 4 <= frame.lines.len();
        let is_same = rows == children || !fits;
        self.check(is_same, || format!("{rows:?} instead of {children:?}"));
        // Room for the next ones, as a user makes it, where the browser does not show it.
        if !is_data(&trash) && trash.exists() && self.round.random.one_in(4) {
            remove_tree(&trash).unwrap();
            self.story.push("empty the trash".to_owned());
        }
    }
}

/// Whether an item, or something in it, is the entry that a mount covers.
fn holds(item: Option<Thing>, picture: &Picture, cover: &Cover) -> bool {
    item.is_some_and(|item| {
        let mut paths = picture.paths_of(item.id());
        paths.any(|path| cover.hidden.starts_with(path))
    })
}
