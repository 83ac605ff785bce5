# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables and pictures of RESULTS.md, from a record that is made up."""

import re
import unittest
import xml.etree.ElementTree as xml

from harness import page, page_tables, pictures, results
from harness.case_table import compared
from harness.pictures import Bar
from harness.programs import BENCH
from harness.walker import all_walkers

from .made import record, row


class Tables(unittest.TestCase):
    def test_a_library_has_its_loops_in_turns_and_else_by_processes(self):
        rows = [row("qt/list-recursive", 90), row("qt/list-queue", 100)]
        data = record(("data-down", "size", rows))
        self.assertIn("| Qt's lists | 0.900 |", page_tables.table(["loops", "recursion-queue", "stack"], "r", data))
        pair = {"over": "recursion", "under": "queue", "median": 0.95, "low": 0.94, "high": 0.96}
        data["pairs"] = [{"corpus": "data-down", "libraries": [{"name": "Qt", "pairs": [pair]}]}]
        lines = page_tables.table(["loops", "recursion-queue", "stack"], "r", data)
        self.assertEqual(lines[0], "| library | recursion ÷ queue, data-down | recursion ÷ stack, data-down |")
        self.assertIn("| Qt | 0.950 (0.940 to 0.960) | – |", lines)

    def test_accesses_are_by_path_and_named_as_long_as_they_are_missing(self):
        self.assertEqual(page_tables.table(["accesses"], "r", record()),
                         ["Not in the record yet: accesses of one file by its path."])
        data = record(("one-file", "size", [row("java/recursive", 1, accesses={"statx": 2})]))
        self.assertIn("| Java, recursion (`java/recursive`) | 4 | 2 | statx 2 |", page_tables.table(["accesses"], "r", data))

    def test_what_another_sitting_has_measured_is_not_missing(self):
        cases = [{"corpus": "data", "file_system": "xfs", "cold": False, "model": "size"}]
        texts = ["data on xfs, warm: size: needs xfsprogs", "data on xfs, cold: size: needs xfsprogs", "program/x: no program"]
        self.assertEqual(page_tables._still_missing(texts, cases), texts[1:])

    def test_a_program_that_is_too_slow_says_so(self):
        data = record(("home", "size", [row("program/du", 100), {"name": "program/dua", "slow_s": 2.0}]))
        data["sittings"] = [{"versions": {"program/du": "du (GNU coreutils) 9.1", "program/dua": "dua 3.0.0"}}]
        lines = page_tables.table(["programs"], "r", data)
        self.assertTrue(any(line.startswith("| GNU du | 9.1 | 100 | 100 | 1.0 | –") for line in lines))
        self.assertTrue(any(line.startswith("| dua | 3.0.0 | > 2,000 |") for line in lines))

    def test_the_library_has_a_lead_of_its_own(self):
        data = record(("home", "size", [row("program/statwalk", 10), row("statwalk/parallel", 20), row("c", 30)]),
                      ("usr", "size", [row("program/statwalk", 10), row("statwalk/parallel", 40), row("c", 30)]))
        lines = page_tables.table(["first"], "r", data)
        self.assertIn("statwalk is first in 2 of 2 cases, with default settings. The quartiles are apart in 2 of those", lines[0])
        self.assertIn("is first in 1 of 2.", lines[0])
        self.assertTrue(any(line.startswith("| **warm, all** | 2 | **3.00") and "**1.12" in line for line in lines))

    def test_another_order_than_the_default_wins_no_case(self):
        data = record(("home", "size", [row("statwalk/stack", 10), row("statwalk/parallel", 40), row("c", 30)]))
        lines = page_tables.table(["first"], "r", data)
        self.assertIn("statwalk is first in 0 of 1 cases", lines[0])
        self.assertIn("and in 1 where it is not first", lines[0])
        self.assertTrue(any(line.startswith("| home on ext4 | warm | sizes | c | 30") for line in lines))

    def test_a_lead_within_the_quartiles_is_none_beyond_them(self):
        one, other = row("program/statwalk", 20), row("c", 30)
        one["wall_s"] |= {"high": 31 / 1e3}
        lines = page_tables.table(["first"], "r", record(("home", "size", [one, other])))
        self.assertIn("first in 1 of 1 cases, with default settings. The quartiles are apart in 0 of those, and in 0 where", lines[0])

    def test_a_tree_that_is_not_ranked_is_named_with_its_ratio(self):
        data = record(("home", "size", [row("program/statwalk", 10), row("c", 30)]),
                      ("one-file", "size", [row("program/statwalk", 10), row("c", 5)]))
        lines = page_tables.table(["first"], "r", data)
        self.assertIn("statwalk is first in 1 of 1 cases", lines[0])
        self.assertIn("one-file (0.50); they lack links", lines[0])

    def test_what_is_compared_is_there(self):
        names = {walker.name for walker in all_walkers()}
        said = [way for pairs in compared()["pairs"].values() for _, *ways in pairs for way in ways]
        said += [way for *_, way in compared()["accesses"]["rows"]]
        bars = [bar for picture in compared()["picture"] for group in picture.get("group", []) for bar in group["bars"]]
        said += [bar[key] for bar in bars for key in ("way", "over") if key in bar]
        self.assertEqual({way for way in said if not way.startswith("program/")} - names, set())
        # Longer ones leave the picture to the left.
        self.assertEqual([bar["label"] for bar in bars if len(bar["label"]) > 41], [])


