# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of the settings and rounds of `bench/run`."""

import tempfile
import unittest
from unittest import mock

from harness import comparison
from harness.comparison import Comparison, Limits
from harness.corpus import CORPORA, Place
from harness.engine import Engine, Variant
from harness.measurement import Run, Timeout
from harness.oracle import Answer


class Runner:
    """Answers by the words of a command, with the time that stands among them."""

    def __init__(self):
        self.home = tempfile.mkdtemp()
        self.environment: dict[str, str] = {}
        self.commands: list[list[str]] = []

    def run(self, command, cwd, timeout_s, settings=None, pinned_to=None):
        self.commands.append(command)
        _, wall_s, output = command
        if float(wall_s) > timeout_s:
            raise Timeout(f"took longer than {timeout_s:.0f} s")
        return Run(float(wall_s), 0.0, 1, 0, output.encode(), b"", 0.0, 0.0)


def engine(name: str, *ways: tuple[float, str]) -> Engine:
    """An engine with these settings: how long each takes, and what it prints."""
    variants = [Variant([str(wall_s), output], read=lambda out: {"entries": int(out)}, expect=lambda answer: {"entries": answer.entries})
                for wall_s, output in ways]
    return Engine(name, "count", name, variants, binary=name)


class Cases(unittest.TestCase):
    """Each engine in the rounds that it may take part in."""

    def setUp(self):
        self.runner = Runner()
        self.answer = Answer(**{name: 7 for name in Answer.__dataclass_fields__})

    def case(self, limits: Limits, *engines: Engine):
        with mock.patch.object(comparison.oracle, "du_allocated", return_value=self.answer.allocated_bytes):
            made = Comparison(self.runner, limits, 1)
            found = made.case(CORPORA["usr"], Place("/", "tree"), "count", list(engines), self.answer)
        return {outcome.engine.name: outcome for outcome in found.outcomes}

    def test_every_round_has_its_run(self):
        found = self.case(Limits(rounds=5, rounds_by_corpus=False), engine("a", (0.1, "7")), engine("b", (0.2, "7")))
        self.assertEqual([run.wall_s for run in found["a"].runs], [0.1] * 4)
        self.assertEqual([run.wall_s for run in found["b"].runs], [0.2] * 4)

    def test_the_fastest_right_setting_is_taken(self):
        ways = engine("a", (0.3, "7"), (0.1, "8"), (0.2, "7"))
        found = self.case(Limits(rounds=3, rounds_by_corpus=False), ways)["a"]
        self.assertEqual([run.wall_s for run in found.runs], [0.2] * 2)
        self.assertEqual(len(found.note), 1)

    def test_a_wrong_answer_has_no_time(self):
        found = self.case(Limits(rounds=3, rounds_by_corpus=False), engine("a", (0.1, "8")), engine("b", (0.1, "7")))
        self.assertEqual((found["a"].timed(), len(found["b"].timed())), ([], 2))
        self.assertTrue(found["a"].wrong)

    def test_a_run_without_an_end_has_no_time(self):
        found = self.case(Limits(rounds=3, rounds_by_corpus=False, timeout_s=5), engine("a", (9, "7")))["a"]
        self.assertEqual((found.timed(), found.wrong), ([], ["took longer than 5 s"]))

    def test_who_used_its_budget_leaves_and_rounds_stay_paired(self):
        limits = Limits(rounds=5, rounds_by_corpus=False, budget_s=0)
        with mock.patch("harness.contest.time.monotonic", side_effect=range(10_000)):
            found = self.case(limits, engine("a", (0.1, "7")))["a"]
        self.assertEqual([run is not None for run in found.runs], [True, False, False, False])


if __name__ == "__main__":
    unittest.main()
