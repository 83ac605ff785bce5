# SPDX-License-Identifier: MIT OR Apache-2.0
"""What `cases.toml` says, and which slips of the pen it refuses."""

import unittest

from harness.agenda import CHECK, QUICK, Agenda, Misstated, Wanted, agenda
from harness.walker import fits

SMALL = """
[ways]
two = ["a/*", "b"]
three = ["@two", "c"]
[[round]]
why = "a disk"
file_systems = ["here", "xfs", "tmpfs"]
asks = [
  { sections = ["one"], trees = ["data"], models = ["size"], state = "cold" },
  { sections = ["two"], trees = ["data", "home"], models = ["count"], where = "elsewhere" },
]
[[who]]
trees = ["home"]
where = "elsewhere"
ways = ["b"]
[[who]]
ways = ["@three"]
[[who]]
mode = "quick"
ways = ["b"]
[[who]]
mode = "check"
ways = ["b"]
[[pairs]]
why = "loops"
trees = ["data"]
model = "size"
sections = ["three"]
rounds = 3
libraries = [{ name = "Qt", clock = "process", ways = { queue = "qt/list-queue", stack = "qt/list-stack" } }]
[calls]
trees = ["music"]
[within_one_process]
trees = ["music"]
"""


class Small(unittest.TestCase):
    def test_a_round_goes_over_file_systems_first(self):
        shown = [case.shown() for case in Agenda(SMALL).cases("ext4")]
        self.assertEqual(shown, [
            "data on ext4, cold: size",
            "data on xfs, cold: size", "data on xfs, warm: count", "home on xfs, warm: count",
            # tmpfs is memory: nothing is cold there.
            "data on tmpfs, warm: count", "home on tmpfs, warm: count",
        ])

    def test_the_folder_of_the_trees_is_not_elsewhere(self):
        shown = [case.shown() for case in Agenda(SMALL).cases("xfs")]
        self.assertNotIn("data on xfs, warm: count", shown)
        # `here` and `xfs` are the same then, and a case stands once.
        self.assertEqual(shown.count("data on xfs, cold: size"), 1)

    def test_a_section_has_its_cases_alone(self):
        self.assertEqual({case.model for case in Agenda(SMALL).cases("ext4", sections=["two"])}, {"count"})

    def test_pairs_are_asked_where_the_trees_lie(self):
        small = Agenda(SMALL)
        self.assertEqual([case.shown() for one in small.pairs for case in one.cases("xfs")], ["data on xfs, warm: size"])
        self.assertIn("three", small.sections)

    def test_the_first_rule_that_fits_decides(self):
        small = Agenda(SMALL)
        self.assertEqual(small.ways(Wanted("home", "xfs", "count"), "ext4"), "b")
        self.assertEqual(small.ways(Wanted("home", "ext4", "count"), "ext4"), "a/*,b,c")

    def test_names_that_nothing_has_are_refused(self):
        for right, wrong in (('trees = ["data"]', 'trees = ["date"]'), ('models = ["size"]', 'models = ["sizes"]'),
                             ('state = "cold"', 'state = "icy"'), ('"xfs"', '"zfs"'), ("@three", "@four"),
                             ('where = "elsewhere"', 'where = "there"'), ("why =", "because ="),
                             ('clock = "process"', 'clock = "sun"'), ("{ queue =", "{ cue ="), ("qt/list-stack", "qt/heap"),
                             ('mode = "quick"', 'mode = "slow"'), ('mode = "check"', 'mode = "check"\nstates = ["cold"]')):
            with self.subTest(wrong), self.assertRaises(Misstated):
                Agenda(SMALL.replace(right, wrong))


class Standing(unittest.TestCase):
    def test_every_case_has_somebody_to_ask(self):
        for mode in ("record", QUICK, CHECK):
            for case in agenda().cases("ext4", mode):
                self.assertTrue(agenda().ways(case, "ext4", mode), case)

    def test_article_1_is_asked_where_links_lead_nowhere_up(self):
        ways = agenda().ways(Wanted("data-down", "ext4", "size"), "ext4")
        self.assertTrue(fits("groovy/each-file-recurse", ways))
        self.assertFalse(fits("perl/readdir", ways))

    def test_treescan_is_asked_about_a_cold_disk_and_not_about_shapes(self):
        self.assertTrue(fits("program/treescan", agenda().ways(Wanted("data", "xfs", "size", cold=True), "ext4")))
        self.assertFalse(fits("program/treescan", agenda().ways(Wanted("deep", "xfs", "size"), "ext4")))


if __name__ == "__main__":
    unittest.main()
