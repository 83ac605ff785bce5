// SPDX-License-Identifier: MIT OR Apache-2.0

//! A test of the end of a process runs in a child: this test program again, with one of
//! the [`ROLES`].

use super::*;

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use statwalk_testkit::{Scratch, Skipped, or_skip};

const PAGE: u64 = 4096;

/// A byte that tells where it stands.
fn byte_at(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

fn bytes_at(offset: u64, count: usize) -> Vec<u8> {
    (offset..).take(count).map(byte_at).collect()
}

fn file_of(length: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&bytes_at(0, length as usize), 0).unwrap();
    file
}

fn map_of(file: &File, length: u64) -> DeviceMap {
    DeviceMap::new(file.as_fd(), length).unwrap()
}

#[test]
fn what_is_needed_comes_into_memory() {
    let length = 64 * PAGE;
    let file = file_of(length);
    file.sync_all().unwrap();
    let map = map_of(&file, length);
    assert_eq!(map.resident_pages(PAGE - 1, 2).unwrap(), (2, 2));
    assert_eq!(map.resident_pages(0, length).unwrap(), (64, 64));
    map.will_need(PAGE + 5, 3 * PAGE).unwrap();
    map.will_need(0, length).unwrap();
    for (offset, count) in [(0, 0), (0, length + 1), (length, 1), (u64::MAX, 2)] {
        assert!(map.will_need(offset, count).is_err());
        assert!(map.resident_pages(offset, count).is_err());
    }
}

#[test]
fn copies_any_length_from_any_place() {
    let length = 40_000;
    let file = file_of(length);
    let map = map_of(&file, length);
    drop(file);
    assert_eq!(map.len(), length);
    let around = [
        16, 32, 48, 64, 80, 128, 160, 256, 1024, 2032, 2048, 4096, 8192, 20_000,
    ];
    let counts = (0..=16).chain(around.iter().flat_map(|&n| [n - 1, n, n + 1, n + 15]));
    for count in counts {
        for offset in [0, 1, 7, 16, 4095, 4096, 4100, length - count as u64] {
            for shift in [0, 1, 15] {
                let mut into = vec![0xa5; shift + count + 64];
                map.copy(offset, &mut into[shift..shift + count]).unwrap();
                assert_eq!(
                    &into[shift..shift + count],
                    bytes_at(offset, count),
                    "{count} bytes from {offset}"
                );
                let outside = into[..shift].iter().chain(&into[shift + count..]);
                assert!(outside.copied().all(|byte| byte == 0xa5), "{count}");
            }
        }
    }
}

#[test]
fn refuses_what_is_out_of_range() {
    let file = file_of(2 * PAGE);
    let map = map_of(&file, 5000);
    let mut into = [0xa5; 100];
    for offset in [4901, 5000, 5001, 6000, u64::MAX, u64::MAX - 99] {
        assert_eq!(
            map.copy(offset, &mut into),
            Err(CopyError::OutOfRange),
            "{offset}"
        );
    }
    assert_eq!(into, [0xa5; 100]);
    assert_eq!(map.copy(5001, &mut []), Err(CopyError::OutOfRange));
    assert_eq!(map.copy(5000, &mut []), Ok(()));
    assert_eq!(map.copy(4900, &mut into), Ok(()));
    assert_eq!(into.as_slice(), bytes_at(4900, 100));
}

