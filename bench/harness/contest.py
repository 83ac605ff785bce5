# SPDX-License-Identifier: MIT OR Apache-2.0
"""One case of the articles: every way to walk answers one question about one tree, in rounds."""

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import calls
from .comparison import judge as judge_tool
from .comparison import say
from .engine import Engine
from .measurement import Run, Runner, Timeout
from .oracle import Answer
from .programs import BENCH
from .walk_oracle import Tree, Unjudged
from .walker import Walker


@dataclass
class Limits:
    """What a case may cost."""

    rounds: int = 11
    # Rounds within one process, as article 1 has them; 0 for none.
    inner_rounds: int = 11
    # A way to walk takes part in rounds until it used this much time.
    budget_s: float = 20.0
    timeout_s: float = 120.0
    strace_timeout_s: float = 60.0


class Contestant:
    """A way to walk that is asked one question, and the judge of its answers."""

    def __init__(self, subject: Walker | Engine, model: str):
        self.subject = subject
        self.model = model
        self.is_tool = isinstance(subject, Engine)
        self.name = f"program/{subject.name}" if isinstance(subject, Engine) else subject.name

    def command(self, path: str, empty: str, rounds: int) -> list[str]:
        """The command line for a tree; some programs are given an empty directory besides."""
        if isinstance(self.subject, Engine):
            return self.subject.command(self.subject.variants[0], path, empty)
        return self.subject.command(self.model, rounds, path)

    def settings(self) -> dict[str, str]:
        """What stands in its environment besides the usual."""
        return {} if isinstance(self.subject, Engine) else self.subject.settings()

    def judge(self, run: Run, rounds: int, tree: Tree, answer: Answer) -> tuple[str | None, list[float]]:
        """What is wrong with an answer, if anything, and how long its rounds took by its own clock."""
        if isinstance(self.subject, Engine):
            return judge_tool(self.subject, self.subject.variants[0], run, answer), []
        if run.status != 0:
            lines = run.stderr.decode(errors="replace").replace(f"{BENCH}/", "").strip().splitlines()
            return f"exit status {run.status}: {lines[-1][:160] if lines else 'no message'}", []
        try:
            lines = [tuple(map(int, line.split())) for line in run.stdout.decode().splitlines()]
        except ValueError:
            return f"unreadable answer: {run.stdout[:80]!r}", []
        if len(lines) != rounds:
            return f"{len(lines)} answers for {rounds} rounds", []
        if self.subject.is_baseline:
            return None, [line[0] / 1e9 for line in lines]
        right = tree.count(self.subject.counts).printed(self.model)
        for line in lines:
            if line[1:] != right:
                return f"{line[1:]} instead of {right}", []
        return None, [line[0] / 1e9 for line in lines]


@dataclass
class Result:
    """What one way to walk did in one case."""

    contestant: Contestant
    # None where it did not take part in a round.
    runs: list[Run | None] = field(default_factory=list)
    # By its own clock, the first round left out.
    inner_s: list[float] = field(default_factory=list)
    wrong: str | None = None
    unjudged: str | None = None
    used_s: float = 0.0
    calls: dict[str, int] | None = None
    note: str | None = None

    @property
    def is_out(self) -> bool:
        """Whether it has no time."""
        return self.wrong is not None or self.unjudged is not None


