// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks a tree with statwalk: `walk ORDER MODEL ROUNDS PATH`.

mod records;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{
    KernelFileSystems, LinkPolicy, Order, Report, RootTotals, Scan, Source, Totals,
};

use records::Records;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [order, model, rounds, path] = arguments.as_slice() else {
        return Err("wanted: ORDER MODEL ROUNDS PATH".into());
    };
    let order = match order.to_string_lossy().as_ref() {
        "recursive" => Order::Recursive.into(),
        "stack" => Order::Stack.into(),
        "stack-reserved" => AnyOrder::ReservedStack,
        "futures" => AnyOrder::Futures,
        "queue" => Order::Queue.into(),
        "inode" => Order::Inode.into(),
        "parallel" => Order::Parallel.into(),
        other => return Err(format!("no such order: {other}").into()),
    };
    let model = model.to_string_lossy();
    let rounds: u32 = rounds.to_string_lossy().parse()?;
    // Every name counts with its bytes, and everything below the root counts. By
    // system calls, as the others: an order says little where there are none.
    // One directory is its entries with their attributes, of which none is entered.
    let depth = if model == "directory" { 1 } else { u32::MAX };
    let scan = Scan::new(path)
        .max_depth(depth)
        .source(Source::Posix)
        .order(order)
        .links(LinkPolicy::Each)
        .kernel_file_systems(KernelFileSystems::Enter);

    let mut complete = true;
    for _ in 0..rounds {
        let start = Instant::now();
        let report = match model.as_ref() {
            "count" => {
                let outcome = scan.run(&Totals::new().without_sizes())?;
                print(start, &outcome.output[0]);
                outcome.report
            }
            "size" | "directory" => {
                let outcome = scan.run(&Totals::new())?;
                print(start, &outcome.output[0]);
                outcome.report
            }
            "records" => {
                let outcome = scan.run(&Records)?;
                let elapsed = start.elapsed();
                println!("{} {}", elapsed.as_nanos(), outcome.output);
                outcome.report
            }
            other => return Err(format!("no such model: {other}").into()),
        };
        complete &= tell(&report);
    }
    Ok(ExitCode::from(u8::from(!complete)))
}

fn print(start: Instant, totals: &RootTotals) {
    let elapsed = start.elapsed();
    // The root is one of the directories.
    let directories = totals.dirs.saturating_sub(1);
    let files = totals.entries - totals.dirs;
    println!(
        "{} {files} {directories} {}",
        elapsed.as_nanos(),
        totals.sizes.map_or(0, |sizes| sizes.file_size_bytes)
    );
}

/// Tells what was not read. Answers whether there was nothing to tell.
fn tell(report: &Report) -> bool {
    for error in &report.errors {
        eprintln!("{error}");
    }
    if let Some(why) = report.roots[0].missing {
        eprintln!("{why}");
    }
    report.is_complete()
}
