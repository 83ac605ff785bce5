# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records that are made up."""


def row(name: str, ms: float, **more) -> dict:
    """A row with a time within one process and one of processes."""
    spread = {"median": ms / 1e3, "low": ms / 1.1e3, "high": ms / 0.9e3}
    return {"name": name, "wall_s": spread, "cpu_s": spread, "inner_s": spread, "rounds": 5, "inner_rounds": 5,
            "max_rss_kib": 1024} | more


def record(*cases: tuple) -> dict:
    """A record of warm cases on ext4: a tree, a question, rows."""
    return {"sittings": [], "cases": [{"corpus": corpus, "file_system": "ext4", "model": model, "cold": False, "files": 10, "dirs": 2,
                       "what": "a tree", "results": rows} for corpus, model, rows in cases]}
