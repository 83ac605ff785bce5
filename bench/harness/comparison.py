# SPDX-License-Identifier: MIT OR Apache-2.0
"""One case of `bench/run`: the best setting of each program, and its rounds."""

import os
import statistics
from dataclasses import dataclass, field, replace

from . import contest, judge, oracle
from .contest import Contest, Contestant, Result
from .corpus import Corpus, Place
from .engine import Engine, Variant
from .measurement import Run, Runner, Timeout, say
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

    def of_contest(self, corpus: Corpus) -> contest.Limits:
        """What the rounds on a corpus may cost: one dropped and one counted run at least."""
        rounds = (self.rounds_by_corpus and corpus.rounds) or self.rounds
        return contest.Limits(rounds=rounds, rounds_min=1, front=0.0, budget_s=self.budget_s, patience_s=self.timeout_s,
                              strace_timeout_s=self.timeout_s, retries=self.retries, retries_s=self.retries_s,
                              quiet_s=self.retries_s)


@dataclass
class Outcome:
    """What one engine did in one case."""

    engine: Engine
    variant: Variant
    note: list[str] = field(default_factory=list)
    # None where the engine did not take part in a round.
    runs: list[Run | None] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    tuning: dict[str, float] = field(default_factory=dict)
    checkable: bool = True

    def timed(self) -> list[Run]:
        """The runs that count."""
        return [] if self.wrong else [run for run in self.runs if run]

    def take(self, result: Result, rounds: int) -> None:
        """Takes what the rounds have shown."""
        by_round = dict(zip(result.rounds, result.runs))
        self.runs = [by_round.get(number) for number in range(1, rounds)]
        if result.slow_s is not None:
            self.wrong.append(f"took longer than {result.slow_s:.0f} s")
        elif result.wrong:
            self.wrong.append(result.wrong)


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
        self.seed = seed

    def case(self, corpus: Corpus, place: Place, question: str, engines: list[Engine], answer: Answer) -> Case:
        """Tunes, measures and judges."""
        load_before = os.getloadavg()[0]
        rounds = Contest(self.runner, self.limits.of_contest(corpus), self.seed, place.cwd)
        outcomes = []
        for engine in engines:
            outcome = self._tune(engine, place, rounds.empty, answer)
            outcomes.append(outcome)
            say(f"  {engine.name:10} {'; '.join(outcome.wrong or outcome.note) or 'ok'}")
        results = {o.engine.name: Result(Contestant(replace(o.engine, variants=[o.variant]), question))
                   for o in outcomes if not o.wrong}
        rounds.rounds(list(results.values()), place.path, None, answer)
        for outcome in outcomes:
            if result := results.get(outcome.engine.name):
                rounds.check_apart(result, place.path, answer)
                outcome.take(result, rounds.limits.rounds)
        changed = oracle.du_allocated(place.path, place.cwd) != answer.allocated_bytes
        names = [o.engine.name for o in outcomes if o.timed()]
        base = next((name for name in ("statwalk", "floor") if name in names), None)
        return Case(corpus, question, answer, outcomes, base, rounds.others_share, load_before, changed,
                    rounds.repeated, rounds.disturbed)

    def _tune(self, engine: Engine, place: Place, empty: str, answer: Answer) -> Outcome:
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
                    command = engine.command(variant, place.path, empty)
                    run = self.runner.run(command, place.cwd, self.limits.timeout_s)
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
        else:
            outcome.variant = best[1]
            outcome.note += problems
        return outcome
