# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether a row is known to be of another program, and when rows of two sittings may stand beside each other."""

import unittest
from math import inf

from harness import results, sources
from harness.walker import all_walkers


def case(**times: float) -> dict:
    """A case of one sitting with a median for each way."""
    rows = [{"name": name.replace("__", "/").replace("_", "-"), "wall_s": {"median": time}}
            for name, time in times.items()]
    return {"sitting": 0, "cold": False, "results": rows}


class Hashes(unittest.TestCase):
    def setUp(self):
        self.java = [walker for walker in all_walkers() if walker.folder.name == "java"]
        self.entry = {"run": ["java"]}
        self.files = {"Recursive.java": b"a", "Visitor.java": b"b", "Tally.java": b"c", "Engine.java": b"d",
                      "engine.toml": b"e"}

    def hash(self, name: str, **changed: bytes) -> str:
        walker = next(walker for walker in self.java if walker.name == name)
        files = self.files | {file.replace("_", "."): text for file, text in changed.items()}
        return sources._hash(walker, self.entry, self.java, files)

    def test_its_own_file_and_everybodys_count(self):
        before = self.hash("java/recursive")
        self.assertNotEqual(self.hash("java/recursive", Recursive_java=b"x"), before)
        self.assertNotEqual(self.hash("java/recursive", Tally_java=b"x"), before)

    def test_files_of_others_and_those_that_choose_do_not(self):
        before = self.hash("java/recursive")
        self.assertEqual(self.hash("java/recursive", Visitor_java=b"x", Engine_java=b"x", engine_toml=b"x"), before)

    def test_the_command_line_counts(self):
        before = self.hash("java/recursive")
        self.entry = {"run": ["java", "-Xint"]}
        self.assertNotEqual(self.hash("java/recursive"), before)

    def test_comments_do_not(self):
        for name, one, other in (("a.java", b"/* x\n y */\nint a; // z\n", b"// w\n\nint a; // z\n"),
                                 ("a.pl", b"# x\nmy $a;\n", b"my $a;\n"), ("build", b"#!/bin/sh\ncc\n", b"cc\n")):
            self.assertEqual(sources.without_comments(name, one), sources.without_comments(name, other))
        self.assertNotEqual(sources.without_comments("a.c", b"#include <a.h>\n"), sources.without_comments("a.c", b""))

    def test_every_file_that_a_definition_names_is_there(self):
        self.assertEqual(sources.misplaced(), [])

    def test_every_walker_has_one_and_our_program(self):
        names = {walker.name for walker in all_walkers()} | set(sources.PRODUCT_WAYS)
        self.assertEqual(set(sources.now()), names)

    def test_what_statwalk_is_made_of_counts_and_its_tests_do_not(self):
        for path in ("Cargo.lock", "crates/statwalk-core/src/scan.rs", "crates/statwalk/src/commands/find.rs"):
            self.assertTrue(sources.is_product(path), path)
        for path in ("Cargo.toml", "crates/statwalk-core/tests/engine/main.rs", "crates/statwalk-testkit/src/lib.rs",
                     "crates/statwalk-core/src/scan_tests.rs", "crates/statwalk-browse/src/search.rs",
                     "crates/statwalk/src/report/file_name.rs", "docs/src/x.rs"):
            self.assertFalse(sources.is_product(path), path)

    def test_a_package_that_only_the_report_needs_does_not_count(self):
        lock = """[[package]]
name = "statwalk"
version = "0.1.0"
dependencies = ["statwalk-core", "statwalk-report", "both 2.0.0"]
[[package]]
name = "statwalk-core"
version = "0.1.0"
[[package]]
name = "statwalk-report"
version = "0.1.0"
dependencies = ["deflate", "both 1.0.0"]
[[package]]
name = "deflate"
version = "1.0.0"
checksum = "a"
[[package]]
name = "both"
version = "1.0.0"
checksum = "b"
[[package]]
name = "both"
version = "2.0.0"
checksum = "c"
"""
        found = sources.locked(lock.encode()).decode()
        self.assertEqual(found, "both 2.0.0 c\nstatwalk 0.1.0 \nstatwalk-core 0.1.0 \n")

    def test_a_binding_is_made_of_its_own_language(self):
        definition = b"".join(b'[[engine]]\nname = "statwalk-%s"\nrun = ["OUT/x"]\n' % way
                              for way in (b"c/walk", b"java/walk", b"python/scan", b"node/scan"))
        folders = {"bindings": {"engine.toml": definition}}
        texts = {f"bindings/{name}/src/a.rs": b"a();\n" for name in ("stream", "c", "java", "python", "node")}
        then = sources._hashes(folders, {}, texts)
        for place, ways in {"stream": {"c/walk", "java/walk", "python/scan", "node/scan"}, "c": {"c/walk", "java/walk"},
                            "python": {"python/scan"}, "node": {"node/scan"}, "java": {"java/walk"}}.items():
            now = sources._hashes(folders, {}, texts | {f"bindings/{place}/src/a.rs": b"b();\n"})
            changed = {name.removeprefix("statwalk-") for name in now if now[name] != then[name]}
            self.assertEqual(changed, ways, place)

    def test_what_no_measured_command_runs_is_there(self):
        for place in sources.UNMEASURED:
            self.assertTrue((sources.ROOT / place).exists(), place)

    def test_a_change_of_statwalk_changes_its_program_and_its_library_alone(self):
        definition = b'[[engine]]\nname = "%s"\nrun = ["OUT/x"]\n'
        folders = {"statwalk": {"engine.toml": definition % b"statwalk/stack"},
                   "c-getdents": {"engine.toml": definition % b"c-getdents"}}
        then, now = (sources._hashes(folders, {"crates/a/src/lib.rs": text}) for text in (b"a();\n", b"b();\n"))
        self.assertEqual({name for name in now if now[name] != then[name]}, {*sources.PRODUCT_WAYS, "statwalk/stack"})


