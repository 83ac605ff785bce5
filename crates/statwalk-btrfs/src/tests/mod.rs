// SPDX-License-Identifier: MIT OR Apache-2.0

mod bytes;
mod random;
