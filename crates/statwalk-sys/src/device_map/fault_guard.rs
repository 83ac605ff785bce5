// SPDX-License-Identifier: MIT OR Apache-2.0

//! The handler of SIGBUS: faults of the copying routine are its own, all others
//! go where they went before.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use super::platform;

/// The handling of SIGBUS before; null is the default, the end of the program.
///
/// It is never freed, because a handler may be reading it.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

static IS_INSTALLED: Mutex<bool> = Mutex::new(false);

/// Installs the handler, once for the process.
///
/// Not again where somebody has replaced it: theirs may call ours, and the two
/// would call each other for ever.
pub(super) fn install() -> io::Result<()> {
    let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_installed {
        return Ok(());
    }
    // From the moment that ours is installed it may be called, so it must know
    // the other before.
    let before = exchange(None)?;
    remember(before);
    let mut ours = before;
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
    ours.sa_sigaction = handler as usize;
    // The mask and these flags stay, so that the other handler runs as it asked
    // to. SA_ONSTACK: the stack may be what is at fault, and runtimes with small
    // stacks of their own demand it (Go's os/signal).
    ours.sa_flags &= libc::SA_NODEFER | libc::SA_RESTART;
    ours.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
    let replaced = exchange(Some(&ours))?;
    if replaced.sa_sigaction != before.sa_sigaction || replaced.sa_flags != before.sa_flags {
        // Another thread was faster.
        remember(replaced);
    }
    *is_installed = true;
    Ok(())
}

fn remember(action: libc::sigaction) {
    PREVIOUS.store(Box::into_raw(Box::new(action)), Ordering::Release);
}

/// Installs a handler, and returns the one before.
fn exchange(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::zeroed();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both point to one sigaction or are null; a handler that is
    // installed here has the signature that its flags say.
    if unsafe { libc::sigaction(libc::SIGBUS, new, old.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: sigaction has filled it, and all zeros is one too.
    Ok(unsafe { old.assume_init() })
}

/// Ends the interrupted copy, or passes the fault to the handler of before.
///
/// It allocates nothing, takes no lock and cannot panic.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes both, for this handler alone.
    unsafe {
        // Positive codes are those of the kernel (include/uapi/asm-generic/siginfo.h,
        // SI_FROMUSER). Only they come with an address.
        let is_fault = (*info).si_code > 0;
        if !(is_fault && platform::leave(context, (*info).si_addr() as usize)) {
            pass_on(signal, info, context);
        }
    }
}

/// Passes a fault on, as if this file did not exist.
///
/// # Safety
///
/// The arguments must be those of a signal handler that is running.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Plain = extern "C" fn(c_int);
    type WithInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

    let previous = PREVIOUS.load(Ordering::Acquire);
    // SAFETY: what was stored is never freed nor changed.
    let (action, flags) = unsafe {
        previous.as_ref().map_or((libc::SIG_DFL, 0), |previous| {
            (previous.sa_sigaction, previous.sa_flags)
        })
    };
    // SAFETY: `info` is that of the running handler.
    let is_ignored = action == libc::SIG_IGN && unsafe { can_be_ignored(&*info) };
    if is_ignored {
        return;
    }
    if action == libc::SIG_DFL || action == libc::SIG_IGN {
        // SAFETY: as above.
        unsafe { end(info) };
        return;
    }
    if flags & libc::SA_RESETHAND != 0 {
        // Its author counts on the second fault to end the program.
        PREVIOUS.store(ptr::null_mut(), Ordering::Release);
    }
    // SAFETY: whoever installed it with these flags promised that signature.
    unsafe {
        if flags & libc::SA_SIGINFO != 0 {
            std::mem::transmute::<usize, WithInfo>(action)(signal, info, context);
        } else {
            std::mem::transmute::<usize, Plain>(action)(signal);
        }
    }
}

/// Whether the kernel would have heeded SIG_IGN: not where a thread cannot go on
/// (`force_sig_info_to_task`, kernel/signal.c of Linux 6.18).
fn can_be_ignored(info: &libc::siginfo_t) -> bool {
    info.si_code <= 0 || info.si_code == libc::BUS_MCEERR_AO
}

/// Takes the default action, the end of the program.
///
/// The same signal is sent again, with what the kernel said of it, and comes
/// when the handler returns. So a core dump shows the place and the address, and
/// a signal that was sent by a process, and would not repeat itself, ends it too.
///
/// # Safety
///
/// `info` must be that of a signal handler that is running.
unsafe fn end(info: *mut libc::siginfo_t) {
    // SAFETY: sigaction and the system call may be used in a handler
    // (signal-safety(7)); all zeros is SIG_DFL without flags; the kernel reads
    // one siginfo_t.
    unsafe {
        let default = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        libc::sigaction(libc::SIGBUS, &raw const default, ptr::null_mut());
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            libc::getpid(),
            libc::syscall(libc::SYS_gettid),
            libc::SIGBUS,
            info,
        );
    }
}
