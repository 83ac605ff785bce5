// SPDX-License-Identifier: MIT OR Apache-2.0

//! How far the threads of a scan stand behind others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::getpriority_process;
use rustix::thread::gettid;
use statwalk_core::{Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Latency, Uniform, Where};
use statwalk_testkit::or_skip;

#[test]
fn all_threads_of_a_scan_stand_as_far_behind_as_was_asked_for() {
    let shape = Uniform {
        depth: 2,
        dirs_each: 20,
        files_each: 1,
        file_size_bytes: 1,
    };
    let fs = FaultFs::builder()
        .uniform("u", shape)
        .latency(Where::Everywhere, Latency::Fixed(Duration::from_millis(1)));
    let mount = or_skip!(fs.mount());
    let own = getpriority_process(None).unwrap();
    // Workers start workers: the second is no nicer than the first.
    for niceness in [0, 5, 19, 255] {
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let seeing = Arc::clone(&seen);
        let scan = Scan::new(mount.path()).threads(6).niceness(niceness);
        let scan = scan.filter_dir(move |_| {
            let of_thread = getpriority_process(None).unwrap();
            seeing.lock().unwrap().insert(gettid(), of_thread);
            true
        });
        let outcome = scan.run(&Totals::new()).unwrap();
        assert_eq!(outcome.output[0].files, mount.expected().files);
        let seen: Vec<i32> = seen.lock().unwrap().values().copied().collect();
        let expected = (own + i32::from(niceness)).min(19);
        assert!(seen.len() > 1);
        assert_eq!(seen, vec![expected; seen.len()], "{niceness}");
        assert_eq!(getpriority_process(None).unwrap(), own);
    }
}
