# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables and pictures of RESULTS.md, from a record that is made up."""

import re
import unittest
import xml.etree.ElementTree as xml

from harness import case_table, page, pictures
from harness.case_table import compared
from harness.pictures import Bar
from harness.walker import all_walkers


def row(name: str, ms: float, **more) -> dict:
    """A row with a time within one process and one of processes."""
    spread = {"median": ms / 1e3, "low": ms / 1.1e3, "high": ms / 0.9e3}
    return {"name": name, "wall_s": spread, "cpu_s": spread, "inner_s": spread, "rounds": 5, "inner_rounds": 5,
            "max_rss_kib": 1024} | more


def record(*cases: tuple) -> dict:
    """A record of warm cases on ext4: a tree, a question, rows."""
    return {"cases": [{"corpus": corpus, "file_system": "ext4", "model": model, "cold": False, "files": 10, "dirs": 2,
                       "what": "a tree", "results": rows} for corpus, model, rows in cases]}


class Tables(unittest.TestCase):
    def test_the_drive_has_the_articles_times_beside_ours(self):
        data = record(("drive", "size", [row("winapi/stack", 2000), row("qt/iterator-stack", 700),
                                         row("statwalk/stack", 300, changed=True)]))
        lines = page._drive(data)
        self.assertIn("| stack | 1,546 | 2,000 | 2,658 | 700 | 300 † |", lines)
        self.assertIn("| recursion | 1,522 | – | 2,600 | – | – |", lines)
        self.assertNotIn("Not in the record", lines[-1])

    def test_a_drive_that_is_not_in_the_record_is_named(self):
        self.assertEqual(page._drive(record())[-1], "Not in the record yet: drive on ext4, warm: size.")

    def test_the_fastest_of_each_runtime(self):
        data = record(("data-down", "size", [row("qt/list-stack", 500), row("qt/iterator-stack", 400)]))
        lines = page._runtimes(data)
        self.assertIn("| Qt | 28 | – | – | 481 | 400 | `qt/iterator-stack` |", lines)
        self.assertIn("music-down", lines[-1])

    def test_a_way_that_is_too_slow_has_a_mark_and_no_time(self):
        rows = [row(name, 10) for _, *ways in compared()["ratios"]["article-3"]["rows"] for name in ways]
        slow = [{"name": r["name"], "slow_s": 2.0} if r["name"] == "c-getdents" else r for r in rows]
        data = record(("nine-thousand", "directory", rows), ("flat", "directory", slow))
        lines = page._ratios(data, "article-3")
        self.assertTrue(any(line.endswith("| 1.00 | – ² |") for line in lines))
        self.assertIn("too slow", lines[-1])
        table = case_table.table(data["cases"][1])
        self.assertIn("- c-getdents: a run takes more than 2 s, too long for five rounds", table)

    def test_what_is_compared_is_there(self):
        names = {walker.name for walker in all_walkers()}
        said = [way for part in compared()["ratios"].values() for _, *ways in part["rows"] for way in ways]
        said += [way for loop in compared()["drive"]["loop"] for way in loop["ways"] if way]
        self.assertEqual(set(said) - names, set())


class Pictures(unittest.TestCase):
    bars = [Bar("a <b> & c", 100, (90, 120), "bar"), Bar("statwalk", 50, None, "ours"),
            Bar("slow", 4000, (3900, 4100), "bar", is_begin=True)]

    def drawn(self, **more) -> xml.Element:
        return xml.fromstring(pictures.svg("A title", "said", self.bars, **more))

    def test_bars_are_as_long_as_their_times(self):
        widths = [float(bar.get("width")) for bar in self.drawn().findall(".//{*}rect")][1:]
        self.assertAlmostEqual(widths[0] / widths[1], 2, places=1)
        self.assertAlmostEqual(widths[2] / widths[0], 40, delta=1)

    def test_nothing_leaves_the_picture(self):
        for cut in (None, 200):
            for bar in list(self.drawn(cut=cut).findall(".//{*}rect"))[1:]:
                self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")), pictures.WIDTH - pictures.RIGHT)
            for line in self.drawn(cut=cut).findall(".//{*}path"):
                for x in re.findall(r"[MH]([\d.]+)", line.get("d")):
                    self.assertLessEqual(float(x), pictures.WIDTH - pictures.RIGHT + 1)

    def test_a_cut_bar_has_its_number_all_the_same(self):
        texts = [text.text for text in self.drawn(cut=200).findall(".//{*}text")]
        self.assertIn("4,000 ms", texts)
        self.assertIn("a <b> & c", texts)
        self.assertIn("50.0 ms", texts)

    def test_only_a_bar_that_was_cut_shows_it(self):
        for cut, marks in ((None, 0), (200, 1)):
            paths = [line.get("d") for line in self.drawn(cut=cut).findall(".//{*}path")]
            self.assertEqual(sum("l-5" in path for path in paths), marks)

    def test_both_schemes_have_every_class(self):
        light, dark = pictures.STYLE.split("@media")
        for name in ("bar", "ours", "floor", "line", "grid", "page", "dim"):
            self.assertIn(f".{name} ", light)
            self.assertIn(f".{name} ", dark)

    def test_groups_stand_together_the_fastest_first(self):
        data = record(("data", "size", [row("b/x", 3), row("a/x", 5), row("c", 1), row("a/nothing", 0.01)]))
        picture = {"time": "wall_s", "group": [{"case": ["data", "ext4", "size", "warm"], "ways": ["c"]},
                                               {"case": ["data", "ext4", "size", "warm"], "ways": ["a/*", "b/*"]},
                                               {"case": ["data", "xfs", "size", "warm"], "ways": ["*"]}]}
        bars = pictures._times(picture, data)
        self.assertEqual([(bar.label, bar.is_begin) for bar in bars], [("c", False), ("b/x", True), ("a/x", False)])


if __name__ == "__main__":
    unittest.main()
