"""Measures the quality of search: `python bench/quality.py [--locomo FILE] [--write] [--tune]`.

A journal is made of the corpus in tests/search, with words and vectors as `aj` makes them; each judged query
is asked in each mode. `--locomo` also measures LoCoMo, whose `locomo10.json` you must have: its license does
not allow us to include it. `--write` puts the tables into docs/search-quality.md, `--tune` tries weights.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_journal.search import fusion, hybrid
from agent_journal.search.semantic import models
from tests.search import corpus, locomo, quality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.search.corpus import Judged


def tune(bench: quality.Bench, judged: Sequence[Judged]) -> None:
    """Print what other weights give on the queries for tuning, best last."""
    meaning = bench.meaning(models.choose_model(Path("/nowhere"), "none").model)  # type: ignore[arg-type]
    results = []
    for all_words, near, shared in product((0.5, 1.0, 1.5), (1.0, 1.5, 2.0), (0.2, 0.5, 0.8)):
        weights = fusion.Weights(all_words, near, shared)
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
    parser.add_argument("--sentence", action="store_true", help="measure the extra `sentence` instead")
    parser.add_argument("--locomo", type=Path, metavar="FILE")
    parser.add_argument("--half", default="report", choices=("tune", "report"))
    asked = parser.parse_args()
    half = "tune" if asked.tune else asked.half
    judged = [each for each in corpus.judged() if each.half == half]
    with tempfile.TemporaryDirectory() as folder:
        if asked.tune:
            tune(quality.Bench(Path(folder)), judged)
            return
        ways = quality.rankers_with_sentences if asked.sentence else quality.rankers
        scored = quality.measured(Path(folder), judged, ways)
    lines = quality.table(scored, judged)
    print("\n".join(lines))
    short = [] if asked.sentence else quality.shortfalls(scored, judged)
    print("\n".join(short) or "hybrid is nowhere worse than the better of both")
    if asked.write:
        quality.write_section(quality.SENTENCE_BEGIN if asked.sentence else quality.BEGIN, lines)
    if asked.locomo:
        with tempfile.TemporaryDirectory() as folder:
            dataset = locomo.load(asked.locomo)
            scores = locomo.measure(Path(folder), dataset, half, with_sentences=asked.sentence)
            lines = locomo.table(scores)
        print("\n".join(lines))
        if asked.write:
            quality.write_section(quality.LOCOMO_BEGIN, lines)
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
