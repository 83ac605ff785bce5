// SPDX-License-Identifier: MIT OR Apache-2.0

// Package gdu names the program that bench/install builds.
package gdu

import _ "github.com/dundee/gdu/v5/cmd/gdu"
