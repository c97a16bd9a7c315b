"""Measures how well searching finds: `python bench/quality.py [--write] [--half tune|report] [--tune]`.

A journal is made of the corpus in tests/search, with words and vectors as `aj` makes them; each judged query
is asked in each mode. `--write` puts the table into docs/search-quality.md, `--tune` tries other weights.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_journal.search import hybrid
from agent_journal.search.semantic import models
from tests.search import corpus, quality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.search.corpus import Judged


def tune(bench: quality.Bench, judged: Sequence[Judged]) -> None:
    """Print what other weights give on the queries for tuning, best last."""
    meaning = bench.meaning(models.choose_model(Path("/nowhere"), "none").model)  # type: ignore[arg-type]
    results = []
    for every, some, near in product((1, 2, 3), (0.1, 0.2, 0.5), (0.5, 1.0, 1.5, 2.0)):
        weights = hybrid.Weights(every, some, 0.0, near)
        scores = bench.scores(hybrid.HybridRanker(bench.words, meaning, weights), judged)
        results.append((sum(each.ndcg for each in scores) / len(scores), weights, scores))
    for value, weights, scores in sorted(results)[-12:]:
        kinds = [
            f"{kind} {sum(scores[at].ndcg for at in places) / len(places):.3f}"
            for kind, places in quality.by_class(judged)
        ]
        print(f"{value:.4f}", weights, *kinds)


def main() -> None:
    """Measure, and print or write what comes out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--half", default="report", choices=("tune", "report"))
    asked = parser.parse_args()
    half = "tune" if asked.tune else asked.half
    judged = [each for each in corpus.judged() if each.half == half]
    with tempfile.TemporaryDirectory() as folder:
        if asked.tune:
            tune(quality.Bench(Path(folder)), judged)
            return
        scored = quality.measured(Path(folder), judged)
    lines = quality.table(scored, judged)
    print("\n".join(lines))
    short = quality.shortfalls(scored, judged)
    print("\n".join(short) or "hybrid is nowhere worse than the better of both")
    if asked.write:
        before, _, rest = quality.PAGE.read_text(encoding="utf-8").partition(quality.BEGIN)
        told = "\n".join([before + quality.BEGIN, "", *lines, quality.END])
        quality.PAGE.write_text(told + rest.partition(quality.END)[2], encoding="utf-8")
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
