# SPDX-License-Identifier: MIT OR Apache-2.0
"""The comparison of statwalk with other programs on the same trees."""
