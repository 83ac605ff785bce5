// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk bench`.

use serde_json::Value;
use statwalk_testkit::program::ORDERS;
use statwalk_testkit::trees;

use crate::run::Tree;

fn results(document: &Value) -> &Vec<Value> {
    document["results"].as_array().unwrap()
}

#[test]
fn every_order_is_measured_and_agrees() {
    let tree = Tree::of(&trees::basic());
    let answer = tree.run(&["bench", "tree", "--json", "--rounds=4", "--seed=7"]);
    let document = answer.good().json();
    let entries = document["entries"].as_u64().unwrap();
    let totals = tree.run(&["-s", "--json", "tree"]).good().json();
    assert_eq!(totals["roots"][0]["entries"], entries);
    assert_eq!(
        (&document["rounds_done"], &document["seed"]),
        (&4.into(), &7.into())
    );
    let settings: Vec<_> = results(&document)
        .iter()
        .map(|result| {
            assert_eq!(result["differs"], Value::Null, "{result}");
            assert_eq!(result["rounds"], 3, "{result}");
            assert!(result["wall_s"]["median"].as_f64().unwrap() > 0.0);
            assert!(result["calls_per_entry"].as_f64().unwrap() > 0.0);
            result["setting"].as_str().unwrap().to_owned()
        })
        .collect();
    // The default is the order that is not varied.
    let orders = ORDERS.into_iter().filter(|order| *order != "parallel");
    let others = [
        "default",
        "1 worker",
        "buffer 1K",
        "buffer 4M",
        "stats by inode",
        "types by stat",
        "source posix",
    ];
    for setting in orders.chain(others) {
        assert!(
            settings.iter().any(|known| known == setting),
            "{setting}: {settings:?}"
        );
    }
    // They are sorted by time.
    let times: Vec<f64> = (results(&document).iter())
        .map(|result| result["wall_s"]["median"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    // Three rounds are too few to name a best.
    assert_eq!(document["best_warm"], Value::Null);
    assert!(
        document["conditions"]["kernel"]
            .as_str()
            .unwrap()
            .starts_with("Linux")
    );
}

#[test]
fn less_is_read_with_fewer_calls() {
    let tree = Tree::of(&trees::basic());
    let arguments = ["bench", "tree", "--json", "--vary=level", "--rounds=2"];
    let document = tree.run(&arguments).good().json();
    let calls = |level: &str| {
        let result = results(&document).iter().find(|r| r["level"] == level);
        result.unwrap()["calls_per_entry"].as_f64().unwrap()
    };
    assert!(calls("types") < calls("sizes"));
    assert!(calls("names") <= calls("types"));
    assert!((calls("sizes") - calls("full")).abs() < 1e-9);
}

#[test]
fn the_report_names_the_best_and_the_plot_shows_all() {
    let tree = Tree::of(&trees::basic());
    let arguments = [
        "bench",
        "tree",
        "--vary=order",
        "--rounds=3",
        "--svg=plot.svg",
    ];
    let answer = tree.run(&arguments);
    let text = String::from_utf8(answer.good().stdout).unwrap();
    assert!(text.contains("Best for this tree, warm: "), "{text}");
    assert!(text.contains("2 rounds counted"), "{text}");
    let plot = std::fs::read_to_string(tree.parent().join("plot.svg")).unwrap();
    for order in ["default", "recursive", "queue", "stack", "inode"] {
        assert!(text.contains(order), "{order}: {text}");
        assert!(plot.contains(order), "{order}: {plot}");
    }
}

#[test]
fn a_budget_ends_it_honestly() {
    let tree = Tree::of(&trees::wide(2_000));
    let arguments = ["bench", "tree", "--json", "--rounds=1000000", "--budget=1"];
    let document = tree.run(&arguments).good().json();
    assert_eq!(document["stopped_by"], "budget");
    let took = document["elapsed_s"].as_f64().unwrap();
    assert!((0.9..5.0).contains(&took), "{took}");
}

#[test]
fn a_tree_that_is_not_there_is_bad_usage() {
    let tree = Tree::new("");
    let answer = tree.run(&["bench", "nowhere"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open nowhere: no such file or directory\n"
    );
}
