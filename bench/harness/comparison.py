# SPDX-License-Identifier: MIT OR Apache-2.0
"""One case: every engine answers one question about one tree, in rounds."""

import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass, field

from . import judge, oracle
from .corpus import Corpus, Place
from .engine import Engine, Variant, processors
from .measurement import Run, Runner, Timeout
from .oracle import Answer


@dataclass
class Limits:
    """What a case may cost."""

    rounds: int = 11
    # Whether a corpus may have its own number of rounds instead.
    rounds_by_corpus: bool = True
    tuning_runs: int = 3
    # An engine takes part in rounds until it used this much time.
    budget_s: float = 60.0
    # No other settings are tried on an engine whose first run took longer.
    patience_s: float = 20.0
    timeout_s: float = 600.0
    # A run that others disturbed is repeated, so often, and all of them in a
    # case for so long.
    retries: int = 5
    retries_s: float = 180.0


@dataclass
class Outcome:
    """What one engine did in one case."""

    engine: Engine
    variant: Variant
    note: list[str] = field(default_factory=list)
    # None where the engine did not take part in a round.
    runs: list[Run | None] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    used_s: float = 0.0
    tuning: dict[str, float] = field(default_factory=dict)
    checkable: bool = True
    failed: bool = False

    def timed(self) -> list[Run]:
        """The runs that count."""
        return [] if self.failed or self.wrong else [run for run in self.runs if run]


# A run is disturbed when other processes used more than this part of the
# processors; the clock ticks of /proc/stat and our own harness are forgiven.
DISTURBED_SHARE = 0.1
FORGIVEN_S = 0.02


def disturbed(run: Run) -> bool:
    """Whether other processes slowed the run."""
    return run.others_cpu_s > FORGIVEN_S + DISTURBED_SHARE * run.wall_s * processors()


@dataclass
class Case:
    """The result of one question on one corpus."""

    corpus: Corpus
    question: str
    answer: Answer
    outcomes: list[Outcome]
    base: str | None
    others_cpu_share: float
    load_before: float
    changed: bool
    # Runs that were repeated, and runs that count although others disturbed them.
    repeated: int
    disturbed: int