class Changed(unittest.TestCase):
    sittings = [{"sources": found, "conditions": {"statwalk commit": "none"}}
                for found in ({"go/walk": "1", "perl/readdir": "1"}, {"go/walk": "2"})]

    def test_rows_of_another_hash(self):
        found = sources.changed(case(go__walk=1, perl__readdir=1), self.sittings, {"go/walk": "2", "perl/readdir": "1"})
        self.assertEqual(found, {"go/walk"})

    def test_a_row_may_have_a_later_sitting(self):
        one = case(go__walk=1)
        one["results"][0]["sitting"] = 1
        self.assertEqual(sources.changed(one, self.sittings, {"go/walk": "2"}), set())

    def test_what_nobody_knows_is_not_called_changed(self):
        self.assertEqual(sources.changed(case(nim__walk_dir=1), self.sittings, {"nim/walk-dir": "2"}), set())


class Rows(unittest.TestCase):
    def test_the_drift_is_that_of_the_floors(self):
        then, now = case(c_getdents=1.0, perl__readdir=1.0), case(c_getdents=1.05, perl__readdir=9.0)
        self.assertAlmostEqual(results.drift(then, now), 0.05)
        self.assertEqual(results.drift(then, case(perl__readdir=1.0)), inf)

    def test_later_rows_take_the_place_of_earlier_ones_and_floors_stay(self):
        then, now = case(c_getdents=1.0, perl__readdir=1.0), case(c_getdents=1.01, go__walk=3.0, perl__readdir=2.0)
        now |= {name: 0 for name in results.CONDITIONS} | {"sitting": 4}
        results.replace_rows(then, now)
        rows = {r["name"]: (r["wall_s"]["median"], r.get("sitting")) for r in then["results"]}
        self.assertEqual(rows, {"c-getdents": (1.0, None), "perl/readdir": (2.0, 4), "go/walk": (3.0, 4)})
        self.assertEqual((then["later"][0]["sitting"], then["later"][0]["drift"]), (4, 0.01))

    def test_more_patience_asks_the_slow_again(self):
        found = case(c_getdents=1.0)
        found["results"] += [{"name": "qt/list", "wrong": "no answer"}, {"name": "winapi/stack", "slow_s": 2.0}]
        self.assertEqual(results.too_slow(found, 2.0), set())
        self.assertEqual(results.too_slow(found, 5.0), {"winapi/stack"})


if __name__ == "__main__":
    unittest.main()
