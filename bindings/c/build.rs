// SPDX-License-Identifier: MIT OR Apache-2.0

//! The name by which programs load the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libstatwalk.so.0");
    // A worker that hangs in the kernel goes on in this code when a host unloads it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