class Contest:
    """Carries what all cases share."""

    def __init__(self, runner: Runner, limits: Limits, seed: int):
        self.runner = runner
        self.limits = limits
        self.random = random.Random(seed)
        # It lives in the home of the runner, which is empty but for it.
        self.empty = tempfile.mkdtemp(dir=runner.home)

    def case(self, contestants: list[Contestant], cwd: str, path: str, tree: Tree, answer: Answer,
             before_each: Callable[[], None] | None = None, counts_calls: bool = False) -> list[Result]:
        """Rounds of processes in a new order each, then rounds within one process, then calls.

        `before_each` drops caches; then nothing is measured within one process, and no round is dropped.
        """
        with self._kept(contestants):
            return self._case(contestants, cwd, path, tree, answer, before_each, counts_calls)

    @contextmanager
    def _kept(self, contestants: list[Contestant]) -> Iterator[None]:
        """What engines need to run beside them."""
        commands = {}
        for contestant in contestants:
            if isinstance(contestant.subject, Walker) and contestant.subject.keep:
                commands[tuple(contestant.subject.keep_command())] = contestant.settings()
        running = [
            subprocess.Popen(command, env={**self.runner.environment, **settings}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for command, settings in commands.items()
        ]
        try:
            yield
        finally:
            for process in running:
                process.terminate()
                process.wait()

    def _case(self, contestants: list[Contestant], cwd: str, path: str, tree: Tree, answer: Answer,
              before_each: Callable[[], None] | None, counts_calls: bool) -> list[Result]:
        results = [Result(contestant) for contestant in contestants]
        for result in results:
            # Before it runs: where nobody knows the answer, it may take for ever.
            if isinstance(result.contestant.subject, Walker):
                try:
                    tree.count(result.contestant.subject.counts)
                except Unjudged as reason:
                    result.unjudged = str(reason)
        dropped = 0 if before_each else 1
        for number in range(self.limits.rounds):
            order = [r for r in results if not r.is_out]
            self.random.shuffle(order)
            took_part = set()
            for result in order:
                if number > dropped and result.used_s > self.limits.budget_s:
                    continue
                if before_each:
                    before_each()
                run = self._run(result, cwd, path, 1, tree, answer)
                if run and number >= dropped:
                    result.runs.append(run)
                    took_part.add(result.contestant.name)
            for result in results:
                if number >= dropped and result.contestant.name not in took_part:
                    result.runs.append(None)
        if not before_each:
            for result in results:
                self._inner_rounds(result, cwd, path, tree, answer)
        if counts_calls:
            for result in results:
                self._count_calls(result, cwd, path)
        for result in results:
            if result.is_out:
                say(f"    {result.contestant.name}: {result.wrong or result.unjudged}")
        return results

    def _run(self, result: Result, cwd: str, path: str, rounds: int, tree: Tree, answer: Answer,
             times: list[float] | None = None) -> Run | None:
        contestant = result.contestant
        started = time.monotonic()
        try:
            run = self.runner.run(contestant.command(path, self.empty, rounds), cwd, self.limits.timeout_s, contestant.settings())
            problem, inner = contestant.judge(run, rounds, tree, answer)
        except Timeout as error:
            result.wrong = str(error)
            return None
        finally:
            result.used_s += time.monotonic() - started
        if problem:
            result.wrong = problem
            return None
        if times is not None:
            times.extend(inner)
        run.stdout = run.stderr = b""
        return run

    def _inner_rounds(self, result: Result, cwd: str, path: str, tree: Tree, answer: Answer) -> None:
        if result.is_out or result.contestant.is_tool or self.limits.inner_rounds < 2:
            return
        walls = [run.wall_s for run in result.runs if run]
        # Slow ones get as many rounds as they have time for, two at least.
        affordable = int(2 * self.limits.budget_s / max(min(walls, default=1.0), 1e-3))
        rounds = max(2, min(self.limits.inner_rounds, affordable))
        times: list[float] = []
        if self._run(result, cwd, path, rounds, tree, answer, times):
            result.inner_s = times[1:]

    def _count_calls(self, result: Result, cwd: str, path: str) -> None:
        if result.is_out:
            return
        contestant = result.contestant
        environment = {**self.runner.environment, **contestant.settings()}
        try:
            result.calls = calls.count(contestant.command(path, self.empty, 1), cwd, environment, self.limits.strace_timeout_s)
        except calls.NotCounted as reason:
            result.note = f"calls not counted: {reason}"
