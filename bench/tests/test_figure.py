# SPDX-License-Identifier: MIT OR Apache-2.0
"""Figures of sentences, from a record that is made up."""

import unittest

from harness import figure

from .made import record, row

CASE = "home/ext4/size/warm"


def shown(text: str, *rows: dict, **more) -> str:
    return figure.shown(text, record(("home", "size", list(rows))) | more)


class Shown(unittest.TestCase):
    rows = (row("qt/list", 500), row("qt/iterator", 400, max_rss_kib=2048), row("program/floor", 10), row("c", 100))

    def test_a_way_has_its_median_and_two_have_a_ratio(self):
        self.assertEqual(shown(f"process {CASE} qt/list", *self.rows), "500")
        self.assertEqual(shown(f"process {CASE} qt/list / c", *self.rows), "5.00")
        self.assertEqual(shown(f"s process {CASE} qt/list", *self.rows), "0.50")
        self.assertEqual(shown(f"memory {CASE} qt/iterator", *self.rows), "2.00")

    def test_a_pattern_is_the_fastest_and_others_are_no_floor(self):
        self.assertEqual(shown(f"process {CASE} qt/*", *self.rows), "400")
        self.assertEqual(shown(f"process {CASE} others", *self.rows, row("statwalk/x", 1)), "100")

    def test_several_values_are_folded(self):
        two = "qt/list / c, qt/iterator / c"
        self.assertEqual(shown(f"range process {CASE} {two}", *self.rows), "4.00 to 5.00")
        self.assertEqual(shown(f"least process {CASE} {two}", *self.rows), "4.00")
        self.assertEqual(shown(f"range off process {CASE} c / qt/list, c / qt/iterator", *self.rows), "75 to 80")
        self.assertEqual(shown(f"count process {CASE} {two} > 4.5", *self.rows), "one")
        with self.assertRaises(figure.Misread):
            shown(f"process {CASE} {two}", *self.rows)

    def test_a_column_or_a_case_of_another_operand(self):
        rows = (row("a", 100, cpu_s={"median": 0.06}),)
        self.assertEqual(shown(f"off process {CASE} cpu:a / process:a", *rows), "40")
        data = record(("home", "size", [row("a", 100)]), ("data", "size", [row("a", 50)]))
        self.assertEqual(figure.shown(f"process {CASE} a / data/ext4/size/warm:a", data), "2.00")

    def test_a_changed_program_marks_its_figure(self):
        self.assertEqual(shown(f"process {CASE} a / b", row("a", 2), row("b", 1, changed=True)), "2.00 †")

    def test_processes_that_differ_mark_a_time_within_one_alone(self):
        rows = (row("a", 2, inner_unsteady=True), row("b", 1))
        self.assertEqual(shown(f"within {CASE} a / b", *rows), "2.00 ‡")
        self.assertEqual(shown(f"process {CASE} a / b", *rows), "2.00")

    def test_files_of_a_tree_and_a_version(self):
        self.assertEqual(shown(f"files {CASE}"), "10")
        versions = {"sittings": [{"versions": {"c": "gcc (Debian 12.2.0-14) 12.2.0"}}]}
        self.assertEqual(shown("version c", **versions), "12.2.0")

    def test_loops_in_turns(self):
        pair = {"over": "recursion", "under": "queue", "median": 0.95}
        pairs = [{"corpus": "home", "file_system": "ext4", "model": "size",
                  "libraries": [{"name": "Qt", "pairs": [pair]}, {"name": "C", "wrong": "no"}]}]
        self.assertEqual(shown(f"range off paired {CASE} recursion / queue < 1", pairs=pairs), "5")

    def test_loops_whose_interval_holds_1_are_not_clearly_apart(self):
        found = [{"name": name, "pairs": [{"over": "recursion", "under": "queue", "median": 0.95, "low": 0.9, "high": high}]}
                 for name, high in (("Qt", 0.99), ("C", 1.01))]
        pairs = [{"corpus": "home", "file_system": "ext4", "model": "size", "libraries": found}]
        for column, count in (("paired", "two"), ("paired-clearly", "one")):
            self.assertEqual(shown(f"count {column} {CASE} recursion / queue < 1", pairs=pairs), count)

    def test_none_is_clearly_apart_where_all_intervals_hold_1(self):
        pair = {"over": "recursion", "under": "stack", "median": 0.99, "low": 0.9, "high": 1.1}
        pairs = [{"corpus": "home", "file_system": "ext4", "model": "size", "libraries": [{"name": "C", "pairs": [pair]}]}]
        self.assertEqual(shown(f"count paired-clearly {CASE} recursion / stack", pairs=pairs), "none")
        with self.assertRaises(figure.Absent):
            shown(f"count paired-clearly {CASE} recursion / queue", pairs=pairs)


class Refusals(unittest.TestCase):
    def test_a_check_refuses_with_the_number_of_the_record(self):
        with self.assertRaisesRegex(figure.Refused, "5 in home/ext4/size/warm a / b, and not < 2"):
            shown(f"process {CASE} a / b < 2", row("a", 50), row("b", 10))
        self.assertEqual(shown(f"holds process {CASE} a / b in 4..6", row("a", 50), row("b", 10)), "")

    def test_every_value_must_pass(self):
        rows = (row("a", 50), row("b", 10), row("c", 1))
        with self.assertRaises(figure.Refused):
            shown(f"range process {CASE} a / b, a / c < 6", *rows)

    def test_an_order(self):
        rows = (row("a", 1), row("b", 2), row("c", 3))
        self.assertEqual(shown(f"order process {CASE} a < b < c", *rows), "")
        with self.assertRaisesRegex(figure.Refused, "c has 3 and b 2"):
            shown(f"order process {CASE} a < c < b", *rows)

    def test_a_figure_that_is_not_there(self):
        with self.assertRaises(figure.Absent) as absent:
            shown(f"process {CASE} a", {"name": "a", "slow_s": 2.0})
        self.assertEqual(absent.exception.shown, "> 2,000")
        with self.assertRaises(figure.Absent):
            shown("process home/xfs/size/warm a", row("a", 1))

    def test_a_sentence_for_as_long_as_a_case_is_missing(self):
        self.assertEqual(shown("absent users/*/*/*"), "")
        self.assertEqual(shown("absent pairs"), "")
        with self.assertRaises(figure.Refused):
            shown("absent home/*/*/*")

    def test_what_means_nothing_is_refused(self):
        for text in ("", "much home/ext4/size/warm a", "process home a", f"process {CASE} a /", f"process {CASE} a < b",
                     f"process {CASE} @nothing", f"order process {CASE} a b", f"process {CASE} a / b < 1 2"):
            with self.subTest(text), self.assertRaises(figure.Misread):
                shown(text, row("a", 1), row("b", 1))
