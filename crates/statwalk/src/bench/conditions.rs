// SPDX-License-Identifier: MIT OR Apache-2.0

//! The surroundings of a measurement: kernel, file system, device, and the load by
//! other programs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use statwalk_sys::block_device;
use statwalk_sys::mount_table::{self, Mount};
use statwalk_sys::{thread_clock, uname};
use statwalk_view::{Charset, escape};

/// The surroundings of a measurement. An unknown field is absent.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) kernel: String,
    pub(crate) processor: Option<String>,
    pub(crate) processors: usize,
    pub(crate) file_system: Option<String>,
    pub(crate) mount_options: Option<String>,
    pub(crate) device: Option<String>,
    /// Whether the device is a rotating disk.
    pub(crate) is_rotational: Option<bool>,
}

impl Conditions {
    /// The surroundings of the tree at `path`.
    pub(crate) fn of(path: &Path) -> Conditions {
        let kernel = uname::read().map(|names| {
            let names = [names.system, names.release, names.processor];
            names.map(|name| shown(&name)).join(" ")
        });
        let mut conditions = Conditions {
            kernel: kernel.unwrap_or_default(),
            processor: processor(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            ..Conditions::default()
        };
        let Ok(found) = fs::metadata(path) else {
            return conditions;
        };
        conditions.is_rotational = block_device::is_rotational(found.dev());
        let table = mount_table::read().unwrap_or_default();
        let whole = fs::canonicalize(path).unwrap_or_default();
        if let Some(mount) = mount_of(&table, &whole) {
            let options = [&mount.options, &mount.file_system_options];
            let options = options.map(|options| shown(options)).join("; ");
            conditions.file_system = Some(shown(mount.file_system.as_bytes()));
            conditions.mount_options = Some(options);
            conditions.device = Some(shown(&mount.source));
        }
        conditions
    }

    /// The surroundings in words, one subject a line.
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

/// The mount that holds a path: of those with the longest common prefix, the last.
fn mount_of<'m>(table: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let is_above = |mount: &&Mount| path.starts_with(OsStr::from_bytes(&mount.point));
    let above = table.iter().filter(is_above);
    above.max_by_key(|mount| mount.point.len())
}

fn shown(field: &[u8]) -> String {
    escape(field, Charset::Unicode).into_owned()
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The load of the processors by others.
#[derive(Debug)]
pub(crate) struct Load {
    started: Instant,
    own_s: Option<f64>,
    before: Option<Ticks>,
    /// The share of processor time that other processes used.
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
            own_s: processor_time_s(),
            before: ticks(),
            others: None,
            stolen: None,
        }
    }

    pub(super) fn stop(&mut self) {
        let (Some(before), Some(after)) = (self.before, ticks()) else {
            return;
        };
        let (Some(own_before_s), Some(own_after_s)) = (self.own_s, processor_time_s()) else {
            return;
        };
        let all = after.all - before.all;
        if all <= 0.0 {
            return;
        }
        // Ticks count all processors; our own share comes from a clock.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let whole_s = self.started.elapsed().as_secs_f64() * processors as f64;
        let busy = (after.busy - before.busy) / all;
        self.others = Some((busy - (own_after_s - own_before_s) / whole_s).max(0.0));
        self.stolen = Some((after.stolen - before.stolen) / all);
    }
}

/// The processor time of this process; absent where a filter of system calls refuses it.
pub(super) fn processor_time_s() -> Option<f64> {
    Some(thread_clock::of_process()?.as_secs_f64())
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
            3 1 0:5 / /with\\040blank ro shared:1 - tmpfs tmpfs rw\n\
            4 1 0:6 / /covered ro - tmpfs tmpfs rw\n\
            5 4 0:7 / /covered ro - proc proc rw\n";
        let table = mount_table::parse(table);
        let kind = |path: &str| {
            let mount = mount_of(&table, Path::new(path));
            mount.map(|mount| mount.file_system.as_str())
        };
        assert_eq!(kind("/data/x"), Some("xfs"));
        assert_eq!(kind("/data"), Some("xfs"));
        assert_eq!(kind("/database"), Some("ext4"));
        assert_eq!(kind("/with blank/x"), Some("tmpfs"));
        assert_eq!(kind("/covered/x"), Some("proc"));
    }

    #[test]
    fn the_own_conditions_are_those_that_other_files_show() {
        let found = Conditions::of(Path::new("/proc/self"));
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert!(found.kernel.contains(kernel.trim()), "{found:?}");
        assert_eq!(found.file_system.as_deref(), Some("proc"));
        assert_eq!(found.is_rotational, None);
        let lines = found.lines();
        let processors = format!(", {} processors", found.processors);
        assert!(lines[0].ends_with(&processors), "{lines:?}");
        assert!(lines[lines.len() - 1].starts_with("proc on "), "{lines:?}");
    }
}
