# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of the harness: `python3 -m unittest discover -s bench/tests -t bench`."""