class Sentences(unittest.TestCase):
    data = record(("home", "size", [row("a", 10), row("b", 20)]))

    def rendered(self, source: str) -> tuple[str, list[str]]:
        return page.rendered(page.SOURCE, source, "r", self.data)

    def test_sentences_of_a_paragraph_come_into_one_line(self):
        text, faults = self.rendered("One.\n{holds process home/ext4/size/warm b / a > 1}\nTwo, {process home/ext4/size/warm a}.\n\n- a\n- b\n")
        self.assertEqual((text, faults), ("One. Two, 10.0.\n\n- a\n- b\n", []))

    def test_a_sentence_that_the_record_refuses_is_named_with_its_line(self):
        _, faults = self.rendered("One.\n{holds process home/ext4/size/warm b / a < 1}\n")
        self.assertEqual(len(faults), 1)
        self.assertTrue(faults[0].startswith("bench/page.md.in:2: "), faults)

    def test_a_gap_is_a_fault_in_a_sentence_and_none_in_a_table(self):
        self.assertEqual(self.rendered("| a | {process home/ext4/size/warm c} |\n"), ("| a | – |\n", []))
        self.assertEqual(len(self.rendered("It takes {process home/ext4/size/warm c}.\n")[1]), 1)

    def test_a_page_that_asks_too_much_is_refused(self):
        self.assertEqual(page.shape_faults("page", "short\n"), [])
        self.assertEqual(len(page.shape_faults("page", "a\n" * 301)), 1)
        self.assertEqual(len(page.shape_faults("page", "a" * 551)), 1)
        self.assertEqual(len(page.shape_faults("page", "| a, b, c, d, e, f, g |")), 1)
        self.assertEqual(page.shape_faults("page", "| 1,000, 2,000, 3,000, 4,000, 5,000 |"), [])


class Written(unittest.TestCase):
    def test_the_page_and_its_pictures_are_those_of_the_newest_record(self):
        newest = results.find(BENCH / "record", "")
        files, faults = page.make(newest.name, results.read(results.file(newest, ".json")))
        self.assertEqual(faults, [])
        self.assertEqual(page.differing(files), [], "bench/articles --results makes them")


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
        data = record(("data", "size", [row("b/x", 3), row("a/x", 5), row("c", 1)]))
        case = ["data", "ext4", "size", "warm"]
        picture = {"column": "process", "group": [
            {"case": case, "bars": [{"label": "C", "way": "c"}]},
            {"case": case, "bars": [{"label": "A", "way": "a/x"}, {"label": "B", "way": "b/x"}, {"label": "D", "way": "d"}]},
            {"case": ["data", "xfs", "size", "warm"], "bars": [{"label": "C", "way": "c"}]}]}
        bars = pictures._bars(picture, data)
        self.assertEqual([(bar.label, bar.is_begin) for bar in bars], [("C", False), ("B", True), ("A", False)])

    def test_a_bar_of_the_article_and_one_beside_another(self):
        data = record(("data", "size", [row("b", 3), row("a", 6)]))
        picture = {"column": "process", "group": [{"case": ["data", "ext4", "size", "warm"], "as_written": True, "bars": [
            {"label": "his", "number": 9.0}, {"label": "ours", "way": "a", "over": "b"}]}]}
        self.assertEqual([(bar.median, bar.ends) for bar in pictures._bars(picture, data)], [(9.0, None), (2.0, None)])


if __name__ == "__main__":
    unittest.main()
