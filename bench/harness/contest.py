# SPDX-License-Identifier: MIT OR Apache-2.0
"""One case of the articles: every way to walk answers one question about one tree, in rounds."""

import os
import random
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from . import calls, judge
from .engine import Engine
from .measurement import DISTURBED_SHARE, Run, Runner, Timeout, disturbed, pinned, processors, say, wait_for_quiet
from .oracle import Answer
from .walk_oracle import Tree, Unjudged
from .walker import Walker


# Trees of which only what they cost beyond an empty directory is counted.
FEW_ENTRIES = 10


@dataclass
class Limits:
    """What a case may cost."""

    rounds: int = 11
    # The first round warms what the others find warm.
    drops_first: bool = True
    # How often a process of a round walks.
    walks: int = 1
    # Rounds within one process, as article 1 has them; 0 for none. The first is dropped, and where a way is slow
    # there are fewer. So many processes have them, each time in another order.
    inner_rounds: int = 11
    inner_rounds_min: int = 5
    inner_processes: int = 5
    # Every time is of so many rounds. A way takes part in more until it used this much time;
    # who took at most so many times as long as the fastest takes part in all.
    rounds_min: int = 5
    budget_s: float = 3.0
    front: float = 1.5
    # A way with a longer run has no time: it is too slow for that many rounds.
    patience_s: float = 2.0
    strace_timeout_s: float = 60.0
    # A run that others disturbed is repeated, so often, and all of them in a
    # case for so long.
    retries: int = 3
    retries_s: float = 60.0
    # Before it is repeated the others may finish what they do; for all of a case.
    quiet_s: float = 600.0


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

    @property
    def shows_disturbance(self) -> bool:
        """Whether what it costs is all its own: a server that runs beside it looks like somebody else."""
        return isinstance(self.subject, Engine) or not self.subject.keep

    @property
    def is_baseline(self) -> bool:
        """Whether it walks nothing."""
        return isinstance(self.subject, Walker) and self.subject.is_baseline

    def settings(self) -> dict[str, str]:
        """What stands in its environment besides the usual."""
        return {} if isinstance(self.subject, Engine) else self.subject.settings()

    def judge(self, run: Run, rounds: int, tree: Tree | None, answer: Answer) -> tuple[str | None, list[float]]:
        """What is wrong with an answer, if anything, and how long its rounds took by its own clock."""
        if isinstance(self.subject, Engine):
            return judge.of_program(self.subject.variants[0], run, answer), []
        return judge.of_walk(self.subject, self.model, rounds, run, tree)


@dataclass
class Result:
    """What one way to walk did in one case."""

    contestant: Contestant
    runs: list[Run] = field(default_factory=list)
    # The round of each run: a way leaves the rounds before others do.
    rounds: list[int] = field(default_factory=list)
    # By its own clock, the first round left out: a list for each process.
    inner_s: list[list[float]] = field(default_factory=list)
    # How long the only round of a process took.
    first_s: float = 0.0
    wrong: str | None = None
    unjudged: str | None = None
    # A run of it was ended, because it took longer than this.
    slow_s: float | None = None
    used_s: float = 0.0
    # How often the present run was repeated.
    repeated: int = 0
    # Whether it took little more than the fastest in the first round.
    is_in_front: bool = False
    calls: dict[str, int] | None = None
    # The calls that reach the one file of a small tree.
    accesses: dict[str, int] | None = None
    note: str | None = None

    @property
    def is_out(self) -> bool:
        """Whether it has no time."""
        return self.why_out is not None

    @property
    def why_out(self) -> str | None:
        """Why it has no time."""
        return self.wrong or self.unjudged or (None if self.slow_s is None else "too slow")


