// SPDX-License-Identifier: MIT OR Apache-2.0

//! Attacks: how long a kind of them runs, its rounds, and what they found.

#![allow(
    clippy::print_stdout,
    reason = "what an attack finds is read where it runs"
)]

use std::env::var;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use crate::Random;

/// So many rounds that found something are enough to work on.
const DIFFERING_ROUNDS_MAX: u64 = 25;
/// So many bytes of a difference are printed.
const TOLD_BYTES_MAX: usize = 4_000;

/// How long each kind runs, by variables of the environment that `cargo xtask
/// attack` and replays set.
struct Scale {
    first_seed: u64,
    rounds: Rounds,
}

enum Rounds {
    Count(u64),
    For(Duration),
}

impl Scale {
    fn from_environment(rounds_small: u64) -> Scale {
        let number = |name: &str| -> Option<u64> {
            let text = var(name).ok()?;
            Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
        };
        let seconds = number("STATWALK_ATTACK_SECONDS").map(Duration::from_secs);
        let count = number("STATWALK_ATTACK_ROUNDS").unwrap_or(rounds_small);
        Scale {
            first_seed: number("STATWALK_ATTACK_SEED").unwrap_or(0),
            rounds: seconds.map_or(Rounds::Count(count), Rounds::For),
        }
    }
}

/// One kind of attack.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// The name of its file.
    pub kind: &'static str,
    /// So many rounds it runs where nobody asks for more.
    pub rounds_small: u64,
    /// Fewer checks in a round mean that it did nothing.
    pub checks_least: u64,
}

impl Attack {
    /// Runs the rounds.
    ///
    /// # Panics
    ///
    /// Panics if one of them found a difference, or checked too little.
    pub fn run(&self, mut attack: impl FnMut(&mut Round)) {
        let kind = self.kind;
        let scale = Scale::from_environment(self.rounds_small);
        let start = Instant::now();
        let (mut rounds, mut checks, mut differing_rounds, mut differences) = (0, 0, 0, 0);
        let goes_on = |rounds| match scale.rounds {
            Rounds::Count(count) => rounds < count,
            Rounds::For(time) => rounds == 0 || start.elapsed() < time,
        };
        while goes_on(rounds) && differing_rounds < DIFFERING_ROUNDS_MAX {
            let seed = scale.first_seed.wrapping_add(rounds);
            let replay = format!(
                "STATWALK_ATTACK_SEED={seed} STATWALK_ATTACK_ROUNDS=1 \
                 cargo test -p statwalk {kind}::"
            );
            let mut round = Round::new(seed);
            let outcome = catch_unwind(AssertUnwindSafe(|| attack(&mut round)));
            if let Err(panic) = outcome {
                println!("attack: {kind}: seed {seed} broke off: {replay}");
                resume_unwind(panic);
            }
            assert!(
                round.checks >= self.checks_least,
                "{kind}: seed {seed} made {} checks only: {replay}",
                round.checks
            );
            rounds += 1;
            checks += round.checks;
            differences += round.differences.len();
            if !round.differences.is_empty() {
                differing_rounds += 1;
                println!("attack: {kind}: seed {seed} differs: {replay}");
            }
            for difference in round.differences {
                println!("  {}", shortened(&difference, TOLD_BYTES_MAX));
            }
        }
        println!("attack: {kind}: {rounds} rounds, {checks} checks, {differences} differences");
        assert_eq!(differences, 0, "{kind}: differences");
    }
}

/// One round: a seed, and what was found with it.
#[derive(Debug)]
pub struct Round {
    /// All choices of the round follow from it.
    pub seed: u64,
    /// The source of these choices.
    pub random: Random,
    /// The part of the seed that [`Round::in_turn`] has not used.
    turn: u64,
    checks: u64,
    differences: Vec<String>,
}

impl Round {
    fn new(seed: u64) -> Round {
        Round {
            seed,
            random: Random::new(seed),
            turn: seed,
            checks: 0,
            differences: Vec::new(),
        }
    }

    /// One of the choices, so that rounds which follow each other go through all
    /// of them, and with further calls through all combinations.
    pub fn in_turn<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = choices.len() as u64;
        let choice = &choices[(self.turn % count) as usize];
        self.turn /= count;
        choice
    }

    /// Notes whether something is as it must be; `told` says what is not.
    pub fn check(&mut self, holds: bool, told: impl FnOnce() -> String) -> bool {
        self.checks += 1;
        if !holds {
            self.differences.push(told());
        }
        holds
    }
}

/// The beginning of a text, up to a number of bytes.
pub fn shortened(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or_default()]
}