class Comparison:
    """Carries what all cases share."""

    def __init__(self, runner: Runner, limits: Limits, seed: int):
        self.runner = runner
        self.limits = limits
        self.random = random.Random(seed)
        self.retries_left_s = 0.0
        self.repeated = 0
        self.empty = tempfile.mkdtemp(prefix="statwalk-bench-empty-")

    def close(self) -> None:
        """Removes the empty directory."""
        os.rmdir(self.empty)

    def case(self, corpus: Corpus, place: Place, question: str, engines: list[Engine], answer: Answer) -> Case:
        """Tunes, measures and judges."""
        load_before = os.getloadavg()[0]
        outcomes = []
        for engine in engines:
            outcome = self._tune(engine, place, answer)
            outcomes.append(outcome)
            say(f"  {engine.name:10} {'; '.join(outcome.wrong or outcome.note) or 'ok'}")
        self.retries_left_s, self.repeated = self.limits.retries_s, 0
        self._rounds(corpus, outcomes, place, answer)
        self._check_again(place, answer, outcomes)
        changed = oracle.du_allocated(place.path, place.cwd) != answer.allocated_bytes
        names = [o.engine.name for o in outcomes if o.timed()]
        base = next((name for name in ("statwalk", "floor") if name in names), None)
        runs = [run for o in outcomes for run in o.runs if run]
        share = sum(r.others_cpu_s for r in runs) / max(1e-9, sum(r.wall_s for r in runs) * processors())
        return Case(corpus, question, answer, outcomes, base, share, load_before, changed,
                    self.repeated, sum(map(disturbed, runs)))

    def _run(self, outcome: Outcome, variant: Variant, place: Place, check: bool = False) -> Run:
        command = outcome.engine.command(variant, place.path, self.empty, check)
        return self.runner.run(command, place.cwd, self.limits.timeout_s)

    def _undisturbed_run(self, outcome: Outcome, place: Place) -> Run:
        """A run, repeated while others are in the way; the last one counts anyhow.

        The choice does not look at how long the run took, and is the same for all engines.
        """
        for _ in range(self.limits.retries):
            start = time.monotonic()
            run = self._run(outcome, outcome.variant, place)
            if not disturbed(run) or self.retries_left_s <= 0:
                return run
            time.sleep(0.2)
            self.repeated += 1
            self.retries_left_s -= time.monotonic() - start
        return self._run(outcome, outcome.variant, place)

    def _tune(self, engine: Engine, place: Place, answer: Answer) -> Outcome:
        """Finds the fastest right way to call an engine."""
        outcome = Outcome(engine, engine.variants[0], checkable=engine.variants[0].read is not None)
        if len(engine.variants) == 1:
            return outcome
        best, problems = None, []
        for variant in engine.variants:
            walls = []
            problem = None
            hung = False
            for _ in range(self.limits.tuning_runs):
                try:
                    run = self._run(outcome, variant, place)
                except Timeout as error:
                    problem, hung = str(error), True
                    break
                problem = judge.of_program(variant, run, answer)
                if problem:
                    break
                walls.append(run.wall_s)
                if run.wall_s > self.limits.patience_s:
                    break
            if problem:
                problems.append(f"`{engine.shown(variant)}`: {problem}")
                if hung:
                    break
                continue
            median = statistics.median(walls)
            outcome.tuning[engine.shown(variant)] = median
            if best is None or median < best[0]:
                best = (median, variant)
            if median > self.limits.patience_s:
                outcome.note.append("too slow to try other settings")
                break
        if best is None:
            outcome.wrong = problems
            outcome.failed = True
        else:
            outcome.variant = best[1]
            outcome.note += problems
        return outcome

    def _rounds(self, corpus: Corpus, outcomes: list[Outcome], place: Place, answer: Answer) -> None:
        """All engines in every round, each round in another order; the first is dropped."""
        rounds = (self.limits.rounds_by_corpus and corpus.rounds) or self.limits.rounds
        for number in range(rounds):
            order = [o for o in outcomes if not o.failed]
            self.random.shuffle(order)
            took_part = set()
            for outcome in order:
                # One dropped and one counted run at least.
                if number > 1 and outcome.used_s > self.limits.budget_s:
                    continue
                try:
                    if number == 0:
                        run = self._run(outcome, outcome.variant, place)
                    else:
                        run = self._undisturbed_run(outcome, place)
                except Timeout as error:
                    outcome.failed = True
                    outcome.wrong.append(str(error))
                    continue
                outcome.used_s += run.wall_s
                problem = judge.of_program(outcome.variant, run, answer)
                if problem:
                    outcome.wrong.append(f"round {number}: {problem}")
                # The output of a round is judged and not kept.
                run.stdout = run.stderr = b""
                if number > 0:
                    outcome.runs.append(run)
                    took_part.add(outcome.engine.name)
            if number > 0:
                for outcome in outcomes:
                    if outcome.engine.name not in took_part:
                        outcome.runs.append(None)
            say(f"  round {number}{' (dropped)' if number == 0 else ''} done")

    def _check_again(self, place: Place, answer: Answer, outcomes: list[Outcome]) -> None:
        """Reads the answers that the timed commands do not print."""
        for outcome in outcomes:
            variant = outcome.variant
            if outcome.failed or not variant.check_arguments:
                continue
            try:
                run = self._run(outcome, variant, place, check=True)
            except Timeout as error:
                outcome.wrong.append(str(error))
                continue
            problem = judge.of_output(variant, run.stdout, answer)
            if problem:
                outcome.wrong.append(problem)


def say(text: str) -> None:
    """Progress for whoever waits."""
    print(text, flush=True)
