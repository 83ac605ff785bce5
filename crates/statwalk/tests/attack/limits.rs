// SPDX-License-Identifier: MIT OR Apache-2.0

//! Limits of the process: few threads, few descriptors, little memory, a short
//! stack.
//!
//! The answer is exact, or says that it is not, or there is none and a reason;
//! never a signal.

use statwalk_testkit::{Random, Scratch, or_skip, strategy, unprivileged};

use crate::program::{self, command};
use crate::sound::{Sound, Verdict, View};
use statwalk_testkit::attack::Attack;

/// What `--version` needs, from which on a resource is the program's own business:
/// with less the kernel cannot start it, or the loader of a dynamic one gives up.
struct Least {
    memory_kib: u64,
    descriptors: u64,
}

impl Least {
    fn measure() -> Least {
        let starts = |limit: String| {
            let script = format!("ulimit {limit}; exec \"$0\" --version");
            let mut command = command("sh");
            let ended = program::run(command.args(["-c", &script]).arg(program::path()));
            ended.code() == Some(0)
        };
        let memory_kib = (1_000..1_000_000)
            .step_by(250)
            .find(|kib| starts(format!("-v {kib}")));
        let descriptors = (3..10).find(|count| starts(format!("-n {count}")));
        Least {
            memory_kib: memory_kib.expect("it starts with much memory"),
            descriptors: descriptors.expect("it starts with many descriptors"),
        }
    }
}

/// A limit, as a command of the shell.
fn limit(random: &mut Random, kind: u64, least: &Least) -> String {
    match kind {
        0 => format!("ulimit -n {}", least.descriptors + random.below(38)),
        1 => {
            // Most limits are near the least one.
            let magnitude = 4 + random.below(15);
            let more = random.below(1 << magnitude);
            format!("ulimit -v {}", least.memory_kib + 100 + more)
        }
        2 => format!("ulimit -s {}", random.pick(&[32, 64, 132, 300, 1_000])),
        3 => format!(
            "ulimit -n {} && ulimit -s 1000 && ulimit -v {}",
            4 + random.below(20),
            least.memory_kib + 2_000 + random.below(100_000)
        ),
        _ => format!("ulimit -c 0 && ulimit -f {}", random.below(2)),
    }
}

#[test]
fn few_resources_make_no_wrong_answer() {
    let limits = strategy::Limits {
        entries_max: 300,
        depth_max: 12,
        size_bytes_max: 10_000,
        kinds: strategy::Kinds::All,
    };
    let model = strategy::of_seed(&strategy::models(limits), 4);
    let sound = Sound::of(&model);
    let scratch = Scratch::new().unwrap();
    model.materialise(&scratch.path().join("tree")).unwrap();
    let copy = unprivileged::publish(&program::path(), scratch.path()).unwrap();
    let least = Least::measure();
    println!(
        "--version needs {} KiB and {} descriptors",
        least.memory_kib, least.descriptors
    );
    let attack = Attack {
        kind: "limits",
        rounds_small: 150,
        checks_least: 1,
    };
    or_skip!(unprivileged::command(&copy).map(drop));
    attack.run(|round| {
        let kind = *round.in_turn(&[0, 1, 2, 3, 4, 5]);
        let view = *round.random.pick(&View::ALL);
        let threads = format!("-j{}", 1 + round.random.below(8));
        let order = round
            .random
            .pick(&["parallel", "recursive", "queue", "inode", "futures"]);
        let mut command = match kind {
            5 => {
                let mut command = unprivileged::command("prlimit").unwrap();
                program::in_known_surroundings(&mut command);
                let processes = round.random.below(4);
                command.arg(format!("--nproc={processes}")).arg(&copy);
                command
            }
            kind => {
                let limit = limit(&mut round.random, kind, &least);
                let mut command = command("sh");
                let script = format!("{limit}; exec \"$0\" \"$@\"");
                command.args(["-c", &script]).arg(&copy);
                command
            }
        };
        command.args(view.arguments());
        if !round.random.one_in(3) {
            command.arg(&threads);
        }
        command.args(["--order", order, "tree"]);
        command.current_dir(scratch.path());
        let ended = program::run(&mut command);
        let verdict = sound.judge(round, &ended, view, b"tree", &[0, 1, 2]);
        // It writes no files.
        if kind == 4 {
            round.check(verdict == Verdict::Exact, || {
                format!("it needs no more: {}", ended.told())
            });
        }
    });
}
