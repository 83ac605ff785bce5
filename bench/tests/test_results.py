# SPDX-License-Identifier: MIT OR Apache-2.0
"""What stands in a record, and that it is read as it was written."""

import json
import tempfile
import unittest
from pathlib import Path

from harness import results
from harness.contest import Result
from harness.measurement import Run


class Named:
    name = "some/way"


def run(wall_s: float) -> Run:
    return Run(wall_s, wall_s / 2, 100, 0, b"", b"", 0.0, wall_s / 4)


def row(**more) -> dict:
    return results._result(Result(Named(), **more), 10)


class Rows(unittest.TestCase):
    def test_within_processes_the_median_of_their_medians_counts(self):
        found = row(inner_s=[[1.0, 1.0, 9.0], [1.1], [1.2, 1.2], [1.05, 1.05], [1.15]])
        self.assertEqual(found["inner_s"], {"median": 1.1, "low": 1.0, "high": 1.2})
        self.assertEqual(found["inner_medians_s"], [1.0, 1.1, 1.2, 1.05, 1.15])
        self.assertEqual((found["inner_processes"], found["inner_rounds"]), (5, 1))
        self.assertNotIn("inner_unsteady", found)

    def test_processes_that_differ_by_luck_are_marked(self):
        self.assertTrue(row(inner_s=[[0.035], [0.21], [0.035], [0.22], [0.036]])["inner_unsteady"])

    def test_accesses_are_there_where_there_are_none(self):
        self.assertEqual(row(accesses={})["accesses"], {})
        self.assertNotIn("accesses", row())


class Files(unittest.TestCase):
    def record(self) -> dict:
        timed = row(runs=[run(0.01), run(0.02), run(0.04)], inner_s=[[0.01], [0.011]], calls={"statx": 10})
        for name in ("cpu_s", "system_s"):
            timed[name] = {key: timed[name][key] for key in results.SPREAD[:results.KEPT[name]]}
        sittings = [{"versions": {"b": "2", "a": "1"}, "sources": {"a": "x"}, "missing": []},
                    {"versions": {"b": "3"}, "sources": {"a": "x", "c": "y"}, "missing": []}]
        case = {"corpus": "music", "results": [timed, {"name": "slow", "slow_s": 2.0}]}
        return {"schema": results.SCHEMA, "kind": "articles", "sittings": sittings, "ways": [{"name": "a"}],
                "cases": [case, case], "pairs": []}

    def test_what_is_written_is_read(self):
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "x.json")
            path.write_text(results.written(self.record()))
            self.assertEqual(results.read(path), self.record())
            self.assertEqual(results.written(results.read(path)), path.read_text())

    def test_a_case_is_a_line_and_a_sitting_says_what_is_new(self):
        lines = results.written(self.record()).splitlines()
        self.assertEqual(sum("music" in line for line in lines), 2)
        second = next(line for line in lines if '"y"' in line)
        self.assertEqual(json.loads(second)["versions"], {"a": None, "b": "3"})
        self.assertEqual(json.loads(second)["sources"], {"c": "y"})

    def test_another_schema_is_refused(self):
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "x.json")
            path.write_text('{"schema": 3}')
            with self.assertRaises(SystemExit):
                results.read(path)


if __name__ == "__main__":
    unittest.main()
