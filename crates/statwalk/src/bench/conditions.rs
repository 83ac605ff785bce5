// SPDX-License-Identifier: MIT OR Apache-2.0

//! On what was measured: the kernel, the file system, the device, and what
//! else the machine did.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use statwalk_view::{Charset, escape};

/// On what was measured. What could not be found out is absent.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) kernel: String,
    pub(crate) processor: Option<String>,
    pub(crate) processors: usize,
    pub(crate) file_system: Option<String>,
    pub(crate) mount_options: Option<String>,
    pub(crate) device: Option<String>,
    /// Whether the device has to move a head.
    pub(crate) is_rotational: Option<bool>,
}

impl Conditions {
    /// Those of a tree.
    pub(crate) fn of(path: &Path) -> Conditions {
        let system = rustix::system::uname();
        let mut conditions = Conditions {
            kernel: format!(
                "{} {} {}",
                system.sysname().to_string_lossy(),
                system.release().to_string_lossy(),
                system.machine().to_string_lossy()
            ),
            processor: processor(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            ..Conditions::default()
        };
        let Ok(found) = fs::metadata(path) else {
            return conditions;
        };
        let numbers = (
            rustix::fs::major(found.dev()),
            rustix::fs::minor(found.dev()),
        );
        conditions.is_rotational = rotational(numbers);
        let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let whole = fs::canonicalize(path).unwrap_or_default();
        if let Some(mount) = mount_of(&table, whole.as_os_str().as_bytes()) {
            conditions.file_system = Some(mount.kind);
            conditions.mount_options = Some(mount.options);
            conditions.device = Some(mount.device);
        }
        conditions
    }

    /// In lines of words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{}, {} processors", self.kernel, self.processors)];
        lines.extend(self.processor.clone());
        if let Some(kind) = &self.file_system {
            let device = self.device.as_deref().unwrap_or("?");
            let turns = match self.is_rotational {
                Some(true) => ", rotational",
                Some(false) => ", not rotational",
                None => "",
            };
            let options = self.mount_options.as_deref().unwrap_or("");
            lines.push(format!("{kind} on {device}{turns} ({options})"));
        }
        lines
    }
}

struct Mount {
    kind: String,
    options: String,
    device: String,
}

/// The mount that a path lies in: the last of those with the longest way in common.
///
/// The fields of a line: proc_pid_mountinfo(5).
fn mount_of(table: &[u8], path: &[u8]) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in table.split(|&byte| byte == b'\n') {
        let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        let Some(dash) = words.iter().position(|word| *word == b"-") else {
            continue;
        };
        let (Some(at), Some(own)) = (words.get(4), words.get(5)) else {
            continue;
        };
        let (Some(kind), Some(device)) = (words.get(dash + 1), words.get(dash + 2)) else {
            continue;
        };
        let at = unescaped(at);
        let is_above = at == b"/" || path == at || path.starts_with(&[&at[..], b"/"].concat());
        if !is_above || best.as_ref().is_some_and(|(length, _)| *length > at.len()) {
            continue;
        }
        let mut options = shown(own);
        if let Some(more) = words.get(dash + 3) {
            options = format!("{options}; {}", shown(more));
        }
        let mount = Mount {
            kind: shown(kind),
            options,
            device: shown(device),
        };
        best = Some((at.len(), mount));
    }
    best.map(|(_, mount)| mount)
}

/// A field of the table: blanks and backslashes are written as octal numbers.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (byte, code) {
            (b'\\', Some(code)) => {
                plain.push(code);
                rest = &after[3..];
            }
            _ => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

fn shown(field: &[u8]) -> String {
    escape(&unescaped(field), Charset::Unicode).into_owned()
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// A partition has no queue of its own; its disk has.
fn rotational((major, minor): (u32, u32)) -> Option<bool> {
    let device = format!("/sys/dev/block/{major}:{minor}");
    ["queue/rotational", "../queue/rotational"]
        .iter()
        .find_map(|file| fs::read_to_string(format!("{device}/{file}")).ok())
        .map(|answer| answer.trim() == "1")
}

/// How busy the processors were with other things.
#[derive(Debug)]
pub(crate) struct Load {
    started: Instant,
    own_s: f64,
    before: Option<Ticks>,
    /// The share of the processors' time that others used.
    pub(crate) others: Option<f64>,
    /// The share that the host of a virtual machine took.
    pub(crate) stolen: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Ticks {
    busy: f64,
    stolen: f64,
    all: f64,
}

impl Load {
    pub(super) fn start() -> Load {
        Load {
            started: Instant::now(),
            own_s: own_s(),
            before: ticks(),
            others: None,
            stolen: None,
        }
    }

    pub(super) fn stop(&mut self) {
        let (Some(before), Some(after)) = (self.before, ticks()) else {
            return;
        };
        let all = after.all - before.all;
        if all <= 0.0 {
            return;
        }
        // Ticks count all processors; the own share comes from a clock.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let whole_s = self.started.elapsed().as_secs_f64() * processors as f64;
        let busy = (after.busy - before.busy) / all;
        self.others = Some((busy - (own_s() - self.own_s) / whole_s).max(0.0));
        self.stolen = Some((after.stolen - before.stolen) / all);
    }
}

fn own_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
/// steal; proc_stat(5).
fn ticks() -> Option<Ticks> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().next()?;
    let numbers: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0.0);
    let idle = at(3) + at(4);
    let stolen = at(7);
    let all: f64 = numbers.iter().take(8).sum();
    Some(Ticks {
        busy: all - idle - stolen,
        stolen,
        all,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_counts() {
        let table = b"1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
            2 1 8:2 / /data rw - xfs /dev/sdb1 rw,noquota\n\
            3 1 0:5 / /with\\040blank ro shared:1 - tmpfs tmpfs rw\n";
        let kind = |path: &str| mount_of(table, path.as_bytes()).map(|mount| mount.kind);
        assert_eq!(kind("/data/x").as_deref(), Some("xfs"));
        assert_eq!(kind("/data").as_deref(), Some("xfs"));
        assert_eq!(kind("/database").as_deref(), Some("ext4"));
        assert_eq!(kind("/with blank/x").as_deref(), Some("tmpfs"));
    }

    #[test]
    fn this_machine_can_be_described() {
        let lines = Conditions::of(Path::new("/")).lines();
        assert!(
            lines[0].contains("Linux") && lines[0].contains("processors"),
            "{lines:?}"
        );
    }
}
