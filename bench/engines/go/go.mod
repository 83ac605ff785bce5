// SPDX-License-Identifier: MIT OR Apache-2.0

module statwalk-bench-engines

go 1.25.0

require github.com/charlievieth/fastwalk v1.0.14
