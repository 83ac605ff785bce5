// SPDX-License-Identifier: MIT OR Apache-2.0

/** Entries of directory trees with their attributes: {@link org.statwalk.Statwalk} gives them. */
package org.statwalk;
