// SPDX-License-Identifier: MIT OR Apache-2.0

//! The symbols of Node are found when it loads the module.

fn main() {
    napi_build::setup();
}