#[test]
fn says_what_is_wrong() {
    let io = io::Error::from(CopyError::Io);
    assert_eq!(io.raw_os_error(), Some(libc::EIO));
    assert_eq!(CopyError::Io.to_string(), io.to_string());
    let range = io::Error::from(CopyError::OutOfRange);
    assert_eq!(range.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(range.to_string(), "outside of the map");
}

#[test]
fn refuses_to_map_nothing_or_too_much() {
    let file = file_of(10);
    let errno = |length| {
        let error = DeviceMap::new(file.as_fd(), length).unwrap_err();
        error.raw_os_error()
    };
    assert_eq!(errno(0), Some(libc::EINVAL));
    assert!(matches!(
        errno(u64::MAX),
        Some(libc::ENOMEM | libc::EOVERFLOW)
    ));
    let directory = File::open("/").unwrap();
    assert!(DeviceMap::new(directory.as_fd(), PAGE).is_err());
}

#[test]
fn maps_terabytes_of_a_file() {
    let file = tempfile::tempfile().unwrap();
    let length = 8 << 40;
    file.set_len(length).unwrap();
    file.write_all_at(b"far away", 7 << 40).unwrap();
    let map = map_of(&file, length);
    let mut into = [0xa5; 8];
    map.copy(length - 8, &mut into).unwrap();
    assert_eq!(into, [0; 8]);
    map.copy(7 << 40, &mut into).unwrap();
    assert_eq!(&into, b"far away");
}

#[test]
fn a_page_behind_the_end_is_an_error_for_every_length() {
    let file = file_of(2 * PAGE);
    let map = map_of(&file, 8 * PAGE);
    for count in [1, 8, 15, 16, 17, 63, 64, 65, 100, 160, 2047, 2048, 5000] {
        let mut into = vec![0; count];
        // Its first byte, its last byte and everything behind the end.
        for offset in [
            2 * PAGE,
            2 * PAGE + 1 - count as u64,
            2 * PAGE + 1,
            3 * PAGE,
        ] {
            assert_eq!(
                map.copy(offset, &mut into),
                Err(CopyError::Io),
                "{count} bytes from {offset}"
            );
        }
        let before = 2 * PAGE - count as u64;
        assert_eq!(map.copy(before, &mut into), Ok(()), "{count}");
        assert_eq!(into, bytes_at(before, count));
    }
}

#[test]
fn a_file_that_is_cut_is_an_error_for_all_threads_each_time() {
    let (pages, kept) = (64, 16);
    let file = file_of(pages * PAGE);
    let map = map_of(&file, pages * PAGE);
    // All pages are there when it is cut, and have to be taken away.
    map.copy(0, &mut vec![0; (pages * PAGE) as usize]).unwrap();
    file.set_len(kept * PAGE).unwrap();
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (map, start) = (&map, &start);
            scope.spawn(move || {
                start.wait();
                let mut into = [0; 160];
                for turn in 0..4000 {
                    // All begin with the same page.
                    let page = if turn < 100 {
                        kept
                    } else {
                        (turn * 7 + thread) % pages
                    };
                    let offset = page * PAGE + 64;
                    let expected = if page < kept {
                        Ok(())
                    } else {
                        Err(CopyError::Io)
                    };
                    assert_eq!(map.copy(offset, &mut into), expected, "page {page}");
                    if page < kept {
                        assert_eq!(into.as_slice(), bytes_at(offset, 160));
                    }
                }
            });
        }
    });
    // It is the file that is asked and no memory of earlier errors.
    file.set_len(pages * PAGE).unwrap();
    let mut into = [1; 8];
    assert_eq!(map.copy(kept * PAGE, &mut into), Ok(()));
    assert_eq!(into, [0; 8]);
}

#[test]
fn maps_come_and_go_while_others_fault() {
    let file = file_of(PAGE);
    let stays = map_of(&file, 2 * PAGE);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(stays.copy(PAGE, &mut [0; 64]), Err(CopyError::Io));
                }
            });
        }
        for _ in 0..2000 {
            let goes = map_of(&file, 3 * PAGE);
            assert_eq!(goes.copy(2 * PAGE, &mut [0; 64]), Err(CopyError::Io));
            assert_eq!(goes.copy(0, &mut [0; 64]), Ok(()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_file_is_cut_and_grows_while_it_is_read() {
    let file = file_of(16 * PAGE);
    let map = map_of(&file, 16 * PAGE);
    let is_over = AtomicBool::new(false);
    let errors = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut into = vec![0; 6000];
                while !is_over.load(Ordering::Relaxed) {
                    match map.copy(7 * PAGE, &mut into) {
                        Ok(()) => {}
                        Err(CopyError::Io) => {
                            errors.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(CopyError::OutOfRange) => unreachable!("it is in range"),
                    }
                    assert_eq!(map.copy(PAGE, &mut into), Ok(()));
                    assert_eq!(into, bytes_at(PAGE, 6000));
                }
            });
        }
        let end = Instant::now() + Duration::from_millis(300);
        while Instant::now() < end {
            file.set_len(4 * PAGE).unwrap();
            std::thread::sleep(Duration::from_micros(200));
            file.set_len(16 * PAGE).unwrap();
            file.write_all_at(&bytes_at(7 * PAGE, 8192), 7 * PAGE)
                .unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(errors.into_inner() > 0);
}

#[test]
fn a_failed_copy_leaves_errno_alone() {
    let file = file_of(PAGE);
    let map = map_of(&file, 2 * PAGE);
    // SAFETY: errno belongs to this thread.
    let errno = || unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *errno() = libc::EXFULL };
    assert_eq!(map.copy(PAGE, &mut [0; 64]), Err(CopyError::Io));
    // SAFETY: as above.
    assert_eq!(unsafe { *errno() }, libc::EXFULL);
}

/// A loop device that goes away with this value.
struct LoopDevice(std::path::PathBuf);

impl LoopDevice {
    fn new(image: &std::path::Path) -> Result<LoopDevice, Skipped> {
        if !rustix::process::geteuid().is_root() {
            return Err(Skipped::needs("root"));
        }
        let output = Command::new("losetup")
            .args(["--find", "--show", "--read-only"])
            .arg(image)
            .output()
            .map_err(|_| Skipped::needs("losetup"))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Skipped::needs(format!("a loop device: {reason}")));
        }
        let path = String::from_utf8_lossy(&output.stdout).trim().into();
        Ok(LoopDevice(path))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.0)
            .status();
    }
}

