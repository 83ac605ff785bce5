// SPDX-License-Identifier: MIT OR Apache-2.0

// Pins gdu and, through go.sum, what it is made of. A module of its own,
// because `go install` of a version also asks the proxy for the list of all
// versions, which not every proxy gives.
module statwalk-bench-gdu

go 1.25.0

require github.com/dundee/gdu/v5 v5.36.1