class Contest:
    """Carries what is the same for all who take part in a case."""

    def __init__(self, runner: Runner, limits: Limits, seed: int, cwd: str = "/"):
        self.runner = runner
        # Where processes of rounds start. Under Wine there is no working directory of ours, so a path is full there.
        self.cwd = cwd
        self.limits = limits
        self.retries_left_s = limits.retries_s
        self.quiet_left_s = limits.quiet_s
        # Runs that were repeated, and runs that count although others disturbed them.
        self.repeated = self.disturbed = 0
        # What others, and the kernel's own threads, used of the processors while runs that count went on.
        self.others_cpu_s = self.observed_cpu_s = 0.0
        self.random = random.Random(seed)
        # It lives in the home of the runner, which is empty but for it.
        self.empty = tempfile.mkdtemp(dir=runner.home)
        # Where a server beside the ways is kept, and those whom it serves. On two processors each call waits for
        # the other to wake up, six times as long as on one, and the kernel would choose by chance.
        self.served_at = {max(os.sched_getaffinity(0))}

    @property
    def others_share(self) -> float:
        """The part of the processors that others used."""
        return self.others_cpu_s / self.observed_cpu_s if self.observed_cpu_s else 0.0

    def case(self, contestants: list[Contestant], path: str, tree: Tree, answer: Answer,
             drop: Callable[[], None] | None = None, counts_calls: bool = False) -> list[Result]:
        """Rounds of processes in a new order each, then rounds within one process, then calls.

        `drop` drops caches before each run; then nothing is measured within one process, and no round is dropped.
        """
        self.runner.blames_kernel = drop is None
        with self.kept(contestants):
            return self._case(contestants, path, tree, answer, drop, counts_calls)

    @contextmanager
    def kept(self, contestants: list[Contestant]) -> Iterator[None]:
        """What engines need to run beside them."""
        commands = {}
        for contestant in contestants:
            if isinstance(contestant.subject, Walker) and contestant.subject.keep:
                commands[tuple(contestant.subject.keep_command())] = contestant.settings()
        with pinned(self.served_at):
            running = [
                subprocess.Popen(command, env={**self.runner.environment, **settings}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for command, settings in commands.items()
            ]
        try:
            yield
        finally:
            for process in running:
                # Wine's server takes its services with it on this signal, and leaves them behind on others.
                process.send_signal(signal.SIGINT)
                process.wait()

    def _case(self, contestants: list[Contestant], path: str, tree: Tree, answer: Answer,
              drop: Callable[[], None] | None, counts_calls: bool) -> list[Result]:
        results = [Result(contestant) for contestant in contestants]
        for result in results:
            # Before it runs: where nobody knows the answer, it may take for ever.
            if isinstance(result.contestant.subject, Walker):
                try:
                    result.contestant.subject.may_walk(tree)
                    tree.count(result.contestant.subject.counts)
                except Unjudged as reason:
                    result.unjudged = str(reason)
        self.rounds(results, path, tree, answer, drop)
        for result in results:
            self.check_apart(result, path, answer)
        if not drop:
            self._inner_rounds(results, path, tree, answer)
        if counts_calls:
            for result in results:
                self._count_calls(result, path, tree)
        for result in results:
            if result.is_out:
                say(f"    {result.contestant.name}: {result.why_out}")
        return results

    def rounds(self, results: list[Result], path: str, tree: Tree | None, answer: Answer,
               drop: Callable[[], None] | None = None) -> None:
        """A process of each way in every round, each round in another order."""
        for number in range(self.limits.rounds):
            order = [r for r in results if not r.is_out]
            if number == 1:
                self._find_front(order)
            self.random.shuffle(order)
            for result in order:
                has_enough = len(result.runs) >= self.limits.rounds_min and result.used_s > self.limits.budget_s
                if has_enough and not result.is_in_front:
                    continue
                if number == 0 and not drop and self.limits.drops_first:
                    self.run(result, path, 1, tree, answer)
                elif run := self.undisturbed_run(result, path, tree, answer, drop):
                    result.runs.append(run)
                    result.rounds.append(number)

    def _find_front(self, results: list[Result]) -> None:
        """Who is near enough to the fastest to be before it in another round."""
        walking = [result for result in results if not result.contestant.is_baseline]
        fastest_s = min((result.used_s for result in walking), default=0.0)
        for result in walking:
            result.is_in_front = result.used_s <= self.limits.front * fastest_s

    def _is_to_repeat(self, result: Result, run: Run) -> bool:
        """Whether others were in the way; does not look at how long it took, and is the same for all."""
        if not (result.contestant.shows_disturbance and disturbed(run)):
            return False
        if result.repeated >= self.limits.retries or self.retries_left_s <= 0:
            return False
        result.repeated += 1
        self.repeated += 1
        # Not charged to its budget: else who was disturbed would have fewer rounds.
        result.used_s -= run.wall_s
        self.retries_left_s -= run.wall_s
        self.quiet_left_s -= wait_for_quiet(DISTURBED_SHARE, self.quiet_left_s)
        return True

    def undisturbed_run(self, result: Result, path: str, tree: Tree | None, answer: Answer,
                        drop: Callable[[], None] | None = None) -> Run | None:
        """A process of a round, repeated while others are in the way; None where it has no time."""
        while True:
            if drop:
                drop()
                self._start_once(result)
            run = self.run(result, path, self.limits.walks, tree, answer)
            if not run:
                return None
            if not self._is_to_repeat(result, run):
                self._observe(result, run)
                return run

    def _observe(self, result: Result, run: Run) -> None:
        """Takes down what others did while a run that counts went on."""
        result.repeated = 0
        if not result.contestant.shows_disturbance:
            return
        self.disturbed += disturbed(run)
        self.others_cpu_s += run.others_cpu_s
        self.observed_cpu_s += run.wall_s * processors()

    def _start_once(self, result: Result) -> None:
        """Brings a program's own files back into memory: the tree is to be cold, not the program."""
        command = result.contestant.command(self.empty, self.empty, 1)
        try:
            self.runner.run(command, "/", self.limits.patience_s, result.contestant.settings())
        except Timeout as error:
            result.note = f"on an empty directory: {error}"

    def run(self, result: Result, path: str, rounds: int, tree: Tree | None, answer: Answer,
            times: list[float] | None = None) -> Run | None:
        contestant = result.contestant
        started = time.monotonic()
        try:
            command = contestant.command(path, self.empty, rounds)
            run = self.runner.run(command, self.cwd, rounds * self.limits.patience_s, contestant.settings(),
                                  None if contestant.shows_disturbance else self.served_at)
            problem, inner = contestant.judge(run, rounds, tree, answer)
        except Timeout:
            result.slow_s = self.limits.patience_s
            return None
        finally:
            result.used_s += time.monotonic() - started
        if problem:
            result.wrong = problem
            return None
        if times is not None:
            times.extend(inner)
        elif inner:
            result.first_s = inner[0]
        run.stdout = run.stderr = b""
        return run

    def check_apart(self, result: Result, path: str, answer: Answer) -> None:
        """Judges the output of other arguments where the timed ones print no answer."""
        subject = result.contestant.subject
        if result.is_out or isinstance(subject, Walker) or not subject.variants[0].check_arguments:
            return
        try:
            command = subject.command(subject.variants[0], path, self.empty, check=True)
            run = self.runner.run(command, self.cwd, self.limits.strace_timeout_s)
        except Timeout as error:
            result.wrong = str(error)
            return
        result.wrong = judge.of_output(subject.variants[0], run.stdout, answer)

    def _inner_rounds(self, results: list[Result], path: str, tree: Tree, answer: Answer) -> None:
        """Several processes of each way, in a new order each time: what one process has by luck, the others have not."""
        if self.limits.inner_rounds < 2:
            return
        for _ in range(self.limits.inner_processes):
            order = [r for r in results if not (r.is_out or r.contestant.is_tool)]
            self.random.shuffle(order)
            for result in order:
                if times := self.inner_times(result, path, self._inner_affordable(result), tree, answer):
                    result.inner_s.append(times)

    def inner_times(self, result: Result, path: str, rounds: int, tree: Tree, answer: Answer) -> list[float]:
        """One process with so many rounds, by its own clock and without the first; empty where it has no time."""
        times: list[float] = []
        run = self.run(result, path, rounds, tree, answer, times)
        while run and self._is_to_repeat(result, run):
            times.clear()
            run = self.run(result, path, rounds, tree, answer, times)
        if not run:
            return []
        self._observe(result, run)
        return times[1:]

    def _inner_affordable(self, result: Result) -> int:
        """Rounds of a process, so that all of its processes together use the budget of the way."""
        wall_s = statistics.median(run.wall_s for run in result.runs) if result.runs else 1.0
        left_s = self.limits.budget_s / self.limits.inner_processes - (wall_s - result.first_s)
        affordable = int(left_s / max(result.first_s, 1e-5))
        return max(min(self.limits.inner_rounds_min, self.limits.inner_rounds), min(self.limits.inner_rounds, affordable))

    def _count_calls(self, result: Result, path: str, tree: Tree) -> None:
        if result.is_out:
            return
        contestant = result.contestant
        environment = {**self.runner.environment, **contestant.settings()}
        try:
            command = contestant.command(path, self.empty, 1)
            result.calls = calls.count(command, "/", environment, self.limits.strace_timeout_s)
            if tree.names.files + tree.names.dirs <= FEW_ENTRIES:
                result.accesses = calls.of_files(command, "/", environment, self.limits.strace_timeout_s, path)
                # A start makes more calls than so small a tree: what an empty directory costs is taken away.
                command = contestant.command(self.empty, self.empty, 1)
                start = calls.count(command, "/", environment, self.limits.strace_timeout_s)
                result.calls = calls.beyond(result.calls, start)
        except calls.NotCounted as reason:
            result.note = f"calls not counted: {reason}"