#[test]
fn an_error_of_a_device_is_one_of_the_copy() {
    let scratch = Scratch::new().unwrap();
    let image = scratch.path().join("image");
    let (length, kept) = (4 << 20, 1 << 20);
    std::fs::write(&image, bytes_at(0, length as usize)).unwrap();
    let device = or_skip!(LoopDevice::new(&image));
    let opened = match File::open(&device.0) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            // A container's list of devices forbids it even to root.
            return Skipped::needs("a readable loop device").report();
        }
        opened => opened.unwrap(),
    };
    let map = map_of(&opened, length);
    let mut block = vec![0; 1024];
    map.copy(kept, &mut block).unwrap();
    assert_eq!(block, bytes_at(kept, 1024));

    // The device keeps its size; what it reads from is gone.
    let file = File::options().write(true).open(&image).unwrap();
    file.set_len(kept).unwrap();
    let read_ahead = 1 << 20;
    let errors = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (map, errors) = (&map, &errors);
            scope.spawn(move || {
                let mut block = vec![0; 1024];
                for turn in 0..64 {
                    let offset = length - 64 * PAGE + (turn * 5 + thread) % 64 * PAGE;
                    assert_eq!(map.copy(offset, &mut block), Err(CopyError::Io));
                    errors.fetch_add(1, Ordering::Relaxed);
                    let good = (turn * 11 + thread) % 32 * PAGE;
                    assert_eq!(map.copy(good, &mut block), Ok(()));
                    assert_eq!(block, bytes_at(good, 1024));
                }
            });
        }
    });
    assert_eq!(errors.into_inner(), 256);
    assert!(kept + read_ahead < length - 64 * PAGE, "nothing was cached");
    drop(map);
    drop(opened);
}

// --- what ends a process -------------------------------------------------

const ROLE: &str = "STATWALK_SYS_DEVICE_MAP_ROLE";
/// How a handler of a test ends its process.
const HANDLED: c_int = 42;

type Role = (&'static str, fn());
const ROLES: [Role; 9] = [
    ("runtime", || fault_outside(map_and_fault())),
    ("default", || {
        set_handler(libc::SIG_DFL, 0);
        fault_outside(map_and_fault());
    }),
    ("default, sent", || {
        set_handler(libc::SIG_DFL, 0);
        let _map = map_and_fault();
        send();
    }),
    ("ignored", || {
        set_handler(libc::SIG_IGN, 0);
        let map = map_and_fault();
        send();
        fault_outside(map);
    }),
    ("with information", || {
        set_handler(exit_if_address as *const () as usize, libc::SA_SIGINFO);
        fault_outside(map_and_fault());
    }),
    ("plain", || {
        set_handler(count as *const () as usize, 0);
        let map = map_and_fault();
        send();
        send();
        assert_eq!(COUNT.load(Ordering::Relaxed), 2);
        assert_eq!(map.copy(PAGE, &mut [0; 64]), Err(CopyError::Io));
        assert_eq!(COUNT.load(Ordering::Relaxed), 2);
        std::process::exit(HANDLED);
    }),
    ("once", || {
        set_handler(count as *const () as usize, libc::SA_RESETHAND);
        fault_outside(map_and_fault());
    }),
    ("destination", || {
        set_handler(libc::SIG_DFL, 0);
        let map = map_and_fault();
        let into = bad_page();
        // SAFETY: it never comes to an end; the page is no memory of Rust.
        unsafe { platform::copy(into, map.start.as_ptr(), 64) };
    }),
    ("registers", || {
        set_handler(libc::SIG_DFL, 0);
        let _map = map_and_fault();
        let page = bad_page();
        // Bounds as the copying routine has them, in code that is not its own.
        // SAFETY: it never comes to an end.
        unsafe {
            std::arch::asm!(
                "mov {value}, byte ptr [r8]",
                value = out(reg_byte) _,
                in("r8") page,
                in("r9") page.add(PAGE as usize),
            );
        }
    }),
];

static COUNT: AtomicU32 = AtomicU32::new(0);
static ADDRESS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

extern "C" fn count(_signal: c_int) {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn exit_if_address(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's information about a fault has an address; _exit may
    // be called in a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        let is_right = signal == libc::SIGBUS
            && !context.is_null()
            && address == ADDRESS.load(Ordering::Relaxed);
        libc::_exit(if is_right { HANDLED } else { 1 });
    }
}

fn set_handler(handler: usize, flags: c_int) {
    // SAFETY: all zeros is a sigaction; the handlers have the signature that
    // their flags say.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        assert_eq!(
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()),
            0
        );
    }
}

