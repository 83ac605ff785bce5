# SPDX-License-Identifier: MIT OR Apache-2.0
"""The judge refuses answers that are wrong by one entry, one name, one type or one byte."""

import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from harness import judge, oracle
from harness.engine import Variant, all_engines, definitions
from harness.measurement import Run
from harness.walk_oracle import Tree
from harness.walker import Walker


def run(out: str | bytes, status: int = 0, stderr: bytes = b"") -> Run:
    """A run that printed this."""
    return Run(0.1, 0.1, 1, status, out.encode() if isinstance(out, str) else out, stderr, 0.0, 0.0)


WALKER = Walker("some/walker", "", Path("/"), [], ["count", "size", "records", "directory"], "names", "1")
ANSWER = oracle.Answer(entries=10, files=6, dirs=3, symlinks=1, file_size_bytes=1000, name_size_bytes=1100,
                       apparent_bytes=1010, allocated_bytes=40960, dirs_allocated_bytes=16384, root_allocated_bytes=4096)


class Walks(unittest.TestCase):
    """A tree of three files of 5 bytes, one of which has two names, a directory and a link."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name)
        (root / "sub").mkdir()
        for name in ("a", "b\nb", "sub/c"):
            (root / name).write_bytes(b"12345")
        os.link(root / "a", root / "sub/second-name")
        os.symlink("nowhere", root / "link")
        for entry in ("a", "b\nb", "sub/c", "sub", "link"):
            os.utime(root / entry, (1000, 1000), follow_symlinks=False)
        cls.tree = Tree(str(root))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def judged(self, out: str, model: str = "size", rounds: int = 1, walker: Walker = WALKER) -> str | None:
        return judge.of_walk(walker, model, rounds, run(out), self.tree)[0]

    def test_the_right_answers_are_right(self):
        self.assertIsNone(self.judged("9 5 1 20\n"))
        self.assertIsNone(self.judged("9 5 1 0\n", "count"))
        self.assertIsNone(self.judged("9 5 1 20 6000\n", "records"))

    def test_times_are_those_of_its_own_clock(self):
        self.assertEqual(judge.of_walk(WALKER, "size", 2, run("5000000000 5 1 20\n1 5 1 20\n"), self.tree),
                         (None, [5.0, 1e-9]))

    def test_a_wrong_count_is_refused(self):
        for line in ("9 4 1 20\n", "9 6 1 20\n", "9 5 2 20\n", "9 5 0 20\n"):
            with self.subTest(line):
                self.assertIn("instead of (5, 1, 20)", self.judged(line))

    def test_a_missing_type_is_refused(self):
        # The directory counts as a file: the sum is right.
        self.assertIsNotNone(self.judged("9 6 0 20\n"))
        self.assertIsNotNone(self.judged("9 6 0 0\n", "count"))

    def test_a_name_that_counts_twice_or_never_is_refused(self):
        self.assertIsNotNone(self.judged("9 6 1 25\n"))
        # As du counts: the second name of a file is left out.
        self.assertIsNotNone(self.judged("9 4 1 15\n"))

    def test_a_byte_or_a_second_is_refused(self):
        self.assertIsNotNone(self.judged("9 5 1 21\n"))
        self.assertIsNotNone(self.judged("9 5 1 20 6001\n", "records"))
        # Sizes where names alone were asked for.
        self.assertIsNotNone(self.judged("9 5 1 20\n", "count"))

    def test_every_round_is_judged(self):
        self.assertIsNone(self.judged("9 5 1 20\n9 5 1 20\n", rounds=2))
        self.assertIsNotNone(self.judged("9 5 1 20\n9 10 2 40\n", rounds=2))
        self.assertIn("1 answers for 2 rounds", self.judged("9 5 1 20\n", rounds=2))
        self.assertIn("2 answers for 1 rounds", self.judged("9 5 1 20\n9 5 1 20\n"))

    def test_another_form_is_refused(self):
        for out in ("", "9 5 1\n", "9 5 1 20 6000\n", "five\n", "\n", "\udcff".encode(errors="surrogateescape").decode("latin1")):
            with self.subTest(out):
                self.assertIsNotNone(self.judged(out))

    def test_a_status_is_refused_even_with_the_right_answer(self):
        problem, _ = judge.of_walk(WALKER, "size", 1, run("9 5 1 20\n", 1, b"a warning\nno room\n"), self.tree)
        self.assertEqual(problem, "exit status 1: no room")

    def test_a_walker_is_judged_by_the_way_it_counts(self):
        skips = replace(WALKER, counts="skip-links")
        self.assertIsNone(self.judged("9 4 1 20\n", walker=skips))
        self.assertIsNotNone(self.judged("9 5 1 20\n", walker=skips))

    def test_one_that_walks_nothing_only_has_a_time(self):
        self.assertIsNone(self.judged("9 0 0 0\n", walker=replace(WALKER, is_baseline=True)))


class Programs(unittest.TestCase):
    def variant(self, name: str, question: str = "totals", number: int = 0) -> Variant:
        return next(e for e in all_engines(None, Path("/")) if (e.name, e.question) == (name, question)).variants[number]

    def judged(self, out: str | bytes, *which) -> str | None:
        return judge.of_program(self.variant(*which), run(out), ANSWER)

    def test_each_reads_its_own_output(self):
        statwalk = ('{"roots":[{"entries":10,"files":6,"dirs":3,"symlinks":1,"file_size_bytes":1000,'
                    '"apparent_bytes":1010,"allocated_bytes":40960}]}')
        right = [
            ("40960\t/srv\n", "du"), ("  40960\n", "diskus"), (statwalk, "statwalk"), (statwalk, "statwalk", "count"),
            ("  0 b /tmp/empty\n  40960 b /srv\n  40960 b total\n", "dua"), ("  36864 b total\n", "dua", "totals", 3),
            ('{"size":"40960B","name":"/srv","children":[]}', "dust"), ('{"tree":{"size":40960}}', "pdu"),
            ('{"reports":[{"summary":{"files":6,"dirs":2,"bytes":1100}}]}', "fdu"),
            ('{"reports":[{"summary":{"files":6,"dirs":2,"bytes":1100}}]}', "fdu-wheel"),
            # 4096 bytes for each of three directories instead of their 16384.
            ("36864 /srv\n", "gdu"), ("10 6 3 1000 40960\n", "floor"), ("10 6 3\n", "floor", "count"),
            ("..........", "find", "count"), ("x\n" * 10, "treescan", "count"), ("x\n" * 9, "fd", "count"),
            ("x\n" * 9, "fdf", "count"), ("x\n" * 9, "statwalk-find", "count"), ("1\n" * 10, "find", "stats"),
        ]
        for out, *which in right:
            with self.subTest(which):
                self.assertIsNone(self.judged(out, *which))
                # Wrong by one digit, and another form.
                self.assertIsNotNone(self.judged(out.replace("40960", "40961").replace("36864", "36865")
                                                 .replace("10 6", "11 6").replace('"entries":10', '"entries":11')
                                                 .replace("1100", "1101")
                                                 if any(c.isdigit() and c != "1" for c in out) else out + out, *which))
                self.assertIsNotNone(self.judged("", *which))

    def test_an_answer_of_another_run_is_read_where_it_stands(self):
        answer = replace(ANSWER, symlinks_allocated_bytes=4096)
        for out, name in (
            ('D={"path":"/\\"total\\":1","total":40960,"files":6}', "superdirstat"),
            # Without 16384 bytes of directories and 4096 of symbolic links.
            ('{"allocated":20480,"dirs":2,"files":6,"name":"/srv","size":1000}', "treemap"),
            ('[{"path": "/srv", "logical": 1000, "physical": 20480, "files": 5}]', "hyperdu"),
            ('{"reports":[{"tree":{"files":6,"dirs":2,"bytes":1100}}]}', "fdu-tree"),
        ):
            with self.subTest(name):
                self.assertIsNone(judge.of_output(self.variant(name), out.encode(), answer))
                wrong = out.replace("40960", "40961").replace("20480", "20481").replace("1100", "1101")
                self.assertIsNotNone(judge.of_output(self.variant(name), wrong.encode(), answer))

    def test_a_missing_type_is_refused(self):
        self.assertEqual(self.judged("10 9 0\n", "floor", "count"), "files is 9 instead of 6")

    def test_a_status_is_refused_even_with_the_right_answer(self):
        self.assertEqual(judge.of_program(self.variant("du"), run("40960\t/srv\n", 1, b"du: no\n"), ANSWER),
                         "exit status 1: du: no")

    def test_an_export_counts_a_file_once(self):
        linked = '{"name":"a","dsize":20480,"ino":7,"hlnkc":true}'
        export = f'[1,2,{{}},[{{"name":"/srv","dsize":0,"dev":1}},{linked},{linked},[{{"name":"d","dsize":20480}}]]]'
        variant = self.variant("ncdu")
        self.assertIsNone(judge.of_output(variant, export.encode(), ANSWER))
        twice = export.replace(',"hlnkc":true', "")
        self.assertEqual(judge.of_output(variant, twice.encode(), ANSWER), "allocated_bytes is 61440 instead of 40960")
        # The timed run prints nothing.
        self.assertIsNone(judge.of_program(variant, run(""), ANSWER))

    def test_numbers_that_the_oracle_does_not_know_are_not_asked_for(self):
        known = oracle.partial(entries=10, allocated_bytes=40960)
        self.assertIsNone(judge.of_program(self.variant("floor"), run("10 1 1 1 40960\n"), known))
        self.assertIsNotNone(judge.of_program(self.variant("floor"), run("11 1 1 1 40960\n"), known))
        self.assertIsNone(judge.of_program(self.variant("gdu"), run("5\n"), known))

    def test_sums_over_a_list(self):
        read = judge.reader({"json": {"allocated_bytes": "groups.*.bytes", "source": "plan.source"}})
        self.assertEqual(read(b'{"groups":[{"bytes":1},{"bytes":2}],"plan":{"source":"posix"}}'),
                         {"allocated_bytes": 3, "source": "posix"})

    def test_definitions_that_mean_nothing_are_refused(self):
        for spec in ({"patern": "x"}, {"amount": "words", "name": "entries"}):
            with self.assertRaises(judge.Misdefined):
                judge.reader(spec)
        for text in ("entry", "entries -", "entries / 2", "", "entries.real"):
            with self.subTest(text), self.assertRaises(judge.Misdefined):
                judge.expectation({"entries": text})

    def test_every_definition_can_be_read(self):
        self.assertEqual({engine.program for engine in all_engines(None, Path("/"))}, set(definitions()))

    def test_who_has_an_answer_is_judged(self):
        without = {(e.name, e.question) for e in all_engines(None, Path("/")) if e.variants[0].read is None}
        self.assertEqual(without, {("treescan", "totals"), ("fd", "stats")})


if __name__ == "__main__":
    unittest.main()