/// The first map of the process, with a fault that is an error.
fn map_and_fault() -> DeviceMap {
    let map = map_of(&file_of(PAGE), 2 * PAGE);
    assert_eq!(map.copy(PAGE, &mut [0; 64]), Err(CopyError::Io));
    map
}

fn send() {
    // SAFETY: raise sends a signal to this thread and touches no memory.
    assert_eq!(unsafe { libc::raise(libc::SIGBUS) }, 0);
}

/// A page that cannot be touched, of a map that is not ours.
fn bad_page() -> *mut u8 {
    let file = tempfile::tempfile().unwrap();
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the kernel chooses an address that is free.
    let page = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            PAGE as usize,
            protection,
            MapFlags::SHARED,
            &file,
            0,
        )
    };
    page.unwrap().cast()
}

fn fault_outside(_map: DeviceMap) {
    let page = bad_page();
    ADDRESS.store(page as usize, Ordering::Relaxed);
    // SAFETY: the page is mapped readable; that it faults is what is tested.
    unsafe { page.read_volatile() };
}

/// Plays a role, in a child.
fn play(wanted: &str) {
    // SAFETY: alarm touches no memory. Handlers that call each other never end.
    unsafe { libc::alarm(20) };
    let none = rustix::process::Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(rustix::process::Resource::Core, none).unwrap();
    let role = ROLES.iter().find(|(name, _)| *name == wanted).unwrap();
    role.1();
}

fn run_child(role: &str) -> ExitStatus {
    let program = std::env::current_exe().unwrap();
    // The name of a test has no crate.
    let (_, module) = module_path!().split_once("::").unwrap();
    let test = format!("{module}::other_faults_go_where_they_went");
    let output = Command::new(program)
        .args(["--exact", &test, "--test-threads=1"])
        .env(ROLE, role)
        .output()
        .unwrap();
    output.status
}

/// In a child, this test is the role that the parent asked for.
#[test]
fn other_faults_go_where_they_went() {
    if let Ok(wanted) = std::env::var(ROLE) {
        return play(&wanted);
    }
    let killed = (Some(libc::SIGBUS), None);
    let handled = (None, Some(HANDLED));
    for (role, expected) in [
        ("runtime", killed),
        ("default", killed),
        ("default, sent", killed),
        ("ignored", killed),
        ("with information", handled),
        ("plain", handled),
        ("once", killed),
        ("destination", killed),
        ("registers", killed),
    ] {
        let status = run_child(role);
        assert_eq!((status.signal(), status.code()), expected, "{role}");
    }
}

/// Prints what a copy takes: `cargo test --release -p statwalk-sys speed -- --ignored --nocapture`.
#[test]
#[ignore = "measures, and checks nothing"]
fn speed() {
    let length = 1 << 20;
    let file = file_of(length);
    let map = map_of(&file, length + PAGE);
    let mut into = vec![0; 4096];
    let mut measure = |name: &str, count: usize, offset: &dyn Fn(u64) -> u64| {
        let mut best = Duration::MAX;
        let turns = 100_000;
        for _ in 0..20 {
            let start = Instant::now();
            for turn in 0..turns {
                let _ = std::hint::black_box(map.copy(offset(turn), &mut into[..count]));
            }
            best = best.min(start.elapsed());
        }
        let each = best.as_secs_f64() / turns as f64 * 1e9;
        println!("{name} {count} B: {each:.1} ns");
    };
    for count in [8, 100, 160, 256, 1024, 4096] {
        // 16 KiB stay in the first cache, 1 MiB in the second.
        measure("16 KiB", count, &|turn| turn * 256 % (16 << 10));
        measure("1 MiB", count, &|turn| turn * 4096 % length);
    }
    measure("error", 160, &|_| length);
}
